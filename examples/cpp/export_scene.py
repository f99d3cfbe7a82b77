"""Writes a robot among obstacles for the C++ core: what `scene_file.hpp` reads.

    python examples/cpp/export_scene.py scene.bin [ROBOT]

The core knows no files and no names, so Python prepares what it computes with: kinematics, spheres, meshes, checked
pairs and obstacles, each as an array. The file is a sequence of arrays: a line with the name and the shape, then the
numbers as little-endian float64. It also holds configurations with their verdicts, so that the C++ side can check that
it has the same scene.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import elbowroom as er
from elbowroom.mesh import TriangleMesh
from elbowroom.world import Box, World

ROUNDING = 1e-9
"""Added to the joint limits, rad or m: what is computed from a limit may be off by this."""
LARGEST_ANGLE = 100.0
"""Joint values up to which rounding is bounded, rad; twice the limits for joints that slide."""
SAMPLES = 2000


def ten_boxes(model: er.CollisionModel, seed: int = 3) -> World:
    """Boxes around a robot that leave its default pose free."""
    rng = np.random.default_rng(seed)
    boxes: list[Box] = []
    while len(boxes) < 10:
        angle, far, high = rng.uniform([-np.pi, 0.5, 0.0], [np.pi, 0.9, 0.9])
        place = [far * np.cos(angle), far * np.sin(angle), high]
        box = Box(
            rng.uniform(0.05, 0.15, 3),
            pose=[1, 0, 0, 0, *place],
            name=f"box_{len(boxes)}",
        )
        if model.with_world(World([*boxes, box])).free(model.default_cfg):
            boxes.append(box)
    return World(boxes)


def arrays_of(model: er.CollisionModel) -> dict[str, np.ndarray]:
    """Everything that the core's `Scene` is made of."""
    robot, tree = model.robot, model.robot.tree
    columns = [
        "parent",
        "kind",
        "q_idx",
        "quat_cos",
        "quat_sin",
        "shift",
        "slide",
        "axis",
    ]
    laws = ["driver", "is_coupled", "order", "polycoef"]
    found = {name: getattr(tree, name) for name in (*columns, *laws)}
    found |= {
        "dof": [robot.dof],
        "link_frames": tree.link_frame,
        "buffer": [model.buffer],
    }
    spheres = model.spheres
    found |= {
        "centers": spheres.centers,
        "radii_self": spheres.padded_radii("self"),
        "radii_world": spheres.padded_radii("world"),
        "sphere_links": spheres.link_idx,
    }
    reach = [2.0 * max(abs(joint.lower), abs(joint.upper)) for joint in tree.moving]
    slides = [joint.type == "prismatic" for joint in tree.moving]
    found["largest"] = np.where(slides, reach, LARGEST_ANGLE)
    pairs = model.pairs.checked
    index = robot.link_index
    found["pairs"] = np.array([[index(a), index(b)] for a, b in pairs]).reshape(-1, 2)
    found["only_meshes"] = [pair in set(model.by_meshes) for pair in pairs]
    found["range"] = np.stack([robot.lower - ROUNDING, robot.upper + ROUNDING])
    for link in robot.mesh_links:
        tree_of_mesh = TriangleMesh.from_trimesh(robot.link_mesh(link)).tree
        parts = tree_of_mesh.__getstate__()
        for name, part in zip(
            ("triangles", "rows", "solid", "pieces"), parts, strict=True
        ):
            found[f"mesh {index(link)} {name}"] = part
    world = [] if model.world is None else list(model.world)
    if any(not isinstance(box, Box) for box in world):
        raise SystemExit("this example writes boxes only")
    found["box_sizes"] = np.array([box.size for box in world]).reshape(-1, 3)
    found["box_poses"] = np.array([box.pose for box in world]).reshape(-1, 16)
    cfgs = robot.random_cfgs(SAMPLES, seed=1)
    found |= {"start": model.default_cfg, "lower": robot.lower, "upper": robot.upper}
    found |= {"velocity": robot.velocity_limits, "cfgs": cfgs, "free": model.free(cfgs)}
    return {name: np.asarray(value, dtype=np.float64) for name, value in found.items()}


def write(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Writes the file."""
    with open(path, "wb") as file:
        for name, array in arrays.items():
            shape = " ".join(map(str, array.shape))
            file.write(f"{name.replace(' ', '.')} {shape}\n".encode())
            file.write(np.ascontiguousarray(array, dtype="<f8").tobytes())


def main(argv: list[str]) -> None:
    """Writes the robot among ten boxes."""
    robot = er.load_robot(argv[1] if len(argv) > 1 else "panda")
    model = er.CollisionModel(robot)
    write(Path(argv[0]), arrays_of(model.with_world(ten_boxes(model))))


if __name__ == "__main__":
    main(sys.argv[1:])
