"""The judge of tests and benchmarks: Pinocchio moves the robot, Coal collides it, both from the description itself.

`PinocchioCoal` reads the URDF with Pinocchio (urdfdom, assimp) and asks nothing of Elbowroom: which links have
geometry, where it sits, how mimic joints follow and how a configuration is ordered are all taken from the file.
Descriptions that Pinocchio does not read (MJCF) are judged by `ShapeCoal`: the shapes of our `Robot`, moved by MuJoCo.

What Coal answers: primitives (box, sphere, cylinder, capsule, ellipsoid) are exact solids, meshes are surfaces, so
one mesh wholly inside another does not collide. (Contacts stay enabled: without them Coal 3.0 misses coaxial
cylinders that overlap.) Bounding spheres of Coal's own local boxes sort out pairs that are
far apart before Coal is asked; everything nearer is Coal's answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import trimesh

import elbowroom as er
from elbowroom._poses import matrix_from_wxyz_xyz
from elbowroom.robot import catalogue

coal = pytest.importorskip("coal")
pin = pytest.importorskip("pinocchio")

LinkPair = tuple[str, str]
MOVING = ("revolute", "continuous", "prismatic")
CHUNK = 1024
"""Configurations placed at once; bounds the memory of the bounding-sphere test."""
SPHERE_SLACK = 1e-9
"""Metres by which bounding spheres are enlarged, far more than the rounding of their centres."""
DOUBT = 3e-6
"""Metres: overlaps that are not deeper are not counted; see `decided`."""
TOUCHING = 1e-9
"""Metres between things of which Coal cannot tell whether they touch."""


class PinocchioModel:
    """A URDF in Pinocchio, driven by configurations in the order of the description (our `robot.joint_names`)."""

    def __init__(self, urdf_path: str | Path) -> None:
        self.urdf_path = Path(urdf_path)
        self.model = pin.buildModelFromUrdf(str(urdf_path))
        self.data = self.model.createData()
        joints = [
            e for e in ElementTree.parse(urdf_path).getroot().findall("joint") if e.get("type") in MOVING
        ]
        self.mimics = {e.get("name", ""): rule for e in joints if (rule := e.find("mimic")) is not None}
        self.moving = tuple(e.get("name", "") for e in joints)
        self.joint_names = tuple(name for name in self.moving if name not in self.mimics)

    def q(self, cfgs: np.ndarray) -> np.ndarray:
        """Pinocchio's configurations (n, nq) from ours (n, dof); mimic joints as the file says, floating bases at rest."""
        cfgs = np.atleast_2d(cfgs)
        rows = np.tile(pin.neutral(self.model), (len(cfgs), 1))
        for name in self.moving:
            joint = self.model.joints[self.model.getJointId(name)]
            value = self._value(name, cfgs)
            if joint.nq == 2:  # continuous joints are points on the unit circle
                rows[:, joint.idx_q], rows[:, joint.idx_q + 1] = np.cos(value), np.sin(value)
            else:
                rows[:, joint.idx_q] = value
        return rows

    def _value(self, joint: str, cfgs: np.ndarray) -> np.ndarray:
        rule = self.mimics.get(joint)
        if rule is None:
            return cfgs[:, self.joint_names.index(joint)]
        driver = self._value(rule.get("joint", ""), cfgs)
        return float(rule.get("multiplier", 1.0)) * driver + float(rule.get("offset", 0.0))

    def link_poses(self, cfgs: np.ndarray, links: Sequence[str]) -> np.ndarray:
        """Poses (n, links, 4, 4) of link frames."""
        frames = [self.model.getFrameId(link, pin.FrameType.BODY) for link in links]
        out = np.empty((len(np.atleast_2d(cfgs)), len(frames), 4, 4))
        for row, q in zip(out, self.q(cfgs), strict=True):
            pin.framesForwardKinematics(self.model, self.data, q)
            for k, frame in enumerate(frames):
                row[k] = self.data.oMf[frame].homogeneous
        return out


