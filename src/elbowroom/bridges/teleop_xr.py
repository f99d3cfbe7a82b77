"""Robots for teleop_xr: its `PyrokiSolver` follows a headset with our costs, many spheres a link among them.

`ModelRobot` is any robot with named left, right and head links, `TeaArm` the dual arm of that name. Both are subclasses
of teleop_xr's `BaseRobot`, so they are made when first asked for, where teleop_xr is installed. The costs are those of
`elbowroom.ik` as costs of jaxls (`ik.jaxls_cost`); pyroki's own are not used.
"""

from __future__ import annotations

import importlib
import math
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import jaxlie

from .. import ik
from .._files import write_bytes
from .._text import short
from ..collision import CollisionModel
from ..distance import MultiSphereCollision, self_collision_residual
from ..errors import DescriptionError, InputError, MissingExtraError, unknown
from ..robot import Robot, load_robot
from ..robot.internal import as_folders, default_tool_frames
from ..spheres import FitOptions, fit_spheres

ModelRobot: type[Any]
TeaArm: type[Any]

__all__ = ["ModelRobot", "TeaArm"]

INSTALL = "pip install git+https://github.com/qrafty-ai/teleop_xr git+https://github.com/chungmin99/pyroki"
"""What installs teleop_xr and what its inverse kinematics imports; jaxls comes with pyroki."""
WEIGHTS = {
    "position": 50.0,
    "orientation": 10.0,
    "rest": 0.1,
    "manipulability": 0.005,
    "limits": 100.0,
    "self_collision": 100.0,
    "margin": 0.02,
}
"""Per metre and radian, as in `ik.TeaArmRobot`, except for self-collision: with its 5, hands that are asked to cross
end in contact; 100 is that of teleop_xr's first TeaArm. `margin`: metres at which links start to keep apart."""
YAWS = {"x": 0.0, "y": -math.pi / 2, "-x": math.pi, "-y": math.pi / 2}
"""Axis of the base frame along which a robot looks -> the turn about z, rad, that takes this axis to x."""


class _ModelRobot:
    """A robot of Elbowroom for teleop_xr; every argument can be written in its `--robot-args`.

    Args:
        urdf_string: text of a URDF, as ROS 2 hands it over; it takes the place of `robot`.
        robot: a name or a path, as `load_robot` takes it.
        left: link that follows the left hand; None for a robot without one. `right` is the same for the right hand.
        head: link that turns with the operator's head, by its heading: the turn about the vertical.
        faces: axis of the base frame along which the robot looks: x, y, -x or -y.
        srdf: file with poses, and pairs of links to leave out.
        package_dirs: folders to search for `package://` meshes.
        self_collision: whether links are kept apart; False for a robot without meshes.
        weights: what to change of `WEIGHTS`.
        n_spheres: budget of the spheres that keep links apart; None leaves it to the fit.

    Raises:
        InputError: nothing to load or to steer, or values that make no sense. UnknownLinkError: no such link.
        DescriptionError: a broken description, or meshes that are not found. MissingExtraError: no jaxls.
    """

    def __init__(
        self,
        urdf_string: str | None = None,
        *,
        robot: str | None = None,
        left: str | None = None,
        right: str | None = None,
        head: str | None = None,
        faces: str = "x",
        srdf: str | None = None,
        package_dirs: Sequence[str] = (),
        self_collision: bool = True,
        weights: Mapping[str, float] | None = None,
        n_spheres: int | None = None,
    ) -> None:
        super().__init__()
        texts = {"urdf_string": urdf_string, "robot": robot, "left": left, "right": right, "head": head}
        for name, value in texts.items():
            if value is not None and not isinstance(value, str):
                raise InputError(f"{name}: expected a text, found {short(value)}")
        if weights is not None and not isinstance(weights, Mapping):
            raise InputError(f"weights: expected a map from names to numbers, found {short(weights)}")
        for name, value in (weights or {}).items():
            if name not in WEIGHTS:
                raise InputError(f"weights: {unknown('weight', str(name), WEIGHTS)}")
            if not isinstance(value, (int, float)) or not 0.0 <= value < math.inf:
                raise InputError(f"weights: {name} must be a number from 0 up, found {short(value)}")
        if not isinstance(faces, str) or faces not in YAWS:
            raise InputError(f"faces: {unknown('axis', str(faces), YAWS)}")
        named = {"left": left, "right": right, "head": head}
        self._links = {frame: link for frame, link in named.items() if link is not None}
        self._robot, self._self_collision, self._yaw = robot or "", self_collision, YAWS[faces]
        self._srdf: str | None = srdf
        self._dirs = [str(folder) for folder in as_folders(package_dirs)]
        self._fit = FitOptions(n_spheres=n_spheres, apart_at_rest=True)  # the cost sees spheres alone
        self.weights = WEIGHTS | dict(weights or {})
        self._initialize_from_description(urdf_string or self._robot)

    def _initialize_from_description(self, description: str) -> None:
        """Takes a name, a path or the text of a URDF; versions of teleop_xr that swap descriptions call it too."""
        self.robot = self._load(description)
        if not self._links:
            ends = ", ".join(default_tool_frames(self.robot)) or "none found"
            raise InputError(f"name links to steer: left, right or head; ends of {self.robot.name}: {ends}")
        self._indices = {frame: self.robot.link_index(link) for frame, link in self._links.items()}
        path = self.robot.path
        self.urdf_path = str(path) if path is not None and path.suffix == ".urdf" else ""
        self.mesh_path = self._dirs[0] if self._dirs else str(Path(self.urdf_path).parent)
        # Whatever holds arrays of JAX is made here: under jit they would be traced ones.
        self._joint_var = self.robot.joint_var_cls
        self._apart = [_keep_apart(self.robot, self._spheres(), self.weights)] if self._self_collision else []

    def _load(self, description: str) -> Robot:
        if not description:
            raise InputError("nothing to load: give robot, a name or a path, or the text of a URDF")
        if not description.lstrip().startswith("<"):
            return load_robot(description, srdf=self._srdf, package_dirs=self._dirs)
        self._folder = tempfile.TemporaryDirectory(prefix="elbowroom-")  # for as long as this robot lives
        file = Path(self._folder.name, "urdf", "robot.urdf")
        file.parent.mkdir()
        write_bytes(file, description.encode())
        try:
            return load_robot(file, srdf=self._srdf, package_dirs=self._dirs)
        except DescriptionError as error:
            if "mesh" not in str(error):
                raise
            hint = (
                "a URDF given as text has no folder: package_dirs in --robot-args names those of its meshes"
            )
            raise type(error)(f"{error} ({hint})") from error

    def _spheres(self) -> MultiSphereCollision:
        model = CollisionModel(self.robot, fit_spheres(self.robot, self._fit))
        return MultiSphereCollision.from_models(self.robot, model.spheres, model.pairs)

    # What teleop_xr asks for ----------------------------------------------------------------------

    @property
    def robot_description(self) -> str:
        return self._robot

    def _load_default_urdf(self) -> Any:
        return importlib.import_module("yourdfpy").URDF.load(self.urdf_path)

    def get_vis_config(self) -> Any:
        if not self.urdf_path:
            return None  # MJCF and xacro: the page of teleop_xr draws URDF
        config = importlib.import_module("teleop_xr.config").RobotVisConfig
        turn = [0.0, 0.0, self._yaw]
        return config(urdf_path=self.urdf_path, mesh_path=self.mesh_path, initial_rotation_euler=turn)

    @property
    def orientation(self) -> jaxlie.SO3:
        return jaxlie.SO3.from_z_radians(self._yaw)

    @property
    def supported_frames(self) -> set[str]:
        return set(self._links)

    @property
    def actuated_joint_names(self) -> list[str]:
        return list(self.robot.joint_names)

    @property
    def joint_var_cls(self) -> Any:
        return self._joint_var

    def get_default_config(self) -> jax.Array:
        return jnp.asarray(self.robot.default_cfg)

    def forward_kinematics(self, config: Any) -> dict[str, jaxlie.SE3]:
        poses = self.robot.forward_kinematics(config)
        return {frame: jaxlie.SE3(poses[..., index, :]) for frame, index in self._indices.items()}

    def build_costs(self, target_L: Any, target_R: Any, target_Head: Any, q_current: Any = None) -> list[Any]:
        """Rest, manipulability, one pose a hand, heading, limits, self-collision; a target of None has no cost."""
        w, robot, links = self.weights, self.robot, self._links
        hands = tuple(links[frame] for frame in ("left", "right") if frame in links)
        costs = [ik.rest_cost(robot.default_cfg if q_current is None else q_current, w["rest"])]
        costs += [ik.manipulability_cost(robot, hands, w["manipulability"])] if hands else []
        for frame, target in (("left", target_L), ("right", target_R)):
            if target is not None and frame in links:
                costs.append(ik.pose_cost(robot, links[frame], target, w["position"], w["orientation"]))
        if target_Head is not None and "head" in links:
            costs.append(ik.heading_cost(robot, links["head"], target_Head, w["orientation"]))
        costs += [ik.limit_cost(robot, w["limits"]), *self._apart]
        return [ik.jaxls_cost(cost, self._joint_var(0)) for cost in costs]


