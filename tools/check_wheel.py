"""Installs a wheel into a fresh environment elsewhere and runs what a user runs first (`make wheel-check`).

    python tools/check_wheel.py dist/elbowroom-....whl

The environment has the pins of constraints/run.txt and the wheel, nothing else; package, caches and working folder are
new, and the repository is out of sight. Fails when dependencies do not fit together (`pip check`), or when a command or
an example fails. Seconds are printed beside their goals, for an idle machine with two cores.
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
from pathlib import Path

ROOT = Path(__file__).parent.parent
HAND = "frame_left_arm_ee"
GOALS = {
    "check panda --random 1000": 8.0,  # fits spheres and decides pairs, which all verbs then share
    "check teaarm": 4.0,
    "demo": 25.0,
    f"ik teaarm --target {HAND} 0.3 0.35 0.6": None,
    "plan teaarm --start arms_forward --goal arms_up": None,
    "plan teaarm scene.json --start arms_forward --goal arms_up": None,
    "grasp line --width-mm 30 --check": None,
}
"""Command -> seconds for the first answer, where a goal is set."""
SCENE = """
import elbowroom as er
from elbowroom.world import scene_for
scene_for(er.load_robot("teaarm"), "shelf", seed=1).write("scene.json")
"""


def main() -> int:
    """Exit code 1 when a command failed."""
    wheel = Path(sys.argv[1]).resolve()
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = _install(wheel, folder)
        _must([python, "-c", SCENE], folder)
        examples = [shutil.copy(path, folder) for path in sorted((ROOT / "examples").glob("*.py"))]
        calls = [(f"elbowroom {command}", ["-m", "elbowroom", *command.split()]) for command in GOALS]
        calls += [(f"example {Path(path).name}", [path]) for path in examples]
        passed = [_try(words, [str(python), *call], folder) for words, call in calls]
    return 0 if all(passed) else 1


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
