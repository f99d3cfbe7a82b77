"""URDF text made ready to be parsed: xacro expanded, elements checked and mended.

What a Robot has no use for (inertia, materials, transmissions, simulators' extras) is taken out, so that no fault in it
stops loading. What is left is checked, every number of it, and a fault is refused with its line. Faults that other
loaders (urdfdom, on which Pinocchio and ROS build, or yourdfpy) let pass are mended where there is one way to read
them that loses no geometry; a note says each.

xacro files are expanded into URDF by xacro itself, where it is installed. A xacro file is a program: its expressions
are evaluated by Python. So only files whose name says that they are xacro are expanded, and only those from a trusted
source should be.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import logging
import threading
from collections import Counter
from collections.abc import Generator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from ..._xml import at_line, numbers
from ...errors import DescriptionError, ElbowroomError
from .._types import MOVING, Note
from ._resolve import MeshResolver

NUMBERS: dict[str, dict[str, int | tuple[int, ...]]] = {
    "origin": {"xyz": 3, "rpy": 3},
    "axis": {"xyz": 3},
    "limit": {"lower": 1, "upper": 1, "velocity": 1, "effort": 1},
    "mimic": {"multiplier": 1, "offset": 1},
    "mesh": {"scale": (1, 3)},
    "box": {"size": 3},
    "cylinder": {"radius": 1, "length": 1},
    "capsule": {"radius": 1, "length": 1},
    "sphere": {"radius": 1},
}
"""Element -> attribute -> how many numbers it has."""
REQUIRED: dict[str, tuple[str, ...]] = {
    "parent": ("link",),
    "child": ("link",),
    "mesh": ("filename",),
    "box": ("size",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "sphere": ("radius",),
}
SHAPES = ("mesh", "box", "cylinder", "capsule", "sphere")
USED = {
    "robot": ("link", "joint"),
    "link": ("collision", "visual"),
    "joint": ("parent", "child", "origin", "axis", "limit", "mimic"),
}
"""Element -> its children that a Robot is made of."""
JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")


def prepare(root: Any, where: str, use_visual: bool) -> tuple[list[Note], list[str]]:
    """Reduces, repairs and checks the elements in place.

    Args:
        root: the `<robot>` element; a link keeps its visual shapes only if it needs them.
        where: the file, for messages.
        use_visual: whether links without collision shapes take their visual ones.

    Returns:
        What was mended, and the links that have visual shapes alone.

    Raises:
        DescriptionError: what cannot be mended, with its line.
    """
    notes: list[Note] = []
    if any("xacro" in (uri or "") for uri in root.nsmap.values()) and root.xpath(
        "//*[contains(name(), 'xacro:')]"
    ):
        raise DescriptionError(
            f"{where}: this is a xacro file; expand it first: xacro {Path(where).name} > robot.urdf"
        )
    root.set("name", root.get("name") or Path(where).stem)
    _keep_used(root, notes)
    _drop_twins(root, notes)
    seen_only: list[str] = []
    for link in root.findall("link"):
        if _keep_shapes(link, use_visual, notes):
            seen_only.append(link.get("name", ""))
    for joint in root.findall("joint"):
        _check_joint(where, joint, notes)
    for element in root.iter(etree.Element):
        check_values(where, element)
    return notes, seen_only


def without_namespace(root: Any) -> bool:
    """Takes the default namespace off the elements, for URDF knows none; whether there was one."""
    namespace = root.nsmap.get(None)
    if namespace is None:
        return False
    for element in root.iter(f"{{{namespace}}}*"):
        element.tag = etree.QName(element).localname
    etree.cleanup_namespaces(root)
    return True


def _keep_used(element: Any, notes: list[Note]) -> None:
    """Removes children that are not used, and all but the first of each kind in a joint."""
    counted: Counter[str] = Counter()
    for child in element.xpath("./*"):
        counted[child.tag] += 1
        if child.tag not in USED[element.tag]:
            element.remove(child)
        elif child.tag in USED:
            _keep_used(child, notes)
        elif element.tag == "joint" and counted[child.tag] > 1:
            element.remove(child)
            notes.append(_first_counts(element, child.tag))


def _first_counts(element: Any, tag: str) -> Note:
    return Note("mended", element.get("name", ""), f"it has more than one <{tag}>; the first counts")


def _drop_twins(root: Any, notes: list[Note]) -> None:
    """Removes links that are described again in the same words."""
    known: dict[str, bytes] = {}
    for link in root.findall("link"):
        name, text = link.get("name", ""), etree.tostring(link, method="c14n", with_tail=False)
        if known.setdefault(name, text) is not text and known[name] == text:
            root.remove(link)
            notes.append(Note("mended", name, "this link is described twice in the same words; once counts"))


def _keep_shapes(link: Any, use_visual: bool, notes: list[Note]) -> bool:
    """Leaves one shape per collision or, if needed and wanted, visual element; whether only visual ones are there."""
    for element in link.findall("collision"):
        _one_shape(link, element, notes)
    visuals = link.findall("visual")
    has_visual = any(visual.find("geometry/*") is not None for visual in visuals)
    if link.find("collision") is None and use_visual:
        for element in visuals:
            _one_shape(link, element, notes)
        return False
    for visual in visuals:
        link.remove(visual)
    return has_visual and link.find("collision") is None


def _one_shape(link: Any, element: Any, notes: list[Note]) -> None:
    """Makes as many elements as there are shapes in one: none, one or, against the rules, several."""
    shapes = element.xpath("./geometry/*")
    name = link.get("name", "")
    if not shapes:
        notes.append(Note("mended", name, f"a <{element.tag}> without a shape is left out"))
    elif len(shapes) > 1:
        notes.append(
            Note("mended", name, f"a <{element.tag}> with {len(shapes)} shapes; all of them are used")
        )
    if len(element.findall("origin")) > 1:
        notes.append(_first_counts(link, "origin"))
    for shape in shapes if len(shapes) != 1 else ():
        single = etree.SubElement(link, element.tag)
        single.extend(deepcopy(origin) for origin in element.findall("origin"))
        etree.SubElement(single, "geometry").append(deepcopy(shape))
    if len(shapes) != 1:
        link.remove(element)


def _check_joint(where: str, joint: Any, notes: list[Note]) -> None:
    kind, plain = joint.get("type"), (joint.get("type") or "").strip().lower()
    if plain not in JOINT_TYPES:
        raise DescriptionError(
            f"{at_line(where, joint)}: type {kind!r}; allowed are {', '.join(JOINT_TYPES)}"
        )
    if kind != plain:
        joint.set("type", plain)
        notes.append(Note("mended", joint.get("name", ""), f"its type {kind!r} is read as {plain!r}"))
    for end in ("parent", "child"):
        if joint.find(end) is None:
            raise DescriptionError(f"{at_line(where, joint)}: <{end}> is missing")
    axis, mimic = joint.find("axis"), joint.find("mimic")
    if axis is not None and axis.get("xyz") is None and plain in MOVING:
        notes.append(Note("mended", joint.get("name", ""), "its <axis> has no xyz; it is read as 1 0 0"))
    if mimic is not None and not mimic.get("joint"):
        joint.remove(mimic)
        notes.append(Note("mended", joint.get("name", ""), "its <mimic> names no joint; it moves by itself"))


def check_values(where: str, element: Any) -> None:
    """Names, references and numbers of one element."""
    named = ("name",) if element.tag in ("link", "joint") else ()
    for attribute in (*REQUIRED.get(element.tag, ()), *named):
        if element.get(attribute) is None:
            raise DescriptionError(f"{at_line(where, element)}: attribute {attribute!r} is missing")
    shape = next(element.iterchildren(etree.Element), None) if element.tag == "geometry" else None
    if shape is not None and shape.tag not in SHAPES:
        raise DescriptionError(
            f"{at_line(where, shape)}: no shape is called so; allowed are {', '.join(SHAPES)}"
        )
    for attribute, count in NUMBERS.get(element.tag, {}).items():
        if element.tag == "limit" and _is_infinite(element.get(attribute)):
            continue
        values = numbers(where, element, attribute, count)
        if values is None:
            continue
        element.set(attribute, element.get(attribute).replace(",", " "))  # numbers may be parted by commas
        if element.tag in SHAPES and element.tag != "mesh" and min(values) < 0:
            raise DescriptionError(
                f"{at_line(where, element)}: {attribute} is negative: {element.get(attribute)}"
            )


def _is_infinite(text: str | None) -> bool:
    try:
        return text is not None and abs(float(text)) == float("inf")
    except ValueError:
        return False


_LOG = logging.getLogger(__name__)
_LOCK = threading.Lock()
"""xacro keeps its state in its module."""


def is_xacro(path: Path) -> bool:
    """Whether the name has the extension: `.xacro`, `.urdf.xacro`."""
    return path.suffix.lower() == ".xacro"


def expand(path: Path, resolver: MeshResolver, arguments: Mapping[str, str]) -> bytes:
    """The URDF text that a xacro file stands for.

    Args:
        path: the file. resolver: finds the packages of `$(find ...)` and says which files may be included.
        arguments: values of its `<xacro:arg>`s.

    Raises:
        DescriptionError: xacro is not installed, or does not understand the file; its message is passed on.
        UnsafeFileError: it includes a file outside the allowed folders.
    """
    xacro = _module()
    if xacro is None:
        raise DescriptionError(
            f"{path}: this is a xacro file; pip install xacro to have it expanded here, or expand it first: "
            f"xacro {path.name} > robot.urdf"
        )
    said = io.StringIO()
    with _LOCK, contextlib.redirect_stderr(said), _finding_packages(xacro, resolver, path):
        before = len(xacro.all_includes)
        try:
            document = xacro.process_file(str(path), mappings=dict(arguments))
        except Exception as error:  # whatever the expressions of the file raise
            if isinstance(
                ours := getattr(error, "exc", error), ElbowroomError
            ):  # which xacro may have wrapped
                raise ours from error
            detail = " ".join(f"{type(error).__name__}: {error}".split())
            raise DescriptionError(f"{path}: xacro cannot expand it: {detail:.400}") from error
        included = list(xacro.all_includes[before:])
    for name in included:
        resolver.require(Path(name), f"{path}: the included file {name!r}")
    if said.getvalue():
        _LOG.info("xacro on %s: %s", path, said.getvalue().strip())
    return document.toxml(encoding="utf-8")


def _module() -> Any:
    """The xacro module: its own distribution, or the one that xacrodoc brings along."""
    for name, attribute in (("xacro", None), ("xacrodoc.xacrodoc", "xacro")):
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        found = getattr(module, attribute, None) if attribute else module
        if hasattr(found, "process_file"):
            return found
    return None


@contextlib.contextmanager
def _finding_packages(xacro: Any, resolver: MeshResolver, path: Path) -> Generator[None]:
    """Lets `$(find package)` search where we search for meshes; without ROS, xacro knows no place at all."""
    try:
        places: Any = importlib.import_module(f"{xacro.__name__}.substitution_args")
    except ImportError:  # ROS 1 has its own way, and knows the packages
        yield
        return
    original = places._eval_find
    places._eval_find = lambda package: str(resolver.package_folder(package, str(path)))
    try:
        yield
    finally:
        places._eval_find = original
