"""Sphere JSON: our own form, `{link: [...]}`, `{link: {centers, radii}}`, and spheres with ignored pairs.

Our own form loses nothing: spheres with padding and evidence and, as `pairs`, the whole pair matrix. A pair matrix on
its own is JSON too, as `PairMatrix.write` makes it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from ..errors import FormatError, InputError
from ..pairs import PairMatrix
from ..pairs.internal import BY_MESHES, is_pairs_json, pairs_from_json, pairs_to_json
from ..robot import as_robot
from ..robot.internal import description_facts
from ..spheres import SphereModel
from ..typing import RobotLike
from ._contents import (
    Contents,
    for_robot,
    ignored_pairs,
    lost_spheres,
    meshes_decide,
    naming,
    pair,
    pairs_for_spheres,
    read_text,
    short,
    write_bytes,
)

if TYPE_CHECKING:
    from ._options import ExportOptions

FORMAT = "json"
PAIRS_KEY, MESHES_KEY = "collision_ignore_pairs", "checked_by_meshes"
Style = Literal["full", "list", "arrays", "collision"]
"""full: everything, ours, with the pair matrix if there is one. list: `{link: [{center, radius}]}`.
arrays: `{link: {centers, radii}}`.
collision: `{"spheres": {link: {centers, radii}}, "collision_ignore_pairs": [[a, b], ...]}`, the collision.json of
teleop_xr, whose reader looks at these two keys alone."""


def read_json(path: str | Path, robot: RobotLike | None = None) -> Contents:
    """Reads sphere JSON of any style, or a pair matrix.

    Raises:
        FormatError: broken JSON or spheres; the message names the place.
        UnknownLinkError: the spheres are of another robot.
    """
    robot = None if robot is None else as_robot(robot)
    path = Path(path)
    text = read_text(path)
    with naming(path):
        matrix = _matrix(text)
        if matrix is not None:
            return Contents(FORMAT, ignored=ignored_pairs(matrix), notes=matrix.notes, pairs=matrix)
        model = SphereModel.from_json(text)
        data = json.loads(text)
        if isinstance(data, Mapping) and is_pairs_json(data.get("pairs")):
            matrix = pairs_from_json(data["pairs"])
            facts = data.get("description") or {}
            if not isinstance(facts, Mapping):
                raise FormatError(f"description: expected an object, found {short(facts)}")
            return Contents(
                FORMAT,
                for_robot(model, robot),
                ignored_pairs(matrix),
                pairs=matrix,
                facts=facts,
                notes=matrix.notes,
            )
        listed = data.get(PAIRS_KEY, []) if isinstance(data, Mapping) else []
        marked = data.get(MESHES_KEY) if isinstance(data, Mapping) else None
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
            word = BY_MESHES if isinstance(marked, list) and entry in marked else ""
            ignored[pair(entry[0], entry[1], f"{PAIRS_KEY}, entry {index}")] = word
        return Contents(FORMAT, for_robot(model, robot), ignored)


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
    robot: RobotLike | None = None,
    spheres: SphereModel | None = None,
    pairs: Any = None,
    options: ExportOptions | None = None,
    style: Style | None = None,
) -> tuple[str, ...]:
    """Writes sphere JSON; a PairMatrix without spheres is written whole.

    Args:
        path: the file.
        robot: not needed; beside a PairMatrix, what its description says is kept, to tell later what changed.
        options: not needed; accepted so that all writers are called alike.
        spheres: the spheres; required unless `pairs` is a PairMatrix.
        pairs: ignored pairs, or a PairMatrix.
        style: see `Style`; by default `collision` when ignored pairs are given without a matrix, `full` otherwise.

    Returns:
        What the style cannot hold.

    Raises:
        InputError: no spheres, or a style that there is not.
    """
    robot = None if robot is None else as_robot(robot)
    if style is not None and style not in get_args(Style):
        raise InputError(f"style: expected one of {', '.join(get_args(Style))}, found {short(style)}")
    if spheres is None and isinstance(pairs, PairMatrix):
        write_bytes(Path(path), json.dumps(pairs_to_json(pairs), indent=1).encode() + b"\n")
        return ()
    if spheres is None:
        raise InputError(f"{path}: sphere JSON needs spheres")
    matrix = pairs if isinstance(pairs, PairMatrix) else None
    style = style or ("full" if pairs is None or matrix is not None else "collision")
    kind = f"JSON of style {style!r}"
    lost = [] if style == "full" else lost_spheres(spheres, kind)
    ignored, said = pairs_for_spheres(pairs, None, kind)
    if style == "collision":
        lost += said
    elif ignored and (style != "full" or matrix is None):
        lost.append(f"ignored pairs are not kept by {kind}")
    data = _data(spheres, list(ignored), style)
    if style == "full" and matrix is not None:
        data["pairs"] = pairs_to_json(matrix)
        if robot is not None:
            data["description"] = description_facts(robot)
    if style == "collision" and meshes_decide(ignored):
        data[MESHES_KEY] = list(map(list, meshes_decide(ignored)))
    write_bytes(Path(path), json.dumps(data, indent=2, allow_nan=False).encode() + b"\n")
    return tuple(lost)


def _data(spheres: SphereModel, ignored: list[tuple[str, str]], style: Style) -> Any:
    if style == "full":
        return spheres.to_json()
    by_link: dict[str, Any] = {}
    for link in spheres.counts:
        centers, radii = spheres.link(link)
        if style == "list":
            by_link[link] = [
                {"center": c, "radius": r} for c, r in zip(centers.tolist(), radii.tolist(), strict=True)
            ]
        else:
            by_link[link] = {"centers": centers.tolist(), "radii": radii.tolist()}
    return {"spheres": by_link, PAIRS_KEY: sorted(map(list, ignored))} if style == "collision" else by_link
