"""The object that a grasp is planned for, as a box or a cylinder in the world: for checks and for pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from jaxtyping import Float

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
