"""A guarded motion in Rerun: one call logs the robot, its clearance, and where it comes
close.

Both arms are asked to fold into each other, and the guard stops them. The motion goes
to a recording, with meshes once, poses and clearance over time, and arrows between
links that are near. Open it with `rerun guarded.rrd`.

    python examples/23_rerun.py --out guarded.rrd
"""

from __future__ import annotations

import argparse

import numpy as np
import rerun as rr

import elbowroom as er
from elbowroom.bridges.rerun import log
from elbowroom.ik import FilteredMotion


def main(argv: list[str] | None = None) -> tuple[er.CollisionModel, FilteredMotion]:
    """Filters a motion and logs it; the model and what the guard made of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", help="recording, .rrd; without, nothing is written")
    args = parser.parse_args(argv)
    recording = rr.RecordingStream("elbowroom_guard")
    if args.out:
        recording.save(args.out)

    model = er.CollisionModel(er.load_robot("teaarm"))
    begin, end = (
        model.robot.named_cfgs[name] for name in ("arms_forward", "self_collision")
    )
    wanted = begin + np.linspace(0.0, 1.0, 100)[:, None] * (end - begin)
    motion = er.Guard(model, clearance=0.005).filter(wanted, 0.02)
    log(recording, model, motion)
    recording.flush()
    print(f"{len(motion)} configurations, {motion.altered.sum()} altered by the guard")
    print(f"least clearance {1e3 * np.nanmin(motion.clearance):.1f} mm")
    return model, motion


if __name__ == "__main__":
    main()
