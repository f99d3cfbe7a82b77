"""Joints joined into a kinematic tree: validated, ordered, flattened into arrays for the core.

The arrays speak of frames. Every joint gives one frame (after its motion); a joint whose child frame
differs from its own gives a second, fixed one. Frame 0 is the root link. Parents come before children,
so one pass computes all poses. Rotations are unit quaternions throughout: composing them needs neither
branches nor square roots, which keeps gradients clean.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from .._brief import brief
from .._frozen import Frozen, frozen
from .._poses import quaternion_from_rotation
from ..errors import DescriptionError, unknown
from ..typing import Matrix4
from ._types import MOVING, Joint

if TYPE_CHECKING:
    from .._core import Robot as CoreRobot

FIXED, REVOLUTE, PRISMATIC = 0, 1, 2
POLY_TERMS = 5
"""MuJoCo's equality polynomials have five coefficients; URDF's mimic uses the first two."""


@brief
@dataclass(frozen=True)
class KinematicTree(Frozen):
    """A tree of links and joints, with the flat arrays that forward kinematics runs on."""

    link_names: tuple[str, ...]
    joints: tuple[Joint, ...]
    root: str
    moving: tuple[Joint, ...]
    """Joints that move, coupled ones included; the order of `q_full`."""
    actuated: tuple[Joint, ...]
    """Joints with their own entry in a configuration, in its order."""

    parent: Int[np.ndarray, "frames"]
    """Parent frame of each frame; -1 for the root."""
    kind: Int[np.ndarray, "frames"]
    """FIXED, REVOLUTE or PRISMATIC."""
    quat_cos: Float[np.ndarray, "frames 4"]
    quat_sin: Float[np.ndarray, "frames 4"]
    """Rotation in the parent frame, wxyz: `quat_cos * cos(q / 2) + quat_sin * sin(q / 2)` for revolute
    frames and `quat_cos` for all others."""
    shift: Float[np.ndarray, "frames 3"]
    slide: Float[np.ndarray, "frames 3"]
    """Position in the parent frame: `shift + slide * q`; slide is zero unless prismatic."""
    axis: Float[np.ndarray, "frames 3"]
    """Joint axis in the frame itself; zero for fixed frames."""
    q_idx: Int[np.ndarray, "frames"]
    """Entry of `q_full` that moves the frame; -1 for fixed frames."""
    link_frame: Int[np.ndarray, "links"]
    """Frame that is the link frame."""

    driver: Int[np.ndarray, "moving"]
    """For each entry of `q_full`: entry of the cfg (actuated) or of `q_full` (coupled) it follows."""
    is_coupled: Int[np.ndarray, "moving"]
    polycoef: Float[np.ndarray, "moving 5"]
    order: Int[np.ndarray, "moving"]
    """Order of evaluation in which drivers come first."""

    @cached_property
    def core(self) -> CoreRobot:
        """The same kinematics in the compiled core."""
        from .._core import Robot as CoreRobot

        columns = ("parent", "kind", "q_idx", "quat_cos", "quat_sin", "shift", "slide", "axis")
        laws = ("driver", "is_coupled", "order", "polycoef")
        frames = {name: getattr(self, name) for name in columns}
        return CoreRobot(
            len(self.actuated), frames, {name: getattr(self, name) for name in laws}, self.link_frame
        )

    def expand(self, cfgs: Float[np.ndarray, "*batch dof"]) -> Float[np.ndarray, "*batch moving"]:
        """All moving joints' values from the actuated ones: coupled joints follow their drivers."""
        q_full = np.zeros((*cfgs.shape[:-1], len(self.moving)))
        for i in self.order:
            if self.is_coupled[i]:
                q_full[..., i] = np.polynomial.polynomial.polyval(
                    q_full[..., self.driver[i]], self.polycoef[i]
                )
            else:
                q_full[..., i] = cfgs[..., self.driver[i]]
        return q_full


