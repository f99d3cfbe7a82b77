"""Masses of a new MJCF: those of the URDF's `<inertial>` elements, and an estimate for bodies that have none.

Links that are fixed to each other are one rigid body. A link without `<inertial>` weighs nothing in a URDF, as frames
and covers do, so a body keeps the masses that its links state. A body of which no link states any cannot be simulated;
each of its links with collision geometry gets the mass and inertia of its convex hull at `DENSITY`. Spheres never
have mass: they overlap, and together they would weigh several times the robot.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from .._text import counted, shortest
from ..errors import ElbowroomError
from ..robot import Robot
from ..robot.internal import urdf_links

DENSITY = 1000.0
"""kg/m^3 of a link's convex hull where the description states no mass: that of water, as arms have on the whole."""
ESTIMATE_DIGITS = 4
"""Significant digits of an estimate; more would claim more than is known."""
SLACK = 1e-9
"""Relative slack left in the triangle inequality of principal moments, so that MuJoCo's rounding does not break it."""
ROUNDING = 1e-6
"""Relative lack in that inequality which is the rounding of published numbers and not worth a word."""
LEAST_MOMENT = 1e-12
"""Principal moments up to this are a placeholder, kg m^2; a steel ball of 0.7 mm has more. MuJoCo 3.3 refuses 1e-20."""
BALL = 0.4 * 0.05**2 * np.eye(3)
"""Inertia per kilogram of a ball of 5 cm radius, for a stated mass without usable inertia and without geometry."""
MOMENTS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
"""Names of the moments in a URDF, in the order of MJCF's `fullinertia`."""


