"""The package as a whole: public names, light import, direction of imports."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import elbowroom

SOURCE = Path(elbowroom.__file__).parent
HEAVY = ("jax", "numba", "mujoco", "viser", "matplotlib", "trimesh", "scipy")
ORDER = [
    "robot",
    "spheres",
    "mesh",
    "distance",
    "pairs",
    "world",
    "ik",
    "plan",
    "grasp",
    "formats",
    "ui",
    "cli",
]
"""Imports point from later to earlier folders only."""


def test_public_names_exist_and_are_all_listed():
    assert set(elbowroom.__all__) == {"ElbowroomError", "__version__", *elbowroom._HOME}
    for name in elbowroom.__all__:
        assert getattr(elbowroom, name) is not None
    assert dir(elbowroom) == sorted(elbowroom.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        _ = elbowroom.nothing


def test_folders_need_no_import_of_their_own():
    code = "import elbowroom as er; er.formats.read, er.mesh.collide, er.grasp.load_hand"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_import_is_light():
    code = (
        "import sys, json; import elbowroom; "
        "print(json.dumps(sorted(m for m in sys.modules if '.' not in m)))"
    )
    loaded = json.loads(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    )
    assert not set(HEAVY) & set(loaded)


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_one_way(path):
    folder = path.relative_to(SOURCE).parts[0]
    if folder not in ORDER or path.stem == "__main__":  # programs stand above all folders
        return
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            package = ["elbowroom", *path.relative_to(SOURCE).parent.parts]
            target = [*package[: len(package) - node.level + 1], *(node.module or "").split(".")]
            other = target[1] if len(target) > 1 else ""
            if other in ORDER and folder in ORDER:
                assert ORDER.index(other) <= ORDER.index(folder), f"{path}:{node.lineno} imports {other}"
