"""Arguments of the verbs that ask for a verdict: spheres, pairs, obstacles and what may touch."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..errors import UnknownLinkError, UnknownNameError, unknown
from ..pairs import PairOptions
from ..pairs.doors import BUFFER
from ..spheres import FitOptions
from . import _sphere_options
from ._common import pairs_from_file, pose_facts, progress_bar, quiet, waiting
from ._options import NoEffect, Shared
from ._sphere_options import SphereOptions

if TYPE_CHECKING:
    from ..collision import CollisionModel
    from ..pairs import PairMatrix
    from ..robot import Robot
    from ..spheres import SphereModel
    from ..world import World


@dataclass(frozen=True)
class ModelOptions(SphereOptions):
    """Arguments of every verb that makes a CollisionModel."""

    pairs: Path | None = None
    """File that says which pairs to check (any format that holds pairs); computed if not given."""
    settings: Annotated[PairOptions, Shared("samples", "seed", "ignore")] = field(default_factory=PairOptions)
    """How the pairs are decided otherwise; the seed is that of all random choices."""
    scene: Path | None = None
    """File of obstacles in the robot's world frame: JSON, or the YAML of MoveIt and MotionBenchMaker."""
    allow: tuple[tuple[str, str], ...] = ()
    """Links that may touch obstacles of --scene, such as a base its table: pairs of names, one after the other."""
    buffer: float = 0.0
    """Clearance in metres that every pair must keep."""

    def read_world(self) -> World | None:
        """The obstacles of --scene."""
        from ..world import World

        if self.scene is None:
            return None
        with waiting(f"reading {self.scene}"), quiet():
            return World.read(self.scene, package_dirs=self.package_dirs)

    def check_allow(self, robot: Robot, world: World | None) -> None:
        """Refuses names of --allow that do not exist, before the long work."""
        for link, obstacle in self.allow:
            if world is not None and link in world and obstacle not in world:  # whichever is named first
                link, obstacle = obstacle, link
            if link not in robot.link_names:
                raise UnknownLinkError(f"--allow: {unknown('link', link, robot.link_names)}")
            if world is not None and obstacle not in world:
                raise UnknownNameError(f"--allow: {unknown('obstacle', obstacle, world.names)}")

    def scene_facts(self, world: World | None) -> dict[str, Any]:
        """What reports say of the scene, if there is one."""
        if world is None:
            return {}
        return {"scene": self.scene, "obstacles": len(world), "allowed": self.allow}

    def model_facts(self, model: CollisionModel) -> dict[str, Any]:
        """What reports say of the model itself: its pairs and its default pose."""
        pose = model.pairs.default_pose
        return {
            "checked_pairs": len(model.pairs.checked),
            "decided_by_meshes_alone": len(model.by_meshes),
            "ignored_pairs": len(model.ignored),
            "default_pose": pose_facts(model.robot.default_pose if pose is None else pose),
        }

    def chosen_spheres(self, robot: Robot) -> SphereModel:
        """Those of --spheres, those that the pairs of --pairs were decided with, or fitted ones."""
        from .. import formats

        if self.pairs is not None and self.spheres is None and self.fit == FitOptions():
            held = formats.read(self.pairs, robot=robot).spheres
            if held is not None:  # pairs hold for the spheres that they were decided with
                return held
        return self.model(robot)

    def decided_pairs(self, robot: Robot, spheres: SphereModel) -> PairMatrix:
        """Those of --pairs, or computed ones, with what --ignore names."""
        from ..collision.doors import cached_pairs

        if self.pairs is not None:
            return pairs_from_file(self.pairs, robot).with_user(ignore=self.settings.ignore)
        buffer = max(BUFFER, self.buffer)  # a pair that is never met must stay apart by the buffer asked for
        with progress_bar(f"deciding the pairs of {robot.name}") as progress:
            settings = replace(self.settings, buffer=buffer)
            return cached_pairs(robot, spheres, settings, progress=progress)

    def collision_model(self, robot: Robot, world: World | None) -> CollisionModel:
        """The model of the robot among the obstacles."""
        from ..collision import CollisionModel
        from ..collision.doors import covering

        spheres, _ = covering(robot, self.chosen_spheres(robot))
        pairs = self.decided_pairs(robot, spheres)
        return CollisionModel(robot, spheres, pairs, world, self.buffer, allow=self.allow)


NO_EFFECT = (
    *_sphere_options.NO_EFFECT,
    NoEffect(("allow",), lambda options: options.scene is None, "no obstacles are given; --scene gives them"),
    NoEffect(("samples",), lambda options: options.pairs is not None, "the pairs are those of --pairs"),
)
"""For verbs with `ModelOptions`."""
