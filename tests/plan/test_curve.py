"""Curves: pieces meet, derivatives match finite differences, bulges bound, halves are the same curve."""

import numpy as np
import pytest

from elbowroom.plan import Curve


@pytest.fixture
def curve() -> Curve:
    rng = np.random.default_rng(0)
    control = np.cumsum(rng.normal(size=(3 * 5 + 1, 4)), axis=0)
    pieces = np.stack([control[3 * k : 3 * k + 4] for k in range(5)])
    stops = np.ones(6, dtype=np.bool_)
    return Curve(pieces, np.cumsum([0.0, 0.5, 1.0, 0.25, 2.0, 1.0]), stops)


def test_bulges_bound_the_distance_from_chords(curve: Curve) -> None:
    for k, (begin, end) in enumerate(zip(curve.knots[:-1], curve.knots[1:], strict=True)):
        t = np.linspace(0.0, 1.0, 200)[:-1, None]
        points = curve.at(begin + t[:, 0] * (end - begin))
        chord = curve.waypoints[k] * (1.0 - t) + curve.waypoints[k + 1] * t
        off = np.abs(points - chord).max(axis=0)
        assert (off <= curve.bulges[k] + 1e-12).all()
        assert (off >= 0.2 * curve.bulges[k]).any()  # a bound, not an excuse


def test_derivatives_match_finite_differences(curve: Curve) -> None:
    s = np.array([0.2, 0.7, 1.6, 2.4, 4.1])
    h = 1e-5
    for order in (1, 2, 3):
        by_difference = (curve.at(s + h, order - 1) - curve.at(s - h, order - 1)) / (2.0 * h)
        np.testing.assert_allclose(curve.at(s, order), by_difference, rtol=1e-6, atol=1e-6)


def test_halved_is_the_same_curve_and_bulges_a_quarter(curve: Curve) -> None:
    half, s = curve.halved(), np.linspace(0.0, curve.end, 101)
    np.testing.assert_allclose(half.at(s), curve.at(s), atol=1e-12)
    assert len(half.pieces) == 2 * len(curve.pieces)
    assert half.bulges.max() <= 0.5 * curve.bulges.max()


def test_polyline_is_straight_and_stops_at_corners_only() -> None:
    path = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 1.0], [2.0, 2.0], [2.0, 3.0]])
    curve = Curve.polyline(path)
    assert curve.stops.tolist() == [True, False, True, True]
    assert curve.bulges.max() < 1e-15
    np.testing.assert_allclose(
        curve.at([0.0, 0.5, 2.0, 3.0]), [[0, 0], [0.5, 0.5], [2, 2], [2, 3]], atol=1e-15
    )


def test_polyline_of_one_place() -> None:
    curve = Curve.polyline([[1.0, 2.0], [1.0, 2.0]])
    np.testing.assert_array_equal(curve.waypoints, [[1.0, 2.0], [1.0, 2.0]])
