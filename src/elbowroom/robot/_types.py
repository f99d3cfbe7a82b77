"""The parts of a robot: joints, couplings, collision shapes and notes.

Plain frozen values without behaviour beyond checks; `_tree.py` joins them into a kinematic tree and
`_robot.py` into a `Robot`.

A `Description` is what a reader returns: the common form of URDF and MJCF before it becomes a Robot.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
from jaxtyping import Float

from .._brief import brief
from .._frozen import Frozen
from .._poses import matrix_from_wxyz_xyz
from ..typing import LinkPair, Matrix4, Points, Triangles

if TYPE_CHECKING:
    from ._visuals import VisualSource

JointType = Literal["revolute", "continuous", "prismatic", "fixed"]
MOVING: tuple[JointType, ...] = ("revolute", "continuous", "prismatic")

NoteKind = Literal["mended", "approximated", "skipped", "held", "fixed", "loose", "meshed", "modelled"]


@dataclass(frozen=True)
class Note:
    """Something in the description that the Robot does not represent exactly."""

    kind: NoteKind
    """mended: the description breaks a rule, and this is how it was read; approximated: another shape or law stands in;
    skipped: left out; held: a joint kept still; fixed: one kept still because the caller asked for it; loose: a free
    body of a scene that is not the robot's own; meshed: a curved primitive whose triangles enclose it (see
    `_tessellate.py` for the bound); modelled: shapes that are ours, not those of the real robot (`_catalogue.py`)."""
    where: str
    """Link, joint, element or robot concerned."""
    text: str
    """What was done, and what it means."""

    @property
    def warns(self) -> bool:
        """Whether loading warns about it; enclosing triangles, our shapes and what was asked for are only listed."""
        return self.kind not in ("meshed", "modelled", "fixed")

    def __str__(self) -> str:
        return f"{self.kind}: {self.where}: {self.text}"


@dataclass(frozen=True)
class Coupling:
    """A joint that follows another: q = sum_k polycoef[k] * q_driver**k (URDF mimic, MJCF equality)."""

    driver: str
    """Name of the driving joint, which may itself be coupled."""
    polycoef: tuple[float, ...]
    """Coefficients from the constant term up; at most five."""


@brief
@dataclass(frozen=True)
class Joint(Frozen):
    """One joint: the child link moves in the parent link by `T_parent_joint * motion(q) * T_joint_child`."""

    name: str
    type: JointType
    parent: str
    """Link that carries the joint."""
    child: str
    """Link that it moves. Several joints of one MJCF body share parent and child and act in order."""
    T_parent_joint: Matrix4
    """Joint frame in the parent link (or in the frame after the previous joint of the same child) at q = 0."""
    axis: Float[np.ndarray, "3"]
    """Unit axis of rotation or translation in the joint frame."""
    lower: float = -np.inf
    upper: float = np.inf
    velocity: float = np.inf
    effort: float = np.inf
    coupling: Coupling | None = None
    T_joint_child: Matrix4 = field(default_factory=lambda: np.eye(4))
    """Child link frame in the moved joint frame; identity in URDF."""

    @property
    def actuated(self) -> bool:
        """Whether the joint has its own entry in a configuration."""
        return self.type in MOVING and self.coupling is None


def joint_motion(type_: JointType, axis: Float[np.ndarray, "3"], value: float) -> Matrix4:
    """What a joint that moves does to its child at a value, in the joint frame; `axis` is a unit vector."""
    quaternion, shift = np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3)
    if type_ == "prismatic":
        shift = value * axis
    else:
        quaternion = np.array([np.cos(value / 2), *(np.sin(value / 2) * axis)])
    return matrix_from_wxyz_xyz(np.concatenate([quaternion, shift]))


@dataclass(frozen=True)
class MeshData(Frozen):
    """Triangles of a shape in its own frame, metres, scale applied; read-only."""

    vertices: Points
    faces: Triangles


ShapeKind = Literal["mesh", "box", "cylinder", "sphere", "capsule", "ellipsoid"]


@brief
@dataclass(frozen=True)
class Shape(Frozen):
    """One piece of collision geometry, exact as described."""

    kind: ShapeKind
    T_link_shape: Matrix4
    """Shape frame in the link frame."""
    size: tuple[float, ...]
    """box: full edges x y z; cylinder, capsule: radius, length of the cylindrical part along z;
    sphere: radius; ellipsoid: three semi-axes; mesh: scale x y z as applied."""
    load: Callable[[], MeshData]
    """Makes the triangles in the shape frame; curved primitives are enclosed by theirs."""
    source: str = ""
    """File or element the shape comes from."""


@dataclass
class Description:
    """What a description holds, before it becomes a Robot."""

    name: str
    link_names: list[str]
    joints: list[Joint]
    shapes: dict[str, list[Shape]] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    floating_bases: list[str] = field(default_factory=list[str])
    """Fixed joints that stand for floating or planar bases, whose pose the caller may give."""
    disabled: dict[LinkPair, str] = field(default_factory=dict[LinkPair, str])
    """Pairs that the description itself disables."""
    named: dict[str, dict[str, float]] = field(default_factory=dict)
    """Named configurations as joint values."""
    visual_only: list[str] = field(default_factory=list[str])
    """Links that have visual geometry and no collision geometry, where the visual one is not used instead."""
    left_out: list[str] = field(default_factory=list[str])
    """Links that have collision geometry of which some cannot be taken: without extent, or without end."""
    visuals: VisualSource | None = None
    """Where visual geometry is read from; None where there is none."""
    xml: bytes | None = None
    """Text of the file, xacro expanded and form mended."""
    root_pose: Matrix4 | None = None
    """Pose of the root link in the world where the description gives one."""
    reference: dict[str, float] = field(default_factory=dict)
    """Joint values of the description's own reference pose, where it is not zero (MJCF's qpos0)."""

    def add_shapes(self, link: str, shapes: Sequence[Shape]) -> None:
        """Gives a link its collision shapes; leaves out those without extent, notes curved ones."""
        solid = [
            shape
            for shape in shapes
            if min(map(abs, shape.size[:1] if shape.kind == "capsule" else shape.size)) > 0
        ]
        if len(solid) < len(shapes):
            self.notes.append(Note("skipped", link, f"{len(shapes) - len(solid)} shape(s) of zero size"))
            self.left_out.append(link)
        curved = [shape.kind for shape in solid if shape.kind not in ("mesh", "box")]
        if curved:
            counts = ", ".join(f"{curved.count(kind)} {kind}" for kind in dict.fromkeys(curved))
            self.notes.append(
                Note("meshed", link, f"{counts}: enclosed by triangles, at most 1 % of the radius outside")
            )
        if solid:
            self.shapes[link] = solid
