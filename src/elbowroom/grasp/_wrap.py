"""Wrapping a cylinder: it is laid into the hand, and every finger closes until it touches.

The cylinder lies along the spread axis; its place in the hand is a smooth curve over the diameter that the
`Wrap` gives. A finger has one way to close, so first contact decides its controls: they are as continuous as
the curve, and the diameter is that of an object that really fits. Contact is exact on the collision triangles
(those that `GraspChecker` uses); the cylinder counts as endless, which is never too short. Fingers advance only
as far as no point of them can have reached the cylinder (conservative advancement: each link's distance over a
bound of its speed), so that no earlier contact is jumped over. The tilt levels the thumb tip with the mean of the
fingertips.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.interpolate import PchipInterpolator

from .. import _core
from .._frozen import frozen
from ..errors import InputError
from ._grasp import tilt_of, upright
from ._hand import Hand, driver_law, joints_above, largest
from ._types import Wrap

CONTACT = 1e-11
"""m; a finger stops this far from the cylinder."""
TOUCH = 1e-6
"""m; links this near to the cylinder touch it."""
MAX_ADVANCES = 100_000
"""Steps after which a finger that only grazes the cylinder, and so advances ever more slowly, does not reach it."""


@dataclass(frozen=True)
class Wrapped:
    """A hand around a cylinder."""

    ctrl: Float[np.ndarray, "actuators"]
    tilt: float
    s: float
    """How far closed: 0 at the largest diameter, 1 at the smallest."""
    axis: Float[np.ndarray, "3"]
    """Middle of the cylinder in the base frame, m: beside the thumb, which alone bears one side of it."""
    measured: float
    """Diameter from the finger whose distance to the axis is farthest from the radius, m."""
    touching: Mapping[str, Float[np.ndarray, "3"]]
    """Links that touch, with the point, base frame."""


class WrapClosure:
    """Closes a hand around cylinders of any diameter in its range.

    Args:
        hand: the hand.
        name: of the set, for messages.
        wrap: fingers, places and postures.
        idle: controls of fingers that take no part; the hand's rest by default.

    Raises:
        InputError: places that are not rising diameters with finite numbers, postures that are not finite, fingers
            without geometry or with an actuator in common that would have to close them both.
    """

    def __init__(
        self, hand: Hand, name: str, wrap: Wrap, *, idle: Float[np.ndarray, "actuators"] | None = None
    ) -> None:
        self.hand, self.name, self.wrap = hand, name, wrap
        self._idle = hand.ctrl_rest if idle is None else idle
        self._places, self.range = self._read_places()
        self._open = hand.posture(wrap.open, hand.ctrl_lower, f"{name!r}: open")
        self._closed = hand.posture(wrap.closed, hand.ctrl_upper, f"{name!r}: closed")
        self._fingers = {
            finger: list(hand.finger_actuators(finger)) for finger in (hand.thumb, *wrap.fingers)
        }
        self._meshes = {
            link: tuple(np.ascontiguousarray(part) for part in (mesh.vertices, mesh.edges_unique, mesh.faces))
            for link in hand.robot.mesh_links
            if (mesh := hand.robot.link_mesh(link)) is not None
        }
        self._links = {
            finger: [link for link in self._meshes if hand.link_fingers.get(link) == finger]
            for finger in self._fingers
        }
        self._check_fingers()
        self._speeds = {link: self._speed_bound(link) for links in self._links.values() for link in links}

    def _read_places(self) -> tuple[Any, tuple[float, float]]:
        """The curve on which the cylinder lies, by diameter, and the range of diameters."""
        given = self.wrap.places
        try:
            rows = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            rows = np.empty(0)
        if rows.ndim != 2 or rows.shape[1:] != (3,) or len(rows) < 2 or not np.isfinite(rows).all():
            raise InputError(
                f"{self._label}: places must be two or more rows of diameter, x and z, found {given!r:.80}"
            )
        if rows[0, 0] <= 0.0 or np.any(np.diff(rows[:, 0]) <= 0.0):
            raise InputError(
                f"{self._label}: the diameters of places must be positive and rise, found {rows[:, 0].tolist()}"
            )
        return PchipInterpolator(rows[:, 0], rows[:, 1:]), (float(rows[0, 0]), float(rows[-1, 0]))

    def _check_fingers(self) -> None:
        """Every finger has geometry, and a way to close that is its own."""
        bare = [finger for finger, links in self._links.items() if not links]
        if bare:
            raise InputError(
                f"{self._label}: no link with collision geometry moves with {' or '.join(bare)} alone; "
                "nothing could touch"
            )
        for i, actuator in enumerate(self.hand.actuator_names):
            users = [finger for finger, own in self._fingers.items() if i in own]
            if len(users) > 1 and self._open[i] != self._closed[i]:
                raise InputError(
                    f"{self._label}: actuator {actuator!r} moves {' and '.join(users)}, which cannot each close until "
                    "they touch; give it the same value in both postures"
                )

    def solve(self, diameter: float) -> Wrapped:
        """The hand around a cylinder of a diameter within the range.

        Raises:
            InputError: a finger does not reach it, or it does not fit between palm and open fingers.
        """
        radius = 0.5 * diameter
        side, z = (float(value) for value in self._places(diameter))
        x, ctrl = side + radius, self.opened()
        for finger in self._links:
            self._move(ctrl, finger, self._first_touch(finger, x, z, radius))
        near = self.nearest(ctrl, x, z)
        inside = {link: distance for link, (distance, _) in near.items() if distance < radius - TOUCH}
        if inside:
            worst = min(inside, key=lambda link: inside[link])
            raise InputError(
                f"{self._label}: a cylinder of {1e3 * diameter:.1f} mm at x {1e3 * x:.1f}, z {1e3 * z:.1f} mm reaches "
                f"{1e3 * (radius - inside[worst]):.2f} mm into {worst}; give another place"
            )
        reached = [min(near[link][0] for link in links) for links in self._links.values()]
        tips = self.hand.tips(ctrl)
        thumb = tips[self.hand.finger_index(self.hand.thumb)]
        mean = tips[[self.hand.finger_index(name) for name in self.wrap.fingers]].mean(axis=0)
        touching = {
            link: frozen(point) for link, (distance, point) in near.items() if distance <= radius + TOUCH
        }
        return Wrapped(
            ctrl=ctrl,
            tilt=upright(tilt_of(thumb - mean)),
            s=(self.range[1] - diameter) / (self.range[1] - self.range[0]),
            axis=np.array([x, thumb[1], z]),
            measured=2.0 * max(reached, key=lambda distance: abs(distance - radius)),
            touching=touching,
        )

    def opened(self) -> Float[np.ndarray, "actuators"]:
        """Controls with all wrapping fingers open."""
        ctrl = self._idle.copy()
        for finger in self._links:
            self._move(ctrl, finger, 0.0)
        return ctrl

    def nearest(
        self, ctrl: Float[np.ndarray, "actuators"], x: float, z: float, links: list[str] | None = None
    ) -> dict[str, tuple[float, np.ndarray]]:
        """Distance of links' surfaces to a line along the spread axis, and their nearest points, base frame."""
        poses = self.hand.robot.link_poses(self.hand.cfg(ctrl))
        found: dict[str, tuple[float, np.ndarray]] = {}
        for link in self._meshes if links is None else links:
            pose = poses[self.hand.robot.link_index(link)]
            vertices, edges, faces = self._meshes[link]
            found[link] = _core.line_distance(vertices, edges, faces, pose, x, z)
        return found

    @property
    def _label(self) -> str:
        return f"{self.hand.name}: {self.name!r}"

    def _move(self, ctrl: np.ndarray, finger: str, u: float) -> None:
        own = self._fingers[finger]
        ctrl[own] = (1.0 - u) * self._open[own] + u * self._closed[own]

    def _first_touch(self, finger: str, x: float, z: float, radius: float) -> float:
        """Way of a finger, 0 open and 1 closed, at which it first touches the cylinder."""
        ctrl, links, u = self.opened(), self._links[finger], 0.0
        where = f"a cylinder of {2e3 * radius:.1f} mm at x {1e3 * x:.1f}, z {1e3 * z:.1f} mm"
        for _ in range(MAX_ADVANCES):
            near = self.nearest(ctrl, x, z, links)
            gaps = {link: distance - radius for link, (distance, _) in near.items()}
            gap = min(gaps.values())
            if u == 0.0 and gap < -TOUCH:
                raise InputError(
                    f"{self._label}: {finger} is {-1e3 * gap:.2f} mm inside {where} before it closes; "
                    "give another place or open posture"
                )
            if gap <= CONTACT:
                return u
            if u == 1.0:
                break
            u = min(1.0, u + min(gap / max(self._speeds[link], 1e-300) for link, gap in gaps.items()))
            self._move(ctrl, finger, u)
        raise InputError(
            f"{self._label}: {finger} does not reach {where}; give another place or closed posture"
        )

    def _speed_bound(self, link: str) -> float:
        """How far any point of a link can move per unit of its finger's way, m: joint rates times distances."""
        robot = self.hand.robot
        spans = {
            name: (value, value) for name, value in zip(robot.joint_names, robot.default_cfg, strict=True)
        }
        moved = {i for own in self._fingers.values() for i in own}
        for i, actuator in enumerate(self.hand.actuators):
            ends = (self._open[i], self._closed[i]) if i in moved else (self._idle[i], self._idle[i])
            spans[actuator.joint] = min(ends), max(ends)
        reach = float(np.linalg.norm(self._meshes[link][0], axis=-1).max())
        speed = 0.0
        for joint in joints_above(robot, link):
            reach += float(np.linalg.norm(joint.T_joint_child[:3, 3]))
            if joint.type != "fixed":
                driver, law = driver_law(robot, joint)
                low, high = spans[driver]
                rate = (high - low) * largest(law.deriv(), low, high)
                speed += rate if joint.type == "prismatic" else rate * reach
                reach += largest(law, low, high) if joint.type == "prismatic" else 0.0
            reach += float(np.linalg.norm(joint.T_parent_joint[:3, 3]))
        return speed
