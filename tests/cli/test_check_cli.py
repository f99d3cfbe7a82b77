"""`elbowroom check`, by spheres and exactly by meshes."""

from __future__ import annotations

import json

import pytest

from elbowroom.cli import main


@pytest.mark.parametrize("exact", [[], ["--exact"]])
def test_a_known_collision_is_found_and_named(capsys, exact):
    assert main(["check", "teaarm", "--named", "self_collision", "--json", *exact]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["by"] == ("meshes" if exact else "spheres")
    names = {name for hit in report["listed"][0]["colliding"] for name in (hit["link_a"], hit["link_b"])}
    assert {"left_arm_l5", "right_arm_l5"} <= names
    assert main(["check", "teaarm", "--named", "self_collision", *exact]) == 1
    assert "left_arm_l5 and right_arm_l5" in capsys.readouterr().out


def test_named_poses_are_free_exactly(capsys):
    named = ["zero", "default", "arms_forward", "arms_up", "hug"]
    assert main(["check", "teaarm", "--exact", "--json", "--named", *named]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [entry["name"] for entry in report["listed"]] == named
    assert all(entry["free"] and entry["distance"] > 0 for entry in report["listed"])
