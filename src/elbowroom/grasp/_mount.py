"""`mount`: a hand on an arm, as one robot.

What carries a hand is an arm, and what the arm can reach depends on the hand: so the two become one description, with
one collision model. `mounted_hand` finds the hand again in it, from its names.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from .._frozen import frozen
from .._poses import matrix_from_wxyz_xyz
from .._text import short
from ..errors import ApproximationWarning, InputError
from ..robot import Robot, as_robot, joined, load_robot, without_links
from ..robot.internal import root_pose
from ..typing import Matrix4, RobotLike
from ._hand import Hand, driver_law, moving_joints
from ._load import KNOWN, load_hand
from ._rh56 import BUNDLED_HANDS


def mount(
    arm: RobotLike, hand: Any, link: str, pose: Any = None, *, prefix: str = "", without: Iterable[str] = ()
) -> Robot:
    """An arm that carries a hand: one robot, whose joints are the arm's and then the hand's.

    Args:
        arm: the carrier, a Robot or whatever `load_robot` takes.
        hand: a `Hand` from `load_hand`, a Robot, or the name of either ("rh56", "allegro_right_hand", a path).
        link: of the arm, on which the hand sits, such as its flange.
        pose: of the hand's frame in `link`, (7,) or (4, 4); None for the identity, with the fingers along its +Z.
        prefix: put before all names of the hand; needed where both have the same.
        without: links of the arm that are left out with all that they carry, such as its own gripper.

    Returns:
        A Robot with the meshes, limits, couplings, named configurations and disabled pairs of both. It has no
        description file, so a spherized URDF, which is an edited one, cannot be written from it; the other formats can.

    Raises:
        UnknownLinkError: no such link. InputError: names that both have, or a pose that is none.
    """
    arm = as_robot(arm)
    carrier = arm if isinstance(arm, Robot) else _load(arm, "arm")
    parts = without_links(carrier, without)
    if link in carrier.link_names and link not in parts.link_names:
        raise InputError(f"{carrier.name}: {link!r} is left out by `without` and cannot carry the hand")
    return joined(parts, _robot_of(hand), link, pose, prefix=prefix)


def _robot_of(hand: Any) -> Robot:
    if isinstance(hand, Hand):
        return hand.robot
    if isinstance(hand, Robot):
        return hand
    if isinstance(hand, str) and (hand in BUNDLED_HANDS or hand in KNOWN):
        return load_hand(hand).robot
    return _load(hand, "hand")


def _load(source: Any, what: str) -> Robot:
    if not isinstance(source, (str, os.PathLike)):
        raise InputError(f"{what}: expected a Robot, its name or its path, found {short(source)}")
    with warnings.catch_warnings():  # the joined robot keeps the notes
        warnings.simplefilter("ignore", ApproximationWarning)
        return load_robot(source)


@dataclass(frozen=True, eq=False)
class MountedHand:
    """A hand within the robot that carries it."""

    robot: Robot
    hand: Hand
    prefix: str
    link: str
    """The hand's root link, which the arm moves."""
    T_link_base: Matrix4
    """The hand's frame in that link."""
    actuated: tuple[int, ...]
    """Entry of the robot's configuration that each actuator of the hand sets."""
    own: tuple[int, ...]
    """Entries of the configuration that belong to the hand, in the order of the hand's own."""

    @property
    def arm_joints(self) -> tuple[str, ...]:
        """Joints of the arm that move the hand."""
        names = {driver_law(self.robot, joint)[0] for joint in moving_joints(self.robot, self.link)}
        return tuple(name for name in self.robot.joint_names if name in names)

    def cfg(self, cfg: Any, ctrl: Any) -> Float[np.ndarray, "dof"]:
        """A configuration with the hand at a control; its joints without actuator are at the hand's default."""
        full = self.robot.as_cfg(cfg).copy()
        full[list(self.own)] = self.hand.cfg(ctrl)
        return full

    def base_pose(self, cfg: Any) -> Matrix4:
        """The hand's frame in the world at a configuration."""
        poses = self.robot.link_poses(self.robot.as_cfg(cfg))
        return matrix_from_wxyz_xyz(poses[self.robot.link_index(self.link)]) @ self.T_link_base

    def links(self, names: Iterable[str]) -> tuple[str, ...]:
        """Names that links of the hand have in the robot."""
        return tuple(self.prefix + name for name in names)


def mounted_hand(robot: Robot, hand: Hand, prefix: str | None = None) -> MountedHand:
    """Finds a hand in a robot that carries it.

    Args:
        robot: from `mount`.
        hand: the hand that was mounted.
        prefix: that its names have there; None finds it, where there is one such hand.

    Raises:
        InputError: no such hand, or several.
    """
    names, root = set(robot.link_names), hand.robot.tree.root
    wanted = hand.robot.link_names
    if prefix is None:
        ends = [name.removesuffix(root) for name in robot.link_names if name.endswith(root)]
        found = [start for start in ends if all(start + link in names for link in wanted)]
    else:
        found = [prefix] if all(prefix + link in names for link in wanted) else []
    if len(found) != 1:
        missing = f"no hand {hand.name!r}" if not found else f"{len(found)} hands {hand.name!r}"
        which = f" with the prefix {prefix!r}" if prefix else ""
        ask = "say which by its prefix" if found else "join them with mount(arm, hand, link)"
        listed = f" ({', '.join(map(repr, found))})" if found else ""
        raise InputError(f"{robot.name} carries {missing}{which}{listed}: {ask}")
    start = found[0]
    columns = {name: i for i, name in enumerate(robot.joint_names)}
    return MountedHand(
        robot=robot,
        hand=hand,
        prefix=start,
        link=start + root,
        T_link_base=frozen(np.linalg.inv(root_pose(hand.robot))),
        actuated=tuple(columns[start + actuator.joint] for actuator in hand.actuators),
        own=tuple(columns[start + name] for name in hand.robot.joint_names),
    )
