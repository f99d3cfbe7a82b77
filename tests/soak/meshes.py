"""Meshes: booleans, distances, contacts and depths against every pair of triangles, Coal and laws; proofs of coverage.

Bands, as `elbowroom.mesh` states them: with L the size of the scene, gaps up to 1e-6 L (1e-12 L l / w for triangles of
length l and width w) may count as touching; what is said to be apart is apart beyond the rounding of two poses, 1e-13 L.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import trimesh

import elbowroom as er
from elbowroom.errors import ElbowroomError
from elbowroom.mesh import TriangleMesh, collide, distance_batch, mesh_mesh_contact, mesh_mesh_separation
from elbowroom.mesh.internal import collide_states
from tests.mesh.mesh_tools import coal_of, coal_pose, moved, rotations
from tests.mesh.test_witness import off
from tests.oracles import coal
from tests.world_oracles import Solid, winding

from . import random_meshes
from .brute import candidates, gap, surely_cross, touch_exactly
from .case import Case, Told, Wrong, clear, demand

EXACT_PAIRS = 40
"""Pairs of triangles that are looked at in rational numbers."""


def run(case: Case) -> Told:
    kinds: tuple[tuple[str, Callable[[Case], bool], float], ...] = (
        ("pair", _pair, 0.6),
        ("touching", _touching, 0.15),
        ("coal", _against_coal, 0.1),
        ("spoiled", _spoiled, 0.1),
        ("cover", _cover, 0.05),
    )
    kind, check, _ = kinds[int(case.rng.choice(len(kinds), p=[share for _, _, share in kinds]))]
    return Told(kind, refused=check(case))


class Pair:
    """Two posed meshes and what is certain of their surfaces."""

    def __init__(self, a: TriangleMesh, T_a: np.ndarray, b: TriangleMesh, T_b: np.ndarray) -> None:
        self.a, self.b, self.T_a, self.T_b = a, b, T_a, T_b
        self.tris_a, self.tris_b = moved(a, T_a)[~a.degenerate], moved(b, T_b)[~b.degenerate]
        self.size = (
            np.abs(a.vertices).max()
            + np.abs(b.vertices).max()
            + float(np.linalg.norm(T_b[:3, 3] - T_a[:3, 3]))
        )
        thin = max(_slenderness(self.tris_a), _slenderness(self.tris_b))
        self.band = 2.0 * self.size * max(1e-6, 1e-12 * thin)
        self.crosses = surely_cross(self.tris_a, self.tris_b, self.size)
        self.gap = 0.0 if self.crosses else gap(self.tris_a, self.tris_b)

    @property
    def apart(self) -> bool:
        """Beyond all bands."""
        return self.gap > self.band

    def states(self, contain: bool) -> int:
        return int(collide_states(self.a, self.T_a, self.b, self.T_b, contain=contain)[0])


def _slenderness(triangles: np.ndarray) -> float:
    """Longest edge over height, of the thinnest triangle."""
    edges = np.linalg.norm(triangles - np.roll(triangles, 1, axis=1), axis=2).max(axis=1)
    area = np.linalg.norm(
        np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]), axis=1
    )
    return float((edges**2 / area).max())


def _save(case: Case, pair: Pair) -> None:
    np.savez(
        case.folder / "pair.npz", vertices_a=pair.a.vertices, faces_a=pair.a.faces, T_a=pair.T_a,
        vertices_b=pair.b.vertices, faces_b=pair.b.faces, T_b=pair.T_b,
    )  # fmt: skip


# Pairs ------------------------------------------------------------------------------------------


def _draw_mesh(rng: np.random.Generator, scale: float) -> TriangleMesh | None:
    mesh = random_meshes.draw(rng, str(rng.choice(random_meshes.KINDS, p=[0.3, 0.35, 0.1, 0.1, 0.05, 0.1])))
    try:
        return TriangleMesh(scale * mesh.vertices, mesh.faces)
    except ElbowroomError as error:  # a lattice may have no triangle with area
        clear(error)
        return None


def _pose(rng: np.random.Generator, spread: float) -> np.ndarray:
    T = np.eye(4)
    if rng.uniform() < 0.8:
        T[:3, :3] = rotations(rng, 1)[0]
    T[:3, 3] = spread * rng.uniform(-1, 1, 3)
    return T


def draw_pair(rng: np.random.Generator) -> Pair | None:
    """Two meshes, of one size or of two, some of them just about to touch; None where a draw has no area."""
    scale = 10.0 ** rng.uniform(-3, 3)
    other = scale * 10.0 ** rng.uniform(-2, 2) if rng.uniform() < 0.2 else scale
    a, b = _draw_mesh(rng, scale), _draw_mesh(rng, other)
    if a is None or b is None:
        return None
    spread = rng.choice([0.0, 0.3, 1.0, 2.0]) * max(scale, other)
    T_a, T_b = _pose(rng, spread), _pose(rng, spread)
    if rng.uniform() < 0.3:
        near = distance_batch(a, T_a, b, T_b, signed=False, contain=False)
        if near.tri_a[0] >= 0:  # up to contact, and a little more or less
            leave = rng.choice([-1.0, 0.0, 1.0]) * 10.0 ** rng.uniform(-12, -2) * scale
            T_b[:3, 3] -= (near.distances[0] - leave) * near.normals[0]
    return Pair(a, T_a, b, T_b)


def _pair(case: Case) -> bool:
    pair = draw_pair(case.rng)
    if pair is None:
        return True
    _save(case, pair)
    check_surfaces(pair)
    check_solids(pair)
    check_laws(pair, case.rng)
    check_contacts(pair, case.rng)
    return False


def check_surfaces(pair: Pair) -> None:
    """Boolean and distance of surfaces against all pairs of triangles."""
    ours = pair.states(contain=False)
    demand(ours in (0, 1), f"state {ours} of surfaces alone")
    demand(not (pair.crosses and not ours), "triangles cross and the meshes are called apart")
    demand(not (pair.apart and ours), f"called touching at a gap of {pair.gap:.6g}, size {pair.size:.6g}")
    found = distance_batch(pair.a, pair.T_a, pair.b, pair.T_b, contain=False, signed=False)
    d = float(found.distances[0])
    demand((d > 0.0) <= (ours == 0), f"distance {d:.6g} of meshes that collide")
    if ours:
        return
    wrong = abs(d - pair.gap)
    demand(
        wrong <= 1e-9 * d + 1e-11 * pair.size,
        f"distance {d!r}, by brute force {pair.gap!r}, size {pair.size:.6g}",
    )
    points = found.points_a[0], found.points_b[0]
    wrong = abs(float(np.linalg.norm(points[1] - points[0])) - d)
    demand(
        wrong <= 1e-9 * d + 1e-11 * pair.size,
        f"points {np.linalg.norm(points[1] - points[0])!r} apart, distance {d!r}",
    )
    for point, triangles in zip(points, (pair.tris_a, pair.tris_b), strict=True):
        far = off_triangles(triangles, point)
        demand(far <= 1e-9 * pair.size, f"a closest point is {far:.3g} off the surface, size {pair.size:.3g}")


def off_triangles(triangles: np.ndarray, point: np.ndarray) -> float:
    """Distance of a point to triangles (n, 3, 3); trimesh's own loses digits where they are millimetres small."""
    m = TriangleMesh(triangles.reshape(-1, 3), np.arange(3 * len(triangles)).reshape(-1, 3))
    return off(m, np.eye(4), point)


