"""MJCF files, `mujoco.MjSpec` and `mujoco.MjModel` read into joints and shapes.

MuJoCo itself compiles the file; we read the compiled model, so defaults, includes, classes, frames and
inferred sizes are MuJoCo's own. Hinge and slide joints move; free and ball joints are held and noted.
Joint equalities become couplings (y - y0 = sum_k c_k (x - x0)^k, MuJoCo's law, rewritten in x and y).
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..._frozen import frozen
from ..._poses import matrix_from_wxyz_xyz
from ...errors import DescriptionError
from ...typing import LinkPair, Matrix4, sorted_pair
from .._tessellate import primitive
from .._types import Coupling, Description, Joint, JointType, Note, Shape, joint_motion
from ._meshfile import clean_triangles
from ._mjcf_files import find_files
from ._mjcf_own import own_bodies
from ._resolve import MeshResolver

FINITE = (
    "body_pos", "body_quat", "jnt_pos", "jnt_axis", "jnt_range", "qpos0", "geom_pos", "geom_quat", "mesh_vert",
    "key_qpos", "eq_data",
)  # fmt: skip
"""Arrays of a compiled model that must hold finite numbers for its kinematics and geometry to mean anything."""
WORLD = 0
"""Body index of MuJoCo's world."""


def _mujoco() -> Any:
    """The mujoco module, imported when first needed; its compiled names are unknown to type checkers."""
    import mujoco

    return mujoco


def model_from_file(path: Path, package_dirs: Iterable[str | os.PathLike[str]]) -> Any:
    """Compiles an MJCF file after checking that it only names files it may read.

    Raises:
        UnsafeFileError: an include or asset outside the description's folders, or XML entities.
        DescriptionError: MuJoCo cannot compile it; its message is passed on.
    """
    mujoco = _mujoco()
    place, missing = find_files(path, MeshResolver(path, package_dirs))
    try:
        spec = mujoco.MjSpec.from_file(str(place))
    except (ValueError, OSError, RuntimeError) as error:
        raise DescriptionError(
            f"{path}: MuJoCo cannot read it: {_one_line(error)}{_seen(missing)}"
        ) from error
    return compile_spec(spec, str(path), missing)


def compile_spec(spec: Any, where: str, missing: Sequence[str] = ()) -> Any:
    """Compiles an MjSpec into an MjModel; `missing` files are named if that fails."""
    try:
        return spec.compile()
    except (ValueError, OSError, RuntimeError) as error:
        text = f"{where}: MuJoCo cannot compile it: {_one_line(error)}{_seen(missing)}"
        raise DescriptionError(text) from error


def _seen(missing: Sequence[str]) -> str:
    more = f"; {len(missing) - 1} more are missing" if len(missing) > 1 else ""
    return f"; {missing[0]}{more}" if missing else ""


def description_from_model(model: Any, use_visual: bool, where: str = "") -> Description:
    """Translates a compiled MuJoCo model; `where` is the file it comes from, for messages."""
    where = where or f"MJCF model {_model_name(model)!r}"
    for name in FINITE:
        if not np.isfinite(getattr(model, name)).all():
            raise DescriptionError(f"{where}: {name} has NaN or infinite numbers")
    return _Reader(model, where).parts(use_visual)


def body_names(model: Any) -> list[str]:
    """Names of the bodies, which are those of the links, by their numbers."""
    return [model.body(body).name or f"body_{body}" for body in range(model.nbody)]


