"""From a width to an arm: a hand grasp of an object, and a motion of the arm that brings the hand there.

An object's pose and width give the grasp of the hand. The hand may come to the object in several ways (`_placements`);
each asks the arm for a pose of the hand, and the verdict on the whole robot among all obstacles decides. Only the links
that are meant to touch the object may touch it. The nearest answers are then tried out as motions: straight in joint
space from a pose that stands off, with the hand opened wider, to the object, where it closes. Both parts are proved
free between their ends (`segment_free`): while approaching nothing touches the object, while closing only the fingers
do.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float

from .._frozen import frozen
from .._poses import as_matrix
from ..collision import CollisionModel, SegmentProof, as_model
from ..errors import InputError
from ..ik import IkOptions, IkResult, IkSolver
from ..typing import Matrix4, RobotLike
from ..world import Obstacle, World
from ._checks import TIP_TOLERANCE, WRAP_TOLERANCE
from ._contact import HandContact, Meeting, meant_to_touch
from ._grasp import Grasp, as_number
from ._mount import MountedHand, mounted_hand
from ._placements import Placement, placements, usual_object
from ._planner import GraspPlanner


@dataclass(frozen=True)
class ReachOptions:
    """How a hand comes to an object."""

    standoff: float = 0.10
    """m that the hand stands off before it comes in."""
    opening: float = 0.03
    """m wider than the object that the hand comes in, as far as it can; around cylinders it is fully open."""
    turns: Sequence[float] | None = None
    """rad about the width, or about a cylinder's axis, that are tried; None for steps of 15 degrees: over the top from
    side to side, all around a cylinder."""
    spins: Sequence[float] = (0.0,)
    """rad about the object's Z that are tried; for what is round about Z, such as an upright bottle."""
    flips: bool = True
    """Whether thumb and fingers may change sides."""
    approach: Sequence[float] | None = None
    """(3,) direction in the world in which the hand should come, such as (0, 0, -1) for from above; None for any."""
    approach_within: float = float(np.radians(35.0))
    """rad that the direction may differ from it."""
    tip_tolerance: float = TIP_TOLERANCE
    """m that a link which is meant to touch may be inside the object, or away from it. 3 mm: shapes of fingertips
    reach up to 2.6 mm beyond their points."""
    ik: IkOptions = field(default_factory=IkOptions)

    def __post_init__(self) -> None:
        for name in ("standoff", "opening", "tip_tolerance", "approach_within"):
            if as_number(getattr(self, name), name) < 0.0:
                raise InputError(f"ReachOptions: {name} must not be negative, found {getattr(self, name)!r}")


@dataclass(frozen=True, eq=False)
class ReachResult:
    """An arm and a hand that grasp an object, or why they do not."""

    success: bool
    """The grasp is free except for the fingers on the object, and the motion to it is proved."""
    grasp: Grasp
    placement: Placement | None
    """How the hand comes; None when no placement got as far as the arm."""
    cfg: Float[np.ndarray, "dof"]
    """Arm and hand at the grasp; the best effort where there is no success."""
    path: Float[np.ndarray, "steps dof"]
    """From the pose that stands off, open, to the grasp; empty without success. The last row is `cfg`; in the row
    before it the hand is there and open."""
    proofs: tuple[SegmentProof, ...]
    """One for each piece of the path."""
    contact: HandContact | None
    """The hand's controls, and how far its fingers are from the object, measured."""
    clearance: float
    """m; of what should not touch, at the grasp, measured; NaN without success."""
    tried: Mapping[str, int]
    """How many placements ended how."""
    obstacle: str
    """Name of the object in the model's world."""
    model: CollisionModel
    """Robot and world with the object, which the fingers may touch."""
    seconds: float
    why: str
    """Why there is no success, a sentence; empty when there is."""

    def __bool__(self) -> bool:
        return self.success

    @property
    def pre_cfg(self) -> Float[np.ndarray, "dof"]:
        """Where the motion begins: the hand open and standing off.

        Raises:
            InputError: there is no motion.
        """
        if not len(self.path):
            raise InputError(f"there is no motion: {self.why}")
        return self.path[0]

    @property
    def joints(self) -> dict[str, float]:
        """Positions of the robot's joints at the grasp, by name."""
        return dict(zip(self.model.robot.joint_names, self.cfg.tolist(), strict=True))

    def __repr__(self) -> str:
        if not self.success:
            return f"ReachResult(no grasp of {self.obstacle!r}: {self.why})"
        return (
            f"ReachResult({self.grasp.mode} {1e3 * self.grasp.width:.1f} mm of {self.obstacle!r}, {self.placement}, "
            f"{len(self.path) - 1} pieces proved, {self.seconds:.2f} s)"
        )


