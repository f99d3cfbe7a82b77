"""What we write, we read back equal; what is lost is said."""

from __future__ import annotations

import numpy as np
import pytest

import elbowroom as er
from elbowroom import formats
from elbowroom.errors import FormatError, InputError, UnknownLinkError
from elbowroom.formats._json import write_json
from elbowroom.spheres import SphereModel

BY_NAME = {
    "a.json": (formats.read_json, formats.write_json),
    "a.yml": (formats.read_curobo, formats.write_curobo),
    "a.xrdf": (formats.read_xrdf, formats.write_xrdf),
    "a.srdf": (formats.read_srdf, formats.write_srdf),
    "a.urdf": (formats.read_urdf, formats.write_urdf),
    "a.xml": (formats.read_mjcf, formats.write_mjcf),
}
LOSSLESS = ["a.json", "a.yml", "a.xrdf"]
NO_PADDING = ["a.srdf", "a.urdf", "a.xml"]


@pytest.mark.parametrize("name", BY_NAME)
def test_a_format_by_its_own_name_is_the_one_of_its_extension(tmp_path, arm, model, pairs, name):
    read, write = BY_NAME[name]
    (tmp_path / "own").mkdir()
    given = {"robot": arm, "spheres": model, "pairs": pairs}
    assert write(tmp_path / "own" / name, **given) == formats.write(tmp_path / name, **given)
    assert (tmp_path / "own" / name).read_bytes() == (tmp_path / name).read_bytes()
    found, again = read(tmp_path / name, robot=arm), formats.read(tmp_path / name, robot=arm)
    assert len(found.spheres) == len(model)
    assert (found.format, found.spheres, found.ignored) == (again.format, again.spheres, again.ignored)


@pytest.mark.parametrize("name", LOSSLESS)
def test_spheres_and_padding_round_trip(tmp_path, arm, model, name):
    lost = formats.write(tmp_path / name, robot=arm, spheres=model)
    assert not any("padding" in text or "sphere" in text for text in lost)
    back = formats.read(tmp_path / name, robot=arm).spheres
    np.testing.assert_array_equal(back.centers, model.centers)
    np.testing.assert_array_equal(back.radii, model.radii)
    np.testing.assert_array_equal(back.link_idx, model.link_idx)
    for purpose in ("self", "world"):
        np.testing.assert_allclose(
            back.padded_radii(purpose), model.padded_radii(purpose), rtol=0, atol=1e-15
        )


@pytest.mark.parametrize("name", NO_PADDING)
def test_spheres_round_trip_and_lost_padding_is_said(tmp_path, arm, model, name):
    lost = formats.write(tmp_path / name, robot=arm, spheres=model)
    assert any("padding is not kept" in text for text in lost)
    back = formats.read(tmp_path / name, robot=arm).spheres
    if name == "a.srdf":  # nine digits, rounded outwards
        np.testing.assert_array_equal(back.link_idx, model.link_idx)
        np.testing.assert_allclose(back.centers, model.centers, rtol=1e-8)
        np.testing.assert_allclose(back.radii, model.radii, rtol=1e-7)
        assert (np.linalg.norm(back.centers - model.centers, axis=1) + model.radii <= back.radii).all()
    else:
        assert back == SphereModel(model.link_names, model.centers, model.radii, model.link_idx)


@pytest.mark.parametrize("style", ["full", "list", "arrays", "collision"])
def test_json_styles(tmp_path, arm, model, pairs, style):
    lost = write_json(tmp_path / "a.json", spheres=model, pairs=pairs, style=style)
    back = formats.read(tmp_path / "a.json", robot=arm)
    np.testing.assert_array_equal(back.spheres.radii, model.radii)
    assert (set(back.ignored) == set(pairs)) == (style == "collision")
    assert any(text.startswith("ignored pairs are not kept") for text in lost) == (style != "collision")


@pytest.mark.parametrize(
    ("name", "reasons"),
    [("a.yml", False), ("a.xrdf", False), ("a.srdf", True), ("a.xml", False), ("a.json", False)],
)
def test_pairs_round_trip(tmp_path, arm, model, pairs, name, reasons):
    lost = formats.write(tmp_path / name, robot=arm, spheres=model, pairs=pairs)
    back = formats.read(tmp_path / name, robot=arm).ignored
    assert set(back) == set(pairs)
    if reasons:
        assert back == {
            ("base_link", "waist_link"): "Adjacent",
            ("left_arm_l3", "torso_link"): "Never",
            ("base_link", "left_arm_l3"): "User",
        }
    else:
        assert any("reasons and evidence of 3 ignored pairs" in text for text in lost)