def check_solids(pair: Pair) -> None:
    """What is inside what, by winding numbers, where the surfaces are apart for sure."""
    if not pair.apart:
        return
    ours = pair.states(contain=True)
    solids = [Solid.of_mesh(m.vertices, m.faces[~m.degenerate]) for m in (pair.a, pair.b)]
    if not all(_ordinary(m, solid) for m, solid in zip((pair.a, pair.b), solids, strict=True)):
        return
    T = np.linalg.inv(pair.T_a) @ pair.T_b
    in_a = solids[0].contains(solids[1].pieces @ T[:3, :3].T + T[:3, 3])
    back = np.linalg.inv(T)
    in_b = solids[1].contains(solids[0].pieces @ back[:3, :3].T + back[:3, 3])
    demand((ours > 0) == (in_a or in_b), f"state {ours}; b in a: {in_a}, a in b: {in_b}")


def _ordinary(mesh: TriangleMesh, solid: Solid) -> bool:
    """All closed, in pieces that face one way, or nothing closed at all.

    Whether folded triangles, or ones that are there twice, bound a solid is judged otherwise by trimesh.
    """
    if not mesh.closed:
        return not mesh.closed_faces.any() and not solid.closed
    parts = trimesh.Trimesh(mesh.vertices, mesh.faces[~mesh.degenerate], process=True).split(
        only_watertight=False, repair=False
    )
    return all(part.is_watertight and part.is_winding_consistent and part.is_volume for part in parts)


