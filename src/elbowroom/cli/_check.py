"""Check configurations of a robot for self-collision: which links, how far; exit code 1 when something collides."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, UnknownNameError, unknown
from ._common import console, print_json
from ._pairs import SphereOptions

if TYPE_CHECKING:
    from ..distance import SelfCollisionChecker
    from ..pairs import PairMatrix
    from ..robot import Robot

EXIT_COLLIDES = 1
LISTED = 20
"""Colliding configurations that are listed."""


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
    """SRDF file that says which pairs to check; computed if not given."""
    samples: int = 10_000
    """Samples for computing the pairs."""
    buffer: float = 0.0
    """Metres added to every radius."""
    exact: bool = False
    """Check the meshes themselves instead of their spheres: exact, slower."""


def run(options: Options) -> int:
    """Checks and reports; exit code 1 when a configuration collides."""
    from ..distance import SelfCollisionChecker
    from ..pairs import PairOptions, compute_pairs, read_pairs_srdf

    robot = options.load()
    labels, cfgs = _configurations(robot, options)
    model = options.model(robot)
    if options.pairs is not None:
        pairs = read_pairs_srdf(options.pairs, robot)
    else:
        pairs = compute_pairs(robot, model, PairOptions(samples=options.samples, seed=options.seed))
    if options.exact:
        report, free = _exact_report(robot, pairs, labels, cfgs)
    else:
        checker = SelfCollisionChecker(robot, model, pairs, buffer=options.buffer)
        free = checker.free(cfgs)
        report = _report(robot, checker, labels, cfgs, free)
    if options.json:
        print_json(report)
    else:
        _print(report)
    return 0 if bool(free.all()) else EXIT_COLLIDES


def _configurations(robot: Robot, options: Options) -> tuple[list[str], np.ndarray]:
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
        poses = {"default": robot.default_cfg, "zero": np.zeros(robot.dof), **robot.named_cfgs}
        if name not in poses:
            raise UnknownNameError(unknown("named configuration", name, poses))
        labels.append(name)
        rows.append(np.asarray(poses[name]))
    if options.random < 0:
        raise InputError(f"--random must not be negative, found {options.random}")
    if options.random:
        labels += [f"random {k}" for k in range(options.random)]
        rows += list(robot.random_cfgs(options.random, options.seed))
    if not rows:
        labels, rows = ["default"], [np.asarray(robot.default_cfg)]
    return labels, robot.as_cfgs(np.array(rows))


def _report(
    robot: Robot, checker: SelfCollisionChecker, labels: list[str], cfgs: np.ndarray, free: np.ndarray
) -> dict[str, Any]:
    bad = np.flatnonzero(~free)
    shown = np.arange(len(cfgs)) if len(cfgs) <= LISTED else bad[:LISTED]
    entries: list[dict[str, Any]] = []
    for k in shown.tolist():
        worst = checker.worst(cfgs[k])
        distances = checker.pair_distances(cfgs[k])
        touching = np.flatnonzero(distances < checker.float_margin)
        entries.append(
            {
                "name": labels[k],
                "free": bool(free[k]),
                "distance": worst.distance if worst else None,
                "closest": [worst.link_a, worst.link_b] if worst else None,
                "point_a": worst.point_a if worst else None,
                "point_b": worst.point_b if worst else None,
                "colliding": [
                    {"link_a": checker.pairs[p][0], "link_b": checker.pairs[p][1], "distance": distances[p]}
                    for p in touching[np.argsort(distances[touching])].tolist()
                ],
                "cfg": cfgs[k],
            }
        )
    return {
        "robot": robot.name,
        "by": "spheres",
        "checked_pairs": len(checker.pairs),
        "configurations": len(cfgs),
        "colliding": len(bad),
        "listed": entries,
    }


def _exact_report(
    robot: Robot, pairs: PairMatrix, labels: list[str], cfgs: np.ndarray
) -> tuple[dict[str, Any], np.ndarray]:
    """The same report from the meshes: depth and contact point of every colliding pair."""
    from ..mesh import ExactCollision

    exact = ExactCollision(robot, pairs)
    free = np.atleast_1d(exact.free(cfgs))
    bad = np.flatnonzero(~free)
    shown = range(len(cfgs)) if len(cfgs) <= LISTED else bad[:LISTED].tolist()
    entries: list[dict[str, Any]] = []
    for k in shown:
        contacts = exact.contacts(cfgs[k])
        apart = exact.distances(cfgs[k]) if not contacts else None
        entries.append(
            {
                "name": labels[k],
                "free": bool(free[k]),
                "distance": apart.minimum if apart else -contacts[0].depth,
                "closest": list(apart.closest or ()) if apart else [contacts[0].link_a, contacts[0].link_b],
                "colliding": [
                    {
                        "link_a": contact.link_a,
                        "link_b": contact.link_b,
                        "distance": -contact.depth,
                        "point": contact.contact.point,
                        "normal": contact.contact.normal,
                    }
                    for contact in contacts
                ],
                "cfg": cfgs[k],
            }
        )
    report = {
        "robot": robot.name,
        "by": "meshes",
        "checked_pairs": len(exact.pairs),
        "open_links": exact.open_links,
        "configurations": len(cfgs),
        "colliding": len(bad),
        "listed": entries,
    }
    return report, free


def _print(report: dict[str, Any]) -> None:
    from rich.markup import escape

    out = console()
    total, bad = report["configurations"], report["colliding"]
    out.print(
        f"[bold]{escape(report['robot'])}[/bold]: {bad} of {total} configurations collide "
        f"({report['checked_pairs']} link pairs checked, by {report['by']})"
    )
    for entry in report["listed"]:
        if entry["free"]:
            near = "" if entry["closest"] is None else f": closest {' and '.join(entry['closest'])}"
            gap = "" if entry["distance"] is None else f", {1000 * entry['distance']:.1f} mm apart"
            out.print(escape(f"  {entry['name']}: free{near}{gap}"))
        else:
            hits = [
                f"{hit['link_a']} and {hit['link_b']} overlap by {max(0.0, -1000 * hit['distance']):.1f} mm"
                for hit in entry["colliding"]
            ]
            out.print(escape(f"  {entry['name']}: collides: {'; '.join(hits)}"))
    if bad > LISTED:
        out.print(f"  ... and {bad - LISTED} more")
