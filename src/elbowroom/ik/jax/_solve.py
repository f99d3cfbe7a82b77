"""Least squares in JAX: batched Levenberg-Marquardt within hard bounds, one compilation per shape.

The bounds are kept by projection: joints at a bound that the gradient pushes against do not take part in a step, and
steps are clipped. Every start runs in its own lane of one `while_loop`. `minimize` is itself a JAX function: it may be
called under jit and vmap, with costs made from the traced values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax_dataclasses as jdc
import numpy as np
from jaxtyping import Array, Float, Int

from ..._brief import brief
from ..._text import short
from ...errors import InputError, UnknownJointError, shape_text, unknown
from ...robot import as_robot
from ...typing import RobotLike
from ._costs import Cost

FIRST_DAMPING = 1e-2
LEAST_DAMPING = 1e-7
"""Relative to the diagonal of J^T J; below it the normal equations of an arm at a singularity are not positive in
single precision."""
LARGEST_DAMPING = 1e9
"""No step is found even with this damping: the start has arrived where it can."""


@brief
@jdc.pytree_dataclass
class Minimum:
    """Where `minimize` arrived, one entry a start; a pytree."""

    cfg: Float[Array, "*batch dof"]
    cost: Float[Array, "*batch"]
    """Half the sum of squares of all weighted residuals."""
    iterations: Int[Array, "*batch"]
    """Steps tried."""


def minimize(
    costs: Sequence[Cost],
    cfg0: Any,
    robot: RobotLike | None = None,
    *,
    locked: Iterable[str] = (),
    iterations: Any = 50,
    step_tolerance: float = 1e-6,
) -> Minimum:
    """Minimises a sum of squared costs from one or many configurations.

    Args:
        costs: the terms; compiled once per kinds of terms, shapes and precision.
        cfg0: (..., dof) starts, clipped to the limits; their precision is that of the answer.
        robot: whose joint limits are hard bounds; None for no bounds.
        locked: names of joints that stay where they start.
        iterations: steps that a start may try.
        step_tolerance: a start whose step changes no joint by more (rad or m) has arrived.

    Raises:
        InputError: no costs, a start of the wrong shape. UnknownJointError: a locked joint that does not exist.
    """
    robot = None if robot is None else as_robot(robot)
    terms = tuple(costs)
    wrong = next((term for term in terms if not isinstance(term, Cost)), None)
    if wrong is not None or not terms:
        raise InputError(f"minimize: expected at least one Cost, found {short(wrong) if terms else 'none'}")
    starts = jnp.asarray(cfg0, dtype=jnp.result_type(cfg0, float) if np.ndim(cfg0) else None)
    dof = starts.shape[-1] if starts.ndim else 0
    # Copies in the precision of the starts: an array that JAX met in one precision is not taken in the other.
    lower, upper, moves = (
        np.array(part, dtype=None if part.dtype == bool else starts.dtype)
        for part in _bounds(robot, dof, tuple(locked), shape_text(starts))
    )
    return _minimize(terms, starts, lower, upper, moves, jnp.int32(iterations), float(step_tolerance))


def cost_by_name(costs: Sequence[Cost], cfg: Any) -> dict[str, float]:
    """What each cost contributes at a configuration: half the sum of squares, in the order of the costs."""
    parts = _parts(tuple(costs), jnp.asarray(cfg))
    return {cost.name: float(part) for cost, part in zip(costs, parts, strict=True)}


@jax.jit
def _parts(costs: tuple[Cost, ...], cfg: jax.Array) -> list[jax.Array]:
    return [0.5 * jnp.sum(cost(cfg) ** 2) for cost in costs]


def _bounds(
    robot: Any, dof: int, locked: tuple[str, ...], found: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if robot is None:
        if locked:
            raise InputError("minimize: locked joints are known by name: give the robot")
        return np.full(dof, -np.inf), np.full(dof, np.inf), np.ones(dof, dtype=bool)
    names = tuple(robot.joints.actuated_names)
    if dof != len(names):
        raise InputError(f"minimize: starts must have shape (..., {len(names)}), found {found}")
    for joint in locked:
        if joint not in names:
            raise UnknownJointError(f"locked: {unknown('joint', str(joint), names)}")
    moves = np.array([name not in locked for name in names], dtype=bool)
    return robot.joints.lower_limits, robot.joints.upper_limits, moves


class _Lane(NamedTuple):
    cfg: jax.Array
    cost: jax.Array
    gradient: jax.Array
    hessian: jax.Array
    """J^T J."""
    damping: jax.Array
    growth: jax.Array
    """Factor by which the next refusal raises the damping (Nielsen's rule)."""
    tried: jax.Array
    arrived: jax.Array


@jax.jit
def _minimize(
    costs: tuple[Cost, ...],
    starts: jax.Array,
    lower: jax.Array,
    upper: jax.Array,
    moves: jax.Array,
    iterations: jax.Array,
    step_tolerance: jax.Array,
) -> Minimum:
    run = partial(_run, costs, (lower, upper, moves), iterations, step_tolerance)
    batch = starts.shape[:-1]
    cfg, cost, count = jax.vmap(run)(starts.reshape(-1, starts.shape[-1]))
    return Minimum(
        cfg=cfg.reshape(starts.shape),  # type: ignore[call-arg]
        cost=cost.reshape(batch),
        iterations=count.reshape(batch),
    )


def _run(
    costs: tuple[Cost, ...], bounds: Any, iterations: jax.Array, step_tolerance: jax.Array, start: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    lower, upper, moves = bounds
    start = jnp.where(moves, jnp.clip(start, lower, upper), start)
    # The first turn of the loop takes no step: it measures the start. To measure it here would double the program.
    lane = _Lane(
        cfg=start,
        cost=jnp.full((), jnp.inf, start.dtype),
        gradient=jnp.zeros_like(start),
        hessian=jnp.zeros((start.size, start.size), start.dtype),
        damping=jnp.full((), FIRST_DAMPING, start.dtype),
        growth=jnp.full((), 2.0, start.dtype),
        tried=jnp.int32(-1),
        arrived=jnp.bool_(False),
    )
    lane = jax.lax.while_loop(
        lambda lane: (lane.tried < iterations) & ~lane.arrived,
        lambda lane: _step(costs, bounds, step_tolerance, lane),
        lane,
    )
    return lane.cfg, lane.cost, lane.tried


def _normal(costs: tuple[Cost, ...], cfg: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Half the sum of squares, its gradient, and J^T J."""

    def rows(cfg: jax.Array) -> jax.Array:
        return jnp.concatenate([cost(cfg).astype(cfg.dtype) for cost in costs])

    residual, push = jax.linearize(rows, cfg)
    transposed = jax.vmap(push)(jnp.eye(cfg.shape[0], dtype=cfg.dtype))
    return 0.5 * jnp.sum(residual**2), transposed @ residual, transposed @ transposed.T


def _step(costs: tuple[Cost, ...], bounds: Any, step_tolerance: jax.Array, lane: _Lane) -> _Lane:
    lower, upper, moves = bounds
    cfg, gradient, hessian = lane.cfg, lane.gradient, lane.hessian
    pressed = ((cfg <= lower) & (gradient > 0.0)) | ((cfg >= upper) & (gradient < 0.0))
    free = moves & ~pressed
    diagonal = jnp.diagonal(hessian)
    largest = jnp.max(jnp.where(free, diagonal, 0.0))
    floor = jnp.where(largest > 0.0, 1e-3 * largest, 1.0)
    matrix = jnp.where(free[:, None] & free[None, :], hessian, 0.0) + jnp.diag(
        jnp.where(free, lane.damping * jnp.maximum(diagonal, floor), 1.0)
    )
    factor = jax.scipy.linalg.cho_factor(matrix, lower=True)
    step = jax.scipy.linalg.cho_solve(factor, jnp.where(free, -gradient, 0.0))
    candidate = jnp.where(moves, jnp.clip(cfg + step, lower, upper), cfg)
    step = candidate - cfg
    cost, new_gradient, new_hessian = _normal(costs, candidate)
    better = cost < lane.cost  # False for NaN
    predicted = -(gradient @ step) - 0.5 * (step @ (hessian @ step))
    gain = (lane.cost - cost) / jnp.maximum(predicted, jnp.finfo(cfg.dtype).tiny)
    measured = lane.tried >= 0
    shrink = jnp.where(measured, jnp.clip(1.0 - (2.0 * gain - 1.0) ** 3, 0.1, 1.0), 1.0)
    damping = jnp.where(better, jnp.maximum(lane.damping * shrink, LEAST_DAMPING), lane.damping * lane.growth)
    still = (jnp.max(jnp.abs(step)) < step_tolerance) | ~jnp.any(free)
    return _Lane(
        cfg=jnp.where(better, candidate, cfg),
        cost=jnp.where(better, cost, lane.cost),
        gradient=jnp.where(better, new_gradient, gradient),
        hessian=jnp.where(better, new_hessian, hessian),
        damping=damping,
        growth=jnp.where(better, 2.0, 2.0 * lane.growth).astype(cfg.dtype),
        tried=lane.tried + 1,
        arrived=measured & (still | (damping > LARGEST_DAMPING)),
    )
