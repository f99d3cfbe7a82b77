"""`load_hand`: the bundled RH56 hands, files of that hand, or any hand with fingertips named by the user."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ApproximationWarning, InputError, UnknownNameError, unknown
from ..robot import Robot, load_robot
from ._grasp import as_number
from ._hand import Finger, Hand, UnknownFingerError, moving_joints
from ._inspire import Names, inspire_hand, named_like_a_hand
from ._motors import make_actuator, servo_ranges
from ._rh56 import BUNDLED_HANDS, FINGERS, load_mujoco, load_rh56, rh56_spec
from ._types import Opposition, Wrap

TipSpec = str | tuple[str, Sequence[float]]
"""A link whose origin is the fingertip, a link and a point in its frame, or the name of an MJCF site."""


def load_hand(
    source: Any = "rh56",
    *,
    revision: str | None = None,
    fingertips: Mapping[str, TipSpec] | None = None,
    tip_radii: Mapping[str, float] | float | None = None,
    thumb: str = "thumb",
    oppositions: Mapping[str, Opposition | Wrap | Sequence[str]] | None = None,
    actuators: Iterable[str] | Mapping[str, str] | None = None,
    knuckles: Mapping[str, TipSpec] | None = None,
    base_pose: ArrayLike | None = None,
    package_dirs: Iterable[str | os.PathLike[str]] = (),
    like: str | None = None,
) -> Hand:
    """Loads a hand.

    A description of the Inspire RH56 needs no more than its path: it is recognised by where its joints are, and all
    three modes, both methods and the registers work as for the bundled hands. What was guessed is in `Hand.notes`.

    Args:
        source: "rh56" or "rh56_left" for the bundled hands, "allegro_right_hand" or "allegro_left_hand" when
            example-robot-data is installed, or whatever `load_robot` takes: a name, a URDF or MJCF path, a Robot.
        revision: of the bundled hands: "spec" (default), "newest" or "newest_grasp_scene"; for a file of that hand,
            of what the file lacks.
        fingertips: finger name -> link, (link, point in it) or MJCF site; needed for all hands but the bundled and the
            known ones and files of the RH56.
        tip_radii: radius of the ball around a fingertip that touches, m: one for all, or finger name -> radius for
            those that differ from the hand's own; 0 for hands that are not known.
        thumb: name of the finger that opposes the others.
        oppositions: name -> fingers that oppose the thumb, an `Opposition` with postures, or a `Wrap`. By default
            every finger alone ("line NAME"), and all of them ("plane N") when there are several.
        actuators: joints that are driven, in the order of `ctrl`, or actuator name -> joint; all actuated joints by
            default. For a file of the RH56 the names are pinky, ring, middle, index, thumb_proximal and thumb_yaw.
        knuckles: finger name -> end of the proximal link; by default the last joint of a finger with two, the last
            but one of a finger with more.
        base_pose: pose of the description's base in the hand frame (+Z finger extension, +Y spread, +X closure).
        package_dirs: as in `load_robot`.
        like: "rh56" or "rh56_left": the description is one of that hand; fingertips and actuators that are not given
            are guessed, and it is refused if its joints are elsewhere. Guessed when neither fingertips nor oppositions
            are given.

    Raises:
        ElbowroomError: unknown revision, links, fingers or joints; the message says which there are.
    """
    if like is not None and (not isinstance(like, str) or like not in BUNDLED_HANDS):
        raise UnknownNameError(f"like: {unknown('hand', str(like), BUNDLED_HANDS)}")
    bundled = isinstance(source, str) and source in BUNDLED_HANDS
    if bundled and like not in (None, source):
        raise InputError(f"{source} is a bundled hand and cannot be like={like!r}; load {like!r} itself")
    if bundled and fingertips is None:
        given = {
            "tip_radii": tip_radii,
            "oppositions": oppositions,
            "actuators": actuators,
            "knuckles": knuckles,
        }
        without = [name for name, value in given.items() if value is not None]
        if without:
            raise InputError(f"{source}: {', '.join(without)} can be given together with fingertips only")
        return load_rh56("spec" if revision is None else revision, source)
    known = isinstance(source, str) and source in KNOWN
    if like is not None or (fingertips is None and oppositions is None and not known):
        others = {
            "oppositions": oppositions,
            "knuckles": knuckles,
            "tip_radii": tip_radii,
            "base_pose": base_pose,
        }
        without = [name for name, value in others.items() if value is not None]
        if like is not None and without:
            raise InputError(f"{', '.join(without)} cannot be given with like={like!r}, which has its own")
        found = None if without else _inspire(source, like, revision, fingertips, actuators, package_dirs)
        if found is not None:
            return found
    if revision is not None:
        raise InputError(
            f"revisions exist for the bundled hands {' and '.join(BUNDLED_HANDS)} only, "
            f"found {revision!r} for {source!r:.60}"
        )
    own_radius = 0.0
    if fingertips is None and known:
        fingertips, own_radius = KNOWN[source].fingertips, KNOWN[source].tip_radius
        oppositions = KNOWN[source].oppositions if oppositions is None else oppositions
    if not fingertips:
        raise InputError(
            f"{source!r:.60}: only {', '.join((*BUNDLED_HANDS, *KNOWN))} are known as hands; name its fingertips: "
            "load_hand(..., fingertips={'thumb': 'thumb_tip_link', 'index': ('link', (x, y, z))})"
        )
    robot = _robot(source, base_pose, package_dirs)
    if thumb not in fingertips:
        raise InputError(
            f"{robot.name}: fingertips must name the thumb {thumb!r}; found {', '.join(fingertips)}"
        )
    sites = _sites(_spec(source), robot)
    tips = {name: sites.get(tip, tip) if isinstance(tip, str) else tip for name, tip in fingertips.items()}
    radii = dict.fromkeys(
        tips, own_radius if tip_radii is None or isinstance(tip_radii, Mapping) else tip_radii
    )
    radii.update(tip_radii if isinstance(tip_radii, Mapping) else {})
    for name in (*radii, *(knuckles or {})):
        if name not in tips:
            raise UnknownFingerError(f"{robot.name}: {unknown('finger', str(name), tips)}")
    fingers = tuple(
        _finger(robot, name, tip, (knuckles or {}).get(name), radii[name]) for name, tip in tips.items()
    )
    chosen = robot.joint_names if actuators is None else actuators
    driven = chosen if isinstance(chosen, Mapping) else {name: name for name in chosen}
    return Hand(
        name=robot.name,
        robot=robot,
        actuators=tuple(make_actuator(robot, name, joint) for name, joint in driven.items()),
        fingers=fingers,
        thumb=thumb,
        oppositions=_oppositions(fingers, thumb, oppositions),
    )


def _robot(
    source: Any,
    base_pose: ArrayLike | None,
    package_dirs: Iterable[str | os.PathLike[str]],
    use_visual: bool = False,
) -> Robot:
    if isinstance(source, Robot):
        return source
    with warnings.catch_warnings():  # grasp geometry needs joints and links; the robot keeps its notes
        warnings.simplefilter("ignore", ApproximationWarning)
        return load_robot(source, base_pose=base_pose, package_dirs=package_dirs, use_visual=use_visual)


def _inspire(
    source: Any,
    like: str | None,
    revision: str | None,
    fingertips: Mapping[str, TipSpec] | None,
    actuators: Iterable[str] | Mapping[str, str] | None,
    package_dirs: Iterable[str | os.PathLike[str]],
) -> Hand | None:
    """A hand from a description of the RH56; None when neither the caller nor its names identify it as one."""
    robot, notes = _robot(source, None, package_dirs), []
    if like is None and (actuators is not None or not named_like_a_hand(robot)):
        return None
    if not robot.mesh_links and not isinstance(source, Robot):
        robot = _robot(source, None, package_dirs, use_visual=True)
        notes = ["no shape of it takes part in collisions: the visual shapes stand in"]
    spec = _spec(source)
    sites = _sites(spec, robot)
    tips = {
        name: sites.get(tip, tip) if isinstance(tip, str) else tip for name, tip in (fingertips or {}).items()
    }
    for name in tips:
        if name not in FINGERS:
            raise UnknownFingerError(f"{robot.name}: {unknown('finger', str(name), FINGERS)}")
    places = {name: _point(robot, tip, f"finger {name!r}") for name, tip in tips.items()}
    if actuators is not None and not isinstance(actuators, Mapping):
        actuators = tuple(actuators)
    controls = servo_ranges(spec, robot)
    return inspire_hand(robot, like, revision or "spec", Names(places, actuators), sites, controls, notes)


def _spec(source: Any) -> Any:
    """The MJCF description as a `mujoco.MjSpec`; None for others."""
    if isinstance(source, str) and source in BUNDLED_HANDS:
        return rh56_spec(name=source)
    if type(source).__name__ == "MjSpec":
        return source
    if isinstance(source, (str, os.PathLike)) and os.fspath(source).endswith(".xml"):
        return load_mujoco().MjSpec.from_file(os.fspath(source))  # load_robot has compiled it already
    return None


def _sites(spec: Any, robot: Robot) -> dict[str, tuple[str, Sequence[float]]]:
    """Sites of an MJCF description: name -> body and point; links of the same name come first."""
    return {
        site.name: (site.parent.name, tuple(float(value) for value in site.pos))
        for site in (() if spec is None else spec.sites)
        if site.name and site.name not in robot.link_names
    }


def _point(robot: Robot, spec: TipSpec, what: str) -> tuple[str, tuple[float, float, float]]:
    link, point = (spec, (0.0, 0.0, 0.0)) if isinstance(spec, str) else spec
    robot.link_index(link)
    try:
        values = np.asarray(point, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{robot.name}: {what}: its point must be three numbers, found {point!r:.60}"
        ) from error
    if values.shape != (3,) or not np.isfinite(values).all():
        raise InputError(f"{robot.name}: {what}: its point must be three finite numbers, found {point!r:.60}")
    return link, (float(values[0]), float(values[1]), float(values[2]))


def _finger(robot: Robot, name: str, tip: TipSpec, knuckle: TipSpec | None, radius: float) -> Finger:
    if as_number(radius, f"{robot.name}: tip radius of {name!r}") < 0.0:
        raise InputError(f"{robot.name}: the tip radius of {name!r} must not be negative, found {radius}")
    tip_link, tip_point = _point(robot, tip, f"finger {name!r}")
    joints = moving_joints(robot, tip_link)
    if not joints:
        raise InputError(f"{robot.name}: finger {name!r}: no joint moves link {tip_link!r}")
    if knuckle is None:
        bend = min(len(joints) - 1, max(1, len(joints) - 2))
        return Finger(name, tip_link, tip_point, joints[bend].child, tip_radius=float(radius))
    place = _point(robot, knuckle, f"knuckle of {name!r}")
    return Finger(name, tip_link, tip_point, *place, tip_radius=float(radius))


def _oppositions(
    fingers: tuple[Finger, ...],
    thumb: str,
    given: Mapping[str, Opposition | Wrap | Sequence[str]] | None,
) -> dict[str, Opposition | Wrap]:
    others = tuple(finger.name for finger in fingers if finger.name != thumb)
    if given is None:
        sets: dict[str, Opposition | Wrap] = {f"line {name}": Opposition((name,)) for name in others}
        if len(others) > 1:
            sets[f"plane {len(others) + 1}"] = Opposition(others)
        return sets
    found: dict[str, Opposition | Wrap] = {}
    for name, entry in given.items():
        found[name] = entry if isinstance(entry, (Opposition, Wrap)) else Opposition(tuple(entry))
    return found


# Hands of example-robot-data that are known by name -----------------------------------------------
# What `load_hand` needs besides the description, found by experiment on the Allegro hands (Wonik
# Robotics): their fingertips are balls, and thumb and fingers meet along the palm, so that the hand lies
# nearly flat over what it pinches.


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
