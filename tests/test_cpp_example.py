"""The core in a controller of C++: `find_package(elbowroom)` compiles it, and a loop at 1 kHz keeps clear."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from elbowroom.cli import main

EXAMPLE = Path(__file__).parent.parent / "examples" / "cpp"
MISSING = "is not installed: run make, which builds the core and installs its sources"


def tool(name: str) -> str | None:
    return shutil.which(name, path=sysconfig.get_path("scripts")) or shutil.which(name)


@pytest.fixture
def cmake_dir(capsys) -> Path:
    assert main(["--cmake-dir"]) == 0
    return Path(capsys.readouterr().out.strip())


def test_headers_sources_and_config_are_installed(cmake_dir):
    for name in ("cmake/elbowroomConfig.cmake", "include/elbowroom/scene.hpp", "src/scene.cpp"):
        assert (cmake_dir.parent / name).is_file(), f"{name} {MISSING}"


@pytest.mark.long
@pytest.mark.skipif(tool("cmake") is None or tool("c++") is None, reason="no CMake or no compiler")
def test_a_loop_at_1_khz_keeps_clear_of_ten_boxes(cmake_dir, tmp_path):
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if tool("ccache") else []
    generator = ["-GNinja", f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}"] if tool("ninja") else []
    configure = [tool("cmake"), "-S", EXAMPLE, "-B", tmp_path, f"-Delbowroom_ROOT={cmake_dir}"]
    subprocess.run([*configure, *generator, *launcher], check=True)
    subprocess.run([tool("cmake"), "--build", tmp_path, "--parallel", "2"], check=True)
    scene = tmp_path / "scene.bin"
    subprocess.run([sys.executable, EXAMPLE / "export_scene.py", scene, "panda"], check=True)
    done = subprocess.run([tmp_path / "control_loop", scene, "10"], capture_output=True, text=True)
    print(done.stdout)  # says how long the worst tick took; -s shows it
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 of 2000 verdicts differ" in done.stdout
    assert "10000 ticks" in done.stdout
