"""Obstacles: immutable, named, posed shapes that do not move with the robot.

Shapes are described in their own frame; `pose` maps that frame to the world. Curved shapes are exact: nothing here is
made of triangles but `MeshObstacle`. Solids (all but open meshes) contain what is inside them.
"""

from __future__ import annotations

import copy
import inspect
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from jaxtyping import Float

from .. import _core
from .._frozen import Frozen, frozen
from .._poses import as_matrix, matrix_from_wxyz_xyz, quaternion_from_rotation
from .._text import number, short
from ..errors import ApproximationWarning, InputError, shape_text
from ..mesh import TriangleMesh
from ..typing import Matrix4

MAX_SIZE = 1e6
"""Metres; larger shapes are half-spaces or mistakes."""
UNIT_TOLERANCE = 1e-6
"""How far a quaternion, normal or rotation may be off before a note says that it was corrected."""
ROUNDING = 1e-14
"""How far R^T R of a rotation in float64 may be from the identity; what is farther is made a rotation."""
POSE_NOTE = "its pose: "
"""How notes about poses begin; they do not travel when an obstacle is put elsewhere."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Obstacle(Frozen):
    """What all obstacles have. A name of "" is replaced by the world: "box", "box_2", ...

    Obstacles are equal when they are the same object; two boxes of one size are two obstacles.
    """

    kind: ClassVar[str] = ""
    """Word for the shape in files and messages."""
    pose: Matrix4 = field(default_factory=lambda: frozen(np.eye(4)))
    """T_world_obstacle; (7,) wxyz_xyz and (4, 4) are accepted."""
    name: str = ""
    """Unique in a world."""
    notes: tuple[str, ...] = field(default=(), init=False)
    """What was changed or is doubtful in what was given."""

    def __post_init__(self) -> None:
        self._check_name()
        self._set_pose(self.pose)

    @property
    def title(self) -> str:
        """Kind and name, for messages."""
        return f"{self.kind} {self.name!r}" if self.name else self.kind

    @cached_property
    def bounds(self) -> Float[np.ndarray, "2 3"]:
        """Lower and upper corner of a box around it in the world frame; infinite for half-spaces."""
        R, t = self.pose[:3, :3], self.pose[:3, 3]
        center, half = self._extent(R)
        middle = R @ center + t
        return frozen(np.stack([middle - half, middle + half]))

    def at(self, pose: Any) -> Self:
        """The same obstacle elsewhere; what was built for its shape is shared."""
        moved = self._copy()
        moved._forget_place()
        object.__setattr__(moved, "notes", tuple(n for n in self.notes if not n.startswith(POSE_NOTE)))
        moved._set_pose(pose)
        return moved

    def named(self, name: str) -> Self:
        """The same obstacle under another name."""
        other = self._copy()
        object.__setattr__(other, "name", name)
        other._check_name()
        return other

    def __repr__(self) -> str:
        place = ", ".join(number(x) for x in self.pose[:3, 3])
        angle = np.degrees(np.arccos(np.clip(0.5 * (np.trace(self.pose[:3, :3]) - 1.0), -1.0, 1.0)))
        turned = f", turned by {number(float(angle), 3)} deg" if angle > 1e-6 else ""
        return f"{type(self).__name__}({self.name!r}: {self._shape()}, at ({place}){turned})"

    @cached_property
    def core(self) -> _core.Obstacle:
        """The obstacle in the compiled core, with its pose."""
        return self._make_core(np.concatenate([self.pose[:3, :3].ravel(), self.pose[:3, 3]]))

    def _make_core(self, pose: Float[np.ndarray, "12"]) -> _core.Obstacle:
        """The shape at a packed pose."""
        raise NotImplementedError

    def _forget_place(self) -> None:
        """Drops what was made on demand for its pose and size."""
        for made in ("bounds", "core"):
            self.__dict__.pop(made, None)

    def _copy(self) -> Self:
        """Shallow, with what was made on demand."""
        other = copy.copy(self)
        other.__dict__.update(self.__dict__)
        return other

    def _shape(self) -> str:
        """Its size in words."""
        raise NotImplementedError

    def _extent(
        self, R_world_obstacle: Float[np.ndarray, "3 3"]
    ) -> tuple[Float[np.ndarray, "3"], Float[np.ndarray, "3"]]:
        """Box around the shape, turned: its centre in the obstacle's frame, its half edges along the world's axes."""
        raise NotImplementedError

    def _check_name(self) -> None:
        if not isinstance(self.name, str):
            raise InputError(f"{self.kind}: expected a name, found {short(self.name)}")

    def _set_pose(self, pose: Any) -> None:
        given = np.eye(4) if pose is None else pose
        T = as_matrix(given, f"pose of {self.title}")
        if T.shape != (4, 4):
            raise InputError(f"pose of {self.title}: expected one pose, found a stack of shape {T.shape}")
        R, t = T[:3, :3], T[:3, 3]
        if np.abs(t).max() > MAX_SIZE:
            raise InputError(
                f"pose of {self.title}: expected a position within {MAX_SIZE:g} m, found {t.tolist()}"
            )
        values = np.asarray(given, dtype=np.float64)
        length, off = 1.0, 0.0
        if values.shape == (7,):
            length = float(np.linalg.norm(values[:4]))
        else:
            off = float(np.abs(R.T @ R - np.eye(3)).max())
        exact = np.concatenate([quaternion_from_rotation(R), t]) if off > ROUNDING else None
        object.__setattr__(self, "pose", frozen(T.copy() if exact is None else matrix_from_wxyz_xyz(exact)))
        if abs(length - 1.0) > UNIT_TOLERANCE:
            self._note(f"{POSE_NOTE}the quaternion has length {number(length)} and was normalised")
        elif off > UNIT_TOLERANCE:
            self._note(
                f"{POSE_NOTE}R^T R is off the identity by {number(off)}; the nearest rotation was taken"
            )

    def _note(self, text: str) -> None:
        object.__setattr__(self, "notes", (*self.notes, text))
        warnings.warn(f"{self.title}: {text}", ApproximationWarning, stacklevel=levels_to_the_user())

    def _set_lengths(self, **values: Any) -> None:
        """Checks lengths in metres and stores them as floats."""
        for what, value in values.items():
            object.__setattr__(self, what, self._length(what, value))

    def _length(self, what: str, value: Any) -> float:
        plain = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        if not plain or not 0.0 < value <= MAX_SIZE:
            raise InputError(
                f"{self.title}: {what} must be metres above 0 and at most {MAX_SIZE:g}, found {short(value)}"
            )
        return float(value)

    def _vector(self, what: str, value: Any) -> Float[np.ndarray, "3"]:
        try:
            if np.asarray(value).dtype.kind not in "fiu":
                raise ValueError("no numbers")
            array = np.array(value, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(f"{self.title}: {what} must be three numbers, found {short(value)}") from error
        if array.shape != (3,) or not np.all(np.isfinite(array)):
            found = short(array.tolist()) if array.shape == (3,) else shape_text(array)
            raise InputError(f"{self.title}: {what} must be three finite numbers, found {found}")
        return array


@dataclass(frozen=True, eq=False, repr=False)
class Box(Obstacle):
    """A box centred at the origin of its frame."""

    kind: ClassVar[str] = "box"
    size: tuple[float, float, float]
    """Edge lengths along x, y, z, metres."""

    def __post_init__(self) -> None:
        super().__post_init__()
        edges = self._vector("size", self.size)
        object.__setattr__(self, "size", tuple(self._length("size", float(edge)) for edge in edges))

    def _make_core(self, pose: np.ndarray) -> _core.Obstacle:
        return _core.Obstacle.box(0.5 * np.array(self.size), pose)

    def _shape(self) -> str:
        return " x ".join(map(number, self.size)) + " m"

    def _extent(self, R_world_obstacle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(3), np.abs(R_world_obstacle) @ (0.5 * np.array(self.size))


@dataclass(frozen=True, eq=False, repr=False)
class Sphere(Obstacle):
    """A ball around the origin of its frame."""

    kind: ClassVar[str] = "sphere"
    radius: float
    """Metres."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set_lengths(radius=self.radius)

    def _make_core(self, pose: np.ndarray) -> _core.Obstacle:
        return _core.Obstacle.sphere(self.radius, pose)

    def _shape(self) -> str:
        return f"radius {number(self.radius)} m"

    def _extent(self, R_world_obstacle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(3), np.full(3, self.radius)


@dataclass(frozen=True, eq=False, repr=False)
class _AboutZ(Obstacle):
    """A body of revolution about z, centred at the origin of its frame."""

    radius: float
    """Metres."""
    length: float
    """Along z, metres."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set_lengths(radius=self.radius, length=self.length)

    def _shape(self) -> str:
        return f"radius {number(self.radius)} m, length {number(self.length)} m"


@dataclass(frozen=True, eq=False, repr=False)
class Cylinder(_AboutZ):
    """A cylinder about z with flat ends, centred at the origin of its frame; `length` is from end to end."""

    kind: ClassVar[str] = "cylinder"

    def _make_core(self, pose: np.ndarray) -> _core.Obstacle:
        return _core.Obstacle.cylinder(self.radius, 0.5 * self.length, pose)

    def _extent(self, R_world_obstacle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        axis = R_world_obstacle[:, 2]
        return np.zeros(3), 0.5 * self.length * np.abs(axis) + self.radius * np.sqrt(
            np.maximum(0.0, 1.0 - axis**2)
        )


@dataclass(frozen=True, eq=False, repr=False)
class Capsule(_AboutZ):
    """All points within `radius` of a segment along z of `length`, centred at the origin of its frame.

    It is longer than the segment by two radii.
    """

    kind: ClassVar[str] = "capsule"

    def _make_core(self, pose: np.ndarray) -> _core.Obstacle:
        return _core.Obstacle.capsule(self.radius, 0.5 * self.length, pose)

    def _extent(self, R_world_obstacle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(3), 0.5 * self.length * np.abs(R_world_obstacle[:, 2]) + self.radius


@dataclass(frozen=True, eq=False, repr=False)
class HalfSpace(Obstacle):
    """All points with normal . x <= offset in its frame: a floor, a wall, without end."""

    kind: ClassVar[str] = "half_space"
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """Unit vector that points out of the solid."""
    offset: float = 0.0
    """Distance of the plane from the origin along the normal, metres."""

    def __post_init__(self) -> None:
        super().__post_init__()
        n = self._vector("normal", self.normal)
        length = float(np.linalg.norm(n))
        if not length > 1e-9:
            raise InputError(f"{self.title}: normal must not be zero, found {self.normal!r:.80}")
        if abs(length - 1.0) > UNIT_TOLERANCE:
            self._note(f"its normal has length {number(length)} and was normalised")
        offset = self.offset
        plain = isinstance(offset, (int, float, np.integer, np.floating)) and not isinstance(offset, bool)
        if not plain or not abs(offset) <= MAX_SIZE:
            raise InputError(f"{self.title}: offset must be within {MAX_SIZE:g} m, found {short(offset)}")
        unit = n if abs(length - 1.0) < 1e-15 else n / length  # dividing again would change last bits
        object.__setattr__(self, "normal", tuple(unit.tolist()))
        object.__setattr__(self, "offset", float(offset))

    @cached_property
    def bounds(self) -> Float[np.ndarray, "2 3"]:
        """It has no end."""
        return frozen(np.array([[-np.inf] * 3, [np.inf] * 3]))

    def _make_core(self, pose: np.ndarray) -> _core.Obstacle:
        return _core.Obstacle.half_space(np.array(self.normal), self.offset, pose)

    def _shape(self) -> str:
        return f"normal ({', '.join(map(number, self.normal))}), offset {number(self.offset)} m"


@dataclass(frozen=True, eq=False, repr=False)
class MeshObstacle(Obstacle):
    """Triangles. Closed pieces are solids; open ones are surfaces, which have no inside."""

    kind: ClassVar[str] = "mesh"
    mesh: TriangleMesh
    """A `mesh.TriangleMesh`, or anything with `vertices` and `faces` such as a `trimesh.Trimesh`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.mesh, TriangleMesh):
            try:
                mesh = TriangleMesh.from_trimesh(self.mesh)
            except InputError as error:
                raise InputError(f"{self.title}: {error}") from error
            object.__setattr__(self, "mesh", mesh)
        if not self.mesh.closed:
            some = "some pieces of it are" if self.mesh.closed_faces.any() else "it is"
            self._note(f"{some} not closed, so nothing is inside: distances to it are never negative there")

        size = float(np.abs(self.mesh.center).max() + self.mesh.half_extents.max())
        if size > MAX_SIZE:
            raise InputError(f"{self.title}: expected a mesh within {MAX_SIZE:g} m, found one of {size:.3g}")

    def _make_core(self, pose: np.ndarray) -> _core.Obstacle:
        return _core.Obstacle.mesh(self.mesh.tree, pose)

    def _shape(self) -> str:
        return f"{len(self.mesh)} triangles"

    def _extent(self, R_world_obstacle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.mesh.center, np.abs(R_world_obstacle) @ self.mesh.half_extents


def levels_to_the_user() -> int:
    """`stacklevel` of a warning given where this is called, so that it shows the line that called this package."""
    level, frame = 0, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("elbowroom."):
        level, frame = level + 1, frame.f_back
    return level
