"""A planned motion in the scene: the ways of the hands, coloured by what is proved, and the robot at some moments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._meshes import collision_surfaces

if TYPE_CHECKING:
    from ...robot import Robot
    from .._view import View
    from ..state import Evidence

MOMENTS = 6
"""At which the robot is drawn."""
PIECES = 300
"""Of a way that are drawn, at most."""
CLOSE, BETWEEN, FAR = (213, 94, 0), (240, 228, 66), (0, 114, 178)
"""Vermillion, yellow, blue (Okabe and Ito)."""
NARROW, WIDE = 0.005, 0.02
"""Metres of proved clearance that are drawn yellow, and blue from there on; less is vermillion."""
START, GOAL = (86, 180, 233), (230, 159, 0)
"""Sky blue and orange."""
GHOSTLY = 0.22
"""Opacity."""
FINE = 24
"""Cells along the diagonal of a link into which a ghost's vertices are gathered."""
FEW = 300
"""Triangles that are drawn as they are."""


class PlanNodes:
    """Nodes under `/plan`."""

    def __init__(self, scene: Any) -> None:
        self._scene = scene
        self._way: Any = None
        self._ghosts: list[Any] = []
        self._drawn: tuple[Any, ...] = (None,)
        self._haunted: tuple[Any, ...] = (None,)

    def show(self, view: View) -> None:
        """Brings the scene up to date."""
        plan, live = view.state.plan, view.state.plan_live
        found = (
            plan.found if plan.found is not None and plan.found.asked.key == view.state.robot.key else None
        )
        known = found is not None and live.evidence is not None and live.evidence.result is found.result
        evidence = live.evidence if known and live.line else None
        if self._drawn != (evidence,):
            self._drawn = (evidence,)
            self._draw_way(evidence)
        rows: Sequence[Any] = ()
        if live.ghosts and view.robot is not None:
            path = None if found is None else found.result.path
            places = [place for place in (plan.start, plan.goal) if place.cfg is not None]
            rows = [place.at(view.state) for place in places] if path is None else (path,)
        haunted = view.robot, *rows
        if len(haunted) != len(self._haunted) or any(
            a is not b for a, b in zip(haunted, self._haunted, strict=True)
        ):
            self._haunted = haunted
            self._draw_ghosts(view.robot, moments(rows))

    def _draw_way(self, evidence: Evidence | None) -> None:
        if self._way is not None:
            self._way.remove()
            self._way = None
        if evidence is None or not evidence.ways.size or not len(evidence.proved):
            return
        points, margins = pieces_of(evidence)
        colours = np.repeat(colours_of(margins)[:, None], 2, axis=1)
        self._way = self._scene.add_line_segments(
            "/plan/way", points.astype(np.float32), colours, thickness=5.0, thickness_units="screen"
        )

    def _draw_ghosts(self, robot: Robot | None, rows: np.ndarray) -> None:
        for node in self._ghosts:
            node.remove()
        self._ghosts = []
        if robot is None or not len(rows):
            return
        poses = robot.link_poses(rows)
        share = np.linspace(0.0, 1.0, len(rows))[:, None]
        colours = ((1.0 - share) * START + share * GOAL).astype(np.uint8)
        for link in robot.mesh_links:
            at = poses[:, robot.link_index(link)]
            if len(rows) > 1 and np.ptp(at, axis=0).max() < 1e-6:  # what stays is there already
                continue
            for k, surface in enumerate(collision_surfaces(robot, link)):
                vertices, faces = coarse(surface.vertices, surface.faces)
                node = self._scene.add_batched_meshes_simple(
                    f"/plan/ghosts/{robot.link_index(link)}_{k}",
                    vertices.astype(np.float32),
                    faces.astype(np.uint32),
                    batched_wxyzs=at[:, :4],
                    batched_positions=at[:, 4:],
                    batched_colors=colours,
                    opacity=GHOSTLY,
                    flat_shading=True,
                    lod="off",
                    cast_shadow=False,
                    receive_shadow=False,
                )
                self._ghosts.append(node)


def moments(rows: Sequence[Any]) -> np.ndarray:
    """(m, dof) configurations to draw: those given, or some of a path, its ends among them."""
    if not rows:
        return np.zeros((0, 0))
    if len(rows) == 1 and np.ndim(rows[0]) == 2:
        path = np.asarray(rows[0])
        return path[np.unique(np.linspace(0, len(path) - 1, MOMENTS).round().astype(int))]
    return np.array(rows, dtype=np.float64)


def pieces_of(evidence: Evidence) -> tuple[np.ndarray, np.ndarray]:
    """Ways as pieces (k, 2, 3), and the least clearance that is proved on each (k,), NaN where nothing is."""
    n = len(evidence.proved)
    ends = np.unique(np.linspace(0, n, min(n, PIECES) + 1).round().astype(int))
    margins = np.minimum.reduceat(evidence.proved, ends[:-1])
    points = np.stack([evidence.ways[:, ends[:-1]], evidence.ways[:, ends[1:]]], axis=2)
    return points.reshape(-1, 2, 3), np.tile(margins, len(evidence.ways))


def colours_of(margins: np.ndarray) -> np.ndarray:
    """(k, 3) bytes by clearance in metres; black where nothing is proved."""
    share = np.interp(np.nan_to_num(margins, posinf=WIDE), (0.0, NARROW, WIDE), (0.0, 0.5, 1.0))
    scale = np.array([CLOSE, BETWEEN, FAR], dtype=np.float64)
    mixed = np.stack([np.interp(share, (0.0, 0.5, 1.0), scale[:, k]) for k in range(3)], axis=1)
    mixed[np.isnan(margins)] = 0.0
    return mixed.astype(np.uint8)


def coarse(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A mesh with fewer triangles, for ghosts: vertices of a cell become one."""
    if len(faces) <= FEW:
        return vertices, faces
    low = vertices.min(axis=0)
    cell = float(np.linalg.norm(vertices.max(axis=0) - low)) / FINE
    _, owner, counts = np.unique(
        np.floor((vertices - low) / cell).astype(np.int64), axis=0, return_inverse=True, return_counts=True
    )
    owner = owner.reshape(-1)
    middles = np.zeros((len(counts), 3))
    np.add.at(middles, owner, vertices)
    merged = owner[faces]
    a, b, c = merged.T
    kept = merged[(a != b) & (b != c) & (c != a)]
    return middles / counts[:, None], np.unique(kept, axis=0)
