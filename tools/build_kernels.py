"""Compiles the package's kernels ahead of time into `src/elbowroom/_shipped`, for the wheel (`make kernels`).

    python tools/build_kernels.py

Runs what users run on the bundled robots, the examples among it, told to compile for x86-64-v3 (AVX2 and FMA: Intel
since Haswell, AMD since Excavator) instead of this machine, and keeps the code. A kernel or a signature that nothing
here asks for is compiled on the user's machine when it is first needed, so a gap costs a wait, never an answer. What an
earlier run compiled and still holds is kept.
"""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba

from elbowroom._kernel_cache import PACKAGE, SHIPPED, SHIPPED_CPU, source_stamp

EXAMPLES = Path(__file__).parent.parent / "examples"
USED_OFTEN = """
import sys
import numpy as np
import elbowroom as er
from elbowroom.mesh import Box
from elbowroom.world import PointCloud, scene_for

robot = er.load_robot(sys.argv[1])
model = er.CollisionModel(robot)
exact = er.ExactCollision(robot, model.pairs)
cfgs = robot.random_cfgs(4096)
free = model.free(cfgs)
model.free(cfgs[0]), model.free(cfgs, by="spheres"), model.free(cfgs[0], by="spheres")
for cfg in [robot.default_cfg, *cfgs[free][:2], *cfgs[~free][:2]]:
    model.explain(cfg), model.clashes(cfg), model.clearance(cfg), model.clearance(cfg, exact=True)
    model.segment_free(robot.default_cfg, cfg), exact.contacts(cfg), exact.distances(cfg)
model.clearance(cfgs[:64]), exact.free(cfgs[:64])
held = model.attach("held", robot.mesh_links[-1], Box((0.02, 0.02, 0.02)))
held.free(cfgs), held.explain(cfgs[0]), held.detach("held")
checker = er.SelfCollisionChecker(robot, model.spheres, model.pairs.checked)
checker.free(cfgs), checker.free(cfgs[0]), checker.min_distance(cfgs)
checker.worst(cfgs[0]), checker.pair_hits(cfgs[:64])
robot.link_poses(cfgs), robot.link_poses(cfgs[0]), robot.jacobian(cfgs[0], robot.link_names[-1])
er.prove_coverage(robot, model.spheres)
world = scene_for(robot, "workshop")
cloud = PointCloud(world.distance_and_gradient(np.zeros((8, 3)))[1] + [[2.0, 2.0, 2.0]], 0.1)
among = model.with_world(world.add(cloud))
free = among.free(cfgs)
among.free(cfgs[0]), among.free(cfgs, by="spheres"), among.clearance(cfgs[:64]), among.in_contact()
for cfg in [robot.default_cfg, *cfgs[free][:2], *cfgs[~free][:2]]:
    among.explain(cfg), among.clearance(cfg, exact=True), among.segment_free(robot.default_cfg, cfg)
world.box_intersects(np.zeros((8, 3)), np.full((8, 3), 0.1), np.eye(3)), world.nearest(np.zeros((8, 3)))
"""
"""Python calls, on the robot named by the argument."""

PLANNING = """
import numpy as np
import elbowroom as er
from elbowroom.plan import PlanOptions, Roadmap, Stomp, StompOptions, plan_motion, prove_path
from elbowroom.world import Box, World

robot = er.load_robot("teaarm")
alone = er.CollisionModel(robot)
start, goal = robot.named_cfgs["arms_forward"], robot.named_cfgs["arms_up"]
hand = robot.link_index("frame_left_arm_ee")
between = robot.link_poses(0.5 * (start + goal))[hand, 4:]
board = Box((0.02, 0.02, 0.02), pose=[1, 0, 0, 0, *between], name="board")
arm = [name for name in robot.joint_names if name.startswith("left_")]
there = np.where([name in arm for name in robot.joint_names], goal, start)
for model in (alone, alone.with_world(World([board]))):
    for options in (PlanOptions(method="sampler"), PlanOptions(jerk_limits=100.0)):
        found = plan_motion(model, start, there, arm, options)
        assert found, found.why
        prove_path(model, found.waypoints), prove_path(model, found.path), prove_path(model, found.motion)
    plan_motion(model, start, goal)
    Stomp(model, start, there, arm, options=StompOptions(iterations=3)).run()
    roadmap = Roadmap(model, arm)
    plan_motion(model, start, there, arm, roadmap=roadmap), plan_motion(model, there, start, arm, roadmap=roadmap)
"""
"""Plans without and among obstacles, whose straight line is blocked."""


