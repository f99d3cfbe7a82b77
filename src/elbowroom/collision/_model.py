"""CollisionModel: the one owner of the question "is the robot free?".

Spheres accept: they are proved to cover the links, so spheres that are apart show links that are apart. Meshes decide
what spheres refuse, for just those pairs at just those configurations, in the same call of the compiled core. Every
pair of links is either checked or ignored for a reason, and the reasons rest on meshes. Among obstacles it is the same:
every link is checked against every obstacle that it is not allowed to touch.

Curved primitives of a robot are checked by triangles that enclose them (at most 1 % of the radius outside): a false
alarm within that distance is possible, a miss is not. Obstacles are checked by their exact shapes, and curved links
among them by triangles at most 0.1 mm outside.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .. import _core
from .._text import counted, number
from ..errors import ApproximationWarning, InputError
from ..pairs import PairMatrix
from ..robot import Robot, as_robot
from ..robot.internal import require_geometry
from ..spheres import SphereModel
from ..typing import LinkPair, RobotLike
from ..world import World
from ._allow import Allow, allow_entries, allow_text, as_allow, checked_world, kept_allow
from ._answers import Answers
from ._attach import Attachment, extended
from ._defaults import covering, default_pairs, default_spheres, refuse_foreign, warn_of_contradictions
from ._links import Links, NearLinks
from ._pick import picked_up, put_down
from ._surroundings import Surroundings


def as_model(model: CollisionModel | RobotLike) -> CollisionModel:
    """Returns a CollisionModel as it is, and that of a robot, with default spheres and pairs and without obstacles.

    Functions that need collisions do this with what they are given; an IkSolver of a robot solves kinematics alone.

    Args:
        model: the model, or a robot: whatever `load_robot` takes, or a Robot.

    Raises:
        InputError: neither of them. ElbowroomError: the robot cannot be loaded, or has no geometry.
    """
    return model if isinstance(model, CollisionModel) else CollisionModel(model)


class CollisionModel(Answers):
    """Robot, spheres, pairs and obstacles in one verdict; see the module. Immutable: changes give new models."""

    def __init__(
        self,
        robot: RobotLike,
        spheres: SphereModel | None = None,
        pairs: PairMatrix | None = None,
        world: World | None = None,
        buffer: float = 0.0,
        *,
        allow: Any = (),
        threads: int | None = None,
    ) -> None:
        """Proves coverage, packs spheres and meshes into the compiled core.

        Args:
            robot: a Robot with collision geometry, or what `load_robot` takes.
            spheres: their padding counts where spheres decide. A link that they are not proved to cover gets one ball
                around its mesh instead (`uncovered`). None takes the tight fit, cached.
            pairs: which pairs are checked; None computes them, cached.
            world: obstacles in the world frame of the robot; None for none.
            buffer: clearance in metres that every pair must keep to be free, obstacles included.
            allow: pairs (link, obstacle) that may touch, such as ("base_link", "table").
            threads: for large batches; None uses all cores this process may run on.

        Raises:
            InputError: pairs that were computed for another description, other spheres or a smaller buffer (the
                message says what differs), spheres with attached objects, a bad buffer, a robot without geometry, an
                obstacle with the name of a link.
            UnknownLinkError: spheres, pairs or `allow` of links that the robot does not have.
            UnknownNameError: `allow` of an obstacle that the world does not have.
        """
        if isinstance(buffer, bool) or not 0.0 <= float(buffer) < np.inf:
            raise InputError(f"buffer must be metres from 0 up, found {buffer!r}")
        self.robot: Robot = as_robot(robot)
        """The robot; of a model with attached objects, with a link for each of them."""
        require_geometry(self.robot)
        checked_world(self.robot, world)  # before the long work
        self.buffer = float(buffer)
        """Clearance asked of every pair, metres."""
        given = default_spheres(self.robot) if spheres is None else spheres
        if given.objects:
            raise InputError(
                f"the spheres hold attached objects ({', '.join(given.objects)}), which have no meshes to decide with; "
                "detach them from the spheres and use CollisionModel.attach"
            )
        self.spheres, self.uncovered = covering(self.robot, given, cache=spheres is None)
        """Spheres proved to cover the links, and the links whose given spheres did not: one ball around the mesh stands
        in for them."""
        self.pairs: PairMatrix = (
            default_pairs(self.robot, self.spheres, self.buffer) if pairs is None else pairs
        )
        """All pairs of links with geometry, each with its reason. A pair that is never to collide, proved, and may
        come within the buffer is checked."""
        if pairs is not None:
            refuse_foreign(self.robot, self.spheres, self.buffer, self.uncovered, pairs)
        else:
            warn_of_contradictions(self.pairs)
        self.pairs = self.pairs.for_buffer(self.buffer)
        self.attachments: Mapping[str, Attachment] = {}
        """Attached objects by name."""
        self._bare: CollisionModel = self
        self._own = Links(self.robot, self.spheres, self.pairs, self.buffer, threads)
        self._links = NearLinks(self.robot, self.spheres, self.pairs)
        self._constant_links = {}
        self._around: Surroundings | None = None
        self._anywhere: list[Surroundings] = []  # the robot packed for any world: shared by `with_world`
        self._wide_robots = {}
        self._checked_for: dict[
            float, CollisionModel | None
        ] = {}  # by buffer: see `checked_for`; shared likewise
        self._enter(world, allow)

    def _enter(self, world: Any, allow: Any, *, warn: bool = True) -> None:
        """Places the robot among obstacles, and warns where it then cannot be free."""
        self.world: World | None = checked_world(self.robot, world)
        """The obstacles; None for none."""
        self.allow: Allow = as_allow(self.robot, self.world, allow)
        """Pairs (link, obstacle) that may touch."""
        self.__dict__.pop("_scene", None)  # of the obstacles before
        if not self.world:
            self._around = None
            return
        if not self._anywhere:
            self._anywhere.append(Surroundings.of(self._own, self.spheres))
        self._around = (self._around or self._anywhere[0]).among(self.world, self.allow)
        stuck = self._around.stuck() if warn else ()
        if stuck:
            named = "; ".join(f"{link} and {obstacle}" for link, obstacle in stuck)
            close = (
                f", or come closer than the buffer of {number(1e3 * self.buffer)} mm" if self.buffer else ""
            )
            warnings.warn(
                f"{self.robot.name}: no configuration is free, since links that no joint moves touch obstacles{close}: "
                f"{named}. If they are meant to touch: {allow_text(stuck)}",
                ApproximationWarning,
                stacklevel=3,
            )

    # Changes ------------------------------------------------------------------------------------

    def attach(
        self,
        name: str,
        link: str,
        shape: Any,
        pose: Any = None,
        *,
        touch_links: Sequence[str] = (),
        allow: Any = (),
    ) -> CollisionModel:
        """A model with an object fixed to a link, checked against every link but the rigid body that carries it.

        Args:
            name: of the object; it becomes a link of the model's robot and must not be one yet, nor an obstacle.
            link: what carries it.
            shape: a `trimesh.Trimesh`, a `mesh.TriangleMesh`, a `mesh.Box`, `Sphere` or `Capsule`, or one of the
                obstacles Box, Sphere, Cylinder, Capsule and MeshObstacle, whose own name and pose do not count.
            pose: of the shape in the link frame, (7,) or (4, 4); None for the identity.
            touch_links: links that may touch it, such as the fingers that hold it.
            allow: pairs (name, obstacle) that may touch, besides those of the model.

        Raises:
            UnknownLinkError: no such link. InputError: the name is taken, or the shape or pose makes no sense.
        """
        if self.world is not None and name in self.world:
            raise InputError(f"an obstacle has the name {name!r}; pick_up attaches that obstacle")
        item = Attachment.of(name, link, shape, pose, touch_links)
        return self._with(item, self.world, [*self.allow, *allow_entries(allow)])

    def _with(self, item: Attachment, world: World | None, allow: Any) -> CollisionModel:
        robot, spheres, pairs = extended(self.robot, self.spheres, self.pairs, item)
        model = CollisionModel(
            robot, spheres, pairs, world, self.buffer, allow=allow, threads=self._own.threads
        )
        model.attachments, model._bare = {**self.attachments, item.name: item}, self._bare
        return model

    def detach(self, name: str) -> CollisionModel:
        """A model without an attached object; see `put_down` for one that it leaves behind as an obstacle.

        Raises:
            InputError: no object of that name is attached, or another object hangs on it.
        """
        return self._without(name).with_world(self.world, allow=self._allow_without(name))

    def _without(self, name: str) -> CollisionModel:
        """The model without an attached object, and without a world."""
        if name not in self.attachments:
            held = ", ".join(self.attachments) or "none"
            raise InputError(f"no object {name!r} is attached; there are: {held}")
        others = [item for item in self.attachments.values() if item.name != name]
        hanging = [item.name for item in others if item.link == name]
        if hanging:
            raise InputError(f"object {name!r} carries {', '.join(hanging)}; detach these first")
        model = self._bare.with_world(None)
        for item in others:
            may = tuple(link for link in item.touch_links if link != name)
            model = model._with(replace(item, touch_links=may), None, ())
        return model

    def _allow_without(self, link: str) -> list[tuple[str, str]]:
        return [pair for pair in self.allow if pair[0] != link]

    def with_world(self, world: World | None, *, allow: Any = None) -> CollisionModel:
        """The same robot among other obstacles; what was made for the robot is shared.

        Args:
            world: the obstacles; None for none.
            allow: pairs (link, obstacle) that may touch; None keeps those whose obstacle is in the new world.

        Raises:
            InputError: not a World, or an obstacle has the name of a link.
        """
        if world is None and self.world is None and not allow:
            return self
        held = [name for name in self.attachments if isinstance(world, World) and name in world]
        if held:
            raise InputError(
                f"world: {', '.join(map(repr, held))} is held by {self.robot.name} and cannot be an obstacle too: "
                "take it out of the world (world.remove), or put it down first (put_down, detach)"
            )
        other = copy.copy(self)
        other._enter(
            world, kept_allow(checked_world(self.robot, world), self.allow) if allow is None else allow
        )
        return other

    def pick_up(
        self, name: str, link: str, cfg: Any, *, touch_links: Sequence[str] = (), allow: Any = ()
    ) -> CollisionModel:
        """A model in which an obstacle has left the world and is fixed to a link, where it is at a configuration.

        It keeps its name and shape and is checked like a link, against the other obstacles too. Nothing is allowed in
        silence: it touches what it rests on. `explain` and `in_contact` report it, and `allow` permits it.

        Args:
            name: of the obstacle: a box, sphere, cylinder, capsule or mesh.
            link: what carries it.
            cfg: (dof,) configuration at which it is picked up.
            touch_links: links that may touch it, such as the fingers; links that were allowed to touch the obstacle may
                touch the object too.
            allow: pairs (name, obstacle) that may touch, such as ("cup", "table").

        Raises:
            InputError: there is no world, or the obstacle cannot be carried. UnknownNameError: no such obstacle.
        """
        row = self.robot.as_cfg(cfg)
        world, item = picked_up(self.robot, self.world, self.allow, name, link, row, touch_links)
        return self._with(item, world, [*kept_allow(world, self.allow), *allow_entries(allow)])

    def put_down(self, name: str, cfg: Any, *, allow: Any = ()) -> CollisionModel:
        """A model in which an attached object is an obstacle again, where it is at a configuration.

        One that was picked up is the obstacle it was, with its exact shape and what was allowed to touch it; another
        becomes an obstacle of its shape. The links that hold it still touch it: `in_contact(cfg)` names them.

        Args:
            name: of the object.
            cfg: (dof,) configuration at which it is put down.
            allow: pairs (link, name) that may touch, such as the fingers that just held it.

        Raises:
            InputError: no object of that name is attached, or another object hangs on it.
        """
        model = self._without(name)
        obstacle, may_touch = put_down(self.robot, self.attachments[name], self.robot.as_cfg(cfg))
        world = (self.world or World()).add(obstacle)
        kept = [
            *self._allow_without(name),
            *((link, name) for link in may_touch if link in model.robot.link_names),
        ]
        return model.with_world(world, allow=[*kept, *allow_entries(allow)])

    def __repr__(self) -> str:
        held = f", holding {', '.join(self.attachments)}" if self.attachments else ""
        among = f", among {counted(len(self.world), 'obstacle')}" if self.world is not None else ""
        may = f", {counted(len(self.allow), 'pair')} allowed to touch" if self.allow else ""
        first = f", meshes of {often} asked at once" if (often := self._own.core.at_once) else ""
        return (
            f"CollisionModel({self.robot.name!r}: {len(self.spheres)} spheres, {len(self.pairs.by_spheres)} pairs by "
            f"spheres, {len(self.pairs.by_meshes)} by meshes{first}, {len(self.pairs.ignored)} ignored{held}{among}"
            f"{may})"
        )


def checked_for(model: CollisionModel, buffer: float) -> CollisionModel:
    """The model, or one that also checks the pairs that are not known to keep so many metres."""
    known = model._checked_for  # pyright: ignore[reportPrivateUsage]; shared by all worlds of the robot
    if buffer not in known:
        pairs, threads = model.pairs.for_buffer(buffer), model._own.threads  # pyright: ignore[reportPrivateUsage]
        known[buffer] = (
            None
            if pairs is model.pairs
            else CollisionModel(model.robot, model.spheres, pairs, None, model.buffer, threads=threads)
        )
    bare = known[buffer]
    if bare is None:
        return model
    other = copy.copy(bare)
    other._enter(model.world, model.allow, warn=False)  # pyright: ignore[reportPrivateUsage]; it was said when the model was made
    return other


def core_scene(model: CollisionModel) -> tuple[_core.Scene, tuple[LinkPair, ...]]:
    """Links and obstacles in the compiled core, and the pairs of links as it numbers them."""
    return model._scene, model._own.pairs  # pyright: ignore[reportPrivateUsage]
