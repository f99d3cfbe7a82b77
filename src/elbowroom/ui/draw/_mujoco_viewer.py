"""MuJoCo's viewer on a grasp: by itself, playing a motion, or beside the window that chooses the grasp."""

from __future__ import annotations

import importlib
import threading
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import MissingExtraError
from ...grasp import Grasp, GraspMotion
from ...grasp.internal import grasped_object
from ._mujoco import aim, floating_hand_spec, has_display, set_grasp, set_posture

if TYPE_CHECKING:
    from ._grasp_window import GraspWindow

TICK = 0.02
"""Seconds between pictures of the viewer."""
CLOSING = 5.0
"""Seconds that the viewer has to close."""


class GraspViewer:
    """An open viewer on the floating hand; the caller must call `tick` every `TICK` seconds.

    Args:
        grasp: of a bundled hand; shown first.
        height: world height of the grasp, m.

    Raises:
        MissingExtraError: there is no display.
        InputError: the hand has no bundled MuJoCo model.
    """

    def __init__(self, grasp: Grasp, height: float) -> None:
        if not has_display():
            raise MissingExtraError(
                "MuJoCo's viewer needs a display; render_grasp makes a picture without one"
            )
        mujoco, viewer = importlib.import_module("mujoco"), importlib.import_module("mujoco.viewer")
        self._hand = grasp.hand
        self._model = floating_hand_spec(grasp.hand, grasped_object(grasp, height)).compile()
        self._data = mujoco.MjData(self._model)
        set_grasp(self._model, self._data, grasp, height)
        self._others = set(threading.enumerate())
        self._stack = ExitStack()
        self._viewer: Any = self._stack.enter_context(
            viewer.launch_passive(self._model, self._data, show_left_ui=False, show_right_ui=False)
        )
        aim(self._viewer.cam, grasp, height)

    @property
    def running(self) -> bool:
        """Whether the user has not closed it."""
        return self._viewer.is_running()

    def show(self, grasp: Grasp, height: float) -> None:
        """Puts hand and object into another grasp of the same hand."""
        with self._viewer.lock():
            set_grasp(self._model, self._data, grasp, height)

    def show_row(self, motion: GraspMotion, row: int) -> None:
        """Puts the hand into one row of a motion."""
        posture = motion.ctrl[row], motion.Ts_world_base[row], float(motion.tilt[row])
        set_posture(self._model, self._data, self._hand, *posture)

    def tick(self) -> bool:
        """Draws what has changed; False once the user has closed the viewer."""
        if self.running:
            self._viewer.sync()
        return self.running

    def close(self) -> None:
        """Closes it and waits for its thread: a process that ends before that may crash."""
        self._stack.close()
        for thread in set(threading.enumerate()) - self._others:
            if thread is not threading.current_thread():
                thread.join(CLOSING)


def show_grasp(
    grasp: Grasp, height: float = 0.1, motion: GraspMotion | None = None, window: GraspWindow | None = None
) -> None:
    """Opens MuJoCo's viewer on a grasp, or plays a motion that ends in it; returns when it is closed.

    Args:
        grasp: of a bundled hand.
        height: world height of the grasp, m.
        motion: played once, until another grasp is chosen.
        window: beside the viewer; its controls move the hand and size the object. Closing either closes both.

    Raises:
        MissingExtraError: there is no display.
    """
    viewer = GraspViewer(grasp, height)
    chosen: list[Grasp] = []
    if window is not None:
        window.changed.append(chosen.append)
    start = time.monotonic()
    try:
        while viewer.running:
            if chosen:
                viewer.show(chosen[-1], height if window is None else window.height)
                motion = None
                chosen.clear()
            elif motion is not None:
                row = int(np.searchsorted(motion.times, time.monotonic() - start))
                viewer.show_row(motion, min(row, len(motion.times) - 1))
            viewer.tick()
            if window is None:
                time.sleep(TICK)
            elif not window.tend(TICK):
                break
    finally:
        viewer.close()
