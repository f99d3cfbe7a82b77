"""What a Robot offers to JAX code beside forward kinematics: single links, and what pyroki's costs ask of a robot.

A Robot may be an argument of jitted functions, which JAX must have been told before the call. Elbowroom does not
import JAX by itself (it takes about a second), so if JAX is not loaded yet, the registration waits for its import.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cached_property
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ._tree import KinematicTree

if TYPE_CHECKING:
    from ._joint_info import JointInfo, LinkInfo
    from ._link_jax import LinkInJax


class JaxFacts:
    """A part of `Robot`; everything here loads JAX when first used."""

    tree: KinematicTree

    def link_in_jax(self, link: str) -> LinkInJax:
        """One link for JAX: `.pose(cfg)` (7,) and `.jacobian(cfg)` (6, dof) of one configuration, under jit and vmap.

        The derivative of the pose is the geometric Jacobian, so it costs far less than that of `forward_kinematics`.

        Raises:
            UnknownLinkError: the robot has no such link.
        """
        if link not in self._links_in_jax:
            from ._link_jax import LinkInJax

            self._links_in_jax[link] = LinkInJax(self.tree, link)
        return self._links_in_jax[link]

    @cached_property
    def _links_in_jax(self) -> dict[str, LinkInJax]:
        return {}

    # pyroki's duck type ---------------------------------------------------------------------------

    @cached_property
    def joints(self) -> JointInfo:
        """Joint facts under pyroki's names; see `JointInfo` for the fields."""
        from ._joint_info import joint_info

        return joint_info(self.tree)

    @cached_property
    def links(self) -> LinkInfo:
        """Link facts under pyroki's names; see `LinkInfo` for the fields."""
        from ._joint_info import link_info

        return link_info(self.tree)

    @cached_property
    def joint_var_cls(self) -> Any:
        """Class of jaxls variables that are configurations of this robot, as pyroki's Robot has it.

        Raises:
            MissingExtraError: jaxls (brentyi's, not on PyPI) is not installed.
        """
        from ._pyroki import joint_variable_class

        return joint_variable_class(self)

    def _forward_kinematics_joints(self, cfg: Any, unroll_fk: bool = False) -> Any:
        """Poses (*batch, joints, 7) of moved joint frames; pyroki's pose cost with analytic Jacobian asks for it."""
        return self.joints.poses(cfg)

    def _link_poses_from_joint_poses(self, Ts_world_joint: Any) -> Any:
        """Link poses (*batch, links, 7) from those of the joints; the same."""
        return self.links.poses(Ts_world_joint)


def register_with_jax() -> None:
    """Registers `Robot` as a pytree: now if JAX is loaded, otherwise as soon as it is."""
    if "jax" in sys.modules:
        from . import _fk_jax as _fk_jax
    else:
        sys.meta_path.insert(0, _AfterJax())


class _AfterJax(MetaPathFinder):
    """Steps aside when JAX is looked for, and registers `Robot` when JAX has been loaded."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "jax":
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_register(module: ModuleType) -> None:
                load(module)
                register_with_jax()

            spec.loader.exec_module = load_and_register
        return spec
