"""Costs for the JAX engine: residual functions of a configuration, to be summed in squares by `minimize`.

A `Cost` is a pytree: its function and name are static, its weight and all that its function is given besides the
configuration (targets, spheres, ...) are leaves. So a compiled solve serves every target of the same kind, and costs
can be made inside jit and vmap. Residuals of targets are those of the compiled core, in world coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..._text import short
from ...errors import InputError, UnknownJointError, unknown
from ...robot import Robot, as_robot
from ...typing import RobotLike
from .._problem import VALUES, Shape
from .._targets import (
    ORIENTATION_WEIGHT,
    POSITION_WEIGHT,
    AxisTarget,
    JointTarget,
    LookAt,
    PoseTarget,
    PositionTarget,
    Target,
    as_pose,
)

if TYPE_CHECKING:
    from ...robot.internal import LinkInJax

LIMIT_WEIGHT = 100.0
"""Per radian or metre beyond a limit: far above what a target pulls with."""
NEARLY_SINGULAR = 1e-6
"""Added to the manipulability before it is divided by, so that the cost stays finite."""


@jax.tree_util.register_pytree_node_class
class Cost:
    """A term of a least-squares problem: the sum of squares of `weight * residual(cfg)`."""

    def __init__(
        self,
        residual: Callable[..., Any],
        weight: Any = 1.0,
        name: str = "",
        values: tuple[Any, ...] = (),
    ) -> None:
        """Makes a cost of any function that JAX can differentiate.

        Args:
            residual: function (cfg, *values) -> (m,), where cfg is (dof,). A solve is compiled once per function: give
                what changes from call to call as `values`, not in a closure.
            weight: a number, or (m,) numbers.
            name: for reports; that of the function if left out.
            values: pytrees of arrays that the function is given.
        """
        self._function = residual
        self.weight = weight
        self.name = name or getattr(residual, "__name__", "cost")
        self.values = values

    @property
    def residual(self) -> Callable[[Any], Float[Array, "m"]]:
        """The function of the configuration alone, without weight."""
        return lambda cfg: jnp.ravel(self._function(cfg, *self.values))

    def __call__(self, cfg: Any) -> Float[Array, "m"]:
        """Weighted residual (m,) at a configuration (dof,)."""
        return self.residual(cfg) * jnp.asarray(self.weight)

    def tree_flatten(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """For JAX: leaves, and what is static."""
        return (self.weight, self.values), (self._function, self.name)

    @classmethod
    def tree_unflatten(cls, static: tuple[Any, ...], leaves: tuple[Any, ...]) -> Cost:
        """For JAX: the cost of given leaves."""
        made = object.__new__(cls)
        (made._function, made.name), (made.weight, made.values) = static, leaves
        return made

    def __repr__(self) -> str:
        return f"Cost({self.name!r})"


# Targets ------------------------------------------------------------------------------------------


def pose_cost(
    robot: RobotLike,
    link: str,
    target: Any,
    position_weight: Any = POSITION_WEIGHT,
    orientation_weight: Any = ORIENTATION_WEIGHT,
) -> Cost:
    """A link at a pose: three rows of position, three of orientation.

    Args:
        robot: the robot.
        link: its name.
        target: T_world_link: (7,) wxyz_xyz, (4, 4) or a jaxlie SE3; under jit (7,) or SE3.
        position_weight: per metre.
        orientation_weight: per radian.
    """
    robot = as_robot(robot)
    weight = [position_weight] * 3 + [orientation_weight] * 3
    values = (_link(robot, link), _pose(target, f"target of {link!r}"))
    return Cost(_pose_residual, as_floats(weight), f"pose of {link}", values)


def position_cost(
    robot: RobotLike, link: str, position: Any, point: Any = (0.0, 0.0, 0.0), weight: Any = POSITION_WEIGHT
) -> Cost:
    """A point of a link (in its frame) at a place in the world: three rows."""
    robot = as_robot(robot)
    values = (_link(robot, link), as_floats(position), as_floats(point))
    return Cost(_position_residual, as_floats(weight), f"position of {link}", values)


def axis_cost(
    robot: RobotLike,
    link: str,
    direction: Any,
    axis: Any = (0.0, 0.0, 1.0),
    weight: Any = ORIENTATION_WEIGHT,
) -> Cost:
    """An axis of a link along a direction of the world: three rows."""
    robot = as_robot(robot)
    values = (_link(robot, link), as_floats(direction), as_floats(axis))
    return Cost(_axis_residual, as_floats(weight), f"axis of {link}", values)


def look_at_cost(
    robot: RobotLike, link: str, point: Any, axis: Any = (0.0, 0.0, 1.0), weight: Any = ORIENTATION_WEIGHT
) -> Cost:
    """An axis of a link towards a point of the world: three rows."""
    robot = as_robot(robot)
    values = (_link(robot, link), as_floats(point), as_floats(axis))
    return Cost(_look_at_residual, as_floats(weight), f"look of {link}", values)


def heading_cost(robot: RobotLike, link: str, target: Any, weight: Any = ORIENTATION_WEIGHT) -> Cost:
    """A link facing, seen from above, where a pose faces (the x axis of both): one row, an angle about z.

    Zero where either x axis is vertical, which faces nowhere.
    """
    robot = as_robot(robot)
    values = (_link(robot, link), _pose(target, f"heading of {link!r}"))
    return Cost(_heading_residual, as_floats(weight), f"heading of {link}", values)


def joint_cost(robot: RobotLike, joint: str, value: Any, weight: Any = ORIENTATION_WEIGHT) -> Cost:
    """A joint at a value, rad or m: one row."""
    robot = as_robot(robot)
    values = (np.int32(_joint_index(robot, joint)), as_floats(value))
    return Cost(_joint_residual, as_floats(weight), f"joint {joint}", values)


def target_cost(robot: RobotLike, target: Target) -> Cost:
    """The cost of a target of `IkSolver`."""
    robot = as_robot(robot)
    if isinstance(target, PoseTarget):
        return pose_cost(robot, target.link, target.pose, target.position_weight, target.orientation_weight)
    if isinstance(target, PositionTarget):
        return position_cost(robot, target.link, target.position, target.point, target.position_weight)
    if isinstance(target, AxisTarget):
        return axis_cost(robot, target.link, target.direction, target.axis, target.orientation_weight)
    if isinstance(target, LookAt):
        return look_at_cost(robot, target.link, target.point, target.axis, target.orientation_weight)
    if isinstance(target, JointTarget):
        return joint_cost(robot, target.joint, target.value, target.weight)
    raise InputError(f"expected a target, found {short(target)}")


def packed_costs(robot: Robot, shape: Shape, row: Any) -> list[Cost]:
    """The costs of targets of a shape from their numbers, as `Problem.targets_row` packs them; for use under jit."""
    found: list[Cost] = []
    for k, (kind, name) in enumerate(shape):
        v = row[VALUES * k : VALUES * (k + 1)]
        if kind is PoseTarget:
            found.append(pose_cost(robot, name, v[:7], v[7], v[8]))
        elif kind is PositionTarget:
            found.append(position_cost(robot, name, v[:3], v[3:6], v[6]))
        elif kind is AxisTarget:
            found.append(axis_cost(robot, name, v[:3], v[3:6], v[6]))
        elif kind is LookAt:
            found.append(look_at_cost(robot, name, v[:3], v[3:6], v[6]))
        else:
            found.append(joint_cost(robot, name, v[0], v[1]))
    return found


# Posture ------------------------------------------------------------------------------------------


def rest_cost(cfg: Any, weight: Any = 1.0) -> Cost:
    """Near a configuration: one row per joint; the weight is one number or one per joint."""
    return Cost(_rest_residual, as_floats(weight), "rest", (as_floats(cfg),))


def limit_cost(robot: RobotLike, weight: Any = LIMIT_WEIGHT) -> Cost:
    """Within the joint limits: one row a joint, zero inside. `minimize` given the robot keeps to limits by itself."""
    robot = as_robot(robot)
    return Cost(_limit_residual, as_floats(weight), "limits", (robot.lower, robot.upper))


def manipulability_cost(robot: RobotLike, links: str | Sequence[str], weight: Any = 1.0) -> Cost:
    """Away from where a link can hardly be moved in some direction: one row a link.

    The residual is one over Yoshikawa's measure sqrt(det(J J^T)) of the link origin's translation.
    """
    robot = as_robot(robot)
    names = (links,) if isinstance(links, str) else tuple(links)
    values = tuple(_link(robot, name) for name in names)
    return Cost(_manipulability_residual, as_floats(weight), "manipulability", values)


# Residual functions -------------------------------------------------------------------------------


def _pose_residual(cfg: jax.Array, link: LinkInJax, target: jax.Array) -> jax.Array:
    wxyz, xyz = jnp.split(link.pose(cfg), [4])
    target = target.astype(cfg.dtype)
    return jnp.concatenate([target[4:] - xyz, rotation_error(target[:4], wxyz)])


def _position_residual(cfg: jax.Array, link: LinkInJax, position: jax.Array, point: jax.Array) -> jax.Array:
    wxyz, xyz = jnp.split(link.pose(cfg), [4])
    return position.astype(cfg.dtype) - (rotate(wxyz, point.astype(cfg.dtype)) + xyz)


def _axis_residual(cfg: jax.Array, link: LinkInJax, direction: jax.Array, axis: jax.Array) -> jax.Array:
    wxyz = link.pose(cfg)[:4]
    return direction_error(unit(direction.astype(cfg.dtype)), rotate(wxyz, unit(axis.astype(cfg.dtype))))


def _look_at_residual(cfg: jax.Array, link: LinkInJax, point: jax.Array, axis: jax.Array) -> jax.Array:
    wxyz, xyz = jnp.split(link.pose(cfg), [4])
    return direction_error(unit(point.astype(cfg.dtype) - xyz), rotate(wxyz, unit(axis.astype(cfg.dtype))))


def _heading_residual(cfg: jax.Array, link: LinkInJax, target: jax.Array) -> jax.Array:
    ahead = jnp.array([1.0, 0.0, 0.0], cfg.dtype)
    wanted, found = rotate(target[:4].astype(cfg.dtype), ahead), rotate(link.pose(cfg)[:4], ahead)
    sine = found[0] * wanted[1] - found[1] * wanted[0]
    cosine = found[0] * wanted[0] + found[1] * wanted[1]
    some = sine**2 + cosine**2 > 1e-6  # the product of the lengths seen from above
    return jnp.where(some, jnp.arctan2(sine, jnp.where(some, cosine, 1.0)), 0.0)


def _joint_residual(cfg: jax.Array, joint: Any, value: jax.Array) -> jax.Array:
    return value.astype(cfg.dtype) - cfg[joint]


def _rest_residual(cfg: jax.Array, rest: jax.Array) -> jax.Array:
    return rest.astype(cfg.dtype) - cfg


def _limit_residual(cfg: jax.Array, lower: jax.Array, upper: jax.Array) -> jax.Array:
    return jnp.clip(cfg, lower.astype(cfg.dtype), upper.astype(cfg.dtype)) - cfg


def _manipulability_residual(cfg: jax.Array, *links: LinkInJax) -> jax.Array:
    jacobians = jnp.stack([link.jacobian(cfg)[:3] for link in links])
    square = jnp.linalg.det(jacobians @ jnp.swapaxes(jacobians, -1, -2))
    some = square > 0.0
    measure = jnp.where(some, jnp.sqrt(jnp.where(some, square, 1.0)), 0.0)
    return 1.0 / (measure + NEARLY_SINGULAR)


# Inputs -------------------------------------------------------------------------------------------


def _link(robot: Robot, link: str) -> LinkInJax:
    return robot.link_in_jax(link)


def _joint_index(robot: Robot, joint: str) -> int:
    if joint not in robot.joint_names:
        raise UnknownJointError(unknown("joint", str(joint), robot.joint_names))
    return robot.joint_names.index(joint)


def _pose(pose: Any, what: str) -> Any:
    """A pose (7,): checked where its numbers are known, taken as it is under jit."""
    found = getattr(pose, "wxyz_xyz", pose)
    if not isinstance(found, jax.core.Tracer):
        return as_pose(found, what)
    if found.shape != (7,):
        raise InputError(f"{what}: expected (7,) wxyz_xyz under jit, found shape {found.shape}")
    return found


def as_floats(values: Any) -> Any:
    """Numbers as an array; numpy's where they are known, so that making a cost compiles nothing."""
    if any(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(values)):
        return jnp.asarray(values)
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"expected numbers, found {short(values)}") from error
    if not np.isfinite(found).all():
        raise InputError(f"expected finite numbers, found {short(values)}")
    return found


