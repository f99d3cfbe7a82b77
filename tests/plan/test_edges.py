"""Edges are proved, or not called free."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.mesh import ExactCollision
from elbowroom.plan._edges import Edges


def edges_of(model, count, length, seed):
    """Segments of a length (rad) from free configurations in random directions."""
    rng = np.random.default_rng(seed)
    cfgs = model.robot.random_cfgs(20 * count, seed=seed)
    begins = cfgs[model.free(cfgs)][:count]
    away = rng.normal(size=begins.shape)
    return begins, begins + length * away / np.linalg.norm(away, axis=1)[:, None]


@pytest.mark.parametrize(
    ("name", "kind", "length"), [("panda", "shelf", 0.6), ("panda", "clutter", 0.3), ("teaarm", "shelf", 0.6)]
)
def test_no_edge_that_coal_refutes_is_called_free_and_nearly_all_free_ones_are(
    among, judged, name, kind, length
):
    from tests.segment_oracles import refuted_by_world, small_steps

    model = among(name, kind, 3)
    judge, exact = judged(model), ExactCollision(model.robot, model.pairs)
    begins, ends = edges_of(model, 30, length, seed=5)
    edges = Edges.of(model)
    quick, found = edges.free_by_spheres(begins, ends), edges.free(begins, ends)
    assert not (quick & ~found).any()
    truths = []
    for a, b, free in zip(begins, ends, found, strict=True):
        path = small_steps(judge, a, b)
        truth = not refuted_by_world(judge, path) and bool(exact.free(path[::4]).all())
        assert truth or not free
        truths.append(truth)
    truths = np.array(truths)
    assert found[truths].mean() >= 0.95
    assert truths.sum() >= 5
    assert (~truths).sum() >= 2


@pytest.mark.parametrize("name", ["panda", "teaarm", "rh56"])
def test_no_sphere_moves_farther_than_the_reach_of_its_link_allows(bare, name):
    """rh56 has joints that others drive."""
    model = bare(name)
    robot, lanes, spheres = model.robot, model.parts.lanes, model.spheres
    rng = np.random.default_rng(0)
    begins = robot.random_cfgs(400, seed=1)
    ends = begins + rng.uniform(-0.4, 0.4, begins.shape) * (rng.random(begins.shape) < 0.5)
    q_begin, q_end = robot.tree.expand(begins), robot.tree.expand(ends)

    def centers(cfgs):
        from elbowroom._poses import matrix_from_wxyz_xyz

        T = matrix_from_wxyz_xyz(robot.link_poses(cfgs))[:, spheres.link_idx]
        return np.einsum("nsij,sj->nsi", T[..., :3, :3], spheres.centers) + T[..., :3, 3]

    moved = np.linalg.norm(centers(ends) - centers(begins), axis=2)  # (n, spheres)
    names = [link for link in robot.link_names if link in spheres.counts]
    row = np.array([names.index(robot.link_names[k]) for k in spheres.link_idx])
    allowed = np.abs(q_end - q_begin) @ lanes.link_reach.T
    assert (moved <= allowed[:, row] + 1e-9).all()
    far = allowed[:, row] > 1e-3
    assert (moved[far] / allowed[:, row][far]).max() > 0.5, "the bound is of some use"


def test_a_chain_is_free_when_all_its_edges_are(among):
    model = among("panda", "shelf", 3)
    edges = Edges.of(model)
    assert Edges.of(model) is edges
    begins, ends = edges_of(model, 20, 0.5, seed=7)
    free = edges.free(begins, ends)
    good, bad = int(np.flatnonzero(free)[0]), int(np.flatnonzero(~free)[0])
    assert edges.chain(np.array([ends[good], begins[good], ends[good]]))
    assert not edges.chain(np.array([ends[bad], begins[bad], ends[bad]]))


def test_values_beyond_what_is_covered_are_never_free(bare):
    edges = Edges.of(bare("panda"))
    row = bare("panda").default_cfg
    for strange in (np.nan, np.inf, 1e9):
        other = row.copy()
        other[0] = strange
        assert not edges.free_by_spheres(row[None], other[None])[0]
        assert not edges.free(row[None], other[None])[0]
