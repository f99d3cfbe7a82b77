"""A policy behind the guard: one line around a gymnasium environment, and random
actions collide no more.

An environment moves both arms by changes of their joints, 50 times a second, and the
policy knows nothing of collisions. It is run as it is, then in `GuardWrapper`.

    python examples/18_guard_gymnasium.py
"""

from collections import Counter

import gymnasium
import numpy as np

import elbowroom as er
from elbowroom.bridges.gymnasium import GuardWrapper

model = er.CollisionModel("teaarm")


class TwoArms(gymnasium.Env):
    """A robot that does as it is told, and observes its joints."""

    dt = 0.02
    action_space = gymnasium.spaces.Box(-0.05, 0.05, (16,), np.float64)
    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (16,), np.float64)

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple:
        """Both arms forward."""
        super().reset(seed=seed)
        self.cfg = np.array(model.robot.named_cfgs["arms_forward"])
        return self.cfg, {}

    def step(self, action: np.ndarray) -> tuple:
        """Does it."""
        self.cfg = np.clip(self.cfg + action, model.robot.lower, model.robot.upper)
        return self.cfg, 0.0, False, False, {}


def main(argv: list[str] | None = None) -> dict[str, np.ndarray]:
    """Runs without and with the guard; returns where the robot was."""
    how = {"units": "rad", "velocity_limits": 3.0, "cfg": lambda env: env.cfg}
    guarded = GuardWrapper(TwoArms(), model, action="delta", **how)  # the one line
    goal, rows = model.robot.named_cfgs["self_collision"], {}
    for name, env in (("without", TwoArms()), ("with", guarded)):
        cfg, _ = env.reset(seed=0)
        held, seen = Counter(), [cfg]
        for _ in range(100):  # a policy that makes for a collision, with noise
            noise = env.unwrapped.np_random.normal(0.0, 0.002, len(goal))
            cfg, *_, info = env.step(np.clip(0.1 * (goal - cfg) + noise, -0.05, 0.05))
            seen.append(cfg)
            held.update(info.get("guard", {}).get("limited_by", ()))
        rows[name], hits = np.array(seen), (~model.free(seen)).sum()
        print(f"{name} guard: {hits} of 100 steps in collision")
    print(f"in the way: {held.most_common(1)[0][0]}")
    return rows


if __name__ == "__main__":
    main()
