"""Peers in inverse kinematics: the differential loops of Pinocchio's tutorial, of pink and of mink, run to convergence.

Each takes full steps (a velocity for one second) within the joint limits, up to `STEPS`, from the default pose and then
from random configurations, up to `STARTS`, until the targets are met and Pinocchio with Coal finds the configuration
free on the pairs that count: what a careful user writes around them. They know nothing of collisions while they search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import version
from xml.etree import ElementTree

import numpy as np

from elbowroom.ik import IkOptions
from tests.ik_oracles import IkJudge, as_matrix, joints_of
from tests.oracles import PinocchioCoal, pin

STEPS = 100
STARTS = 16
DAMPING = 1e-6
"""Of the squared singular values; the same for all."""


class Clik:
    """Closed-loop inverse kinematics on Pinocchio, as its examples have it: damped pseudo-inverse, then clamped."""

    def __init__(self, judge: IkJudge, links: Sequence[str]) -> None:
        assert isinstance(judge.oracle, PinocchioCoal)
        self.name = f"Pinocchio {version('pin')} CLIK"
        self.kinematics, self.robot = judge.oracle.kinematics, judge.robot
        self.model, self.data = self.kinematics.model, self.kinematics.model.createData()
        self.frames = [self.model.getFrameId(link, pin.FrameType.BODY) for link in links]
        names = self.robot.joint_names
        self.slots = [self.model.joints[self.model.getJointId(name)].idx_v for name in names]

    def begin(self, cfg: np.ndarray, goals: Sequence[np.ndarray]) -> None:
        self.cfg = cfg.copy()
        self.goals = [pin.SE3(goal[:3, :3], goal[:3, 3]) for goal in goals]
        self._place()

    def _place(self) -> None:
        pin.computeJointJacobians(self.model, self.data, self.kinematics.q(self.cfg)[0])
        pin.updateFramePlacements(self.model, self.data)

    def errors(self) -> np.ndarray:
        """(links, 6) twists to the goals, in the frames."""
        return np.array(
            [
                pin.log6(self.data.oMf[f].actInv(g)).vector
                for f, g in zip(self.frames, self.goals, strict=True)
            ]
        )

    def step(self) -> None:
        error = self.errors().ravel()
        rows = []
        for frame, goal in zip(self.frames, self.goals, strict=True):
            turn = pin.Jlog6(goal.actInv(self.data.oMf[frame]))
            rows.append(turn @ pin.getFrameJacobian(self.model, self.data, frame, pin.ReferenceFrame.LOCAL))
        J = np.vstack(rows)[:, self.slots]
        change = J.T @ np.linalg.solve(J @ J.T + DAMPING * np.eye(len(J)), error)
        self.cfg = np.clip(self.cfg + change, self.robot.lower, self.robot.upper)
        self._place()


class Pink:
    """pink's FrameTasks in its quadratic programme, solved by daqp, with its limits on the configuration."""

    def __init__(self, judge: IkJudge, links: Sequence[str]) -> None:
        import pink
        from pink.limits import ConfigurationLimit

        assert isinstance(judge.oracle, PinocchioCoal)
        self.name, self._pink = f"pink {version('pin-pink')}", pink
        self.kinematics, self.robot = judge.oracle.kinematics, judge.robot
        self.model = self.kinematics.model
        self.tasks = [pink.tasks.FrameTask(link, 1.0, 0.3, lm_damping=DAMPING) for link in links]
        self.limits = [ConfigurationLimit(self.model, config_limit_gain=1.0)]
        self.slots = [self.model.joints[self.model.getJointId(name)] for name in self.robot.joint_names]

    def begin(self, cfg: np.ndarray, goals: Sequence[np.ndarray]) -> None:
        q = self.kinematics.q(cfg)[0]
        self.configuration = self._pink.Configuration(self.model, self.model.createData(), q)
        for task, goal in zip(self.tasks, goals, strict=True):
            task.set_target(pin.SE3(goal[:3, :3], goal[:3, 3]))

    def errors(self) -> np.ndarray:
        return np.array([task.compute_error(self.configuration) for task in self.tasks])

    def step(self) -> None:
        velocity = self._pink.solve_ik(
            self.configuration,
            self.tasks,
            1.0,
            "daqp",
            damping=DAMPING,
            limits=self.limits,
            safety_break=False,
        )
        self.configuration.integrate_inplace(velocity, 1.0)

    @property
    def cfg(self) -> np.ndarray:
        q = self.configuration.q
        return np.array([
            np.arctan2(q[slot.idx_q + 1], q[slot.idx_q]) if slot.nq == 2 else q[slot.idx_q] for slot in self.slots
        ])  # fmt: skip


