"""Visual geometry against those who show robots: Pinocchio's visual model and MuJoCo's renderer."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
import trimesh

import elbowroom as er
from elbowroom._poses import matrix_from_wxyz_xyz
from elbowroom.robot.descriptions._catalogue import ASSETS
from elbowroom.robot.internal import find_robot
from tests.oracles import PinocchioModel, pin

from .builders import write
from .test_geometry_oracle import ENCLOSED, half_extents


def pinocchio_visuals(name):
    """Corners in the world at zero and colour (None where it gives none) of every visual, by link."""
    entry = find_robot(name)
    model = PinocchioModel(entry.description).model
    folders = [str(path) for path in (entry.description.parent, *entry.package_dirs)]
    geometry = pin.buildGeomFromUrdf(
        model, str(entry.description), pin.GeometryType.VISUAL, package_dirs=folders
    )
    data, placed = model.createData(), geometry.createData()
    pin.forwardKinematics(model, data, pin.neutral(model))
    pin.updateGeometryPlacements(model, data, geometry, placed)
    found: dict[str, list] = {}
    for item, M in zip(geometry.geometryObjects, placed.oMg, strict=True):
        half = half_extents(item.geometry, M.rotation)
        corners = (
            np.array(item.geometry.vertices()) @ M.rotation.T + M.translation
            if half is None
            else M.translation + np.array([-half, half])
        )
        color = tuple(item.meshColor) if item.overrideMaterial else None
        found.setdefault(model.frames[item.parentFrame].name, []).append((corners, color))
    return found


@pytest.mark.parametrize("name", ["panda", "baxter", "talos"])
def test_every_link_looks_as_pinocchio_shows_it(load, name):
    robot, expected = load(name), pinocchio_visuals(name)
    Ts = matrix_from_wxyz_xyz(robot.link_poses(np.zeros(robot.dof)))
    assert set(expected) == {link for link in robot.link_names if robot.link_visuals(link)}
    assert robot.visual_notes == ()
    for link, pieces in expected.items():
        T = Ts[robot.link_index(link)]
        mine = (
            np.concatenate([piece.mesh.vertices for piece in robot.link_visuals(link)]) @ T[:3, :3].T
            + T[:3, 3]
        )
        theirs = np.concatenate([corners for corners, _ in pieces])
        slack = ENCLOSED / 2 * np.ptp(theirs, axis=0).max() + 1e-6
        assert np.abs(mine.min(axis=0) - theirs.min(axis=0)).max() <= slack, link
        assert np.abs(mine.max(axis=0) - theirs.max(axis=0)).max() <= slack, link


def test_colours_of_materials_are_pinocchios(load):
    robot, expected = load("talos"), pinocchio_visuals("talos")
    compared = 0
    for link, pieces in expected.items():
        mine = robot.link_visuals(link)
        assert len(mine) == len(pieces)
        for visual, (_, color) in zip(mine, pieces, strict=True):
            if color is not None:
                assert visual.color == pytest.approx(color)
                compared += 1
    assert compared > 40


MESHES = """
<mujoco><asset><mesh name="m" file="m.stl" scale="1 -2 1"/><material name="steel" rgba="0.2 0.3 0.4 0.9"/></asset>
<default><default class="v"><geom type="mesh" mesh="m" contype="0" conaffinity="0" group="2"/></default>
<default class="c"><geom type="mesh" mesh="m" group="3"/></default></default><worldbody>
<body name="base" pos="0.1 0.2 0.3" quat="0.9 0.1 0.3 0.2"><geom class="v" material="steel"/><geom class="c"/>
 <body name="arm" pos="0 0 1"><joint name="j" axis="0 1 0"/>
  <geom class="v" pos="1 2 3" euler="10 20 30" rgba="1 0 0 1" material="steel"/><geom class="v"/><geom class="c"/>
  <body name="tip"><geom type="ellipsoid" size="0.1 0.2 0.3"/><geom type="cylinder" size="0.1 0.3"/></body>
 </body></body></worldbody></mujoco>"""


def drawn_geoms(model):
    """Geoms that MuJoCo's renderer is given at the reference pose: number -> pose in the body, colour."""
    data, scene = mujoco.MjData(model), mujoco.MjvScene(model, 1000)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_camlight(model, data)
    everything = mujoco.mjtCatBit.mjCAT_ALL.value
    mujoco.mjv_updateScene(model, data, mujoco.MjvOption(), None, mujoco.MjvCamera(), everything, scene)
    found = {}
    for geom in scene.geoms[: scene.ngeom]:
        if geom.objtype == int(mujoco.mjtObj.mjOBJ_GEOM):
            body = model.geom_bodyid[geom.objid]
            turn = data.xmat[body].reshape(3, 3).T
            found[geom.objid] = turn @ geom.mat, turn @ (geom.pos - data.xpos[body]), geom.rgba.copy()
    return found


@pytest.mark.parametrize("which", ["rh56", "meshes"])
def test_mjcf_looks_as_mujoco_draws_it(tmp_path, which):
    mesh = trimesh.creation.box((0.1, 0.2, 0.3), trimesh.transformations.translation_matrix([0.5, 0.6, 0.7]))
    mesh.export(tmp_path / "m.stl")
    path = ASSETS / "rh56/rh56.xml" if which == "rh56" else write(tmp_path, MESHES, "made.xml")
    model, robot = mujoco.MjModel.from_xml_path(str(path)), er.load_robot(path)
    drawn = drawn_geoms(model)
    compared = 0
    for link in robot.link_names:
        shown = sorted(geom for geom in drawn if model.geom_bodyid[geom] == model.body(link).id)
        visuals = robot.link_visuals(link)
        assert len(visuals) == len(shown), link
        for geom, visual in zip(shown, visuals, strict=True):
            rotation, position, rgba = drawn[geom]
            own = (visual.mesh.vertices - position) @ rotation
            center, half = model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:]
            assert np.allclose(
                [own.min(axis=0), own.max(axis=0)], [center - half, center + half], atol=0.011 * half.max()
            )
            assert visual.color == pytest.approx(rgba.tolist())
            compared += 1
    assert compared == len(drawn) > 4