class CoalOracle:
    """Coal on shapes that belong to links and move with frames; how the frames move is the subclass's part."""

    def __init__(
        self, links: Sequence[str], shapes: Sequence[object], frames: Sequence[int], Ts: Sequence[np.ndarray]
    ):
        """Takes, per shape: link, Coal geometry, row of `frame_poses` that carries it, pose (4, 4) in that frame."""
        self.shape_links, self.shapes = tuple(links), list(shapes)
        self._frames, self._T_frame_shape = np.asarray(frames, dtype=int), np.array(Ts)
        self.links = tuple(dict.fromkeys(self.shape_links))
        self.all_links, self.disabled = set(self.links), frozenset[LinkPair]()
        self.repaired: tuple[str, ...] = ()
        self._of_link = {link: [i for i, of in enumerate(links) if of == link] for link in self.links}
        for shape in self.shapes:
            shape.computeLocalAABB()
        self._centers = np.array([shape.aabb_center for shape in self.shapes])
        self._radii = np.array([shape.aabb_radius for shape in self.shapes]) + SPHERE_SLACK
        self._collide, self._measure = {}, {}

    def replace(self, k: int, shape: object) -> None:
        """Gives shape k another geometry."""
        shape.computeLocalAABB()
        self.shapes[k] = shape
        self._centers[k], self._radii[k] = shape.aabb_center, shape.aabb_radius + SPHERE_SLACK

    def frame_poses(self, cfgs: np.ndarray) -> np.ndarray:
        """Poses (n, frames, 4, 4) of the frames that carry the shapes."""
        raise NotImplementedError

    def shape_poses(self, cfgs: np.ndarray) -> np.ndarray:
        """Poses (n, shapes, 4, 4) of the shapes in the world."""
        return self.frame_poses(np.atleast_2d(cfgs))[:, self._frames] @ self._T_frame_shape

    @cached_property
    def link_pairs(self) -> tuple[LinkPair, ...]:
        """All pairs of links with geometry, sorted by name, but for those that the SRDF disables."""
        pairs = (pair for pair in combinations(sorted(self.links), 2) if pair not in self.disabled)
        return tuple(pairs)

    def __call__(self, cfgs: np.ndarray, link_pairs: Iterable[LinkPair] | None = None) -> np.ndarray:
        """The same as `colliding`: an oracle is an exact checker."""
        return self.colliding(cfgs, link_pairs)

    def colliding(
        self, cfgs: np.ndarray, link_pairs: Iterable[LinkPair] | None = None, *, prefilter: bool = True
    ) -> np.ndarray:
        """Which link pairs collide, (n, pairs): a pair does when any shapes of its two links do."""
        request, result = coal.CollisionRequest(), coal.CollisionResult()
        pairs, shapes, of_pair = self._expand(link_pairs)
        cfgs = np.atleast_2d(cfgs)
        out = np.zeros((len(cfgs), len(pairs)), dtype=bool)
        for first in range(0, len(cfgs), CHUNK):
            Ts = self.shape_poses(cfgs[first : first + CHUNK])
            near = self._near(Ts, shapes) if prefilter else np.ones((len(Ts), len(shapes)), dtype=bool)
            for row, (poses, candidates) in enumerate(zip(Ts, near, strict=True)):
                hits, placed = out[first + row], [coal_pose(T) for T in poses]
                for k in np.flatnonzero(candidates):
                    if not hits[of_pair[k]]:
                        i, j = shapes[k]
                        result.clear()
                        hits[of_pair[k]] = self._functor(self._collide, coal.ComputeCollision, i, j)(
                            placed[i], placed[j], request, result
                        )
        return out

    def free(self, cfgs: np.ndarray, link_pairs: Iterable[LinkPair] | None = None) -> np.ndarray:
        """Whether no link pair collides, (n,); ends at the first hit, asking pairs that collided often first."""
        request, result = coal.CollisionRequest(), coal.CollisionResult()
        _, shapes, _ = self._expand(link_pairs)
        out, often = np.ones(len(cfgs), dtype=bool), np.zeros(len(shapes), dtype=int)
        for first in range(0, len(cfgs), CHUNK):
            Ts = self.shape_poses(cfgs[first : first + CHUNK])
            near = self._near(Ts, shapes)
            for row, (poses, candidates) in enumerate(zip(Ts, near, strict=True)):
                asked = np.flatnonzero(candidates)
                for k in asked[np.argsort(-often[asked], kind="stable")]:
                    i, j = shapes[k]
                    result.clear()
                    if self._functor(self._collide, coal.ComputeCollision, i, j)(
                        coal_pose(poses[i]), coal_pose(poses[j]), request, result
                    ):
                        out[first + row] = False
                        often[k] += 1
                        break
        return out

    def distances(self, cfgs: np.ndarray, link_pairs: Iterable[LinkPair] | None = None) -> np.ndarray:
        """Smallest distance of each link pair (n, pairs), metres.

        Negative is the penetration depth where both shapes are primitives; overlapping meshes have a distance of
        zero or below whose size means nothing.
        """
        request, result = coal.DistanceRequest(), coal.DistanceResult()
        pairs, shapes, of_pair = self._expand(link_pairs)
        out = np.full((len(np.atleast_2d(cfgs)), len(pairs)), np.inf)
        for row, poses in zip(out, self.shape_poses(cfgs), strict=True):
            placed = [coal_pose(T) for T in poses]
            for k, (i, j) in enumerate(shapes):
                result.clear()
                measure = self._functor(self._measure, coal.ComputeDistance, i, j)
                row[of_pair[k]] = min(row[of_pair[k]], measure(placed[i], placed[j], request, result))
        return out

    def decided_distance(self, poses: np.ndarray, i: int, j: int) -> float:
        """Coal's distance of two shapes at poses (shapes, 4, 4); see `decided`."""
        measure = self._functor(self._measure, coal.ComputeDistance, i, j)
        other, request = coal_pose(poses[j]), coal.DistanceRequest()
        return decided(lambda T: measure(coal_pose(T), other, request, coal.DistanceResult()), poses[i])

    def shape_pairs(self, link_pairs: Iterable[LinkPair] | None = None) -> list[tuple[int, int]]:
        """Pairs of shapes of link pairs."""
        return self._expand(link_pairs)[1]

    def _expand(
        self, link_pairs: Iterable[LinkPair] | None
    ) -> tuple[list[LinkPair], list[tuple[int, int]], list[int]]:
        """Link pairs, their shape pairs, and the link pair of each shape pair."""
        pairs = list(self.link_pairs if link_pairs is None else link_pairs)
        unknown = {link for pair in pairs for link in pair} - self.all_links
        if unknown:  # a misspelt pair would never collide
            raise KeyError(f"no such links: {sorted(unknown)}")
        found = [
            ((i, j), k)
            for k, (a, b) in enumerate(pairs)
            for i in self._of_link.get(a, ())
            for j in self._of_link.get(b, ())
        ]
        return pairs, [shapes for shapes, _ in found], [k for _, k in found]

    def _near(self, Ts: np.ndarray, shapes: list[tuple[int, int]]) -> np.ndarray:
        """Shape pairs (n, pairs) whose bounding spheres overlap."""
        i, j = np.array(shapes, dtype=int).reshape(-1, 2).T
        centers = np.einsum("nsij,sj->nsi", Ts[..., :3, :3], self._centers) + Ts[..., :3, 3]
        return np.linalg.norm(centers[:, i] - centers[:, j], axis=-1) <= self._radii[i] + self._radii[j]

    def _functor(self, cache: dict, kind: type, i: int, j: int) -> object:
        if (i, j) not in cache:
            cache[i, j] = kind(self.shapes[i], self.shapes[j])
        return cache[i, j]


