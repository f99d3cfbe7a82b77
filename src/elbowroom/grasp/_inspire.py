"""Files of the Inspire RH56 as they are found: recognised by where their joints are, completed from the bundled hand.

Public models of this hand (correlllab/h1_mujoco, robosuite, facebookresearch/spider, Unitree's robots) agree on its
kinematics and on little else: base frame, names, couplings and tip sites differ or are missing. So the joints of each
finger are found by name (or given), the twelve joint origins are laid on those of the bundled hand by a rigid motion
(Kabsch 1976), and a file whose origins agree within `TOLERANCE`, extended and flexed, is that hand: its base frame
becomes the bundled hand's, and opposition sets, cylinders and the specified planner's constants follow from there.
Joints, limits, shapes and couplings are the file's own. All that was guessed or filled in is in `Hand.notes`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Float

from .._frozen import FrozenMap, frozen
from .._poses import matrix_from_wxyz_xyz
from ..errors import InputError, UnknownNameError, unknown
from ..robot import Coupling, Joint, Robot
from ..robot.internal import build_tree, root_pose
from ..typing import Matrix4
from ._hand import Finger, Hand
from ._motors import make_actuator
from ._rh56 import BUNDLED_HANDS, FINGER_CLOSED, FINGERS, load_rh56
from ._types import Wrap

TOLERANCE = 0.003
"""m; how far joint origins may be from the bundled hand's. Files of this hand agree within 0.2 mm."""
TIP_TOLERANCE = 0.010
"""m; how far a tip site may be from the bundled hand's fingertip. Left files that copy the right hand's sites without
mirroring them are 60 to 90 mm off."""
FLEXED = 0.4
"""rad; all joints, for the second comparison: it tells the directions of the joints."""
LENGTHS = {finger: 4 if finger == "thumb" else 2 for finger in FINGERS}
"""Moving joints of each finger."""
WORDS = {"thumb": ("thumb",), "pinky": ("pinky", "little"), **{name: (name,) for name in FINGERS[1:4]}}
"""Words in names that tell the finger. The thumb comes first: one of its joints is called the thumb's middle."""
COPIES = ("track", "trace")
"""Words in names of sites that repeat another."""


@dataclass(frozen=True)
class Names:
    """What the user named; the rest is guessed."""

    fingertips: Mapping[str, Any]
    """Finger -> (link, point)."""
    actuators: Mapping[str, str] | tuple[str, ...] | None
    """Actuator -> joint, or joints in the order of the bundled hand's actuators."""


