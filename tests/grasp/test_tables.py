"""Tables: accuracy, and a cache that corruption and company do not harm."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

import numpy as np
import pytest

from elbowroom.grasp import GraspPlanner, Hand, load_hand
from elbowroom.grasp._tables import ExactFingers, TableFingers


def worst_error(hand: Hand, tables: TableFingers, n: int = 400) -> float:
    exact = ExactFingers(hand)
    low = [actuator.lower for actuator in hand.actuators]
    high = [actuator.upper for actuator in hand.actuators]
    worst = 0.0
    for ctrl in np.random.default_rng(5).uniform(low, high, (n, len(low))):
        for name in hand.finger_names:
            worst = max(worst, float(np.linalg.norm(tables.tip(name, ctrl) - exact.tip(name, ctrl))))
            worst = max(worst, float(np.linalg.norm(tables.knuckle(name, ctrl) - exact.knuckle(name, ctrl))))
    return worst


def test_tables_are_within_a_tenth_of_a_millimetre(hand: Hand) -> None:
    worst = worst_error(hand, TableFingers(hand))
    assert 0.0 < worst < 2e-5  # linear interpolation, not exact kinematics; 5 times better than asked for


def test_fingers_with_many_actuators_are_exact(allegro: Hand) -> None:
    assert worst_error(allegro, TableFingers(allegro), 20) == 0.0


def files(folder: Path) -> list[Path]:
    return sorted((folder / "grasp").glob("*.npz"))


@pytest.mark.parametrize("damage", ["garbage", "truncated", "foreign", "nan"])
def test_damaged_tables_are_made_anew(
    hand: Hand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    monkeypatch.setenv("ELBOWROOM_CACHE", str(tmp_path))
    TableFingers(hand)
    (path,) = files(tmp_path)
    if damage == "garbage":
        path.write_bytes(b"not an archive")
    elif damage == "truncated":
        path.write_bytes(path.read_bytes()[:1000])
    elif damage == "foreign":
        np.savez(path, thumb=np.zeros((3, 3)), index=np.array(["text"]))
    else:
        with np.load(path) as file:
            arrays = {name: file[name].copy() for name in file.files}
        arrays["index"][7] = np.nan
        np.savez(path, **arrays)
    assert worst_error(hand, TableFingers(hand), 50) < 2e-5
    assert worst_error(hand, TableFingers(hand), 50) < 2e-5  # and what is stored now is right


@pytest.mark.long
@pytest.mark.parametrize("damage", ["garbage", "foreign"])
def test_damaged_branches_are_made_anew(
    hand: Hand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    monkeypatch.setenv("ELBOWROOM_CACHE", str(tmp_path))
    before = GraspPlanner(hand).line(0.03).ctrl
    (path,) = files(tmp_path)
    if damage == "garbage":
        path.write_bytes(b"PK\x03\x04 broken")
    else:
        np.savez(path, widths=np.zeros(4))
    np.testing.assert_array_equal(GraspPlanner(hand).line(0.03).ctrl, before)
    with np.load(path) as file:
        assert file["widths"].shape == (401,)


def test_other_revisions_have_other_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELBOWROOM_CACHE", str(tmp_path))
    for revision in ("spec", "newest"):
        TableFingers(load_hand("rh56", revision=revision))
    assert len(files(tmp_path)) == 2


def test_rebuild_replaces_a_valid_file(hand: Hand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELBOWROOM_CACHE", str(tmp_path))
    TableFingers(hand)
    (path,) = files(tmp_path)
    with np.load(path) as file:
        arrays = {name: file[name].copy() for name in file.files}
    arrays["index"] = arrays["index"] + 1.0  # plausible and wrong
    np.savez(path, **arrays)
    assert worst_error(hand, TableFingers(hand), 20) > 0.5
    assert worst_error(hand, TableFingers(hand, rebuild=True), 20) < 2e-5


def _build_and_measure(folder: str) -> float:
    os.environ["ELBOWROOM_CACHE"] = folder
    hand = load_hand("rh56")
    worst = 0.0
    for _ in range(3):
        worst = max(worst, worst_error(hand, TableFingers(hand, rebuild=True), 10))
    return worst


@pytest.mark.long
def test_two_processes_may_build_at_once(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        errors = pool.map(_build_and_measure, [str(tmp_path)] * 2)
    assert max(errors) < 2e-5
    assert len(files(tmp_path)) == 1
    assert not list((tmp_path / "grasp").glob("*.part"))


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(
    hand: Hand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("a file, not a folder")
    monkeypatch.setenv("ELBOWROOM_CACHE", str(blocked))
    assert worst_error(hand, TableFingers(hand), 10) < 2e-5
