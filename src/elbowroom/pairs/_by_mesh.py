"""Which pairs to check when meshes, not spheres, are checked.

Spheres are larger than the links they cover, so a pair can be ignored because its spheres overlap at a default pose,
or always, while the links themselves are apart there and may collide elsewhere. Against meshes such a pair is
worth checking; only pairs whose meshes touch at the default pose stay ignored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..mesh import ExactCollision
from ..typing import LinkPair
from ._matrix import PairMatrix, PairReason

if TYPE_CHECKING:
    from ..robot import Robot

SPHERES_ONLY = (PairReason.DEFAULT, PairReason.ALWAYS)
"""Reasons that rest on spheres overlapping."""


def pairs_by_mesh(robot: Robot, pairs: PairMatrix) -> tuple[LinkPair, ...]:
    """Pairs to check by meshes: the checked ones, and those that only the size of the spheres hides.

    Args:
        robot: the robot.
        pairs: its matrix, made with spheres.

    Returns:
        Sorted pairs. A pair whose meshes touch at the pose that made it ignored (the default pose, for
        "always") is left out, as is one that a file or the user ignores.
    """
    hidden = [
        pair
        for pair, found in pairs.entries.items()
        if found.reason in SPHERES_ONLY and found.source == "computed"
    ]
    apart: list[LinkPair] = []
    for pair in hidden:
        witness = pairs.entries[pair].witness
        pose = np.asarray(witness) if witness is not None else robot.default_cfg
        if bool(ExactCollision(robot, [pair], threads=1).free(pose)):
            apart.append(pair)
    return tuple(sorted((*pairs.checked, *apart)))
