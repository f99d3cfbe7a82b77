"""Meshes, poses and oracles shared by the tests of `elbowroom.mesh`."""

from __future__ import annotations

import functools
import site
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import trimesh

from elbowroom.mesh import TriangleMesh


def robots_folder() -> Path:
    for root in map(Path, site.getsitepackages()):
        folder = root / "cmeel.prefix/share/example-robot-data/robots"
        if folder.is_dir():
            return folder
    pytest.skip("example-robot-data is not installed")


LINKS = {
    "panda5": "panda_description/meshes/collision/link5.stl",
    "panda_hand": "panda_description/meshes/collision/hand.stl",
    "panda0": "panda_description/meshes/collision/link0.stl",
    "panda_finger": "panda_description/meshes/collision/finger.stl",
    "talos_arm4": "talos_data/meshes/arm/arm_4_collision.STL",
    "talos_torso": "talos_data/meshes/torso/torso_2_collision.STL",
    "talos_hip": "talos_data/meshes/v2/hip_x_collision.stl",
    "ur5_forearm": "ur_description/meshes/ur5/collision/forearm.stl",
    "ur5_upperarm": "ur_description/meshes/ur5/collision/upperarm.stl",
}


@functools.cache
def shape(name: str) -> trimesh.Trimesh:
    """A mesh by name: cube0..4 (subdivided), sphere, torus, cylinder, bracket (non-convex), or a link."""
    if name.startswith("cube"):
        mesh = trimesh.creation.box()
        for _ in range(int(name[4:])):
            mesh = mesh.subdivide()
        return mesh
    if name == "sphere":
        return trimesh.creation.icosphere(subdivisions=2)
    if name == "torus":
        return trimesh.creation.torus(1.0, 0.3, major_sections=32, minor_sections=16)
    if name == "cylinder":
        return trimesh.creation.cylinder(radius=0.4, height=1.5, sections=24)
    if name == "bracket":
        outline = np.array([[0, 0], [1, 0], [1, 0.3], [0.3, 0.3], [0.3, 0.7], [1, 0.7], [1, 1], [0, 1]])
        return extrude(outline, 0.4)
    mesh = trimesh.load(robots_folder() / LINKS[name], force="mesh")
    mesh.merge_vertices()
    return mesh


def extrude(outline: np.ndarray, height: float) -> trimesh.Trimesh:
    """A prism over a polygon given counter-clockwise; ears are cut by hand, so no triangulation package is needed."""
    n = len(outline)
    left = list(range(n))
    caps: list[tuple[int, int, int]] = []
    while len(left) > 3:
        for k in range(len(left)):
            a, b, c = left[k - 1], left[k], left[(k + 1) % len(left)]
            u, v = outline[b] - outline[a], outline[c] - outline[b]
            if u[0] * v[1] - u[1] * v[0] <= 0:
                continue
            others = [outline[i] for i in left if i not in (a, b, c)]
            if not any(_in_triangle(p, outline[a], outline[b], outline[c]) for p in others):
                caps.append((a, b, c))
                left.pop(k)
                break
    caps.append(tuple(left))
    bottom, top = np.c_[outline, np.zeros(n)], np.c_[outline, np.full(n, height)]
    faces = [(c, b, a) for a, b, c in caps] + [(a + n, b + n, c + n) for a, b, c in caps]
    for i in range(n):
        j = (i + 1) % n
        faces += [(i, j, j + n), (i, j + n, i + n)]
    return trimesh.Trimesh(np.concatenate([bottom, top]), faces, process=False)


def _in_triangle(p, a, b, c) -> bool:
    def side(p, q, r):
        return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])

    return side(a, b, p) >= 0 and side(b, c, p) >= 0 and side(c, a, p) >= 0


@functools.cache
def mesh(name: str) -> TriangleMesh:
    return TriangleMesh.from_trimesh(shape(name))


def rotations(rng: np.random.Generator, n: int) -> np.ndarray:
    q = rng.normal(size=(n, 4))
    w, x, y, z = (q / np.linalg.norm(q, axis=1, keepdims=True)).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def poses(
    a: trimesh.Trimesh, b: trimesh.Trimesh, n: int, low: float, high: float, seed: int = 0
) -> np.ndarray:
    """Random poses of b whose bounding-box centre is `low` to `high` of the sum of the radii away from a's."""
    rng = np.random.default_rng(seed)
    T = np.tile(np.eye(4), (n, 1, 1))
    T[:, :3, :3] = rotations(rng, n)
    away = rng.normal(size=(n, 3))
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    radius = 0.5 * (np.linalg.norm(a.extents) + np.linalg.norm(b.extents))
    centre = a.bounds.mean(axis=0) + away * (rng.uniform(low, high, n) * radius)[:, None]
    T[:, :3, 3] = centre - T[:, :3, :3] @ b.bounds.mean(axis=0)
    return T


