"""Every public function and property that gives a distance states its sign in the first line of its docstring."""

from __future__ import annotations

import importlib
import inspect
import re

import numpy as np
import pytest

import elbowroom as er

FOLDERS = ("collision", "distance", "grasp", "mesh", "world")
A_LENGTH = re.compile(r"(^|_)(distances?|penetration|clearance|depth|separation)($|_batch$|_and_gradient$)")
"""Names of what gives a signed length."""


def signed_lengths():
    found = {}
    for folder in FOLDERS:
        module = importlib.import_module(f"elbowroom.{folder}")
        for name in module.__all__:
            value = getattr(module, name)
            members = {name: value}
            if inspect.isclass(value):
                members = {f"{name}.{k}": getattr(value, k) for k in dir(value) if not k.startswith("_")}
            for label, member in members.items():
                if A_LENGTH.search(label.split(".")[-1]) and (
                    callable(member) or isinstance(member, property)
                ):
                    found[f"{folder}.{label}"] = member
    return found


LENGTHS = signed_lengths()


def test_the_walk_finds_them():
    assert {
        "distance.MultiSphereCollision.max_penetration",
        "distance.MultiSphereCollision.compute_self_collision_distance",
        "distance.SelfCollisionChecker.min_distance",
        "collision.CollisionModel.clearance",
        "mesh.distance",
        "mesh.ExactCollision.distances",
        "mesh.mesh_mesh_separation",
        "world.World.distance",
    } <= set(LENGTHS)


@pytest.mark.parametrize("name", LENGTHS)
def test_the_first_line_states_the_sign(name):
    first = inspect.getdoc(LENGTHS[name]).splitlines()[0]
    assert "positive" in first, first
    assert "negative" in first, first


def test_the_signs_are_those(load):
    """A free and a colliding configuration, by each of the functions that judge a robot."""
    model = er.CollisionModel(load("teaarm"))
    robot, bad = model.robot, load("teaarm").named_cfgs["self_collision"]
    good = model.default_cfg
    checker = er.SelfCollisionChecker(robot, model.spheres, model.pairs)
    coll = er.MultiSphereCollision.from_models(robot, model.spheres, model.pairs)
    exact = er.ExactCollision(robot, model.pairs)
    for cfg, sign in ((good, 1), (bad, -1)):
        assert model.free(cfg) == (sign > 0)
        assert np.sign(model.clearance(cfg)) == sign
        assert np.sign(model.explain(cfg).clearance) == sign
        assert np.sign(checker.min_distance(cfg)) == sign
        assert np.sign(checker.pair_distances(cfg).min()) == sign
        assert np.sign(np.asarray(coll.compute_self_collision_distance(robot, cfg)).min()) == sign
        assert np.sign(np.asarray(coll.compute_link_pair_distance(robot, cfg)).min()) == sign
        assert np.sign(float(coll.max_penetration(robot, cfg))) == -sign
        assert np.sign(exact.distances(cfg)[0].distance) == sign
