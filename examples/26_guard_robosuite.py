"""A robosuite arm behind the guard: one line around an environment, for any policy.

A Panda in `Lift` is told to go down into the table for 60 steps, as a policy may that
saw nothing. It is run as it is, then in `GuardedEnv`. Needs an environment of its own:
`pip install elbowroom robosuite h5py "mujoco>=3.3.4,<4"`.

    python examples/26_guard_robosuite.py
"""

import warnings

import numpy as np
import robosuite
from robosuite import controllers

from elbowroom.bridges.robosuite import GuardedEnv

DOWN = np.array([0.0, 1.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0])


def make() -> robosuite.environments.base.MujocoEnv:
    """A Panda whose controller takes changes of joint positions, with stiff servos."""
    arm = controllers.load_part_controller_config(default_controller="JOINT_POSITION")
    config = controllers.load_composite_controller_config(controller="BASIC")
    arm = {**arm, "kp": 150, "gripper": {"type": "GRIP"}}
    config["body_parts"] = {"right": arm}
    off = ("has_renderer", "has_offscreen_renderer", "use_camera_obs")
    how = {"controller_configs": config, **dict.fromkeys(off, False)}
    return robosuite.make("Lift", robots="Panda", seed=0, **how)


def main(argv: list[str] | None = None) -> dict[str, int]:
    """Runs both; steps in which the arm touched the table."""
    warnings.simplefilter("ignore")  # the floor, and the cube, are told of
    bare, touching = make(), {}
    for name, env in (("without", bare), ("with", GuardedEnv(bare))):  # the one line
        env.reset()
        touching[name] = 0
        for _ in range(60):
            info = env.step(DOWN)[3]
            data, geoms = bare.sim.data, bare.sim.model.geom_id2name
            pairs = [
                {geoms(c.geom1), geoms(c.geom2)} for c in data.contact[: data.ncon]
            ]
            on = [pair for pair in pairs if "table_collision" in pair]
            touching[name] += any("cube_g0" not in pair for pair in on)
        print(
            f"{name} guard: the arm touches the table in {touching[name]} of 60 steps"
        )
    print(f"in the way: {', '.join(info['guard']['limited_by'])}")
    return touching


if __name__ == "__main__":
    main()