ENOUGH_CLEARANCE = 0.010
"""m; answers with at least this clearance are equally good, and the nearest is taken."""
WAYPOINTS = (1, 3, 7)
"""Pieces of the way in that are tried: one straight line in joint space, then closer to the line of the hand."""


def reach_for(
    model: CollisionModel | RobotLike,
    planner: GraspPlanner | Grasp,
    object_pose: Any = None,
    *,
    width: float | None = None,
    mode: str = "line",
    finger: str = "index",
    fingers: int = 4,
    height: float = 0.0,
    obstacle: Obstacle | str | None = None,
    seed_cfg: Any = None,
    prefix: str | None = None,
    options: ReachOptions | None = None,
) -> ReachResult:
    """Brings a hand on an arm to an object of a width, free of everything else, with a proved motion.

    Args:
        model: of the robot that carries the hand (see `mount`), among the obstacles of the scene.
        planner: of the hand that was mounted, or a grasp that it has planned.
        object_pose: (7,) or (4, 4): X across the width, Y along the fingers' spread (a cylinder's axis), Z to where the
            hand comes from when it is not turned. None: the obstacle's own.
        width: m, or diameter; needed with a planner.
        mode: "line", "plane", "cylinder" or an opposition set.
        finger: of a line grasp. fingers: how many of a plane grasp, thumb included.
        height: m along the object's Z at which it is grasped.
        obstacle: the object as an obstacle, or the name of one in the model's world; None: a block or cylinder to
            scale.
        seed_cfg: (dof,) where the robot is; nearer answers are preferred. None for the default pose.
        prefix: of the hand's names in the robot, where it carries several.
        options: stand-off, opening, and which ways to come are tried.

    Raises:
        GraspRangeError: the hand cannot grasp that width; the message names the range.
        InputError: the robot carries no such hand, or there is neither a pose nor an obstacle.
    """
    model = as_model(model)
    began = time.perf_counter()
    chosen = options or ReachOptions()
    by, grasp = _planned(planner, width, mode, finger, fingers)
    hand = mounted_hand(model.robot, grasp.hand, prefix)
    T_object, thing = _object(model, grasp, object_pose, height, obstacle)
    world = _world_with(model.world, thing)
    touch = hand.links(meant_to_touch(grasp))
    strict = model.with_world(world, allow=[pair for pair in model.allow if pair[1] != thing.name])
    closing = strict.with_world(world, allow=[*strict.allow, *((link, thing.name) for link in touch)])
    places = placements(
        grasp,
        T_object,
        turns=chosen.turns,
        spins=chosen.spins,
        flips=chosen.flips,
        approach=chosen.approach,
        within=chosen.approach_within,
    )
    base = model.default_cfg if seed_cfg is None else model.robot.as_cfg(seed_cfg)
    tolerance = min(chosen.tip_tolerance, WRAP_TOLERANCE) if grasp.touching else chosen.tip_tolerance
    search = _Search(hand, by, grasp, thing, strict, closing, base, tolerance, chosen)
    return search.run(places, began)