def decided(measure: Callable[[np.ndarray], float], T: np.ndarray) -> float:
    """A distance, zero or below only where no shift by `DOUBT` takes the two things apart.

    Coal's answers, of `collide` and of distance alike, are zero up to about a micrometre of real distance.
    """
    gap = float(measure(T))
    if gap > 0.0:
        return gap
    for way in np.ndindex(3, 3, 3):
        shift = np.array(way) - 1.0
        if shift.any():
            moved = T.copy()
            moved[:3, 3] += DOUBT * shift / np.linalg.norm(shift)
            if measure(moved) > 0.0:
                return TOUCHING
    return gap


class PinocchioCoal(CoalOracle):
    """The whole robot as its URDF describes it, read and moved by Pinocchio, collided by Coal."""

    def __init__(
        self, urdf_path: str | Path, package_dirs: Iterable[str | Path] = (), srdf: str | Path | None = None
    ) -> None:
        self.kinematics = PinocchioModel(urdf_path)
        self.joint_names = self.kinematics.joint_names
        model, folder = self.kinematics.model, self.kinematics.urdf_path.parent
        folders = [str(path) for path in (folder, *package_dirs)]
        self.geometry = pin.buildGeomFromUrdf(
            model, str(urdf_path), pin.GeometryType.COLLISION, package_dirs=folders
        )
        objects = self.geometry.geometryObjects
        super().__init__(
            [model.frames[item.parentFrame].name for item in objects],
            [item.geometry for item in objects],
            [item.parentJoint for item in objects],
            [item.placement.homogeneous for item in objects],
        )
        self.all_links |= {frame.name for frame in model.frames if frame.type == pin.FrameType.BODY}
        if srdf is not None:
            rules = ElementTree.parse(srdf).getroot().findall("disable_collisions")
            self.disabled = frozenset(
                tuple(sorted((rule.get("link1", ""), rule.get("link2", "")))) for rule in rules
            )

    def frame_poses(self, cfgs: np.ndarray) -> np.ndarray:
        """Joint placements (n, joints, 4, 4) by Pinocchio."""
        model, data = self.kinematics.model, self.kinematics.data
        out = np.empty((len(cfgs), model.njoints, 4, 4))
        for row, q in zip(out, self.kinematics.q(cfgs), strict=True):
            pin.forwardKinematics(model, data, q)
            for joint, M in enumerate(data.oMi):
                row[joint] = M.homogeneous
        return out

    def peer(self, link_pairs: Iterable[LinkPair]) -> PinocchioPeer:
        """What a user of Pinocchio runs for these pairs, all in C++; for timing."""
        return PinocchioPeer(self, link_pairs)


