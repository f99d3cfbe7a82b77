"""Hands as fixtures, and the page without a browser."""

from __future__ import annotations

import pytest
import viser

from elbowroom.ui._guard import no_banner
from tests.hands import allegro, hand, smooth  # noqa: F401
from tests.ui.page_tools import TestDesk, rails_model


@pytest.fixture(scope="session")
def rails(tmp_path_factory):
    """The model of boxes on rails."""
    return rails_model(tmp_path_factory.mktemp("rails"))


@pytest.fixture(scope="session")
def viser_server():
    with no_banner():
        server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
        yield server
        server.stop()


@pytest.fixture
def desk(rails):
    return TestDesk(rails)


@pytest.fixture
def stage(viser_server, desk):
    """Makes a panel with a real gui and scene that nobody looks at: `stage(RobotPanel) -> (panel, gui, scene)`."""
    viser_server.gui.reset()
    viser_server.scene.reset()

    def make(kind):
        panel = kind(viser_server.gui, viser_server.scene, desk)
        desk.panels.append(panel)
        panel.show(desk.view)
        return panel, viser_server.gui, viser_server.scene

    return make
