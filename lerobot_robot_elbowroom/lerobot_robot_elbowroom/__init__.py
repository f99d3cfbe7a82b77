"""Robot type `elbowroom` and processor step `elbowroom_guard` for LeRobot, made of `elbowroom.bridges.lerobot`."""

from dataclasses import dataclass
from typing import Any

import draccus
from lerobot.robots import RobotConfig, make_robot_from_config

from elbowroom.bridges.lerobot import MAX_LAG, GuardedRobot
from elbowroom.bridges.lerobot import GuardActionStep as GuardActionStep  # importing it registers the step


@RobotConfig.register_subclass("elbowroom")
@dataclass(kw_only=True)
class ElbowroomConfig(RobotConfig):
    """A robot behind the guard; arguments as of `elbowroom.bridges.lerobot.ActionGuard`."""

    guarded: dict[str, Any]
    """The robot itself: type, port, id, cameras ... A map, because LeRobot's parser recurses without end into a
    RobotConfig that may contain another one."""
    motors: str
    """The map from motors to joints: a YAML file, or so100 or so101."""
    model: str | None = None
    """Description of the robot; that of the map if left out."""
    world: str | None = None
    """File of the obstacles."""
    fps: float = 30.0
    """Actions per second."""
    clearance: float = 0.0
    """Metres to keep between all links, and to obstacles."""
    max_lag: float = MAX_LAG
    """Radians that a motor may be behind its last command."""


class Elbowroom(GuardedRobot):
    """The guarded robot that LeRobot makes of an `ElbowroomConfig`."""

    config_class = ElbowroomConfig
    name = "elbowroom"

    def __init__(self, config: ElbowroomConfig) -> None:
        """Makes the robot behind the guard, and the guard."""
        super().__init__(
            make_robot_from_config(draccus.decode(RobotConfig, config.guarded)),
            config.motors,
            config.model,
            world=config.world,
            fps=config.fps,
            clearance=config.clearance,
            max_lag=config.max_lag,
        )
        self.config = config
