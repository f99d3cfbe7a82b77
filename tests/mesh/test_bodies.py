"""Bodies: every pair of the eight shapes against Coal, ids, moves, broad phase, bad input."""

from __future__ import annotations

import functools
import itertools
import pickle

import numpy as np
import pytest
import trimesh

from elbowroom.errors import InputError, UnknownNameError
from elbowroom.mesh import (
    Bodies,
    Body,
    Box,
    Capsule,
    ConvexMesh,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    Sphere,
    TriangleMesh,
    detect_contact,
    shape_distance,
)

from .mesh_tools import coal_hull, coal_pose, rotations, shape, shift

POSES, QUICK = 500, 60
TOLERANCE = 1e-6
"""Metres: of distances, and of booleans, where Coal's own iterations (1e-9) cannot decide."""


@functools.cache
def lump() -> trimesh.Trimesh:
    """A convex body without symmetry."""
    rng = np.random.default_rng(3)
    return trimesh.convex.convex_hull(rng.normal(size=(30, 3)) * [0.3, 0.2, 0.15])


@functools.cache
def bracket() -> trimesh.Trimesh:
    """A closed body that is not convex."""
    body = shape("bracket").copy()
    body.apply_translation(-body.bounds.mean(axis=0))
    body.apply_scale(0.9 / body.extents.max())
    return body


@functools.cache
def ours(name: str):
    return {
        "sphere": lambda: Sphere(0.3),
        "capsule": lambda: Capsule(0.2, 0.6),
        "box": lambda: Box((0.5, 0.7, 0.9)),
        "cylinder": lambda: Cylinder(0.3, 0.8),
        "ellipsoid": lambda: Ellipsoid((0.2, 0.35, 0.5)),
        "half-space": lambda: HalfSpace((0.0, 0.6, 0.8), 0.05),
        "convex mesh": lambda: ConvexMesh(lump().vertices),
        "triangle mesh": lambda: TriangleMesh.from_trimesh(bracket()),
    }[name]()


SHAPES = (
    "sphere", "capsule", "box", "cylinder", "ellipsoid", "half-space", "convex mesh", "triangle mesh",
)  # fmt: skip


@functools.cache
def theirs(name: str):
    coal = pytest.importorskip("coal")
    from ..oracles import coal_mesh

    return {
        "sphere": lambda: coal.Sphere(0.3),
        "capsule": lambda: coal.Capsule(0.2, 0.6),
        "box": lambda: coal.Box(0.5, 0.7, 0.9),
        "cylinder": lambda: coal.Cylinder(0.3, 0.8),
        "ellipsoid": lambda: coal.Ellipsoid(0.2, 0.35, 0.5),
        "half-space": lambda: coal.Halfspace(np.array([0.0, 0.6, 0.8]), 0.05),
        "convex mesh": lambda: coal_hull(lump())[1],
        "triangle mesh": lambda: coal_mesh(bracket().vertices, bracket().faces),
    }[name]()


def random_pose(rng: np.random.Generator) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3] = rotations(rng, 1)[0]
    T[:3, 3] = rng.uniform(-0.6, 0.6, 3)
    return T


def coal_distance(a: str, T_a: np.ndarray, b: str, T_b: np.ndarray) -> float:
    """Signed only in so far as what is not positive collides."""
    coal = pytest.importorskip("coal")
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.gjk_tolerance = 1e-9
    request.gjk_max_iterations = 1000
    request.enable_signed_distance = False
    return coal.distance(theirs(a), coal_pose(T_a), theirs(b), coal_pose(T_b), request, result)


def coal_collides(a: str, T_a: np.ndarray, b: str, T_b: np.ndarray) -> bool:
    coal = pytest.importorskip("coal")
    request, result = coal.CollisionRequest(), coal.CollisionResult()
    request.gjk_tolerance = 1e-9
    request.gjk_max_iterations = 1000
    coal.collide(theirs(a), coal_pose(T_a), theirs(b), coal_pose(T_b), request, result)
    return result.isCollision()


