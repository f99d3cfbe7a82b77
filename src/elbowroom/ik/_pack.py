"""Kinematics of a set of targets as two flat arrays, which is what the kernels of IK run on.

Only the bodies that lead to the links of targets are kept (`find_bodies`), every joint axis turned to z. The
variables are the actuated joints that move these bodies: those solved for come first, then those that are held. A
coupled joint follows its variable through a polynomial.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from .._poses import matrix_from_wxyz_xyz, quaternion_from_rotation
from ..robot import Robot
from ..robot.doors import coupling_law, find_bodies
from ..typing import Matrix4
from ._layout import AIMS, HEADER, JOINT_KIND, LANE_NOTES, ROWS


def pack(
    robot: Robot, wanted: Sequence[tuple[int, str]], joints: Sequence[str]
) -> tuple[Int[np.ndarray, "ints"], Float[np.ndarray, "floats"]]:
    """The two arrays for targets (kind, link or joint) and the names of joints solved for."""
    tree, bodies = robot.tree, find_bodies(robot.tree)
    entry = {name: k for k, name in enumerate(robot.joint_names)}
    frames = [
        0 if kind == JOINT_KIND else int(tree.link_frame[robot.link_index(name)]) for kind, name in wanted
    ]
    keep = bodies.with_ancestors({bodies.of_frame[frame] for frame in frames})
    number = {body: k for k, body in enumerate(keep)}
    laws = [(0, [0.0]) if b == 0 else coupling_law(tree, bodies.q_idx[b]) for b in keep]
    named = [entry[name] for kind, name in wanted if kind == JOINT_KIND]
    used = dict.fromkeys([*(driver for driver, _ in laws[1:]), *named])
    free = {entry[name] for name in joints}
    order = sorted(used, key=lambda k: k not in free)
    solved = sum(k in free for k in used)
    variable = {k: at for at, k in enumerate(order)}
    turns = _turning_freely(robot) - set(named)

    body_table: list[int] = []
    local: list[float] = []
    for k, b in enumerate(keep):
        driver, law = laws[k]
        up = number.get(bodies.parent[b], 0)
        body_table += [up, bodies.kind[b], variable.get(driver, 0), int(b > 0 and law != [0.0, 1.0])]
        T = _world_root(robot) if b == 0 else bodies.T_parent_body[b]
        local += [*_numbers(T), *T[:3, 2].tolist()]
    target_table: list[int] = []
    placed: list[float] = []
    support: list[set[int]] = []
    rows = 0
    for (kind, name), frame in zip(wanted, frames, strict=True):
        body = bodies.of_frame[frame]
        moved = {variable[laws[number[b]][0]] for b in bodies.ancestors(body) if b}
        if kind == JOINT_KIND:
            moved = {variable[entry[name]]}
        target_table += [kind, variable[entry[name]] if kind == JOINT_KIND else number[body], rows]
        placed += _numbers(bodies.T_body_frame[frame])
        support.append({var for var in moved if var < solved})
        rows += ROWS[kind]
    terms = max(len(law) for _, law in laws)
    padded = [value for _, law in laws for value in [*law, *[0.0] * (terms - len(law))]]
    limits = [
        bound
        for k in order[:solved]
        for bound in ((-np.inf, np.inf) if k in turns else (robot.lower[k], robot.upper[k]))
    ]

    nb, nt, nv = len(keep), len(wanted), len(order)
    var_table = [value for k in order for value in (k, int(k in turns))]
    at_ints = _places(HEADER, len(body_table), len(target_table), len(var_table))
    at_floats = _places(0, len(local), len(placed), len(padded))[1:]
    at_work = _places(
        0, nv, 7 * (nb + nt), 3 * nb, nb, rows, AIMS * nt, rows * solved, rows * (rows + 1) // 2, rows, solved, nt, nt,
        solved, LANE_NOTES,
    )  # fmt: skip
    header = [nb, nt, solved, nv, rows, terms, *at_ints, *at_floats, *at_work]
    ints = [*header, *body_table, *target_table, *var_table, *_shared_lists(support, at_ints[-1])]
    floats = [*local, *placed, *padded, *limits]
    return np.array(ints, dtype=np.int64), np.array(floats, dtype=np.float64)


def _places(first: int, *sizes: int) -> list[int]:
    """Where tables of these sizes start that follow each other, and where the last ends."""
    return [first + sum(sizes[:k]) for k in range(len(sizes) + 1)]


def _world_root(robot: Robot) -> Matrix4:
    return matrix_from_wxyz_xyz(np.concatenate([robot.tree.quat_cos[0], robot.tree.shift[0]]))


def _numbers(T: Matrix4) -> list[float]:
    return [*quaternion_from_rotation(T[:3, :3]).tolist(), *T[:3, 3].tolist()]


def _turning_freely(robot: Robot) -> set[int]:
    """Entries of a configuration that turn without end and that no other joint follows: whole turns do not count."""
    tree = robot.tree
    followed = {coupling_law(tree, i)[0] for i in np.flatnonzero(tree.is_coupled).tolist()}
    return {k for k, joint in enumerate(tree.actuated) if joint.type == "continuous" and k not in followed}


def _shared_lists(support: Sequence[set[int]], at: int) -> list[int]:
    """For targets t, u the place and number of the variables that move both, then these variables."""
    n = len(support)
    lists = [sorted(a & b) for a in support for b in support]
    starts = at + 2 * n * n + np.concatenate([[0], np.cumsum([len(found) for found in lists])])
    table = [value for k, found in enumerate(lists) for value in (int(starts[k]), len(found))]
    return [*table, *(var for found in lists for var in found)]
