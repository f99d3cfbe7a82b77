"""The node `elbowroom_guard`: messages in and out of `elbowroom.bridges.ros2.CommandFilter`, where the logic is.

A command that is refused is not published; the reason goes to the log. A trajectory is published with positions alone,
so that the controller moves in the straight lines that were proved.
"""

import rclpy
from moveit_msgs.msg import ContactInformation
from moveit_msgs.srv import GetStateValidity
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from elbowroom import CollisionModel, ElbowroomError, load_robot
from elbowroom.bridges.ros2 import CommandFilter

QUEUE = 1
"""Only the newest command counts."""


class GuardNode(Node):
    """Subscribes to commands, publishes guarded ones, and answers whether a state is valid."""

    def __init__(self) -> None:
        """Reads the parameters and loads the robot, which fits spheres at the first start."""
        super().__init__("elbowroom_guard")

        def parameter(name: str, default: object) -> object:
            return self.declare_parameter(name, default).value

        robot = load_robot(parameter("robot", ""), srdf=parameter("srdf", "") or None, use_visual=True)
        self.joints = list(parameter("joints", [""]))
        self.filter = CommandFilter(
            CollisionModel(robot, buffer=parameter("buffer", 0.0)),
            rate=parameter("rate", 100.0),
            world=parameter("world", "") or None,
            max_age=parameter("max_age", 0.5),
            max_lag=parameter("max_lag", 0.3),
            clearance=parameter("clearance", 0.0),
        )
        if self.joints == [""]:
            self.joints = list(robot.joint_names)
        self.out_array = self.create_publisher(Float64MultiArray, "guarded/commands", QUEUE)
        self.out_state = self.create_publisher(JointState, "guarded/joint_command", QUEUE)
        self.out_trajectory = self.create_publisher(JointTrajectory, "guarded/joint_trajectory", QUEUE)
        self.create_subscription(JointState, "joint_states", self.on_state, QUEUE)
        self.create_subscription(Float64MultiArray, "commands", self.on_array, QUEUE)
        self.create_subscription(JointState, "joint_command", self.on_joint_command, QUEUE)
        self.create_subscription(JointTrajectory, "joint_trajectory", self.on_trajectory, QUEUE)
        self.create_service(GetStateValidity, "check_state_validity", self.on_validity)
        self.get_logger().info(f"guarding {robot.name}: {', '.join(robot.joint_names)}")

    def now(self) -> float:
        """Seconds of the node's clock."""
        return self.get_clock().now().nanoseconds * 1e-9

    def refuse(self, error: ElbowroomError) -> None:
        """Says why nothing is sent, at most once a second."""
        self.get_logger().error(f"refused: {error}", throttle_duration_sec=1.0)

    def on_state(self, message: JointState) -> None:
        """Where the robot is."""
        try:
            self.filter.state(message.name, message.position, self.now())
        except ElbowroomError as error:
            self.refuse(error)

    def on_array(self, message: Float64MultiArray) -> None:
        """Positions of the parameter `joints`, in this order, for a forward_command_controller."""
        try:
            safe, _ = self.filter.positions(self.joints, message.data, self.now())
        except ElbowroomError as error:
            self.refuse(error)
        else:
            self.out_array.publish(Float64MultiArray(layout=message.layout, data=list(safe)))

    def on_joint_command(self, message: JointState) -> None:
        """Positions of the joints that the message names."""
        try:
            safe, _ = self.filter.positions(message.name, message.position, self.now())
        except ElbowroomError as error:
            self.refuse(error)
        else:
            out = JointState(header=message.header, name=message.name, position=list(safe))
            self.out_state.publish(out)

    def on_trajectory(self, message: JointTrajectory) -> None:
        """A trajectory, for a joint_trajectory_controller."""
        names, points = message.joint_names, message.points
        times = [point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec for point in points]
        try:
            found = self.filter.trajectory(names, [point.positions for point in points], times, self.now())
        except ElbowroomError as error:
            self.refuse(error)
            return
        if found.altered:
            self.get_logger().warning(found.why)
        out = JointTrajectory(header=message.header, joint_names=names)
        for point, row in zip(points, found.positions, strict=True):
            out.points.append(
                JointTrajectoryPoint(positions=list(row), time_from_start=point.time_from_start)
            )
        self.out_trajectory.publish(out)

    def on_validity(
        self, request: GetStateValidity.Request, response: GetStateValidity.Response
    ) -> GetStateValidity.Response:
        """Answers for the whole robot, whatever group is named; what cannot be judged is not valid."""
        state = request.robot_state.joint_state
        try:
            found = self.filter.validity(state.name, state.position, self.now())
        except ElbowroomError as error:
            self.refuse(error)
            response.valid = False
            return response
        response.valid = found.valid
        for clash in found.contacts:
            contact = ContactInformation(contact_body_1=clash.a, contact_body_2=clash.b, depth=clash.depth)
            contact.body_type_1 = ContactInformation.ROBOT_LINK
            contact.body_type_2 = (
                ContactInformation.WORLD_OBJECT
                if clash.b in found.obstacles
                else ContactInformation.ROBOT_LINK
            )
            contact.position.x, contact.position.y, contact.position.z = map(float, clash.point_a)
            contact.normal.x, contact.normal.y, contact.normal.z = map(float, clash.normal)
            response.contacts.append(contact)
        return response


def main() -> None:
    """Runs the node until it is interrupted."""
    rclpy.init()
    node = GuardNode()
    try:
        rclpy.spin(node)
    except KeyboardInterrupt:
        pass
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
