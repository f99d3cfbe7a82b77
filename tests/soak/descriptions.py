"""Descriptions: random ones against Pinocchio and MuJoCo, mutated ones that load or are refused with a clear word.

Tolerance: poses of two implementations differ by the rounding of each joint's rotation and offset, some 1e-15 times the
lengths on the way; 1e-9 of these is asked, which also leaves room for angles of hundreds of turns.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

import elbowroom as er
from elbowroom.errors import ElbowroomError
from tests.oracles import PinocchioCoal, PinocchioModel, matrix_from_wxyz_xyz, mujoco_link_poses, pin

from .case import Case, Told, Wrong, clear, demand
from .mutations import mutated_bytes, mutated_xml
from .random_robots import WILD, random_mjcf, random_urdf

ROUNDING = 1e-9
"""Of the lengths of a robot, and in radians."""
FAR = 1e3
"""Joint values that are asked about, rad or m."""
BASES = ("teaarm", "panda", "ur5", "kinova", "z1", "allegro_right_hand", "so101", "rh56")
"""Real descriptions that are mutated, where they are installed."""


def run(case: Case) -> Told:
    kind = case.rng.choice(
        ["urdf", "mjcf", "mutated urdf", "mutated mjcf", "mutated robot"], p=[0.3, 0.2, 0.2, 0.15, 0.15]
    )
    match kind:
        case "urdf":
            return _random_urdf(case)
        case "mjcf":
            return _random_mjcf(case)
        case "mutated urdf":
            return _mutated(case, str(kind), random_urdf(case.rng, case.folder, WILD), ())
        case "mutated mjcf":
            return _mutated(case, str(kind), random_mjcf(case.rng, case.folder, WILD), ())
        case _:
            path, packages = _bases()[int(case.rng.integers(len(_bases())))]
            return _mutated(case, str(kind), path, packages)


# Random ones --------------------------------------------------------------------------------------


def _random_urdf(case: Case) -> Told:
    path = random_urdf(case.rng, case.folder, WILD)
    robot = er.load_robot(path)
    oracle = PinocchioCoal(path)
    demand(
        robot.joint_names == oracle.joint_names, f"joints {robot.joint_names}, Pinocchio {oracle.joint_names}"
    )
    cfgs = _cfgs(robot, case)
    compare_poses(robot, cfgs, oracle.kinematics.link_poses(cfgs, robot.link_names), "Pinocchio")
    _compare_shapes(robot, oracle)
    return Told("urdf")


def _random_mjcf(case: Case) -> Told:
    path = random_mjcf(case.rng, case.folder, WILD)
    robot = er.load_robot(path)
    cfgs = _cfgs(robot, case)
    if _too_far(robot, cfgs):
        return Told("mjcf", refused=True)
    compare_poses(robot, cfgs, mujoco_link_poses(robot, cfgs), "MuJoCo")
    _check_couplings(robot, cfgs)
    return Told("mjcf")


def _cfgs(robot: er.Robot, case: Case) -> np.ndarray:
    """Random configurations, both ends of the limits where these are not too far, and beyond them."""
    low, high = (np.clip(np.nan_to_num(side), -FAR, FAR) for side in (robot.lower, robot.upper))
    rows = [low, high, *case.rng.uniform(low, high, (3, robot.dof)), case.rng.normal(size=robot.dof)]
    return np.array(rows).reshape(len(rows), robot.dof)


def _too_far(robot: er.Robot, cfgs: np.ndarray) -> bool:
    """Whether joints that follow others are too far for poses to have digits."""
    try:
        robot.link_poses(cfgs)
    except ElbowroomError as error:
        clear(error, "follows")
        demand(not np.abs(robot.tree.expand(cfgs)).max() <= 1e5, f"refused in vain: {error}")
        return True
    return False


def compare_poses(robot: er.Robot, cfgs: np.ndarray, theirs: np.ndarray, who: str) -> None:
    """Link poses against (n, links, 4, 4) of somebody else."""
    ours = matrix_from_wxyz_xyz(robot.link_poses(cfgs))
    size = 1.0 + lengths(robot, cfgs)
    turns = 1.0 + float(np.abs(robot.tree.expand(cfgs)).max(initial=0.0))
    off = np.abs(ours[..., :3, 3] - theirs[..., :3, 3]).max(initial=0.0)
    turned = np.abs(ours[..., :3, :3] - theirs[..., :3, :3]).max(initial=0.0)
    demand(np.isfinite(ours).all(), "poses are not finite")
    demand(
        off <= ROUNDING * size * turns, f"positions differ from {who} by {off:.3g} m, lengths {size:.3g} m"
    )
    demand(turned <= ROUNDING * turns, f"rotations differ from {who} by {turned:.3g}")


def lengths(robot: er.Robot, cfgs: np.ndarray) -> float:
    """Of all offsets and travels of a robot together, metres: no link is farther from the base."""
    joints = robot.tree.joints
    sliding = np.array([joint.type == "prismatic" for joint in robot.tree.moving], dtype=bool)
    travel = np.abs(robot.tree.expand(cfgs))[:, sliding].sum(axis=1).max(initial=0.0)
    return float(
        travel
        + sum(np.abs(j.T_parent_joint[:3, 3]).sum() + np.abs(j.T_joint_child[:3, 3]).sum() for j in joints)
    )


def _compare_shapes(robot: er.Robot, oracle: PinocchioCoal) -> None:
    """Kinds, sizes and places of collision shapes."""
    for link in robot.link_names:
        ours = robot.shapes.get(link, ())
        theirs = oracle._of_link.get(link, [])
        demand(
            len(ours) == len(theirs), f"link {link!r} has {len(ours)} shapes, Pinocchio finds {len(theirs)}"
        )
        for shape, k in zip(ours, theirs, strict=True):
            low, high = _box_of(shape)
            other = oracle.shapes[k].aabb_local
            size = np.abs([low, high]).max()
            off = np.abs([low - other.min_, high - other.max_]).max()
            demand(
                off <= 1e-6 * size + 1e-12,
                f"shape of {link!r}: box {low} {high}, Pinocchio's {other.min_} {other.max_}",
            )
            item = oracle.geometry.geometryObjects[k]
            frame = oracle.kinematics.model.frames[item.parentFrame]
            placed = (frame.placement.inverse() * item.placement).homogeneous
            off = np.abs(placed - shape.T_link_shape).max()
            demand(
                off <= ROUNDING * (1.0 + np.abs(frame.placement.translation).max()),
                f"shape of {link!r} is off by {off:.3g}",
            )


def _box_of(shape: object) -> tuple[np.ndarray, np.ndarray]:
    """Corners of the box around a shape in its own frame."""
    match shape.kind:
        case "mesh":
            vertices = shape.load().vertices
            return vertices.min(axis=0), vertices.max(axis=0)
        case "box":
            half = 0.5 * np.array(shape.size)
        case "sphere":
            half = np.full(3, shape.size[0])
        case "cylinder":
            half = np.array([shape.size[0], shape.size[0], 0.5 * shape.size[1]])
        case other:
            raise Wrong(f"no {other} was written")
    return -half, half


def _check_couplings(robot: er.Robot, cfgs: np.ndarray) -> None:
    """MuJoCo's own residuals of equalities between joints are zero at our values."""
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(robot.path))
    if not model.neq:
        return
    data = mujoco.MjData(model)
    slots = [model.jnt_qposadr[model.joint(joint.name).id] for joint in robot.tree.moving]
    for values in robot.tree.expand(cfgs):
        data.qpos[slots] = values
        mujoco.mj_fwdPosition(model, data)
        rows = np.array(data.efc_type) == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
        off = np.abs(np.array(data.efc_pos)[rows]).max(initial=0.0)
        size = 1.0 + np.abs(values).max() ** 4
        demand(off <= ROUNDING * size, f"equalities of joints are off by {off:.3g}")


