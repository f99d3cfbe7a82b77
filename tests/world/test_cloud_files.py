"""`PointCloud.read`: every kind of file, and the radius that it takes from the spacing."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from scipy.spatial import cKDTree

from elbowroom.errors import FormatError, InputError
from elbowroom.world import PointCloud

STEP = 0.02


@pytest.fixture
def grid():
    """A plane of 21 x 31 points, 20 mm apart."""
    x, y = np.meshgrid(STEP * np.arange(21), STEP * np.arange(31), indexing="ij")
    return np.stack([x, y, 0.1 + 0.0 * x], axis=-1)


def pcd(points, kind):
    header = (f"# .PCD v0.7\nVERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH {len(points)}\n"
              f"HEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS {len(points)}\nDATA {kind}\n")  # fmt: skip
    rows = points.astype("<f4")
    body = (
        rows.tobytes()
        if kind == "binary"
        else "\n".join(" ".join(map(repr, row)) for row in rows.tolist()).encode()
    )
    return header.encode() + body


def save(path, points, kind):
    rows = points.reshape(-1, 3)
    if kind == "npy":
        np.save(path, points)
    elif kind == "npz":
        np.savez_compressed(path, points)
    elif kind == "ply":
        trimesh.PointCloud(rows).export(path)
    elif kind.startswith("pcd"):
        path.write_bytes(pcd(rows, kind.removeprefix("pcd ")))
    elif kind == "csv":
        np.savetxt(path, np.column_stack([rows, rows]), delimiter=",", header="x,y,z,r,g,b", comments="")
    else:
        np.savetxt(path, rows)
    return path


@pytest.mark.parametrize("kind", ["npy", "npz", "ply", "pcd ascii", "pcd binary", "csv", "xyz", "txt"])
def test_every_kind_of_file(tmp_path, grid, kind):
    cloud = PointCloud.read(save(tmp_path / f"cloud.{kind.split()[0]}", grid, kind), name="plane")
    assert cloud.name == "plane"
    assert len(cloud.points) == 21 * 31
    distances, _ = cKDTree(grid.reshape(-1, 3)).query(cloud.points)
    assert distances.max() < 1e-7, "float32 in some kinds"
    assert cloud.radius == cloud.spacing == pytest.approx(STEP, rel=1e-4)


def test_the_default_radius_leaves_no_gap(tmp_path, grid):
    """Against brute force: every place of the sampled surface is inside a ball, also where the sampling is uneven."""
    rng = np.random.default_rng(0)
    for points in (
        grid.reshape(-1, 3),
        grid.reshape(-1, 3) + rng.uniform(-0.004, 0.004, (651, 3)) * [1, 1, 0],
    ):
        np.save(tmp_path / "cloud.npy", points)
        cloud = PointCloud.read(tmp_path / "cloud.npy")
        places = np.column_stack(
            [rng.uniform(0, 0.4, 20_000), rng.uniform(0, 0.6, 20_000), np.full(20_000, 0.1)]
        )
        assert cKDTree(points).query(places)[0].max() < cloud.radius
        assert not cloud.notes


def test_what_is_given_counts(tmp_path, grid):
    np.savez(tmp_path / "two.npz", near=grid, far=grid + 1.0)
    pose = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0])
    cloud = PointCloud.read(tmp_path / "two.npz", 0.015, array="far", pose=pose)
    assert cloud.radius == 0.015
    np.testing.assert_allclose(cloud.bounds[:, 2], [3.1 - 0.015, 3.1 + 0.015])


@pytest.mark.parametrize(
    ("name", "data", "error", "said"),
    [
        ("none.npy", None, FormatError, "none.npy cannot be read: No such file"),
        ("cloud.las", b"LASF", FormatError, "clouds of this kind are not read; allowed are .npy"),
        ("cloud.npy", b"not numpy", FormatError, "not a readable NumPy file"),
        ("cloud.ply", b"ply\nformat ascii", FormatError, "cannot be read as points"),
        ("cloud.pcd", b"VERSION 0.7\n", FormatError, "a PCD header ends with DATA"),
        ("cloud.csv", b"x,y,z\n1,2\n", FormatError, "cannot be read as points"),
        ("empty.xyz", b"", InputError, "empty.xyz: .*at least one finite point"),
        ("one.xyz", b"1 2 3\n", InputError, "its 1 points have no spacing to take a radius from; give one"),
        ("same.xyz", b"1 2 3\n1 2 3\n1 2 3\n", InputError, "its 3 points have no spacing"),
        ("nan.xyz", b"nan nan nan\n", InputError, "at least one finite point"),
    ],
)  # fmt: skip
def test_files_that_are_no_clouds(tmp_path, name, data, error, said):
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(error, match=said):
        PointCloud.read(tmp_path / name)


def test_an_array_has_to_be_chosen_where_there_are_several(tmp_path, grid):
    np.savez(tmp_path / "two.npz", near=grid, far=grid)
    with pytest.raises(FormatError, match="say 'array', one of: near, far"):
        PointCloud.read(tmp_path / "two.npz")
    np.save(tmp_path / "flat.npy", np.zeros((4, 2)))
    with pytest.raises(InputError, match=r"flat.npy: .*shape \(n, 3\)"):
        PointCloud.read(tmp_path / "flat.npy")
