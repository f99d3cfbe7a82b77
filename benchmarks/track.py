"""Tracking two hands that swap places through each other, side by side with mink and pink; judged by Coal.

All follow the same targets at the same rate on the same robot. Clearance and penetration are of the exact meshes, at
the ticks and between them, for all pairs that `CollisionModel` checks. Errors are distances of the hands from their
targets: no controller can follow exactly, because the hands would meet. Accelerations are what the commands ask of the
joints. Time of the processor is that of the thread: what is left of a tick on a machine that others use too.

    python -m benchmarks.track [ROBOT ...] [--seconds S] [--only elbowroom mink pink] [--seed K ...] [--equal]

Seed 0 is the motion that settings were chosen with, others are motions that they were not. `--equal` gives the peers
our limits on accelerations.
"""

from __future__ import annotations

import argparse
import gc
import logging
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

import elbowroom as er
from benchmarks._machine import version
from benchmarks._table import Row
from elbowroom.ik import Tracker
from tests.crossing import Crossing, Judged, judge_motion, ready_cfg, through_each_other
from tests.oracles import oracle_of

DT = 0.005


class Peer(Protocol):
    """What a peer can say of its set-up and its run."""

    pairs: int
    left_out: int
    failed: int


Follow = Callable[[Mapping[str, np.ndarray]], np.ndarray]


def followers(
    model: er.CollisionModel,
    cfg: np.ndarray,
    links: tuple[str, ...],
    peers: dict[str, Peer],
    equal: bool = False,
) -> dict[str, Callable[[], Follow]]:
    """Makers of the loops that are compared; `equal` gives the peers our limits on accelerations."""
    limits = 10.0 * np.where(model.robot.velocity_limits > 0.0, model.robot.velocity_limits, 3.0)
    accelerations = limits if equal else None

    def told(name: str, peer: Peer) -> None:
        peers[name] = peer

    def ours() -> Follow:
        tracker = Tracker(model, links)
        tracker.tick(None, cfg, DT)
        return lambda targets: tracker.tick(targets, None, DT).cfg

    def mink() -> Follow:
        from benchmarks._track_peers import Mink

        peer = Mink(model, cfg, links, accelerations=accelerations)
        told("mink", peer)
        return lambda targets: peer.tick(targets, DT)

    def pink() -> Follow:
        from benchmarks._track_peers import Pink

        peer = Pink(model, cfg, links, accelerations=accelerations)
        told("pink", peer)
        return lambda targets: peer.tick(targets, DT)

    return {"elbowroom": ours, "mink": mink, "pink": pink}


ALL = ("elbowroom", "mink", "pink")


@dataclass(frozen=True)
class Followed:
    """What became of one follower."""

    label: str
    peer: Peer | None
    spent: np.ndarray
    """Wall seconds of the ticks."""
    busy: np.ndarray
    """CPU seconds of the ticks."""
    judged: Judged
    off: np.ndarray
    """(ticks, hands) metres from the targets."""
    speed: float
    """Largest share of a joint's limit."""
    pushes: np.ndarray
    """(ticks, dof) accelerations, rad/s^2."""
    beyond: float
    """The farthest that a joint is beyond its limits, rad or m; 0 for none."""

    @property
    def jerk(self) -> float:
        """Root mean square over joints and ticks, rad/s^3."""
        return float(np.sqrt(((np.diff(self.pushes, axis=0) / DT) ** 2).mean()))