def contained(a: str, T_a: np.ndarray, b: str, T_b: np.ndarray) -> bool:
    """Whether a body lies inside the triangle mesh of the other, whose surface Coal alone knows: by trimesh."""
    for mesh_name, T_mesh, other, T_other in ((a, T_a, b, T_b), (b, T_b, a, T_a)):
        if mesh_name == "triangle mesh" and other != "half-space":
            center = bracket().vertices[:1] if other == "triangle mesh" else np.zeros((1, 3))
            world = center @ T_other[:3, :3].T + T_other[:3, 3]
            if bracket().contains((world - T_mesh[:3, 3]) @ T_mesh[:3, :3])[0]:
                return True
    return False


def triangles_below(T_mesh: np.ndarray, T_plane: np.ndarray) -> float:
    """Distance of the bracket's lowest corner from the half-space: brute force."""
    corners = bracket().vertices @ T_mesh[:3, :3].T + T_mesh[:3, 3]
    normal = T_plane[:3, :3] @ np.array([0.0, 0.6, 0.8])
    return float((corners @ normal - 0.05 - normal @ T_plane[:3, 3]).min())


PAIRS = [pair for pair in itertools.combinations_with_replacement(SHAPES, 2) if set(pair) != {"half-space"}]
"""All 36 but two half-spaces, which have a test of their own."""


@pytest.mark.parametrize(("a", "b"), PAIRS)
@pytest.mark.parametrize("poses", [QUICK, pytest.param(POSES, marks=pytest.mark.long)])
def test_every_pair_of_shapes_equals_coal(a, b, poses):
    rng = np.random.default_rng(SHAPES.index(a) * 8 + SHAPES.index(b))
    hits = compared = 0
    for k in range(poses):
        T_a, T_b = random_pose(rng), random_pose(rng)
        if k % 2:
            a_now, T_a, b_now, T_b = b, T_b, a, T_a  # both orders
        else:
            a_now, b_now = a, b
        bodies = Bodies([Body("first", ours(a_now), T_a), Body(7, ours(b_now), T_b)])
        contacts = bodies.contacts()
        found = bodies.distance("first", 7)
        assert (found.id_a, found.id_b) == ("first", 7)
        np.testing.assert_allclose(found.point_b - found.point_a, found.distance * found.normal, atol=1e-9)
        assert np.linalg.norm(found.normal) == pytest.approx(1.0, abs=1e-9)
        assert (len(contacts) == 1) == (found.distance <= 0.0)
        for contact in contacts:
            assert (contact.id_a, contact.id_b) == ("first", 7)
            assert contact.depth == pytest.approx(-found.distance, abs=1e-12)
        hits += len(contacts)
        if {a, b} == {"half-space", "triangle mesh"}:
            T_mesh, T_plane = (T_a, T_b) if a_now == "triangle mesh" else (T_b, T_a)
            assert found.distance == pytest.approx(triangles_below(T_mesh, T_plane), abs=1e-12)
            compared += 1
            continue
        gap = coal_distance(a_now, T_a, b_now, T_b)
        collides = coal_collides(a_now, T_a, b_now, T_b)
        if not collides and contained(a_now, T_a, b_now, T_b):
            collides = True  # Coal's meshes are surfaces, ours are solids when they are closed
        if found.distance > TOLERANCE:
            assert not collides
            assert found.distance == pytest.approx(gap, abs=TOLERANCE)
        elif found.distance < -TOLERANCE:
            assert collides
        compared += 1
    assert compared == poses
    assert 0 < hits < poses


