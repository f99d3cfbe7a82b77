"""Distances in JAX: equal to the compiled core on obstacles of every kind, under jit, vmap and grad."""

from __future__ import annotations

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from elbowroom.errors import InputError
from elbowroom.world import Box, Capsule, Cylinder, HalfSpace, SdfGrid, Sphere, World
from tests.double import enable_x64

from .coal_world import KINDS, obstacle, pose

CLOSE = 1e-5
"""Metres: some tens of roundings of a float32 of one metre."""
ALL = (*KINDS, "sdf_grid")


def thing(kind: str, rng: np.random.Generator, spread: float = 1.0):
    if kind != "sdf_grid":
        return obstacle(kind, rng, spread)
    at = np.stack(np.meshgrid(*[np.linspace(-0.3, 0.3, n) for n in (9, 11, 13)], indexing="ij"), axis=-1)
    values = np.linalg.norm(at - rng.uniform(-0.1, 0.1, 3), axis=-1) - 0.15
    return SdfGrid(values, (0.6 / 8, 0.6 / 10, 0.6 / 12), (-0.3, -0.3, -0.3), pose=pose(rng, spread))


def scene(seed: int, count: int = 20, spread: float = 1.0) -> World:
    rng = np.random.default_rng(seed)
    return World(thing(ALL[i % len(ALL)], rng, spread) for i in range(count))


def points(n: int, seed: int, spread: float = 1.3) -> np.ndarray:
    """Float32 numbers, so that both engines are asked about the same places."""
    return np.random.default_rng(seed).uniform(-spread, spread, (n, 3)).astype(np.float32)


def assert_gradients_agree(world: World, at: np.ndarray, theirs: np.ndarray) -> None:
    """Equal but where the distance has a crease: there either side's gradient is right."""
    _, ours = world.distance_and_gradient(at)
    differ = np.abs(theirs - ours).max(axis=-1) > 1e-3
    assert differ.mean() < 0.01
    for p, g in zip(at[differ].astype(np.float64), theirs[differ], strict=True):
        near = p + 2e-5 * np.random.default_rng(0).normal(size=(200, 3))
        sides = world.distance_and_gradient(near)[1]
        assert np.abs(sides - g).max(axis=1).min() < 1e-2


@pytest.mark.parametrize("kind", ALL)
def test_each_kind_equals_the_core(kind):
    rng = np.random.default_rng(len(kind))
    world = World(thing(kind, rng, 0.4) for _ in range(3))
    at = points(2000, 1, 0.8)
    found, gradient = world.distance_and_gradient(jnp.asarray(at))
    assert isinstance(found, jax.Array)
    assert found.dtype == jnp.float32
    ours = world.distance(at)
    assert (ours < 0).any()
    assert np.abs(np.asarray(found) - ours).max() < CLOSE
    assert np.abs(np.asarray(world.distance(jnp.asarray(at))) - ours).max() < CLOSE
    assert_gradients_agree(world, at, np.asarray(gradient))


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, 1])
def test_scenes_of_all_kinds_equal_the_core(seed):
    world, at = scene(seed), points(3000, seed + 10)
    found, gradient = world.distance_and_gradient(jnp.asarray(at))
    assert np.abs(np.asarray(found) - world.distance(at)).max() < CLOSE
    assert_gradients_agree(world, at, np.asarray(gradient))


def test_in_double_precision_they_are_equal_to_rounding():
    world, at = scene(3), points(500, 4).astype(np.float64)
    with enable_x64(True):
        found = world.distance(jnp.asarray(at))
        assert found.dtype == jnp.float64
        assert np.abs(np.asarray(found) - world.distance(at)).max() < 1e-12


