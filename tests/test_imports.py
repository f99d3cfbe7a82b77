"""Folders are entered by their `__init__`, and imports point one way."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import elbowroom

ROOT = Path(elbowroom.__file__).parent
ORDER = (
    "robot",
    "spheres",
    "mesh",
    "distance",
    "pairs",
    "world",
    "collision",
    "ik",
    "plan",
    "grasp",
    "formats",
    "ui",
    "cli",
)
"""Each folder imports only from those before it."""
MODULES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))


def imported(module: str) -> list[tuple[str, ...]]:
    """Paths inside the package that a module imports, TYPE_CHECKING and function bodies included."""
    found: list[tuple[str, ...]] = []
    here = Path(module).parent.parts
    for node in ast.walk(ast.parse((ROOT / module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = here[: len(here) - node.level + 1]
            target = (*base, *(node.module.split(".") if node.module else ()))
            found += [(*target, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "elbowroom":
            found += [(*node.module.split(".")[1:], alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [tuple(a.name.split(".")[1:]) for a in node.names if a.name.startswith("elbowroom.")]
    return found


@pytest.mark.parametrize("module", MODULES)
def test_no_folder_reaches_into_another(module):
    reached = [
        ".".join(path)
        for path in imported(module)
        if path[0] != module.split("/")[0]  # another folder or a module at the top
        and (ROOT / path[0]).is_dir()
        and any(part.startswith("_") for part in path[1:])
    ]
    assert reached == []


@pytest.mark.parametrize("module", [name for name in MODULES if "/" in name])
def test_imports_point_one_way(module):
    folder = module.split("/")[0]
    if folder not in ORDER:
        return
    later = {
        path[0]
        for path in imported(module)
        if path[0] in ORDER and ORDER.index(path[0]) > ORDER.index(folder)
    }
    assert later == set()


def test_the_robot_folder_loads_neither_numba_nor_jax():
    code = "import sys, elbowroom.robot; sys.exit(', '.join({'numba', 'jax', 'mujoco'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stderr.strip() == ""


def test_the_check_itself_sees_what_it_should(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.test_imports.ROOT", tmp_path)
    (tmp_path / "grasp").mkdir()
    (tmp_path / "robot").mkdir()
    (tmp_path / "grasp" / "_bad.py").write_text(
        "from ..robot._kernels import x\nfrom elbowroom.robot._types import y\nimport elbowroom.robot._tree\n"
        "def f():\n    from ..robot import _mjcf\n"
    )
    assert set(imported("grasp/_bad.py")) == {
        ("robot", "_kernels", "x"), ("robot", "_types", "y"), ("robot", "_tree"), ("robot", "_mjcf"),
    }  # fmt: skip
    with pytest.raises(AssertionError):
        test_no_folder_reaches_into_another("grasp/_bad.py")
