"""The smooth closure: one continuous branch of grasps over the whole range of widths.

From the closed posture (level tips, tilt zero) the branch is followed towards wider grasps by continuation:
each node starts at its neighbour and solves the equations of `_equations.py` along a curve in control space
that closes the thumb late. Several fingertips can be level with the thumb only up to a fold: near it the
longest finger reaches deeper than the others can at any tilt (4.4 mm on the RH56), so no exactly level branch
passes from extended to flexed fingers. The fold is crossed on a cubic bridge in control space that leaves the
level branch of flexed fingers and joins that of extended fingers with equal slopes; width and the height of
the thumb against the fingers' mean stay exact on it, single fingertips differ by what `Grasp.height_spread` says.

Guarantee: a query starts at the interpolated node and solves the same equations; the answer depends on the
width alone, and the residual is part of the result. Other hands than the bundled one need postures from the
user; a branch that cannot be built is an error that says why. Nodes hold controls and tilts, which a mirrored hand
shares with its original, so it uses the same cached branch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from .._cache import Arrays, cached
from .._frozen import frozen
from ..errors import InputError
from ._equations import TOLERANCE, Closure, Curve, State
from ._hand import Hand
from ._types import Opposition

ALGORITHM = "smooth 1"
"""Part of the cache key; changes when nodes would."""
NODES = 401
LEVEL_SLOPE = 14.0
"""rad/m; where a control of the level branch turns faster than this, the fold is near and the bridge begins."""
BRIDGE_SLOPE, BRIDGE_PEAK = 13.0, 18.0
"""rad/m; mean and largest slope of a control on the bridge, below the 0.02 rad/mm that the closure promises."""
BRIDGE_TRIES = 4
"""Nodes between the ends that are tried for the bridge."""
BRIDGE_RETREATS = (0, 4, 8, 16, 32)
"""Nodes by which the bridge begins before the level branch ends, tried in this order."""
SETTLE = 1e-7
"""rad; last step of a query. Its equations are nevertheless solved to 1e-11 m."""


@dataclass(frozen=True)
class Branch:
    """Nodes of the smooth closure of one opposition set, from the smallest to the largest width."""

    widths: Float[np.ndarray, "nodes"]
    x: Float[np.ndarray, "nodes active"]
    tilt: Float[np.ndarray, "nodes"]
    u: Float[np.ndarray, "nodes"]
    fold: tuple[int, int]
    """Nodes between which the bridge lies; the others are on the reference curve. Twice the last node: no bridge."""
    open: Float[np.ndarray, "active"]
    closed: Float[np.ndarray, "active"]
    bridge: Float[np.ndarray, "4 active"]
    """Cubic coefficients from the constant term up; unused when all nodes are level."""
    side: bool
    """Whether the sideways offset is solved to zero."""

    @cached_property
    def closure(self) -> Float[np.ndarray, "nodes"]:
        """How far closed each node is: 1 - control travelled from the closed end, 0 at the open end."""
        travelled = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(self.x, axis=0)).max(axis=1))])
        return 1.0 - travelled / travelled[-1]


class SmoothClosure:
    """Solves the smooth closure of one opposition set at any width in its range."""

    def __init__(self, hand: Hand, name: str, opposition: Opposition, *, rebuild: bool = False) -> None:
        self.hand, self.name, self.opposition = hand, name, opposition
        self.closure = Closure(hand, opposition.fingers)
        self._names = [hand.actuator_names[i] for i in self.closure.active]
        self._shape = np.array([opposition.shape.get(actuator, 1.0) for actuator in self._names])
        self.branch = self._load(rebuild)

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest width, m."""
        return float(self.branch.widths[0]), float(self.branch.widths[-1])

    @property
    def fold(self) -> tuple[float, float] | None:
        """Widths between which fingertips are not all level with the thumb, m; None when they always are."""
        first, last = self.branch.fold
        return (float(self.branch.widths[first]), float(self.branch.widths[last])) if last > first else None

    def solve(self, width: float) -> tuple[State, float]:
        """State at a width within the range, and how far closed it is (0 open, 1 closed)."""
        branch = self.branch
        i = int(np.clip(np.searchsorted(branch.widths, width) - 1, 0, len(branch.widths) - 2))
        f = (width - branch.widths[i]) / (branch.widths[i + 1] - branch.widths[i])

        def between(values: np.ndarray) -> np.ndarray:
            return (1.0 - f) * values[i] + f * values[i + 1]

        first, last = branch.fold
        on_curve = not first <= i < last
        u = float(between(branch.u))
        if not on_curve:  # the ends of the bridge carry the curve's u
            u = (1.0 - f) * (0.0 if i == first else branch.u[i]) + f * (
                1.0 if i + 1 == last else branch.u[i + 1]
            )
        start = State(between(branch.x), float(between(branch.tilt)), float(u), math.inf)
        state = self.closure.solve(
            start,
            self._curve if on_curve else self._bridge,
            width=width,
            side=branch.side and on_curve,
            aligned=on_curve,
            settle=SETTLE,
        )
        self._require(state, f"{1e3 * width:.2f} mm")
        return state, float(between(branch.closure))

    # The curves ---------------------------------------------------------------------------------

    def _curve(self, u: float) -> tuple[np.ndarray, np.ndarray]:
        return eased(self.branch.open, self.branch.closed, self._shape, u)

    def _bridge(self, u: float) -> tuple[np.ndarray, np.ndarray]:
        return cubic(self.branch.bridge, u)

    # Building -----------------------------------------------------------------------------------

    def _load(self, rebuild: bool) -> Branch:
        parts = (ALGORITHM, NODES, *self.hand.fingerprint, repr(self.opposition))
        return _branch_of(cached("grasp", parts, self._build, fits=self._fits, rebuild=rebuild))

    def _fits(self, arrays: Arrays) -> bool:
        n = len(self.closure.active)
        shapes = {"widths": (NODES,), "x": (NODES, n), "tilt": (NODES,), "u": (NODES,), "fold": (2,)}
        shapes |= {"open": (n,), "closed": (n,), "bridge": (4, n), "side": ()}
        for name, shape in shapes.items():
            found = arrays.get(name)
            if found is None or found.shape != shape or found.dtype.kind not in "fib":
                return False
            if not np.isfinite(found).all():
                return False
        return bool(np.all(np.diff(arrays["widths"]) > 0))

    def _build(self) -> dict[str, np.ndarray]:
        opposition, closure = self.opposition, self.closure
        closed_guess = self._posture(opposition.closed, 0.5, "closed")
        closed, side = self._closed_state(closed_guess)
        open_guess = self._posture(opposition.open, 0.0, "open")
        tilt = math.atan2(*self._direction(open_guess))
        start = State(open_guess, tilt, 0.0, math.inf)
        opened = closure.solve(start, _still(open_guess), hold_thumb=not side, side=side)
        if opened.residual > 10 * TOLERANCE:
            opened = closure.solve(start, _still(open_guess), side=side)
        self._require(opened, "open")
        width_open = float(closure.measures(opened.x, opened.tilt)[0][len(opposition.fingers)])
        if width_open <= opposition.closed_width:
            raise InputError(
                f"{self.hand.name}: opposition set {self.name!r}: its open posture is {width_open:.4f} m wide, "
                f"not wider than the closed one, {opposition.closed_width:.4f} m"
            )
        widths = np.linspace(opposition.closed_width, width_open, NODES)

        def curve(u: float) -> tuple[np.ndarray, np.ndarray]:
            return eased(opened.x, closed.x, self._shape, u)

        narrow = self._follow(State(closed.x, closed.tilt, 1.0, 0.0), curve, widths, side)
        fold, bridge, nodes = (NODES - 1, NODES - 1), np.zeros((4, len(closed.x))), narrow
        if len(narrow) < NODES:
            wide = self._follow(
                State(opened.x, opened.tilt, 0.0, 0.0), curve, widths[len(narrow) - 1 :][::-1], side
            )
            fold, bridge, nodes = self._joined(widths, narrow, wide[::-1])
        return {
            "widths": widths,
            "x": np.array([node.x for node in nodes]),
            "tilt": np.array([node.tilt for node in nodes]),
            "u": np.array([node.u for node in nodes]),
            "fold": np.array(fold),
            "open": opened.x,
            "closed": closed.x,
            "bridge": bridge,
            "side": np.array(side),
        }

    def _follow(self, start: State, curve: Curve, widths: np.ndarray, side: bool) -> list[State]:
        """Nodes along the curve from a first state, until one cannot be reached or a control turns too fast."""
        nodes = [start]
        largest = LEVEL_SLOPE * abs(widths[1] - widths[0])
        for width in widths[1:]:
            state = self.closure.solve(nodes[-1], curve, width=float(width), side=side)
            if state.residual > 10 * TOLERANCE or np.abs(state.x - nodes[-1].x).max() > largest:
                break
            nodes.append(state)
        return nodes

    def _joined(
        self, widths: np.ndarray, narrow: list[State], wide: list[State]
    ) -> tuple[tuple[int, int], np.ndarray, list[State]]:
        """Joins two pieces of the branch by the shortest bridge on which no control turns too fast.

        Returns:
            The bridge's first and last node, its coefficients, and all nodes.
        """
        for back in BRIDGE_RETREATS:
            piece = narrow[: len(narrow) - back]
            if len(piece) < 3:
                break
            for skip in (*range(0, len(wide) - 1, BRIDGE_TRIES), len(wide) - 1):
                found = self._bridged(widths, piece, wide[skip:])
                if found is not None:
                    first, last = len(piece) - 1, len(widths) - len(wide[skip:])
                    return (first, last), found[0], [*piece, *found[1], *wide[skip:]]
        raise InputError(
            f"{self.hand.name}: opposition set {self.name!r}: no continuous closure leads from the open posture to "
            f"{1e3 * widths[len(narrow) - 1]:.1f} mm, up to where level tips lead from the closed one "
            f"({dict(zip(self._names, narrow[0].x.round(4).tolist(), strict=True))}); give other postures"
        )

    def _bridged(
        self, widths: np.ndarray, narrow: list[State], wide: list[State]
    ) -> tuple[np.ndarray, list[State]] | None:
        """Coefficients and inner nodes of a bridge; None when it would turn a control too fast."""
        first, last = len(narrow) - 1, len(widths) - len(wide)
        step, span = widths[1] - widths[0], widths[last] - widths[first]
        rise = wide[0].x - narrow[-1].x
        if np.abs(rise).max() > BRIDGE_SLOPE * span:
            return None
        slope_0 = (narrow[-1].x - narrow[-2].x) / step * span
        slope_1 = (wide[1].x - wide[0].x) / step * span if len(wide) > 1 else rise
        bridge = hermite(narrow[-1].x, wide[0].x, slope_0, slope_1)
        crossing = self._cross(bridge, narrow[-1], widths[first : last + 1])
        return None if crossing is None else (bridge, crossing[1:-1])

    def _cross(self, bridge: np.ndarray, start: State, widths: np.ndarray) -> list[State] | None:
        """Nodes on a bridge; None when one is not reached or a control turns too fast."""
        nodes = [State(start.x, start.tilt, 0.0, 0.0)]
        for width in widths[1:]:
            state = self.closure.solve(
                nodes[-1], lambda u: cubic(bridge, u), width=float(width), aligned=False
            )
            too_fast = np.abs(state.x - nodes[-1].x).max() > BRIDGE_PEAK * (widths[1] - widths[0])
            if state.residual > 10 * TOLERANCE or too_fast:
                return None
            nodes.append(state)
        return nodes

    def _closed_state(self, guess: np.ndarray) -> tuple[State, bool]:
        """The closed posture, without sideways offset if the thumb can reach that."""
        opposition, closure = self.opposition, self.closure
        start = State(guess, math.atan2(*self._direction(guess)), 0.0, math.inf)
        for side in (True, False):
            state = closure.solve(
                start,
                _still(guess),
                width=opposition.closed_width,
                tilt=opposition.closed_tilt,
                side=side,
            )
            if state.residual <= 10 * TOLERANCE:
                return state, side
        self._require(state, "closed")
        return state, False

    def _posture(self, given: Mapping[str, float], fraction: float, what: str) -> np.ndarray:
        low, high = self.hand.ctrl_lower, self.hand.ctrl_upper
        label = f"opposition set {self.name!r}: {what}"
        return self.hand.posture(given, low + fraction * (high - low), label)[self.closure.active]

    def _direction(self, x: np.ndarray) -> tuple[float, float]:
        """Minus d_z and d_x of the thumb over the fingers' mean; d_x kept positive."""
        n = len(self.opposition.fingers)
        upright, lying = (self.closure.measures(x, tilt)[0][:n].mean() for tilt in (0.0, math.pi / 2))
        return float(upright), max(-float(lying), 1e-3)

    def _require(self, state: State, where: str) -> None:
        if not state.residual <= 10 * TOLERANCE:
            raise InputError(
                f"{self.hand.name}: opposition set {self.name!r}: no level grasp near its {where} posture "
                f"(the tips stay {1e3 * state.residual:.2f} mm apart); give other open and closed postures"
            )


