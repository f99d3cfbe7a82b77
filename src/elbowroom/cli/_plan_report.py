"""What `elbowroom plan` prints: whether there is a path, the evidence, how long it takes, and why not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from .._text import counted, fixed, number
from ._common import aside, clash_facts, console, print_json, some, table

if TYPE_CHECKING:
    from ..collision import CollisionModel, VaryingClearance
    from ..plan import PlanResult
    from ._plan import Options


def report(model: CollisionModel, result: PlanResult, options: Options, made: float) -> None:
    """Prints the answer, as text or as JSON; the model was made in so many seconds."""
    written = [
        path
        for path, made in ((options.out, result.motion), (options.plot, result.path))
        if path is not None and made is not None
    ]
    around = () if model.world is None else model.world.notes
    if options.json:
        print_json(
            {
                "robot": model.robot.name,
                "modelled": model.robot.modelled,
                **options.scene_facts(model.world),
                **options.model_facts(model),
                **facts(model, result),
                "model_seconds": made,
                "notes": [*around, *result.notes],
                "written": written,
            }
        )
        return
    out = console(aside=aside(options.out, options.plot))

    def line(text: str) -> None:
        out.print(text, markup=False)

    line(
        f"{model.robot.name}: {result.why}"
        if result.success
        else f"{model.robot.name}: no motion. {result.why}"
    )
    if model.world is not None:
        line(f"  among {counted(len(model.world), 'obstacle')} of {options.scene}")
    for note in (*model.robot.modelled, *some(around), *result.notes):
        line(f"  note: {note}")
    if result.proof is not None:
        line(f"  proof: {result.proof.why}")
    for text in _along(model, result):
        line(f"  {text}")
    line(f"  {_stages(result, made)}")
    if result.path is not None:
        out.print(_joints(model, result))
    if result.nearest_free is not None:
        line(f"  a free configuration near it: {' '.join(number(value) for value in result.nearest_free)}")
    for path in written:
        line(f"wrote {path}")


def facts(model: CollisionModel, result: PlanResult) -> dict[str, Any]:
    """A result for JSON."""
    proof, motion, found = result.proof, result.motion, measured(model, result)
    return {
        "success": result.success,
        "why": result.why,
        "reason": result.reason,
        "method": result.method,
        "goal": result.goal_idx,
        "joint_names": model.robot.joint_names,
        "duration": None if motion is None else motion.duration,
        "limits_used": None
        if motion is None
        else dict(zip(("velocity", "acceleration", "jerk"), motion.shares, strict=True)),
        "proof": None
        if proof is None
        else {
            "free": proof.free,
            "margin": proof.margin if proof.free else None,
            "segments": proof.segments,
            "slack": proof.slack,
            "why": proof.why,
        },
        "clearance": None
        if found is None
        else {
            "rows": found[0],
            "varying": found[1].clearance,
            "closest_varying": found[1].pairs,
            "constant": [asdict(one) for one in found[1].constant],
        },
        "nodes": result.nodes,
        "seconds": dict(result.seconds),
        "cost_history": result.cost_history,
        "clashes": [clash_facts(clash) if hasattr(clash, "distance") else clash for clash in result.clashes],
        "nearest_free": result.nearest_free,
        "waypoints": result.waypoints,
        "times": result.times,
        "path": result.path,
    }


MEASURED = 60
"""Rows of a path at which the clearance is measured, at most."""


def measured(model: CollisionModel, result: PlanResult) -> tuple[Any, VaryingClearance] | None:
    """Rows along a path, evenly, and the clearance there of what the motion can change; None without a path."""
    from ..collision.internal import moving_joints

    if result.path is None:
        return None
    rows = np.unique(np.linspace(0, len(result.path) - 1, MEASURED).round().astype(int))
    return rows, model.varying_clearance(result.path[rows], moving_joints(model.robot, result.path))


def _along(model: CollisionModel, result: PlanResult) -> Iterator[str]:
    """How close the motion comes, and what it cannot change."""
    from ..collision.internal import constant_lines

    found = measured(model, result)
    if found is None:
        return
    rows, near = found
    k = int(np.argmin(near.clearance))
    pair = near.pairs[k]
    if pair is not None:
        assert result.path is not None
        row = int(rows[k])
        at = f"row {row + 1}" if result.times is None else f"{number(float(result.times[row]), 3)} s"
        apart = f"{pair[0]} and {pair[1]} are {1e3 * near.clearance[k]:.1f} mm apart at {at}"
        yield f"closest of {counted(len(rows), 'measured row')}: {apart}"
    yield from constant_lines(near.constant)


def _stages(result: PlanResult, made: float) -> str:
    """How long each stage took, in milliseconds, and how much was searched; what is made once, apart."""
    apart = ("goals", "setup", "total")
    stages = [(name, seconds) for name, seconds in result.seconds.items() if name not in apart]
    named = ", ".join(f"{name} {number(1e3 * seconds, 3)}" for name, seconds in stages)
    nodes = f"; {result.nodes:,} nodes" if result.nodes else ""
    worked = number(1e3 * sum(seconds for _, seconds in stages), 3)
    before = ", ".join(
        f"{what} {number(1e3 * seconds, 3)} ms"
        for what, seconds in (
            ("spheres and pairs", made),
            ("start and goal", result.seconds.get("goals")),
            ("preparing the search", result.seconds.get("setup")),
        )
        if seconds is not None
    )
    took = f"the search took {worked} ms ({named}{nodes})" if stages else "nothing was searched"
    return f"{took}; setup, not counted in --timeout: {before}"


def _joints(model: CollisionModel, result: PlanResult) -> Any:
    """Where each joint begins and ends, how far it goes, and what share of its limits it uses."""
    path, motion = result.path, result.motion
    assert path is not None
    ways = np.abs(np.diff(path, axis=0)).sum(axis=0)
    kinds: tuple[str, ...] = ()
    used = np.zeros((3, len(ways)))
    if motion is not None:
        kinds = ("speed", "acceleration", "jerk")[: 2 if motion.limits.jerk is None else 3]
        used = motion.shares
    rows = [
        (
            name,
            number(float(path[0, k])),
            number(float(path[-1, k])),
            number(float(ways[k])),
            *(f"{fixed(100.0 * used[order, k], 0)} %" for order in range(len(kinds))),
        )
        for k, name in enumerate(model.robot.joint_names)
    ]
    return table(("joint", "from", "to", "travel (rad or m)", *kinds), rows)
