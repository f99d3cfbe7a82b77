"""Distances of points to obstacles: every kind against another library, brute force or a closed form."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import map_coordinates
from scipy.spatial import cKDTree

from elbowroom.errors import InputError
from elbowroom.mesh import TriangleMesh
from elbowroom.world import (
    Box,
    Capsule,
    Cylinder,
    MeshObstacle,
    PointCloud,
    SdfGrid,
    Sphere,
    World,
)

from .world_tools import KINDS, ball_field, draw, in_frame_of, pose, solid

QUERIES = 10_000


def all_limits(world: World, points: np.ndarray, limit: float) -> np.ndarray:
    """(obstacles, n) distances to each obstacle."""
    return np.array([world.core.distances(k, points, limit) for k in range(len(world))])


# Coal -------------------------------------------------------------------------------------------


def coal_distances(
    geometry, T_world_geometry: np.ndarray, points: np.ndarray, radii: np.ndarray
) -> np.ndarray:
    """Coal's signed distances of spheres to a geometry, at tolerances far below ours."""
    coal = pytest.importorskip("coal")
    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = 1e-10
    request.gjk_max_iterations = request.epa_max_iterations = 1000
    place, moved = coal.Transform3s(), coal.Transform3s()
    place.setRotation(T_world_geometry[:3, :3])
    place.setTranslation(T_world_geometry[:3, 3])
    found = []
    for point, radius in zip(points, radii, strict=True):
        moved.setTranslation(point)
        found.append(
            coal.distance(coal.Sphere(radius), moved, geometry, place, request, coal.DistanceResult())
        )
    return np.array(found)


def coal_geometry(obstacle):
    pytest.importorskip("coal")
    from tests.world_oracles import coal_obstacle

    return coal_obstacle(obstacle)


def sphere_queries(kind: str, seed: int):
    """Obstacles with spheres around and in them: (obstacle, centres, radii), `QUERIES` in all."""
    rng, n = np.random.default_rng(seed), QUERIES // 100
    for _ in range(100):
        obstacle = draw(kind, rng)
        centers = obstacle.pose[:3, 3] + rng.normal(size=(n, 3)) * rng.choice([0.05, 0.5], (n, 1))
        yield obstacle, centers, rng.uniform(0.002, 0.05, n)


@pytest.mark.parametrize("kind", ["box", "sphere", "capsule", "half_space"])
def test_spheres_are_as_far_from_primitives_as_coal_says(kind):
    inside = 0
    for obstacle, centers, radii in sphere_queries(kind, seed=1):
        ours = World([obstacle]).distance(centers) - radii
        theirs = coal_distances(coal_geometry(obstacle), obstacle.pose, centers, radii)
        np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-6)
        clear = np.abs(ours) > 1e-9
        assert (np.sign(ours) == np.sign(theirs))[clear].all()
        inside += int((ours < -radii).sum())
    assert inside > 200  # centres in the obstacle


def test_spheres_are_as_far_from_cylinders_as_coal_says():
    """Of spheres whose centre is inside, Coal 3.0 gives the depth below the side even where an end is nearer.

    There the way out that we give must be one to Coal too: moved by our depth along our gradient, the sphere touches.
    """
    ends = 0
    for obstacle, centers, radii in sphere_queries("cylinder", seed=2):
        distance, gradient = World([obstacle]).distance_and_gradient(centers)
        ours, geometry = distance - radii, coal_geometry(obstacle)
        theirs = coal_distances(geometry, obstacle.pose, centers, radii)
        x, y, z = in_frame_of(obstacle, centers).T
        side, end = np.hypot(x, y) - obstacle.radius, np.abs(z) - 0.5 * obstacle.length
        by_end = (end > side) & (end < 0.0)
        np.testing.assert_allclose(ours[~by_end], theirs[~by_end], rtol=0.0, atol=1e-6)
        assert (np.sign(ours) == np.sign(theirs)).all()
        assert (ours >= theirs - 1e-6).all()
        out = centers[by_end] - ours[by_end, None] * gradient[by_end]
        touching = coal_distances(geometry, obstacle.pose, out, radii[by_end])
        np.testing.assert_allclose(touching, 0.0, atol=1e-6)
        ends += int(by_end.sum())
    assert ends > 100


