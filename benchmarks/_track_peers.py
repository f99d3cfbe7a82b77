"""mink and pink as followers of the same targets, on the same robot and pairs where they can.

Both are set up as the collision examples of their own repositories are (mink: two iiwas, aloha; pink: two kukas): frame
tasks for the hands, a small posture task, joint and velocity limits, and their own collision avoidance on the pairs
that `CollisionModel` checks, kept 1 cm apart. Left out of theirs are pairs that the joints in use cannot move against
each other: pink divides by the norm of its rows, so that the fingers of a gripper that is held (rows of zero) would
hold the whole robot. mink measures MuJoCo's geometry, in which a mesh is its convex hull: pairs whose hulls are closer
than the margin at the start cannot be given to it. pink is given hulls too, for its barrier is defined for convex
shapes, and is slow on meshes; of its pairs it uses the ten that are closest, which its documentation offers.
Neither limits accelerations here unless it is given limits. pink then uses its own `AccelerationLimit`, a constraint of
its programme that also bounds the velocity by the braking distance to joint limits; where that leaves no solution, it
is solved again without and clamped. mink has no such limit: the velocity that it finds is clamped to what they allow.
Where there is no solution at all, both brake as hard as the limits allow. A joint that this carries beyond its limit is
stopped there at once, which no limit on accelerations allows, for beyond a limit pink computes NaN and finds nothing
any more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

import elbowroom as er
from elbowroom._poses import matrix_from_wxyz_xyz
from tests.oracles import PinocchioModel, coal, oracle_of, pin

MARGIN = 0.01
"""Metres that both are told to keep; their examples have 0.05, at which many pairs of these robots already begin."""


class Clamp:
    """Velocities that change by no more than accelerations allow from tick to tick, and stop at joint limits."""

    def __init__(self, accelerations: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> None:
        self._most, self._lower, self._upper = accelerations, lower, upper
        self.last = np.zeros(len(accelerations))

    def __call__(self, velocity: np.ndarray, q: np.ndarray, dt: float) -> np.ndarray:
        velocity = np.clip(velocity, self.last - self._most * dt, self.last + self._most * dt)
        self.last = (np.clip(q + velocity * dt, self._lower, self._upper) - q) / dt
        return self.last


class Mink:
    """mink 1.x: FrameTask, PostureTask, ConfigurationLimit, VelocityLimit, CollisionAvoidanceLimit; solver daqp."""

    def __init__(
        self,
        model: er.CollisionModel,
        cfg: np.ndarray,
        links: tuple[str, ...],
        *,
        gain: float = 0.85,
        margin: float = MARGIN,
        detect: float = 0.1,
        accelerations: np.ndarray | None = None,
    ) -> None:
        import mink
        import mujoco

        self._mink, robot = mink, model.robot
        mj = _mujoco_model(robot)
        self._at = np.array([mj.jnt_qposadr[mj.joint(name).id] for name in robot.joint_names])
        q = np.array(mj.qpos0)
        q[self._at] = cfg
        self._configuration = mink.Configuration(mj, q)
        self._clamp = None
        if accelerations is not None:
            most, lower, upper = np.full((3, mj.nv), np.inf)
            at = [mj.jnt_dofadr[mj.joint(name).id] for name in robot.joint_names]
            most[at], lower[at], upper[at] = accelerations, robot.lower, robot.upper
            lower[np.isinf(most)] = -np.inf
            self._clamp = Clamp(most, lower, upper)
        self._tasks = [
            mink.FrameTask(link, "body", position_cost=1.0, orientation_cost=1.0, lm_damping=1e-3)
            for link in links
        ]
        posture = mink.PostureTask(mj, cost=1e-3)
        posture.set_target(q)
        self._all = [*self._tasks, posture]
        moves = _moving(robot, links)
        speeds = {mj.joint(j).name: 1e-9 for j in range(mj.njnt)}  # the others are held
        speeds |= {name: float(robot.velocity_limits[robot.joint_names.index(name)]) for name in moves}
        fromto, pairs = np.zeros(6), []
        movable = _movable(model, moves)
        for a, b in movable:
            near = mujoco.mj_geomDistance(
                mj, self._configuration.data, mj.geom(a).id, mj.geom(b).id, 1.0, fromto
            )
            if near > margin:
                pairs.append(([a], [b]))
        self.pairs, self.left_out = len(pairs), len(movable) - len(pairs)
        self._limits = [
            mink.ConfigurationLimit(mj),
            mink.VelocityLimit(mj, speeds),
            mink.CollisionAvoidanceLimit(
                mj,
                pairs,
                gain=gain,
                minimum_distance_from_collisions=margin,
                collision_detection_distance=detect,
            ),
        ]
        self.failed = 0

    def tick(self, targets: Mapping[str, np.ndarray], dt: float) -> np.ndarray:
        """The next configuration; to rest when there is no solution."""
        mink = self._mink
        for task, pose in zip(self._tasks, targets.values(), strict=True):
            task.set_target(mink.SE3(np.array(pose)))
        try:
            velocity = mink.solve_ik(
                self._configuration, self._all, dt, solver="daqp", damping=1e-6, limits=self._limits
            )
        except mink.NoSolutionFound:
            self.failed += 1
            velocity = np.zeros(self._configuration.nv)
        velocity = velocity if self._clamp is None else self._clamp(velocity, self._configuration.q, dt)
        self._configuration.integrate_inplace(velocity, dt)
        return np.array(self._configuration.q[self._at])


def _mujoco_model(robot: er.Robot):
    """The URDF's kinematics in MuJoCo, with one geom a link: the link's mesh under the link's name."""
    import mujoco

    text = Path(robot.path).read_text()
    text = re.sub(r"<(visual|collision)\b.*?</\1>", "", text, flags=re.DOTALL)
    compiler = '<mujoco><compiler fusestatic="false" boundmass="0.01" boundinertia="0.001" strippath="false"/></mujoco>'
    text = re.sub(r"(<robot\b[^>]*>)", rf"\1{compiler}", text, count=1)
    spec = mujoco.MjSpec.from_string(text)
    roots = {body.name: body for body in spec.bodies}
    for link in robot.mesh_links:
        mesh = robot.link_mesh(link)
        asset = spec.add_mesh()
        asset.name = link
        asset.uservert = np.asarray(mesh.vertices).ravel().tolist()
        asset.userface = np.asarray(mesh.faces).ravel().tolist()
        geom = roots.get(link, spec.worldbody).add_geom()
        geom.name, geom.type, geom.meshname = link, mujoco.mjtGeom.mjGEOM_MESH, link
    return spec.compile()


