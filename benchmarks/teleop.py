"""Teleoperation on the page, without a browser: a client in another process takes what the page draws.

A recording of a headset, made by a seed, in which two hands pass through each other again and again, is played on the
page in real time. Lag is counted from when a state of the hands is due to when the picture that answers it has been
made (page), and has arrived at the other end of the WebSocket (client). All configurations that the robot took, and
four between every two of them, are checked by exact meshes.

    python -m benchmarks.teleop [--seconds 60] [--seed 0] [--robot teaarm] [--json]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from collections import deque
from typing import Any

import numpy as np

import elbowroom as er
from elbowroom.ui import serve
from elbowroom.ui._teleop import read_recording
from elbowroom.ui.panels import TeleopPanel
from elbowroom.ui.state import RecordingRead
from tests.xr_hands import HEAD_SPEED, crossing_hands, lines

HEAD = "/teleop/head"
BETWEEN = 4
"""Configurations judged between two ticks."""
MARKS = (50, 90, 99, 99.9, 100)


def watch(url: str, ready: Any, over: Any, found: Any) -> None:
    """In another process: a client of the page, and when which place of the head arrived."""
    from tests.ui.page_tools import Browser

    arrived: list[tuple[float, tuple[float, ...]]] = []

    class Watcher(Browser):
        def _take(self, message: dict[str, Any]) -> None:
            if message["type"] == "SetPositionMessage" and message["name"] == HEAD:
                arrived.append((time.perf_counter(), tuple(message["position"])))
            super()._take(message)

    browser = Watcher(url)
    ready.set()
    over.wait()
    found.put((arrived, browser.poses, browser.notes))
    browser.close()


def teleop(robot: str, seconds: float, seed: int) -> dict[str, Any]:
    """Plays a recording on a page; what was measured."""
    data = lines(crossing_hands(seconds, seed))
    context = multiprocessing.get_context("spawn")
    ready, over, found = context.Event(), context.Event(), context.Queue()
    with serve(robot, port=0) as server:
        client = context.Process(target=watch, args=(server.url, ready, over, found), daemon=True)
        client.start()
        ready.wait()
        _until(lambda: bool(server.pages) and server.pages[0].view.current)
        page = server.pages[0]
        assert page.view.robot is not None
        page.send(RecordingRead(read_recording("crossing hands", data, page.view.robot)))
        _until(lambda: page.view.state.teleop.recording is not None)
        assert page._panels is not None
        panel = next(part for part in page._panels.parts if isinstance(part, TeleopPanel))
        panel.lags = deque()  # all, not the latest alone
        panel._press("Recording")
        _until(lambda: page.view.state.teleop.run != "")
        _until(lambda: page.view.state.teleop.run == "")
        over.set()
        arrived, poses, notes = found.get()
        client.join()
        steering, model = panel.steering, page.view.model
        assert steering is not None
        assert model is not None
    cfgs = np.array([cfg for _, cfg in steering.log])
    return {
        "robot": robot,
        "seconds": seconds,
        "seed": seed,
        "states": len(data.splitlines()),
        "ticks": len(cfgs),
        "missed ticks": steering.missed,
        "pictures": len(panel.lags),
        "messages that move a node": poses,
        "notifications": notes,
        "lag of the page, ms": _spread(np.array(panel.lags)),
        "lag at the client, ms": _spread(_client_lags(arrived, steering.started)),
        **judged(model, cfgs),
    }


def _client_lags(arrived: list[tuple[float, tuple[float, ...]]], started: float) -> np.ndarray:
    """Seconds from when a state was due to when the client had it; the place of the head tells the state."""
    times = np.array([when for when, _ in arrived])
    places = np.array([place for _, place in arrived])
    gone = np.linalg.norm(places - places[0], axis=1) / HEAD_SPEED
    new = np.concatenate([[False], np.diff(gone) > 0])
    lags = times - started - gone
    return lags[new]


def judged(model: er.CollisionModel, cfgs: np.ndarray) -> dict[str, Any]:
    """Penetrations by meshes alone at the ticks and between them, and how near links came."""
    exact = er.ExactCollision(model.robot, model.pairs)
    shares = np.arange(BETWEEN + 1)[:, None, None] / (BETWEEN + 1)
    dense = np.concatenate(
        [((1 - shares) * cfgs[:-1] + shares * cfgs[1:]).reshape(-1, cfgs.shape[1]), cfgs[-1:]]
    )
    free = exact.free(dense)
    near = cfgs[np.argsort(model.clearance(cfgs))[:20]]
    return {
        "configurations judged": len(dense),
        "penetrations by exact meshes": int((~free).sum()),
        "least clearance, mm": 1000 * min(model.explain(cfg).clearance for cfg in near),
        "way of the joints, rad": float(np.abs(np.diff(cfgs, axis=0)).sum()),
    }


def _spread(seconds: np.ndarray) -> dict[str, float]:
    return {f"{mark} %": round(1000 * float(np.percentile(seconds, mark)), 2) for mark in MARKS}


def _until(condition: Any, seconds: float = 1200.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("the page did not come so far")
        time.sleep(0.02)


def main() -> None:
    """Runs the requested parts and prints them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--robot", default="teaarm")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = teleop(options.robot, options.seconds, options.seed)
    if options.json:
        print(json.dumps(found, indent=1))
        return
    for name, value in found.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    main()
