"""TeaArmRobot: the bundled dual arm with the costs of its teleoperation, ready for `minimize`.

Weights of hands, manipulability and self-collision are those of the facts that come with the robot
(`assets/teaarm/teaarm_facts.json`); those that the facts do not give are constants here, with their reason.
"""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from .. import assets
from ..collision import CollisionModel
from ..collision.doors import one_ball_a_link
from ..distance import MultiSphereCollision
from ..robot import Robot, load_robot
from ._jax_clearance import self_collision_cost
from ._jax_costs import Cost, heading_cost, limit_cost, manipulability_cost, pose_cost, rest_cost

FOLDER = Path(assets.__file__).parent / "teaarm"
REST_WEIGHT = 0.1
"""Per radian. A hand a thousandth of a millimetre off outweighs a radian of posture."""
HEAD_LINK = "waist_link"
"""What turns with the operator's head: the robot has none, its waist yaws."""


class TeaArmRobot:
    """The bundled robot `teaarm`: two arms of seven joints on a waist of two."""

    def __init__(self) -> None:
        self.robot: Robot = load_robot("teaarm")
        self.urdf_path: str = str(FOLDER / "teaarm.urdf")
        facts = json.loads((FOLDER / "teaarm_facts.json").read_text(encoding="utf-8"))
        self.left: str = facts["end_effectors"]["left"]
        """Link of the left hand."""
        self.right: str = facts["end_effectors"]["right"]
        """Link of the right hand."""
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
        return CollisionModel(self.robot)

    @cached_property
    def multi_sphere_coll(self) -> MultiSphereCollision:
        """Many spheres a link, and the pairs that spheres can decide; `left_to_meshes` names the others."""
        return MultiSphereCollision.from_models(self.robot, self.model.spheres, self.model.pairs)

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
                self.robot, self.multi_sphere_coll, w["self_collision_margin"], w["self_collision_weight"]
            )
        )
        return costs
