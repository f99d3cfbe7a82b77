"""Exact collision between triangle meshes: booleans, contacts, manifolds, distances, true depths; bodies of any shape.

Example:
    >>> import numpy as np
    >>> from elbowroom import mesh
    >>> cube = mesh.TriangleMesh.box((1.0, 1.0, 1.0))
    >>> T = np.eye(4)
    >>> T[0, 3] = 0.9
    >>> contact = mesh.mesh_mesh_separation(cube, None, cube, T)
    >>> round(contact.depth, 9), contact.normal.round(9).tolist()
    (0.1, [1.0, 0.0, 0.0])
"""

from __future__ import annotations

from ._bodies import Bodies as Bodies
from ._bodies import Body as Body
from ._bodies import BodyContact as BodyContact
from ._bodies import BodyDistance as BodyDistance
from ._collide import DeepestContacts as DeepestContacts
from ._collide import MeshScene as MeshScene
from ._collide import collide as collide
from ._collide import collide_batch as collide_batch
from ._collide import query_bvh_pair as query_bvh_pair
from ._contact import Contact as Contact
from ._contact import ContactBatch as ContactBatch
from ._contact import Contacts as Contacts
from ._contact import TriTriContact as TriTriContact
from ._contact import mesh_mesh_contact as mesh_mesh_contact
from ._contact import mesh_mesh_contact_batch as mesh_mesh_contact_batch
from ._contact import mesh_mesh_deepest_contact as mesh_mesh_deepest_contact
from ._contact import triangle_triangle_intersection as triangle_triangle_intersection
from ._depth import Separation as Separation
from ._depth import mesh_mesh_separation as mesh_mesh_separation
from ._depth import separation_along as separation_along
from ._distance import DistanceBatch as DistanceBatch
from ._distance import MeshDistance as MeshDistance
from ._distance import distance as distance
from ._distance import distance_batch as distance_batch
from ._exact import ExactCollision as ExactCollision
from ._geometry import ClosestPoints as ClosestPoints
from ._geometry import RayHits as RayHits
from ._geometry import closest_points_on_segments as closest_points_on_segments
from ._geometry import ray_triangle as ray_triangle
from ._geometry import transform_aabb as transform_aabb
from ._geometry import triangle_aabbs_overlap as triangle_aabbs_overlap
from ._manifold import Manifold as Manifold
from ._manifold import contact_manifold as contact_manifold
from ._mesh import TriangleMesh as TriangleMesh
from ._shape_contact import detect_contact as detect_contact
from ._shape_contact import shape_distance as shape_distance
from ._shapes import Box as Box
from ._shapes import Capsule as Capsule
from ._shapes import ContactShape as ContactShape
from ._shapes import ConvexMesh as ConvexMesh
from ._shapes import Cylinder as Cylinder
from ._shapes import Ellipsoid as Ellipsoid
from ._shapes import HalfSpace as HalfSpace
from ._shapes import Sphere as Sphere

__all__ = [
    "TriangleMesh",
    "triangle_triangle_intersection",
    "TriTriContact",
    "query_bvh_pair",
    "collide",
    "collide_batch",
    "mesh_mesh_contact",
    "mesh_mesh_contact_batch",
    "Contacts",
    "ContactBatch",
    "mesh_mesh_deepest_contact",
    "mesh_mesh_separation",
    "separation_along",
    "Contact",
    "Separation",
    "MeshScene",
    "DeepestContacts",
    "contact_manifold",
    "Manifold",
    "distance",
    "distance_batch",
    "MeshDistance",
    "DistanceBatch",
    "Bodies",
    "Body",
    "BodyContact",
    "BodyDistance",
    "detect_contact",
    "shape_distance",
    "ContactShape",
    "Sphere",
    "Capsule",
    "Box",
    "Cylinder",
    "Ellipsoid",
    "HalfSpace",
    "ConvexMesh",
    "closest_points_on_segments",
    "ClosestPoints",
    "triangle_aabbs_overlap",
    "transform_aabb",
    "ray_triangle",
    "RayHits",
    "ExactCollision",
]
