"""Writes docs/examples: runs every example as its docstring says; shows program, output and picture.

    python tools/write_example_pages.py [NUMBER ...]

A docstring opens with a title line, "Title: what it shows.", and ends with the command that the page is made with.
Tests run the same commands and compare what is printed, numbers apart (`shape`).
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
import textwrap
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parent.parent
EXAMPLES, PAGES, IMAGES = ROOT / "examples", ROOT / "docs" / "examples", ROOT / "docs" / "images"
PICTURES = (".png", ".gif")
INDEX = """# Examples

Each program has fewer than 150 lines and runs by itself, without a display and from any folder:
`python examples/01_first_clearance.py`. It writes files only if you pass `--out` or `--picture`. All robots are
bundled, except for the arm of example 14; examples 26 and 27 need packages of their own. The pages show the output of
one run; times include first calls and were measured on a busy machine.

:::{{container}} gallery
{cards}
:::

```{{toctree}}
:maxdepth: 1
:hidden:

{names}
```
"""
THUMBNAILS = {
    "04": "spheres.png",
    "06": "concepts_depth.png",
    "12": "plan.png",
    "16": "grasp.png",
    "30": "guard.gif",
    "18": "example_09.gif",
    "19": "example_09.gif",
    "20": "example_09.gif",
    "21": "example_09.gif",
    "22": "example_09.gif",
    "23": "example_09.gif",
    "24": "example_09.gif",
    "25": "plan.png",
    "26": "example_09.gif",
    "27": "example_08.png",
}
"""Pictures of the gallery for examples that draw none, by number."""
CARD = """- [![{title}](../images/{picture})]({name}.md)
  <br>[**{number} {title}**]({name}.md)
  <br>{about}"""
WIDTH, WRAPPED = 88, " " * 8
"""Columns of a block, and the indentation of what did not fit."""
PAGE = """# {title}

{text}

```{{literalinclude}} ../../examples/{name}.py
:language: python
```

`{command}` prints:

```text
{output}
```
"""


def example_paths() -> list[Path]:
    """The examples in their order."""
    return sorted(EXAMPLES.glob("[0-9][0-9]_*.py"))


def load(path: Path) -> ModuleType:
    """An example as a module; `main` is not called."""
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # dataclasses look there
    spec.loader.exec_module(module)
    return module


def described(path: Path) -> ModuleType:
    """An example as a module that has its docstring alone: what it imports need not be installed."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return ModuleType(path.stem, ast.get_docstring(tree, clean=False))


def command(example: ModuleType) -> str:
    """The last line of a docstring: how to run it."""
    return (example.__doc__ or "").rstrip().splitlines()[-1].strip()


def arguments(example: ModuleType) -> list[str]:
    """What `main` takes for that command."""
    return shlex.split(command(example))[2:]


def picture(example: ModuleType) -> str | None:
    """The picture that the command makes."""
    return next((word for word in arguments(example) if word.endswith(PICTURES)), None)


def image_of(path: Path, made: str) -> Path:
    """Where the picture of an example is kept."""
    return IMAGES / f"example_{path.stem[:2]}{Path(made).suffix}"


def heading(example: ModuleType) -> tuple[str, str]:
    """The title of an example and the sentence that says what it shows."""
    title, about = " ".join((example.__doc__ or "").split("\n\n")[0].split()).split(": ", 1)
    return title, about[0].upper() + about[1:]


def wrap(output: str) -> str:
    """Printed text, its long lines broken and the rest of each indented, so that a page shows all of it."""
    broken = (
        textwrap.wrap(line, WIDTH, subsequent_indent=WRAPPED, break_long_words=False, break_on_hyphens=False)
        if len(line) > WIDTH
        else [line]
        for line in output.splitlines()
    )
    return "\n".join(line for lines in broken for line in lines)


def page(path: Path, example: ModuleType, output: str) -> str:
    """The page of an example that printed this."""
    title, about = heading(example)
    text = (example.__doc__ or "").split("\n\n")[1]
    found = PAGE.format(
        title=f"{path.stem[:2]} {title}",
        text=f"{about}\n\n{text}",
        name=path.stem,
        command=command(example),
        output=wrap(output.rstrip()),
    )
    made = picture(example)
    return found if made is None else f"{found}\n![{about}](../images/{image_of(path, made).name})\n"


def shape(text: str) -> str:
    """A text without its numbers, wrapped lines joined, left not told from right, as they may be equally close."""
    joined = text.replace(f"\n{WRAPPED}", " ")
    numberless = re.sub(r"[-+]?\d[\d.]*(e[-+]?\d+)?", "#", joined)
    return re.sub(r"\b(left|right)\b|\b(left|right)(?=_)", "side", numberless)


def index() -> str:
    """The gallery: every example with its picture."""
    cards: list[str] = []
    for path in example_paths():
        example, number = described(path), path.stem[:2]
        (title, about), made = heading(example), picture(example)
        shown = THUMBNAILS[number] if made is None else image_of(path, made).name
        cards.append(CARD.format(title=title, about=about, picture=shown, name=path.stem, number=number))
    return INDEX.format(cards="\n".join(cards), names="\n".join(path.stem for path in example_paths()))


def write(path: Path) -> None:
    """Runs one example in a folder of its own; writes its page and keeps its picture."""
    example, printed = load(path), io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with contextlib.redirect_stdout(printed):
            example.main(arguments(example))
        made = picture(example)
        if made is not None:
            shutil.copy(made, image_of(path, made))
        os.chdir(ROOT)
    (PAGES / f"{path.stem}.md").write_text(page(path, example, printed.getvalue()), encoding="utf-8")


def main(numbers: list[str]) -> None:
    """All of them, or those of some numbers."""
    PAGES.mkdir(exist_ok=True)
    for path in example_paths():
        if not numbers or path.stem[:2] in numbers:
            print(path.stem, flush=True)
            write(path)
    (PAGES / "index.md").write_text(index(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
