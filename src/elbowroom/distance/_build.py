"""From a robot description to a differentiable self-collision model in one call, and the cost made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..errors import InputError, UnknownLinkError, unknown
from ..robot import Robot, load_robot
from ..robot.internal import as_kinematics, pair_list, require_geometry
from ..typing import RobotLike
from ._inputs import default_pairs
from ._multi_sphere import MultiSphereCollision


def build_multi_sphere_collision(
    urdf_or_robot: Any,
    spheres_per_link: Mapping[str, int] | None = None,
    default_n_spheres: int = 3,
    radius_margin: float = 0.01,
    user_ignore_pairs: Any = (),
    use_srdf: bool = True,
) -> MultiSphereCollision:
    """Fits spheres along the centerlines of every link and lists the pairs to check.

    Counts follow the name of the link unless you pass `spheres_per_link` (bases 2, torso and waist 4,
    arms 3 to 4, frames 0 to 1 per centerline). Links that are adjacent are never checked, nor are, as in
    `compute_pairs`, the pairs that the robot's SRDF disables or its MJCF excludes (`robot.disabled_pairs`).

    Args:
        urdf_or_robot: a Robot, a yourdfpy.URDF, or whatever `load_robot` takes (a name, a path).
        spheres_per_link: spheres along each centerline by link; 0 leaves a link without spheres.
        default_n_spheres: for links that neither the map nor the name settles.
        radius_margin: added to every radius, m.
        user_ignore_pairs: link pairs not to check.
        use_srdf: whether the pairs of the SRDF or MJCF that the robot was loaded with are left out too.

    Raises:
        InputError: a robot without meshes (pyroki's hold none), or arguments that make no sense.
        UnknownLinkError: a link the robot does not have.
    """
    from ..spheres import FitOptions, fit_spheres

    if not isinstance(use_srdf, (bool, np.bool_)):
        raise InputError(
            f"use_srdf must be True or False, found {use_srdf!r:.60}; an SRDF file is given to load_robot(srdf=...)"
        )
    robot = _with_meshes(urdf_or_robot)
    counts = dict(spheres_per_link or {})
    for link, count in counts.items():
        if link not in robot.link_names:
            raise UnknownLinkError(f"spheres_per_link: {unknown('link', link, robot.link_names)}")
        if isinstance(count, bool) or int(count) != count or count < 0:
            raise InputError(f"spheres_per_link[{link!r}] must be a whole number from 0 up, found {count!r}")
    bare = {link for link, count in counts.items() if count == 0}
    options = FitOptions(
        method="centerline",
        per_link={link: count for link, count in counts.items() if count},
        default_n_spheres=default_n_spheres,
        margin=radius_margin,
    )
    spheres = fit_spheres(robot, options)
    if bare:
        keep = np.array([spheres.link_names[k] not in bare for k in spheres.link_idx], dtype=bool)
        spheres = replace(
            spheres,
            centers=spheres.centers[keep],
            radii=spheres.radii[keep],
            link_idx=spheres.link_idx[keep],
            attached=(),
        )
    solid = {spheres.link_names[k] for k in np.unique(spheres.link_idx)}
    ignored = {*pair_list(robot.link_names, user_ignore_pairs), *(robot.disabled_pairs if use_srdf else ())}
    return MultiSphereCollision.from_models(robot, spheres, default_pairs(robot, solid, ignored))


def auto_ignore_zero_pose_collisions(
    robot: RobotLike, coll: MultiSphereCollision, threshold: float = 0.005, cfg: Any = None
) -> MultiSphereCollision:
    """Leaves out link pairs that are closer than a threshold at the zero pose.

    Conservative spheres of links that sit close together may overlap where the links do not; checking such a
    pair would forbid every configuration. What is left out is not checked at any configuration: compare
    `coll.link_pairs()` before and after, or use `compute_pairs`, which says why for every pair.

    Args:
        robot: an Elbowroom or pyroki Robot.
        coll: the model.
        threshold: distance in metres below which a pair is left out.
        cfg: (dof,) another pose than zeros, for robots whose zero pose collides or is out of limits.

    Returns:
        A new model with the same spheres and fewer pairs.
    """
    robot = as_kinematics(robot)
    if not np.isfinite(threshold):
        raise InputError(f"threshold must be a finite number of metres, found {threshold!r}")
    pose = np.zeros(len(robot.joints.actuated_names)) if cfg is None else np.asarray(cfg, dtype=np.float64)
    if pose.shape != (len(robot.joints.actuated_names),) or not np.isfinite(pose).all():
        raise InputError(
            f"cfg must be {len(robot.joints.actuated_names)} finite numbers, found shape {pose.shape}"
        )
    if coll.num_pairs == 0:
        return coll
    near = np.asarray(coll.compute_link_pair_distance(robot, jnp.asarray(pose))) < threshold
    return coll.without_links([pair for pair, close in zip(coll.link_pairs(), near, strict=True) if close])


def colldist_from_sdf(distance: Any, margin: Any) -> Float[Array, "*shape"]:
    """Smooth one-sided measure of a signed distance, as in pyroki: zero when clear, negative when close.

    With d the distance and m the margin: 0 for d >= m; -(d - m)^2 / (2 m) for 0 <= d < m; d - m / 2 for d < 0.
    Value and slope are continuous. The value is at most zero; a least-squares cost squares it, so a colliding
    pair costs more the deeper it is.

    Args:
        distance: metres, any shape.
        margin: activation distance in metres, at least 0; with 0 only penetration counts.
    """
    d, m = jnp.asarray(distance), jnp.asarray(margin)
    d = jnp.minimum(d, m)
    scale = jnp.where(m > 0.0, m, 1.0)
    near = -((d - m) ** 2) / (2.0 * scale)
    return jnp.where(d < 0.0, d - 0.5 * m, near)


def self_collision_residual(
    coll: MultiSphereCollision, robot: RobotLike, cfg: Any, margin: Any = 0.01, weight: Any = 1.0
) -> Float[Array, "*batch link_pairs"]:
    """The self-collision cost of inverse kinematics: `colldist_from_sdf(distance, margin) * weight` per link pair.

    The distance is that of the nearest spheres of the two links. Residuals are zero or negative; the cost is the sum of
    their squares.

    Args:
        coll: the spheres and pairs. robot: whose links they are on. cfg: (..., dof).
        margin: metres at which a pair starts to cost, one number or one per link pair in the order of `link_pairs()`.
        weight: per metre, one number or one per link pair.
    """
    robot = as_kinematics(robot)
    return colldist_from_sdf(coll.compute_link_pair_distance(robot, cfg, margin), margin) * weight


def _with_meshes(source: Any) -> Robot:
    if isinstance(source, Robot):
        robot = source
    elif not isinstance(source, (str, Path)) and hasattr(source, "joints") and hasattr(source, "links"):
        raise InputError(
            "a pyroki Robot holds no meshes to fit spheres to; pass the URDF (its path or yourdfpy.URDF) here, and "
            "the pyroki Robot to the methods of the model"
        )
    else:
        robot = load_robot(source)
    require_geometry(robot)
    return robot
