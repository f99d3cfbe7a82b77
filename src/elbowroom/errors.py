"""Errors and warnings of Elbowroom.

Every error a user can cause is an `ElbowroomError`. Leaves also inherit the builtin that a caller
would expect (ValueError, KeyError, ...). Messages say what was asked, what was found and what is
allowed; the helpers below keep that wording in one place.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


class ElbowroomError(Exception):
    """Base of all errors raised by Elbowroom on purpose."""


class InputError(ElbowroomError, ValueError):
    """An argument has the wrong shape, type or value."""


class DescriptionError(ElbowroomError, ValueError):
    """A robot description is broken: the message names the file, the element and what is wrong."""


class UnsafeFileError(DescriptionError):
    """A description asks for something that is refused: entities, the network, files elsewhere."""


class MeshError(DescriptionError):
    """A mesh file is missing, unreadable or holds no usable triangle."""


class FormatError(ElbowroomError, ValueError):
    """A file does not follow its format."""


class UnknownNameError(ElbowroomError, KeyError):
    """A name that does not exist was asked for."""

    def __str__(self) -> str:  # KeyError would print the message in quotes
        return str(self.args[0]) if self.args else ""


class UnknownRobotError(UnknownNameError):
    """No robot of that name can be loaded here."""


class UnknownLinkError(UnknownNameError):
    """The robot has no link of that name."""


class UnknownJointError(UnknownNameError):
    """The robot has no joint of that name."""


class MissingExtraError(ElbowroomError, ImportError):
    """A feature needs a package that is not installed; the message gives the install line."""


class ApproximationWarning(UserWarning):
    """Something in a description was approximated, held or skipped; the text says what."""


def unknown(kind: str, asked: str, allowed: Iterable[str]) -> str:
    """Message for a name that does not exist: "no link 'x'; did you mean 'y'? (11 links)"."""
    names = list(allowed)
    close = difflib.get_close_matches(asked, names, n=1, cutoff=0.6)
    if close:
        hint = f"did you mean '{close[0]}'? ({len(names)} {kind}s)"
    elif len(names) <= 12:
        hint = f"there are: {', '.join(names) or 'none'}"
    else:
        hint = f"the first of {len(names)} {kind}s are: {', '.join(names[:6])}"
    return f"no {kind} {asked!r}; {hint}"


def missing_extra(package: str, extra: str, purpose: str) -> MissingExtraError:
    """Error for an optional package: says what needs it and the line that installs it."""
    return MissingExtraError(
        f"{purpose} needs {package}, which is not installed: pip install 'elbowroom[{extra}]'"
    )


def shape_text(value: Any) -> str:
    """Short text of an array's shape, or of a value's type, for messages."""
    shape = getattr(value, "shape", None)
    return f"shape {tuple(shape)}" if shape is not None else f"a {type(value).__name__}"