@pytest.mark.parametrize(
    ("a", "b"),
    [pair for pair in PAIRS if "half-space" not in pair and "triangle mesh" not in pair],
)
def test_depths_of_convex_shapes_are_the_least_separating_translation(a, b):
    """By Coal, moved by the depth they are apart and by less they are not; no sampled direction does with less."""
    rng = np.random.default_rng(99)
    ways = rng.normal(size=(2000, 3))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    hits = 0
    for _ in range(60):
        T_a, T_b = random_pose(rng), random_pose(rng)
        c = detect_contact(ours(a), T_a, ours(b), T_b)
        if c is None:
            continue
        hits += 1
        apart, still = T_b.copy(), T_b.copy()
        apart[:3, 3] += (c.depth + 2e-6) * c.normal
        still[:3, 3] += (c.depth - 2e-6) * c.normal
        assert coal_distance(a, T_a, b, apart) > 0.0
        if c.depth > 4e-6:
            assert coal_collides(a, T_a, b, still)
        least = (reach(a, T_a, ways) + reach(b, T_b, -ways)).min()
        assert c.depth <= least + 1e-9
    assert hits > 5


def reach(name: str, T: np.ndarray, ways: np.ndarray) -> np.ndarray:
    """How far a body reaches along unit vectors: its support function."""
    local, body = ways @ T[:3, :3], ours(name)
    match body:
        case Sphere():
            far = np.full(len(ways), body.radius)
        case Capsule():
            far = 0.5 * body.length * np.abs(local[:, 2]) + body.radius
        case Box():
            far = 0.5 * np.abs(local) @ np.array(body.size)
        case Cylinder():
            far = 0.5 * body.length * np.abs(local[:, 2]) + body.radius * np.hypot(local[:, 0], local[:, 1])
        case Ellipsoid():
            far = np.linalg.norm(local * np.array(body.semi_axes), axis=1)
        case _:
            far = (local @ lump().vertices.T).max(axis=1)
    return far + ways @ T[:3, 3]


def test_half_spaces_equal_coal():
    rng = np.random.default_rng(1)
    for _ in range(50):
        T_a, T_b = random_pose(rng), random_pose(rng)
        assert (
            len(Bodies([Body(0, ours("half-space"), T_a), Body(1, ours("half-space"), T_b)]).contacts()) == 1
        )
        assert coal_collides("half-space", T_a, "half-space", T_b)


def test_half_spaces_meet_unless_they_face_away():
    up, down = HalfSpace(), HalfSpace((0, 0, -1), -0.2)
    (apart,) = [Bodies([Body("up", up), Body("down", down)]).distance("up", "down")]
    assert apart.distance == pytest.approx(0.2)
    assert Bodies([Body("up", up), Body("down", down)]).contacts() == ()
    (touch,) = Bodies([Body("up", up), Body("down", down, shift(z=-0.5))]).contacts()
    assert touch.depth == pytest.approx(0.3)
    np.testing.assert_allclose(touch.normal, [0, 0, 1])
    (endless,) = Bodies([Body("up", up), Body("side", HalfSpace((1, 0, 0)))]).contacts()
    assert endless.depth == np.inf


@pytest.mark.parametrize("inner", ["sphere", "capsule", "box", "cylinder", "ellipsoid", "convex mesh"])
@pytest.mark.parametrize("outer", [Box((3, 3, 3)), ConvexMesh(8 * trimesh.creation.icosphere().vertices),
                                   Ellipsoid((2.0, 3.0, 2.5)), Cylinder(2.0, 3.0),
                                   TriangleMesh.box((3, 3, 3))])  # fmt: skip
def test_what_is_inside_a_solid_collides(inner, outer):
    (contact,) = Bodies([Body("in", ours(inner), shift(0.05, 0.02, 0.01)), Body("out", outer)]).contacts()
    assert contact.depth > 1.0
    moved = Bodies([Body("in", ours(inner), shift(0.05, 0.02, 0.01)), Body("out", outer)])
    moved = moved.move("out", shift(*((contact.depth + 0.05) * contact.normal)))
    assert moved.contacts() == ()


def test_a_mesh_as_a_surface_contains_nothing():
    bodies = Bodies([Body("hollow", TriangleMesh.box((3, 3, 3))), Body("can", Cylinder(0.1, 0.2))])
    assert len(bodies.contacts()) == 1
    assert bodies.contacts(contain=False) == ()
    assert bodies.distance("can", "hollow", contain=False).distance == pytest.approx(1.4, abs=1e-9)
    box = trimesh.creation.box((3, 3, 3))
    lid_off = Bodies(
        [Body("open", TriangleMesh(box.vertices, box.faces[:-1])), Body("can", Cylinder(0.1, 0.2))]
    )
    assert lid_off.contacts() == ()


