"""Pictures of motions are taken from where the motion is seen."""

from __future__ import annotations

import numpy as np

from elbowroom.ui.draw._plan import AZIMUTHS, azimuths
from elbowroom.world import Box, World
from tests.plan.cart import LEFT, RIGHT, cart

PATH = np.stack([LEFT, RIGHT])


def behind(azimuth_deg: float) -> Box:
    """A tall wall between the cart's way and a camera."""
    half = np.radians(azimuth_deg) / 2
    at = 1.0 * np.array([np.cos(2 * half), np.sin(2 * half), 0.0])
    return Box((0.02, 1.8, 4.0), pose=[np.cos(half), 0, 0, np.sin(half), *at], name="wall")


def test_a_wall_moves_the_camera():
    assert azimuths(cart(), PATH) == AZIMUTHS[:2]
    for azimuth in AZIMUTHS:
        first, second = azimuths(cart().with_world(World([behind(azimuth)])), PATH)
        turned = np.abs(
            (np.array([first, second, first]) - [azimuth, azimuth, second] + 180.0) % 360.0 - 180.0
        )
        assert turned.min() >= 40.0
