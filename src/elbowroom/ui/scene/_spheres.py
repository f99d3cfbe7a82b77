"""The chosen sphere's handle and the places that spheres do not cover; colours of links by how tight spheres are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..state import chosen_sphere, coverage
from ._colours import COLLIDING, PAINTERS, Rgb
from ._meshes import ball
from ._robot import frame_name

if TYPE_CHECKING:
    from ...spheres import LinkCoverage
    from .._view import View

TIGHT: Rgb = (0, 114, 178)
LOOSE: Rgb = (240, 228, 66)
LOOSEST = 3.0
"""Volume of the spheres over that of the mesh at which the colour scale of looseness ends."""
SMALLEST_HANDLE = 0.08
"""Metres."""
MARK = 0.006
"""Radius of the mark of a gap, metres."""
MOST = 5
"""Gaps that are marked."""


def tint(ratio: float) -> Rgb:
    """Colour of a link whose spheres have so many times its volume: blue is tight, yellow is loose."""
    share = float(np.clip((ratio - 1.0) / (LOOSEST - 1.0), 0.0, 1.0)) if np.isfinite(ratio) else 1.0
    red, green, blue = (round(low + share * (high - low)) for low, high in zip(TIGHT, LOOSE, strict=True))
    return red, green, blue


def _tightness(view: View) -> Mapping[str, Rgb]:
    if not view.state.spheres.tint or view.robot is None:
        return {}
    found = coverage(view.robot, view.state)
    return {
        link: tint(proof.volume_ratio) if proof.proved else COLLIDING
        for link, proof in found.items()
        if proof is not None
    }


PAINTERS.insert(0, _tightness)  # what collides and what is picked is painted over it


class SphereNodes:
    """A handle to drag the chosen sphere by, and a mark at every gap.

    Args:
        scene: a `viser.SceneApi`.
        moved: told of link, number and new centre (3,) of a sphere that is dragged.
    """

    def __init__(self, scene: Any, moved: Callable[[str, int, np.ndarray], None]) -> None:
        self._scene, self._moved = scene, moved
        self._robot: Any = None
        self._handle: Any = None
        self._held: tuple[str, int] | None = None
        self._dragged = False
        self._marks: dict[str, tuple[Any, list[Any]]] = {}

    def show(self, view: View) -> None:
        """Brings the scene up to date."""
        if view.robot is not self._robot:  # what hung on the links of the other robot has gone with them
            self._robot, self._handle, self._held, self._marks = view.robot, None, None, {}
        if view.robot is None:
            return
        self._show_handle(view)
        self._show_gaps(view)

    def _show_handle(self, view: View) -> None:
        chosen = chosen_sphere(view.state) if view.state.look.spheres.shown else None
        held = None if chosen is None else chosen[:2]
        if held != self._held:
            if self._handle is not None:
                self._handle.remove()
            self._handle, self._held, self._dragged = None, held, False
        if chosen is None:
            return
        link, number, center, radius = chosen
        if self._handle is None:
            self._handle = self._scene.add_transform_controls(
                f"{frame_name(self._robot, link)}/sphere_handle",
                scale=max(1.6 * radius, SMALLEST_HANDLE),
                position=center,
                disable_rotations=True,
                depth_test=False,
            )
            self._handle.on_update(self._listener(link, number))
        elif view.settled and not self._dragged and not np.allclose(self._handle.position, center, atol=1e-9):
            self._handle.position = center

    def _listener(self, link: str, number: int) -> Callable[[Any], Any]:
        async def updated(event: Any) -> None:
            if event.client_id is None:
                return
            self._dragged = event.phase != "end"
            if event.phase != "start":
                self._moved(link, number, np.array(event.target.position, dtype=np.float64))

        return updated

    def _show_gaps(self, view: View) -> None:
        found = coverage(self._robot, view.state) if view.state.spheres.wanted else {}
        gaps = [proof for proof in found.values() if proof is not None and proof.witness is not None]
        gaps = sorted(gaps, key=lambda proof: -proof.worst_gap)[:MOST]
        for link in [*self._marks]:
            if not any(gap is self._marks[link][0] for gap in gaps):
                for node in self._marks.pop(link)[1]:
                    node.remove()
        for gap in gaps:
            if gap.name not in self._marks:
                self._marks[gap.name] = gap, self._mark(gap)

    def _mark(self, gap: LinkCoverage) -> list[Any]:
        name, (vertices, faces) = f"{frame_name(self._robot, gap.name)}/gap", ball()
        far = f"{1000 * gap.worst_gap:.1f} mm outside" if np.isfinite(gap.worst_gap) else "no sphere"
        text = f"{gap.name}: {far}"
        return [
            self._scene.add_mesh_simple(
                f"{name}_place", MARK * vertices, faces, color=COLLIDING, position=gap.witness
            ),
            self._scene.add_label(f"{name}_words", text, position=gap.witness),
        ]
