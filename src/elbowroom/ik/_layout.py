"""How the arrays of the kernels of IK are laid out; made by `_pack`.

Kept apart from what fills the arrays, so that only a change of the layout compiles the kernels anew.
"""

from __future__ import annotations

WIDTH = 8
"""Searches in lockstep: two AVX2 registers a value, so that a sum of products keeps its operands in registers."""

(
    N_BODIES, N_TARGETS, N_SOLVED, N_VARS, N_ROWS, N_TERMS, AT_BODIES, AT_TARGETS, AT_VARS, AT_SHARED,
    AT_PLACED, AT_LAWS, AT_LIMITS, Q, POSE, AXIS, SLOPE, ERROR, AIM, JACOBIAN, GRAM, SOLUTION, MOVE, OFF, TURN, BEST,
    LANE, WORK, HEADER,
) = range(29)  # fmt: skip
"""Entries at the start of the integers. Counts: bodies, targets, joints solved for, variables, rows of the residual,
terms of a coupling law. Where tables start among the integers: bodies, targets, variables, variables shared by two
targets; among the floats: links on bodies, coupling laws, limits. Where values start in the work space: variables,
poses, axes, slopes of laws, residual, what the Jacobian needs of each target, Jacobian, its product with its transpose,
solution, step, position errors, orientation errors, best variables, notes on each lane. The size of the work space."""
BODY_PARENT, BODY_KIND, BODY_VAR, BODY_LAW, BODY_WIDTH = range(5)
"""Columns of a body: what carries it, kind of joint, variable that moves it, 1 where it follows a law."""
TARGET_KIND, TARGET_BODY, TARGET_ROW, TARGET_WIDTH = range(4)
"""Columns of a target: its kind, the body of its link (variable of its joint), its first row."""
VAR_CFG, VAR_WRAPS, VAR_WIDTH = range(3)
"""Columns of a variable: its entry in a configuration, 1 where whole turns do not count."""
POSE_KIND, POSITION_KIND, AXIS_KIND, LOOK_KIND, JOINT_KIND = range(5)
ROWS = (6, 3, 3, 3, 1)
"""Rows of the residual of each kind of target."""
REVOLUTE = 1
LOCAL = 10
"""Numbers of a body: its pose in its parent at zero (wxyz_xyz), and where it slides."""
PLACE = 7
VALUES = 9
"""Numbers of a target, in the order of its kind: pose wxyz_xyz, weights of position and orientation; position, point,
weight; direction or point, axis, weight; value, weight."""
AIMS = 12
"""Values that the Jacobian needs of a target."""
LANE_COST, LANE_IDLE, LANE_COUNT, LANE_START, LANE_CARE, LANE_NOTES = range(6)
"""What is noted of each lane: best cost, steps without progress, steps, start it came from, factor of its damping."""
