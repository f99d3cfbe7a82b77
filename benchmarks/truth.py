"""Is "free" true? CollisionModel's defaults against Pinocchio and Coal on the whole robot.

Judged are all pairs of links of the description but those that are adjacent (worked out here from the file), disabled
by the robot's SRDF, or ignored because their meshes touch at the default pose or always. A miss is a configuration
called free in which Coal finds a collision. False alarms are sorted by cause: containment, which Coal does not see;
curved primitives, which our triangles enclose; anything else.

    python -m benchmarks.truth [ROBOT ...] [--random N] [--near N] [--pairs FILE]
"""

from __future__ import annotations

import argparse
import time
import warnings
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

import elbowroom as er
from elbowroom.mesh import ExactCollision
from elbowroom.pairs import PairReason
from elbowroom.robot import catalogue
from tests.oracles import CoalOracle, oracle_of

ROBOTS = (
    "panda", "panda without SRDF", "ur5", "ur5 without SRDF", "xarm7", "kinova", "baxter", "talos", "g1", "tiago_dual",
    "icub", "pr2", "teaarm",
)  # fmt: skip
SPREAD = 0.15
"""Standard deviation of configurations near the default pose, as a share of each joint's range (at most pi)."""
BY_MESHES = (PairReason.DEFAULT, PairReason.ALWAYS)
"""Reasons that rest on meshes that touch."""
OUTSIDE = 0.01
"""Share of the radius that our triangles may be outside a curved primitive."""


def load(name: str) -> er.Robot:
    """A robot by name, or from its description alone if the name ends in "without SRDF"."""
    bare = name.removesuffix(" without SRDF")
    if bare == name:
        return er.load_robot(name)
    entry = next(entry for entry in catalogue() if entry.name == bare)
    return er.load_robot(entry.description, package_dirs=entry.package_dirs)


def adjacent_in_file(path: Path, solid: set[str]) -> set[tuple[str, str]]:
    """Links fixed to each other, or joined by one moving joint with nothing but bare frames between them."""
    steps: dict[str, list[tuple[str, int]]] = {}
    for joint in ElementTree.parse(path).getroot().findall("joint"):
        parent, child = joint.find("parent").get("link"), joint.find("child").get("link")
        moves = int(joint.get("type") != "fixed")
        steps.setdefault(parent, []).append((child, moves))
        steps.setdefault(child, []).append((parent, moves))
    found = set()
    for start in solid:
        waiting = [(start, None, 0, False)]
        while waiting:
            link, came, moved, passed = waiting.pop()
            if link in solid and link != start and (moved == 0 or not passed):
                found.add((min(start, link), max(start, link)))
            passed = passed or (link in solid and link != start)
            waiting += [
                (to, link, moved + k, passed) for to, k in steps[link] if to != came and moved + k < 2
            ]
    return found


def judged_pairs(model: er.CollisionModel, oracle: CoalOracle) -> list[tuple[str, str]]:
    """What the judge is asked about."""
    robot = model.robot
    skip = adjacent_in_file(robot.path, set(oracle.links)) | set(robot.disabled_pairs)
    skip |= {pair for pair, found in model.ignored.items() if found.reason in BY_MESHES}
    return [pair for pair in combinations(sorted(oracle.links), 2) if pair not in skip]


def causes(model: er.CollisionModel, oracle: CoalOracle, cfgs: np.ndarray) -> dict[str, int]:
    """Why configurations that Coal calls free are not free for us."""
    count = {"containment": 0, "enclosed primitive": 0, "unexplained": 0}
    surfaces = ExactCollision(model.robot, model.pairs.checked, contain=False)
    whole = ExactCollision(model.robot, model.pairs.checked)
    for cfg in cfgs:
        ours = {pair for pair, hit in zip(whole.pairs, whole.colliding(cfg), strict=True) if hit}
        crossing = [pair for pair, hit in zip(surfaces.pairs, surfaces.colliding(cfg), strict=True) if hit]
        if ours - set(crossing):
            count["containment"] += 1
            continue
        slack = [sum(OUTSIDE * largest_radius(model.robot, link) for link in pair) for pair in crossing]
        near = oracle.distances(cfg, crossing)[0] if crossing else np.zeros(0)
        enclosed = len(crossing) and all(0.0 < gap <= room for gap, room in zip(near, slack, strict=True))
        count["enclosed primitive" if enclosed else "unexplained"] += 1
    return count


