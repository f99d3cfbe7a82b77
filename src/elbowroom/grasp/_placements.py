"""Where a hand can be to grasp an object: one grasp, turned about what the object leaves free.

The object's frame is the frame that grasps are planned in: X across the width, from the fingers to the thumb, Y along
the spread of the fingers (the axis of a cylinder), Z up to where the hand comes from; its origin is between the
fingertips. A pinched width looks the same when the hand turns about X, a cylinder when it turns about Y, and both when
thumb and fingers change sides. What is round about Z as well may be grasped from any side (`spins`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from jaxtyping import Float

from .._frozen import frozen
from ..errors import InputError
from ..typing import Matrix4
from ..world import Box, Cylinder, Obstacle
from ._grasp import Grasp

if TYPE_CHECKING:
    import trimesh

BELOW, ABOVE = 0.045, 0.012
"""m; how far the object reaches below and above the grasp's height."""
BESIDE = 0.012
"""m; how far it reaches beyond the outermost fingertips sideways."""
SECTIONS = 128
"""Flat sides of a cylinder as triangles: they are at most 0.03 % of its radius inside it."""


@dataclass(frozen=True, eq=False)
class GraspedObject:
    """The object a grasp is planned for: a box, or a cylinder along Y."""

    kind: Literal["box", "cylinder"]
    center: Float[np.ndarray, "3"]
    size: Float[np.ndarray, "3"]
    """Edges; for a cylinder its diameter, length and diameter again."""

    def mesh(self) -> trimesh.Trimesh:
        """The object as triangles in the world; a cylinder's are inscribed."""
        import trimesh

        if self.kind == "box":
            made = trimesh.creation.box(self.size)
        else:
            made = trimesh.creation.cylinder(radius=self.size[0] / 2, height=self.size[1], sections=SECTIONS)
            made.apply_transform(trimesh.transformations.rotation_matrix(np.pi / 2, (1, 0, 0)))
        return made.apply_translation(self.center)


def grasped_object(grasp: Grasp, height: float = 0.1) -> GraspedObject:
    """The object, to scale: its sides where the fingertips' mean and the thumb are, a cylinder where it is wrapped.

    A cylinder of the proportional method lies between the knuckles that its diameter is measured from.
    """
    T, tips = grasp.to_world(height)
    points = np.array(list(tips.values()))
    reach = float(np.ptp(points[:, 1])) + 2 * BESIDE
    y = float(points[:, 1].min() + points[:, 1].max()) / 2
    if grasp.touching:
        reach = 2 * float(np.abs(points[:, 1]).max() + BESIDE)
        return GraspedObject(
            "cylinder", np.array([0.0, 0.0, height]), np.array([grasp.width, reach, grasp.width])
        )
    if grasp.mode == "cylinder":
        knuckles = grasp.hand.knuckles(grasp.ctrl) @ T[:3, :3].T + T[:3, 3]
        others = [grasp.hand.finger_index(name) for name in grasp.fingers]
        middle = 0.5 * (knuckles[grasp.hand.finger_index(grasp.hand.thumb)] + knuckles[others].mean(axis=0))
        center = np.array([middle[0], y, middle[2]])
        return GraspedObject("cylinder", center, np.array([grasp.width, reach, grasp.width]))
    x = 0.5 * sum(grasp.sides(height))
    tall = min(BELOW, height) + ABOVE
    center = np.array([x, y, height + ABOVE - tall / 2])
    return GraspedObject("box", center, np.array([grasp.width, reach, tall]))


PINCH_TURNS = tuple(np.radians(15.0) * np.arange(-6, 7))
"""About the width: from one side, over the top, to the other; from below nothing is grasped unless it is asked for."""
WRAP_TURNS = tuple(np.radians(15.0) * np.arange(-12, 12))
"""About the axis of a cylinder: all around."""


