"""The public names of `elbowroom.mesh` are what the contract says.

Looks inside: `DISPATCH` is the table of shape pairs; each entry must have a public answer.
"""

from __future__ import annotations

import doctest
import inspect
import typing

from elbowroom import mesh
from elbowroom.mesh._shape_contact import DISPATCH


def test_the_contract_of_the_design_is_kept():
    first_arguments = {
        "triangle_triangle_intersection": ["tri_a", "tri_b"],
        "query_bvh_pair": ["a", "b", "T_a", "T_b"],
        "collide": ["a", "T_a", "b", "T_b"],
        "collide_batch": ["a", "Ts_a", "b", "Ts_b"],
        "mesh_mesh_contact": ["a", "T_a", "b", "T_b"],
        "mesh_mesh_deepest_contact": ["a", "T_a", "b", "T_b"],
        "mesh_mesh_separation": ["a", "T_a", "b", "T_b"],
        "contact_manifold": ["a", "T_a", "b", "T_b", "max_points"],
        "distance": ["a", "T_a", "b", "T_b"],
        "detect_contact": ["shape_a", "T_a", "shape_b", "T_b"],
    }
    for name, expected in first_arguments.items():
        assert list(inspect.signature(getattr(mesh, name)).parameters)[: len(expected)] == expected


def test_a_contact_shape_is_what_has_contacts():
    shapes = set(typing.get_args(mesh.ContactShape))
    assert shapes == {kind for pair in DISPATCH for kind in pair}


def test_the_example_in_the_docstring_runs():
    assert doctest.testmod(mesh).failed == 0
