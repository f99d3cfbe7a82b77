"""Examples run headless and show what they say."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import matplotlib.image
import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def load_example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_examples_are_short(path):
    assert len(path.read_text().splitlines()) < 120


def test_two_hands_cross_and_keep_clear(tmp_path, capsys):
    example, path = load_example("ik_two_hands"), tmp_path / "two_hands.png"
    tracked, blind = example.main(["--seconds", "2.6", "--fast", "--out", str(path)])
    assert blind < -5.0  # it would collide, deep, without avoidance
    assert tracked >= 1e3 * example.BUFFER
    assert "least clearance" in capsys.readouterr().out
    assert matplotlib.image.imread(path).shape[1] > 500


def test_an_arm_is_led_around_a_board(tmp_path, capsys):
    example, path = load_example("plan_motion"), tmp_path / "motion.csv"
    there, back, inside = example.main(["--out", str(path)])
    assert there.method == "sampler"
    assert back.method == "roadmap"
    assert there.proof.margin >= example.BUFFER
    assert inside.reason == "goal"
    assert len(path.read_text().splitlines()) == len(there.path) + 1
    assert "board overlap by" in capsys.readouterr().out
