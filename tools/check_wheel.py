"""Installs a wheel into a fresh environment elsewhere and runs what a user runs first (`make wheel-check`).

    python tools/check_wheel.py dist/elbowroom-....whl

The environment has the pins of constraints/run.txt and the wheel, nothing else; package, caches and working folder are
new, and neither the repository nor a compiler is in sight. Fails when the wheel is too large or lacks a variant of the
core, when dependencies do not fit together (`pip check`), when a command or an example fails, or when the variants of
the core disagree on more than the last bits. Seconds of the first and the second time are printed beside their goals,
for an idle machine with two cores.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
HAND = "frame_left_arm_ee"
MAX_SIZE = 6.0
"""Megabytes of a wheel."""
GOALS = {
    "check panda --random 1000": 1.2,
    "check teaarm": 1.2,
    "demo": 10.0,
    f"ik teaarm --target {HAND} 0.3 0.35 0.6": None,
    "plan teaarm --start arms_forward --goal arms_up": 2.0,
    "plan teaarm scene.json --start arms_forward --goal arms_up": None,
    "grasp line --width-mm 30 --check": None,
}
"""Command -> seconds for the first answer, where a goal is set."""
SCENE = """
import elbowroom as er
from elbowroom.world import scene_for
scene_for(er.load_robot("teaarm"), "shelf", seed=1).write("scene.json")
"""

ANSWERS = """
import sys
import numpy as np
import elbowroom as er
from elbowroom import _core
from elbowroom.plan import PlanOptions, PlanProblem, plan_batch, prove_path
from elbowroom.world import World

robot = er.load_robot("teaarm")
model = er.CollisionModel(robot)
cfgs = robot.random_cfgs(5000, seed=1)
alone, world = model.free(cfgs), model.with_world(World.read("scene.json"))
among = world.free(cfgs)
ends = cfgs[among][:18]
problems = [PlanProblem(a, b) for a, b in zip(ends[::2], ends[1::2])]
options = PlanOptions(timeout=60.0, seed=3)
plans, again = (plan_batch(world, problems, options, workers=n) for n in (1, 2))
same = all((p.path == q.path).all() and (p.times == q.times).all() for p, q in zip(plans, again) if p.success)
paths = {f"path{k}": p.path for k, p in enumerate(plans) if p.success}
proved = all(prove_path(world, path).free for path in paths.values())
np.savez(sys.argv[1], variant=_core.VARIANT, alone=alone, among=among, clearance=model.clearance(cfgs[:500]),
         same=same, proved=proved, **paths)
