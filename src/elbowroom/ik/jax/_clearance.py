"""Costs that keep clear, of the robot itself and of obstacles, by spheres.

They pull a search out of contact; they do not decide. Spheres touch before meshes do, and pairs of links that only
meshes can decide are no part of them, so only `CollisionModel.free` decides whether an answer is free.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..._text import short
from ...distance import MultiSphereCollision, colldist_from_sdf, self_collision_residual
from ...errors import InputError, UnknownLinkError, unknown
from ...robot import Robot, as_robot
from ...robot.internal import as_kinematics, jaxls_module
from ...typing import RobotLike
from ...world import World
from ._costs import Cost, as_floats

MARGIN = 0.02
"""Metres at which spheres start to cost."""
WEIGHT = 5.0
"""Per metre: a tenth of what a hand of `TeaArmRobot` pulls with."""
REST_SLACK = 1e-4
"""Metres by which a margin stays below the distance at rest, so that rounding does not make the cost pull."""


def self_collision_cost(
    robot: RobotLike, coll: MultiSphereCollision, margin: Any = MARGIN, weight: Any = WEIGHT
) -> Cost:
    """Links apart by their spheres: `weight * colldist_from_sdf(distance, margin)`, one row a pair of links.

    The distance of a pair of links is that of their nearest spheres. Pairs that only meshes can decide are left out
    (`coll.left_to_meshes` names them): their spheres overlap at rest, so the cost would always pull.

    Args:
        robot: whose links the spheres are on.
        coll: the spheres and pairs.
        margin: metres at which a pair starts to cost, one number or one each in the order of `coll.link_pairs()`.
        weight: per metre.
    """
    robot = as_kinematics(robot)
    return Cost(_self_collision, as_floats(weight), "self-collision", (robot, coll, as_floats(margin)))


def margins_at_rest(
    robot: RobotLike, coll: MultiSphereCollision, margin: float, cfgs: Any
) -> Float[np.ndarray, "link_pairs"]:
    """Margins, one per link pair, with which the self-collision cost is zero where the robot rests.

    Args:
        robot: whose links the spheres are on. coll: the spheres and pairs.
        margin: metres, for pairs that are farther apart at all these configurations.
        cfgs: (dof,) or (n, dof), where the robot rests. A pair that is closer there starts to cost below that distance;
            one whose spheres overlap there costs from contact on.

    Raises:
        InputError: no configuration, or numbers that make no sense.
    """
    robot = as_robot(robot)
    rows = robot.as_cfgs(cfgs)
    if len(rows) == 0:
        raise InputError("margins_at_rest: expected at least one configuration, found none")
    if isinstance(margin, str) or np.ndim(margin) or not 0.0 <= margin < np.inf:
        raise InputError(f"margin: expected a number of metres from 0 up, found {short(margin)}")
    near = np.asarray(coll.compute_link_pair_distance(robot, rows)).min(axis=0)
    return np.clip(near - REST_SLACK, 0.0, margin)


def world_cost(
    robot: RobotLike,
    coll: MultiSphereCollision,
    world: World,
    margin: Any = MARGIN,
    weight: Any = WEIGHT,
    *,
    allow: Iterable[tuple[str, str]] = (),
) -> Cost:
    """Keeps links away from obstacles by their spheres, one row per sphere. A world is static: another one is compiled
    again.

    Args:
        robot: whose links the spheres are on.
        coll: the spheres; its pairs do not matter.
        world: the obstacles.
        margin: metres at which a sphere starts to cost.
        weight: per metre.
        allow: pairs (link, obstacle) that may touch, such as those of the `CollisionModel`.
    """
    robot = as_kinematics(robot)
    if not isinstance(world, World):
        raise InputError(f"world: expected a World, found a {type(world).__name__}")
    parts = tuple(
        (np.flatnonzero(spheres).astype(np.int32), _Static(seen))
        for spheres, seen in _who_sees_what(coll, world, tuple(allow))
    )
    return Cost(_world, as_floats(weight), "world", (robot, coll, parts, as_floats(margin)))


def _self_collision(cfg: jax.Array, robot: Robot, coll: MultiSphereCollision, margin: jax.Array) -> jax.Array:
    return self_collision_residual(coll, robot, cfg, margin.astype(cfg.dtype))


def _world(
    cfg: jax.Array,
    robot: Robot,
    coll: MultiSphereCollision,
    parts: tuple[tuple[jax.Array, _Static], ...],
    margin: jax.Array,
) -> jax.Array:
    centers, radii = coll.at_config(robot, cfg)
    distances = [world.value.distance(centers[spheres]) - radii[spheres] for spheres, world in parts]
    return colldist_from_sdf(jnp.concatenate(distances).astype(cfg.dtype), margin.astype(cfg.dtype))


def _who_sees_what(
    coll: MultiSphereCollision, world: World, allow: tuple[tuple[str, str], ...]
) -> list[tuple[np.ndarray, World]]:
    """Spheres (a mask) and the obstacles that they must keep off, one entry for all links with the same permissions."""
    for link, obstacle in allow:
        if link not in coll.link_names:
            raise UnknownLinkError(f"allow: {unknown('link', link, coll.link_names)}")
        if obstacle not in world:
            raise InputError(f"allow: {unknown('obstacle', obstacle, world.names)}")
    links = np.asarray(coll.sphere_link_indices)
    may: dict[frozenset[str], list[int]] = {}
    for index in np.unique(links):
        touched = frozenset(o for link, o in allow if link == coll.link_names[index])
        may.setdefault(touched, []).append(int(index))
    found: list[tuple[np.ndarray, World]] = []
    for touched, members in may.items():
        seen = world.remove(*sorted(touched)) if touched else world
        if len(seen):
            found.append((np.isin(links, members), seen))
    if not found:
        raise InputError("world: it has no obstacle that a sphere of the robot must keep off")
    return found


@jax.tree_util.register_pytree_node_class
class _Static:
    """A value that JAX compiles in; equal to another only if it holds the same object."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Static) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)

    def tree_flatten(self) -> tuple[tuple[()], _Static]:
        return (), self

    @classmethod
    def tree_unflatten(cls, static: _Static, leaves: Any) -> _Static:
        return static


