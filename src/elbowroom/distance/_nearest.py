"""The nearest pair of spheres, by branch and bound over groups of spheres, in JAX.

The spheres of a link are parted into groups of up to eight that lie together. The balls around two groups give a lower
bound of every distance between their spheres. Group pairs are opened in the order of these bounds, a few at a time,
until no bound is left below what was found: the answer is that of all pairs of spheres, the work is that of the
near ones. Shapes are static, so the search runs under jit and vmap. It is not differentiated: only the distance of the
pair that it finds is.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import jax_dataclasses as jdc
import numpy as np
from jaxtyping import Array, Float, Int

from .._brief import brief
from ..typing import LinkPair

GROUP = 8
"""Spheres of a group: with 4 there are too many group pairs to bound, with 16 too many spheres to open."""
OPENED = 8
"""Group pairs opened at a time."""


@brief
@jdc.pytree_dataclass
class SphereGroups:
    """Groups of spheres of one link each, and the pairs of groups that belong to the link pairs; indices alone."""

    link_pairs: jdc.Static[tuple[LinkPair, ...]]
    """The link pairs, sorted by name."""
    spheres: Int[Array, "groups GROUP"]
    """Spheres of each group; one with fewer repeats its first."""
    first: Int[Array, "pairs"]
    second: Int[Array, "pairs"]
    """The two groups of each pair."""
    row: Int[Array, "pairs"]
    """Place of each pair's link pair in `link_pairs`."""

    @staticmethod
    def build(
        centers: Float[np.ndarray, "P 3"],
        members: dict[str, Int[np.ndarray, "n"]],
        link_pairs: Sequence[LinkPair],
    ) -> SphereGroups:
        """Groups the spheres of every link.

        Args:
            centers: in link frames, metres. members: spheres by link. link_pairs: between links that have spheres.
        """
        rows: list[Int[np.ndarray, "n"]] = []
        groups: dict[str, range] = {}
        for name, spheres in members.items():
            start = len(rows)
            rows += _parted(spheres, centers)
            groups[name] = range(start, len(rows))
        table = [(a, b, k) for k, (x, y) in enumerate(link_pairs) for a in groups[x] for b in groups[y]]
        first, second, row = np.array(table, dtype=np.int32).reshape(-1, 3).T
        padded = [np.concatenate([part, np.repeat(part[:1], GROUP - len(part))]) for part in rows]
        return SphereGroups(  # type: ignore[call-arg]
            link_pairs=tuple(link_pairs),
            spheres=jnp.asarray(np.array(padded, dtype=np.int32).reshape(-1, GROUP)),
            first=jnp.asarray(first),
            second=jnp.asarray(second),
            row=jnp.asarray(row),
        )

    def without(self, dropped: set[LinkPair]) -> SphereGroups:
        """The same groups without some link pairs (numpy, not for use under jit)."""
        kept = [k for k, pair in enumerate(self.link_pairs) if pair not in dropped]
        place = np.full(len(self.link_pairs), -1, dtype=np.int32)
        place[kept] = np.arange(len(kept))
        row = place[np.asarray(self.row)]
        return jdc.replace(
            self,
            link_pairs=tuple(self.link_pairs[k] for k in kept),
            first=self.first[row >= 0],
            second=self.second[row >= 0],
            row=jnp.asarray(row[row >= 0]),
        )

    def nearest(
        self, points: Float[Array, "P 3"], radii: Float[Array, "P"], limit: Float[Array, "rows"]
    ) -> tuple[Int[Array, "rows"], Int[Array, "rows"]]:
        """The two nearest spheres of every link pair.

        Args:
            points: centres in the world, metres. radii: metres.
            limit: metres, one per link pair; where no spheres of it are nearer, any two of its spheres are returned.
                With one number in all, the nearest spheres of all link pairs together.
        """
        count = len(self.first)
        together = limit.shape == (1,)
        row = jnp.zeros_like(self.row) if together else self.row
        balls = points[self.spheres]  # (groups, GROUP, 3)
        middles = 0.5 * (balls.min(axis=1) + balls.max(axis=1))
        reach = (jnp.linalg.norm(balls - middles[:, None], axis=-1) + radii[self.spheres]).max(axis=1)
        apart = jnp.linalg.norm(middles[self.first] - middles[self.second], axis=-1)
        bounds = apart - reach[self.first] - reach[self.second]
        opened = min(OPENED, count)

        def needed(best: Array) -> Array:
            """What a bound must be below for its pair to be opened."""
            worth = jnp.minimum(best, limit)
            return worth if together else worth[row]

        def going(state: tuple[Array, Array, Array]) -> Array:
            best, _, bounds = state
            return jnp.any(bounds < needed(best))

        def open_next(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            best, found, bounds = state
            bounds = jnp.where(bounds < needed(best), bounds, jnp.inf)
            least, k = jax.lax.top_k(-bounds, opened)
            a, b = self.spheres[self.first[k]], self.spheres[self.second[k]]  # (opened, GROUP)
            difference = points[a][:, :, None] - points[b][:, None]
            distance = jnp.sqrt(jnp.sum(difference**2, axis=-1)) - radii[a][:, :, None] - radii[b][:, None]
            distance = distance.reshape(opened, GROUP * GROUP)
            pair = jnp.argmin(distance, axis=1)
            value = jnp.take_along_axis(distance, pair[:, None], axis=1)[:, 0]
            value = jnp.where(jnp.isfinite(least), value, jnp.inf)
            better = best.at[row[k]].min(value)
            won = (value == better[row[k]]) & (value < best[row[k]])
            place = jnp.where(won, row[k], len(best))  # beyond the end: dropped
            found = found.at[place].set(k.astype(jnp.int32) * GROUP**2 + pair.astype(jnp.int32), mode="drop")
            return better, found, bounds.at[k].set(jnp.inf)

        anything = jnp.zeros(len(limit), jnp.int32)
        if not together:
            anything = anything.at[row].set(jnp.arange(count, dtype=jnp.int32) * GROUP**2)
        start = (jnp.full(len(limit), jnp.inf, points.dtype), anything, bounds)
        _, found, _ = jax.lax.while_loop(going, open_next, start)
        k, pair = found // GROUP**2, found % GROUP**2
        return self.spheres[self.first[k], pair // GROUP], self.spheres[self.second[k], pair % GROUP]


def _parted(spheres: Int[np.ndarray, "n"], centers: Float[np.ndarray, "P 3"]) -> list[Int[np.ndarray, "n"]]:
    """Spheres in groups, cut across the longest side again and again; all groups but the last ones are full."""
    if len(spheres) <= GROUP:
        return [spheres] if len(spheres) else []
    points = centers[spheres]
    longest = int(np.argmax(np.ptp(points, axis=0)))
    order = spheres[np.argsort(points[:, longest], kind="stable")]
    cut = -(-len(order) // GROUP) // 2 * GROUP
    return _parted(order[:cut], centers) + _parted(order[cut:], centers)
