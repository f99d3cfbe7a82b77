"""Targets from a headset: the `xr_state` messages of teleop_xr, as they are.

Poses arrive in the frame of WebXR (x right, y up, -z forward). They are not taken as places in the robot's world, but
as motion: while the operator presses the clutch button of a hand, the link follows how the hand has moved and turned
since it was pressed. So nothing jumps when the clutch is pressed again, wherever the hand is by then. A hand that is
not tracked, or a stream that pauses, counts as released.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np
from jaxtyping import Float

from .._poses import as_matrix, as_wxyz_xyz
from .._text import short
from ..errors import InputError
from ..robot import Robot
from ..robot.internal import default_tool_frames


def object_of(value: Any, what: str) -> dict[str, Any]:
    """An object, as a dictionary."""
    if not isinstance(value, dict):
        raise InputError(f"{what}: expected an object, found {short(value)}")
    return cast(dict[str, Any], value)


def number_of(value: Any, what: str) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e300:
        raise InputError(f"{what}: expected a finite number, found {short(value)}")
    return float(value)


def truth_of(value: Any, what: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise InputError(f"{what}: expected true or false, found {short(value)}")
    return value


def numbers_of(value: Any, what: str) -> np.ndarray:
    """Numbers in a list, or in rows of them; strings and truth values, which numpy would take, are refused."""
    if not isinstance(value, list) or not value:
        raise InputError(f"{what}: expected numbers in a list, found {short(value)}")
    rows = cast(list[Any], value)
    if not isinstance(rows[0], list):
        return np.array([number_of(entry, what) for entry in rows])
    if any(not isinstance(row, list) or len(row) != len(rows[0]) for row in rows):
        raise InputError(f"{what}: expected rows of the same length, found {short(value)}")
    return np.array([[number_of(entry, what) for entry in row] for row in rows])


R_ROBOT_XR = np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
"""From WebXR (x right, y up, -z forward) to a robot that looks along x with z up."""
BUTTONS = {"trigger": 0, "squeeze": 1}
"""Places in the list of buttons, by the xr-standard mapping of WebXR."""
PRESSED = 0.5
"""Of a button that only tells how far it is pressed."""
PAUSE = 0.25
"""Seconds without a message after which hands must be engaged again."""
NEAR = 0.05
"""Metres between two links that do not tell left from right any more."""
PARTS = ("left", "right", "head")


@dataclass(frozen=True)
class XrOptions:
    """Which link follows what, and how."""

    left: str | None = None
    """Link that follows the left hand."""
    right: str | None = None
    """Link that follows the right hand."""
    head: str | None = None
    """Link that follows the head while a hand is followed."""
    clutch: Literal["squeeze", "trigger", "none"] = "squeeze"
    """Button that must be pressed for a hand to be followed; none follows as long as the hand is tracked."""
    scale: float = 1.0
    """Robot motion per operator motion, metres per metre."""
    yaw: float | None = None
    """Direction of the operator's forward in the world, as a rotation about z from x, radians; None chooses the quarter
    turn that has the left link on the left in the default pose, or 0."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.scale) and self.scale > 0.0):
            raise InputError(f"XrOptions: scale must be above zero, found {self.scale!r:.40}")
        if self.yaw is not None and not math.isfinite(self.yaw):
            raise InputError(f"XrOptions: yaw must be a finite number, found {self.yaw!r:.40}")
        names = list(self.links.values())
        if len(set(names)) < len(names):
            raise InputError(f"XrOptions: one link cannot follow two parts: {', '.join(names)}")

    @property
    def links(self) -> dict[str, str]:
        """Part -> link, of those that are followed."""
        found: dict[str, str | None] = {"left": self.left, "right": self.right, "head": self.head}
        return {part: link for part, link in found.items() if link is not None}

    @property
    def R_world_xr(self) -> Float[np.ndarray, "3 3"]:
        """From directions of the headset's frame to directions of the world."""
        c, s = math.cos(self.yaw or 0.0), math.sin(self.yaw or 0.0)
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ R_ROBOT_XR


