"""Plan many: plan a batch of dual-arm motions between two tables on all cores or a
cluster, with the same answers for any number of workers.

Draws free starts and goals and plans all of them, first with one worker and then with
all. Prints how long that took, how many motions were found and proved, and that the
answers are identical to the last bit. `--backend` runs the work in processes (loky) or
on a cluster (dask, ray).

    python examples/12_plan_many.py --problems 8
"""

from __future__ import annotations

import argparse
import time
from contextlib import AbstractContextManager, nullcontext

import joblib
import numpy as np

import elbowroom as er
from elbowroom.plan import PlanOptions, PlanProblem, PlanResult, plan_batch
from elbowroom.world import World, scene_for


def drawn(
    model: er.CollisionModel, world: World, count: int, seed: int
) -> list[PlanProblem]:
    """Problems between random configurations that are free in the world."""
    cfgs = model.robot.random_cfgs(20 * count + 20, seed)
    free = cfgs[model.with_world(world).free(cfgs)]
    return [
        PlanProblem(start, goal, world=world)
        for start, goal in zip(free[:count], free[count : 2 * count], strict=True)
    ]


def workers_of(backend: str) -> AbstractContextManager:
    """Where the planning runs: threads of this process, or a joblib backend."""
    if backend == "threads":
        return nullcontext()
    if backend == "dask":
        from distributed import Client

        Client()  # local workers; pass the address of a scheduler for a cluster
    elif backend == "ray":
        from ray.util.joblib import register_ray

        register_ray()
    return joblib.parallel_config(backend=backend)


def main(
    argv: list[str] | None = None,
) -> tuple[
    er.CollisionModel, list[PlanProblem], tuple[PlanResult, ...], tuple[PlanResult, ...]
]:
    """Plans and prints; returns model, problems, results of one worker and of all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--problems", type=int, default=8)
    parser.add_argument(
        "--backend", choices=("threads", "loky", "dask", "ray"), default="threads"
    )
    args = parser.parse_args(argv)

    robot = er.load_robot("teaarm")
    model = er.CollisionModel(robot, buffer=0.002)  # clearance to keep, in metres
    half = args.problems // 2
    problems = [
        *drawn(model, scene_for(robot, "table", seed=1), half, seed=1),
        *drawn(model, scene_for(robot, "table", seed=2), args.problems - half, seed=2),
    ]
    options = PlanOptions(timeout=30.0, seed=0)
    plan_batch(model, problems[:1], options)  # the first plan prepares the model

    begun = time.perf_counter()
    alone = plan_batch(model, problems, options, workers=1)
    print(f"one worker: {time.perf_counter() - begun:.2f} s")
    with workers_of(args.backend):
        begun = time.perf_counter()
        together = plan_batch(model, problems, options)
    print(f"all workers, {args.backend}: {time.perf_counter() - begun:.2f} s")

    proved = [result for result in together if result.success]
    print(
        f"{len(proved)} of {len(problems)} found and proved, "
        f"{sum(len(result.path) for result in proved)} rows"
    )
    if proved:
        margin, longest = (
            min(r.proof.margin for r in proved),
            max(r.times[-1] for r in proved),
        )
        print(
            f"least margin of a proof {1e3 * margin:.2f} mm, longest motion "
            f"{longest:.1f} s"
        )
    same = all(
        np.array_equal(a.path, b.path) for a, b in zip(alone, together, strict=True)
    )
    print(
        f"the answers are {'the same' if same else 'not the same'} for any number of "
        "workers"
    )
    return model, problems, alone, together


if __name__ == "__main__":
    main()
