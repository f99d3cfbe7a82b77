"""Attached objects: a link more, with its own mesh, spheres and pairs.

What a gripper holds moves like a part of the link that carries it, so it becomes one: a link fixed to it, with the
object's triangles (curved primitives are enclosed by theirs), spheres proved to cover them, and pairs of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import world
from .._brief import brief
from .._frozen import frozen
from .._poses import as_matrix, matrix_from_wxyz_xyz
from ..distance import SelfCollisionChecker
from ..errors import InputError
from ..mesh import Box, Capsule, Sphere
from ..pairs import PairEvidence, PairMatrix, PairReason
from ..pairs.internal import made_for
from ..robot import Joint, Robot, Shape
from ..robot.internal import build_tree, find_bodies, mesh_shape, primitive
from ..spheres import FitOptions, SphereModel, fit_spheres
from ..typing import LinkPair, Matrix4, sorted_pair

SPHERES = 12
"""Spheres that an object gets at most."""


@brief
@dataclass(frozen=True, eq=False)
class Attachment:
    """An object fixed to a link; see `CollisionModel.attach`."""

    name: str
    link: str
    shape: Shape
    """Collision geometry in the frame of the object; a copy of what was given."""
    pose: Matrix4
    """Of the object in the link frame."""
    touch_links: tuple[str, ...] = ()
    obstacle: world.Obstacle | None = None
    """What it was in the world, if it was picked up."""
    allowed: tuple[str, ...] = ()
    """Links that were allowed to touch it there."""

    @staticmethod
    def of(name: str, link: str, shape: Any, pose: Any, touch_links: Sequence[str]) -> Attachment:
        """Checks and copies what `CollisionModel.attach` was given."""
        T = np.eye(4) if pose is None else as_matrix(pose, f"pose of object {name!r}")
        if T.shape != (4, 4):
            raise InputError(f"pose of object {name!r}: expected one pose, found a stack of shape {T.shape}")
        return Attachment(name, link, _collision_shape(name, shape), frozen(T.copy()), tuple(touch_links))


def _collision_shape(name: str, shape: Any) -> Shape:
    here = frozen(np.eye(4))
    match shape:
        case Box() | world.Box():
            return primitive("box", here, shape.size, source=name)
        case Sphere() | world.Sphere():
            return primitive("sphere", here, (shape.radius,), source=name)
        case Capsule() | world.Capsule():
            return primitive("capsule", here, (shape.radius, shape.length), source=name)
        case world.Cylinder():
            return primitive("cylinder", here, (shape.radius, shape.length), source=name)
        case world.MeshObstacle():
            return mesh_shape(shape.mesh.vertices, shape.mesh.faces, here, name)
        case _:
            pass
    if not hasattr(shape, "vertices") or not hasattr(shape, "faces"):
        raise InputError(
            f"object {name!r}: expected a trimesh.Trimesh, TriangleMesh, Box, Sphere, Cylinder, Capsule or "
            f"MeshObstacle, found a {type(shape).__name__}"
        )
    return mesh_shape(shape.vertices, shape.faces, here, name)


def extended(
    robot: Robot, spheres: SphereModel, pairs: PairMatrix, item: Attachment
) -> tuple[Robot, SphereModel, PairMatrix]:
    """Robot, spheres and pairs with one object more."""
    for link in (item.link, *item.touch_links):
        robot.link_index(link)
    if not item.name or item.name in robot.link_names:
        raise InputError(f"an attached object needs a name that no link has, found {item.name!r}")
    more = _with_link(robot, item)
    alone = replace(more, shapes={item.name: more.shapes[item.name]})
    balls = fit_spheres(alone, FitOptions(n_spheres=SPHERES)).link(item.name)
    model = spheres.for_links(more.link_names, more.name)
    known = {name: model.link(name) for name in model.counts}
    padding = {"self_padding": spheres.self_padding, "world_padding": spheres.world_padding}
    model = SphereModel.from_links(
        more.link_names, {**known, item.name: balls}, robot_name=more.name, **padding
    )
    return more, model, _with_pairs(more, model, pairs, item)


def _with_link(robot: Robot, item: Attachment) -> Robot:
    tree = robot.tree
    joint = Joint(
        f"{item.name} on {item.link}", "fixed", item.link, item.name, item.pose, np.array([0.0, 0.0, 1.0])
    )
    root = matrix_from_wxyz_xyz(np.concatenate([tree.quat_cos[0], tree.shift[0]]))
    grown = build_tree(robot.name, (*tree.link_names, item.name), (*tree.joints, joint), root)
    shapes = {**robot.shapes, item.name: (item.shape,)}
    return replace(robot, tree=grown, shapes=shapes, _meshes={})


def _with_pairs(robot: Robot, spheres: SphereModel, pairs: PairMatrix, item: Attachment) -> PairMatrix:
    """The matrix with the object's own pairs: all checked but those of its rigid body and of `touch_links`."""
    bodies = find_bodies(robot.tree)

    def body(link: str) -> int:
        return bodies.of_frame[int(robot.tree.link_frame[robot.link_index(link)])]

    entries = dict(pairs.entries)
    checked: list[LinkPair] = []
    for other in pairs.link_names:
        pair = sorted_pair(item.name, other)
        if body(other) == body(item.name):
            text = f"ignored because {item.name} is fixed to {other}"
            entries[pair] = PairEvidence(PairReason.ADJACENT, text, source="attached")
        elif other in item.touch_links:
            text = f"ignored because {other} may touch {item.name}: it is among its touch_links"
            entries[pair] = PairEvidence(PairReason.USER, text, source="user")
        else:
            checked.append(pair)
    rest = robot.default_cfg if pairs.default_cfg is None else pairs.default_cfg
    engine = SelfCollisionChecker(robot, spheres, checked, threads=1) if checked else None
    apart = dict(zip(engine.pairs, engine.pair_distances(rest) > 0.0, strict=True)) if engine else {}
    for pair in checked:
        meshed = set(pair) <= set(robot.mesh_links)
        by = "meshes" if meshed and not apart.get(pair, False) else "spheres"
        text = f"checked because {item.name} is attached to {item.link}"
        entries[pair] = PairEvidence(PairReason.CHECKED, text, source="attached", decided_by=by)
    names = tuple(name for name in robot.link_names if name in {*pairs.link_names, item.name})
    held = None if pairs.made_for is None else dict(pairs.made_for.buffer)
    if held is not None:  # the object has no pair that holds only up to a buffer
        held[item.name] = max(held.values(), default=0.0)
    return replace(
        pairs,
        link_names=names,
        entries=entries,
        made_for=None if held is None else made_for(robot, spheres, held),
    )