SMALL = {
    "sphere": Sphere(0.1),
    "capsule": Capsule(0.05, 0.1),
    "box": Box((0.1, 0.2, 0.15)),
    "cylinder": Cylinder(0.1, 0.1),
    "ellipsoid": Ellipsoid((0.05, 0.1, 0.15)),
    "convex mesh": ConvexMesh(0.2 * lump().vertices),
    "triangle mesh": TriangleMesh.box((0.1, 0.1, 0.1)),
}
SOLIDS = {
    "sphere": Sphere(1.0),
    "capsule": Capsule(0.8, 1.0),
    "box": Box((1, 1, 1)),
    "cylinder": Cylinder(1.0, 2.0),
    "ellipsoid": Ellipsoid((1.0, 0.9, 0.8)),
    "convex mesh": ConvexMesh(trimesh.creation.icosphere().vertices),
}


@pytest.mark.parametrize("inner", SMALL)
@pytest.mark.parametrize("outer", SOLIDS)
def test_solids_contain_when_meshes_are_surfaces(inner, outer):
    """Only triangle meshes are hollow then; what is in another shape collides with it, as deep as a solid would."""
    a, b, T = SOLIDS[outer], SMALL[inner], shift(0.05, 0.02, 0.01)
    c = detect_contact(a, None, b, T, contain=False)
    assert c is not None
    assert c.depth == pytest.approx(detect_contact(a, None, b, T).depth, rel=0.02)
    assert detect_contact(b, T, a, None, contain=False).depth == pytest.approx(c.depth, abs=1e-6)
    assert shape_distance(a, None, b, T, contain=False).distance == pytest.approx(-c.depth, abs=1e-12)
    (found,) = Bodies([Body("out", a), Body("in", b, T)]).contacts(contain=False)
    assert found.depth == pytest.approx(c.depth, abs=1e-12)
    out = T.copy()
    out[:3, 3] += (c.depth + 2e-6) * c.normal
    if inner != "triangle mesh" or outer not in ("sphere", "capsule"):  # there the depth is a lower bound
        assert detect_contact(a, None, b, out, contain=False) is None


@pytest.mark.parametrize("inner", SMALL)
def test_a_surface_holds_no_shape(inner):
    hollow, b, T = TriangleMesh.box((1, 1, 1)), SMALL[inner], shift(0.05, 0.02, 0.01)
    inside, outside = detect_contact(hollow, None, b, T), detect_contact(b, T, hollow, None)
    assert inside.depth == pytest.approx(outside.depth, abs=1e-6)
    assert inside.depth > 0.5 - 0.05
    for found in (
        shape_distance(hollow, None, b, T, contain=False),
        shape_distance(b, T, hollow, None, contain=False),
    ):
        assert 0.2 < found.distance < 0.45
    assert detect_contact(hollow, None, b, shift(0.5), contain=False) is not None
    assert hollow.closed  # the mesh itself stays a solid
    assert not hollow.surface.closed


@pytest.mark.parametrize("gap", [1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-15, 0.0])
@pytest.mark.parametrize("body", [Cylinder(0.1, 0.2), Ellipsoid((0.2, 0.15, 0.1))])
@pytest.mark.parametrize("ground", ["plate", "box"])
def test_round_solids_that_almost_stand_on_a_mesh(body, gap, ground):
    box = TriangleMesh.box((1, 1, 0.1))
    plate = TriangleMesh([[-1, -1, 0.05], [1, -1, 0.05], [1, 1, 0.05], [-1, 1, 0.05]], [[0, 1, 2], [0, 2, 3]])
    rng = np.random.default_rng(2)
    for T in [np.eye(4), *(random_pose(rng) for _ in range(10))]:
        T_body = T @ shift(0.013, 0.02, 0.15 + gap)
        a, T_a = box if ground == "box" else plate, T
        found = shape_distance(a, T_a, body, T_body)
        assert found.distance == pytest.approx(gap, abs=1e-9)
        np.testing.assert_allclose(found.normal, T[:3, 2], atol=1e-4)
        contact, back = detect_contact(a, T_a, body, T_body), detect_contact(body, T_body, a, T_a)
        assert (contact is None) == (back is None) == (found.distance > 0.0)
        local = T[:3, :3].T @ (found.point_a - T[:3, 3])
        assert local[2] == pytest.approx(0.05, abs=1e-9)
        assert np.hypot(local[0] - 0.013, local[1] - 0.02) < 0.11


