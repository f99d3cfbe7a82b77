"""Which pair of links is selected, how close it is, and how pairs are decided again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from ...errors import InputError
from ...typing import LinkPair, sorted_pair
from .._commands import command, pair_words, pairs_file, robot_words, spheres_file
from ._event import Event, Part
from ._model import ModelParts, OverridePair, SetPairs
from ._robot import Cfg

if TYPE_CHECKING:
    from ..._clash import Clash
    from ...pairs import PairOptions
    from ...robot import Robot
    from .._view import View
    from ._page import PageState

MOST_SAMPLES = 1_000_000
"""That the page takes; more is for the command line, with a checkpoint."""


@dataclass(frozen=True)
class PairForm:
    """The settings with which pairs are decided again."""

    samples: int = 10_000
    seed: int = 0
    buffer: float = 0.02
    """Metres."""

    def options(self, parts: ModelParts) -> PairOptions:
        """As `compute_pairs` takes them, with the user's word on pairs.

        Raises:
            InputError: a number makes no sense, or would not do for the model.
        """
        from ...pairs import PairOptions

        if self.samples > MOST_SAMPLES:
            raise InputError(f"the page takes at most {MOST_SAMPLES} samples, found {self.samples}")
        if self.buffer < parts.buffer:
            raise InputError(
                f"pairs decided for {1000 * self.buffer:g} mm do not hold for the clearance of "
                f"{1000 * parts.buffer:g} mm that the model asks for"
            )
        said = sorted(parts.overrides)
        return PairOptions(
            samples=self.samples,
            seed=self.seed,
            buffer=self.buffer,
            ignore=tuple(pair for pair, checked in said if not checked),
            check=tuple(pair for pair, checked in said if checked),
        )


@dataclass(frozen=True, eq=False)
class Near:
    """How close two links are at a configuration."""

    clash: Clash
    pair: LinkPair
    cfg: Cfg
    robot: Robot

    def of(self, pair: LinkPair | None, cfg: Cfg, robot: Robot | None) -> bool:
        """Whether it is about this."""
        return self.pair == pair and self.cfg == cfg and self.robot is robot


@dataclass(frozen=True, eq=False)
class PairsState(Part):
    """The Pairs panel; the pairs themselves are in `state.model`."""

    kept: ClassVar[bool] = True
    pair: LinkPair | None = None
    """The selected pair, in the order of choosing."""
    form: PairForm = PairForm()
    near: Near | None = None
    """The latest; it may be of a moment ago."""


@dataclass(frozen=True)
class ChoosePair(Event):
    """A pair of links is selected; None for none."""

    undoable: ClassVar[bool] = False
    pair: LinkPair | None

    def apply(self, state: PageState) -> PageState:
        """A link with itself is no pair."""
        pair = None if self.pair is None or self.pair[0] == self.pair[1] else self.pair
        return replace(state, pairs=replace(state.pairs, pair=pair))


@dataclass(frozen=True)
class SetPairForm(Event):
    """Another wish for the next time pairs are decided."""

    undoable: ClassVar[bool] = False
    form: PairForm

    def apply(self, state: PageState) -> PageState:
        """Nothing is decided yet."""
        return replace(state, pairs=replace(state.pairs, form=self.form))


@dataclass(frozen=True, eq=False)
class NearFound(Event):
    """It has been measured how close the pair is."""

    undoable: ClassVar[bool] = False
    near: Near

    @property
    def gesture(self) -> str:
        """Only the latest counts."""
        return "near"

    def apply(self, state: PageState) -> PageState:
        """It is the latest."""
        return replace(state, pairs=replace(state.pairs, near=self.near))


@dataclass(frozen=True, eq=False)
class PairsComputed(SetPairs):
    """Pairs have been decided again."""

    options: Any = None
    """PairOptions; the user's word on pairs is among them."""
    uncovered: tuple[str, ...] = ()
    """Links whose spheres do not cover them, so that a ball stood in for them."""

    def apply(self, state: PageState) -> PageState:
        """What the user decided stays, for the day when spheres change and pairs are decided again."""
        return replace(state, model=replace(state.model, pairs=self.pairs))

    def command(self, view: View) -> str:
        """Decides the same, and writes the same file; the spheres come from the file that their command wrote."""
        words = robot_words(view)
        if words is None or view.robot is None or self.uncovered:
            return ""
        if view.state.model.spheres is not None:
            words = (*words, "--spheres", spheres_file(view.robot))
        return command("pairs", *words, *pair_words(self.options), "--out", pairs_file(view.robot))


def override_of(parts: ModelParts, pair: LinkPair) -> bool | None:
    """The user's word on a pair: checked, not checked, or None."""
    return dict(parts.overrides).get(sorted_pair(*pair))


@dataclass(frozen=True)
class DecidePair(OverridePair):
    """The user's word on a pair, given or taken back."""

    def apply(self, state: PageState) -> PageState:
        """Pairs that were decided with a word that is taken back are decided by default again."""
        after = super().apply(state)
        pairs = after.model.pairs
        if self.checked is not None or pairs is None or pairs.evidence(self.a, self.b).source != "user":
            return after
        return replace(after, model=replace(after.model, pairs=None))