class PinocchioPeer:
    """`pinocchio.computeCollisions` on some link pairs, ending at the first hit, kinematics included."""

    def __init__(self, oracle: PinocchioCoal, link_pairs: Iterable[LinkPair]) -> None:
        self.q, self._model, self._data = oracle.kinematics.q, oracle.kinematics.model, oracle.kinematics.data
        self._geometry = oracle.geometry.copy()
        self._geometry.removeAllCollisionPairs()
        for i, j in oracle._expand(link_pairs)[1]:
            self._geometry.addCollisionPair(pin.CollisionPair(i, j))
        self._results = self._geometry.createData()

    def collides(self, q: np.ndarray) -> bool:
        """Whether any pair collides at Pinocchio's configuration `q` (see `PinocchioModel.q`)."""
        return bool(pin.computeCollisions(self._model, self._data, self._geometry, self._results, q, True))


class ShapeCoal(CoalOracle):
    """The shapes of a `Robot` in Coal; for descriptions that Pinocchio does not read.

    Poses are MuJoCo's where the robot comes from an MJCF file, and our own forward kinematics (tested against
    Pinocchio) otherwise.
    """

    def __init__(self, robot: er.Robot) -> None:
        self.robot, self.joint_names = robot, robot.joint_names
        found = [(link, shape) for link in robot.mesh_links for shape in robot.shapes[link]]
        super().__init__(
            [link for link, _ in found],
            [_coal_shape(shape) for _, shape in found],
            [robot.link_index(link) for link, _ in found],
            [shape.T_link_shape for _, shape in found],
        )
        self.all_links |= set(robot.link_names)
        self._mujoco = robot.path is not None and robot.path.suffix == ".xml"

    def frame_poses(self, cfgs: np.ndarray) -> np.ndarray:
        """Link poses (n, links, 4, 4)."""
        if not self._mujoco:
            return matrix_from_wxyz_xyz(self.robot.link_poses(cfgs))
        return mujoco_link_poses(self.robot, cfgs)


