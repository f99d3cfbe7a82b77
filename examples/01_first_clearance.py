"""First clearance: is the robot free, how much clearance does it have, and if it
touches, where?

Loads the bundled dual-arm robot and checks a free pose, a colliding pose and ten
thousand random ones. Prints the clearance, the links that touch and how deep they
overlap, and how many of the random poses are free. With `--out`, draws the colliding
pose with the touching links in red.

    python examples/01_first_clearance.py --out touching.png
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import elbowroom as er
from elbowroom.ui.draw import Camera, robot_picture, save_png

RANDOM = 10_000
GREY, RED = (0.70, 0.72, 0.75), (0.86, 0.24, 0.20)


def draw(robot: er.Robot, verdict: er.Verdict, path: str) -> None:
    """Draws the pose of a verdict; links that touch are red."""
    touching = {link for clash in verdict.clashes for link in clash.pair}
    colours = {link: RED if link in touching else GREY for link in robot.link_names}
    picture = robot_picture(robot, verdict.cfg, colours=colours)
    save_png(
        path,
        picture.draw(Camera(azimuth_deg=70, elevation_deg=30, width=560, height=480)),
    )


def main(
    argv: list[str] | None = None,
) -> tuple[er.CollisionModel, er.Verdict, er.Verdict, np.ndarray, np.ndarray]:
    """Runs the checks; returns model, both verdicts, random configurations, which are "
    "free."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", help="picture of the pose that is not free, PNG")
    args = parser.parse_args(argv)

    robot = er.load_robot("teaarm")  # or the path of a URDF or MJCF file
    model = er.CollisionModel(robot)
    links = len(robot.mesh_links)
    print(
        f"{robot.name}: {robot.dof} joints, {links} links, {len(model.spheres)} "
        "spheres proved to cover them,"
    )
    print(
        f"{len(model.pairs.checked)} pairs of links to check, {len(model.ignored)} "
        "ignored for a reason"
    )

    cfg = robot.named_cfgs["arms_forward"]
    bound, measured = model.clearance(cfg), model.clearance(cfg, exact=True)
    print(
        f"arms_forward: at least {1e3 * bound:.1f} mm of clearance by a proved bound, "
        f"{1e3 * measured:.1f} mm measured"
    )
    forward, crossed = (
        model.explain(cfg),
        model.explain(robot.named_cfgs["self_collision"]),
    )
    for verdict in (forward, crossed):
        print(verdict)

    cfgs = robot.random_cfgs(RANDOM, seed=0)
    model.free(cfgs[:2])  # the first call packs the scene
    begun = time.perf_counter()
    free = model.free(cfgs)
    micros = 1e6 * (time.perf_counter() - begun) / len(cfgs)
    print(f"random: {free.sum()} of {len(cfgs)} are free, {micros:.0f} us each")
    if args.out:
        draw(robot, crossed, args.out)
    return model, forward, crossed, cfgs, free


if __name__ == "__main__":
    main()
