"""The verbs `pairs` and `check`, called as modules."""

from __future__ import annotations

import json

import pytest
import tyro

from elbowroom.cli import _check, _pairs
from elbowroom.errors import InputError, UnknownNameError


def call(module, *arguments):
    return module.run(tyro.cli(module.Options, args=list(arguments)))


def test_pairs_prints_reasons_and_writes_srdf_and_picture(capsys, tmp_path):
    srdf, png = tmp_path / "out.srdf", tmp_path / "out.png"
    code = call(
        _pairs,
        "teaarm",
        "--samples",
        "500",
        "--proof-boxes",
        "200",
        "--diff",
        "--out",
        str(srdf),
        "--plot",
        str(png),
    )
    assert code == 0
    text = capsys.readouterr().out
    assert "ignored because" in text
    assert "differ from the SRDF" in text
    assert "<disable_collisions" in srdf.read_text()
    assert png.read_bytes().startswith(b"\x89PNG")


def test_pairs_as_json(capsys):
    assert call(_pairs, "teaarm", "--samples", "500", "--proof-boxes", "200", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["robot"] == "teaarm"
    assert sum(report["counts"].values()) == len(report["pairs"]) == 17 * 16 // 2
    assert {"link_a", "link_b", "reason", "text", "bound"} <= set(report["pairs"][0])


def test_check_exits_one_when_something_collides_and_zero_when_free(capsys):
    assert call(_check, "teaarm", "--named", "arms_up", "--samples", "500") == 0
    assert "free" in capsys.readouterr().out
    assert call(_check, "teaarm", "--named", "zero", "hug", "--samples", "500", "--json") == 1
    report = json.loads(capsys.readouterr().out)
    assert report["configurations"] == 2
    assert report["colliding"] >= 1
    first = next(entry for entry in report["listed"] if not entry["free"])
    assert first["colliding"][0]["distance"] < 0
    assert first["distance"] == pytest.approx(first["colliding"][0]["distance"], abs=1e-5)


def test_check_takes_configurations_random_ones_and_pairs_of_a_file(capsys, tmp_path):
    call(_pairs, "teaarm", "--samples", "500", "--proof-boxes", "200", "--out", str(tmp_path / "p.srdf"))
    capsys.readouterr()
    arguments = ("--pairs", str(tmp_path / "p.srdf"), "--random", "200", "--seed", "3", "--json")
    assert call(_check, "teaarm", *arguments, "--cfg", *(["0.0"] * 32)) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["configurations"] == 202
    assert len(report["listed"]) <= 20


def test_check_refuses_bad_arguments():
    with pytest.raises(InputError, match="16 numbers"):
        call(_check, "teaarm", "--cfg", "0.0", "1.0")
    with pytest.raises(UnknownNameError, match="no named configuration 'hugg'"):
        call(_check, "teaarm", "--named", "hugg")
    with pytest.raises(InputError, match="negative"):
        call(_check, "teaarm", "--random", "-5")
