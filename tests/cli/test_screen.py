"""Output that fits a screen: many like lines are one with a count, long lists have a summary and a way to all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import elbowroom as er
from elbowroom.cli import main
from elbowroom.collision.internal import one_ball_a_link
from elbowroom.pairs import pairs_from_ignored

BOX = '<collision><geometry><box size="{0}"/></geometry></collision>'
FINGERS = 26


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base on which many fingers stand, on a plate each: neighbours touch, and so do fingers and the base."""
    links, joints = [f'<link name="base">{BOX.format("10 1 1")}</link>'], []
    for k in range(FINGERS):
        links += [
            f'<link name="plate{k}">{BOX.format(".1 .1 .01")}</link>',
            f'<link name="finger{k}">{BOX.format(".05 .05 1.2")}</link>',
        ]
        limit = '<limit lower="-1" upper="1" velocity="1" effort="1"/>'
        joints += [
            f'<joint name="f{k}" type="fixed"><parent link="base"/><child link="plate{k}"/>'
            f'<origin xyz="{0.2 * k - 4} 0 0.5"/></joint>',
            f'<joint name="j{k}" type="revolute"><parent link="plate{k}"/><child link="finger{k}"/><axis xyz="0 0 1"/>{limit}</joint>',
        ]
    path = tmp_path_factory.mktemp("crowd") / "crowd.urdf"
    path.write_text(f'<robot name="crowd">{"".join(links)}{"".join(joints)}</robot>')
    return path


def lines_of(capsys, *words: object) -> list[str]:
    assert main([*map(str, words)]) in (0, 1)
    return capsys.readouterr().out.rstrip().splitlines()


@pytest.mark.long
def test_check_tells_like_pairs_once(crowd, capsys):
    lines = lines_of(capsys, "check", crowd)
    assert len(lines) <= 8
    assert lines[0].startswith("crowd: free at 1 of 1 configurations, by meshes (")
    (touching,) = [line for line in lines if "touching here, but not checked" in line]
    assert f"{FINGERS} pairs" in touching
    assert f"and {FINGERS - 6} more pairs" in touching
    assert any(
        f"{2 * FINGERS} pairs of neighbours touch here, as allowed; --json names them" in line
        for line in lines
    )
    main(["check", str(crowd), "--json"])
    report = json.loads(capsys.readouterr().out)
    assert len(report["listed"][0]["ignored_touching"]) == 3 * FINGERS  # all of them


def test_pairs_sum_up_and_all_are_listed_when_asked(crowd, capsys):
    assert len(lines_of(capsys, "pairs", crowd)) <= 8
    every = (2 * FINGERS + 1) * FINGERS
    assert sum(" because " in line for line in lines_of(capsys, "pairs", crowd, "--all")) == every
    main(["pairs", str(crowd), "--json"])
    assert len(json.loads(capsys.readouterr().out)["pairs"]) == every


def test_info_sums_up_and_all_are_listed_when_asked(crowd, capsys):
    lines = lines_of(capsys, "info", crowd)
    assert len(lines) <= 12
    assert lines[-1] == "--all lists every link and joint"
    assert "collision geometry: 53 of 53 links have some; every mesh is closed" in lines
    whole = "\n".join(lines_of(capsys, "info", crowd, "--all"))
    assert all(f"finger{k} " in whole and f"\nj{k} " in whole for k in range(FINGERS))
    small = lines_of(capsys, "info", "teaarm")
    assert any(line.startswith("left_arm_l3 ") for line in small)  # what fits is shown


@pytest.mark.long
def test_a_report_leads_with_what_needs_attention_and_folds_the_rest(crowd, capsys, tmp_path):
    lines_of(capsys, "setup", crowd, "--out", tmp_path / "out", "-n", "90")
    report = (tmp_path / "out" / "report.md").read_text()
    head, *folded = report.split("<details>")
    assert len(head.splitlines()) < 25
    assert f"ignored although their meshes touch, at rest or in samples (default): {FINGERS} pairs" in head
    assert all("</details>" in part for part in folded)
    assert len(folded) == 3
    assert report.count("| plate7 |") >= 1


def test_many_clashes_are_counted(crowd):
    robot = er.load_robot(crowd)
    model = er.CollisionModel(robot, one_ball_a_link(robot), pairs_from_ignored(robot, {}, "none"))
    verdict = model.explain(robot.default_cfg)
    assert len(verdict.clashes) > 20
    text = str(verdict)
    assert text.count("\n") < 12
    assert len(text) < 2000
    assert f"and {len(verdict.clashes) - 6} more pairs" in text
    assert verdict.how_to_allow.count("<disable_collisions") == len(
        verdict.clashes
    )  # in full where it is asked for