@pytest.mark.parametrize("name", ["a.json", "a.yml", "a.xrdf", "a.srdf", "a.xml"])
def test_writing_twice_changes_nothing(tmp_path, arm, model, pairs, name):
    formats.write(tmp_path / name, robot=arm, spheres=model, pairs=pairs)
    first = (tmp_path / name).read_bytes()
    formats.write(tmp_path / name, robot=arm, spheres=model, pairs=pairs)
    assert (tmp_path / name).read_bytes() == first


def test_numbers_of_a_file_that_is_written_again_stay_to_the_last_digit(tmp_path, arm, model):
    numbers = "[1e-5, 1.50, -5.098519678374467e-07, 2.0772197789483226e-06, .5]"
    path = tmp_path / "a.yml"
    path.write_text(f"robot_cfg:\n  kinematics:\n    collision_spheres: {{}}\n    mine: {numbers}\n")
    formats.write(path, robot=arm, spheres=model)
    assert f"mine: {numbers}\n" in path.read_text()


def test_attached_objects(tmp_path, arm, model):
    held = model.attach("left_arm_l3", [[0, 0, 0.1]], [0.02], "cup")
    formats.write(tmp_path / "a.json", spheres=held)
    assert formats.read(tmp_path / "a.json", robot=arm).spheres == held
    assert any("cup" in text for text in formats.write(tmp_path / "a.xrdf", robot=arm, spheres=held))
    assert len(formats.read(tmp_path / "a.xrdf", robot=arm).spheres) == len(held)


def test_spherized_urdf_keeps_everything_else(tmp_path, arm, model):
    formats.write(tmp_path / "a.urdf", robot=arm, spheres=model)
    text, before = (tmp_path / "a.urdf").read_text(), arm.path.read_text()
    assert text.count("<joint ") == before.count("<joint ")
    assert text.count("<visual>") == before.count("<visual>")
    robot = formats.read(tmp_path / "a.urdf").robot
    assert robot is not None
    cfg = arm.random_cfgs(1)[0]
    np.testing.assert_array_equal(robot.link_poses(cfg), arm.link_poses(cfg))
    assert [shape.kind for shape in robot.shapes["torso_link"]] == ["sphere"] * 2


def test_mjcf_of_a_urdf_robot_moves_alike(tmp_path, arm, model):
    formats.write(tmp_path / "a.xml", robot=arm, spheres=model)
    robot = er.load_robot(tmp_path / "a.xml")
    cfg = arm.random_cfgs(1)[0]
    order = [arm.joint_names.index(name) for name in robot.joint_names]
    poses = arm.link_poses(cfg)[[arm.link_index(name) for name in robot.link_names]]
    np.testing.assert_allclose(robot.link_poses(cfg[order]), poses, atol=1e-12)
    np.testing.assert_allclose(robot.lower, arm.lower[order], atol=1e-15)


def test_mjcf_of_the_hand_keeps_its_couplings(tmp_path, load):
    hand = load("rh56")
    spheres = SphereModel.from_links(hand.link_names, {"base": ([[0, 0, 0.05]], [0.05])})
    formats.write(tmp_path / "hand.xml", robot=hand, spheres=spheres, pairs=[("base", "thumb_distal")])
    back = formats.read(tmp_path / "hand.xml")
    assert back.robot is not None
    assert back.robot.joint_names == hand.joint_names
    assert set(back.ignored) == {("base", "thumb_distal")}
    assert back.spheres is not None
    assert back.spheres.counts == {"base": 1}


@pytest.mark.robots
def test_mimic_joints_become_equalities(tmp_path, load):
    panda = load("panda")
    spheres = SphereModel.from_links(panda.link_names, {"panda_hand": ([[0, 0, 0.05]], [0.05])})
    formats.write(tmp_path / "panda.xml", robot=panda, spheres=spheres)
    robot = er.load_robot(tmp_path / "panda.xml")
    cfg = panda.random_cfgs(1)[0]
    np.testing.assert_allclose(robot.link_poses(cfg)[:, 4:], panda.link_poses(cfg)[:, 4:], atol=1e-12)


