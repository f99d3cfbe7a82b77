"""What a reader of descriptions returns: the common form of URDF and MJCF before it becomes a Robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..typing import LinkPair, Matrix4
from ._types import Joint, Note, Shape
from ._visuals import VisualSource


@dataclass
class Parts:
    """What a description holds, before it becomes a Robot."""

    name: str
    link_names: list[str]
    joints: list[Joint]
    shapes: dict[str, list[Shape]] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    floating_bases: list[str] = field(default_factory=list[str])
    """Fixed joints that stand for floating or planar bases, whose pose the caller may give."""
    disabled: dict[LinkPair, str] = field(default_factory=dict[LinkPair, str])
    """Pairs that the description itself disables."""
    named: dict[str, dict[str, float]] = field(default_factory=dict)
    """Named configurations as joint values."""
    visual_only: list[str] = field(default_factory=list[str])
    """Links that have visual geometry and no collision geometry, where the visual one is not used instead."""
    left_out: list[str] = field(default_factory=list[str])
    """Links that have collision geometry of which some cannot be taken: without extent, or without end."""
    visuals: VisualSource | None = None
    """Where visual geometry is read from; None where there is none."""
    xml: bytes | None = None
    """Text of the file, xacro expanded and form mended."""
    root_pose: Matrix4 | None = None
    """Pose of the root link in the world where the description gives one."""
    reference: dict[str, float] = field(default_factory=dict)
    """Joint values of the description's own reference pose, where it is not zero (MJCF's qpos0)."""

    def add_shapes(self, link: str, shapes: Sequence[Shape]) -> None:
        """Gives a link its collision shapes; leaves out those without extent, notes curved ones."""
        solid = [
            shape
            for shape in shapes
            if min(map(abs, shape.size[:1] if shape.kind == "capsule" else shape.size)) > 0
        ]
        if len(solid) < len(shapes):
            self.notes.append(Note("skipped", link, f"{len(shapes) - len(solid)} shape(s) of zero size"))
            self.left_out.append(link)
        curved = [shape.kind for shape in solid if shape.kind not in ("mesh", "box")]
        if curved:
            counts = ", ".join(f"{curved.count(kind)} {kind}" for kind in dict.fromkeys(curved))
            self.notes.append(
                Note("meshed", link, f"{counts}: enclosed by triangles, at most 1 % of the radius outside")
            )
        if solid:
            self.shapes[link] = solid
