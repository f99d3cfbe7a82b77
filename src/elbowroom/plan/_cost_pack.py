"""What costs of nearness run on: links on their bodies, with their spheres and boxes and balls around them."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Float, Int

from .._frozen import freeze
from .._numba.collision.parts import LinkChains, WorldParts
from ..collision import CollisionModel
from ..distance.doors import enclosing_ball
from ..robot import Robot
from ..spheres import SphereModel
from ._link_boxes import link_boxes

ROUNDING = 1e-12
"""Share by which balls around boxes are enlarged."""


_KNOWN: WeakKeyDictionary[Robot, tuple[SphereModel, float, PackedLinks]] = WeakKeyDictionary()
"""What was packed, for the spheres and the buffer of a model; the same for all its worlds."""


class PackedLinks(NamedTuple):
    """Arrays of the links; bodies, links and spheres as in the `LinkChains` they are taken from."""

    parents: Int[np.ndarray, "bodies"]
    kinds: Int[np.ndarray, "bodies"]
    drivers: Int[np.ndarray, "bodies"]
    local: Float[np.ndarray, "bodies 3 4"]
    polys: Float[np.ndarray, "bodies terms"]
    links: Int[np.ndarray, "links 3"]
    """Body, first group, number of groups."""
    link_balls: Float[np.ndarray, "links 4"]
    """Around all spheres and boxes of a link, in the frame of its body."""
    groups: Int[np.ndarray, "groups 2"]
    """First sphere, number of spheres."""
    group_balls: Float[np.ndarray, "groups 4"]
    spheres: Float[np.ndarray, "spheres 4"]
    boxes: Float[np.ndarray, "boxes 16"]
    """In the frame of the body: axes (rotation row by row), centre, half edges, radius of the ball around it."""
    box_of: Int[np.ndarray, "boxes"]
    """Link of each box."""


def pack_links(
    chains: LinkChains,
    boxes: Float[np.ndarray, "boxes 16"] | None = None,
    box_of: Int[np.ndarray, "boxes"] | None = None,
) -> PackedLinks:
    """Packs links, with boxes or without."""
    from .._numba.collision.kernels import BODY, FIRST_BALL, FIRST_SPAN, N_BALLS, N_GROUPS

    boxes = np.zeros((0, 16)) if boxes is None else boxes
    box_of = np.zeros(0, np.int64) if box_of is None else box_of
    links: list[tuple[int, int, int]] = []
    link_balls: list[np.ndarray] = []
    groups, tops, spheres = [np.zeros((0, 2), np.int64)], [np.zeros((0, 4))], [np.zeros((0, 4))]
    n_groups, n_spheres = 0, 0
    for k, row in enumerate(chains.links):
        first, many = int(row[FIRST_BALL]), int(row[N_GROUPS])
        own = chains.balls[first + many : first + row[N_BALLS]]
        spans = chains.spans[row[FIRST_SPAN] : row[FIRST_SPAN] + many].copy()
        spans[:, 0] += n_spheres - many  # counted in the link, groups included
        mine = boxes[box_of == k]
        around = np.column_stack([mine[:, 9:12], mine[:, 15]])
        links.append((int(row[BODY]), n_groups, many))
        link_balls.append(enclosing_ball(np.concatenate([own, around])))
        groups.append(spans)
        tops.append(chains.balls[first : first + many])
        spheres.append(own)
        n_groups, n_spheres = n_groups + many, n_spheres + len(own)
    packed = PackedLinks(
        *(
            np.array(part)
            for part in (chains.parents, chains.kinds, chains.drivers, chains.local, chains.polys)
        ),
        links=np.array(links, dtype=np.int64).reshape(-1, 3),
        link_balls=np.array(link_balls).reshape(-1, 4),
        groups=np.concatenate(groups),
        group_balls=np.concatenate(tops),
        spheres=np.concatenate(spheres),
        boxes=boxes,
        box_of=box_of,
    )
    freeze(*packed)
    return packed


def links_among_obstacles(model: CollisionModel, skip_links: Collection[str]) -> PackedLinks:
    """The links of a model with a world, and boxes of all but some; made once for a robot and its spheres."""
    among, kept = model.parts.among, _KNOWN.get(model.robot)
    assert among is not None
    if kept is None or kept[0] is not model.spheres or kept[1] != model.buffer:
        packed = pack_links(among.bodies, *_pack_boxes(model, among))
        kept = _KNOWN[model.robot] = model.spheres, model.buffer, packed
    packed = kept[2]
    looked = np.array([among.links[k] not in skip_links for k in packed.box_of.tolist()], dtype=np.bool_)
    fewer = packed._replace(boxes=packed.boxes[looked], box_of=packed.box_of[looked])
    freeze(fewer.boxes, fewer.box_of)
    return fewer


def _pack_boxes(
    model: CollisionModel, among: WorldParts
) -> tuple[Float[np.ndarray, "boxes 16"], Int[np.ndarray, "boxes"]]:
    """Boxes of links in the frames of their bodies, and the link of each; see `PackedLinks`.

    Those of outer links come first: they are the ones that meet something. They are enlarged by the model's buffer. A
    link that exists only as spheres has the boxes of its spheres.
    """
    from .._numba.collision.kernels import FIRST_BALL, N_BALLS, N_GROUPS, N_ON_WAY

    found, chains = link_boxes(model.robot), among.bodies
    rows: list[np.ndarray] = []
    of: list[int] = []
    for k in np.argsort(-chains.links[:, N_ON_WAY], kind="stable").tolist():
        mine = [i for i, name in enumerate(found.links) if name == among.links[k]]
        R, shift = chains.placed[k, :9].reshape(3, 3), chains.placed[k, 9:]
        for i in mine:
            axes, center = R @ found.axes[i], R @ found.centers[i] + shift
            rows.append(np.concatenate([axes.ravel(), center, found.half_extents[i] + model.buffer]))
        first, many = chains.links[k, FIRST_BALL], chains.links[k, N_GROUPS]
        balls = chains.balls[first + many : first + chains.links[k, N_BALLS]] if not mine else ()
        for x, y, z, radius in balls:
            rows.append(np.concatenate([np.eye(3).ravel(), [x, y, z], np.full(3, radius + model.buffer)]))
        of += [k] * (len(mine) + len(balls))
    boxes = np.array(rows).reshape(-1, 15)
    radius = np.linalg.norm(boxes[:, 12:15], axis=1) * (1.0 + ROUNDING)
    return np.column_stack([boxes, radius]), np.array(of, dtype=np.int64)
