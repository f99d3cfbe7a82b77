"""The report as one HTML file: text, numbers, pictures and scenes, for a desk and for a phone, light and dark.

All text is escaped, and a content security policy keeps the file from asking any network for anything.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

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
iframe { display: block; width: 100%; height: min(32rem, 80vh); border: 1px solid var(--line); border-radius: .4rem;
  background: var(--card); }
"""


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
    numbers: tuple[tuple[str, str], ...] = ()
    """Names and values to be seen at a glance."""
    figures: tuple[Figure, ...] = ()
    playback: str = ""
    """An HTML document of its own, as of `playback_html`; "" for none."""
    notes: tuple[str, ...] = ()
    """What to know when reading the numbers, a sentence each; right below them."""


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
    lines += [f'<p class="note">{escape(note)}</p>' for note in part.notes]
    lines += [f"<p>{escape(text)}</p>" for text in part.text.split("\n\n")]
    if part.playback:
        lines.append(f'<iframe title="{escape(part.title)} in 3D" srcdoc="{escape(part.playback)}"></iframe>')
    if part.figures:
        lines += ['<div class="pictures">', *map(_figure, part.figures), "</div>"]
    return "\n".join([*lines, "</section>"])


def _figure(figure: Figure) -> str:
    data, caption = base64.b64encode(figure.png).decode("ascii"), escape(figure.caption)
    image = f'<img alt="{caption}" src="data:image/png;base64,{data}">'
    return f"<figure>{image}<figcaption>{caption}</figcaption></figure>"
