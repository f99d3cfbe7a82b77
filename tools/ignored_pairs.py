"""Write docs/reference/ignored-pairs.md: every pair of links that is not checked by default, and how its meshes behave.

python tools/ignored_pairs.py [ROBOT ...] [--out FILE] [--samples N]
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np

import elbowroom as er
from elbowroom._text import counted
from elbowroom.pairs import PairReason

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from benchmarks.truth import ROBOTS, load  # noqa: E402

MEASURED = 3
"""Colliding samples of which the depth is measured."""
NEVER = (PairReason.NEVER_PROVED, PairReason.NEVER_SAMPLED)
HEAD = """# Pairs that are not checked

Made by `python tools/ignored_pairs.py`: `CollisionModel(robot)` with its defaults on the robots of the truth benchmark.
For every ignored pair: the reason, who said so, the share of {samples} random configurations in which the two meshes
meet (with containment), and the deepest of up to {measured} of these. Nothing is ignored for the sake of spheres: a
computed *default* or *always* says that the meshes themselves touch at the default pose, or in every sample.
"""


def section(name: str, samples: int) -> str:
    """The pairs of one robot."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = load(name)
    model = er.CollisionModel(robot)
    exact = er.ExactCollision(robot, tuple(model.ignored))
    cfgs = robot.random_cfgs(samples, seed=11)
    hits = exact.colliding(cfgs)
    quiet: dict[PairReason, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    rows: list[str] = []
    for k, pair in enumerate(exact.pairs):
        found = model.ignored[pair]
        met = np.flatnonzero(hits[:, k])
        if found.reason in NEVER and not len(met) and found.source == "computed":
            quiet[found.reason][pair[0]].append(pair[1])
            continue
        depths = [exact.contacts(cfgs[i], [pair])[0].depth for i in met[:MEASURED]]
        deep = f"{1000 * max(depths):.1f}" if depths else "-"
        said = "" if found.source == "computed" else found.source
        rows.append(
            f"| {pair[0]} | {pair[1]} | {found.reason} | {said} | {100 * len(met) / samples:.1f} | {deep} |"
        )
    lines = [f"## {name}", "", f"{model.pairs}.", f"Default pose: {model.pairs.default_pose}.", ""]
    lines += [f"- {note}" for note in model.pairs.notes] + [""] * bool(model.pairs.notes)
    lines += [
        "| link | link | reason | said by | meshes meet, % | deepest, mm |",
        "|---|---|---|---|---|---|",
        *rows,
        "",
    ]
    for reason, links in quiet.items():
        count = sum(map(len, links.values()))
        lines += [f"{counted(count, 'pair')} *{reason}*, whose meshes met in no sample:", ""]
        lines += [f"- {link}: {', '.join(others)}" for link, others in sorted(links.items())] + [""]
    return "\n".join(lines)


def main() -> None:
    """Writes the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("robots", nargs="*", default=ROBOTS)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "reference" / "ignored-pairs.md")
    parser.add_argument("--samples", type=int, default=2_000)
    options = parser.parse_args()
    parts = [HEAD.format(samples=options.samples, measured=MEASURED)]
    for name in options.robots:
        parts.append(section(name, options.samples))
        print(name, flush=True)
    options.out.write_text("\n".join(parts))


if __name__ == "__main__":
    main()
