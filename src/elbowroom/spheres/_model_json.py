"""Reading of sphere models from JSON, with errors that name the place."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._files import plain
from .._text import short
from ..errors import FormatError, InputError, UnknownLinkError, unknown
from ._model import FORMAT, FORMAT_VERSION, SphereModel


def read_model(cls: type[SphereModel], data: Any, link_names: Sequence[str] | None) -> SphereModel:
    """See `SphereModel.from_json`."""
    if isinstance(data, (str, bytes)):
        data = _parse(data)
    if not isinstance(data, Mapping):
        raise FormatError(f"sphere JSON: expected an object, found a {type(data).__name__}")
    if not data:
        raise FormatError("sphere JSON: the object is empty; expected links with their spheres")
    ours = data.get("format") == FORMAT
    if ours and data.get("version") != FORMAT_VERSION:
        raise FormatError(
            f"sphere JSON: version {short(data.get('version'))} is not known, expected {FORMAT_VERSION}"
        )
    by_link = data["spheres"] if isinstance(data.get("spheres"), Mapping) else data
    if ours and by_link is data:
        raise FormatError("sphere JSON: 'spheres' must be an object of links")
    names = tuple(link_names) if link_names is not None else _names(data, by_link)
    centers: list[list[float]] = []
    radii: list[float] = []
    idx: list[int] = []
    attached: list[str] = []
    for link, entries in by_link.items():
        if link not in names:
            raise UnknownLinkError(f"sphere JSON: {unknown('link', str(link), names)}")
        for center, radius, name in _spheres(str(link), entries):
            centers.append(center)
            radii.append(radius)
            idx.append(names.index(link))
            attached.append(name)
    try:
        return cls(
            names,
            np.array(centers, dtype=np.float64).reshape(-1, 3),
            np.array(radii, dtype=np.float64),
            np.array(idx, dtype=np.int64),
            robot_name=_text(data.get("robot", ""), "'robot'") if ours else "",
            attached=tuple(attached),
            self_padding=_object(data, "self_padding") if ours else {},
            world_padding=_object(data, "world_padding") if ours else {},
            evidence=_evidence(data) if ours else {},
        )
    except InputError as error:
        raise FormatError(f"sphere JSON: {error}") from None


def _parse(text: str | bytes) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for key, value in pairs:
            if key in out:
                raise FormatError(f"sphere JSON: {short(key)} is given twice")
            out[key] = value
        return out

    if not text.strip():
        raise FormatError("sphere JSON: the text is empty")
    try:
        return json.loads(text, object_pairs_hook=unique)
    except FormatError:
        raise
    except ValueError as error:  # broken JSON, broken UTF-8, or an integer of thousands of digits
        raise FormatError(f"sphere JSON: not JSON: {error}") from None
    except RecursionError:
        raise FormatError("sphere JSON: it is nested too deeply to be spheres") from None


def _names(data: Mapping[str, Any], by_link: Mapping[str, Any]) -> tuple[str, ...]:
    listed = data.get("links") if by_link is not data else None
    if listed is None:
        return tuple(str(link) for link in by_link)
    if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
        raise FormatError(f"sphere JSON: 'links' must be a list of names, found {short(listed)}")
    return tuple(listed)


def _object(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = data.get(key, {})
    if not isinstance(value, Mapping):
        raise FormatError(f"sphere JSON: {key!r} must be an object, found {short(value)}")
    return value


def _evidence(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The evidence, which is free in form but must be one that can be written again."""
    value = _object(data, "evidence")
    try:
        plain(value)
    except RecursionError:
        raise FormatError("sphere JSON: 'evidence' is nested too deeply") from None
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise FormatError(f"sphere JSON: {where} must be text, found {short(value)}")
    return value


def _spheres(link: str, entries: Any) -> list[tuple[list[float], float, str]]:
    where = f"sphere JSON, link {short(link)}"
    if isinstance(entries, Mapping):
        if "centers" not in entries or "radii" not in entries:
            raise FormatError(f"{where}: expected 'centers' and 'radii', found {short(list(entries))}")
        centers, radii = entries["centers"], entries["radii"]
        if not isinstance(centers, list) or not isinstance(radii, list) or len(centers) != len(radii):
            raise FormatError(f"{where}: 'centers' and 'radii' must be lists of the same length")
        entries = [{"center": c, "radius": r} for c, r in zip(centers, radii, strict=True)]
    if not isinstance(entries, list):
        raise FormatError(f"{where}: expected a list of spheres, found a {type(entries).__name__}")
    out: list[tuple[list[float], float, str]] = []
    for k, entry in enumerate(entries):
        place = f"{where}, sphere {k}"
        if not isinstance(entry, Mapping) or "center" not in entry or "radius" not in entry:
            raise FormatError(f"{place}: expected 'center' and 'radius', found {short(entry)}")
        center, radius = entry["center"], entry["radius"]
        if not isinstance(center, list) or len(center) != 3 or not all(_finite(x) for x in center):
            raise FormatError(f"{place}: the center must be three finite numbers, found {short(center)}")
        if not _finite(radius) or radius <= 0:
            raise FormatError(f"{place}: the radius must be finite and positive, found {short(radius)}")
        out.append(
            (
                [float(x) for x in center],
                float(radius),
                _text(entry.get("attached", ""), f"{place}: 'attached'"),
            )
        )
    return out


def _finite(value: Any) -> bool:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond the largest float
        return False
