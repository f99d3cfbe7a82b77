"""Recorded motions and lists of configurations, read from CSV, NPY, NPZ, JSON lines and JSON tables."""

from __future__ import annotations

from ._configurations import Configurations as Configurations
from ._configurations import read_configurations as read_configurations

__all__ = ["Configurations", "read_configurations"]
