"""What other folders of the house need of inverse kinematics; it may change without notice.

Messages and ticks of a live session (`read_message`, `Mailbox`, `Pacer`, `SocketDoor`), the links that people steer
(`steered_links`), linearised distances (`CollisionRows`), and whether kernels are compiled (`is_warm`).
It loads no JAX.
"""

from ._messages import Reset as Reset
from ._messages import read_message as read_message
from ._messages import target_from_json as target_from_json
from ._rows import CollisionRows as CollisionRows
from ._serve import Mailbox as Mailbox
from ._serve import Pacer as Pacer
from ._serve import checked_rate as checked_rate
from ._serve_socket import SocketDoor as SocketDoor
from ._serve_socket import check_port as check_port
from ._steered import steered_links as steered_links
from ._warm import is_warm as is_warm
from ._xr import XrState as XrState
