"""Grasp a width: close thumb and fingers to the width of an object, level in the world.

Plans line, plane and cylinder grasps of the RH56 hand for an object of a given width
and height. Prints the hand's controls and tilt, how closely width and level are met,
and where the fingertips are in the world, then the range of widths of each grasp. With
`--out`, draws the line grasp from the side and from the front.

    python examples/13_grasp_a_width.py --width 0.03 --height 0.12 --out grasp.png
"""

from __future__ import annotations

import argparse

import numpy as np

from elbowroom.grasp import Grasp, GraspPlanner, load_hand
from elbowroom.ui.draw import plot_grasp, save_figure


def report(grasp: Grasp, height: float) -> None:
    """Prints a grasp and its pose in the world."""
    controls = ", ".join(
        f"{name} {np.degrees(value):.0f}" for name, value in grasp.actuators.items()
    )
    print(
        f"{grasp.mode} of {1e3 * grasp.width:.0f} mm by thumb and "
        f"{', '.join(grasp.fingers)}:"
    )
    print(
        f"  closed by {grasp.s:.2f}, tilted by {np.degrees(grasp.tilt_y):.1f} degrees"
    )
    print(f"  controls in degrees: {controls}")
    width, level = 1e3 * abs(grasp.width_error), 1e3 * abs(grasp.height_error)
    print(f"  width off by {width:.2f} mm, thumb off level by {level:.2f} mm")
    T_world_base, tips = grasp.to_world(height)
    base = ", ".join(f"{1e3 * value:.0f}" for value in T_world_base[:3, 3])
    thumb = ", ".join(f"{1e3 * value:.0f}" for value in tips["thumb"])
    print(f"  in the world, mm: hand at ({base}), tip of the thumb at ({thumb})")


def main(argv: list[str] | None = None) -> dict[str, Grasp]:
    """Plans and prints; returns the grasps by mode."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--width",
        type=float,
        default=0.03,
        help="of the object for line and plane, metres",
    )
    parser.add_argument(
        "--diameter", type=float, default=0.05, help="of the cylinder, metres"
    )
    parser.add_argument(
        "--height", type=float, default=0.12, help="of the object's middle, metres"
    )
    parser.add_argument("--out", help="picture of the line grasp, PNG, SVG or PDF")
    args = parser.parse_args(argv)

    planner = GraspPlanner(load_hand("rh56"))
    grasps = {
        "line": planner.line(args.width),
        "plane": planner.plane(args.width, fingers=4),
        "cylinder": planner.cylinder(args.diameter),
    }
    for grasp in grasps.values():
        report(grasp, args.height)
    for mode in grasps:
        least, most = planner.range(mode)
        print(f"{mode}: {1e3 * least:.0f} to {1e3 * most:.0f} mm")
    if args.out:
        save_figure(plot_grasp(grasps["line"], height=args.height), args.out)
    return grasps


if __name__ == "__main__":
    main()
