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
    Move,
    PickLink,
    Refresh,
    RobotKey,
    SavePose,
    SetCfg,
    ShowLayer,
)
from ._widgets import Bound, Shown, on_click

if TYPE_CHECKING:
    from ...pairs import PairMatrix
    from ...robot import Joint, Robot
    from .._view import View
    from ._widgets import Desk

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

    title = "Pose"

    def __init__(self, gui: Any, scene: Any, desk: Desk) -> None:
        self._desk = desk
        self._stage = Stage(scene, lambda: desk.send(Refresh()))
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
        self._link = gui.add_markdown("Click a link to see its pairs.")
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
        self._picked((view.robot, view.state.look.link, None if view.model is None else view.model.pairs))

    def _tell_shapes(self, text: str) -> None:
        self._shapes.content, self._shapes.visible = text, bool(text)

    def _show_link(self, shown: tuple[Robot | None, str | None, PairMatrix | None]) -> None:
        self._link.content = link_text(*shown)


def link_text(robot: Robot | None, link: str | None, pairs: PairMatrix | None = None) -> str:
    """What is known of a link and of its pairs, as Markdown."""
    if robot is None or link is None or link not in robot.link_names:
        return "Click a link to see its pairs."
    joint = robot.parent_joint(link)
    how = (
        "the root"
        if joint is None
        else f"moved by {escape(joint.name)} ({joint.type}) in {escape(joint.parent)}"
    )
    mesh = robot.link_mesh(link)
    what = "no collision geometry" if mesh is None else f"{len(mesh.faces)} triangles"
    return f"**{escape(link)}**: {how}; {what}{link_pairs(pairs, link)}"


def link_pairs(pairs: PairMatrix | None, link: str) -> str:
    """With which links a link is checked, and with which not and why, as Markdown."""
    if pairs is None or link not in pairs.link_names:
        return ""
    others: dict[str, list[str]] = {}
    for other in pairs.link_names:
        if other != link:
            others.setdefault(str(pairs.evidence(link, other).reason), []).append(escape(other))
    return "".join(
        f"\n\n{escape(reason).capitalize()} ({len(names)}): {', '.join(names)}."
        for reason, names in sorted(others.items(), key=lambda entry: entry[0] != "checked")
    )


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


WIDEST = 10.0
"""Metres or radians either way that a slider offers where a joint has no limits."""
ROUNDING = 1e-6
"""Of a step, by which a limit may miss a full one."""
STEPS = 1000
"""Of a slider, at least."""


class Joints:
    """The sliders of the robot that is shown; another robot, other sliders."""

    def __init__(self, gui: Any, desk: Desk) -> None:
        self._gui, self._desk = gui, desk
        self._folder = gui.add_folder("Joints")
        self._sliders: list[tuple[Bound[float], float]] = []
        self._own: list[Any] = []
        self._robot: Robot | None = None
        self._follow: Any = None
        self._followed = Shown[str](self._show_followers)

    def show(self, view: View) -> None:
        """Follows the state."""
        if view.robot is not self._robot:
            self._build(view)
        for (slider, unit), value in zip(self._sliders, view.state.robot.cfg, strict=False):
            step = slider.handle.step
            slider.show(round(round(value * unit / step) * step, 6), view)
        if view.robot is not None and self._follow is not None:
            self._followed(followers(view.robot, view.state.robot.cfg))

    def _show_followers(self, text: str) -> None:
        self._follow.content = text

    def _build(self, view: View) -> None:
        for handle in self._own:
            handle.remove()
        self._robot, self._sliders, self._own, self._follow = view.robot, [], [], None
        self._followed = Shown[str](self._show_followers)
        if view.robot is None:
            return
        with self._folder:
            for idx, joint in enumerate(view.robot.tree.actuated):
                self._add(idx, joint, view)
            if followers(view.robot, view.state.robot.cfg):
                self._follow = self._gui.add_markdown("")
                self._own.append(self._follow)

    def _add(self, idx: int, joint: Joint, view: View) -> None:
        unit, name = unit_of(joint)
        low, high = (float(np.clip(limit, -WIDEST, WIDEST)) * unit for limit in (joint.lower, joint.upper))
        step = _step(high - low)
        low = round(float(np.floor(low / step + ROUNDING)) * step, 6)
        high = round(float(np.ceil(high / step - ROUNDING)) * step, 6)
        value = float(np.clip(view.state.robot.cfg[idx] * unit, low, high))
        slider = self._gui.add_slider(
            f"{joint.name} {name}", low, high, step, round(value, 6), hint=f"{joint.type} joint {joint.name}"
        )
        self._own.append(slider)
        self._sliders.append((Bound(slider, self._desk, lambda value, i=idx: Move(i, value / unit)), unit))


def unit_of(joint: Joint) -> tuple[float, str]:
    """What a joint's value is multiplied by to be shown, and the unit's name."""
    return (1000.0, "mm") if joint.type == "prismatic" else (180.0 / np.pi, "°")


def _step(width: float) -> float:
    """1, 0.1, 0.01, ...: the largest that gives enough steps."""
    return float(10.0 ** min(np.floor(np.log10(max(width, 1e-6) / STEPS)), 0.0))


def followers(robot: Robot, cfg: tuple[float, ...]) -> str:
    """Joints that follow others and where they are, as Markdown; "" where there are none."""
    from ...robot.internal import coupling_law

    lines: list[str] = []
    joints = [joint for joint in robot.tree.joints if joint.type != "fixed"]
    for joint in joints:
        if joint.coupling is None:
            continue
        driver, law = coupling_law(robot.tree, joints.index(joint))
        value = np.polynomial.Polynomial(law)(cfg[driver])
        unit, name = unit_of(joint)
        lines.append(
            f"- {escape(joint.name)}: {unit * value:.1f} {name}, follows {escape(robot.joint_names[driver])}"
        )
    return "\n".join(lines)