def facing(options: XrOptions, robot: Robot) -> XrOptions:
    """The options with a yaw, for a robot whose left link is on its left in the default pose."""
    if options.yaw is not None:
        return options
    yaw = 0.0
    if options.left is not None and options.right is not None:
        poses = robot.link_poses(robot.default_cfg)
        left, right = (poses[robot.link_index(link)] for link in (options.left, options.right))
        x, y = (left - right)[4:6]
        if math.hypot(x, y) > NEAR:
            quarters = round((math.atan2(y, x) - 0.5 * math.pi) / (0.5 * math.pi))
            yaw = 0.5 * math.pi * ((quarters + 2) % 4 - 2)
    return replace(options, yaw=yaw)


@dataclass(frozen=True)
class XrDevice:
    """One tracked part of the operator."""

    T_xr_device: Float[np.ndarray, "4 4"]
    pressed: tuple[bool, ...] = ()
    """Buttons, in the order of the xr-standard mapping."""

    def presses(self, button: str) -> bool:
        """Whether a button is held down; always for "none"."""
        place = BUTTONS.get(button)
        return place is None or (place < len(self.pressed) and self.pressed[place])


@dataclass(frozen=True)
class XrState:
    """What the headset saw at one moment."""

    stamp: float
    """Seconds, on the headset's clock."""
    devices: Mapping[str, XrDevice]
    """Parts that are tracked."""


def xr_state(data: Any) -> XrState:
    """Reads the `data` of an `xr_state` message; keys that are not needed are ignored.

    Raises:
        InputError: a key is missing, or a value is not what it should be.
    """
    entries = object_of(data, "xr_state: data")
    stamp = number_of(entries.get("timestamp_unix_ms"), "xr_state: timestamp_unix_ms")
    listed = entries.get("devices")
    if not isinstance(listed, list):
        raise InputError(f"xr_state: devices: expected a list, found {short(listed)}")
    devices: dict[str, XrDevice] = {}
    for entry in cast(list[Any], listed):
        device = object_of(entry, "xr_state: device")
        part = "head" if device.get("role") == "head" else device.get("handedness")
        pose = device.get("gripPose") or device.get("pose") or _wrist(device)
        if part in PARTS and device.get("role") in ("head", "controller", "hand") and pose is not None:
            devices.setdefault(
                part, XrDevice(_pose(pose, f"xr_state: pose of {part}"), _buttons(device, part))
            )
    return XrState(1e-3 * stamp, devices)


class XrFollower:
    """Remembers where hands and links were when the clutch was pressed."""

    def __init__(self, options: XrOptions) -> None:
        self.options = options
        self._anchors: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        """Part -> device and link when it was taken up, (4, 4) each."""
        self._last: dict[str, np.ndarray] = {}
        self._seen = self._stamp = -math.inf

    def release(self) -> None:
        """Lets go of everything: the next press takes links up where they are then."""
        self._anchors.clear()
        self._last = {}

    def let_go(self, state: XrState) -> bool:
        """Whether no clutch button is pressed."""
        button = self.options.clutch
        hands = [device for part, device in state.devices.items() if part != "head"]
        return button != "none" and not any(hand.presses(button) for hand in hands)

    def step(
        self, state: XrState, poses: Mapping[str, Float[np.ndarray, "7"]], now: float
    ) -> dict[str, Float[np.ndarray, "7"]]:
        """Targets of the links that are followed just now.

        Args:
            state: what the headset saw. One that is older than the last is ignored: the answer is as before.
            poses: link -> T_world_link where it is now, wxyz_xyz.
            now: seconds on the local clock.
        """
        if 0.0 < self._stamp - state.stamp < 1.0:  # out of order; a larger step back is another clock
            return self._last
        if now - self._seen > PAUSE:
            self.release()
        self._seen, self._stamp = now, state.stamp
        links = self.options.links
        taken = {
            part: device.T_xr_device
            for part, device in state.devices.items()
            if part in links and part != "head" and device.presses(self.options.clutch)
        }
        if (taken or self.options.clutch == "none") and "head" in links and "head" in state.devices:
            taken["head"] = state.devices["head"].T_xr_device
        self._anchors = {part: anchor for part, anchor in self._anchors.items() if part in taken}
        for part, T_now in taken.items():
            self._anchors.setdefault(part, (T_now, as_matrix(poses[links[part]])))
        self._last = {
            links[part]: as_wxyz_xyz(self._moved(T_now, *self._anchors[part]))
            for part, T_now in taken.items()
        }
        return self._last

    def _moved(self, T_now: np.ndarray, T_then: np.ndarray, T_world_link: np.ndarray) -> np.ndarray:
        """The link's pose after the motion of the device since it was taken up."""
        R, T = self.options.R_world_xr, T_world_link.copy()
        T[:3, 3] += self.options.scale * (R @ (T_now[:3, 3] - T_then[:3, 3]))
        T[:3, :3] = R @ T_now[:3, :3] @ T_then[:3, :3].T @ R.T @ T[:3, :3]
        return T


