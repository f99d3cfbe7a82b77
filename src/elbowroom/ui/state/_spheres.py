"""How spheres are fitted, which one is chosen, edits of single spheres, and what is proved of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from ...errors import InputError
from .._commands import command, fit_words, robot_words, spheres_file
from ._event import Event, Part
from ._model import SetSpheres

if TYPE_CHECKING:
    from ...robot import Robot
    from ...spheres import FitOptions, LinkCoverage, SphereModel
    from .._view import View
    from ._page import PageState

Count = Literal["automatic", "in total", "per link"]
Place = tuple[float, float, float]
LARGEST = 100.0
"""Metres: no robot has a sphere larger or farther off."""


@dataclass(frozen=True)
class FitForm:
    """What the next fit is asked for."""

    method: Literal["tight", "centerline"] = "tight"
    count: Count = "automatic"
    n_spheres: int = 120
    """In all."""
    per_link: tuple[tuple[str, int], ...] = ()
    share_mirrored: bool = True
    effort: float = 1.0
    margin: float = 0.0
    """Metres."""

    def options(self, link_names: Iterable[str]) -> FitOptions:
        """As `fit_spheres` takes them; what has no effect on a method is left at its default, as the command does.

        Raises:
            InputError: a number makes no sense.
        """
        from ...spheres import FitOptions

        known = set(link_names)
        own = {link: n for link, n in self.per_link if link in known} if self.count == "per link" else {}
        if self.method == "centerline":
            return FitOptions(method="centerline", per_link=own or None, margin=self.margin)
        return FitOptions(
            n_spheres=self.n_spheres if self.count == "in total" else None,
            per_link=own or None,
            margin=self.margin,
            effort=self.effort,
            share_mirrored=self.share_mirrored,
        )


@dataclass(frozen=True, eq=False)
class LinkProof:
    """What is proved of a link, and of which spheres."""

    centers: np.ndarray
    radii: np.ndarray
    found: LinkCoverage

    def of(self, centers: np.ndarray, radii: np.ndarray) -> bool:
        """Whether it speaks of these spheres."""
        return np.array_equal(self.centers, centers) and np.array_equal(self.radii, radii)


@dataclass(frozen=True, eq=False)
class SpheresState(Part):
    """The Spheres panel; the spheres themselves are in `state.model`."""

    kept: ClassVar[bool] = True
    form: FitForm = FitForm()
    chosen: tuple[str, int] | None = None
    """Link, and number of the sphere among its own."""
    wanted: bool = False
    """Whether coverage is proved after each change."""
    tint: bool = False
    """Whether links are coloured by how tightly spheres follow them."""
    proved_of: Robot | None = None
    proved: Mapping[str, LinkProof] = field(default_factory=dict[str, LinkProof])
    """The latest by link, of `proved_of`; they may be of spheres of a moment ago."""


def spheres_of(state: PageState) -> SphereModel | None:
    """The spheres that are shown: the user's, or those of the model that was made without any; None before that."""
    if state.model.spheres is not None:
        return state.model.spheres
    live = state.live
    if live.model is None or live.made_of is None or live.made_of[0] != state.robot.key:
        return None
    if live.made_of[1].spheres is not None:  # the model with the default ones is being made
        return None
    held = set(live.model.attachments)
    spheres = live.model.spheres
    if not held:
        return spheres
    from ...spheres import SphereModel

    own = {link: spheres.link(link) for link in spheres.counts if link not in held}
    names = [name for name in spheres.link_names if name not in held]
    return SphereModel.from_links(names, own, robot_name=spheres.robot_name, evidence=spheres.evidence)


def chosen_sphere(state: PageState) -> tuple[str, int, np.ndarray, float] | None:
    """The chosen sphere, if there is one: link, number, centre (3,) and radius in metres."""
    spheres, chosen = spheres_of(state), state.spheres.chosen
    if spheres is None or chosen is None or chosen[0] not in spheres.link_names:
        return None
    centers, radii = spheres.link(chosen[0], attached=False)
    return (*chosen, centers[chosen[1]], float(radii[chosen[1]])) if 0 <= chosen[1] < len(radii) else None


def coverage(robot: Robot, state: PageState) -> dict[str, LinkCoverage | None]:
    """What is proved of each link with geometry; None where the spheres have changed since."""
    spheres, own = spheres_of(state), state.spheres
    found: dict[str, LinkCoverage | None] = dict.fromkeys(robot.mesh_links)
    if spheres is None or own.proved_of is not robot:
        return found
    for link in robot.mesh_links:
        proof = own.proved.get(link)
        if proof is not None and proof.of(*spheres.link(link, attached=False)):
            found[link] = proof.found
    return found