@pytest.mark.long
def test_jit_vmap_and_grad_of_functions_that_hold_a_world():
    world, at = scene(5, len(ALL)), points(64, 6)

    @jax.jit
    def cost(x):
        return jnp.maximum(0.3 - world.distance(x), 0.0).sum()

    expected = np.maximum(0.3 - world.distance(at), 0.0).sum()
    assert float(cost(jnp.asarray(at))) == pytest.approx(expected, abs=1e-4)
    found, ours = world.distance_and_gradient(at)
    slopes = np.asarray(jax.grad(cost)(jnp.asarray(at)))
    assert np.abs(slopes + np.where(found < 0.3, 1.0, 0.0)[:, None] * ours).max() < 1e-3
    one_by_one = jax.vmap(world.distance)(jnp.asarray(at))
    assert np.abs(np.asarray(one_by_one) - found).max() < CLOSE
    twice = jax.vmap(jax.vmap(jax.grad(world.distance)))(jnp.asarray(at).reshape(8, 8, 3))
    assert np.abs(np.asarray(twice).reshape(64, 3) - ours).max() < 1e-3
    pushed, tangent = jax.jvp(world.distance, (jnp.asarray(at),), (jnp.ones((64, 3)),))
    assert np.abs(np.asarray(tangent) - ours.sum(axis=1)).max() < 1e-3
    assert np.abs(np.asarray(pushed) - found).max() < CLOSE


def test_a_world_may_be_a_static_argument():
    distance = jax.jit(lambda world, x: world.distance(x), static_argnums=0)
    world, at = scene(7), points(10, 8)
    assert np.abs(np.asarray(distance(world, jnp.asarray(at))) - world.distance(at)).max() < CLOSE


@pytest.mark.long
def test_one_point_many_axes_and_none():
    world, at = scene(9), points(24, 2)
    one = world.distance(jnp.asarray(at[0]))
    assert one.shape == ()
    assert float(one) == pytest.approx(world.distance(at[0]), abs=CLOSE)
    found, gradient = world.distance_and_gradient(jnp.asarray(at).reshape(2, 3, 4, 3))
    assert found.shape == (2, 3, 4)
    assert gradient.shape == (2, 3, 4, 3)
    assert world.distance(jnp.zeros((0, 3))).shape == (0,)


def test_an_empty_world_is_infinitely_far_and_flat():
    found, gradient = World().distance_and_gradient(jnp.zeros((2, 3)))
    assert np.isinf(found).all()
    assert not np.asarray(gradient).any()


def test_gradients_are_finite_where_the_distance_has_none():
    """Centres, axes, planes of symmetry, corners, edges and surfaces."""
    world = World([Box((2, 2, 2))])
    special = np.array(
        [[0, 0, 0], [1, 1, 1], [1, 0, 0], [0, 0, 0.5], [0, 0, 1], [0, 0, 2], [2, 2, 0], [1, 1, 0]], float
    )
    for shape in (Box((2, 2, 2)), Sphere(1.0), Cylinder(1.0, 2.0), Capsule(1.0, 2.0), HalfSpace()):
        world = World([shape])
        found, gradient = world.distance_and_gradient(jnp.asarray(special))
        assert np.abs(np.asarray(found) - world.distance(special)).max() < CLOSE
        assert np.isfinite(gradient).all()
        assert (np.linalg.norm(gradient, axis=1) < 1.0 + 1e-5).all()


def test_nan_points_give_nan_and_other_shapes_are_refused():
    world = scene(11, 12)
    at = jnp.asarray(points(3, 1)).at[1, 0].set(jnp.nan)
    assert np.isnan(np.asarray(world.distance(at))).tolist() == [False, True, False]
    with pytest.raises(InputError, match=r"points: expected shape \(\.\.\., 3\)"):
        world.distance(jnp.zeros((3, 2)))


def test_whole_numbers_are_points_too():
    world = World([Sphere(1.0)])
    assert float(world.distance(jnp.array([3, 0, 0]))) == pytest.approx(2.0)


def test_numpy_points_do_not_load_jax():
    code = (
        "import sys, numpy as np; from elbowroom.world import World, Sphere; "
        "World([Sphere(1.0)]).distance(np.zeros(3)); assert 'jax' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
