"""What a page knows: a frozen `PageState` of small parts, events that change it, and undo.

Nothing here knows viser. An event is a frozen dataclass with a pure `apply(state) -> state`; `update` checks and calls
it, `History` keeps the states before. A part belongs to one panel and lives with its events in one file here; to add
one, write the file and one field in `PageState`. What is computed (a model, a verdict, a fit) enters as an event, too.
"""

from ._event import Event as Event
from ._event import Part as Part
from ._grasp import GRASP_KINDS as GRASP_KINDS
from ._grasp import GRASP_METHODS as GRASP_METHODS
from ._grasp import GRASP_MODES as GRASP_MODES
from ._grasp import Closure as Closure
from ._grasp import GraspDrawn as GraspDrawn
from ._grasp import GraspLive as GraspLive
from ._grasp import GraspMade as GraspMade
from ._grasp import GraspReady as GraspReady
from ._grasp import GraspState as GraspState
from ._grasp import GraspSwept as GraspSwept
from ._grasp import Ready as Ready
from ._grasp import SetGrasp as SetGrasp
from ._grasp import SweepRows as SweepRows
from ._grasp import Views as Views
from ._grasp import inwards as inwards
from ._history import History as History
from ._history import Redo as Redo
from ._history import Undo as Undo
from ._key import RobotKey as RobotKey
from ._live import LiveState as LiveState
from ._live import ModelMade as ModelMade
from ._live import ShowLive as ShowLive
from ._live import VerdictFound as VerdictFound
from ._live import Verdicts as Verdicts
from ._look import Fade as Fade
from ._look import Layer as Layer
from ._look import LayerName as LayerName
from ._look import LookState as LookState
from ._look import PickLink as PickLink
from ._look import SetDark as SetDark
from ._look import ShowLayer as ShowLayer
from ._model import Attach as Attach
from ._model import Detach as Detach
from ._model import Held as Held
from ._model import ModelParts as ModelParts
from ._model import OverridePair as OverridePair
from ._model import SetAllow as SetAllow
from ._model import SetBuffer as SetBuffer
from ._model import SetPairs as SetPairs
from ._model import SetSpheres as SetSpheres
from ._model import SetWorld as SetWorld
from ._page import PageState as PageState
from ._page import update as update
from ._plan import HERE as HERE
from ._plan import PLAN_KINDS as PLAN_KINDS
from ._plan import PLAN_METHODS as PLAN_METHODS
from ._plan import TAKEN as TAKEN
from ._plan import Asked as Asked
from ._plan import Evidence as Evidence
from ._plan import Goes as Goes
from ._plan import Place as Place
from ._plan import PlanFound as PlanFound
from ._plan import PlanGoes as PlanGoes
from ._plan import PlanLive as PlanLive
from ._plan import PlanMeasured as PlanMeasured
from ._plan import Planned as Planned
from ._plan import PlanState as PlanState
from ._plan import Seek as Seek
from ._plan import SetPlace as SetPlace
from ._plan import SetPlan as SetPlan
from ._plan import ShowPlan as ShowPlan
from ._robot import DropPose as DropPose
from ._robot import Move as Move
from ._robot import RobotOpened as RobotOpened
from ._robot import RobotState as RobotState
from ._robot import SavePose as SavePose
from ._robot import SetCfg as SetCfg
