"""What a Robot offers to JAX code beside forward kinematics: single links, and what pyroki's costs ask of a robot."""

from __future__ import annotations

from functools import cached_property
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