def mujoco_link_poses(robot: er.Robot, cfgs: np.ndarray) -> np.ndarray:
    """Link poses (n, links, 4, 4) by MuJoCo of a robot that was loaded from an MJCF file; couplings are the robot's."""
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(robot.path))
    data = mujoco.MjData(model)
    bodies = [model.body(link).id for link in robot.link_names]
    slots = [model.jnt_qposadr[model.joint(joint.name).id] for joint in robot.tree.moving]
    out = np.tile(np.eye(4), (len(cfgs), len(bodies), 1, 1))
    for row, values in zip(out, robot.tree.expand(cfgs), strict=True):
        data.qpos[slots] = values
        mujoco.mj_kinematics(model, data)
        row[:, :3, :3], row[:, :3, 3] = data.xmat[bodies].reshape(-1, 3, 3), data.xpos[bodies]
    return out


def oracle_of(robot: er.Robot) -> CoalOracle:
    """The judge of a robot that was loaded by name or from a file: of its URDF, else of its shapes.

    Pinocchio's loader garbles the second group of triangles of some Collada files (icub's head: 3.6 times the area that
    the file describes). Where the area of a mesh is not that of its file as trimesh reads it, the judge gets the
    triangles that have that area; `repaired` names the links.
    """
    if robot.path is None or robot.path.suffix != ".urdf":
        return ShapeCoal(robot)
    known = next((entry for entry in catalogue() if entry.description == robot.path), None)
    oracle = PinocchioCoal(robot.path, known.package_dirs if known is not None else ())
    assert oracle.joint_names == robot.joint_names
    for link in oracle.links:
        for k, shape in zip(oracle._of_link[link], robot.shapes[link], strict=True):
            item = oracle.geometry.geometryObjects[k]
            if shape.kind != "mesh" or len(set(np.abs(item.meshScale))) != 1:
                continue
            ours, theirs = shape.load(), oracle.shapes[k]
            faces = np.array([[theirs.tri_indices(i)[c] for c in range(3)] for i in range(theirs.num_tris)])
            if np.isclose(_area(ours.vertices, ours.faces), _area(theirs.vertices(), faces), rtol=1e-4):
                continue
            read = trimesh.load(item.meshPath, force="mesh", process=False)
            area = _area(read.vertices, read.faces) * item.meshScale[0] ** 2
            assert np.isclose(area, _area(ours.vertices, ours.faces), rtol=1e-6)
            oracle.replace(k, coal_mesh(ours.vertices, ours.faces))
            oracle.repaired = (*oracle.repaired, link)
    return oracle


def _area(vertices: np.ndarray, faces: np.ndarray) -> float:
    a, b, c = (np.asarray(vertices)[faces[:, k]] for k in range(3))
    return 0.5 * float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())


def coal_mesh(vertices: np.ndarray, faces: np.ndarray) -> object:
    """A triangle mesh in Coal, with the tree of bounding volumes that Pinocchio's users get."""
    mesh = coal.BVHModelOBBRSS()
    mesh.beginModel(len(faces), len(vertices))
    mesh.addVertices(np.asarray(vertices, dtype=np.float64))
    mesh.addTriangles(np.asarray(faces))
    mesh.endModel()
    return mesh


def coal_pose(T: np.ndarray) -> object:
    """A pose (4, 4) as Coal takes it."""
    return coal.Transform3s(T[:3, :3], T[:3, 3])


def _coal_shape(shape: er.robot.Shape) -> object:
    size = shape.size
    match shape.kind:
        case "box":
            return coal.Box(*size)
        case "sphere":
            return coal.Sphere(*size)
        case "cylinder":
            return coal.Cylinder(*size)
        case "capsule":
            return coal.Capsule(*size)
        case "ellipsoid":
            return coal.Ellipsoid(*size)
        case "mesh":
            data = shape.load()
            return coal_mesh(data.vertices, data.faces)
