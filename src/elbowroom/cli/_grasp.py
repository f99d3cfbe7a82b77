"""Plan a grasp of a hand: print it as a table, draw it, export it, or test the planner itself."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import tyro

from .._text import fixed, number
from ..errors import InputError, MissingExtraError
from ..grasp.internal import BUNDLED_HANDS, TIP_TOLERANCE
from ._common import console, print_json, progress_bar, read_mesh_file, write_text
from ._options import NoEffect

if TYPE_CHECKING:
    from ..grasp import Grasp, GraspPlanner, Hand
    from ..grasp.internal import SelfTest

EXAMPLES = {
    "elbowroom grasp line --width-mm 30 --check": "thumb and index, checked against table, object and itself",
    "elbowroom grasp cylinder --width-mm 60 --plot grasp.png": "all fingers around a cylinder, with a picture",
    "elbowroom grasp plane --fingers 4 --width-mm 40 --export grasp.csv": "the timed approach, for a controller",
}
EXIT_FAILED = 1
"""A self-test line that does not hold, or a check that finds a collision."""


@dataclass(frozen=True)
class Options:
    """Arguments of `elbowroom grasp`."""

    mode: Annotated[Literal["line", "plane", "cylinder"], tyro.conf.Positional] = "line"
    """Thumb and one finger, thumb and several fingers, or all around a cylinder."""
    width_mm: float = 30.0
    """Width of the object, or diameter of a cylinder, mm."""
    finger: str = "index"
    """Finger of a line grasp."""
    fingers: int = 4
    """Fingers of a plane grasp, thumb included: 3, 4 or 5."""
    method: Literal["smooth", "proportional"] = "smooth"
    """smooth: continuous in the width, with the object level. proportional: all fingers close in proportion."""
    hand: str = "rh56"
    """rh56 or rh56_left, allegro_right_hand or allegro_left_hand with example-robot-data, or the file of an Inspire
    hand; other hands are planned from Python, where their fingertips are named."""
    revision: str | None = None
    """Revision of rh56 and rh56_left: spec (default), newest or newest_grasp_scene."""
    height_mm: float = 100.0
    """Height of the grasp over the table, mm."""
    exact: bool = False
    """Proportional method without tables."""
    check: bool = False
    """Check the hand against the table, the object and itself; exit code 1 if something collides or a fingertip is
    deeper in the object than the tolerance."""
    tip_tolerance_mm: float = 1e3 * TIP_TOLERANCE
    """For --check: depth in the object that is accepted for links with active fingertips, mm. Collision shapes enclose
    the fingertip points that a grasp places on the surface; use more for soft pads."""
    object: Path | None = None
    """Mesh of the object for --check, in metres, its origin at the middle of the grasp; a box or cylinder otherwise."""
    plot: Path | None = None
    """PNG with side and front view."""
    sweep: Path | None = None
    """PNG with tilt, s, controls and errors over all widths, both methods side by side."""
    interactive: bool = False
    """Open a window with side and front view and controls for mode, fingers, method, width and height; needs a
    display."""
    mujoco: bool = False
    """Open the floating hand in MuJoCo's viewer, with that window beside it; without a display, write
    --mujoco-png."""
    mujoco_png: Path = Path("grasp_mujoco.png")
    """Where --mujoco writes its picture when there is no display."""
    export: Path | None = None
    """Timed approach and closing, as .json or .csv."""
    self_test: bool = False
    """Check the specified figures and the guarantees of the smooth method; exit code 1 if one does not hold."""
    rebuild: bool = False
    """Recompute all cached tables and branches of the hand first."""
    registers: bool = False
    """Print the angle commands of a real RH56 too: value and Modbus register of each motor, 1000 open to 0 closed."""
    json: bool = False
    """Print JSON instead of tables."""


NO_EFFECT = (
    NoEffect(("object", "tip_tolerance_mm"), lambda options: not options.check, "it is about --check"),
    NoEffect(
        ("tip_tolerance_mm",),
        lambda options: options.mode == "cylinder" and options.method == "smooth",
        "a hand that is wrapped around a cylinder touches it with whole fingers, which may be 0.5 mm inside",
    ),
    NoEffect(("finger",), lambda options: options.mode != "line", "it is the finger of a line grasp"),
    NoEffect(("fingers",), lambda options: options.mode != "plane", "it is the number of a plane grasp"),
    NoEffect(
        ("exact",), lambda options: options.method != "proportional", "it is about --method proportional"
    ),
    NoEffect(("mujoco_png",), lambda options: not options.mujoco, "it is where --mujoco writes its picture"),
)


def run(options: Options) -> int:
    """Plans, prints and draws."""
    if options.self_test:
        return _self_test(options)
    from ..grasp import GraspPlanner, load_hand
    from ..ui.draw import require_window

    if options.interactive:
        require_window()
    hand = load_hand(options.hand, revision=options.revision)
    rebuilt = _rebuild(options, hand) if options.rebuild else ()
    planner = GraspPlanner(hand, options.method, exact=options.exact)
    grasp = planner.grasp(
        options.mode, 1e-3 * options.width_mm, finger=options.finger, fingers=options.fingers
    )
    height = 1e-3 * options.height_mm
    report = _report(options, planner, grasp, height)
    written = _write(options, planner, grasp, height)
    if rebuilt:
        report["rebuilt"] = list(rebuilt)
    if options.json:
        print_json({**report, "written": written})
    else:
        _print(report, grasp, written)
    _show(options, planner, grasp, height)
    return EXIT_FAILED if options.check and not report["check"]["free"] else 0


def _rebuild(options: Options, hand: Hand) -> tuple[str, ...]:
    """Recomputes everything that is cached of a hand and prints what."""
    from ..grasp.internal import rebuild_tables

    with progress_bar("computing tables", quiet=options.json) as progress:
        made = rebuild_tables(hand, progress)
    if not options.json:
        console().print(f"recomputed for {hand.label}: {', '.join(made)}\n", markup=False)
    return made


def _show(options: Options, planner: GraspPlanner, grasp: Grasp, height: float) -> None:
    """Opens the windows that were asked for and returns when they are closed."""
    from ..grasp import plan_approach
    from ..ui.draw import has_display, open_grasp_window, run_window, show_grasp

    with_viewer = options.mujoco and has_display()
    if not (options.interactive or with_viewer):
        return
    window = None
    try:
        if with_viewer and sys.platform == "darwin":
            raise MissingExtraError(
                "on macOS MuJoCo's viewer takes the thread that windows need; see --interactive"
            )
        window = open_grasp_window(
            planner, options.mode, grasp.width, finger=options.finger, fingers=options.fingers, height=height
        )
    except MissingExtraError as error:  # the viewer needs no toolkit
        if options.interactive:
            raise
        console(aside=True).print(f"without the slider: {error}", style="yellow", markup=False)
    if with_viewer:
        show_grasp(grasp, height, plan_approach(planner, grasp, height=height), window)
    else:
        run_window()


def _report(options: Options, planner: GraspPlanner, grasp: Grasp, height: float) -> dict[str, Any]:
    from ..grasp import ANGLE_SET, contacts_on_cylinder, contacts_on_sides, grasp_quality

    low, high = planner.range(grasp.opposition)
    report: dict[str, Any] = {
        **grasp.to_dict(height),
        "range": [low, high],
        "modelled": grasp.hand.robot.modelled,
    }
    if grasp.touching or grasp.mode != "cylinder":
        contacts = contacts_on_cylinder if grasp.touching else contacts_on_sides
        quality = grasp_quality(contacts(grasp, height))
        report["quality"] = {
            "force_closure": quality.force_closure,
            "epsilon": quality.epsilon,
            "friction": quality.friction,
            "torsion": quality.torsion,
            "largest_gap": quality.largest_gap,
        }
    if grasp.hand.notes:
        report["guessed"] = list(grasp.hand.notes)
    if options.registers:
        values = grasp.to_registers()
        report["registers"] = [
            {"register": ANGLE_SET + i, "actuator": name, "value": value}
            for i, (name, value) in enumerate(zip(grasp.hand.registers, values, strict=True))
        ]
    if options.check:
        report["check"] = _check(options, planner, grasp, height)
    return report


def _check(options: Options, planner: GraspPlanner, grasp: Grasp, height: float) -> dict[str, Any]:
    from ..grasp import GraspChecker
    from ..grasp.internal import grasped_object

    T = np.eye(4)
    if options.object is not None:
        mesh: Any = read_mesh_file(options.object)
        T[2, 3] = height
    else:
        mesh = grasped_object(grasp, height).mesh()
    if options.tip_tolerance_mm < 0.0:
        raise InputError(f"--tip-tolerance-mm: expected a number from 0 up, found {options.tip_tolerance_mm}")
    checker = GraspChecker(planner.hand, tip_tolerance=1e-3 * options.tip_tolerance_mm)
    found = checker.check(grasp, height=height, object_mesh=mesh, T_world_object=T)
    return {
        "free": found.free,
        "why": found.why,
        "table_clearance": found.table_clearance,
        "table_link": found.table_link,
        "object_distances": dict(found.object_distances),
        "tip_links": list(found.tip_links),
        "tip_tolerance": found.tip_tolerance,
        "inside_object": [
            {
                "link": overlap.link,
                "finger": overlap.finger or None,
                "depth": overlap.depth,
                "tolerance": overlap.tolerance,
                "exceeds": overlap.exceeds,
            }
            for overlap in found.overlaps
        ],
        "self_collisions": [list(pair) for pair in found.self_collisions],
    }


def _write(options: Options, planner: GraspPlanner, grasp: Grasp, height: float) -> list[str]:
    from ..grasp import GraspPlanner, plan_approach
    from ..ui.draw import has_display, plot_grasp, plot_sweep, render_grasp, save_png

    written: list[str] = []
    if options.plot is not None:
        _save(plot_grasp(grasp, height), options.plot, written)
    if options.sweep is not None:
        both = [
            planner if planner.method == method else GraspPlanner(planner.hand, method)
            for method in (("proportional", "smooth") if planner.hand.proportional else ("smooth",))
        ]
        figure = plot_sweep(both, options.mode, finger=options.finger, fingers=options.fingers)
        _save(figure, options.sweep, written)
    if options.export is not None:
        motion = plan_approach(planner, grasp, height=height)
        texts = {".json": motion.to_json, ".csv": motion.to_csv}
        if options.export.suffix.lower() not in texts:
            raise InputError(f"--export writes .json or .csv, found {options.export.name!r}")
        write_text(options.export, texts[options.export.suffix.lower()]())
        written.append(str(options.export))
    if options.mujoco and not has_display():
        save_png(options.mujoco_png, render_grasp(grasp, height))
        written.append(str(options.mujoco_png))
    return written


def _save(figure: Any, path: Path, written: list[str]) -> None:
    from ..ui.draw import save_figure

    save_figure(figure, path)
    written.append(str(path))


def _print(report: dict[str, Any], grasp: Grasp, written: list[str]) -> None:
    from rich.table import Table

    out = console()
    low, high = report["range"]
    what = "diameter" if grasp.mode == "cylinder" else "width"
    out.print(
        f"[bold]{grasp.hand.label}, {grasp.opposition}, {grasp.method}[/bold]: {what} "
        f"{1e3 * grasp.width:.2f} mm (range {1e3 * low:.1f} to {1e3 * high:.1f} mm)"
    )
    table = Table(box=None, show_header=False)
    T = np.array(report["T_world_base"])
    rows = [
        ("s", f"{grasp.s:.4f}"),
        ("tilt", f"{np.degrees(grasp.tilt_y):.2f} degrees"),
        ("base in the world", f"{_mm(T[:3, 3])} mm, rot_x pi, rot_y {-grasp.tilt_y:.4f}"),
        ("width error", f"{number(1e3 * grasp.width_error, 2)} mm"),
        ("height, thumb over fingers", f"{number(1e3 * grasp.height_error, 2)} mm"),
        ("height spread of the tips", f"{number(1e3 * grasp.height_spread, 2)} mm"),
        ("sideways offset", f"{number(1e3 * grasp.side_offset, 2)} mm"),
        (
            "joints",
            "in range" if grasp.range_violation <= 1e-9 else f"{grasp.range_violation:.3f} rad out of range",
        ),
    ]
    if "quality" in report:
        quality = report["quality"]
        closed = "force closure" if quality["force_closure"] else "no force closure"
        rows.append(
            (
                "quality on the cylinder" if grasp.touching else "quality on two flat sides",
                f"{closed}, Ferrari-Canny {quality['epsilon']:.3f}, friction {quality['friction']:g}",
            )
        )
        if grasp.touching:
            degrees = float(np.degrees(grasp.wrapped))
            note = "" if degrees >= 180.0 else ": less than half, held by friction alone"
            rows.append(("wrapped around it", f"{degrees:.0f} degrees{note}"))
            rows.append(("touching it", ", ".join(grasp.touching)))
        else:
            rows.append(("tips off those sides, at most", f"{number(1e3 * quality['largest_gap'], 2)} mm"))
    if "check" in report:
        check = report["check"]
        rows.append(("collisions", "free" if check["free"] else f"not free: {check['why']}"))
        deep = [
            f"{entry['link']} {1e3 * entry['depth']:.1f} mm{' (too deep)' if entry['exceeds'] else ''}"
            for entry in check["inside_object"]
            if 1e3 * entry["depth"] >= 0.05
        ]
        allowed = f"fingertips may be {1e3 * check['tip_tolerance']:.1f} mm inside"
        rows.append(("inside the object", f"{', '.join(deep) or 'nothing'}; {allowed}"))
        rows.append(("over the table", f"{1e3 * check['table_clearance']:.1f} mm ({check['table_link']})"))
    for name, text in rows:
        table.add_row(name, text)
    out.print(table)
    table = Table("\nactuator", "\nctrl (rad)", box=None, header_style="bold")
    for name, value in grasp.actuators.items():
        table.add_row(name, f"{value:.5f}")
    out.print(table)
    if "registers" in report:
        table = Table("\nregister", "\nangle command", "\nmotor", box=None, header_style="bold")
        for row in report["registers"]:
            table.add_row(str(row["register"]), str(row["value"]), row["actuator"])
        out.print(table)
    table = Table("\nfingertip", "\nbase frame (mm)", "\nworld (mm)", box=None, header_style="bold")
    for name, tip in grasp.tips.items():
        table.add_row(name, _mm(tip), _mm(np.array(report["tips_world"][name])))
    out.print(table)
    notes = [*report["modelled"], *(f"guessed: {note}" for note in report.get("guessed", ()))]
    for i, note in enumerate(notes):
        out.print(f"{'' if i else chr(10)}{note}", markup=False)
    for path in written:
        out.print(f"wrote {path}")


def _mm(point: np.ndarray) -> str:
    return "  ".join(f"{fixed(1e3 * value, 2):>8}" for value in point)


def _self_test(options: Options) -> int:
    from ..grasp.internal import self_test

    if options.hand not in BUNDLED_HANDS:
        known = " and ".join(BUNDLED_HANDS)
        raise InputError(f"--self-test is of the bundled hands {known}, found --hand {options.hand}")
    with progress_bar("testing", quiet=options.json) as progress:
        found: SelfTest = self_test(options.revision or "spec", name=options.hand, progress=progress)
    if options.json:
        lines = [
            {"name": line.name, "value": line.value, "bound": line.bound, "ok": line.ok}
            for line in found.lines
        ]
        print_json({"revision": found.revision, "ok": found.ok, "lines": lines, "ranges": found.ranges})
        return 0 if found.ok else EXIT_FAILED
    from rich.table import Table

    out = console()
    table = Table("measured", "value", "bound", "", box=None, header_style="bold")
    for line in found.lines:
        mark = "[green]ok[/green]" if line.ok else "[red]FAILED[/red]"
        table.add_row(line.name, number(line.value), line.bound, mark)
    out.print(table)
    table = Table("\nverified range", "\nfrom (mm)", "\nto (mm)", box=None, header_style="bold")
    for name, (low, high) in found.ranges.items():
        table.add_row(name, f"{1e3 * low:.2f}", f"{1e3 * high:.2f}")
    out.print(table)
    return 0 if found.ok else EXIT_FAILED
