"""The floating hand in MuJoCo: a model to simulate, and pictures without a display.

The hand gets six base joints (x, y, z, then rot_x, rot_y, rot_z) besides its six finger actuators; a grasp is
the posture rot_x = pi, rot_y = -tilt. Coupled joints are set by their polynomials. Pictures need EGL or OSMesa and no
display; the viewer is in `_mujoco_viewer.py`.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import numpy as np
from jaxtyping import UInt8

from ...errors import InputError, MissingExtraError
from ...grasp import Grasp, Hand
from ...grasp.internal import (
    BUNDLED_HANDS,
    GraspedObject,
    base_coordinates,
    grasped_object,
    revisions,
    rh56_spec,
)

BASE_JOINTS = ("base_x", "base_y", "base_z", "rot_x", "rot_y", "rot_z")
CONTEXTS = ("mujoco.egl", "mujoco.osmesa", "mujoco.glfw")
"""Modules with a `GLContext`, in the order they are tried; the last needs a display."""
AZIMUTH = 120.0
"""Degrees; the direction from which a grasp is shown."""
SKY, FLOOR = (0.93, 0.95, 0.97, 1.0), (0.80, 0.77, 0.72, 1.0)
OBJECT_COLOUR = (0.95, 0.76, 0.31, 0.55)
TIP_COLOURS = ((0.82, 0.16, 0.25, 1.0), (0.10, 0.42, 0.70, 1.0))
"""Thumb tip, other active tips."""


def _mujoco() -> Any:
    """The mujoco module, imported when first needed; its compiled names are unknown to type checkers."""
    return importlib.import_module("mujoco")


def floating_hand_spec(hand: Hand, thing: GraspedObject | None = None, *, table: bool = True) -> Any:
    """A `mujoco.MjSpec` of the hand on six base joints, with table, light and the object to look at.

    Raises:
        InputError: the hand has no bundled MuJoCo model.
    """
    mujoco = _mujoco()
    if hand.name not in BUNDLED_HANDS or hand.revision not in revisions():
        raise InputError(
            f"{hand.name}: MuJoCo pictures are made of the bundled hands {' and '.join(BUNDLED_HANDS)} only"
        )
    spec = rh56_spec(hand.revision, hand.name)
    spec.modelname = f"floating_{hand.name}"
    for key in list(spec.keys):
        spec.delete(key)
    base = spec.body("base")
    kinds = (mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE)
    for i, name in enumerate(BASE_JOINTS):
        base.add_joint(name=name, type=kinds[i // 3], axis=np.eye(3)[i % 3], range=(-10.0, 10.0))
    world = spec.worldbody
    if table:
        world.add_geom(name="table", type=mujoco.mjtGeom.mjGEOM_PLANE, size=(0.5, 0.5, 0.01), rgba=FLOOR)
    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_FLAT,
        rgb1=SKY[:3],
        rgb2=SKY[:3],
        width=16,
        height=96,
    )
    world.add_light(pos=(0.3, -0.4, 0.9), dir=(-0.3, 0.4, -0.9), diffuse=(0.45, 0.45, 0.45), castshadow=True)
    world.add_light(pos=(-0.4, -0.3, 0.6), dir=(0.4, 0.3, -0.6), diffuse=(0.25, 0.25, 0.25), castshadow=False)
    if thing is not None:
        shape = _object_shape(thing)
        world.add_geom(name="object", pos=thing.center, rgba=OBJECT_COLOUR, contype=0, conaffinity=0, **shape)
    spec.visual.headlight.ambient = (0.45, 0.45, 0.45)
    spec.visual.headlight.diffuse = (0.3, 0.3, 0.3)
    return spec


def _object_shape(thing: GraspedObject) -> dict[str, Any]:
    """Type, size and turn of the object's geom; a cylinder lies along Y."""
    kinds = _mujoco().mjtGeom
    if thing.kind == "cylinder":
        size, turn = (thing.size[0] / 2, thing.size[1] / 2, 0.0), (np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0)
        return {"type": kinds.mjGEOM_CYLINDER, "size": size, "quat": turn}
    return {"type": kinds.mjGEOM_BOX, "size": thing.size / 2, "quat": (1.0, 0.0, 0.0, 0.0)}


def set_posture(
    model: Any, data: Any, hand: Hand, ctrl: np.ndarray, T_world_base: np.ndarray, tilt: float
) -> None:
    """Writes a posture into MuJoCo's data: base joints, all finger joints by name, controls; then kinematics."""
    mujoco = _mujoco()
    values = dict(zip(BASE_JOINTS, base_coordinates(T_world_base, tilt), strict=True))
    values |= dict(zip(hand.joint_names, hand.joints(ctrl).tolist(), strict=True))
    for name, value in values.items():
        data.qpos[model.joint(name).qposadr[0]] = value
    for name, value in zip(hand.actuator_names, ctrl, strict=True):
        data.ctrl[model.actuator(name).id] = value
    mujoco.mj_forward(model, data)