@pytest.mark.parametrize("ground", [Box((2, 2, 0.1)), TriangleMesh.box((2, 2, 0.1))])
def test_gaps_of_round_solids_are_as_exact_as_they_are_said_to_be(ground):
    """Above a plate the gap is known: the height of the support point."""
    rng = np.random.default_rng(1)
    apart = 0
    for k in range(600):
        R, gap = rotations(rng, 1)[0], 10.0 ** rng.uniform(-15, 0)
        a, b, c = rng.uniform(0.05, 0.5, 3)
        if k % 2:
            body, low, reaches = Ellipsoid((a, b, c)), np.linalg.norm([a, b, c] * R[2]), max(a, b, c)
        else:
            body, reaches = Cylinder(a, b), np.hypot(a, 0.5 * b)
            low = a * np.hypot(R[2, 0], R[2, 1]) + 0.5 * b * abs(R[2, 2])
        T, size = shift(z=0.05 + low + gap), reaches + np.sqrt(2.0025)
        T[:3, :3] = R
        found = shape_distance(ground, None, body, T).distance
        apart += found > 0.0
        assert abs(max(found, 0.0) - gap) <= 1e-9 * size
    assert apart > 300


def test_bodies_are_values_with_ids():
    ball = Body("ball", Sphere(0.1), (1, 0, 0, 0, 0, 0, 0.3))
    bodies = Bodies([Body("floor", HalfSpace()), ball, Body(3, Box((1, 1, 0.1)), shift(z=1.0))])
    assert bodies.ids == ("floor", "ball", 3)
    assert len(bodies) == 3
    assert 3 in bodies and "cat" not in bodies  # noqa: PT018
    assert bodies["ball"] is ball
    assert "ball" in bodies
    assert [1] not in bodies
    assert ([],) not in bodies
    assert bodies.contacts() == ()
    lower = bodies.move("ball", shift(z=0.08))
    (contact,) = lower.contacts()
    assert (contact.id_a, contact.id_b) == ("floor", "ball")
    assert contact.depth == pytest.approx(0.02)
    np.testing.assert_allclose(contact.normal, [0, 0, 1])
    np.testing.assert_allclose(contact.point, [0, 0, -0.01], atol=1e-12)
    assert bodies.contacts() == ()  # the first value has not changed
    assert lower.ids == bodies.ids
    more = lower.add(Body("tip", Ellipsoid((0.05, 0.05, 0.3)), shift(z=1.0)))
    assert {(c.id_a, c.id_b) for c in more.contacts()} == {("floor", "ball"), (3, "tip")}
    assert [c.depth for c in more.contacts()] == sorted((c.depth for c in more.contacts()), reverse=True)
    assert more.remove("tip").remove("ball").contacts() == ()
    assert not ball.pose.flags.writeable
    copy = pickle.loads(pickle.dumps(ball))
    assert copy.id == "ball"
    assert not copy.pose.flags.writeable
    assert Bodies().contacts() == ()


