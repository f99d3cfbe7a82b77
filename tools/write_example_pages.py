"""Writes docs/examples: runs every example as its docstring says; shows program, printed text and picture.

    python tools/write_example_pages.py [NUMBER ...]

A docstring opens with a title line, "Title: what it shows.", and ends with the command that the page is made with.
Tests run the same commands and compare what is printed, numbers apart (`shape`).
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parent.parent
EXAMPLES, PAGES, IMAGES = ROOT / "examples", ROOT / "docs" / "examples", ROOT / "docs" / "images"
PICTURES = (".png", ".gif")
INDEX = """# Examples

Programs of less than 120 lines, from a first clearance to a proved motion of two arms with something in the hand. Each
runs by itself, without a display, from any folder: `python examples/01_first_clearance.py`. It writes no file unless
`--out` or `--picture` asks for one. The robots are those that come with Elbowroom, but for the arm of example 14. Pages
show what a run printed; its times are those of a busy machine, first calls included.

```{{toctree}}
:maxdepth: 1

{names}
```
"""
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


def page(path: Path, example: ModuleType, output: str) -> str:
    """The page of an example that printed this."""
    head, text, *_ = (example.__doc__ or "").split("\n\n")
    title, about = head.split(": ", 1)
    about = about[0].upper() + about[1:]
    found = PAGE.format(
        title=f"{path.stem[:2]} {title}",
        text=f"{about}\n\n{text}",
        name=path.stem,
        command=command(example),
        output=output.rstrip(),
    )
    made = picture(example)
    return found if made is None else f"{found}\n![{about}](../images/{image_of(path, made).name})\n"


def shape(text: str) -> str:
    """A text without its numbers and without telling left from right, which may be equally close."""
    return re.sub(
        r"\b(left|right)\b|\b(left|right)(?=_)", "side", re.sub(r"[-+]?\d[\d.]*(e[-+]?\d+)?", "#", text)
    )


def index() -> str:
    """The page that lists them."""
    return INDEX.format(names="\n".join(path.stem for path in example_paths()))


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
