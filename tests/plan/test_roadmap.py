"""Roadmaps: ways through what is known, proved as any; other scenes are refused."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom import _core
from elbowroom.errors import FormatError, InputError
from elbowroom.plan import PlanOptions, Roadmap, plan_motion
from elbowroom.world import Box, World
from tests.plan.cart import LEFT, PLANE, RIGHT, along, block, cart, clear, wall

QUICK = PlanOptions(timeout=60.0)


def test_what_was_found_is_used_again():
    model = wall()
    roadmap = Roadmap(model, PLANE)
    first = plan_motion(model, LEFT, RIGHT, PLANE, QUICK, roadmap=roadmap)
    assert first.method == "sampler"
    assert len(roadmap) >= first.nodes - 2
    rng = np.random.default_rng(0)
    methods = []
    for _ in range(20):
        ends = np.stack(
            [rng.uniform([-0.9, -0.9, 0], [-0.2, 0.9, 0]), rng.uniform([0.2, -0.9, 0], [0.9, 0.9, 0])]
        )
        result = plan_motion(model, *ends, PLANE, QUICK, roadmap=roadmap)
        assert result.success
        assert result.proof.free
        assert (result.path[[0, -1]] == ends).all()
        assert clear(model.world, along(result.path)).min() > 0.0
        methods.append(result.method)
    assert methods.count("roadmap") >= 17


def test_every_edge_is_free():
    model = wall()
    roadmap = Roadmap(model, PLANE)
    for seed in range(3):
        plan_motion(model, LEFT, RIGHT, PLANE, PlanOptions(timeout=60.0, seed=seed), roadmap=roadmap)
    begins, ends = roadmap.cfgs[roadmap.edges[:, 0]], roadmap.cfgs[roadmap.edges[:, 1]]
    for a, b in zip(begins, ends, strict=True):
        assert clear(model.world, along(np.stack([a, b]))).min() > 0.0
    assert len(np.unique(roadmap.cfgs, axis=0)) == len(roadmap)
    assert (roadmap.cfgs[:, 2] == 0.0).all()


def test_goals_in_parts_that_nothing_joins_are_searched_for():
    model = wall()
    roadmap = Roadmap(model, PLANE)
    roadmap.keep(np.array([[-0.5, -0.5, 0], [-0.5, 0.5, 0]]))
    roadmap.keep(np.array([[0.5, -0.5, 0], [0.5, 0.5, 0]]))
    result = plan_motion(model, LEFT, RIGHT, PLANE, QUICK, roadmap=roadmap)
    assert result.success
    assert result.method == "sampler"
    assert plan_motion(model, LEFT, RIGHT, PLANE, QUICK, roadmap=roadmap).method == "roadmap"
    joined = plan_motion(model, roadmap.cfgs[0], roadmap.cfgs[2], PLANE, QUICK, roadmap=roadmap)
    assert joined.method == "roadmap"  # the path that was found joins the two


def test_another_scene_is_refused():
    roadmap = Roadmap(wall(), PLANE)
    plan_motion(wall(), LEFT, RIGHT, PLANE, QUICK, roadmap=roadmap)
    same = cart().with_world(wall().world)
    assert plan_motion(same, LEFT, RIGHT, PLANE, QUICK, roadmap=roadmap).method == "roadmap"
    moved = wall().world.move("above", [1, 0, 0, 0, 0.0, 1.5, 0.0])
    for other, text in [
        (cart().with_world(moved), "the obstacles differ"),
        (cart(), "the obstacles differ"),
        (same.with_world(same.world, allow=[("cart", "below")]), "other links may touch"),
    ]:
        with pytest.raises(InputError, match=f"another scene: {text}"):
            plan_motion(other, LEFT, RIGHT, PLANE, roadmap=roadmap)
    with pytest.raises(InputError, match="it is of the joints x, y, the question is of x, y, z"):
        plan_motion(wall(), LEFT, RIGHT, roadmap=roadmap)
    up = np.array([0.0, 0.0, 0.03])
    with pytest.raises(InputError, match="'z' is held at another value"):
        plan_motion(wall(), LEFT + up, RIGHT + up, PLANE, roadmap=roadmap)


def test_files_hold_everything(tmp_path):
    roadmap = Roadmap(wall(), PLANE)
    plan_motion(wall(), LEFT, RIGHT, PLANE, QUICK, roadmap=roadmap)
    roadmap.write(tmp_path / "map.npz")
    read = Roadmap.read(tmp_path / "map.npz", cart().with_world(wall().world))
    assert (read.cfgs == roadmap.cfgs).all()
    assert (read.edges == roadmap.edges).all()
    assert read.joints == PLANE
    assert plan_motion(read.model, LEFT, RIGHT, PLANE, QUICK, roadmap=read).method == "roadmap"
    with pytest.raises(InputError, match="another scene: the obstacles differ"):
        Roadmap.read(tmp_path / "map.npz", cart())
    np.savez(tmp_path / "other.npz", cfgs=np.zeros(3))
    (tmp_path / "text.npz").write_text("no arrays")
    for name in ("other.npz", "text.npz"):
        with pytest.raises(FormatError, match="not a roadmap"):
            Roadmap.read(tmp_path / name, wall())


def test_shortest_ways_are_those_of_scipy():
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    rng = np.random.default_rng(1)
    for _ in range(20):
        n = 60
        pairs = np.unique(np.sort(rng.integers(n, size=(90, 2)), axis=1), axis=0)
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        lengths = rng.uniform(0.1, 1.0, len(pairs))
        closed = rng.random(len(pairs)) < 0.2
        both, twice = (
            np.concatenate([pairs, pairs[:, ::-1]])[np.tile(~closed, 2)],
            np.tile(lengths[~closed], 2),
        )
        start, goal = rng.choice(n, 2, replace=False)
        rest = np.full(n, np.inf)
        rest[goal] = 0.0
        nodes, edges = _core.Graph(n, pairs, lengths).shortest(np.array([start]), np.zeros(1), rest, closed)
        truth = dijkstra(csr_array((twice, both.T.astype(np.int32)), shape=(n, n)), indices=start)[goal]
        if not np.isfinite(truth):
            assert len(nodes) == len(edges) == 0
            continue
        assert nodes[0] == start
        assert nodes[-1] == goal
        assert not closed[edges].any()
        for a, b, edge in zip(nodes, nodes[1:], edges, strict=False):
            assert {int(a), int(b)} == set(pairs[edge].tolist())
        assert abs(lengths[edges].sum() - truth) < 1e-12


def test_a_table_is_kept_when_an_obstacle_moves():
    """The gap moves from y = 0.6 to y = -0.6: edges through the wall are found blocked when a way takes them."""
    model = wall()
    roadmap = Roadmap(model, PLANE)
    plan_motion(model, LEFT, RIGHT, PLANE, QUICK, roadmap=roadmap)
    moved = model.with_world(
        World([block("below", (-0.05, 0.05), (-2.0, -0.75)), block("above", (-0.05, 0.05), (-0.45, 2.0))])
    )
    with pytest.raises(InputError, match=r"roadmap\.among"):
        plan_motion(moved, LEFT, RIGHT, PLANE, QUICK, roadmap=roadmap)
    other = roadmap.among(moved)
    assert len(other) == len(roadmap)
    first = plan_motion(moved, LEFT, RIGHT, PLANE, QUICK, roadmap=other)
    assert first.method == "sampler"
    assert clear(moved.world, along(first.path)).min() > 0.0
    again = plan_motion(moved, LEFT, RIGHT, PLANE, QUICK, roadmap=other)
    assert again.method == "roadmap"
    assert clear(moved.world, along(again.path)).min() > 0.0
    back = plan_motion(model, LEFT, RIGHT, PLANE, QUICK, roadmap=other.among(model))
    assert back.method == "roadmap"
    assert clear(model.world, along(back.path)).min() > 0.0
    with pytest.raises(InputError, match="cannot be used"):
        roadmap.among(cart().attach("flag", "cart", Box((0.01, 0.01, 0.01))))