class TestErrors:
    def test_spheres_of_another_robot(self, tmp_path, arm, load, model):
        for name in ("a.json", "a.yml", "a.xrdf", "a.srdf"):
            formats.write(tmp_path / name, robot=arm, spheres=model)
            with pytest.raises(UnknownLinkError, match=rf"{name}: .*not of robot 'rh56'"):
                formats.read(tmp_path / name, robot=load("rh56"))

    @pytest.mark.parametrize("name", ["a.json", "a.yml", "a.xrdf", "a.srdf", "a.urdf", "a.xml"])
    def test_empty_missing_and_binary_files(self, tmp_path, name):
        with pytest.raises(er.ElbowroomError, match="no such"):
            formats.read(tmp_path / name)
        for data in (b"", b"\x00\x01\x02\xff", b"{[<not anything"):
            (tmp_path / name).write_bytes(data)
            with pytest.raises(er.ElbowroomError, match=name):
                formats.read(tmp_path / name)

    def test_unknown_formats_and_nothing_to_write(self, tmp_path, arm, model):
        with pytest.raises(FormatError, match=r"unknown format '\.bin'; known are \.json"):
            formats.write(tmp_path / "a.bin", spheres=model)
        with pytest.raises(InputError, match="nothing to write"):
            formats.write(tmp_path / "a.json", robot=arm)
        with pytest.raises(InputError, match="needs spheres and a robot"):
            formats.write(tmp_path / "a.urdf", spheres=model)
        with pytest.raises(InputError, match="cannot write"):
            formats.write(tmp_path / "missing/a.json", spheres=model)

    @pytest.mark.parametrize("name", ["a.json", "a.yml", "a.xrdf", "a.srdf", "a.urdf", "a.xml"])
    @pytest.mark.parametrize(
        "text", ['{"scripts": {"test": "x"}}', "notes of mine", "<svg/>", "format: xrdf\nformat_version: 9.0"]
    )
    def test_files_of_another_kind_stay(self, tmp_path, arm, model, name, text):
        (tmp_path / name).write_text(text)
        with pytest.raises(er.ElbowroomError, match=name):
            formats.write(tmp_path / name, robot=arm, spheres=model)
        assert (tmp_path / name).read_text() == text

    def test_a_urdf_is_no_place_for_an_srdf(self, tmp_path, arm, model):
        text = arm.path.read_text()
        (tmp_path / "a.srdf").write_text(text)
        with pytest.raises(FormatError, match="looks like urdf"):
            formats.write(tmp_path / "a.srdf", robot=arm, spheres=model)
        assert (tmp_path / "a.srdf").read_text() == text

    def test_empty_files_are_nothing(self, tmp_path, arm, model):
        (tmp_path / "a.json").touch()
        formats.write(tmp_path / "a.json", robot=arm, spheres=model)
        assert formats.read(tmp_path / "a.json", robot=arm).spheres == model

    def test_a_failed_write_leaves_the_old_file(self, tmp_path, arm, model):
        path = tmp_path / "a.yml"
        path.write_text("kinematics: 3\n")
        with pytest.raises(FormatError):
            formats.write(path, robot=arm, spheres=model)
        assert path.read_text() == "kinematics: 3\n"
        assert [entry.name for entry in tmp_path.iterdir()] == ["a.yml"]


@pytest.mark.long
def test_a_pair_matrix_keeps_its_reasons_in_srdf(tmp_path, arm):
    from elbowroom.pairs import PairMatrix, PairReason
    from elbowroom.pairs._srdf import read_pairs_srdf
    from elbowroom.spheres import FitOptions, fit_spheres

    spheres = fit_spheres(arm, FitOptions(method="centerline"))
    pairs = er.compute_pairs(arm, spheres, er.PairOptions(samples=500))
    assert isinstance(pairs, PairMatrix)
    formats.write(tmp_path / "a.srdf", robot=arm, spheres=spheres, pairs=pairs)
    back = read_pairs_srdf(tmp_path / "a.srdf", arm)
    assert back.checked == pairs.checked
    assert {pair: pairs.entries[pair].reason for pair in pairs.entries} == {
        pair: back.entries[pair].reason for pair in back.entries
    }
    assert PairReason.NEVER_PROVED in back.counts()
    assert formats.read(tmp_path / "a.srdf", robot=arm).spheres.counts == spheres.counts