@dataclass(frozen=True)
class Inertial:
    """Mass, centre of mass and inertia about it, both in the link's frame and axes."""

    mass: float
    """kg, above 0."""
    center: Float[np.ndarray, "3"]
    """m."""
    inertia: Float[np.ndarray, "3 3"]
    """kg m^2, positive definite, with principal moments that a body can have."""

    def attributes(self) -> dict[str, str]:
        """Of an `<inertial>` element of MJCF."""
        I = self.inertia  # noqa: E741
        place = {"pos": shortest(self.center), "mass": shortest(self.mass)}
        if not (I[0, 1] or I[0, 2] or I[1, 2]):
            return {**place, "diaginertia": shortest(np.diag(I))}
        values = (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
        return {**place, "fullinertia": shortest(values)}


@dataclass(frozen=True)
class Masses:
    """What the links of a robot weigh."""

    stated: Mapping[str, Inertial]
    """By the description; links that weigh nothing are absent."""
    estimated: Mapping[str, Inertial]
    """By the convex hulls of collision geometry, for bodies of which the description states no mass."""
    bare: tuple[str, ...]
    """First links of moving bodies without stated mass and without geometry to estimate it from."""
    mended: tuple[str, ...]
    """Links whose stated inertia no body can have, though its moments are positive: the two smaller ones are raised."""
    unusable: tuple[str, ...]
    """Links with a stated mass whose inertia is missing, not finite or a placeholder: that of their hull is written."""

    @property
    def inertials(self) -> dict[str, Inertial]:
        """Of every link that has mass."""
        return {**self.stated, **self.estimated}

    def sentences(self) -> list[str]:
        """What to say of them; nothing where all comes from the description."""
        said: list[str] = []
        if self.estimated:
            total = sum(found.mass for found in self.estimated.values())
            said.append(
                f"no URDF states a mass for {counted(len(self.estimated), 'link')}, so {total:.3g} kg are estimated"
                f" from the convex hulls of their collision geometry at {DENSITY:g} kg/m^3: {', '.join(self.estimated)}"
            )
        if self.bare:
            said.append(
                "no URDF states a mass for these moving links and they have no collision geometry, so they get the"
                f" least mass that MuJoCo can simulate: {', '.join(self.bare)}"
            )
        if self.mended:
            said.append(
                "the description states an inertia that no rigid body can have for these links; one with the two"
                f" smaller principal moments raised as far as needed is written: {', '.join(self.mended)}"
            )
        if self.unusable:
            said.append(
                "these links have a mass in the description, but an inertia that is unusable (missing, not finite or"
                f" not above {LEAST_MOMENT:g} kg m^2); that of the convex hull of their collision geometry, or of a"
                f" ball of 5 cm radius where they have none, is written: {', '.join(self.unusable)}"
            )
        return said


def masses_of(robot: Robot, still: Collection[str]) -> Masses:
    """The masses of a robot.

    Args:
        robot: the robot.
        still: names of joints that cannot move and so join rigid bodies.
    """
    stated, mended, unusable = _stated(robot)
    bodies: dict[str, list[str]] = {}
    for link, body in _body_of(robot, still).items():
        bodies.setdefault(body, []).append(link)
    estimated: dict[str, Inertial] = {}
    bare: list[str] = []
    for body, links in bodies.items():
        if any(link in stated for link in links):
            continue
        found = {link: guess for link in links if (guess := _estimate(robot, link)) is not None}
        estimated |= found
        if not found and body != robot.tree.root:
            bare.append(body)
    return Masses(stated, estimated, tuple(bare), tuple(mended), tuple(unusable))


def _body_of(robot: Robot, still: Collection[str]) -> dict[str, str]:
    """Link -> the first link of the rigid body that it belongs to."""
    carriers: dict[str, str] = {}
    moved: set[str] = set()
    for joint in robot.tree.joints:
        carriers[joint.child] = joint.parent
        if joint.type != "fixed" and joint.name not in still:
            moved.add(joint.child)
    found: dict[str, str] = {}
    for name in robot.link_names:
        link = name
        while link in carriers and link not in moved:
            link = carriers[link]
        found[name] = link
    return found


def _stated(robot: Robot) -> tuple[dict[str, Inertial], list[str], list[str]]:
    """Masses of the URDFs that a robot was loaded from, and the links whose inertia was mended or is unusable."""
    found: dict[str, Inertial] = {}
    mended: list[str] = []
    unusable: list[str] = []
    for name, link in urdf_links(robot).items():
        element = link.find("inertial")
        mass = _number(element, "mass", "value")
        if not 0 < mass < math.inf:
            continue
        rotation, center = _origin(element.find("origin"))
        moments = np.array([_number(element, "inertia", word) for word in MOMENTS])
        inertia = _in_link_axes(rotation, moments)
        if inertia is None:
            unusable.append(name)
            guess = _estimate(robot, name)
            inertia = mass * BALL if guess is None else guess.inertia * (mass / guess.mass)
        else:
            inertia, possible = _balanced(inertia)
            mended += [] if possible else [name]
        found[name] = Inertial(mass, center, inertia)
    return found, mended, unusable


def _in_link_axes(rotation: np.ndarray, moments: np.ndarray) -> np.ndarray | None:
    """The stated inertia in the link's axes; None for a placeholder, which is not finite or as good as zero."""
    xx, yy, zz, xy, xz, yz = moments
    stated = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    turned = bool((rotation != np.eye(3)).any())
    inertia = rotation @ stated @ rotation.T if turned else stated
    return inertia if np.isfinite(inertia).all() and np.linalg.eigvalsh(inertia)[0] > LEAST_MOMENT else None


def _balanced(inertia: np.ndarray) -> tuple[np.ndarray, bool]:
    """A positive definite inertia whose largest principal moment is at most the sum of the others, as every body's is.

    Returns:
        The inertia, the two smaller moments raised where they must be, and whether no more than rounding was raised.
    """
    principal, axes = np.linalg.eigh(inertia)
    lack = principal[2] * (1 + SLACK) - principal[0] - principal[1]
    if lack <= 0:
        return inertia, True
    principal[:2] += lack / 2
    mended = axes @ np.diag(principal) @ axes.T
    return (mended + mended.T) / 2, bool(lack < ROUNDING * principal[2])


def _estimate(robot: Robot, link: str) -> Inertial | None:
    """Mass and inertia of the convex hull of a link's collision geometry; None without any, or if it is flat."""
    try:
        mesh = robot.link_mesh(link)
        hull = None if mesh is None else mesh.convex_hull
    except (ElbowroomError, ValueError, RuntimeError):  # Qhull's errors are ValueErrors or RuntimeErrors
        return None
    if hull is None or not hull.volume > 0:
        return None
    hull.density = DENSITY
    moments = _rounded(hull.moment_inertia)
    if not np.linalg.eigvalsh(moments)[0] > 0:
        return None
    return Inertial(float(_rounded(hull.mass)), _rounded(hull.center_mass), _balanced(moments)[0])


def _rounded(values: Any) -> np.ndarray:
    """Numbers rounded to `ESTIMATE_DIGITS` of the largest of them."""
    array = np.asarray(values, dtype=float)
    digits = ESTIMATE_DIGITS - 1 - math.floor(math.log10(max(np.abs(array).max(), 1e-12)))
    return np.round(array, digits) + 0.0


def _number(element: Any, tag: str, attribute: str) -> float:
    """A number of a child element; NaN where there is none."""
    child = element.find(tag) if element is not None else None
    try:
        return float(child.get(attribute)) if child is not None else math.nan
    except (TypeError, ValueError):
        return math.nan


def _origin(element: Any) -> tuple[Float[np.ndarray, "3 3"], Float[np.ndarray, "3"]]:
    """Rotation and position of a URDF's `<origin>`; the identity where there is none."""

    def three(name: str) -> np.ndarray:
        text = (element.get(name) if element is not None else None) or "0 0 0"
        try:
            values = np.array([float(word) for word in text.split()])
        except ValueError:
            return np.zeros(3)
        return values if values.shape == (3,) and np.isfinite(values).all() else np.zeros(3)

    (roll, pitch, yaw), center = three("rpy"), three("xyz")
    if not (roll or pitch or yaw):
        return np.eye(3), center
    (cr, cp, cy), (sr, sp, sy) = np.cos([roll, pitch, yaw]), np.sin([roll, pitch, yaw])
    return (
        np.array(
            [
                [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
                [-sp, cp * sr, cp * cr],
            ]
        ),
        center,
    )