def build_tree(
    where: str, link_names: Iterable[str], joints: Iterable[Joint], T_world_root: Matrix4
) -> KinematicTree:
    """Checks the joints and flattens them.

    Args:
        where: name of the description, for messages.
        link_names: all links, in the order that poses are given.
        joints: all joints, in the order of the description.
        T_world_root: pose of the root link.

    Raises:
        DescriptionError: no link, a name used twice, an unknown parent or child, two parents, two
            roots, a loop, a zero axis, numbers that are not finite, bad limits, a coupling to nothing.
    """
    links, joint_list = tuple(link_names), tuple(joints)
    _check_names(where, links, joint_list)
    for joint in joint_list:
        _check_joint(where, joint)
    root, ordered = _order_from_root(where, links, joint_list)
    moving = tuple(joint for joint in joint_list if joint.type in MOVING)
    actuated = tuple(joint for joint in moving if joint.coupling is None)
    driver, is_coupled, polycoef, order = _couplings(where, moving, actuated)

    frames = _Frames(T_world_root)
    link_frame = {root: 0}
    q_index = {joint.name: i for i, joint in enumerate(moving)}
    for joint in ordered:
        carrier = link_frame.get(joint.child, link_frame[joint.parent])
        frame = frames.add_joint(carrier, joint, q_index.get(joint.name, -1))
        if not np.allclose(joint.T_joint_child, np.eye(4), rtol=0, atol=0):
            frame = frames.add_fixed(frame, joint.T_joint_child)
        link_frame[joint.child] = frame
    return KinematicTree(
        link_names=links,
        joints=joint_list,
        root=root,
        moving=moving,
        actuated=actuated,
        link_frame=frozen(np.array([link_frame[name] for name in links], dtype=np.int64)),
        driver=driver,
        is_coupled=is_coupled,
        polycoef=polycoef,
        order=order,
        **frames.arrays(),
    )


class _Frames:
    """Collects frames one by one."""

    def __init__(self, T_world_root: Matrix4) -> None:
        self._parent: list[int] = []
        self._kind: list[int] = []
        self._q_idx: list[int] = []
        self._rotation: list[np.ndarray] = []
        self._shift: list[np.ndarray] = []
        self._axis: list[np.ndarray] = []
        self.add_fixed(-1, T_world_root)

    def add_joint(self, parent: int, joint: Joint, q_idx: int) -> int:
        kind = PRISMATIC if joint.type == "prismatic" else FIXED if joint.type == "fixed" else REVOLUTE
        return self._add(parent, kind, joint.T_parent_joint, joint.axis, q_idx)

    def add_fixed(self, parent: int, T_parent_frame: Matrix4) -> int:
        return self._add(parent, FIXED, T_parent_frame, np.zeros(3), -1)

    def _add(self, parent: int, kind: int, T_parent_frame: Matrix4, axis: np.ndarray, q_idx: int) -> int:
        self._parent.append(parent)
        self._kind.append(kind)
        self._q_idx.append(q_idx)
        self._rotation.append(T_parent_frame[:3, :3])
        self._shift.append(T_parent_frame[:3, 3])
        self._axis.append(axis)
        return len(self._parent) - 1

    def arrays(self) -> dict[str, np.ndarray]:
        kind = np.array(self._kind, dtype=np.int64)
        rotation = np.array(self._rotation)
        axis = np.where((kind != FIXED)[:, None], np.array(self._axis), 0.0)
        quat = quaternion_from_rotation(rotation)
        slide = np.where((kind == PRISMATIC)[:, None], np.einsum("fij,fj->fi", rotation, axis), 0.0)
        turn = np.where((kind == REVOLUTE)[:, None], _times_vector(quat, axis), 0.0)
        return {
            "parent": frozen(np.array(self._parent, dtype=np.int64)),
            "kind": frozen(kind),
            "quat_cos": frozen(quat),
            "quat_sin": frozen(turn),
            "shift": frozen(np.array(self._shift, dtype=np.float64)),
            "slide": frozen(slide),
            "axis": frozen(axis),
            "q_idx": frozen(np.array(self._q_idx, dtype=np.int64)),
        }


def _times_vector(
    quat: Float[np.ndarray, "n 4"], vector: Float[np.ndarray, "n 3"]
) -> Float[np.ndarray, "n 4"]:
    """Quaternion product quat * (0, vector)."""
    w, v = quat[:, :1], quat[:, 1:]
    scalar = -np.sum(v * vector, axis=1, keepdims=True)
    return np.concatenate([scalar, w * vector + np.cross(v, vector)], axis=1)


def _check_names(where: str, links: Sequence[str], joints: Sequence[Joint]) -> None:
    if not links:
        raise DescriptionError(f"{where}: it has no link")
    for kind, names in (("link", links), ("joint", [joint.name for joint in joints])):
        seen: set[str] = set()
        for name in names:
            if not name:
                raise DescriptionError(f"{where}: a {kind} has an empty name")
            if name in seen:
                raise DescriptionError(f"{where}: two {kind}s are named {name!r}; names must differ")
            seen.add(name)
    known = set(links)
    for joint in joints:
        for end, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in known:
                raise DescriptionError(
                    f"{where}: joint {joint.name!r}: its {end}: {unknown('link', name, links)}"
                )
        if joint.parent == joint.child:
            raise DescriptionError(f"{where}: joint {joint.name!r} joins link {joint.parent!r} to itself")