def follow_all(
    name: str, seconds: float, only: Collection[str], seed: int = 0, *, equal: bool = False
) -> Iterator[Followed]:
    """Every follower in turn; those that are not installed are skipped with a note."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = er.load_robot(name)
        model = er.CollisionModel(robot, threads=1)
    cfg = ready_cfg(robot)
    crossing = Crossing.varied(robot, cfg, seed)
    ticks = int(seconds / DT)
    targets = [crossing.at(k * DT) for k in range(ticks + 1)]
    oracle, hands = oracle_of(robot), [robot.link_index(link) for link in crossing.links]
    plain = through_each_other(robot, crossing, cfg, targets)
    collides = int((~oracle.free(plain[::4], model.pairs.checked)).sum())
    print(
        f"  {name}: {ticks} ticks; without avoidance {collides} of {len(plain[::4])} ticks looked at collide"
    )
    peers = dict[str, Peer]()
    for label, make in followers(model, cfg, crossing.links, peers, equal).items():
        if label not in only:
            continue
        try:
            make()(targets[0])  # compiles
        except ModuleNotFoundError as error:
            print(f"  {label}: {error.name} is not installed")
            continue
        follow, cfgs, spent, busy = make(), [cfg], [], []
        gc.collect()
        gc.freeze()  # else a tick may search all that is loaded for garbage, 0.1 s
        for target in targets[:-1]:
            start, begun = time.perf_counter(), time.thread_time()
            cfgs.append(follow(target))
            spent.append(time.perf_counter() - start)
            busy.append(time.thread_time() - begun)
        path = np.array(cfgs)
        placed = robot.link_poses(path[1:])[:, hands, 4:]
        wanted = np.array([[pose[4:] for pose in target.values()] for target in targets[1:]])
        off = np.linalg.norm(placed - wanted, axis=-1)
        judged = judge_motion(oracle, model.pairs.checked, path)
        speeds = np.diff(path, axis=0, prepend=path[:1]) / DT
        pushes = np.diff(speeds, axis=0) / DT
        beyond = max(0.0, float((path - robot.upper).max()), float((robot.lower - path).max()))
        limits = np.minimum(robot.velocity_limits, 100.0)
        fastest = float(np.abs(speeds / limits).max())
        yield Followed(
            label, peers.get(label), np.array(spent), np.array(busy), judged, off, fastest, pushes, beyond
        )


def run(name: str, seconds: float, only: Collection[str], seed: int, equal: bool) -> None:
    """Prints them."""
    for found in follow_all(name, seconds, only, seed, equal=equal):
        label, judged, spent, off = found.label, found.judged, found.spent, found.off
        if found.peer is not None:
            print(
                f"  {label:10} {found.peer.pairs} pairs, {found.peer.left_out} too close at the start; "
                f"{found.peer.failed} ticks without a solution"
            )
        print(
            f"  {label:10} tick {1e3 * np.median(spent):6.3f} ms median, {1e3 * np.min(spent):6.3f} least, "
            f"{1e3 * np.median(found.busy):6.3f} of the processor, "
            f"{1e3 * np.quantile(found.busy, 0.999):6.2f} at 99.9 %, {1e3 * found.busy.max():6.2f} largest; "
            f"clearance {1e3 * judged.clearance:7.3f} mm "
            f"({judged.pair[0]}, {judged.pair[1]}), {int(judged.touching.sum())} ticks in penetration; error "
            f"{1e3 * np.median(off):5.1f} mm median, {1e3 * off.max():5.1f} largest; speed "
            f"{found.speed:.3f} of the limit, acceleration {np.abs(found.pushes).max():6.1f} rad/s^2 largest, "
            f"{np.sqrt((found.pushes**2).mean()):5.2f} rms, jerk {found.jerk:5.0f} rad/s^3 rms; "
            f"{found.beyond:.2g} beyond a joint's limit",
            flush=True,
        )


QUICK = {"teaarm": 3.0, "baxter": 3.0}
"""Robot -> seconds of motion."""


def rows() -> Iterator[Row]:
    """Of the table: ticks, clearance and errors beside mink and pink."""
    for name, seconds in QUICK.items():
        found = {followed.label: followed for followed in follow_all(name, seconds, ALL)}
        ours, case = (
            found["elbowroom"],
            f"{name}, hands through each other, {seconds / DT:.0f} ticks at {1 / DT:g} Hz",
        )
        for label in ALL[1:]:
            if label not in found:
                yield Row(
                    "track", case, "not measured", None, "", peer=label, note=f"{label} is not installed"
                )
                continue
            other, by = found[label], (label, f"{version(label)} with daqp {version('daqp')}")
            for what, unit, measure, gated in (
                ("tick, median CPU time", "ms", lambda f: 1e3 * float(np.median(f.busy)), True),
                ("ticks in penetration by Coal", "", lambda f: int(f.judged.touching.sum()), False),
                ("distance from the targets, median", "mm", lambda f: 1e3 * float(np.median(f.off)), False),
                (
                    "acceleration asked of joints, largest",
                    "rad/s^2",
                    lambda f: float(np.abs(f.pushes).max()),
                    False,
                ),
            ):
                yield Row("track", case, what, measure(ours), unit, measure(other), *by, gated=gated)
            both = 1e3 * ours.judged.clearance, "mm", 1e3 * other.judged.clearance
            yield Row("track", case, "least clearance by Coal", *both, *by, more_is_better=True, gated=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("robots", nargs="*", default=("teaarm", "baxter"))
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--only", nargs="+", default=ALL)
    parser.add_argument("--seed", type=int, nargs="+", default=[0])
    parser.add_argument("--equal", action="store_true", help="limits on accelerations for all")
    options = parser.parse_args()
    logging.getLogger().setLevel(logging.ERROR)  # pink warns in every tick of a joint at its limit
    print(f"mink {version('mink')}, pink {version('pink')}, both with daqp {version('daqp')}; {1 / DT:g} Hz")
    for name in options.robots:
        for seed in options.seed:
            print(f"{name}, seed {seed}")
            run(name, options.seconds, options.only, seed, options.equal)


if __name__ == "__main__":
    main()
