"""Draws docs/images/world.png: the bundled dual arm at a table, what touches in red.

python tools/picture_world.py [FILE]
"""

from __future__ import annotations

import sys
import warnings

import numpy as np

import elbowroom as er
from elbowroom.ui.draw import Camera, add_world, robot_picture, save_png
from elbowroom.world import scene_for

RED = (0.86, 0.24, 0.20)


def main(path: str = "docs/images/world.png") -> None:
    """Two configurations side by side: a free one, and one that is not."""
    robot = er.load_robot("teaarm")
    world = scene_for(robot, "table", seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = er.CollisionModel(robot, world=world)
    cfgs = robot.random_cfgs(2000, seed=4)
    alone = model.with_world(None).free(cfgs)
    free = model.free(cfgs)
    images: list[np.ndarray] = []
    for cfg in (cfgs[np.flatnonzero(free)[0]], cfgs[np.flatnonzero(alone & ~free)[0]]):
        verdict = model.explain(cfg)
        print(verdict)
        red = {name: RED for clash in verdict.clashes for name in clash.pair}
        picture = robot_picture(robot, cfg, colours=red)
        add_world(picture, world, red)
        images.append(picture.draw(Camera(azimuth_deg=-140.0, elevation_deg=28.0, width=560, height=520)))
    save_png(path, np.concatenate(images, axis=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