class Mink:
    """mink's FrameTasks in its quadratic programme, solved by daqp, with its limits on the configuration."""

    def __init__(self, judge: IkJudge, links: Sequence[str]) -> None:
        import mink
        import mujoco

        self.name, self._mink = f"mink {version('mink')}", mink
        self.model = mujoco.MjModel.from_xml_string(bare_urdf(judge))
        self.tasks = [mink.FrameTask(link, "body", 1.0, 0.3, lm_damping=DAMPING) for link in links]
        self.limits = [mink.ConfigurationLimit(self.model, gain=1.0)]
        self.slots = [self.model.jnt_qposadr[self.model.joint(name).id] for name in judge.robot.joint_names]

    def begin(self, cfg: np.ndarray, goals: Sequence[np.ndarray]) -> None:
        q = np.zeros(self.model.nq)
        q[self.slots] = cfg
        self.configuration = self._mink.Configuration(self.model, q=q)
        for task, goal in zip(self.tasks, goals, strict=True):
            task.set_target(self._mink.SE3.from_matrix(goal))

    def errors(self) -> np.ndarray:
        return np.array([task.compute_error(self.configuration) for task in self.tasks])

    def step(self) -> None:
        velocity = self._mink.solve_ik(
            self.configuration, self.tasks, 1.0, "daqp", damping=DAMPING, limits=self.limits
        )
        self.configuration.integrate_inplace(velocity, 1.0)

    @property
    def cfg(self) -> np.ndarray:
        return np.asarray(self.configuration.q[self.slots])


def bare_urdf(judge: IkJudge) -> str:
    """The robot's URDF for MuJoCo, kinematics alone: its meshes may be of kinds that MuJoCo does not read."""
    assert judge.robot.path is not None
    root = ElementTree.parse(judge.robot.path).getroot()
    for link in root.findall("link"):
        for part in (*link.findall("visual"), *link.findall("collision"), *link.findall("inertial")):
            link.remove(part)
        inertial = ElementTree.SubElement(link, "inertial")
        ElementTree.SubElement(inertial, "mass", value="1")
        ElementTree.SubElement(inertial, "inertia", ixx="1", iyy="1", izz="1", ixy="0", ixz="0", iyz="0")
    mujoco = ElementTree.SubElement(root, "mujoco")
    ElementTree.SubElement(mujoco, "compiler", fusestatic="false")
    return ElementTree.tostring(root, encoding="unicode")


PEERS: tuple[Callable[[IkJudge, Sequence[str]], Clik | Pink | Mink], ...] = (Clik, Pink, Mink)


class PeerSolver:
    """A peer's loop with restarts and a check by Coal."""

    def __init__(self, loop: Clik | Pink | Mink, judge: IkJudge, links: Sequence[str]) -> None:
        self.loop, self.links, self.robot = loop, tuple(links), judge.robot
        assert isinstance(judge.oracle, PinocchioCoal)
        self.solved = np.isin(self.robot.joint_names, joints_of(judge, links))
        self.check, self.options = judge.oracle.peer(judge.pairs), IkOptions()

    def solve(self, targets: dict[str, np.ndarray]) -> tuple[np.ndarray, bool]:
        """Configuration, and whether the loop calls it reached and Coal calls it free; the same whenever asked."""
        rng = np.random.default_rng(0)
        goals = [as_matrix(targets[link]) for link in self.links]
        start = self.robot.default_cfg
        for _ in range(STARTS):
            if self._reach(start, goals) and not self.check.collides(self.check.q(self.loop.cfg)[0]):
                return self.loop.cfg, True
            drawn = rng.uniform(self.robot.lower, self.robot.upper)
            start = np.where(self.solved, drawn, self.robot.default_cfg)
        return self.loop.cfg, False

    def _reach(self, start: np.ndarray, goals: Sequence[np.ndarray]) -> bool:
        self.loop.begin(start, goals)
        for _ in range(STEPS):
            errors = self.loop.errors()
            off = np.linalg.norm(errors.reshape(-1, 2, 3), axis=2).max(axis=0)
            if off[0] <= self.options.position_tolerance and off[1] <= self.options.orientation_tolerance:
                return True
            self.loop.step()
        return False
