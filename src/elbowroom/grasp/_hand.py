"""The Hand: a robot with named actuators, fingers and opposition sets.

A control value is the position of the actuator's joint; joints coupled to it (MJCF equalities, URDF mimic)
follow by polynomials, expanded by the caller as MuJoCo's own kinematics does not enforce them. Base frame:
+Z finger extension, +Y spread, +X palm closure. Positions and Jacobians are exact (no tables) and analytic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from .._frozen import frozen
from ..errors import InputError, UnknownNameError, shape_text, unknown
from ..robot import Joint, Robot
from ._registers import from_registers, to_registers
from ._types import Opposition, ProportionalLaw, Wrap

SAME = 12
"""Decimals (m, rad, quaternions) to which two hands are the same hand."""
RANGE_TOLERANCE = 1e-9
"""rad; a joint this far outside its range counts as inside (rounding of the coupling polynomials)."""


class UnknownFingerError(UnknownNameError):
    """The hand has no finger or opposition set of that name."""


@dataclass(frozen=True)
class Actuator:
    """One motor: its control value is the position of its joint."""

    name: str
    joint: str
    lower: float
    upper: float
    """Control range as described, rad (m for prismatic joints); joint ranges may allow less."""


@dataclass(frozen=True)
class Finger:
    """A finger: the point that touches, and the end of its proximal link."""

    name: str
    tip_link: str
    tip_point: tuple[float, float, float]
    """Fingertip in the tip link's frame, m: the point that touches, or the middle of the ball that does."""
    knuckle_link: str
    knuckle_point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """End of the proximal link (the middle knuckle) in that link's frame, m, where the proportional method measures
    cylinders."""
    tip_radius: float = 0.0
    """Radius of the ball around the fingertip that touches, m; widths are between the balls."""


