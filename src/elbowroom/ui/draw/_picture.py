"""Shaded pictures of triangles and spheres with a depth buffer.

Flat shading, one light at the camera's shoulder, drawn at twice the size and averaged down. Spheres
may be see-through: they are drawn over the solid parts where they are nearer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from ... import _core
from ..._poses import matrix_from_wxyz_xyz
from ...errors import InputError
from ...robot import as_robot
from ...robot.doors import sphere_mesh
from ...typing import RobotLike
from ._camera import Camera, View

Colour = tuple[float, float, float]

BACKGROUND: Colour = (1.0, 1.0, 1.0)
SUPERSAMPLE = 2
PALETTE: tuple[Colour, ...] = (
    (0.62, 0.66, 0.72), (0.89, 0.56, 0.30), (0.37, 0.55, 0.76), (0.55, 0.72, 0.48),
    (0.76, 0.46, 0.50), (0.58, 0.50, 0.73), (0.82, 0.73, 0.42), (0.42, 0.69, 0.69),
)  # fmt: skip
"""Muted colours that neighbours can be told apart by."""
SPHERE_COLOUR: Colour = (0.85, 0.30, 0.25)


@dataclass
class Picture:
    """Triangles collected for one picture."""

    solid: list[tuple[np.ndarray, Colour]] = field(default_factory=list[tuple[np.ndarray, Colour]])
    """(tris, 3, 3) corners in the world, and their colour."""
    glass: list[tuple[np.ndarray, Colour]] = field(default_factory=list[tuple[np.ndarray, Colour]])
    """The same, drawn see-through."""
    opacity: float = 0.35

    def add_mesh(self, vertices_world: np.ndarray, faces: np.ndarray, colour: Colour) -> None:
        """Adds a solid mesh."""
        self.solid.append((vertices_world[faces], colour))

    def add_sphere(self, centre_world: np.ndarray, radius: float, colour: Colour = SPHERE_COLOUR) -> None:
        """Adds a see-through sphere."""
        ball = sphere_mesh(1.0)
        self.glass.append(((ball.vertices * radius + centre_world)[ball.faces], colour))

    def corners(self) -> Float[np.ndarray, "n 3"]:
        """Corners of all triangles, in the world.

        Raises:
            InputError: the picture is empty.
        """
        everything = [corners.reshape(-1, 3) for corners, _ in (*self.solid, *self.glass)]
        if not everything:
            raise InputError("there is nothing to draw: no mesh and no sphere was added")
        return np.concatenate(everything)

    def draw(
        self, camera: Camera, around: Float[np.ndarray, "n 3"] | None = None
    ) -> Float[np.ndarray, "height width 3"]:
        """Renders the picture, values in [0, 1].

        Args:
            camera: where it is seen from.
            around: points in the world that fill the picture instead of its own corners: the same ones for all pictures
                of an animation keep the camera still.

        Raises:
            InputError: the picture is empty.
        """
        view = camera.frame(self.corners() if around is None else around)
        shape = (camera.height * SUPERSAMPLE, camera.width * SUPERSAMPLE)
        image, depth = np.ones((*shape, 3)) * BACKGROUND, np.full(shape, -np.inf)
        self._fill(self.solid, view, image, depth)
        if self.glass:
            veil, nearest = image.copy(), depth.copy()
            self._fill(self.glass, view, veil, nearest)
            image += self.opacity * (veil - image)
        rows, columns = camera.height, camera.width
        return image.reshape(rows, SUPERSAMPLE, columns, SUPERSAMPLE, 3).mean(axis=(1, 3))

    @staticmethod
    def _fill(
        parts: list[tuple[np.ndarray, Colour]], view: View, image: np.ndarray, depth: np.ndarray
    ) -> None:
        light = view.axes.T @ np.array([0.35, 0.5, 0.8])
        light /= np.linalg.norm(light)
        for corners, colour in parts:
            normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
            normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
            shade = 0.42 + 0.58 * np.abs(normals @ light)
            pixels = view.project(corners.reshape(-1, 3))
            pixels[:, :2] *= SUPERSAMPLE
            colours = shade[:, None] * np.asarray(colour, dtype=np.float64)
            _core.fill_triangles(pixels.reshape(-1, 3, 3), colours, image, depth)


def robot_picture(
    robot: RobotLike,
    cfg: Float[np.ndarray, "dof"] | None = None,
    spheres: Mapping[str, Float[np.ndarray, "n 4"]] | None = None,
    colours: Mapping[str, Colour] | None = None,
) -> Picture:
    """The robot's collision meshes at a configuration, with spheres if given.

    Args:
        robot: the robot.
        cfg: configuration; the default one if None.
        spheres: link -> rows of x, y, z, radius in the link frame.
        colours: link -> colour, instead of the palette.
    """
    robot = as_robot(robot)
    picture = Picture()
    Ts_world_link = matrix_from_wxyz_xyz(robot.link_poses(robot.default_cfg if cfg is None else cfg))
    for index, name in enumerate(robot.link_names):
        R, t = Ts_world_link[index, :3, :3], Ts_world_link[index, :3, 3]
        mesh = robot.link_mesh(name)
        if mesh is not None:
            colour = (colours or {}).get(name, PALETTE[index % len(PALETTE)])
            picture.add_mesh(mesh.vertices @ R.T + t, mesh.faces, colour)
        for x, y, z, radius in (spheres or {}).get(name, ()):
            picture.add_sphere(R @ np.array([x, y, z]) + t, radius)
    return picture
