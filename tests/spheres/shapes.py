"""Meshes, sphere sets and a robot for the tests of `spheres`."""

from __future__ import annotations

import numpy as np
import trimesh

from elbowroom.robot import Robot


class Toy(Robot):
    """A robot of loose meshes that no file could hold: a point, a line, vertices to the last bit."""

    name = "toy"
    dof = 0
    link_names = ()

    def __init__(self, **meshes: trimesh.Trimesh) -> None:
        vars(self).update(meshes=meshes, link_names=(*meshes, "frame"))

    @property
    def mesh_links(self) -> tuple[str, ...]:
        return tuple(self.meshes)

    def link_triangles(self, link: str, *, within: float | None = None) -> trimesh.Trimesh | None:
        return self.meshes.get(link)

    def child_joints(self, name: str) -> tuple:
        return ()

    def link_poses(self, cfgs: np.ndarray) -> np.ndarray:
        return np.tile([1.0, 0, 0, 0, 0, 0, 0], (len(cfgs), len(self.link_names), 1))


def thin_wall() -> trimesh.Trimesh:
    """A closed hollow ball with a wall of a millimetre: its convex hull has many times its volume."""
    outer, inner = trimesh.creation.icosphere(4, radius=0.05), trimesh.creation.icosphere(4, radius=0.049)
    inner.invert()
    return trimesh.util.concatenate([outer, inner])


def two_boxes() -> trimesh.Trimesh:
    """Two closed boxes apart from each other, one mesh."""
    a = trimesh.creation.box((0.1, 0.05, 0.04))
    b = trimesh.creation.box((0.03, 0.03, 0.2))
    b.apply_translation((0.2, 0.01, 0.05))
    return trimesh.util.concatenate([a, b])


def overlapping_boxes() -> trimesh.Trimesh:
    """Two closed boxes that intersect each other."""
    a = trimesh.creation.box((0.2, 0.05, 0.04))
    b = trimesh.creation.box((0.04, 0.06, 0.15))
    b.apply_translation((0.03, 0.01, 0.02))
    return trimesh.util.concatenate([a, b])


def open_patch(seed: int = 0) -> trimesh.Trimesh:
    """A wavy sheet without thickness."""
    rng = np.random.default_rng(seed)
    n = 8
    x, y = np.meshgrid(np.linspace(0, 0.2, n), np.linspace(0, 0.1, n), indexing="ij")
    z = 0.03 * np.sin(20 * x + rng.random()) * np.cos(15 * y)
    vertices = np.stack([x, y, z], axis=-1).reshape(-1, 3)
    k = np.arange(n * n).reshape(n, n)
    a, b, c, d = k[:-1, :-1].ravel(), k[1:, :-1].ravel(), k[1:, 1:].ravel(), k[:-1, 1:].ravel()
    faces = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    return trimesh.Trimesh(vertices, faces, process=False)


def one_triangle() -> trimesh.Trimesh:
    """A link of one triangle."""
    return trimesh.Trimesh([[0, 0, 0], [0.1, 0, 0], [0, 0.07, 0.02]], [[0, 1, 2]], process=False)


def degenerate() -> trimesh.Trimesh:
    """A triangle, one that is a line, and one that is a point."""
    vertices = [[0, 0, 0], [0.1, 0, 0], [0, 0.07, 0.02], [0.05, 0.0, 0.1], [0.3, 0.1, 0.1]]
    return trimesh.Trimesh(vertices, [[0, 1, 2], [0, 3, 0], [4, 4, 4]], process=False)


def thin_shell() -> trimesh.Trimesh:
    """A closed tube with a wall of one millimetre."""
    return trimesh.creation.annulus(r_min=0.039, r_max=0.04, height=0.1, sections=24)


def flipped_box() -> trimesh.Trimesh:
    """A box stored as loose triangles, every second one turned the wrong way."""
    box = trimesh.creation.box((0.1, 0.08, 0.06))
    soup = np.asarray(box.triangles).reshape(-1, 3)
    faces = np.arange(len(soup)).reshape(-1, 3)
    faces[::2] = faces[::2, ::-1]
    return trimesh.Trimesh(soup, faces, process=False)


def random_mesh(rng: np.random.Generator) -> trimesh.Trimesh:
    """A closed or open mesh of a random kind, size and pose."""
    kind = int(rng.integers(6))
    if kind == 0:
        mesh = trimesh.creation.box(rng.uniform(0.2, 1.0, 3))
    elif kind == 1:
        mesh = trimesh.convex.convex_hull(rng.normal(size=(int(rng.integers(5, 30)), 3)))
    elif kind == 2:
        mesh = trimesh.creation.icosphere(subdivisions=1)
        mesh.vertices *= rng.uniform(0.6, 1.4, (len(mesh.vertices), 1))
    elif kind == 3:
        mesh = trimesh.creation.annulus(r_min=0.3, r_max=0.5, height=rng.uniform(0.1, 0.6), sections=12)
    elif kind == 4:
        mesh = open_patch(int(rng.integers(1000)))
        mesh.vertices *= 5.0
    else:
        mesh = overlapping_boxes()
        mesh.vertices *= 5.0
    mesh.apply_transform(trimesh.transformations.random_rotation_matrix(rng.random(3)))
    mesh.apply_translation(rng.normal(size=3))
    return mesh


def random_balls(mesh: trimesh.Trimesh, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Balls about the mesh: sometimes covering, often nearly, sometimes far from it."""
    n = int(rng.integers(1, 14))
    size = float(np.linalg.norm(mesh.extents))
    centers = rng.uniform(mesh.bounds[0], mesh.bounds[1], (n, 3))
    surface, _ = trimesh.sample.sample_surface(mesh, 300, seed=int(rng.integers(1 << 30)))
    points = np.concatenate([mesh.vertices, mesh.triangles_center, surface])
    nearest = np.linalg.norm(points[:, None] - centers, axis=2)
    owner = nearest.argmin(axis=1)
    radii = np.array([nearest[owner == k, k].max(initial=0.02 * size) for k in range(n)])
    return centers, radii * rng.choice([0.97, 1.0, 1.02, 1.1, 1.3], p=[0.15, 0.15, 0.25, 0.25, 0.2])
