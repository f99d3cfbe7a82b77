"""`elbowroom check ROBOT --trajectory FILE`: the audit of a recorded motion."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._text import counted
from ._common import aside, console, print_json, progress_bar, some, waiting, write_text

if TYPE_CHECKING:
    from ..collision import Audit, CollisionModel, Moment
    from ..robot import Configurations


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
    from ..collision.doors import BETWEEN

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


def clash_facts(clash: Any) -> dict[str, Any]:
    """A clash for JSON."""
    return {
        "a": clash.a,
        "b": clash.b,
        "distance": clash.distance,
        "point_a": clash.point_a,
        "point_b": clash.point_b,
        "normal": clash.normal,
    }
