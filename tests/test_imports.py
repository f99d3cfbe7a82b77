"""Folders are entered by `__init__` or `internal`, and imports point one way."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import elbowroom

from .surface import Surface

ROOT = Path(elbowroom.__file__).parent
ORDER = (
    "robot",
    "recordings",
    "spheres",
    "mesh",
    "distance",
    "pairs",
    "world",
    "collision",
    "ik",
    "plan",
    "grasp",
    "remote",
    "bridges",
    "formats",
    "ui",
    "cli",
)
"""Each folder imports only from those before it."""
ENTRANCES = ("internal",)
"""Modules of a folder that other folders may enter it by, beside its `__init__`."""
MODULES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(module: str) -> list[tuple[str, ...]]:
    """Paths inside the package that a module imports, TYPE_CHECKING and function bodies included."""
    found: list[tuple[str, ...]] = []
    here = Path(module).parent.parts
    for node in ast.walk(_parsed(ROOT / module)):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = here[: len(here) - node.level + 1]
            target = (*base, *(node.module.split(".") if node.module else ()))
            found += [(*target, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "elbowroom":
            found += [(*node.module.split(".")[1:], alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [tuple(a.name.split(".")[1:]) for a in node.names if a.name.startswith("elbowroom.")]
    return found


def into_private_modules(module: str) -> list[str]:
    """Underscore modules of other folders that a module imports."""
    return [
        f"{module}: {'.'.join(path)}"
        for path in imported(module)
        if path[0] != module.split("/")[0]  # another folder or a module at the top
        and (ROOT / path[0]).is_dir()
        and any(part.startswith("_") for part in path[1:])
    ]


def unlisted(module: str) -> list[str]:
    """Names that a module takes from the `__init__` of another folder, which does not list them."""
    return [
        f"{module}: {'.'.join(path)}"
        for path in imported(module)
        if path[0] in ORDER[:-1] and path[0] != module.split("/")[0] and len(path) == 2
        if path[1] not in (*listed(ROOT / path[0]), *ENTRANCES) and not (ROOT / path[0] / path[1]).is_dir()
    ]


def upwards(module: str) -> list[str]:
    """Later folders that a module imports; programs (`__main__`) stand above all folders."""
    folder = module.split("/")[0]
    if folder not in ORDER or Path(module).stem == "__main__":
        return []
    later = {path[0] for path in imported(module) if path[0] in ORDER[ORDER.index(folder) + 1 :]}
    return [f"{module}: {name}" for name in sorted(later)]


@pytest.mark.parametrize("fault", [into_private_modules, unlisted, upwards])
def test_imports_of_all_modules(fault):
    assert [found for module in MODULES for found in fault(module)] == [], fault.__doc__


@cache
def listed(folder: Path) -> tuple[str, ...]:
    return Surface.of((folder / "__init__.py").read_text(encoding="utf-8")).listed


@pytest.mark.parametrize("entrance", ["robot", "robot.internal", "distance", "distance.internal"])
def test_robots_and_spheres_load_neither_jax_nor_mujoco(entrance):
    code = f"import sys, elbowroom.{entrance}; sys.exit(', '.join({{'jax', 'mujoco'}} & set(sys.modules)))"
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
        "from ..robot import hidden, shown\nfrom ..robot.internal import LIMIT\n"
    )
    (tmp_path / "robot" / "__init__.py").write_text('__all__ = ["shown"]\n')
    (tmp_path / "robot" / "internal.py").write_text("LIMIT = 3\n")
    assert set(imported("grasp/_bad.py")) == {
        ("robot", "_kernels", "x"), ("robot", "_types", "y"), ("robot", "_tree"), ("robot", "_mjcf"),
    }  # fmt: skip
    assert len(into_private_modules("grasp/_bad.py")) == 4
    assert unlisted("grasp/_late.py") == ["grasp/_late.py: robot.hidden"]
    (tmp_path / "robot" / "_early.py").write_text("from ..grasp import g\n")
    assert upwards("robot/_early.py") == ["robot/_early.py: grasp"]


TESTS = Path(__file__).parent
SAY_WHY = ("collision", "distance", "mesh", "pairs", "recordings", "spheres", "world")
"""Folders of tests that say why where they look inside; the others follow."""
WHY = "Looks inside: "


def looks_inside(path: Path) -> list[str]:
    """Underscore and `internal` modules that a test imports; the bindings of the core are what its tests are about."""
    found = list[str]()
    for node in ast.walk(_parsed(path)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("elbowroom"):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.startswith("elbowroom.")]
        else:
            continue
        for name in names:
            *folders, _ = name.split(".")
            modules = [*folders[1:], *([name.split(".")[-1]] if _is_module(name) else [])]
            if any(part == "internal" or part.startswith("_") for part in modules if part != "_core"):
                found.append(name)
    return found


def _is_module(name: str) -> bool:
    return ROOT.joinpath(*name.split(".")[1:]).with_suffix(".py").is_file()


def test_tests_that_look_inside_say_why():
    silent = [
        f"{path.relative_to(TESTS)} imports {', '.join(inside)}"
        for folder in SAY_WHY
        for path in sorted((TESTS / folder).rglob("*.py"))
        if (inside := looks_inside(path)) and WHY not in (ast.get_docstring(_parsed(path)) or "")
    ]
    assert silent == [], f"use public names, or say why in the docstring of the file: {WHY!r}and a reason"


def test_looking_inside_is_seen(tmp_path):
    file = tmp_path / "test_a.py"
    file.write_text(
        "from elbowroom import _core, _poses, mesh\nfrom elbowroom.mesh import _mesh, collide\n"
        "from elbowroom.mesh.internal import x\nimport elbowroom.pairs._sample\n"
    )
    assert looks_inside(file) == [
        "elbowroom._poses", "elbowroom.mesh._mesh", "elbowroom.mesh.internal.x", "elbowroom.pairs._sample",
    ]  # fmt: skip
