"""`load_robot`: every source of a description, one Robot."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from .._frozen import FrozenMap, frozen
from .._poses import as_matrix
from .._xml import parse_xml, read_xml
from ..errors import ApproximationWarning, DescriptionError, InputError
from ..typing import Kinematics, RobotLike
from ._default import default_pose
from ._pyroki import is_pyroki, robot_from_pyroki
from ._robot import Robot
from ._tree import KinematicTree, build_tree
from ._types import Description, Note
from .descriptions._catalogue import find_robot, notes_on_shapes
from .descriptions._hold import hold_joints
from .descriptions._resolve import MeshResolver, as_folders
from .descriptions._srdf import Srdf, srdf_for_robot
from .descriptions._urdf_elements import expand, is_xacro

LIMIT_SLACK = 1e-4
"""Published poses are rounded to a few digits; exceeding a limit by this does not deserve a note (rad or m)."""


def load_robot(
    source: Any,
    *,
    srdf: str | os.PathLike[str] | None = None,
    package_dirs: Iterable[str | os.PathLike[str]] = (),
    base_pose: Any = None,
    use_visual: bool = False,
    strict: bool = False,
    xacro_args: Mapping[str, str] | None = None,
    hold: Mapping[str, float] | None = None,
) -> Robot:
    """Loads a robot from any description.

    Args:
        source: a bundled name ("teaarm", "rh56", "rh56_left"), a name of example-robot-data ("panda") or
            robot_descriptions ("panda_description"), a path to a URDF (.urdf), xacro (.xacro) or MJCF
            (.xml) file, a `yourdfpy.URDF`, a `mujoco.MjModel` or a `mujoco.MjSpec`.
        srdf: SRDF file with named poses and disabled pairs; robots known by name bring their own.
        package_dirs: folders to search for `package://` meshes, and from which meshes outside
            the description's own folder may be read.
        base_pose: pose of the base in the world, (7,) or (4, 4): of the floating or planar base if the
            description has one, of the root link otherwise.
        use_visual: take visual geometry for links that have no collision geometry.
        strict: refuse a description that breaks a rule, instead of mending it as other loaders do.
        xacro_args: values of the arguments of a xacro file. It is expanded by xacro, if that is installed, and is a
            program: load only what you would run.
        hold: joints to be held still, with their values in rad or m, such as `{"panda_finger_joint1": 0.04}` for a
            panda of seven joints with its jaw open. Their links stay where that puts them. The robot is then no longer
            that of its file (`path` and `xml` are None): what edits a file refuses it.

    Returns:
        The Robot. What it does not represent exactly is listed in `notes`, what was mended in `mended`; both are
        warned about.

    Raises:
        ElbowroomError: unknown name, broken or unsafe description; the message says what and where.
    """
    if srdf is not None and not isinstance(srdf, (str, os.PathLike)):
        raise InputError(f"srdf: expected the path of a file, found a {type(srdf).__name__}")
    srdf_path, path = (Path(srdf) if srdf is not None else None), None
    if isinstance(source, (str, os.PathLike)):
        path, known_srdf, known_dirs = _locate(source)
        parts = _read_file(path, (*as_folders(package_dirs), *known_dirs), use_visual, xacro_args or {})
        srdf_path = srdf_path or known_srdf
        origin = str(source)
    else:
        parts, origin = _read_object(source, package_dirs, use_visual)
    parts.notes[:0] = notes_on_shapes(parts.name, _files(source, parts, path))
    robot = _assemble(parts, srdf_path, base_pose, origin, path, hold or {})
    if strict and (mended := list(robot.mended)):
        more = f"; {len(mended) - 1} more" if len(mended) > 1 else ""
        raise DescriptionError(f"{path or origin}: it breaks a rule (strict): {mended[0]}{more}")
    warned = [str(note) for note in robot.notes if note.warns]
    if warned:
        listing = "\n  ".join(warned[:8]) + (
            f"\n  ... {len(warned) - 8} more in robot.notes" if len(warned) > 8 else ""
        )
        summary = (
            "mended, or not represented exactly" if robot.mended else "not everything is represented exactly"
        )
        warnings.warn(f"{robot.name}: {summary}\n  {listing}", ApproximationWarning, 2)
    return robot


def as_robot(robot: RobotLike) -> Robot:
    """Returns a Robot as it is, a pyroki Robot converted to ours, and the robot of whatever else `load_robot` takes.

    Every function that asks for a robot does this with what it is given. A pyroki Robot holds kinematics alone.

    Raises:
        InputError: nothing that a robot is made of. ElbowroomError: it cannot be loaded; see `load_robot`.
    """
    if isinstance(robot, Robot):
        return robot
    if is_pyroki(robot):
        return robot_from_pyroki(robot)
    return load_robot(robot)


def as_kinematics(robot: RobotLike) -> Kinematics:
    """As `as_robot`, but what already has the kinematics that differentiable code needs is returned as it is."""
    return robot if hasattr(robot, "forward_kinematics") else as_robot(robot)


def _files(source: Any, parts: Description, path: Path | None) -> list[Path]:
    """The description file, or the folder that a `MjSpec` was read from, and the mesh files of the shapes."""
    folder = getattr(source, "modelfiledir", "")
    shapes = (shape.source for shapes in parts.shapes.values() for shape in shapes if shape.kind == "mesh")
    named = [Path(text) for text in (folder, *shapes) if text and isinstance(text, str)]
    return [*([path] if path is not None else []), *named]


def _locate(source: str | os.PathLike[str]) -> tuple[Path, Path | None, tuple[Path, ...]]:
    """File of a path or of a known name, its SRDF, and its package folders."""
    text = os.fspath(source)
    if not text or "\0" in text:
        raise InputError(f"expected a robot's name or path, found {text!r}")
    looks_like_path = (
        isinstance(source, os.PathLike) or os.sep in text or "/" in text or Path(text).suffix != ""
    )
    try:
        exists = Path(text).is_file()
    except (OSError, ValueError):
        exists = False
    if looks_like_path or exists:
        return Path(text).expanduser(), None, ()
    entry = find_robot(text)
    assert entry.description is not None
    return entry.description, entry.srdf, entry.package_dirs


def description_tree(robot: Robot) -> Any:
    """The lxml tree of the file that a robot was loaded from, to be edited: xacro expanded, form mended.

    None for a robot that came from memory.
    """
    return None if robot.xml is None else parse_xml(robot.xml, str(robot.path))


def package_dirs_of(robot: Robot) -> tuple[Path, ...]:
    """Folders in which the `package://` files of a robot's URDF were looked for, as given to `load_robot`."""
    from .descriptions._urdf_visuals import UrdfVisuals

    sources = [source for source, _ in robot.visual_sources.values() if isinstance(source, UrdfVisuals)]
    return tuple(dict.fromkeys(folder for source in sources for folder in source.package_dirs))


