"""What an MJCF file brings with it: included files, folders of assets, bodies that are no part of the robot.

MuJoCo puts the children of an included file where the include stands and takes every path from the folder of the main
file; so do we.

What of an MJCF scene is the robot (`own_bodies`), and which of its pairs MuJoCo leaves out by itself. MuJoCo lets two
bodies collide unless they are welded together or one carries the other by a single moving body (welded bodies count as
one, the world does not count), or the bits of their geoms do not fit. It takes explicit pairs of geoms whatever the
filter says.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from .._xml import read_xml
from ..errors import InputError
from ..robot.internal import own_bodies
from ..typing import LinkPair

FOLDERS = ("meshdir", "texturedir")


def splice_bodies(root: Any, folder: Path) -> None:
    """Puts the contents of included files that hold bodies where their includes are, nested ones too."""
    for element in list(root.iter("include")):
        inner = read_xml(folder / element.get("file", ""), "included file").getroot()
        splice_bodies(inner, folder)
        if inner.find(".//body") is None:
            continue
        parent, place = element.getparent(), element.getparent().index(element)
        children = list(inner)
        if children:
            children[-1].tail = element.tail
        parent.remove(element)
        for offset, child in enumerate(children):
            parent.insert(place + offset, child)


def anchor_includes(root: Any, folder: Path, path: Path) -> list[str]:
    """Makes paths of included files absolute, so that they hold in another place.

    Raises:
        InputError: an included file has paths of its own, which would have to change too.
    """
    elements = list(root.iter("include"))
    for element in elements:
        inner = read_xml(folder / element.get("file", ""), "included file").getroot()
        named = [c for c in inner.iter("compiler") if set(c.attrib) & {*FOLDERS, "assetdir"}]
        if named or inner.find(".//include") is not None:
            raise InputError(
                f"{path}: the included file {element.get('file')!r} names further files by relative paths; write"
                f" into {folder} instead, or join the included files into one first"
            )
    for element in elements:
        element.set("file", str((folder / element.get("file")).resolve()))
    text = f"{len(elements)} paths of included files were made absolute; load it with package_dirs={str(folder)!r}"
    return [text] if elements else []


def anchor_assets(root: Any, folder: Path) -> list[str]:
    """Makes asset folders absolute, so that they hold in another place; the last of several compilers counts."""
    if root.find(".//asset") is None and root.find(".//include") is None:
        return []
    compilers = list(root.iter("compiler"))
    if not compilers:
        compilers = [etree.Element("compiler")]
        root.insert(0, compilers[0])
    said = {name: value for compiler in compilers for name, value in compiler.attrib.items()}
    for name in FOLDERS:
        value = str((folder / said.get(name, said.get("assetdir", ""))).resolve())
        for compiler in compilers:
            compiler.set(name, value)
    return [
        "asset folders were made absolute because the file is in another folder; load it with package_dirs"
    ]


WORLD = 0
"""MuJoCo's number of the world body."""
SPHERE_BITS = (1, 1)
"""contype and conaffinity of spheres on a robot whose own geoms do not collide."""


@dataclass(frozen=True)
class MjcfScene:
    """Facts of a compiled scene, by the names of its bodies."""

    own: frozenset[str]
    """The robot's bodies."""
    bits: dict[str, tuple[int, int]]
    """contype and conaffinity that spheres of each of them take over from its geoms, to meet what those met."""
    weld: dict[str, int]
    """Number of the group of welded bodies that each body belongs to."""
    weld_parent: dict[str, int]
    """Number of the group that carries this group."""
    filters_parents: bool
    free_bit: int
    """A bit that no geom of the scene uses; 0 if there is none."""

    def letting_links_meet(self) -> MjcfScene:
        """A scene in which the bits of the robot's spheres fit each other, though its own geoms' may not."""
        if all(self._fit(a, b) for a, b in combinations(self.own, 2)):
            return self
        return replace(
            self, bits={name: (a | self.free_bit, b | self.free_bit) for name, (a, b) in self.bits.items()}
        )

    def dropped(self, pairs: Iterable[LinkPair]) -> list[LinkPair]:
        """Those of some pairs of bodies that MuJoCo never lets collide by itself, though they move to each other."""
        return [
            (a, b) for a, b in pairs if not self.rigid(a, b) and (self._related(a, b) or not self._fit(a, b))
        ]

    def rigid(self, a: str, b: str) -> bool:
        """Whether two bodies are welded together, so that nothing can change between them."""
        return self.weld[a] == self.weld[b]

    def _related(self, a: str, b: str) -> bool:
        if not self.filters_parents or WORLD in (self.weld[a], self.weld[b]):
            return False
        return self.weld[a] == self.weld_parent[b] or self.weld[b] == self.weld_parent[a]

    def _fit(self, a: str, b: str) -> bool:
        (type_a, affinity_a), (type_b, affinity_b) = self.bits[a], self.bits[b]
        return bool(type_a & affinity_b or type_b & affinity_a)


def scene_of(model: Any) -> MjcfScene:
    """Reads a compiled MjModel."""
    import mujoco

    names = [model.body(body).name or f"body_{body}" for body in range(model.nbody)]
    own = own_bodies(model)
    bits = np.zeros((model.nbody, 2), dtype=np.int64)
    for geom in range(model.ngeom):
        bits[model.geom_bodyid[geom]] |= [model.geom_contype[geom], model.geom_conaffinity[geom]]
    used = int(np.bitwise_or.reduce(bits, axis=None))
    whole = np.bitwise_or.reduce(bits[own], axis=0) if own else np.zeros(2, dtype=np.int64)
    whole = whole if whole.any() else np.array(SPHERE_BITS)
    weld = np.asarray(model.body_weldid)
    carrier = weld[np.asarray(model.body_parentid)[weld]]
    flags = mujoco.mjtDisableBit.mjDSBL_FILTERPARENT  # pyright: ignore[reportAttributeAccessIssue]
    return MjcfScene(
        frozenset(names[body] for body in own),
        {names[body]: _bits(bits[body] if bits[body].any() else whole) for body in own},
        dict(zip(names, weld.tolist(), strict=True)),
        dict(zip(names, carrier.tolist(), strict=True)),
        not model.opt.disableflags & int(flags),
        next((1 << k for k in range(31) if not used & 1 << k), 0),
    )


def _bits(row: np.ndarray) -> tuple[int, int]:
    return int(row[0]), int(row[1])
