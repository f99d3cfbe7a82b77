"""Installs a wheel with kernels into a fresh environment elsewhere and times first answers there (`make wheel-check`).

    python tools/check_wheel.py dist/elbowroom-....whl

The environment borrows the dependencies of the one that runs this script, nothing else: package, caches and working
folder are new. Fails when anything had to be compiled, which a busy machine does not change, or when a command fails;
seconds are printed beside their goals, for an idle machine with two cores.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

GOALS = {"check panda --random 1000": 4.0, "check teaarm": 4.0, "demo": 25.0}
"""Command -> seconds for the first answer."""


def main() -> int:
    """Exit code 1 when a kernel of the wheel was not used."""
    wheel = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
        site = next((folder / "env" / "lib").glob("python*/site-packages"))
        (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
        python = folder / "env" / "bin" / "python"
        pip = [
            sys.executable,
            "-m",
            "pip",
            "--python",
            python,
            "install",
            "--quiet",
            "--no-deps",
            "--no-index",
        ]
        subprocess.run([*pip, wheel], check=True)
        found = subprocess.run(
            [python, "-c", "import elbowroom; print(elbowroom.__file__)"], **_elsewhere(folder)
        )
        if not found.stdout.startswith(str(site)):
            raise SystemExit(f"the wheel is not what is imported: {found.stdout}{found.stderr}")
        failed = [command for command in GOALS if not _try(python, command, folder)]
    return 1 if failed else 0


def _elsewhere(folder: Path) -> dict[str, object]:
    """A working folder and an environment in which nothing points back to a checkout or a filled cache."""
    clean = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("PYTHON", "NUMBA", "ELBOWROOM"))
    }
    clean["ELBOWROOM_CACHE"] = str(folder / "cache")
    return {"cwd": folder, "env": clean, "capture_output": True, "text": True}


def _try(python: Path, command: str, folder: Path) -> bool:
    """Runs a command; whether it worked and compiled nothing."""
    before, began = _compiled(folder), time.perf_counter()
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run([python, "-m", "elbowroom", *command.split()], **_elsewhere(folder))
    seconds = time.perf_counter() - began
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - spent
    new = sorted(_compiled(folder) - before)
    print(
        f"elbowroom {command}: {seconds:.1f} s ({spent:.1f} s of CPU time), goal {GOALS[command]:.0f} s; "
        f"{len(new)} specialisations compiled"
    )
    for path in new:
        print(f"  not in the wheel: {path}")
    if done.returncode not in (0, 1):  # 1: the answer is no
        print(done.stderr)
    return done.returncode in (0, 1) and not new


def _compiled(folder: Path) -> set[str]:
    """Compiled kernels that did not come with the wheel."""
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*.nbc"))
    return {path for path in found if "/_shipped/" not in path}


if __name__ == "__main__":
    sys.exit(main())
