"""Elbowroom inside other people's programs: one module an ecosystem, which loads that ecosystem when it is used.

- `gymnasium`: actions of a policy behind the guard, the clearance as an observation
- `mujoco`: position actuators of a simulation behind the guard
- `mink`, `pink`: collision limits from exact meshes
- `robosuite`: goals of arms of an environment behind the guard
- `gello`: robots of GELLO behind the guard
- `lerobot`: the guard in front of a LeRobot robot, and as a step of its action pipeline
- `ros2`: the guard for joint commands of ROS 2, and answers to GetStateValidity
- `rerun`: steps, motions and plans in the Rerun viewer
- `teleop_xr`: robots for the inverse kinematics of teleop_xr
"""

__all__: list[str] = []
"""Nothing by itself: what a bridge offers is in its module."""
