"""Elbowroom inside other people's programs: one module an ecosystem, which loads that ecosystem when it is used.

`elbowroom.bridges.teleop_xr`: robots for the inverse kinematics of teleop_xr.
"""

__all__: list[str] = []
"""Nothing by itself: what a bridge offers is in its module."""