@dataclass(eq=False)
class _Search:
    """The placements of one grasp, tried in turn."""

    hand: MountedHand
    planner: GraspPlanner
    grasp: Grasp
    thing: Obstacle
    strict: CollisionModel
    """Nothing may touch the object."""
    closing: CollisionModel
    """The fingers may."""
    base: Float[np.ndarray, "dof"]
    tolerance: float
    options: ReachOptions
    tried: dict[str, int] = field(default_factory=dict[str, int])
    solver: IkSolver = field(init=False)
    opened: Grasp = field(init=False)
    """The grasp at which the hand comes in."""
    open_ctrl: Float[np.ndarray, "actuators"] = field(init=False)
    reasons: dict[str, Callable[[], str]] = field(default_factory=dict[str, "Callable[[], str]"])
    """Why the first of each kind ended so: asked for when nothing else works, since an arm's answer takes long."""

    def run(self, places: Sequence[Placement], began: float) -> ReachResult:
        """The best placement whose motion is proved, or what became of them."""
        self.solver = IkSolver(self.closing, (self.hand.link,), self.options.ik, joints=self.hand.arm_joints)
        self.opened, self.open_ctrl = self._opened()
        meeting = Meeting(self.grasp, self.open_ctrl, self.thing, self.tolerance)
        able: list[tuple[Placement, HandContact]] = []
        for place in places:
            contact = meeting.at(place.base(self.grasp))
            if contact.why:
                self._count("the hand does not fit the object", partial(str, contact.why))
            else:
                able.append((place, contact))
        seeds = [self.hand.cfg(self.base, contact.ctrl) for _, contact in able]
        results = self._ask([place.base(self.grasp) for place, _ in able], seeds)
        reached = [k for k, result in enumerate(results) if result.success]
        for result in sorted(results, key=_miss):
            if not result.success:
                what = "the arm or the hand would collide" if result.candidates else "out of the arm's reach"
                self._count(what, partial(getattr, result, "why"))
        for k in self._ordered(reached, results):
            place, contact = able[k]
            path, proofs = self._motion(place, results[k].cfg)
            if len(path):
                return self._result(began, results[k].cfg, place, contact, path, proofs)
        return self._failed(began, able, results)

    def _ask(
        self, poses: Sequence[Matrix4], seeds: Sequence[Float[np.ndarray, "dof"]]
    ) -> tuple[IkResult, ...]:
        if not poses:
            return ()
        T_base_link = np.linalg.inv(self.hand.T_link_base)
        targets = [{self.hand.link: T @ T_base_link} for T in poses]
        return self.solver.solve_batch(targets, np.array(seeds), workers=1 if len(poses) == 1 else None)

    def _ordered(self, rows: Sequence[int], results: Sequence[IkResult]) -> list[int]:
        """Answers with enough clearance first, then the nearest."""
        if not rows:
            return []
        cfgs = np.array([results[k].cfg for k in rows])
        clear = np.minimum(self.closing.clearance(cfgs, exact=True), ENOUGH_CLEARANCE)
        robot = self.closing.robot
        span = robot.upper - robot.lower
        far = np.linalg.norm((cfgs - self.base) / np.where(np.isfinite(span) & (span > 0), span, 6.3), axis=1)
        return [rows[i] for i in np.lexsort((far, -np.round(clear, 3)))]

    def _motion(
        self, place: Placement, cfg: Float[np.ndarray, "dof"]
    ) -> tuple[Float[np.ndarray, "steps dof"], tuple[SegmentProof, ...]]:
        """Configurations from standing off to the grasp, with the proof of every piece; none where it fails."""
        nothing = np.zeros((0, len(cfg))), ()
        there = self._ask([place.base(self.opened)], [self.hand.cfg(cfg, self.open_ctrl)])[0]
        if not there.success or not self.strict.free(there.cfg):
            self._count("no room to open the hand", partial(self._blocked, there))
            return nothing
        close = self.closing.segment_free(there.cfg, cfg)
        if not close:
            self._count("closing is not free", partial(str, close.why))
            return nothing
        blocked = ""
        for pieces in WAYPOINTS:
            way = [there.cfg]
            for k in range(1, pieces + 1):
                back = self.options.standoff * k / pieces
                step = self._ask([place.base(self.opened, back)], way[-1:])[0]
                if not step.success:
                    self._count("no room to stand off", partial(self._blocked, step))
                    return nothing
                way.append(step.cfg)
            rows = np.array(way[::-1])
            proofs = self.strict.segments_free(rows[:-1], rows[1:])
            if proofs.free.all():
                each = tuple(proofs[k] for k in range(len(proofs)))
                return frozen(np.concatenate([rows, cfg[None]])), (*each, close)
            blocked = blocked or proofs[int(np.argmin(proofs.free))].why
        self._count("the way in is not free", partial(str, blocked))
        return nothing

    def _opened(self) -> tuple[Grasp, Float[np.ndarray, "actuators"]]:
        """The grasp at which the hand comes in, and its controls."""
        grasp = self.grasp
        if grasp.touching:
            return grasp, self.planner.wrap(grasp.opposition).opened()
        widest = min(grasp.width + self.options.opening, self.planner.range(grasp.opposition)[1])
        wider = self.planner.oppose(grasp.opposition, widest)
        return wider, wider.ctrl

    def _blocked(self, result: IkResult) -> str:
        return result.why or str(self.strict.explain(result.cfg)).splitlines()[0]

    def _count(self, what: str, reason: Callable[[], str]) -> None:
        self.tried[what] = self.tried.get(what, 0) + 1
        self.reasons.setdefault(what, reason)

    def _result(
        self,
        began: float,
        cfg: Float[np.ndarray, "dof"],
        place: Placement | None,
        contact: HandContact | None,
        path: Float[np.ndarray, "steps dof"],
        proofs: tuple[SegmentProof, ...],
        why: str = "",
    ) -> ReachResult:
        clear = np.nan if why else float(self.closing.clearance(cfg, exact=True))
        return ReachResult(
            success=not why,
            grasp=self.grasp,
            placement=place,
            cfg=frozen(np.array(cfg)),
            path=path,
            proofs=proofs,
            contact=contact,
            clearance=clear,
            tried=self.tried,
            obstacle=self.thing.name,
            model=self.closing,
            seconds=time.perf_counter() - began,
            why=why,
        )

    def _failed(
        self, began: float, able: Sequence[tuple[Placement, HandContact]], results: Sequence[IkResult]
    ) -> ReachResult:
        """The best effort, and what became of the placements in words."""
        count = sum(self.tried.values())
        parts = [
            f"{number} times {what}" + (f" ({reason})" if (reason := self.reasons[what]()) else "")
            for what, number in sorted(self.tried.items(), key=lambda item: -item[1])
        ]
        why = f"none of {count} ways to put the hand to {self.thing.name!r} works: " + "; ".join(parts)
        place, contact, cfg = None, None, self.base
        if results:
            best = min(range(len(results)), key=lambda k: (not results[k].success, _miss(results[k])))
            (place, contact), cfg = able[best], results[best].cfg
        return self._result(began, cfg, place, contact, np.zeros((0, len(cfg))), (), why)


