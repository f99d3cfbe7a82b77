"""IkSolver: configurations that put links where they are asked to be, free of collision by the exact verdict.

A solve is one call into the compiled core. Sixteen starts at a time, taken from a table of free configurations whose
links are nearest to the targets, run Levenberg-Marquardt steps in lockstep. What arrives is finished in double
precision and judged by the verdict of `CollisionModel.free`, nearest to the seed first; nothing else is ever
called a success. Collision is no cost of the search: among many starts some arrive free.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from ... import _core
from ..._frozen import frozen
from ..._text import short
from ...collision import CollisionModel
from ...errors import InputError
from ...robot import Robot, as_robot
from ...typing import RobotLike
from .._problem import Shape, numbers_of, shape_of
from .._targets import JointTarget, Target, as_targets, normalised
from ._batch import solve_all
from ._options import IkOptions
from ._result import IkResult
from ._setup import Setup, check_joints, check_shape, held_values, within
from ._why import Explainer

if TYPE_CHECKING:
    from ..track import TrackStep
    from ._reach import Reachability

SETUPS = 64
"""Shapes of questions, with the joints locked, for which tables are kept."""


@dataclass(eq=False, slots=True)
class Question:
    """One question as the core takes it."""

    setup: Setup
    targets: tuple[Target, ...]
    values: list[float]
    """Of the targets; see `_problem`."""
    base: Float[np.ndarray, "dof"]
    """All joints: where those not solved for are held, and the reference of distances."""
    seeded: bool
    """Whether `base` is a seed configuration that a start should be made from."""
    scene: _core.Scene | None
    """Who judges; None for kinematics alone."""
    notes: tuple[str, ...]
    """What has to be said about the question."""


class IkSolver:
    """Inverse kinematics of one robot, with its verdict; see the module. Safe to use from several threads."""

    def __init__(
        self,
        model: CollisionModel | RobotLike,
        links: Sequence[str] | str | None = None,
        options: IkOptions | None = None,
        *,
        joints: Sequence[str] | None = None,
        held: Mapping[str, float] | None = None,
    ) -> None:
        """Checks names; tables are made when first needed.

        Args:
            model: who judges; a robot instead (a Robot, or what `load_robot` takes) gives kinematics alone, with
                `free`, `verdict` and `clearance` None.
            links: those that targets will name, others are refused; None for any.
            options: tolerances, effort and secondary aims.
            joints: those solved for; None for all that move a link with a target.
            held: values of joints that are not solved for. Any other joint that is not solved for stays where the seed
                configuration has it, or else the default pose.

        Raises:
            UnknownLinkError, UnknownJointError: the robot does not have it. InputError: joints without a value of their
                own, or values that are not finite.
        """
        self.model = model if isinstance(model, CollisionModel) else None
        """Who judges; None for kinematics alone."""
        self.robot: Robot = model.robot if isinstance(model, CollisionModel) else as_robot(model)
        self.options = IkOptions() if options is None else options
        self.links: tuple[str, ...] | None = None
        """Links that targets may name; None for all."""
        if links is not None:
            self.links = (links,) if isinstance(links, str) else tuple(links)
            for link in self.links:
                self.robot.link_index(link)
        self.held: dict[str, float] = held_values(self.robot, {} if held is None else held)
        """Joints that are held at given values."""
        self.joints: tuple[str, ...] | None = (
            None if joints is None else check_joints(self.robot, joints, "joints")
        )
        """Joints solved for; None for all that move a link with a target."""
        both = [name for name in self.joints or () if name in self.held]
        if both:
            raise InputError(f"held: joint {both[0]!r} is among the joints solved for")
        rest = np.array(
            (model if isinstance(model, CollisionModel) else self.robot).default_cfg, dtype=np.float64
        )
        self._rest = frozen(self._hold(rest))
        self._rests: dict[int, tuple[Float[np.ndarray, "dof"], _core.Scene | None, tuple[str, ...]]] = {}
        self._settings = self.settings()
        self._setups: dict[Any, Setup] = {}
        self._lock = threading.Lock()
        self._tracker: Any = None
        self.helpers: dict[str, IkSolver] = {}
        """Solvers of easier questions, which say why one of this has no answer; see `_why`."""

    def __repr__(self) -> str:
        judge = "with its verdict" if self.model is not None else "kinematics alone"
        return f"IkSolver({self.robot.name!r}, {judge})"

    # Questions ----------------------------------------------------------------------------------

    def solve(self, targets: Any, seed_cfg: Any = None, locked: Sequence[str] | str = ()) -> IkResult:
        """A free configuration that meets the targets, or the best that was found and why.

        Args:
            targets: {link: pose}, one target, or several; see `as_targets`.
            seed_cfg: (dof,) the answer should be near it; it is one of the starts. None: near the default pose.
            locked: joints that stay where the seed configuration (or the default pose, or `held`) has them.

        Raises:
            InputError: targets or seed that are not finite or not of the right shape. UnknownLinkError,
                UnknownJointError: the robot does not have it.
        """
        began = time.perf_counter()
        asked = as_targets(targets)
        question = self.question(self.setup_for(asked, locked), asked, seed_cfg)
        tables = question.setup.tables(self.model, question.base, self.options)
        ready = time.perf_counter()
        return self.answer(question, self.search(question, tables), _names(locked), began, ready)

    def solutions(
        self, targets: Any, seed_cfg: Any = None, locked: Sequence[str] | str = (), *, count: int = 8
    ) -> Float[np.ndarray, "n dof"]:
        """Several configurations that `solve` would accept and that differ, those nearest to the seed first.

        Args:
            targets: as of `solve`.
            seed_cfg: as of `solve`.
            locked: as of `solve`.
            count: how many to look for.

        Returns:
            (n, dof), n from 0 to count; some joint of any two differs by 0.2 rad (or m). `solve` says why there is
            none.
        """
        asked = as_targets(targets)
        question = self.question(self.setup_for(asked, locked), asked, seed_cfg)
        tables = question.setup.tables(self.model, question.base, self.options)
        found = self.search(question, tables, self.settings(count=max(count, 1)))
        return frozen(found[0] if found[3] and count > 0 else found[0][:0])

    def question(self, setup: Setup, targets: tuple[Target, ...], seed_cfg: Any) -> Question:
        """The question as the core takes it."""
        base, scene, notes = self._base(setup, seed_cfg)
        return Question(setup, targets, numbers_of(targets), base, seed_cfg is not None, scene, notes)

    def settings(self, *, count: int = 1, iterations: int | None = None) -> _core.IkSettings:
        """The options as the core takes them."""
        options = self.options
        steps = options.iterations if iterations is None else iterations
        return _core.IkSettings(
            options.position_tolerance, options.orientation_tolerance, options.seeds, steps, options.timeout, count
        )  # fmt: skip

    def search(
        self, question: Question, tables: list[_core.StartTable], settings: _core.IkSettings | None = None
    ) -> Any:
        """What the core answers; see `_core.Ik.solve`."""
        return question.setup.core.solve(
            question.scene,
            tables,
            question.values,
            question.base,
            question.seeded,
            settings or self._settings,
        )

    def answer(
        self, question: Question, found: Any, locked: tuple[str, ...], began: float, ready: float
    ) -> IkResult:
        """The result of a search that began at one time and had its tables ready at another."""
        cfgs, position, orientation, success, met, free, timed_out, candidates, starts, steps, refused = found
        cfg, improved = cfgs[0], False
        if self.options.refines and success:
            from ._refine import refined

            better = refined(self, question, cfg, ready + self.options.timeout)
            if better is not None:
                improved, cfg = True, better
                whole = question.setup.whole
                errors = whole.errors(np.array(question.values), cfg[None])
                position, orientation = errors[0][0], errors[1][0]
        return IkResult(
            cfg=frozen(cfg),
            success=success,
            targets=question.targets,
            position_error=position,
            orientation_error=orientation,
            free=None if question.scene is None else free,
            candidates=candidates,
            seeds_tried=starts,
            iterations=steps,
            seconds=time.perf_counter() - began,
            notes=(*question.notes, *normalised(question.targets)),
            timed_out=timed_out,
            refused=refused,
            setup_seconds=ready - began,
            met=met,
            seeded=question.seeded,
            refined=improved,
            model=self.model,
            explainer=None if success else Explainer(self, question.base, locked),
        )

    def solve_batch(
        self,
        targets: Any,
        seed_cfgs: Any = None,
        locked: Sequence[str] | str = (),
        *,
        workers: int | None = None,
    ) -> tuple[IkResult, ...]:
        """`solve` for many sets of targets, on all cores; the answers do not depend on how many.

        Args:
            targets: a sequence of what `solve` takes, or {link: (n, 7)} (also (n, 4, 4), or positions (n, 3)).
            seed_cfgs: (n, dof), or (dof,) for all; None for none.
            locked: as of `solve`.
            workers: how many work at a time; None for one per core, or what joblib is configured for: within
                `joblib.parallel_config(backend="loky")`, or a cluster's backend, they are processes, else threads.
        """
        return solve_all(self, targets, seed_cfgs, locked, workers)

    def track(self, targets: Any, cfg: Any, dt: float, **how: Any) -> TrackStep:
        """One tick of a control loop from a configuration; see `Tracker`, of which the solver keeps one."""
        from ..track import Tracker

        if self.model is None:
            raise InputError("track needs a CollisionModel: the solver was given a robot alone")
        if self._tracker is None:
            links = self.links
            if links is None:
                links = tuple(t.link for t in as_targets(targets) if not isinstance(t, JointTarget))
            solved = self.robot.joint_names if self.joints is None else self.joints
            joints = tuple(name for name in solved if name not in self.held)
            self._tracker = Tracker(self.model, links, joints=joints)
        return self._tracker.tick(targets, cfg, dt, **how)

    def reachability(self, targets: Any, *, workers: int | None = None) -> Reachability:
        """Which of many targets can be reached, and how many not for which reason; targets as of `solve_batch`."""
        from ._reach import reachability

        return reachability(self, targets, workers=workers)

    def with_model(self, model: CollisionModel) -> IkSolver:
        """The same solver with another judge of the same robot, such as one among moved obstacles; tables are shared.

        Raises:
            InputError: a model of another robot.
        """
        if model.robot is not self.robot:
            raise InputError(f"model: it is of {model.robot.name!r}, not of the robot of this solver")
        other = IkSolver(model, self.links, self.options, joints=self.joints, held=self.held)
        other.share_tables(self)
        return other

    # Parts --------------------------------------------------------------------------------------

    def setup_for(self, targets: Sequence[Target], locked: Sequence[str] | str) -> Setup:
        """What is packed once for targets of this shape."""
        key = shape_of(targets), locked if isinstance(locked, str) else tuple(locked)
        try:
            return self._setups[key]
        except KeyError:
            pass
        except TypeError:  # a name that cannot be hashed is no name
            raise InputError(f"locked: expected names of joints, found {short(locked)}") from None
        shape = check_shape(self.robot, targets)
        self._check_links(targets)
        locked_names = check_joints(self.robot, locked, "locked")
        with self._lock:
            if key not in self._setups:
                if len(self._setups) >= SETUPS:
                    self._setups.pop(next(iter(self._setups)))
                self._setups[key] = self._pack(shape, locked_names)
            return self._setups[key]

    def _pack(self, shape: Shape, locked: Sequence[str]) -> Setup:
        solved = self.robot.joint_names if self.joints is None else self.joints
        names = [name for name in solved if name not in locked and name not in self.held]
        return Setup.of(self.robot, shape, names)

    def _check_links(self, targets: Sequence[Target]) -> None:
        if self.links is None:
            return
        for target in targets:
            if not isinstance(target, JointTarget) and target.link not in self.links:
                known = ", ".join(self.links)
                raise InputError(f"target of {target.link!r}: this solver was made for the links {known}")

    def share_tables(self, other: IkSolver) -> None:
        """Takes and makes tables of starts together with a solver of the same joints."""
        self._setups, self._lock = other._setups, other._lock

    def _base(
        self, setup: Setup, seed_cfg: Any
    ) -> tuple[Float[np.ndarray, "dof"], _core.Scene | None, tuple[str, ...]]:
        """Values of all joints to start from and to hold, who judges, and what has to be said about them."""
        if seed_cfg is None:
            key = id(setup)
            if key not in self._rests:
                self._rests[key] = self._within(setup, self._rest)
            return self._rests[key]
        base = self._hold(np.array(self.robot.as_cfg(seed_cfg)))
        if self.model is None or not ((base >= self.robot.lower) & (base <= self.robot.upper)).all():
            return self._within(setup, base)
        return frozen(base), self.model.scene_at(None), ()

    def _within(
        self, setup: Setup, base: Float[np.ndarray, "dof"]
    ) -> tuple[Float[np.ndarray, "dof"], _core.Scene | None, tuple[str, ...]]:
        judge = self.robot if self.model is None else self.model
        base, notes = within(judge, setup.joint_idx, base)
        return frozen(base), None if self.model is None else self.model.scene_at(base), notes

    def _hold(self, cfg: Float[np.ndarray, "dof"]) -> Float[np.ndarray, "dof"]:
        for name, value in self.held.items():
            cfg[self.robot.joint_names.index(name)] = value
        return cfg

    def __getstate__(self) -> dict[str, Any]:
        left_out = {
            "_setups": {},
            "_rests": {},
            "_lock": None,
            "_tracker": None,
            "_settings": None,
            "helpers": {},
        }
        return {**self.__dict__, **left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._rest = frozen(np.array(self._rest))
        self._settings = self.settings()
        self._lock = threading.Lock()


def _names(locked: Sequence[str] | str) -> tuple[str, ...]:
    return (locked,) if isinstance(locked, str) else tuple(locked)
