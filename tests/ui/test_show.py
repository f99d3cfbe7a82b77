"""`elbowroom.show`: a frame in a notebook, a running server elsewhere."""

from __future__ import annotations

import sys
import types
import urllib.request
import webbrowser

import pytest

import elbowroom
from elbowroom.errors import InputError


@pytest.fixture
def no_window(monkeypatch):
    """Fails when a browser is opened."""
    monkeypatch.setattr(webbrowser, "open", lambda url: pytest.fail("a browser was opened"))


def test_outside_a_notebook_a_server_runs_and_nothing_opens(rails, no_window):
    with elbowroom.show(rails) as server:
        assert server.local
        assert server.url in repr(server)
        with urllib.request.urlopen(server.url) as answer:
            assert answer.status == 200
    assert "stopped" in repr(server)


def test_opens_a_browser_when_asked(rails, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    with elbowroom.show(rails.robot, open_browser=True) as server:
        assert opened == [server.url]


@pytest.mark.parametrize("kernel", [object(), None])
def test_a_notebook_gets_a_frame(rails, no_window, monkeypatch, kernel):
    shown = []
    display = types.ModuleType("IPython.display")
    display.IFrame = lambda url, width, height: (url, width, height)
    display.display = shown.append
    ipython = types.ModuleType("IPython")
    ipython.get_ipython, ipython.display = (lambda: types.SimpleNamespace(kernel=kernel)), display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    with elbowroom.show(rails, height=500) as server:
        assert shown == ([(server.url, "100%", 500)] if kernel is not None else [])


def test_nonsense_is_refused():
    with pytest.raises(InputError):
        elbowroom.show("teaarm", height=3)
