"""Differentiable clearance: the self-penetration of a robot as a JAX function with a
gradient.

Compiles the distances between all spheres, evaluates a thousand configurations in one
call, and uses gradient descent to separate two arms that intersect. Prints the
penetration at each step and the mesh verdict before and after: use costs to steer, and
`CollisionModel` to decide.

    python examples/04_differentiable_clearance.py
"""

from __future__ import annotations

import argparse

import jax
import jax.numpy as jnp
import numpy as np

import elbowroom as er

MARGIN = 0.01
"""Distance between spheres below which the cost is positive, in metres."""
STEP = 0.02
"""Step length in joint space, in radians."""


def main(
    argv: list[str] | None = None,
) -> tuple[er.CollisionModel, er.MultiSphereCollision, np.ndarray, list[float]]:
    """Descends and prints; returns model, JAX spheres, path (n, dof), penetration "
    "(m)."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--pose", default="self_collision", help="a named configuration to begin with"
    )
    parser.add_argument("--steps", type=int, default=100, help="at most")
    args = parser.parse_args(argv)

    robot = er.load_robot("teaarm")
    model = er.CollisionModel(robot)
    spheres = er.MultiSphereCollision.from_models(robot, model.spheres, model.pairs)
    links = len(model.pairs.by_spheres)
    print(
        f"{spheres.num_primitives} spheres, {links} pairs of links, "
        f"{len(spheres.pair_i)} pairs of spheres"
    )

    @jax.jit
    def penetration(cfg: jax.Array) -> jax.Array:
        """Deepest penetration of two spheres, in metres; negative is clearance."""
        return spheres.max_penetration(robot, cfg)

    @jax.jit
    @jax.grad
    def push(cfg: jax.Array) -> jax.Array:
        """Sum of what sphere pairs lack to the margin; `jax.grad` gives its "
        "gradient."""
        distances = spheres.compute_self_collision_distance(robot, cfg)
        return -er.colldist_from_sdf(distances, MARGIN).sum()

    cfgs = robot.random_cfgs(1000, seed=0)
    by_spheres = np.asarray(jax.vmap(penetration)(jnp.asarray(cfgs))) < 0.0
    print(
        f"of {len(cfgs)} random configurations, spheres call {by_spheres.sum()} free, "
        f"meshes {model.free(cfgs).sum()}"
    )

    cfg = jnp.asarray(robot.named_cfgs[args.pose])
    way, depths = [np.asarray(cfg)], [float(penetration(cfg))]
    while depths[-1] > 0.0 and len(way) <= args.steps:
        gradient = push(cfg)
        cfg = jnp.clip(
            cfg - STEP * gradient / jnp.linalg.norm(gradient), robot.lower, robot.upper
        )
        way.append(np.asarray(cfg))
        depths.append(float(penetration(cfg)))
    for k in np.unique(np.linspace(0, len(way) - 1, 5).astype(int)):
        print(f"  step {k}: penetration of the spheres {1e3 * depths[k]:+.1f} mm")
    for name, row in (("before", way[0]), ("after", way[-1])):
        verdict = model.explain(row)
        print(
            f"{name}: {'free' if verdict.free else 'not free'} by {verdict.by}, "
            f"closest {verdict.closest}"
        )
    return model, spheres, np.array(way), depths


if __name__ == "__main__":
    main()
