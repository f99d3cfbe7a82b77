"""Pictures of grasps with matplotlib: functions that return Figures and open no window.

`plot_grasp` draws side and front views to scale, `plot_sweep` both methods over all widths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from ..._poses import matrix_from_wxyz_xyz
from ..._text import number
from ...grasp import Grasp, GraspPlanner, Sweep
from ...grasp.internal import GraspedObject, grasped_object
from ...typing import Points, Triangles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ...grasp import Hand


@dataclass(frozen=True, eq=False)
class HandPiece:
    """One collision shape of a link, placed."""

    link: str
    finger: str
    """The finger it belongs to; empty for the palm."""
    vertices: Points
    faces: Triangles


def hand_pieces(hand: Hand, ctrl: np.ndarray, T_world_base: np.ndarray) -> tuple[HandPiece, ...]:
    """All collision shapes of a hand in the world."""
    poses = T_world_base @ matrix_from_wxyz_xyz(hand.robot.link_poses(hand.cfg(ctrl)))
    owner = hand.link_fingers
    pieces: list[HandPiece] = []
    for link, shapes in hand.robot.shapes.items():
        for shape in shapes:
            data = shape.load()
            T = poses[hand.robot.link_index(link)] @ shape.T_link_shape
            pieces.append(
                HandPiece(link, owner.get(link, ""), data.vertices @ T[:3, :3].T + T[:3, 3], data.faces)
            )
    return tuple(pieces)


def hand_bones(hand: Hand, ctrl: np.ndarray, T_world_base: np.ndarray) -> dict[str, Points]:
    """Per finger the line from its first joint over its joints to the tip, in the world."""
    from ...grasp.internal import moving_joints

    robot = hand.robot
    poses = T_world_base @ matrix_from_wxyz_xyz(robot.link_poses(hand.cfg(ctrl)))
    tips = hand.tips(ctrl) @ T_world_base[:3, :3].T + T_world_base[:3, 3]
    bones: dict[str, Points] = {}
    for i, finger in enumerate(hand.fingers):
        origins = [
            poses[robot.link_index(joint.child)][:3, 3] for joint in moving_joints(robot, finger.tip_link)
        ]
        bones[finger.name] = np.array([*origins, tips[i]])
    return bones


PALM_COLOUR = "#5b6470"
IDLE_COLOUR = "#c3c9d1"
OBJECT_COLOUR = "#f2c14e"
FINGER_COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00")
"""Thumb first, for any kind of sight (Okabe and Ito); further fingers begin again."""
MARGIN, TILT_LENGTH = 20.0, 55.0
"""mm; around what is drawn, and of the lines that show the tilt."""
PICTURE_HEIGHT = 6.0
"""Inches."""
VIEWS: dict[str, tuple[int, int, int, str]] = {
    "side": (0, 2, 1, "x, closing axis (mm)"),
    "front": (1, 2, 0, "y, spread axis (mm)"),
}
"""Horizontal and vertical axis, and the axis of sight, of the two views."""


def plot_grasp(grasp: Grasp, height: float = 0.1) -> Figure:
    """Side and front view of a grasp in the world, to scale, with the object.

    Args:
        grasp: any grasp.
        height: world height of the grasp, m.
    """
    from matplotlib.figure import Figure

    low, high = view_limits(grasp, height)
    span = high - low
    scale = PICTURE_HEIGHT / span[2]
    figure = Figure(figsize=(scale * (span[0] + span[1]) + 3.4, PICTURE_HEIGHT + 1.5), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True, width_ratios=(span[0], span[1]))
    for ax, view in zip(axes, VIEWS, strict=True):
        draw_view(ax, grasp, height, view, low, high)
    figure.legend(*axes[1].get_legend_handles_labels(), loc="outside right center", fontsize=9)
    what = "diameter" if grasp.mode == "cylinder" else "width"
    figure.suptitle(
        f"{grasp.hand.label}: {grasp.opposition}, {what} {1e3 * grasp.width:.1f} mm, "
        f"{grasp.method}, tilt {np.degrees(grasp.tilt_y):.1f}°, s {grasp.s:.3f}\n"
        f"width error {number(1e3 * grasp.width_error, 3)} mm, "
        f"height error {number(1e3 * grasp.height_error, 3)} mm, "
        f"height spread {number(1e3 * grasp.height_spread, 3)} mm",
        fontsize=11,
    )
    return figure


def view_limits(grasp: Grasp, height: float) -> tuple[np.ndarray, np.ndarray]:
    """Corners (3,) of the box in the world, mm, that holds hand, object, table and tilt with a margin."""
    thing = grasped_object(grasp, height)
    base = grasp.to_world(height).T_world_base
    points = 1e3 * np.concatenate([piece.vertices for piece in hand_pieces(grasp.hand, grasp.ctrl, base)])
    corners = 1e3 * np.array([thing.center - thing.size / 2, thing.center + thing.size / 2])
    low, high = np.minimum(points.min(axis=0), corners[0]), np.maximum(points.max(axis=0), corners[1])
    low, high = low - MARGIN, high + MARGIN
    low[2] = min(low[2], -MARGIN)
    high[2] = max(high[2], 1e3 * base[2, 3] + TILT_LENGTH + MARGIN)
    wrist = base[:3, 3] - 1e-3 * TILT_LENGTH * base[:3, 2]
    low[0], high[0] = min(low[0], 1e3 * wrist[0] - MARGIN), max(high[0], 1e3 * wrist[0] + MARGIN)
    return low, high


def draw_view(ax: Axes, grasp: Grasp, height: float, view: str, low: np.ndarray, high: np.ndarray) -> None:
    """Draws one of `VIEWS` of a grasp into axes, to scale.

    Args:
        ax: empty axes.
        grasp: any grasp.
        height: world height of the grasp, m.
        view: name of the view; the side view says width and tilt.
        low: corner (3,) of what is in the picture, mm in the world.
        high: the opposite corner.
    """
    pieces = hand_pieces(grasp.hand, grasp.ctrl, grasp.to_world(height).T_world_base)
    _draw_hand(ax, grasp, height, pieces, view)
    across = VIEWS[view][0]
    ax.set_xlim(low[across], high[across])
    ax.set_ylim(low[2], high[2])
    if view == "side":
        ax.set_ylabel("z, up (mm)")
        _annotate(ax, grasp, height)


def _draw_hand(ax: Axes, grasp: Grasp, height: float, pieces: Sequence[HandPiece], view: str) -> None:
    from matplotlib.patches import Polygon

    across, up, sight, label = VIEWS[view]
    T, tips = grasp.to_world(height)
    hand = grasp.hand
    colours = finger_colours(grasp)
    ax.axhline(0.0, color="#7a6a58", lw=2, zorder=0)
    ax.axhspan(-1000.0, 0.0, color="#e9e1d6", zorder=0)
    order = sorted(pieces, key=lambda piece: float(piece.vertices[:, sight].mean()), reverse=view == "side")
    depth = {id(piece): 2.0 + 0.01 * i for i, piece in enumerate(order)}
    for piece in order:
        colour = colours.get(piece.finger, PALM_COLOUR if not piece.finger else IDLE_COLOUR)
        outline = _outline(1e3 * piece.vertices[:, [across, up]])
        style: dict[str, Any] = {"fc": colour, "ec": "white", "lw": 0.6, "alpha": 0.62}
        ax.add_artist(Polygon(outline, closed=True, zorder=depth[id(piece)], **style))
    _draw_object(ax, grasped_object(grasp, height), across, up, object_label(grasp))
    for name, bone in hand_bones(hand, grasp.ctrl, T).items():
        colour = colours.get(name, "#9aa3ad")
        ax.plot(*(1e3 * bone[:, [across, up]]).T, color=colour, lw=1.2, marker=".", ms=3, zorder=5)
    for name, tip in tips.items():
        ax.plot(
            1e3 * tip[across],
            1e3 * tip[up],
            "o",
            ms=7,
            mfc=colours[name],
            mec="black",
            zorder=8,
            label=f"{name} tip",
        )
    if grasp.touching:
        contacts = 1e3 * (np.array(list(grasp.touching.values())) @ T[:3, :3].T + T[:3, 3])
        ax.plot(contacts[:, across], contacts[:, up], "kx", ms=6, mew=1.6, zorder=9, label="contact")
    level = float(np.mean([tip[2] for tip in tips.values()]))
    ax.axhline(1e3 * level, color="#c0392b", ls="--", lw=1, zorder=6, label="grasp plane")
    ax.plot(*(1e3 * T[[across, up], 3]), "s", ms=7, mfc="white", mec="black", zorder=8, label="hand base")
    ax.set_aspect("equal")
    ax.set_xlabel(label)
    ax.set_title(f"{view} view")
    ax.grid(alpha=0.25)


def _draw_object(ax: Axes, thing: GraspedObject, across: int, up: int, label: str) -> None:
    from matplotlib.patches import Circle, Rectangle

    style: dict[str, Any] = {"fc": OBJECT_COLOUR, "ec": "#8a6d1f", "lw": 1.4, "alpha": 0.55, "zorder": 4}
    center, size = 1e3 * thing.center, 1e3 * thing.size
    if thing.kind == "cylinder" and across == 0:
        ax.add_patch(Circle((center[0], center[2]), size[0] / 2, label=label, **style))
        return
    corner = (center[across] - size[across] / 2, center[up] - size[up] / 2)
    ax.add_patch(Rectangle(corner, size[across], size[up], label=label, **style))


def _annotate(ax: Axes, grasp: Grasp, height: float) -> None:
    """Width arrow and tilt arc in the side view."""
    T = grasp.to_world(height).T_world_base
    if grasp.touching:
        below = 1e3 * (height - 0.5 * grasp.width) - 9.0
        ax.text(0.0, below, f"⌀ {1e3 * grasp.width:.1f} mm", ha="center", fontsize=9, zorder=9)
    elif grasp.mode != "cylinder":
        ends = grasp.sides(height)
        level = 1e3 * height - 60.0
        ax.annotate(
            "",
            (1e3 * ends[0], level),
            (1e3 * ends[1], level),
            arrowprops={"arrowstyle": "<->", "shrinkA": 0, "shrinkB": 0},
            zorder=9,
        )
        ax.text(
            500 * (ends[0] + ends[1]),
            level - 9.0,
            f"{1e3 * grasp.width:.1f} mm",
            ha="center",
            fontsize=9,
            zorder=9,
        )
    base = 1e3 * T[[0, 2], 3]
    axis = -T[[0, 2], 2]  # from the tips back to the wrist
    length = TILT_LENGTH
    ax.plot(
        [base[0], base[0] + length * axis[0]], [base[1], base[1] + length * axis[1]], "k-", lw=1, zorder=7
    )
    ax.plot([base[0], base[0]], [base[1], base[1] + length], "k:", lw=1, zorder=7)
    side = -1.0 if grasp.tilt_y > 0 else 1.0  # beside the lines, not between them
    ax.text(
        base[0] + 6 * side,
        base[1] + 0.8 * length,
        f"tilt {np.degrees(grasp.tilt_y):.1f}°",
        ha="right" if side < 0 else "left",
        fontsize=9,
        zorder=9,
    )


def object_label(grasp: Grasp) -> str:
    """What the drawn object is; a proportional cylinder is as wide as knuckles are apart and does not fit."""
    return "knuckle distance" if grasp.mode == "cylinder" and not grasp.touching else "object"


def finger_colours(grasp: Grasp) -> dict[str, str]:
    """Colours of the active fingers, thumb first."""
    names = (grasp.hand.thumb, *(name for name in grasp.hand.finger_names if name in grasp.fingers))
    order = [grasp.hand.thumb, *(name for name in grasp.hand.finger_names if name != grasp.hand.thumb)]
    return {name: FINGER_COLOURS[order.index(name) % len(FINGER_COLOURS)] for name in names}


def _outline(points: np.ndarray) -> np.ndarray:
    """Corners of the convex outline of projected points, in order."""
    try:
        return points[ConvexHull(points).vertices]
    except QhullError:
        return points[[int(points[:, 0].argmin()), int(points[:, 0].argmax())]]


def plot_sweep(
    planners: Sequence[GraspPlanner],
    mode: str,
    *,
    finger: str = "index",
    fingers: int = 4,
    n: int = 200,
    sweeps: Sequence[Sweep] | None = None,
) -> Figure:
    """Tilt, s, controls and errors against width, one column per planner.

    Args:
        planners: usually the proportional and the smooth one.
        mode: "line", "plane", "cylinder" or the name of an opposition set.
        finger: of line grasps.
        fingers: of plane grasps, thumb included.
        n: widths.
        sweeps: computed already, one per planner.
    """
    from matplotlib.figure import Figure

    found = sweeps or [planner.sweep(mode, n, finger=finger, fingers=fingers) for planner in planners]
    figure = Figure(figsize=(6.4 * len(found), 11), layout="constrained")
    axes = figure.subplots(4, len(found), sharex=True, sharey="row", squeeze=False)
    for column, (planner, sweep) in enumerate(zip(planners, found, strict=True)):
        _draw_sweep(list(axes[:, column]), planner, sweep, first=column == 0)
    label = "diameter (mm)" if found[0].grasps[0].mode == "cylinder" else "width (mm)"
    for ax in axes[-1]:
        ax.set_xlabel(label)
    which = {"line": f" {finger}", "plane": f" with {fingers} fingers"}.get(mode, "")
    figure.suptitle(f"{planners[0].hand.label}: {mode}{which}")
    return figure


def _draw_sweep(axes: Sequence[Axes], planner: GraspPlanner, sweep: Sweep, *, first: bool) -> None:
    widths = 1e3 * sweep.widths
    axes[0].plot(widths, np.degrees(sweep.tilt), color="#d1495b")
    axes[0].axhline(0.0, color="black", lw=0.5)
    axes[0].set_title(
        f"{planner.method}\nlargest slope {sweep.largest_slope / 1e3:.4f} rad/mm, "
        f"largest step {sweep.largest_jump:.3f} rad, {np.degrees(sweep.largest_tilt_jump):.1f}°",
        fontsize=10,
    )
    axes[1].plot(widths, sweep.s, color="#2e86ab")
    active = np.ptp(sweep.ctrl, axis=0) > 1e-9
    for i, name in enumerate(planner.hand.actuator_names):
        if active[i] or np.abs(sweep.ctrl[:, i] - planner.hand.ctrl_rest[i]).max() > 1e-9:
            axes[2].plot(widths, sweep.ctrl[:, i], label=name)
    axes[2].legend(fontsize=8, ncols=2)
    for label, values in (
        ("width error", [grasp.width_error for grasp in sweep.grasps]),
        ("thumb above fingers' mean", [grasp.height_error for grasp in sweep.grasps]),
        ("height spread of all tips", [grasp.height_spread for grasp in sweep.grasps]),
    ):
        axes[3].plot(widths, 1e3 * np.array(values), label=label)
    axes[3].legend(fontsize=8)
    if first:
        for ax, text in zip(axes, ("tilt (degrees)", "s", "control (rad)", "error (mm)"), strict=True):
            ax.set_ylabel(text)
    for ax in axes:
        ax.grid(alpha=0.3)
