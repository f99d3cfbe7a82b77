"""Robots that can be loaded by name: bundled, example-robot-data, robot_descriptions.

The names of example-robot-data follow its own loader; its wheel carries only the data, so the table of
files is kept here. robot_descriptions fetches its robots from the network when one is first used.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from ...errors import DescriptionError, UnknownRobotError, missing_extra, unknown
from .._types import Note

Origin = Literal["bundled", "example-robot-data", "robot_descriptions"]

ASSETS = Path(__file__).parents[2] / "assets"
_BUNDLED = {
    "teaarm": ("teaarm/teaarm.urdf", "teaarm/teaarm.srdf"),
    "rh56": ("rh56/rh56.xml", ""),
    "rh56_left": ("rh56/rh56_left.xml", ""),
}
_REAL_SHAPES = {
    "teaarm": ("TeaArm", "load_robot(path) or TeaArmRobot(urdf_path=path)"),
    "rh56": ("RH56 hand", "load_robot(path) or load_hand(path)"),
}
"""Folder of bundled robots -> the robot that they stand for, and what takes a description with its real meshes."""
_EXAMPLES: dict[str, tuple[str, str]] = {
    "a1": ("a1_description/urdf/a1.urdf", "a1_description/srdf/a1.srdf"),
    "alex_nub_hands": (
        "alex_description/urdf/alex_nub_hands.urdf",
        "alex_description/srdf/alex_nub_hands.srdf",
    ),
    "alex_psyonic_hands": (
        "alex_description/urdf/alex_psyonic_hands.urdf",
        "alex_description/srdf/alex_psyonic_hands.srdf",
    ),
    "alex_sake_hands": (
        "alex_description/urdf/alex_sake_hands.urdf",
        "alex_description/srdf/alex_sake_hands.srdf",
    ),
    "allegro_left_hand": ("allegro_hand_description/urdf/allegro_left_hand.urdf", ""),
    "allegro_right_hand": ("allegro_hand_description/urdf/allegro_right_hand.urdf", ""),
    "anymal": (
        "anymal_b_simple_description/robots/anymal.urdf",
        "anymal_b_simple_description/srdf/anymal.srdf",
    ),
    "anymal_c": (
        "anymal_c_simple_description/urdf/anymal.urdf",
        "anymal_c_simple_description/srdf/anymal.srdf",
    ),
    "anymal_kinova": (
        "anymal_b_simple_description/robots/anymal-kinova.urdf",
        "anymal_b_simple_description/srdf/anymal-kinova.srdf",
    ),
    "asr_twodof": ("asr_twodof_description/urdf/TwoDofs.urdf", ""),
    "b1": ("b1_description/urdf/b1.urdf", "b1_description/srdf/b1.srdf"),
    "b1-z1": ("b1_description/urdf/b1-z1.urdf", "b1_description/srdf/b1-z1.srdf"),
    "baxter": ("baxter_description/urdf/baxter.urdf", "baxter_description/srdf/baxter_manipulation.srdf"),
    "bolt": ("bolt_description/robots/bolt.urdf", "bolt_description/srdf/bolt.srdf"),
    "borinot": (
        "borinot_description/urdf/borinot_flying_arm_2.urdf",
        "borinot_description/srdf/borinot_flying_arm_2.srdf",
    ),
    "centauro": ("centauro_description/urdf/centauro.urdf", "centauro_description/srdf/centauro.srdf"),
    "double_pendulum": ("double_pendulum_description/urdf/double_pendulum.urdf", ""),
    "double_pendulum_continuous": ("double_pendulum_description/urdf/double_pendulum_continuous.urdf", ""),
    "double_pendulum_simple": ("double_pendulum_description/urdf/double_pendulum_simple.urdf", ""),
    "finger_edu": (
        "finger_edu_description/robots/finger_edu.urdf",
        "finger_edu_description/srdf/finger_edu.srdf",
    ),
    "g1": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", ""),
    "g1_with_hands": ("g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf", ""),
    "go1": ("go1_description/urdf/go1.urdf", "go1_description/srdf/go1.srdf"),
    "go2": ("go2_description/urdf/go2.urdf", "go2_description/srdf/go2.srdf"),
    "hector": ("hector_description/robots/quadrotor_base.urdf", ""),
    "hextilt": (
        "hextilt_description/urdf/hextilt_flying_arm_5.urdf",
        "hextilt_description/srdf/hextilt_flying_arm_5.srdf",
    ),
    "human": ("human_description/robots/human.urdf", ""),
    "hyq": ("hyq_description/robots/hyq_no_sensors.urdf", "hyq_description/srdf/hyq.srdf"),
    "icub": ("icub_description/robots/icub.urdf", "icub_description/srdf/icub.srdf"),
    "icub_reduced": ("icub_description/robots/icub_reduced.urdf", "icub_description/srdf/icub.srdf"),
    "iris": ("iris_description/robots/iris_simple.urdf", ""),
    "kinova": ("kinova_description/robots/kinova.urdf", "kinova_description/srdf/kinova.srdf"),
    "laikago": ("laikago_description/urdf/laikago.urdf", ""),
    "panda": ("panda_description/urdf/panda.urdf", "panda_description/srdf/panda.srdf"),
    "panda_collision": ("panda_description/urdf/panda_collision.urdf", "panda_description/srdf/panda.srdf"),
    "pr2": ("pr2_description/urdf/pr2.urdf", "pr2_description/srdf/pr2.srdf"),
    "quadruped": ("quadruped_description/urdf/quadruped.urdf", ""),
    "romeo": ("romeo_description/urdf/romeo.urdf", "romeo_description/srdf/romeo_moveit.srdf"),
    "simple_humanoid": (
        "simple_humanoid_description/urdf/simple_humanoid.urdf",
        "simple_humanoid_description/srdf/simple_humanoid.srdf",
    ),
    "simple_humanoid_classical": (
        "simple_humanoid_description/urdf/simple_humanoid_classical.urdf",
        "simple_humanoid_description/srdf/simple_humanoid_classical.srdf",
    ),
    "so100": ("so_arm_description/urdf/so100.urdf", ""),
    "so101": ("so_arm_description/urdf/so101.urdf", ""),
    "solo8": ("solo_description/robots/solo.urdf", "solo_description/srdf/solo.srdf"),
    "solo12": ("solo_description/robots/solo12.urdf", "solo_description/srdf/solo.srdf"),
    "talos": ("talos_data/robots/talos_reduced.urdf", "talos_data/srdf/talos.srdf"),
    "talos_arm": ("talos_data/robots/talos_left_arm.urdf", "talos_data/srdf/talos.srdf"),
    "talos_box": ("talos_data/robots/talos_reduced_box.urdf", "talos_data/srdf/talos.srdf"),
    "talos_full": ("talos_data/robots/talos_full_v2.urdf", "talos_data/srdf/talos.srdf"),
    "talos_full_box": ("talos_data/robots/talos_full_v2_box.urdf", "talos_data/srdf/talos.srdf"),
    "tiago": ("tiago_description/robots/tiago.urdf", ""),
    "tiago_dual": ("tiago_description/robots/tiago_dual.urdf", ""),
    "tiago_no_hand": ("tiago_description/robots/tiago_no_hand.urdf", ""),
    "tiago_pro": ("tiago_pro_description/robots/tiago_pro.urdf", ""),
    "ur3": ("ur_description/urdf/ur3_robot.urdf", ""),
    "ur3_gripper": ("ur_description/urdf/ur3_gripper.urdf", "ur_description/srdf/ur3_gripper.srdf"),
    "ur3_limited": ("ur_description/urdf/ur3_joint_limited_robot.urdf", ""),
    "ur5": ("ur_description/urdf/ur5_robot.urdf", "ur_description/srdf/ur5.srdf"),
    "ur5_gripper": ("ur_description/urdf/ur5_gripper.urdf", "ur_description/srdf/ur5_gripper.srdf"),
    "ur5_limited": ("ur_description/urdf/ur5_joint_limited_robot.urdf", "ur_description/srdf/ur5.srdf"),
    "ur10": ("ur_description/urdf/ur10_robot.urdf", ""),
    "ur10_limited": ("ur_description/urdf/ur10_joint_limited_robot.urdf", ""),
    "xarm7": ("xarm_description/urdf/xarm7.urdf", "xarm_description/srdf/xarm7.srdf"),
    "z1": ("z1_description/urdf/z1.urdf", "z1_description/srdf/z1.srdf"),
}


@dataclass(frozen=True)
class CatalogueEntry:
    """A robot known by name."""

    name: str
    origin: Origin
    description: Path | None
    """URDF or MJCF file; None while robot_descriptions has not fetched it."""
    srdf: Path | None = None
    package_dirs: tuple[Path, ...] = ()


def catalogue() -> tuple[CatalogueEntry, ...]:
    """All robots that can be loaded by name here and now, bundled ones first."""
    entries = [_bundled(name) for name in _BUNDLED]
    folder = example_robots_dir()
    if folder is not None:
        entries += [entry for name in _EXAMPLES if (entry := _example(name, folder)) is not None]
    entries += [CatalogueEntry(name, "robot_descriptions", None) for name in _description_names()]
    return tuple(entries)


def find_robot(name: str) -> CatalogueEntry:
    """The robot of that name; fetches a robot_descriptions one if need be.

    Raises:
        UnknownRobotError: no such name; a missing package that would provide it is named.
    """
    if name in _BUNDLED:
        return _bundled(name)
    folder = example_robots_dir()
    if name in _EXAMPLES:
        entry = _example(name, folder) if folder is not None else None
        if entry is None:
            raise missing_extra("example-robot-data", "robots", f"the robot {name!r}")
        return entry
    if name in _description_names():
        return _fetched(name)
    if name.endswith("_description") and find_spec("robot_descriptions") is None:
        raise missing_extra("robot_descriptions", "robots", f"the robot {name!r}")
    known = [entry.name for entry in catalogue()]
    raise UnknownRobotError(f"{unknown('robot', name, known)}; a path to a .urdf or .xml file works too")


def example_robots_dir() -> Path | None:
    """Folder of example-robot-data's robots; None when it is not installed."""
    try:
        distribution = importlib.metadata.distribution("example-robot-data")
    except importlib.metadata.PackageNotFoundError:
        return None
    folder = Path(str(distribution.locate_file("cmeel.prefix/share/example-robot-data/robots")))
    return folder if folder.is_dir() else None


