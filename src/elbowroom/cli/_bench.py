"""How fast is Elbowroom with this robot on this machine, compared with Pinocchio and Coal in the same run?

Both get the robot's kinematics, the meshes of its links and its checked pairs, on one thread. Times are CPU time, the
best of several runs; a ratio is the peer's time over ours. Questions that the peer cannot answer are timed alone. The
benchmarks behind the published tables are run by `make bench` in the repository.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from .._text import number
from ..errors import InputError, MissingExtraError
from ._common import RobotOptions, console, print_json, progress_bar, table, waiting

if TYPE_CHECKING:
    from ..collision import CollisionModel
    from ..robot import Robot

EXAMPLES = {
    "elbowroom bench teaarm": "two minutes, a table",
    "elbowroom bench teaarm --seconds 5 --json": "shorter and rougher, for a program",
}
CFGS = 2_000
"""Random configurations of a batch."""
ALONE = 200
"""Those that are asked one at a time."""
NEAR = 0.1
"""Standard deviation around the default pose, rad or m: what a controller asks about."""
LINKS = "ours as checked poses of all links, theirs of joints"
PLANS = 10
"""Random motions that are planned."""


@dataclass(frozen=True)
class Options(RobotOptions):
    """Arguments of `elbowroom bench`."""

    seconds: float = 120.0
    """Approximate time to spend on measuring; everything runs at least once."""
    seed: int = 0
    """Seed of the random configurations."""


@dataclass(frozen=True)
class Row:
    """Our figure and, if the peer answers the same question, the peer's."""

    what: str
    ours: float
    unit: str
    theirs: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times as long the peer takes."""
        return None if self.theirs is None or self.ours <= 0.0 else self.theirs / self.ours


def run(options: Options) -> int:
    """Measures and prints the table."""
    from ..collision import CollisionModel

    if options.seconds <= 0.0:
        raise InputError(f"--seconds: expected a positive number, found {options.seconds:g}")
    robot = options.load()
    with waiting(f"making the model of {robot.name}"):
        model = CollisionModel(robot, threads=1)
    peer, why = None, ""
    try:
        peer = Peer(robot, model.pairs.checked)
    except MissingExtraError as error:
        why = str(error)
    bench = _Bench(model, peer, options)
    with progress_bar("measuring") as progress:
        rows: list[Row] = []
        for row in bench.rows():
            rows.append(row)
            if progress is not None:
                progress(len(rows), bench.STEPS)
    facts = {
        "robot": robot.name,
        "spheres": len(model.spheres),
        "checked_pairs": len(model.pairs.checked),
        "peer": peer and peer.name,
        "peer_version": peer and peer.version,
        "rows": [{**asdict(row), "ratio": row.ratio} for row in rows],
    }
    if options.json:
        print_json({**facts, "no_peer": why})
        return 0
    out = console()
    out.print(
        f"{robot.name}: {len(model.spheres)} spheres, {len(model.pairs.checked)} checked pairs; one thread, CPU time"
    )
    theirs = "no peer" if peer is None else f"{peer.name} {peer.version}"
    out.print(table(("what", "ours", theirs, "ratio", ""), map(_cells, rows)))
    if why:
        out.print(why)
    return 0


def _cells(row: Row) -> tuple[str, str, str, str, str]:
    def told(value: float | None) -> str:
        return "" if value is None else f"{number(value, 3)} {row.unit}"

    ratio = "" if row.ratio is None else f"{number(row.ratio, 3)}x"
    return row.what, told(row.ours), told(row.theirs), ratio, row.note


class _Bench:
    """The questions, each asked until its share of the time is over."""

    STEPS = 9
    """Rows."""

    def __init__(self, model: CollisionModel, peer: Peer | None, options: Options) -> None:
        self.model, self.peer = model, peer
        self.share = options.seconds / (2 * self.STEPS)
        robot = model.robot
        self.random = robot.random_cfgs(CFGS, seed=options.seed)
        noise = NEAR * np.random.default_rng(options.seed).normal(size=self.random.shape)
        self.near = np.clip(model.default_cfg + noise, robot.lower, robot.upper)
        self.seed = options.seed

    def rows(self) -> Iterator[Row]:
        """One figure after the other."""
        model, robot = self.model, self.model.robot
        some = self.random[:ALONE]
        theirs = None if self.peer is None else self.peer.rows(some)
        yield self._row(
            "forward kinematics, one configuration", robot.link_poses, some, theirs, "place", LINKS
        )
        yield self._row("verdict, one configuration", model.free, some, theirs, "collides", self._agreement())
        yield self._batch("verdict in a batch, random", self.random)
        yield self._batch("verdict in a batch, near the default pose", self.near)
        alone = self._best(lambda: model.free(self.random, by="spheres"), CFGS)
        yield Row("verdict by spheres alone, in a batch", alone, "us")
        clear = self.random[model.free(self.random)][:ALONE]
        if not len(clear):
            clear = some
        theirs = None if self.peer is None else self.peer.rows(clear)
        yield self._row(
            "clearance by meshes, one free configuration",
            lambda row: model.clearance(row, exact=True), clear, theirs, "distance",
        )  # fmt: skip
        yield from self._motions(clear)

    def _row(
        self,
        what: str,
        ask: Callable[[Any], object],
        cfgs: Float[np.ndarray, "n dof"],
        theirs: Float[np.ndarray, "n moving"] | None,
        method: str,
        note: str = "",
    ) -> Row:
        ours = self._best(lambda: [ask(row) for row in cfgs], len(cfgs))
        if self.peer is None or theirs is None:
            return Row(what, ours, "us", None, note)
        answer = getattr(self.peer, method)
        return Row(what, ours, "us", self._best(lambda: [answer(row) for row in theirs], len(theirs)), note)

    def _batch(self, what: str, cfgs: Float[np.ndarray, "n dof"]) -> Row:
        ours, theirs = self._best(lambda: self.model.free(cfgs), len(cfgs)), None
        if self.peer is not None:
            peer, rows = self.peer, self.peer.rows(cfgs[:ALONE])
            theirs = self._best(lambda: [peer.collides(row) for row in rows], ALONE)
        return Row(what, ours, "us", theirs, f"{np.mean(self.model.free(cfgs)):.0%} free")

    def _agreement(self) -> str:
        """How many verdicts of the batch are those of the peer."""
        if self.peer is None:
            return ""
        theirs = np.array([not self.peer.collides(row) for row in self.peer.rows(self.random)])
        return f"{np.sum(theirs == self.model.free(self.random))} of {CFGS} verdicts agree"

    def _motions(self, free: Float[np.ndarray, "n dof"]) -> Iterator[Row]:
        """Proofs, inverse kinematics and plans between free configurations, which the peer has none of."""
        from ..ik import IkSolver
        from ..plan import PlanOptions, plan_motion
        from ..robot.internal import default_tool_frames

        model = self.model
        ends = list(pairwise(free))
        yield Row(
            "proof of a straight motion between two of them",
            self._best(lambda: [model.segment_free(a, b) for a, b in ends], max(len(ends), 1)), "us",
        )  # fmt: skip
        frames = default_tool_frames(model.robot)
        if frames:
            solver = IkSolver(model, frames[0])
            place = model.robot.link_index(frames[0])
            targets = [{frames[0]: pose} for pose in model.robot.link_poses(free)[:, place]]
            reached = [solver.solve(target).success for target in targets]
            each = self._best(lambda: [solver.solve(target) for target in targets], len(targets))
            note = f"{frames[0]}: {sum(reached)} of {len(reached)} reached"
            yield Row("inverse kinematics, free of collision", each, "us", None, note)
        seconds: list[float] = []
        solved = 0
        for a, b in ends[:PLANS]:
            began = time.process_time()
            solved += plan_motion(model, a, b, options=PlanOptions(seed=self.seed)).success
            seconds.append(time.process_time() - began)
        if seconds:
            note = f"median; {solved} of {len(seconds)} found"
            yield Row("a proved motion around itself", 1e6 * float(np.median(seconds)), "us", None, note)

    def _best(self, action: Callable[[], object], count: int) -> float:
        """Microseconds of CPU time for one of `count`, the best of all runs that the share of time allows."""
        action()
        best, end = float("inf"), time.perf_counter() + self.share
        while True:
            began = time.process_time()
            action()
            best = min(best, time.process_time() - began)
            if time.perf_counter() >= end:
                return 1e6 * best / count


# Pinocchio and Coal -------------------------------------------------------------------------------

PACKAGES = ("pin", "coal")


class Peer:
    """One robot in Pinocchio and Coal, whose loops over joints and pairs are compiled too."""

    def __init__(self, robot: Robot, pairs: Iterable[tuple[str, str]]) -> None:
        """Builds it from the robot itself, so that every description can be compared.

        Raises:
            MissingExtraError: Pinocchio or Coal is not installed.
        """
        try:
            import coal  # pyright: ignore[reportMissingImports]
            import pinocchio  # pyright: ignore[reportMissingImports]
        except ImportError as error:
            raise MissingExtraError(
                "a comparison needs Pinocchio and Coal: pip install 'elbowroom[test]' or pip install pin"
            ) from error
        self._pin: Any = pinocchio
        self.name = "Pinocchio + Coal"
        self.version = ", ".join(version(name) for name in PACKAGES)
        self._robot = robot
        self.model: Any = pinocchio.Model()
        carried = self._add_joints()
        self.data: Any = self.model.createData()
        self._geometry: Any = pinocchio.GeometryModel()
        place: dict[str, int] = {}
        for link in robot.mesh_links:
            mesh = robot.link_mesh(link)
            if mesh is None:
                continue
            shape = coal.BVHModelOBBRSS()
            shape.beginModel(len(mesh.faces), len(mesh.vertices))
            shape.addVertices(np.asarray(mesh.vertices, dtype=np.float64))
            shape.addTriangles(np.asarray(mesh.faces, dtype=np.int64))
            shape.endModel()
            joint, T = carried[link]
            entry = pinocchio.GeometryObject(link, joint, self._se3(T), shape)
            place[link] = self._geometry.addGeometryObject(entry)
        for a, b in pairs:
            if a in place and b in place:
                self._geometry.addCollisionPair(pinocchio.CollisionPair(place[a], place[b]))
        self._found: Any = self._geometry.createData()

    def _se3(self, T: Float[np.ndarray, "4 4"]) -> Any:
        return self._pin.SE3(np.ascontiguousarray(T[:3, :3]), np.ascontiguousarray(T[:3, 3]))

    def _add_joints(self) -> dict[str, tuple[int, np.ndarray]]:
        """Adds all joints that move; link -> the joint that carries it, and its pose there."""
        children = {joint.child for joint in self._robot.tree.joints}
        carried = {link: (0, np.eye(4)) for link in self._robot.link_names if link not in children}
        left = list(self._robot.tree.joints)
        while left:
            later: list[Any] = []
            for joint in left:
                base = (
                    joint.child if joint.child in carried else joint.parent
                )  # several joints of one body act in order
                if base not in carried:
                    later.append(joint)
                    continue
                carrier, T_carrier_base = carried[base]
                T = T_carrier_base @ joint.T_parent_joint
                if joint.type in ("revolute", "continuous"):
                    kind = self._pin.JointModelRevoluteUnaligned(*map(float, joint.axis))
                elif joint.type == "prismatic":
                    kind = self._pin.JointModelPrismaticUnaligned(*map(float, joint.axis))
                else:
                    carried[joint.child] = (carrier, T @ joint.T_joint_child)
                    continue
                carrier = self.model.addJoint(carrier, kind, self._se3(T), joint.name)
                carried[joint.child] = (carrier, joint.T_joint_child)
            left = later
        return carried

    def rows(self, cfgs: Float[np.ndarray, "n dof"]) -> Float[np.ndarray, "n moving"]:
        """Its configurations from ours; joints that follow others get their values."""
        robot = self._robot
        known = {name: cfgs[:, k] for k, name in enumerate(robot.joint_names)}

        def value(name: str) -> np.ndarray:
            if name not in known:
                law = robot.joint(name).coupling
                assert law is not None, name
                known[name] = np.polynomial.polynomial.polyval(value(law.driver), law.polycoef)
            return known[name]

        out = np.zeros((len(cfgs), self.model.nq))
        for k in range(1, self.model.njoints):  # 0 is the world
            out[:, self.model.joints[k].idx_q] = value(self.model.names[k])
        return out

    def place(self, row: Float[np.ndarray, "moving"]) -> None:
        """Forward kinematics of one configuration."""
        self._pin.forwardKinematics(self.model, self.data, row)

    def collides(self, row: Float[np.ndarray, "moving"]) -> bool:
        """Whether a checked pair collides; stops at the first."""
        return self._pin.computeCollisions(self.model, self.data, self._geometry, self._found, row, True)

    def distance(self, row: Float[np.ndarray, "moving"]) -> float:
        """The least distance of the checked pairs, metres."""
        k = self._pin.computeDistances(self.model, self.data, self._geometry, self._found, row)
        return float(self._found.distanceResults[k].min_distance)
