"""Colours that people with any kind of sight can tell apart (Okabe and Ito), and who paints links."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .._view import View

Rgb = tuple[int, int, int]

PLAIN: Rgb = (200, 203, 208)
COLLIDING: Rgb = (213, 94, 0)
"""Vermillion; what collides is also named in words."""
PICKED: Rgb = (86, 180, 233)
"""Sky blue."""
CHOSEN: Rgb = (240, 228, 66)
"""Yellow: the sphere that is chosen."""
COLLISION_LAYER: Rgb = (230, 200, 120)
SPHERES_LAYER: Rgb = (0, 158, 115)
OBSTACLE: Rgb = (150, 140, 125)
SEGMENT: Rgb = (0, 114, 178)
NORMAL: Rgb = (204, 121, 167)


def _picked(view: View) -> Mapping[str, Rgb]:
    link = view.state.look.link
    return {} if link is None else {link: PICKED}


def _colliding(view: View) -> Mapping[str, Rgb]:
    verdict = view.verdict
    if verdict is None or view.free or (view.measured and verdict.free):
        return {}
    return {name: COLLIDING for clash in verdict.clashes for name in clash.pair}


PAINTERS: list[Callable[[View], Mapping[str, Rgb]]] = [_colliding, _picked]
"""Who paints links, each a function of the view to colours of some links; later ones paint over earlier ones."""


def link_colours(view: View) -> dict[str, Rgb]:
    """Colours of the links that are not plain."""
    colours: dict[str, Rgb] = {}
    for paint in PAINTERS:
        colours.update(paint(view))
    return colours
