"""Parts of the tight fit: sharing a budget, matching shapes, and the public names.

Looks inside: budgets, matching and inscribed balls have laws of their own, which a whole fit only shows on
average.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import trimesh

import elbowroom.spheres as spheres
from elbowroom.spheres._budget import Claim, Rule, pick_known, share_budget
from elbowroom.spheres._mirror import TURNS, match_shapes
from elbowroom.spheres._rest import DistanceField, Neighbour, inscribed_cover
from elbowroom.spheres._shape import LinkShape, check
from elbowroom.spheres._tight import VolumeCurve


def curve(ratios: list[float]) -> VolumeCurve:
    n = len(ratios)
    return VolumeCurve(tuple(range(1, n + 1)), tuple(ratios), tuple(np.zeros((k + 1, 4)) for k in range(n)))


def test_budget_is_shared_as_brute_force_would() -> None:
    # power laws are their own trend: smoothing leaves them as they are
    laws = [(1.0, 2.0, 0.7), (0.5, 5.0, 1.1), (3.0, 0.8, 0.9)]
    claims = [Claim(curve([1 + a * k**-p for k in range(1, 13)]), v, 1, True) for v, a, p in laws]
    got = share_budget(claims, Rule(15, cap=100.0))
    assert sum(got) == 15

    def total(counts) -> float:
        return sum(v * a * k**-p for (v, a, p), k in zip(laws, counts, strict=True))

    best = min(total(c) for c in itertools.product(range(1, 13), repeat=3) if sum(c) <= 15)
    assert total(got) == pytest.approx(best, rel=1e-6)


def test_capped_links_are_lifted_first_and_copies_count() -> None:
    small = Claim(curve([9.0, 5.0, 2.5, 2.2, 2.0]), 1e-6, 2, True)
    large = Claim(curve([3.0, 2.0, 1.5, 1.3, 1.2, 1.1]), 1.0, 1, True)
    counts = share_budget([small, large], Rule(11, cap=3.0))
    assert counts == [3, 5]
    counts = share_budget([small, large], Rule(4, cap=3.0))
    assert counts[0] * 2 + counts[1] <= 4
    assert counts[0] == 1  # not enough for the cap: every link still has one


def test_open_links_are_lifted_by_their_hull_and_idle_ones_last() -> None:
    ratios = [9.0, 5.0, 2.5, 2.2, 2.0]
    finger = Claim(curve(ratios), 1e-6, 1, False)  # open: compared with its hull
    hollow = Claim(curve([3 * r for r in ratios]), 1e-6, 1, True, hull=3.0)
    large = Claim(curve([2.9, 2.0, 1.5, 1.3, 1.2, 1.1]), 1.0, 1, True)
    assert share_budget([finger, hollow, large], Rule(12, cap=3.0))[:2] == [3, 3]
    antenna = Claim(curve([9.0, 5.0, 2.6, 2.2, 2.0]), 1e-6, 1, True, weight=0.25, idle=True)
    assert share_budget([antenna, finger, large], Rule(5, cap=3.0)) == [1, 3, 1]
    flat = Claim(curve([900.0, 500.0, 250.0]), 1e-9, 1, False, hull=0.0)
    assert share_budget([flat, large], Rule(6, cap=3.0)) == [1, 5]


def test_weights_move_spheres_but_leave_links_their_share() -> None:
    law = curve([1 + 2.0 * k**-0.8 for k in range(1, 25)])
    plain, heavy = Claim(law, 1.0, 1, True), Claim(law, 1.0, 1, True, weight=50.0)
    assert share_budget([plain, plain], Rule(24, cap=100.0)) == [12, 12]
    few, many = share_budget([plain, heavy], Rule(24, cap=100.0))
    assert few < 6 < 18 < many
    kept = Claim(law, 1.0, 1, True, keeps=0.75)
    assert share_budget([kept, heavy], Rule(24, cap=100.0)) == [9, 15]


def test_a_careful_fit_corrects_the_cap() -> None:
    claim = Claim(curve([9.0, 5.0, 2.5, 2.2, 2.0]), 1.0, 1, True)
    assert claim.below(3.0, 10) == 3
    assert claim.seen(3, 3.2).below(3.0, 10) == 4
    assert claim.seen(2, 2.9).below(3.0, 10) == 2


def test_the_best_known_fits_are_picked_as_brute_force_would() -> None:
    rng = np.random.default_rng(2)
    for _ in range(30):
        claims = []
        for _ in range(4):
            claim = Claim(
                curve([5.0, 4.0]), float(rng.uniform(0.1, 2)), int(rng.integers(1, 3)), bool(rng.integers(2))
            )
            for count in sorted(rng.choice(np.arange(1, 8), 3, replace=False)):
                claim = claim.seen(int(count), float(rng.uniform(1.0, 4.0)))
            claims.append(claim)
        budget = 24

        def worth(choice, claims=claims):
            over = sum(c.copies for c, (_, r) in zip(claims, choice, strict=True) if r > 3.0 * 0.98)
            closed = sum(c.copies for c, (_, r) in zip(claims, choice, strict=True) if c.capped and r > 3.0)
            return (
                over,
                closed,
                sum(c.copies * c.volume * r for c, (_, r) in zip(claims, choice, strict=True)),
            )

        def used(choice, claims=claims):
            return sum(c.copies * n for c, (n, _) in zip(claims, choice, strict=True))

        every = [c for c in itertools.product(*(c.known for c in claims)) if used(c) <= budget]
        if not every:
            continue
        best = min(worth(choice) for choice in every)
        picked = pick_known(claims, Rule(budget, cap=3.0))
        choice = [next(k for k in c.known if k[0] == n) for c, n in zip(claims, picked, strict=True)]
        assert used(choice) <= budget
        assert worth(choice)[:2] == best[:2]
        assert worth(choice)[2] == pytest.approx(best[2])


def test_turns_are_the_symmetries_of_the_cube() -> None:
    assert len(TURNS) == 48
    assert np.array_equal(TURNS[0], np.eye(3))
    assert len({tuple(t.ravel()) for t in TURNS}) == 48
    assert all(np.array_equal(t @ t.T, np.eye(3)) for t in TURNS)


def test_mirrored_turned_and_moved_shapes_match() -> None:
    rng = np.random.default_rng(5)
    first = trimesh.convex.convex_hull(rng.normal(size=(30, 3)) * [0.1, 0.07, 0.04])
    shapes = [LinkShape.from_mesh(first)]
    for turn in TURNS[1::9]:
        vertices = first.vertices @ turn.T + rng.normal(size=3)
        faces = first.faces if np.linalg.det(turn) > 0 else first.faces[:, ::-1]
        shapes.append(LinkShape.from_arrays(vertices, faces))
    other = trimesh.convex.convex_hull(rng.normal(size=(30, 3)) * [0.1, 0.07, 0.04])
    shapes.append(LinkShape.from_mesh(other))
    matches = match_shapes(shapes, [False] * len(shapes))
    assert [m.model for m in matches] == [0] * (len(shapes) - 1) + [len(shapes) - 1]
    for shape, match in zip(shapes[1:-1], matches[1:-1], strict=True):
        carried = match.carry(shapes[0].vertices)
        assert shape.distance(carried).max() < 1e-9
    assert [m.model for m in match_shapes(shapes, [True] * len(shapes))] == list(range(len(shapes)))


def test_links_that_match_in_several_ways_are_reflected_in_the_plane_of_the_robot() -> None:
    """A shape with a symmetry of its own on both sides of a robot: a moved copy would be as exact."""
    rng = np.random.default_rng(6)
    points = rng.normal(size=(20, 3)) * [0.1, 0.07, 0.04]
    first = trimesh.convex.convex_hull(np.concatenate([points, points * [1, 1, -1]]))
    other = LinkShape.from_arrays(first.vertices + np.array([0, 0.5, 0]), first.faces)
    shapes, alone = [LinkShape.from_mesh(first), other], [False, False]
    frames = np.tile(np.eye(3), (2, 1, 1))
    np.testing.assert_array_equal(match_shapes(shapes, alone)[1].turn, np.eye(3))
    np.testing.assert_array_equal(match_shapes(shapes, alone, frames)[1].turn, np.diag([1.0, 1.0, -1.0]))
    frames[1] = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_array_equal(
        match_shapes(shapes, alone, frames)[1].turn, np.eye(3)
    )  # no plane of the robot


@pytest.mark.long
def test_an_inscribed_cover_keeps_off_its_neighbour() -> None:
    """Two plates 6 mm apart, one of which slides along the other: balls of both stay on their side of the middle."""
    plate = LinkShape.from_mesh(trimesh.creation.box((0.1, 0.06, 0.008)))
    poses = np.tile(np.eye(4), (5, 1, 1))
    poses[:, 2, 3], poses[:, 0, 3] = -0.014, np.linspace(-0.05, 0.05, 5)
    field = DistanceField.build(plate, 0.013, 0.001)
    found = inscribed_cover(plate, [Neighbour(field, poses)], 0.012, 0.001, seed=0)
    assert found is not None
    centers, radii = found
    assert check(plate, centers, radii).covered
    assert (centers[:, 2] + radii).max() < 0.004 + 0.003
    assert (radii - centers[:, 2]).max() > 0.004 + 0.006  # on the other side they are free
    free = inscribed_cover(plate, [], 0.012, 0.001, seed=0)
    assert free is not None
    assert len(free[1]) < len(radii)
    assert inscribed_cover(plate, [Neighbour(field, poses)], 0.012, 0.001, seed=0, most=20) is None


def test_public_names_exist() -> None:
    assert sorted(spheres.__all__) == spheres.__all__
    for name in spheres.__all__:
        assert hasattr(spheres, name)
