"""Posed meshes against the exact shapes of obstacles: Coal, brute force and tangency by construction are the judges."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import trimesh

from elbowroom.mesh import TriangleMesh
from elbowroom.world import (
    Box,
    Capsule,
    Cylinder,
    HalfSpace,
    MeshObstacle,
    Obstacle,
    PointCloud,
    SdfGrid,
    Sphere,
    World,
)

COAL_ERROR = 1e-6
"""Metres: what Coal's searches (GJK, EPA) leave open."""
ENDLESS = 1e9
CONVEX = ("box", "sphere", "cylinder", "capsule")


def rigid(rng, spread=0.4):
    """A random pose."""
    q = rng.normal(size=4)
    T = trimesh.transformations.quaternion_matrix(q / np.linalg.norm(q))
    T[:3, 3] = spread * rng.normal(size=3)
    return T


def row(T):
    return np.concatenate([T[:3, :3].ravel(), T[:3, 3]])


class Asked:
    """Meshes against one obstacle at the origin of the world."""

    def __init__(self, meshes: dict[str, TriangleMesh], obstacle: Obstacle):
        self.meshes, self.core = meshes, World([obstacle]).core
        self.p = np.zeros((2, 3))

    def gap(self, name, T, limit=ENDLESS):
        """The distance, -1 when they meet; leaves the two closest points in `p`."""
        tree, pose = self.meshes[name].tree, row(T)[None]
        (meets,), (distance,), (self.p,) = self.core.mesh_gaps(0, tree, pose, float(limit))
        told = np.empty(1, np.bool_)
        self.core.mesh_meets(0, tree, pose, told)
        assert told[0] == meets
        return -1.0 if meets else distance


@functools.cache
def made_meshes() -> dict[str, trimesh.Trimesh]:
    ball, ring = trimesh.creation.icosphere(3, 0.2), trimesh.creation.torus(0.3, 0.1)
    return {
        "ball": ball,
        "ring": ring,
        "brick": trimesh.creation.box((0.1, 0.2, 0.5)),
        "bowl": ball.slice_plane([0, 0, 0.05], [0, 0, -1]),
    }


@functools.cache
def ours(which) -> dict[str, TriangleMesh]:
    return {name: TriangleMesh.from_trimesh(m) for name, m in which().items()}


@functools.cache
def in_coal(which):
    from ..mesh.mesh_tools import coal_of

    return {name: coal_of(m) for name, m in which().items()}


def random_obstacle(kind, rng):
    """An obstacle at the origin and the same in Coal."""
    coal = pytest.importorskip("coal")

    if kind == "box":
        size = np.exp(rng.uniform(np.log(0.01), np.log(2.0), 3))
        return Box(tuple(size)), coal.Box(*size)
    if kind == "sphere":
        radius = rng.uniform(0.02, 0.5)
        return Sphere(radius), coal.Sphere(radius)
    if kind == "half_space":
        normal, offset = rng.normal(size=3), 0.3 * rng.normal()
        normal /= np.linalg.norm(normal)
        return HalfSpace(tuple(normal), offset), coal.Halfspace(normal, offset)
    radius, length = np.exp(rng.uniform(np.log(0.01), np.log(1.0), 2))
    if kind == "cylinder":
        return Cylinder(radius, length), coal.Cylinder(radius, length)
    return Capsule(radius, length), coal.Capsule(radius, length)


def coal_distance(a, T, b):
    coal = pytest.importorskip("coal")

    from ..mesh.mesh_tools import coal_pose

    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.gjk_tolerance, request.gjk_max_iterations = 1e-8, 1000
    return coal.distance(a, coal_pose(T), b, coal.Transform3s(), request, result)


def contains(m: trimesh.Trimesh, T: np.ndarray, point=(0.0, 0.0, 0.0)) -> bool:
    """Whether a closed mesh contains a point of the world, by solid angles."""
    if not m.is_watertight:
        return False
    a, b, c = (trimesh.transform_points(m.vertices, T)[m.faces[:, k]] - point for k in range(3))
    la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
    det = np.einsum("ij,ij->i", a, np.cross(b, c))
    den = la * lb * lc + (a * b).sum(1) * lc + (b * c).sum(1) * la + (a * c).sum(1) * lb
    return abs(np.arctan2(det, den).sum()) > np.pi


