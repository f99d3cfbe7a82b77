"""Tracking two hands that swap places through each other, side by side with mink and pink; judged by Coal.

All follow the same targets at the same rate on the same robot. Clearance and penetration are of the exact meshes, at
the ticks and between them, for all pairs that `CollisionModel` checks. Errors are distances of the hands from their
targets: nobody can follow exactly, for the hands would meet. Accelerations are what the commands ask of the joints.
Time of the processor is that of the thread: what is left of a tick on a machine that others use too.

    python -m benchmarks.track [ROBOT ...] [--seconds S] [--only elbowroom mink pink]
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Protocol

import numpy as np

import elbowroom as er
from elbowroom.ik import Tracker
from tests.crossing import Crossing, judge_motion, ready_cfg, through_each_other
from tests.oracles import oracle_of

DT = 0.005


class Peer(Protocol):
    """What a peer can say of its set-up and its run."""

    pairs: int
    left_out: int
    failed: int


Follow = Callable[[Mapping[str, np.ndarray]], np.ndarray]


def followers(
    model: er.CollisionModel, cfg: np.ndarray, links: tuple[str, ...], peers: dict[str, Peer]
) -> dict[str, Callable[[], Follow]]:
    """Makers of the loops that are compared."""

    def told(name: str, peer: Peer) -> None:
        peers[name] = peer

    def ours() -> Follow:
        tracker = Tracker(model, links)
        tracker.tick(None, cfg, DT)
        return lambda targets: tracker.tick(targets, None, DT).cfg

    def mink() -> Follow:
        from benchmarks._track_peers import Mink

        peer = Mink(model, cfg, links)
        told("mink", peer)
        return lambda targets: peer.tick(targets, DT)

    def pink() -> Follow:
        from benchmarks._track_peers import Pink

        peer = Pink(model, cfg, links)
        told("pink", peer)
        return lambda targets: peer.tick(targets, DT)

    return {"elbowroom": ours, "mink": mink, "pink": pink}


def run(name: str, seconds: float, only: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = er.load_robot(name)
        model = er.CollisionModel(robot, threads=1)
    cfg = ready_cfg(robot)
    crossing = Crossing.of(robot, cfg)
    ticks = int(seconds / DT)
    targets = [crossing.at(k * DT) for k in range(ticks + 1)]
    oracle, hands = oracle_of(robot), [robot.link_index(link) for link in crossing.links]
    plain = through_each_other(robot, crossing, cfg, targets)
    collides = int((~oracle.free(plain[::4], model.pairs.checked)).sum())
    print(f"{name}: {ticks} ticks; without avoidance {collides} of {len(plain[::4])} ticks looked at collide")
    peers = dict[str, Peer]()
    for label, make in followers(model, cfg, crossing.links, peers).items():
        if label not in only:
            continue
        make()(targets[0])  # compiles
        follow, cfgs, spent, busy = make(), [cfg], [], []
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
        pushes = np.abs(np.diff(speeds, axis=0)) / DT
        limits = np.minimum(robot.velocity_limits, 100.0)
        if label in peers:
            peer = peers[label]
            print(
                f"  {label:10} {peer.pairs} pairs, {peer.left_out} too close at the start; "
                f"{peer.failed} ticks without a solution"
            )
        print(
            f"  {label:10} tick {1e3 * np.median(spent):6.3f} ms median, {1e3 * np.min(spent):6.3f} least, "
            f"{1e3 * np.median(busy):6.3f} of the processor, "
            f"{1e3 * np.quantile(spent, 0.999):6.2f} at 99.9 %; clearance {1e3 * judged.clearance:7.3f} mm "
            f"({judged.pair[0]}, {judged.pair[1]}), {int(judged.touching.sum())} ticks in penetration; error "
            f"{1e3 * np.median(off):5.1f} mm median, {1e3 * off.max():5.1f} largest; speed "
            f"{np.abs(speeds / limits).max():.3f} of the limit, acceleration {pushes.max():6.1f} rad/s^2 largest, "
            f"{np.sqrt((pushes**2).mean()):5.2f} rms",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("robots", nargs="*", default=("teaarm", "baxter"))
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--only", nargs="+", default=["elbowroom", "mink", "pink"])
    options = parser.parse_args()
    print(
        f"mink {version('mink')}, pink {version('pin-pink')}, both with daqp {version('daqp')}; {1 / DT:g} Hz"
    )
    for name in options.robots:
        run(name, options.seconds, options.only)


if __name__ == "__main__":
    main()
