"""Joint values that do not fit the robot are refused before spheres or pairs are computed, by every verb."""

from __future__ import annotations

import importlib

import pytest

from elbowroom import cli, collision, mesh, pairs, spheres
from elbowroom.cli import main
from elbowroom.cli._options import arguments_of
from elbowroom.collision import internal
from elbowroom.spheres import internal as sphere_internals

REST = {
    "check": [],
    "ik": ["--target", "frame_left_arm_ee", "0.3", "0.35", "0.6"],
    "setup": ["--out", "files"],
}
"""What each verb needs besides."""


def verbs_with_cfg() -> list[str]:
    modules = {verb: importlib.import_module(f"elbowroom.cli._{verb}") for verb in cli.VERBS}
    return [v for v, module in modules.items() if any(a.name == "cfg" for a in arguments_of(module.Options))]


def test_every_verb_that_takes_them_is_here():
    assert verbs_with_cfg() == sorted(REST, key=list(cli.VERBS).index)


@pytest.fixture
def no_work(monkeypatch, tmp_path):
    """Fails when spheres, pairs or a model are asked for."""

    def work(*args, **kwargs):
        pytest.fail("it began to work")

    monkeypatch.chdir(tmp_path)
    for module in (spheres, pairs, collision, internal, mesh, sphere_internals):
        for name in ("fit_spheres", "cached_fit", "compute_pairs", "cached_pairs", "covering", "one_ball_a_link",
                     "CollisionModel", "prove_coverage"):  # fmt: skip
            if hasattr(module, name):
                monkeypatch.setattr(module, name, work)


@pytest.mark.parametrize("verb", REST)
@pytest.mark.parametrize("count", [3, 17])
def test_a_wrong_number_of_values(verb, count, no_work, capsys):
    assert main([verb, "teaarm", *REST[verb], "--cfg", *["0"] * count]) == 2
    said = capsys.readouterr().err
    assert "--cfg needs 16 numbers" in said
    assert "waist_yaw, waist_pitch" in said, "which joints"
    assert f"found {count}" in said


def test_names_and_counts_too(no_work, capsys):
    assert main(["check", "teaarm", "--named", "arms_frward"]) == 2
    assert "did you mean 'arms_forward'" in capsys.readouterr().err
    assert main(["check", "teaarm", "--random", "-1"]) == 2
    assert "--random" in capsys.readouterr().err


def test_several_configurations_only_where_they_are_allowed(no_work, capsys):
    assert main(["ik", "teaarm", *REST["ik"], "--cfg", *["0"] * 32]) == 2
    assert "found 32" in capsys.readouterr().err
