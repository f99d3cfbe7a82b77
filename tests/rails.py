"""A cart of 0.1 that moves in a plane around a post of 0.2: apart by max(|x|, |y|) - 0.15 along the axes."""

from __future__ import annotations

from pathlib import Path

import elbowroom as er

RAILS = """<robot name="rails">
  <link name="post"><collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
  <link name="bare"/>
  <link name="cart"><collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
  <joint name="x" type="prismatic"><parent link="post"/><child link="bare"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
  <joint name="y" type="prismatic"><parent link="bare"/><child link="cart"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="0.5" velocity="1" effort="1"/></joint>
</robot>"""


def rails_parts(folder: Path) -> tuple[er.Robot, er.SphereModel, er.PairMatrix]:
    """The robot, its spheres, and the pair that is checked though they touch at rest."""
    path = folder / "rails.urdf"
    path.write_text(RAILS)
    robot = er.load_robot(path)
    spheres = er.fit_spheres(robot, er.FitOptions(method="centerline"))
    return (
        robot,
        spheres,
        er.compute_pairs(robot, spheres, er.PairOptions(check=[("cart", "post")], buffer=0.05)),
    )