def urdf_links(robot: Robot) -> dict[str, Any]:
    """Link -> its `<link>` element, for links that come from URDFs, each from its own where robots were joined."""
    from .descriptions._urdf_visuals import UrdfVisuals

    texts: dict[bytes, dict[str, Any]] = {}
    found: dict[str, Any] = {}
    for link, (source, name) in robot.visual_sources.items():
        if not isinstance(source, UrdfVisuals):
            continue
        if source.xml not in texts:
            root = parse_xml(source.xml, str(source.path or robot.name)).getroot()
            texts[source.xml] = {element.get("name"): element for element in root.findall("link")}
        if name in texts[source.xml]:
            found[link] = texts[source.xml][name]
    return found


def _read_tree(
    path: Path, package_dirs: tuple[Path, ...], xacro_args: Mapping[str, str]
) -> tuple[Any, list[str]]:
    """The tree of a file, and what of its form was mended."""
    from .descriptions._urdf_elements import without_namespace

    mended: list[str] = []
    if is_xacro(path):
        read_xml(path)  # no entities, no document type: xacro would follow them
        tree = parse_xml(expand(path, MeshResolver(path, package_dirs), xacro_args), str(path))
    else:
        tree = read_xml(path, mended=mended)
    root = tree.getroot()
    if etree.QName(root).localname == "robot" and without_namespace(root):
        mended.append("its elements are in a namespace, which URDF does not know; it is left out")
    return tree, mended


def _read_file(
    path: Path, package_dirs: tuple[Path, ...], use_visual: bool, xacro_args: Mapping[str, str]
) -> Description:
    tree, mended = _read_tree(path, package_dirs, xacro_args)
    tag, xml = tree.getroot().tag, etree.tostring(tree, encoding="utf-8")
    if tag == "robot":
        from .descriptions._urdf import description_from_tree
        from .descriptions._urdf_visuals import UrdfVisuals

        parts = description_from_tree(tree, path, package_dirs, use_visual)
        parts.notes[:0] = [Note("mended", path.name, text) for text in mended]
        return replace(parts, xml=xml, visuals=UrdfVisuals(xml, path, package_dirs))
    if tag == "mujoco":
        from .descriptions._mjcf import description_from_model, model_from_file
        from .descriptions._mjcf_visuals import MjcfVisuals

        parts = description_from_model(model_from_file(path, package_dirs), use_visual, str(path))
        return replace(parts, xml=xml, visuals=MjcfVisuals(path, package_dirs))
    raise DescriptionError(f"{path}: expected a URDF (<robot>) or MJCF (<mujoco>) file, found <{tag}>")


