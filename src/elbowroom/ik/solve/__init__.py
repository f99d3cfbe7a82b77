"""Inverse kinematics: configurations that put links where they are asked to be, free of collision, or why not."""
