"""STOMP with your own costs: carry a full glass past a post, upright and at constant
height.

With the default costs, STOMP takes the hand past the post as soon as nothing touches:
tilted, and far below its starting height. A cost on tilt and one on height, the latter
a function of your own, lead to a different path. Prints tilt and height along both
paths and what is proved about them. With `--out`, draws the robot on both paths.

    python examples/11_stomp.py --out stomp.png
"""

from __future__ import annotations

import argparse

import numpy as np

import elbowroom as er
from elbowroom.plan import (
    FunctionCost,
    ObstacleCost,
    SelfCollisionCost,
    Stomp,
    StompOptions,
    UprightCost,
)
from elbowroom.ui.draw import Camera, add_world, robot_picture, save_png
from elbowroom.world import Cylinder, World

HAND = "frame_left_arm_ee"
UP = (-1.0, 0.0, 0.0)
"""The axis of the hand that points up."""
HEIGHT, BAND = 0.585, 0.05
"""Height of the hand above the ground and its tolerance, in metres."""
POST = Cylinder(0.04, 0.5, pose=(1, 0, 0, 0, -0.30, 0.485, 0.58), name="post")


def hands(robot: er.Robot, cfgs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Tilt (degrees) and height (metres) of the hand at configurations (..., dof)."""
    poses = robot.link_poses(cfgs.reshape(-1, robot.dof))[
        :, robot.link_index(HAND)
    ].reshape(*cfgs.shape[:-1], 7)
    w, x, y, z = np.moveaxis(poses[..., :4], -1, 0)
    # last row of R
    up = np.stack(
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x**2 + y**2)], axis=-1
    )
    return np.degrees(np.arccos(np.clip(up @ np.array(UP), -1.0, 1.0))), poses[..., 6]


def cheapest_proved(stomp: Stomp, seconds: float) -> tuple[np.ndarray, er.PathProof]:
    """Runs STOMP; returns the last, and so cheapest, trajectory that is proved free."""
    seen = list[np.ndarray]()
    result = stomp.run(
        hook=lambda iteration, cost, path: seen.append(path), timeout=seconds
    )
    print(
        f"  {result.why}; cost {result.cost_history[0]:.3g} at first, "
        f"{result.cost_history[-1]:.3g} in the end"
    )
    for path in reversed(seen):
        proof = er.prove_path(stomp.model, path)
        if proof.free:
            return path, proof
    raise SystemExit(result.why)


def draw(model: er.CollisionModel, paths: list[np.ndarray], file: str) -> None:
    """Draws the robot halfway along each path, and the path of the hand."""
    views = []
    for path in paths:
        picture = robot_picture(model.robot, path[len(path) // 2])
        add_world(picture, model.world)
        for place in model.robot.link_poses(path)[:, model.robot.link_index(HAND), 4:]:
            picture.add_sphere(place, 0.012)
        views.append(
            picture.draw(
                Camera(azimuth_deg=165, elevation_deg=25, width=420, height=460)
            )
        )
    save_png(file, np.concatenate(views, axis=1))


def main(
    argv: list[str] | None = None,
) -> tuple[er.CollisionModel, list[np.ndarray], list[er.PathProof]]:
    """Optimises twice and prints; returns model, both paths (n, dof) and proofs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for each")
    parser.add_argument("--out", help="picture of both ways, PNG")
    args = parser.parse_args(argv)

    robot = er.load_robot("teaarm")
    model = er.CollisionModel(robot, world=World([POST]), buffer=0.003)
    start, goal = (
        robot.named_cfgs["arms_forward"].copy(),
        robot.named_cfgs["arms_forward"],
    )
    start[robot.joint_names.index("left_j2")] -= 0.7  # the arm spread to the side
    arm = [name for name in robot.joint_names if name.startswith("left_")]

    def level(trajectories: np.ndarray, dt: float) -> np.ndarray:
        """Metres by which the hand leaves its band, (k, t)."""
        return np.maximum(np.abs(hands(robot, trajectories)[1] - HEIGHT) - BAND, 0.0)

    own = (
        ObstacleCost(model, clearance=0.02, boxes_decide=False),
        SelfCollisionCost(model),
        UprightCost(robot, HAND, axis=UP, tolerance=0.1, weight=20.0),
        FunctionCost(level, weight=80.0),
    )
    paths, proofs = [], []
    for name, costs, improve in (
        ("default costs", None, 0),
        ("upright and level", own, 200),
    ):
        print(f"{name}:")
        options = StompOptions(
            seed=0, rollouts=64, initial="minimum-control", improve=improve
        )
        path, proof = cheapest_proved(
            Stomp(model, start, goal, arm, costs, options), args.timeout
        )
        tilt, height = hands(robot, path)
        print(
            f"  tilt up to {tilt.max():.0f} degrees, height {height.min():.2f} to "
            f"{height.max():.2f} m; {proof}"
        )
        paths.append(path)
        proofs.append(proof)
    if args.out:
        draw(model, paths, args.out)
    return model, paths, proofs


if __name__ == "__main__":
    main()
