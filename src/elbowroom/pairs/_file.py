"""Pair matrices in files: JSON without loss, SRDF as far as it goes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from .._files import is_template, write_bytes
from .._frozen import frozen
from ..errors import ElbowroomError, FormatError, InputError
from ..robot import DefaultPose, Robot
from ._evidence import PairEvidence, PairReason
from ._made_for import MadeFor
from ._matrix import PairMatrix
from ._srdf import read_pairs_srdf, write_pairs_srdf

FORMAT = "elbowroom pairs"
VERSION = 1
MAX_BYTES = 256 * 2**20
"""Largest file read; a humanoid of a hundred links has 3 MB."""


def read_pairs(path: Path, robot: Robot | None) -> PairMatrix:
    """See `PairMatrix.read`."""
    if path.suffix.lower() == ".srdf":
        if robot is None:
            raise InputError(f"{path}: which pairs an SRDF means depends on the robot; give it")
        return read_pairs_srdf(path, robot)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise FormatError(f"{path}: a pair matrix has at most {MAX_BYTES >> 20} MB")
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        if isinstance(error, ElbowroomError):
            raise
        raise FormatError(f"{path}: the pair matrix cannot be read: {error}") from error
    try:
        return pairs_from_json(data)
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from error


def write_pairs(path: Path, pairs: PairMatrix) -> tuple[str, ...]:
    """See `PairMatrix.write`."""
    if path.suffix.lower() == ".srdf":
        return write_pairs_srdf(path, pairs, path if is_template(path) else None)
    if path.suffix.lower() != ".json":
        raise InputError(f"{path}: a pair matrix is written as .json or .srdf; formats.write knows others")
    write_bytes(path, json.dumps(pairs_to_json(pairs), indent=1, allow_nan=False).encode() + b"\n")
    return ()


def is_pairs_json(data: Any) -> bool:
    """Whether JSON data is a pair matrix."""
    return isinstance(data, Mapping) and data.get("format") == FORMAT


def pairs_to_json(pairs: PairMatrix) -> dict[str, Any]:
    """A matrix as plain values."""
    pose = pairs.default_pose
    return {
        "format": FORMAT,
        "version": VERSION,
        "robot": pairs.robot_name,
        "links": list(pairs.link_names),
        "bare_links": list(pairs.bare_links),
        "notes": list(pairs.notes),
        "default_pose": None
        if pose is None
        else {"cfg": pose.cfg.tolist(), "source": pose.source, "guessed_joints": list(pose.guessed_joints)},
        "made_for": None if pairs.made_for is None else pairs.made_for.to_json(),
        "pairs": [{"links": list(pair), **_plain(found)} for pair, found in pairs.entries.items()],
    }


def pairs_from_json(data: Any) -> PairMatrix:
    """A matrix from plain values.

    Raises:
        FormatError: they are something else.
    """
    if not is_pairs_json(data):
        raise FormatError(f"expected a pair matrix, 'format': {FORMAT!r}")
    if data.get("version") != VERSION:
        raise FormatError(
            f"version {data.get('version')!r:.20} of a pair matrix is not known, only {VERSION}"
        )
    try:
        pose, mark = data["default_pose"], data["made_for"]
        return PairMatrix(
            str(data["robot"]),
            tuple(map(str, data["links"])),
            {(str(row["links"][0]), str(row["links"][1])): _evidence(row) for row in data["pairs"]},
            tuple(map(str, data["bare_links"])),
            tuple(map(str, data["notes"])),
            None if pose is None else _pose(pose),
            None if mark is None else MadeFor.from_json(mark),
        )
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"not a complete pair matrix: {type(error).__name__}: {error}") from error


def _plain(found: PairEvidence) -> dict[str, Any]:
    """Fields not at their defaults; the reason by name. Not how long it took: the same answer is the same file."""
    said = {
        item.name: getattr(found, item.name)
        for item in fields(found)
        if item.name not in ("reason", "seconds")
    }
    plain = {item.name: item.default for item in fields(found)}
    return {"reason": found.reason.name, **{k: v for k, v in said.items() if v != plain[k]}}


def _evidence(row: Mapping[str, Any]) -> PairEvidence:
    facts = {name: value for name, value in row.items() if name not in ("links", "reason")}
    if facts.get("witness") is not None:
        facts["witness"] = tuple(map(float, facts["witness"]))
    return PairEvidence(PairReason[row["reason"]], **facts)


def _pose(data: Mapping[str, Any]) -> DefaultPose:
    cfg = frozen(np.array(data["cfg"], dtype=np.float64))
    return DefaultPose(cfg, str(data["source"]), tuple(map(str, data["guessed_joints"])))
