"""Pictures of robots, pair matrices, targets and grasps, drawn without a display.

Windows are opened by `open_grasp_window` and `show_grasp` alone.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._audit import plot_audit as plot_audit
    from ._grasp import HandPiece as HandPiece
    from ._grasp import hand_bones as hand_bones
    from ._grasp import hand_pieces as hand_pieces
    from ._grasp import plot_grasp as plot_grasp
    from ._grasp import plot_sweep as plot_sweep
    from ._grasp_window import GraspWindow as GraspWindow
    from ._grasp_window import open_grasp_window as open_grasp_window
    from ._grasp_window import require_window as require_window
    from ._grasp_window import run_window as run_window
    from ._ik import ik_picture as ik_picture
    from ._mujoco import floating_hand_spec as floating_hand_spec
    from ._mujoco import has_display as has_display
    from ._mujoco import render_grasp as render_grasp
    from ._mujoco_viewer import show_grasp as show_grasp
    from ._pairs import plot_pairs as plot_pairs
    from ._picture import Camera as Camera
    from ._picture import Picture as Picture
    from ._picture import robot_picture as robot_picture
    from ._plan import motion_picture as motion_picture
    from ._plan import plot_plan as plot_plan
    from ._reach import plot_reach as plot_reach
    from ._save import save_figure as save_figure
    from ._save import save_png as save_png
    from ._world import add_world as add_world

_HOME = {
    "plot_audit": "_audit",
    "Camera": "_picture",
    "Picture": "_picture",
    "robot_picture": "_picture",
    "save_png": "_save",
    "add_world": "_world",
    "ik_picture": "_ik",
    "plot_pairs": "_pairs",
    "motion_picture": "_plan",
    "plot_plan": "_plan",
    "plot_reach": "_reach",
    "plot_grasp": "_grasp",
    "plot_sweep": "_grasp",
    "GraspWindow": "_grasp_window",
    "open_grasp_window": "_grasp_window",
    "require_window": "_grasp_window",
    "run_window": "_grasp_window",
    "save_figure": "_save",
    "HandPiece": "_grasp",
    "hand_pieces": "_grasp",
    "hand_bones": "_grasp",
    "floating_hand_spec": "_mujoco",
    "render_grasp": "_mujoco",
    "has_display": "_mujoco",
    "show_grasp": "_mujoco_viewer",
}
"""Name -> module; each loads with what it draws when first used."""

__all__ = [
    "plot_audit",
    "Camera",
    "Picture",
    "robot_picture",
    "save_png",
    "add_world",
    "ik_picture",
    "plot_pairs",
    "motion_picture",
    "plot_plan",
    "plot_reach",
    "plot_grasp",
    "plot_sweep",
    "GraspWindow",
    "open_grasp_window",
    "require_window",
    "run_window",
    "save_figure",
    "HandPiece",
    "hand_pieces",
    "hand_bones",
    "floating_hand_spec",
    "render_grasp",
    "has_display",
    "show_grasp",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