def agree(asked, name, T, mesh, coal_a, coal_b, *, solid_inside=True):
    """Compares one query with Coal; returns (touching, contained, error)."""
    gap, p = asked.gap(name, T), asked.p.copy()
    assert (gap < 0.0) == (asked.gap(name, T, 0.0) < 0.0)
    d = coal_distance(coal_a, T, coal_b)
    if abs(d) <= COAL_ERROR:
        return gap < 0.0, False, 0.0
    if d < 0.0:
        assert gap == -1.0
        return True, False, 0.0
    if gap < 0.0:
        assert solid_inside
        assert contains(mesh, T)
        return True, True, 0.0
    assert abs(np.linalg.norm(p[0] - p[1]) - gap) < 1e-9
    near, far = asked.gap(name, T, 1.1 * gap), asked.gap(name, T, 0.9 * gap)
    assert near == pytest.approx(gap, abs=1e-9)
    assert far >= 0.9 * gap
    return False, False, abs(gap - d)


@pytest.mark.parametrize("kind", [*CONVEX, "half_space"])
def test_meshes_against_primitives_as_coal(kind):
    pytest.importorskip("coal")
    rng = np.random.default_rng(3)
    meshes, coals = ours(made_meshes), in_coal(made_meshes)
    counts, worst = np.zeros(2, int), 0.0
    for _ in range(500):
        obstacle, theirs = random_obstacle(kind, rng)
        asked = Asked(meshes, obstacle)
        for name, m in made_meshes().items():
            touching, contained, error = agree(
                asked, name, rigid(rng), m, coals[name], theirs, solid_inside=kind != "half_space"
            )
            counts += touching, contained
            worst = max(worst, error)
    assert 300 < counts[0] < 1700
    assert worst < COAL_ERROR


@pytest.mark.parametrize("kind", CONVEX)
def test_triangles_of_any_shape_against_primitives_as_coal(kind):
    coal = pytest.importorskip("coal")
    rng = np.random.default_rng(4)
    touching, worst = 0, 0.0
    for _ in range(2000):
        obstacle, theirs = random_obstacle(kind, rng)
        corners = rng.normal(size=(3, 3)) * np.exp(rng.uniform(np.log(0.01), np.log(2.0)))
        if rng.random() < 0.3:  # a sliver
            corners[2] = corners[0] + rng.random() * (corners[1] - corners[0]) + 1e-4 * rng.normal(size=3)
        face = trimesh.Trimesh(corners + 0.15 * rng.normal(size=3), [[0, 1, 2]], process=False)
        model = coal.BVHModelOBBRSS()
        model.beginModel(1, 3)
        model.addVertices(np.asarray(face.vertices))
        model.addTriangles(np.asarray(face.faces))
        model.endModel()
        asked = Asked({"face": TriangleMesh.from_trimesh(face)}, obstacle)
        met, _, error = agree(asked, "face", np.eye(4), face, model, theirs)
        touching += met
        worst = max(worst, error)
    assert 200 < touching < 1800
    assert worst < COAL_ERROR


def surface_point(kind, obstacle, rng):
    """A random point of a primitive's surface, on faces, edges, corners and rims alike, and an outward normal there."""
    if kind == "sphere":
        n = rng.normal(size=3)
        n /= np.linalg.norm(n)
        return obstacle.radius * n, n
    if kind == "box":
        half = 0.5 * np.array(obstacle.size)
        on = rng.random(3) < 0.5
        on[rng.integers(3)] = True
        side = rng.choice([-1.0, 1.0], 3)
        n = np.where(on, side * rng.random(3), 0.0)
        return np.where(on, side * half, half * rng.uniform(-1, 1, 3)), n / np.linalg.norm(n)
    angle, half = rng.uniform(0, 2 * np.pi), 0.5 * obstacle.length
    out, up = np.array([np.cos(angle), np.sin(angle), 0.0]), np.array([0.0, 0.0, rng.choice([-1.0, 1.0])])
    where = rng.integers(3)
    if kind == "capsule":
        n = out if where == 0 else np.cos(t := 0.5 * np.pi * rng.random()) * out + np.sin(t) * up
        z = half * (rng.uniform(-1, 1) if where == 0 else up[2])
        return obstacle.radius * n + [0.0, 0.0, z], n
    if where == 0:
        return obstacle.radius * out + [0.0, 0.0, half * rng.uniform(-1, 1)], out
    if where == 1:
        return obstacle.radius * np.sqrt(rng.random()) * out + half * up, up
    t = 0.5 * np.pi * rng.random()
    return obstacle.radius * out + half * up, np.cos(t) * out + np.sin(t) * up


