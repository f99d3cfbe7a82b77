"""What a newcomer reads: the verbs that look at a robot, each once, with everything they print.

    python -m tests.first_hour [ROBOT ...]

writes what they say of robots that nobody here prepared to `tests/cli/first_hour/ROBOT.txt`. Read the difference before
you commit it: `tests/cli/test_first_hour.py` compares, and has Coal and Pinocchio judge the figures.
"""

from __future__ import annotations

import contextlib
import html
import io
import re
import sys
import tempfile
import time
import warnings
from pathlib import Path

from elbowroom.cli import main
from elbowroom.ui import serve
from tests.ui.page_tools import Browser

ROBOTS = (
    "anymal_kinova",
    "bolt",
    "borinot",
    "finger_edu",
    "go2",
    "hyq",
    "so100",
    "tiago_no_hand",
    "ur3_gripper",
    "ur5_limited",
)
VERBS = ("info", "spheres", "pairs", "check", "setup")
GOLDEN = Path(__file__).parent / "cli" / "first_hour"
SETTLED = 2.0
"""Seconds without a new text or a job under way after which the page has said what it has to say."""
PATIENCE = 300.0
"""Seconds after which a page that is still at work, or changes for ever, is at fault."""
PROGRESS = re.compile(r".*(\.\.\.|\(\d+ %, \d+ s\))")
FIGURES_OF_FITS = tuple(
    (re.compile(pattern, re.MULTILINE), shown)
    for pattern, shown in (
        (r"(yes +[\d.]+) +\d+ +(\d+) +[\d.]+ +[\d.]+$", r"\1  #  \2  #  #"),  # a row of `spheres`
        (
            r"^(\| [^|]+ \|) \d+ (\| yes \|) [\d.]+(.*?) \| [\d.]+ \|$",
            r"\1 # \2 #\3 | # |",
        ),  # and of the report
        (r"\b\d+ spheres\b", "# spheres"),
        (r"at least [\d.]+ mm apart", "at least # mm apart"),
        (r"\(\d+ box(es)?\)", "(# boxes)"),
        (r"\b\d+ of (them|the checked) by meshes", r"# of \1 by meshes"),
        (r"meshes alone decide \d+ checked pairs? \([^)]*\)", "meshes alone decide # checked pairs"),
        (r" by [+-]\d\.\d+", " by #"),  # how far a default pose was moved to be free
        (r"spheres have [\d.]+ times", "spheres have # times"),
        (r"[\d.]+ mm(\*\*)?, by spheres", r"# mm\1, by spheres"),
        (r"(free, by spheres; .* apart by) [\d.]+ mm", r"\1 # mm"),
    )
)
SECONDS = re.compile(r"\b\d+(\.\d+)? (ms|s)\b")


def transcript(robot: str) -> str:
    """What every verb, the report of setup and the page say of a robot; times are replaced by `# s`."""
    with tempfile.TemporaryDirectory() as folder:
        parts = [_section(f"elbowroom {verb} {robot}", _printed(verb, robot, Path(folder))) for verb in VERBS]
        parts.append(_section("report.md", _plain((Path(folder) / "report.md").read_text(), folder)))
    parts.append(_section(f"elbowroom view {robot}", "\n".join(page_texts(robot))))
    return without_figures_of_fits("\n".join(parts))


def without_figures_of_fits(text: str) -> str:
    """What a fit of spheres decides is `#`: rounding, which differs between processors and compilers, makes another
    fit that is as good. The tests judge these figures by Pinocchio and Coal."""
    for pattern, shown in FIGURES_OF_FITS:
        text = pattern.sub(shown, text)
    return text


def page_texts(robot: str) -> list[str]:
    """The texts that the page shows of a robot when it has come to rest, in the order of its panels."""
    with serve(robot, port=0) as server, contextlib.closing(Browser(server.url)) as browser:
        browser.wait(lambda: any(name.startswith("/live/") for name in browser.nodes), PATIENCE)
        texts, since = _texts(browser), time.monotonic()
        deadline = since + PATIENCE
        while time.monotonic() - since < SETTLED:
            assert time.monotonic() < deadline, f"the page did not come to rest: {texts}"
            time.sleep(0.1)
            if (now := _texts(browser)) != texts or any(text.endswith(" ...") for text in now):
                texts, since = now, time.monotonic()
    return texts


def _texts(browser: Browser) -> list[str]:
    found = [entry["props"].get("_markdown", "") for entry in list(browser.widgets.values())]
    return [SECONDS.sub(r"# \2", html.unescape(text)) for text in found if text]


def _printed(verb: str, robot: str, folder: Path) -> str:
    out = io.StringIO()
    words = [verb, robot, *(["--out", str(folder)] if verb == "setup" else [])]
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("always")  # Python shows each warning once a process, a command line each time
        code = main(words)
    return _plain(out.getvalue(), str(folder)) + f"\n[exit code {code}]"


def _plain(text: str, folder: str) -> str:
    lines = (line.rstrip() for line in text.replace(folder, "FOLDER").splitlines())
    kept = [SECONDS.sub(r"# \2", line) for line in lines if not PROGRESS.fullmatch(line)]
    return "\n".join(kept).strip()


def _section(title: str, text: str) -> str:
    return f"$ {title}\n{text}\n"


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name in sys.argv[1:] or ROBOTS:
        (GOLDEN / f"{name}.txt").write_text(transcript(name), encoding="utf-8")
        print(name)
