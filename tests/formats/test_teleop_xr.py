"""JSON of style `collision` as teleop_xr reads it.

The reader below is written from its description, not from our writer (qrafty-ai/teleop_xr, commits 30a8f99 and
cc4c05e: `TeaArmRobot._load_collision_data`, `validate_sphere_decomposition`): of the file's keys it looks at `spheres`
and `collision_ignore_pairs` alone; spheres are `{link: {"centers": [[x, y, z], ...], "radii": [...]}}`, two lists of one
length; pairs are two names each. A file that lacks `spheres` is passed over in silence, which is why this is tested.
pyroki's `RobotCollision.from_sphere_decomposition` then checks all pairs of links with spheres but those of the file and
those that one joint of the URDF joins.
"""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
import yourdfpy
from lxml import etree

import elbowroom as er
from elbowroom import formats
from elbowroom.errors import FormatError, InputError


def read_as_teleop_xr(path):
    """Spheres by link, (n, 3) and (n,), and ignored pairs."""
    data = json.loads(path.read_text())
    spheres, pairs = data["spheres"], tuple(map(tuple, data.get("collision_ignore_pairs", [])))
    for link, given in spheres.items():
        assert isinstance(given, dict), f"{link}: {type(given).__name__}"
        assert isinstance(given["centers"], list)
        assert isinstance(given["radii"], list)
        assert len(given["centers"]) == len(given["radii"])
        assert all(len(center) == 3 for center in given["centers"])
    assert all(len(pair) == 2 and isinstance(name, str) for pair in pairs for name in pair)
    return {link: (np.array(s["centers"]), np.array(s["radii"])) for link, s in spheres.items()}, pairs


def checked_as_pyroki(urdf, spheres, ignored):
    """Link pairs that are checked, each sorted by name."""
    joined = {
        frozenset((joint.find("parent").get("link"), joint.find("child").get("link")))
        for joint in etree.parse(str(urdf)).getroot().findall("joint")
    }
    off = joined | {frozenset(pair) for pair in ignored}
    return {pair for pair in combinations(sorted(spheres), 2) if frozenset(pair) not in off}


@pytest.mark.parametrize("name", ["teaarm", "panda"])
def test_spheres_and_pairs_arrive(tmp_path, computed, name):
    robot, spheres, pairs = computed(name)
    lost = formats.write_json(tmp_path / "collision.json", spheres=spheres, pairs=pairs, style="collision")
    found, ignored = read_as_teleop_xr(tmp_path / "collision.json")
    assert set(found) == set(spheres.counts)
    for link, (centers, radii) in found.items():
        np.testing.assert_array_equal(centers, spheres.link(link)[0])
        np.testing.assert_array_equal(radii, spheres.link(link)[1])
    assert len(set(ignored)) == len(ignored)
    checked = checked_as_pyroki(robot.path, found, ignored)
    assert checked == {pair for pair in pairs.by_spheres if set(pair) <= set(found)}
    assert any("meshes alone decide" in text for text in lost) == bool(pairs.by_meshes)


def test_distances_are_ours(tmp_path, computed):
    """The smallest distance that such a reader computes is that of our own model, by yourdfpy's kinematics."""
    robot, spheres, pairs = computed("teaarm")
    formats.write_json(tmp_path / "collision.json", spheres=spheres, pairs=pairs, style="collision")
    found, ignored = read_as_teleop_xr(tmp_path / "collision.json")
    checked = checked_as_pyroki(robot.path, found, ignored)
    urdf = yourdfpy.URDF.load(str(robot.path), load_meshes=False)
    cfgs = robot.random_cfgs(50)
    wanted = er.SelfCollisionChecker(robot, spheres, pairs).min_distance(cfgs)
    for cfg, distance in zip(cfgs, wanted, strict=True):
        urdf.update_cfg(dict(zip(robot.joint_names, cfg, strict=True)))
        T = {link: urdf.get_transform(link) for link in found}
        balls = {link: (c @ T[link][:3, :3].T + T[link][:3, 3], r) for link, (c, r) in found.items()}
        least = min(
            (np.linalg.norm(ca[:, None] - cb[None], axis=-1) - ra[:, None] - rb[None]).min()
            for (ca, ra), (cb, rb) in ((balls[a], balls[b]) for a, b in checked)
        )
        assert least == pytest.approx(distance, abs=1e-6)


def test_our_own_reader_takes_both_forms(tmp_path, computed):
    robot, spheres, pairs = computed("teaarm")
    formats.write_json(tmp_path / "a.json", spheres=spheres, pairs=pairs, style="collision")
    data = json.loads((tmp_path / "a.json").read_text())
    data["spheres"] = {
        link: [{"center": c, "radius": r} for c, r in zip(s["centers"], s["radii"], strict=True)]
        for link, s in data["spheres"].items()
    }
    (tmp_path / "b.json").write_text(json.dumps(data))
    first, second = (formats.read(tmp_path / name, robot=robot) for name in ("a.json", "b.json"))
    assert first.spheres == second.spheres
    assert first.ignored == second.ignored
    assert first.pairs.by_meshes == pairs.by_meshes  # what meshes decide is in a key of ours


def test_a_style_that_there_is_not(tmp_path, computed):
    _, spheres, _ = computed("teaarm")
    with pytest.raises(
        InputError, match="style: expected one of full, list, arrays, collision, found 'teleop'"
    ):
        formats.write_json(tmp_path / "a.json", spheres=spheres, style="teleop")
    assert not (tmp_path / "a.json").exists()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"torso_link": {"centers": [[0, 0, 0]], "radii": []}}, "torso_link"),
        ({"torso_link": {"centers": [[0, 0]], "radii": [0.1]}}, "torso_link"),
        ({"torso_link": {"centers": [[0, 0, 0]]}}, "radii"),
        ({"torso_link": {"centers": [[0, 0, 0]], "radii": [-0.1]}}, "radius"),
    ],
)
def test_broken_spheres_name_their_link(tmp_path, given, says):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"spheres": given, "collision_ignore_pairs": []}))
    with pytest.raises(FormatError, match=says):
        formats.read(path)