@dataclass(frozen=True, eq=False)
class Placement:
    """One way to put the hand to the object."""

    turn: float
    """rad about the width (pinch) or about the axis (cylinder); 0 comes down the object's Z."""
    spin: float
    """rad about the object's Z."""
    flipped: bool
    """Whether thumb and fingers have changed sides."""
    T_world_grasp: Matrix4
    """The frame that the grasp is planned in."""

    @property
    def approach(self) -> Float[np.ndarray, "3"]:
        """Direction in the world in which the hand comes to the object."""
        return -self.T_world_grasp[:3, 2]

    def base(self, grasp: Grasp, back: float = 0.0) -> Matrix4:
        """The hand's frame in the world for a grasp there, or `back` metres before it is reached."""
        return self.T_world_grasp @ grasp.to_world(back).T_world_base

    def __str__(self) -> str:
        spun = f", spun {np.degrees(self.spin):.0f}" if self.spin else ""
        return f"turned {np.degrees(self.turn):.0f} degrees{spun}{', flipped' if self.flipped else ''}"


def placements(
    grasp: Grasp,
    T_world_object: Matrix4,
    *,
    turns: Sequence[float] | None,
    spins: Sequence[float],
    flips: bool,
    approach: Any,
    within: float,
) -> tuple[Placement, ...]:
    """The ways to put the hand to an object, those that come as asked first.

    Args:
        grasp: which grasp.
        T_world_object: the object's frame, see the module.
        turns: rad about X (pinch) or Y (cylinder); None for the usual ones.
        spins: rad about Z.
        flips: whether thumb and fingers may change sides.
        approach: (3,) direction in the world in which the hand should come; None for any.
        within: rad that the direction may differ.
    """
    round_about_y = grasp.mode == "cylinder"
    angles = (WRAP_TURNS if round_about_y else PINCH_TURNS) if turns is None else _angles(turns, "turns")
    wanted = None if approach is None else _direction(approach)
    found: list[tuple[float, Placement]] = []
    for spin in _angles(spins, "spins"):
        for flipped in (False, True) if flips else (False,):
            for turn in angles:
                T = np.array(T_world_object, dtype=np.float64)
                R = _about(2, spin + (np.pi if flipped else 0.0)) @ _about(1 if round_about_y else 0, turn)
                T[:3, :3] = T[:3, :3] @ R
                place = Placement(float(turn), float(spin), flipped, frozen(T))
                off = 0.0 if wanted is None else float(np.arccos(np.clip(place.approach @ wanted, -1.0, 1.0)))
                if off <= within or wanted is None:
                    found.append((off, place))
    if not found:
        raise InputError(
            f"approach: no placement of the hand comes within {np.degrees(within):.0f} degrees of {approach!r:.60}; "
            "give other turns or spins, or a wider angle"
        )
    return tuple(place for _, place in sorted(found, key=lambda item: item[0]))


def usual_object(grasp: Grasp, T_world_object: Matrix4, name: str) -> Obstacle:
    """An object to scale for a grasp, where only its width is known: a block or a cylinder at its frame.

    It reaches a little beyond the fingertips, and below them as far as in pictures of grasps.
    """
    beside = 2.0 * (float(np.abs([tip[1] - grasp.midpoint[1] for tip in grasp.tips.values()]).max()) + BESIDE)
    if grasp.mode == "cylinder":
        lying = np.eye(4)
        lying[:3, :3] = _about(0, np.pi / 2)
        return Cylinder(0.5 * grasp.width, beside, pose=T_world_object @ lying, name=name)
    middle = np.eye(4)
    middle[2, 3] = 0.5 * (ABOVE - BELOW)
    return Box((grasp.width, beside, ABOVE + BELOW), pose=T_world_object @ middle, name=name)


def _about(axis: int, angle: float) -> Float[np.ndarray, "3 3"]:
    c, s = np.cos(angle), np.sin(angle)
    R = np.eye(3)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R


def _angles(values: Iterable[float], what: str) -> tuple[float, ...]:
    try:
        found = tuple(float(value) for value in values)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what}: expected angles in rad, found {values!r:.60}") from error
    if not found or not np.isfinite(found).all():
        raise InputError(f"{what}: expected finite angles in rad, at least one, found {values!r:.60}")
    return found


def _direction(value: Any) -> Float[np.ndarray, "3"]:
    try:
        found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"approach: expected a direction (3,) in the world, found {value!r:.60}") from error
    if found.shape != (3,) or not np.isfinite(found).all() or not np.linalg.norm(found) > 1e-9:
        raise InputError(f"approach: expected a direction (3,) in the world, found {value!r:.60}")
    return found / np.linalg.norm(found)
