"""The page by a client that is no browser: pictures a second, how old they are, how soon it is there, what it leaves.

`elbowroom view` runs in a process of its own. The client speaks viser's protocol over a WebSocket and moves the joint
that carries the most links, 200 times a second, each time to another value; what arrives is matched with what was sent
by the pose of the joint's link. A picture is a message that moves it; its age is the time since the value was sent. (A
browser with software rendering draws 2 to 8 frames a second, and its client sends at most 20 values a second.)

    python -m benchmarks.page [ROBOT ...] [--seconds S] [--rate HZ] [--connects N]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import elbowroom as er
from tests.ui.page_tools import Browser, until

ROBOTS = ("teaarm", "panda", "g1")
LEAST = {"teaarm": 100, "panda": 100, "g1": 60}
"""Pictures a second that are asked for."""
OLDEST = 0.025
"""Seconds; the age that 99 % of the pictures keep."""
PERIOD = np.sqrt(3.5)
"""Seconds from one end of the joint's range to the other; irrational, so that no value comes twice."""
SEEN = 1e-6
"""Largest difference of a pose's numbers that still means the same."""
REST = 3.0
"""Seconds after which what connections left behind must be gone."""


class Client(Browser):
    """Notes when a link's pose arrives."""

    def __init__(self, url: str) -> None:
        self.link = ""
        self.seen: list[tuple[float, tuple[float, ...]]] = []
        super().__init__(url)

    def _take(self, message: dict[str, Any]) -> None:
        if message["type"] == "SetOrientationMessage" and message["name"] == self.link:
            self.seen.append((time.perf_counter(), tuple(message["wxyz"])))
        super()._take(message)


@dataclass(frozen=True)
class Served:
    """A page in another process."""

    url: str
    pid: int
    http: float
    """Seconds from the start of the process to the first answer."""

    def status(self) -> tuple[int, float]:
        """Threads, and resident memory in MB."""
        text = Path(f"/proc/{self.pid}/status").read_text()
        entries = dict(line.split(":", 1) for line in text.splitlines())
        return int(entries["Threads"]), int(entries["VmRSS"].split()[0]) / 1024


@contextmanager
def page_of(robot: str) -> Generator[Served]:
    """`elbowroom view` of a robot."""
    start = time.perf_counter()
    words = [sys.executable, "-m", "elbowroom", "view", robot, "--port", "0", "--no-open", "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            text = ""
            while not text.rstrip().endswith("}"):
                line = process.stdout.readline()
                assert line, f"elbowroom view {robot} has ended"
                text += line
            url = json.loads(text)["url"]
            with urllib.request.urlopen(url) as answer:
                answer.read()
            yield Served(url, process.pid, time.perf_counter() - start)
        finally:
            process.terminate()


def widest(robot: er.Robot) -> tuple[int, str]:
    """The actuated joint that carries the most links, by index, and its link."""
    cfg = robot.default_cfg
    still = robot.link_poses(cfg)
    moved = []
    for k in range(robot.dof):
        other = cfg.copy()
        other[k] = robot.upper[k] if abs(robot.upper[k] - cfg[k]) > 1e-3 else robot.lower[k]
        moved.append(int((np.abs(robot.link_poses(other) - still).max(axis=1) > 1e-9).sum()))
    revolute = [joint.type != "prismatic" for joint in robot.tree.actuated]
    best = int(np.argmax(np.where(revolute, moved, 0)))
    return best, robot.tree.actuated[best].child


def values(robot: er.Robot, idx: int, count: int, rate: float) -> np.ndarray:
    """Values of a joint, degrees, back and forth through its range, no two the same."""
    low, high = np.degrees([max(robot.lower[idx], -3.0), min(robot.upper[idx], 3.0)])
    return low + (high - low) * np.abs(np.arange(count) / (rate * PERIOD) % 2.0 - 1.0)


def drag(client: Client, robot: er.Robot, seconds: float, rate: float) -> tuple[float, np.ndarray]:
    """Pictures a second, and the age of each in seconds."""
    idx, link = widest(robot)
    wanted = values(robot, idx, int(seconds * rate), rate)
    label = f"{robot.joint_names[idx]} °"
    client.link = f"/robot/{robot.link_index(link)}"
    cfgs = np.tile(robot.default_cfg, (len(wanted), 1))
    cfgs[:, idx] = np.clip(np.radians(wanted), robot.lower[idx], robot.upper[idx])
    poses = robot.link_poses(cfgs)[:, robot.link_index(link), :4]
    client.seen.clear()
    sent = np.empty(len(wanted))
    start = time.perf_counter()
    for k, value in enumerate(wanted):
        time.sleep(max(0.0, start + k / rate - time.perf_counter()))
        sent[k] = time.perf_counter()
        client.set(label, float(value))
    took = time.perf_counter() - start
    time.sleep(0.5)
    ages = []
    for when, wxyz in client.seen:
        apart = np.abs(poses - np.array(wxyz)).max(axis=1)
        k = int(apart.argmin())
        assert apart[k] < SEEN, "a picture of nothing that was asked for"
        ages.append(when - sent[k])
    assert k == len(wanted) - 1, "the last value was not drawn"
    return len(client.seen) / took, np.array(ages)


def connections(served: Served, count: int) -> tuple[tuple[int, float], tuple[int, float]]:
    """Threads and memory before and after so many tabs that come and go."""

    def come_and_go(times: int) -> tuple[int, float]:
        for _ in range(times):
            tab = Browser(served.url, storage)
            tab.wait(lambda tab=tab: "/robot/0" in tab.nodes)
            tab.close()
        time.sleep(REST)
        return served.status()

    storage: dict[str, str] = {}
    return come_and_go(max(count // 5, 10)), come_and_go(count)


def measure(name: str, seconds: float, rate: float, connects: int) -> None:
    robot = er.load_robot(name)
    with page_of(name) as served:
        start = time.perf_counter()
        client = Client(served.url)
        client.wait(lambda: sum("/visual" in node for node in client.nodes) > 0)
        drawn = time.perf_counter() - start + served.http
        until(lambda: any(node.startswith("/live/") for node in client.nodes), 600.0)
        verdict = time.perf_counter() - start + served.http
        drag(client, robot, 1.0, rate)
        pictures, ages = drag(client, robot, seconds, rate)
        middle, late = np.percentile(ages, [50, 99])
        good = pictures >= LEAST.get(name, 60) and late <= OLDEST
        client.close()
        before, after = connections(served, connects)
    age = f"age {1e3 * middle:.1f} ms median, {1e3 * late:.1f} ms 99 %, {1e3 * ages.max():.1f} ms worst"
    left = f"threads {before[0]} -> {after[0]}, memory {before[1]:.0f} -> {after[1]:.0f} MB after {connects} connects"
    print(
        f"{name}: HTTP {served.http:.1f} s, drawn {drawn:.1f} s, verdict {verdict:.1f} s | {pictures:.0f} pictures/s, "
        f"{age} | {left} | {'as asked' if good else 'NOT as asked'}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("robots", nargs="*", default=ROBOTS)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rate", type=float, default=200.0, help="messages a second")
    parser.add_argument("--connects", type=int, default=50)
    options = parser.parse_args()
    for name in options.robots:
        measure(name, options.seconds, options.rate, options.connects)


if __name__ == "__main__":
    main()
