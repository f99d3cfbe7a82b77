"""Values of ROS messages in YAML: vectors as lists or as mappings, frames; errors name the place."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from .._poses import as_matrix
from .._text import MAX_BITS, short
from ..errors import FormatError

WORLD_FRAMES = ("", "world")


def mapping(value: Any, where: str) -> Mapping[str, Any]:
    """A mapping.

    Raises:
        FormatError: anything else.
    """
    if not isinstance(value, Mapping):
        raise FormatError(f"{where}: expected a mapping, found {short(value)}")
    return value


def items(value: Any, where: str) -> list[Any]:
    """A list; nothing is an empty one.

    Raises:
        FormatError: anything else.
    """
    if value is None:
        return []
    if not isinstance(value, list):
        raise FormatError(f"{where}: expected a list, found {short(value)}")
    return value


def name_of(value: Any, where: str) -> str:
    """A name: text, or a number where YAML takes a name for one.

    Raises:
        FormatError: anything else, or nothing.
    """
    plain = isinstance(value, (int, float)) and not isinstance(value, bool)
    if plain and not (isinstance(value, int) and value.bit_length() > MAX_BITS):
        return str(value)
    if not isinstance(value, str) or not value:
        raise FormatError(f"{where}: expected a name, found {short(value)}")
    return value


def numbers(value: Any, where: str, keys: str = "") -> list[float]:
    """Finite numbers of a list; with `keys`, one for each of them, from a list or from a mapping.

    Raises:
        FormatError: anything else.
    """
    given: Any = value
    if keys and isinstance(value, Mapping):
        given = [value.get(key) for key in keys]
    if not isinstance(given, list) or (keys and len(given) != len(keys)):
        expected = f"{len(keys)} numbers ({', '.join(keys)})" if keys else "a list of numbers"
        raise FormatError(f"{where}: expected {expected}, found {short(value)}")
    return [_number(entry, where, value) for entry in given]


def _number(value: Any, where: str, all_of: Any) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            found = float(value)
        except OverflowError:  # an integer beyond the largest float
            found = float("inf")
        if abs(found) < float("inf"):
            return found
    raise FormatError(f"{where}: expected finite numbers, found {short(all_of)}")


def pose_of(
    value: Any, where: str, position: str = "position", orientation: str = "orientation"
) -> Float[np.ndarray, "7"]:
    """A pose as wxyz_xyz, the quaternion as given; what is left out is the origin, or no rotation."""
    given = {} if value is None else mapping(value, where)
    place, turn = given.get(position), given.get(orientation)
    xyz = [0.0, 0.0, 0.0] if place is None else numbers(place, f"{where}: {position}", "xyz")
    x, y, z, w = [0.0, 0.0, 0.0, 1.0] if turn is None else numbers(turn, f"{where}: {orientation}", "xyzw")
    return np.array([w, x, y, z, *xyz])


def transform_of(value: Any, where: str) -> Float[np.ndarray, "7"]:
    """A transform as wxyz_xyz."""
    return pose_of(value, where, "translation", "rotation")


def frame_of(entry: Mapping[str, Any], where: str) -> str:
    """Frame that a header names, without the slash of old files."""
    header = entry.get("header")
    frame = "" if header is None else mapping(header, f"{where}: header").get("frame_id", "")
    if not isinstance(frame, str):
        raise FormatError(f"{where}: header: frame_id: expected the name of a frame, found {short(frame)}")
    return frame.lstrip("/")


def frames_of(listed: Any, path: Path) -> dict[str, Float[np.ndarray, "4 4"]]:
    """Poses in the world of the frames that a scene places: `fixed_frame_transforms`."""
    parents: dict[str, tuple[str, np.ndarray]] = {}
    for k, entry in enumerate(items(listed, f"{path}: fixed_frame_transforms")):
        where = f"{path}: fixed_frame_transforms, entry {k + 1}"
        child = mapping(entry, where).get("child_frame_id")
        frame = name_of(child, f"{where}: child_frame_id").lstrip("/")
        T = as_matrix(transform_of(entry.get("transform"), f"{where}: transform"), where)
        parents[frame] = (frame_of(entry, where), T)
    placed: dict[str, Float[np.ndarray, "4 4"]] = {}
    for frame in parents:
        pose, at = np.eye(4), frame
        for _ in parents:
            above, step = parents[at]
            pose = step @ pose
            if above in WORLD_FRAMES or above == at or above not in parents:
                placed[frame] = pose
                break
            at = above
        else:
            raise FormatError(f"{path}: fixed_frame_transforms: frame {frame!r} is placed by itself")
    return placed