def render_grasp(
    grasp: Grasp, height: float = 0.1, *, size: tuple[int, int] = (960, 720), azimuth: float = AZIMUTH
) -> UInt8[np.ndarray, "rows columns 3"]:
    """Picture of a grasp by MuJoCo's renderer, without a display.

    Args:
        grasp: of the bundled hand.
        height: world height of the grasp, m.
        size: columns and rows.
        azimuth: direction of view, degrees.

    Raises:
        MissingExtraError: neither EGL nor OSMesa is there; the message says what to install.
    """
    mujoco = _mujoco()
    columns, rows = size
    spec = floating_hand_spec(grasp.hand, grasped_object(grasp, height))
    getattr(spec.visual, "global").offwidth, getattr(spec.visual, "global").offheight = columns, rows
    model = spec.compile()
    data = mujoco.MjData(model)
    set_posture(model, data, grasp.hand, grasp.ctrl, grasp.to_world(height).T_world_base, grasp.tilt_y)
    camera = mujoco.MjvCamera()
    aim(camera, grasp, height, azimuth)
    context = _open_context(columns, rows)
    try:
        return _draw(model, data, camera, grasp, height, columns, rows)
    finally:
        context.free()


def aim(camera: Any, grasp: Grasp, height: float, azimuth: float = AZIMUTH) -> None:
    """Looks at the middle between the hand's base and the object."""
    camera.azimuth, camera.elevation, camera.distance = azimuth, -14.0, 0.45
    base = grasp.to_world(height).T_world_base[:3, 3]
    camera.lookat[:] = 0.5 * (base + np.array([0.0, 0.0, height]))


def _draw(
    model: Any, data: Any, camera: Any, grasp: Grasp, height: float, columns: int, rows: int
) -> np.ndarray:
    mujoco = _mujoco()
    scene = mujoco.MjvScene(model, maxgeom=2000)
    gl = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
    mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, gl)
    mujoco.mjv_updateScene(
        model, data, mujoco.MjvOption(), None, camera, mujoco.mjtCatBit.mjCAT_ALL.value, scene
    )
    for name, tip in grasp.to_world(height).tips_world.items():
        colour = TIP_COLOURS[0 if name == grasp.hand.thumb else 1]
        mujoco.mjv_initGeom(
            scene.geoms[scene.ngeom],
            mujoco.mjtGeom.mjGEOM_SPHERE,
            np.array([0.003, 0.0, 0.0]),
            np.asarray(tip),
            np.eye(3).ravel(),
            np.array(colour, dtype=np.float32),
        )
        scene.ngeom += 1
    viewport = mujoco.MjrRect(0, 0, columns, rows)
    pixels = np.empty((rows, columns, 3), dtype=np.uint8)
    mujoco.mjr_render(viewport, scene, gl)
    mujoco.mjr_readPixels(pixels, None, viewport, gl)
    gl.free()
    return pixels[::-1].copy()


def _open_context(columns: int, rows: int) -> Any:
    """The first OpenGL context that can be made current."""
    failures: list[str] = []
    for module in CONTEXTS:
        try:
            context = importlib.import_module(module).GLContext(columns, rows)
            context.make_current()
            return context
        except Exception as error:  # what a missing driver raises differs between platforms
            failures.append(f"{module.removeprefix('mujoco.')}: {type(error).__name__}")
    raise MissingExtraError(
        "MuJoCo cannot draw here: neither EGL nor OSMesa nor a display works "
        f"({'; '.join(failures)}). On Debian or Ubuntu: apt install libegl1 libgl1-mesa-dri, or libosmesa6. "
        "plot_grasp (--plot) draws without them."
    )


def has_display() -> bool:
    """Whether a window can be opened: assumed everywhere but on Linux, where the environment tells."""
    return not sys.platform.startswith("linux") or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )


def set_grasp(model: Any, data: Any, grasp: Grasp, height: float) -> None:
    """Puts the hand of a floating model into a grasp, and gives its object the shape, size and place."""
    thing = grasped_object(grasp, height)
    shape, geom = _object_shape(thing), model.geom("object")
    geom.type[:], geom.size[:] = int(shape["type"]), shape["size"]
    geom.pos[:], geom.quat[:] = thing.center, shape["quat"]
    set_posture(model, data, grasp.hand, grasp.ctrl, grasp.to_world(height).T_world_base, grasp.tilt_y)