def _wrist(device: Mapping[str, Any]) -> Any:
    """The wrist of a tracked hand, which has no pose of its own."""
    joints = device.get("joints")
    return cast(dict[str, Any], joints).get("wrist") if isinstance(joints, dict) else None


def _buttons(device: Mapping[str, Any], part: str) -> tuple[bool, ...]:
    pad = device.get("gamepad")
    listed = cast(dict[str, Any], pad).get("buttons") if isinstance(pad, dict) else device.get("buttons")
    if listed is None:
        return ()
    if not isinstance(listed, list):
        raise InputError(f"xr_state: buttons of {part}: expected a list, found {short(listed)}")
    return tuple(_pressed(entry, part) for entry in cast(list[Any], listed))


def _pressed(button: Any, part: str) -> bool:
    entries = object_of(button, f"xr_state: button of {part}")
    pressed = entries.get("pressed")
    if isinstance(pressed, bool):
        return pressed
    return number_of(entries.get("value"), f"xr_state: button of {part}: value") > PRESSED


def _pose(value: Any, what: str) -> np.ndarray:
    entries = object_of(value, what)
    position, orientation = (
        object_of(entries.get(key), f"{what}: {key}") for key in ("position", "orientation")
    )
    wxyz = [number_of(orientation.get(key), f"{what}: {key} of the orientation") for key in "wxyz"]
    return as_matrix(wxyz + [number_of(position.get(key), f"{what}: {key}") for key in "xyz"], what)


# Which links an operator steers, and with which hand ----------------------------------------------

NOT_A_HAND = re.compile(r"leg|ankle|foot|feet|sole|toe|head", re.IGNORECASE)


def steered_links(
    robot: Robot, asked: Sequence[str] = (), xr: XrOptions | None = None
) -> tuple[tuple[str, ...], XrOptions]:
    """The links to follow, and which of them a headset's hands steer.

    Args:
        robot: the robot.
        asked: links; if none are, nor in `xr`, the ends of the arms.
        xr: what the hands steer; where it names no link, those with left and right in their names.

    Raises:
        InputError: nothing is asked for, and no end of an arm was found.
    """
    xr = xr or XrOptions()
    links = tuple(dict.fromkeys((*asked, *xr.links.values())))
    links = links or tuple(link for link in default_tool_frames(robot) if not NOT_A_HAND.search(link))
    if not links:
        raise InputError(f"no end-effector of {robot.name} was found; --link LINK names those to follow")
    if not xr.links:
        sides = {side: [link for link in links if side in link.lower()] for side in ("left", "right")}
        found = {side: names[0] for side, names in sides.items() if len(names) == 1}
        xr = replace(xr, **(found or ({"right": links[0]} if len(links) == 1 else {})))
    return links, xr