def test_the_broad_phase_leaves_out_nothing_that_touches():
    rng = np.random.default_rng(0)
    bodies = Bodies(
        Body(k, ours(SHAPES[k % len(SHAPES)]), pose)
        for k, pose in enumerate(np.stack([random_pose(rng) for _ in range(32)]) + 3 * np.pad(
            rng.uniform(-0.5, 0.5, (32, 3, 1)), ((0, 0), (0, 1), (3, 0)))[:, :, :4]
        )
        if SHAPES[k % len(SHAPES)] != "half-space"
    )  # fmt: skip
    found = {(c.id_a, c.id_b) for c in bodies.contacts()}
    every = {
        (a.id, b.id)
        for a, b in itertools.combinations(bodies, 2)
        if shape_distance(a.shape, a.pose, b.shape, b.pose).distance <= 0.0
    }
    assert found == every
    assert len(every) > 10
    assert len(every) <= len(bodies.near_pairs()) < len(bodies) * (len(bodies) - 1) // 2
    for body in bodies:
        T, R = body.pose, np.eye(3)
        name = SHAPES[body.id % len(SHAPES)]
        if name not in ("triangle mesh", "convex mesh"):
            np.testing.assert_allclose(reach(name, T, R), body.bounds[1], atol=1e-12)
            np.testing.assert_allclose(-reach(name, T, -R), body.bounds[0], atol=1e-12)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Body("a", "ball"), InputError, "shape: expected one of Box, Capsule"),
        (lambda: Body([], Sphere(1.0)), InputError, "id: expected"),
        (lambda: Body(None, Sphere(1.0)), InputError, "id: expected"),
        (lambda: Body(([],), Sphere(1.0)), InputError, "id: expected"),
        (lambda: Body(float("nan"), Sphere(1.0)), InputError, "id: expected"),
        (lambda: Body("a", Sphere(1.0), np.eye(3)), InputError, "pose of 'a'"),
        (lambda: Body("a", Sphere(1.0), np.full(7, np.nan)), InputError, "pose of 'a'"),
        (lambda: Bodies([Body("a", Sphere(1.0)), Body("a", Sphere(2.0))]), InputError, "'a' twice"),
        (lambda: Bodies(["a"]), InputError, "expected a Body"),
        (lambda: Bodies(Body("a", Sphere(1.0))), InputError, "a list"),
        (lambda: Bodies(3), InputError, "a list"),
        (lambda: Bodies([Body("ball", Sphere(1.0))]).move("bal", np.eye(4)), UnknownNameError, "ball"),
        (lambda: Bodies([Body("ball", Sphere(1.0))])[[]], UnknownNameError, "body"),
        (lambda: Bodies([Body("ball", Sphere(1.0))])[([],)], UnknownNameError, "body"),
        (lambda: Bodies([Body("ball", Sphere(1.0))]).move("ball", np.eye(3)), InputError, "pose"),
        (lambda: Bodies([Body("ball", Sphere(1.0))]).distance("ball", "ball"), InputError, "another"),
        (lambda: Bodies([Body("ball", Sphere(1.0))]).remove("cat"), UnknownNameError, "cat"),
        (lambda: Cylinder(0.1, -1.0), InputError, "length"),
        (lambda: Cylinder(True, 1.0), InputError, "radius"),
        (lambda: Ellipsoid((1.0, 2.0)), InputError, "semi_axes"),
        (lambda: Ellipsoid((1.0, 2.0, 0.0)), InputError, "semi_axes"),
        (lambda: Ellipsoid("big"), InputError, "semi_axes"),
        (lambda: ConvexMesh(np.zeros((10, 3))), InputError, "one plane"),
        (lambda: ConvexMesh(np.eye(3)), InputError, "one plane"),
        (lambda: ConvexMesh([[0, 0], [1, 1]]), InputError, "points"),
        (lambda: ConvexMesh(np.full((9, 3), np.inf)), InputError, "points"),
        (lambda: ConvexMesh("dog"), InputError, "points"),
        (lambda: HalfSpace("up"), InputError, "normal"),
        (lambda: HalfSpace((0, 0, 1), "high"), InputError, "offset"),
        (lambda: shape_distance(Sphere(1.0), None, "ball", None), InputError, "shapes"),
        (lambda: shape_distance(Sphere(1.0), np.eye(2), Sphere(1.0), None), InputError, "T_a"),
    ],
)
def test_bad_input_is_refused(make, error, words):
    with pytest.raises(error, match=words):
        make()
