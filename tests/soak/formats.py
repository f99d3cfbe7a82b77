"""Formats: what is written is read back equal; broken files are read or refused clearly; nothing is half written.

Laws: spheres, padding and ignored pairs come back to the last bit where the format holds them (paddings as sums of two
numbers, so to their rounding); writing twice gives the same bytes; a description that is written moves as the robot did;
a write that fails leaves the file that was there as it was, and no other beside it.
"""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import elbowroom as er
from elbowroom import formats
from elbowroom.errors import ElbowroomError
from elbowroom.world import World
from tests.formats.test_fuzz import SEEDS, mutate
from tests.world import world_tools
from tests.world.scene_files import SHELF, assert_same

from .case import Case, Told, Wrong, clear, demand
from .descriptions import ROUNDING, compare_poses
from .mutations import mutated_bytes, mutated_xml
from .random_robots import ODD_NAMES, WILD, random_urdf

LOSSLESS = ("a.json", "a.yml", "a.xrdf")
NO_PADDING = ("a.srdf", "a.urdf", "a.xml")
ROUNDED = "a.srdf"
"""Holds nine digits, rounded outwards: a sphere that was read holds the one that was written."""
REASONS = ("ADJACENT", "NEVER_PROVED", "NEVER_SAMPLED", "USER", "DEFAULT", "ALWAYS")
SMALL = replace(WILD, links=(1, 6), meshes=False)


def run(case: Case) -> Told:
    kinds: tuple[tuple[str, Callable[[Case], bool], float], ...] = (
        ("round trip", _round_trip, 0.3),
        ("pairs", _pair_matrix, 0.05),
        ("scene", _scene, 0.15),
        ("mutated", _mutated, 0.3),
        ("mutated scene", _mutated_scene, 0.12),
        ("table", _table, 0.08),
    )
    kind, check, _ = kinds[int(case.rng.choice(len(kinds), p=[share for _, _, share in kinds]))]
    return Told(kind, refused=check(case))


# Round trips --------------------------------------------------------------------------------------


def _robot(case: Case) -> er.Robot:
    return er.load_robot(random_urdf(case.rng, case.folder, SMALL))


def random_spheres(rng: np.random.Generator, robot: er.Robot) -> er.SphereModel:
    """Spheres with awkward numbers on some links, with padding on some."""
    spheres: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for link in robot.link_names:
        if rng.uniform() < 0.7:
            n = int(rng.integers(1, 5))
            scale = 10.0 ** rng.uniform(-9, 6) if rng.uniform() < 0.1 else 1.0
            spheres[link] = scale * rng.normal(size=(n, 3)), scale * rng.uniform(1e-3, 0.3, n)
    if not spheres:
        spheres[robot.link_names[0]] = np.zeros((1, 3)), np.ones(1)
    padding = [
        {str(link): float(rng.normal() * 1e-2) for link in robot.link_names if rng.uniform() < 0.3}
        for _ in range(2)
    ]
    return er.SphereModel.from_links(
        robot.link_names, spheres, robot_name=robot.name, self_padding=padding[0], world_padding=padding[1]
    )


def random_pairs(rng: np.random.Generator, robot: er.Robot) -> dict[tuple[str, str], str]:
    names = robot.link_names
    return {
        (min(a, b), max(a, b)): str(rng.choice(REASONS))
        for k, a in enumerate(names)
        for b in names[:k]
        if rng.uniform() < 0.4
    }


def _round_trip(case: Case) -> bool:
    robot = _robot(case)
    spheres, pairs = random_spheres(case.rng, robot), random_pairs(case.rng, robot)
    name = str(case.rng.choice([*LOSSLESS, *NO_PADDING]))
    path = case.folder / "out" / name
    path.parent.mkdir()
    try:
        said = formats.write(path, robot=robot, spheres=spheres, pairs=pairs)
    except ElbowroomError as error:
        clear(error)
        demand(not any(path.parent.iterdir()), f"a refused write left {list(path.parent.iterdir())}: {error}")
        return True
    written = path.read_bytes()
    found = formats.read(path, robot=robot)
    _compare_spheres(_without_kept(found.spheres, spheres, said), spheres, said, rounded=name == ROUNDED)
    if name != "a.urdf":
        lost = {pair for pair in pairs if pair not in found.ignored}
        more = set(found.ignored) - set(pairs)
        demand(not lost and not more, f"pairs lost {lost}, more {more}")
    formats.write(path, robot=robot, spheres=spheres, pairs=pairs)
    demand(path.read_bytes() == written, "writing twice gives other bytes")
    if name in ("a.urdf", "a.xml"):
        _moves_alike(case, robot, er.load_robot(path))
    return False


def _without_kept(
    found: er.SphereModel | None, spheres: er.SphereModel, said: tuple[str, ...]
) -> er.SphereModel | None:
    """What was read, without links that were given no spheres and keep their shapes, some of which are spheres."""
    if found is None:
        return None
    kept = [link for link in found.counts if link not in spheres.counts]
    for link in kept:
        words = f"link {link!r} has no spheres and keeps its collision shapes"
        demand(any(words in text for text in said), f"link {link!r} got spheres from somewhere")
    stay = np.array([found.link_names[k] not in kept for k in found.link_idx], dtype=bool)
    return replace(
        found,
        centers=found.centers[stay],
        radii=found.radii[stay],
        link_idx=found.link_idx[stay],
        attached=(),
    )