@pytest.mark.parametrize("name", ["egg", "torus", "bracket"])
def test_spheres_are_as_far_from_meshes_as_coal_says(name):
    """Coal's meshes are surfaces: a sphere within one is as far as from outside. Winding numbers tell the sign."""
    coal = pytest.importorskip("coal")
    mesh, rng = solid(name), np.random.default_rng(3)
    geometry = coal.BVHModelOBBRSS()
    geometry.beginModel(len(mesh.faces), len(mesh.vertices))
    geometry.addVertices(np.array(mesh.vertices))
    geometry.addTriangles(np.array(mesh.faces))
    geometry.endModel()
    obstacle = MeshObstacle(TriangleMesh.from_trimesh(mesh), pose=pose(rng))
    centers = obstacle.pose[:3, 3] + rng.normal(size=(QUERIES // 3, 3)) * 0.25
    ours = World([obstacle]).distance(centers)
    radii = np.minimum(0.02, 0.5 * np.abs(ours))
    theirs = coal_distances(geometry, obstacle.pose, centers, radii) + radii
    np.testing.assert_allclose(np.abs(ours), theirs, rtol=0.0, atol=1e-6)
    inside = np.abs(winding_numbers(mesh, in_frame_of(obstacle, centers))) > 0.5
    assert np.array_equal(ours < 0.0, inside)
    assert inside.sum() > 100


def winding_numbers(mesh, points: np.ndarray) -> np.ndarray:
    """Sum of the solid angles of all triangles (van Oosterom and Strackee), in spheres."""
    a, b, c = (np.array(mesh.vertices)[np.array(mesh.faces)[:, k]] for k in range(3))
    total = np.zeros(len(points))
    for i, p in enumerate(points):
        u, v, w = a - p, b - p, c - p
        lu, lv, lw = (np.linalg.norm(e, axis=1) for e in (u, v, w))
        over = np.einsum("ij,ij->i", u, np.cross(v, w))
        under = lu * lv * lw + (u * v).sum(1) * lw + (v * w).sum(1) * lu + (w * u).sum(1) * lv
        total[i] = 2.0 * np.arctan2(over, under).sum() / (4.0 * np.pi)
    return total


def test_depth_in_a_convex_mesh_is_coals():
    coal = pytest.importorskip("coal")
    rng = np.random.default_rng(4)
    mesh = solid("egg")
    vertices = coal.StdVec_Vec3s()
    vertices.extend([np.array(v) for v in mesh.vertices])
    triangles = coal.StdVec_Triangle()
    triangles.extend([coal.Triangle(*map(int, face)) for face in mesh.faces])
    hull = coal.Convex(vertices, triangles)
    obstacle = MeshObstacle(TriangleMesh.from_trimesh(mesh), pose=pose(rng))
    centers = obstacle.pose[:3, 3] + rng.uniform(-0.3, 0.3, (1000, 3))
    radii = np.full(1000, 0.01)
    ours = World([obstacle]).distance(centers) - radii
    theirs = coal_distances(hull, obstacle.pose, centers, radii)
    np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-6)
    assert (ours < -radii).sum() > 200


# Meshes -----------------------------------------------------------------------------------------


def test_only_closed_pieces_of_a_mesh_have_an_inside():
    cube = TriangleMesh.box((0.2, 0.2, 0.2))
    lid = np.array([[1.0, -0.5, -0.5], [1.0, 0.5, -0.5], [1.0, 0.0, 0.5]])
    vertices = np.concatenate([cube.vertices, lid])
    faces = np.concatenate([cube.faces, [[8, 9, 10]]])
    with pytest.warns(UserWarning, match="some pieces of it are not closed"):
        world = World([MeshObstacle(TriangleMesh(vertices, faces))])
    points = [[0, 0, 0], [0.09, 0, 0], [0.2, 0, 0], [0.95, 0, 0], [1.05, 0, 0]]
    np.testing.assert_allclose(world.distance(points), [-0.1, -0.01, 0.1, 0.05, 0.05], atol=1e-12)
    with pytest.warns(UserWarning, match="it is not closed"):
        sheet = World([MeshObstacle(TriangleMesh(lid, [[0, 1, 2]]))])
    np.testing.assert_allclose(sheet.distance([[0.95, 0, 0], [1.05, 0, 0]]), [0.05, 0.05], atol=1e-12)


@pytest.mark.parametrize("width", [1e-3, 1e-6, 1e-9, 1e-12])
def test_thin_triangles_keep_their_digits(width):
    """Above the middle of a sliver the distance is the height, beyond its tip the way to it."""
    rng = np.random.default_rng(5)
    T = World([Box((1, 1, 1), pose=pose(rng))])["box"].pose
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, width, 0.0]])
    with pytest.warns(UserWarning, match="not closed"):
        world = World([MeshObstacle(TriangleMesh(corners @ T[:3, :3].T, [[0, 1, 2]]))])
    height = rng.uniform(0.0, 0.3, 200)
    above = np.stack([rng.uniform(0.3, 0.7, 200), np.full(200, 0.3 * width), height], axis=1)
    np.testing.assert_allclose(world.distance(above @ T[:3, :3].T), height, atol=1e-9)
    beyond = np.stack([1.0 + height, np.zeros(200), np.zeros(200)], axis=1)
    np.testing.assert_allclose(world.distance(beyond @ T[:3, :3].T), height, atol=1e-9)


