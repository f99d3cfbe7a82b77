"""What `elbowroom ik` prints: the configuration by joint name, errors, clearance, and why not."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from .._text import fixed, number
from ..ik import IkResult, JointTarget, Target
from ._check_motion import clash_facts
from ._common import console, print_json, table, write_text

if TYPE_CHECKING:
    from ..robot import Robot
    from ._ik import Options


def one(result: IkResult, robot: Robot, options: Options) -> None:
    """The answer to --target."""
    if options.plot is not None:
        from ..ui.draw import ik_picture, save_png

        save_png(options.plot, ik_picture(robot, result))
    if options.json:
        scene = options.scene_facts(None if result.model is None else result.model.world)
        about = {} if result.model is None else options.model_facts(result.model)
        print_json(
            {"robot": robot.name, "modelled": robot.modelled, **scene, **about, **facts(result, robot)}
        )
        return
    out = console()

    def line(text: str) -> None:
        out.print(text, markup=False)

    line(f"{robot.name}: {_sentence(result)}")
    for note in (*robot.modelled, *result.notes):
        line(f"  note: {note}")
    line(
        f"  {result.chosen}; {result.seeds_tried} starts, {result.iterations} steps, {1e3 * result.seconds:.0f} ms "
        "with all that a first question prepares"
    )
    rows = [
        (_name(target), fixed(1e3 * position, 3), fixed(np.degrees(orientation), 3))
        for target, position, orientation in zip(
            result.targets, result.position_error, result.orientation_error, strict=True
        )
    ]
    out.print(table(("target", "off by mm", "off by deg"), rows))
    moved = result.cfg.tolist()
    out.print(
        table(
            ("joint", "rad or m"), [(n, number(v, 6)) for n, v in zip(robot.joint_names, moved, strict=True)]
        )
    )
    if options.plot is not None:
        line(f"wrote {options.plot}")


def many(results: Sequence[IkResult], places: Sequence[str], robot: Robot, options: Options) -> None:
    """The answers to --targets."""
    if options.csv is not None:
        write_text(options.csv, _csv(results, robot))
    bad = [k for k, result in enumerate(results) if not result.success]
    shown = list(range(len(results))) if len(results) <= options.limit else bad[: options.limit]
    seconds = np.array([result.seconds for result in results])
    if options.json:
        scene = options.scene_facts(None if results[0].model is None else results[0].model.world)
        print_json(
            {
                "robot": robot.name,
                "modelled": robot.modelled,
                **scene,
                "targets": len(results),
                "reached": len(results) - len(bad),
                "not_reached": [places[k] for k in bad],
                "median_seconds": float(np.median(seconds)),
                "listed": [{"name": places[k], **facts(results[k], robot)} for k in shown],
            }
        )
        return
    out = console()
    reached = f"{len(results) - len(bad)} of {len(results)} sets of targets reached"
    out.print(f"{robot.name}: {reached}; {1e3 * np.median(seconds):.2f} ms each (median)", markup=False)
    for note in robot.modelled:
        out.print(f"  note: {note}", markup=False)
    rows = [
        (
            places[k],
            "yes" if results[k].success else "no",
            fixed(1e3 * results[k].position_error.max(), 3),
            fixed(np.degrees(results[k].orientation_error.max()), 3),
            "" if (verdict := results[k].verdict) is None else fixed(1e3 * verdict.varying_clearance, 1),
            results[k].why,
        )
        for k in shown
    ]
    out.print(table(("target", "reached", "off by mm", "off by deg", "clearance mm", "why not"), rows))
    if len(bad) > len(shown) and len(results) > options.limit:
        out.print(f"... and {len(bad) - len(shown)} more; --limit {len(bad)} lists all", markup=False)
    if options.csv is not None:
        out.print(f"wrote {options.csv}", markup=False)


def facts(result: IkResult, robot: Robot) -> dict[str, Any]:
    """A result for JSON."""
    verdict = result.verdict
    return {
        "success": result.success,
        "why": result.why,
        "reason": result.reason,
        "cfg": dict(zip(robot.joint_names, result.cfg.tolist(), strict=True)),
        "targets": [
            {"name": _name(target), "position_error": position, "orientation_error": orientation}
            for target, position, orientation in zip(
                result.targets, result.position_error, result.orientation_error, strict=True
            )
        ],
        "free": result.free,
        "clearance": result.clearance,
        "varying_clearance": None if verdict is None else verdict.varying_clearance,
        "constant": [] if verdict is None else [asdict(found) for found in verdict.constant],
        "clashes": [] if verdict is None else [clash_facts(clash) for clash in verdict.clashes],
        "chosen": result.chosen,
        "candidates": result.candidates,
        "seeds_tried": result.seeds_tried,
        "iterations": result.iterations,
        "seconds": result.seconds,
        "notes": result.notes,
    }


def _sentence(result: IkResult) -> str:
    if not result.success:
        return f"not reached. {result.why}"
    if result.verdict is None:
        return "reached; not judged for collisions"
    return f"reached. {result.verdict}".replace("\n", "\n  ")


def _name(target: Target) -> str:
    return target.joint if isinstance(target, JointTarget) else target.link


def _csv(results: Sequence[IkResult], robot: Robot) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["reached", *robot.joint_names])
    writer.writerows([int(result.success), *map(repr, result.cfg.tolist())] for result in results)
    return text.getvalue()