def _compare_spheres(
    found: er.SphereModel | None, spheres: er.SphereModel, said: tuple[str, ...], *, rounded: bool = False
) -> None:
    demand(found is not None, "no spheres came back")
    assert found is not None
    for what in ("centers", "radii", "link_idx"):
        ours, back = getattr(spheres, what), getattr(found, what)
        same = ours.shape == back.shape and (np.array_equal(ours, back) or (rounded and what != "link_idx"))
        demand(same, f"{what} came back otherwise: {ours.tolist()} and {back.tolist()}")
    growth = found.radii - spheres.radii
    size = 1.0 + np.abs(spheres.centers).max(initial=0.0) + spheres.radii.max(initial=0.0)
    held = np.linalg.norm(found.centers - spheres.centers, axis=1) <= growth + 1e-15 * size
    demand(held.all(), f"a sphere came back that does not hold its own: {spheres}")
    demand((growth <= 1e-8 * size).all(), f"spheres came back larger by up to {growth.max(initial=0.0)}")
    slack = 1e-8 * size if rounded else 1e-15
    for purpose in ("self", "world"):
        ours, back = spheres.padded_radii(purpose), found.padded_radii(purpose)
        close = np.allclose(ours, back, rtol=1e-15, atol=slack)
        if not close and not any("padding is not kept" in text for text in said):
            raise Wrong(f"padded radii ({purpose}) came back otherwise: {ours.tolist()} and {back.tolist()}")


def _moves_alike(case: Case, robot: er.Robot, back: er.Robot) -> None:
    """The description that was written, against the robot that it was written from."""
    low, high = (np.nan_to_num(side, posinf=np.pi, neginf=-np.pi) for side in (robot.lower, robot.upper))
    cfgs = case.rng.uniform(low, high, (3, robot.dof))
    columns = [robot.joint_names.index(name) for name in back.joint_names]
    lost = set(robot.joint_names) - set(back.joint_names)
    for joint in lost:  # joints that cannot move are part of the pose
        k = robot.joint_names.index(joint)
        demand(robot.upper[k] == robot.lower[k], f"joint {joint!r} can move and was lost")
    links = [robot.link_index(name) for name in back.link_names]
    from tests.oracles import matrix_from_wxyz_xyz

    demand(set(back.link_names) == set(robot.link_names), f"links {back.link_names} of {robot.link_names}")
    compare_poses(
        back, cfgs[:, columns], matrix_from_wxyz_xyz(robot.link_poses(cfgs))[:, links], "the robot written"
    )


def _pair_matrix(case: Case) -> bool:
    robot = _robot(case)
    if not robot.mesh_links:
        return False
    spheres = er.fit_spheres(robot, er.FitOptions(method="centerline"))
    pairs = er.compute_pairs(robot, spheres, er.PairOptions(samples=100, proof_boxes=100, seed=case.number()))
    path = case.folder / "pairs.json"
    pairs.write(path)
    demand(er.PairMatrix.read(path) == pairs, "a pair matrix came back otherwise from JSON")
    path = case.folder / "pairs.srdf"
    pairs.write(path)
    back = er.PairMatrix.read(path, robot)
    demand(
        back.checked == pairs.checked and back.ignored == pairs.ignored,
        "a pair matrix came back otherwise from SRDF",
    )
    return False


def _table(case: Case) -> bool:
    """Configurations in CSV, JSON and NumPy files, whole and broken."""
    robot, rng = _robot(case), case.rng
    if not robot.dof:
        return False
    rows, times = rng.normal(size=(int(rng.integers(1, 6)), robot.dof)), None
    name = str(rng.choice(["a.csv", "a.jsonl", "a.npy", "a.npz"]))
    path, columns = case.folder / name, list(robot.joint_names)
    match name:
        case "a.csv":
            lines = io.StringIO()
            how = csv.QUOTE_NONNUMERIC if len(columns) == 1 else csv.QUOTE_MINIMAL  # or spaces part one name
            csv.writer(lines, quoting=how).writerows([columns, *rows.tolist()])
            path.write_text(lines.getvalue(), encoding="utf-8")
        case "a.jsonl":
            path.write_text(
                "\n".join(json.dumps(dict(zip(columns, row, strict=True))) for row in rows.tolist()) + "\n"
            )
        case "a.npy":
            np.save(path, rows)
        case _:
            times = np.cumsum(rng.uniform(0.0, 1.0, len(rows)))
            np.savez(path, q=rows, time=times)
    found = er.read_configurations(path, robot)
    demand(np.array_equal(found.cfgs, rows), f"{rows.tolist()} came back as {found.cfgs.tolist()}")
    demand(times is None or np.array_equal(found.times, times), f"times {times} came back as {found.times}")
    path.write_bytes(mutated_bytes(path.read_bytes(), rng))
    try:
        found = er.read_configurations(path, robot)
    except ElbowroomError as error:
        clear(error, name)
        return True
    demand(np.isfinite(found.cfgs).all() and found.cfgs.shape[1] == robot.dof, f"read {found.cfgs}")
    return False


