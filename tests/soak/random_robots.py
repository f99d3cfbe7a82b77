"""Descriptions drawn at random: URDFs as Pinocchio reads them, and MJCFs as MuJoCo compiles them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from .random_meshes import closed_mesh

ODD_NAMES = (
    "é",
    "a b",
    "-",
    "no",
    "1e5",
    "a/b",
    "<&>",
    "名",
    "x.y",
    "~",
    "null",
    "a: b",
    "#",
    "'",
    '"',
    "_0",
)
"""Parts of names that files of some format may stumble over."""


@dataclass(frozen=True)
class Manner:
    """What a drawn robot may have."""

    links: tuple[int, int] = (1, 12)
    """At least, at most."""
    span: tuple[float, float] = (0.05, 0.4)
    """Lengths of offsets, metres; drawn evenly by size."""
    wild: float = 0.0
    """Share of numbers that are tiny, huge or special."""
    held: bool = False
    """Floating and planar joints, which are held at rest."""
    odd_names: bool = False
    solids: float = 0.7
    """Share of links with geometry."""
    meshes: bool = True


WILD = Manner(wild=0.15, held=True, odd_names=True)
"""For descriptions: anything a file may say."""
TAME = Manner(links=(3, 8), solids=0.9)
"""For verdicts: a machine of the size of an arm."""


class Drawer:
    """Draws numbers and names in a manner."""

    def __init__(self, rng: np.random.Generator, manner: Manner) -> None:
        self.rng, self.manner = rng, manner

    def chance(self, share: float) -> bool:
        return bool(self.rng.uniform() < share)

    def pick(self, items: Sequence[object], shares: Sequence[float] | None = None) -> object:
        p = None if shares is None else np.array(shares) / np.sum(shares)
        return items[int(self.rng.choice(len(items), p=p))]

    def length(self) -> float:
        """A positive length."""
        if self.chance(self.manner.wild):
            return float(10.0 ** self.rng.uniform(-6, 3))
        return float(np.exp(self.rng.uniform(*np.log(self.manner.span))))

    def vector(self) -> np.ndarray:
        """An offset; along one axis or none at all at times."""
        out = self.rng.normal(size=3)
        out *= self.length() / np.linalg.norm(out)
        if self.chance(0.3):
            out *= np.eye(3)[self.rng.integers(3)]
        return np.zeros(3) if self.chance(0.1) else out

    def angles(self) -> np.ndarray:
        """Roll, pitch, yaw; quarter turns, gimbal lock and many turns among them."""
        out = self.rng.uniform(-np.pi, np.pi, 3)
        if self.chance(0.3):
            out = self.rng.integers(-2, 3, 3) * (np.pi / 2)
        if self.chance(self.manner.wild):
            out[1] = self.rng.choice([np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, 30.0])
        return np.zeros(3) if self.chance(0.3) else out

    def axis(self) -> np.ndarray:
        out = self.rng.normal(size=3) if self.chance(0.5) else np.eye(3)[self.rng.integers(3)]
        if self.chance(0.2):
            out = -out
        return out * 10.0 ** self.rng.uniform(-3, 3) if self.chance(self.manner.wild) else out

    def limits(self, spread: float) -> tuple[float, float]:
        low, high = np.sort(self.rng.uniform(-spread, spread, 2))
        if self.chance(self.manner.wild):
            low, high = [(low, low), (0.0, 0.0), (100 * low, 100 * high), (high, high + 1e-9)][
                self.rng.integers(4)
            ]
        return float(low), float(high)

    def name(self, stem: str) -> str:
        if self.manner.odd_names and self.chance(0.2):
            return f"{stem}{self.pick(ODD_NAMES)}"
        return stem


def text_of(values: np.ndarray | Sequence[float] | float) -> str:
    """Numbers to the last bit."""
    return " ".join(repr(float(value)) for value in np.atleast_1d(values))


# URDF -------------------------------------------------------------------------------------------


def random_urdf(rng: np.random.Generator, folder: Path, manner: Manner = WILD) -> Path:
    """Writes a URDF, and the meshes it names, into a folder."""
    d = Drawer(rng, manner)
    count = int(rng.integers(manner.links[0], manner.links[1] + 1))
    links = [d.name(f"link{k}") for k in range(count)]
    elements = [_urdf_link(d, name, folder, k) for k, name in enumerate(links)]
    joints = [d.name(f"joint{k}") for k in range(1, count)]
    kinds = [_joint_kind(d) for _ in joints]
    drivers = [joint for joint, kind in zip(joints, kinds, strict=True) if kind in MOVES]
    for k, (joint, kind) in enumerate(zip(joints, kinds, strict=True), start=1):
        parent = links[int(rng.integers(max(0, k - 3), k))]
        before = drivers[: drivers.index(joint)] if joint in drivers else []
        mimic = str(d.pick(before)) if before and d.chance(0.2) else ""
        elements.append(_urdf_joint(d, joint, kind, parent, links[k], mimic))
    if d.chance(0.3):
        rng.shuffle(elements)
    path = folder / "random.urdf"
    path.write_text(
        f'<?xml version="1.0"?>\n<robot name="random">\n{"".join(elements)}</robot>\n', encoding="utf-8"
    )
    return path


MOVES = ("revolute", "continuous", "prismatic")


def _joint_kind(d: Drawer) -> str:
    held = 0.04 if d.manner.held else 0.0
    kinds = (*MOVES, "fixed", "floating", "planar")
    return str(d.pick(kinds, (0.45, 0.15, 0.15, 0.15, held, held)))


def _urdf_joint(d: Drawer, name: str, kind: str, parent: str, child: str, mimic: str) -> str:
    inner = f'<origin xyz="{text_of(d.vector())}" rpy="{text_of(d.angles())}"/>' if d.chance(0.95) else ""
    if kind != "fixed" and d.chance(0.95):
        inner += f'<axis xyz="{text_of(d.axis())}"/>'
    if kind in ("revolute", "prismatic") or (kind == "continuous" and d.chance(0.3)):
        low, high = d.limits(3.0 if kind != "prismatic" else d.length())
        inner += f'<limit lower="{low!r}" upper="{high!r}" velocity="{d.length()!r}" effort="1"/>'
    if mimic:
        multiplier, offset = d.rng.uniform(-2, 2), d.rng.uniform(-0.5, 0.5) if d.chance(0.5) else 0.0
        inner += f'<mimic joint={quoteattr(mimic)} multiplier="{multiplier!r}" offset="{offset!r}"/>'
    ends = f"<parent link={quoteattr(parent)}/><child link={quoteattr(child)}/>"
    return f'<joint name={quoteattr(name)} type="{kind}">{ends}{inner}</joint>\n'


def _urdf_link(d: Drawer, name: str, folder: Path, k: int) -> str:
    shapes = []
    for n in range(int(d.rng.integers(1, 3)) if d.chance(d.manner.solids) else 0):
        size = d.length()
        kind = d.pick(("box", "cylinder", "sphere", "mesh"), (3, 3, 2, 2 if d.manner.meshes else 0))
        match kind:
            case "box":
                inner = f'<box size="{text_of(size * d.rng.uniform(0.2, 1.0, 3))}"/>'
            case "cylinder":
                inner = f'<cylinder radius="{size * d.rng.uniform(0.1, 0.5)!r}" length="{size!r}"/>'
            case "sphere":
                inner = f'<sphere radius="{0.5 * size!r}"/>'
            case _:
                inner = _mesh_element(d, folder, f"mesh{k}_{n}", size)
        origin = (
            f'<origin xyz="{text_of(0.3 * d.vector())}" rpy="{text_of(d.angles())}"/>'
            if d.chance(0.8)
            else ""
        )
        shapes.append(f"<collision>{origin}<geometry>{inner}</geometry></collision>")
    return f"<link name={quoteattr(name)}>{''.join(shapes)}</link>\n"


def _mesh_element(d: Drawer, folder: Path, stem: str, size: float) -> str:
    """A small mesh file, of one of three kinds and perhaps with a scale that turns it inside out."""
    mesh = closed_mesh(d.rng)
    file = f"{stem}.{d.pick(('stl', 'obj', 'ply'))}"
    mesh.export(folder / file)
    scale = np.full(3, size / float(mesh.extents.max()))
    if d.chance(0.3):
        scale *= d.rng.uniform(0.3, 1.0, 3) * d.rng.choice([-1.0, 1.0], 3)
    return f'<mesh filename="{file}" scale="{text_of(scale)}"/>'


# MJCF -------------------------------------------------------------------------------------------


def random_mjcf(rng: np.random.Generator, folder: Path, manner: Manner = WILD) -> Path:
    """Writes an MJCF into a folder."""
    d = Drawer(rng, replace(manner, odd_names=False))
    degrees = d.chance(0.5)
    count = int(rng.integers(manner.links[0], manner.links[1] + 1))
    children: list[list[int]] = [[] for _ in range(count)]
    for k in range(1, count):
        children[int(rng.integers(max(0, k - 3), k))].append(k)
    sliding: list[str] = []
    body = _mjcf_body(d, 0, children, degrees, sliding)
    equalities = ""
    for k, joint in enumerate(sliding[1:], start=1):
        if d.chance(0.15):
            terms = text_of(
                np.concatenate([rng.uniform(-1, 1, 2), 0.1 * rng.uniform(-1, 1, 3) * rng.integers(0, 2)])
            )
            equalities += (
                f'<joint joint1="{joint}" joint2="{sliding[int(rng.integers(k))]}" polycoef="{terms}"/>'
            )
    angle = "degree" if degrees else "radian"
    sequence = "".join(rng.permutation(list("xyz")))
    sequence = sequence.upper() if d.chance(0.5) else sequence
    text = (
        f'<mujoco model="random"><compiler angle="{angle}" autolimits="true" eulerseq="{sequence}" '
        f'boundmass="0.001" boundinertia="0.001"/>\n'
        f'<default><geom density="1000"/><default class="other"><joint axis="{text_of(d.axis())}"/>'
        f"<geom type='sphere' size='0.03'/></default></default>\n"
        f"<worldbody>{body}</worldbody>\n"
        + (f"<equality>{equalities}</equality>" if equalities else "")
        + "</mujoco>\n"
    )
    path = folder / "random.xml"
    path.write_text(text)
    return path


def _mjcf_body(d: Drawer, k: int, children: list[list[int]], degrees: bool, names: list[str]) -> str:
    turn = 180.0 / np.pi if degrees else 1.0
    joints = ""
    if k == 0 and d.manner.held and d.chance(0.1):
        joints = "<freejoint/>"
    elif k and d.manner.held and d.chance(0.04):
        joints = f'<joint type="ball" name="ball{k}"/>'
    else:
        for n in range(int(d.pick((0, 1, 2, 3), (3, 10, 2, 1)))):
            kind = str(d.pick(("hinge", "slide"), (3, 1)))
            unit = turn if kind == "hinge" else 1.0
            low, high = d.limits(2.0 if kind == "hinge" else d.length())
            if low == high:  # MuJoCo wants a range
                high = low + 0.1
            range_ = (
                f'range="{text_of(unit * np.array([low, high]))}"' if kind == "slide" or d.chance(0.8) else ""
            )
            ref = f'ref="{unit * d.rng.uniform(-0.5, 0.5)!r}"' if d.chance(0.2) else ""
            place = f'pos="{text_of(0.3 * d.vector())}"' if d.chance(0.3) else ""
            axis = 'class="other"' if d.chance(0.1) else f'axis="{text_of(d.axis())}"'
            names.append(f"j{k}_{n}")
            joints += f'<joint name="j{k}_{n}" type="{kind}" {axis} {range_} {ref} {place}/>'
    inner = "".join(_mjcf_body(d, child, children, degrees, names) for child in children[k])
    return f'<body name="b{k}" pos="{text_of(d.vector())}" {_orientation(d, turn)}>{joints}{_mjcf_geoms(d)}{inner}</body>\n'


def _orientation(d: Drawer, turn: float) -> str:
    rng = d.rng
    match d.pick(("", "quat", "euler", "axisangle", "xyaxes", "zaxis")):
        case "quat":
            return f'quat="{text_of(rng.normal(size=4))}"'
        case "euler":
            return f'euler="{text_of(turn * d.angles())}"'
        case "axisangle":
            return f'axisangle="{text_of([*rng.normal(size=3), turn * rng.uniform(-3, 3)])}"'
        case "xyaxes":
            return f'xyaxes="{text_of(rng.normal(size=6))}"'
        case "zaxis":
            return f'zaxis="{text_of(rng.normal(size=3))}"'
        case _:
            return ""


def _mjcf_geoms(d: Drawer) -> str:
    """At least one, so that the body has a mass."""
    out = ""
    for _ in range(int(d.rng.integers(1, 3))):
        size = min(d.length(), 10.0) if d.chance(0.5) else 0.05
        place = f'pos="{text_of(0.3 * d.vector())}" {_orientation(d, 1.0)}'
        match d.pick(("sphere", "box", "capsule", "cylinder", "ellipsoid", "fromto", "class")):
            case "sphere":
                out += f'<geom type="sphere" size="{max(size, 1e-4)!r}" {place}/>'
            case "box" | "ellipsoid" as kind:
                out += f'<geom type="{kind}" size="{text_of(np.maximum(size * d.rng.uniform(0.2, 1, 3), 1e-4))}" {place}/>'
            case "capsule" | "cylinder" as kind:
                out += f'<geom type="{kind}" size="{text_of([max(0.3 * size, 1e-4), max(size, 1e-4)])}" {place}/>'
            case "fromto":
                ends = text_of([0, 0, 0, *(d.rng.normal(size=3) * max(size, 1e-3))])
                out += f'<geom type="capsule" fromto="{ends}" size="0.02"/>'
            case _:
                out += '<geom class="other"/>'
    return out
