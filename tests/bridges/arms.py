"""Arms in MuJoCo that collide as their collision model does: convex hulls as geometry, position servos, gravity held."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import mujoco
import numpy as np

import elbowroom as er
from elbowroom import formats
from elbowroom.ik.internal import CollisionRows

DT, SUBSTEPS = 0.01, 5
"""Seconds between two actions, and steps of MuJoCo in them."""
STEPS = 100
"""Of an episode."""
CLEARANCE, ACCELERATION = 0.01, 10.0
"""Metres and rad/s^2 of the guards."""
START = 0.012
"""Clearance of the first configuration, metres."""
STIFF, DAMPED = 200.0, 10.0
"""N m/rad and N m s/rad at least of every servo. The written ones are as soft as the default pose allows, and give way by
centimetres where other joints brake hard."""
Policy = Callable[[np.ndarray], np.ndarray]
"""From the configuration to the wanted one."""


def hulled(name: str, folder: Path) -> er.Robot:
    """A robot whose collision meshes are the convex hulls of a robot's: what MuJoCo would make of them."""
    robot = er.load_robot(name)
    text = re.sub(r"<(visual|collision)\b.*?</\1>", "", Path(robot.path).read_text(), flags=re.DOTALL)
    for link in robot.mesh_links:
        robot.link_mesh(link).convex_hull.export(folder / f"{link}.stl")
        shape = f'<collision><geometry><mesh filename="{link}.stl"/></geometry></collision>'
        text, found = re.subn(
            rf'(<link\s+name="{link}"\s*)(/?)>',
            lambda m, shape=shape: f"{m[1]}>{shape}" + ("</link>" if m[2] else ""),
            text,
            count=1,
        )
        assert found == 1, link
    path = folder / f"{name}.urdf"
    path.write_text(text)
    return er.load_robot(path)


def simulation(model: er.CollisionModel, folder: Path) -> mujoco.MjModel:
    """Masses and servos of the MJCF that we write, stiff ones; meshes collide, and ignored pairs are excluded."""
    path = folder / "simulation.xml"
    formats.write(path, robot=model.robot, spheres=model.spheres, pairs=model.pairs)
    spec = mujoco.MjSpec.from_file(str(path))
    for item in (*spec.geoms, *spec.excludes):
        spec.delete(item)
    for body in spec.bodies:
        body.gravcomp = 1.0
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    for servo in spec.actuators:
        if servo.gainprm[0] < STIFF:
            servo.gainprm[0], servo.biasprm[1], servo.biasprm[2] = STIFF, -STIFF, -DAMPED
    for link in model.robot.mesh_links:
        mesh = model.robot.link_mesh(link)
        spec.add_mesh(name=link, uservert=mesh.vertices.ravel(), userface=mesh.faces.ravel())
        spec.body(link).add_geom(name=link, type=mujoco.mjtGeom.mjGEOM_MESH, meshname=link, mass=0)
    for a, b in model.pairs.ignored:
        spec.add_exclude(bodyname1=a, bodyname2=b)
    return spec.compile()


class ArmEnv(gymnasium.Env):
    """An arm of position servos; an action is the change of position that is asked for, rad or m."""

    def __init__(self, model: er.CollisionModel, mj: mujoco.MjModel) -> None:
        self.robot, self.model, self.data, self.dt = model.robot, mj, mujoco.MjData(mj), DT
        self._free = model
        self.at = [int(mj.joint(name).qposadr[0]) for name in self.robot.joint_names]
        self.act = [
            int(np.flatnonzero(mj.actuator_trnid[:, 0] == mj.joint(name).id)[0])
            for name in self.robot.joint_names
        ]
        self.action_space = gymnasium.spaces.Box(-0.5, 0.5, (mj.nu,), np.float64)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (self.robot.dof,), np.float64)
        self.contacts = 0

    @property
    def cfg(self) -> np.ndarray:
        return self.data.qpos[self.at].copy()

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        rows = self.robot.random_cfgs(256, seed=int(self.np_random.integers(2**31)))
        near = self.robot.default_cfg + 0.5 * (rows - self.robot.default_cfg)
        start = next(row for row in (*rows, *near) if self._free.clearance(row) > START)
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[self.at], self.data.ctrl[self.act], self.contacts = start, start, 0
        mujoco.mj_forward(self.model, self.data)
        assert self.data.ncon == 0
        return self.cfg, {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self.go(self.data.qpos[self.joints_of_actuators] + action)
        return self.cfg, 0.0, False, False, {}

    @property
    def joints_of_actuators(self) -> np.ndarray:
        return self.model.jnt_qposadr[self.model.actuator_trnid[:, 0]]

    def go(self, ctrl: np.ndarray) -> None:
        """Sends controls and counts the steps in which MuJoCo finds a contact."""
        self.data.ctrl[:] = ctrl
        for _ in range(SUBSTEPS):
            mujoco.mj_step(self.model, self.data)
            self.contacts += self.data.ncon > 0


def policy(kind: str, model: er.CollisionModel, rng: np.random.Generator) -> Policy:
    """A random policy, one that makes for a colliding configuration, or one that goes down the clearance."""
    robot, tick = model.robot, [0]
    rows = CollisionRows(model)
    state: dict[str, np.ndarray] = {}

    def go(cfg: np.ndarray) -> np.ndarray:
        tick[0] += 1
        if kind == "down the clearance":
            near = rows.at(cfg, 0.1)
            if len(near.distance):
                down = near.A[int(np.argmin(near.distance))]
                return cfg - 0.2 * down / max(np.linalg.norm(down), 1e-9)
        if "goal" not in state or tick[0] % 30 == 0:
            many = robot.random_cfgs(64, seed=int(rng.integers(2**31)))
            if kind == "into colliding":
                many = many[~model.free(many)] if not model.free(many).all() else many
                many = many[np.argsort(np.abs(many - cfg).max(axis=1))]
            state["goal"] = many[0]
        return state["goal"]

    return go


KINDS = ("random", "into colliding", "down the clearance")
