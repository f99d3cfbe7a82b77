"""The Robot: what every other part of Elbowroom takes.

A frozen value made by `load_robot`. Kinematics are offered twice, in JAX for gradients (compiled at first use) and in
the compiled core for speed. Meshes are read when first asked for.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from .._frozen import Frozen, frozen
from .._parallel import cores, over_rows
from ..errors import (
    ApproximationWarning,
    InputError,
    UnknownJointError,
    UnknownLinkError,
    shape_text,
    unknown,
)
from ..typing import LinkPair
from ._default import DefaultPose
from ._jax_facts import JaxFacts
from ._tree import KinematicTree
from ._types import Joint, MeshData, Note, Shape
from ._visuals import Visual, VisualSource, read_visuals

if TYPE_CHECKING:
    import trimesh

MAX_VALUE = 1e5
"""Radians up to which the core reduces angles without loss (`lanes.hpp`, `sincos`); as many metres for slides."""


def safe_values(tree: KinematicTree) -> Float[np.ndarray, "dof"]:
    """Magnitudes of actuated joints up to which these and all that follow them are within `MAX_VALUE` for sure.

    By the sum of the terms of each law, so followers may be within it even then; -1 where they may be beyond at once.
    """
    most = np.full(len(tree.actuated), MAX_VALUE)
    bounds, owner = np.zeros(len(tree.moving)), np.zeros(len(tree.moving), dtype=np.int64)
    while True:
        for i in tree.order:
            if tree.is_coupled[i]:
                owner[i] = owner[tree.driver[i]]
                bound = 0.0
                with np.errstate(over="ignore"):
                    for factor in np.abs(tree.polycoef[i])[::-1]:
                        bound = factor + bound * bounds[tree.driver[i]]
                bounds[i] = bound
            else:
                owner[i], bounds[i] = tree.driver[i], most[tree.driver[i]]
        beyond = owner[~(bounds <= MAX_VALUE)]
        beyond = beyond[most[beyond] >= 0.0]
        if not len(beyond):
            return frozen(most)
        most[beyond] = np.where(most[beyond] > 1e-3, 0.5 * most[beyond], -1.0)


PARALLEL_ROWS = 4096
"""Batches from this size on are shared by threads; below, starting a thread costs more than it saves."""


@dataclass(frozen=True, eq=False)
class Robot(JaxFacts, Frozen):
    """A robot: kinematic tree, limits, collision geometry and named configurations.

    Robots compare and hash by identity, so they can be static arguments of `jax.jit`.
    """

    name: str
    tree: KinematicTree
    shapes: Mapping[str, tuple[Shape, ...]]
    """Collision shapes per link, exact as described; links without any are absent."""
    named_cfgs: Mapping[str, np.ndarray]
    """Named configurations (SRDF group states, MJCF keyframes), each (dof,)."""
    default_pose: DefaultPose
    """The pose to start from and where it comes from: a named configuration with a telling name, else a guess."""
    notes: tuple[Note, ...] = ()
    """What was mended, approximated, held, skipped, meshed or modelled by us; see `Note`."""
    disabled_pairs: Mapping[LinkPair, str] = field(default_factory=dict[LinkPair, str])
    """Link pairs that the SRDF disables, with its reasons, and those that an MJCF excludes. Entries of an SRDF that
    Elbowroom computed are omitted: they are recomputed when something changes, not believed."""
    visual_only: tuple[str, ...] = ()
    """Links that have visual geometry but no collision geometry, so that no check sees them; `use_visual` takes it."""
    left_out: tuple[str, ...] = ()
    """Links that have collision geometry of which a part could not be taken, such as a shape of zero size; see `notes`.
    """
    visual_sources: Mapping[str, tuple[VisualSource, str]] = field(
        default_factory=dict[str, "tuple[VisualSource, str]"], repr=False
    )
    """Where the visual geometry of each link is read from, and its name there; see `link_visuals`."""
    source: str = ""
    """What it was loaded from, as given."""
    path: Path | None = None
    """Description file, where there is one."""
    xml: bytes | None = field(default=None, repr=False)
    """Text of that file in UTF-8: xacro expanded, form mended, elements as they were."""
    _meshes: dict[str, MeshData] = field(default_factory=dict, repr=False)

    # Names and limits -------------------------------------------------------------------------

    @property
    def link_names(self) -> tuple[str, ...]:
        """Links in the order of poses."""
        return self.tree.link_names

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Actuated joints in the order of a configuration."""
        return tuple(joint.name for joint in self.tree.actuated)

    @property
    def default_cfg(self) -> Float[np.ndarray, "dof"]:
        """Joint values of the default pose; a guess may collide, see `default_pose`."""
        return self.default_pose.cfg

    @cached_property
    def dof(self) -> int:
        """Number of actuated joints."""
        return len(self.tree.actuated)

    @cached_property
    def lower(self) -> Float[np.ndarray, "dof"]:
        """Lower limits, rad or m; -pi for continuous joints."""
        return frozen(np.array([joint.lower for joint in self.tree.actuated], dtype=np.float64))

    @cached_property
    def upper(self) -> Float[np.ndarray, "dof"]:
        """Upper limits, rad or m; pi for continuous joints."""
        return frozen(np.array([joint.upper for joint in self.tree.actuated], dtype=np.float64))

    @cached_property
    def velocity_limits(self) -> Float[np.ndarray, "dof"]:
        """Largest speeds, rad/s or m/s; infinite where the description gives none."""
        return frozen(np.array([joint.velocity for joint in self.tree.actuated], dtype=np.float64))

    @property
    def mended(self) -> tuple[str, ...]:
        """What the description has wrong and how it was read, a sentence each; `load_robot(strict=True)` refuses it."""
        return tuple(f"{note.where}: {note.text}" for note in self.notes if note.kind == "mended")

    @property
    def modelled(self) -> tuple[str, ...]:
        """Sentences on bundled robots, whose shapes are Elbowroom's own: proofs hold for these, not for real ones."""
        return tuple(f"{note.where}: {note.text}" for note in self.notes if note.kind == "modelled")

    # The tree ---------------------------------------------------------------------------------

    def link_index(self, link: str) -> int:
        """Position of a link in `link_names`."""
        try:
            return self._link_index[link]
        except (KeyError, TypeError):
            raise UnknownLinkError(unknown("link", str(link), self.link_names)) from None

    def joint(self, name: str) -> Joint:
        """The joint of that name, fixed and coupled ones included."""
        try:
            return self._joint_by_name[name]
        except (KeyError, TypeError):
            raise UnknownJointError(unknown("joint", str(name), self._joint_by_name)) from None

    def parent_joint(self, link: str) -> Joint | None:
        """The (first) joint that carries a link; None for the root."""
        self.link_index(link)
        return next((joint for joint in self.tree.joints if joint.child == link), None)

    def child_joints(self, link: str) -> tuple[Joint, ...]:
        """The joints that leave a link, one per child link."""
        self.link_index(link)
        first: dict[str, Joint] = {}
        for joint in self.tree.joints:
            if joint.parent == link:
                first.setdefault(joint.child, joint)
        return tuple(first.values())

    @cached_property
    def _link_index(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.link_names)}

    @cached_property
    def _joint_by_name(self) -> dict[str, Joint]:
        return {joint.name: joint for joint in self.tree.joints}

    # Kinematics -------------------------------------------------------------------------------

    def forward_kinematics(self, cfg: Any) -> Any:
        """Link poses in the world, by JAX: differentiable, under jit and vmap, on any device.

        Args:
            cfg: (..., dof); its precision is the precision of the answer.

        Returns:
            (..., links, 7) wxyz_xyz in `link_names` order.
        """
        shape = np.shape(cfg)
        if not shape or shape[-1] != self.dof:
            raise InputError(f"{self.name}: cfg must have shape (..., {self.dof}), found {shape_text(cfg)}")
        try:
            return self._fk(cfg)
        except TypeError as error:
            raise InputError(f"{self.name}: a configuration must be numbers, found {cfg!r:.60}") from error

    @cached_property
    def _fk(self) -> Callable[[Any], Any]:
        from ._fk_jax import make_forward_kinematics

        return make_forward_kinematics(self.tree)

    def link_poses(self, cfgs: Any) -> Float[np.ndarray, "*batch links 7"]:
        """Link poses in the world, by the compiled core in float64; large batches use all cores.

        Args:
            cfgs: (n, dof), or (dof,) for a single configuration.

        Returns:
            (n, links, 7) or (links, 7), wxyz_xyz in `link_names` order.
        """
        rows, core = self.as_cfgs(cfgs), self.tree.core
        out = np.empty((len(rows), len(self.link_names), 7))
        _in_parts(len(rows), lambda part: core.link_poses(rows[part], out[part]))
        return out[0] if np.ndim(cfgs) == 1 else out

    def jacobian(self, cfgs: Any, link: str) -> Float[np.ndarray, "*batch 6 dof"]:
        """Geometric Jacobian of a link frame, by the compiled core in float64.

        Rows 0-2 give the velocity of the frame's origin, rows 3-5 the angular velocity, both in world
        axes, per unit rate of each actuated joint; coupled joints are included in their drivers' columns.

        Args:
            cfgs: (n, dof), or (dof,) for a single configuration.
            link: name of the link.
        """
        rows, core, link_idx = self.as_cfgs(cfgs), self.tree.core, self.link_index(link)
        out = np.empty((len(rows), 6, self.dof))
        _in_parts(len(rows), lambda part: core.jacobians(rows[part], link_idx, out[part]))
        return out[0] if np.ndim(cfgs) == 1 else out

    def cfg_rows(self, cfgs: Any) -> tuple[Float[np.ndarray, "n dof"], bool]:
        """Configurations as (n, dof) float64, and whether a single one was given; values are not checked.

        Raises:
            InputError: wrong shape, or not numbers.
        """
        try:
            rows = np.ascontiguousarray(cfgs, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"{self.name}: a configuration must be numbers, found {cfgs!r:.60}") from error
        dof, shape = self.dof, rows.shape
        if shape == (dof,) and (dof > 1 or np.ndim(cfgs) == 1):
            return rows.reshape(1, dof), True
        if len(shape) == 2 and shape[1] == dof:
            return rows, False
        raise InputError(
            f"{self.name}: configurations must have shape ({dof},) or (n, {dof}), found {shape_text(rows)}"
        )

    def as_cfgs(self, cfgs: Any) -> Float[np.ndarray, "n dof"]:
        """Checks configurations, (dof,) or (n, dof), and returns them as (n, dof) float64.

        Raises:
            InputError: wrong shape, not numbers, NaN, infinite, or so large that poses would lose their digits.
        """
        rows, _ = self.cfg_rows(cfgs)
        if not (np.abs(rows).max(axis=0, initial=0.0) <= self._safe_values).all():  # NaN is not
            self._refuse_far(rows)
        return rows

    @cached_property
    def _safe_values(self) -> Float[np.ndarray, "dof"]:

        return safe_values(self.tree)

    def _refuse_far(self, rows: Float[np.ndarray, "n dof"]) -> None:
        """Raises where a joint, or one that follows it, is so far that its angle has lost digits."""

        if not np.isfinite(rows).all():
            row, joint = np.argwhere(~np.isfinite(rows))[0]
            raise InputError(
                f"{self.name}: configurations have NaN or infinite entries: joint {self.joint_names[joint]!r} is "
                f"{rows[row, joint]} in row {row}; give finite numbers"
            )
        with np.errstate(over="ignore", invalid="ignore"):
            values = np.abs(self.tree.expand(rows)).max(axis=0, initial=0.0)
        for joint, value in zip(self.tree.moving, values.tolist(), strict=True):
            if not value <= MAX_VALUE:
                follows = "" if joint.coupling is None else f", which follows {joint.coupling.driver!r},"
                raise InputError(
                    f"{self.name}: joint {joint.name!r}{follows} is at {value:g} rad or m; beyond {MAX_VALUE:g} its "
                    "poses lose their digits"
                )

    def as_cfg(self, cfg: Any) -> Float[np.ndarray, "dof"]:
        """Checks one configuration.

        Raises:
            InputError: not one configuration (dof,), not numbers, NaN, infinite or too large.
        """
        rows, single = self.cfg_rows(cfg)
        if not single:
            raise InputError(
                f"{self.name}: expected one configuration ({self.dof},), found {shape_text(rows)}"
            )
        return self.as_cfgs(rows)[0]

    def random_cfgs(self, n: int, seed: int = 0) -> Float[np.ndarray, "n dof"]:
        """Configurations drawn uniformly within the limits.

        Raises:
            InputError: a joint has no finite limits to draw from.
        """
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 0:
            raise InputError(f"{self.name}: expected a number of configurations from 0 up, found {n!r:.40}")
        for joint in self.tree.actuated:
            if not np.isfinite(joint.upper - joint.lower):
                raise InputError(f"{self.name}: joint {joint.name!r} has no finite limits to draw from")
        return np.random.default_rng(seed).uniform(self.lower, self.upper, (n, self.dof))

    # Geometry ---------------------------------------------------------------------------------

    def link_mesh(self, link: str, *, within: float | None = None) -> trimesh.Trimesh | None:
        """All collision shapes of a link as one mesh in the link frame; None if it has none.

        The mesh is a copy. See `link_triangles`, which takes the same arguments and needs no trimesh.
        """
        found = self.link_triangles(link, within=within)
        if found is None:
            return None
        import trimesh

        return trimesh.Trimesh(found.vertices.copy(), found.faces.copy(), process=False)

    def link_triangles(self, link: str, *, within: float | None = None) -> MeshData | None:
        """Vertices and faces of all collision shapes of a link in the link frame, read-only; None if it has none.

        Curved primitives are enclosed by their triangles (see `notes`). Triangles of single shapes are in `shapes`. A
        link of more than 20 m is warned about once: its file may be in millimetres.

        Args:
            link: its name.
            within: metres that triangles may be outside a curved primitive; None: 1 % of its radius.

        Raises:
            MeshError: a mesh file is broken.
        """
        self.link_index(link)
        if link not in self.shapes:
            return None
        if within is not None:
            return self._joined(link, within)
        if link not in self._meshes:
            self._meshes[link] = self._joined(link, np.inf)
            self._ask_about_units(link)
        return self._meshes[link]

    def _joined(self, link: str, within: float) -> MeshData:
        """Triangles of all shapes of a link."""
        from ._tessellate import fine_triangles

        vertices: list[np.ndarray] = []
        faces: list[np.ndarray] = []
        count = 0
        for shape in self.shapes[link]:
            data = fine_triangles(shape, within)
            vertices.append(data.vertices @ shape.T_link_shape[:3, :3].T + shape.T_link_shape[:3, 3])
            faces.append(data.faces + count)
            count += len(data.vertices)
        return MeshData(frozen(np.concatenate(vertices)), frozen(np.concatenate(faces)))

    def _ask_about_units(self, link: str) -> None:
        """Warns about a link so large that its file may be in millimetres; once, as all links would be then."""
        from ._geometry import units_question

        question = units_question(link, self.shapes[link], self._meshes[link].vertices)
        if question is not None and not self._asked:
            self._asked.append(question)
            warnings.warn(f"{self.name}: {question}", ApproximationWarning, 3)

    @cached_property
    def _asked(self) -> list[str]:
        """What was asked about units."""
        return []

    @property
    def mesh_links(self) -> tuple[str, ...]:
        """Links that have collision geometry."""
        return tuple(name for name in self.link_names if name in self.shapes)

    def link_visuals(self, link: str) -> tuple[Visual, ...]:
        """What a link looks like: meshes in the link frame with their colours; empty if it has no visual geometry.

        Read when first asked for, by the rules for collision meshes, and kept. What cannot be read is left out, which
        is warned about once; that and missing colours are listed in `visual_notes`.
        """
        self.link_index(link)
        if link not in self.visual_sources:
            return ()
        if link not in self._visuals:
            self._visuals[link] = visuals, notes = read_visuals(*self.visual_sources[link])
            left_out = [str(note) for note in notes if note.kind == "skipped"]
            if left_out:
                text = f"{self.name}: not everything can be shown\n  " + "\n  ".join(left_out)
                warnings.warn(text, ApproximationWarning, 2)
            return visuals
        return self._visuals[link][0]

    @property
    def visual_notes(self) -> tuple[Note, ...]:
        """What was left out of the visual geometry that has been read so far, and why."""
        return tuple(note for _, notes in self._visuals.values() for note in notes)

    @cached_property
    def _visuals(self) -> dict[str, tuple[tuple[Visual, ...], tuple[Note, ...]]]:
        """Visuals that were read; not a field, so that they do not travel to other processes."""
        return {}

    def __repr__(self) -> str:
        warned = sum(note.warns for note in self.notes)
        return (
            f"Robot({self.name!r}: {len(self.link_names)} links, {self.dof} actuated joints, "
            f"{len(self.shapes)} links with collision geometry, {warned} warnings)"
        )


def _in_parts(n_rows: int, work: Callable[[slice], None]) -> None:
    """Calls `work` on parts of the rows, in threads when there are many."""
    over_rows(lambda start, stop: work(slice(start, stop)), n_rows, threads=cores(), at_least=PARALLEL_ROWS)
