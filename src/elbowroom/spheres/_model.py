"""The sphere model of a robot: spheres by link, padding, attached objects, JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from .._files import plain
from .._frozen import Frozen, FrozenMap, frozen
from .._text import short
from ..errors import InputError, UnknownLinkError, unknown
from ._shape import Float64, Int64

FORMAT = "elbowroom-spheres"
"""Name of the JSON format."""
FORMAT_VERSION = 1
"""Version of the JSON format."""


@dataclass(frozen=True, eq=False)
class SphereModel(Frozen):
    """Spheres fixed to the links of a robot.

    Centres are in link frames, all lengths in metres. Spheres are ordered by link; those of an attached object
    follow the link's own.
    """

    link_names: tuple[str, ...]
    """The robot's links in its order; a link may have no sphere."""
    centers: Float64
    """(spheres, 3) centres in the frames of their links."""
    radii: Float64
    """(spheres,) radii without padding, positive."""
    link_idx: Int64
    """(spheres,) index of each sphere's link in `link_names`."""
    robot_name: str = ""
    """Name of the robot, for messages."""
    attached: tuple[str, ...] = ()
    """(spheres,) name of the attached object a sphere belongs to, empty for the link's own; () means all own."""
    self_padding: Mapping[str, float] = field(default_factory=dict)
    """Metres added per link when checking the robot against itself; links not named have none."""
    world_padding: Mapping[str, float] = field(default_factory=dict)
    """Metres added per link when checking against the world; links not named have none."""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    """Where the model comes from: method, options, seed, proof, seconds, version."""

    def __post_init__(self) -> None:
        names = tuple(str(name) for name in self.link_names)
        seen: set[str] = set()
        for name in names:
            if name in seen:
                raise InputError(f"link_names: link {name!r} is given twice")
            seen.add(name)
        centers = _floats(self.centers, "centers")
        if centers.size % 3:
            raise InputError(f"centers: expected three numbers per sphere, found {centers.size} in all")
        centers = centers.reshape(-1, 3)
        radii = _floats(self.radii, "radii").reshape(-1)
        link_idx = np.array(self.link_idx, dtype=np.int64).reshape(-1)
        if not len(centers) == len(radii) == len(link_idx):
            raise InputError(
                "centers, radii and link_idx must have one entry per sphere, "
                f"found {len(centers)}, {len(radii)} and {len(link_idx)}"
            )
        attached = tuple(self.attached) or ("",) * len(radii)
        if len(attached) != len(radii):
            raise InputError(f"attached must name {len(radii)} spheres or none, found {len(attached)}")
        if len(link_idx) and (link_idx.min() < 0 or link_idx.max() >= len(names)):
            raise InputError(
                f"link_idx must be in 0..{len(names) - 1}, found {link_idx.min()}..{link_idx.max()}"
            )
        for k in np.flatnonzero(~(np.isfinite(centers).all(axis=1) & np.isfinite(radii) & (radii > 0.0))):
            place = int((link_idx[:k] == link_idx[k]).sum())
            _check_sphere(centers[k], radii[k], f"link {names[link_idx[k]]!r}, sphere {place}")
        own_first = np.array([name != "" for name in attached], dtype=np.int64)
        order = np.lexsort((own_first, link_idx))
        for value, name in (
            (centers[order], "centers"),
            (radii[order], "radii"),
            (link_idx[order], "link_idx"),
        ):
            object.__setattr__(self, name, frozen(value))
        object.__setattr__(self, "link_names", names)
        object.__setattr__(self, "attached", tuple(attached[k] for k in order))
        for name in ("self_padding", "world_padding"):
            object.__setattr__(self, name, _padding(getattr(self, name), names, name))
        object.__setattr__(self, "evidence", FrozenMap(self.evidence))

    @classmethod
    def from_links(
        cls, link_names: Sequence[str], spheres: Mapping[str, tuple[Any, Any]], **fields: Any
    ) -> SphereModel:
        """Builds a model from `{link: (centers (n, 3), radii (n,))}`; other fields by name.

        Raises:
            UnknownLinkError: a link is not in `link_names`. InputError: a number is wrong, the place is named.
        """
        names = tuple(link_names)
        index = {name: k for k, name in enumerate(names)}
        centers: list[Float64] = [np.zeros((0, 3))]
        radii: list[Float64] = [np.zeros(0)]
        idx: list[Int64] = [np.zeros(0, dtype=np.int64)]
        for link, (c, r) in spheres.items():
            if link not in index:
                raise UnknownLinkError(unknown("link", link, names))
            c, r = _pair(c, r, f"link {link!r}")
            centers.append(c)
            radii.append(r)
            idx.append(np.full(len(r), index[link], dtype=np.int64))
        return cls(names, np.concatenate(centers), np.concatenate(radii), np.concatenate(idx), **fields)

    # Access ----------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.radii)

    def index(self, link: str) -> int:
        """Position of a link in `link_names`."""
        try:
            return self.link_names.index(link)
        except ValueError:
            raise UnknownLinkError(unknown("link", str(link), self.link_names)) from None

    def link(self, name: str, *, attached: bool = True) -> tuple[Float64, Float64]:
        """Centres (n, 3) and radii (n,) of one link, link frame.

        Args:
            name: the link. attached: whether spheres of attached objects count.
        """
        mask = self.link_idx == self.index(name)
        if not attached:
            mask &= np.array([a == "" for a in self.attached], dtype=bool)
        return frozen(self.centers[mask]), frozen(self.radii[mask])

    @property
    def counts(self) -> dict[str, int]:
        """Number of spheres of every link that has any."""
        number = np.bincount(self.link_idx, minlength=len(self.link_names))
        return {name: int(number[k]) for k, name in enumerate(self.link_names) if number[k]}

    @property
    def objects(self) -> tuple[str, ...]:
        """Names of attached objects."""
        return tuple(sorted({name for name in self.attached if name}))

    @property
    def notes(self) -> tuple[str, ...]:
        """What the fit leaves to be known: links whose spheres stay far larger than their convex hull."""
        found = self.evidence.get("notes", ())
        return tuple(str(note) for note in found) if isinstance(found, (list, tuple)) else ()

    def padded_radii(self, purpose: Literal["self", "world"]) -> Float64:
        """(spheres,) radii with the padding for checks against the robot itself or the world."""
        if purpose not in ("self", "world"):
            raise InputError(f"purpose must be 'self' or 'world', found {purpose!r}")
        padding = self.self_padding if purpose == "self" else self.world_padding
        per_link = np.array([padding.get(name, 0.0) for name in self.link_names], dtype=np.float64)
        return frozen(self.radii + per_link[self.link_idx])

    def __eq__(self, other: object) -> bool:
        """Same links, spheres, padding and attached objects; evidence does not count."""
        if not isinstance(other, SphereModel):
            return NotImplemented
        return (
            self.link_names == other.link_names
            and np.array_equal(self.centers, other.centers)
            and np.array_equal(self.radii, other.radii)
            and np.array_equal(self.link_idx, other.link_idx)
            and self.attached == other.attached
            and dict(self.self_padding) == dict(other.self_padding)
            and dict(self.world_padding) == dict(other.world_padding)
        )

    __hash__ = None  # type: ignore[assignment]

    # Change ----------------------------------------------------------------------------------

    def with_padding(
        self,
        *,
        self_collision: float | Mapping[str, float] | None = None,
        world: float | Mapping[str, float] | None = None,
    ) -> SphereModel:
        """A copy with padding in metres, one number for all links or by link; None leaves it as it is."""
        fields: dict[str, Any] = {}
        for name, value in (("self_padding", self_collision), ("world_padding", world)):
            if value is not None:
                fields[name] = value if isinstance(value, Mapping) else dict.fromkeys(self.link_names, value)
        return replace(self, **fields)

    def attach(self, link: str, centers: Any, radii: Any, name: str) -> SphereModel:
        """A copy with the spheres of a grasped object fixed to a link.

        Args:
            link: the link that carries it. centers: (n, 3) in the link frame; radii: (n,), metres.
            name: of the object, not yet in use.
        """
        if not name:
            raise InputError("an attached object needs a name")
        if name in self.attached:
            raise InputError(f"an object {name!r} is attached already; detach it first")
        place = self.index(link)
        c, r = _pair(centers, radii, f"object {name!r} on link {link!r}")
        return replace(
            self,
            centers=np.concatenate([self.centers, c]),
            radii=np.concatenate([self.radii, r]),
            link_idx=np.concatenate([self.link_idx, np.full(len(r), place, dtype=np.int64)]),
            attached=self.attached + (name,) * len(r),
        )

    def detach(self, name: str) -> SphereModel:
        """A copy without the spheres of an attached object."""
        if not name or name not in self.attached:
            raise InputError(
                f"no object {name!r} is attached; there are: {', '.join(self.objects) or 'none'}"
            )
        keep = np.array([a != name for a in self.attached], dtype=bool)
        return replace(
            self,
            centers=self.centers[keep],
            radii=self.radii[keep],
            link_idx=self.link_idx[keep],
            attached=tuple(a for a in self.attached if a != name),
        )

    def for_links(self, link_names: Sequence[str], robot_name: str = "") -> SphereModel:
        """The same spheres on another list of links (a robot's, in its order).

        Raises:
            UnknownLinkError: a link with spheres is not in the list: the model is of another robot.
        """
        names = tuple(link_names)
        place = {name: k for k, name in enumerate(names)}
        for name in [*self.counts, *self.self_padding, *self.world_padding]:
            if name not in place:
                of = f"robot {robot_name!r}" if robot_name else "the robot"
                raise UnknownLinkError(f"the spheres are not of {of}: {unknown('link', name, names)}")
        idx = np.array([place[self.link_names[k]] for k in self.link_idx], dtype=np.int64)
        return replace(self, link_names=names, link_idx=idx, robot_name=robot_name or self.robot_name)

    # Text ------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        on = f"{len(self.counts)} of {len(self.link_names)} links"
        return f"SphereModel({self.robot_name!r}: {len(self)} spheres on {on})"

    def __str__(self) -> str:
        rows = [("link", "spheres", "radius, mm", "attached")]
        for name in self.counts:
            mask = self.link_idx == self.index(name)
            radii = 1e3 * self.radii[mask]
            objects = sorted({self.attached[k] for k in np.flatnonzero(mask) if self.attached[k]})
            rows.append(
                (name, str(int(mask.sum())), f"{radii.min():.1f} to {radii.max():.1f}", ", ".join(objects))
            )
        rows.append(("all", str(len(self)), "", ""))
        return table(rows)

    def to_json(self) -> dict[str, Any]:
        """A dictionary of plain values that `from_json` reads back equal.

        How long the fit took is left out, so that the same spheres are the same file.
        """
        spheres: dict[str, list[dict[str, Any]]] = {}
        for k in range(len(self)):
            entry: dict[str, Any] = {"center": self.centers[k].tolist(), "radius": float(self.radii[k])}
            if self.attached[k]:
                entry["attached"] = self.attached[k]
            spheres.setdefault(self.link_names[self.link_idx[k]], []).append(entry)
        return {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "robot": self.robot_name,
            "links": list(self.link_names),
            "spheres": spheres,
            "self_padding": dict(self.self_padding),
            "world_padding": dict(self.world_padding),
            "evidence": {name: value for name, value in plain(self.evidence).items() if name != "seconds"},
        }

    @classmethod
    def from_json(cls, data: Any, link_names: Sequence[str] | None = None) -> SphereModel:
        """Reads what `to_json` wrote, or `{link: [{center, radius}]}`, or `{link: {centers, radii}}`.

        Args:
            data: the dictionary, or JSON text (in text, a link given twice is found and refused).
            link_names: the robot's links; None takes those of the data.

        Raises:
            FormatError: something is missing or of the wrong kind; the place is named.
            UnknownLinkError: spheres on a link that is not in `link_names`.
        """
        from ._model_json import read_model

        return read_model(cls, data, link_names)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Text table with aligned columns; the first row is the head, the first column is left-aligned."""
    widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
    lines: list[str] = []
    for k, row in enumerate(rows):
        cells = [row[0].ljust(widths[0]), *(row[c].rjust(widths[c]) for c in range(1, len(row)))]
        lines.append("  ".join(cells).rstrip())
        if k == 0:
            lines.append("-" * (sum(widths) + 2 * (len(widths) - 1)))
    return "\n".join(lines)


def _floats(value: Any, what: str) -> Float64:
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{what}: expected numbers, found {short(value)}: {error}") from None


def _pair(centers: Any, radii: Any, where: str) -> tuple[Float64, Float64]:
    c, r = _floats(centers, f"{where}, centers"), _floats(radii, f"{where}, radii")
    c = c.reshape(0, 3) if c.size == 0 else c
    if c.ndim != 2 or c.shape[1] != 3 or r.ndim != 1 or len(c) != len(r):
        raise InputError(f"{where}: expected centers (n, 3) and radii (n,), found {c.shape} and {r.shape}")
    for k in range(len(r)):
        _check_sphere(c[k], r[k], f"{where}, sphere {k}")
    return c, r


def _check_sphere(center: Float64, radius: float, where: str) -> None:
    if not np.isfinite(center).all():
        raise InputError(f"{where}: the center must be finite, found {center.tolist()}")
    if not (np.isfinite(radius) and radius > 0.0):
        raise InputError(f"{where}: the radius must be finite and positive, found {float(radius)!r}")


def _padding(value: Any, names: tuple[str, ...], what: str) -> Mapping[str, float]:
    if not isinstance(value, Mapping):
        raise InputError(f"{what}: expected a mapping of links to metres, found {short(value)}")
    out: dict[str, float] = {}
    for link, amount in value.items():
        if link not in names:
            raise UnknownLinkError(f"{what}: {unknown('link', str(link), names)}")
        try:
            metres = np.nan if isinstance(amount, (str, bytes, bool)) else float(amount)
        except (TypeError, ValueError, OverflowError):
            metres = np.nan
        if not np.isfinite(metres):
            raise InputError(
                f"{what} of link {link!r}: expected a finite number of metres, found {short(amount)}"
            )
        if metres != 0.0:
            out[str(link)] = metres
    return FrozenMap(out)
