"""plan_motion with a cup kept upright within 5 degrees: solved share, times, and how upright it is by Pinocchio.

The cup stands in the hand of the panda, which points down at start and goal, in generated tables, shelves and cages.
The rows of a motion and the straight lines between them are checked every milliradian of the largest joint motion:
Pinocchio places the hand, so our own code has no say in whether it is upright. Collisions are checked as in
`benchmarks.plan`. Times are CPU seconds of one thread, of one call.

    python -m benchmarks.plan_keep [--count N] [--timeout SECONDS]
"""

from __future__ import annotations

import argparse
import itertools
import time

import numpy as np
from scipy.spatial.transform import Rotation

import elbowroom as er
from benchmarks._plan_problems import KINDS, PER_SCENE, bare
from benchmarks.plan import both
from elbowroom.plan import PlanOptions, UprightCost, plan_motion
from elbowroom.world import scene_for
from tests.oracles import pin
from tests.plan_oracles import PathJudge

HAND = "panda_hand"
TOLERANCE = np.radians(5.0)
LOOK = 1e-3
"""Largest joint motion between two looks (rad, m)."""
LOW, HIGH = (0.3, -0.5, 0.2), (0.6, 0.5, 0.7)
"""Where the hand is at start and goal, metres."""


def pointing_down(solver: er.IkSolver, rng: np.random.Generator) -> np.ndarray:
    """A free configuration with the hand pointing down."""
    while True:
        T = np.eye(4)
        T[:3, :3] = (
            Rotation.from_euler("z", rng.uniform(-2, 2)) * Rotation.from_euler("x", np.pi)
        ).as_matrix()
        T[:3, 3] = rng.uniform(LOW, HIGH)
        found = solver.solve({HAND: T})
        if found.success:
            return found.cfg


def tilt(judge: PathJudge, path: np.ndarray) -> float:
    """The largest angle between the hand's axis and straight down on a path, rad, by Pinocchio."""
    kinematics = judge.bare.kinematics  # pyright: ignore[reportAttributeAccessIssue]
    model, data = kinematics.model, kinematics.data
    frame = model.getFrameId(HAND, pin.FrameType.BODY)
    most = 0.0
    for a, b in itertools.pairwise(path):
        count = max(2, int(np.ceil(np.abs(b - a).max() / LOOK)) + 1)
        for q in kinematics.q(np.linspace(a, b, count)):
            pin.framesForwardKinematics(model, data, q)
            axis = data.oMf[frame].rotation[:, 2]
            most = max(most, float(np.arctan2(np.hypot(axis[0], axis[1]), -axis[2])))
    return most


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="problems")
    parser.add_argument("--timeout", type=float, default=PlanOptions().timeout)
    args = parser.parse_args()
    alone = bare("panda")
    own = PathJudge(alone)
    cup = UprightCost(alone.robot, HAND, direction=(0, 0, -1), tolerance=TOLERANCE)
    seconds: list[float] = []
    tilts: list[float] = []
    faults = 0
    for scene in range(-(-args.count // PER_SCENE)):
        kind, seed = KINDS[scene % len(KINDS)], scene // len(KINDS)
        model = alone.with_world(scene_for(alone.robot, kind, seed))
        judge = PathJudge(alone, model.world, oracle=own.bare, pairs=own.own_pairs)
        solver, rng = er.IkSolver(model), np.random.default_rng([31, scene])
        for k in range(min(PER_SCENE, args.count - scene * PER_SCENE)):
            start, goal = pointing_down(solver, rng), pointing_down(solver, rng)
            begun = time.process_time()
            result = plan_motion(model, start, goal, options=PlanOptions(timeout=args.timeout), keep=cup)
            took = time.process_time() - begun
            if result.path is None:
                print(
                    f"  {kind}_{seed}_{k}: not solved in {took:.2f} s of CPU: {result.why:.160}", flush=True
                )
                continue
            seconds.append(took)
            tilts.append(tilt(judge, result.path))
            found = judge.faults(result.path, alone.robot.joint_names, (start, goal))
            faults += bool(found)
            for text in found:
                print(f"  {kind}_{seed}_{k}: the judge finds: {text}", flush=True)
    print(f"\n{len(seconds)} of {args.count} solved; CPU time, median / 95 %: {both(seconds)} ms")
    beyond = sum(t > TOLERANCE + 1e-9 for t in tilts)
    print(
        f"Largest tilt by Pinocchio: {np.degrees(max(tilts)):.4f} degrees; beyond 5 degrees: {beyond} motions"
    )
    print(f"Paths in which the judge finds a fault: {faults}")


if __name__ == "__main__":
    main()