def _with(state: PageState, **changes: Any) -> PageState:
    return replace(state, spheres=replace(state.spheres, **changes))


@dataclass(frozen=True)
class SetFit(Event):
    """Another wish for the next fit."""

    undoable: ClassVar[bool] = False
    form: FitForm

    def apply(self, state: PageState) -> PageState:
        """Nothing is fitted yet."""
        return _with(state, form=self.form)


@dataclass(frozen=True)
class ChooseSphere(Event):
    """A sphere is chosen, by link and number; None for none."""

    undoable: ClassVar[bool] = False
    chosen: tuple[str, int] | None

    def apply(self, state: PageState) -> PageState:
        """One at a time."""
        return _with(state, chosen=self.chosen)


@dataclass(frozen=True)
class ShowCoverage(Event):
    """Coverage is to be proved and kept up to date; or links are to be coloured by it."""

    undoable: ClassVar[bool] = False
    tint: bool

    def apply(self, state: PageState) -> PageState:
        """Colours need the proof."""
        return _with(state, wanted=True, tint=self.tint)


@dataclass(frozen=True, eq=False)
class LinksProved(Event):
    """Coverage of some links has been decided."""

    undoable: ClassVar[bool] = False
    robot: Robot
    links: Mapping[str, LinkProof]

    def apply(self, state: PageState) -> PageState:
        """What is known of the other links stays, if it is of the same robot."""
        before = state.spheres.proved if state.spheres.proved_of is self.robot else {}
        return _with(state, proved_of=self.robot, proved={**before, **self.links})


@dataclass(frozen=True, eq=False)
class SpheresFitted(SetSpheres):
    """A fit has come out."""

    options: Any = None
    """FitOptions; None for the default spheres."""

    def apply(self, state: PageState) -> PageState:
        """They are shown, and their proof is followed from now on."""
        after = _shown(super().apply(state))
        return _with(after, chosen=None, wanted=True)

    def command(self, view: View) -> str:
        """Fits the same, and writes the same file."""
        words = robot_words(view)
        if words is None or view.robot is None:
            return ""
        wishes = () if self.options is None else fit_words(self.options)
        return command("spheres", *words, *wishes, "--out", spheres_file(view.robot))


def _shown(state: PageState) -> PageState:
    look = state.look
    return replace(state, look=replace(look, spheres=replace(look.spheres, shown=True)))


@dataclass(frozen=True)
class SphereEdit(Event):
    """Some spheres of some links become others. Subclasses say which."""

    def changed(self, spheres: SphereModel) -> dict[str, np.ndarray]:
        """(n, 4) centres and radii, the new spheres of the links that change.

        Raises:
            InputError: there is no such sphere, or a number makes no sense.
        """
        raise NotImplementedError

    def choice(self, spheres: SphereModel) -> tuple[str, int] | None:
        """The sphere that is chosen afterwards, told the spheres before."""
        raise NotImplementedError

    def apply(self, state: PageState) -> PageState:
        """What is no longer proved is not called so."""
        spheres = spheres_of(state)
        if spheres is None:
            raise InputError("there are no spheres yet: the model is being made")
        edited, chosen = _replaced(spheres, self.changed(spheres)), self.choice(spheres)
        return _with(_shown(SetSpheres(edited).apply(state)), chosen=chosen, wanted=True)

    def command(self, view: View) -> str:
        """Proves what the Download button wrote, and says the same of it."""
        words = robot_words(view)
        if words is None or view.robot is None:
            return ""
        return command("spheres", *words, "--spheres", spheres_file(view.robot))


@dataclass(frozen=True)
class MoveSphere(SphereEdit):
    """A sphere goes elsewhere on its link."""

    link: str
    number: int
    center: Place
    """Metres, link frame."""

    @property
    def gesture(self) -> str:
        """One drag."""
        return f"move sphere {self.link} {self.number}"

    def changed(self, spheres: SphereModel) -> dict[str, np.ndarray]:
        """Its radius stays."""
        rows = _rows(spheres, self.link, self.number)
        rows[self.number, :3] = _place(self.center)
        return {self.link: rows}

    def choice(self, spheres: SphereModel) -> tuple[str, int] | None:
        """The same."""
        return self.link, self.number


