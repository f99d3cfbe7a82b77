"""The verb `pairs`.

Looks inside: the verb's table of differences is compared with the matrices it is made from.
"""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from elbowroom.cli import main
from elbowroom.cli._pairs import differences
from elbowroom.pairs import PairEvidence, PairReason


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


def test_the_difference_to_an_srdf_is_told_in_whole_sentences(capsys):
    """ur5's SRDF gives no reasons; "SRDF disabled, ; checked" was printed."""
    assert call("ur5", "--samples", "500", "--method", "centerline", "--diff", "--json") == 0
    changes = json.loads(capsys.readouterr().out)["differs_from_srdf"]
    kinds = {(row["link_a"], row["link_b"]): row for row in changes}
    really = kinds["base_link", "upper_arm_link"]
    assert really["kind"] == "collides"
    assert really["closest"] == 0.0
    assert len(really["witness"]) == 6
    assert "the SRDF disables the pair without a reason, but their meshes collide" in really["text"]
    near = kinds["wrist_1_link", "wrist_3_link"]
    assert near["kind"] == "within_buffer"
    assert 0.0134 < near["closest"] < 0.0135
    assert "they come within 13.4 mm at the configuration [" in near["text"]
    assert kinds["ee_link", "wrist_2_link"]["kind"] == "ignored"
    for row in changes:
        assert row["text"].startswith(f"{row['link_a']} and {row['link_b']}: the SRDF ")
        assert row["text"].endswith(".")
        assert ", ;" not in row["text"]
    order = [row["kind"] for row in changes]
    assert order == sorted(order, key=["collides", "near", "not_proved", "ignored", "within_buffer"].index)
    assert call("ur5", "--samples", "500", "--method", "centerline", "--diff") == 0
    text = capsys.readouterr().out
    assert "really can collide; checked here:" in text
    assert "6 pairs differ from the SRDF" in text


@pytest.mark.parametrize(
    ("facts", "kind", "said"),
    [
        ({"mesh_hits": 3, "mesh_samples": 256}, "collides", "collide in 3 of 256 samples."),
        ({"closest": 0.0, "witness": (1.0,)}, "collides", "collide at the configuration [1]."),
        ({"closest": 0.01, "buffer": 0.02, "witness": (1.0,)}, "near", "come within 10.0 mm at the configuration [1],"),
        ({"closest": 0.05, "buffer": 0.02}, "not_proved", "is 50.0 mm, more than the buffer of 20 mm, but they have not"),
    ],
)  # fmt: skip
def test_what_a_difference_to_an_srdf_rests_on(facts, kind, said):
    pair = ("a", "b")
    evidence = PairEvidence(PairReason.CHECKED, "checked", **facts)
    robot = SimpleNamespace(disabled_pairs={pair: "Never"})
    [change] = differences(robot, SimpleNamespace(entries={pair: evidence}))
    assert change.kind == kind
    assert said in change.text
    assert "  " not in change.text
