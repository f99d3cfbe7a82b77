"""Is the robot free? Which links touch, where and how deep; exit code 1 when a configuration is not free.

Spheres accept and meshes decide, so the answer is the meshes'; `--by spheres` asks the spheres alone, which is faster
and never calls a collision free. A few configurations need no fit: a ball around each link tells which meshes to ask.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..errors import InputError
from ._common import console, pairs_from_file, print_json
from ._pairs import SphereOptions

if TYPE_CHECKING:
    from ..collision import Clash, CollisionModel, Helper, Verdict
    from ..pairs import PairMatrix
    from ..robot import Robot
    from ..spheres import SphereModel

EXIT_COLLIDES = 1
FIT_PAYS = 20_000
"""Configurations from which on fitting spheres costs less than the questions to meshes that they save."""
LISTED = 20
"""Configurations that are explained when there are many: the first ones that are not free."""


@dataclass(frozen=True)
class Options(SphereOptions):
    """Arguments of `elbowroom check`."""

    cfg: tuple[float, ...] = ()
    """Joint values in rad and m, in the order of the robot's joints; several configurations one after the other."""
    named: tuple[str, ...] = ()
    """Named configurations; "default" and "zero" always exist."""
    random: int = 0
    """Configurations drawn within the limits."""
    seed: int = 0
    """Of the random configurations, and of the pairs if they are computed."""
    pairs: Path | None = None
    """File that says which pairs to check (JSON, SRDF, or any format that holds pairs); computed if not given."""
    ignore: tuple[str, ...] = ()
    """Links that may touch, two by two."""
    samples: int = 10_000
    """Samples for computing the pairs."""
    buffer: float = 0.0
    """Clearance in metres that every pair must keep."""
    by: Literal["meshes", "spheres"] = "meshes"
    """Who has the last word: meshes (exact), or spheres (conservative, faster)."""


def run(options: Options) -> int:
    """Checks and reports; exit code 1 when a configuration is not free."""
    from ..collision import start_helper

    with start_helper() as helper:
        return _run(options, helper)


def _run(options: Options, helper: Helper) -> int:
    from ..collision import CollisionModel, covering

    robot = options.load()
    if options.random < 0:
        raise InputError(f"--random must not be negative, found {options.random}")
    spheres, uncovered = covering(robot, _spheres(robot, options))
    model = CollisionModel(robot, spheres, _pairs(robot, spheres, options), buffer=options.buffer)
    labels, cfgs = _configurations(model, options)
    helper.wait("free")
    free = model.free(cfgs, by=options.by)
    shown = range(len(cfgs)) if len(cfgs) <= LISTED else np.flatnonzero(~free)[:LISTED].tolist()

    def verdicts() -> Generator[tuple[str, bool, Verdict]]:
        """Made as they are shown: the answer comes before the explanations."""
        helper.wait("explain")
        for k in shown:
            yield labels[k], bool(free[k]), model.explain(cfgs[k])

    outside = int(((cfgs < robot.lower) | (cfgs > robot.upper)).any(axis=1).sum())
    if options.json:
        report = {
            "robot": robot.name,
            "by": options.by,
            "checked_pairs": len(model.pairs.checked),
            "decided_by_meshes_alone": len(model.by_meshes),
            "ignored_pairs": len(model.ignored),
            "configurations": len(cfgs),
            "colliding": int((~free).sum()),
            "out_of_limits": outside,
            "uncovered": uncovered,
            "notes": model.pairs.notes,
            "listed": [_entry(label, answer, verdict) for label, answer, verdict in verdicts()],
        }
        print_json(report)
    else:
        if uncovered:
            console().print(
                f"  the spheres do not cover {', '.join(uncovered)}; a ball around each mesh stands in"
            )
        _print(model, options.by, free, outside, verdicts())
    return 0 if bool(free.all()) else EXIT_COLLIDES


def _spheres(robot: Robot, options: Options) -> SphereModel:
    """What is asked for; one ball a link where the spheres' own answer is not wanted and a fit would not pay off."""
    from ..collision import one_ball_a_link

    asked = options.spheres or options.n_spheres or options.pairs or options.method != "tight"
    if asked or options.by == "spheres" or options.random > FIT_PAYS:
        return options.model(robot)
    return one_ball_a_link(robot)


