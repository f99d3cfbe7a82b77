"""Boxes of links: the oriented boxes that STOMP tests against obstacles, drawn around a
robot.

Every collision element of a link gets the smallest oriented box that could be found.
STOMP's obstacle cost tests these boxes first: where no box meets an obstacle, no link
does. Prints the boxes of one arm and their volume relative to its links, then moves a
post closer until a box meets it and runs the mesh test at the same place. With `--out`,
draws them.

    python examples/17_link_boxes.py --out boxes.png
"""

from __future__ import annotations

import argparse

import numpy as np

import elbowroom as er
from elbowroom.mesh import TriangleMesh
from elbowroom.plan import LinkBoxes, ObstacleCost, link_boxes
from elbowroom.ui.draw import Camera, add_world, robot_picture, save_png
from elbowroom.world import Cylinder, World

GREY, ORANGE, RED = (0.55, 0.57, 0.6), (0.95, 0.6, 0.2), (0.9, 0.0, 0.0)
STEP = 0.005
"""Step by which the post is moved, in metres."""


def post(distance: float) -> World:
    """A post at this distance in front of the robot, in metres."""
    return World(
        [Cylinder(0.04, 0.5, pose=(1, 0, 0, 0, -distance, 0.25, 0.7), name="post")]
    )


def met(boxes: LinkBoxes, robot: er.Robot, cfg: np.ndarray, world: World) -> list[int]:
    """Indices of the boxes that an obstacle reaches into."""
    return np.flatnonzero(world.box_intersects(*boxes.in_world(robot, cfg))).tolist()


def draw(
    boxes: LinkBoxes, robot: er.Robot, cfg: np.ndarray, world: World, file: str
) -> None:
    """Draws the robot, its boxes and the post; boxes that meet it are red."""
    views, hit = [], met(boxes, robot, cfg, world)
    for azimuth, elevation in ((330, 25), (150, 60)):
        picture = robot_picture(
            robot, cfg, colours=dict.fromkeys(robot.link_names, GREY)
        )
        add_world(picture, world)
        for k, T in enumerate(boxes.poses(robot, cfg)):
            box = TriangleMesh.box(2.0 * boxes.half_extents[k])
            corners = box.vertices @ T[:3, :3].T + T[:3, 3]
            picture.glass.append((corners[box.faces], RED if k in hit else ORANGE))
        camera = Camera(
            azimuth_deg=azimuth, elevation_deg=elevation, width=460, height=420
        )
        views.append(picture.draw(camera))
    save_png(file, np.concatenate(views, axis=1))


def main(
    argv: list[str] | None = None,
) -> tuple[er.CollisionModel, LinkBoxes, np.ndarray, float, float]:
    """Prints; returns the model with the post, the boxes, the configuration, "
    "distances."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", help="picture of the boxes, PNG")
    args = parser.parse_args(argv)

    robot = er.load_robot("teaarm")
    boxes, cfg = link_boxes(robot), robot.named_cfgs["arms_forward"]
    print(boxes)
    for k, link in enumerate(boxes.links):
        if link.startswith("left_arm"):
            edges = " x ".join(f"{2e3 * half:.0f}" for half in boxes.half_extents[k])
            volume = 8.0 * float(np.prod(boxes.half_extents[k]))
            print(
                f"  {link}: {edges} mm, {volume / robot.link_mesh(link).volume:.1f} "
                "times the link's volume"
            )

    distance = 0.9
    while not met(boxes, robot, cfg, post(distance)):
        distance -= STEP
    world = post(distance)
    model = er.CollisionModel(robot, world=world)
    (k, *_) = met(boxes, robot, cfg, world)
    verdict = model.explain(cfg)
    off = 1e3 * verdict.clearance
    print(
        f"a post {distance:.3f} m ahead meets the box of {boxes.links[k]}; the links "
        f"are {off:.1f} mm off"
    )
    cost, path = ObstacleCost(model), np.tile(cfg, (1, 3, 1))
    print(
        f"cost of standing there: {cost.cost(path, 0.1)[0, 1]:g} by boxes alone, ",
        end="",
    )
    print(
        f"{ObstacleCost(model, boxes_decide=False).cost(path, 0.1)[0, 1]:g} where the "
        "verdict decides"
    )
    touching = distance
    while er.CollisionModel(robot, world=post(touching)).free(cfg):
        touching -= STEP
    print(f"the links themselves touch it at {touching:.3f} m")
    if args.out:
        draw(boxes, robot, cfg, world, args.out)
    return model, boxes, cfg, distance, touching


if __name__ == "__main__":
    main()
