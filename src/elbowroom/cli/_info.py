"""List the robots that can be loaded here, or describe one: links, joints, limits, geometry, warnings. For a
scene, list its obstacles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from .._text import counted, number, some_names
from ._common import RobotOptions, console, pose_facts, print_json, quiet, some, table
from ._options import NoEffect

if TYPE_CHECKING:
    from ..robot import Robot


@dataclass(frozen=True)
class Options(RobotOptions):
    """Arguments of `elbowroom info`."""

    robot: Annotated[str, tyro.conf.Positional] = ""
    """Name or path of a robot, or path of a scene; without it, list what can be loaded."""
    all: bool = False
    """List every link, joint and note, or every robot; JSON always does."""


EXAMPLES = {
    "elbowroom info": "the robots that can be loaded here",
    "elbowroom info teaarm": "links, joints, limits, geometry and named poses of one",
    "elbowroom info scene.yaml": "obstacles of a scene, and what was not understood in it",
}
ROWS = 24
"""Links, or joints, up to which a table of them is shown: what fits a screen."""
NOTES = 8
"""Notes that are shown."""
NAMES = 100
"""Robots of one origin up to which all are named on a screen."""
NO_EFFECT = (
    NoEffect(("srdf", "package_dirs", "use_visual"), lambda options: not options.robot, "no robot is named"),
)


def run(options: Options) -> int:
    """Prints the catalogue, one robot or one scene."""
    from ..world.internal import is_scene

    if not options.robot:
        _print_catalogue(options)
        return 0
    if is_scene(options.robot):
        describe_scene(options)
        return 0
    with quiet():  # the report lists them all
        robot = options.load(tell=False)
    facts = describe(robot)
    if options.json:
        print_json(facts)
    else:
        _print_robot(robot, facts, everything=options.all)
    return 0


def describe_scene(options: Options) -> None:
    """Prints the obstacles of a scene."""
    from ..world import World

    with quiet():
        world = World.read(options.robot, package_dirs=options.package_dirs)
    facts: list[dict[str, Any]] = [
        {
            "name": obstacle.name,
            "kind": obstacle.kind,
            "position": obstacle.pose[:3, 3],
            "lower": obstacle.bounds[0],
            "upper": obstacle.bounds[1],
        }
        for obstacle in world
    ]
    if options.json:
        print_json({"scene": options.robot, "obstacles": facts, "notes": world.notes})
        return
    out = console()
    out.print(f"{options.robot}: {counted(len(world), 'obstacle')}", markup=False, style="bold")
    keys = ("position", "lower", "upper")
    rows = [
        (entry["name"], entry["kind"], *(" ".join(map(number, entry[key])) for key in keys))
        for entry in facts
    ]
    out.print(table(("obstacle", "kind", "position (m)", "lower corner", "upper corner"), rows))
    for note in some(world.notes):
        out.print(f"  note: {note}", markup=False)


def describe(robot: Robot) -> dict[str, Any]:
    """Facts of a robot as plain values; reads all its meshes."""
    from .._closed import is_closed

    links: list[dict[str, Any]] = []
    for name in robot.link_names:
        mesh = robot.link_mesh(name)
        shapes = robot.shapes.get(name, ())
        parent = robot.parent_joint(name)
        links.append(
            {
                "name": name,
                "parent": parent.parent if parent else None,
                "shapes": [shape.kind for shape in shapes],
                "triangles": 0 if mesh is None else len(mesh.faces),
                "closed": None if mesh is None else is_closed(mesh),
                "extent": None if mesh is None else mesh.extents.tolist(),
            }
        )
    joints = [
        {
            "name": joint.name,
            "type": joint.type,
            "parent": joint.parent,
            "child": joint.child,
            "actuated": joint.actuated,
            "lower": joint.lower if joint.type != "fixed" else None,
            "upper": joint.upper if joint.type != "fixed" else None,
            "velocity": joint.velocity if joint.type != "fixed" else None,
            "follows": joint.coupling.driver if joint.coupling else None,
            "polycoef": joint.coupling.polycoef if joint.coupling else None,
        }
        for joint in robot.tree.joints
    ]
    return {
        "name": robot.name,
        "source": robot.source,
        "dof": robot.dof,
        "root": robot.tree.root,
        "links": links,
        "joints": joints,
        "triangles": sum(link["triangles"] for link in links),
        "default_pose": pose_facts(robot.default_pose),
        "named_cfgs": {name: cfg.tolist() for name, cfg in robot.named_cfgs.items()},
        "disabled_pairs": [
            {"link_a": a, "link_b": b, "reason": reason} for (a, b), reason in robot.disabled_pairs.items()
        ],
        "visual_only": robot.visual_only,
        "left_out": robot.left_out,
        "mended": robot.mended,
        "notes": [{"kind": note.kind, "where": note.where, "text": note.text} for note in robot.notes],
    }


def _print_catalogue(options: Options) -> None:
    from ..robot import catalogue

    entries = catalogue()
    if options.json:
        print_json(
            [{"name": entry.name, "origin": entry.origin, "path": entry.description} for entry in entries]
        )
        return
    from rich.columns import Columns

    out = console()
    explained = {
        "bundled": "bundled, always there",
        "example-robot-data": "example-robot-data, installed",
        "robot_descriptions": "robot_descriptions, fetched from the network at first use",
    }
    for origin, text in explained.items():
        names = [entry.name for entry in entries if entry.origin == origin]
        if names:
            out.print(f"\n[bold]{text}[/bold] ({len(names)})")
            if out.is_terminal and len(names) > NAMES and not options.all:
                out.print(f"{', '.join(names[:8])} ...; --all lists all", markup=False)
                continue
            out.print(Columns(names, padding=(0, 3)) if out.is_terminal else "\n".join(names), markup=False)
        else:
            out.print(f"\n[bold]{origin}[/bold]: not installed; pip install 'elbowroom\\[robots]'")
    out.print(
        "\nA path to a .urdf, .xacro or MJCF .xml file works too. elbowroom info NAME tells more of one."
    )


def _print_robot(robot: Robot, facts: dict[str, Any], *, everything: bool) -> None:
    out = console()

    def line(text: str, style: str = "") -> None:
        out.print(text, markup=False, style=style)

    line(
        f"{robot.name}: {len(robot.link_names)} links, {robot.dof} actuated joints, {facts['triangles']} collision "
        f"triangles, root {robot.tree.root}",
        "bold",
    )
    for text in robot.modelled:
        line(f"shapes of {text}")
    for text in _geometry(robot, facts):
        line(text)
    links, joints = _link_rows(facts), _joint_rows(robot)
    if everything or len(links) <= ROWS:
        line("")
        out.print(table(("link", "parent", "shapes", "triangles", "closed", "extent (m)"), links))
    if everything or len(joints) <= ROWS:
        line("")
        out.print(table(("joint", "type", "lower", "upper", "velocity", "follows"), joints))
    else:
        line(f"\nactuated joints, in the order of a configuration: {', '.join(robot.joint_names)}")
    pose = robot.default_pose
    guess = f"a guess for {len(pose.guessed_joints)} of {robot.dof} joints; where it collides, other verbs move it"
    line(f"\ndefault pose: {pose}" + (f" ({guess})" if pose.guessed else ""))
    if robot.named_cfgs:
        line(f"\nnamed configurations: {', '.join(robot.named_cfgs)}")
    held = [f"{note.where} {note.text}" for note in robot.notes if note.kind == "fixed"]
    if held:
        line(f"\nheld still: {'; '.join(held)}")
    notes = (
        *_notes(
            line,
            "mended: the description breaks a rule, and this is how it was read",
            robot.mended,
            everything,
        ),
        *_notes(line, "not represented exactly", _inexact(robot), everything),
    )
    hidden = [name for name, rows in (("link", links), ("joint", joints)) if len(rows) > ROWS]
    if not everything and (hidden or notes):
        line(f"\n--all lists every {' and '.join(dict.fromkeys([*hidden, *notes]))}")


def _notes(line: Any, title: str, texts: Sequence[str], everything: bool) -> list[str]:
    """Prints notes under a title, the first of many unless all are wanted; ["note"] if some were not."""
    if not texts:
        return []
    line(f"\n{title}", "bold")
    for text in texts if everything else texts[:NOTES]:
        line(f"  {text}")
    if everything or len(texts) <= NOTES:
        return []
    line(f"  ... and {len(texts) - NOTES} more")
    return ["note"]


def _inexact(robot: Robot) -> list[str]:
    texts = [str(note) for note in robot.notes if note.warns and note.kind != "mended"]
    meshed = [note.where for note in robot.notes if note.kind == "meshed"]
    if meshed:
        text = f"curved primitives of {len(meshed)} links, enclosed by triangles at most 1 % of the radius outside"
        texts.append(f"meshed: {text}: {some_names(meshed)}")
    return texts


def _geometry(robot: Robot, facts: dict[str, Any]) -> list[str]:
    """How many links have what geometry, a sentence each."""
    from ..robot.internal import unseen_links

    opened = [link["name"] for link in facts["links"] if link["closed"] is False]
    bare = len(set(robot.link_names) - {*robot.shapes, *robot.visual_only, *robot.left_out})
    counts = f"collision geometry: {len(robot.shapes)} of {len(robot.link_names)} links have some"
    counts += f", {counted(bare, 'frame')} without any geometry" if bare else ""
    open_text = f"; not closed: {some_names(opened)}" if opened else "; every mesh is closed"
    left = f"a part of the geometry is left out: {some_names(robot.left_out)}" if robot.left_out else None
    texts = (counts + (open_text if robot.shapes else ""), unseen_links(robot), left)
    return [text for text in texts if text]


def _link_rows(facts: dict[str, Any]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for link in facts["links"]:
        kinds = dict.fromkeys(link["shapes"])
        shapes = ", ".join(f"{link['shapes'].count(kind)} {kind}" for kind in kinds) or "-"
        extent = " x ".join(f"{value:.3f}" for value in link["extent"]) if link["extent"] else "-"
        closed = {True: "yes", False: "no", None: "-"}[link["closed"]]
        rows.append(
            (link["name"], link["parent"] or "-", shapes, str(link["triangles"] or "-"), closed, extent)
        )
    return rows


def _joint_rows(robot: Robot) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for joint in robot.tree.joints:
        if joint.type == "fixed":
            continue
        limits = (number(value) for value in (joint.lower, joint.upper, joint.velocity))
        law = joint.coupling
        follows = f"{law.driver} [{', '.join(map(number, law.polycoef))}]" if law else "-"
        rows.append((joint.name, joint.type, *limits, follows))
    return rows
