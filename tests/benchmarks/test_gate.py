"""The table of benchmarks and its gate, on rows made by hand: nothing is timed here."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import __main__ as bench
from benchmarks import _gate
from benchmarks._table import Report, Row, SuiteRun, by_key, markdown, read, write


def row(what: str = "speed", ours: float | None = 1.0, theirs: float | None = 4.0, **more) -> Row:
    return Row("suite", "panda", what, ours, "us", theirs, "Peer" if theirs else "", "1.0", **more)


def known(*rows: Row) -> dict[_gate.Key, _gate.Standard]:
    """Standards of three equal runs: noise is the floor."""
    return _gate.standards([rows] * 3)


def compare(rows: list[Row], standards: dict[_gate.Key, _gate.Standard]) -> _gate.Verdict:
    return _gate.compare(rows, standards, ["suite"])


def test_a_ratio_is_how_many_times_better_ours_is():
    assert row(ours=1.0, theirs=4.0).ratio == 4.0
    assert row(ours=4.0, theirs=1.0).ratio == 0.25
    assert row(ours=4.0, theirs=1.0, more_is_better=True).ratio == 4.0
    assert row(theirs=None).ratio is None
    assert row(ours=0.0, theirs=3.0).ratio is None
    assert row(ours=1.0, theirs=-2.0).ratio is None


def test_a_regression_is_found_and_named():
    verdict = compare([row(ours=2.0)], known(row(ours=1.0)))
    assert not verdict.passed
    assert len(verdict.fallen) == 1
    assert "panda" in verdict.fallen[0]
    assert "was 4" in verdict.fallen[0]


def test_noise_is_respected_and_no_more():
    standards = known(row(ours=1.0))
    least = 1.0 / (1.0 - _gate.FLOOR)
    assert compare([row(ours=0.999 * least)], standards).passed
    assert not compare([row(ours=1.001 * least)], standards).passed
    assert compare([row(ours=0.1)], standards).passed, "better is no regression"


def test_noise_is_the_spread_of_the_runs():
    runs = [[row(theirs=theirs)] for theirs in (4.0, 5.0, 3.0)]
    (standard,) = _gate.standards(runs).values()
    assert standard == _gate.Standard(4.0, 0.5)
    assert compare([row(theirs=2.1)], {row().key: standard}).passed
    assert not compare([row(theirs=1.9)], {row().key: standard}).passed
    (middle,) = _gate.middle_rows(runs)
    assert middle.ratio == 4.0


def test_missing_and_new_rows_are_said():
    verdict = compare([row("new one")], known(row("old one")))
    assert verdict.passed
    assert verdict.compared == 0
    assert "old one" in verdict.missing[0]
    assert "new one" in verdict.new[0]


def test_rows_of_suites_that_were_not_run_are_not_missing():
    assert _gate.compare([], known(row()), ["another"]).missing == ()


def test_absolute_figures_of_another_machine_are_not_compared():
    standards = known(row(), row("alone", theirs=None))
    slower = [row(ours=10.0, theirs=40.0), row("alone", ours=1e6, theirs=None)]
    verdict = compare(slower, standards)
    assert verdict.passed
    assert verdict.compared == 1


def test_rows_that_are_not_gated_are_left_out():
    assert known(row(gated=False)) == {}
    assert compare([row(ours=100.0, gated=False)], known(row())).compared == 0


def test_versions_do_not_make_another_row():
    assert compare([replace(row(), version="2.0")], known(row())).compared == 1


def test_two_rows_of_one_name_are_refused():
    with pytest.raises(ValueError, match="two rows"):
        by_key([row(), row()])


def test_the_table_comes_back_from_json_and_says_everything(tmp_path: Path):
    rows = (row(noise=0.2), row("a | b", ours=8.0), row("count", ours=3, theirs=None))
    absent = Row("suite", "panda", "not measured", None, "", peer="Absent", note="absent is not installed")
    runs = (SuiteRun("suite", 1.5), SuiteRun("other", 0.1, "failed with exit code 1 after 0 rows"))
    report = Report(
        (*rows, absent), runs, {"processor": "X", "Python": "3"}, {"Peer": "1.0"}, {"python x": "y"}
    )
    page, data = write(report, tmp_path / "new")
    assert read(data) == report
    text = page.read_text()
    assert "| 4 | 20% |" in text
    assert r"a \| b" in text
    assert "absent is not installed" in text
    assert "Rows where the peer is better**: 1 of 2" in text
    assert "other: failed with exit code 1" in text
    assert "`python x`: y" in text
    assert not any(line.startswith("#") for line in markdown(report)), "it is included below a heading"


def test_a_baseline_holds_ratios_alone(tmp_path: Path):
    file = tmp_path / "baseline.json"
    _gate.write_baseline(Report((row(),), (), {}, {}), known(row(), row("alone", theirs=None)), file)
    assert _gate.read_baseline(file) == known(row())
    (entry,) = json.loads(file.read_text())["rows"]
    assert set(entry) == {"suite", "case", "what", "peer", "ratio", "noise"}


SUITE = """
from benchmarks._table import Row
def rows():
    yield Row("fake", "panda", "speed", {ours}, "us", 4.0, "Peer", "1.0")
    {then}
