"""The parts of rclpy and of the messages that the node of `ros2/elbowroom_guard` uses, by their ROS 2 definitions."""

from __future__ import annotations

import sys
import types
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

PARAMETERS: dict[str, Any] = {}
"""Values that a launch file would give."""


@dataclass
class Header:
    frame_id: str = ""


@dataclass
class JointState:
    header: Header = field(default_factory=Header)
    name: list[str] = field(default_factory=list)
    position: list[float] = field(default_factory=list)
    velocity: list[float] = field(default_factory=list)
    effort: list[float] = field(default_factory=list)


@dataclass
class Float64MultiArray:
    layout: Any = None
    data: list[float] = field(default_factory=list)


@dataclass
class Duration:
    sec: int = 0
    nanosec: int = 0


@dataclass
class JointTrajectoryPoint:
    positions: list[float] = field(default_factory=list)
    velocities: list[float] = field(default_factory=list)
    time_from_start: Duration = field(default_factory=Duration)


@dataclass
class JointTrajectory:
    header: Header = field(default_factory=Header)
    joint_names: list[str] = field(default_factory=list)
    points: list[JointTrajectoryPoint] = field(default_factory=list)


@dataclass
class Vector3:
    x: float = 0.0
    y: float = 0.0
    z: float = 0.0


@dataclass
class ContactInformation:
    ROBOT_LINK: ClassVar[int] = 0
    WORLD_OBJECT: ClassVar[int] = 1
    position: Vector3 = field(default_factory=Vector3)
    normal: Vector3 = field(default_factory=Vector3)
    depth: float = 0.0
    contact_body_1: str = ""
    body_type_1: int = 0
    contact_body_2: str = ""
    body_type_2: int = 0


class GetStateValidity:
    class Request:
        def __init__(self, names=(), positions=()):
            self.robot_state = types.SimpleNamespace(
                joint_state=JointState(name=[*names], position=[*positions])
            )
            self.group_name = ""

    class Response:
        def __init__(self):
            self.valid, self.contacts = False, []


class Logger:
    def __init__(self):
        self.lines: list[tuple[str, str]] = []

    def info(self, text):
        self.lines.append(("info", text))

    def warning(self, text):
        self.lines.append(("warning", text))

    def error(self, text, *, throttle_duration_sec=0.0):
        self.lines.append(("error", text))


class Node:
    """A node whose topics are called by hand: `subscriptions[topic](message)`; the clock is `seconds`."""

    def __init__(self, node_name):
        self.node_name, self.logger, self.seconds = node_name, Logger(), 100.0
        self.published: dict[str, list[Any]] = {}
        self.callbacks: dict[str, Any] = {}
        self.kinds: dict[str, type] = {}

    def declare_parameter(self, name, value):
        return types.SimpleNamespace(value=PARAMETERS.get(name, value))

    def create_publisher(self, msg_type, topic, qos_profile):
        sent = self.published.setdefault(topic, [])

        def publish(message):
            assert isinstance(message, msg_type)
            sent.append(message)

        return types.SimpleNamespace(publish=publish)

    def create_subscription(self, msg_type, topic, callback, qos_profile):
        self.callbacks[topic] = callback

    def create_service(self, srv_type, srv_name, callback):
        self.callbacks[srv_name] = callback

    def get_logger(self):
        return self.logger

    def get_clock(self):
        now = types.SimpleNamespace(nanoseconds=int(1e9 * self.seconds))
        return types.SimpleNamespace(now=lambda: now)


def install(monkeypatch) -> None:
    """Puts them where ROS 2 would be, and the package of the node beside them."""
    here = vars(sys.modules[__name__])
    homes = {
        "rclpy": (),
        "rclpy.node": ("Node",),
        "moveit_msgs": (),
        "moveit_msgs.msg": ("ContactInformation",),
        "moveit_msgs.srv": ("GetStateValidity",),
        "sensor_msgs": (),
        "sensor_msgs.msg": ("JointState",),
        "std_msgs": (),
        "std_msgs.msg": ("Float64MultiArray",),
        "trajectory_msgs": (),
        "trajectory_msgs.msg": ("JointTrajectory", "JointTrajectoryPoint"),
    }
    for name, parts in homes.items():
        module = types.ModuleType(name)
        module.__dict__.update({part: here[part] for part in parts})
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "ros2" / "elbowroom_guard"))
