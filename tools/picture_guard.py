"""Draws docs/images/guard.gif: two arms that pick from one bin, as their policy moves them and behind the guard.

Both runs are an episode of `benchmarks.bridges two-arms`, simulated in MuJoCo: the same places and the same policy.
Links are red while MuJoCo finds a contact between them; balls are the places that the hands go to.

python -m tools.picture_guard [FILE]
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

import elbowroom as er
from benchmarks._shared_bin import DT, HANDS, Bin, Episode, guard_of
from benchmarks.bridges import Trial
from elbowroom.ui.draw import Camera, Picture, robot_picture

SEED = 10002
"""The first one whose arms touch and that is done with and without the guard; docs/reference/benchmarks.md has all."""
EVERY, SHOWN_MS = 6, 100
"""Ticks from picture to picture, and how long each is shown: a little faster than it was."""
RED, GREEN = (219, 61, 51), (46, 125, 50)
BODY, ARMS, BALLS = (
    (0.82, 0.83, 0.85),
    ((0.95, 0.78, 0.45), (0.50, 0.68, 0.88)),
    ((0.9, 0.55, 0.0), (0.0, 0.35, 0.8)),
)
CAMERA, HEADER = Camera(azimuth_deg=70.0, elevation_deg=30.0, width=320, height=320, margin=0.03), 34
COLOURS = 96


@dataclass
class Moment:
    """What is drawn of a tick."""

    cfg: np.ndarray
    touching: frozenset[str]
    places: list[tuple[int, np.ndarray]]
    seconds: float
    """In contact until now."""
    altered: int
    done: bool


def run(trial: Trial, bin_: Bin, guarded: bool) -> list[Moment]:
    """An episode, tick by tick."""
    env, robot = trial.env, trial.model.robot
    episode = Episode(env, bin_, guard_of(env, trial.model) if guarded else None, SEED)
    moments, altered = list[Moment](), 0
    for step in episode.ticks():
        altered += step is not None and step.altered
        data, mj = env.data, env.model
        touching = {mj.geom(int(geom)).name for contact in data.contact[: data.ncon] for geom in contact.geom}
        places = [
            (side, robot.link_poses(goals[0][None])[0, robot.link_index(hand), 4:])
            for side, (hand, goals) in enumerate(zip(HANDS, episode.policy._goals, strict=True))
            if goals and not np.array_equal(goals[0], bin_.home)
        ]
        seconds = env.contacts * mj.opt.timestep
        moments.append(Moment(env.cfg, frozenset(touching), places, seconds, altered, episode.policy.done))
    return moments


def drawn(robot: er.Robot, moment: Moment) -> Picture:
    """The robot, with what touches in red, and the places that its hands go to."""
    red = tuple(part / 255 for part in RED)
    plain = {
        name: next((ARMS[k] for k, side in enumerate(("left", "right")) if side in name), BODY)
        for name in robot.link_names
    }
    picture = robot_picture(robot, moment.cfg, colours=plain | dict.fromkeys(moment.touching, red))
    for side, place in moment.places:
        picture.add_sphere(place, 0.025, BALLS[side])
    return picture


def labelled(pixels: np.ndarray, title: str, moment: Moment) -> Image.Image:
    """A drawing with its words."""
    image = Image.new("RGB", (CAMERA.width, HEADER + CAMERA.height), (255, 255, 255))
    image.paste(Image.fromarray(np.round(255 * pixels).astype(np.uint8)), (0, HEADER))
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(18)
    pen.text((10, 8), title, fill=(40, 40, 40), font=font)
    words = f"{moment.seconds:.2f} s in collision" if moment.seconds else "no collision"
    pen.text((CAMERA.width - 150, HEADER + 4), words, fill=RED if moment.seconds else GREEN, font=font)
    if moment.done:
        pen.text((CAMERA.width - 150, HEADER + 28), "task done", fill=(40, 40, 40), font=font)
    return image


def main(path: str = "docs/images/guard.gif") -> None:
    """Both runs side by side."""
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial("teaarm", Path(folder))
        bin_ = Bin.of(trial.model)
        runs = {
            "the policy alone": run(trial, bin_, False),
            "the same policy behind the guard": run(trial, bin_, True),
        }
    robot = er.load_robot("teaarm")  # its own shapes, which the hulls contain
    for title, moments in runs.items():
        last = moments[-1]
        print(f"{title}: {last.seconds:.2f} s in contact, {last.altered} of {len(moments)} ticks altered")
    count = max(len(moments) for moments in runs.values())
    shown = [*range(0, count, EVERY), *[count - 1] * 12]
    corners = np.concatenate(
        [drawn(robot, moments[k]).corners() for moments in runs.values() for k in range(0, len(moments), 20)]
    )
    seen = corners @ CAMERA.axes().T
    frame = corners[np.concatenate([seen.argmin(axis=0), seen.argmax(axis=0)])]
    frames = list[Image.Image]()
    for k in shown:
        both = Image.new("RGB", (2 * CAMERA.width, HEADER + CAMERA.height))
        for place, (title, moments) in enumerate(runs.items()):
            moment = moments[min(k, len(moments) - 1)]
            image = labelled(drawn(robot, moment).draw(CAMERA, frame), title, moment)
            both.paste(image, (place * CAMERA.width, 0))
        frames.append(both)
    alone = next(iter(runs.values()))
    redmost = max(range(len(shown)), key=lambda k: len(alone[min(shown[k], len(alone) - 1)].touching))
    palette = frames[redmost].quantize(COLOURS)
    frames = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=SHOWN_MS, loop=0, optimize=True)
    print(f"{count * DT:.1f} s, {Path(path).stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(*sys.argv[1:])
