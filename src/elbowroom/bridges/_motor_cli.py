"""The program `python -m elbowroom.bridges.lerobot`: makes a motor map and checks it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import ElbowroomError, InputError
from ..robot import Robot, load_robot
from ._motor_fit import Poses, check_map, fit_map
from ._motor_map import UNITS, MotorMap

ABOUT = """Makes and checks the map from LeRobot's motors to the joints of a description.

  build --poses poses.yaml --out my_arm.yaml                            from recorded poses
  build --map so101 --calibration my_arm.json --unit range_m100_100 --out my_arm.yaml
                                                                        from a map in degrees and LeRobot's calibration
  check my_arm.yaml --poses poses.yaml --show                           exit code 1: the map is wrong
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code: 0 the map is good, 1 it is wrong, 2 wrong use or bad input."""
    parser = argparse.ArgumentParser(
        "python -m elbowroom.bridges.lerobot",
        description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    build = verbs.add_parser("build", help="make a map")
    build.add_argument("--map", help="a map to start from: a file, so100 or so101")
    build.add_argument("--calibration", help="LeRobot's calibration file of the robot")
    build.add_argument("--unit", choices=sorted(UNITS), help="unit of all motors but those in range_0_100")
    build.add_argument("--out", required=True, help="YAML file to write")
    check = verbs.add_parser("check", help="check a map")
    check.add_argument("map", help="a file, so100 or so101")
    check.add_argument(
        "--show", action="store_true", help="serve a page with the robot at the poses, by this map"
    )
    for verb in (build, check):
        verb.add_argument("--robot", help="description, as load_robot takes it; that of the file if left out")
        verb.add_argument("--poses", help="YAML file of recorded poses")
    args = parser.parse_args(argv)
    try:
        return _build(args) if args.verb == "build" else _check(args)
    except ElbowroomError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _robot(args: argparse.Namespace, *named: str) -> Robot:
    source = args.robot or next(filter(None, named), None)
    if source is None:
        raise InputError("no description: give --robot, or write 'robot:' in the file")
    return load_robot(source, use_visual=True)


def _build(args: argparse.Namespace) -> int:
    made_of = [name for name in ("poses", "map", "calibration") if getattr(args, name) is not None]
    if made_of not in (["poses"], ["map", "calibration"]):
        raise InputError(
            f"build needs --poses, or --map and --calibration; found {', '.join(made_of) or 'neither'}"
        )
    poses = None
    if made_of == ["poses"]:
        poses = Poses.read(args.poses)
        robot = _robot(args, poses.robot)
        made = fit_map(poses, robot)
    else:
        start = MotorMap.read(args.map)
        robot = _robot(args, start.robot)
        units = {name: args.unit for name, motor in start.motors.items() if motor.unit != "range_0_100"}
        made = start.calibrated(args.calibration, units if args.unit else {})
    made = replace(made, robot=args.robot or made.robot)
    report = check_map(made, robot, poses)
    print(report)
    if not report.ok:
        print(f"{args.out} is not written: the map is wrong", file=sys.stderr)
        return 1
    made.write(Path(args.out))
    print(f"{args.out} written")
    return 0


def _check(args: argparse.Namespace) -> int:
    motors = MotorMap.read(args.map)
    poses = None if args.poses is None else Poses.read(args.poses)
    robot = _robot(args, motors.robot, "" if poses is None else poses.robot)
    report = check_map(motors, robot, poses)
    print(report)
    if args.show:
        from .. import show

        server = show(replace(robot, named_cfgs={**robot.named_cfgs, **_shown(motors, robot, poses)}))
        print(
            f"{server.url}: the poses are in the list of named ones. Each must look as the arm did. Ctrl-C ends"
        )
        server.wait()
    return 0 if report.ok else 1


def _shown(motors: MotorMap, robot: Robot, poses: Poses | None) -> dict[str, object]:
    """Configurations to look at, by name: where the map puts the robot at the recorded values, or in mid-range."""
    if poses is None:
        middle = {
            f"{name}.pos": 50.0 if m.unit == "range_0_100" else 0.0 for name, m in motors.motors.items()
        }
        return {"middle of the motors' ranges": motors.cfg_of(middle, robot, "middle")}
    count = len(next(iter(poses.values.values())))
    return {
        f"pose {k + 1}": motors.cfg_of(
            {f"{n}.pos": row[k] for n, row in poses.values.items()}, robot, "poses"
        )
        for k in range(count)
    }
