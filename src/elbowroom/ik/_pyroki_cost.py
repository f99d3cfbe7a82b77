"""The self-collision cost of many spheres a link for pyroki's solver, jaxls: a factory in the manner of `pk.costs`."""

from __future__ import annotations

from functools import cache
from typing import Any

from ..distance import MultiSphereCollision, self_collision_residual
from ..robot.doors import jaxls_module
from ..typing import Kinematics


def multi_sphere_self_collision_cost(
    robot: Kinematics, multi_sphere_coll: MultiSphereCollision, joint_var: Any, margin: Any, weight: Any
) -> Any:
    """A jaxls cost: `weight * colldist_from_sdf(distance, margin)`, one row a pair of links.

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
    jaxls = jaxls_module("multi_sphere_self_collision_cost")
    return _factory(jaxls.Cost)(robot, multi_sphere_coll, joint_var, margin, weight)


@cache
def _factory(cost_class: Any) -> Any:
    """The cost class's own factory of our residual: `factory`, which older versions call `create_factory`."""
    make = getattr(cost_class, "factory", None) or cost_class.create_factory
    return make(multi_sphere_self_collision)


def multi_sphere_self_collision(
    vals: Any, robot: Any, multi_sphere_coll: Any, joint_var: Any, margin: Any, weight: Any
) -> Any:
    """Residual in the manner of jaxls: values of variables first. jaxls names the cost after it."""
    rows = self_collision_residual(multi_sphere_coll, robot, vals[joint_var], margin, weight)
    return rows.reshape(-1)
