"""Starts the guard: `ros2 launch elbowroom_guard guard.launch.py robot:=my_robot.urdf`."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare


def generate_launch_description() -> LaunchDescription:
    """The node with its parameters; `robot` and `world` can be given on the command line."""
    config = PathJoinSubstitution([FindPackageShare("elbowroom_guard"), "config", "guard.yaml"])
    return LaunchDescription(
        [
            DeclareLaunchArgument("robot", description="URDF, xacro or MJCF file, or a name"),
            DeclareLaunchArgument("world", default_value="", description="file with the obstacles"),
            DeclareLaunchArgument(
                "params", default_value=config, description="file with the other parameters"
            ),
            Node(
                package="elbowroom_guard",
                executable="guard",
                name="elbowroom_guard",
                output="screen",
                parameters=[
                    LaunchConfiguration("params"),
                    {"robot": LaunchConfiguration("robot"), "world": LaunchConfiguration("world")},
                ],
            ),
        ]
    )
