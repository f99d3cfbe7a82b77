"""Whatever takes a robot takes what `load_robot` takes: a name, a path, a yourdfpy.URDF, an MjModel, an MjSpec."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import mujoco
import numpy as np
import pytest
import yourdfpy

import elbowroom as er
from elbowroom.collision import as_model
from elbowroom.errors import InputError, UnknownRobotError

FOLDERS = ("collision", "distance", "formats", "grasp", "ik", "mesh", "pairs", "plan", "remote", "robot",
           "spheres", "ui", "ui.draw", "world")  # fmt: skip
NAMES = {"robot", "arm", "other", "model", "urdf_or_robot"}
"""Parameters that are robots, or models of one."""
HELD = {
    "formats.Contents": "what a file held",
    "grasp.Hand": "made by load_hand",
    "grasp.ReachResult": "made by reach_for",
    "ik.IkResult": "made by IkSolver",
    "ik.TrackStep": "made by Tracker.tick",
    "ik.Guard.with_model": "another model of the very robot of the guard",
    "ik.IkSolver.share_tables": "of another solver",
    "ik.IkSolver.with_model": "another model of the very robot of the solver",
    "ik.Tracker.with_model": "another model of the very robot of the tracker",
    "pairs.MadeFor.differs": "another MadeFor",
    "plan.Roadmap.among": "another model of the very robot of the roadmap",
    "plan.Roadmap.check": "the model of a question",
    "ui.serve": "the page opens and says there what is wrong; tests/ui/test_server.py",
    "ui.show": "as ui.serve",
}
"""Values that the package makes itself, and questions about one model: what is given there is never to be loaded."""
NOWHERE = "no_robot_has_this_name"


def callables():
    """(name, function, parameter) of every public function, class and method with a parameter that is a robot."""
    for folder in FOLDERS:
        module = importlib.import_module(f"elbowroom.{folder}")
        for name in module.__all__:
            value = getattr(module, name)
            found = {name: value}
            if inspect.isclass(value):
                found |= {f"{name}.{k}": getattr(value, k) for k in vars(value) if not k.startswith("_")}
            for label, function in found.items():
                if not callable(function) or (inspect.isclass(function) and issubclass(function, Exception)):
                    continue
                parameters = inspect.signature(function).parameters
                for parameter in NAMES & set(parameters):
                    yield f"{folder}.{label}", function, parameter


CALLS = sorted({(f"{label}({parameter})", function, parameter) for label, function, parameter in callables()
                if label not in HELD}, key=lambda call: call[0])  # fmt: skip


def call(function, parameter, value):
    """The call with this value and None for whatever else it needs; what takes robots looks at them first."""
    needed = {name: None for name, p in inspect.signature(function).parameters.items() if p.default is p.empty
              and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}  # fmt: skip
    return function(**{**needed, "robot": er.load_robot("rh56"), parameter: value}
                    if parameter == "other" else {**needed, parameter: value})  # fmt: skip


def test_the_walk_finds_the_entry_points():
    names = {name for name, _, _ in CALLS}
    assert len(names) > 60
    for name in ("collision.CollisionModel(robot)", "spheres.fit_spheres(robot)", "plan.plan_motion(model)",
                 "ik.Guard(model)", "formats.write_srdf(robot)", "mesh.ExactCollision(robot)",
                 "distance.MultiSphereCollision.max_penetration(robot)"):  # fmt: skip
        assert name in names
    assert {label for label, _, _ in callables()} >= set(HELD), "nothing is excepted that does not exist"


@pytest.mark.parametrize(("name", "function", "parameter"), CALLS, ids=[name for name, _, _ in CALLS])
def test_a_name_is_looked_up(name, function, parameter):
    with pytest.raises(UnknownRobotError, match=f"no robot '{NOWHERE}'"):
        call(function, parameter, NOWHERE)


@pytest.mark.parametrize(("name", "function", "parameter"), CALLS, ids=[name for name, _, _ in CALLS])
def test_what_is_no_robot_is_refused(name, function, parameter):
    with pytest.raises(InputError, match="cannot load a robot from a float|expected"):
        call(function, parameter, 3.5)


BOX = '<collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision>'
LONG = '<collision><origin xyz="0.3 0 0"/><geometry><box size="0.6 0.1 0.1"/></geometry></collision>'
ARM = f"""<robot name="two"><link name="a">{BOX}</link><link name="b">{BOX}</link><link name="c">{LONG}</link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0.3 0 0"/><axis xyz="0 0 1"/>
<limit lower="-2.5" upper="2.5" effort="1" velocity="1"/></joint>
<joint name="k" type="revolute"><parent link="b"/><child link="c"/><origin xyz="0.3 0 0"/><axis xyz="0 0 1"/>
<limit lower="-2.8" upper="2.8" effort="1" velocity="1"/></joint></robot>"""


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("two") / "two.urdf"
    file.write_text(ARM)
    return file


@pytest.mark.parametrize("kind", ["text", "path", "yourdfpy", "model", "spec"])
def test_every_source_gives_the_same_verdicts(path, kind):
    sources = {
        "text": lambda: str(path),
        "path": lambda: path,
        "yourdfpy": lambda: yourdfpy.URDF.load(str(path), load_meshes=False),
        "model": lambda: mujoco.MjModel.from_xml_path(str(path)),
        "spec": lambda: mujoco.MjSpec.from_file(str(path)),
    }
    expected = er.CollisionModel(er.load_robot(path))
    cfgs = expected.robot.random_cfgs(200)
    model = er.CollisionModel(sources[kind]())
    assert model.robot.joint_names == ("j", "k")
    if kind in ("model", "spec"):  # MuJoCo fuses the first link with the world, which is then a link too
        return
    np.testing.assert_array_equal(model.free(cfgs), expected.free(cfgs))
    assert 0 < model.free(cfgs).sum() < 200


def test_the_steps_from_a_path(path):
    spheres = er.fit_spheres(path)
    assert er.prove_coverage(str(path), spheres).proved
    pairs = er.compute_pairs(path, spheres)
    assert ("a", "c") in pairs.checked
    assert er.ExactCollision(path, pairs).free(np.zeros(2))
    coll = er.MultiSphereCollision.from_models(path, spheres, pairs)
    assert coll.max_penetration(path, np.zeros(2)) < 0
    result = er.plan_motion(str(path), np.zeros(2), np.array([1.0, 1.0]))
    assert result.success
    assert er.prove_path(path, result.path).free
    model = as_model(path)
    assert as_model(model) is model
    assert model.world is None
    assert not er.Guard(path).step(np.zeros(2), np.full(2, 0.01), 0.01).altered
