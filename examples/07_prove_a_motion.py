"""Prove a motion: free at every row does not mean free in between; also audits a
recording.

An arm swings up past a thin rod. Every row of the motion is free, yet the hand passes
through the rod between two rows. The proof finds the collision, and proves a second
path free with an allowance for controller error. A recording of both is then read from
CSV and audited at every row and in between. With `--out`, writes the recording;
`--picture` plots the clearance over time.

    python examples/07_prove_a_motion.py --out swing.csv --picture audit.png
"""

from __future__ import annotations

import argparse
import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np

import elbowroom as er
from elbowroom.ui.draw import plot_audit, save_figure
from elbowroom.world import Cylinder, World

ROD = Cylinder(
    0.004, 0.5, pose=(np.sqrt(0.5), 0, np.sqrt(0.5), 0, -0.1, 0.32, 0.97), name="rod"
)
"""A rod of 4 mm radius across the path of the left hand."""
ROWS, SECONDS = 8, 2.0
SLACK = 0.002
"""Controller error: radians that each joint may deviate from the path."""


def swing(robot: er.Robot, bend: float = 0.0) -> np.ndarray:
    """Rows (n, dof) from arms forward to arms up, bending the left elbow by radians."""
    rows = np.linspace(
        robot.named_cfgs["arms_forward"], robot.named_cfgs["arms_up"], ROWS
    )
    rows[:, robot.joint_names.index("left_j4")] += bend * np.sin(
        np.linspace(0.0, np.pi, ROWS)
    )
    return rows


def record(path: Path, robot: er.Robot, cfgs: np.ndarray, times: np.ndarray) -> None:
    """Writes a CSV as a logger would: time and joints by name."""
    header = ",".join(("time", *robot.joint_names))
    np.savetxt(
        path,
        np.column_stack([times, cfgs]),
        delimiter=",",
        header=header,
        comments="",
        fmt="%.9g",
    )


def audited(model: er.CollisionModel, path: Path) -> er.Audit:
    """Plots the audit of a recorded motion."""
    motion = er.read_configurations(path, model.robot)
    return er.audit(model, motion.cfgs, motion.times)


def main(
    argv: list[str] | None = None,
) -> tuple[er.CollisionModel, list[np.ndarray], list[er.PathProof], er.Audit]:
    """Proves, records, audits; returns model, both paths, their proofs and the "
    "audit."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", help="file for the recording, CSV")
    parser.add_argument("--picture", help="clearance over time, PNG, SVG or PDF")
    args = parser.parse_args(argv)

    robot = er.load_robot("teaarm")
    model = er.CollisionModel(robot, world=World([ROD]))
    straight, bent = swing(robot), swing(robot, bend=1.7)
    print(f"straight up: {model.free(straight).sum()} of {ROWS} rows are free")
    segment = next(
        found for a, b in pairwise(straight) if not (found := model.segment_free(a, b))
    )
    print(f"  between two of them: {segment}")

    times = np.linspace(0.0, SECONDS, ROWS)
    proofs = [
        er.prove_path(model, straight, times=times),
        er.prove_path(model, bent, times=times, slack=SLACK),
    ]
    print(f"  the whole path: {proofs[0]}")
    print(f"with the elbow bent: {proofs[1]}")

    cfgs = np.concatenate([straight, bent[-2::-1]])  # up, and down along the other path
    clock = np.linspace(0.0, 2.0 * SECONDS, len(cfgs))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(args.out or Path(folder) / "recording.csv")
        record(path, robot, cfgs, clock)
        audit = audited(model, path)
    print("the recording, up straight and down with the elbow bent:")
    print(audit)
    if args.picture:
        save_figure(plot_audit(audit), args.picture)
    return model, [straight, bent], proofs, audit


if __name__ == "__main__":
    main()
