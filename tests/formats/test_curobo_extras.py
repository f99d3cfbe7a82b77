"""cuRobo files keep what the sphere model does not have, and padding comes back as it was."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

import elbowroom as er
from elbowroom import formats
from elbowroom.errors import FormatError
from elbowroom.formats._yaml import load_yaml
from elbowroom.spheres import SphereModel

from .test_foreign_files import CUROBO_V1, CUROBO_V2, SPHERES_FILE, put


def kinematics(path):
    return load_yaml(path)[0]["robot_cfg"]["kinematics"]


@pytest.fixture
def version_1(tmp_path):
    put(tmp_path, "spheres/two.yml", SPHERES_FILE)
    text = CUROBO_V1.replace('"tip": 0.0}', '"tip": 0.0, "attached_object": 0.02}')
    return put(tmp_path, "two.yml", text)


def test_rewriting_in_place_keeps_extra_links(version_1):
    before, contents = kinematics(version_1), formats.read(version_1)
    lost = formats.write(version_1, spheres=contents.spheres, pairs=contents.ignored)
    after, again = kinematics(version_1), formats.read(version_1)
    assert set(after["collision_link_names"]) == {"base", "tip", "attached_object"}
    assert after["self_collision_buffer"]["attached_object"] == 0.02
    assert set(after["collision_sphere_buffer"]) == {"base", "tip", "attached_object"}
    ignored = {
        frozenset((link, other))
        for link, others in after["self_collision_ignore"].items()
        for other in others
    }
    assert ignored == {frozenset(("base", "tip")), frozenset(("base", "attached_object"))}
    assert after["extra_links"] == before["extra_links"]
    # Its spheres stay in the extra link, the disabled one too, and do not become the tip's own.
    assert [s["radius"] for s in after["collision_spheres"]["attached_object"]] == [0.01, -100]
    assert again.spheres == contents.spheres
    assert again.ignored == contents.ignored
    assert lost == ()


def test_pairs_alone_keep_those_of_extra_links(version_1):
    formats.write(version_1, pairs={("base", "tip"): ""})
    assert "attached_object" in str(kinematics(version_1)["self_collision_ignore"])


def test_a_changed_object_goes_back_to_its_extra_link(version_1):
    model = formats.read(version_1).spheres.detach("attached_object")
    model = model.attach("tip", [[0.0, 0.2, 0.1]], [0.04], "attached_object")
    formats.write(version_1, spheres=model)
    entry = kinematics(version_1)["collision_spheres"]["attached_object"]
    np.testing.assert_allclose(
        entry[0]["center"], [0.2, 0.0, 0.0], atol=1e-15
    )  # undoes the turn by 90 degrees
    np.testing.assert_allclose(formats.read(version_1).spheres.centers, model.centers, atol=1e-15)


def test_links_that_only_the_file_has_stay_and_are_said(tmp_path):
    path = put(tmp_path, "two.yml", CUROBO_V2)
    model = SphereModel.from_links(["base"], {"base": ([[0, 0, 0]], [0.1])})
    lost = formats.write(path, spheres=model)
    assert any("stay as they are: tip" in text for text in lost)
    assert formats.read(path).spheres.counts == {"base": 1, "tip": 1}


def test_left_out_buffers_are_noted(version_1):
    notes = formats.read(version_1).notes
    assert any("buffers of links" in note and "attached_object" in note for note in notes)


@pytest.mark.parametrize("decimals", [3, 4, 6, 9, 12])
def test_paddings_come_back_equal(tmp_path, decimals):
    rng = np.random.default_rng(decimals)
    links = [f"l{k}" for k in range(200)]
    draw = np.round(rng.uniform(-0.05, 0.1, (2, 200)), decimals)
    draw[:, :2] = [[0.01, 0.1025], [0.0025, 0.0025]]
    own, world = (dict(zip(links, row.tolist(), strict=True)) for row in draw)
    spheres = {link: ([[0, 0, 0]], [0.3]) for link in links}
    model = SphereModel.from_links(links, spheres, self_padding=own, world_padding=world)
    lost = formats.write(tmp_path / "a.yml", spheres=model)
    assert [text.split(" ", 4)[:4] for text in lost] == [
        ["cuRobo", "does", "not", "load"]
    ]  # no robot was given
    back = formats.read(tmp_path / "a.yml").spheres
    assert back == model


def test_paddings_of_full_precision_come_back_equal_or_it_is_said(tmp_path):
    rng = np.random.default_rng(0)
    links = [f"l{k}" for k in range(200)]
    own, world = (dict(zip(links, row, strict=True)) for row in rng.uniform(0, 0.05, (2, 200)).tolist())
    spheres = {link: ([[0, 0, 0]], [0.3]) for link in links}
    model = SphereModel.from_links(links, spheres, self_padding=own, world_padding=world)
    lost = formats.write(tmp_path / "a.yml", spheres=model)
    back = formats.read(tmp_path / "a.yml").spheres
    assert dict(back.world_padding) == world
    changed = {link for link in links if back.self_padding[link] != own[link]}
    said = next(text for text in lost if text.startswith("self padding of these links"))
    assert changed == set(said.rpartition(": ")[2].split(", "))
    assert len(changed) < 100
    for link in changed:
        assert abs(back.self_padding[link] - own[link]) <= np.spacing(max(world[link], own[link]))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("unknown_key:", "extra_links: [1]\n  was:", "extra_links: expected a mapping"),
        ("unknown_key:", "extra_links: text\n  was:", "extra_links: expected a mapping"),
        ("unknown_key:", "extra_collision_spheres: 3\n  was:", "extra_collision_spheres: expected a mapping"),
        ("collision_link_names: [base, tip]", "collision_link_names: 3", "collision_link_names: expected a list"),
        ("collision_link_names: [base, tip]", "collision_link_names: base", "expected a list of links"),
        ("collision_link_names: [base, tip]", "collision_link_names: [base, [tip]]", "expected the name of a link"),
    ],
)  # fmt: skip
def test_wrong_types_name_the_place(tmp_path, old, new, expected):
    assert old in CUROBO_V2
    path = put(tmp_path, "two.yml", CUROBO_V2.replace(old, new))
    with pytest.raises(FormatError, match=expected):
        formats.read(path)
    model = SphereModel.from_links(["base"], {"base": ([[0, 0, 0]], [0.1])})
    with pytest.raises(FormatError, match=expected):
        formats.write(path, spheres=model)


def test_packages_in_several_folders_are_said_to_be_lost(tmp_path):
    """`asset_root_path` is one folder; a second workspace's meshes are not in it."""
    links = ""
    for name in ("one", "two"):
        mesh = tmp_path / f"ws_{name}" / name / "box.stl"
        mesh.parent.mkdir(parents=True)
        trimesh.creation.box([0.1, 0.1, 0.1]).export(mesh)
        links += (
            f'<link name="{name}"><collision><geometry><mesh filename="package://{name}/box.stl"/></geometry>'
            "</collision></link>"
        )
    joint = """<joint name="j" type="revolute"><parent link="one"/><child link="two"/><axis xyz="0 0 1"/>
      <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>"""
    urdf = put(tmp_path, "urdf/arm.urdf", f'<robot name="arm">{links}{joint}</robot>')
    robot = er.load_robot(urdf, package_dirs=[tmp_path / "ws_one", tmp_path / "ws_two"])
    spheres = SphereModel.from_links(robot.link_names, {"two": ([[0.0, 0.0, 0.0]], [0.1])})
    lost = formats.write(tmp_path / "arm.yml", robot=robot, spheres=spheres, pairs={("one", "two"): ""})
    assert kinematics(tmp_path / "arm.yml")["asset_root_path"] == str(tmp_path / "ws_one")
    assert [text for text in lost if "asset_root_path" in text and "package://two/box.stl" in text]
    assert not any("package://one" in text for text in lost)
