"""What a pair matrix holds for: description, spheres and buffer, as hashes that can be compared.

A matrix is a claim about one robot with one sphere model. Used with another, its "never" is worth nothing; so it
carries marks of both, and two marks say in sentences how they differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from .. import _cache
from .._brief import brief
from ..distance.internal import Spheres, sphere_arrays
from ..robot import Robot, as_robot
from ..typing import RobotLike


@dataclass(frozen=True)
class LinkMark:
    """A link's shapes and spheres."""

    shapes: str = ""
    """Hash of the link's collision mesh; "" without one."""
    spheres: int = 0
    centers: str = ""
    """Hash of the centres; "" without spheres."""
    radii: str = ""
    """Hash of the radii, self padding included."""
    radii_sum: float = 0.0
    """Metres: tells growing radii from shrinking ones."""

    def differs(self, other: LinkMark, name: str) -> list[str]:
        """What changed from this mark to another of the same link."""
        said = [f"the collision shapes of link {name} changed"] if self.shapes != other.shapes else []
        if self.spheres != other.spheres:
            said.append(f"link {name} has {other.spheres} spheres, not {self.spheres}")
        elif self.centers != other.centers:
            said.append(f"spheres of link {name} moved")
        elif self.radii != other.radii:
            way = "grew" if other.radii_sum > self.radii_sum else "shrank"
            said.append(f"radii of link {name} {way}")
        return said


@brief
@dataclass(frozen=True)
class MadeFor:
    """Marks of the description, of the spheres with their padding, and the buffer."""

    kinematics: str
    """Hash of links, joints, axes and couplings."""
    limits: str
    """Hash of the joint limits."""
    links: tuple[tuple[str, LinkMark], ...]
    """Links with geometry or spheres."""
    buffer: tuple[tuple[str, float], ...]
    """Metres a pair gets from each of its two links, for links that have any."""

    @property
    def text(self) -> str:
        """All of it as one text, for the keys of what is kept on disk; `repr` is short."""
        return f"MadeFor({', '.join(f'{each.name}={getattr(self, each.name)!r}' for each in fields(self))})"

    def differs(self, other: MadeFor) -> tuple[str, ...]:
        """Why pairs made for this do not hold for the other, as sentences; empty when they do.

        A smaller buffer is no difference: pairs that never collide need no checking, however near they come, and pairs
        never seen within 20 mm were never seen within 10.
        """
        said: list[str] = []
        if self.kinematics != other.kinematics:
            said.append("the description changed: links, joints or couplings are others")
        if self.limits != other.limits:
            said.append("the joint limits changed")
        mine, yours = dict(self.links), dict(other.links)
        for name in sorted({*mine, *yours}):
            said += mine.get(name, LinkMark()).differs(yours.get(name, LinkMark()), name)
        held, asked = dict(self.buffer), dict(other.buffer)
        more = [name for name in sorted(asked) if asked[name] > held.get(name, 0.0) + 1e-12]
        if more:
            values = f"{1000 * asked[more[0]]:g} mm, not {1000 * held.get(more[0], 0.0):g} mm"
            some = f" and {len(more) - 1} more links" if len(more) > 1 else ""
            said.append(f"the buffer grew: {values}, for link {more[0]}{some}")
        return tuple(said)

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        marks = {
            name: {item.name: getattr(mark, item.name) for item in fields(mark)} for name, mark in self.links
        }
        return {
            "kinematics": self.kinematics,
            "limits": self.limits,
            "links": marks,
            "buffer": dict(self.buffer),
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> MadeFor:
        """From plain values; TypeError, KeyError or ValueError where they do not fit."""
        links = tuple((str(name), LinkMark(**mark)) for name, mark in data["links"].items())
        buffer = tuple((str(name), float(value)) for name, value in data["buffer"].items())
        return MadeFor(str(data["kinematics"]), str(data["limits"]), links, buffer)


def made_for(robot: RobotLike, spheres: Spheres, buffer: float | Mapping[str, float] = 0.0) -> MadeFor:
    """Marks of a robot, its spheres and a buffer, to compare with `PairMatrix.made_for`.

    Args:
        robot: a Robot, or what `load_robot` takes.
        spheres: the sphere model; its self padding counts.
        buffer: metres, as in `PairOptions.buffer`: a number counts once per pair, a map gives padding by link.
    """
    robot = as_robot(robot)
    joints = [
        (
            *(joint.name, joint.type, joint.parent, joint.child),
            *(joint.T_parent_joint, joint.axis, joint.T_joint_child),
            () if joint.coupling is None else (joint.coupling.driver, *joint.coupling.polycoef),
        )
        for joint in robot.tree.joints
    ]
    centers, radii, index = sphere_arrays(robot.link_names, spheres, who=robot.name)
    links: list[tuple[str, LinkMark]] = []
    for k, name in enumerate(robot.link_names):
        mine = index == k
        if mine.any() or name in robot.shapes:
            links.append((name, _mark(robot, name, centers[mine], radii[mine])))
    each = (
        buffer.items() if isinstance(buffer, Mapping) else ((name, 0.5 * float(buffer)) for name, _ in links)
    )
    return MadeFor(
        kinematics=_cache.content_hash([robot.link_names, joints]),
        limits=_cache.content_hash([robot.lower, robot.upper]),
        links=tuple(links),
        buffer=tuple(sorted((str(name), float(value)) for name, value in each if value)),
    )


def _mark(robot: Robot, name: str, centers: np.ndarray, radii: np.ndarray) -> LinkMark:
    mesh = robot.link_triangles(name)
    shapes = "" if mesh is None else _cache.content_hash([np.asarray(mesh.vertices), np.asarray(mesh.faces)])
    if not len(radii):
        return LinkMark(shapes)
    hashes = _cache.content_hash([centers]), _cache.content_hash([radii])
    return LinkMark(shapes, len(radii), *hashes, float(radii.sum()))
