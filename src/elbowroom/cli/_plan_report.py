"""What `elbowroom plan` prints: whether there is a way, how one knows, how long it takes, and why not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._text import counted, fixed, number
from ._check_motion import clash_facts
from ._common import aside, console, print_json, some, table

if TYPE_CHECKING:
    from ..collision import CollisionModel
    from ..plan import PlanResult
    from ._plan import Options


def report(model: CollisionModel, result: PlanResult, options: Options) -> None:
    """Prints the answer, as text or as JSON."""
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
                **facts(model, result),
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
    line(f"  {_stages(result)}")
    if result.path is not None:
        out.print(_joints(model, result))
    if result.nearest_free is not None:
        line(f"  a free configuration near it: {' '.join(number(value) for value in result.nearest_free)}")
    for path in written:
        line(f"wrote {path}")


def facts(model: CollisionModel, result: PlanResult) -> dict[str, Any]:
    """A result for JSON."""
    proof, motion = result.proof, result.motion
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
        "nodes": result.nodes,
        "seconds": dict(result.seconds),
        "cost_history": result.cost_history,
        "clashes": [clash_facts(clash) if hasattr(clash, "distance") else clash for clash in result.clashes],
        "nearest_free": result.nearest_free,
        "waypoints": result.waypoints,
        "times": result.times,
        "path": result.path,
    }


def _stages(result: PlanResult) -> str:
    """How long each stage took, in milliseconds, and how much was searched."""
    stages = ", ".join(
        f"{name} {number(1e3 * seconds, 3)}" for name, seconds in result.seconds.items() if name != "total"
    )
    nodes = f"; {result.nodes:,} nodes" if result.nodes else ""
    total = number(1e3 * result.seconds.get("total", 0.0), 3)
    return (
        f"took {total} ms{f' ({stages})' if stages else ''}, with all that a first question prepares{nodes}"
    )


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
    return table(("joint", "from", "to", "way (rad or m)", *kinds), rows)