class _TeaArm(_ModelRobot):
    """The dual arm `teaarm`: the bundled one, or by `urdf_string` or `robot` one with the same names of links.

    Options are those of `ModelRobot`.
    """

    def __init__(self, urdf_string: str | None = None, **options: Any) -> None:
        self._tea = ik.TeaArmRobot()
        own: dict[str, Any] = {"robot": "teaarm", "faces": "y", "head": self._tea.head}
        own |= {"left": self._tea.left, "right": self._tea.right}
        own |= {"n_spheres": self._tea.fit_options.n_spheres}
        super().__init__(urdf_string, **own | options)

    def _load(self, description: str) -> Robot:
        """With the poses of the bundled TeaArm, whatever meshes it has."""
        found = super()._load(description)
        if self._srdf is None and set(found.joint_names) == set(self._tea.actuated_joint_names):
            self._srdf = str(Path(self._tea.urdf_path).with_suffix(".srdf"))
            found = super()._load(description)
        return found


def _keep_apart(robot: Robot, spheres: MultiSphereCollision, weights: Mapping[str, float]) -> ik.Cost:
    """The spheres are constants of its function, so that jaxls does not map over them."""

    margins = ik.margins_at_rest(robot, spheres, weights["margin"], robot.default_cfg[None])

    def self_collision(cfg: jax.Array) -> jax.Array:
        return self_collision_residual(spheres, robot, cfg, margins.astype(cfg.dtype))

    return ik.Cost(self_collision, weights["self_collision"])


_CLASSES: dict[str, type] = {"ModelRobot": _ModelRobot, "TeaArm": _TeaArm}


def __getattr__(name: str) -> Any:
    if name not in _CLASSES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        base = importlib.import_module("teleop_xr.ik.robot").BaseRobot
    except ImportError as error:
        raise MissingExtraError(f"{name} needs teleop_xr: {INSTALL} ({error})") from error
    ours = _CLASSES[name]
    globals()[name] = type(base)(name, (ours, base), {"__doc__": ours.__doc__, "__module__": __name__})
    return globals()[name]
