"""Where the packed model keeps what: names for its tables and columns, used by the packer and by the kernels.

Whole numbers are in one flat array: the number of rows of each table, where each begins, the number of points, then
the tables row by row. Rows of links and groups point into one list of points: enclosing balls of links, of groups,
then the spheres.
"""

from __future__ import annotations

LANES = 16
"""Configurations per vector: one AVX-512 register of float32."""
POINT = 3 * LANES
"""Numbers of a point."""
POSE = 12 * LANES
"""Numbers of a pose: rotation row by row, then translation."""

BODIES, MOVING, LINKS, GROUPS, PAIRS = range(5)
"""Tables; `ints[table]` is the number of rows."""
WIDTHS = (3, 3, 5, 2, 2)
"""Columns of each table."""
START = 5
"""`ints[START + table]` is where a table begins."""
N_POINTS = 10
"""`ints[N_POINTS]` is the number of points."""
HEADER = 16
"""Entries before the first table."""

BODY_PARENT, BODY_KIND, BODY_JOINT = range(3)
"""Of a body: row of the body that carries it, kind of its joint (1 turns, 2 slides), its joint's place in `q_full`."""
JOINT, JOINT_DRIVER, JOINT_COUPLED = range(3)
"""Of a moving joint, drivers first: its place in `q_full`, whose value it takes, whether that is in `q_full` too."""
LINK_BODY, LINK_GROUP, LINK_GROUPS, LINK_SPHERE, LINK_SPHERES = range(5)
"""Of a link: row of its body, first point and number of its groups, first point and number of its spheres."""
GROUP_SPHERE, GROUP_SPHERES = range(2)
"""Of a group: first point and number of its spheres."""

LAW_LIMIT = 5
"""Column of `doubles` after a joint's five coefficients: largest size of its value that the error bound covers."""
LAW_WIDTH = 6
"""Columns of `doubles`."""
