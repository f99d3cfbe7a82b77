"""Does the robot collide with itself or with obstacles? Shows what touches, where and how deep; exit code 1 if it
collides.

Spheres accept quickly and meshes decide the rest, so the answer is exact. `--by spheres` uses the spheres alone, which
is faster and never calls a collision free. `--trajectory` audits a recorded motion: first and worst contact, clearance
over time, and what is proved between the rows.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .._files import check_place
from .._text import counted
from ..errors import InputError
from . import _model_options
from ._common import (
    aside,
    check_plot,
    clash_facts,
    console,
    print_json,
    progress_bar,
    some,
    waiting,
    write_text,
)
from ._model_options import CfgOptions, Chosen, ModelOptions, check_choice, check_there, choose, no_effect
from ._options import NoEffect

if TYPE_CHECKING:
    from ..collision import Audit, CollisionModel, Moment, Verdict
    from ..recordings import Configurations
    from ..world import World


EXAMPLES = {
    "elbowroom check teaarm --named hug arms_up": "named configurations",
    "elbowroom check teaarm --random 10000 --json": "how often a random configuration is free, and why not",
    "elbowroom check teaarm --cfg-file grasps.csv --missing default": "rows of a table, joints by name",
    "elbowroom check teaarm --scene scene.yaml --allow base_link table": "among obstacles, the base on a table",
    "elbowroom check teaarm --trajectory run.csv --plot run.png": "audit a recorded motion",
}
EXIT_COLLIDES = 1
NEIGHBOURS = 4
"""Pairs of neighbours that are named."""


@dataclass(frozen=True)
class Options(CfgOptions, ModelOptions):
    """Arguments of `elbowroom check`."""

    trajectory: Path | None = None
    """File of a recorded motion to audit, one row after the other: CSV, NPY, NPZ, JSON lines or JSON; - is standard
    input."""
    plot: Path | None = None
    """Picture of the clearance along --trajectory, .png, .svg or .pdf."""
    csv: Path | None = None
    """Table of the clearance along --trajectory."""
    by: Literal["meshes", "spheres"] = "meshes"
    """What decides: meshes (exact) or spheres (conservative, faster)."""
    limit: int = 20
    """Configurations to explain: all if there are no more than this, otherwise the first that are not free."""


AUDITED = "--trajectory gives the configurations"
NO_EFFECT = (
    *_model_options.NO_EFFECT,
    *no_effect(lambda options: options.cfg_file is not None or options.trajectory is not None),
    NoEffect(("cfg", "cfg_file", "named", "random"), lambda options: options.trajectory is not None, AUDITED),
    NoEffect(("by",), lambda options: options.trajectory is not None, "meshes decide of a motion"),
    NoEffect(
        ("plot", "csv"), lambda options: options.trajectory is None, "it shows the motion of --trajectory"
    ),
    NoEffect(
        ("time_column",),
        lambda options: options.trajectory is None,
        "it is the time of the motion of --trajectory",
    ),
)


def run(options: Options) -> int:
    """Checks and reports; exit code 1 when a configuration is not free."""
    from ..collision import CollisionModel
    from ..collision.internal import covering

    if options.limit < 0:
        raise InputError(f"--limit: expected a number from 0 up, found {options.limit}")
    check_plot(options.plot)
    if options.csv is not None:
        check_place(options.csv)
    for path in (options.trajectory, options.cfg_file):
        check_there(path)
    world = options.read_world()
    robot = options.load()
    check_choice(robot, options)
    options.check_allow(robot, world)
    spheres, uncovered = covering(robot, options.chosen_spheres(robot))
    pairs = options.decided_pairs(robot, spheres)
    model = CollisionModel(robot, spheres, pairs, world, options.buffer, allow=options.allow)
    if options.trajectory is not None:
        motion = options.read(options.trajectory, model)
        proved = check_motion(
            model,
            motion,
            json=options.json,
            limit=options.limit,
            plot=options.plot,
            csv=options.csv,
            uncovered=uncovered,
            scene=options.scene_facts(world),
        )
        return 0 if proved else EXIT_COLLIDES
    chosen = choose(model, options, options.settings.seed)
    with waiting(f"checking {len(chosen.cfgs)} configurations"):
        free = model.free(chosen.cfgs, by=options.by)
    bad = np.flatnonzero(~free)
    shown = range(len(free)) if len(free) <= options.limit else bad[: options.limit].tolist()

    def verdicts() -> Generator[tuple[str, bool, Verdict]]:
        """Made as they are shown: the answer comes before the explanations."""
        for k in shown:
            yield chosen.label(k), bool(free[k]), model.explain(chosen.cfgs[k])

    outside = int(((chosen.cfgs < robot.lower) | (chosen.cfgs > robot.upper)).any(axis=1).sum())
    left_out = max(0, len(bad) - len(shown)) if len(free) > options.limit else 0
    if options.json:
        report = {
            "robot": robot.name,
            "modelled": robot.modelled,
            "by": options.by,
            **options.scene_facts(world),
            **options.model_facts(model),
            "configurations": len(free),
            "colliding": len(bad),
            "colliding_names": [chosen.label(k) for k in bad.tolist()],
            "out_of_limits": outside,
            "uncovered": uncovered,
            "notes": [*model.pairs.notes, *_notes(world), *chosen.notes],
            "listed": [_entry(label, answer, verdict) for label, answer, verdict in verdicts()],
            "not_listed": {
                "colliding": left_out,
                "free": len(free) - len(bad) - int(free[list(shown)].sum()),
                "how_to_list": f"--limit {len(free)}",
            },
        }
        print_json(report)
    else:
        _print(model, options, chosen, free, outside, uncovered, verdicts(), left_out)
    return EXIT_COLLIDES if len(bad) else 0


def _notes(world: World | None) -> tuple[str, ...]:
    return () if world is None else world.notes


def _entry(label: str, free: bool, verdict: Verdict) -> dict[str, Any]:
    return {
        "name": label,
        "free": free,
        "by": verdict.by,
        "clearance": verdict.clearance,
        "closest": None if verdict.closest is None else clash_facts(verdict.closest),
        "varying_clearance": verdict.varying_clearance,
        "closest_varying": None if verdict.closest_varying is None else clash_facts(verdict.closest_varying),
        "constant": [asdict(found) for found in verdict.constant],
        "clashes": [clash_facts(clash) for clash in verdict.clashes],
        "allowed_touching": verdict.allowed_touching,
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


def _print(
    model: CollisionModel,
    options: Options,
    chosen: Chosen,
    free: np.ndarray,
    outside: int,
    uncovered: tuple[str, ...],
    verdicts: Iterable[tuple[str, bool, Verdict]],
    left_out: int,
) -> None:
    from ..collision.internal import constant_lines
    from ..pairs import PairReason

    out = console()

    def line(text: str) -> None:
        out.print(text, markup=False)

    if uncovered:
        line(
            f"  the spheres are not proved to cover {', '.join(uncovered)}; a ball around each mesh stands in"
        )
    bad = int((~free).sum())
    line(
        f"{model.robot.name}: free at {len(free) - bad} of {len(free)} configurations, by {options.by} "
        f"({counted(len(model.pairs.checked), 'link pair')} checked, {len(model.by_meshes)} of them by meshes alone)"
    )
    if model.world is not None:
        line(f"  among {counted(len(model.world), 'obstacle')} of {options.scene}")
    for note in (*model.robot.modelled, *model.pairs.notes, *some(_notes(model.world)), *chosen.notes):
        line(f"  note: {note}")
    if outside:
        line(f"  {outside} configurations are outside the joint limits")
    said: set[str] = set()
    for label, answer, verdict in verdicts:
        constant = [f"  {one}" for one in constant_lines(verdict.constant)]
        text = "\n".join(one for one in str(verdict).split("\n") if one not in said)
        said.update(constant)  # the same at every configuration: once
        if verdict.free and not answer:
            near = "overlap" if not model.buffer else "overlap or come closer than the buffer"
            text = f"free by meshes, but not by spheres, which {near} ({text})"
        line(f"  {label}: {text}".replace("\n", "\n  "))
        adjacent = [
            " and ".join(pair)
            for pair, found in verdict.ignored_touching.items()
            if found.reason is PairReason.ADJACENT
        ]
        if len(adjacent) > NEIGHBOURS:
            line(f"    {len(adjacent)} pairs of neighbours touch here, as allowed; --json names them")
        elif adjacent:
            line(f"    neighbours that touch here, as allowed: {', '.join(adjacent)}")
    if left_out:
        line(f"  ... and {left_out} more; --limit {bad} lists all")


def check_motion(
    model: CollisionModel,
    motion: Configurations,
    *,
    json: bool,
    limit: int,
    plot: Path | None,
    csv: Path | None,
    uncovered: tuple[str, ...],
    scene: dict[str, Any],
) -> bool:
    """Audits, writes and reports; whether the whole motion is proved free."""
    from ..collision import audit

    around = () if model.world is None else model.world.notes
    with progress_bar(f"auditing {len(motion)} rows") as progress:
        found = audit(model, motion.cfgs, motion.times, progress=progress)
    if csv is not None:
        write_text(csv, found.to_csv())
    if plot is not None:
        from ..ui.draw import plot_audit, save_figure

        with waiting("drawing"):
            save_figure(plot_audit(found), plot)
    if json:
        facts = {"uncovered": uncovered, "modelled": model.robot.modelled, "written": [csv, plot]}
        print_json({**_report(found, motion, scene, around), **facts})
        return found.free
    out = console(aside=aside(csv, plot))

    def line(text: str) -> None:
        out.print(text, markup=False)

    for link in uncovered:
        line(f"  the spheres are not proved to cover {link}; a ball around its mesh stands in")
    line(f"{motion.source}: " + "\n".join(found.lines(limit)))
    if model.world is not None:
        line(f"  among {counted(len(model.world), 'obstacle')} of {scene['scene']}")
    for note in (*model.robot.modelled, *some(around), *motion.notes):
        line(f"  note: {note}")
    for path in (csv, plot):
        if path is not None:
            line(f"wrote {path}")
    return found.free


def _report(
    found: Audit, motion: Configurations, scene: dict[str, Any], around: tuple[str, ...]
) -> dict[str, Any]:
    """Everything: the summary, then the rows and the segments between them, in order."""
    from ..collision.internal import BETWEEN

    def pair(k: int) -> tuple[str, str] | None:
        return found.pairs[k] if k >= 0 else None

    return {
        "robot": found.robot_name,
        "source": motion.source,
        **scene,
        "rows": len(found),
        "free": found.free,
        "buffer": found.buffer,
        "rows_in_contact": int((~found.rows_free).sum()),
        "first_contact": found.first and _moment(found.first, motion),
        "worst_contact" if found.first else "closest_at": found.worst and _moment(found.worst, motion),
        "constant": [asdict(one) for one in found.constant],
        "contacts": [
            {"from_row": a + 1, "to_row": b + 1, "from_time": found.time_at(a), "to_time": found.time_at(b)}
            for a, b in found.stretches
        ],
        "segments": {kind: found.count(kind) for kind in BETWEEN},
        "unproved_segments": [
            {
                "from_row": k + 1,
                "from": motion.where(k),
                "kind": BETWEEN[found.between[k]],
                "fraction": found.blocked_at[k],
                "time": found.time_at(k, float(found.blocked_at[k])),
                "links": pair(int(found.blocked_idx[k])),
            }
            for k in found.unproved.tolist()
        ],
        "rows_out_of_limits": {
            name: int(found.outside[:, k].sum())
            for k, name in enumerate(found.joint_names)
            if found.outside[:, k].any()
        },
        "notes": [*around, *motion.notes, *found.notes],
        "seconds": round(found.seconds, 3),
        "times": found.times,
        "rows_free": found.rows_free,
        "clearance": found.clearance,
        "closest": [pair(k) for k in found.closest_idx.tolist()],
        "varying_clearance": found.varying_clearance,
        "closest_varying": [pair(k) for k in found.varying_idx.tolist()],
        "to_next": [BETWEEN[k] for k in found.between.tolist()],
        "proved_clearance": found.proved_clearance,
    }


def _moment(moment: Moment, motion: Configurations) -> dict[str, Any]:
    return {
        "row": moment.row + 1,
        "place": motion.where(moment.row),
        "time": moment.time,
        "clashes": [clash_facts(clash) for clash in moment.clashes],
        "cfg": motion.cfgs[moment.row],
    }