@dataclass(frozen=True)
class ScaleSphere(SphereEdit):
    """A sphere gets another radius."""

    link: str
    number: int
    radius: float
    """Metres."""

    @property
    def gesture(self) -> str:
        """One hand at the number."""
        return f"scale sphere {self.link} {self.number}"

    def changed(self, spheres: SphereModel) -> dict[str, np.ndarray]:
        """Its centre stays."""
        rows = _rows(spheres, self.link, self.number)
        rows[self.number, 3] = _radius(self.radius)
        return {self.link: rows}

    def choice(self, spheres: SphereModel) -> tuple[str, int] | None:
        """The same."""
        return self.link, self.number


@dataclass(frozen=True)
class AddSphere(SphereEdit):
    """A link gets one more sphere."""

    link: str
    center: Place
    radius: float
    """Metres, link frame."""

    def changed(self, spheres: SphereModel) -> dict[str, np.ndarray]:
        """It comes last."""
        own = np.array([*_place(self.center), _radius(self.radius)])
        return {self.link: np.vstack([_rows(spheres, self.link), own])}

    def choice(self, spheres: SphereModel) -> tuple[str, int] | None:
        """The new one."""
        return self.link, len(_rows(spheres, self.link))


@dataclass(frozen=True)
class DeleteSphere(SphereEdit):
    """A sphere goes away."""

    link: str
    number: int

    def changed(self, spheres: SphereModel) -> dict[str, np.ndarray]:
        """Those after it move up."""
        return {self.link: np.delete(_rows(spheres, self.link, self.number), self.number, axis=0)}

    def choice(self, spheres: SphereModel) -> tuple[str, int] | None:
        """None: a second press must not delete another."""
        return None


@dataclass(frozen=True, eq=False)
class CarrySpheres(SphereEdit):
    """Spheres of a link are carried over to others, or mirrored on it."""

    link: str
    to: tuple[tuple[str, np.ndarray], ...]
    """Link, and (n, 4) centres and radii there."""
    instead: bool = False
    """Whether they take the place of those that are there."""

    def changed(self, spheres: SphereModel) -> dict[str, np.ndarray]:
        """An existing sphere is not added twice."""
        out: dict[str, np.ndarray] = {}
        for link, rows in self.to:
            before = np.zeros((0, 4)) if self.instead else out.get(link, _rows(spheres, link))
            new = [row for row in rows if not np.isclose(before, row, rtol=0.0, atol=1e-9).all(axis=1).any()]
            out[link] = np.vstack([before, *new])
        return out

    def choice(self, spheres: SphereModel) -> tuple[str, int] | None:
        """The last one carried."""
        link, rows = self.to[-1]
        return (link, len(self.changed(spheres)[link]) - 1) if len(rows) else None


def _rows(spheres: SphereModel, link: str, number: int | None = None) -> np.ndarray:
    """(n, 4) centres and radii of a link's own spheres, to be changed; there must be one of that number."""
    rows = np.column_stack(spheres.link(link, attached=False))
    if number is not None and not 0 <= number < len(rows):
        raise InputError(f"link {link!r} has {len(rows)} spheres, there is no number {number}")
    return rows


def _place(center: Place) -> Place:
    if len(center) != 3 or not all(isfinite(x) and abs(x) <= LARGEST for x in center):
        raise InputError(f"a centre has three numbers of metres within {LARGEST:g}, found {center}")
    return center


def _radius(radius: float) -> float:
    if not (isfinite(radius) and 1e-6 <= radius <= LARGEST):
        raise InputError(f"a radius is between 0.001 mm and {LARGEST:g} m, found {radius!r} m")
    return radius


def _replaced(spheres: SphereModel, changed: dict[str, np.ndarray]) -> SphereModel:
    """The model with other own spheres on some links."""
    places = {spheres.index(link): rows for link, rows in changed.items()}
    keep = np.array(
        [k not in places or name != "" for k, name in zip(spheres.link_idx, spheres.attached, strict=True)],
        bool,
    )
    centers, radii, idx = spheres.centers, spheres.radii, spheres.link_idx
    names = [name for name, kept in zip(spheres.attached, keep, strict=True) if kept]
    return replace(
        spheres,
        centers=np.vstack([centers[keep], *(rows[:, :3] for rows in places.values())]),
        radii=np.concatenate([radii[keep], *(rows[:, 3] for rows in places.values())]),
        link_idx=np.concatenate([idx[keep], *(np.full(len(rows), k) for k, rows in places.items())]),
        attached=(*names, *("" for rows in places.values() for _ in rows)),
        evidence={"method": "edited by hand", "of": str(spheres.evidence.get("method", "unknown"))},
    )
