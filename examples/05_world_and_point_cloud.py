"""World and point cloud: a table, a ring and a depth image as obstacles; the verdict
names the one that is hit.

Places a dual arm among three kinds of obstacles: an exact box, a mesh with a hole that
a hand reaches through, and a point cloud from a depth image. Moves the robot into each
of them and prints which link touches what, then moves one obstacle away. With `--out`,
writes the scene as JSON (or MoveIt YAML); `--picture` draws it.

    python examples/05_world_and_point_cloud.py --out scene.json --picture scene.png
"""

from __future__ import annotations

import argparse

import numpy as np
import trimesh

import elbowroom as er
from elbowroom.mesh import TriangleMesh
from elbowroom.ui.draw import Camera, add_world, robot_picture, save_png
from elbowroom.world import Box, MeshObstacle, PointCloud, World

TABLE = Box((1.1, 0.5, 0.04), pose=(1, 0, 0, 0, 0.1, 0.55, 0.33), name="table")
RING = MeshObstacle(
    TriangleMesh.from_trimesh(
        trimesh.creation.torus(0.09, 0.012, major_sections=48, minor_sections=16)
    ),
    pose=(np.sqrt(0.5), np.sqrt(0.5), 0, 0, -0.084, 0.40, 0.57),
    name="ring",
)
BALL, RADIUS = np.array([0.40, 0.52, 0.60]), 0.07
"""A ball in front of the camera, beside the right hand; metres."""
EYE = np.array([0.1, 0.05, 0.95])
"""The camera, looking at the ball."""


def depth_image(rows: int = 60, columns: int = 80, angle: float = 0.35) -> np.ndarray:
    """Points (rows, columns, 3) of a depth image of the ball, in the world; NaN if "
    "none."""
    ahead = (BALL - EYE) / np.linalg.norm(BALL - EYE)
    right = np.cross(ahead, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    v, u = np.meshgrid(
        np.linspace(1, -1, rows), np.linspace(-1, 1, columns), indexing="ij"
    )
    half = np.tan(angle / 2)
    rays = ahead + half * (
        u[..., None] * right + v[..., None] * rows / columns * np.cross(right, ahead)
    )
    rays /= np.linalg.norm(rays, axis=-1, keepdims=True)
    nearest = rays @ (BALL - EYE)  # where each ray passes the centre
    inside = RADIUS**2 - ((BALL - EYE) ** 2).sum() + nearest**2
    depth = np.where(inside >= 0.0, nearest - np.sqrt(np.maximum(inside, 0.0)), np.nan)
    return EYE + depth[..., None] * rays


def poses(robot: er.Robot) -> dict[str, np.ndarray]:
    """Configurations, keyed by what the robot does."""
    forward = robot.named_cfgs["arms_forward"]

    def moved(**joints: float) -> np.ndarray:
        cfg = forward.copy()
        for name, by in joints.items():
            cfg[robot.joint_names.index(name)] += by
        return cfg

    return {
        "a hand through the ring": forward,
        "the waist turned": moved(waist_yaw=0.15),
        "the right arm lowered": moved(right_j1=-0.5),
        "the right arm spread": moved(right_j2=0.2),
    }


def draw(model: er.CollisionModel, cfg: np.ndarray, path: str) -> None:
    """Draws the scene with the robot at a configuration."""
    picture = robot_picture(
        model.robot,
        cfg,
        colours=dict.fromkeys(model.robot.link_names, (0.70, 0.72, 0.75)),
    )
    colours = {"ring": (0.37, 0.55, 0.76), "camera": (0.89, 0.56, 0.30)}
    add_world(picture, model.world, colours)
    save_png(
        path,
        picture.draw(Camera(azimuth_deg=40, elevation_deg=25, width=640, height=520)),
    )


def main(
    argv: list[str] | None = None,
) -> tuple[er.CollisionModel, dict[str, er.Verdict], er.Verdict]:
    """Checks and prints; returns the model, all verdicts, and one without the ring."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", help="file for the scene, JSON or YAML")
    parser.add_argument("--picture", help="picture of the scene, PNG")
    args = parser.parse_args(argv)

    robot = er.load_robot("teaarm")
    image = depth_image()
    cloud = PointCloud(
        image[np.isfinite(image).all(axis=-1)], radius=0.006, name="camera"
    )
    print(
        f"the camera sees {len(cloud.points)} points, {1e3 * cloud.spacing:.1f} mm "
        "apart"
    )
    world = World([TABLE, RING, cloud])
    model = er.CollisionModel(robot, world=world)
    cfgs = poses(robot)
    verdicts = {name: model.explain(cfg) for name, cfg in cfgs.items()}
    for name, verdict in verdicts.items():
        found = verdict.world_clashes[0] if verdict.world_clashes else verdict.closest
        print(f"{name}: {'free' if verdict.free else 'not free'}, {found}")

    away = world.move("ring", (1, 0, 0, 0, -0.084, 0.40, 1.2))
    second = model.with_world(away).explain(cfgs["the waist turned"])
    print(
        "the waist turned, the ring moved away: "
        f"{'free' if second.free else 'not free'}"
    )
    if args.out:
        for note in world.write(args.out):
            print(f"{args.out}: {note}")
    if args.picture:
        draw(model, cfgs["a hand through the ring"], args.picture)
    return model, verdicts, second


if __name__ == "__main__":
    main()