@pytest.mark.parametrize("where", ["inside", "edge", "corner"])
@pytest.mark.parametrize("kind", CONVEX)
def test_triangles_placed_at_known_gaps(kind, where):
    """A triangle in a plane that parts it from the solid, at a gap that is known because the plane is a support."""
    pytest.importorskip("coal")
    rng = np.random.default_rng(5)
    for _ in range(300):
        obstacle, _ = random_obstacle(kind, rng)
        point, normal = surface_point(kind, obstacle, rng)
        gap = rng.choice([1e-9, 1e-7, 1e-4, 0.03])
        u, v = np.linalg.svd(normal[None])[2][1:]
        flat = rng.normal(size=(3, 2)) * 0.2
        if where == "inside":
            flat -= flat.mean(axis=0)
        elif where == "edge":
            flat -= flat[0] + rng.random() * (flat[1] - flat[0])
        else:
            flat -= flat[0]
        corners = point + gap * normal + flat @ np.array([u, v])
        asked = Asked({"face": TriangleMesh(corners, [[0, 1, 2]])}, obstacle)
        # the plane may tilt by rounding: corners are exact to some 1e-16, which shows in gaps of 1e-9
        assert asked.gap("face", np.eye(4)) == pytest.approx(gap, abs=1e-9 * max(1.0, gap) / 2)
        assert asked.gap("face", np.eye(4), 0.0) >= 0.0
        T = np.eye(4)
        T[:3, 3] = -(gap + 1e-9) * normal
        assert asked.gap("face", T) == asked.gap("face", T, 0.0) == -1.0


def test_touching_counts():
    brick = {"brick": TriangleMesh.box((0.2, 0.2, 0.2))}
    T = np.eye(4)
    for obstacle, reach in (
        (Box((1.0, 1.0, 0.5)), 0.25),
        (Sphere(0.25), 0.25),
        (Cylinder(0.3, 0.5), 0.25),
        (Capsule(0.125, 0.25), 0.25),
        (HalfSpace(offset=0.25), 0.25),
        (PointCloud(np.zeros((1, 3)), radius=0.25), 0.25),
        (MeshObstacle(TriangleMesh.box((1.0, 1.0, 0.5))), 0.25),
    ):
        asked = Asked(brick, obstacle)
        T[2, 3] = reach + 0.1
        assert asked.gap("brick", T) == asked.gap("brick", T, 0.0) == -1.0, obstacle
        T[2, 3] += 1e-6
        assert asked.gap("brick", T) == pytest.approx(1e-6, abs=1e-9), obstacle
        assert asked.gap("brick", T, 0.0) >= 0.0


def test_solids_contain_both_ways():
    small, large = (
        {"brick": TriangleMesh.box((0.02, 0.02, 0.02))},
        {"brick": TriangleMesh.box((4.0, 4.0, 4.0))},
    )
    lid = TriangleMesh.box((4.0, 4.0, 4.0))
    open_box = {"brick": TriangleMesh(lid.vertices, lid.faces[:-1])}
    axis = np.arange(-2, 3) * 0.25
    field = np.linalg.norm(np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1), axis=-1) - 0.3
    for obstacle in (
        Box((1.0, 1.0, 0.5)),
        Sphere(0.25),
        Cylinder(0.3, 0.5),
        Capsule(0.125, 0.25),
        PointCloud(np.zeros((1, 3)), radius=0.25),
        SdfGrid(field, 0.25, (-0.5, -0.5, -0.5)),
        MeshObstacle(TriangleMesh.box((1.0, 1.0, 0.5))),
    ):
        T = np.eye(4)
        T[:3, 3] = 0.01, 0.02, 0.03
        for limit in (0.0, ENDLESS):
            assert Asked(small, obstacle).gap("brick", T, limit) == -1.0, obstacle
            assert Asked(large, obstacle).gap("brick", T, limit) == -1.0, obstacle
        T[:3, 3] = 0.4, 0.0, 0.0
        gap = Asked(open_box, obstacle).gap("brick", T)
        assert 0.3 < gap < 2.0, obstacle


