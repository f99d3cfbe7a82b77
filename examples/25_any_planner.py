"""Any planner, our proof: what it proposes is proved free, shortened and timed.

The planner here is a simple one: random points, until two straight lines past a ball
are free at the 40 configurations that it looks at. `plan_motion` proves its path in
between, shortens it, smooths it and times it within the limits.

    python examples/25_any_planner.py
"""

from itertools import pairwise

import numpy as np

import elbowroom as er
from elbowroom.world import Sphere, World

HAND, LINE = "frame_left_arm_ee", np.linspace(0.0, 1.0, 20)[:, None]


def main(argv: list[str] | None = None) -> tuple[er.CollisionModel, er.PlanResult]:
    """Plans past a ball that is in the way; the model and the plan."""
    robot, rng = er.load_robot("teaarm"), np.random.default_rng(0)
    arm = np.array(["left" in name for name in robot.joint_names])
    start = np.array(robot.named_cfgs["arms_forward"])
    goal = start + 0.8 * (np.array(robot.joint_names) == "left_j1")
    middle = robot.link_poses([0.5 * (start + goal)])[0, robot.link_index(HAND)]
    ball = Sphere(0.04, pose=middle, name="ball")
    model = er.CollisionModel(robot, world=World([ball]))

    def looks_free(path: np.ndarray) -> bool:
        return all(model.free(a + LINE * (b - a)).all() for a, b in pairwise(path))

    def theirs(start: np.ndarray, goals: np.ndarray) -> np.ndarray | None:
        """Waypoints to the first goal, or None."""
        for _ in range(1000):
            via = 0.5 * (start + goals[0]) + 0.5 * arm * rng.normal(size=robot.dof)
            path = np.stack([start, np.clip(via, robot.lower, robot.upper), goals[0]])
            if looks_free(path):
                return path
        return None

    print(f"straight line free: {looks_free(np.stack([start, goal]))}")
    plan = er.plan_motion(model, start, goal, search=theirs)  # the one line
    print(f"{plan.method}: {plan.times[-1]:.2f} s, {plan.proof}")
    return model, plan


if __name__ == "__main__":
    main()
