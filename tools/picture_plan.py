"""The README's picture of a plan: the Panda takes its hand from one board of a shelf to the next, proved all the way.

python -m tools.picture_plan [--out docs/images/plan.png]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import elbowroom as er
from elbowroom.ui.draw import motion_picture, save_png
from elbowroom.world import Box, World

OUT = Path(__file__).parents[1] / "docs" / "images" / "plan.png"
DEPTH, WIDTH, THICK = 0.35, 0.9, 0.02
NEAR = 0.5
"""Metres from the base to the shelf's front."""
BOARDS = (0.1, 0.45, 0.8)
BOOKS = ((-0.38, 0.24, 0.05), (-0.32, 0.2, 0.04), (-0.27, 0.26, 0.06), (0.3, 0.22, 0.05), (0.36, 0.25, 0.06))
"""Place along the board, height and thickness, metres."""
INTO_SHELF = np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]])
"""How the hand is turned."""


def shelf() -> World:
    """Three boards, two sides and books; no back, so that one sees through."""
    middle = NEAR + 0.5 * DEPTH
    parts = [
        Box((DEPTH, WIDTH, THICK), pose=[1, 0, 0, 0, middle, 0, z], name=f"board_{k}")
        for k, z in enumerate(BOARDS)
    ]
    parts += [
        Box((DEPTH, THICK, BOARDS[-1] + THICK), pose=[1, 0, 0, 0, middle, y, 0.5 * BOARDS[-1]], name=side)
        for side, y in (("left_side", 0.5 * WIDTH), ("right_side", -0.5 * WIDTH))
    ]
    for board, z in enumerate(BOARDS[:2]):
        parts += [
            Box(
                (0.18, thick, height),
                pose=[1, 0, 0, 0, middle + 0.06, y, z + 0.5 * (THICK + height) + 0.001],
                name=f"book_{board}_{k}",
            )
            for k, (y, height, thick) in enumerate(BOOKS)
        ]
    return World(parts)


def main() -> None:
    """Plans, and draws."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=OUT)
    out = parser.parse_args().out
    model = er.CollisionModel(er.load_robot("panda"), world=shelf(), buffer=0.005)
    solver = er.IkSolver(model)
    ends = []
    for place in ((NEAR + 0.08, 0.1, BOARDS[1] + 0.17), (NEAR + 0.08, -0.1, BOARDS[0] + 0.17)):
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = INTO_SHELF, place
        found = solver.solve({"panda_hand": pose})
        assert found.success, found
        ends.append(found.cfg)
    result = er.plan_motion(model, *ends)
    assert result.success, result.why
    print(result.why, result.proof)
    image = motion_picture(model, result.path, width=800, height=700)
    save_png(out, image)


if __name__ == "__main__":
    main()