# Errors of rotations and directions in JAX: finite values and derivatives everywhere, in the precision of the input ---
# Both errors are rotation vectors in the world frame: the turn that would take what is to what is wanted.
# Where the turn is zero a series stands in for the quotient angle / sine, so that derivatives are exact
# there too.


def rotate(wxyz: Float[Array, "4"], vector: Float[Array, "3"]) -> Float[Array, "3"]:
    """A vector turned by a unit quaternion."""
    w, v = wxyz[0], wxyz[1:]
    twice = 2.0 * _cross(v, vector)
    return vector + w * twice + _cross(v, twice)


def rotation_error(wanted: Float[Array, "4"], found: Float[Array, "4"]) -> Float[Array, "3"]:
    """log(R_wanted R_found^T): rotation vector in the world frame, angle from 0 to pi.

    Args:
        wanted: quaternion wxyz; lengths of both do not matter.
        found: quaternion wxyz.
    """
    w = jnp.dot(wanted, found)
    v = found[0] * wanted[1:] - wanted[0] * found[1:] - _cross(wanted[1:], found[1:])
    sign = jnp.where(w < 0.0, -1.0, 1.0)  # of the two quaternions of a rotation the one of the smaller angle
    return 2.0 * sign * v * _angle_over_sine(jnp.dot(v, v), sign * w)


