"""Motions as files and messages: JSON without loss, CSV at a fixed rate, a ROS trajectory as a dictionary."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._files import plain, write_bytes
from .._frozen import frozen
from .._text import read_text, short
from ..errors import FormatError, InputError, UnknownJointError, unknown
from ._curve import Curve
from ._motion import Limits, Motion

FORMAT = "elbowroom-motion"
ARRAYS = ("times", "places", "rates", "pushes", "jerks", "pieces")


def write_motion(motion: Motion, path: Path, rate: float, joints: Sequence[str] | None) -> None:
    """See `Motion.write`."""
    kind = path.suffix.lower()
    if kind == ".json":
        write_bytes(path, json.dumps(_to_json(motion), allow_nan=False).encode() + b"\n")
    elif kind == ".csv":
        write_bytes(path, _to_csv(motion, rate, joints).encode())
    else:
        raise InputError(f"a motion is written as .json or .csv, found {path.name!r}")


def ros_trajectory(motion: Motion, rate: float, joints: Sequence[str] | None) -> dict[str, Any]:
    """See `Motion.to_ros`."""
    names, columns = _chosen(motion, joints)
    times, rows = motion.resampled(rate)
    speeds, accelerations = motion.at(times, 1), motion.at(times, 2)
    speeds[-1] = accelerations[-1] = 0.0  # at rest, also where the end is on a row
    nanoseconds = np.rint(times * 1e9).astype(np.int64)
    points = [
        {
            "positions": rows[k, columns].tolist(),
            "velocities": speeds[k, columns].tolist(),
            "accelerations": accelerations[k, columns].tolist(),
            "effort": [],
            "time_from_start": {"sec": int(at // 10**9), "nanosec": int(at % 10**9)},
        }
        for k, at in enumerate(nanoseconds)
    ]
    header = {"stamp": {"sec": 0, "nanosec": 0}, "frame_id": ""}
    return {"header": header, "joint_names": list(names), "points": points}


def _to_csv(motion: Motion, rate: float, joints: Sequence[str] | None) -> str:
    """`time` and a column for each joint, as `elbowroom check --trajectory` reads them."""
    names, columns = _chosen(motion, joints)
    times, rows = motion.resampled(rate)
    lines = [",".join(["time", *(_cell(name) for name in names)])]
    lines += [
        ",".join(map(repr, [at, *row]))
        for at, row in zip(times.tolist(), rows[:, columns].tolist(), strict=True)
    ]
    return "\n".join(lines) + "\n"


def _cell(name: str) -> str:
    """A name as a cell of a table."""
    quoted = name.replace('"', '""')
    return f'"{quoted}"' if any(mark in name for mark in ',"\n') else name


def _chosen(motion: Motion, joints: Sequence[str] | None) -> tuple[tuple[str, ...], list[int]]:
    """Names and columns of the joints asked for, in that order."""
    dof = motion.curve.pieces.shape[2]
    names = motion.joint_names or tuple(f"joint{k + 1}" for k in range(dof))
    if joints is None:
        return names, list(range(dof))
    for name in joints:
        if name not in names:
            raise UnknownJointError(unknown("joint", str(name), names))
    return tuple(joints), [names.index(name) for name in joints]


def _to_json(motion: Motion) -> dict[str, Any]:
    """All fields; infinities become null."""
    curve, limits = motion.curve, motion.limits
    return plain(
        {
            "format": FORMAT,
            "version": 1,
            "duration": motion.duration,
            "joint_names": motion.joint_names,
            "curve": {"pieces": curve.pieces, "knots": curve.knots, "stops": curve.stops},
            **{name: getattr(motion, name) for name in ARRAYS},
            "limits": {
                "velocity": limits.velocity,
                "acceleration": limits.acceleration,
                "jerk": limits.jerk,
            },
            "peaks": motion.peaks,
        }
    )


def read_motion(path: Path) -> Motion:
    """See `Motion.read`."""
    try:
        data = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{path}: expected JSON: {error}") from error
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise FormatError(f"{path}: expected a motion (format {FORMAT!r}), found {short(data)}")
    try:
        return _from_json(data)
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{path}: not a motion as it is written here: {error}") from error


def _from_json(data: Mapping[str, Any]) -> Motion:
    curve = Curve(
        _floats(data["curve"]["pieces"]), _floats(data["curve"]["knots"]),
        frozen(np.array(data["curve"]["stops"], dtype=np.bool_)),
    )  # fmt: skip
    jerk = data["limits"]["jerk"]
    limits = Limits(
        _limits(data["limits"]["velocity"]), _limits(data["limits"]["acceleration"]),
        None if jerk is None else _limits(jerk),
    )  # fmt: skip
    k, four, dof = curve.pieces.shape
    times, places, rates, pushes, jerks = (_floats(data[name]) for name in ARRAYS[:-1])
    pieces = np.array(data["pieces"], dtype=np.int64)
    peaks, names = _limits(data["peaks"]), tuple(map(str, data["joint_names"]))
    n = len(pieces)
    shapes = {
        "curve": four == 4 and k > 0 and curve.knots.shape == curve.stops.shape == (k + 1,),
        "times": times.shape == places.shape == rates.shape == pushes.shape == (n + 1,)
        and jerks.shape == (n,),
        "pieces": n > 0 and pieces.min() >= 0 and pieces.max() < k,
        "limits": limits.velocity.shape == limits.acceleration.shape == (dof,) and peaks.shape == (3, dof),
        "joint_names": len(names) in (0, dof),
    }
    for name, right in shapes.items():
        if not right:
            raise ValueError(f"{name!r} does not fit the rest")
    if not ((np.diff(times) >= 0.0).all() and (np.diff(curve.knots) > 0.0).all()):
        raise ValueError("times or knots go back")
    rows = np.stack([times, places, rates, pushes, np.append(jerks, 0.0)])
    return Motion.of(curve, rows, pieces, limits, peaks, names)


def _floats(values: Any) -> np.ndarray:
    """Finite numbers."""
    found = np.array(values, dtype=np.float64)
    if not np.isfinite(found).all():
        raise ValueError("not all numbers are finite")
    return frozen(found)


def _limits(values: Any) -> np.ndarray:
    """Numbers where null is infinity."""
    found = np.array(values, dtype=np.float64)  # None becomes NaN
    return frozen(np.where(np.isnan(found), np.inf, found))
