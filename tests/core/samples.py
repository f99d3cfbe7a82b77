"""A sound call of every bound function of the core: what the fuzz test spoils."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import trimesh

import elbowroom as er
from elbowroom import _core as core
from elbowroom import mesh
from elbowroom.mesh._depth import search_directions
from elbowroom.pairs.internal import PairChains
from elbowroom.spheres._problem import FitProblem
from elbowroom.spheres._shape import LinkShape

Call = tuple[Callable[..., Any], tuple[Any, ...]]


def robot_calls() -> dict[str, Call]:
    robot = er.load_robot("rh56")  # coupled joints, slides none; small
    tree, cfgs = robot.tree, robot.random_cfgs(5, 1)
    frames = {
        name: getattr(tree, name)
        for name in ("parent", "kind", "q_idx", "quat_cos", "quat_sin", "shift", "slide", "axis")
    }
    joints = {name: getattr(tree, name) for name in ("driver", "is_coupled", "order", "polycoef")}
    return {
        "Robot": (core.Robot, (robot.dof, frames, joints, tree.link_frame)),
        "Robot.link_poses": (tree.core.link_poses, (cfgs, np.empty((5, len(robot.link_names), 7)))),
        "Robot.jacobians": (tree.core.jacobians, (cfgs, 3, np.empty((5, 6, robot.dof)))),
        "Robot.points": (tree.core.points, (cfgs[0], np.array([0, 3]), np.ones((2, 3)), True)),
        "machine_runs_v3": (core.machine_runs_v3, ()),
    }


def restored(state: Any) -> Any:
    """A tree unpickled from a state, which a file may have spoiled."""
    tree = core.TriangleTree.__new__(core.TriangleTree)
    tree.__setstate__(state)
    return tree


def mesh_calls() -> dict[str, Call]:
    torus = trimesh.creation.torus(0.1, 0.03, major_sections=8, minor_sections=6)
    a, b = mesh.TriangleMesh.from_trimesh(torus), mesh.TriangleMesh.box((0.1, 0.08, 0.06))
    corners, rows = a.vertices[a.faces], np.arange(len(a.faces))
    solid, pieces = np.ones(len(rows), dtype=bool), a.vertices[:1].copy()
    T_a, T_b = np.eye(4), np.eye(4)
    T_b[:3, 3] = 0.09, 0.01, 0.02
    rows_a, rows_b = core.pack_poses(T_a[None]), core.pack_poses(T_b[None])
    rel, directions = rows_b[0], np.eye(3)
    search = search_directions(a, b, rel, directions)
    scene = core.MeshScene([a.tree, b.tree], np.array([[0, 1]]))
    poses = np.stack([rows_a, rows_b], axis=1)
    cylinder, hull = core.ConvexSolid.cylinder(0.05, 0.1), core.ConvexSolid.hull(b.vertices, 0.01)
    label, _ = core.merge_vertices(a.vertices)
    faces = label[a.faces]
    piece = core.connected_pieces(faces, len(a.vertices))
    triangle = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    return {
        "TriangleTree": (core.TriangleTree, (corners, rows, solid, pieces)),
        "TriangleTree.__setstate__": (restored, (a.tree.__getstate__(),)),
        "TriangleTree.as_surface": (a.tree.as_surface, ()),
        "TriangleTree.point_inside": (a.tree.point_inside, (np.array([0.1, 0.0, 0.0]),)),
        "MeshScene": (core.MeshScene, ([a.tree, b.tree], np.array([[0, 1], [1, 0]]))),
        "MeshScene.states": (scene.states, (poses, np.zeros((1, 1), np.uint8), True, False)),
        "MeshScene.deepest_contacts": (scene.deepest_contacts, (poses,)),
        "pack_poses": (core.pack_poses, (np.stack([T_a, T_b]),)),
        "pair_state": (core.pair_state, (a.tree, T_a, b.tree, T_b, True)),
        "pair_states": (core.pair_states, (a.tree, rows_a, b.tree, rows_b, True)),
        "close_pairs": (core.close_pairs, (a.tree, rows_a, b.tree, rows_b)),
        "contacts": (core.contacts, (a.tree, rows_a, b.tree, rows_b)),
        "contact_segments": (
            core.contact_segments,
            (a.tree, rows_a, b.tree, rows_b, np.array([0, 1]), np.array([0, 1])),
        ),
        "deepest_contact": (core.deepest_contact, (a.tree, T_a, b.tree, T_b, np.zeros(9))),
        "triangle_contact": (core.triangle_contact, (triangle, triangle + 0.1, np.zeros(9))),
        "distances": (core.distances, (a.tree, rows_a, b.tree, rows_b, True)),
        "hull_overlaps": (core.hull_overlaps, (a.vertices, b.vertices, rel, directions)),
        "separations": (core.separations, (a.tree, b.tree, rel, directions, True)),
        "least_separation": (core.least_separation, (a.tree, b.tree, rel, search, True)),
        "ConvexSolid.cylinder": (core.ConvexSolid.cylinder, (0.05, 0.1)),
        "ConvexSolid.ellipsoid": (core.ConvexSolid.ellipsoid, (0.05, 0.1, 0.2)),
        "ConvexSolid.hull": (core.ConvexSolid.hull, (b.vertices, 0.01)),
        "solid_distance": (core.solid_distance, (cylinder, hull, rel)),
        "mesh_solid_distance": (core.mesh_solid_distance, (a.tree, cylinder, rel)),
        "merge_vertices": (core.merge_vertices, (a.vertices,)),
        "connected_pieces": (core.connected_pieces, (faces, len(a.vertices))),
        "edge_faults": (core.edge_faults, (faces, piece, 1)),
        "inverted_pieces": (core.inverted_pieces, (a.vertices, faces, piece, np.ones(1, dtype=bool))),
    }


def sphere_calls() -> dict[str, Call]:
    rng = np.random.default_rng(0)
    box = trimesh.creation.box((0.1, 0.06, 0.04))
    problem = FitProblem.build(LinkShape.from_mesh(box, "a box"), 0.01)
    shape, fit = problem.shape.core, problem.core
    balls = problem.clustered(3, rng)
    covering = np.array([[0.0, 0.0, 0.0, 0.08], [0.02, 0.0, 0.0, 0.05]])
    faces = box.faces.astype(np.int64)
    points, picks = box.vertices + 0.01, rng.integers(fit.n_samples, size=3)
    schedule = (3, (0.015, 0.001), (3e3, 1e6))
    return {
        "LinkShape": (core.LinkShape, (np.array(box.vertices), faces, faces)),
        "LinkShape.distances": (shape.distances, (points,)),
        "LinkShape.least_distance": (shape.least_distance, (points, 0.1)),
        "LinkShape.signed_distances": (shape.signed_distances, ((-0.1, -0.1, -0.1), 0.05, (4, 4, 4))),
        "LinkShape.volumes": (shape.volumes, (covering,)),
        "LinkShape.protrusion": (shape.protrusion, (covering,)),
        "LinkShape.prove_coverage": (shape.prove_coverage, (covering,)),
        "LinkShape.grow_to_cover": (shape.grow_to_cover, (covering, 10)),
        "FitProblem": (core.FitProblem, (shape, problem.input, 0.01)),
        "FitProblem.with_depth": (fit.with_depth, (0.02,)),
        "FitProblem.cost": (fit.cost, (balls,)),
        "FitProblem.cost_gradient": (fit.cost_gradient, (balls, 1)),
        "FitProblem.clustered": (fit.clustered, (picks, rng.integers(fit.n_samples, size=(4, 3)))),
        "FitProblem.split_worst": (fit.split_worst, (balls,)),
        "FitProblem.descend": (fit.descend, (balls, *schedule)),
        "FitProblem.improve": (fit.improve, (balls, rng.random((4, 2)), *schedule)),
        "FitProblem.polish": (fit.polish, (balls, *schedule[:2])),
        "union_volume": (core.union_volume, (covering,)),
        "enclosing_ball": (core.enclosing_ball, (covering,)),
        "group_balls": (core.group_balls, (np.concatenate([covering, covering + 0.01]),)),
    }


def pair_calls() -> dict[str, Call]:
    robot = er.load_robot("rh56")
    cfgs = robot.random_cfgs(20, 2)
    links = np.repeat(np.arange(4), 2)
    spheres = np.concatenate(
        [np.random.default_rng(3).uniform(-0.02, 0.02, (8, 3)), np.full((8, 1), 0.01)], axis=1
    )
    largest = np.full(len(robot.tree.moving), 10.0)
    arguments = (robot.tree.core, spheres, links, np.array([[0, 2], [1, 3]]), largest)
    coll = core.SelfCollision(*arguments)
    made = PairChains(robot.tree, spheres[:, :3], spheres[:, 3], links).between(1, 3)
    joints = made.joints
    tree = mesh.TriangleMesh.box((0.02, 0.03, 0.04)).tree
    pair = core.MeshPair(joints.core, made.side, tree, joints.T_body_a, tree, joints.T_body_b)
    values = np.linspace(joints.lower, joints.upper, 5)
    ball_arguments = (joints.core, made.side, made.balls_a, made.spans_a, made.balls_b, made.spans_b)
    point = np.zeros(3)
    return {
        "SelfCollision": (core.SelfCollision, arguments),
        "SelfCollision.free": (coll.free, (cfgs, np.zeros(20, dtype=bool))),
        "SelfCollision.is_free": (coll.is_free, (cfgs[0],)),
        "SelfCollision.min_distance": (coll.min_distance, (cfgs[0],)),
        "SelfCollision.min_distances": (coll.min_distances, (cfgs, np.zeros(20, np.float32))),
        "SelfCollision.pair_distances": (coll.pair_distances, (cfgs, np.zeros((20, 2), np.float32))),
        "SelfCollision.pair_hits": (coll.pair_hits, (cfgs, np.zeros((20, 2), dtype=bool))),
        "SelfCollision.count_hits": (coll.count_hits, (cfgs, np.zeros(2, np.float32), np.zeros(2, np.int64))),
        "SelfCollision.reordered": (coll.reordered, (np.array([1, 0]),)),
        "Chain": (core.Chain, (joints.kind, joints.local, joints.poly, joints.var, joints.slope, joints.n_a)),
        "Chain.best_side": (joints.core.best_side, (joints.lower, joints.upper, point, point)),
        "SpherePair": (core.SpherePair, ball_arguments),
        "SpherePair.clearances": (made.core.clearances, (values,)),
        "SpherePair.prove": (made.core.prove, (joints.lower, joints.upper, 0.0, 100)),
        "SpherePair.search": (made.core.search, (values, joints.lower, joints.upper, 0.0, 3)),
        "MeshPair": (core.MeshPair, (joints.core, made.side, tree, joints.T_body_a, tree, joints.T_body_b)),
        "MeshPair.clearances": (pair.clearances, (values,)),
        "MeshPair.prove": (pair.prove, (joints.lower, joints.upper, 0.0, 100, True)),
    }


def world_calls() -> dict[str, Call]:
    rng = np.random.default_rng(5)
    pose = np.array([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.1, 0.2, 0.3])
    points, small = rng.uniform(-1.0, 1.0, (20, 3)), rng.uniform(-1.0, 1.0, (20, 3)).astype(np.float32)
    values = rng.uniform(-0.1, 0.5, (4, 5, 6)).astype(np.float32)
    tree = mesh.TriangleMesh.box((0.2, 0.3, 0.4)).tree
    cloud, field = core.PointCloud(points), core.DistanceField(values, np.full(3, 0.1), np.zeros(3))
    make = core.Obstacle
    one_of_each: dict[str, tuple[Any, ...]] = {
        "box": (np.array([0.1, 0.2, 0.3]), pose),
        "sphere": (0.1, pose),
        "cylinder": (0.1, 0.2, pose),
        "capsule": (0.1, 0.2, pose),
        "half_space": (np.array([0.0, 0.0, 1.0]), -0.5, pose),
        "mesh": (tree, pose),
        "cloud": (cloud, 0.05, pose),
        "field": (field, pose),
    }
    obstacles = [getattr(make, kind)(*arguments) for kind, arguments in one_of_each.items()]
    world, ignored = core.World(obstacles), np.zeros(8, dtype=bool)
    boxes = np.concatenate([np.tile(np.eye(3).ravel(), (20, 1)), points, np.full((20, 3), 0.1)], axis=1)
    poses = np.concatenate([np.tile(np.eye(3).ravel(), (20, 1)), points], axis=1)
    region = np.array([[-0.3, -0.3, -0.3], [0.3, 0.3, 0.3]])
    grid = core.ClearanceGrid(world, region)
    return {
        "PointCloud": (core.PointCloud, (points,)),
        "PointCloud.neighbour_distances": (cloud.neighbour_distances, (np.arange(5), 3)),
        "DistanceField": (core.DistanceField, (values, np.full(3, 0.1), np.zeros(3))),
        **{f"Obstacle.{kind}": (getattr(make, kind), given) for kind, given in one_of_each.items()},
        "World": (core.World, (obstacles,)),
        "World.bounds": (world.bounds, (3,)),
        "World.nearest": (world.nearest, (points, np.empty(20), np.empty(20, np.int64))),
        "World.gradients": (world.gradients, (points, np.empty(20), np.empty((20, 3)))),
        "World.distances": (world.distances, (6, points, 0.5)),
        "World.lower_bounds": (world.lower_bounds, (points, 0.5, ignored)),
        "World.lane_bounds": (world.lane_bounds, (small, 0.5, ignored)),
        "World.near": (world.near, (np.zeros(3), 0.5)),
        "World.boxes_meet": (world.boxes_meet, (boxes, ignored, np.zeros(20, dtype=bool))),
        "World.mesh_meets": (world.mesh_meets, (0, tree, poses, np.zeros(20, dtype=bool))),
        "World.mesh_gaps": (world.mesh_gaps, (6, tree, poses, 0.5)),
        "first_no_rotation": (core.first_no_rotation, (boxes, 1e-6)),
        "ClearanceGrid": (core.ClearanceGrid, (world, region)),
        "ClearanceGrid.pays": (core.ClearanceGrid.pays, (world,)),
        "ClearanceGrid.for_world": (grid.for_world, (world,)),
        "ClearanceGrid.lower_bounds": (grid.lower_bounds, (points,)),
        "ClearanceGrid.lane_bounds": (grid.lane_bounds, (small, 0.5)),
    }


def collision_calls() -> dict[str, Call]:
    robot = er.load_robot("rh56")
    cfgs, n_links = robot.random_cfgs(20, 2), 4
    spheres = np.concatenate(
        [np.random.default_rng(3).uniform(-0.02, 0.02, (8, 3)), np.full((8, 1), 0.01)], axis=1
    )
    largest = np.full(len(robot.tree.moving), 10.0)
    given = (robot.tree.core, spheres, np.repeat(np.arange(n_links), 2), largest)
    balls, tree = core.LinkSpheres(*given), mesh.TriangleMesh.box((0.02, 0.03, 0.04)).tree
    meshes, pairs = dict.fromkeys(range(3), tree), np.array([[0, 2], [1, 3]])
    marks, limits = np.array([True, False]), np.stack([robot.lower, robot.upper])
    moves = np.ones(robot.dof, dtype=bool)
    own = (balls, meshes, pairs, marks, 0.001, limits)
    pose = np.concatenate([np.eye(3).ravel(), np.array([0.05, 0.0, 0.1])])
    world = core.World([core.Obstacle.sphere(0.02, pose), core.Obstacle.mesh(tree, pose)])
    grid = core.ClearanceGrid(world, np.array([[-0.2, -0.2, -0.2], [0.2, 0.2, 0.2]]))
    outside = (balls, meshes, world, grid, np.zeros((n_links, 2), dtype=bool), 0.001)
    around = core.Surroundings(*outside)
    scene = core.Scene(*own).among(around)
    joints = np.arange(robot.dof)
    search = (scene, joints, limits, cfgs[0], cfgs[1:3], 7)
    sampler = core.Sampler(*search)
    kept = (
        robot.tree.core,
        [(0, 2, np.eye(3)[:2], np.array([0.0, 0.5])), (2, 3, np.eye(3), np.array([0.0, 0.1]))],
    )
    motion = np.ascontiguousarray(np.stack([cfgs[:5], cfgs[5:10], cfgs[10:15], cfgs[15:]], axis=1))
    return {
        "LinkSpheres": (core.LinkSpheres, given),
        "Surroundings": (core.Surroundings, outside),
        "Surroundings.still_free": (around.still_free, (True,)),
        "Scene": (core.Scene, own),
        "Scene.among": (core.Scene(*own).among, (around,)),
        "Scene.tuned": (scene.tuned, (cfgs,)),
        "Scene.free": (scene.free, (cfgs, True, np.zeros(20, dtype=bool))),
        "Scene.is_free": (scene.is_free, (cfgs[0], True)),
        "Scene.by_spheres": (scene.by_spheres, (cfgs[0],)),
        "Scene.clearances": (
            scene.clearances,
            (cfgs, marks, np.zeros(20), np.zeros((20, 3), np.int64), np.zeros((20, 2), dtype=bool), False),
        ),
        "Scene.obstacle_clearances": (scene.obstacle_clearances, (cfgs, np.zeros(20))),
        "Scene.prove": (scene.prove, (motion, np.zeros((1, robot.dof)), 2, 0.01, 200)),
        "Scene.covers": (scene.covers, (cfgs,)),
        "Scene.decides": (scene.decides, (cfgs,)),
        "Sampler": (core.Sampler, search),
        "Keeps": (core.Keeps, kept),
        "Keeps.excess": (core.Keeps(*kept).excess, (cfgs,)),
        "Keeps.on_path": (core.Keeps(*kept).on_path, (cfgs[:4],)),
        "Sampler.keep": (core.Sampler(*search).keep, (core.Keeps(*kept),)),
        "Sampler.straight": (sampler.straight, ()),
        "Sampler.grow": (sampler.grow, (100, 0.1)),
        "Sampler.path": (sampler.path, ()),
        "Sampler.trees": (sampler.trees, ()),
        "Sampler.refusals": (sampler.refusals, ()),
        "Sampler.shorten": (sampler.shorten, (cfgs[:4], 20, 3, 0.1)),
        **stomp_calls(around, balls, cfgs),
        "ends_marks": (core.ends_marks, (cfgs[:2], moves, limits[:2].copy(), 1e-9)),
        "finish_path": (
            core.finish_path,
            (
                core.Scene(*own),
                cfgs[:4],
                moves,
                np.concatenate([limits[:2], 1.0 + 0.0 * limits[:2]]),
                100.0,
                True,
            ),
        ),
        "smooth_path": (
            core.smooth_path,
            (core.Scene(*own), cfgs[:4], moves, limits),
        ),
    }


def stomp_calls(around: Any, balls: Any, cfgs: np.ndarray) -> dict[str, Call]:
    box = np.concatenate([np.eye(3).ravel(), [0.01, 0.0, 0.0], [0.02, 0.03, 0.04]])
    made = (around, np.stack([box, box]), np.array([0, 2]), np.zeros((2, 2), dtype=bool))
    cost, paths, dof = core.ObstacleCost(*made), cfgs.reshape(4, 5, -1), cfgs.shape[1]
    settings = {"rollouts": 4, "reuse": 2, "window": 1, "sensitivity": 5.0, "sigma_decay": 0.9}
    settings |= {"sigma_floor": 0.1, "smooth_update": True}
    joints = np.array([[-2.0] * 2, [2.0] * 2, [0.1] * 2])
    start = (paths[0], np.array([0, 2]), joints, settings, 7)
    descent = core.Descent(*start)
    return {
        "ObstacleCost": (core.ObstacleCost, made),
        "ObstacleCost.parts": (cost.parts, (paths, 0.1, 0.01, True)),
        "ObstacleCost.meetings": (cost.meetings, (cfgs,)),
        "self_nearness": (core.self_nearness, (balls, np.array([[0, 2], [1, 3]]), paths, 0.1, 0.05)),
        "limit_cost": (core.limit_cost, (paths, 0.1, np.ones(dof), 1)),
        "Descent": (core.Descent, start),
        "Descent.restart": (descent.restart, (paths[0], np.ones(5))),
        "Descent.shake": (descent.shake, (np.zeros((4, 5, dof)),)),
        "Descent.update": (descent.update, (paths, np.ones((4, 5)))),
        "Descent.settle": (descent.settle, (np.ones(5),)),
        "Descent.path": (descent.path, ()),
    }


def plan_calls() -> dict[str, Call]:
    pieces = np.random.default_rng(4).uniform(-1.0, 1.0, (3, 4, 2))
    pieces[1:, 0] = pieces[:-1, 3]
    knots, stops = np.array([0.0, 1.0, 1.5, 2.0]), np.array([True, False, False, True])
    limits = np.array([[1.0, 2.0], [3.0, 4.0], [50.0, 60.0]])
    _, rows, piece_of, _ = core.time_curve(pieces, knots, stops, limits)
    table = (3, np.array([[0, 1], [1, 2]]), np.array([0.5, 0.7]))
    rest, closed = np.array([np.inf, np.inf, 0.0]), np.zeros(2, dtype=bool)
    return {
        "Graph": (core.Graph, table),
        "Graph.shortest": (core.Graph(*table).shortest, (np.array([0]), np.zeros(1), rest, closed)),
        "time_curve": (core.time_curve, (pieces, knots, stops, limits)),
        "evaluate_motion": (
            core.evaluate_motion,
            (pieces, knots, rows, piece_of, 1, np.linspace(-0.1, 3.0, 7)),
        ),
        "polyline": (core.polyline, (pieces[:, 0].copy(),)),
        "resampled": (core.resampled, (pieces[:, 0].copy(), 5)),
        "roughness": (core.roughness, (pieces[:, 0].copy(), 16)),
        "curve_roughness": (core.curve_roughness, (pieces, 16)),
    }


def drawing_calls() -> dict[str, Call]:
    corners, faces = np.random.default_rng(5).uniform(0.0, 9.0, (4, 3, 3)), np.arange(12).reshape(4, 3)
    pose = np.array([1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0])
    return {
        "fill_triangles": (
            core.fill_triangles,
            (corners, corners[:, 0].copy(), np.zeros((8, 9, 3)), np.full((8, 9), -np.inf)),
        ),
        "line_distance": (
            core.line_distance,
            (corners.reshape(-1, 3), faces[:, :2].copy(), faces, pose, 1.0, 2.0),
        ),
    }


def track_calls() -> dict[str, Call]:
    made = collision_calls()
    scene = made["Scene.free"][0].__self__  # among obstacles
    robot = er.load_robot("rh56")
    n, cfg = robot.dof, robot.default_cfg
    limits = np.stack([np.ones(n), np.full(n, 10.0), robot.lower, robot.upper])
    options = {
        "clearance": 0.002, "skin": 1e-3, "keep": 1e-4, "share": 0.2, "spare": 0.1, "parts": True, "reach": 0.1,
        "approach_time": 0.05, "cuts": 3,
    }  # fmt: skip
    aims = {
        "gain": 30.0, "feedforward": 1.0, "smoothing": 0.02, "max_linear_speed": 1.0, "max_angular_speed": 3.0,
        "posture_gain": 1.0, "damping": 0.01,
    }  # fmt: skip
    safe, loop = core.SafeStep(scene, limits, options), core.StepLoop()
    loop.place(cfg, np.zeros(n))
    targets = core.Targets(made["LinkSpheres"][1][0], [0, 4], [3, 1], list(range(n)))
    follower = core.Follower(safe, targets, aims)
    values = np.array([1.0, 0, 0, 0, 0.1, 0, 0, 1.0, 1.0, 0.1, 1.0, 0, 0, 0, 0, 0, 0, 0])
    wide = np.array([[-1.0], [1.0]]) * np.ones(n)
    return {
        "solve_qp": (core.solve_qp, (np.eye(n), cfg, wide, np.eye(3, n), np.full(3, 0.1))),
        "SafeStep": (core.SafeStep, (scene, limits, options)),
        "SafeStep.guard": (safe.guard, (loop, cfg, cfg + 0.01, 0.005, 0.01, True)),
        "SafeStep.step": (safe.step, (loop, np.eye(n), np.ones(n), 0.005, 0.01)),
        "SafeStep.rows": (safe.rows, (cfg, 0.05)),
        "Follower": (core.Follower, (safe, targets, aims)),
        "Follower.tick": (follower.tick, (loop, values, np.ones(2), cfg, 0.005, 0.01)),
        "Follower.forget": (follower.forget, ()),
        "StepLoop": (core.StepLoop, ()),
        "StepLoop.place": (loop.place, (cfg, np.zeros(n))),
        "StepLoop.stop": (loop.stop, ()),
        "StepLoop.set_drift": (core.StepLoop().set_drift, (np.array([[0.1, 0.0, 0.0], [0.0, 0.0, 0.0]]),)),
        "StepLoop.copy": (loop.copy, ()),
        "StepLoop.forget_stop": (loop.forget_stop, ()),
        "StepLoop.clear": (core.StepLoop().clear, ()),
    }


def ik_calls() -> dict[str, Call]:
    robot = er.load_robot("rh56")
    cfgs, dof = robot.random_cfgs(20, 2), robot.dof
    # A pose and a position of two links, a direction, a point to look at, and a joint.
    asked = (robot.tree.core, [0, 1, 2, 3, 4], [3, 5, 3, 5, 0], list(range(dof)))
    targets = core.Targets(*asked)
    pose, vectors = (
        [1.0, 0.0, 0.0, 0.0, 0.1, 0.0, 0.1, 1.0, 0.3],
        [0.1, 0.0, 0.1, 0.0, 0.0, 1.0, 0.3, 0.0, 0.0],
    )
    values = [*pose, *vectors, *vectors, *vectors, 0.1, 0.3, *[0.0] * 7]
    table, settings = core.StartTable(targets, cfgs), (1e-4, 1e-3, 32, 10, 1.0, 2)
    given = (targets, [(targets, [0, 1, 2, 3, 4])], robot.lower, robot.upper, np.zeros(dof, dtype=bool))
    ik, made = core.Ik(*given), core.IkSettings(*settings)
    return {
        "Targets": (core.Targets, asked),
        "Targets.linearise": (targets.linearise, (np.array(values), cfgs, True)),
        "StartTable": (core.StartTable, (targets, cfgs)),
        "StartTable.nearest": (table.nearest, (np.array(values), cfgs[0], True, 5)),
        "IkSettings": (core.IkSettings, settings),
        "Ik": (core.Ik, given),
        "Ik.solve": (ik.solve, (None, [table], values, cfgs[0], True, made)),
        "Ik.descend": (ik.descend, (values, cfgs[0].copy(), made)),
    }


def calls() -> dict[str, Call]:
    """Name of every bound function -> the function and arguments that it takes."""
    parts = (
        robot_calls,
        mesh_calls,
        sphere_calls,
        pair_calls,
        world_calls,
        collision_calls,
        plan_calls,
        drawing_calls,
        track_calls,
        ik_calls,
    )
    return {name: call for part in parts for name, call in part().items()}


def bound_names() -> set[str]:
    """Names of everything that the core binds: functions, classes (their constructors) and methods."""
    found: set[str] = set()
    for name, value in vars(core).items():
        if getattr(value, "__module__", "").startswith(core.__name__) is False:
            continue
        if isinstance(value, type):
            if "nb_method" in type(vars(value).get("__init__")).__name__:
                found.add(name)
            found |= {
                f"{name}.{method}"
                for method, function in vars(value).items()
                if type(getattr(value, method)).__name__ in ("nb_method", "nb_func")
                and (not method.startswith("__") or method == "__setstate__")
            }
        elif "nb_func" in type(value).__name__:
            found.add(name)
    return found
