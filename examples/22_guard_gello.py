"""A guard for GELLO: the robot is wrapped once, and a leader that asks for a collision
is followed as far as is free.

GELLO's robots have four methods and no names of joints; here is one that does as it is
told. A leader folds the arms into each other. Prints what the robot would have done,
and what it did.

    python examples/22_guard_gello.py
"""

import numpy as np

import elbowroom as er
from elbowroom.bridges.gello import GuardedRobot


class Follower:
    """A robot as GELLO knows it: joints in radians, then a gripper from 0 to 1."""

    def __init__(self, cfg: np.ndarray) -> None:
        self.state = np.append(cfg, 0.0)

    def num_dofs(self) -> int:
        """Joints and gripper."""
        return len(self.state)

    def get_joint_state(self) -> np.ndarray:
        """Where it is."""
        return self.state

    def command_joint_state(self, joint_state: np.ndarray) -> None:
        """Goes there."""
        self.state = np.array(joint_state)

    def get_observations(self) -> dict[str, np.ndarray]:
        """What is recorded."""
        return {"joint_positions": self.state}


def main(argv: list[str] | None = None) -> np.ndarray:
    """Follows the leader; returns where the robot was (n, dof)."""
    model = er.CollisionModel("teaarm")
    a, b = (model.robot.named_cfgs[n] for n in ("arms_forward", "self_collision"))
    joints = [*model.robot.joint_names, None]  # the gripper is not one of the model
    robot = GuardedRobot(Follower(a), model, joints=joints, hz=50)  # the one line
    leader, states = a + np.linspace(0.0, 1.0, 200)[:, None] * (b - a), []
    for cfg in leader:
        robot.command_joint_state(np.append(cfg, 1.0))
        states.append(robot.get_joint_state()[:-1])
    for who, rows in (("leader", leader), ("robot", np.array(states))):
        hits = (~model.free(rows)).sum()
        print(f"{who}: {hits} of {len(rows)} commands in collision")
    print(f"the last command was altered: {robot.last.altered}")
    return np.array(states)


if __name__ == "__main__":
    main()