def notes_on_shapes(robot: str, files: Iterable[Path]) -> list[Note]:
    """What is to be said of a robot whose description or meshes are among these files: that its shapes are ours.

    A description of the user's own gets no note, whatever its links are called.
    """
    places = {path.resolve() for path in files}
    return [
        Note(
            "modelled",
            robot,
            f"its kinematics are those of the real {real}, its shapes are modelled by Elbowroom: proofs hold for these "
            f"shapes, not for the real ones; {how} takes a description with the real meshes",
        )
        for folder, (real, how) in _REAL_SHAPES.items()
        if any(place.is_relative_to((ASSETS / folder).resolve()) for place in places)
    ]


def _bundled(name: str) -> CatalogueEntry:
    description, srdf = _BUNDLED[name]
    return CatalogueEntry(name, "bundled", ASSETS / description, ASSETS / srdf if srdf else None)


def _example(name: str, folder: Path) -> CatalogueEntry | None:
    description, srdf = _EXAMPLES[name]
    if not (folder / description).is_file():
        return None
    return CatalogueEntry(
        name,
        "example-robot-data",
        folder / description,
        folder / srdf if srdf else None,
        (folder.parent.parent,),
    )


def _description_names() -> tuple[str, ...]:
    if find_spec("robot_descriptions") is None:
        return ()
    from robot_descriptions._descriptions import DESCRIPTIONS

    return tuple(sorted(DESCRIPTIONS))


def _fetched(name: str) -> CatalogueEntry:
    try:
        module = importlib.import_module(f"robot_descriptions.{name}")
    except Exception as error:  # git, network and file errors of many kinds, all meaning the same to the user
        detail = " ".join(str(error).split())[:200]
        raise DescriptionError(
            f"robot_descriptions could not fetch {name!r} (it clones a repository at first use): {detail}"
        ) from error
    paths = (getattr(module, kind, None) for kind in ("URDF_PATH", "MJCF_PATH", "XACRO_PATH"))
    path = next((found for found in paths if found), None)
    if path is None:
        raise DescriptionError(f"robot_descriptions' {name!r} offers neither URDF, MJCF nor xacro")
    dirs = [
        Path(value) for key in ("PACKAGE_PATH", "REPOSITORY_PATH") if (value := getattr(module, key, None))
    ]
    folders = tuple(dict.fromkeys(folder for entry in dirs for folder in (entry, entry.parent)))
    return CatalogueEntry(name, "robot_descriptions", Path(path), None, folders)