@dataclass(frozen=True, eq=False)
class Hand:
    """A hand with coupled joints: actuators -> joints -> fingertips."""

    name: str
    robot: Robot
    actuators: tuple[Actuator, ...]
    """In the order of `ctrl`."""
    fingers: tuple[Finger, ...]
    """Thumb included."""
    thumb: str
    """Name of the finger that opposes the others."""
    oppositions: Mapping[str, Opposition | Wrap]
    """Sets of fingers that oppose the thumb or wrap a cylinder with it, by the user's names. Different fingers and not
    the thumb, which is always there."""
    revision: str = ""
    proportional: ProportionalLaw | None = None
    """Constants of the specified (proportional) planner, for hands that have one."""
    mirror_of: Hand | None = None
    """The hand whose mirror image this one is, in the X-Z plane of the base frame (y -> -y). Equal controls are
    mirrored postures, so the two share their tables."""
    registers: Mapping[str, tuple[float, float]] = field(default_factory=dict[str, "tuple[float, float]"])
    """Scale of the hand's angle commands, by actuator in the order of the registers: control at 1000 (open) and at 0
    (closed), rad; empty for hands that have none. See `to_registers`."""
    notes: tuple[str, ...] = ()
    """What `load_hand` guessed about the description, a sentence each."""

    def __post_init__(self) -> None:
        others = [name for name in self.finger_names if name != self.thumb]
        for name, entry in self.oppositions.items():
            if name in ("line", "plane") or (name == "cylinder" and not isinstance(entry, Wrap)):
                raise InputError(
                    f"{self.name}: {name!r} is the name of a mode; call the opposition set otherwise"
                )
            strange = [finger for finger in entry.fingers if finger not in others]
            if strange or not entry.fingers or len(set(entry.fingers)) != len(entry.fingers):
                raise InputError(
                    f"{self.name}: opposition set {name!r} must name different fingers of: {', '.join(others)}; "
                    f"found {', '.join(map(str, entry.fingers)) or 'none'}"
                )

    # Names --------------------------------------------------------------------------------------

    @cached_property
    def actuator_names(self) -> tuple[str, ...]:
        """Actuators in the order of `ctrl`."""
        return tuple(actuator.name for actuator in self.actuators)

    @cached_property
    def finger_names(self) -> tuple[str, ...]:
        """All fingers, the thumb included."""
        return tuple(finger.name for finger in self.fingers)

    def finger(self, name: str) -> Finger:
        """The finger of that name."""
        return self.fingers[self.finger_index(name)]

    def finger_index(self, name: str) -> int:
        """Position of a finger in `fingers`."""
        try:
            return self.finger_names.index(name)
        except ValueError:
            raise UnknownFingerError(
                f"{self.name}: {unknown('finger', str(name), self.finger_names)}"
            ) from None

    def actuator_index(self, name: str) -> int:
        """Position of an actuator in `ctrl`."""
        try:
            return self.actuator_names.index(name)
        except ValueError:
            raise UnknownNameError(
                f"{self.name}: {unknown('actuator', str(name), self.actuator_names)}"
            ) from None

    def opposition(self, name: str) -> Opposition | Wrap:
        """The opposition set of that name."""
        if name not in self.oppositions:
            raise UnknownFingerError(f"{self.name}: {unknown('opposition set', str(name), self.oppositions)}")
        return self.oppositions[name]

    def finger_actuators(self, name: str) -> tuple[int, ...]:
        """Indices of the actuators that move a finger's tip."""
        moved = self._moved[self.finger_index(name)]
        return tuple(int(i) for i in np.flatnonzero(moved))

    def tip_links(self, fingers: Iterable[str]) -> tuple[str, ...]:
        """Links that carry fingertips, and those that are fixed to them."""
        tips = [self.finger(name).tip_link for name in fingers]
        fixed = [moving_joints(self.robot, link) for link in tips]
        others = [link for link in self.robot.link_names if moving_joints(self.robot, link) in fixed]
        return tuple(dict.fromkeys((*tips, *others)))

    @cached_property
    def link_fingers(self) -> dict[str, str]:
        """The finger of every link that moves with one finger alone, links beyond its tip included."""
        chains = {
            f.name: {joint.name for joint in moving_joints(self.robot, f.tip_link)} for f in self.fingers
        }
        shared = {
            joint for name in chains for joint in chains[name] if sum(joint in c for c in chains.values()) > 1
        }
        owners: dict[str, str] = {}
        for link in self.robot.link_names:
            moving = {joint.name for joint in moving_joints(self.robot, link)} - shared
            for finger, joints in chains.items():
                if moving & joints:
                    owners[link] = finger
        return owners

    def posture(
        self, given: Mapping[str, float], default: Float[np.ndarray, "actuators"], label: str
    ) -> Float[np.ndarray, "actuators"]:
        """Controls from values by actuator name; what is not named is at `default`, and all within the bounds.

        Raises:
            InputError: not a mapping to finite numbers; the message begins with the hand and `label`.
        """
        values = default.copy()
        if not isinstance(given, Mapping):
            raise InputError(f"{self.name}: {label}: a posture maps actuators to rad, found {given!r:.60}")
        for actuator, value in given.items():
            if actuator not in self.actuator_names:
                raise UnknownNameError(
                    f"{self.name}: {label}: {unknown('actuator', str(actuator), self.actuator_names)}"
                )
            try:
                number = float(value)
            except (TypeError, ValueError):
                number = np.nan
            if not np.isfinite(number):
                raise InputError(
                    f"{self.name}: {label}: actuator {actuator!r} needs a finite number, found {value!r:.60}"
                )
            values[self.actuator_index(actuator)] = number
        return np.clip(values, self.ctrl_lower, self.ctrl_upper)

    def tip_radii(self, fingers: Iterable[str]) -> tuple[float, float]:
        """Radius of the thumb's tip and the mean of some fingers' tips, m."""
        radii = [self.finger(name).tip_radius for name in fingers]
        return self.finger(self.thumb).tip_radius, sum(radii) / len(radii)

    # Controls and joints ------------------------------------------------------------------------

    @cached_property
    def ctrl_lower(self) -> Float[np.ndarray, "actuators"]:
        """Lower control bounds that keep every coupled joint within its range."""
        return frozen(self._bounds[:, 0].copy())

    @cached_property
    def ctrl_upper(self) -> Float[np.ndarray, "actuators"]:
        """Upper control bounds that keep every coupled joint within its range."""
        return frozen(self._bounds[:, 1].copy())

    @cached_property
    def ctrl_rest(self) -> Float[np.ndarray, "actuators"]:
        """Controls at the robot's default configuration, within the bounds: where idle fingers are."""
        return frozen(np.clip(self.robot.default_cfg[self._cfg_idx], self.ctrl_lower, self.ctrl_upper))

    @cached_property
    def _bounds(self) -> Float[np.ndarray, "actuators 2"]:
        return np.array([allowed_interval(self.robot, actuator) for actuator in self.actuators])

    @cached_property
    def _cfg_idx(self) -> np.ndarray:
        """Entry of the robot's cfg that each actuator sets."""
        return np.array([self.robot.joint_names.index(actuator.joint) for actuator in self.actuators])

    def as_ctrl(self, ctrl: ArrayLike) -> Float[np.ndarray, "*batch actuators"]:
        """Checks controls and returns them as float64.

        Raises:
            InputError: wrong shape, not numbers, NaN or infinite.
        """
        try:
            values = np.asarray(ctrl, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"{self.name}: ctrl must be numbers, found {ctrl!r:.60}") from error
        if values.ndim < 1 or values.shape[-1] != len(self.actuators):
            raise InputError(
                f"{self.name}: ctrl must have shape (..., {len(self.actuators)}) "
                f"({', '.join(self.actuator_names)}), found {shape_text(values)}"
            )
        if not np.isfinite(values).all():
            raise InputError(f"{self.name}: ctrl has NaN or infinite entries")
        return values

    def cfg(self, ctrl: ArrayLike) -> Float[np.ndarray, "*batch dof"]:
        """The robot's configuration at a control; joints without actuator stay at the default."""
        values = self.as_ctrl(ctrl)
        cfg = np.broadcast_to(self.robot.default_cfg, (*values.shape[:-1], self.robot.dof)).copy()
        cfg[..., self._cfg_idx] = values
        return cfg

    def joints(self, ctrl: ArrayLike) -> Float[np.ndarray, "*batch moving"]:
        """Positions of all moving joints (`joint_names` order), couplings expanded."""
        cfg = self.cfg(ctrl)
        if cfg.ndim > 1:
            return self.robot.tree.expand(cfg)
        values, given = [0.0] * len(self.joint_names), cfg.tolist()
        for joint, driver, coefficients in self._laws:  # plain numbers: solvers ask for one control at a time
            if not coefficients:
                values[joint] = given[driver]
                continue
            for coefficient in coefficients:
                values[joint] = values[joint] * values[driver] + coefficient
        return np.array(values)

    @cached_property
    def _laws(self) -> list[tuple[int, int, list[float]]]:
        """Moving joint, driver and coefficients, the highest power first, in the order to compute them; an actuated
        joint has no coefficients."""
        tree = self.robot.tree
        return [
            (i, int(tree.driver[i]), tree.polycoef[i, ::-1].tolist() if tree.is_coupled[i] else [])
            for i in tree.order.tolist()
        ]

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """All moving joints, coupled ones included, in the order of `joints`."""
        return tuple(joint.name for joint in self.robot.tree.moving)

    def range_violation(self, ctrl: ArrayLike) -> Float[np.ndarray, "*batch"]:
        """Largest amount by which any joint leaves its range, rad; zero or less when all are inside."""
        q_full = self.joints(ctrl)
        lower, upper = self._joint_ranges
        return np.maximum(lower - q_full, q_full - upper).max(axis=-1)

    @cached_property
    def _joint_ranges(self) -> tuple[np.ndarray, np.ndarray]:
        moving = self.robot.tree.moving
        return np.array([joint.lower for joint in moving]), np.array([joint.upper for joint in moving])

    # Angle commands -----------------------------------------------------------------------------

    def to_registers(self, ctrl: ArrayLike) -> tuple[int, ...]:
        """The hand's own angle commands for one control, 1000 open to 0 closed, in the order of its registers.

        Linear from 1000 at the open end of an actuator's control range to 0 at its closed end (`registers`), rounded to
        whole counts; see `ANGLE_SET` for where they are written and for the sources.

        Raises:
            InputError: the hand has no such registers, or a control is outside the scale.
        """
        return to_registers(self.name, self.actuator_names, self.registers, self.as_ctrl(ctrl))

    def from_registers(self, values: Iterable[int]) -> Float[np.ndarray, "actuators"]:
        """The control for angle commands or readings, the inverse of `to_registers` to half a count.

        Args:
            values: whole numbers from 0 (closed) to 1000 (open) in the order of `registers`. Readings are held to the
                same range: no known source documents other values, so others are rejected.

        Raises:
            InputError: the hand has no such registers, or the values are not that.
        """
        return frozen(from_registers(self.name, self.actuator_names, self.registers, values))

    # Points -------------------------------------------------------------------------------------

    def tips(self, ctrl: ArrayLike) -> Float[np.ndarray, "fingers 3"]:
        """Fingertips in the base frame at one control, `finger_names` order."""
        return self.points(ctrl)[0][: len(self.fingers)]

    def knuckles(self, ctrl: ArrayLike) -> Float[np.ndarray, "fingers 3"]:
        """Ends of the proximal links in the base frame at one control, `finger_names` order."""
        return self.points(ctrl)[0][len(self.fingers) :]

    def points(
        self, ctrl: ArrayLike, jacobian: bool = False
    ) -> tuple[Float[np.ndarray, "points 3"], Float[np.ndarray, "points 3 actuators"]]:
        """Tips, then knuckles, in the base frame, with their derivatives by ctrl when asked.

        Without `jacobian` the second array holds nothing of use.
        """
        values = self.as_ctrl(ctrl)
        if values.ndim != 1:
            raise InputError(f"{self.name}: expected one control, found {shape_text(values)}")
        return self.points_unchecked(values, jacobian)

    def points_unchecked(self, ctrl: np.ndarray, jacobian: bool) -> tuple[np.ndarray, np.ndarray]:
        """`points` without checks, for solvers."""
        cfg = self.robot.default_cfg.copy()
        cfg[self._cfg_idx] = ctrl
        points, by_cfg = self.robot.tree.core.points(cfg, *self._point_links, jacobian)
        return points, by_cfg[:, :, self._cfg_idx] if jacobian else points

    @cached_property
    def _arrays(self) -> tuple[np.ndarray, ...]:
        tree = self.robot.tree
        frames = (tree.parent, tree.kind, tree.quat_cos, tree.quat_sin, tree.shift, tree.slide, tree.q_idx)
        return (*frames, tree.driver, tree.is_coupled, tree.polycoef, tree.order, tree.axis)

    @cached_property
    def original(self) -> Hand | None:
        """`mirror_of`, while this hand is its mirror image; None once a part of it has been replaced."""
        other = self.mirror_of
        if other is None or self.actuators != other.actuators or self.finger_names != other.finger_names:
            return None
        bounds = zip((self.ctrl_lower, self.ctrl_upper), (other.ctrl_lower, other.ctrl_upper), strict=True)
        radii = [(a.tip_radius, b.tip_radius) for a, b in zip(self.fingers, other.fingers, strict=True)]
        same = [np.array_equal(a, b) for a, b in bounds] + [a == b for a, b in radii]
        for share in (0.0, 0.3, 1.0):
            ctrl = self.ctrl_lower + share * (self.ctrl_upper - self.ctrl_lower)
            mine, theirs = self.points_unchecked(ctrl, False)[0], other.points_unchecked(ctrl, False)[0]
            same.append(bool(np.abs(mine - theirs * (1.0, -1.0, 1.0)).max() < 10.0**-SAME))
        return other if all(same) else None

    @cached_property
    def fingerprint(self) -> tuple[object, ...]:
        """Everything that the hand's kinematics depend on, for cache keys.

        Rounded to `SAME`: processors differ in the last bits of what is computed from a description, and tables that
        ship must be found on all of them. A mirror image has that of its original.
        """
        if self.original is not None:
            return self.original.fingerprint
        facts = (repr(self.actuators), repr(self.fingers), self.thumb)
        bounds = (self.ctrl_lower, self.ctrl_upper, self.robot.default_cfg)
        arrays = (*self._arrays, self.robot.tree.link_frame, *bounds)
        return (*(np.round(array, SAME) + 0 for array in arrays), *facts)  # + 0: no negative zeros

    @cached_property
    def _point_links(self) -> tuple[np.ndarray, np.ndarray]:
        tips = [(finger.tip_link, finger.tip_point) for finger in self.fingers]
        knuckles = [(finger.knuckle_link, finger.knuckle_point) for finger in self.fingers]
        links = [self.robot.link_index(link) for link, _ in (*tips, *knuckles)]
        local = np.array([point for _, point in (*tips, *knuckles)], dtype=np.float64)
        return np.array(links, dtype=np.int64), local

    @cached_property
    def _moved(self) -> np.ndarray:
        """Which actuators (columns) move which tips (rows), from the tree."""
        moved = np.zeros((len(self.fingers), len(self.actuators)), dtype=bool)
        for row, finger in enumerate(self.fingers):
            drivers = {
                driver_law(self.robot, joint)[0] for joint in moving_joints(self.robot, finger.tip_link)
            }
            for column, actuator in enumerate(self.actuators):
                moved[row, column] = actuator.joint in drivers
        return moved

    @property
    def label(self) -> str:
        """Name and revision, for titles."""
        return f"{self.name} {self.revision}".strip()

    def __repr__(self) -> str:
        revision = f" ({self.revision})" if self.revision else ""
        return (
            f"Hand({self.name!r}{revision}: {len(self.actuators)} actuators, {len(self.joint_names)} joints, "
            f"fingers {', '.join(self.finger_names)}, opposition sets {', '.join(self.oppositions)})"
        )


