"""What a prompt shows of public values fits a screen: at most 12 lines, and not too many characters."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest

import elbowroom as er
from elbowroom import grasp, mesh, plan, world
from elbowroom._brief import brief
from elbowroom.collision.internal import one_ball_a_link
from elbowroom.pairs import pairs_from_ignored

MOST_LINES = 12
MOST_CHARACTERS = 1200
TOLD_IN_FULL = ("Options", "Opposition")
"""Settings are short, and their repr is part of the keys of cached results."""
FOLDERS = [
    "robot",
    "spheres",
    "distance",
    "pairs",
    "mesh",
    "world",
    "collision",
    "ik",
    "plan",
    "grasp",
    "remote",
    "formats",
    "ui",
]


def inside(value: Any, seen: set[int]) -> Iterator[Any]:
    """A value of ours and those of ours in its fields, however deep."""
    ours = type(value).__module__.startswith("elbowroom")
    if id(value) in seen or not (ours or isinstance(value, (Mapping, tuple, list))):
        return
    seen.add(id(value))
    if ours:
        yield value
    if isinstance(value, Mapping):
        parts = list(value.values())
    elif isinstance(value, (tuple, list)):
        parts = list(value)
    else:
        parts = (
            [getattr(value, field.name) for field in fields(value) if field.repr]
            if is_dataclass(value)
            else []
        )
    for part in parts:
        yield from inside(part, seen)


@pytest.fixture(scope="module")
def values(load) -> list[Any]:
    """What a first hour hands out: every step of the pipeline on a robot, and its answers."""
    robot = load("teaarm")
    spheres = one_ball_a_link(robot)
    pairs = er.compute_pairs(robot, spheres, er.PairOptions(samples=300, proof_boxes=50))
    room = world.scene_for(robot, "table")
    model = er.CollisionModel(robot, spheres, pairs, world=room)
    bad, good = robot.named_cfgs["self_collision"], robot.named_cfgs["arms_forward"]
    alone = model.with_world(None)
    path = np.linspace(good, robot.named_cfgs["arms_up"], 30)
    end = "frame_left_arm_ee"
    target = robot.link_poses(good)[robot.link_index(end)]
    box = mesh.TriangleMesh.from_trimesh(robot.link_mesh("base_link"))
    hand = grasp.load_hand("rh56")
    return [
        robot, spheres, pairs, model, room, hand,
        pairs_from_ignored(robot, {}, "none"),
        er.prove_coverage(robot, spheres, measure=False),
        er.MultiSphereCollision.from_models(robot, spheres, pairs),
        er.SelfCollisionChecker(robot, spheres, pairs),
        er.ExactCollision(robot, pairs.checked),
        model.explain(bad), model.explain(good), alone.segment_free(good, bad),
        er.audit(alone, path), plan.prove_path(alone, path),
        er.IkSolver(alone).solve({end: target}),
        er.Guard(alone).step(good, path[1], 0.02),
        plan.plan_motion(alone, good, path[-1]),
        mesh.mesh_mesh_contact(box, np.eye(4), box, np.eye(4)),
        er.PairOptions(), er.FitOptions(), er.IkOptions(), plan.PlanOptions(),
    ]  # fmt: skip


def test_what_is_shown_of_every_value_fits_a_screen(values):
    seen: set[int] = set()
    found = [part for value in values for part in inside(value, seen)]
    kinds = {type(part).__name__ for part in found}
    assert {
        "MultiSphereCollision",
        "Verdict",
        "KinematicTree",
        "PairEvidence",
        "PathProof",
        "Contacts",
    } <= kinds
    long = {
        type(part).__name__: repr(part)[:300]
        for part in found
        if repr(part).count("\n") >= MOST_LINES or len(repr(part)) > MOST_CHARACTERS
    }
    assert long == {}


def test_every_public_class_with_arrays_or_mappings_prints_in_short():
    """A repr made by `dataclass` writes out all of an array: no public class that may hold a large one has such."""
    left: list[str] = []
    for folder in FOLDERS:
        module = importlib.import_module(f"elbowroom.{folder}")
        for name in module.__all__:
            kind = getattr(module, name)
            if not (inspect.isclass(kind) and is_dataclass(kind)) or name.endswith(TOLD_IN_FULL):
                continue
            made_by_dataclass = hasattr(kind.__repr__, "__wrapped__")
            types = [str(field.type) for field in fields(kind) if field.repr]
            if made_by_dataclass and any("ndarray" in t or "Mapping" in t or "dict" in t for t in types):
                left.append(f"{folder}.{name}")
    assert left == []


def test_a_model_of_many_spheres_is_one_line():
    """`MultiSphereCollision` printed 22,606 characters."""
    rng = np.random.default_rng(0)
    count, names = 400, tuple(f"link_with_a_long_name_{k}" for k in range(60))
    links = {name: (rng.random((count // 60, 3)), rng.random(count // 60)) for name in names}
    spheres = er.SphereModel.from_links(names, links, robot_name="many")
    assert len(repr(spheres)) < 100


def test_brief_tells_shapes_lengths_and_first_entries():
    @brief
    @dataclass(frozen=True)
    class Value:
        points: np.ndarray
        place: np.ndarray
        names: tuple[str, ...]
        table: Mapping[str, float]
        text: str = "short"

    value = Value(np.zeros((50, 3)), np.array([1.0, 2.5]), ("a", "b", "c", "d"), {"x": 0.1}, "t" * 500)
    assert repr(value) == (
        "Value(points=array (50, 3), place=[1, 2.5], names=('a', 'b', 'c', ... 4 in all), table={'x': 0.1}, "
        f"text='{'t' * 97}...')"
    )
    assert "\n" not in repr(replace(value, names=("line\nbreak",)))
    long = Value(
        np.zeros(3), np.zeros(3), tuple("n" * 90 for _ in range(3)), {k * 80: 1.0 for k in "abcdefgh"}
    )
    assert len(repr(long)) <= 1000