def check_laws(pair: Pair, rng: np.random.Generator) -> None:
    """Symmetry, and a common rigid motion."""
    if not (pair.apart or pair.crosses):
        return
    for contain in (False, True):
        one = collide(pair.a, pair.T_a, pair.b, pair.T_b, contain=contain)
        other = collide(pair.b, pair.T_b, pair.a, pair.T_a, contain=contain)
        demand(one == other, f"collide(a, b) is {one}, collide(b, a) is {other}, contain={contain}")
        G = np.eye(4)
        G[:3, :3], G[:3, 3] = rotations(rng, 1)[0], pair.size * rng.uniform(-1, 1, 3)
        there = collide(pair.a, G @ pair.T_a, pair.b, G @ pair.T_b, contain=contain)
        demand(one == there, f"{one} here, {there} after a common motion, contain={contain}")
    if pair.apart:
        one = distance_batch(pair.a, pair.T_a, pair.b, pair.T_b, contain=False, signed=False).distances[0]
        other = distance_batch(pair.b, pair.T_b, pair.a, pair.T_a, contain=False, signed=False).distances[0]
        demand(
            abs(one - other) <= 1e-9 * one + 1e-11 * pair.size, f"distances {one!r} and, swapped, {other!r}"
        )


def check_contacts(pair: Pair, rng: np.random.Generator) -> None:
    """Contacts are there when surfaces meet; moving by the depth parts the meshes."""
    found = mesh_mesh_contact(pair.a, pair.T_a, pair.b, pair.T_b)
    demand(not (pair.crosses and not len(found)), "triangles cross and there is no contact")
    demand(not (pair.apart and len(found)), f"{len(found)} contacts at a gap of {pair.gap:.6g}")
    for values in (found.points, found.normals, found.depths):
        demand(np.isfinite(values).all(), "contacts are not finite")
    demand((found.depths >= 0.0).all(), "a depth is negative")
    demand(
        (np.abs(np.linalg.norm(found.normals, axis=1) - 1.0) < 1e-6).all(), "a normal is not a unit vector"
    )
    if rng.uniform() < 0.75 or pair.size > 0.5 or len(pair.tris_a) * len(pair.tris_b) > 20_000:
        return  # beyond, the bands of thin triangles are wider than the micrometre that is promised; depths take long
    contact = mesh_mesh_separation(pair.a, pair.T_a, pair.b, pair.T_b)
    if contact is None:
        demand(not pair.crosses, "triangles cross and there is no deepest contact")
        return
    demand(np.isfinite(contact.depth) and contact.depth >= 0.0, f"depth {contact.depth}")
    away = pair.T_b.copy()
    away[:3, 3] += (contact.depth + 1e-6) * contact.normal
    parted = Pair(pair.a, pair.T_a, pair.b, away)
    demand(not parted.crosses, f"triangles still cross after moving by the depth {contact.depth!r}")


# Others -----------------------------------------------------------------------------------------


def _touching(case: Case) -> bool:
    """Whole numbers, where contact is exact: what rational numbers call touching is."""
    rng = case.rng
    made = [random_meshes.draw(rng, str(rng.choice(["lattice", "lattice box"]))) for _ in range(2)]
    shift = rng.integers(-2, 3, 3)
    try:
        a, b = (
            TriangleMesh(made[0].vertices, made[0].faces),
            TriangleMesh(made[1].vertices + shift, made[1].faces),
        )
    except ElbowroomError as error:
        clear(error)
        return True
    pair = Pair(a, np.eye(4), b, np.eye(4))
    _save(case, pair)
    i, j = candidates(pair.tris_a, pair.tris_b)
    some = rng.permutation(len(i))[:EXACT_PAIRS]
    if any(touch_exactly(pair.tris_a[i[k]], pair.tris_b[j[k]]) for k in some):
        demand(pair.states(contain=False) == 1, "triangles touch and the meshes are called apart")
        demand(len(mesh_mesh_contact(a, None, b, None)), "triangles touch and there is no contact")
        demand(collide(b, None, a, None), "triangles touch and the meshes, swapped, are called apart")
    else:
        check_surfaces(pair)
    return False


def _against_coal(case: Case) -> bool:
    """Larger solids against Coal's boolean, which counts a micrometre as touching."""
    rng = case.rng
    made = [random_meshes.closed_mesh(rng) for _ in range(2)]
    T_b = _pose(rng, 1.5)
    a, b = (TriangleMesh(m.vertices, m.faces) for m in made)
    ours = collide(a, None, b, T_b, contain=False)
    result = coal.CollisionResult()
    coal.collide(
        coal_of(made[0]),
        coal.Transform3s(),
        coal_of(made[1]),
        coal_pose(T_b),
        coal.CollisionRequest(),
        result,
    )
    if ours != result.isCollision():
        pair = Pair(a, np.eye(4), b, T_b)
        _save(case, pair)
        check_surfaces(pair)
        demand(
            not pair.apart and not pair.crosses, f"{ours}, Coal {result.isCollision()}, gap {pair.gap:.3g}"
        )
    return False


