"""A small robot for the bridges."""

from __future__ import annotations

from ..robot.builders import collision, joint, link, robot_xml


def arm() -> str:
    """A folding arm on a base that it can hit, and a jaw; limits are not symmetric."""
    rod = collision('<cylinder radius="0.03" length="0.3"/>', xyz="0 0 0.18")
    parts = [link("base", collision('<box size="0.3 0.3 0.2"/>', xyz="0 0 -0.12"))]
    rows = [("pan", "base", "0 0 0.05", "0 0 1", -2.0, 2.0), ("lift", "pan", "0 0 0.05", "0 1 0", -1.5, 2.5)]
    rows += [
        ("elbow", "lift", "0 0 0.36", "0 1 0", -2.6, 2.6),
        ("grip", "elbow", "0 0 0.36", "0 1 0", -0.2, 1.4),
    ]
    for name, parent, xyz, axis, low, high in rows:
        limit = f'<limit lower="{low}" upper="{high}" velocity="3" effort="3"/>'
        shape = rod if name in ("lift", "elbow") else collision('<sphere radius="0.03"/>')
        parts += [link(name, shape), joint(f"joint_{name}", parent, name, xyz=xyz, axis=axis, inner=limit)]
    return robot_xml(*parts)
