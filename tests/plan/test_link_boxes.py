"""Boxes of links: they hold all vertices, are as small as trimesh's or smaller, exact for primitives, the same always."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from elbowroom import mesh
from elbowroom._poses import matrix_from_wxyz_xyz
from elbowroom.collision import CollisionModel
from elbowroom.collision.internal import one_ball_a_link
from elbowroom.errors import InputError, UnknownLinkError
from elbowroom.pairs import pairs_from_ignored
from elbowroom.plan import LinkBoxes, link_boxes
from elbowroom.plan.stomp._link_boxes import tight_box
from elbowroom.robot.internal import primitive

from ..world.coal_world import rotations


def inside(points: np.ndarray, box: tuple[np.ndarray, np.ndarray, np.ndarray]) -> bool:
    center, half, axes = box
    assert np.abs(axes.T @ axes - np.eye(3)).max() < 1e-12
    assert np.linalg.det(axes) > 0.0
    return bool((np.abs((points - center) @ axes) <= half).all())


@pytest.mark.parametrize("name", ["panda", "teaarm"])
def test_boxes_hold_every_vertex_and_are_no_larger_than_those_of_trimesh(name, load):
    robot = load(name)
    boxes = link_boxes(robot)
    assert boxes.links == tuple(link for link in robot.mesh_links for _ in robot.shapes[link])
    assert link_boxes(robot) is boxes
    k = 0
    for link in robot.mesh_links:
        for shape in robot.shapes[link]:
            T, data = shape.T_link_shape, shape.load()
            points = data.vertices @ T[:3, :3].T + T[:3, 3]
            if shape.kind == "mesh":
                assert inside(points, (boxes.centers[k], boxes.half_extents[k], boxes.axes[k]))
                _, theirs = trimesh.bounds.oriented_bounds(points)
                assert np.prod(2.0 * boxes.half_extents[k]) <= np.prod(theirs) * (1.0 + 1e-6)
            k += 1


def test_a_turned_box_is_found_again():
    rng = np.random.default_rng(0)
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    for R in rotations(20, rng):
        half, shift = rng.uniform(0.01, 0.5, 3), rng.uniform(-1.0, 1.0, 3)
        points = np.concatenate([corners, rng.uniform(-1.0, 1.0, (50, 3))]) * half @ R.T + shift
        center, found, axes = tight_box(points)
        assert inside(points, (center, found, axes))
        assert np.sort(found) == pytest.approx(np.sort(half), abs=1e-9)
        assert center == pytest.approx(shift, abs=1e-9)


def test_flat_straight_and_single_points_have_boxes():
    rng = np.random.default_rng(1)
    R = rotations(1, rng)[0]
    plate = np.column_stack([rng.uniform(-1.0, 1.0, (40, 2)) * [0.5, 0.2], np.zeros(40)]) @ R.T
    stick = np.outer(rng.uniform(-1.0, 1.0, 10), R[:, 0])
    for points, zeros in ((plate, 1), (stick, 2), (stick[:1], 3), (np.repeat(stick[:1], 5, axis=0), 3)):
        center, half, axes = tight_box(points)
        assert inside(points, (center, half, axes))
        assert (half < 1e-9).sum() == zeros


def test_the_order_of_points_does_not_matter_and_the_same_points_give_the_same_box():
    rng = np.random.default_rng(2)
    points = rng.normal(size=(200, 3)) * [0.3, 0.1, 0.05]
    first, again, shuffled = tight_box(points), tight_box(points), tight_box(rng.permutation(points))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert np.prod(first[1]) == pytest.approx(np.prod(shuffled[1]), rel=1e-9)


@pytest.mark.parametrize(
    ("kind", "size", "half"),
    [
        ("box", (0.2, 0.4, 0.6), (0.1, 0.2, 0.3)),
        ("sphere", (0.2,), (0.2, 0.2, 0.2)),
        ("cylinder", (0.1, 0.6), (0.1, 0.1, 0.3)),
        ("capsule", (0.1, 0.6), (0.1, 0.1, 0.4)),
        ("ellipsoid", (0.1, 0.2, 0.3), (0.1, 0.2, 0.3)),
    ],
)
def test_primitives_have_exact_boxes(kind, size, half):
    from elbowroom.plan.stomp._link_boxes import _shape_box

    T = np.eye(4)
    T[:3, :3], T[:3, 3] = rotations(1, np.random.default_rng(3))[0], (1.0, 2.0, 3.0)
    center, found, axes = _shape_box(primitive(kind, T, size))
    assert found.tolist() == pytest.approx(list(half), abs=0.0)
    assert np.array_equal(center, T[:3, 3])
    assert np.array_equal(axes, T[:3, :3])


def test_attached_objects_have_boxes_and_boxes_move_with_their_links(load):
    robot = load("panda")
    every = dict.fromkeys(pairs_from_ignored(robot, {}, "empty").checked, "user")
    model = CollisionModel(robot, one_ball_a_link(robot), pairs_from_ignored(robot, every, "nothing"))
    held = model.attach(
        "can", "panda_hand", mesh.Box((0.1, 0.1, 0.2)), np.array([1, 0, 0, 0, 0, 0, 0.2])
    ).robot
    boxes = link_boxes(held)
    assert boxes.links.count("can") == 1
    assert len(boxes) == len(link_boxes(robot)) + 1
    cfgs = held.random_cfgs(3)
    centers, half, axes = boxes.in_world(held, cfgs)
    k = boxes.links.index("can")
    pose = held.link_poses(cfgs)[:, held.link_index("can")]
    assert centers[:, k] == pytest.approx(pose[:, 4:], abs=1e-12)
    assert half[:, k] == pytest.approx(np.tile([0.05, 0.05, 0.1], (3, 1)))
    assert axes.shape == (3, len(boxes), 3, 3)
    one = boxes.in_world(held, cfgs[0])
    assert np.array_equal(one[0], centers[0])
    Ts = boxes.poses(held, cfgs)
    assert Ts.shape == (3, len(boxes), 4, 4)
    np.testing.assert_allclose(Ts[..., :3, 3], centers, atol=1e-12)
    np.testing.assert_allclose(Ts[..., :3, :3], axes, atol=1e-12)
    np.testing.assert_array_equal(boxes.poses(held, cfgs[0]), Ts[0])


def test_boxes_at_a_configuration_hold_the_links_there(load):
    robot = load("teaarm")
    boxes = link_boxes(robot)
    assert isinstance(boxes, LinkBoxes)
    for cfg in robot.random_cfgs(3, seed=4):
        poses = robot.link_poses(cfg)
        for link, T, half in zip(boxes.links, boxes.poses(robot, cfg), boxes.half_extents, strict=True):
            if boxes.links.count(link) > 1:
                continue
            at = matrix_from_wxyz_xyz(poses[robot.link_index(link)])
            points = robot.link_mesh(link).vertices @ at[:3, :3].T + at[:3, 3]
            assert (np.abs((points - T[:3, 3]) @ T[:3, :3]) <= half + 1e-9).all()


def test_bad_input_of_boxes_is_refused(load):
    robot = load("teaarm")
    with pytest.raises(InputError, match="cannot load a robot from a int"):
        link_boxes(3)
    with pytest.raises(UnknownLinkError):
        link_boxes(robot).poses(load("panda"), load("panda").default_cfg)
    with pytest.raises(InputError):
        link_boxes(robot).poses(robot, np.zeros(3))
