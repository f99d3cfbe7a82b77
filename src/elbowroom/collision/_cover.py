"""Spheres that cover, whatever was given: "spheres accept" holds only for spheres that are proved to contain the links.

A link that the given spheres are not proved to cover, padding included, gets one ball around its mesh instead. A wrong
sphere model then costs time, because meshes are asked more often, and never the truth.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..distance import enclosing_ball
from ..robot import Robot
from ..spheres import SphereModel, prove_coverage

TINY = 1e-12
"""Metres; the radius of a sphere that covers nothing."""


def covering(robot: Robot, spheres: SphereModel) -> tuple[SphereModel, tuple[str, ...]]:
    """The spheres, with one ball for each link that they do not cover, and the names of those links.

    Args:
        robot: the robot.
        spheres: any model of it.

    Raises:
        UnknownLinkError: the spheres are of another robot.
    """
    model = spheres.for_links(robot.link_names, robot.name)
    radii = np.maximum(
        model.padded_radii("self"), TINY
    )  # a padding that eats a sphere leaves it as good as absent
    padded = replace(model, radii=radii, self_padding={})
    uncovered = prove_coverage(robot, padded, measure=False).uncovered
    if not uncovered:
        return model, ()
    balls = {name: model.link(name) for name in model.counts if name not in uncovered}
    for name in uncovered:
        mesh = robot.link_mesh(name)
        assert mesh is not None  # only links with meshes can be uncovered
        points = np.asarray(mesh.vertices)
        ball = enclosing_ball(np.column_stack([points, np.zeros(len(points))]))
        balls[name] = ball[None, :3], ball[3:]
    padding = {name: extra for name, extra in model.self_padding.items() if name not in uncovered}
    fields = {"robot_name": robot.name, "self_padding": padding, "world_padding": model.world_padding}
    return SphereModel.from_links(robot.link_names, balls, **fields), uncovered
