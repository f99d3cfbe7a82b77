"""Open a robot in the browser: move it, see what would touch and why, and take away files and commands.

The page opens at once and fills while the robot is prepared. It is served to this machine only, unless you
set --host. Every browser tab has its own state, which survives a reload. The command runs until interrupted.
"""

from __future__ import annotations

import sys
import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from . import last_words
from ._common import RobotOptions, hold_arg, print_json, waiting, xacro_arg

if TYPE_CHECKING:
    from ..ui import RobotKey

EXAMPLES = {
    "elbowroom view": "the bundled dual-arm robot",
    "elbowroom view arm.urdf --scene scene.yaml": "another one, among obstacles",
    "elbowroom view panda --port 0 --no-open": "on any free port, without opening a browser",
}


@dataclass(frozen=True)
class Options(RobotOptions):
    """Arguments of `elbowroom view`."""

    robot: Annotated[str, tyro.conf.Positional] = "teaarm"
    """Name or path of the robot; `elbowroom info` lists the names."""
    scene: Path | None = None
    """File of obstacles in the robot's world frame: JSON, or the YAML of MoveIt and MotionBenchMaker."""
    host: str = "127.0.0.1"
    """Address to serve on; the default can be reached from this machine only."""
    port: int = 8080
    """Port to serve on; 0 takes any free one."""
    open: bool = True
    """Open a browser."""

    def key(self) -> RobotKey:
        """What the page loads its robot from."""
        from ..ui import RobotKey

        return RobotKey(
            self.robot,
            None if self.srdf is None else str(self.srdf),
            tuple(map(str, self.package_dirs)),
            self.use_visual,
            self.strict,
            tuple(map(xacro_arg, self.xacro_args)),
            hold=tuple(map(hold_arg, self.hold)),
        )


def run(options: Options) -> int:
    """Serves until interrupted."""
    from ..ui import serve

    world = None
    if options.scene is not None:
        from ..world import World

        with waiting(f"reading {options.scene}"):
            world = World.read(options.scene, package_dirs=options.package_dirs)
    scene = "" if options.scene is None else str(options.scene)
    with (
        serve(options.key(), world=world, scene=scene, host=options.host, port=options.port) as server,
        last_words(server.stop),
    ):
        if options.json:
            print_json({"url": server.url, "host": server.host, "port": server.port, "local": server.local})
        else:
            print(f"The page is at {server.url} (Ctrl-C ends it)")
        if not server.local:
            print(
                "note: other machines can reach the page, and see and change what it shows", file=sys.stderr
            )
        sys.stdout.flush()
        if options.open:
            webbrowser.open(server.url)
        server.wait()
    return 0
