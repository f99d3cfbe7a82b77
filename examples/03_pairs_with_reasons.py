"""Pairs with reasons: which pairs of links need checking, why the others do not, and
what an SRDF gets wrong.

Decides for every pair of links whether it can collide, then prints the number of pairs
per reason with the evidence for one of them. Compares the result with a typical
hand-written SRDF, which ignores a pair that can collide and checks many that cannot.
With `--out`, writes the pairs as SRDF (or JSON, cuRobo YAML, XRDF or MJCF, depending on
the extension); `--picture` draws the matrix.

    python examples/03_pairs_with_reasons.py --out teaarm.srdf --picture pairs.png
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import elbowroom as er
from elbowroom.pairs import PairDiff
from elbowroom.ui.draw import plot_pairs, save_figure

BY_HAND = """
<robot name="teaarm">
  <disable_collisions link1="base_link" link2="waist_link" reason="Adjacent"/>
  <disable_collisions link1="base_link" link2="torso_link" reason="Never"/>
  <disable_collisions link1="left_arm_l5" link2="right_arm_l5" reason="Never"/>
</robot>
"""
"""Three pairs disabled by hand; one of them can collide."""


def given_pairs(robot: er.Robot) -> er.PairMatrix:
    """The pairs of the SRDF above, which is usually a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "by_hand.srdf"
        path.write_text(BY_HAND)
        return er.formats.read(path, robot=robot).pairs


def report(given: er.PairMatrix, pairs: er.PairMatrix, difference: PairDiff) -> None:
    """Prints where an SRDF differs from the computed pairs."""
    print(f"an SRDF by hand ignores {len(given.ignored)} pairs")
    for a, b in difference.newly_checked:
        print(
            f"  {a} and {b}: {given.evidence(a, b).text}, but "
            f"{pairs.evidence(a, b).text}"
        )
    print(f"  {len(difference.newly_ignored)} pairs are checked there that need not be")


def main(
    argv: list[str] | None = None,
) -> tuple[er.PairMatrix, er.PairMatrix, PairDiff]:
    """Computes, compares, writes; returns computed pairs, SRDF pairs and difference."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--samples", type=int, default=10_000, help="configurations to look at"
    )
    parser.add_argument("--out", help="file to write; the extension says the format")
    parser.add_argument("--picture", help="the matrix of pairs, PNG, SVG or PDF")
    args = parser.parse_args(argv)

    robot = er.load_robot("teaarm")
    spheres = er.fit_spheres(robot, er.FitOptions(n_spheres=100, effort=0.0))
    pairs = er.compute_pairs(
        robot, spheres, er.PairOptions(samples=args.samples, seed=0)
    )
    print(pairs)
    for reason, count in pairs.counts().items():
        (a, b), found = next(
            item for item in pairs.entries.items() if item[1].reason is reason
        )
        print(f"{reason}: {count}, among them {a} and {b}, {found.text}")
    a, b = pairs.by_meshes[0]
    print(
        f"for meshes alone: {len(pairs.by_meshes)}, among them {a} and {b}, "
        f"{pairs.evidence(a, b).text}"
    )

    given = given_pairs(robot)
    difference = given.diff(pairs)
    report(given, pairs, difference)
    if args.out:
        for note in er.formats.write(
            args.out, robot=robot, spheres=spheres, pairs=pairs
        ):
            print(f"{args.out}: {note}")
    if args.picture:
        save_figure(plot_pairs(pairs), args.picture)
    return pairs, given, difference


if __name__ == "__main__":
    main()
