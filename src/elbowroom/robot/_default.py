"""The default pose of a robot, and where it comes from.

A description rarely says how the robot rests. A state of its SRDF or a keyframe of its MJCF with a telling name does;
otherwise the pose is our own guess: zero, or the middle of the range where a joint cannot reach zero. A guess may
collide, so it says that it is one, joint by joint.

Configurations by name are those of the description, "default" and "zero".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from .._brief import brief
from .._frozen import Frozen, frozen
from ..errors import UnknownNameError, unknown
from ._tree import KinematicTree
from ._types import Joint

if TYPE_CHECKING:
    from ._robot import Robot

WORDS = (
    "default", "home", "homing", "ready", "rest", "resting", "neutral", "nominal", "stand", "standing",
    "half_sitting", "initial", "init", "start", "idle", "park", "parked", "open",
)  # fmt: skip
"""Names of states that a robot rests in, the most telling first; `open` is for hands."""


@brief
@dataclass(frozen=True, eq=False)
class DefaultPose(Frozen):
    """A configuration to start from."""

    cfg: Float[np.ndarray, "dof"]
    """Joint values, rad and m, read-only."""
    source: str
    """Where it comes from: "SRDF state 'home'", "keyframe 'home'", "zero", ..."""
    guessed_joints: tuple[str, ...] = ()
    """Joints without a given value."""

    @property
    def guessed(self) -> bool:
        """Whether some of it is our own guess."""
        return bool(self.guessed_joints)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DefaultPose) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        return self.cfg.tobytes(), self.source, self.guessed_joints

    def __str__(self) -> str:
        return self.source


def default_pose(
    tree: KinematicTree,
    states: Mapping[str, Mapping[str, float]],
    origins: Mapping[str, str],
    reference: Mapping[str, float],
) -> DefaultPose:
    """The pose of the most telling state, or a guess; joints that the state does not name are guessed.

    Args:
        tree: the robot's tree.
        states: named configurations as joint values.
        origins: what each of them is: "SRDF state", "keyframe".
        reference: joint values of the description's own zero, where it is not zero.
    """
    names = [joint.name for joint in tree.actuated]
    telling = [name for name in states if _rank(name) is not None and set(states[name]) & set(names)]
    state = min(telling, key=lambda name: _rank(name) or (0, 0), default=None)
    given = states[state] if state is not None else {}
    open_joints = [joint for joint in tree.actuated if joint.name not in given]
    guess = {joint.name: _guess(joint, reference.get(joint.name, 0.0)) for joint in open_joints}
    middle = [joint.name for joint in open_joints if guess[joint.name] != reference.get(joint.name, 0.0)]
    zero = "zero" + (f", mid-range where zero is outside the limits ({', '.join(middle)})" if middle else "")
    if state is None:
        source = zero
    else:
        source = f"{origins.get(state, 'state')} {state!r}"
        if guess:
            source += f"; {zero} for joints that it does not name ({', '.join(guess)})"
    cfg = np.array([given.get(name, guess.get(name)) for name in names], dtype=np.float64)
    return DefaultPose(frozen(cfg), source, tuple(guess))


def _rank(name: str) -> tuple[int, int] | None:
    """How telling a name is: exact names before those that begin with a word; None for others."""
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    if plain in WORDS:
        return 0, WORDS.index(plain)
    first = next((word for word in WORDS if plain.startswith(f"{word}_")), None)
    return None if first is None else (1, WORDS.index(first))


def _guess(joint: Joint, zero: float) -> float:
    if joint.lower <= zero <= joint.upper:
        return zero
    middle = 0.5 * (joint.lower + joint.upper)
    return float(middle if np.isfinite(middle) else np.clip(zero, joint.lower, joint.upper))


def named_poses(robot: Robot, poses: Sequence[Any]) -> list[tuple[str, Float[np.ndarray, "dof"]]]:
    """Configurations with labels, from names and from configurations as they are.

    Args:
        robot: the robot.
        poses: names of `robot.named_cfgs`, "default" (the robot's `default_cfg`) and "zero", which always exist, or
            configurations, which are labelled "given 1", "given 2", ...

    Raises:
        UnknownNameError: no configuration of that name. InputError: not a configuration.
    """
    known = {"zero": np.zeros(robot.dof), "default": robot.default_cfg, **robot.named_cfgs}
    found: list[tuple[str, np.ndarray]] = []
    for pose in poses:
        if not isinstance(pose, str):
            count = 1 + sum(label.startswith("given ") for label, _ in found)
            found.append((f"given {count}", robot.as_cfgs(pose)[0]))
        elif pose in known:
            found.append((pose, np.array(known[pose], dtype=np.float64)))
        else:
            raise UnknownNameError(unknown("named configuration", pose, known))
    return found
