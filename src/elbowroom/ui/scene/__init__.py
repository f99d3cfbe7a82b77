"""Nodes of the 3D scene: `show(view)` sends differences only. (`draw/` makes pictures for reports; this is for viser.)

Links are frames directly under `/robot`, by number (a name may hold anything, a slash among it), posed in the world;
meshes and batches of spheres hang on them. So a move sends poses of those links that moved, and nothing else.
"""

from ._colours import COLLIDING as COLLIDING
from ._colours import PAINTERS as PAINTERS
from ._colours import PICKED as PICKED
from ._colours import PLAIN as PLAIN
from ._colours import Rgb as Rgb
from ._colours import link_colours as link_colours
from ._live import LiveNodes as LiveNodes
from ._robot import RobotNodes as RobotNodes
from ._stage import Stage as Stage
from ._teleop import TeleopNodes as TeleopNodes