def joints_above(robot: Robot, link: str) -> list[Joint]:
    """All joints between a link and the root, fixed ones included, the link's own first."""
    joints: list[Joint] = []
    while above := [joint for joint in robot.tree.joints if joint.child == link]:
        joints += reversed(above)
        link = above[0].parent
    return joints


def moving_joints(robot: Robot, link: str) -> list[Joint]:
    """Moving joints between the root and a link."""
    return [joint for joint in reversed(joints_above(robot, link)) if joint.type != "fixed"]


def driver_law(robot: Robot, joint: Joint) -> tuple[str, np.polynomial.Polynomial]:
    """The actuated joint that a joint finally follows, and the polynomial by which it does."""
    law, current = np.polynomial.Polynomial([0.0, 1.0]), joint
    while current.coupling is not None:
        law = law(np.polynomial.Polynomial(current.coupling.polycoef))
        current = robot.joint(current.coupling.driver)
    return current.name, law


def largest(law: np.polynomial.Polynomial, low: float, high: float) -> float:
    """Largest absolute value of a polynomial on an interval."""
    turns = [root for root in real_roots(law.deriv()) if low < root < high]
    return max(abs(float(law(value))) for value in (low, high, *turns))


def allowed_interval(robot: Robot, actuator: Actuator) -> tuple[float, float]:
    """The widest interval of an actuator's control range in which every coupled joint is within its range.

    Raises:
        InputError: no control keeps all joints in range.
    """
    laws: list[tuple[np.polynomial.Polynomial, Joint]] = []
    for joint in robot.tree.moving:
        driver, law = driver_law(robot, joint)
        if driver == actuator.joint:
            laws.append((law, joint))
    marks = {actuator.lower, actuator.upper}
    for law, joint in laws:
        for bound in (joint.lower, joint.upper):
            if np.isfinite(bound):
                marks.update(r for r in real_roots(law - bound) if actuator.lower < r < actuator.upper)
    edges = sorted(marks)
    best: list[float] | None = None
    run: list[float] | None = None
    for low, high in pairwise(edges):
        middle = 0.5 * (low + high)
        inside = all(
            joint.lower - RANGE_TOLERANCE <= law(middle) <= joint.upper + RANGE_TOLERANCE
            for law, joint in laws
        )
        run = ([run[0], high] if run else [low, high]) if inside else None
        if run and (best is None or run[1] - run[0] > best[1] - best[0]):
            best = run
    if best is None:
        raise InputError(f"actuator {actuator.name!r}: no control within its range keeps its joints in range")
    return best[0], best[1]


def real_roots(law: np.polynomial.Polynomial) -> list[float]:
    """Real roots of a polynomial; coefficients that are rounding noise beside the others are dropped."""
    trimmed = law.trim(1e-13 * np.abs(law.coef).max())
    if trimmed.degree() < 1:
        return []
    slope = trimmed.deriv()
    found: list[float] = []
    for root in trimmed.roots():
        value = float(np.real(root))
        if abs(np.imag(root)) > 1e-7 * (1.0 + abs(value)):
            continue
        for _ in range(3):  # Newton: eigenvalues of the companion matrix lose digits
            steep = float(slope(value))
            value -= float(trimmed(value)) / steep if steep != 0.0 else 0.0
        found.append(value)
    return found
