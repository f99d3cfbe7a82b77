"""What a roadmap holds for, as marks that can be compared, and its file."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from .._cache import content_hash, npz_bytes
from .._files import write_bytes
from ..collision import CollisionModel
from ..errors import FormatError
from ..mesh import TriangleMesh
from ..pairs.internal import made_for
from ..world import Obstacle

VERSION = 2
"""Of the file; 1 had other marks of obstacles."""


@dataclass(frozen=True)
class Mark:
    """Hashes of what edges of a model depend on."""

    robot: str
    """Description, shapes and spheres, attached objects included, and the buffer."""
    pairs: str
    """Which pairs of links are checked."""
    obstacles: str
    allowed: str
    """What may touch."""

    def differs(self, other: Mark) -> str:
        """In what another mark differs, in words; "" where it does not."""
        said = {
            "robot": "the robot, what it holds, its spheres or the buffer differ",
            "pairs": "other pairs of links are checked",
            "obstacles": "the obstacles differ",
            "allowed": "other links may touch obstacles",
        }
        return ", ".join(
            said[f.name] for f in fields(self) if getattr(self, f.name) != getattr(other, f.name)
        )


def mark_of(model: CollisionModel) -> Mark:
    """The marks of a model."""
    world = [] if model.world is None else [_contents(obstacle) for obstacle in model.world]
    return Mark(
        robot=content_hash([made_for(model.robot, model.spheres, model.buffer).text, model.buffer]),
        pairs=content_hash(model.pairs.checked),
        obstacles=content_hash(world),
        allowed=content_hash(sorted(model.allow)),
    )


def _contents(obstacle: Obstacle) -> list[Any]:
    """What an obstacle is, for its hash: kind, name, pose and shape."""
    out: list[Any] = [obstacle.kind]
    for field in fields(obstacle):
        value = getattr(obstacle, field.name)
        if field.init:
            out.append((value.vertices, value.faces) if isinstance(value, TriangleMesh) else value)
    return out


def write_arrays_of(
    path: Path,
    mark: Mark,
    joints: tuple[str, ...],
    held: Float[np.ndarray, "dof"],
    cfgs: Float[np.ndarray, "n dof"],
    edges: Int[np.ndarray, "e 2"],
) -> None:
    """Writes a roadmap as npz."""
    marks = np.array([getattr(mark, f.name) for f in fields(mark)])
    arrays = {"elbowroom_roadmap": np.array(VERSION), "made_for": marks, "joints": np.array(joints)}
    write_bytes(path, npz_bytes({**arrays, "held": held, "cfgs": cfgs, "edges": edges}))


def read_arrays_of(
    path: Path, model: CollisionModel
) -> tuple[
    Mark, tuple[str, ...], Float[np.ndarray, "dof"], Float[np.ndarray, "n dof"], Int[np.ndarray, "e 2"]
]:
    """Reads a roadmap.

    Raises:
        FormatError: not a roadmap, or one of another version or shape.
    """
    dof = model.robot.dof
    try:
        with np.load(path, allow_pickle=False) as file:
            if int(file["elbowroom_roadmap"]) != VERSION:
                raise FormatError(f"{path}: a roadmap of another version")
            marks, joints = file["made_for"].tolist(), tuple(file["joints"].tolist())
            held, cfgs, edges = file["held"], file["cfgs"], file["edges"]
    except FormatError:
        raise
    except FileNotFoundError:
        raise
    except Exception as error:  # zipfile, zlib and numpy's parser share no class for damaged files
        raise FormatError(f"{path}: not a roadmap of elbowroom ({error!r:.80})") from error
    shapes = held.shape == (dof,) and cfgs.ndim == 2 and cfgs.shape[1] == dof and edges.ndim == 2
    if not (
        shapes
        and len(marks) == len(fields(Mark))
        and held.dtype == cfgs.dtype == np.float64
        and edges.dtype == np.int64
        and edges.shape[1] == 2
        and np.isfinite(cfgs).all()
        and (len(edges) == 0 or (edges.min() >= 0 and edges.max() < len(cfgs)))
    ):
        raise FormatError(f"{path}: not a roadmap of {model.robot.name!r}: arrays of another shape")
    return Mark(*marks), joints, held, cfgs, edges