class _Reader:
    """Reads one MjModel; holds the maps that several steps share."""

    def __init__(self, model: Any, where: str) -> None:
        mujoco = _mujoco()
        self.model, self.where = model, where
        self.notes: list[Note] = []
        self.body_names = body_names(model)
        self.joint_names = [self._name("JOINT", joint, f"joint_{joint}") for joint in range(model.njnt)]
        self.own = set(own_bodies(model))
        """The robot's bodies."""
        self.floating_bases: list[str] = []
        self.visual_only: list[int] = []
        """Bodies whose geoms collide with nothing."""
        self.left_out: list[int] = []
        """Bodies with a geom that has no finite mesh; not the world's, whose floor is no part of the robot."""
        self.constants: dict[int, float] = {}
        """Joints that an equality keeps at one value."""
        self._scalar_types = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))

    def _name(self, kind: str, index: int, default: str) -> str:
        mujoco = _mujoco()
        return mujoco.mj_id2name(self.model, getattr(mujoco.mjtObj, f"mjOBJ_{kind}"), index) or default

    def parts(self, use_visual: bool) -> Description:
        model = self.model
        shapes = {body: self._shapes(body, use_visual) for body in range(model.nbody)}
        roots = [body for body in range(1, model.nbody) if model.body_parentid[body] == WORLD]
        if not roots:
            raise DescriptionError(f"{self.where}: it has no body besides the world")
        # A single root body that stands still is the robot's base; otherwise the world is a link too.
        keep_world = len(roots) > 1 or bool(shapes[WORLD]) or self._moves(roots[0])
        bodies = list(range(0 if keep_world else 1, model.nbody))
        couplings = self._couplings()
        joints = [joint for body in bodies[1:] for joint in self._joints(body, couplings)]
        if not keep_world:
            self._note_held(roots[0])
        self._note_unrepresented()
        parts = Description(
            name=_model_name(model),
            link_names=[self.body_names[body] for body in bodies],
            joints=joints,
            notes=self.notes,
            floating_bases=self.floating_bases,
            disabled=self._excluded([self.body_names[body] for body in bodies]),
            named=self._keyframes(),
            reference=self._values(model.qpos0),
            visual_only=[self.body_names[body] for body in bodies if body in self.visual_only],
            left_out=[self.body_names[body] for body in bodies if body in self.left_out],
        )
        if not keep_world:
            parts.root_pose = _pose(model.body_pos[roots[0]], model.body_quat[roots[0]])
        for body in bodies:
            parts.add_shapes(self.body_names[body], shapes[body])
        return parts

    def _moves(self, body: int) -> bool:
        return any(self.model.jnt_type[index] in self._scalar_types for index in self._joint_range(body))

    def _joint_range(self, body: int) -> range:
        first = int(self.model.body_jntadr[body])
        return range(first, first + int(self.model.body_jntnum[body]))

    def _note_held(self, body: int) -> None:
        mujoco = _mujoco()
        if self._is_free(body) and body not in self.own:
            text = (
                "a free body that is not the robot's: it is held where it is and taken as a part of the robot, fixed to"
                " its base; load a scene without it if it is to move"
            )
            self.notes.append(Note("loose", self.body_names[body], text))
            return
        for index in self._joint_range(body):
            if self.model.jnt_type[index] not in self._scalar_types:
                label = "free" if self.model.jnt_type[index] == int(mujoco.mjtJoint.mjJNT_FREE) else "ball"
                text = f"{label} joint of body {self.body_names[body]!r}, held at its reference pose or at base_pose"
                self.notes.append(Note("held", self.joint_names[index], text))

    def _joints(self, body: int, couplings: dict[int, Coupling]) -> list[Joint]:
        """Joints of one body in order of action; a fixed one where nothing moves."""
        model = self.model
        self._note_held(body)
        parent, child = self.body_names[model.body_parentid[body]], self.body_names[body]
        T_carrier = _pose(model.body_pos[body], model.body_quat[body])
        joints: list[Joint] = []
        for index in self._joint_range(body):
            if model.jnt_type[index] in self._scalar_types:
                joints.append(self._joint(index, parent, child, T_carrier, couplings.get(index)))
                T_carrier = np.eye(4)
        if joints:
            return joints
        name = f"{child}_fixed"
        while name in self.joint_names:
            name += "_"
        if self._is_free(body) and body in self.own:
            self.floating_bases.append(name)
        return [fixed_joint(name, parent, child, T_carrier)]

    def _is_free(self, body: int) -> bool:
        free = int(_mujoco().mjtJoint.mjJNT_FREE)
        return any(self.model.jnt_type[index] == free for index in self._joint_range(body))

    def _joint(
        self, index: int, parent: str, child: str, T_carrier: Matrix4, coupling: Coupling | None
    ) -> Joint:
        mujoco = _mujoco()
        model = self.model
        anchor, axis = model.jnt_pos[index], model.jnt_axis[index].copy()
        reference = float(model.qpos0[model.jnt_qposadr[index]])
        limited = bool(model.jnt_limited[index])
        lower, upper = (
            (float(bound) for bound in model.jnt_range[index]) if limited else (-math.inf, math.inf)
        )
        if not limited and model.jnt_range[index, 0] > model.jnt_range[index, 1]:
            text = "its range is the wrong way round and not in force; it is read as a joint without limits"
            self.notes.append(Note("mended", self.joint_names[index], text))
        if model.jnt_type[index] == int(mujoco.mjtJoint.mjJNT_HINGE):
            type_: JointType = "revolute" if limited else "continuous"
            if not limited:
                lower, upper = -math.pi, math.pi
        else:
            type_ = "prismatic"
        # The body's pose belongs to the reference value; ours to zero.
        T_zero = _pose(anchor, np.array([1.0, 0.0, 0.0, 0.0])) @ joint_motion(type_, axis, -reference)
        T_joint_child = _pose(-anchor, np.array([1.0, 0.0, 0.0, 0.0]))
        if index in self.constants:
            T_moved = joint_motion(type_, axis, self.constants[index])
            return fixed_joint(
                self.joint_names[index], parent, child, T_carrier @ T_zero @ T_moved @ T_joint_child
            )
        return Joint(
            name=self.joint_names[index],
            type=type_,
            parent=parent,
            child=child,
            T_parent_joint=frozen(T_carrier @ T_zero),
            axis=frozen(axis),
            lower=lower,
            upper=upper,
            coupling=coupling,
            T_joint_child=frozen(T_joint_child),
        )

    def _couplings(self) -> dict[int, Coupling]:
        """Joint equalities that are active, by the index of the joint that follows."""
        mujoco = _mujoco()
        model = self.model
        found: dict[int, Coupling] = {}
        for index in range(model.neq):
            if model.eq_type[index] != int(mujoco.mjtEq.mjEQ_JOINT) or not model.eq_active0[index]:
                continue
            follower, driver = int(model.eq_obj1id[index]), int(model.eq_obj2id[index])
            coefficients = np.polynomial.Polynomial(model.eq_data[index, :5])
            y0 = float(model.qpos0[model.jnt_qposadr[follower]])
            if follower in found:
                self.notes.append(
                    Note("skipped", self.joint_names[follower], "a second joint equality; the first counts")
                )
            elif driver < 0:
                self.constants[follower] = y0 + float(coefficients.coef[0])
                self.notes.append(
                    Note("held", self.joint_names[follower], "an equality fixes it at a constant")
                )
            else:
                x0 = float(model.qpos0[model.jnt_qposadr[driver]])
                law = coefficients(np.polynomial.Polynomial([-x0, 1.0])) + y0
                found[follower] = Coupling(self.joint_names[driver], tuple(map(float, law.coef)))
        # What follows a joint that is held is held too.
        held = [follower for follower, law in found.items() if law.driver in self._constant_names()]
        while held:
            for follower in held:
                law = found.pop(follower)
                value = self.constants[self.joint_names.index(law.driver)]
                self.constants[follower] = float(np.polynomial.polynomial.polyval(value, law.polycoef))
                self.notes.append(
                    Note("held", self.joint_names[follower], f"it follows {law.driver}, which is held")
                )
            held = [follower for follower, law in found.items() if law.driver in self._constant_names()]
        return found

    def _constant_names(self) -> set[str]:
        return {self.joint_names[index] for index in self.constants}

    def _note_unrepresented(self) -> None:
        """Constraints that tie joints together and that a tree with couplings cannot hold."""
        mujoco = _mujoco()
        model = self.model
        labels = {
            int(mujoco.mjtEq.mjEQ_CONNECT): "connect",
            int(mujoco.mjtEq.mjEQ_WELD): "weld",
            int(mujoco.mjtEq.mjEQ_TENDON): "tendon",
        }
        for index in range(model.neq):
            label = labels.get(int(model.eq_type[index]))
            if label and model.eq_active0[index]:
                name = self._name("EQUALITY", index, f"equality_{index}")
                self.notes.append(
                    Note(
                        "skipped", name, f"a {label} equality closes a loop; its joints are left independent"
                    )
                )

    def _shapes(self, body: int, use_visual: bool) -> list[Shape]:
        model = self.model
        first = model.body_geomadr[body]
        geoms = range(first, first + model.body_geomnum[body]) if model.body_geomnum[body] else range(0)
        colliding = [geom for geom in geoms if model.geom_contype[geom] or model.geom_conaffinity[geom]]
        if not colliding and geoms and not use_visual:
            self.visual_only.append(body)
        elif not colliding and geoms:
            colliding = list(geoms)
            self.notes.append(
                Note(
                    "approximated",
                    self.body_names[body],
                    "no collision geometry; its visual geometry is used",
                )
            )
        shapes = [self._shape(geom, body) for geom in colliding]
        return [shape for shape in shapes if shape is not None]

    def _shape(self, geom: int, body: int) -> Shape | None:
        mujoco = _mujoco()
        model = self.model
        T_link_shape = frozen(_pose(model.geom_pos[geom], model.geom_quat[geom]))
        size = [float(value) for value in model.geom_size[geom]]
        source = self._name("GEOM", geom, f"geom_{geom}")
        kind = mujoco.mjtGeom(model.geom_type[geom])
        types = mujoco.mjtGeom
        if kind == types.mjGEOM_MESH:
            return Shape("mesh", T_link_shape, (1.0, 1.0, 1.0), self._mesh_loader(geom), source)
        if kind == types.mjGEOM_BOX:
            edges = (2 * size[0], 2 * size[1], 2 * size[2])
            return primitive("box", T_link_shape, edges, source)
        if kind == types.mjGEOM_SPHERE:
            return primitive("sphere", T_link_shape, (size[0],), source)
        if kind == types.mjGEOM_ELLIPSOID:
            axes = (size[0], size[1], size[2])
            return primitive("ellipsoid", T_link_shape, axes, source)
        dims = (size[0], 2 * size[1])
        if kind == types.mjGEOM_CYLINDER:
            return primitive("cylinder", T_link_shape, dims, source)
        if kind == types.mjGEOM_CAPSULE:
            return primitive("capsule", T_link_shape, dims, source)
        label = kind.name.removeprefix("mjGEOM_").lower()
        self.notes.append(
            Note("skipped", self.body_names[body], f"a {label} geom ({source}) has no finite mesh")
        )
        if body != WORLD:
            self.left_out.append(body)
        return None

    def _mesh_loader(self, geom: int) -> Any:
        model = self.model
        mesh = model.geom_dataid[geom]
        vertices = model.mesh_vert[model.mesh_vertadr[mesh] :][: model.mesh_vertnum[mesh]].astype(np.float64)
        faces = model.mesh_face[model.mesh_faceadr[mesh] :][: model.mesh_facenum[mesh]].astype(np.int64)
        where = f"{self.where}: mesh {self._name('MESH', mesh, str(mesh))!r}"
        return partial(clean_triangles, vertices, faces, np.ones(3), where)

    def _excluded(self, links: list[str]) -> dict[LinkPair, str]:
        """Body pairs of `<contact><exclude>`; a signature holds both body numbers, 16 bits each."""
        found: dict[LinkPair, str] = {}
        for signature in self.model.exclude_signature.tolist():
            a, b = (self.body_names[body] for body in (signature >> 16, signature & 0xFFFF))
            if a != b and a in links and b in links:
                found[sorted_pair(a, b)] = "MJCF exclude"
        return found

    def _keyframes(self) -> dict[str, dict[str, float]]:
        model = self.model
        return {
            self._name("KEY", key, f"key_{key}"): self._values(model.key_qpos[key])
            for key in range(model.nkey)
        }

    def _values(self, qpos: np.ndarray) -> dict[str, float]:
        """Values of hinge and slide joints in a qpos."""
        return {
            self.joint_names[index]: float(qpos[self.model.jnt_qposadr[index]])
            for index in range(self.model.njnt)
            if self.model.jnt_type[index] in self._scalar_types
        }


def fixed_joint(name: str, parent: str, child: str, T_parent_child: Matrix4) -> Joint:
    """A joint that does not move."""
    return Joint(name, "fixed", parent, child, frozen(T_parent_child), frozen(np.array([0.0, 0.0, 1.0])))


def _pose(position: np.ndarray, quaternion: np.ndarray) -> Matrix4:
    return matrix_from_wxyz_xyz(np.concatenate([quaternion, position]))


def _model_name(model: Any) -> str:
    return model.names.split(b"\0", 1)[0].decode() or "mjcf"


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
