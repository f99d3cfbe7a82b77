"""The page that a headset opens: it sends head, controllers and hands as `xr_state` messages over a WebSocket.

One file, nothing else is requested. Browsers grant WebXR to secure contexts only: https, or http of the machine the
browser runs on. It is tested with a stand-in for the headset; no headset is claimed.
"""

from ._page import xr_page as xr_page

__all__ = ["xr_page"]