def eased(start: np.ndarray, end: np.ndarray, shape: np.ndarray, u: float) -> tuple[np.ndarray, np.ndarray]:
    """The reference curve and its derivative at u in [0, 1]; see `Opposition`."""
    late = shape >= 1.0
    k = np.where(late, shape, 1.0 / shape)
    base = np.where(late, u, 1.0 - u)
    power = base**k
    slope = k * base ** (k - 1.0)
    return start + (end - start) * np.where(late, power, 1.0 - power), (end - start) * slope


def hermite(start: np.ndarray, end: np.ndarray, slope_0: np.ndarray, slope_1: np.ndarray) -> np.ndarray:
    """Coefficients (4, n) of the cubic with given ends and end slopes on [0, 1]."""
    rise = end - start
    return np.array([start, slope_0, 3 * rise - 2 * slope_0 - slope_1, slope_0 + slope_1 - 2 * rise])


def cubic(c: np.ndarray, u: float) -> tuple[np.ndarray, np.ndarray]:
    """A cubic and its derivative."""
    return c[0] + u * (c[1] + u * (c[2] + u * c[3])), c[1] + u * (2 * c[2] + u * 3 * c[3])


def _still(x: np.ndarray) -> Curve:
    return lambda u: (x, np.zeros_like(x))


def _branch_of(arrays: Arrays) -> Branch:
    """A Branch from checked arrays."""
    names = ("widths", "x", "tilt", "u", "open", "closed", "bridge")
    return Branch(
        **{name: frozen(np.asarray(arrays[name], dtype=np.float64)) for name in names},
        fold=(int(arrays["fold"][0]), int(arrays["fold"][1])),
        side=bool(arrays["side"]),
    )