def _scene(case: Case) -> bool:
    world = random_world(case)
    name = str(case.rng.choice(["scene.json", "scene.yaml"]))
    path = case.folder / name
    said = world.write(path)
    back = World.read(path)
    if name == "scene.json":
        demand(back.names == world.names, f"names {back.names} of {world.names}")
        for ours, theirs in zip(world, back, strict=True):
            assert_same(ours, theirs)
    else:
        points = case.rng.uniform(-1, 1, (20, 3))
        kept = [o for o in world if type(o).__name__ not in ("PointCloud", "SdfGrid")]
        demand(len(kept) == len(world) or said, "obstacles were left out and that was not said")
        if kept:
            ours, theirs = World(kept).distance(points), back.distance(points)
            outside = (ours > 0.0) & (theirs > 0.0)  # a capsule is three solids there: inside, depths differ
            demand(
                ((ours > 1e-12) == (theirs > 1e-12))[np.abs(ours) > 1e-9].all(), "inside and outside changed"
            )
            demand(
                np.allclose(ours[outside], theirs[outside], atol=ROUNDING), f"distances {ours} and {theirs}"
            )
    return False


def random_world(case: Case) -> World:
    rng = case.rng
    kinds = rng.choice(world_tools.KINDS, int(rng.integers(1, 5)))
    out: list[Any] = []
    for k, kind in enumerate(kinds):
        name = f"{kind}{k}" + (str(rng.choice(ODD_NAMES)) if rng.uniform() < 0.3 else "")
        out.append(world_tools.draw(str(kind), rng, name=name))
    return World(out)


# Broken files -------------------------------------------------------------------------------------


def _mutated(case: Case) -> bool:
    """A file of any format, broken: read, then written into."""
    robot = None
    if case.rng.uniform() < 0.5:
        name = str(case.rng.choice(list(SEEDS)))
        data = SEEDS[name].encode()
        spheres = er.SphereModel.from_links(
            ["base", "tip"], {"base": ([[0, 0, 0]], [0.1]), "tip": ([[0, 0, 1]], [0.2])}
        )
        pairs = {("base", "tip"): "ADJACENT"}
    else:
        robot = _robot(case)
        spheres, pairs = random_spheres(case.rng, robot), random_pairs(case.rng, robot)
        name = str(case.rng.choice([*LOSSLESS, *NO_PADDING]))
        path = case.folder / f"whole-{name}"
        try:
            formats.write(path, robot=robot, spheres=spheres, pairs=pairs)
        except ElbowroomError as error:
            clear(error)
            return True
        data = path.read_bytes()
    path = case.folder / "broken" / name
    path.parent.mkdir()
    path.write_bytes(_broken(case, name, data))
    refused = _reads(path, lambda: formats.read(path))
    if robot is not None:
        _reads(path, lambda: formats.read(path, robot=robot))
    before = path.read_bytes()
    try:
        formats.write(path, robot=robot, spheres=spheres, pairs=pairs)
    except ElbowroomError as error:
        clear(error)
        demand(path.read_bytes() == before, f"a refused write changed the file: {error}")
        demand(
            [p.name for p in path.parent.iterdir()] == [name],
            f"left beside it: {list(path.parent.iterdir())}",
        )
        return True
    if not refused:  # what was broken before stays so where the writer keeps it
        found = formats.read(path)
        demand(
            found.spheres is not None and len(found.spheres) >= len(spheres), "what was written is not read"
        )
    return refused


def _broken(case: Case, name: str, data: bytes) -> bytes:
    if name.endswith((".urdf", ".xml", ".srdf")) and case.rng.uniform() < 0.6:
        return mutated_xml(data, case.rng)
    if case.rng.uniform() < 0.6:
        return mutate(data.decode(), random.Random(case.number()))
    return mutated_bytes(data, case.rng)


def _reads(path: Path, read: Callable[[], Any]) -> bool:
    """Whether reading is refused; clearly, or it is a failure."""
    try:
        read()
    except ElbowroomError as error:
        clear(error, path.name)
        return True
    return False


def _mutated_scene(case: Case) -> bool:
    name = str(case.rng.choice(["scene.json", "scene.yaml"]))
    path = case.folder / name
    if name == "scene.yaml" and case.rng.uniform() < 0.5:
        data = SHELF.encode()
    else:
        random_world(case).write(path)
        data = path.read_bytes()
    path.write_bytes(_broken(case, name, data))
    try:
        world = World.read(path)
    except ElbowroomError as error:
        clear(error, path.name)
        return True
    points = case.rng.uniform(-1, 1, (5, 3))
    distances = world.distance(points)
    if np.isnan(distances).any():
        raise Wrong(f"distances {distances}")
    return False