# Mutated ones -------------------------------------------------------------------------------------


@cache
def _bases() -> list[tuple[Path, tuple[Path, ...]]]:
    """Real descriptions and the folders of their meshes."""
    found = [entry for entry in er.catalogue() if entry.name in BASES and entry.description is not None]
    return [(entry.description, (*entry.package_dirs, entry.description.parent)) for entry in found]


def _mutated(case: Case, kind: str, path: Path, packages: tuple[Path, ...]) -> Told:
    """Loads or is refused clearly, the same way twice; what Pinocchio reads too moves alike."""
    change = mutated_xml if case.rng.uniform() < 0.8 else mutated_bytes
    near = case.folder / f"mutated{path.suffix}"
    near.write_bytes(change(path.read_bytes(), case.rng))
    if path.parent != case.folder:  # meshes that are named from the description on
        for folder in path.parent.iterdir():
            if folder.is_dir():
                (case.folder / folder.name).symlink_to(folder, target_is_directory=True)
    first, second = (_answer(near, packages) for _ in range(2))
    demand(type(first) is type(second), f"once {first!r}, once {second!r}")
    if isinstance(first, ElbowroomError):
        clear(first, near.name)
        demand(str(first) == str(second), f"two messages: {first} and {second}")
        return Told(kind, refused=True)
    robot, again = first, second
    cfgs = _cfgs(robot, case)
    if _too_far(robot, cfgs):
        return Told(kind, refused=True)
    demand(np.array_equal(robot.link_poses(cfgs), again.link_poses(cfgs)), "two loads, two answers")
    demand(np.isfinite(robot.link_poses(cfgs)).all(), "poses are not finite")
    solid = robot.mesh_links
    for link in case.rng.choice(solid, 1) if solid and case.rng.uniform() < 0.3 else ():
        try:
            mesh = robot.link_mesh(str(link))
        except ElbowroomError as error:
            clear(error)
            continue
        demand(mesh is not None and np.isfinite(mesh.vertices).all(), f"mesh of {link!r}: {mesh}")
    if near.suffix == ".urdf" and not robot.mended:
        _compare_with_urdfdom(robot, near, cfgs)
    return Told(kind)


def _answer(path: Path, packages: tuple[Path, ...]) -> er.Robot | ElbowroomError:
    try:
        return er.load_robot(path, package_dirs=packages)
    except ElbowroomError as error:
        return error


def _compare_with_urdfdom(robot: er.Robot, path: Path, cfgs: np.ndarray) -> None:
    """Where Pinocchio reads the file too."""
    try:
        ElementTree.parse(path)
        oracle = PinocchioModel(path)
    except (ValueError, RuntimeError, ElementTree.ParseError):
        return
    if oracle.joint_names != robot.joint_names:
        raise Wrong(f"joints {robot.joint_names}, Pinocchio {oracle.joint_names}")
    frames = {frame.name for frame in oracle.model.frames if frame.type == pin.FrameType.BODY}
    demand(set(robot.link_names) == frames, f"links {sorted(robot.link_names)}, Pinocchio {sorted(frames)}")
    compare_poses(robot, cfgs, oracle.link_poses(cfgs, robot.link_names), "Pinocchio")