def test_meshes_against_meshes_as_coal():
    pytest.importorskip("coal")
    rng = np.random.default_rng(6)
    meshes, coals = ours(made_meshes), in_coal(made_meshes)
    for other, theirs in coals.items():
        with pytest.warns() if other == "bowl" else _nothing():
            asked = Asked(meshes, MeshObstacle(meshes[other]))
        for _ in range(60):
            for name in meshes:
                T = rigid(rng)
                gap, d = asked.gap(name, T), coal_distance(coals[name], T, theirs)
                if gap > 0.0:
                    assert gap == pytest.approx(d, abs=COAL_ERROR)
                    assert np.linalg.norm(asked.p[0] - asked.p[1]) == pytest.approx(gap, abs=1e-9)
                elif d > COAL_ERROR:  # one inside the other
                    T_back = np.linalg.inv(T)
                    inside = contains(made_meshes()[name], T, meshes[other].vertices[0])
                    assert inside or contains(made_meshes()[other], T_back, meshes[name].vertices[0])


class _nothing:
    def __enter__(self): ...
    def __exit__(self, *_): ...


def robot_meshes(load, robot):
    """Collision meshes of a robot's links, as trimesh has them."""
    return {name: m for name in load(robot).link_names if (m := load(robot).link_mesh(name)) is not None}


@pytest.mark.parametrize("robot", ["panda", "ur5"])
def test_links_of_robots_against_primitives_as_coal(load, robot):
    pytest.importorskip("coal")
    from ..mesh.mesh_tools import coal_of

    rng = np.random.default_rng(7)
    links = robot_meshes(load, robot)
    meshes = {name: TriangleMesh.from_trimesh(m) for name, m in links.items()}
    coals = {name: coal_of(m) for name, m in links.items()}
    touching, worst, asked_of = 0, 0.0, 0
    for _ in range(40):
        for kind in (*CONVEX, "half_space"):
            obstacle, theirs = random_obstacle(kind, rng)
            asked = Asked(meshes, obstacle)
            for name, m in links.items():
                met, _, error = agree(
                    asked, name, rigid(rng, 0.2), m, coals[name], theirs, solid_inside=kind != "half_space"
                )
                touching += met
                asked_of += 1
                worst = max(worst, error)
    assert 0.1 < touching / asked_of < 0.9
    assert worst < COAL_ERROR


# Clouds ------------------------------------------------------------------------------------------


def brute_distance(points, triangles):
    """Distance of the nearest of points (n, 3) to triangles (m, 3, 3): trimesh's closest points, every pair."""
    n, m = len(points), len(triangles)
    pairs = np.repeat(points, m, axis=0), np.tile(triangles, (n, 1, 1))
    nearest = trimesh.triangles.closest_point(pairs[1], pairs[0])
    return np.linalg.norm(nearest - pairs[0], axis=1).reshape(n, m)


@pytest.mark.parametrize("count", [1, 7, 60])
def test_clouds_as_brute_force(count):
    rng = np.random.default_rng(8)
    meshes = ours(made_meshes)
    seen = np.zeros(3, int)
    for _ in range(20):
        points = rng.normal(size=(count, 3)) * rng.uniform(0.02, 0.6) + 0.2 * rng.normal(size=3)
        radius = rng.uniform(0.002, 0.05)
        cloud = PointCloud(points, radius=radius) if count == 1 else _quiet_cloud(points, radius)
        asked = Asked(meshes, cloud)
        for name, m in made_meshes().items():
            T = rigid(rng, 0.5)
            corners = trimesh.transform_points(m.vertices, T)[m.faces]
            d = brute_distance(points, corners).min() - radius
            local = trimesh.transform_points(points, np.linalg.inv(T))
            boxed = (np.abs(local - m.bounds.mean(axis=0)) < 0.5 * m.extents).all(axis=1)
            inside = any(contains(m, T, point) for point in points[boxed])
            assert (asked.gap(name, T, 0.0) < 0.0) == (d <= 0.0 or inside)
            gap = asked.gap(name, T)
            assert (gap < 0.0) == (d <= 0.0 or inside)
            seen += d <= 0.0, d > 0.0 and inside, gap > 0.0
            if gap > 0.0:
                assert gap == pytest.approx(d, abs=1e-12)
                assert np.linalg.norm(asked.p[0] - asked.p[1]) == pytest.approx(gap, abs=1e-12)
                assert np.linalg.norm(points - asked.p[1], axis=1).min() == pytest.approx(radius, abs=1e-12)
                assert asked.gap(name, T, 0.99 * gap) >= 0.99 * gap
                assert asked.gap(name, T, 1.01 * gap) == pytest.approx(gap, abs=1e-12)
    assert seen[2] > 0
    assert count == 1 or seen[0] > 0


