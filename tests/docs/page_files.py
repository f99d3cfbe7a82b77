"""The files that lie in the folder in which the blocks of a page run: a small arm of ours, a scene, a recording, a cloud."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import trimesh

from elbowroom.world import Box, Cylinder, World

# name, length along z, radius, cross piece at the end (what makes it an elbow rather than a stick)
LINKS = (
    ("base_link", 0.12, 0.08, False),
    ("shoulder", 0.14, 0.07, True),
    ("upper_arm", 0.34, 0.05, True),
    ("forearm", 0.30, 0.045, True),
    ("wrist_1", 0.10, 0.04, True),
    ("wrist_2", 0.10, 0.04, True),
    ("hand", 0.10, 0.03, False),
)
AXES = ("0 0 1", "0 1 0", "0 1 0", "0 1 0", "0 0 1", "0 1 0")
RANGES = ((-2.9, 2.9), (-1.9, 1.9), (-2.6, 2.6), (-2.2, 2.2), (-2.9, 2.9), (-1.9, 1.9))
JOINTS = tuple(f"joint_{k + 1}" for k in range(6))
MASS = 1.0


def link_mesh(length: float, radius: float, crossed: bool) -> trimesh.Trimesh:
    """A column along z from the joint, closed and convex piece by piece; with a cross piece along y at its end."""
    column = trimesh.creation.cylinder(radius, length, sections=24)
    column.apply_translation([0, 0, length / 2])
    if not crossed:
        return column
    across = trimesh.creation.cylinder(radius, 2.6 * radius, sections=24)
    across.apply_transform(trimesh.transformations.rotation_matrix(np.pi / 2, [1, 0, 0]))
    across.apply_translation([0, 0, length])
    return trimesh.util.concatenate([column, across])


def urdf() -> str:
    """The description of `my_robot`: metres and radians, meshes by a path beside the file."""
    lines = ['<?xml version="1.0"?>', '<robot name="my_robot">']
    for name, *_ in LINKS:
        geometry = f'<geometry><mesh filename="meshes/{name}.stl"/></geometry>'
        inertial = (
            f'<mass value="{MASS}"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
        )
        lines.append(f'  <link name="{name}">')
        lines.append(f"    <inertial>{inertial}</inertial>")
        lines.append(f"    <visual>{geometry}</visual>")
        lines.append(f"    <collision>{geometry}</collision>")
        lines.append("  </link>")
    lines.append('  <link name="tool0"/>')
    for joint, axis, (low, high), parent, child in zip(JOINTS, AXES, RANGES, LINKS, LINKS[1:], strict=False):
        lines.append(f'  <joint name="{joint}" type="revolute">')
        lines.append(f'    <parent link="{parent[0]}"/><child link="{child[0]}"/>')
        lines.append(f'    <origin xyz="0 0 {parent[1]}"/><axis xyz="{axis}"/>')
        lines.append(f'    <limit lower="{low}" upper="{high}" velocity="2.5" effort="100"/>')
        lines.append("  </joint>")
    lines.append('  <joint name="tool0_joint" type="fixed">')
    lines.append(f'    <parent link="hand"/><child link="tool0"/><origin xyz="0 0 {LINKS[-1][1]}"/>')
    return "\n".join([*lines, "  </joint>", "</robot>", ""])


def recording() -> np.ndarray:
    """(201, 7) time and joints of `my_robot`: 4 s that begin upright and end with the hand in the base."""
    times = np.linspace(0.0, 4.0, 201)
    ease = 0.5 - 0.5 * np.cos(np.pi * times / times[-1])
    upright, folded = np.zeros(6), np.array([0.6, 1.2, 2.5, 1.6, 0.4, 0.8])
    return np.column_stack([times, upright + ease[:, None] * (folded - upright)])


def scene() -> World:
    """A table and a post in front, out of the way of small arms at their default configurations."""
    return World(
        [
            Box((0.5, 1.0, 0.04), pose=[1, 0, 0, 0, 0.75, 0, 0.2], name="table"),
            Cylinder(0.03, 0.3, pose=[1, 0, 0, 0, 0.7, 0.3, 0.37], name="post"),
        ]
    )


def cloud() -> np.ndarray:
    """(n, 3) points on the upper sides of the scene, 1 cm apart, as a depth camera sees them from above."""
    x, y = (part.ravel() for part in np.meshgrid(np.arange(0.5, 1.0, 0.01), np.arange(-0.5, 0.5, 0.01)))
    table = np.column_stack([x, y, np.full_like(x, 0.22)])
    angle, height = (
        part.ravel() for part in np.meshgrid(np.arange(0, 2 * np.pi, 0.3), np.arange(0.22, 0.52, 0.01))
    )
    post = np.column_stack([0.7 + 0.03 * np.cos(angle), 0.3 + 0.03 * np.sin(angle), height])
    return np.concatenate([table, post])


def write_page_files(folder: Path) -> None:
    """Fills a folder with everything that `test_blocks` promises to the pages."""
    (folder / "meshes").mkdir()
    for name, *shape in LINKS:
        link_mesh(*shape).export(folder / "meshes" / f"{name}.stl")
    (folder / "my_robot.urdf").write_text(urdf())
    write_mjcf(folder)
    scene().write(folder / "scene.json")
    scene().write(folder / "scene.yaml")
    header = ",".join(("time", *JOINTS))
    np.savetxt(folder / "recording.csv", recording(), fmt="%.6f", delimiter=",", header=header, comments="")
    trimesh.PointCloud(cloud()).export(folder / "cloud.ply")


def write_mjcf(folder: Path) -> None:
    """The same arm as MuJoCo itself writes it after reading the URDF, with the links that are fixed kept as bodies."""
    keep = '<mujoco><compiler fusestatic="false" strippath="false"/></mujoco>'
    spec = mujoco.MjSpec.from_string(urdf().replace("</robot>", f"{keep}</robot>"))
    spec.modelfiledir = str(folder)
    spec.compile()
    (folder / "my_robot.xml").write_text(spec.to_xml())