def _check_joint(where: str, joint: Joint) -> None:
    at = f"{where}: joint {joint.name!r}"
    if not (np.all(np.isfinite(joint.T_parent_joint)) and np.all(np.isfinite(joint.T_joint_child))):
        raise DescriptionError(f"{at}: its origin has NaN or infinite numbers")
    if joint.type not in MOVING:
        return
    length = np.linalg.norm(joint.axis)
    if not np.isfinite(length) or abs(length - 1.0) > 1e-6:
        raise DescriptionError(
            f"{at}: its axis {np.asarray(joint.axis).tolist()} must be a finite, non-zero vector"
        )
    if np.isnan(joint.lower) or np.isnan(joint.upper) or joint.lower > joint.upper:
        raise DescriptionError(
            f"{at}: its limits are lower {joint.lower:g}, upper {joint.upper:g}; lower must not exceed upper"
        )
    if np.isnan(joint.velocity) or joint.velocity < 0:
        raise DescriptionError(f"{at}: its velocity limit is {joint.velocity:g}; it must not be negative")
    if joint.coupling is not None and not np.all(np.isfinite(joint.coupling.polycoef)):
        raise DescriptionError(f"{at}: its coupling has NaN or infinite coefficients")


def _order_from_root(where: str, links: Sequence[str], joints: Sequence[Joint]) -> tuple[str, list[Joint]]:
    """Root link, and joints with every parent before its children (and in given order otherwise)."""
    parent_of: dict[str, Joint] = {}
    outgoing: dict[str, list[Joint]] = {name: [] for name in links}
    for joint in joints:
        other = parent_of.setdefault(joint.child, joint)
        if other.parent != joint.parent:
            raise DescriptionError(
                f"{where}: link {joint.child!r} has two parents, {other.parent!r} (joint {other.name!r}) and "
                f"{joint.parent!r} (joint {joint.name!r}); a robot must be a tree"
            )
        outgoing[joint.parent].append(joint)
    roots = [name for name in links if name not in parent_of]
    if not roots:
        raise DescriptionError(f"{where}: there is no root link: the joints form a loop through {links[0]!r}")
    if len(roots) > 1:
        raise DescriptionError(
            f"{where}: it has {len(roots)} root links ({', '.join(roots[:5])}); there must be one"
        )
    ordered: list[Joint] = []
    visited = {roots[0]}
    stack = [roots[0]]
    while stack:
        for joint in outgoing[stack.pop()]:
            ordered.append(joint)
            if joint.child not in visited:
                visited.add(joint.child)
                stack.append(joint.child)
    if len(ordered) < len(joints):
        looped = next(joint for joint in joints if joint.parent not in visited)
        raise DescriptionError(
            f"{where}: joint {looped.name!r} is in a loop that the root {roots[0]!r} never reaches"
        )
    return roots[0], ordered


def _couplings(
    where: str, moving: Sequence[Joint], actuated: Sequence[Joint]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Driver index, coupled flag, polynomial and evaluation order of every moving joint."""
    cfg_index = {joint.name: i for i, joint in enumerate(actuated)}
    full_index = {joint.name: i for i, joint in enumerate(moving)}
    driver = np.zeros(len(moving), dtype=np.int64)
    polycoef = np.zeros((len(moving), POLY_TERMS))
    for i, joint in enumerate(moving):
        if joint.coupling is None:
            driver[i] = cfg_index[joint.name]
            polycoef[i, 1] = 1.0
            continue
        if joint.coupling.driver not in full_index:
            raise DescriptionError(
                f"{where}: joint {joint.name!r} follows {unknown('moving joint', joint.coupling.driver, full_index)}"
            )
        driver[i] = full_index[joint.coupling.driver]
        polycoef[i, : len(joint.coupling.polycoef)] = joint.coupling.polycoef
    done: dict[str, None] = {}
    for joint in moving:
        chain: list[str] = []
        current: Joint | None = joint
        while current is not None and current.name not in done:
            if current.name in chain:
                raise DescriptionError(
                    f"{where}: joints follow each other in a circle: {' -> '.join([*chain, current.name])}"
                )
            chain.append(current.name)
            current = moving[full_index[current.coupling.driver]] if current.coupling else None
        done.update(dict.fromkeys(reversed(chain)))
    coupled = np.array([joint.coupling is not None for joint in moving], dtype=np.int64)
    order = np.array([full_index[name] for name in done], dtype=np.int64)
    return frozen(driver), frozen(coupled), frozen(polycoef), frozen(order)
