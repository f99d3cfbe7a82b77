"""A collision limit for mink: one entry of `limits`, with exact meshes and pairs that
no one has to list by hand.

mink moves both hands of the dual arm, each to the place of the other. Its own limits
keep joints in range; ours keeps the links apart. Prints the least clearance of the
exact meshes during the motion, without and with it.

    python examples/20_limit_for_mink.py
"""

import tempfile
from pathlib import Path

import mink
import mujoco
import numpy as np

import elbowroom as er
from elbowroom.bridges.mink import CollisionLimit

HANDS, DT = ("frame_left_arm_ee", "frame_right_arm_ee"), 0.01


def main(argv: list[str] | None = None) -> dict[str, np.ndarray]:
    """Follows without and with the limit; the configurations of both."""
    model, rows = er.CollisionModel("teaarm"), {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "teaarm.xml"  # any MJCF of the robot: joints by name
        er.formats.write(path, robot=model.robot, spheres=model.spheres)
        mj = mujoco.MjModel.from_xml_path(str(path))
    at = [int(mj.joint(name).qposadr[0]) for name in model.robot.joint_names]
    speeds = dict.fromkeys(model.robot.joint_names, 1.0)
    own = [mink.ConfigurationLimit(mj), mink.VelocityLimit(mj, speeds)]
    ours = [CollisionLimit(model)]  # the one line
    tasks = [mink.FrameTask(hand, "body", 1.0, 0.1) for hand in HANDS]
    for name, limits in (("without", own), ("with", own + ours)):
        q = np.array(mj.qpos0)
        q[at] = model.robot.named_cfgs["arms_forward"]
        now, seen = mink.Configuration(mj, q), []
        poses = [now.get_transform_frame_to_world(hand, "body") for hand in HANDS]
        for task, pose, other in zip(tasks, poses, reversed(poses), strict=True):
            place = other.translation()
            task.set_target(
                mink.SE3.from_rotation_and_translation(pose.rotation(), place)
            )
        for _ in range(200):
            v = mink.solve_ik(now, tasks, DT, "daqp", damping=1e-3, limits=limits)
            now.integrate_inplace(v, DT)
            seen.append(now.q[at].copy())
        rows[name] = np.array(seen)
        least = 1e3 * model.clearance(rows[name], exact=True).min()
        hits = (~model.free(rows[name])).sum()
        print(f"{name} our limit: {hits} of 200 ticks collide, least {least:.1f} mm")
    return rows


if __name__ == "__main__":
    main()
