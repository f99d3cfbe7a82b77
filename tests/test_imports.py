"""Folders are entered by `__init__`, `kernels` or `doors`, and imports point one way."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import elbowroom

from .surface import Surface, definition

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
    "bridges",
    "formats",
    "ui",
    "cli",
)
"""Each folder imports only from those before it."""
ENTRANCES = ("kernels", "doors")
"""Modules of a folder that other folders may enter it by, beside its `__init__`."""
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


@pytest.mark.parametrize("module", MODULES)
def test_what_others_take_is_public_or_behind_a_door(module):
    """A name that a folder does not list is taken from its doors, not from what its `__init__` happens to hold."""
    taken = [
        ".".join(path)
        for path in imported(module)
        if path[0] in ORDER[:-1] and path[0] != module.split("/")[0] and len(path) == 2
        if path[1] not in (*listed(ROOT / path[0]), *ENTRANCES) and not (ROOT / path[0] / path[1]).is_dir()
    ]
    assert taken == []


@cache
def listed(folder: Path) -> tuple[str, ...]:
    return Surface.of((folder / "__init__.py").read_text(encoding="utf-8")).listed


KERNELS = [name for name in MODULES if "_jit import njit" in (ROOT / name).read_text(encoding="utf-8")]


@pytest.mark.parametrize("module", KERNELS)
def test_kernels_take_only_types_through_doors(module):
    """Compiled code is not made anew for what changes behind a door, so nothing that is compiled may come from there."""
    for path in imported(module):
        if "doors" in path:
            found = definition(ROOT.joinpath(*path[:-1]).with_suffix(".py"), path[-1])
            assert isinstance(found.node, ast.ClassDef), path


@pytest.mark.parametrize(
    "module", [name for name in MODULES if "/" in name and Path(name).stem != "__main__"]
)
def test_imports_point_one_way(module):
    """Programs (`__main__`) stand above all folders: nothing imports them."""
    folder = module.split("/")[0]
    if folder not in ORDER:
        return
    later = {
        path[0]
        for path in imported(module)
        if path[0] in ORDER and ORDER.index(path[0]) > ORDER.index(folder)
    }
    assert later == set()


@pytest.mark.parametrize("entrance", ["robot", "robot.doors", "distance", "distance.doors"])
def test_robots_and_spheres_load_neither_numba_nor_jax(entrance):
    code = f"import sys, elbowroom.{entrance}; sys.exit(', '.join({{'numba', 'jax', 'mujoco'}} & set(sys.modules)))"
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
    (tmp_path / "grasp" / "_late.py").write_text(
        "from ..robot import hidden, shown\nfrom ..robot.doors import LIMIT\n"
    )
    (tmp_path / "robot" / "__init__.py").write_text('__all__ = ["shown"]\n')
    (tmp_path / "robot" / "doors.py").write_text("LIMIT = 3\n")
    assert set(imported("grasp/_bad.py")) == {
        ("robot", "_kernels", "x"), ("robot", "_types", "y"), ("robot", "_tree"), ("robot", "_mjcf"),
    }  # fmt: skip
    with pytest.raises(AssertionError):
        test_no_folder_reaches_into_another("grasp/_bad.py")
    with pytest.raises(AssertionError, match="robot.hidden"):
        test_what_others_take_is_public_or_behind_a_door("grasp/_late.py")
    with pytest.raises(AssertionError, match="LIMIT"):
        test_kernels_take_only_types_through_doors("grasp/_late.py")
