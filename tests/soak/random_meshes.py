"""Triangle meshes drawn at random: soups, solids, flat and degenerate things, on lattices and off."""

from __future__ import annotations

import numpy as np
import trimesh

from tests.mesh.mesh_tools import extrude, rotations


def soup(rng: np.random.Generator, most: int = 24) -> trimesh.Trimesh:
    """Triangles that have nothing to do with each other."""
    n = int(rng.integers(1, most + 1))
    corners = rng.uniform(-1, 1, (n, 1, 3)) + rng.uniform(0.05, 0.6) * rng.uniform(-1, 1, (n, 3, 3))
    return trimesh.Trimesh(corners.reshape(-1, 3), np.arange(3 * n).reshape(-1, 3), process=False)


def closed_mesh(rng: np.random.Generator) -> trimesh.Trimesh:
    """A solid of at most some hundred triangles."""
    match int(rng.integers(7)):
        case 0:
            return trimesh.creation.box(rng.uniform(0.1, 2.0, 3))
        case 1:
            return trimesh.creation.icosphere(
                subdivisions=int(rng.integers(1, 3)), radius=rng.uniform(0.3, 1.0)
            )
        case 2:
            return trimesh.creation.torus(
                1.0,
                rng.uniform(0.1, 0.5),
                major_sections=int(rng.integers(5, 14)),
                minor_sections=int(rng.integers(3, 8)),
            )
        case 3:
            return trimesh.creation.cylinder(
                rng.uniform(0.05, 1.0), rng.uniform(0.1, 2.0), sections=int(rng.integers(3, 20))
            )
        case 4:
            points = rng.normal(size=(int(rng.integers(5, 30)), 3)) * rng.uniform(0.2, 1.0, 3)
            return trimesh.convex.convex_hull(points)
        case 5:
            return bracket(rng)
        case _:
            inner = trimesh.creation.box(rng.uniform(0.1, 0.4, 3))
            inner.apply_translation(rng.uniform(-2, 2, 3))
            return trimesh.util.concatenate([trimesh.creation.box(rng.uniform(0.5, 2.0, 3)), inner])


def bracket(rng: np.random.Generator) -> trimesh.Trimesh:
    """A C, in one piece: things fit into it without touching."""
    x, y = np.sort(rng.uniform(0.1, 0.9, 2)), np.sort(rng.uniform(0.1, 0.9, 2))
    outline = [(0, 0), (1, 0), (1, y[0]), (x[0], y[0]), (x[0], y[1]), (1, y[1]), (1, 1), (0, 1)]
    mesh = extrude(np.array(outline, dtype=float), float(rng.uniform(0.1, 1.0)))
    mesh.apply_translation(-mesh.bounds.mean(axis=0))
    return mesh


def lattice_mesh(rng: np.random.Generator) -> trimesh.Trimesh:
    """Corners on whole numbers: exact touching, shared planes, triangles that lie in each other."""
    n = int(rng.integers(3, 9))
    vertices = rng.integers(-2, 3, (n, 3)).astype(float)
    faces = rng.integers(0, n, (int(rng.integers(1, 14)), 3))
    return trimesh.Trimesh(vertices, faces, process=False)


def box_on_lattice(rng: np.random.Generator) -> trimesh.Trimesh:
    low = rng.integers(-2, 2, 3)
    box = trimesh.creation.box(rng.integers(1, 3, 3).astype(float))
    box.apply_translation(low - box.bounds[0])
    for _ in range(int(rng.integers(2))):
        box = box.subdivide()
    return box


def flat_mesh(rng: np.random.Generator) -> trimesh.Trimesh:
    """Triangles in one plane."""
    mesh = soup(rng, 8)
    mesh.vertices[:, 2] = 0.0
    return mesh


def needles(rng: np.random.Generator) -> trimesh.Trimesh:
    """Triangles much longer than wide."""
    n = int(rng.integers(1, 8))
    width = 10.0 ** rng.uniform(-7, -1)
    corners = np.array([[[0, 0, 0], [1, 0, 0], [rng.uniform(), width, 0]] for _ in range(n)])
    corners = np.einsum("nij,nkj->nki", rotations(rng, n), corners) + rng.uniform(-0.5, 0.5, (n, 1, 3))
    return trimesh.Trimesh(corners.reshape(-1, 3), np.arange(3 * n).reshape(-1, 3), process=False)


def spoiled(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and faces of a mesh with something wrong or degenerate in it."""
    mesh = soup(rng) if rng.uniform() < 0.5 else closed_mesh(rng)
    vertices, faces = np.array(mesh.vertices), np.array(mesh.faces)
    k = int(rng.integers(len(vertices)))
    match int(rng.integers(8)):
        case 0:
            vertices[k] = rng.choice([np.nan, np.inf, -np.inf, 1e300, 1e12])
        case 1:
            faces[int(rng.integers(len(faces))), 0] = rng.choice([-1, len(vertices), 2**31, 2**62])
        case 2:
            faces = np.concatenate([faces, faces, faces[:, ::-1]])
        case 3:
            vertices[:] = vertices[k] + 1e-12 * vertices
        case 4:
            vertices = np.outer(rng.normal(size=len(vertices)), rng.normal(size=3))
        case 5:
            faces = faces[:0]
        case 6:
            vertices[faces[:, 1]] = vertices[faces[:, 0]]
        case _:
            faces[:, 2] = faces[:, 1]
    return vertices, faces


KINDS = ("soup", "closed", "lattice", "lattice box", "flat", "needles")


def draw(rng: np.random.Generator, kind: str) -> trimesh.Trimesh:
    """A mesh of a kind."""
    return {
        "soup": soup,
        "closed": closed_mesh,
        "lattice": lattice_mesh,
        "lattice box": box_on_lattice,
        "flat": flat_mesh,
        "needles": needles,
    }[kind](rng)
