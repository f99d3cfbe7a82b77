"""Guard a controller: whatever the controller commands, the robot stays free and every
step is proved.

A careless joystick turns the robot back and forth between two posts with both arms
held forward, unaware of any obstacle. The same commands then go through a guard, 200
times a second. Prints how deep the arms would have collided, the clearance the guard
kept, how often it intervened and which links caused it. With `--out`, writes an
animation (GIF): without the guard on the left, with it on the right.

    python examples/09_guard_a_controller.py --out guard.gif
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np
from PIL import Image

import elbowroom as er
from elbowroom.ik import GuardStep
from elbowroom.ui.draw import Camera, add_world, robot_picture
from elbowroom.world import Cylinder, World

DT = 1.0 / 200.0
TURN, PERIOD, REST = 0.55, 5.0, 1.0
"""Waist swing to each side (rad), seconds of swinging, seconds of rest after it."""
CLEARANCE = 0.003
"""Clearance that the guard keeps, in metres."""
POSTS = (
    Cylinder(0.03, 0.6, pose=(1, 0, 0, 0, -0.36, 0.30, 0.6), name="left post"),
    Cylinder(0.03, 0.6, pose=(1, 0, 0, 0, 0.56, 0.30, 0.6), name="right post"),
)
GREY, RED, BLUE = (0.70, 0.72, 0.75), (0.86, 0.24, 0.20), (0.37, 0.55, 0.76)


def joystick(robot: er.Robot) -> np.ndarray:
    """Commanded configurations, one per tick (n, dof)."""
    seconds = np.arange(0.0, PERIOD + REST, DT)
    rows = np.tile(robot.named_cfgs["arms_forward"], (len(seconds), 1))
    turn = TURN * np.sin(2.0 * np.pi * np.minimum(seconds, PERIOD) / PERIOD)
    rows[:, robot.joint_names.index("waist_yaw")] += turn
    return rows


def frame(model: er.CollisionModel, cfg: np.ndarray) -> np.ndarray:
    """Draws the robot and the posts; whatever touches is red."""
    touching = {name for clash in model.clashes(cfg) for name in clash.pair}
    colours = {
        link: RED if link in touching else GREY for link in model.robot.link_names
    }
    picture = robot_picture(model.robot, cfg, colours=colours)
    add_world(
        picture,
        model.world,
        {post.name: RED if post.name in touching else BLUE for post in POSTS},
    )
    return picture.draw(Camera(azimuth_deg=90, elevation_deg=48, width=260, height=250))


def animate(model: er.CollisionModel, motions: list[np.ndarray], path: str) -> None:
    """Animates motions side by side at five pictures a second."""
    rows = range(0, len(motions[0]), int(0.2 / DT))
    pictures = [
        np.concatenate([frame(model, cfgs[k]) for cfgs in motions], axis=1)
        for k in rows
    ]
    first, *others = [
        Image.fromarray((255 * picture).astype(np.uint8)).quantize(32)
        for picture in pictures
    ]
    first.save(path, save_all=True, append_images=others, duration=200, loop=0)


def main(
    argv: list[str] | None = None,
) -> tuple[er.CollisionModel, np.ndarray, np.ndarray, list[GuardStep]]:
    """Drives and prints; returns model, commanded and executed rows, guard steps."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", help="animation, GIF")
    args = parser.parse_args(argv)

    model = er.CollisionModel(er.load_robot("teaarm"), world=World(POSTS))
    guard = er.Guard(model, acceleration_limits=15.0, clearance=CLEARANCE)
    asked = joystick(model.robot)
    cfg, steps = asked[0], list[GuardStep]()
    for wanted in asked[1:]:
        step = guard.step(cfg, wanted, DT)
        cfg = step.cfg  # send this to the robot
        steps.append(step)
    done = np.array([asked[0], *(step.cfg for step in steps)])

    proved, altered = (
        sum(step.proved for step in steps),
        sum(step.altered for step in steps),
    )
    least = [
        1e3 * model.clearance(cfgs[::10], exact=True).min() for cfgs in (asked, done)
    ]
    print(
        f"{len(steps)} steps of {1e3 * DT:.0f} ms, {proved} proved free, {altered} "
        "altered"
    )
    print(
        f"least clearance: {least[0]:.1f} mm without guard, {least[1]:.1f} mm with it"
    )
    for word, count in Counter(
        word for step in steps for word in step.limited_by
    ).most_common(2):
        print(f"{count} times held back by {word}")
    print(
        f"a step took {1e3 * np.median([step.seconds for step in steps]):.2f} ms "
        "(median)"
    )
    print(
        f"at the end {np.abs(done[-1] - asked[-1]).max():.3f} rad from where it was "
        "wanted"
    )
    if args.out:
        animate(model, [asked, done], args.out)
    return model, asked, done, steps


if __name__ == "__main__":
    main()
