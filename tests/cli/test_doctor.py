"""`elbowroom doctor`: what a bug report needs, what is missing, and what is slow here, on one screen."""

from __future__ import annotations

import json

import pytest

from elbowroom.cli import _doctor, main
from elbowroom.cli._doctor import FIGURES, slower_by, speeds

SCREEN = 40
"""Lines."""


@pytest.fixture
def measured(monkeypatch):
    """Stands for a measurement twice as fast as the reference, but for plans, which are ten times slower."""
    figures = {name: 2 * value if unit == "/s" else value / 2 for name, (_, unit, value) in FIGURES.items()}
    figures["plan"] = 10 * FIGURES["plan"][2]
    told = {
        "figures": figures,
        "ended": "",
        "reference_machine": _doctor.REFERENCE_MACHINE,
        "reference_how": _doctor.REFERENCE_HOW,
    }
    monkeypatch.setattr(_doctor, "speeds", lambda: told)
    return told


def facts(capsys, *words):
    assert main(["doctor", "--json", *words]) == 0
    return json.loads(capsys.readouterr().out)


def test_what_a_bug_report_needs(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("ELBOWROOM_CACHE", str(tmp_path))
    monkeypatch.setenv("ROS_PACKAGE_PATH", "/opt/ros")
    (tmp_path / "fit.npz").write_bytes(bytes(1_500_000))
    report = facts(capsys, "--no-speed")
    assert report["cache"] == str(tmp_path)
    assert report["cache_mb"] == 1.5
    assert report["variables"]["ROS_PACKAGE_PATH"] == "/opt/ros"
    assert report["robots"]["bundled"] == 3
    assert report["cores"] >= 1
    assert report["core"] in ("v2", "v3", "generic")
    for name in ("numpy", "jaxlib"):
        assert report["versions"][name]
    assert "speed" not in report


def test_it_fits_a_screen(capsys, measured):
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    lines = sum(1 + len(line) // 100 for line in out.splitlines())  # as a terminal of 100 columns wraps
    assert lines <= SCREEN
    assert _doctor.REFERENCE_MACHINE in out
    assert _doctor.REFERENCE_HOW in out
    for text, _, _ in FIGURES.values():
        assert text in out


def test_slow_is_what_is_slower_than_the_reference(capsys, measured):
    slow = [text for text in facts(capsys)["slow"] if "times as long as" in text]
    assert slow == [f"{FIGURES['plan'][0]}: takes 10.0 times as long as on the reference machine"]
    assert slower_by("verdicts_per_second", FIGURES["verdicts_per_second"][2] / 4) == 4.0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"load": 9.0, "cores": 2}, "the machine is busy (load 9 on 2 cores)"),
        ({"cores": 1}, "one core"),
        ({"core": "v2"}, "without AVX2"),
        ({"cache_writable": False}, "cannot be written"),
    ],
)
def test_reasons_are_named(capsys, monkeypatch, measured, change, said):
    quiet = {
        "load": 0.0,
        "cores": 8,
        "core": "v3",
        "cache_writable": True,
    }
    report = _doctor.examine() | quiet
    monkeypatch.setattr(_doctor, "examine", lambda: dict(report))
    assert not [text for text in facts(capsys)["slow"] if "times as long as" not in text]
    monkeypatch.setattr(_doctor, "examine", lambda: report | change)
    assert said in " ".join(facts(capsys)["slow"])


def test_a_missing_extra_comes_with_its_line(capsys, monkeypatch):
    version = _doctor._version  # what is installed here cannot be taken away for a test
    monkeypatch.setattr(
        _doctor, "_version", lambda name: None if name == "example-robot-data" else version(name)
    )
    assert main(["doctor", "--no-speed"]) == 0
    out = capsys.readouterr().out
    assert "no example-robot-data (about fifty real robots by name); pip install 'elbowroom[robots]'" in out


def test_nothing_is_measured_where_something_required_is_missing(capsys, monkeypatch):
    version = _doctor._version
    monkeypatch.setattr(_doctor, "_version", lambda name: None if name == "trimesh" else version(name))
    monkeypatch.setattr(_doctor, "speeds", lambda: pytest.fail("measured"))
    assert main(["doctor"]) == 1
    assert "missing: trimesh; pip install" in capsys.readouterr().out


def test_a_measurement_ends_in_time_and_says_so():
    told = speeds(limit=0.05)
    assert len(told["figures"]) < len(FIGURES)
    assert "not everything was measured within 0.05 s" in told["ended"]


def test_figures_are_measured():
    told = speeds(limit=600.0)  # spheres may have to be fitted first
    assert told["ended"] == ""
    assert set(told["figures"]) == set(FIGURES)
    assert all(value > 0 for value in told["figures"].values())
    assert told["figures"]["verdict"] < 1e6 * told["figures"]["model"], (
        "a verdict is faster than making the model"
    )


def test_a_measurement_that_fails_says_why(monkeypatch):
    monkeypatch.setattr(_doctor, "CODE", "print('import', 0.5)\nraise RuntimeError('no robot')")
    told = speeds()
    assert told["figures"] == {"import": 0.5}
    assert told["ended"] == "RuntimeError: no robot"
