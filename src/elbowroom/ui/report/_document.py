"""Reports that people open without us: one HTML file with all that it shows, which asks no network for anything."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

if TYPE_CHECKING:
    from ...robot import Robot
    from ...spheres import SphereModel
    from ...world import World
    from .._view import View

POLICY = (
    "default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; font-src data:; connect-src data: blob:; "
    "script-src 'unsafe-inline' 'unsafe-eval' blob: data:; worker-src blob: data:; frame-src 'self' blob: data:"
)
"""What a browser may load: nothing but what the file holds."""

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --page: #ffffff; --card: #f6f8fa;
  --brand: #0072b2; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9aa4af; --line: #30363d; --page: #0d1117;
  --card: #161b22; --brand: #56b4e9; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem 1rem 3rem; background: var(--page); color: var(--ink);
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; padding-top: 1rem; border-top: 1px solid var(--line); }
p { margin: .6rem 0; }
nav a { color: var(--brand); margin-right: 1rem; display: inline-block; }
.lead, .note, figcaption { color: var(--soft); }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .6rem; margin: 1rem 0; }
dl div { background: var(--card); border: 1px solid var(--line); border-radius: .4rem; padding: .5rem .75rem; }
dt { color: var(--soft); font-size: .85rem; }
dd { margin: 0; font-size: 1.15rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: 1rem; }
figure { margin: 0; }
figure img { display: block; width: 100%; height: auto; background: #ffffff; border: 1px solid var(--line);
  border-radius: .4rem; }
figcaption { font-size: .85rem; margin-top: .3rem; }
iframe { display: none; width: 100%; height: min(32rem, 80vh); border: 1px solid var(--line); border-radius: .4rem;
  background: var(--card); }
.webgl iframe { display: block; }
.webgl .still, .moving { display: none; }
.webgl .moving { display: block; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: .4rem; padding: .75rem; overflow-x: auto;
  font-size: .9rem; overflow-wrap: normal; }
"""

KEYS = "Drag to turn, scroll to zoom, press the space bar to pause."
WEBGL = (
    "if (document.createElement('canvas').getContext('webgl2')) document.documentElement.className = 'webgl';"
)
"""Scenes in 3D are shown where the browser can draw them, and their still pictures elsewhere."""


@dataclass(frozen=True)
class Figure:
    """A picture."""

    png: bytes
    caption: str
    """Also what is read out to those who do not see it."""


@dataclass(frozen=True)
class Section:
    """A part of a report; all text is plain."""

    title: str
    text: str
    """Paragraphs, parted by empty lines; what is between backticks is set as code."""
    numbers: tuple[tuple[str, str], ...] = ()
    """Names and values to be seen at a glance."""
    figures: tuple[Figure, ...] = ()
    playback: str = ""
    """An HTML document of its own, as of `playback_html`; "" for none."""
    still: Figure | None = None
    """Shown in place of `playback` by a browser without WebGL."""
    notes: tuple[str, ...] = ()
    """What to know when reading all this, a sentence each; at the end."""
    code: str = ""
    """Commands or code to copy."""


def document(title: str, lead: str, sections: Sequence[Section]) -> str:
    """The report as the text of an HTML file.

    Args:
        title: of the report. lead: a sentence below it.
        sections: in order.
    """
    links = "".join(f'<a href="#s{k}">{escape(part.title)}</a>' for k, part in enumerate(sections))
    body = "\n".join(_section(part, f"s{k}") for k, part in enumerate(sections))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<link rel="icon" href="data:,">
<style>{STYLE}</style>
<script>{WEBGL}</script>
</head>
<body>
<h1>{escape(title)}</h1>
<p class="lead">{escape(lead)}</p>
<nav>{links}</nav>
{body}
</body>
</html>
"""


def _section(part: Section, anchor: str) -> str:
    lines = [f'<section id="{anchor}">', f"<h2>{escape(part.title)}</h2>"]
    if part.numbers:
        cells = "".join(
            f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in part.numbers
        )
        lines.append(f"<dl>{cells}</dl>")
    lines += [f"<p>{_inline(text)}</p>" for text in part.text.split("\n\n")]
    if part.code:
        lines.append(f"<pre><code>{escape(part.code)}</code></pre>")
    if part.playback:
        lines.append(f'<iframe title="{escape(part.title)} in 3D" srcdoc="{escape(part.playback)}"></iframe>')
        lines.append(f'<p class="note moving">{KEYS}</p>')
    if part.still is not None:
        lines.append(f'<div class="still">{_figure(part.still)}</div>')
    if part.figures:
        lines += ['<div class="pictures">', *map(_figure, part.figures), "</div>"]
    lines += [f'<p class="note">{_inline(note)}</p>' for note in part.notes]
    return "\n".join([*lines, "</section>"])


def _inline(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _figure(figure: Figure) -> str:
    data, caption = base64.b64encode(figure.png).decode("ascii"), escape(figure.caption)
    image = f'<img alt="{caption}" src="data:image/png;base64,{data}">'
    return f"<figure>{image}<figcaption>{caption}</figcaption></figure>"


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
    world: World | None = None,
    opacity: float = 0.15,
) -> str:
    """The HTML document; it holds no name of the description, and asks for nothing.

    Args:
        robot: drawn by its visual meshes.
        cfgs: a picture each, at `FRAMES_A_SECOND`.
        spheres: drawn around it, faintly.
        world: obstacles around it.
        opacity: of the spheres.
    """
    import viser

    from .._guard import guard, no_banner

    with no_banner():
        server: Any = viser.ViserServer(host=HOST, port=0, verbose=False)
        try:
            guard(server, HOST)
            return _recorded(server, robot, np.asarray(cfgs), spheres, world, opacity)
        finally:
            server.stop()
            server._thread_executor.shutdown(wait=True)


def _recorded(
    server: Any,
    robot: Robot,
    cfgs: np.ndarray,
    spheres: SphereModel | None,
    world: World | None,
    opacity: float,
) -> str:
    from ..scene import RobotNodes, Stage, WorldNodes, first_look

    poses, farthest = robot.link_poses(cfgs), int(np.abs(cfgs - cfgs[0]).max(axis=1).argmax())
    view = _view(robot, poses[0], spheres, world, opacity)
    nodes, camera = RobotNodes(server.scene), server.initial_camera
    Stage(server.scene).show(view)
    nodes.show(view)
    WorldNodes(server.scene, lambda _: None, lambda *_: None).show(view)
    camera.look_at, camera.position, camera.fov = first_look(robot, poses[0], poses[farthest])
    recorder = server.get_scene_serializer()
    recorder.insert_sleep(REST)
    for k, pose in enumerate(poses):
        nodes.show(replace(view, poses=pose))
        recorder.insert_sleep(1.0 / FRAMES_A_SECOND + (REST if k == farthest else 0.0))
    text: str = recorder.as_html()
    assert _LIGHT in text  # or viser has another way by now
    return text.replace(_LIGHT, _BY_TASTE, 1)


def _view(
    robot: Robot, poses: np.ndarray, spheres: SphereModel | None, world: World | None, opacity: float
) -> View:
    from .._view import View
    from ..state import Layer, LookState, ModelParts, PageState

    look = LookState(spheres=Layer(spheres is not None, opacity))
    return View(PageState(model=ModelParts(spheres, world=world), look=look), robot, poses)
