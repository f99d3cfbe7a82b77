"""A motion as an HTML document that plays it in 3D, offline: viser's own client with the recorded scene in it.

viser records through a server: one is up on the loopback address meanwhile, guarded as the page's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

if TYPE_CHECKING:
    from ...robot import Robot
    from ...spheres import SphereModel
    from .._view import View

HOST = "127.0.0.1"
FRAMES_A_SECOND = 24
REST = 0.8
"""Seconds at either end of a motion."""
_LIGHT = "darkMode:false"
_BY_TASTE = "darkMode:matchMedia('(prefers-color-scheme: dark)').matches"
"""As the reader's system has it, like the report around it."""


def there_and_back(
    start: Float[np.ndarray, " dof"], goal: Float[np.ndarray, " dof"], frames: int
) -> Float[np.ndarray, "frames dof"]:
    """Configurations on the segment from one to another and back, slow at the ends."""
    share = (1.0 - np.cos(np.linspace(0.0, 2.0 * np.pi, frames)))[:, None] / 2.0
    return start + share * (goal - start)


def playback_html(
    robot: Robot,
    cfgs: Float[np.ndarray, "frames dof"],
    spheres: SphereModel | None = None,
    *,
    opacity: float = 0.15,
) -> str:
    """The HTML document; it holds no name of the description, and asks for nothing.

    Args:
        robot: drawn by its visual meshes.
        cfgs: a picture each, at `FRAMES_A_SECOND`.
        spheres: drawn around it, faintly.
        opacity: of the spheres.
    """
    import viser

    from .._guard import guard, no_banner

    with no_banner():
        server: Any = viser.ViserServer(host=HOST, port=0, verbose=False)
        try:
            guard(server, HOST)
            return _recorded(server, robot, np.asarray(cfgs), spheres, opacity)
        finally:
            server.stop()
            server._thread_executor.shutdown(wait=True)


def _recorded(
    server: Any, robot: Robot, cfgs: np.ndarray, spheres: SphereModel | None, opacity: float
) -> str:
    from ..scene import RobotNodes, Stage, first_look

    poses, farthest = robot.link_poses(cfgs), int(np.abs(cfgs - cfgs[0]).max(axis=1).argmax())
    view = _view(robot, poses[0], spheres, opacity)
    nodes, camera = RobotNodes(server.scene), server.initial_camera
    Stage(server.scene).show(view)
    nodes.show(view)
    camera.look_at, camera.position, camera.fov = first_look(robot, poses[0], poses[farthest])
    recorder = server.get_scene_serializer()
    recorder.insert_sleep(REST)
    for k, pose in enumerate(poses):
        nodes.show(replace(view, poses=pose))
        recorder.insert_sleep(1.0 / FRAMES_A_SECOND + (REST if k == farthest else 0.0))
    text: str = recorder.as_html()
    assert _LIGHT in text  # or viser has another way by now
    return text.replace(_LIGHT, _BY_TASTE, 1)


def _view(robot: Robot, poses: np.ndarray, spheres: SphereModel | None, opacity: float) -> View:
    from .._view import View
    from ..state import Layer, LookState, ModelParts, PageState

    look = LookState(spheres=Layer(spheres is not None, opacity))
    return View(PageState(model=ModelParts(spheres), look=look), robot, poses)
