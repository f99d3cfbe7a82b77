"""Poses at the public boundary."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from elbowroom._poses import as_matrix, as_wxyz_xyz, quaternion_from_rotation
from elbowroom.errors import InputError

numbers = st.floats(-1.0, 1.0, allow_nan=False)


@given(
    st.lists(numbers, min_size=4, max_size=4).filter(lambda q: np.linalg.norm(q) > 1e-3),
    st.lists(numbers, min_size=3, max_size=3),
)
def test_round_trip(quaternion, position):
    pose = np.array([*quaternion, *position])
    T = as_matrix(pose)
    expected = Rotation.from_quat([*quaternion[1:], quaternion[0]]).as_matrix()
    np.testing.assert_allclose(T[:3, :3], expected, atol=1e-12)
    back = as_wxyz_xyz(T)
    assert back[0] >= 0
    np.testing.assert_allclose(as_matrix(back), T, atol=1e-12)


@pytest.mark.parametrize("axis", [*np.eye(3).tolist(), [1, 1, 1], [1, -2, 0.5]])
@pytest.mark.parametrize("angle", [0.0, 1e-12, 1.0, np.pi - 1e-9, np.pi])
def test_quaternions_are_accurate_at_every_angle(axis, angle):
    R = Rotation.from_rotvec(angle * np.array(axis) / np.linalg.norm(axis)).as_matrix()
    w, x, y, z = quaternion_from_rotation(R)
    np.testing.assert_allclose(Rotation.from_quat([x, y, z, w]).as_matrix(), R, atol=2e-15)


def test_stacks_keep_their_axes():
    assert as_matrix(np.tile([1, 0, 0, 0, 1, 2, 3], (4, 5, 1))).shape == (4, 5, 4, 4)
    assert as_wxyz_xyz(np.tile(np.eye(4), (4, 5, 1, 1))).shape == (4, 5, 7)


@pytest.mark.parametrize(
    ("pose", "expected"),
    [
        (np.zeros(6), "expected shape"),
        (np.zeros(7), "length zero"),
        (np.full(7, np.nan), "NaN"),
        (2 * np.eye(4), "not a rotation"),
        (np.diag([1.0, 1.0, -1.0, 1.0]), "not a rotation"),
        (np.ones((4, 4)), "not a rotation"),
        ("pose", "expected numbers"),
        (np.diag([1.0, 1.0, 1.0, 2.0]), "last row"),
    ],
)
def test_wrong_poses(pose, expected):
    with pytest.raises(InputError, match=expected):
        as_matrix(pose)
