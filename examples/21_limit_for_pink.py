"""A collision limit for pink: one entry of `limits`, with exact meshes and pairs that
no one has to list by hand.

pink moves both hands of the dual arm, each to the place of the other. Pinocchio's model
comes from the same URDF; the limit finds its joints by name. Prints the least clearance
of the exact meshes during the motion, without and with it.

    python examples/21_limit_for_pink.py
"""

import numpy as np
import pink
import pinocchio as pin

import elbowroom as er
from elbowroom.bridges.pink import CollisionLimit

HANDS, DT = ("frame_left_arm_ee", "frame_right_arm_ee"), 0.01


def main(argv: list[str] | None = None) -> dict[str, np.ndarray]:
    """Follows without and with the limit; the configurations of both."""
    model, rows = er.CollisionModel("teaarm"), {}
    theirs = pin.buildModelFromUrdf(str(model.robot.path))
    joints = [theirs.getJointId(name) for name in model.robot.joint_names]
    at = [theirs.joints[joint].idx_q for joint in joints]
    ours = [CollisionLimit(model)]  # the one line
    tasks = [pink.tasks.FrameTask(hand, 1.0, 0.1) for hand in HANDS]
    for name, more in (("without", []), ("with", ours)):
        q, seen = pin.neutral(theirs), []
        q[at] = model.robot.named_cfgs["arms_forward"]
        now = pink.Configuration(theirs, theirs.createData(), q)
        limits = [theirs.configuration_limit, theirs.velocity_limit, *more]
        poses = [now.get_transform_frame_to_world(hand) for hand in HANDS]
        for task, pose, other in zip(tasks, poses, reversed(poses), strict=True):
            task.set_target(pin.SE3(pose.rotation, other.translation))
        for _ in range(200):
            v = pink.solve_ik(now, tasks, DT, "daqp", damping=1e-3, limits=limits)
            now.integrate_inplace(v, DT)
            seen.append(now.q[at].copy())
        rows[name] = np.array(seen)
        least = 1e3 * model.clearance(rows[name], exact=True).min()
        hits = (~model.free(rows[name])).sum()
        print(f"{name} our limit: {hits} of 200 ticks collide, least {least:.1f} mm")
    return rows


if __name__ == "__main__":
    main()