def _read_object(
    source: Any, package_dirs: Iterable[str | os.PathLike[str]], use_visual: bool
) -> tuple[Description, str]:
    """Reads a yourdfpy.URDF, MjModel or MjSpec, told by its class's name: neither library is imported in vain."""
    kind = type(source).__name__
    if kind == "URDF" and hasattr(source, "robot"):
        from .descriptions._urdf import description_from_yourdfpy

        return description_from_yourdfpy(source, package_dirs, use_visual), "yourdfpy.URDF"
    if kind in ("MjModel", "MjSpec"):
        from .descriptions._mjcf import compile_spec, description_from_model
        from .descriptions._mjcf_visuals import visuals_of_model

        model = source if kind == "MjModel" else compile_spec(source, "mujoco.MjSpec")
        parts = description_from_model(model, use_visual)
        return replace(parts, visuals=visuals_of_model(model)), f"mujoco.{kind}"
    raise InputError(
        f"cannot load a robot from a {kind}; expected a name, a path, a Robot (elbowroom's or pyroki's), "
        "a yourdfpy.URDF, an mujoco.MjModel or MjSpec"
    )


def _assemble(
    parts: Description,
    srdf_path: Path | None,
    base_pose: Any,
    origin: str,
    path: Path | None,
    hold: Mapping[str, float],
) -> Robot:
    T_world_root = np.eye(4) if parts.root_pose is None else parts.root_pose
    joints = parts.joints
    if base_pose is not None:
        T_base = as_matrix(base_pose, "base_pose")
        if T_base.shape != (4, 4):
            raise InputError(f"base_pose: expected one pose, found a stack of shape {T_base.shape}")
        if len(parts.floating_bases) > 1:
            raise InputError(
                f"base_pose: there are several floating bases: {', '.join(parts.floating_bases)}"
            )
        if not parts.floating_bases:
            T_world_root = T_base
        joints = [
            replace(joint, T_parent_joint=frozen(T_base)) if joint.name in parts.floating_bases else joint
            for joint in joints
        ]
    build_tree(
        str(path or parts.name), parts.link_names, joints, T_world_root
    )  # faults of the file come first
    joints, fixed = hold_joints(joints, hold)
    tree = build_tree(str(path or parts.name), parts.link_names, joints, T_world_root)
    named, notes, disabled = dict(parts.named), [*parts.notes, *fixed], dict(parts.disabled)
    origins = dict.fromkeys(named, "keyframe")
    if srdf_path is not None:
        info: Srdf = srdf_for_robot(srdf_path, tree.link_names, tuple(joint.name for joint in joints))
        named |= info.named
        origins |= dict.fromkeys(info.named, "SRDF state")
        disabled |= {pair: said.reason for pair, said in info.disabled.items() if not said.computed}
        notes += [Note("skipped", srdf_path.name, text) for text in info.notes]
    if hold:
        named = _without_held(tree, named)
    notes += _outside_limits(tree, named)
    pose = default_pose(tree, named, origins, parts.reference)
    return Robot(
        name=parts.name,
        tree=tree,
        shapes=FrozenMap({link: tuple(shapes) for link, shapes in parts.shapes.items()}),
        named_cfgs=FrozenMap({name: _cfg(tree, values, pose.cfg) for name, values in named.items()}),
        default_pose=pose,
        notes=tuple(notes),
        disabled_pairs=FrozenMap(disabled),
        visual_only=tuple(parts.visual_only),
        left_out=tuple(dict.fromkeys(parts.left_out)),
        visual_sources=FrozenMap(
            {link: (parts.visuals, link) for link in tree.link_names} if parts.visuals is not None else {}
        ),
        source=origin
        if not hold
        else f"{origin}, {', '.join(f'{name} held at {hold[name]:g}' for name in hold)}",
        path=None if hold else path,
        xml=None if hold else parts.xml,
    )


def _without_held(
    tree: KinematicTree, named: Mapping[str, Mapping[str, float]]
) -> dict[str, dict[str, float]]:
    """Named configurations without those that are about held joints alone, such as "close" of a jaw held open."""
    free = {joint.name for joint in tree.actuated}
    return {name: dict(values) for name, values in named.items() if free & values.keys()}


def _outside_limits(tree: KinematicTree, named: dict[str, dict[str, float]]) -> list[Note]:
    """Notes on named configurations that a joint's limits do not allow; they are kept as given."""
    notes: list[Note] = []
    for name, values in named.items():
        for joint in tree.actuated:
            value = values.get(joint.name, joint.lower)
            if not joint.lower - LIMIT_SLACK <= value <= joint.upper + LIMIT_SLACK:
                limits = f"[{joint.lower:g}, {joint.upper:g}]"
                text = f"{joint.name} at {value:g} is outside its limits {limits}; kept as given"
                notes.append(Note("approximated", f"configuration {name!r}", text))
    return notes


def _cfg(tree: KinematicTree, values: dict[str, float], base: np.ndarray) -> np.ndarray:
    """A full configuration from named values; joints that are not named stay at `base`."""
    return frozen(
        np.array(
            [values.get(joint.name, at) for joint, at in zip(tree.actuated, base, strict=True)],
            dtype=np.float64,
        )
    )
