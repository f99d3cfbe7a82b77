"""Elbowroom's compiled core."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy
from numpy.typing import NDArray

VARIANT: str = "v3"

def machine_runs_v3() -> bool:
    """
    Whether this machine has AVX2, FMA and BMI2, which the x86-64-v3 variant uses.
    """

class Robot:
    """Kinematics of a robot: frames, joints and the laws that couple them."""

    def __init__(
        self,
        dof: int,
        frames: dict[str, Any],
        joints: dict[str, Any],
        link_frames: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None:
        """
        Takes the arrays of a `KinematicTree`: `frames` and `joints` are dictionaries of columns.
        """

    def link_poses(
        self,
        cfgs: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        out: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu")],
    ) -> None:
        """
        Writes the world poses (n, links, 7) wxyz_xyz of configurations (n, dof).
        """

    def jacobians(
        self,
        cfgs: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        link: int,
        out: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu")],
    ) -> None:
        """
        Writes Jacobians (n, 6, dof) of a link frame by its number: linear, then angular velocity, world axes.
        """

    def points(
        self,
        cfg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        links: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        local: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        jacobian: bool,
    ) -> tuple[Any, ...]:
        """
        Points `local` (n, 3) of links (n,) in the world (n, 3) at a configuration (dof,), and their Jacobians (n, 3, dof), or None.
        """

def enclosing_ball(
    balls: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")]:
    """
    A ball (x, y, z, radius) that holds all balls (n, 4), near the smallest; metres.
    """

def group_balls(
    balls: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
) -> list[list[int]]:
    """
    Up to four groups of neighbouring balls (n, 4), as lists of their places.
    """

class SelfCollision:
    """
    Spheres of a robot's links over pairs of links; methods on configurations (n, dof) return the first row that is not finite or too large, or -1.
    """

    def __init__(
        self,
        robot: Robot,
        spheres: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        links: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        pairs: Annotated[
            NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        largest_values: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None:
        """
        Spheres (n, 4) in the frames of `links` (n,), pairs (n, 2) of links, and for each moving joint the largest value, rad or m, that the error bound covers.
        """

    def reordered(
        self,
        order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> SelfCollision:
        """The same with its pairs in another order (pairs,)."""

    @property
    def margin(self) -> float:
        """Bound on the float32 error of a distance, metres."""

    def free(
        self,
        cfgs: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        out: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu")],
    ) -> int:
        """
        Whether no pair touches, (n,) bool; spheres that overlap are never called free.
        """

    def min_distances(
        self,
        cfgs: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        out: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
    ) -> int:
        """
        Smallest distance of any pair, (n,) float32 metres, infinite without pairs.
        """

    def pair_distances(
        self,
        cfgs: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
    ) -> int:
        """Distance of every pair, (n, pairs) float32 metres."""

    def pair_hits(
        self,
        cfgs: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        out: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order="C", device="cpu")],
    ) -> int:
        """Whether each pair touches, (n, pairs) bool, as conservative as `free`."""

    def count_hits(
        self,
        cfgs: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        pads: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    ) -> int:
        """
        Adds to counts (pairs,) int64 the configurations in which each pair comes closer than its pad, metres.
        """

    def is_free(
        self,
        cfg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> int:
        """One configuration (dof,): 1 when free, 0 when not, -1 when refused."""

    def min_distance(
        self,
        cfg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> object:
        """One configuration (dof,): metres, or None when refused."""

class TriangleTree:
    """Triangles of a mesh with their bounding volume hierarchy."""

    def __init__(
        self,
        triangles: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
        ],
        rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        solid: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)],
        pieces: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> None:
        """
        Takes triangles (n, 3, 3) in metres, their rows (n,) among the faces of the mesh, which of them (n,) belong to closed pieces, and a point of every connected piece (k, 3).
        """

    def __getstate__(self) -> tuple[Any, ...]: ...
    def __setstate__(self, arg: tuple[Any, ...], /) -> None: ...
    @property
    def triangles(
        self,
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu")]:
        """Corners (n, 3, 3) in leaf order, a new array."""

    @property
    def order(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")]:
        """Rows (n,) of the mesh's faces in leaf order, a new array."""

    @property
    def pieces(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")]:
        """A point (k, 3) of every connected piece, a new array."""

    @property
    def bounds(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")]:
        """Centre and half extents (2, 3) of the bounding box."""

    @property
    def depth(self) -> int:
        """Levels below the root."""

    def as_surface(self) -> TriangleTree:
        """The same triangles, nothing of which is solid."""

    def point_inside(
        self,
        point: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> bool:
        """Whether a point (3,) of the mesh's frame is inside its closed pieces."""

class MeshScene:
    """Many meshes and the pairs of them to compare."""

    def __init__(
        self,
        trees: Sequence[TriangleTree],
        pairs: Annotated[
            NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> None:
        """Takes trees and pairs (k, 2) of their numbers."""

    def states(
        self,
        poses: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
        ],
        out: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu")],
        contain: bool,
        first_only: bool,
    ) -> None:
        """
        Writes the state of every pair (n, pairs) at packed poses (n, meshes, 12): 0 apart, 1 surfaces meet, 2 the first is inside the second, 3 the second inside the first. With `first_only`, stops at the first that is not apart.
        """

    def deepest_contacts(
        self,
        poses: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
        ],
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu")]:
        """
        Deepest contacts (n, pairs, 9) at packed poses (n, meshes, 12): point, normal, depth, rows of the two meshes' faces; NaN where no triangles meet.
        """

def pack_poses(poses: object) -> object:
    """
    Poses (n, 4, 4) or (n, 7) as rows (n, 12), rotation by rows and translation; None unless all are clearly rigid.
    """

def pair_state(
    a: TriangleTree, T_a: object | None, b: TriangleTree, T_b: object | None, contain: bool
) -> int:
    """
    State of one posed pair; poses are None, (4, 4) or (7,). -1 for a pose that is not clearly rigid.
    """

def pair_states(
    a: TriangleTree,
    rows_a: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    b: TriangleTree,
    rows_b: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    contain: bool,
) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu")]:
    """
    States (n,) of a pair of meshes at packed poses (n, 12), or (1, 12) for one that stays.
    """

def close_pairs(
    a: TriangleTree,
    rows_a: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    b: TriangleTree,
    rows_b: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu")]:
    """Rows of faces (n, 2) whose bounds overlap, at packed poses (1, 12)."""

def contacts(
    a: TriangleTree,
    rows_a: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    b: TriangleTree,
    rows_b: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    leaf_order: bool = False,
) -> tuple[Any, ...]:
    """
    All contacts of a pair of meshes at packed poses (n, 12): points (c, 3), normals (c, 3), depths (c,), triangles of A and B (c,) as rows of faces or in leaf order, and the first contact of every pose (n + 1,).
    """

def deepest_contact(
    a: TriangleTree, T_a: object | None, b: TriangleTree, T_b: object | None, out: object
) -> int:
    """
    Writes point, normal, depth and triangles (leaf order) of the deepest contact to `out` (9,) and returns the kind of its axis; -1 when no triangles meet, -2 for a pose that is not clearly rigid.
    """

def triangle_contact(
    tri_a: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    tri_b: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
) -> int:
    """The same for two triangles (3, 3)."""

def contact_segments(
    a: TriangleTree,
    rows_a: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    b: TriangleTree,
    rows_b: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    tri_a: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    tri_b: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")]:
    """
    Segments (n, 6) shared by triangles (leaf order) that meet, in the world; NaN for parallel planes.
    """

def distances(
    a: TriangleTree,
    rows_a: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    b: TriangleTree,
    rows_b: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    contain: bool,
) -> tuple[Any, ...]:
    """
    Distances of two meshes at packed poses (n, 12), one of which may be single: states (n,), distances (n,) in metres, closest points (n, 3) on A and B in the world, unit normals (n, 3) from A to B, and rows (n,) of the faces that hold the points. Where a state is not 0 the distance is 0, vectors are NaN and rows -1.
    """

def separations(
    a: TriangleTree,
    b: TriangleTree,
    rel: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    directions: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    contain: bool,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")]:
    """
    First separating translation (n,) of B, in metres, along unit vectors (n, 3) in the frame of A; `rel` (12,) is the pose of B there.
    """

def hull_overlaps(
    points_a: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    points_b: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    rel: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    directions: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")]:
    """
    How far (k,) the hull of points_b (m, 3), posed at `rel` (12,), must move along directions (k, 3) until a plane across them parts it from the hull of points_a (n, 3); metres, in the frame of A.
    """

def least_separation(
    a: TriangleTree,
    b: TriangleTree,
    rel: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    search: tuple[Any, ...],
    contain: bool,
) -> tuple[Any, ...]:
    """
    Least separating translation of B that is found: depth in metres, its direction (3,) and what touches last, faces of A and B and the point (3,) on A, or None. `search` is (starts (k, 3), scan (m, 3), spread (j, 3), begin); all is in the frame of A, where `rel` (12,) is the pose of B.
    """

class ConvexSolid:
    """A convex solid in its own frame, known by its farthest points."""

    @staticmethod
    def hull(
        points: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        radius: float,
    ) -> ConvexSolid:
        """The hull of points (n, 3), widened by a radius; metres."""

    @staticmethod
    def cylinder(radius: float, half_length: float) -> ConvexSolid:
        """A cylinder about z; metres."""

    @staticmethod
    def ellipsoid(x: float, y: float, z: float) -> ConvexSolid:
        """An ellipsoid by its semi-axes in metres."""

def solid_distance(
    a: ConvexSolid,
    b: ConvexSolid,
    rel: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> tuple[Any, ...]:
    """
    Signed distance of two solids in metres, unit normal (3,) from A to B and point (3,) on A, in the frame of A, where `rel` (12,) is the pose of B.
    """

def mesh_solid_distance(
    mesh: TriangleTree,
    solid: ConvexSolid,
    rel: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> tuple[Any, ...]:
    """
    Distance of the nearest triangle of a mesh to a solid at `rel` (12,) in its frame, not positive where they meet; unit normal (3,) and point (3,) on the mesh, the row of its face, and whether the solid's origin is inside the mesh.
    """

UNDECIDED: int = 0

PROVED: int = 1

HIT: int = 2

class Chain:
    """
    The joints between two links: first those down to link a, then those down to link b.
    """

    def __init__(
        self,
        kind: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        local: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
        ],
        poly: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        var: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        slope: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        n_a: int,
    ) -> None:
        """Takes the arrays of a `Chain`."""

    def best_side(
        self,
        lower: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        upper: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        point_a: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        point_b: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> int:
        """
        Joints on the path from a that should count as moving a; points (3,) stand for the links, limits (variables,).
        """

class SpherePair:
    """Spheres of two links with a chain between them; metres, radians."""

    def __init__(
        self,
        chain: Chain,
        side: int,
        balls_a: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        spans_a: Annotated[
            NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        balls_b: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        spans_b: Annotated[
            NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> None:
        """
        Balls (n, 4), groups then spheres, in the bodies at the ends; spans (groups, 2) with first ball and count.
        """

    def clearances(
        self,
        values: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")]:
        """Smallest distance between spheres (n,) at joint values (n, variables)."""

    def search(
        self,
        starts: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        lower: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        upper: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        target: float,
        rounds: int,
    ) -> tuple[Any, ...]:
        """
        Pattern search downhill from starts (n, variables): smallest clearance found, and where.
        """

    def prove(
        self,
        lower: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        upper: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        pad: float,
        max_boxes: int,
    ) -> tuple[Any, ...]:
        """
        Whether the spheres stay farther apart than `pad` within the limits: (status, bound less pad, boxes, values of a hit).
        """

class MeshPair:
    """Meshes of two links with a chain between them; metres, radians."""

    def __init__(
        self,
        chain: Chain,
        side: int,
        tree_a: TriangleTree,
        T_body_a: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        tree_b: TriangleTree,
        T_body_b: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> None:
        """
        Trees of the meshes and their poses (4, 4) in the bodies at the ends of the chain.
        """

    def clearances(
        self,
        values: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")]:
        """
        Distance of the meshes (n,) at joint values (n, variables); 0 where they collide.
        """

    def prove(
        self,
        lower: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        upper: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        target: float,
        max_boxes: int,
        by_axes: bool,
    ) -> tuple[Any, ...]:
        """
        Whether the meshes stay farther apart than `target` within the limits: (status, boxes, values of a hit).
        """

def merge_vertices(
    vertices: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
) -> tuple[Any, ...]:
    """
    Number of the place (verts,) of every vertex (verts, 3), and the first vertex at every place.
    """

def connected_pieces(
    faces: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    n_vertices: int,
) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")]:
    """
    Piece (tris,) of each face (tris, 3), numbered in the order of their first faces.
    """

def edge_faults(
    faces: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    piece: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_pieces: int,
) -> tuple[Any, ...]:
    """
    Which pieces have an edge whose directions do not cancel, and which one of an odd number of faces (pieces,).
    """

def inverted_pieces(
    vertices: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    faces: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    piece: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    closed: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu")]:
    """
    Which closed pieces (pieces,) have to be turned so that parts of the solid face outward and cavities inward.
    """

class LinkShape:
    """
    Triangles of a link, ordered in space: distances, volumes, coverage by balls.
    """

    def __init__(
        self,
        vertices: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        faces: Annotated[
            NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        solid: Annotated[
            NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> None:
        """
        Vertices (n, 3) in metres; faces (m, 3), at least one, and those of them that belong to closed pieces.
        """

    def distances(
        self,
        points: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")]:
        """Unsigned distances (n,) of points (n, 3) to the surface, metres."""

    def least_distance(
        self,
        points: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        bound: float,
    ) -> float:
        """
        Least distance of points (n, 3) to the surface, or the bound if that is less, metres.
        """

    def signed_distances(
        self, low: Sequence[float], spacing: float, counts: Sequence[int]
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu")]:
        """
        Distances at the nodes of a lattice, metres, negative inside closed pieces, in the shape of `counts`.
        """

    def volumes(
        self,
        balls: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")]:
        """
        Volumes (8, 3) of solid, union of balls (n, 4) and both, by shifted lattices of rays, cubic metres.
        """

    def protrusion(
        self,
        balls: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> tuple[float, float]:
        """
        Mean and largest distance from the outer surface of a union of balls (n, 4) to the mesh, metres.
        """

    def prove_coverage(
        self,
        balls: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> tuple[
        float,
        Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
        Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
        int,
    ]:
        """
        Whether balls (n, 4) cover the link: an upper bound of the surface's distance to their union, points (w, 3)
        outside every ball with their gaps (w,), and how many of them, the last ones, are inside closed pieces.
        """

    def grow_to_cover(
        self,
        balls: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        rounds: int,
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")]:
        """Balls (n, 4) with radii grown until they are proved to cover the link."""

def union_volume(
    balls: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
) -> float:
    """
    Volume of a union of balls (n, 4) by one lattice of rays, cubic metres.
    """

class FitProblem:
    """
    A link prepared for fitting. Balls are rows (x, y, z, r), scaled: relative to the origin, in
    units of the scale.
    """

    def __init__(self, shape: LinkShape, input: dict[str, Any], deep: float) -> None:
        """
        `input` is a dictionary in metres, link frame: origin (3,), scale, samples (n, 3), inside (m, 3),
        low (3,), spacing and signed_distances (nx, ny, nz) float32 of a lattice, beyond (the same, or None),
        directions (k, 3) in sets of 32, reference_volume, closed. `deep` is the protrusion whose outside volume
        weighs double.
        """

    def with_depth(self, deep: float) -> FitProblem:
        """The same problem with another depth, metres."""

    @property
    def n_samples(self) -> int:
        """Samples to cover, repeated ones included."""

    @property
    def n_turns(self) -> int:
        """Sets of directions."""

    def clustered(
        self,
        picks: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        fresh: Annotated[
            NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")]:
        """
        Balls (count, 4) about clusters of the samples, by Lloyd's algorithm from samples `picks` (count,); samples
        `fresh` (rounds, count) take the place of empty clusters.
        """

    def split_worst(
        self,
        balls: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")]:
        """
        Balls (n + 1, 4): the one to blame for most outside volume is cut in two.
        """

    def descend(
        self,
        balls: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        steps: int,
        step_size: Sequence[float],
        penalty: Sequence[float],
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")]:
        """
        Balls (n, 4) after a descent on outside volume with sampled coverage; first and last step and penalty.
        """

    def improve(
        self,
        balls: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        draws: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        steps: int,
        step_size: Sequence[float],
        penalty: Sequence[float],
    ) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")], float]:
        """
        Better balls (n, 4) and their cost, by moves drawn with uniform numbers (trials, 2), each with a descent.
        """

    def polish(
        self,
        balls: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        steps: int,
        step_size: Sequence[float],
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")]:
        """
        Balls (n, 4) after a descent with exact coverage, grown at its witnesses.
        """

    def cost(
        self,
        balls: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> float:
        """Weighted outside volume of balls (n, 4) over the reference volume."""

    def cost_gradient(
        self,
        balls: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        turn: int,
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")]:
        """Estimate of the gradient (n, 4) of the cost by one set of directions."""

class PointCloud:
    """Points with their tree, in metres."""

    def __init__(
        self,
        points: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> None:
        """Takes points (n, 3), at least one."""

    @property
    def points(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")]:
        """Points (n, 3) in the order of the tree, a new array."""

    @property
    def bounds(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")]:
        """Lower and upper corner (2, 3) of the box around the points."""

    def neighbour_distances(
        self,
        picked: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        count: int,
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")]:
        """
        Distance (n,) of each picked point to the farthest of its `count` nearest others.
        """

class DistanceField:
    """A sampled signed distance field; refers to the array of its samples."""

    def __init__(
        self,
        values: Annotated[
            NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
        ],
        spacing: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        origin: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None:
        """
        Takes samples (nx, ny, nz) float32, which must not change, the steps between them (3,) and the place (3,) of the first, metres.
        """

    @property
    def steepest(self) -> float:
        """Bound on how fast it changes outside the solid, per metre."""

class Obstacle:
    """
    A shape and its pose in the world (12,): rotation by rows, then translation. Metres.
    """

    @staticmethod
    def box(
        half_edges: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        pose: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> Obstacle:
        """A box around its origin, by its half edges (3,)."""

    @staticmethod
    def sphere(
        radius: float,
        pose: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> Obstacle:
        """A ball around its origin."""

    @staticmethod
    def cylinder(
        radius: float,
        half_length: float,
        pose: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> Obstacle:
        """A cylinder about z, around its origin."""

    @staticmethod
    def capsule(
        radius: float,
        half_length: float,
        pose: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> Obstacle:
        """All points within the radius of a segment along z, around its origin."""

    @staticmethod
    def half_space(
        normal: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        offset: float,
        pose: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> Obstacle:
        """All points with normal . x <= offset."""

    @staticmethod
    def mesh(
        tree: TriangleTree,
        pose: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> Obstacle:
        """A triangle mesh, whose tree is shared."""

    @staticmethod
    def cloud(
        cloud: PointCloud,
        radius: float,
        pose: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> Obstacle:
        """Balls around the points of a cloud, which is shared."""

    @staticmethod
    def field(
        field: DistanceField,
        pose: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> Obstacle:
        """The solid of a distance field, which is shared."""

class World:
    """
    Obstacles, known by their places in the list; coordinates are metres in the world frame.
    """

    def __init__(self, obstacles: Sequence[Obstacle]) -> None:
        """Takes a list of obstacles; what is large of them is shared."""

    @property
    def size(self) -> int:
        """Number of obstacles."""

    def bounds(
        self, k: int
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")]:
        """
        Lower and upper corner (2, 3) of a box around an obstacle; infinite for half-spaces.
        """

    def nearest(
        self,
        points: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        distances: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
        found: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    ) -> int:
        """
        Writes signed distances (n,) of points (n, 3) to the nearest obstacles and their places (n,) int64; infinity and -1 when there is none. Returns the first row that is not finite, or -1.
        """

    def gradients(
        self,
        points: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        distances: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
        out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    ) -> int:
        """
        The same with gradients (n, 3) of the distances instead; zero when there is no obstacle.
        """

    def distances(
        self,
        k: int,
        points: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        limit: float,
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")]:
        """
        Signed distances (n,) of points (n, 3) to one obstacle; anything from `limit` up where they are not below.
        """

    def lower_bounds(
        self,
        points: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        limit: float,
        ignored: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = None,
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")]:
        """
        Distances (n,) of points (n, 3) to the nearest obstacle that is not ignored, fields divided by their slope, or `limit`.
        """

    def lane_bounds(
        self,
        points: Annotated[
            NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        limit: float,
        ignored: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = None,
    ) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")]:
        """The same in float32 lanes for points (n, 3) float32, rounded down."""

    def near(
        self,
        center: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        radius: float,
    ) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")]:
        """
        Obstacles (n,) whose box, or half-space, is within `radius` of a point (3,).
        """

    def boxes_meet(
        self,
        boxes: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        ignored: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None,
        out: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu")],
    ) -> bool:
        """
        Writes whether boxes (n, 15), axes by rows, centre, half edges, share a point with an obstacle that is not ignored. Returns False where numbers are not finite or too large.
        """

    def mesh_meets(
        self,
        k: int,
        mesh: TriangleTree,
        poses: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        out: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu")],
    ) -> None:
        """
        Writes whether a mesh at poses (n, 12) in the world shares a point with an obstacle.
        """

    def mesh_gaps(
        self,
        k: int,
        mesh: TriangleTree,
        poses: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        limit: float,
    ) -> tuple[Any, ...]:
        """
        A mesh at poses (n, 12) and an obstacle: whether they meet (n,), distances (n,), `limit` where they are not nearer, and the closest points (n, 2, 3) on the mesh and on the obstacle, NaN where there are none.
        """

def first_no_rotation(
    boxes: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    tolerance: float,
) -> int:
    """
    The first of boxes (n, 15) whose axes are not unit vectors at right angles, right-handed, to within the tolerance; or -1.
    """

class ClearanceGrid:
    """
    Lower bounds of the distance to the obstacles of a world, cell by cell.
    """

    def __init__(
        self,
        world: World,
        region: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> None:
        """
        Cells in a region (2, 3), its lower and upper corner; filled where they are asked for.
        """

    def for_world(self, world: World) -> ClearanceGrid:
        """
        The same cells for a world that differs in a few obstacles; None when it differs in too many.
        """

    @staticmethod
    def pays(world: World) -> bool:
        """Whether a grid is worth its filling for a world."""

    @property
    def n_cells(self) -> int:
        """Number of cells."""

    @property
    def n_loose(self) -> int:
        """Number of obstacles that are not in the cells."""

    def lower_bounds(
        self,
        points: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")]:
        """Lower bounds (n,) of the distances of points (n, 3) to all obstacles."""

    def lane_bounds(
        self,
        points: Annotated[
            NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        limit: float,
    ) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")]:
        """The same in float32 lanes for points (n, 3) float32, rounded down."""

class LinkSpheres:
    """Spheres of a robot's links, for joint values up to given ones."""

    def __init__(
        self,
        robot: Robot,
        spheres: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        links: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        largest_values: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None:
        """
        Spheres (n, 4) in the frames of `links` (n,), and for each moving joint the largest value, rad or m, that the error bound covers.
        """

    @property
    def margin(self) -> float:
        """Bound on the float32 error of a distance, metres."""

class Scene:
    """
    Spheres, meshes and pairs of a robot's links: one verdict. Methods on configurations (n, dof) return the first row that is not finite or too large, or -1.
    """

    def __init__(
        self,
        spheres: LinkSpheres,
        meshes: Mapping[int, TriangleTree],
        pairs: Annotated[
            NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        only_meshes: Annotated[
            NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        buffer: float,
        range: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> None:
        """
        Trees of meshes by link, pairs (n, 2) of links, marks (n,) of those that spheres cannot decide, metres that all must be apart, and the joint values (2, dof) between which the other pairs were shown never to meet.
        """

    def tuned(
        self,
        cfgs: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> Scene:
        """
        The same scene, asking pairs in an order that was cheap on these configurations (n, dof). Changes no answer.
        """

    @property
    def at_once(self) -> int:
        """
        Number of pairs whose meshes are asked as soon as their spheres refuse; those of the others when all spheres are known.
        """

    def free(
        self,
        cfgs: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        by_meshes: bool,
        out: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu")],
    ) -> int:
        """
        Whether nothing touches or comes closer than the buffer, (n,) bool: by meshes, or by spheres wherever they can decide.
        """

    def is_free(
        self,
        cfg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        by_meshes: bool,
    ) -> int:
        """
        One configuration (dof,): 1 when free, 0 when not, 2 when it leaves the range, 3 when refused.
        """

    def covers(
        self,
        cfgs: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> int:
        """
        The first of configurations (n, dof) with a value that the error bound does not cover, or -1.
        """

    def decides(
        self,
        cfgs: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> bool:
        """
        Whether configurations (n, dof) are within the range, with values that the error bound covers.
        """

    def by_spheres(
        self,
        cfg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> bool:
        """
        Whether spheres alone show that everything is farther apart than the buffer at one configuration (dof,).
        """

    def clearances(
        self,
        cfgs: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        without: Annotated[
            NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        smallest: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
        closest: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu")],
        touching: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order="C", device="cpu")],
        exact: bool,
    ) -> int:
        """
        Lower bound of the smallest clearance (n,); what it is of (n, 3), a pair, or a link and an obstacle, or -1; pairs (n, pairs) found to touch. With `exact`, the smallest distance of pairs of links apart, measured, obstacles and pairs marked in `without` (pairs,) left out.
        """

    def prove(
        self,
        control: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
        ],
        slack: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        look: int,
        margin: float,
        budget: int,
    ) -> tuple[Any, ...]:
        """
        Proves pieces of a motion, Bezier curves by their control configurations (n, 2 to 4, dof), with joints up to `slack` (n, dof) or (1, dof) off them: where (n, 2) each is blocked or was given up and the clearance above the buffer that is proved, up to the margin; and (n, 6) the outcome (0 free, 1 blocked, 2 undecided), the pair, or the link and the obstacle, or -1, and the parts looked at by spheres and by meshes. `look` is 0 for a glance, 1 for spheres, 2 for meshes too.
        """

    def obstacle_clearances(
        self,
        cfgs: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        smallest: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    ) -> int:
        """
        Lower bounds (n,) of the clearance to the obstacles at configurations (n, dof).
        """

    def among(self, around: Surroundings | None) -> Scene:
        """
        The same links among obstacles, or among none; what is large is shared.
        """

class Surroundings:
    """The links of a robot among obstacles."""

    def __init__(
        self,
        spheres: LinkSpheres,
        meshes: Mapping[int, TriangleTree],
        world: World,
        grid: ClearanceGrid | None,
        allowed: Annotated[
            NDArray[numpy.bool_], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        buffer: float,
    ) -> None:
        """
        Spheres and trees of meshes, by link, as obstacles see them, the obstacles and their grid or None, marks (links of the spheres, obstacles) of what may touch, metres that all must be apart.
        """

    def still_free(self, by_meshes: bool) -> bool:
        """Whether the links that no joint moves are free."""

class Keeps:
    """
    What a path keeps on its way: links upright, points of links on planes or in tubes.
    """

    def __init__(self, robot: Robot, all: list[Any]) -> None:
        """
        Each (kind, link, vectors, numbers): 0 for upright, 1 for a plane, 2 for a tube; a link; (n, 3) the unit axis or the point in its frame, then the unit direction, the unit normal, or the points of the tube's line; offset of the plane and tolerance.
        """

    def excess(
        self,
        cfgs: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")]:
        """
        The largest excess over a tolerance, as a share of it, at configurations (n, dof): (n,); not above zero where all are kept.
        """

    def on_path(
        self,
        rows: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> bool:
        """
        Whether all tolerances are kept on the straight lines between rows (n, dof).
        """

def ends_marks(
    rows: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    moves: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)],
    limits: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    same: float,
) -> int:
    """
    What must be looked at more closely in configurations (n, dof), the first of which is a start: bits, 1 where a joint that moves (dof,) leaves its limits (2, dof) or is no number, 2 where one that is held does, 4 where held joints differ, 8 where another row is within `same` of the first.
    """

class Sampler:
    """
    Two trees from a start and from goals that grow until they meet; the edges of a path are proved. Not for threads.
    """

    def __init__(
        self,
        scene: Scene,
        moving: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        span: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        start: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        goals: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        seed: int,
    ) -> None:
        """
        Joints (m,) that may move, ascending; bounds (2, m) to sample from; configurations start (dof,) and goals (n, dof) that meshes call free; the others are held where the start has them.
        """

    def keep(self, keeps: Keeps) -> None:
        """
        Paths must keep this on their way, as start and goals do; said before anything is asked.
        """

    def straight(self) -> bool:
        """
        Tries the straight line to the goals, the nearest first; whether there is now a path.
        """

    def grow(self, iterations: int, seconds: float) -> bool:
        """
        Up to so many iterations more, until so many seconds have passed; whether there is a path.
        """

    def path(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")]:
        """
        Waypoints (n, dof) from the start to a goal; none while there is no path.
        """

    def shorten(
        self,
        path: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        attempts: int,
        seed: int,
        seconds: float,
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")]:
        """
        A path (n, dof) of proved edges made shorter by up to so many cuts, within so many seconds; all edges of it are proved.
        """

    def trees(self) -> tuple[Any, ...]:
        """
        Nodes (n, dof) of both trees; and (n, 3) the row of each one's parent (-1 at roots), its tree, and whether the edge from the parent is proved (1), not (0), or cut off (-1).
        """

    def refusals(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")]:
        """
        How often each pair of links, then each link with each obstacle, by rows, refused an edge.
        """

    @property
    def goal(self) -> int:
        """The goal that the path leads to, -1 while there is none."""

    @property
    def possible(self) -> bool:
        """False where links that no joint moves touch an obstacle."""

    @property
    def iterations(self) -> int:
        """Done so far."""

    @property
    def nodes(self) -> int:
        """Configurations in both trees."""

class Graph:
    """Nodes, and edges between them with lengths."""

    def __init__(
        self,
        nodes: int,
        edges: Annotated[
            NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        lengths: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None:
        """Edges (n, 2) between nodes, and their lengths (n,)."""

    def shortest(
        self,
        starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        first: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        rest: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        closed: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> tuple[Any, ...]:
        """
        The shortest way from nodes (s,), `first` (s,) away, to the goal, `rest` (nodes,) away or infinitely far, on edges that are not closed (edges,): its nodes (k,) and edges (k - 1,), none where there is no way.
        """

def time_curve(
    pieces: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
    ],
    knots: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    stops: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)],
    limits: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
) -> tuple[Any, ...]:
    """
    The fastest motion along cubic Bezier pieces (k, 4, dof) with parameters (k + 1,) at their ends, at rest where `stops` (k + 1,) says, within limits (2 or 3, dof) of velocity, acceleration and jerk. Returns a joint that moves without a limit, or -1; (5, n + 1) times at which intervals begin, the parameter then, its rate, acceleration and third derivative; (n,) the piece of each; (3, dof) bounds of velocity, acceleration and jerk.
    """

def evaluate_motion(
    pieces: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
    ],
    knots: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    piece_of: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    derivative: int,
    at: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")]:
    """
    Configurations (t, dof) at times (t,) of a motion as of `time_curve`, or a derivative by time, 1 to 3.
    """

def smooth_path(
    scene: Scene,
    path: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    moves: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)],
    limits: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
) -> tuple[Any, ...]:
    """
    A smooth curve along waypoints (n, dof) whose straight lines are free in a scene, proved free; joints that move (dof,), lower and upper limits (2, dof). Returns cubic Bezier pieces (k, 4, dof), parameters (k + 1,) at their ends, stops (k + 1,), how far moving joints may be off each piece (k,), and the clearance that is kept then, above the buffer (k,); k is 0 where nothing was proved.
    """

def finish_path(
    scene: Scene,
    path: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    moves: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)],
    limits: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    rate: float,
    smooth: bool,
) -> tuple[Any, ...]:
    """
    A motion along waypoints (n, dof) whose straight lines are free in a scene, rounded if wished and where that can be proved; limits (4 or 5, dof) are lower, upper, of velocity, acceleration and jerk. Returns the curve as `smooth_path` does, and whether it is rounded; what `time_curve` does, None where it cannot be timed; times (t,) and rows (t, dof), so many a second; and whether curve and straight lines between rows are proved free, with joints how far off the curve (dof,), with what clearance above the buffer, in how many pieces; and the seconds of rounding, timing and proof.
    """

def polyline(
    path: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
) -> tuple[Any, ...]:
    """
    Straight lines through waypoints (n, dof): cubic Bezier pieces (k, 4, dof), parameters (k + 1,) at their ends, and stops (k + 1,) where it turns.
    """

def resampled(
    path: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    places: int,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")]:
    """
    A path (n, dof) of straight segments at so many places, equally far apart along it: (places, dof).
    """

def roughness(
    path: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    steps: int,
) -> float:
    """
    Sum of squared second differences of a path (n, dof), resampled at so many equally long steps.
    """

def curve_roughness(
    pieces: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
    ],
    steps: int,
) -> float:
    """The same of cubic Bezier pieces (k, 4, dof)."""

class ObstacleCost:
    """What nearness to obstacles costs, and where boxes of links meet them."""

    def __init__(
        self,
        around: Surroundings,
        boxes: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        links: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        spared: Annotated[
            NDArray[numpy.bool_], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> None:
        """
        Boxes (n, 15) in the frames of links (n,): axes as columns, row by row, centre, half edges; `spared` (n, obstacles) marks what may meet.
        """

    def parts(
        self,
        paths: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
        ],
        dt: float,
        clearance: float,
        by_spheres: bool,
    ) -> tuple[Any, ...]:
        """
        For trajectories (k, t, dof), seconds `dt` a step: what is missing of the clearance times speed, summed over spheres (k, t), zeros unless `by_spheres`; whether a box meets an obstacle (k, t).
        """

    def meetings(
        self,
        cfgs: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order="C", device="cpu")]:
        """
        Which boxes meet which obstacles (boxes, obstacles) at any of (n, dof) configurations.
        """

def self_nearness(
    spheres: LinkSpheres,
    pairs: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    paths: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
    ],
    dt: float,
    clearance: float,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")]:
    """
    For trajectories (k, t, dof): what is missing of the clearance between the nearest spheres of pairs (n, 2) of links, times the speed at which their centres pass each other, summed (k, t).
    """

def limit_cost(
    paths: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
    ],
    dt: float,
    limits: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    order: int,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")]:
    """
    For trajectories (k, t, dof): the sum over joints of what speeds (order 1) or accelerations (2) are beyond their limits (dof,), as shares of these (k, t).
    """

class Descent:
    """
    One trajectory of STOMP on its way to a lower cost; for one thread at a time.
    """

    def __init__(
        self,
        path: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        moving: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        joints: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        settings: dict[str, Any],
        seed: int,
    ) -> None:
        """
        From a trajectory (t, dof); entries of the joints that move (m,), their lower and upper limits and sizes of noise (3, m); settings rollouts, reuse, window, sensitivity, sigma_decay, sigma_floor, smooth_update.
        """

    def restart(
        self,
        path: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> None:
        """
        Another trajectory (t, dof) and its cost (t,) at every step; to be called before the first iteration.
        """

    def shake(
        self,
        rollouts: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu")],
    ) -> None:
        """
        Fills rollouts (k, t, dof): the trajectory with smooth noise, within limits.
        """

    def update(
        self,
        rollouts: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
        ],
        costs: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")]:
        """The trajectory (t, dof) that rollouts and their costs (k, t) lead to."""

    def settle(
        self,
        cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> None:
        """Takes it, or the best rollout, by its cost (t,)."""

    def path(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")]:
        """The trajectory (t, dof)."""

    @property
    def cost(self) -> float:
        """Its cost."""

    @property
    def noise(self) -> float:
        """What is left of the noise."""

    @property
    def idle(self) -> int:
        """Iterations since the least cost."""

    @idle.setter
    def idle(self, arg: int, /) -> None: ...

def fill_triangles(
    corners: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
    ],
    colours: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    image: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu")],
    depth: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
) -> None:
    """
    Draws triangles (n, 3, 3), pixel x, pixel y and depth, with colours (n, 3) where they are nearer than what is there: image (height, width, 3) and depth (height, width), larger is nearer.
    """

def line_distance(
    vertices: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    edges: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    faces: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    pose: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    x: float,
    z: float,
) -> tuple[Any, ...]:
    """
    Distance of a mesh at a pose (7,) wxyz_xyz to the line along y through x and z, 0 when the line meets it, and its nearest point (3,).
    """

def solve_qp(
    H: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    f: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bounds: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    A: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    least: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> tuple[Any, ...]:
    """
    Minimises 1/2 x'Hx + f'x subject to bounds (2, n) and A x >= least: the status (0 optimal, 1 infeasible, 2 failed), x, and the multipliers of lower bounds, upper bounds and rows.
    """

class StepLoop:
    """
    One robot in its loop of ticks: where it was sent, how fast, where it comes to rest.
    """

    def __init__(self) -> None: ...
    def place(
        self,
        cfg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        velocity: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None:
        """
        The robot is at `cfg` (dof,) and moves at `velocity`; no stop is proved.
        """

    def clear(self) -> None:
        """Forgets all."""

    def forget_stop(self) -> None:
        """Forgets what was proved: among other obstacles."""

    def set_drift(
        self,
        velocities: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> None:
        """
        How fast obstacles move in the world, (obstacles, 3) m/s; (0, 3) when all stand still.
        """

    def copy(self) -> StepLoop:
        """Another with the same state."""

    def stop(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")]:
        """Where braking ends, proved, (dof,); (0,) where that is not known."""

class SafeStep:
    """
    Steps of one robot that keep limits and touch nothing, proved with the stop after them.
    """

    def __init__(
        self,
        scene: Scene,
        limits: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        options: dict[str, Any],
    ) -> None:
        """
        Limits (4, dof): speeds, accelerations (infinite for none), lowest and highest values; options by name.
        """

    def guard(
        self,
        loop: StepLoop,
        cfg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        wanted: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        dt: float,
        budget: float,
        exactly: bool,
    ) -> tuple[Any, ...]:
        """
        The step from `cfg` to `wanted` in `dt` seconds if it is safe and `exactly` is asked for, else the nearest one that is: where to go, rates, what held it back as (why, first, second), clearance, and marks: 1 proved, 2 braked, 4 met, 8 late, 16 altered.
        """

    def step(
        self,
        loop: StepLoop,
        H: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        f: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        dt: float,
        budget: float,
    ) -> tuple[Any, ...]:
        """
        The safe velocity that minimises 1/2 v'Hv + f'v, from where the loop is; answers as `guard`.
        """

    def rows(
        self,
        cfg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        reach: float,
    ) -> tuple[Any, ...]:
        """
        Linearised distances within reach: rows (m, dof), distances (m,) above the clearance, of whom (m, 4): pair, or link and obstacle, and 1 for spheres with meshes behind them, 2 for contacts; and lower bounds (pairs,) above the clearance.
        """

class Follower:
    """Follows targets of given kinds and links, tick by tick, by safe steps."""

    def __init__(self, safe: SafeStep, targets: Targets, options: dict[str, Any]) -> None:
        """Safe steps of the robot of the targets, the targets, options by name."""

    def tick(
        self,
        loop: StepLoop,
        values: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        shares: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        rest: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        dt: float,
        budget: float,
    ) -> tuple[Any, ...]:
        """
        One tick towards target values (9 a target), with shares (n,) of the speed bounds and the rest configuration (dof,); answers as `SafeStep.guard`.
        """

    def forget(self) -> None:
        """The next targets are not the last ones moved."""

class Targets:
    """Kinds and links of targets, and the joints that may move to meet them."""

    def __init__(
        self, robot: Robot, kinds: Sequence[int], places: Sequence[int], joints: Sequence[int]
    ) -> None:
        """
        Kinds (0 pose, 1 position, 2 axis, 3 look at, 4 joint), of each the link or actuated joint, and the actuated joints that may move.
        """

    @property
    def rows(self) -> int:
        """Rows of the residual."""

    @property
    def joints(self) -> list[int]:
        """Actuated joints that may move and move some target."""

    def linearise(
        self,
        values: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        cfgs: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        slope: bool,
    ) -> tuple[Any, ...]:
        """
        At configurations (n, dof), for the numbers of the targets (9 each): weighted residuals (n, rows), their derivatives (n, rows, dof) or (0, rows, dof), position errors and orientation errors (n, targets).
        """

class StartTable:
    """
    Configurations from which searches start, with the poses of the targets' links.
    """

    def __init__(
        self,
        targets: Targets,
        cfgs: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> None:
        """
        Configurations (n, dof), joints not solved for where they will be held.
        """

    def __len__(self) -> int: ...
    def nearest(
        self,
        values: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        base: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        seeded: bool,
        count: int,
    ) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")]:
        """
        Entries (up to `count`,) nearest to the targets, the nearest first; when seeded, rather near the configuration `base` (dof,).
        """

class IkSettings:
    """What a search may cost, and what it calls a success."""

    def __init__(
        self,
        position_tolerance: float,
        orientation_tolerance: float,
        starts: int,
        iterations: int,
        timeout: float,
        count: int,
    ) -> None:
        """
        Metres and radians, starts and the steps of each, seconds, and how many answers are wanted that differ.
        """

class Ik:
    """
    One shape of question: all targets, and the parts of them that share no joint.
    """

    def __init__(
        self,
        whole: Targets,
        parts: Sequence[tuple[Targets, Sequence[int]]],
        lower: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        upper: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        endless: Annotated[
            NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None:
        """
        All targets; of each part its own, with their positions among all; limits (dof,) and marks (dof,) of joints whose whole turns do not count.
        """

    def solve(
        self,
        scene: Scene | None,
        tables: Sequence[StartTable],
        values: Sequence[float],
        base: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        seeded: bool,
        settings: IkSettings,
    ) -> tuple[Any, ...]:
        """
        Free configurations that meet targets, nearest to `base` (dof,) first, which holds the joints not solved for: answers (n, dof), or the best that was found; its position and orientation errors (targets,); whether it is a success, met the targets, is free, and time was up; candidates, starts, steps, and candidates refused before it. Nine numbers in `values` for each target; a table for each part; `seeded` starts from the base as well. No scene: everything is free.
        """

    def descend(
        self,
        values: Sequence[float],
        cfg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
        settings: IkSettings,
    ) -> bool:
        """
        Moves `cfg` (dof,) onto the targets by one search in float64; whether it arrives.
        """
