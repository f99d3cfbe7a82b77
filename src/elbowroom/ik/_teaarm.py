"""TeaArmRobot: the dual arm TeaArm with the costs of its teleoperation, ready for `minimize`.

Weights of hands, manipulability and self-collision are those of the facts that come with the bundled robot
(`assets/teaarm/teaarm_facts.json`); those that the facts do not give are constants here, with their reason.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from .. import assets
from .._text import short
from ..collision import CollisionModel
from ..collision.internal import one_ball_a_link
from ..distance import MultiSphereCollision
from ..errors import InputError
from ..robot import Robot, load_robot
from ..robot.internal import as_folders
from ..spheres import FitOptions, fit_spheres
from .jax._clearance import margins_at_rest, self_collision_cost
from .jax._costs import Cost, heading_cost, limit_cost, manipulability_cost, pose_cost, rest_cost

FOLDER = Path(assets.__file__).parent / "teaarm"
REST_WEIGHT = 0.1
"""Per radian. A hand a thousandth of a millimetre off outweighs a radian of posture."""
HEAD_LINK = "waist_link"
"""What turns with the operator's head: the robot has none, its waist yaws."""
N_SPHERES = 150
"""Budget of the fit; the forearms and hands, which face each other at a few millimetres, get more: 372 in all. With it
7 % of free random configurations are called colliding; with 100, spheres of an elbow and the torso overlap at zero."""