def jaxls_cost(cost: Cost, joint_var: Any) -> Any:
    """A cost of this package as a cost of jaxls, to be put among those of pyroki; pyroki itself is not needed.

    Args:
        cost: any cost, also one that is made under jit of traced targets.
        joint_var: the jaxls variable of the configuration, such as `robot.joint_var_cls(0)`.

    Raises:
        MissingExtraError: jaxls (brentyi's, not on PyPI) is not installed.
        InputError: not a cost of this package.
    """
    if not isinstance(cost, Cost):
        raise InputError(f"jaxls_cost: expected an elbowroom Cost, found a {type(cost).__name__}")
    return _factory(jaxls_module("jaxls_cost").Cost, elbowroom_cost)(joint_var, cost)


def multi_sphere_self_collision_cost(
    robot: RobotLike, multi_sphere_coll: MultiSphereCollision, joint_var: Any, margin: Any, weight: Any
) -> Any:
    """A jaxls cost: the rows of `distance.self_collision_residual`, one a pair of links.

    To be put among pyroki's own, with an Elbowroom or a pyroki Robot.

    Args:
        robot: whose links the spheres are on.
        multi_sphere_coll: the spheres and pairs.
        joint_var: the jaxls variable of the configuration, such as `robot.joint_var_cls(0)`.
        margin: metres at which a pair starts to cost; the specification has 0.02.
        weight: per metre; the specification has 5.0.

    Raises:
        MissingExtraError: jaxls (brentyi's, not on PyPI) is not installed.
    """
    robot = as_kinematics(robot)
    jaxls = jaxls_module("multi_sphere_self_collision_cost")
    make = _factory(jaxls.Cost, multi_sphere_self_collision)
    return make(robot, multi_sphere_coll, joint_var, margin, weight)


@cache
def _factory(cost_class: Any, residual: Callable[..., Any]) -> Any:
    """The cost class's own factory of a residual: `factory`, which older versions call `create_factory`."""
    make = getattr(cost_class, "factory", None) or cost_class.create_factory
    return make(residual)


def elbowroom_cost(vals: Any, joint_var: Any, cost: Cost) -> Any:
    """Residual in the manner of jaxls: values of variables first. jaxls names the cost after it."""
    return cost(vals[joint_var])


def multi_sphere_self_collision(
    vals: Any, robot: Any, multi_sphere_coll: Any, joint_var: Any, margin: Any, weight: Any
) -> Any:
    """The same for the spheres of any robot."""
    rows = self_collision_residual(multi_sphere_coll, robot, vals[joint_var], margin, weight)
    return rows.reshape(-1)
