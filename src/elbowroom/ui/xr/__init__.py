"""The page that a headset opens, as one HTML file."""

from ._page import xr_page as xr_page

__all__ = ["xr_page"]
