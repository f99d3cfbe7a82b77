"""List the robots that can be loaded here and now, or describe one: links, joints, limits, geometry, warnings."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from ..errors import ApproximationWarning
from ._common import RobotOptions, console, print_json

if TYPE_CHECKING:
    from ..robot import Robot


@dataclass(frozen=True)
class Options(RobotOptions):
    """Arguments of `elbowroom info`."""

    robot: Annotated[str, tyro.conf.Positional] = ""
    """Name or path of the robot; none lists what can be loaded."""


def run(options: Options) -> int:
    """Prints the catalogue or one robot."""
    if not options.robot:
        _print_catalogue(options.json)
        return 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)  # the report lists them all
        robot = options.load()
    facts = describe(robot)
    if options.json:
        print_json(facts)
    else:
        _print_robot(robot, facts)
    return 0


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
        "named_cfgs": {name: cfg.tolist() for name, cfg in robot.named_cfgs.items()},
        "disabled_pairs": len(robot.disabled_pairs),
        "visual_only": robot.visual_only,
        "mended": robot.mended,
        "notes": [{"kind": note.kind, "where": note.where, "text": note.text} for note in robot.notes],
    }


def _print_catalogue(as_json: bool) -> None:
    from ..robot import catalogue

    entries = catalogue()
    if as_json:
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
            out.print(Columns(names, padding=(0, 3)))
        else:
            out.print(f"\n[bold]{origin}[/bold]: not installed; pip install 'elbowroom\\[robots]'")
    out.print(
        "\nA path to a .urdf, .xacro or MJCF .xml file works too. elbowroom info NAME tells more of one."
    )


def _print_robot(robot: Robot, facts: dict[str, Any]) -> None:
    from rich.markup import escape
    from rich.table import Table

    out = console()
    out.print(
        f"[bold]{escape(robot.name)}[/bold]: {len(robot.link_names)} links, {robot.dof} actuated joints, "
        f"{facts['triangles']} collision triangles, root {escape(robot.tree.root)}"
    )
    table = Table(
        "link", "parent", "shapes", "triangles", "closed", "extent (m)", box=None, header_style="bold"
    )
    for link in facts["links"]:
        kinds = dict.fromkeys(link["shapes"])
        shapes = ", ".join(f"{link['shapes'].count(kind)} {kind}" for kind in kinds) or "-"
        extent = " x ".join(f"{value:.3f}" for value in link["extent"]) if link["extent"] else "-"
        closed = {True: "yes", False: "no", None: "-"}[link["closed"]]
        row = (link["name"], link["parent"] or "-", shapes, str(link["triangles"] or "-"), closed, extent)
        table.add_row(*map(escape, row))
    out.print(table)
    table = Table(
        "\njoint", "\ntype", "\nlower", "\nupper", "\nvelocity", "\nfollows", box=None, header_style="bold"
    )
    for joint in robot.tree.joints:
        if joint.type == "fixed":
            continue
        limits = (f"{value:.4g}" for value in (joint.lower, joint.upper, joint.velocity))
        follows = f"{joint.coupling.driver} {list(joint.coupling.polycoef)}" if joint.coupling else "-"
        table.add_row(escape(joint.name), joint.type, *limits, escape(follows))
    out.print(table)
    if robot.named_cfgs:
        out.print(f"\n[bold]named configurations[/bold]: {escape(', '.join(robot.named_cfgs))}")
    if robot.mended:
        out.print("\n[bold]mended[/bold]: the description breaks a rule, and this is how it was read")
        for sentence in robot.mended:
            out.print(f"  {escape(sentence)}")
    if len(robot.mended) < len(robot.notes):
        out.print("\n[bold]not represented exactly[/bold]")
        for note in robot.notes:
            if note.warns and note.kind != "mended":
                out.print(f"  {escape(str(note))}")
        meshed = [note.where for note in robot.notes if not note.warns]
        if meshed:
            text = f"curved primitives of {len(meshed)} links, enclosed by triangles at most 1 % of the radius outside"
            out.print(f"  meshed: {text}: {escape(', '.join(meshed))}")
