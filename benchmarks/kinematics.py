"""Forward kinematics of all link frames: numba (one thread) and JAX against Pinocchio called per configuration.

CPU seconds per configuration, smallest of several runs, all in one process. Pinocchio computes the
joint placements and all frame placements, as we do; its poses are left in its own data structure, ours
are written to an array.
"""

from __future__ import annotations

import time
import warnings

import numpy as np

import elbowroom as er
from benchmarks._timing import cpu_seconds
from elbowroom.errors import ApproximationWarning
from elbowroom.robot._catalogue import find_robot

ROBOTS = ("panda", "ur5", "g1_with_hands", "talos")
BATCH = 2_000  # below PARALLEL_ROWS, so numba runs in one thread


def pinocchio_seconds(name: str, cfgs: np.ndarray, robot: er.Robot) -> float:
    import pinocchio as pin

    model = pin.buildModelFromUrdf(str(find_robot(name).description))
    data = model.createData()
    order = [model.joints[model.getJointId(joint.name)].idx_q for joint in robot.tree.moving]
    rows = np.zeros((len(cfgs), model.nq))
    rows[:, order] = robot.tree.expand(cfgs)

    def run() -> None:
        for q in rows:
            pin.framesForwardKinematics(model, data, q)

    return cpu_seconds(run, 5) / len(cfgs)


def main() -> None:
    import jax

    print(
        f"{'robot':<14}{'links':>6}{'pinocchio us':>14}{'numba us':>10}{'ratio':>7}{'jax us':>8}{'ratio':>7}{'jax compile s':>15}"
    )
    for name in ROBOTS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ApproximationWarning)
            robot = er.load_robot(name)
        cfgs = robot.random_cfgs(BATCH)
        robot.link_poses(cfgs)
        peer = pinocchio_seconds(name, cfgs, robot)
        numba = cpu_seconds(lambda: robot.link_poses(cfgs), 15) / BATCH
        single = jax.numpy.asarray(cfgs, dtype=np.float32)
        start = time.perf_counter()
        robot.forward_kinematics(single).block_until_ready()
        compile_seconds = time.perf_counter() - start
        batched = cpu_seconds(lambda: robot.forward_kinematics(single).block_until_ready(), 7) / BATCH
        print(
            f"{name:<14}{len(robot.link_names):>6}{peer * 1e6:>14.2f}{numba * 1e6:>10.3f}{peer / numba:>7.1f}"
            f"{batched * 1e6:>8.2f}{peer / batched:>7.1f}{compile_seconds:>15.2f}"
        )


if __name__ == "__main__":
    main()
