"""Sphere JSON: our own form, `{link: [...]}`, `{link: {centers, radii}}`, and spheres with ignored pairs.

Spheres and a pair matrix together make our own lossless file of a robot: each in its own form, beside what the
description said at the time. A pair matrix on its own is JSON too, without loss, as `PairMatrix.write` makes it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .._files import plain
from ..errors import FormatError, InputError
from ..pairs import PairMatrix, is_pairs_json, pairs_from_json, pairs_to_json
from ..robot import description_facts
from ..spheres import SphereModel
from ._contents import (
    Contents,
    for_robot,
    ignored_pairs,
    lost_of_pairs,
    lost_spheres,
    pair,
    read_text,
    short,
    write_bytes,
)

if TYPE_CHECKING:
    from ..robot import Robot

FORMAT = "json"
PAIRS_KEY = "collision_ignore_pairs"
ROBOT_FORMAT, ROBOT_VERSION = "elbowroom-robot", 1
"""Mark of a file that holds spheres, pairs and facts of a robot."""
Style = Literal["full", "list", "arrays", "collision"]
"""full: everything, ours; a PairMatrix with all its evidence and the facts of the description included.
list: `{link: [{center, radius}]}`. arrays: `{link: {centers, radii}}`.
collision: `{"spheres": {...}, "collision_ignore_pairs": [...]}` as teleoperation tools use."""


def read_json(path: str | Path, robot: Robot | None = None) -> Contents:
    """Reads sphere JSON of any style, or a pair matrix.

    Raises:
        FormatError: broken JSON or spheres; the message names the place.
        UnknownLinkError: the spheres are of another robot.
    """
    path = Path(path)
    text = read_text(path)
    try:
        whole = _whole(text, robot)
        if whole is not None:
            return whole
        matrix = _matrix(text)
        if matrix is not None:
            return Contents(FORMAT, ignored=ignored_pairs(matrix), notes=matrix.notes, pairs=matrix)
        model = SphereModel.from_json(text)
        data = json.loads(text)
        listed = data.get(PAIRS_KEY, []) if isinstance(data, Mapping) else []
        if not isinstance(listed, list):
            raise FormatError(f"{PAIRS_KEY}: expected a list of pairs, found {short(listed)}")
        ignored: dict[tuple[str, str], str] = {}
        for index, entry in enumerate(listed):
            if (
                not isinstance(entry, list)
                or len(entry) != 2
                or not all(isinstance(name, str) for name in entry)
            ):
                raise FormatError(
                    f"{PAIRS_KEY}, entry {index}: expected two link names, found {short(entry)}"
                )
            ignored[pair(entry[0], entry[1], f"{PAIRS_KEY}, entry {index}")] = ""
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from error
    return Contents(FORMAT, for_robot(model, robot), ignored)


def _whole(text: str, robot: Robot | None) -> Contents | None:
    """Contents of our own file of a robot, if the text is one."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None  # spheres explain what is wrong with the text
    if not isinstance(data, Mapping) or data.get("format") != ROBOT_FORMAT:
        return None
    if data.get("version") != ROBOT_VERSION:
        raise FormatError(f"version {short(data.get('version'))} is not known, expected {ROBOT_VERSION}")
    matrix = pairs_from_json(data.get("pairs"))
    model = for_robot(SphereModel.from_json(data.get("spheres")), robot)
    facts = data.get("description") or {}
    if not isinstance(facts, Mapping):
        raise FormatError(f"description: expected an object, found {short(facts)}")
    return Contents(FORMAT, model, ignored_pairs(matrix), notes=matrix.notes, pairs=matrix, facts=facts)


def _matrix(text: str) -> PairMatrix | None:
    """The pair matrix of a text, if it is one; spheres explain themselves what is wrong with other texts."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return pairs_from_json(data) if is_pairs_json(data) else None


def write_json(
    path: str | Path,
    *,
    robot: Robot | None = None,
    spheres: SphereModel | None = None,
    pairs: Any = None,
    style: Style | None = None,
) -> tuple[str, ...]:
    """Writes sphere JSON; a PairMatrix without spheres is written whole.

    Args:
        path: the file.
        robot: not needed; the full style keeps what its description says, to tell later what changed.
        spheres: the spheres; required unless `pairs` is a PairMatrix.
        pairs: ignored pairs, or a PairMatrix.
        style: see `Style`; by default `full`, and `collision` for pairs that are no PairMatrix.

    Returns:
        What the style cannot hold.
    """
    if spheres is None and isinstance(pairs, PairMatrix):
        write_bytes(Path(path), json.dumps(pairs_to_json(pairs), indent=1).encode() + b"\n")
        return ()
    if spheres is None:
        raise InputError(f"{path}: sphere JSON needs spheres")
    whole = isinstance(pairs, PairMatrix)
    style = style or ("collision" if pairs is not None and not whole else "full")
    if style == "full" and whole:
        data = {
            "format": ROBOT_FORMAT,
            "version": ROBOT_VERSION,
            "robot": spheres.robot_name or pairs.robot_name,
        }
        facts = {} if robot is None else {"description": description_facts(robot)}
        data |= {"spheres": spheres.to_json(), "pairs": pairs_to_json(pairs), **facts}
        write_bytes(Path(path), json.dumps(plain(data), indent=1, allow_nan=False).encode() + b"\n")
        return ()
    ignored = ignored_pairs(pairs)
    kind = f"JSON of style {style!r}"
    lost = [] if style == "full" else lost_spheres(spheres, kind)
    if style == "collision":
        lost += lost_of_pairs(pairs, ignored)
    elif ignored:
        lost.append(f"ignored pairs are not kept by {kind}")
    write_bytes(Path(path), json.dumps(_data(spheres, list(ignored), style), indent=2).encode() + b"\n")
    return tuple(lost)


def _data(spheres: SphereModel, ignored: list[tuple[str, str]], style: Style) -> Any:
    if style == "full":
        return spheres.to_json()
    by_link: dict[str, Any] = {}
    for link in spheres.counts:
        centers, radii = spheres.link(link)
        if style == "arrays":
            by_link[link] = {"centers": centers.tolist(), "radii": radii.tolist()}
        else:
            by_link[link] = [
                {"center": c, "radius": r} for c, r in zip(centers.tolist(), radii.tolist(), strict=True)
            ]
    return {"spheres": by_link, PAIRS_KEY: sorted(map(list, ignored))} if style == "collision" else by_link
