"""Elbowroom inside other people's programs: one module an ecosystem, each of which loads it when it is used.

`elbowroom.bridges.teleop_xr`: robots for teleop_xr's inverse kinematics.
"""
