"""Files: sphere models and ignored pairs in the formats that people use.

`read` chooses by content, then by extension, `write` by extension; every format also has its own `read_*`
and `write_*`.
Reading keeps what it can and notes the rest; writing into an existing file keeps what it does not
understand, and returns what the format cannot hold.
"""

from __future__ import annotations

from ..robot.internal import default_tool_frames as default_tool_frames
from ._by_extension import read as read
from ._by_extension import write as write
from ._contents import Contents as Contents
from ._cricket import write_cricket as write_cricket
from ._curobo import read_curobo as read_curobo
from ._curobo_write import write_curobo as write_curobo
from ._frax import write_frax as write_frax
from ._json import read_json as read_json
from ._json import write_json as write_json
from ._mjcf import read_mjcf as read_mjcf
from ._mjcf import write_mjcf as write_mjcf
from ._options import ExportOptions as ExportOptions
from ._srdf import read_srdf as read_srdf
from ._srdf import write_srdf as write_srdf
from ._urdf import read_urdf as read_urdf
from ._urdf import write_urdf as write_urdf
from ._xrdf import read_xrdf as read_xrdf
from ._xrdf import write_xrdf as write_xrdf

__all__ = [
    "Contents",
    "ExportOptions",
    "default_tool_frames",
    "read",
    "read_curobo",
    "read_json",
    "read_mjcf",
    "read_srdf",
    "read_urdf",
    "read_xrdf",
    "write",
    "write_cricket",
    "write_curobo",
    "write_frax",
    "write_json",
    "write_mjcf",
    "write_srdf",
    "write_urdf",
    "write_xrdf",
]
