"""The Robot panel: which robot, which of its models are shown, where its joints are, poses, the picked link."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._escape import escape
from ..scene import RobotNodes, Stage
from ..state import (
    ChooseSphere,
    DropPose,
    Event,
    Fade,
    LayerName,
    PickLink,
    RobotKey,
    SavePose,
    SetCfg,
    ShowLayer,
)
from ._joints import Joints
from ._widgets import Bound, Shown, on_click

if TYPE_CHECKING:
    from ...robot import Robot
    from .._view import View
    from ._desk import Desk

LAYERS: tuple[tuple[LayerName, str], ...] = (
    ("visual", "Visual"),
    ("collision", "Collision"),
    ("spheres", "Spheres"),
)
Pose = tuple[float, ...]
CHOOSE = "choose ..."
UNSEEN = 3
"""Links that are named."""
SENTENCE = 400
"""Characters of a note on shapes that are shown: all of it."""


class RobotPanel:
    """See the module."""

    title = "Robot"

    def __init__(self, gui: Any, scene: Any, desk: Desk) -> None:
        self._desk = desk
        self._stage = Stage(scene)
        self._nodes = RobotNodes(
            scene,
            lambda link: desk.send(PickLink(link)),
            lambda link, number: desk.send(ChooseSphere((link, number))),
        )
        self._names = _names()
        source = gui.add_dropdown("Robot", (CHOOSE, *self._names), initial_value=CHOOSE)
        self._source = Bound[str](source, desk, self._open)
        self._listed = Shown[str](self._list)
        self._shapes = gui.add_markdown("", visible=False)
        self._told = Shown[str](self._tell_shapes)
        self._unseen = _Unseen(gui, desk)
        self._layers = _Layers(gui, desk)
        self._poses = _Poses(gui, desk)
        self._link = gui.add_markdown("Click a link to see what it is.")
        self._picked = Shown[tuple[Any, ...]](self._show_link)
        self._joints = Joints(gui, desk)

    def _open(self, name: str) -> None:
        if name in self._names:
            self._desk.open(RobotKey(name))

    def _list(self, source: str) -> None:
        known = self._names if source in self._names else (source, *self._names)
        self._source.handle.options = known

    def show(self, view: View) -> None:
        """Brings widgets and scene up to date."""
        source = CHOOSE if view.state.robot.key is None else view.state.robot.key.source
        self._listed(source)
        self._source.show(source, view)
        self._stage.show(view)
        self._nodes.show(view)
        self._told("" if view.robot is None else "\n\n".join(shapes_lines(view.robot)))
        self._unseen.show(view)
        self._layers.show(view)
        self._poses.show(view)
        self._joints.show(view)
        self._picked((view.robot, view.state.look.link))

    def _tell_shapes(self, text: str) -> None:
        self._shapes.content, self._shapes.visible = text, bool(text)

    def _show_link(self, shown: tuple[Robot | None, str | None]) -> None:
        self._link.content = link_text(*shown)


def link_text(robot: Robot | None, link: str | None) -> str:
    """What is known of a link, as Markdown."""
    if robot is None or link is None or link not in robot.link_names:
        return "Click a link to see what it is."
    joint = robot.parent_joint(link)
    how = (
        "the root"
        if joint is None
        else f"moved by {escape(joint.name)} ({joint.type}) in {escape(joint.parent)}"
    )
    mesh = robot.link_mesh(link)
    what = "no collision geometry" if mesh is None else f"{len(mesh.faces)} triangles"
    return f"**{escape(link)}**: {how}; {what}"


def shapes_lines(robot: Robot) -> list[str]:
    """What the shapes of bundled robots are, as Markdown; it stands wherever the page says that something is proved."""
    return [f"Shapes of {escape(text, SENTENCE)}." for text in robot.modelled]


def _names() -> tuple[str, ...]:
    """Robots that can be opened by name without a network. No paths: the page may be served to other machines."""
    from ...robot import catalogue

    return tuple(entry.name for entry in catalogue() if entry.origin != "robot_descriptions")


class _Unseen:
    """Links with visual geometry alone, which no check sees, and the click that takes it."""

    def __init__(self, gui: Any, desk: Desk) -> None:
        self._desk = desk
        self._text = gui.add_markdown("", visible=False)
        self._take = gui.add_button("Use the visuals", visible=False)
        on_click(self._take, self._press)
        self._told = Shown[tuple[str, bool]](self._tell)

    def _press(self) -> None:
        key = self._desk.view.state.robot.key
        if key is not None:
            self._desk.open(replace(key, use_visual=True))

    def show(self, view: View) -> None:
        """Speaks up where there is something to say."""
        key = view.state.robot.key
        text = "" if view.robot is None else unseen_text(view.robot)
        self._told((text, bool(text) and key is not None and not key.given))

    def _tell(self, shown: tuple[str, bool]) -> None:
        text, offered = shown
        self._text.content, self._text.visible, self._take.visible = text, bool(text), offered


def unseen_text(robot: Robot) -> str:
    """Which links no check sees, as Markdown; "" where checks see all that is shown."""
    unseen = robot.visual_only
    if not unseen:
        return ""
    more = f" and {len(unseen) - UNSEEN} more" if len(unseen) > UNSEEN else ""
    names = ", ".join(map(escape, unseen[:UNSEEN])) + more
    which = (
        "**No link** has" if not robot.shapes else f"**{len(unseen)} of {len(robot.link_names)} links** lack"
    )
    return f"⚠ {which} collision geometry; they have visuals, which no check sees: {names}"


class _Layers:
    """Which models of the robot are shown, and how faintly."""

    def __init__(self, gui: Any, desk: Desk) -> None:
        self._shown: dict[str, Bound[bool]] = {}
        self._faded: dict[str, Bound[float]] = {}
        with gui.add_folder("Models"):
            for layer, label in LAYERS:
                box = gui.add_checkbox(label, False)
                slider = gui.add_slider(f"{label} opacity", 0.05, 1.0, 0.05, 1.0)
                self._shown[layer] = Bound(box, desk, lambda shown, name=layer: ShowLayer(name, shown))
                self._faded[layer] = Bound(slider, desk, lambda opacity, name=layer: Fade(name, opacity))

    def show(self, view: View) -> None:
        """Follows the state."""
        for layer, box in self._shown.items():
            look = getattr(view.state.look, layer)
            box.show(look.shown, view)
            self._faded[layer].show(round(look.opacity, 2), view)
            if self._faded[layer].handle.visible != look.shown:
                self._faded[layer].handle.visible = look.shown


class _Poses:
    """Named, saved and random poses."""

    def __init__(self, gui: Any, desk: Desk) -> None:
        self._desk = desk
        self._known: dict[str, tuple[float, ...]] = {}
        with gui.add_folder("Poses"):
            self._choice = gui.add_dropdown("Go to", (CHOOSE,), initial_value=CHOOSE)
            Bound[str](self._choice, desk, self._go)
            acts = gui.add_button_group("Pose", ("Random", "Save", "Remove"))
            self._name = gui.add_text("Name", "", hint="Of the pose to save or to remove")
        on_click(acts, lambda: self._press(acts.value))
        self._listed = Shown[tuple[Any, ...]](self._list)

    def _go(self, name: str) -> Event | None:
        return SetCfg(self._known[name]) if name in self._known else None

    def _press(self, act: str) -> None:
        robot, name = self._desk.view.robot, self._name.value
        if robot is None:
            return
        if act == "Random":
            cfg = robot.random_cfgs(1, seed=secrets.randbits(32))[0]
            self._desk.send(SetCfg(tuple(cfg.tolist())))
        else:
            self._desk.send(SavePose(name) if act == "Save" else DropPose(name))

    def show(self, view: View) -> None:
        """Lists the poses of the robot and the user's."""
        default = view.default_cfg
        start = () if default is None else tuple(default.tolist())
        self._listed((view.robot, start, view.state.robot.saved))
        if view.settled and self._choice.value != CHOOSE:
            self._choice.value = CHOOSE

    def _list(self, shown: tuple[Robot | None, Pose, tuple[tuple[str, Pose], ...]]) -> None:
        robot, default, saved = shown
        known: dict[str, Pose] = {}
        if robot is not None:
            named = {"default": default, "zero": np.zeros(robot.dof), **robot.named_cfgs}
            known = {name: tuple(np.asarray(cfg).tolist()) for name, cfg in named.items()}
        self._known = {**known, **dict(saved)}
        self._choice.options = (CHOOSE, *self._known)
