"""Two hands: follow targets that swing through each other at 200 Hz while the hands
keep clear.

The targets swing each hand through the place of the other, so following them blindly
would collide. The tracker keeps every joint within its limits, proves each step free
before taking it, and returns to the targets when it can. Prints the smallest clearance,
with and without avoidance. With `--out`, plots clearance and distance to the targets
over time; `--real-time` waits between ticks as on a robot.

    python examples/08_ik_two_hands.py --out two_hands.png
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from matplotlib.figure import Figure

import elbowroom as er
from elbowroom.ik import Tracker
from elbowroom.ui.draw import save_figure

LEFT, RIGHT = "frame_left_arm_ee", "frame_right_arm_ee"
RATE = 200.0
PERIOD = 8.0
"""Duration of one swing back and forth, in seconds."""
PAST = 0.04
"""Metres that one hand passes above the middle and the other below; too little."""
BUFFER = 0.003
"""Clearance kept between all links, in metres."""


def swinging(
    robot: er.Robot, start: np.ndarray, seconds: float
) -> dict[str, np.ndarray]:
    """T_world_link of both hands: each swings to where the other started, and back."""
    here = robot.link_poses(start)
    poses = {link: here[robot.link_index(link)] for link in (LEFT, RIGHT)}
    share = 0.5 - 0.5 * np.cos(2 * np.pi * seconds / PERIOD)
    across = share * (poses[RIGHT] - poses[LEFT])
    across[:4] = 0.0
    past = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, PAST * np.sin(np.pi * share)])
    return {LEFT: poses[LEFT] + across + past, RIGHT: poses[RIGHT] - across - past}


def follow(
    model: er.CollisionModel, start: np.ndarray, seconds: float, *, real_time: bool
) -> dict[str, np.ndarray]:
    """Tracks for some seconds; returns time, clearance, error, cost and "
    "configurations."""
    tracker = Tracker(model, (LEFT, RIGHT))
    cfg, rows, cfgs = start, [], []
    begun = time.perf_counter()
    for tick in range(int(seconds * RATE)):
        now = tick / RATE
        step = tracker.tick(swinging(model.robot, start, now), cfg, 1.0 / RATE)
        cfg = step.cfg
        cfgs.append(cfg)
        rows.append(
            (
                now,
                model.clearance(cfg, exact=True),
                step.position_error.max(),
                step.seconds,
            )
        )
        if real_time:  # send `cfg` to the robot here
            time.sleep(max(0.0, begun + now + 1.0 / RATE - time.perf_counter()))
    columns = np.array(rows).T
    return dict(zip(("time", "clearance", "error", "cost"), columns, strict=True)) | {
        "cfgs": np.array(cfgs)
    }


def blind_clearance(
    model: er.CollisionModel, start: np.ndarray, times: np.ndarray
) -> np.ndarray:
    """Clearance without avoidance, at solutions of the kinematics alone; metres."""
    solver = er.IkSolver(model.robot, (LEFT, RIGHT))
    cfg, found = start, []
    for now in times:
        cfg = solver.solve(swinging(model.robot, start, now), seed_cfg=cfg).cfg
        found.append(model.clearance(cfg, exact=True))
    return np.array(found)


def plot(
    run: dict[str, np.ndarray], blind_times: np.ndarray, blind: np.ndarray
) -> Figure:
    """Plots clearance above and distance to the targets below."""
    figure = Figure(figsize=(9.0, 5.2), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    above.plot(
        blind_times,
        1e3 * blind,
        color="#c62828",
        linestyle="--",
        label="without avoidance",
    )
    above.plot(run["time"], 1e3 * run["clearance"], color="#1f5fa8", label="tracked")
    above.axhline(0.0, color="black", linewidth=0.8)
    above.set_ylabel("clearance (mm), below 0: depth")
    below.plot(run["time"], 1e3 * run["error"], color="#1f5fa8")
    below.set_ylabel("hand to target (mm)")
    below.set_xlabel("time (s)")
    above.axhline(
        1e3 * BUFFER, color="gray", linestyle=":", linewidth=1.0, label="asked for"
    )
    above.legend(loc="lower right", fontsize=8)
    above.set_title(
        f"teaarm, hands that cross, {len(run['time'])} ticks at {RATE:g} Hz",
        fontsize=11,
    )
    for axes in (above, below):
        axes.grid(alpha=0.25)
        axes.margins(x=0.01)
    return figure


def main(argv: list[str] | None = None) -> tuple[float, float, np.ndarray]:
    """Runs and draws; returns both smallest clearances (mm) and the configurations."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=PERIOD)
    parser.add_argument("--out", help="clearance and error over time, PNG, SVG or PDF")
    parser.add_argument("--real-time", action="store_true", help="wait between ticks")
    options = parser.parse_args(argv)
    model = er.CollisionModel(er.load_robot("teaarm"), buffer=BUFFER)
    start = model.robot.named_cfgs["arms_forward"]
    run = follow(model, start, options.seconds, real_time=options.real_time)
    times = np.arange(0.0, options.seconds, 0.1)
    blind = blind_clearance(model, start, times)
    least, depth = 1e3 * float(run["clearance"].min()), 1e3 * float(blind.min())
    print(f"least clearance {least:.1f} mm tracked, {depth:.1f} mm without avoidance")
    print(f"a tick took {1e3 * np.median(run['cost']):.2f} ms (median)")
    off = 1e3 * run["error"]
    print(
        f"a hand is up to {off.max():.0f} mm from its target, and {off[-1]:.1f} mm at "
        "the end"
    )
    if options.out:
        save_figure(plot(run, times, blind), options.out)
    return least, depth, run["cfgs"]


if __name__ == "__main__":
    main()