def direction_error(wanted: Float[Array, "3"], found: Float[Array, "3"]) -> Float[Array, "3"]:
    """angle * unit(found x wanted) of two unit vectors; where they are opposed, a half turn about any normal."""
    cross, dot = _cross(found, wanted), jnp.dot(found, wanted)
    square = jnp.dot(cross, cross)
    opposed = (square < _tiny(square)) & (dot < 0.0)
    least = jnp.zeros(3, found.dtype).at[jnp.argmin(jnp.abs(found))].set(1.0)
    normal = _cross(found, least)
    normal = normal / jnp.sqrt(jnp.dot(normal, normal))
    return jnp.where(opposed, jnp.pi * normal, cross * _angle_over_sine(square, jnp.where(opposed, 1.0, dot)))


def unit(vector: Float[Array, "3"]) -> Float[Array, "3"]:
    """A vector made one long; zero stays zero."""
    square = jnp.dot(vector, vector)
    some = square > 0.0
    return jnp.where(some, vector / jnp.sqrt(jnp.where(some, square, 1.0)), 0.0)


def _cross(a: Float[Array, "3"], b: Float[Array, "3"]) -> Float[Array, "3"]:
    """`jnp.cross`, which takes several times as long to compile."""
    return jnp.stack(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]],
    )


def _angle_over_sine(sine_squared: jax.Array, cosine: jax.Array) -> jax.Array:
    """atan2(s, c) / s, where c > 0 if s is next to zero."""
    small = sine_squared < _tiny(sine_squared)
    sine = jnp.sqrt(jnp.where(small, 1.0, sine_squared))
    near = jnp.where(small, cosine, 1.0)
    series = 1.0 / near - sine_squared / (3.0 * near**3)
    return jnp.where(small, series, jnp.arctan2(sine, cosine) / sine)


def _tiny(like: jax.Array) -> float:
    """Squares below it are too small to divide by: the series is then exact to rounding."""
    return float(jnp.finfo(like.dtype).eps)
