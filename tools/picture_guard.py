"""Draws docs/images/guard.gif: a careless controller swings two arms into each other, alone and behind the guard.

python tools/picture_guard.py [FILE]
"""

from __future__ import annotations

import sys

import numpy as np
from PIL import Image, ImageDraw, ImageFont

import elbowroom as er
from elbowroom.ui.draw import Camera, Picture, robot_picture

RATE = 200
SECONDS = 6
"""One swing, there and back: the picture repeats without a jump."""
PICTURES_A_SECOND = 10
CLEARANCE = 0.005
"""Metres that the guard keeps."""
RED, GREEN = (219, 61, 51), (46, 125, 50)
CAMERA = Camera(azimuth_deg=25.0, elevation_deg=30.0, width=380, height=400, margin=0.08)


def careless(robot: er.Robot) -> np.ndarray:
    """(ticks, dof): from the arms held forward to where they overlap by centimetres, and back."""
    share = 0.5 - 0.5 * np.cos(np.linspace(0.0, 2 * np.pi, RATE * SECONDS, endpoint=False))
    start, end = robot.named_cfgs["arms_forward"], robot.named_cfgs["self_collision"]
    return start + share[:, None] * (end - start)


def guarded(model: er.CollisionModel, wanted: np.ndarray) -> np.ndarray:
    """(ticks, dof): where the robot goes with a guard before it; every step is proved."""
    guard, cfg = er.Guard(model, acceleration_limits=15.0, clearance=CLEARANCE), wanted[0]
    sent = []
    for row in wanted:
        step = guard.step(cfg, row, 1.0 / RATE)
        assert step.proved, step.why
        cfg = step.cfg
        sent.append(cfg)
    return np.array(sent)


def picture_of(model: er.CollisionModel, cfg: np.ndarray) -> tuple[Picture, float]:
    """The robot with what overlaps in red, and its exact clearance in millimetres."""
    clashes = model.explain(cfg).clashes
    colour = tuple(part / 255 for part in RED)
    red = {name: colour for clash in clashes if clash.distance < 0 for name in clash.pair}
    return robot_picture(model.robot, cfg, colours=red), 1e3 * float(model.clearance(cfg, exact=True))


def outermost(picture: Picture) -> np.ndarray:
    """(6, 3) points in the world: the outermost ones along the camera's axes, which are all that it frames by."""
    corners = picture.corners()
    seen = corners @ CAMERA.axes().T
    return corners[np.concatenate([seen.argmin(axis=0), seen.argmax(axis=0)])]


def labelled(drawn: np.ndarray, title: str, millimetres: float) -> Image.Image:
    """A drawing with its words below."""
    image = Image.fromarray(np.round(255 * drawn).astype(np.uint8))
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(19)
    pen.text((150, CAMERA.height - 66), title, fill=(40, 40, 40), font=font)
    words = f"{millimetres:.0f} mm clear" if millimetres >= 0 else f"{-millimetres:.0f} mm deep"
    pen.text((150, CAMERA.height - 40), words, fill=GREEN if millimetres >= 0 else RED, font=font)
    return image


def main(path: str = "docs/images/guard.gif") -> None:
    """Both runs side by side."""
    model = er.CollisionModel(er.load_robot("teaarm"))
    wanted = careless(model.robot)
    runs = {"commanded": wanted, "guarded": guarded(model, wanted)}
    every = RATE // PICTURES_A_SECOND
    pictures = {title: [picture_of(model, cfg) for cfg in run[::every]] for title, run in runs.items()}
    everything = np.concatenate([outermost(picture) for run in pictures.values() for picture, _ in run])
    for title, run in pictures.items():
        print(f"{title}: least clearance {min(distance for _, distance in run):.1f} mm")
    frames: list[Image.Image] = []
    for index in range(len(wanted) // every):
        both = Image.new("RGB", (2 * CAMERA.width, CAMERA.height))
        for place, (title, run) in enumerate(pictures.items()):
            picture, distance = run[index]
            both.paste(labelled(picture.draw(CAMERA, everything), title, distance), (place * CAMERA.width, 0))
        frames.append(both.quantize(64, dither=Image.Dither.NONE))
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=1000 // PICTURES_A_SECOND, loop=0)


if __name__ == "__main__":
    main(*sys.argv[1:])
