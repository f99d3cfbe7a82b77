"""Policies in MuJoCo behind the bridges' guards, contacts counted by MuJoCo; and mink with our collision limit.

Random and adversarial policies drive simulated arms for a second each, once as they are and once behind the guard:
through `GuardWrapper` of gymnasium (changes of position) or `ActuatorGuard` of MuJoCo (positions). MuJoCo's own
collision detection counts contacts at every step, on the convex hulls of the collision meshes: what MuJoCo makes of
them, and here what the guard knows too. Servos are those of the MJCF that we write, of at least 200 N m/rad; gravity is
compensated.

    python -m benchmarks.bridges [gymnasium | mujoco | two-arms | mink] [--robots NAME ...] [--episodes N] [--seed K]
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import elbowroom as er
from benchmarks._shared_bin import held_by_distance, two_arms
from elbowroom.bridges.gymnasium import GuardWrapper
from elbowroom.bridges.mujoco import ActuatorGuard
from tests.bridges.arms import ACCELERATION, CLEARANCE, DT, KINDS, STEPS, ArmEnv, hulled, policy, simulation

ROBOTS = ("panda", "teaarm")
BRIDGES = ("gymnasium", "mujoco")
HANDS = {
    "panda": ("panda_hand",),
    "teaarm": ("frame_left_arm_ee", "frame_right_arm_ee"),
    "baxter": ("left_gripper", "right_gripper"),
}
"""Links that mink moves."""
TARGETS, TICKS, MINK_DT = 20, 100, 0.01
"""Poses that mink is sent to, and ticks of so many seconds for each."""


@dataclass
class Tally:
    """Episodes of one bridge on one robot."""

    episodes: int = 0
    touched: int = 0
    contacts: int = 0
    bare_touched: int = 0
    bare_contacts: int = 0
    altered: int = 0
    near: int = 0
    """Altered steps with two things close; the others were altered for speeds, accelerations or joint limits alone."""
    steps: int = 0
    unproved: int = 0
    seconds: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        us = 1e6 * np.percentile(self.seconds, [50, 99])
        return (
            f"{self.episodes} episodes: behind the guard {self.touched} with contact ({self.contacts} steps of "
            f"MuJoCo), without {self.bare_touched} ({self.bare_contacts}); "
            f"{100 * self.altered / self.steps:.0f} % of steps altered ({100 * self.near / self.steps:.0f} % with "
            f"something close, else for limits alone), {self.unproved} not proved; "
            f"guard {us[0]:.0f} us CPU a step median, {us[1]:.0f} at 99 %"
        )


class Trial:
    """One robot in MuJoCo."""

    def __init__(self, name: str, folder: Path) -> None:
        self.model = er.CollisionModel(hulled(name, folder))
        self.env = ArmEnv(self.model, simulation(self.model, folder))
        # Half the robot's own speed: what its servos follow.
        speeds = 0.5 * self.model.robot.velocity_limits
        limits = {"clearance": CLEARANCE, "acceleration_limits": ACCELERATION, "velocity_limits": speeds}
        self.wrapped = GuardWrapper(self.env, self.model, units="rad", action="delta", **limits)
        self.guard = ActuatorGuard(self.env.model, self.model, dt=DT, **limits)
        driven = [self.env.model.joint(int(joint)).name for joint in self.env.model.actuator_trnid[:, 0]]
        self.order = [self.model.robot.joint_names.index(name) for name in driven]

    def episode(self, bridge: str, kind: str, seed: int, tally: Tally) -> None:
        """The same policy from the same start, with and without the guard."""
        env, wrapped = self.env, self.wrapped
        for guarded in (True, False):
            wrapped.reset(seed=seed)
            self.guard.reset()
            want = policy(kind, self.model, np.random.default_rng(seed))
            for _ in range(STEPS):
                wanted = want(env.cfg)[self.order]
                delta = np.clip(wanted - env.cfg[self.order], -0.3, 0.3)
                if not guarded:
                    env.go(wanted) if bridge == "mujoco" else env.step(delta)
                    continue
                began = time.process_time()
                if bridge == "mujoco":
                    env.data.ctrl[:] = wanted
                    step = self.guard.apply(env.data)
                    tally.seconds.append(time.process_time() - began)
                    env.go(env.data.ctrl)
                    altered, proved, near = step.altered, step.proved, held_by_distance(step)
                else:
                    stepped = env.step
                    spent = list[float]()

                    def timed(action: np.ndarray, stepped=stepped, spent=spent):
                        spent.append(time.process_time())
                        found = stepped(action)
                        spent.append(time.process_time())
                        return found

                    env.step = timed
                    try:
                        said = wrapped.step(delta)[4]["guard"]
                    finally:
                        del env.step
                    tally.seconds.append(time.process_time() - began - (spent[1] - spent[0]))
                    altered, proved = said["altered"], said["proved"]
                    near = altered and any(" and " in word for word in said["limited_by"])
                tally.altered += altered
                tally.near += near
                tally.unproved += not proved
                tally.steps += 1
            if guarded:
                tally.episodes += 1
                tally.touched += env.contacts > 0
                tally.contacts += env.contacts
            else:
                tally.bare_touched += env.contacts > 0
                tally.bare_contacts += env.contacts


def run(bridge: str, trial: Trial, episodes: int, seed: int) -> Tally:
    """So many episodes, the kinds of policies in turn."""
    tally = Tally()
    for k in range(episodes):
        trial.episode(bridge, KINDS[k % len(KINDS)], seed + k, tally)
        if (k + 1) % 100 == 0:
            print(f"    {tally}", flush=True)
    return tally


def beside_mink(name: str, targets: int, seed: int) -> None:
    """mink with its own collision limit and with ours, hands sent to their poses at colliding configurations."""
    from benchmarks._track_peers import MARGIN, Mink
    from elbowroom.bridges.mink import CollisionLimit
    from tests.crossing import judge_motion, ready_cfg
    from tests.oracles import oracle_of

    model = er.CollisionModel(er.load_robot(name))
    robot, links, cfg = model.robot, HANDS[name], ready_cfg(model.robot)
    many = robot.random_cfgs(4000, seed=seed)
    poses = robot.link_poses(many[~model.free(many)][:targets])
    places = [{link: row[robot.link_index(link)] for link in links} for row in poses]
    for label in ("no collision limit", "mink's limit", "our limit"):
        peer = Mink(model, cfg, links)
        if label != "mink's limit":
            peer._limits[-1:] = [CollisionLimit(model, buffer=MARGIN)] if label == "our limit" else []
        path, spent = [cfg], list[float]()
        for place in places:
            for _ in range(TICKS):
                began = time.process_time()
                path.append(peer.tick(place, MINK_DT))
                spent.append(time.process_time() - began)
        judged = judge_motion(oracle_of(robot), model.pairs.checked, np.array(path))
        known = f"; {peer.pairs} pairs listed, {peer.left_out} too close at the start to be listed"
        print(
            f"{name}, mink with {label}: {int(judged.touching.sum())} of {len(spent)} ticks in penetration by Coal, "
            f"least clearance {1e3 * judged.clearance:.2f} mm; tick {1e3 * np.median(spent):.2f} ms CPU median, "
            f"{1e3 * np.percentile(spent, 99):.2f} at 99 %; {peer.failed} without a solution"
            + (known if label == "mink's limit" else ""),
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "what", nargs="*", default=[*BRIDGES, "two-arms", "mink"], help="gymnasium, mujoco, two-arms, mink"
    )
    parser.add_argument("--robots", nargs="+", default=ROBOTS)
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in args.robots if set(args.what) & set(BRIDGES) else ():
        with tempfile.TemporaryDirectory() as folder:
            trial = Trial(name, Path(folder))
            for bridge in BRIDGES:
                if bridge in args.what:
                    print(f"{name}, {bridge}: {run(bridge, trial, args.episodes, args.seed)}", flush=True)
    if "two-arms" in args.what:
        with tempfile.TemporaryDirectory() as folder:
            trial = Trial("teaarm", Path(folder))
            print(two_arms(trial.model, trial.env, args.episodes, args.seed), flush=True)
    for name in HANDS if "mink" in args.what else ():
        beside_mink(name, TARGETS, args.seed)


if __name__ == "__main__":
    main()
