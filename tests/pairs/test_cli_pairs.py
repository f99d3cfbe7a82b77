"""The verb `pairs`."""

from __future__ import annotations

import json

from elbowroom.cli import main


def call(*arguments):
    return main(["pairs", *arguments])


def test_pairs_prints_reasons_and_writes_srdf_and_picture(capsys, tmp_path):
    srdf, png = tmp_path / "out.srdf", tmp_path / "out.png"
    code = call(
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
    assert call("teaarm", "--samples", "500", "--proof-boxes", "200", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["robot"] == "teaarm"
    assert sum(report["counts"].values()) == len(report["pairs"]) == 17 * 16 // 2
    assert {"link_a", "link_b", "reason", "text", "bound"} <= set(report["pairs"][0])
    assert {row["decided_by"] for row in report["pairs"]} == {"spheres", "meshes"}
    assert report["default_pose"]["source"] == "SRDF state 'default'"
