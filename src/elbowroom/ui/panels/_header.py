"""The head of the page: the verdict as a badge, what is being done, undo and redo, light and dark, first steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._text import at_least
from .._commands import needed_files
from .._escape import escape
from ..state import NextHint, Redo, SetDark, Undo
from ._widgets import Shown, on_click

if TYPE_CHECKING:
    from .._view import Busy, View
    from ._widgets import Desk

BRAND = (0, 114, 178)
HINTS = (
    "<b>Drag a handle</b> at a hand in the picture: the robot follows and touches nothing.",
    "<b>Click a link</b> of the robot, or a cell under Model, Pairs: you see what is checked and why.",
    "<b>Generate a scene</b> under World, then press Plan under Move: the motion comes with its proof.",
)
SHAPES = {
    None: '<circle cx="12" cy="12" r="8" fill="none" stroke="#fff" stroke-width="3" stroke-dasharray="5 4"/>',
    True: '<circle cx="12" cy="12" r="11" fill="#fff"/>'
    '<path d="M6.5 12.5l4 4 7-8.5" fill="none" stroke="#00694d" stroke-width="3"/>',
    False: '<path d="M12 1.5L23.5 22H.5z" fill="#fff"/><path d="M12 9v6m0 2v2.4" stroke="#a33c00" stroke-width="2.6"/>',
}
"""Ring, tick and triangle: told apart without colours."""
GROUNDS = {None: "#545b64", True: "#00694d", False: "#a33c00"}
"""Grey, green and vermillion under white words, 6 to 7 to 1."""
STYLE = """<style>
:root[data-mantine-color-scheme=light],:root[data-mantine-color-scheme=light] body{
 --er-accent:#00629b;--er-on:#fff;--er-soft:#5b626b;
 --mantine-color-dimmed:#5b626b;--mantine-color-placeholder:#5b626b;--mantine-primary-color-filled:#00629b}
:root[data-mantine-color-scheme=dark],:root[data-mantine-color-scheme=dark] body{
 --er-accent:#7cc4f2;--er-on:#10151a;--er-soft:#b4bac1;
 --mantine-color-dimmed:#b4bac1;--mantine-color-placeholder:#b4bac1;--mantine-primary-color-filled:#7cc4f2}
.mantine-Button-root{--button-color:var(--er-on)!important;--button-bg:var(--er-accent)!important;
 --button-bd:1px solid var(--er-accent)!important;font-weight:600}
.mantine-Button-root[data-variant=outline]{--button-color:var(--er-accent)!important;--button-bg:transparent!important}
.mantine-Button-root[data-disabled],.mantine-Button-root:disabled{--button-color:var(--er-soft)!important;
 color:var(--er-soft)!important;background:transparent!important;border:1px dashed var(--er-soft)!important}
.mantine-Slider-bar{background:var(--er-accent)!important}
.mantine-Slider-thumb{border-color:var(--er-accent)!important;background:var(--er-accent)!important}
.mantine-Slider-markLabel{color:var(--er-soft)!important}
.mantine-Checkbox-input:checked{background:var(--er-accent)!important;border-color:var(--er-accent)!important}
.mantine-Checkbox-icon{color:var(--er-on)!important}
[role=tab]{color:var(--er-soft)!important;opacity:1!important}
[role=tab][aria-selected=true]{color:var(--er-accent)!important;font-weight:700}
a{color:var(--er-accent)!important}
.mantine-Notification-description{color:var(--er-soft)!important}
div:has(>.er-badge){position:sticky;top:0;z-index:20;background:var(--mantine-color-body);padding:.4em .6em .5em}
.er-badge{display:flex;gap:.7em;align-items:center;min-height:2.9em;padding:.35em .8em;border-radius:6px;color:#fff;
 box-sizing:border-box;position:relative;overflow:hidden}
.er-badge svg{width:1.7em;height:1.7em;flex:none}
.er-badge b{font-size:1.05em;display:block;line-height:1.25}
.er-badge span{font-size:.82em;line-height:1.25;overflow-wrap:anywhere}
.er-bar{position:absolute;left:0;bottom:0;height:4px;background:#fff}
.er-hint{margin:0 .75em .6em;padding:.5em .8em;border-left:4px solid var(--er-accent);line-height:1.4;font-size:.93em}
.er-hint i{font-style:normal;color:var(--er-soft)}
@media (max-width:36em){
.mantine-Paper-root:has(.er-badge){width:100%!important;max-height:56%!important}
.mantine-Paper-root:has(.er-badge) [style*="width: 20em"]{width:100%!important}
body:has(.er-badge) div:has(>div>canvas[style*="z-index: 1"]){height:44%!important}}
div:has(>.er-matrix)+div{display:none}
.er-cell{cursor:pointer}.er-cell:hover{stroke:currentColor;stroke-width:2}
</style>"""
"""One accent colour, text of at least 4.5 to 1 against what is behind it, and the badge that stays in sight. On a
narrow window, where viser lays the panels over the scene, the scene gets the upper part and the panels the lower."""


class Header:
    """Above the places."""

    def __init__(self, gui: Any, client: Any, desk: Desk) -> None:
        self._gui = gui
        gui.add_html(STYLE)
        self._badge = gui.add_html(badge(None, "Starting"))
        self._status = gui.add_markdown("Starting ...")
        self._hint = gui.add_html("", visible=False)
        self._onward = gui.add_button_group("First steps", ("Next", "Dismiss"), visible=False)
        on_click(self._onward, lambda: desk.send(NextHint(self._onward.value == "Dismiss")))
        steps = gui.add_button_group("Edit", ("Undo", "Redo", "Dark"))
        on_click(steps, lambda: self._press(steps.value, desk))
        self._cancel = gui.add_button("Cancel", hint="Stops what is being computed", visible=False)
        on_click(self._cancel, desk.cancel)
        self._command = gui.add_text(
            "Command", "", hint="Repeats the last action in a terminal", visible=False
        )
        self._needs = gui.add_markdown("", visible=False)
        self._line = Shown[str](self._show_status)
        self._sign = Shown[tuple[Any, ...]](self._show_badge)
        self._name = Shown[str](gui.set_panel_label)
        self._hinted = Shown[int](self._show_hint)
        self._busy = Shown[bool](self._show_busy)
        self._words = Shown[tuple[str, str]](self._show_command)
        self._dark = Shown[bool](
            lambda dark: gui.configure_theme(
                dark_mode=dark, show_logo=False, show_share_button=False, brand_color=BRAND
            )
        )
        for label, key, modifier in (
            ("Undo", "Z", "cmd/ctrl"),
            ("Redo", "Y", "cmd/ctrl"),
            ("Dark", "D", "shift"),
        ):
            self._hotkey(gui, desk, label, key, modifier)

    def _hotkey(self, gui: Any, desk: Desk, label: str, key: str, modifier: str) -> None:
        async def triggered(_: Any) -> None:
            self._press(label, desk)

        gui.add_command(label, hotkey=key, modifier=modifier).on_trigger(triggered)

    def _press(self, label: str, desk: Desk) -> None:
        if label == "Dark":
            desk.send(SetDark(not desk.view.state.look.dark))
        else:
            desk.send(Undo() if label == "Undo" else Redo())

    def show(self, view: View) -> None:
        """Brings it up to date."""
        self._dark(view.state.look.dark)
        self._line(status(view))
        share = view.busy[0].share if view.busy else None
        self._sign((view.free, closest(view), None if share is None else round(share, 2)))
        self._name("Elbowroom" + {None: "", True: ": free", False: ": not free"}[view.free])
        self._hinted(view.state.look.hint)
        self._busy(bool(view.busy))
        self._words((view.command, needs(view)))

    def _show_status(self, text: str) -> None:
        self._status.content = text

    def _show_badge(self, shown: tuple[bool | None, str, float | None]) -> None:
        self._badge.content = badge(*shown)

    def _show_hint(self, hint: int) -> None:
        there = 0 < hint <= len(HINTS)
        if there:
            self._hint.content = (
                f'<div class="er-hint"><i>{hint} of {len(HINTS)}</i><br>{HINTS[hint - 1]}</div>'
            )
        self._hint.visible = self._onward.visible = there

    def _show_busy(self, busy: bool) -> None:
        self._cancel.visible = busy

    def _show_command(self, shown: tuple[str, str]) -> None:
        command, first = shown
        self._command.value, self._command.visible = command, bool(command)
        self._needs.content, self._needs.visible = first, bool(first)


def badge(free: bool | None, words: str, share: float | None = None) -> str:
    """The verdict as HTML: a shape, a colour and words; a bar at its foot while something is computed."""
    title = {None: "No verdict yet", True: "Free", False: "Not free"}[free]
    bar = "" if share is None else f'<div class="er-bar" style="width:{100.0 * share:.0f}%"></div>'
    return (
        f'<div class="er-badge" role="status" style="background:{GROUNDS[free]}"><svg viewBox="0 0 24 24" '
        f'aria-hidden="true">{SHAPES[free]}</svg><div><b>{title}</b><span>{words}</span></div>{bar}</div>'
    )


def closest(view: View) -> str:
    """Who is closest or touches, as HTML; what is known of it is of this configuration."""
    if view.robot is None:
        return "The robot is being loaded"
    if view.free is None:
        return "The model is being built"
    verdict = view.verdict
    if verdict is None or not view.measured:
        return "measuring ..." if view.current else "the model is being updated"
    if not verdict.free and verdict.clashes:
        worst = min(verdict.clashes, key=lambda clash: clash.distance)
        more = f", and {len(verdict.clashes) - 1} more" if len(verdict.clashes) > 1 else ""
        return f"{escape(worst.a)} and {escape(worst.b)}{more}"
    if not verdict.free:
        return "a joint is beyond its limits"
    near = verdict.closest_varying
    if near is None:
        return "nothing can touch"
    return f"closest: {escape(near.a)} and {escape(near.b)}, {at_least(1e3 * near.distance, 1)} mm"


def needs(view: View) -> str:
    """Files without which the command cannot be run, as Markdown; "" for none."""
    words = view.command.split()
    names = [escape(name) for name in needed_files(view) if name in words]
    return f"It needs {' and '.join(names)}, from Export." if names else ""


def status(view: View) -> str:
    """The line that says what is going on, as Markdown."""
    if view.busy:
        return "; ".join(map(_doing, view.busy)) + " ..."
    if view.robot is None:
        return "No robot is loaded."
    return f"**{escape(view.robot.name)}**: {view.robot.dof} joints, {len(view.robot.link_names)} links"


def _doing(busy: Busy) -> str:
    text = escape(busy.title)
    return text[:1].upper() + text[1:]