"""


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Makes `benchmarks.fake` from text, and runs it as `python -m benchmarks fake` would, gate and all."""
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join([str(tmp_path), str(bench.FOLDER.parent)]), prepend=os.pathsep
    )
    # A cached .pyc is matched by its source's second and size, and two suites written here may share both.
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    (tmp_path / "sitecustomize.py").write_text(
        f"import benchmarks; benchmarks.__path__.append({str(tmp_path)!r})\n"
    )
    monkeypatch.setattr(
        bench, "docstrings", lambda: {"fake": ("A fake.", True), "long": ("A long one.", False)}
    )
    monkeypatch.setattr(_gate, "BASELINE", tmp_path / "baseline.json")
    monkeypatch.setattr(bench, "DOCS", tmp_path / "docs" / "table.md")

    def run(*words: str, ours: float = 1.0, then: str = "") -> tuple[int, Report | None]:
        (tmp_path / "fake.py").write_text(SUITE.format(ours=ours, then=then))
        code = bench.main([*words, "--out", str(tmp_path / "out")])
        file = tmp_path / "out" / "bench.json"
        return code, read(file) if file.is_file() else None

    return run


def test_the_gate_end_to_end(fake, capsys: pytest.CaptureFixture[str]):
    assert fake("--gate")[0] == 2, "no baseline yet"
    code, report = fake("--baseline", "--docs")
    assert code == 0
    assert report.rows[0].noise == _gate.FLOOR
    assert bench.DOCS.read_text().count("| panda | speed |") == 1
    assert fake("--gate")[0] == 0
    capsys.readouterr()
    assert fake("--gate", ours=2.0)[0] == 1
    assert "FELL: fake: panda, speed, beside Peer: 2, was 4" in capsys.readouterr().out


def test_a_baseline_of_another_processor_lets_more_pass_and_says_so(fake, capsys: pytest.CaptureFixture[str]):
    fake("--baseline")
    content = json.loads(_gate.BASELINE.read_text())
    content["machine"]["processor"] = "abacus"
    _gate.BASELINE.write_text(json.dumps(content))
    capsys.readouterr()
    assert fake("--gate", ours=2.0)[0] == 0
    assert "the baseline is of another processor (abacus;" in capsys.readouterr().out
    assert fake("--gate", ours=3.0)[0] == 1


def test_a_suite_that_fails_leaves_its_rows_and_exit_code_1(fake):
    code, report = fake(then="raise RuntimeError('broken')")
    assert code == 1
    assert len(report.rows) == 1
    assert "after 1 rows" in report.failures[0].failure


def test_a_library_that_is_not_installed_is_said_and_no_fault(fake):
    code, report = fake(then="import no_such_peer")
    assert code == 0
    assert report.failures[0].failure == "no_such_peer is not installed"
    assert report.failures[0].not_installed
    assert fake(then="import elbowroom.no_such_module")[0] == 1, "ours is"


def test_a_suite_that_is_interrupted_keeps_what_it_measured(fake):
    code, report = fake(then="import os, signal; os.kill(os.getpid(), signal.SIGINT)")
    assert code == 1
    assert len(report.rows) == 1


def test_unknown_and_long_suites_are_refused_with_words(fake, capsys: pytest.CaptureFixture[str]):
    assert fake("nothing")[0] == 2
    assert "there are: fake" in capsys.readouterr().err
    assert fake("long")[0] == 2
    assert "python -m benchmarks.long" in capsys.readouterr().err
    assert fake("fake", "--docs")[0] == 2


def test_every_suite_is_in_the_table_or_a_long_check():
    for name, (text, quick) in bench.docstrings().items():
        assert text, name
        assert quick or f"python -m benchmarks.{name}" in bench.long_checks()
