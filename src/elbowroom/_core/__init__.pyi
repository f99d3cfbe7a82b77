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
        threads: int,
    ) -> None:
        """Fills cells in a region (2, 3), its lower and upper corner."""

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
