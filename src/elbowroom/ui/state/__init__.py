"""What a page knows: a frozen `PageState` of small parts, events that change it, and undo.

Nothing here knows viser. An event is a frozen dataclass with a pure `apply(state) -> state`; `update` checks and calls
it, `History` keeps the states before. A part belongs to one panel and lives with its events in one file here; to add
one, write the file and one field in `PageState`. What is computed (a model, a verdict, a fit) enters as an event, too.
"""

from ._event import Event as Event
from ._event import Part as Part
from ._export import ChooseExport as ChooseExport
from ._export import Exported as Exported
from ._export import ExportState as ExportState
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
from ._robot import DropPose as DropPose
from ._robot import Move as Move
from ._robot import RobotOpened as RobotOpened
from ._robot import RobotState as RobotState
from ._robot import SavePose as SavePose
from ._robot import SetCfg as SetCfg
from ._teleop import Hand as Hand
from ._teleop import RecordingRead as RecordingRead
from ._teleop import Seen as Seen
from ._teleop import SetTeleop as SetTeleop
from ._teleop import TeleopEnded as TeleopEnded
from ._teleop import TeleopMoved as TeleopMoved
from ._teleop import TeleopStarted as TeleopStarted
from ._teleop import TeleopState as TeleopState
