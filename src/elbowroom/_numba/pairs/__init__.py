"""Numba kernels for bounds of link pairs that other folders build on; importing this module loads numba."""

from ._kernels import SLACK as SLACK
from ._kernels import box_bounds as box_bounds
