"""Scenes of MoveIt and MotionBenchMaker: the PlanningScene message as YAML, as robowflex and ROS write it.

Objects are under `world: collision_objects:`, or their list is at the top. Vectors are lists or mappings
(`[x, y, z]`, `{x:, y:, z:}`), quaternions are xyzw, types are words or the numbers of shape_msgs/SolidPrimitive. An
object of several shapes becomes several obstacles: "shelf", "shelf#2", ... What the message says beyond obstacles is
noted, never dropped in silence.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from .._kinds import scene_parts
from .._poses import as_matrix
from .._text import number, short
from ..errors import ApproximationWarning, ElbowroomError, FormatError
from ..mesh import TriangleMesh
from ._linked import LinkedFiles
from ._moveit_values import WORLD_FRAMES, frame_of, frames_of, items, mapping, name_of, numbers, pose_of
from ._obstacles import (
    UNIT_TOLERANCE,
    Box,
    Cylinder,
    HalfSpace,
    MeshObstacle,
    Obstacle,
    Sphere,
    levels_to_the_user,
)
from ._world import refuse_too_many

TYPES = {"box": 1, "sphere": 2, "cylinder": 3, "cone": 4, "prism": 5}
"""Of shape_msgs/SolidPrimitive."""
DIMENSIONS = {1: ("x", "y", "z"), 2: ("radius",), 3: ("height", "radius"), 4: ("height", "radius")}
OPERATIONS = {"add": 0, "remove": 1, "append": 2, "move": 3}
"""Of moveit_msgs/CollisionObject."""
IDLE = ("name", "robot_model_name", "is_diff", "fixed_frame_transforms", "world", "collision_objects")
"""Keys of a scene that need no note."""
SHOWN = 6
"""Objects that a note names before it says how many more there are."""
PART = "#"
"""Stands between the id of an object and the number of its shape."""


def obstacles_from_scene(data: Any, path: Path, files: LinkedFiles) -> tuple[list[Obstacle], list[str]]:
    """Obstacles of a scene, and notes on what else it says.

    Args:
        data: values of the file: a PlanningScene, its world, or a list of objects.
        path: of the file, for messages.
        files: reads the meshes that it names.

    Raises:
        FormatError: the scene is broken; the message names object and field.
    """
    scene, world = scene_parts(data) or ({}, {"collision_objects": data})
    where = f"{path}: collision_objects"
    reader = _Reader(frames_of(scene.get("fixed_frame_transforms"), path), files)
    objects = items(world["collision_objects"], where)
    refuse_too_many(len(objects))
    ids, taken = list[str](), set[str]()
    for k, entry in enumerate(objects):
        name = name_of(mapping(entry, f"{where}, entry {k + 1}").get("id"), f"{where}, entry {k + 1}: id")
        appends = _operation(entry, f"{path}: object {name!r}") == OPERATIONS["append"]
        if name in taken and not appends:
            raise FormatError(f"{path}: object {name!r} is given twice; ids must be unique")
        ids.append(name)
        taken.add(name)
    used: dict[str, int] = {}
    found: list[Obstacle] = []
    for name, entry in zip(ids, objects, strict=True):
        at = f"{path}: object {name!r}"
        try:
            for obstacle in reader.shapes(entry, at):
                title = name
                if name in used:
                    free = (f"{name}{PART}{k}" for k in count(used[name] + 1))
                    title = next(other for other in free if other not in taken)
                used[name] = used.get(name, 0) + 1
                taken.add(title)
                found.append(obstacle.named(title))
        except ElbowroomError as error:
            if str(path) in str(error):
                raise
            raise FormatError(f"{at}: {error}") from error
    return found, [*reader.notes(), *_several_note(used), *_other_notes(scene, world)]


def _several_note(used: Mapping[str, int]) -> list[str]:
    """A note on objects of several shapes, given the number of shapes by object."""
    several = [f"{name} ({shapes})" for name, shapes in used.items() if shapes > 1]
    if not several:
        return []
    name = several[0].rpartition(" ")[0]
    more = f" and {len(several) - SHOWN} more" if len(several) > SHOWN else ""
    return [
        f"shapes of one object are obstacles of their own ({name}, {name}{PART}2, ...): "
        f"{', '.join(several[:SHOWN])}{more}"
    ]


class _Reader:
    """Makes obstacles of the shapes of objects."""

    def __init__(self, frames: dict[str, Float[np.ndarray, "4 4"]], files: LinkedFiles) -> None:
        self.frames = frames
        self.files = files
        self.unknown_frames: dict[str, int] = {}
        self._said: dict[tuple[str, bool], list[str]] = {}

    def shapes(self, entry: Mapping[str, Any], where: str) -> list[Obstacle]:
        """Obstacles of one object in the world frame, without names."""
        T_world_object = self._frame(entry, where) @ self._pose(entry.get("pose"), f"{where}: pose")
        found: list[Obstacle] = []
        for key, poses, make in (
            ("primitives", "primitive_poses", self._primitive),
            ("meshes", "mesh_poses", self._mesh),
            ("planes", "plane_poses", self._plane),
        ):
            found += self._placed(entry, key, poses, make, T_world_object, where)
        others = [key for key in ("type", "subframe_names") if _says(entry.get(key))]
        for key in others:
            self._say(where, f"{key} is not kept")
        if not found:
            self._say(where, "it has no shape and is left out")
        return found

    def _placed(
        self,
        entry: Mapping[str, Any],
        key: str,
        poses: str,
        make: Callable[[Any, Any, str], Obstacle],
        T_world_object: Float[np.ndarray, "4 4"],
        where: str,
    ) -> list[Obstacle]:
        shapes, placed = (
            items(entry.get(key), f"{where}: {key}"),
            items(entry.get(poses), f"{where}: {poses}"),
        )
        if len(placed) > len(shapes):
            raise FormatError(f"{where}: {len(shapes)} {key}, but {len(placed)} {poses}")
        if len(placed) < len(shapes) and "pose" not in entry:
            self._say(where, f"{len(shapes) - len(placed)} of its {key} have no pose and are at its origin")
        found: list[Obstacle] = []
        for k, shape in enumerate(shapes):
            at = f"{where}: {key}, entry {k + 1}"
            T = self._pose(placed[k], f"{where}: {poses}, entry {k + 1}") if k < len(placed) else np.eye(4)
            found.append(make(shape, T_world_object @ T, at))
        return found

    def _primitive(self, shape: Any, T: Any, where: str) -> Obstacle:
        given = mapping(shape, where)
        kind = given.get("type")
        kind = TYPES.get(kind.lower(), kind) if isinstance(kind, str) else kind
        kind = int(kind) if isinstance(kind, str) and kind.isdecimal() and len(kind) < 3 else kind
        if not isinstance(kind, int) or isinstance(kind, bool) or kind not in DIMENSIONS:
            known = ", ".join(f"{word} ({TYPES[word]})" for word in list(TYPES)[: len(DIMENSIONS)])
            raise FormatError(f"{where}: 'type' must be one of {known}, found {short(given.get('type'))}")
        names = DIMENSIONS[kind]
        sizes = numbers(given.get("dimensions"), f"{where}: dimensions")
        if len(sizes) < len(names):
            raise FormatError(f"{where}: dimensions: expected {', '.join(names)}, found {short(sizes)}")
        if kind == TYPES["box"]:
            return Box(size=(sizes[0], sizes[1], sizes[2]), pose=T)
        if kind == TYPES["sphere"]:
            return Sphere(radius=sizes[0], pose=T)
        if kind == TYPES["cone"]:
            self._say(where, "a cone is read as the cylinder around it", doubt=True)
        return Cylinder(radius=sizes[1], length=sizes[0], pose=T)

    def _mesh(self, shape: Any, T: Any, where: str) -> Obstacle:
        given = mapping(shape, where)
        if "resource" in given:
            scale = numbers(given.get("dimensions", [1.0, 1.0, 1.0]), f"{where}: dimensions")
            if len(scale) != 3 or not all(scale):
                raise FormatError(f"{where}: dimensions: expected three factors, found {short(scale)}")
            mesh = self.files.mesh(given["resource"], (scale[0], scale[1], scale[2]), where)
            return MeshObstacle(mesh, pose=T)
        rows = items(given.get("vertices"), f"{where}: vertices")
        vertices = [numbers(row, f"{where}: vertices, entry {k + 1}", "xyz") for k, row in enumerate(rows)]
        faces: list[list[float]] = []
        for k, row in enumerate(items(given.get("triangles"), f"{where}: triangles")):
            corners = row.get("vertex_indices") if isinstance(row, Mapping) else row
            faces.append(numbers(corners, f"{where}: triangles, entry {k + 1}", "abc"))
        indices = np.array(faces)
        if not faces or (indices != np.round(indices)).any():
            raise FormatError(f"{where}: triangles: expected rows of three vertex numbers")
        return MeshObstacle(TriangleMesh(np.array(vertices), indices.astype(np.int64)), pose=T)

    def _plane(self, shape: Any, T: Any, where: str) -> Obstacle:
        a, b, c, d = numbers(mapping(shape, where).get("coef"), f"{where}: coef", "abcd")
        length = float(np.linalg.norm((a, b, c)))
        if not length > 0.0:
            raise FormatError(f"{where}: coef: the normal of a plane must not be zero")
        self._say(
            where, "a plane is read as a half-space, solid on the side that its normal does not point to"
        )
        return HalfSpace(normal=(a / length, b / length, c / length), offset=-d / length, pose=T)

    def _pose(self, value: Any, where: str) -> Float[np.ndarray, "4 4"]:
        seven = pose_of(value, where)
        length = float(np.linalg.norm(seven[:4]))
        if length == 0.0:  # what messages of ROS have before anyone fills them in
            self._say(where, "a quaternion is zero and is taken as no rotation")
            seven[0] = 1.0
        elif abs(length - 1.0) > UNIT_TOLERANCE:
            self._say(where, f"a quaternion has length {number(length)} and was normalised", doubt=True)
        return as_matrix(seven, where)

    def _frame(self, entry: Mapping[str, Any], where: str) -> Float[np.ndarray, "4 4"]:
        frame = frame_of(entry, where)
        if frame in WORLD_FRAMES or frame in self.frames:
            return self.frames.get(frame, np.eye(4))
        self.unknown_frames[frame] = self.unknown_frames.get(frame, 0) + 1
        return np.eye(4)

    def _say(self, where: str, text: str, *, doubt: bool = False) -> None:
        """Notes something about an object; a doubt is a warning too."""
        title = where.partition(": object ")[2].partition(": ")[0]
        self._said.setdefault((text, doubt), []).append(title)

    def notes(self) -> list[str]:
        """All that was noted, each thing once with its objects."""
        found: list[str] = []
        for (text, doubt), titles in self._said.items():
            names = list(dict.fromkeys(titles))
            more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
            objects = "objects" if len(names) > 1 else "object"
            found.append(f"{objects} {', '.join(names[:SHOWN])}{more}: {text}")
            if doubt:
                warnings.warn(found[-1], ApproximationWarning, stacklevel=levels_to_the_user())
        return found + [
            f"the frame {frame!r} of {objects} object{'s' if objects > 1 else ''} is treated as the world frame"
            for frame, objects in self.unknown_frames.items()
        ]


def _operation(entry: Mapping[str, Any], where: str) -> int:
    """ADD or APPEND; a file that moves or removes objects is a change to a scene, not one."""
    given = entry.get("operation", 0)
    word = OPERATIONS.get(given.lower(), -1) if isinstance(given, str) else given
    if word not in (OPERATIONS["add"], OPERATIONS["append"]):
        raise FormatError(f"{where}: operation: expected add (0) or append (2), found {short(given)}")
    return int(word)


def _says(value: Any) -> bool:
    """Whether a part of a message was filled in: something in it is not empty, zero or false."""
    return any(_says(part) for part in value.values()) if isinstance(value, Mapping) else bool(value)


def _other_notes(scene: Mapping[str, Any], world: Mapping[str, Any]) -> list[str]:
    """What a scene says besides objects."""
    notes: list[str] = []
    octomap = world.get("octomap")
    inner = octomap.get("octomap", octomap) if isinstance(octomap, Mapping) else None
    if isinstance(inner, Mapping) and inner.get("data"):
        notes.append(
            "the octomap is not read: what it holds is no obstacle here; give its points as a PointCloud"
        )
    state = scene.get("robot_state")
    attached = state.get("attached_collision_objects") if isinstance(state, Mapping) else None
    if attached:
        notes.append("attached_collision_objects are not read; CollisionModel.attach attaches them")
    for note in notes:
        warnings.warn(note, ApproximationWarning, stacklevel=levels_to_the_user())
    others = [
        key for key in scene if key not in IDLE and key != "allowed_collision_matrix" and _says(scene[key])
    ]
    if others:
        notes.append(f"not kept: {', '.join(map(str, others))}")
    return [*notes, *_allowed_note(scene.get("allowed_collision_matrix"))]


def _allowed_note(matrix: Any) -> list[str]:
    """A note on pairs that a scene allows to touch; which of them are links only the robot tells."""
    names = matrix.get("entry_names") if isinstance(matrix, Mapping) else None
    if not isinstance(names, list) or not names:
        return []
    return [
        f"the allowed_collision_matrix of {len(names)} names is not kept; CollisionModel takes pairs= and allow="
    ]
