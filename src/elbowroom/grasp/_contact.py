"""How a hand meets an object at a grasp: which links are meant to touch, and how far from it each is.

Grasps are planned for points: the mean of several fingertips, of fingers that have a body and are not equally long.
Some would be deeper in the object than a surface allows, some would not reach it. A real finger closes until it
touches, so fingers (not the thumb, which stays as planned) are moved until they do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Float

from .._frozen import FrozenMap, frozen
from .._poses import matrix_from_wxyz_xyz
from ..robot import Robot
from ..typing import Matrix4
from ..world import Obstacle, World
from ._grasp import Grasp

SPACING = 0.002
"""m between points of a link's surface: on an object of 20 mm radius the nearest is off by 0.03 mm at most."""
HALVINGS = 14
"""Steps of the search for where a finger touches."""
FARTHER = 1.5
"""How far a finger that does not reach may close, as a share of its way from open to the grasp."""


@dataclass(frozen=True, eq=False)
class HandContact:
    """A hand at an object: its controls, and distances of its links."""

    ctrl: Float[np.ndarray, "actuators"]
    """Controls in actuator order, rad: those of the grasp, except for `settled` fingers."""
    settled: tuple[str, ...]
    """Fingers that touch earlier or later than planned, and stop there."""
    distances: Mapping[str, float]
    """m by link, negative inside the object: of the point of its surface that is deepest, or nearest. All links of the
    hand with geometry, by their names in the hand."""
    touching: tuple[str, ...]
    """Links that are meant to touch."""
    tips: Mapping[str, float]
    """m by active finger: of the nearest of its links that are meant to touch."""
    why: str
    """What is wrong, in words; empty when thumb and fingers meet the object and nothing else does."""


def meant_to_touch(grasp: Grasp) -> tuple[str, ...]:
    """Links that carry active fingertips; of a hand wrapped around a cylinder, all links of its fingers."""
    hand = grasp.hand
    active = (hand.thumb, *grasp.fingers)
    if grasp.touching:
        wrapping = [link for link in hand.robot.mesh_links if hand.link_fingers.get(link) in active]
        return tuple(dict.fromkeys((*grasp.touching, *wrapping)))
    return tuple(link for link in hand.tip_links(active) if link in hand.robot.shapes)


class Meeting:
    """Measures how the hand of a grasp meets an object, wherever the hand is."""

    def __init__(
        self, grasp: Grasp, opened: Float[np.ndarray, "actuators"], thing: Obstacle, tolerance: float
    ) -> None:
        """Takes what stays the same.

        Args:
            grasp: the grasp. opened: controls at which the hand comes to the object.
            thing: the object.
            tolerance: m that a link which is meant to touch may be inside the object; outside it, thumb and at least
                one finger have to be as near.
        """
        self.grasp, self.opened, self.tolerance = grasp, opened, tolerance
        self.links = meant_to_touch(grasp)
        self._world = World([thing])
        self._last = np.array(grasp.ctrl)  # where fingers touched last: on a flat side they do everywhere

    def at(self, T_world_base: Matrix4) -> HandContact:
        """The contact with the hand at a pose, each finger where it touches."""
        ctrl = np.array(self._last)
        if not self.grasp.touching:
            tips = self._tips(self._distances(ctrl, T_world_base, self.links))
            for finger in self.grasp.fingers:
                if not -self.tolerance <= tips[finger] <= 0.0:
                    self._settle(ctrl, finger, T_world_base)
        self._last = np.array(ctrl)
        hand = self.grasp.hand
        moved = np.flatnonzero(ctrl != self.grasp.ctrl)
        settled = [
            name for name in self.grasp.fingers if set(hand.finger_actuators(name)) & set(moved.tolist())
        ]
        distances = self._distances(ctrl, T_world_base, self.grasp.hand.robot.mesh_links)
        tips = self._tips(distances)
        return HandContact(
            frozen(ctrl),
            tuple(settled),
            FrozenMap(distances),
            self.links,
            FrozenMap(tips),
            self._wrong(distances, tips),
        )

    def _settle(self, ctrl: Float[np.ndarray, "actuators"], finger: str, T_world_base: Matrix4) -> None:
        """Moves a finger to where it is inside the object by half the tolerance; where it never is, as planned."""
        hand = self.grasp.hand
        thumb = hand.finger_actuators(hand.thumb)
        own = [i for i in hand.finger_actuators(finger) if i not in thumb]
        links = [link for link in self.links if hand.link_fingers.get(link) == finger]
        before = self.grasp.ctrl[own]

        def deep(share: float) -> bool:
            wanted = self.opened[own] + share * (before - self.opened[own])
            ctrl[own] = np.clip(wanted, hand.ctrl_lower[own], hand.ctrl_upper[own])
            return min(self._distances(ctrl, T_world_base, links).values()) < -0.5 * self.tolerance

        low, high = 0.0, FARTHER
        if deep(low) or not deep(high):
            ctrl[own] = before
            return
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if deep(middle) else (middle, high)
        deep(low)

    def _distances(
        self, ctrl: Float[np.ndarray, "actuators"], T_world_base: Matrix4, links: tuple[str, ...] | list[str]
    ) -> dict[str, float]:
        robot = self.grasp.hand.robot
        poses = T_world_base @ matrix_from_wxyz_xyz(robot.link_poses(self.grasp.hand.cfg(ctrl)))
        placed: list[np.ndarray] = []
        for link in links:
            T = poses[robot.link_index(link)]
            placed.append(_surface(robot, link) @ T[:3, :3].T + T[:3, 3])
        starts = np.cumsum([0, *map(len, placed[:-1])])
        nearest = np.minimum.reduceat(self._world.distance(np.concatenate(placed)), starts)
        return dict(zip(links, nearest.tolist(), strict=True))

    def _tips(self, distances: Mapping[str, float]) -> dict[str, float]:
        owner = self.grasp.hand.link_fingers
        return {
            finger: min((distances[link] for link in self.links if owner.get(link) == finger), default=np.inf)
            for finger in (self.grasp.hand.thumb, *self.grasp.fingers)
        }

    def _wrong(self, distances: Mapping[str, float], tips: Mapping[str, float]) -> str:
        grasp, may = self.grasp, dict.fromkeys(self.links, self.tolerance)
        worst = min(distances, key=lambda link: distances[link] + may.get(link, 0.0))
        if -distances[worst] > may.get(worst, 0.0):
            allowed = f", {1e3 * self.tolerance:.1f} mm are allowed" if worst in may else ""
            return f"{worst} would be {-1e3 * distances[worst]:.1f} mm inside the object{allowed}"
        thumb, others = tips[grasp.hand.thumb], min(tips[name] for name in grasp.fingers)
        if max(thumb, others) > self.tolerance:
            who = grasp.hand.thumb if thumb >= others else " and ".join(grasp.fingers)
            return (
                f"{who} would stay {1e3 * max(thumb, others):.1f} mm away from the object: "
                f"is it {1e3 * grasp.width:.1f} mm wide along X there?"
            )
        return ""


@lru_cache(maxsize=256)
def _surface(robot: Robot, link: str) -> Float[np.ndarray, "points 3"]:
    """Points of a link's surface in its frame, close to each other."""
    import trimesh

    mesh = robot.link_mesh(link)
    assert mesh is not None
    points = trimesh.remesh.subdivide_to_size(mesh.vertices, mesh.faces, SPACING, max_iter=12)[0]
    return frozen(np.unique(np.round(points, 6), axis=0))