def shift(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


def segment_distances(p: np.ndarray, u: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Distances of the segments p + s u and q + t v, s and t in [0, 1]: where the lines pass each other, and the four ends.

    Every one is measured between two points of the segments, so rounding of s and t, which is large where the lines are
    almost parallel, makes none too small.
    """

    def to_segment(x, a, d):
        t = np.clip(np.einsum("ni,ni->n", x - a, d) / np.einsum("ni,ni->n", d, d), 0.0, 1.0)
        return np.linalg.norm(x - a - t[:, None] * d, axis=1)

    ends = [to_segment(p, q, v), to_segment(p + u, q, v), to_segment(q, p, u), to_segment(q + v, p, u)]
    n = np.cross(u, v)
    nn = np.einsum("ni,ni->n", n, n)
    safe = np.where(nn > 0, nn, 1.0)
    s = np.clip(np.einsum("ni,ni->n", np.cross(q - p, v), n) / safe, 0.0, 1.0)
    return np.minimum(np.min(ends, axis=0), to_segment(p + s[:, None] * u, q, v))


def pair_distances(a: np.ndarray, b: np.ndarray) -> float:
    """Smallest distance of triangles (n, 3, 3) and (n, 3, 3), row by row: all edge pairs, all corners over faces."""
    best = np.inf
    for k in range(3):
        for m in range(3):
            p, q = a[:, k], b[:, m]
            best = min(best, segment_distances(p, a[:, k - 2] - p, q, b[:, m - 2] - q).min(initial=np.inf))
    for corners, faces in ((a, b), (b, a)):
        u, v = faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0]
        n = np.cross(u, v)
        nn = np.einsum("ni,ni->n", n, n)
        for k in range(3):
            r = corners[:, k] - faces[:, 0]
            s, t = (
                np.einsum("ni,ni->n", np.cross(r, v), n) / nn,
                np.einsum("ni,ni->n", np.cross(u, r), n) / nn,
            )
            over = (s >= 0) & (t >= 0) & (s + t <= 1)
            height = np.abs(np.einsum("ni,ni->n", r, n)) / np.sqrt(nn)
            best = min(best, height[over].min(initial=np.inf))
    return float(best)


def brute_distance(a: np.ndarray, b: np.ndarray) -> float:
    """Distance of two triangle sets (n, 3, 3) and (m, 3, 3) that do not cross."""
    i, j = (x.ravel() for x in np.meshgrid(np.arange(len(a)), np.arange(len(b)), indexing="ij"))
    return pair_distances(a[i], b[j])


def cross_exactly(a: np.ndarray, b: np.ndarray) -> bool:
    """Does an edge of one triangle (3, 3) pass through the other? By rational numbers, so without rounding."""

    def volume(p, q, r, s):
        u, v, w = ([x - y for x, y in zip(corner, p, strict=True)] for corner in (q, r, s))
        x, y, z = v[1] * w[2] - v[2] * w[1], v[2] * w[0] - v[0] * w[2], v[0] * w[1] - v[1] * w[0]
        return u[0] * x + u[1] * y + u[2] * z

    exact = [[[Fraction(float(x)) for x in corner] for corner in triangle] for triangle in (a, b)]
    for one, other in (exact, exact[::-1]):
        for k in range(3):
            p, q = one[k], one[k - 2]
            if volume(*other, p) * volume(*other, q) > 0:
                continue
            sides = [volume(p, q, other[m], other[m - 2]) for m in range(3)]
            if min(sides) >= 0 or max(sides) <= 0:
                return True
    return False


def off_surface(m: TriangleMesh, points: np.ndarray) -> float:
    """Largest distance of points (n, 3), in the frame of the mesh, from its surface."""
    surface = trimesh.Trimesh(m.vertices, m.faces, process=False)
    return float(trimesh.proximity.closest_point(surface, points)[1].max())


def moved(m: TriangleMesh, T: np.ndarray) -> np.ndarray:
    """Corners (tris, 3, 3) of a posed mesh."""
    return (m.vertices @ T[:3, :3].T + T[:3, 3])[m.faces]


@functools.cache
def coal_mesh(name: str):
    return coal_of(shape(name))


def coal_soup(m: trimesh.Trimesh):
    """Vertices and triangles of a mesh in Coal's containers."""
    coal = pytest.importorskip("coal")
    vertices, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for p in m.vertices:
        vertices.append(np.array(p, dtype=float))
    for f in m.faces:
        triangles.append(coal.Triangle(int(f[0]), int(f[1]), int(f[2])))
    return vertices, triangles


def coal_of(m: trimesh.Trimesh):
    coal = pytest.importorskip("coal")
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(m.faces), len(m.vertices))
    model.addSubModel(*coal_soup(m))
    model.endModel()
    return model


def coal_hull(m: trimesh.Trimesh):
    """Hull of a mesh and Coal's convex shape of it."""
    coal = pytest.importorskip("coal")
    hull = m.convex_hull
    return hull, coal.Convex(*coal_soup(hull))


def coal_pose(T: np.ndarray):
    coal = pytest.importorskip("coal")
    return coal.Transform3s(np.ascontiguousarray(T[:3, :3]), np.ascontiguousarray(T[:3, 3]))


@functools.cache
def fcl_mesh(name: str):
    fcl = pytest.importorskip("fcl")
    m = shape(name)
    model = fcl.BVHModel()
    model.beginModel(len(m.vertices), len(m.faces))
    model.addSubModel(np.asarray(m.vertices), np.asarray(m.faces))
    model.endModel()
    return model


def coal_booleans(a: str, b: str, Ts: np.ndarray) -> np.ndarray:
    coal = pytest.importorskip("coal")
    left, right, identity, request = coal_mesh(a), coal_mesh(b), coal.Transform3s(), coal.CollisionRequest()
    request.enable_contact = False
    out = np.zeros(len(Ts), dtype=bool)
    for i, T in enumerate(Ts):
        result = coal.CollisionResult()
        coal.collide(left, identity, right, coal_pose(T), request, result)
        out[i] = result.isCollision()
    return out


def fcl_booleans(a: str, b: str, Ts: np.ndarray) -> np.ndarray:
    fcl = pytest.importorskip("fcl")
    left, right, request = fcl.CollisionObject(fcl_mesh(a)), fcl_mesh(b), fcl.CollisionRequest()
    out = np.zeros(len(Ts), dtype=bool)
    for i, T in enumerate(Ts):
        moved = fcl.CollisionObject(right, fcl.Transform(T[:3, :3], T[:3, 3]))
        out[i] = fcl.collide(left, moved, request, fcl.CollisionResult()) > 0
    return out
