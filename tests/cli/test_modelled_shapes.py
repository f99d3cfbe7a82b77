"""What the shapes of bundled robots are stands beside whatever a verb says of them."""

from __future__ import annotations

import json

import pytest

import elbowroom as er
from elbowroom.cli import main
from tests.robot.builders import own_teaarm

COMMANDS = [
    ["info", "teaarm"],
    ["spheres", "teaarm", "--method", "centerline"],
    ["pairs", "teaarm", "--method", "centerline", "--samples", "50", "--proof-boxes", "0"],
    ["check", "teaarm", "--named", "arms_up"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize("as_json", [False, True])
def test_verbs_say_it(capsys, words, as_json):
    main([*words, *(["--json"] if as_json else [])])
    (said,) = er.load_robot("teaarm").modelled
    out = capsys.readouterr().out
    if not as_json:
        assert said in " ".join(out.split())
    elif words[0] == "info":
        assert json.loads(out)["notes"][0]["kind"] == "modelled"
    else:
        assert json.loads(out)["modelled"] == [said]


@pytest.mark.long
def test_the_report_of_setup_says_it_below_its_headline(tmp_path, capsys):
    (said,) = er.load_robot("teaarm").modelled
    options = ["-n", "34", "--samples", "50"]
    main(["setup", "teaarm", "--out", str(tmp_path / "ours"), *options])
    headline, note = capsys.readouterr().out.splitlines()[:2]
    assert "proved to cover every link" in headline
    assert note.strip() == f"note: {said}"
    title, first, second, *_ = (tmp_path / "ours" / "report.md").read_text().split("\n\n")
    assert title == "# teaarm"
    assert second.replace("\\", "") == f"Shapes of {said}."
    assert "proved to cover every link" in first
    own = own_teaarm(tmp_path / "own")
    main(["setup", str(own), "--out", str(tmp_path / "theirs"), *options])
    assert "modelled by" not in (tmp_path / "theirs" / "report.md").read_text()
    assert "modelled by" not in capsys.readouterr().out
