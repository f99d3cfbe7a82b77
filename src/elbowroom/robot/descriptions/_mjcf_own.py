"""Which bodies of a compiled MJCF scene are the robot.

A scene is a few trees of bodies that stand in the world: arms, tables, cups that lie about. The robot's are those with
a hinge or slide that an actuator drives; without actuators, those with a hinge or slide; without any, those that are
fixed in the world. The world itself, with its floor, is not.
"""

from __future__ import annotations

from typing import Any

WORLD = 0
"""MuJoCo's number of the world body."""


def own_bodies(model: Any) -> list[int]:
    """Numbers of the robot's bodies in an MjModel."""
    tops = _tops(model)
    robots = _robot_trees(model, tops)
    return [body for body in range(1, model.nbody) if tops[body] in robots]


def _tops(model: Any) -> list[int]:
    """For each body, the one below the world that carries it; parents come before children."""
    tops = [WORLD]
    for body in range(1, model.nbody):
        parent = int(model.body_parentid[body])
        tops.append(body if parent == WORLD else tops[parent])
    return tops


def _robot_trees(model: Any, tops: list[int]) -> set[int]:
    """Topmost bodies of the robot's trees."""
    import mujoco

    joints: Any = mujoco.mjtJoint  # pyright: ignore[reportAttributeAccessIssue]
    scalar = (int(joints.mjJNT_HINGE), int(joints.mjJNT_SLIDE))
    moving = {tops[model.jnt_bodyid[k]] for k in range(model.njnt) if model.jnt_type[k] in scalar}
    driven = {tops[body] for actuator in range(model.nu) for body in _driven(model, actuator)}
    free = {
        tops[model.jnt_bodyid[k]] for k in range(model.njnt) if model.jnt_type[k] == int(joints.mjJNT_FREE)
    }
    every = set(tops[1:])
    return moving & driven or moving or every - free or every


def _driven(model: Any, actuator: int) -> list[int]:
    """Bodies that an actuator acts on."""
    import mujoco

    kinds: Any = mujoco.mjtTrn  # pyright: ignore[reportAttributeAccessIssue]
    wraps: Any = mujoco.mjtWrap  # pyright: ignore[reportAttributeAccessIssue]
    kind, target = int(model.actuator_trntype[actuator]), int(model.actuator_trnid[actuator, 0])
    if kind in (int(kinds.mjTRN_JOINT), int(kinds.mjTRN_JOINTINPARENT)):
        return [int(model.jnt_bodyid[target])]
    if kind in (int(kinds.mjTRN_SITE), int(kinds.mjTRN_SLIDERCRANK)):
        return [int(model.site_bodyid[target])]
    if kind == int(kinds.mjTRN_BODY):
        return [target]
    first = int(model.tendon_adr[target])
    found: list[int] = []
    for k in range(first, first + int(model.tendon_num[target])):
        part = int(model.wrap_objid[k])
        if model.wrap_type[k] == int(wraps.mjWRAP_JOINT):
            found.append(int(model.jnt_bodyid[part]))
        elif model.wrap_type[k] == int(wraps.mjWRAP_SITE):
            found.append(int(model.site_bodyid[part]))
    return found