def _miss(result: IkResult) -> float:
    """How far an answer is from its target: metres and radians together."""
    return float(result.position_error.max() + result.orientation_error.max())


def _planned(
    planner: GraspPlanner | Grasp, width: float | None, mode: str, finger: str, fingers: int
) -> tuple[GraspPlanner, Grasp]:
    if isinstance(planner, Grasp):
        if width is not None:
            raise InputError("width: a grasp that is planned has its own; give the planner instead")
        by, grasp = GraspPlanner(planner.hand, planner.method), planner
    elif isinstance(planner, GraspPlanner):
        if width is None:
            raise InputError("width: expected the width of the object in metres")
        by, grasp = planner, planner.grasp(mode, width, finger=finger, fingers=fingers)
    else:
        raise InputError(f"planner: expected a GraspPlanner or a Grasp, found a {type(planner).__name__}")
    if grasp.mode == "cylinder" and not grasp.touching:
        raise InputError(
            "cylinders are reached for by the smooth method: GraspPlanner(hand, method='smooth')"
        )
    return by, grasp


def _object(
    model: CollisionModel, grasp: Grasp, pose: Any, height: float, obstacle: Obstacle | str | None
) -> tuple[Matrix4, Obstacle]:
    """Frame of the grasp in the world, and the object as an obstacle."""
    if isinstance(obstacle, str):
        obstacle = (World() if model.world is None else model.world)[obstacle]
    if pose is None and obstacle is None:
        raise InputError("object_pose: expected the pose of the object, or an obstacle that has one")
    T = np.array(obstacle.pose if pose is None and obstacle is not None else as_matrix(pose, "object_pose"))
    if T.shape != (4, 4):
        raise InputError(f"object_pose: expected one pose, found a stack of shape {T.shape}")
    T[:3, 3] += as_number(height, "height") * T[:3, 2]
    if obstacle is None:
        taken = {*model.robot.link_names, *(() if model.world is None else model.world.names)}
        name = next(n for n in ("object", *(f"object_{k}" for k in range(2, 999))) if n not in taken)
        obstacle = usual_object(grasp, T, name)
    return T, obstacle if obstacle.name else obstacle.named("object")


def _world_with(world: World | None, thing: Obstacle) -> World:
    known = World() if world is None else world
    return known if thing.name in known and known[thing.name] is thing else known.add(thing)
