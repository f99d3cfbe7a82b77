"""The package as a whole: public names, light import."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import elbowroom

HEAVY = ("jax", "mujoco", "viser", "matplotlib", "trimesh", "scipy")


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
