"""A planned motion: the robot at several moments among the obstacles, clearance and speeds over time, and the cost.

The robot is solid where the motion ends and transparent before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from ..._poses import matrix_from_wxyz_xyz
from ..._text import at_least
from ...collision import as_model
from ...typing import RobotLike
from ._picture import Camera, Colour, Picture, robot_picture
from ._world import add_world

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ...collision import CollisionModel
    from ...plan import PlanResult
    from ...robot import Robot

MOMENTS = 6
"""At which the robot is drawn, the end not counted."""
MEASURED = 200
"""Moments at which clearance is measured."""
START, END, TRACE = (0.30, 0.52, 0.80), (0.36, 0.66, 0.40), (0.80, 0.20, 0.18)
"""Colours of the robot at the start, at the end (mixed in between), and of the path of its hands."""
AZIMUTHS = (40.0, -50.0, 130.0, -140.0, -5.0, 85.0, 175.0, -95.0)
"""Degrees from which a motion may be seen, the usual ones first."""
ELEVATION = 24.0
APART = 60.0
"""Degrees between two views, at least."""
OCTAHEDRON = np.array([(x, y, z) for x in (0, 3) for y in (1, 4) for z in (2, 5)])
"""Faces between the ends of three axes: x, y, z, -x, -y, -z."""
LINE, LIMIT, STILL = "#1f5fa8", "#c62828", "#777777"


def plot_plan(model: CollisionModel | RobotLike, result: PlanResult) -> Figure:
    """A figure of a motion that was found.

    Args:
        model: that it was planned for.
        result: with a path; `cost_history` is drawn where there is one.
    """
    model = as_model(model)
    from matplotlib.figure import Figure

    assert result.path is not None
    curves = 2 + (result.motion is not None) + (len(result.cost_history) > 0)
    figure = Figure(figsize=(15.0, 2.1 * max(curves, 3) + 0.4), layout="constrained")
    sides: Any = figure.subfigures(1, 2, width_ratios=(1.35, 1.0))
    left, right = sides
    axes = left.subplots()
    axes.imshow(motion_picture(model, result.path))
    axes.set_axis_off()
    panels = iter(np.atleast_1d(right.subplots(curves)))
    figure.suptitle(f"{model.robot.name}: {result.why}", fontsize=11)
    along, label = _along(result)
    _clearance(next(panels), model, result, along)
    moving = np.flatnonzero(np.ptp(result.path, axis=0) > 0.0)
    names = [model.robot.joint_names[k] for k in moving]
    axes = next(panels)
    for k, name in zip(moving, names, strict=True):
        axes.plot(along, result.path[:, k], linewidth=1.1, label=name)
    axes.set_ylabel("joints (rad, m)")
    if len(names) <= 16:
        axes.legend(fontsize=6, ncols=2 if len(names) <= 8 else 4, framealpha=0.7)
    if result.motion is not None:
        _speeds(next(panels), result.motion, moving)
    right.axes[curves - 1 - (len(result.cost_history) > 0)].set_xlabel(label)
    if len(result.cost_history):
        axes = next(panels)
        few = "." if len(result.cost_history) < 10 else ""  # one alone makes no line
        iterations = np.arange(1, len(result.cost_history) + 1)
        axes.plot(iterations, result.cost_history, color=LINE, linewidth=1.2, marker=few)
        axes.set_ylabel("cost of STOMP")
        axes.set_xlabel("iteration")
        axes.xaxis.get_major_locator().set_params(integer=True)
        if (np.asarray(result.cost_history) > 0.0).all():
            axes.set_yscale("log")
    for axes in right.axes:
        axes.grid(alpha=0.25)
        axes.margins(x=0.01)
    return figure


def motion_picture(
    model: CollisionModel | RobotLike,
    path: Float[np.ndarray, "n dof"],
    *,
    width: int = 560,
    height: int = 640,
) -> Float[np.ndarray, "height 2*width 3"]:
    """The robot along a path from two sides where obstacles hide least of it, values in [0, 1].

    It is blue and see-through at the start, green and solid at the end; a red line is the way of its last links.
    """
    model = as_model(model)
    robot = model.robot
    lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    picture = robot_picture(robot, path[-1], colours=dict.fromkeys(robot.link_names, END))
    picture.opacity = (0.4, 0.4)
    if model.world is not None:
        add_world(picture, model.world)
    for share in np.arange(MOMENTS) / MOMENTS:
        cfg = np.array([np.interp(share * lengths[-1], lengths, column) for column in path.T])
        colour = tuple((1.0 - share) * a + share * b for a, b in zip(START, END, strict=True))
        ghost = robot_picture(robot, cfg, colours=dict.fromkeys(robot.link_names, colour))  # pyright: ignore
        picture.glass += _moved(ghost, picture)
    _add_traces(picture, robot, path)
    views = [
        picture.draw(Camera(azimuth_deg=azimuth, elevation_deg=ELEVATION, width=width, height=height))
        for azimuth in azimuths(model, path)
    ]
    return np.concatenate(views, axis=1)


def azimuths(model: CollisionModel, path: Float[np.ndarray, "n dof"]) -> tuple[float, float]:
    """The two of `AZIMUTHS` from which obstacles hide the fewest links along a path; of equal ones the first."""
    if model.world is None:
        return AZIMUTHS[0], AZIMUTHS[1]
    rows = path[np.linspace(0, len(path) - 1, MOMENTS).round().astype(int)]
    links = [model.robot.link_index(name) for name in model.robot.mesh_links]
    origins = model.robot.link_poses(rows)[:, links, 4:].reshape(-1, 3)
    step = 0.04 * float(np.linalg.norm(np.ptp(origins, axis=0)))
    away = step * np.arange(1, 51)[:, None]
    hidden = np.empty(len(AZIMUTHS))
    for k, azimuth in enumerate(AZIMUTHS):
        sight = origins[:, None] + away * Camera(azimuth_deg=azimuth, elevation_deg=ELEVATION).axes()[2]
        apart = model.world.distance(sight.reshape(-1, 3)).reshape(len(origins), -1)
        hidden[k] = (apart < step / 2).any(axis=1).mean()  # half a step: nothing thin is passed by
    best, *others = np.argsort(hidden, kind="stable")
    turns = (np.subtract(AZIMUTHS, AZIMUTHS[best]) + 180.0) % 360.0 - 180.0
    second = next(k for k in others if abs(turns[k]) >= APART)
    return AZIMUTHS[best], AZIMUTHS[second]


def _moved(ghost: Picture, picture: Picture) -> list[tuple[np.ndarray, Colour]]:
    """Parts of the robot that are elsewhere at the end; drawn twice, what stays would hide the solid one."""
    solid = picture.solid[: len(ghost.solid)]
    return [
        part
        for part, (there, _) in zip(ghost.solid, solid, strict=True)
        if np.abs(part[0] - there).max(initial=0.0) > 1e-6
    ]


def _add_traces(picture: Picture, robot: Robot, path: Float[np.ndarray, "n dof"]) -> None:
    """Paths of links without children that move, as chains of beads."""
    from ...robot.internal import default_tool_frames

    rows = path[:: max(1, len(path) // 120)]
    poses = robot.link_poses(np.concatenate([rows, path[-1:]]))
    bead = 0.004 * _size(picture) * np.concatenate([np.eye(3), -np.eye(3)])
    for link in default_tool_frames(robot)[:2]:
        points = matrix_from_wxyz_xyz(poses[:, robot.link_index(link)])[:, :3, 3]
        if np.ptp(points, axis=0).max() < 1e-6:
            continue
        vertices = (points[:, None] + bead).reshape(-1, 3)
        faces = (np.arange(len(points))[:, None, None] * len(bead) + OCTAHEDRON).reshape(-1, 3)
        picture.add_mesh(vertices, faces, TRACE)


def _size(picture: Picture) -> float:
    """Diagonal of what is drawn."""
    corners = [corners.reshape(-1, 3) for corners, _ in picture.solid]
    return float(np.linalg.norm(np.ptp(np.concatenate(corners), axis=0))) if corners else 1.0


def _along(result: PlanResult) -> tuple[Float[np.ndarray, "n"], str]:
    """What the panels are drawn over: time, or waypoints."""
    assert result.path is not None
    if result.times is not None:
        return np.asarray(result.times), "time (s)"
    return np.arange(len(result.path), dtype=np.float64), "waypoint"


def _clearance(axes: Any, model: CollisionModel, result: PlanResult, along: np.ndarray) -> None:
    """Measured clearance, and what the proof guarantees of all the way."""
    from ...collision.internal import moving_joints

    assert result.path is not None
    rows = np.unique(np.linspace(0, len(result.path) - 1, MEASURED).round().astype(int))
    found = model.varying_clearance(result.path[rows], moving_joints(model.robot, result.path))
    measured = 1e3 * np.where(np.isfinite(found.clearance), found.clearance, np.nan)
    axes.plot(
        along[rows], measured, color=LINE, linewidth=1.3, label="measured, of what the motion can change"
    )
    for one in found.constant:
        axes.axhline(1e3 * one.distance, color=STILL, linestyle=":", linewidth=0.9, label=str(one))
    axes.axhline(0.0, color="black", linewidth=0.8)
    if result.proof is not None and result.proof.free:
        axes.axhline(
            1e3 * result.proof.margin, color="gray", linestyle="--", linewidth=0.9,
            label=f"proved all the way, all checked pairs: {at_least(1e3 * result.proof.margin)} mm",
        )  # fmt: skip
    top = float(np.nanmax([*measured, 1.0]))
    axes.set_ylim(bottom=min(0.0, float(np.nanmin([*measured, 0.0]))) - 0.05 * top)
    axes.set_ylabel("clearance (mm)")
    axes.legend(fontsize=7, framealpha=0.7)


def _speeds(axes: Any, motion: Any, moving: np.ndarray) -> None:
    """Largest share of the limits that any joint uses."""
    t = np.linspace(0.0, motion.duration, 600)
    limits = motion.limits.velocity, motion.limits.acceleration, motion.limits.jerk
    for order, (limit, name) in enumerate(zip(limits, ("speed", "acceleration", "jerk"), strict=True), 1):
        if limit is not None and np.isfinite(limit[moving]).any():
            share = np.abs(motion.at(t, order)[:, moving]) / limit[moving]
            axes.plot(t, 100.0 * share.max(axis=1), linewidth=1.1, label=name)
    axes.axhline(100.0, color=LIMIT, linewidth=0.8)
    axes.set_ylim(0.0, 115.0)
    axes.set_ylabel("% of the limits")
    axes.legend(fontsize=7, framealpha=0.7, loc="lower right")
