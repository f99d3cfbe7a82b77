"""Hands of example-robot-data that are known by name: fingertips, and how their fingers close.

What `load_hand` needs besides the description, found by experiment on the Allegro hands (Wonik Robotics): their
fingertips are balls, and thumb and fingers meet along the palm, so that the hand lies nearly flat over what it
pinches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ._types import Opposition, Wrap


@dataclass(frozen=True)
class KnownHand:
    """Arguments of `load_hand` for a description."""

    fingertips: Mapping[str, str]
    tip_radius: float
    """m."""
    oppositions: Mapping[str, Opposition | Wrap]


SETS = {
    "line index": ("index",),
    "line middle": ("middle",),
    "line ring": ("ring",),
    "plane 3": ("index", "middle"),
    "plane 4": ("index", "middle", "ring"),
}
PLACES = ((0.070, 0.031, 0.030), (0.090, 0.031, 0.032), (0.110, 0.031, 0.035), (0.150, 0.031, 0.045))
"""Near the best Ferrari-Canny quality of a grid of places; below 70 mm thumb and fingertips cross."""


def _posture(finger: tuple[float, ...], thumb: tuple[float, ...]) -> dict[str, float]:
    """Controls of joints 0 to 15: three fingers alike, then the thumb; rad."""
    return {f"joint_{i}.0": value for i, value in enumerate((*finger, *finger, *finger, *thumb))}


OPEN = _posture((0.0, 0.1, 0.1, 0.1), (1.3, 0.3, 0.0, 0.0))
PINCHED = _posture((0.0, 1.0, 0.7, 0.5), (1.3, 0.4, 0.4, 0.6))
CURLED = _posture((0.0, 1.5, 1.4, 1.2), (1.3, 0.8, 1.4, 1.2))

ALLEGRO = KnownHand(
    fingertips={
        "thumb": "link_15.0_tip",
        "index": "link_3.0_tip",
        "middle": "link_7.0_tip",
        "ring": "link_11.0_tip",
    },
    tip_radius=0.012,
    oppositions={
        **{name: Opposition(fingers, OPEN, PINCHED, closed_tilt=None) for name, fingers in SETS.items()},
        "cylinder": Wrap(SETS["plane 4"], PLACES, OPEN, CURLED),
    },
)

KNOWN: Mapping[str, KnownHand] = {"allegro_right_hand": ALLEGRO, "allegro_left_hand": ALLEGRO}
"""By the name of the description; joints and links of the two hands have the same names."""
