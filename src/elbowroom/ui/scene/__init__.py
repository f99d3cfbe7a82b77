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
from ._grasp import GraspNodes as GraspNodes
from ._ik import Gizmo as Gizmo
from ._ik import TargetNodes as TargetNodes
from ._live import LiveNodes as LiveNodes
from ._pairs import PairNodes as PairNodes
from ._plan import PlanNodes as PlanNodes
from ._robot import RobotNodes as RobotNodes
from ._spheres import SphereNodes as SphereNodes
from ._stage import Stage as Stage
from ._stage import bounds as bounds
from ._stage import first_look as first_look
from ._teleop import TeleopNodes as TeleopNodes
from ._world import WorldNodes as WorldNodes