"""
"""What every variant of the core must answer alike: verdicts, which problems are solved, and clearances to a micrometre
(bounds by float32 spheres). Paths may differ, because searches magnify last bits, but each is proved and is the same
for any number of workers."""


def main() -> int:
    """Exit code 1 when a command failed."""
    wheel = Path(sys.argv[1]).resolve()
    _check(wheel)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = _install(wheel, folder)
        _must([python, "-c", SCENE], folder)
        examples = [shutil.copy(path, folder) for path in sorted((ROOT / "examples").glob("*.py"))]
        calls = [(f"elbowroom {command}", ["-m", "elbowroom", *command.split()]) for command in GOALS]
        calls += [(f"example {Path(path).name}", [path]) for path in examples]
        passed = [_try(words, [str(python), *call], folder) for words, call in calls]
        passed += [_try(words, [str(python), *call], folder) for words, call in calls[: len(GOALS)]]
        passed.append(_variants_agree(python, folder))
    return 0 if all(passed) else 1


def _check(wheel: Path) -> None:
    """Prints what a wheel weighs; ends all when it is too large or not for every machine of its kind."""
    size = wheel.stat().st_size / 1e6
    with zipfile.ZipFile(wheel) as archive:
        entries = sorted(archive.infolist(), key=lambda entry: -entry.compress_size)
    heavy = ", ".join(f"{entry.filename} {entry.compress_size / 1e6:.2f}" for entry in entries[:3])
    print(f"{wheel.name}: {size:.1f} MB; {heavy}", flush=True)
    if size > MAX_SIZE:
        raise SystemExit(f"the wheel has {size:.1f} MB, at most {MAX_SIZE:g} are allowed")
    variants = {Path(entry.filename).name.split(".")[0] for entry in entries if "/_core/" in entry.filename}
    if "x86_64" in wheel.name and "manylinux" in wheel.name and not {"v2", "v3"} <= variants:
        raise SystemExit(
            f"a wheel for every x86-64 has the variants v2 and v3 of the core, found {sorted(variants)}"
        )


def _install(wheel: Path, folder: Path) -> Path:
    """Makes the environment; the path of its Python."""
    subprocess.run([sys.executable, "-m", "venv", folder / "env"], check=True)
    python = folder / "env" / "bin" / "python"
    pip = [python, "-m", "pip", "--disable-pip-version-check"]
    pinned = [*pip, "install", "--quiet", "--no-deps", "--require-hashes", "-r"]
    subprocess.run([*pinned, ROOT / "constraints" / "run.txt"], check=True)
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--no-index", wheel], check=True)
    print(_must([*pip, "check"], folder).strip(), flush=True)
    (folder / "robots.txt").write_text(
        _pin("example-robot-data")
    )  # panda: a robot that does not come with us
    subprocess.run([*pinned, folder / "robots.txt"], check=True)
    place = _must([python, "-c", "import elbowroom; print(elbowroom.__file__)"], folder)
    if not place.startswith(str(folder / "env")):
        raise SystemExit(f"the wheel is not what is imported: {place}")
    return python


def _variants_agree(python: Path, folder: Path) -> bool:
    """Whether the variant that runs here and the one for every processor answer alike; removes the first."""
    _must([python, "-c", ANSWERS, "first.npz"], folder)
    variants = sorted(folder.glob("env/lib/python*/site-packages/elbowroom/_core/v*.so"))
    if len(variants) < 2:
        return True
    variants[-1].unlink()
    _must([python, "-c", ANSWERS, "second.npz"], folder)
    a, b = np.load(folder / "first.npz"), np.load(folder / "second.npz")
    if a["variant"] == b["variant"]:
        print(f"only {a['variant']} runs on this machine, so variants were not compared", flush=True)
        return bool(a["same"] and a["proved"])
    equal = [name for name in ("alone", "among") if (a[name] == b[name]).all()]
    paths = sorted(name for name in a.files if name.startswith("path"))
    solved = paths == sorted(name for name in b.files if name.startswith("path"))
    off = float(np.abs(a["clearance"] - b["clearance"]).max())
    alike = sum(a[n].shape == b[n].shape and np.abs(a[n] - b[n]).max() < 1e-6 for n in paths if n in b.files)
    repeated = all(bool(found["same"] and found["proved"]) for found in (a, b))
    verdicts = "equal" if len(equal) == 2 else "DIFFER"
    print(f"{a['variant']} and {b['variant']}: verdicts {verdicts}, clearances to {off:.1g} m", flush=True)
    print(
        f"the same problems solved: {solved}, {alike} of {len(paths)} paths alike, repeated and proved: {repeated}"
    )
    return len(equal) == 2 and off < 1e-6 and solved and repeated


def _pin(name: str) -> str:
    """The lines of constraints/dev.txt that pin one distribution."""
    text = (ROOT / "constraints" / "dev.txt").read_text()
    found = re.search(rf"^{name}==.*\n(?: +.*\n)*", text, re.MULTILINE)
    if found is None:
        raise SystemExit(f"constraints/dev.txt has no pin of {name}")
    return found[0]


def _elsewhere(folder: Path) -> dict[str, object]:
    """A working folder and an environment in which nothing points back to a checkout or a filled cache."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "ELBOWROOM"))}
    clean["ELBOWROOM_CACHE"] = str(folder / "cache")
    clean["PATH"] = str(folder / "env" / "bin")  # no compiler
    return {"cwd": folder, "env": clean, "capture_output": True, "text": True}


def _must(call: list[object], folder: Path) -> str:
    """What a call prints; ends all when it fails."""
    done = subprocess.run([str(word) for word in call], **_elsewhere(folder))
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, call))[:200]} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def _try(words: str, call: list[str], folder: Path) -> bool:
    """Runs a call; whether it worked."""
    began = time.perf_counter()
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(call, **_elsewhere(folder))
    seconds = time.perf_counter() - began
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - spent
    goal = GOALS.get(words.removeprefix("elbowroom "))
    goal_text = f", goal {goal:g} s" if goal else ""
    print(f"{words}: {seconds:.1f} s ({spent:.1f} s of CPU time){goal_text}", flush=True)
    if done.returncode not in (0, 1):  # 1: the answer is no
        print(done.stderr)
    return done.returncode in (0, 1)


if __name__ == "__main__":
    sys.exit(main())
