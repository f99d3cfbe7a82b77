"""A second process that compiles on another core what a first answer needs next.

On an empty cache, compiling takes most of the time of a first verdict, and numba compiles one kernel at a time. While
the caller loads a robot and decides its pairs, a helper asks a robot of two boxes the questions that come after, stage
by stage; what it compiles goes to the cache on disk, where the caller finds it. Without a second core, with kernels
already compiled, or when the helper fails, the caller compiles what it needs, as ever.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from .._parallel import cores
from .._progress import COMPILING

_LINK = '<link name="{0}"><collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>'
TWO_BOXES = f"""<robot name="two_boxes">{_LINK.format("base")}<link name="arm"/>{_LINK.format("tip")}
<joint name="slide" type="prismatic"><parent link="base"/><child link="arm"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
<joint name="turn" type="revolute"><parent link="arm"/><child link="tip"/><origin xyz="0.5 0 0"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>"""
"""Boxes that touch or not as the slide moves."""


class Helper:
    """The other process, ended when the block is left; None for one that is not needed."""

    def __init__(self, process: subprocess.Popen[str] | None) -> None:
        self._process = process
        self._done: set[str] = set()

    def wait(self, stage: str) -> None:
        """Waits until the helper has compiled a stage ("free", "world" if asked for, "explain"), or is gone."""
        if self._process is None or self._process.stdout is None or stage in self._done:
            return
        with COMPILING.during():
            for line in self._process.stdout:
                self._done.add(line.strip())
                if line.strip() == stage:
                    break

    def __enter__(self) -> Helper:
        return self

    def __exit__(self, *error: object) -> None:
        """Ends the helper, whatever it is doing."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()


def is_warm(*, world: bool = False) -> bool:
    """Whether the kernels of a first verdict are compiled already.

    Args:
        world: whether those of obstacles count, too.
    """
    from ._kernels import decide

    kept = decide.is_kept()
    if world:
        from ._kernels_world import world_free

        kept = kept and world_free.is_kept()
    return kept


def start_helper(*, world: bool = False) -> Helper:
    """A helper at work, if its work is not done already and a core is free for it.

    Args:
        world: whether obstacles will be asked about, too.
    """
    if cores() < 2 or is_warm(world=world):
        return Helper(None)
    call = [sys.executable, "-m", "elbowroom.collision._warm", *(["world"] if world else [])]
    return Helper(
        subprocess.Popen(
            call, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
    )


def main(world: bool = False) -> None:
    """The helper's work: says each stage when it is compiled."""
    import numpy as np

    from .. import world as obstacles
    from ..pairs import pairs_from_ignored
    from ..robot import load_robot
    from ._cover import one_ball_a_link
    from ._model import CollisionModel

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "two_boxes.urdf"
        path.write_text(TWO_BOXES)
        robot = load_robot(path)
    model = CollisionModel(robot, one_ball_a_link(robot), pairs_from_ignored(robot, {}, "empty"))
    apart, touching = np.array([0.4, 0.1]), np.array([-0.4, 0.1])
    model.free(np.array([apart, touching]))
    model.free(apart)
    print("free", flush=True)
    if world:
        wall = obstacles.Box((0.1, 2.0, 2.0), pose=np.array([1.0, 0.0, 0.0, 0.0, 1.2, 0.0, 0.0]))
        model = model.with_world(obstacles.World([wall]))
        model.free(np.array([apart, touching]))
        print("world", flush=True)
    for cfg in (apart, touching):
        model.explain(cfg)
    print("explain", flush=True)


if __name__ == "__main__":
    main("world" in sys.argv[1:])
