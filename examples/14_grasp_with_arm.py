"""Grasp with an arm: from an object's pose and width to a proved motion of arm and
hand.

The RH56 hand replaces the gripper of a panda (`mount`), and both share one collision
model. `reach_for` then finds a grasp of a block on a shelf, a free arm configuration
and a proved motion to it. Prints the placement, the proof of each piece, and the
contact between fingers and block. With `--out`, draws the arm before the grasp with an
open hand, the arm at the grasp, and the hand alone. Needs the robots of `pip install
elbowroom[robots]`.

    python examples/14_grasp_with_arm.py --width 0.04 --out grasp_with_arm.png
"""

from __future__ import annotations

import argparse

import numpy as np

import elbowroom as er
from elbowroom.grasp import (
    GraspPlanner,
    Hand,
    ReachOptions,
    ReachResult,
    load_hand,
    mount,
    reach_for,
)
from elbowroom.ui.draw import Camera, add_world, robot_picture, save_png
from elbowroom.world import Box, World

SHELF = (
    Box((0.40, 0.80, 0.02), pose=(1, 0, 0, 0, 0.62, 0, 0.29), name="board"),
    Box((0.40, 0.80, 0.02), pose=(1, 0, 0, 0, 0.62, 0, 0.86), name="upper board"),
    Box((0.40, 0.02, 0.59), pose=(1, 0, 0, 0, 0.62, -0.41, 0.575), name="left wall"),
    Box((0.40, 0.02, 0.59), pose=(1, 0, 0, 0, 0.62, 0.41, 0.575), name="right wall"),
    Box((0.02, 0.84, 0.59), pose=(1, 0, 0, 0, 0.83, 0, 0.575), name="back"),
    Box(
        (0.10, 0.10, 0.20), pose=(1, 0, 0, 0, 0.62, -0.22, 0.401), name="box in the way"
    ),
)
HAND_COLOUR, ARM_COLOUR, OBJECT_COLOUR = (
    (0.37, 0.55, 0.76),
    (0.70, 0.72, 0.75),
    (0.95, 0.62, 0.20),
)


def draw(
    robot: er.Robot, hand: Hand, block: Box, result: ReachResult, path: str
) -> None:
    """Draws the arm before and at the grasp, and the hand on the block."""
    own = set(hand.robot.link_names)
    colours = {
        link: HAND_COLOUR if link in own else ARM_COLOUR for link in robot.link_names
    }
    views = []
    for cfg in (result.pre_cfg, result.cfg):
        picture = robot_picture(robot, cfg, colours=colours)
        add_world(
            picture,
            World([SHELF[0], SHELF[4], SHELF[5], block]),
            {"block": OBJECT_COLOUR},
        )
        views.append(
            picture.draw(
                Camera(azimuth_deg=128, elevation_deg=24, width=560, height=620)
            )
        )
    closer = robot_picture(hand.robot, hand.cfg(result.contact.ctrl))
    at_hand = np.linalg.inv(result.placement.base(result.grasp))
    add_world(closer, World([block.at(at_hand @ block.pose)]), {"block": OBJECT_COLOUR})
    views.append(
        closer.draw(Camera(azimuth_deg=-60, elevation_deg=15, width=360, height=620))
    )
    save_png(path, np.concatenate(views, axis=1))


def main(argv: list[str] | None = None) -> ReachResult:
    """Plans, prints the result and draws it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--width", type=float, default=0.04, help="of the block, metres"
    )
    parser.add_argument("--mode", default="line", choices=("line", "plane"))
    parser.add_argument(
        "--place",
        type=float,
        nargs=3,
        default=(0.58, 0.05, 0.36),
        help="of the block, metres",
    )
    parser.add_argument(
        "--turn",
        type=float,
        default=90.0,
        help="of the block about the vertical, degrees",
    )
    parser.add_argument("--out", help="picture, PNG")
    args = parser.parse_args(argv)

    hand = load_hand("rh56")
    robot = mount(er.load_robot("panda"), hand, "panda_link8", without=("panda_hand",))
    quick = er.FitOptions(effort=0.0)  # leave it out for the default fit
    spheres = er.fit_spheres(robot, quick)
    model = er.CollisionModel(
        robot, spheres, er.compute_pairs(robot, spheres), World(SHELF)
    )
    half = np.radians(args.turn) / 2
    pose = (np.cos(half), 0.0, 0.0, np.sin(half), *args.place)
    block = Box((args.width, 0.06, 0.11), pose=pose, name="block")

    # half a turn about the vertical leaves the block the same
    options = ReachOptions(spins=np.radians((0.0, 180.0)))
    result = reach_for(
        model,
        GraspPlanner(hand),
        obstacle=block,
        width=args.width,
        mode=args.mode,
        height=0.02,
        options=options,
    )
    if not result:
        print(result.why)
        return result
    print(result)
    for piece, proof in enumerate(result.proofs, 1):
        print(f"  piece {piece}: {proof.why}")
    tips = result.contact.tips.items()
    gaps = ", ".join(f"{name} {1e3 * gap:+.1f} mm" for name, gap in tips)
    print(
        f"  fingers and the block: {gaps}; everything else stays "
        f"{1e3 * result.clearance:.1f} mm apart"
    )
    joints = (f"{name} {value:+.3f}" for name, value in result.joints.items())
    print("  " + ", ".join(joints))
    if args.out:
        draw(robot, hand, block, result, args.out)
    return result


if __name__ == "__main__":
    main()