class Pink:
    """pink 4.x: FrameTask, PostureTask, its own joint and velocity limits, SelfCollisionBarrier; solver daqp."""

    def __init__(
        self,
        model: er.CollisionModel,
        cfg: np.ndarray,
        links: tuple[str, ...],
        *,
        gain: float = 20.0,
        margin: float = MARGIN,
        pairs: int = 10,
        accelerations: np.ndarray | None = None,
    ) -> None:
        import pink
        from pink.barriers import SelfCollisionBarrier

        self._pink, robot = pink, model.robot
        oracle = oracle_of(robot)
        kinematics: PinocchioModel = oracle.kinematics
        free = _moving(robot, links)
        still = [
            kinematics.model.getJointId(name)
            for name in kinematics.moving
            if name not in free and kinematics.model.existJointName(name)
        ]
        geometry = oracle.geometry.copy()
        for item in geometry.geometryObjects:
            if isinstance(item.geometry, coal.BVHModelBase):
                item.geometry.buildConvexHull(True, "Qt")
                item.geometry = item.geometry.convex
        geometry.removeAllCollisionPairs()
        for i, j in oracle.shape_pairs(_movable(model, free)):
            geometry.addCollisionPair(pin.CollisionPair(i, j))
        whole = kinematics.q(cfg)[0]
        data, found = kinematics.model.createData(), geometry.createData()
        pin.computeDistances(kinematics.model, data, geometry, found, whole)
        touching = [
            k for k in range(len(geometry.collisionPairs)) if found.distanceResults[k].min_distance <= margin
        ]
        for k in reversed(touching):
            geometry.removeCollisionPair(geometry.collisionPairs[k])
        self.pairs, self.left_out = len(geometry.collisionPairs), len(touching)
        reduced, geometry = pin.buildReducedModel(kinematics.model, geometry, still, whole)
        self._names = list(reduced.names)[1:]
        self._to = [robot.joint_names.index(name) for name in self._names]
        self._cfg = np.array(cfg)
        self._limits, self._clamp = None, None
        if accelerations is not None:
            self._clamp = Clamp(accelerations[self._to], robot.lower[self._to], robot.upper[self._to])
            self._limits = [
                pink.limits.ConfigurationLimit(reduced),
                pink.limits.VelocityLimit(reduced),
                pink.limits.AccelerationLimit(reduced, accelerations[self._to]),
            ]
        reduced.velocityLimit = np.asarray(robot.velocity_limits)[self._to]
        self._configuration = pink.Configuration(
            reduced, reduced.createData(), np.array(cfg[self._to]), collision_model=geometry
        )
        self._tasks = [
            pink.tasks.FrameTask(link, position_cost=50.0, orientation_cost=10.0, lm_damping=1e-3)
            for link in links
        ]
        posture = pink.tasks.PostureTask(cost=1e-3)
        posture.set_target(self._configuration.q)
        self._all = [*self._tasks, posture]
        self._barriers = [
            SelfCollisionBarrier(
                min(pairs, len(geometry.collisionPairs)), gain=gain, safe_displacement_gain=1.0, d_min=margin
            )
        ]
        self.failed = 0

    def tick(self, targets: Mapping[str, np.ndarray], dt: float) -> np.ndarray:
        """The next configuration; to rest when there is no solution."""
        for task, (w, x, y, z, *place) in zip(self._tasks, targets.values(), strict=True):
            task.set_target(pin.SE3(pin.Quaternion(w, x, y, z).matrix(), np.array(place)))
        if self._limits is not None and self._clamp is not None:
            self._limits[-1].set_last_integration(self._clamp.last, dt)
        velocity = np.zeros(len(self._to))
        for limits in (self._limits,) if self._limits is None else (self._limits, self._limits[:-1]):
            try:
                velocity = self._pink.solve_ik(
                    self._configuration, self._all, dt, solver="daqp", damping=1e-6, limits=limits,
                    barriers=self._barriers, safety_break=False,
                )  # fmt: skip
                break
            except self._pink.exceptions.NoSolutionFound:
                self.failed += limits is self._limits
        velocity = velocity if self._clamp is None else self._clamp(velocity, self._configuration.q, dt)
        self._configuration.integrate_inplace(velocity, dt)
        self._cfg[self._to] = self._configuration.q
        return self._cfg.copy()


def _moving(robot: er.Robot, links: tuple[str, ...]) -> list[str]:
    """Joints that move a link."""
    moves = np.any(
        [np.abs(robot.jacobian(robot.default_cfg + 0.1, link)).max(axis=0) > 0 for link in links], axis=0
    )
    return [name for name, does in zip(robot.joint_names, moves, strict=True) if does]


def _movable(model: er.CollisionModel, moving: list[str]) -> list[tuple[str, str]]:
    """Checked pairs of links that these joints move against each other."""
    robot, rng = model.robot, np.random.default_rng(0)
    cfgs = np.tile(robot.default_cfg, (4, 1))
    solved = np.isin(robot.joint_names, moving)
    cfgs[:, solved] += rng.uniform(-0.1, 0.1, (4, int(solved.sum())))
    Ts = matrix_from_wxyz_xyz(robot.link_poses(cfgs))
    found = list[tuple[str, str]]()
    for a, b in model.pairs.checked:
        T_a_b = np.linalg.inv(Ts[:, robot.link_index(a)]) @ Ts[:, robot.link_index(b)]
        if np.ptp(T_a_b, axis=0).max() > 1e-9:
            found.append((a, b))
    return found
