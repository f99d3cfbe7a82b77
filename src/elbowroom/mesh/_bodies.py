"""A small world of bodies: named shapes at their poses, which of them touch and how far apart they are.

Bodies whose bounding boxes do not overlap are left out first; every other pair is answered by `detect_contact`.
Convex shapes are solids; closed triangle meshes are too, open ones are surfaces (see `collide`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from .._brief import brief
from .._frozen import Frozen, frozen
from ..errors import InputError, UnknownNameError, unknown
from ._frames import one_row, row_matrix
from ._shape_contact import detect_contact, shape_distance
from ._shapes import ContactShape, check_shape, shape_bounds

SLACK = 1e-9
"""Added to bounding boxes, as a fraction of their coordinates: no touch is lost to rounding."""


@dataclass(frozen=True, eq=False)
class Body(Frozen):
    """A shape with a name and a place.

    Raises:
        InputError: an id that cannot be a key, a shape of another type, or a bad pose.
    """

    id: Hashable
    """What the body is called: a string, a number, anything that can be a key."""
    shape: ContactShape
    """Its shape, in its own frame."""
    pose: Float[np.ndarray, "4 4"] = None  # type: ignore[assignment]
    """Pose in the world, given as `(7,)` wxyz_xyz or `(4, 4)`, kept as a matrix; None is the identity."""

    def __post_init__(self) -> None:
        if not _is_key(self.id) or self.id is None or self.id != self.id:  # NaN is not even itself
            raise InputError(f"id: expected a name or a number, found {self.id!r:.80}")
        check_shape(self.shape)
        object.__setattr__(self, "pose", frozen(row_matrix(one_row(self.pose, f"pose of {self.id!r}")[0])))

    @cached_property
    def bounds(self) -> Float[np.ndarray, "2 3"]:
        """Lowest and highest coordinates in the world; infinite for half-spaces."""
        return frozen(shape_bounds(self.shape, self.pose))

    def __repr__(self) -> str:
        return f"Body({self.id!r}, {self.shape!r}, at {np.round(self.pose[:3, 3], 4).tolist()})"


@brief
@dataclass(frozen=True, eq=False)
class BodyContact:
    """Two bodies in each other, or touching; world frame."""

    id_a: Hashable
    """The first body, in the order in which they were given."""
    id_b: Hashable
    """The second."""
    point: Float[np.ndarray, "3"]
    """Middle between `point_a` and `point_b`."""
    normal: Float[np.ndarray, "3"]
    """Unit vector from the first body to the second."""
    depth: float
    """Metres, not negative: moving the second body by `depth * normal` parts the two. Infinite for two half-spaces that
    overlap without end."""
    point_a: Float[np.ndarray, "3"]
    """Deepest point of the first body."""
    point_b: Float[np.ndarray, "3"]
    """Deepest point of the second: `point_a - depth * normal`."""


@brief
@dataclass(frozen=True, eq=False)
class BodyDistance:
    """How far apart two bodies are (positive apart, negative overlapping); world frame."""

    id_a: Hashable
    """The first body, as asked."""
    id_b: Hashable
    """The second."""
    distance: float
    """Metres: clearance when positive, minus the depth when not."""
    point_a: Float[np.ndarray, "3"]
    """Closest point of the first body, or its deepest."""
    point_b: Float[np.ndarray, "3"]
    """The same of the second: `point_a + distance * normal`."""
    normal: Float[np.ndarray, "3"]
    """Unit vector from the first body to the second."""


class Bodies:
    """Bodies by id. A value: `add`, `remove` and `move` return others.

    Example:
        >>> from elbowroom.mesh import Bodies, Body, Cylinder, HalfSpace
        >>> can = Body("can", Cylinder(0.03, 0.12), (1, 0, 0, 0, 0, 0, 0.058))
        >>> contact, = Bodies([Body("floor", HalfSpace()), can]).contacts()
        >>> contact.id_a, contact.id_b, round(contact.depth, 6), contact.normal.tolist()
        ('floor', 'can', 0.002, [0.0, 0.0, 1.0])

    Args:
        bodies: the bodies, each with an id of its own.

    Raises:
        InputError: something else than a `Body`, or an id twice.
    """

    def __init__(self, bodies: Iterable[Body] = ()) -> None:
        self._bodies: dict[Hashable, Body] = {}
        for body in _listed(bodies):
            if not isinstance(body, Body):
                raise InputError(f"bodies: expected a Body, found {body!r:.80}")
            if body.id in self._bodies:
                raise InputError(f"bodies: expected ids that differ, found {body.id!r} twice")
            self._bodies[body.id] = body

    @property
    def ids(self) -> tuple[Hashable, ...]:
        """Ids in the order given."""
        return tuple(self._bodies)

    def __len__(self) -> int:
        return len(self._bodies)

    def __iter__(self) -> Iterator[Body]:
        return iter(self._bodies.values())

    def __contains__(self, id: object) -> bool:
        return _is_key(id) and id in self._bodies

    def __getitem__(self, id: Hashable) -> Body:
        """The body of an id.

        Raises:
            UnknownNameError: there is none.
        """
        found = self._bodies.get(id) if _is_key(id) else None
        if found is None:
            raise UnknownNameError(unknown("body", str(id), [str(known) for known in self._bodies]))
        return found

    def __repr__(self) -> str:
        return f"Bodies({len(self)}: {', '.join(repr(id) for id in self._bodies)})"

    def add(self, body: Body) -> Bodies:
        """These bodies and one more."""
        return Bodies([*self, body])

    def remove(self, id: Hashable) -> Bodies:
        """These bodies without one of them."""
        gone = self[id]
        return Bodies(body for body in self if body is not gone)

    def move(self, id: Hashable, pose: Any) -> Bodies:
        """These bodies with one of them elsewhere.

        Args:
            id: which.
            pose: its new pose in the world, `(7,)` or `(4, 4)`.
        """
        moved = replace(self[id], pose=pose)
        return Bodies(moved if body.id == moved.id else body for body in self)

    def near_pairs(self) -> tuple[tuple[Hashable, Hashable], ...]:
        """Pairs of ids whose bounding boxes overlap, in the order of the bodies; all that touch are among them."""
        if len(self) < 2:
            return ()
        bounds = np.stack([body.bounds for body in self])
        reach = np.where(np.isfinite(bounds), SLACK * (1.0 + np.abs(bounds)), 0.0)
        low, high = bounds[:, 0] - reach[:, 0], bounds[:, 1] + reach[:, 1]
        overlap = (low[:, None] <= high[None]).all(axis=2)
        ids = self.ids
        return tuple((ids[i], ids[j]) for i, j in np.argwhere(np.triu(overlap & overlap.T, 1)).tolist())

    def contacts(self, *, contain: bool = True) -> tuple[BodyContact, ...]:
        """One contact for every pair of bodies that touch or are in each other, the deepest first.

        Args:
            contain: closed triangle meshes are solids, so that a body inside one touches it; False takes them as
                surfaces. All other shapes are solids always.
        """
        found: list[BodyContact] = []
        for id_a, id_b in self.near_pairs():
            a, b = self._bodies[id_a], self._bodies[id_b]
            c = detect_contact(a.shape, a.pose, b.shape, b.pose, contain=contain)
            if c is not None:
                found.append(BodyContact(id_a, id_b, c.point, c.normal, c.depth, c.point_a, c.point_b))
        return tuple(sorted(found, key=lambda contact: -contact.depth))

    def distance(self, id_a: Hashable, id_b: Hashable, *, contain: bool = True) -> BodyDistance:
        """Signed distance of two bodies (positive apart, negative overlapping) with their closest points.

        Args:
            id_a: the first.
            id_b: the second, another one.
            contain: as of `contacts`.

        Raises:
            UnknownNameError: there is no such body. InputError: a body against itself.
        """
        a, b = self[id_a], self[id_b]
        if a is b:
            raise InputError(f"id_b: expected another body than {id_a!r}")
        d = shape_distance(a.shape, a.pose, b.shape, b.pose, contain=contain)
        return BodyDistance(a.id, b.id, d.distance, d.point_a, d.point_b, d.normal)


def _listed(bodies: Any) -> list[Any]:
    if isinstance(bodies, Body) or not isinstance(bodies, Iterable):
        raise InputError(f"bodies: expected a list of them, found {bodies!r:.80}")
    return list(bodies)


def _is_key(id: Any) -> bool:
    """Whether a dictionary takes it: a tuple says that it can be hashed even where what it holds cannot."""
    try:
        hash(id)
    except TypeError:
        return False
    return True