class TeaArmRobot:
    """The dual arm TeaArm: two arms of seven joints on a waist of two.

    The bundled robot has the real kinematics and shapes of our own; give the URDF of a real one to use its meshes.
    """

    fit_options: FitOptions = FitOptions(n_spheres=N_SPHERES, apart_at_rest=True)
    """How its spheres are fitted."""

    def __init__(
        self,
        n_spheres: int = N_SPHERES,
        urdf_path: str | os.PathLike[str] | None = None,
        *,
        package_dirs: Iterable[str | os.PathLike[str]] = (),
    ) -> None:
        """Loads the robot; spheres are fitted when they are first needed.

        Args:
            n_spheres: budget of the fit. Links whose spheres would overlap at rest get more, on top of it.
            urdf_path: a URDF of the robot with its own meshes and the same names of links and joints; None for the
                bundled one.
            package_dirs: folders to search for that URDF's `package://` meshes.

        Raises:
            InputError: a URDF that lacks joints or links of the TeaArm; the message lists them.
            ElbowroomError: a URDF that cannot be read.
        """
        facts = json.loads((FOLDER / "teaarm_facts.json").read_text(encoding="utf-8"))
        if urdf_path is not None and not isinstance(urdf_path, (str, os.PathLike)):
            raise InputError(f"urdf_path: expected the path of a URDF, found {short(urdf_path)}")
        self.robot: Robot = (
            load_robot("teaarm") if urdf_path is None else _real_robot(Path(urdf_path), package_dirs, facts)
        )
        self.urdf_path: str = str(FOLDER / "teaarm.urdf" if urdf_path is None else urdf_path)
        self.fit_options = replace(self.fit_options, n_spheres=n_spheres)
        self.left: str = facts["end_effectors"]["left"]
        """Link of the left hand."""
        self.right: str = facts["end_effectors"]["right"]
        """Link of the right hand."""
        self.head: str = HEAD_LINK
        """Link that turns with the operator's head."""
        self.weights: dict[str, float] = dict(facts["ik_reference"])
        """Weights and margin of the costs, by the names of the facts."""

    @property
    def actuated_joint_names(self) -> tuple[str, ...]:
        """Joints in the order of a configuration."""
        return self.robot.joint_names

    @property
    def default_cfg(self) -> Float[np.ndarray, "16"]:
        """The configuration that the robot starts and rests in."""
        return self.robot.default_cfg

    @cached_property
    def model(self) -> CollisionModel:
        """Who decides whether a configuration is free: spheres that cover every link, meshes for the rest."""
        return CollisionModel(self.robot, fit_spheres(self.robot, self.fit_options))

    @cached_property
    def multi_sphere_coll(self) -> MultiSphereCollision:
        """Many spheres a link, and the pairs that spheres can decide; `left_to_meshes` names the others, if any."""
        return MultiSphereCollision.from_models(self.robot, self.model.spheres, self.model.pairs)

    @cached_property
    def self_collision_margins(self) -> Float[np.ndarray, "link_pairs"]:
        """Metres at which each pair of `multi_sphere_coll.link_pairs()` starts to cost.

        The margin of the facts, but less for pairs that stand closer at the zero pose or the default one, so that the
        cost is zero there.
        """
        rest = np.stack([np.zeros(self.robot.dof), self.default_cfg])
        margin = self.weights["self_collision_margin"]
        return margins_at_rest(self.robot, self.multi_sphere_coll, margin, rest)

    @cached_property
    def robot_coll(self) -> MultiSphereCollision:
        """One ball around each link, for the same pairs of links: the coarse model, kept for comparison."""
        pairs = self.multi_sphere_coll.link_pairs()
        return MultiSphereCollision.from_models(self.robot, one_ball_a_link(self.robot), pairs)

    def build_costs(
        self, target_L: Any, target_R: Any, target_Head: Any, q_current: Any = None
    ) -> list[Cost]:
        """The costs of following two hands and a head; with both hands there are six, a head makes seven.

        Args:
            target_L: pose of the left hand in the world, (7,), (4, 4) or a jaxlie SE3; None leaves it free.
            target_R: the same for the right hand.
            target_Head: the robot has no head; what turns with an operator's head is its waist. This is a pose of
                `waist_link`, of which only the heading counts, its turn about the vertical. None leaves it free.
            q_current: (16,) configuration to stay near; None stays near the default configuration.

        Returns:
            rest, manipulability, one pose a hand, heading, limits, self-collision; for `minimize(costs, cfg, robot)`.
        """
        w = self.weights
        costs = [
            rest_cost(self.default_cfg if q_current is None else q_current, REST_WEIGHT),
            manipulability_cost(self.robot, (self.left, self.right), w["manipulability_weight"]),
        ]
        for link, target in ((self.left, target_L), (self.right, target_R)):
            if target is not None:
                costs.append(
                    pose_cost(self.robot, link, target, w["position_weight"], w["orientation_weight"])
                )
        if target_Head is not None:
            costs.append(heading_cost(self.robot, HEAD_LINK, target_Head, w["orientation_weight"]))
        costs.append(limit_cost(self.robot))
        costs.append(
            self_collision_cost(
                self.robot,
                self.multi_sphere_coll,
                self.self_collision_margins,
                w["self_collision_weight"],
            )
        )
        return costs


def _real_robot(path: Path, package_dirs: Iterable[Any], facts: dict[str, Any]) -> Robot:
    """A TeaArm from a URDF of its own, with the named poses of the bundled one."""
    package_dirs = as_folders(package_dirs)
    found = load_robot(path, package_dirs=package_dirs)
    moving = [joint["name"] for joint in facts["joints"] if joint["type"] != "fixed"]
    named = [("joint", moving, found.joint_names)]
    named.append(("link", [*facts["end_effectors"].values(), HEAD_LINK], found.link_names))
    for what, wanted, there in named:
        missing = [name for name in wanted if name not in there]
        if missing:
            raise InputError(
                f"{path}: not a TeaArm: no {what} {', '.join(map(repr, missing))}; it has {', '.join(there)}"
            )
    if found.dof != len(moving):
        extra = [name for name in found.joint_names if name not in moving]
        raise InputError(
            f"{path}: not a TeaArm: it has {found.dof} joints, {', '.join(extra)} besides the 16"
        )
    return load_robot(path, package_dirs=package_dirs, srdf=FOLDER / "teaarm.srdf")
