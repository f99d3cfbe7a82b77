"""What there is to draw of a hand, as plain arrays in the world: its shapes and its bones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..._poses import matrix_from_wxyz_xyz
from ...typing import Points, Triangles

if TYPE_CHECKING:
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
    from ...grasp.doors import moving_joints

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
