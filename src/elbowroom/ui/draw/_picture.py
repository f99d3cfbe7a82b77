"""Shaded pictures of triangles and spheres with a depth buffer.

Flat shading, one light at the camera's shoulder, drawn at twice the size and averaged down. Spheres are see-through
like soap bubbles: clear in the middle and coloured at the rim, so each can be told from its neighbours. They are drawn
over the solid parts where they are nearer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from jaxtyping import Float

from ... import _core
from ..._poses import matrix_from_wxyz_xyz
from ...errors import InputError
from ...robot import as_robot
from ...robot.internal import sphere_mesh
from ...typing import RobotLike


@dataclass(frozen=True)
class Camera:
    """Direction of view and size of the picture."""

    azimuth_deg: float = 35.0
    """Where the camera stands, about z: 0 looks from +x towards -x, 90 from +y."""
    elevation_deg: float = 18.0
    """Height of the camera above the horizon."""
    width: int = 800
    height: int = 800
    margin: float = 0.06
    """Share of the picture left free around the content."""

    def axes(self) -> Float[np.ndarray, "3 3"]:
        """Rows: right, up and towards the camera, in world coordinates."""
        azimuth, elevation = np.radians(self.azimuth_deg), np.radians(self.elevation_deg)
        towards = np.array(
            [np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)]
        )
        right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
        return np.stack([right, np.cross(towards, right), towards])

    def frame(self, content: Float[np.ndarray, "n 3"]) -> AimedCamera:
        """A view in which `content` (world) fills the picture."""
        axes = self.axes()
        seen = content @ axes.T
        low, high = seen.min(axis=0), seen.max(axis=0)
        span = np.maximum(high - low, 1e-9)
        scale = (1 - 2 * self.margin) * min(self.width / span[0], self.height / span[1])
        return AimedCamera(axes, (low + high) / 2, scale, np.array([self.width / 2, self.height / 2]))


@dataclass(frozen=True)
class AimedCamera:
    """A camera that has been aimed: maps world points to pixels."""

    axes: Float[np.ndarray, "3 3"]
    """Rows: right, up and towards the camera, in world coordinates."""
    centre: Float[np.ndarray, "3"]
    """Middle of the content, along the axes."""
    scale: float
    """Pixels per metre."""
    middle: Float[np.ndarray, "2"]
    """Middle of the picture, pixels."""

    def project(self, points_world: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, "n 3"]:
        """Pixel x, pixel y (downward) and depth (metres, larger is nearer)."""
        seen = points_world @ self.axes.T - self.centre
        return np.stack(
            [self.middle[0] + self.scale * seen[:, 0], self.middle[1] - self.scale * seen[:, 1], seen[:, 2]],
            axis=1,
        )


Colour = tuple[float, float, float]

BACKGROUND: Colour = (1.0, 1.0, 1.0)
SUPERSAMPLE = 2
PALETTE: tuple[Colour, ...] = (
    (0.62, 0.66, 0.72), (0.89, 0.56, 0.30), (0.37, 0.55, 0.76), (0.55, 0.72, 0.48),
    (0.76, 0.46, 0.50), (0.58, 0.50, 0.73), (0.82, 0.73, 0.42), (0.42, 0.69, 0.69),
)  # fmt: skip
"""Muted colours that neighbours can be told apart by."""
SPHERE_COLOUR: Colour = (0.09, 0.42, 0.78)
INSIDE: Colour = (0.96, 0.60, 0.16)
"""Of links that are seen through their spheres: two colours in all are easier to tell apart than many."""


@dataclass
class Picture:
    """Triangles collected for one picture."""

    solid: list[tuple[np.ndarray, Colour]] = field(default_factory=list[tuple[np.ndarray, Colour]])
    """(tris, 3, 3) corners in the world, and their colour."""
    glass: list[tuple[np.ndarray, Colour]] = field(default_factory=list[tuple[np.ndarray, Colour]])
    """The same, drawn see-through."""
    opacity: tuple[float, float] = (0.14, 0.9)
    """Of what is see-through: where it is seen head-on, and at the edge of its outline."""

    def add_mesh(self, vertices_world: np.ndarray, faces: np.ndarray, colour: Colour) -> None:
        """Adds a solid mesh."""
        self.solid.append((vertices_world[faces], colour))

    def add_sphere(self, centre_world: np.ndarray, radius: float, colour: Colour = SPHERE_COLOUR) -> None:
        """Adds a see-through sphere."""
        self.glass.append((radius * _unit_sphere() + centre_world, colour))

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
        image, depth = np.full((*shape, 3), BACKGROUND), np.full(shape, -np.inf)
        if self.solid:
            pixels, shaded, _ = _shaded(self.solid, view)
            _core.fill_triangles(pixels, shaded, image, depth)
        if self.glass:
            pixels, shaded, facing = _shaded(self.glass, view)
            head_on, rim = self.opacity
            opaque = np.repeat(head_on + (rim - head_on) * (1.0 - facing[:, None]) ** 2, 3, axis=1)
            veil, opacity = image.copy(), np.zeros_like(image)
            _core.fill_triangles(pixels, shaded, veil, depth.copy())
            _core.fill_triangles(pixels, opaque, opacity, depth)
            image += opacity * (veil - image)
        steps = range(SUPERSAMPLE)
        samples = [image[row::SUPERSAMPLE, column::SUPERSAMPLE] for row in steps for column in steps]
        return sum(samples, np.zeros(1)) / len(samples)


def _shaded(
    parts: list[tuple[np.ndarray, Colour]], view: AimedCamera
) -> tuple[Float[np.ndarray, "tris 3 3"], Float[np.ndarray, "tris 3"], Float[np.ndarray, "tris"]]:
    """Corners of triangles in pixels and depth, their shaded colours, and how far each faces the camera, 0 to 1."""
    light = view.axes.T @ np.array([0.35, 0.5, 0.8])
    light /= np.linalg.norm(light)
    corners = np.concatenate([corners for corners, _ in parts])
    colours = np.repeat([colour for _, colour in parts], [len(corners) for corners, _ in parts], axis=0)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    shade = 0.42 + 0.58 * np.abs(normals @ light)
    pixels = view.project(corners.reshape(-1, 3))
    pixels[:, :2] *= SUPERSAMPLE
    return pixels.reshape(-1, 3, 3), shade[:, None] * colours, np.abs(normals @ view.axes[2])


@cache
def _unit_sphere() -> Float[np.ndarray, "tris 3 3"]:
    ball = sphere_mesh(1.0)
    return ball.vertices[ball.faces]


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
        colours: link -> colour, instead of the palette or, with spheres, of orange.
    """
    robot = as_robot(robot)
    picture = Picture()
    Ts_world_link = matrix_from_wxyz_xyz(robot.link_poses(robot.default_cfg if cfg is None else cfg))
    for index, name in enumerate(robot.link_names):
        R, t = Ts_world_link[index, :3, :3], Ts_world_link[index, :3, 3]
        mesh = robot.link_triangles(name)
        if mesh is not None:
            own = INSIDE if spheres else PALETTE[index % len(PALETTE)]
            colour = (colours or {}).get(name, own)
            picture.add_mesh(mesh.vertices @ R.T + t, mesh.faces, colour)
        for x, y, z, radius in (spheres or {}).get(name, ()):
            picture.add_sphere(R @ np.array([x, y, z]) + t, radius)
    return picture
