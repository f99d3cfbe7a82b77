"""Collision data for frax; frax 0.1.0 itself placed the 274 spheres of teaarm within 1e-15 m of ours, by hand."""

from __future__ import annotations

import runpy

import numpy as np
import pytest

import elbowroom as er
from elbowroom import formats
from elbowroom._poses import matrix_from_wxyz_xyz
from elbowroom.errors import InputError


def test_spheres_and_pairs_are_those_of_our_checker(tmp_path):
    model = er.CollisionModel("teaarm")
    robot, spheres, pairs = model.robot, model.spheres, model.pairs
    formats.write_frax(tmp_path / "tea.py", robot=robot, spheres=spheres, pairs=pairs)
    found = runpy.run_path(str(tmp_path / "tea.py"))
    data = found["COLLISION_DATA"]
    assert found["JOINT_ORDERING"] == robot.joint_names
    assert len(data["root_radii"]) + sum(map(len, data["radii"])) == len(spheres)
    checker = er.SelfCollisionChecker(robot, spheres, pairs)
    for cfg in robot.random_cfgs(5, seed=2):
        Ts = matrix_from_wxyz_xyz(robot.link_poses(cfg))
        frames = [Ts[robot.link_index(robot.joint(name).child)] for name in found["JOINT_ORDERING"]]
        places = zip(frames, data["positions"], strict=True)
        body = np.array([T[:3, :3] @ center + T[:3, 3] for T, centers in places for center in centers])
        T = Ts[robot.link_index(robot.link_names[0])]
        root = np.array([T[:3, :3] @ center + T[:3, 3] for center in data["root_positions"]])
        radii = np.concatenate(data["radii"])
        gaps = list[float]()
        for which, first, first_radii in (("root", root, data["root_radii"]), ("body", body, radii)):
            i, j = np.array(data[f"{which}_sc_pairs"]).T
            apart = np.linalg.norm(first[i] - body[j], axis=1) - np.array(first_radii)[i] - radii[j]
            gaps.append(apart.min())
            assert len(data[f"{which}_sc_tols"]) == len(i)
        assert min(gaps) == pytest.approx(checker.min_distance(cfg), abs=1e-5)  # float32


def test_what_frax_cannot_take_is_refused(tmp_path):
    model = er.CollisionModel("teaarm")
    with pytest.raises(InputError, match=r"name the file NAME\.py"):
        formats.write_frax(tmp_path / "tea.json", robot=model.robot, spheres=model.spheres)
    hand = er.load_robot("rh56")
    with pytest.raises(InputError, match="frax has no joints that follow others"):
        formats.write_frax(tmp_path / "hand.py", robot=hand, spheres=er.fit_spheres(hand))