def words(name: str) -> list[str]:
    """Words of a name in lower case: `R_index_proximalJoint1` -> r, index, proximal, joint, 1."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", name)]


def finger_of(name: str) -> str | None:
    """The finger that a name speaks of."""
    found = words(name)
    return next((finger for finger, marks in WORDS.items() if any(mark in found for mark in marks)), None)


def named_like_a_hand(robot: Robot) -> bool:
    """Whether every finger has a joint that is named after it."""
    moving = {finger_of(joint.name) for joint in robot.tree.moving}
    return set(FINGERS) <= moving


def inspire_hand(
    robot: Robot,
    like: str | None,
    revision: str,
    names: Names,
    sites: Mapping[str, tuple[str, Any]],
    controls: Mapping[str, tuple[float, float]],
    notes: Iterable[str] = (),
) -> Hand:
    """Makes a Hand of a description of the RH56.

    Args:
        robot: as loaded.
        like: "rh56" or "rh56_left"; None finds out which.
        revision: of the bundled hand, for what the file lacks.
        names: what the user named.
        sites: points of the description by name: link and point.
        controls: ranges of position servos by joint, where the description states them.
        notes: what has been said already.

    Raises:
        InputError: the fingers are not found, or it is another hand.
    """
    said = list(notes)
    chains = _chains(robot, names, said)
    side, T_base_world = _recognised(robot, chains, like)
    said.insert(0, f"recognised as {side} by its joints; its base frame is that of {side}")
    known = load_rh56(revision, side)
    drivers = _drivers(chains)
    robot = _rebuilt(
        robot, _coupled(robot, known, chains, drivers, revision, said), T_base_world @ root_pose(robot)
    )
    actuators = tuple(
        make_actuator(robot, a.name, drivers[a.name], controls.get(drivers[a.name])) for a in known.actuators
    )
    bare = [joint for joint in drivers.values() if joint not in controls]
    if bare:
        said.append(f"no position servo with a control range drives {', '.join(bare)}: joint limits are used")
    cut = [a.joint for a in actuators if controls.get(a.joint, (a.lower, a.upper)) != (a.lower, a.upper)]
    if cut:
        said.append(f"control ranges go far past the joint limits of {', '.join(cut)}: those are used")
    fingers = tuple(
        Finger(
            name,
            *_tip(robot, known, chains, name, names, sites, said),
            knuckle_link=chains[name][-1 if name != "thumb" else -2].child,
        )
        for name in FINGERS
    )
    wrap = known.oppositions["cylinder"]
    assert isinstance(wrap, Wrap)
    low, high = (1e3 * wrap.places[row][0] for row in (0, -1))
    said.append(
        f"cylinders, {low:.0f} to {high:.0f} mm, lie where {known.name} wraps them; thinner fingers than its may not "
        "reach the smallest"
    )
    law = known.proportional
    assert law is not None
    ends = {actuator.name: (actuator.lower, actuator.upper) for actuator in actuators}
    return Hand(
        name=robot.name,
        robot=robot,
        actuators=actuators,
        fingers=fingers,
        thumb="thumb",
        oppositions=known.oppositions,
        proportional=replace(
            law,
            pitch_range=ends["thumb_proximal"],
            finger_closed=min(FINGER_CLOSED, *(ends[name][1] for name in FINGERS[1:])),
            yaw_line=min(law.yaw_line, ends["thumb_yaw"][1]),
            yaw_plane=min(law.yaw_plane, ends["thumb_yaw"][1]),
        ),
        registers=ends,
        notes=tuple(said),
    )


# Joints -------------------------------------------------------------------------------------------


def _chains(robot: Robot, names: Names, said: list[str]) -> dict[str, list[Joint]]:
    """Moving joints of each finger from the palm out."""
    given = _given_actuators(robot, names)
    roots: dict[str, str] = {}
    for finger in FINGERS:
        key = "thumb_yaw" if finger == "thumb" else finger
        if key in given:
            roots[finger] = given[key]
        else:
            own = [joint.name for joint in robot.tree.moving if finger_of(joint.name) == finger]
            tops = [name for name in own if not any(name in _below(robot, other) for other in own)]
            if len(tops) != 1:
                raise InputError(
                    f"{robot.name}: finger {finger!r}: expected one chain of joints named after it, found "
                    f"{', '.join(tops) or 'none'}; name the joints: actuators={{'{key}': 'joint', ...}}"
                )
            roots[finger] = tops[0]
    chains = {finger: [robot.joint(root), *_below(robot, root).values()] for finger, root in roots.items()}
    for finger, chain in chains.items():
        if len(chain) != LENGTHS[finger]:
            raise InputError(
                f"{robot.name}: finger {finger!r} of an RH56 has {LENGTHS[finger]} joints, found "
                f"{', '.join(joint.name for joint in chain)}; it is another hand: name its fingertips"
            )
    if not given:
        listed = ", ".join(f"{name} {joint}" for name, joint in _drivers(chains).items())
        said.append(f"joints guessed from their names: {listed}")
    elif "thumb_proximal" in given and given["thumb_proximal"] != chains["thumb"][1].name:
        raise InputError(
            f"{robot.name}: thumb_proximal must be the joint after the thumb's yaw, {chains['thumb'][1].name!r}, "
            f"found {given['thumb_proximal']!r}"
        )
    return chains


def _given_actuators(robot: Robot, names: Names) -> dict[str, str]:
    order = [actuator.name for actuator in _bundled("rh56", "spec").actuators]
    if names.actuators is None:
        return {}
    if isinstance(names.actuators, Mapping):
        found = dict(names.actuators)
    elif len(names.actuators) == len(order):
        found = dict(zip(order, names.actuators, strict=True))
    else:
        raise InputError(
            f"{robot.name}: actuators of an RH56 are {len(order)} joints ({', '.join(order)}), "
            f"found {len(names.actuators)}"
        )
    for name, joint in found.items():
        if name not in order:
            raise UnknownNameError(f"{robot.name}: {unknown('actuator', str(name), order)}")
        robot.joint(joint)
    return found


def _below(robot: Robot, root: str) -> dict[str, Joint]:
    """Moving joints beyond a joint, nearest first."""
    found: dict[str, Joint] = {}
    links = [robot.joint(root).child]
    while links:
        ahead = [joint for joint in robot.tree.joints if joint.parent in links]
        found |= {joint.name: joint for joint in ahead if joint.type != "fixed" and joint.name != root}
        links = [joint.child for joint in ahead]
    return found


def _drivers(chains: Mapping[str, list[Joint]]) -> dict[str, str]:
    """The joint of each actuator."""
    fingers = {finger: chain[0].name for finger, chain in chains.items() if finger != "thumb"}
    return {**fingers, "thumb_proximal": chains["thumb"][1].name, "thumb_yaw": chains["thumb"][0].name}


# Where it is --------------------------------------------------------------------------------------


@cache
def _bundled(name: str, revision: str) -> Hand:
    return load_rh56(revision, name)


def _free(robot: Robot) -> Robot:
    """The robot without couplings: every joint has its own value."""
    return _rebuilt(
        robot, {joint.name: replace(joint, coupling=None) for joint in robot.tree.joints}, root_pose(robot)
    )


def _origins(
    robot: Robot, chains: Mapping[str, list[Joint]], value: float
) -> tuple[Float[np.ndarray, "joints 3"], Any]:
    """Origins of the links that the finger joints move, all those joints at one value; and all link poses."""
    free = _free(robot)
    moved = {joint.name for chain in chains.values() for joint in chain}
    cfg = np.array(
        [
            value if name in moved else rest
            for name, rest in zip(free.joint_names, free.default_cfg, strict=True)
        ]
    )
    poses = matrix_from_wxyz_xyz(free.link_poses(cfg))
    links = [free.link_index(joint.child) for finger in FINGERS for joint in chains[finger]]
    return poses[links, :3, 3], poses


def _known_chains(hand: Hand) -> dict[str, list[Joint]]:
    roots = {name: f"{name}_proximal_joint" for name in FINGERS[1:]} | {"thumb": "thumb_proximal_yaw_joint"}
    return {
        finger: [hand.robot.joint(root), *_below(hand.robot, root).values()] for finger, root in roots.items()
    }


def _recognised(
    robot: Robot, chains: Mapping[str, list[Joint]], like: str | None
) -> tuple[str, Float[np.ndarray, "4 4"]]:
    """Which hand it is, and the motion that lays it on the bundled one."""
    (extended, _), (flexed, _) = (_origins(robot, chains, value) for value in (0.0, FLEXED))
    found: dict[str, tuple[float, np.ndarray]] = {}
    for name in BUNDLED_HANDS:
        known = _bundled(name, "spec")
        theirs = [_origins(known.robot, _known_chains(known), value)[0] for value in (0.0, FLEXED)]
        laid = rigid_motion(extended, theirs[0])
        moved = [points @ laid[:3, :3].T + laid[:3, 3] for points in (extended, flexed)]
        found[name] = max(_apart(a, b) for a, b in zip(moved, theirs, strict=True)), laid
    best = min(found, key=lambda name: found[name][0])
    off, T_base_world = found[like or best]
    if off > TOLERANCE:
        other = f"; they are those of {best}" if found[best][0] <= TOLERANCE else ""
        what = f"{like}'s" if like else "an RH56's, right or left"
        raise InputError(
            f"{robot.name}: its joints are up to {1e3 * off:.1f} mm from {what}, {1e3 * TOLERANCE:.0f} mm are "
            f"allowed{other}; name the fingertips of another hand: load_hand(..., fingertips={{...}})"
        )
    return like or best, T_base_world


def _apart(points: Float[np.ndarray, "n 3"], others: Float[np.ndarray, "n 3"]) -> float:
    return float(np.linalg.norm(points - others, axis=1).max())


def rigid_motion(points: Float[np.ndarray, "n 3"], targets: Float[np.ndarray, "n 3"]) -> Matrix4:
    """The motion without reflection that brings points nearest to their targets (Kabsch 1976)."""
    center, goal = points.mean(axis=0), targets.mean(axis=0)
    u, _, vt = np.linalg.svd((points - center).T @ (targets - goal))
    turn = np.diag([1.0, 1.0, np.sign(np.linalg.det(vt.T @ u.T))])
    T = np.eye(4)
    T[:3, :3] = vt.T @ turn @ u.T
    T[:3, 3] = goal - T[:3, :3] @ center
    return T


# Couplings ----------------------------------------------------------------------------------------


def _coupled(
    robot: Robot,
    known: Hand,
    chains: Mapping[str, list[Joint]],
    drivers: Mapping[str, str],
    revision: str,
    said: list[str],
) -> dict[str, Joint]:
    """All joints, with every finger joint that has no motor following one that has."""
    joints = {joint.name: joint for joint in robot.tree.joints}
    turned: list[str] = []
    for driver in drivers.values():
        law = joints[driver].coupling
        if law is None:
            continue
        follower = joints[law.driver]
        coefficients = (*law.polycoef, 0.0, 0.0)
        if follower.coupling is not None or coefficients[1] == 0.0 or any(coefficients[2:]):
            raise InputError(
                f"{robot.name}: joint {driver!r}, which has a motor in the RH56, follows {law.driver!r} by a law that "
                f"cannot be turned round, {law.polycoef}"
            )
        constant, slope = coefficients[:2]
        joints[follower.name] = replace(follower, coupling=Coupling(driver, (-constant / slope, 1.0 / slope)))
        joints[driver] = replace(joints[driver], coupling=None)
        turned.append(f"{follower.name} follows {driver}")
    if turned:
        said.append(f"couplings turned round, so that the joints with motors lead: {', '.join(turned)}")
    added: list[str] = []
    theirs = _known_chains(known)
    for finger, chain in chains.items():
        lead = drivers["thumb_proximal" if finger == "thumb" else finger]
        for joint, twin in zip(chain, theirs[finger], strict=True):
            if joint.name not in drivers.values() and joints[joint.name].coupling is None:
                assert twin.coupling is not None
                joints[joint.name] = replace(joint, coupling=Coupling(lead, twin.coupling.polycoef))
                added.append(joint.name)
    if added:
        said.append(
            f"couplings of {known.name} {revision}, which the file lacks, given to {', '.join(added)}"
        )
    return joints


def _rebuilt(robot: Robot, joints: Mapping[str, Joint], T_world_root: Matrix4) -> Robot:
    """The robot with other couplings and its root elsewhere; configurations keep the values of their joints."""
    ordered = tuple(joints[joint.name] for joint in robot.tree.joints)
    tree = build_tree(robot.name, robot.link_names, ordered, T_world_root)

    def moved(cfg: np.ndarray) -> np.ndarray:
        values = dict(
            zip((joint.name for joint in robot.tree.moving), robot.tree.expand(cfg[None])[0], strict=True)
        )
        return frozen(np.array([values[joint.name] for joint in tree.actuated]))

    return replace(
        robot,
        tree=tree,
        named_cfgs=FrozenMap({name: moved(np.asarray(cfg)) for name, cfg in robot.named_cfgs.items()}),
        default_pose=replace(
            robot.default_pose,
            cfg=moved(robot.default_cfg),
            guessed_joints=tuple(
                joint.name for joint in tree.actuated if joint.name in robot.default_pose.guessed_joints
            ),
        ),
        path=None,
        xml=None,
        _meshes={},
    )


# Fingertips ---------------------------------------------------------------------------------------


def _tip(
    robot: Robot,
    known: Hand,
    chains: Mapping[str, list[Joint]],
    finger: str,
    names: Names,
    sites: Mapping[str, tuple[str, Any]],
    said: list[str],
) -> tuple[str, tuple[float, float, float]]:
    """Link and point of a fingertip: as given, a site or link named so, or where the bundled hand has it."""
    if finger in names.fingertips:
        link, point = names.fingertips[finger]
        return link, point
    (_, poses), (_, theirs) = (_origins(robot, chains, 0.0), _origins(known.robot, _known_chains(known), 0.0))
    own = known.finger(finger)
    there = theirs[known.robot.link_index(own.tip_link)] @ np.array([*own.tip_point, 1.0])
    beyond = _links_beyond(robot, chains[finger][-1].child)
    named = {name: place for name, place in sites.items() if place[0] in beyond}
    named |= {link: (link, (0.0, 0.0, 0.0)) for link in beyond}
    for name in sorted(named, key=len):
        said_words = words(name)
        if finger_of(name) != finger or "tip" not in said_words or any(w in COPIES for w in said_words):
            continue
        link, point = named[name]
        place = poses[robot.link_index(link)] @ np.array([*point, 1.0])
        off = float(np.linalg.norm(place[:3] - there[:3]))
        if off <= TIP_TOLERANCE:
            said.append(f"tip of {finger}: {name}, {1e3 * off:.1f} mm from the {known.name}'s")
            return link, (float(point[0]), float(point[1]), float(point[2]))
        said.append(f"{name} is {1e3 * off:.0f} mm from where the {known.name} has that fingertip; not used")
    link = chains[finger][-1].child
    x, y, z, _ = np.linalg.inv(poses[robot.link_index(link)]) @ there
    said.append(f"tip of {finger}: where the {known.name} has it, on {link}")
    return link, (float(x), float(y), float(z))


def _links_beyond(robot: Robot, link: str) -> list[str]:
    """A link and all that is fixed to it further out."""
    found = [link]
    for name in found:
        found += [j.child for j in robot.tree.joints if j.parent == name and j.type == "fixed"]
    return found
