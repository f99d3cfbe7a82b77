"""Dual arm with a held object: both arms move out from under a board and above it with
a box in the left hand.

The box is attached to the hand and becomes part of the robot for planning, proof and
verdict. A motion planned without it would drive the box into the table or the board.
Prints that collision, then the motion planned with the box, its stages and its proof,
with controller error included. With `--out`, writes the motion (CSV or JSON);
`--picture` draws it.

    python examples/15_dual_arm_held_object.py --out carry.csv --picture carry.png
"""

from __future__ import annotations

import argparse

import numpy as np

import elbowroom as er
from elbowroom.plan import PlanOptions, PlanResult, plan_motion, prove_path
from elbowroom.ui.draw import plot_plan, save_figure
from elbowroom.world import Box, World

LEFT, RIGHT = "frame_left_arm_ee", "frame_right_arm_ee"
WORLD = World(
    [
        Box((1.2, 0.6, 0.04), pose=(1, 0, 0, 0, 0.1, 0.6, 0.33), name="table"),
        Box((0.9, 0.26, 0.02), pose=(1, 0, 0, 0, 0.1, 0.5, 0.75), name="board"),
    ]
)
BOX = Box((0.18, 0.06, 0.06), name="box")
"""Upright in the hand: x of the hand points down."""
BUFFER = 0.005
"""Clearance kept from everything, in metres."""
SLACK = 0.001
"""Controller error: radians that each joint may deviate from the motion."""


def above(robot: er.Robot, start: np.ndarray) -> dict[str, np.ndarray]:
    """Goals: both hands 29 cm up and 5 cm back, the left one with its orientation."""
    poses = robot.link_poses(start)
    left, right = (
        poses[robot.link_index(link)] + (0, 0, 0, 0, 0, -0.05, 0.29)
        for link in (LEFT, RIGHT)
    )
    return {LEFT: left, RIGHT: right[4:]}


def main(
    argv: list[str] | None = None,
) -> tuple[er.CollisionModel, PlanResult, er.PathProof, PlanResult, er.PathProof]:
    """Plans and prints; returns the model with the box, both plans and their proofs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", help="file for the motion, CSV or JSON")
    parser.add_argument(
        "--picture",
        help="the robot on its way, clearance, joints and speeds, PNG, SVG or PDF",
    )
    args = parser.parse_args(argv)

    robot = er.load_robot("teaarm")
    empty = er.CollisionModel(robot, world=WORLD, buffer=BUFFER)
    model = empty.attach("box", LEFT, BOX)
    start, options = (
        robot.named_cfgs["arms_forward"],
        PlanOptions(seed=args.seed, timeout=30.0),
    )
    goal = above(robot, start)
    print(model)

    without = plan_motion(empty, start, goal, options=options)
    if not without.success:
        raise SystemExit(without.why)
    with_box = prove_path(model, without.path, times=without.times)
    print(f"planned with an empty hand: {without.why}")
    print(f"  with the box: {with_box}")

    found = plan_motion(model, start, goal, options=options)
    if not found.success:
        raise SystemExit(found.why)
    proof = prove_path(model, found.motion, slack=SLACK)
    print(f"planned with the box: {found.why}")
    print(
        "  "
        + ", ".join(
            f"{stage} {1e3 * seconds:.0f} ms"
            for stage, seconds in found.seconds.items()
        )
    )
    print(f"  {found.proof}")
    print(f"  followed by a controller: {proof}")
    moved = robot.link_poses(found.path[[0, -1]])
    for name, link in (("left", LEFT), ("right", RIGHT)):
        way = (
            moved[1, robot.link_index(link), 4:] - moved[0, robot.link_index(link), 4:]
        )
        print(
            f"  the {name} hand is moved by "
            f"{', '.join(f'{1e3 * value:+.0f}' for value in way)} mm"
        )
    if args.out:
        found.motion.write(args.out)
    if args.picture:
        save_figure(plot_plan(model, found), args.picture)
    return model, without, with_box, found, proof


if __name__ == "__main__":
    main()
