"""Build hook: a wheel that carries compiled kernels says for which Python and which machines they are."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class KernelsHook(BuildHookInterface):  # pyright: ignore[reportMissingTypeArgument]
    """Sets the tag of the wheel; without kernels it stays one for every machine."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it packs the wheel."""
        if version != "editable" and any(Path(self.root, "src/elbowroom/_shipped").rglob("*.nbc")):
            build_data["pure_python"] = False
            build_data["tag"] = (
                f"cp{sys.version_info.major}{sys.version_info.minor}-none-manylinux_2_17_x86_64"
            )
