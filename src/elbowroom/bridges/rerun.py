"""Rerun shows what the robot did: `log(recording, model, step)` after a step of the guard, a tick, a plan.

Meshes of links and obstacles are logged once, poses at every step, with the clearance and whether the command was
altered as time series, and what touches or comes close as arrows.
"""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np

try:
    import rerun as rr
except ImportError as missing:
    from ._common import needs

    raise needs("rerun", "pip install rerun-sdk", missing) from missing

from .._text import short
from ..collision import CollisionModel, as_model
from ..errors import InputError
from ..robot.internal import primitive
from ..typing import RobotLike
from ..world import Box, Capsule, Cylinder, MeshObstacle, PointCloud, Sphere

__all__ = ["log"]

NEAR = 0.02
"""Metres: pairs that are closer get an arrow."""
SHORTEST = 0.01
"""Metres: arrows are at least so long, along the normal, to be seen."""
GREY, SAND, RED, AMBER = (180, 184, 192), (204, 199, 184), (220, 60, 50), (240, 170, 40)

_shown: dict[tuple[str, str], tuple[Any, Any, count[int]]] = {}
"""Recording and place -> robot and world whose meshes it has, and the number of the next step."""


def log(
    recording: Any,
    model: CollisionModel | RobotLike,
    step: Any,
    *,
    time: Any = None,
    path: str = "robot",
) -> None:
    """Logs one step, or a whole motion.

    Args:
        recording: a `rerun.RecordingStream`; None for the global one.
        model: the robot among its obstacles.
        step: a `GuardStep` or `TrackStep`, a configuration (dof,), or a motion: a `FilteredMotion`, a `PlanResult`, or
            rows (n, dof) such as those of an audit.
        time: seconds, on the timeline "time"; of rows (n,). Omitted: that of the motion, or steps are counted on the
            timeline "step".
        path: where in the recording; give each robot its own.

    Raises:
        InputError: nothing that can be shown, wrong sizes, NaN, or a time that does not fit.
    """
    model, stream = as_model(model), _stream(recording)
    rows, times, altered = _rows(model, step, time)
    number = _show_once(stream, model, path)
    for k, cfg in enumerate(rows):
        if times is None:
            stream.set_time("step", sequence=next(number))
        else:
            stream.set_time("time", duration=float(times[k]))
        _show(stream, model, path, cfg)
        if altered is not None:
            stream.log(f"{path}/altered", rr.Scalars(float(altered[k])))


def _stream(recording: Any) -> Any:
    found = rr.get_global_data_recording() if recording is None else recording
    if not isinstance(found, rr.RecordingStream):
        raise InputError(f"recording: expected a rerun.RecordingStream, found {short(recording)}: rr.init first, or "
                         "give rr.RecordingStream('name')")  # fmt: skip
    return found


def _rows(model: CollisionModel, step: Any, time: Any) -> tuple[np.ndarray, np.ndarray | None, Any]:
    """Configurations (n, dof), seconds or None, and whether each was altered or None."""
    cfgs, own, altered = step, None, getattr(step, "altered", None)
    if hasattr(step, "cfgs"):  # a FilteredMotion
        cfgs, own = step.cfgs, step.times
    elif hasattr(step, "success"):  # a PlanResult
        if step.path is None:
            raise InputError(f"the plan has no path to show: {step.why}")
        cfgs, own = step.path, step.times
    elif hasattr(step, "cfg"):  # a GuardStep or TrackStep
        cfgs = step.cfg
        altered = None if altered is None else [altered]
    rows = model.robot.as_cfgs(cfgs)
    given = own if time is None else time
    if given is None:
        return rows, None, altered
    times = np.atleast_1d(np.asarray(given, dtype=np.float64))
    if times.shape != (len(rows),) or not np.isfinite(times).all():
        raise InputError(
            f"time must be seconds, one for each of {len(rows)} configurations, found {short(given)}"
        )
    return rows, times, altered


def _show_once(stream: Any, model: CollisionModel, path: str) -> count[int]:
    """Meshes that the recording does not have yet; returns the counter of its steps."""
    key = (str(stream.get_recording_id()), path)
    robot, world, number = _shown.get(key, (None, None, count()))
    if robot is not model.robot:
        for link in model.robot.mesh_links:
            mesh = model.robot.link_mesh(link)
            assert mesh is not None  # it is one of mesh_links
            stream.log(f"{path}/links/{link}", _mesh(mesh.vertices, mesh.faces, GREY), static=True)
    if world is not model.world:
        for obstacle in model.world or ():
            if isinstance(obstacle, PointCloud):
                shown = rr.Points3D(obstacle.points, radii=obstacle.radius, colors=SAND)
            elif (triangles := _triangles(obstacle)) is not None:
                vertices = triangles[0] @ obstacle.pose[:3, :3].T + obstacle.pose[:3, 3]
                shown = _mesh(vertices, triangles[1], SAND)
            else:
                continue  # a half-space or a field has no end
            stream.log(f"{path}/obstacles/{obstacle.name}", shown, static=True)
    _shown[key] = (model.robot, model.world, number)
    return number


def _show(stream: Any, model: CollisionModel, path: str, cfg: np.ndarray) -> None:
    """Poses, clearance and what is near at one configuration."""
    robot = model.robot
    for link, pose in zip(robot.link_names, robot.link_poses(cfg), strict=True):
        if link in robot.mesh_links:
            turn = rr.Quaternion(xyzw=[*pose[1:4], pose[0]])
            stream.log(f"{path}/links/{link}", rr.Transform3D(translation=pose[4:], quaternion=turn))
    near = [clash for clash in model.near(cfg) if clash.distance < NEAR]
    stream.log(f"{path}/clearance", rr.Scalars(float(model.clearance(cfg))))
    ways = [clash.point_b - clash.point_a for clash in near]
    lengths = [max(float(np.linalg.norm(way)), SHORTEST) for way in ways]
    arrows = rr.Arrows3D(
        origins=np.reshape([clash.point_a for clash in near], (-1, 3)),
        vectors=np.reshape([n * clash.normal for n, clash in zip(lengths, near, strict=True)], (-1, 3)),
        colors=np.reshape([RED if clash.distance <= 0.0 else AMBER for clash in near], (-1, 3)).astype(
            np.uint8
        ),
        labels=[f"{clash.a}, {clash.b}: {1e3 * clash.distance:.1f} mm" for clash in near],
    )
    stream.log(f"{path}/contacts", arrows)


def _mesh(vertices: Any, faces: Any, colour: tuple[int, int, int]) -> Any:
    return rr.Mesh3D(
        vertex_positions=np.asarray(vertices), triangle_indices=np.asarray(faces), albedo_factor=colour
    )


def _triangles(obstacle: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Of an obstacle in its frame; None for one without an end."""
    if isinstance(obstacle, MeshObstacle):
        return obstacle.mesh.vertices, obstacle.mesh.faces
    sizes: Any = (
        obstacle.size if isinstance(obstacle, Box)
        else (obstacle.radius,) if isinstance(obstacle, Sphere)
        else (obstacle.radius, obstacle.length) if isinstance(obstacle, (Cylinder, Capsule))
        else None
    )  # fmt: skip
    if sizes is None:
        return None
    kind: Any = obstacle.kind
    mesh = primitive(kind, np.eye(4), sizes).load()
    return mesh.vertices, mesh.faces