def main() -> int:
    """Compiles in as many processes as there are cores, then replaces the folder of shipped kernels."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if SHIPPED.is_dir():
            shutil.copytree(SHIPPED, folder / "elbowroom")
        boxes = [folder / f"{kind}.obj" for kind in ("box", "overlaps", "apart", "inside")]
        for path, shift, size in zip(boxes, (0.0, 0.5, 2.0, 0.3), (1.0, 1.0, 1.0, 0.3), strict=True):
            path.write_text(_box(shift, size))
        environment = dict(os.environ)
        environment |= {"NUMBA_CPU_NAME": SHIPPED_CPU, "NUMBA_CPU_FEATURES": ""}
        environment |= {"NUMBA_CACHE_DIR": name, "ELBOWROOM_CACHE": f"{name}/results"}
        verb = [sys.executable, "-m", "elbowroom"]
        calls = [
            [sys.executable, "-c", USED_OFTEN, "rh56"],
            [*verb, "spheres", "rh56", "-n", "40"],  # the default is shipped and would not be fitted
            [*verb, "spheres", "rh56", "--method", "centerline"],
            [*verb, "pairs", "rh56", "--samples", "1000"],
            [*verb, "check", "teaarm", "--random", "1000"],
            [*verb, "check", "rh56", "--random", "100", "--buffer", "0.001", "--by", "spheres"],
            [sys.executable, "-c", USED_OFTEN, "teaarm"],
            [sys.executable, "-c", PLANNING],
            [*verb, "demo", "--out", f"{name}/demo"],
            [*verb, "info", "teaarm"],
            [*verb, "ik", "teaarm", "--target", "frame_left_arm_ee", "0.3", "0.35", "0.6"],
            [*verb, "ik", "teaarm", "--target", "frame_left_arm_ee", "10", "0", "0.6"],
            [*verb, "ik", "teaarm", "--serve"],  # of an input that is at its end: it prepares, and stops
            *([*verb, "mesh", str(boxes[0]), str(other)] for other in boxes[1:]),
            *([*verb, "grasp", mode, "--check"] for mode in ("line", "plane", "cylinder")),
            [*verb, "grasp", "--method", "proportional"],
            *([sys.executable, str(path)] for path in sorted(EXAMPLES.glob("*.py"))),
        ]

        def run(call: list[str]) -> None:
            done = subprocess.run(
                call, env=environment, cwd=name, stdin=subprocess.DEVNULL, capture_output=True, text=True
            )
            allowed = (0, 1) if call[1] == "-m" else (0,)  # 1 of a command: the answer is no
            if done.returncode not in allowed:
                raise SystemExit(f"{' '.join(call)[:200]} failed:\n{done.stderr}")
            words = " ".join(call[1:]).replace(USED_OFTEN, "...").replace(PLANNING, "plans").replace(name, "")
            print(f"{time.perf_counter() - began:6.0f} s  {words}", flush=True)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(run, calls))
        shutil.rmtree(SHIPPED, ignore_errors=True)
        _copy_valid(folder / "elbowroom", SHIPPED)
    files = list(SHIPPED.rglob("*.nb?"))
    code = [path for path in files if path.suffix == ".nbc"]
    size = sum(path.stat().st_size for path in files) / 1e6
    print(f"{len(code)} specialisations of {len(files) - len(code)} kernels, {size:.1f} MB in {SHIPPED}")
    return 0


def _copy_valid(source: Path, target: Path) -> None:
    """Copies the kernels whose stamp still holds, each with the code that its index names."""
    for index in source.rglob("*.nbi"):
        module = PACKAGE / index.parent.relative_to(source) / f"{index.name.split('.')[0]}.py"
        with index.open("rb") as file:
            version = pickle.load(file)
            stamp, code = pickle.loads(file.read())
        if version != numba.__version__ or not module.is_file() or stamp != source_stamp(module):
            continue
        place = target / index.parent.relative_to(source)
        place.mkdir(parents=True, exist_ok=True)
        for name in (index.name, *code.values()):
            shutil.copy(index.parent / name, place / name)


def _box(shift: float, size: float) -> str:
    """A box as an OBJ file, moved along the diagonal."""
    ends = shift, shift + size
    corners = [(x, y, z) for x in ends for y in ends for z in ends]
    faces = ["1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4"]
    return "".join(f"v {x} {y} {z}\n" for x, y, z in corners) + "".join(f"f {face}\n" for face in faces)


if __name__ == "__main__":
    sys.exit(main())
