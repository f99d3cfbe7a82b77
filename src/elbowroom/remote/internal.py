"""What the command line and the page need of remote control; it may change without notice.

Messages and the loop of a live session (`read_message`, `Mailbox`, `Pacer`, `SocketDoor`), and the links that people
steer (`steered_links`). It loads no JAX.
"""

from ._messages import Reset as Reset
from ._messages import read_message as read_message
from ._messages import target_from_json as target_from_json
from ._serve import Mailbox as Mailbox
from ._serve import Pacer as Pacer
from ._serve import checked_rate as checked_rate
from ._serve_socket import SocketDoor as SocketDoor
from ._serve_socket import check_port as check_port
from ._xr import XrState as XrState
from ._xr import steered_links as steered_links