def _pairs(robot: Robot, spheres: SphereModel, options: Options) -> PairMatrix:
    from ..pairs import BUFFER, PairOptions, compute_pairs

    if len(options.ignore) % 2:
        raise InputError(f"--ignore needs links two by two, found {len(options.ignore)} names")
    ignore = list(zip(options.ignore[::2], options.ignore[1::2], strict=True))
    if options.pairs is not None:
        return pairs_from_file(options.pairs, robot).with_user(ignore=ignore)
    buffer = max(BUFFER, options.buffer)  # never within the buffer asked for
    settings = PairOptions(
        samples=options.samples, seed=options.seed, ignore=ignore, buffer=buffer, depths=False
    )
    return compute_pairs(robot, spheres, settings)


def _configurations(model: CollisionModel, options: Options) -> tuple[list[str], np.ndarray]:
    from ..robot import named_poses

    robot = model.robot
    labels: list[str] = []
    rows: list[np.ndarray] = []
    if options.cfg:
        if len(options.cfg) % robot.dof:
            raise InputError(
                f"--cfg needs {robot.dof} numbers per configuration ({', '.join(robot.joint_names)}), "
                f"found {len(options.cfg)}"
            )
        given = np.array(options.cfg).reshape(-1, robot.dof)
        labels += [f"cfg {k + 1}" for k in range(len(given))]
        rows += list(given)
    for name in options.named:
        # The model's default pose, which is free where the robot's own guess is not.
        found = [("default", model.default_cfg)] if name == "default" else named_poses(robot, [name])
        labels += [label for label, _ in found]
        rows += [cfg for _, cfg in found]
    if options.random:
        labels += [f"random {k}" for k in range(options.random)]
        rows += list(robot.random_cfgs(options.random, options.seed))
    if not rows:
        labels, rows = ["default"], [model.default_cfg]
    return labels, robot.as_cfgs(np.array(rows))


def _entry(label: str, free: bool, verdict: Verdict) -> dict[str, Any]:
    return {
        "name": label,
        "free": free,
        "by": verdict.by,
        "clearance": verdict.clearance,
        "closest": None if verdict.closest is None else _clash(verdict.closest),
        "clashes": [_clash(clash) for clash in verdict.clashes],
        "ignored_touching": [
            {"a": a, "b": b, "reason": str(found.reason), "text": found.text}
            for (a, b), found in verdict.ignored_touching.items()
        ],
        "out_of_limits": [
            {"joint": joint.joint, "value": joint.value, "lower": joint.lower, "upper": joint.upper}
            for joint in verdict.out_of_limits
        ],
        "cfg": verdict.cfg,
    }


def _clash(clash: Clash) -> dict[str, Any]:
    return {
        "a": clash.a,
        "b": clash.b,
        "distance": clash.distance,
        "point_a": clash.point_a,
        "point_b": clash.point_b,
        "normal": clash.normal,
    }


def _print(
    model: CollisionModel,
    by: str,
    free: np.ndarray,
    outside: int,
    verdicts: Iterable[tuple[str, bool, Verdict]],
) -> None:
    from rich.markup import escape

    from ..pairs import PairReason

    out = console()
    bad = int((~free).sum())
    out.print(
        f"[bold]{escape(model.robot.name)}[/bold]: {bad} of {len(free)} configurations are not free, by {by} "
        f"({len(model.pairs.checked)} link pairs checked, {len(model.by_meshes)} of them by meshes alone)"
    )
    for note in model.pairs.notes:
        out.print(escape(f"  note: {note}"))
    if outside:
        out.print(f"  {outside} configurations are outside the joint limits")
    for label, answer, verdict in verdicts:
        text = str(verdict)
        if verdict.free and not answer:
            text = f"free by meshes, but not by spheres, which overlap ({text})"
        out.print(escape(f"  {label}: {text}".replace("\n", "\n  ")))
        adjacent = [
            " and ".join(pair)
            for pair, found in verdict.ignored_touching.items()
            if found.reason is PairReason.ADJACENT
        ]
        if adjacent:
            out.print(escape(f"    neighbours that touch here, as they may: {', '.join(adjacent)}"))
    if bad > LISTED:
        out.print(f"  ... and {bad - LISTED} more")
