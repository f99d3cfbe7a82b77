"""An orthographic camera that frames what it is given.

Orthographic, so that lengths in the picture are lengths of the robot; z is up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


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

    def frame(self, content: Float[np.ndarray, "n 3"]) -> View:
        """A view in which `content` (world) fills the picture."""
        axes = self.axes()
        seen = content @ axes.T
        low, high = seen.min(axis=0), seen.max(axis=0)
        span = np.maximum(high - low, 1e-9)
        scale = (1 - 2 * self.margin) * min(self.width / span[0], self.height / span[1])
        return View(axes, (low + high) / 2, scale, np.array([self.width / 2, self.height / 2]))


@dataclass(frozen=True)
class View:
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