# Clouds and fields ------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 9, 5000])
def test_clouds_agree_with_scipys_tree(n):
    rng = np.random.default_rng(n)
    given = rng.normal(size=(n, 3))
    given[n // 2 :] = given[: n - n // 2]  # points given twice
    cloud = PointCloud(given, 2.0, pose=pose(rng))
    points = np.concatenate(
        [rng.uniform(-3.0, 3.0, (3000, 3)), given @ cloud.pose[:3, :3].T + cloud.pose[:3, 3]]
    )
    expected = cKDTree(given).query(in_frame_of(cloud, points))[0] - 2.0
    np.testing.assert_allclose(World([cloud]).distance(points), expected, atol=1e-12)


def test_fields_are_trilinear_inside_their_grid():
    rng = np.random.default_rng(6)
    values, spacing = ball_field()
    grid = SdfGrid(values, spacing, (-0.5, -0.5, -0.5), pose=pose(rng))
    local = rng.uniform(-0.5, 0.5, (5000, 3))
    places = (local + 0.5) / spacing
    expected = map_coordinates(grid.values.astype(np.float64), places.T, order=1)
    ours = World([grid]).distance(local @ grid.pose[:3, :3].T + grid.pose[:3, 3])
    np.testing.assert_allclose(ours, expected, atol=1e-12)


def test_beyond_its_grid_a_field_is_no_farther_than_its_solid_and_joins_smoothly():
    rng = np.random.default_rng(7)
    values, spacing = ball_field(radius=0.3, half=0.5)
    world = World([SdfGrid(values, spacing, (-0.5, -0.5, -0.5))])
    points = rng.uniform(-2.0, 2.0, (20_000, 3))
    points = points[np.abs(points).max(axis=1) > 0.5]
    gap = np.linalg.norm(points - np.clip(points, -0.5, 0.5), axis=1)
    true = np.linalg.norm(points, axis=1) - 0.3
    ours = world.distance(points)
    assert (ours <= true + 2e-3).all()  # samples of a ball, trilinear: off by up to spacing^2 / (8 radius)
    assert (ours >= gap).all()
    q = np.clip(points, -0.5, 0.5)
    inner, outer = world.distance(q * (1.0 - 1e-9)), world.distance(q * (1.0 + 1e-9))
    np.testing.assert_allclose(inner, outer, atol=1e-8)


def test_the_solid_of_a_field_ends_with_its_grid():
    """A floor that fills the lower half of its grid: beyond the faces is free, and no point is deeper than a face."""
    z = np.linspace(-0.5, 0.5, 11)
    world = World([SdfGrid(np.broadcast_to(z, (11, 11, 11)), 0.1, (-0.5, -0.5, -0.5))])
    assert world.distance([0.0, 0.0, -0.1]) == pytest.approx(-0.1)
    assert world.distance([0.45, 0.0, -0.3]) == pytest.approx(-0.05)
    assert world.distance([0.6, 0.0, -0.3]) == pytest.approx(0.1)
    assert world.distance([0.6, 0.0, 0.3]) == pytest.approx(np.hypot(0.1, 0.3))
    low, high = world["sdf_grid"].bounds
    rng = np.random.default_rng(8)
    points = rng.uniform(-1.5, 1.5, (5000, 3))
    gap = np.linalg.norm(points - np.clip(points, low, high), axis=1)
    beyond = gap > 0.0
    assert (world.distance(points) >= gap - 1e-12)[beyond].all()


def test_steep_fields_are_divided_by_their_slope():
    values, spacing = ball_field()
    with pytest.warns(UserWarning, match="divided by that"):
        grid = SdfGrid(3.0 * values, spacing, (-0.5, -0.5, -0.5))
    world, rng = World([grid]), np.random.default_rng(9)
    points = rng.uniform(-1.0, 1.0, (1000, 3))
    plain, safe = world.distance(points), world.core.lower_bounds(points, np.inf)
    beyond = np.linalg.norm(np.maximum(np.abs(points) - 0.5, 0.0), axis=1)  # no solid is nearer than the grid
    np.testing.assert_allclose(
        safe, np.maximum(plain / grid.slope, np.where(beyond > 0.0, beyond, -1.0)), rtol=1e-12
    )
    true = np.linalg.norm(points, axis=1) - 0.3
    assert (safe <= np.maximum(true, 0.0) + 2e-3).all()
    box = World([Box((0.1, 0.2, 0.3))])
    np.testing.assert_array_equal(box.core.lower_bounds(points, np.inf), box.distance(points))


# All kinds --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_those_of_finite_differences(kind):
    rng, step = np.random.default_rng(10), 1e-6
    checked = 0
    for _ in range(10):
        world = World([draw(kind, rng)])
        points = rng.uniform(-0.8, 0.8, (300, 3))
        distance, gradient = world.distance_and_gradient(points)
        np.testing.assert_array_equal(distance, world.distance(points))
        ahead, back = (
            np.stack([world.distance(points + s * step * axis) for axis in np.eye(3)], axis=1)
            for s in (1, -1)
        )
        bend = (
            np.abs(ahead + back - 2.0 * distance[:, None]).max(axis=1) / step
        )  # on a ridge there is no gradient
        smooth = bend < 1e-3
        slopes = (ahead - back)[smooth] / (2.0 * step)
        np.testing.assert_allclose(gradient[smooth], slopes, atol=1e-6)
        checked += int(smooth.sum())
        if kind != "sdf_grid":
            np.testing.assert_allclose(np.linalg.norm(gradient, axis=1), 1.0, atol=1e-9)
    assert checked > 2970


@pytest.mark.parametrize(
    ("obstacle", "point"),
    [
        (Sphere(0.2), (0, 0, 0)),
        (Box((0.2, 0.3, 0.4)), (0, 0, 0)),
        (Box((0.2, 0.2, 0.2)), (0.1, 0.1, 0.1)),
        (Cylinder(0.2, 0.5), (0, 0, 0.1)),
        (Cylinder(0.2, 0.5), (0.2, 0, 0.25)),
        (Capsule(0.2, 0.5), (0, 0, 0.1)),
        (MeshObstacle(TriangleMesh.box((0.2, 0.2, 0.2))), (0.1, 0.03, 0.02)),
        (
            MeshObstacle(
                TriangleMesh(*(lambda m: (m.vertices, m.faces[:, ::-1]))(TriangleMesh.box((1, 1, 1))))
            ),
            (0.5, 0, 0.1),
        ),
        (PointCloud(np.zeros((1, 3)), 0.1), (0, 0, 0)),
    ],
)
def test_where_there_is_no_gradient_a_way_out_is_given(obstacle, point):
    world, point = World([obstacle]), np.array(point, dtype=float)
    distance, gradient = world.distance_and_gradient(point)
    assert np.linalg.norm(gradient) == pytest.approx(1.0)
    assert world.distance(point + 1e-3 * gradient) > distance + 1e-4


@pytest.mark.parametrize("kind", KINDS)
def test_distances_change_by_at_most_the_way_gone(kind):
    rng = np.random.default_rng(11)
    world = World([draw(kind, rng)])
    steepest = getattr(world.obstacles[0], "slope", 1.0)
    a = rng.uniform(-0.8, 0.8, (5000, 3))
    b = a + rng.normal(size=a.shape) * 10.0 ** rng.uniform(-4, 0, (5000, 1))
    change = np.abs(world.distance(a) - world.distance(b))
    assert (change <= steepest * np.linalg.norm(a - b, axis=1) + 1e-12).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("limit", [-0.05, 0.0, 0.02, 0.3])
def test_below_the_limit_answers_are_exact_and_above_it_they_say_so(kind, limit):
    rng = np.random.default_rng(12)
    world = World([draw(kind, rng)])
    points = rng.uniform(-0.8, 0.8, (1500, 3))
    exact, limited = world.distance(points), all_limits(world, points, limit)[0]
    below = exact < limit
    np.testing.assert_allclose(limited[below], exact[below], rtol=0.0, atol=1e-15)
    assert (limited[~below] >= limit).all()


# Worlds -----------------------------------------------------------------------------------------


def crowd(n: int, seed: int = 13) -> World:
    """Obstacles of all kinds that overlap."""
    rng = np.random.default_rng(seed)
    kinds = [KINDS[k] for k in rng.integers(len(KINDS), size=n)]
    return World([draw(kind, rng, spread=1.0) for kind in kinds])


def test_the_nearest_is_the_least_of_all():
    world = crowd(40)
    points = np.random.default_rng(14).uniform(-2.0, 2.0, (1000, 3))
    each = all_limits(world, points, np.inf)
    np.testing.assert_array_equal(world.distance(points), each.min(axis=0))
    assert list(world.nearest(points)) == [world.names[k] for k in each.argmin(axis=0)]
    assert ((each < 0.0).sum(axis=0) > 1).sum() > 100  # in several at once: the deepest counts
    distance, gradient = world.distance_and_gradient(points)
    ahead = world.distance(points + 1e-7 * gradient)
    flat = np.array([kind == "sdf_grid" for kind in (world[name].kind for name in world.nearest(points))])
    assert np.median(np.abs(ahead - distance - 1e-7)[~flat]) < 1e-12


def test_answers_have_the_shape_of_the_question():
    world = crowd(5)
    points = np.random.default_rng(15).uniform(-1.0, 1.0, (4, 5, 3))
    distance, gradient = world.distance_and_gradient(points)
    assert distance.shape == (4, 5) == world.nearest(points).shape
    assert gradient.shape == (4, 5, 3)
    one, slope = world.distance_and_gradient(points[1, 2])
    assert isinstance(one, float)
    assert isinstance(world.distance(points[1, 2]), float)
    assert one == distance[1, 2] == world.distance(points)[1, 2] == world.distance(points[1, 2].tolist())
    np.testing.assert_array_equal(slope, gradient[1, 2])
    assert world.nearest(points[1, 2]) == world.nearest(points)[1, 2]
    assert world.distance(np.zeros((0, 3))).shape == (0,)
    assert world.distance_and_gradient(np.zeros((2, 0, 3)))[1].shape == (2, 0, 3)
    assert world.distance(np.zeros((2, 3), dtype=np.int32)).shape == (2,)


def test_large_batches_are_the_same_in_parts():
    world = crowd(8)
    points = np.random.default_rng(16).uniform(-1.0, 1.0, (20_000, 3))
    distance, gradient = world.distance_and_gradient(points)
    for part in np.split(np.arange(20_000), 20):
        np.testing.assert_array_equal(distance[part], world.distance(points[part]))
        np.testing.assert_array_equal(gradient[part], world.distance_and_gradient(points[part])[1])


def test_an_empty_world_is_infinitely_far():
    distance, gradient = World().distance_and_gradient(np.zeros((2, 3)))
    assert np.isposinf(distance).all()
    assert not gradient.any()
    assert World().distance((0, 0, 0)) == np.inf
    assert World().nearest((0, 0, 0)) is None
    assert list(World().nearest(np.zeros((2, 3)))) == [None, None]


@pytest.mark.parametrize(
    ("points", "said"),
    [
        (np.zeros((4, 2)), r"expected shape \(\.\.\., 3\), found shape \(4, 2\)"),
        (0.0, r"expected shape \(\.\.\., 3\)"),
        ("here", "expected numbers"),
        ([[0, 0, None]], "expected numbers"),
        ([[0, 0], [1, 2, 3]], "expected numbers"),
        ([[0, 0, np.nan], [1, 2, 3]], "1 of 2 are NaN or infinite"),
        ([0, np.inf, 0], "1 of 1 are NaN or infinite"),
        (np.zeros(3, dtype=complex), "expected numbers"),
    ],
)
def test_points_that_are_none_are_refused(points, said):
    world = World([Sphere(1.0)])
    for ask in (world.distance, world.distance_and_gradient, world.nearest):
        with pytest.raises(InputError, match=said):
            ask(points)
