"""What the verbs print: JSON, text and tables that do not wrap in a pipe, on streams that survive their reader."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any, cast

from .._files import is_stdout, plain
from ..errors import InputError

PIPE_WIDTH = 100_000
"""Columns of what goes to a file or pipe, where nothing limits them: no line wraps, tables are as wide as need be."""


class Outlet(io.TextIOBase):
    """A text stream whose reader may go away, as `head` does: what is printed afterwards goes nowhere, quietly."""

    def __init__(self, stream: Any, name: str) -> None:
        self.stream: Any = stream
        self.name = name
        if isinstance(stream, io.TextIOWrapper):  # names that the encoding lacks are shown, not fatal
            stream.reconfigure(errors="backslashreplace")

    def write(self, text: str, /) -> int:
        """Writes a text.

        Raises:
            InputError: the stream cannot be written, such as a file on a full disk.
        """
        self._try(lambda: self.stream.write(text))
        return len(text)

    def flush(self) -> None:
        """Writes out what waits."""
        self._try(lambda: self.stream.flush())

    def _try(self, action: Any) -> None:
        if self.stream is None:
            return
        try:
            action()
        except BrokenPipeError:
            self._drop()
        except OSError as error:
            self._drop()
            raise InputError(f"cannot write standard {self.name}: {error.strerror or error}") from error

    def _drop(self) -> None:
        """Lets the interpreter's last flush succeed."""
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.stream.fileno())
            os.close(nowhere)
        self.stream = None

    def fileno(self) -> int:
        """Descriptor of the stream."""
        if self.stream is None:
            raise io.UnsupportedOperation("fileno")
        return self.stream.fileno()

    def isatty(self) -> bool:
        """Whether someone looks at it."""
        return self.stream is not None and self.stream.isatty()

    @property
    def encoding(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Of the stream."""
        return getattr(self.stream, "encoding", None) or "utf-8"


@contextmanager
def outlets() -> Generator[None]:
    """Standard output and error that survive their readers; closed ones, as of a daemon, swallow everything."""
    out, err = Outlet(sys.stdout, "output"), Outlet(sys.stderr, "error")
    with redirect_stdout(out), redirect_stderr(err):
        try:
            yield
            out.flush()
        finally:
            err.flush()


def console(*, aside: bool = False) -> Any:
    """A rich console for text and tables; as wide as they need when not shown on a terminal.

    Args:
        aside: print to standard error, because standard output holds a file.
    """
    from rich.console import Console

    stream: Any = sys.stderr if aside else sys.stdout
    if stream.isatty():
        return Console(file=stream, highlight=False)
    return Console(file=cast(Any, _Trimmed(stream)), width=PIPE_WIDTH, soft_wrap=True, highlight=False)


class _Trimmed:
    """A stream without the spaces with which tables fill their last column."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        return self.stream.write(re.sub(r" +\n", "\n", text))

    def flush(self) -> None:
        self.stream.flush()


def aside(*paths: Path | None) -> bool:
    """Whether one of the files written is standard output, so that text belongs to standard error."""
    return any(path is not None and is_stdout(path) for path in paths)


def print_json(value: Any) -> None:
    """Prints a value as JSON; arrays become lists, infinities null."""
    print(json.dumps(plain(value), indent=2, allow_nan=False))


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], **options: Any) -> Any:
    """A table without lines; cells are taken as they are, without markup."""
    from rich.table import Table
    from rich.text import Text

    found = Table(*titles, box=None, header_style="bold", pad_edge=False, **options)
    for row in rows:
        found.add_row(*map(Text, row))
    return found
