"""Small descriptions made for tests."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import trimesh

import elbowroom as er

LIMIT = '<limit lower="-1" upper="1" velocity="2" effort="3"/>'


def joint(name, parent, child, kind="revolute", inner=LIMIT, xyz="0 0 0.5", axis="0 0 1"):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}" rpy="0.1 0.2 0.3"/><axis xyz="{axis}"/>{inner}</joint>'
    )


def link(name, inner=""):
    return f'<link name="{name}">{inner}</link>'


def collision(geometry, xyz="0 0 0", rpy="0 0 0"):
    return f'<collision><origin xyz="{xyz}" rpy="{rpy}"/><geometry>{geometry}</geometry></collision>'


def robot_xml(*elements, name="made"):
    return f'<?xml version="1.0"?>\n<robot name="{name}">\n' + "\n".join(elements) + "\n</robot>\n"


def write(folder: Path, text: str | bytes, name="made.urdf") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(text, bytes):
        path.write_bytes(text)
    else:
        path.write_text(text)
    return path


def write_box_mesh(path: Path, size=(0.2, 0.3, 0.4)) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    trimesh.creation.box(extents=size).export(path)
    return path


def own_teaarm(folder: Path) -> Path:
    """A URDF with the links and joints of teaarm and meshes that are not ours: here the boxes around them."""
    ours = Path(er.__file__).parent / "assets" / "teaarm"
    (folder / "meshes").mkdir(parents=True)
    for file in (ours / "meshes").iterdir():
        trimesh.load_mesh(file).bounding_box.export(folder / "meshes" / file.name)
    shutil.copy(ours / "teaarm.urdf", folder / "teaarm.urdf")
    return folder / "teaarm.urdf"


def extents(robot, name):
    mesh = robot.link_mesh(name)
    return np.ptp(mesh.vertices, axis=0)
