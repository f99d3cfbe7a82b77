"""Numba kernels of motions that planning and inverse kinematics build on; importing this module loads numba.

They take the arrays of `Parts`.
"""

from ._kernels_glance import glance as glance
from ._kernels_glance import glance_along as glance_along
from ._kernels_glance import glance_rows as glance_rows
from ._kernels_lane_curve import curve_by_spheres as curve_by_spheres
from ._kernels_lanes import edge_by_spheres as edge_by_spheres
from ._kernels_lanes import lane_scratch as lane_scratch
from ._kernels_lanes import look_table as look_table
from ._kernels_lanes import near_mask as near_mask
from ._kernels_link_world import BODY as BODY
from ._kernels_link_world import FIRST_BALL as FIRST_BALL
from ._kernels_link_world import FIRST_ON_WAY as FIRST_ON_WAY
from ._kernels_link_world import FIRST_SPAN as FIRST_SPAN
from ._kernels_link_world import N_BALLS as N_BALLS
from ._kernels_link_world import N_GROUPS as N_GROUPS
from ._kernels_link_world import N_ON_WAY as N_ON_WAY
from ._kernels_link_world import ROOT as ROOT
from ._kernels_link_world import near_obstacles as near_obstacles
from ._kernels_segment import BLOCKED as BLOCKED
from ._kernels_segment import FREE as FREE
from ._kernels_segment import MAX_VALUE as MAX_VALUE
from ._kernels_segment import MESHES as MESHES
from ._kernels_segment import PAIR_A as PAIR_A
from ._kernels_segment import PAIR_B as PAIR_B
from ._kernels_segment import SEARCH as SEARCH
from ._kernels_segment import UNDECIDED as UNDECIDED
from ._kernels_segment import joint_rates as joint_rates
from ._kernels_segment import mesh_row as mesh_row
from ._kernels_segment import prove_pair as prove_pair
from ._kernels_segment import prove_segments as prove_segments
from ._kernels_segment import segment_scratch as segment_scratch
from ._kernels_segment_world import place_bodies as place_bodies
from ._kernels_segment_world import prove_world_segments as prove_world_segments
from ._kernels_swept import prove_sliding as prove_sliding
from ._kernels_swept import slide_scratch as slide_scratch
