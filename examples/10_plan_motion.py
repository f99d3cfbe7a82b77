"""Plan a motion: an arm reaches around a board; the motion is found, smoothed, timed,
proved and written for a controller.

The left arm of the bundled robot moves from one side of a board to a point on the
other; the rest of the robot stays where it is. Prints the time of every stage and what
the proof guarantees, returns by a roadmap, and requests a goal that is impossible. With
`--out`, writes the motion (CSV or JSON); `--picture` draws it.

    python examples/10_plan_motion.py --out motion.csv --picture motion.png
"""

from __future__ import annotations

import argparse

import numpy as np

import elbowroom as er
from elbowroom.plan import PlanOptions, PlanResult, Roadmap, plan_motion
from elbowroom.ui.draw import plot_plan, save_figure
from elbowroom.world import Box, World

HAND = "frame_left_arm_ee"
BUFFER = 0.005
"""Clearance kept from everything, in metres."""


def scene(robot: er.Robot) -> er.CollisionModel:
    """The robot with a board beside its left hand."""
    board = Box((0.02, 0.3, 0.4), pose=[1, 0, 0, 0, *beside(robot, 0.14)], name="board")
    return er.CollisionModel(robot, world=World([board]), buffer=BUFFER)


def beside(robot: er.Robot, outwards: float) -> np.ndarray:
    """A point (3,) beside the left hand when both arms are held forward."""
    here = robot.link_poses(robot.named_cfgs["arms_forward"])[robot.link_index(HAND)]
    return here[4:] - np.array([outwards, 0.12, 0.0])  # x is to the right, y forward


def report(name: str, result: PlanResult) -> None:
    """Prints the result and the time of each stage."""
    print(f"{name}: {result.why}")
    print(
        "  "
        + ", ".join(
            f"{stage} {1e3 * seconds:.1f} ms"
            for stage, seconds in result.seconds.items()
        )
    )
    if result.proof is not None:
        print(f"  {result.proof}")


def main(argv: list[str] | None = None) -> tuple[PlanResult, PlanResult, PlanResult]:
    """Plans there, back by a roadmap, and into the board; returns all three results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", help="file for the motion, CSV or JSON")
    parser.add_argument(
        "--picture",
        help="the robot on its way, clearance, joints and speeds, PNG, SVG or PDF",
    )
    args = parser.parse_args(argv)

    model = scene(er.load_robot("teaarm"))
    robot, options = model.robot, PlanOptions(seed=args.seed, rate=200.0)
    arm = [name for name in robot.joint_names if name.startswith("left_")]
    roadmap = Roadmap(model, arm)
    start = robot.named_cfgs["arms_forward"]

    there = plan_motion(
        model, start, {HAND: beside(robot, 0.3)}, arm, options, roadmap=roadmap
    )
    report("there", there)
    if not there:
        return there, there, there
    print(f"  {len(there.path)} rows, {there.times[-1]:.2f} s")
    if args.out:
        there.motion.write(args.out, rate=options.rate)
    if args.picture:
        save_figure(plot_plan(model, there), args.picture)
    back = plan_motion(model, there.path[-1], start, arm, options, roadmap=roadmap)
    report("back", back)
    inside = plan_motion(model, start, {HAND: beside(robot, 0.14)}, arm, options)
    report("into the board", inside)
    return there, back, inside


if __name__ == "__main__":
    main()
