"""Long waits say what is being done; short ones say nothing."""

from __future__ import annotations

import logging

from elbowroom import _progress


def test_one_long_wait_is_announced_and_a_short_one_is_not(caplog, monkeypatch):
    import time

    monkeypatch.setattr(_progress, "PATIENCE", 0.2)
    with caplog.at_level(logging.INFO, "elbowroom.progress"):
        with _progress.waiting("short"):
            pass
        with _progress.waiting("long"):
            time.sleep(1.0)
    assert caplog.messages == ["long ..."]
