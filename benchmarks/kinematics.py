"""Forward kinematics of all link frames: the core (one thread) and JAX against Pinocchio called per configuration.

Seconds per configuration, smallest of several runs, all in one process: CPU time for Pinocchio and the core,
wall time for JAX, which uses all cores. Pinocchio computes the
joint placements and all frame placements, as we do; its poses are left in its own data structure, ours
are written to an array.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator

import numpy as np

import elbowroom as er
from benchmarks._machine import version
from benchmarks._table import Row
from benchmarks._timing import cpu_seconds, wall_seconds
from elbowroom.errors import ApproximationWarning
from elbowroom.robot.internal import find_robot
from tests.oracles import PinocchioModel, pin

ROBOTS = ("panda", "ur5", "g1_with_hands", "talos")
BATCH = 2_000  # below PARALLEL_ROWS, so the core runs in one thread


def pinocchio_seconds(name: str, cfgs: np.ndarray) -> float:
    oracle = PinocchioModel(find_robot(name).description)
    model, data, rows = oracle.model, oracle.data, oracle.q(cfgs)

    def run() -> None:
        for q in rows:
            pin.framesForwardKinematics(model, data, q)

    return cpu_seconds(run, 5) / len(cfgs)


def measure(name: str) -> tuple[object, ...]:
    import jax

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)
        robot = er.load_robot(name)
    cfgs = robot.random_cfgs(BATCH)
    robot.link_poses(cfgs)
    peer = pinocchio_seconds(name, cfgs)
    core = cpu_seconds(lambda: robot.link_poses(cfgs), 15) / BATCH
    single = jax.numpy.asarray(cfgs, dtype=np.float32)
    start = time.perf_counter()
    robot.forward_kinematics(single).block_until_ready()
    compile_seconds = time.perf_counter() - start
    batched = wall_seconds(lambda: robot.forward_kinematics(single).block_until_ready(), 15) / BATCH
    return (
        name,
        len(robot.link_names),
        peer * 1e6,
        core * 1e6,
        peer / core,
        batched * 1e6,
        peer / batched,
        compile_seconds,
    )


def rows() -> Iterator[Row]:
    """Of the table: the core's and JAX's time beside Pinocchio's."""
    for robot in ROBOTS:
        name, links, peer, core, _, jax, _, _ = measure(robot)
        case, theirs = f"{name}, {links} links", ("us", peer, "Pinocchio", version("Pinocchio"))
        yield Row("kinematics", case, "all link poses by the core, one thread, CPU time", core, *theirs)
        yield Row("kinematics", case, "all link poses by JAX in float32, all cores, wall time", jax, *theirs)


def main() -> None:
    heads = ("robot", "links", "pinocchio us", "core us", "ratio", "jax us", "ratio", "jax compile s")
    print("{:<14}{:>6}{:>14}{:>10}{:>7}{:>8}{:>7}{:>15}".format(*heads))
    for name in ROBOTS:
        print(
            "{:<14}{:>6}{:>14.2f}{:>10.3f}{:>7.1f}{:>8.2f}{:>7.1f}{:>15.2f}".format(*measure(name)),
            flush=True,
        )


if __name__ == "__main__":
    main()