def largest_radius(robot: er.Robot, link: str) -> float:
    """Of the curved primitives of a link; 0 when it has none."""
    curved = [shape for shape in robot.shapes[link] if shape.kind not in ("mesh", "box")]
    return max((max(s.size) if s.kind == "ellipsoid" else s.size[0] for s in curved), default=0.0)


def confirmed(oracle: CoalOracle, pairs: list[tuple[str, str]], cfgs: np.ndarray) -> int:
    """Of configurations that Coal's boolean calls colliding, those in which its own distance is not positive.

    Both call what is up to about a micrometre apart an overlap, so one counts that no shift of 3 um parts.
    """
    hits = oracle.colliding(cfgs, pairs) if len(cfgs) else np.zeros((0, len(pairs)), dtype=bool)
    count = 0
    for poses, row in zip(oracle.shape_poses(cfgs) if len(cfgs) else (), hits, strict=True):
        shapes = oracle.shape_pairs([pairs[k] for k in np.flatnonzero(row)])
        count += any(oracle.decided_distance(poses, i, j) <= 0.0 for i, j in shapes)
    return count


def missed(oracle: CoalOracle, pairs: list[tuple[str, str]], cfgs: np.ndarray) -> str:
    """Number of misses, and of what only Coal's tolerance calls one."""
    real = confirmed(oracle, pairs, cfgs)
    return f"{real}" + (
        f" (and {len(cfgs) - real} within 3 um of touching by Coal)" if len(cfgs) > real else ""
    )


def near_default(model: er.CollisionModel, count: int) -> np.ndarray:
    robot = model.robot
    spread = SPREAD * np.minimum(robot.upper - robot.lower, np.pi)
    noise = np.random.default_rng(2).normal(size=(count, robot.dof)) * spread
    return np.clip(model.default_cfg + noise, robot.lower, robot.upper)


def judge(name: str, random: int, near: int) -> str:
    """One row of the table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = load(name)
    model, oracle = er.CollisionModel(robot), oracle_of(robot)
    cells = [name, f"{len(model.by_spheres)} + {len(model.by_meshes)}", str(len(model.ignored))]
    pairs = judged_pairs(model, oracle)
    for cfgs in (robot.random_cfgs(random, seed=1), near_default(model, near)):
        ours, spheres = model.free(cfgs), model.free(cfgs, by="spheres")
        truth = oracle.free(cfgs, pairs)
        alarms = causes(model, oracle, cfgs[~ours & truth][:500])
        said = ", ".join(f"{n} {cause}" for cause, n in alarms.items() if n) or "none"
        rate = float((~spheres & truth).sum() / max(1, truth.sum()))
        cells += [
            f"{int(ours.sum())} of {len(cfgs)}",
            missed(oracle, pairs, cfgs[ours & ~truth]),
            f"{int((~ours & truth).sum())} ({said})",
            missed(oracle, pairs, cfgs[spheres & ~truth]),
            f"{100 * rate:.1f} %",
        ]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("robots", nargs="*", default=ROBOTS)
    parser.add_argument("--random", type=int, default=20_000)
    parser.add_argument("--near", type=int, default=5_000)
    options = parser.parse_args()
    half = ["free", "misses", "false alarms", "misses by spheres", "false alarms by spheres"]
    head = ["robot", "pairs by spheres + meshes", "ignored", *half, *(f"near: {text}" for text in half)]
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for name in options.robots:
        start = time.perf_counter()
        print(
            judge(name, options.random, options.near),
            f"<!-- {time.perf_counter() - start:.0f} s -->",
            flush=True,
        )


if __name__ == "__main__":
    main()
