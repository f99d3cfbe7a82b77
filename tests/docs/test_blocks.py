"""Every block of the README and of the docs runs. The rules for those who write pages:

Tags. A fenced block has one of these; anything else (no tag, `sh`, `console`) fails.

- `python` is run. The blocks of a page run from top to bottom in one namespace, as in a notebook, so there are no
  fragments: what a block uses is made above it on the same page, for all to see. A block that shows an error catches it.
- `bash` is run, one command a line (a backslash at its end continues it), in order with the Python blocks and in the
  same folder. A command exits with 0, or says what else in a comment: `... # exit code 1: the hand touches the table`.
  `elbowroom VERB ...` runs inside the test process, pipes and other programs through bash. Servers (`elbowroom view`,
  `elbowroom ik ... --serve --port N`) are started on any free port and interrupted once they serve.
- `json`, `yaml`, `xml` parse, as one whole document.
- Blocks are fenced; code that is only indented counts as one without a tag.
- `text` is not run: what a terminal prints, pseudo-code, other people's programs.
- MyST directives are left to Sphinx; the blocks inside of them count. No `{code-block}`, no `{code-cell}`.

Files. A page runs in a new folder of its own, with these in it (`page_files.py`), and may write more:

- `my_robot.urdf`: an arm that is not bundled. Links base_link, shoulder, upper_arm, forearm, wrist_1, wrist_2, hand and
  tool0, a frame without geometry; joints joint_1 to joint_6. `meshes/*.stl` beside it; `my_robot.xml`: the same as MJCF.
- `scene.json`: a `table` and a `post` in front; `scene.yaml`: the same for MoveIt. Both are free for my_robot, panda and
  teaarm at their default configurations.
- `recording.csv`: 4 s of my_robot at 50 Hz, column `time` and the joints by name; it ends folded into itself.
- `cloud.ply`: the points of a depth camera that looks at that scene.

No network, GPU or display. What other steps of CI run is in the table `ELSEWHERE`, which says where.
"""

from __future__ import annotations

import io
import json
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path

import matplotlib
import pytest
from lxml import etree
from ruamel.yaml import YAML

from elbowroom import _cache
from elbowroom.robot.descriptions._catalogue import _EXAMPLES as EXAMPLE_ROBOTS

from .page_files import write_page_files
from .pages import Block, blocks, name, pages
from .shell import commands, expected_code, run

ELSEWHERE = {
    "make demo": ".ci/run",
    "make test": ".ci/run",
    "make test-all": ".ci/run, as make test and make test-rest",
    "make lint types": ".ci/run",
    "make bench": "benchmarks/, by hand: its ratios need a machine that does nothing else",
    "make soak": "tests/soak/test_soak.py, for seconds",
    "git clone": ".github/workflows, by actions/checkout",
}
"""Commands that pages name and this test does not run, by how they begin -> where they are run."""

PARSERS: dict[str, Callable[[str], object]] = {
    "json": json.loads,
    "yaml": lambda text: YAML(typ="safe").load(io.StringIO(text)),
    "xml": lambda text: etree.fromstring(text.encode()),
}
TAGS = {"python", "bash", "text", *PARSERS}
REFUSED = ("{code-block}", "{code-cell}", "{code}")
SHIPPED = Path(_cache.__file__).parent / "assets" / "results"


def elsewhere(command: str) -> str | None:
    """The entry of the table that a command begins with."""
    return next((entry for entry in ELSEWHERE if f"{command} ".startswith(f"{entry} ")), None)


def run_page(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs the blocks of a page in order; the first one that fails is named."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.tag == "python":
            # Empty lines before it: a traceback names the line of the page.
            exec(compile("\n" * block.line + block.text, str(page), "exec"), namespace)
        elif block.tag == "bash":
            for command in commands(block.text):
                if elsewhere(command) is None:
                    code = run(command, folder, monkeypatch)
                    assert code == expected_code(command), f"{block}: {command}: exit code {code}"
        elif block.tag in PARSERS:
            parse(block)


def parse(block: Block) -> None:
    try:
        PARSERS[block.tag](block.text)
    except Exception as error:
        raise AssertionError(f"{block}: this is not {block.tag}: {error}") from error


RUN = [page for page in pages() if any(block.tag in {"python", "bash", *PARSERS} for block in blocks(page))]


def marked(page: Path) -> object:
    """A page with the mark of tests that need the robots of another package, if it names one."""
    text = " ".join(block.text for block in blocks(page))
    words = set(text.replace('"', " ").replace("'", " ").split())
    return pytest.param(page, id=name(page), marks=pytest.mark.robots if words & set(EXAMPLE_ROBOTS) else ())


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files-of-pages")
    write_page_files(folder)
    return folder


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::elbowroom.errors.ApproximationWarning")
@pytest.mark.parametrize("page", [marked(page) for page in RUN])
def test_blocks_run(page, files, tmp_path, monkeypatch):
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_cache, "SHIPPED", SHIPPED)  # as a reader has it
    matplotlib.use("Agg")
    with warnings.catch_warnings():  # the command line shows warnings its own way
        run_page(page, tmp_path, monkeypatch)


def test_blocks_have_a_tag_that_is_known():
    faults = [
        f"{block}: {block.tag!r}"
        for page in pages()
        for block in blocks(page)
        if block.tag not in TAGS and (not block.tag.startswith("{") or block.tag in REFUSED)
    ]
    assert faults == [], f"the tag of a block is one of {', '.join(sorted(TAGS))}"


def test_nothing_is_left_to_others_that_no_page_names():
    named = {
        elsewhere(command)
        for page in pages()
        for block in blocks(page)
        if block.tag == "bash"
        for command in commands(block.text)
    }
    assert set(ELSEWHERE) - named == set()
