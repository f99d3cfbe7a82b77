"""The judge of inverse kinematics, and targets for it; it takes nobody's word for a success.

A configuration is judged by the description itself: Pinocchio moves the robot (MuJoCo where it is an MJCF), limits are
those of the file, Coal collides the whole robot on the pairs that count, and `CoalWorld` its links with the obstacles.
Neither the solver nor `CollisionModel` is asked.

Targets are poses of random configurations that Coal calls free, so each has an answer. They are drawn by a generator of
their own: a solver that starts from random configurations must not meet its own draws as targets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np

import elbowroom as er
from elbowroom.ik import AxisTarget, JointTarget, LookAt, PoseTarget, PositionTarget
from elbowroom.world import Box, Capsule, Cylinder, Obstacle, Sphere, World

from .oracles import CoalOracle, LinkPair, PinocchioCoal, mujoco_link_poses, oracle_of, pin
from .world_oracles import CoalWorld

POSITION = 1e-3
"""Metres that a success may be off."""
ORIENTATION = 0.01
"""Radians that it may be off."""
LIMIT_SLACK = 1e-9
"""Rounding of a joint at its limit, rad or m."""
DRAWS = 20_261
"""Of the generators here; see the module."""
LEFT = 0.25
"""Share of configurations that obstacles leave free, at least; see `obstacles_around`."""
BLOCK = 64
"""Configurations drawn at once."""


class IkJudge:
    """One robot, the pairs that count, and the obstacles around it."""

    def __init__(
        self,
        robot: er.Robot,
        pairs: Iterable[LinkPair],
        world: World | None = None,
        *,
        oracle: CoalOracle | None = None,
    ) -> None:
        self.robot, self.pairs = robot, tuple(pairs)
        self.oracle = oracle_of(robot) if oracle is None else oracle
        self.world = CoalWorld(self.oracle, world) if world is not None and len(world) else None
        self.lower, self.upper = file_limits(robot)

    def among(self, world: World | None) -> IkJudge:
        """The same judge among other obstacles."""
        return IkJudge(self.robot, self.pairs, world, oracle=self.oracle)

    def link_poses(self, cfgs: np.ndarray, links: Sequence[str]) -> np.ndarray:
        """Poses (n, links, 4, 4) by Pinocchio or MuJoCo."""
        if isinstance(self.oracle, PinocchioCoal):
            return self.oracle.kinematics.link_poses(cfgs, links)
        index = [self.robot.link_names.index(link) for link in links]
        return mujoco_link_poses(self.robot, np.atleast_2d(cfgs))[:, index]

    def free(self, cfgs: np.ndarray) -> np.ndarray:
        """Whether Coal finds no contact, of links with links and of links with obstacles, (n,)."""
        out = self.oracle.free(cfgs, self.pairs)
        if self.world is not None:
            out[out] = self.world.free(cfgs[out])
        return out

    def faults(self, cfg: np.ndarray, targets: object, held: Mapping[str, float] | None = None) -> list[str]:
        """What keeps a configuration from being a success, in words; empty: it is one.

        `targets` are {link: pose (7,) or (4, 4)} or targets of `elbowroom.ik`; `held` are joints that had to stay.
        """
        cfg = np.asarray(cfg, dtype=np.float64)
        if cfg.shape != (self.robot.dof,) or not np.isfinite(cfg).all():
            return [f"not a configuration: {cfg}"]
        found = [
            f"{name} at {cfg[k]:.9g}, limits {low:.9g} to {high:.9g}"
            for k, (name, low, high) in enumerate(
                zip(self.robot.joint_names, self.lower, self.upper, strict=True)
            )
            if not low - LIMIT_SLACK <= cfg[k] <= high + LIMIT_SLACK
        ]
        for name, value in (held or {}).items():
            if cfg[self.robot.joint_names.index(name)] != value:
                found.append(
                    f"{name} moved from {value:.9g} to {cfg[self.robot.joint_names.index(name)]:.9g}"
                )
        for name, position, orientation in self.errors(cfg, targets):
            if not position <= POSITION:
                found.append(f"{name} off by {1e3 * position:.4g} mm")
            if not orientation <= ORIENTATION:
                found.append(f"{name} off by {orientation:.4g} rad")
        touching = self.oracle.colliding(cfg, self.pairs)[0]
        found += [f"{a} and {b} touch" for (a, b), hit in zip(self.pairs, touching, strict=True) if hit]
        if self.world is not None:
            found += [f"{link} and {obstacle} touch" for link, obstacle in self.world.hits(cfg)]
        return found

    def errors(self, cfg: np.ndarray, targets: object) -> list[tuple[str, float, float]]:
        """Per target: link or joint, metres and radians off."""
        items = (
            targets.items() if isinstance(targets, Mapping) else [(None, item) for item in _listed(targets)]
        )
        return [self._error(cfg, link, item) for link, item in items]

    def _error(self, cfg: np.ndarray, link: str | None, item: object) -> tuple[str, float, float]:
        match item:
            case JointTarget():
                return item.joint, 0.0, abs(item.value - cfg[self.robot.joint_names.index(item.joint)])
            case PositionTarget():
                T = self.link_poses(cfg, [item.link])[0, 0]
                return item.link, _length(item.position - (T[:3, :3] @ item.point + T[:3, 3])), 0.0
            case AxisTarget():
                T = self.link_poses(cfg, [item.link])[0, 0]
                return item.link, 0.0, _angle(T[:3, :3] @ item.axis, item.direction)
            case LookAt():
                T = self.link_poses(cfg, [item.link])[0, 0]
                return item.link, 0.0, _angle(T[:3, :3] @ item.axis, item.point - T[:3, 3])
            case PoseTarget():
                link, item = item.link, item.pose
        assert link is not None
        T, goal = self.link_poses(cfg, [link])[0, 0], as_matrix(item)
        turn = pin.log3(np.ascontiguousarray(goal[:3, :3] @ T[:3, :3].T))
        return link, _length(goal[:3, 3] - T[:3, 3]), _length(turn)


def _listed(targets: object) -> list[object]:
    return list(targets) if isinstance(targets, Iterable) else [targets]


def _length(vector: np.ndarray) -> float:
    return float(np.linalg.norm(vector))


def _angle(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))


def as_matrix(pose: object) -> np.ndarray:
    """A pose (4, 4) from itself or from wxyz_xyz, by Pinocchio."""
    pose = np.asarray(pose, dtype=np.float64)
    if pose.shape == (4, 4):
        return pose
    w, x, y, z = pose[:4] / np.linalg.norm(pose[:4])
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = pin.Quaternion(w, x, y, z).toRotationMatrix(), pose[4:]
    return T


def as_wxyz_xyz(T: np.ndarray) -> np.ndarray:
    """A pose (7,) from (4, 4), by Pinocchio."""
    x, y, z, w = pin.Quaternion(np.ascontiguousarray(T[:3, :3])).coeffs()
    return np.array([w, x, y, z, *T[:3, 3]])


def file_limits(robot: er.Robot) -> tuple[np.ndarray, np.ndarray]:
    """Limits (dof,) as the description says them; infinite where it says none."""
    lower, upper = np.full(robot.dof, -np.inf), np.full(robot.dof, np.inf)
    assert robot.path is not None
    if robot.path.suffix == ".xml":
        import mujoco

        model = mujoco.MjModel.from_xml_path(str(robot.path))
        for k, name in enumerate(robot.joint_names):
            joint = model.joint(name)
            if model.jnt_limited[joint.id]:
                lower[k], upper[k] = model.jnt_range[joint.id]
        return lower, upper
    for joint in ElementTree.parse(robot.path).getroot().findall("joint"):
        limit, name = joint.find("limit"), joint.get("name")
        if name in robot.joint_names and joint.get("type") != "continuous" and limit is not None:
            k = robot.joint_names.index(name)
            lower[k], upper[k] = float(limit.get("lower", 0.0)), float(limit.get("upper", 0.0))
    return lower, upper


# Targets --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Drawn:
    """Targets, the free configurations that they are the poses of, and how many were drawn for them."""

    links: tuple[str, ...]
    cfgs: np.ndarray
    poses: np.ndarray
    """(n, links, 7) wxyz_xyz."""
    drawn: int

    def __len__(self) -> int:
        return len(self.cfgs)

    def __iter__(self) -> Iterator[dict[str, np.ndarray]]:
        """The targets, {link: pose}."""
        return (dict(zip(self.links, row, strict=True)) for row in self.poses)


def joints_of(judge: IkJudge, links: Sequence[str]) -> tuple[str, ...]:
    """Joints that move any of the links, found by moving them."""
    robot, rng = judge.robot, np.random.default_rng(0)
    start = robot.default_cfg + 0.1 * rng.normal(size=robot.dof)
    moved = start + np.diag(np.full(robot.dof, 1e-3))
    far = np.abs(judge.link_poses(moved, links) - judge.link_poses(start, links)).max(axis=(1, 2, 3))
    return tuple(name for name, by in zip(robot.joint_names, far, strict=True) if by > 1e-9)


def draw_targets(
    judge: IkJudge,
    links: Sequence[str],
    count: int,
    seed: int = 0,
    *,
    keep: Callable[[np.ndarray], np.ndarray] | None = None,
    at_most: int = 200_000,
) -> Drawn:
    """Poses of links at random configurations that Coal calls free; joints that move no such link rest at the default.

    `keep` names those of the drawn (n, dof) that are wanted, (n,) bool, before Coal is asked. Ends at `at_most` draws.
    """
    robot, rng = judge.robot, np.random.default_rng([DRAWS, seed])
    solved = np.isin(robot.joint_names, joints_of(judge, links))
    found: list[np.ndarray] = []
    drawn = 0
    while len(found) < count and drawn < at_most:
        cfgs = np.tile(robot.default_cfg, (BLOCK, 1))
        cfgs[:, solved] = rng.uniform(robot.lower[solved], robot.upper[solved], (BLOCK, int(solved.sum())))
        drawn += BLOCK
        if keep is not None:
            cfgs = cfgs[keep(cfgs)]
        found += list(cfgs[judge.free(cfgs)]) if len(cfgs) else []
    cfgs = np.array(found[:count]).reshape(-1, robot.dof)
    Ts = judge.link_poses(cfgs, links) if len(cfgs) else np.empty((0, len(links), 4, 4))
    poses = np.array([[as_wxyz_xyz(T) for T in row] for row in Ts]).reshape(-1, len(links), 7)
    return Drawn(tuple(links), cfgs, poses, drawn)


def obstacles_around(judge: IkJudge, links: Sequence[str], count: int = 10, seed: int = 0) -> World:
    """Boxes, balls, capsules and cylinders where the arms come by, at least 5 cm from the default pose.

    They take away most configurations; one that would leave fewer than `LEFT` of them is put elsewhere.
    """
    robot, rng = judge.robot, np.random.default_rng([DRAWS, 1, seed])
    solved = np.isin(robot.joint_names, joints_of(judge, links))
    cfgs = np.where(solved, rng.uniform(robot.lower, robot.upper, (128, robot.dof)), robot.default_cfg)
    Ts = judge.link_poses(cfgs, robot.link_names)
    moving = [k for k in range(len(robot.link_names)) if np.ptp(Ts[:, k, :3, 3], axis=0).max() > 0.1]
    places = Ts[:, moving, :3, 3].reshape(-1, 3)
    unit = float(np.linalg.norm(np.ptp(places, axis=0))) / 6.0
    found: list[Obstacle] = []
    left = np.ones(len(cfgs), dtype=bool)
    while len(found) < count:
        pose = as_matrix(np.concatenate([rng.normal(size=4), places[rng.integers(len(places))]]))
        size, name = unit * rng.uniform(0.2, 0.8, 3), f"thing_{len(found) + 1}"
        kinds: tuple[Obstacle, ...] = (
            Box(tuple(size), pose=pose, name=name),
            Sphere(0.5 * size[0], pose=pose, name=name),
            Capsule(0.4 * size[0], size[1], pose=pose, name=name),
            Cylinder(0.4 * size[0], size[1], pose=pose, name=name),
        )
        alone = CoalWorld(judge.oracle, World([thing := kinds[len(found) % len(kinds)]]))
        if (
            alone.clearance(robot.default_cfg, 0.05) == np.inf
            and (still := left & alone.free(cfgs)).mean() >= LEFT
        ):
            found.append(thing)
            left = still
    return World(found)