def _quiet_cloud(points, radius):
    import warnings

    with warnings.catch_warnings():  # sparse on purpose
        warnings.simplefilter("ignore")
        return PointCloud(points, radius=radius)


# Fields ------------------------------------------------------------------------------------------


def field_of(distance, spacing, low, shape):
    """A field sampled from a function of points."""
    axes = [low[k] + spacing * np.arange(shape[k]) for k in range(3)]
    return SdfGrid(distance(np.stack(np.meshgrid(*axes, indexing="ij"), -1)), spacing, tuple(low))


def interpolated(field, points):
    """Trilinear values of a field at points; infinite beyond its grid."""
    s = (points - np.array(field.origin)) / np.array(field.spacing)
    top = np.array(field.values.shape) - 1
    beyond = ((s < 0) | (s > top)).any(axis=1)
    i = np.clip(np.floor(s).astype(int), 0, top - 1)
    f = s - i
    out = np.zeros(len(points))
    for corner in np.ndindex(2, 2, 2):
        weight = np.where(np.array(corner), f, 1.0 - f).prod(axis=1)
        out += weight * field.values.astype(float)[tuple((i + corner).T)]
    return np.where(beyond, np.inf, out)


@pytest.mark.parametrize("spacing", [0.01, 0.04])
def test_fields_are_never_apart_where_the_surface_meets_their_solid(spacing):
    rng = np.random.default_rng(9)
    n = int(0.6 / spacing)
    field = field_of(
        lambda x: np.linalg.norm(x, axis=-1) - 0.2, spacing, (-0.3, -0.3, -0.3), (n + 1, n + 1, n + 1)
    )
    meshes = ours(made_meshes)
    asked = Asked(meshes, field)
    met = 0
    for _ in range(40):
        for name, m in made_meshes().items():
            T = rigid(rng, 0.25)
            points = trimesh.transform_points(trimesh.sample.sample_surface(m, 4000, seed=1)[0], T)
            values = interpolated(field, points)
            gap = asked.gap(name, T)
            assert (gap < 0.0) == (asked.gap(name, T, 0.0) < 0.0)
            met += gap < 0.0
            if values.min() <= 0.0 or contains(m, T):
                assert gap == -1.0
            elif gap < 0.0:
                assert values.min() < 0.02  # samples of the surface are up to some 2 cm apart
            else:
                known = values[np.isfinite(values)].min(initial=np.inf) / field.slope
                assert gap <= known  # a lower bound
                # the interpolation is at most 3/8 h^2 / r above the sphere's distance, and nothing beyond the grid
                # is nearer than the grid: the sphere itself is the judge
                true = coal_free_sphere_distance(m, T) - 0.2
                assert gap <= true + 0.375 * spacing**2 / 0.1
                if true < 0.1:  # in the grid
                    assert gap >= 0.97 * true / field.slope - 1.1e-5
    assert 20 < met < 150


def coal_free_sphere_distance(m, T):
    """Distance of the origin to the surface of a posed mesh."""
    return brute_distance(np.zeros((1, 3)), trimesh.transform_points(m.vertices, T)[m.faces]).min()


def test_a_field_of_a_plane_is_the_half_space():
    """Trilinear interpolation of a plane is exact, so the lowest corner of the mesh is the judge."""
    rng = np.random.default_rng(10)
    meshes = ours(made_meshes)
    for _ in range(20):
        normal = rng.normal(size=3)
        normal /= np.linalg.norm(normal)
        field = field_of(lambda x, n=normal: x @ n, 0.05, (-1.5, -1.5, -1.5), (61, 61, 61))
        asked = Asked(meshes, field)
        for name, m in made_meshes().items():
            T = rigid(rng, 0.2)
            T[:3, 3] += 0.2 * normal
            low = (trimesh.transform_points(m.vertices, T) @ normal).min()
            gap = asked.gap(name, T)
            if low <= 0.0:
                assert gap == -1.0
            elif low > 1e-4:
                assert 0.97 * low / field.slope - 1.1e-5 <= gap <= low
