"""A robot for teleop_xr: the IK of a headset session with any description.

teleop_xr asks a robot class for forward kinematics and costs; `ModelRobot` is one for
any URDF or MJCF, with spheres that keep the arms apart. Its solver moves both hands
here, as it does for a headset. Needs teleop_xr, with pyroki and jaxls.

    python examples/27_teleop_xr_robot.py
"""

import jax.numpy as jnp
import jaxlie
import numpy as np
from teleop_xr.ik.solver import PyrokiSolver

from elbowroom.bridges.teleop_xr import ModelRobot

LEFT, RIGHT = "frame_left_arm_ee", "frame_right_arm_ee"


def main(argv: list[str] | None = None) -> tuple[ModelRobot, np.ndarray]:
    """Moves both hands up by 5 cm; the robot and its configuration."""
    robot = ModelRobot(robot="teaarm", left=LEFT, right=RIGHT)  # the one line
    solver, cfg = PyrokiSolver(robot), robot.get_default_config()
    up = jaxlie.SE3.from_translation(jnp.array([0.0, 0.0, 0.05]))
    goals = {name: up @ pose for name, pose in robot.forward_kinematics(cfg).items()}
    for _ in range(6):  # ticks of the session
        cfg = solver.solve(goals["left"], goals["right"], None, cfg)
    for name, pose in robot.forward_kinematics(cfg).items():
        off = np.linalg.norm(pose.translation() - goals[name].translation())
        print(f"{name} hand: {1e3 * off:.1f} mm from its target")
    return robot, np.array(cfg)


if __name__ == "__main__":
    main()