def _spoiled(case: Case) -> bool:
    """Refused clearly, or answers that are finite."""
    vertices, faces = random_meshes.spoiled(case.rng)
    np.savez(case.folder / "mesh.npz", vertices=vertices, faces=faces)
    try:
        mesh = TriangleMesh(vertices, faces)
    except ElbowroomError as error:
        clear(error, "mesh", "vertices", "faces")
        return True
    other = TriangleMesh.from_trimesh(random_meshes.closed_mesh(case.rng))
    T = _pose(case.rng, 1.0)
    try:
        found = distance_batch(mesh, None, other, T, signed=False)
    except ElbowroomError as error:
        clear(error)
        return True
    demand(np.isfinite(found.distances).all(), f"distance {found.distances}")
    demand(np.isfinite(mesh_mesh_contact(mesh, None, other, T).points).all(), "contacts are not finite")
    return False


def _cover(case: Case) -> bool:
    """Where coverage is proved, no point of the link is outside; where it is not, the witness is."""
    rng = case.rng
    mesh = random_meshes.closed_mesh(rng) if rng.uniform() < 0.7 else random_meshes.soup(rng)
    mesh.apply_scale(10.0 ** rng.uniform(-2, 0))
    mesh.export(case.folder / "link.stl")
    path = case.folder / "one.urdf"
    path.write_text(
        '<robot name="one"><link name="a"><collision><geometry><mesh filename="link.stl"/></geometry></collision></link></robot>'
    )
    robot = er.load_robot(path)
    method = "tight" if rng.uniform() < 0.2 else "centerline"
    spheres = er.fit_spheres(robot, er.FitOptions(method=method, n_spheres=int(rng.integers(1, 9))))
    centers, radii = (np.array(values) for values in spheres.link("a"))
    if rng.uniform() < 0.6:  # somewhat smaller, all or one of them
        some = rng.uniform(size=len(radii)) < rng.uniform()
        radii[some] *= 1.0 - 10.0 ** rng.uniform(-12, -1)
    given = er.SphereModel.from_links(robot.link_names, {"a": (centers, radii)})
    proof = er.prove_coverage(robot, given, measure=False).links["a"]
    triangles = np.asarray(robot.link_mesh("a").triangles)
    size = float(np.ptp(triangles.reshape(-1, 3), axis=0).max())
    points = _points(rng, triangles, proof.closed)
    outside = (np.linalg.norm(points[:, None] - centers, axis=2) - radii).min(axis=1)
    worst = float(outside.max())
    if proof.proved:
        demand(
            worst <= 1e-12 * size, f"proved, and a point of the link is {worst:.3g} outside, size {size:.3g}"
        )
        demand(
            worst <= proof.worst_gap + 1e-12 * size, f"gap at most {proof.worst_gap:.6g}, found {worst:.6g}"
        )
    elif proof.witness is not None:
        far = float((np.linalg.norm(proof.witness - centers, axis=1) - radii).min())
        demand(far > -1e-12 * size, f"the witness is {far:.3g} inside")
        demand(
            abs(far - proof.worst_gap) <= 1e-9 * size,
            f"the witness is {far:.6g} outside, said {proof.worst_gap:.6g}",
        )
        demand(_belongs(proof.witness, triangles, proof.closed, size), "the witness is no point of the link")
    elif worst > 1e-9 * size:
        raise Wrong(f"no witness, and a point of the link is {worst:.3g} outside")
    return False


def _points(rng: np.random.Generator, triangles: np.ndarray, closed: bool) -> np.ndarray:
    """Points of triangles, corners and edges among them, and of what closed ones enclose."""
    weights = rng.dirichlet(np.ones(3), (len(triangles), 20))
    weights[:, :3] = np.eye(3)
    weights[:, 3:6] = 0.5 * (np.eye(3) + np.roll(np.eye(3), 1, axis=0))
    surface = np.einsum("tkc,tcx->tkx", weights, triangles).reshape(-1, 3)
    if not closed:
        return surface
    low, high = surface.min(axis=0), surface.max(axis=0)
    inside = [p for p in rng.uniform(low, high, (60, 3)) if abs(winding(triangles, p)) > 0.5]
    return np.concatenate([surface, np.array(inside).reshape(-1, 3)])


def _belongs(point: np.ndarray, triangles: np.ndarray, closed: bool, size: float) -> bool:
    return off_triangles(triangles, point) <= 1e-9 * size or (closed and abs(winding(triangles, point)) > 0.5)
