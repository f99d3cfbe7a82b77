"""Array aliases, pairs of links and the protocol that functions of a robot rely on.

Shapes use these axis names everywhere: batch, dof, links, spheres, pairs, verts, tris, steps, seeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

Cfg: TypeAlias = Float[np.ndarray, "dof"]
"""One configuration, radians and metres, in `robot.joint_names` order."""
Cfgs: TypeAlias = Float[np.ndarray, "batch dof"]
"""A batch of configurations."""
Points: TypeAlias = Float[np.ndarray, "points 3"]
"""Points in metres; the argument's name says the frame."""
Triangles: TypeAlias = Int[np.ndarray, "tris 3"]
"""Vertex indices."""
Matrix4: TypeAlias = Float[np.ndarray, "4 4"]
"""A rigid motion; `T_a_b` maps coordinates of b to coordinates of a."""
LinkPair: TypeAlias = tuple[str, str]
"""Two link names, sorted; `sorted_pair` makes one."""
RobotLike: TypeAlias = Any
"""Wherever a robot is asked for: an `elbowroom.Robot`, what `load_robot` takes (a name, a path, a `yourdfpy.URDF`, a
`mujoco.MjModel` or `MjSpec`), or a pyroki Robot. It is loaded at each call: load one yourself that is used often."""


@runtime_checkable
class CheckedPairs(Protocol):
    """A value that knows which pairs of links are checked; `elbowroom.PairMatrix` is one."""

    @property
    def checked(self) -> Sequence[LinkPair]:
        """The pairs to look at."""
        ...


Pairs: TypeAlias = "CheckedPairs | Iterable[LinkPair]"
"""The checked pairs: a PairMatrix, or names two by two."""


def sorted_pair(a: str, b: str) -> LinkPair:
    """The pair of two links, whichever is named first."""
    return (a, b) if a < b else (b, a)


@runtime_checkable
class Kinematics(Protocol):
    """What differentiable code needs of a robot; Elbowroom's and pyroki's `Robot` both offer it."""

    @property
    def links(self) -> Any:
        """Link facts; `.names` is a tuple in the order of `forward_kinematics`."""
        ...

    @property
    def joints(self) -> Any:
        """Joint facts; `.actuated_names`, `.lower_limits` and `.upper_limits` in the order of a cfg."""
        ...

    def forward_kinematics(self, cfg: Any) -> Any:
        """Link poses `(*batch, links, 7)` wxyz_xyz in the world."""
        ...
