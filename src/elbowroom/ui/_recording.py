"""Recordings of a headset: lines of `xr_state` messages, played back at the pace at which they were made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import InputError

if TYPE_CHECKING:
    from ..remote.doors import XrState
    from ..robot import Robot

MAX_BYTES = 64 * 2**20
"""Of a recording."""
MAX_STATES = 100_000
"""Messages of a recording: 18 minutes at 90 a second."""
MAX_SECONDS = 3600.0
"""Length of a recording."""
EVERY = 500
"""Lines between two reports of progress."""


@dataclass(frozen=True, eq=False)
class Recording:
    """What a headset said, in order."""

    name: str
    states: tuple[XrState, ...]
    times: tuple[float, ...]
    """Seconds since the first, never going back."""
    notes: tuple[str, ...] = ()
    """What of the file was passed over."""

    @property
    def seconds(self) -> float:
        """Its length."""
        return self.times[-1]


def read_recording(
    name: str, data: bytes, robot: Robot, progress: Callable[[int, int], None] = lambda *_: None
) -> Recording:
    """A recording from the lines of a file; nothing in it is executed or opened.

    Args:
        name: of the file. data: its bytes. robot: for names in other messages, which are passed over.
        progress: told of lines read and of all.

    Raises:
        InputError: it is too large or too long, or holds no `xr_state`.
    """
    from ..remote.doors import XrState, read_message

    if len(data) > MAX_BYTES:
        raise InputError(f"{name}: {len(data) >> 20} MB; at most {MAX_BYTES >> 20} MB are read")
    lines = [line for line in data.split(b"\n") if line.strip()]
    if len(lines) > MAX_STATES:
        raise InputError(f"{name}: {len(lines)} lines; at most {MAX_STATES} are read")
    states: list[XrState] = []
    bad, other, first = 0, 0, ""
    for number, line in enumerate(lines, 1):
        if number % EVERY == 0:
            progress(number, len(lines))
        try:
            message = read_message(line, robot, ())
        except InputError as error:
            bad, first = bad + 1, first or f"line {number}: {error}"
            continue
        if isinstance(message, XrState):
            states.append(message)
        else:
            other += 1
    if not states:
        raise InputError(f"{name}: no xr_state message in {len(lines)} lines{f'; {first}' if first else ''}")
    notes = [f"{bad} lines make no sense; {first}"] if bad else []
    notes += [f"{other} messages that are not xr_state are passed over"] if other else []
    return Recording(name, tuple(states), tuple(_times(name, states)), tuple(notes))


def _times(name: str, states: list[XrState]) -> Iterator[float]:
    """Seconds since the first; a stamp that goes back comes at once."""
    latest = start = states[0].stamp
    for state in states:
        latest = max(latest, state.stamp)
        if latest - start > MAX_SECONDS:
            raise InputError(f"{name}: longer than {MAX_SECONDS:.0f} s")
        yield latest - start
