"""Elbowroom's guard as a ROS 2 node."""
