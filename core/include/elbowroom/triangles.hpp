// A triangle mesh with its bounding volume hierarchy: the tree that every query on meshes walks.
//
// A binary tree of axis-aligned boxes, split by the binned surface area heuristic (Wald, "On fast construction
// of SAH-based bounding volume hierarchies", 2007). Nodes also carry a thin slab along a mean normal where that
// is thinner than the box: it prunes as well as an oriented box at a fraction of the cost. Boxes and slabs hold
// their triangles to rounding. Coordinates are metres in the mesh's own frame.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "elbowroom/geometry.hpp"

namespace elbowroom {

struct Triangle {
    Vec3 a, b, c;

    Vec3 corner(int k) const { return k == 0 ? a : (k == 1 ? b : c); }
};

// Half the signed solid angle of a triangle seen from a point (van Oosterom and Strackee, 1983).
double half_solid_angle(const Triangle &t, Vec3 point);

inline Triangle operator*(const Pose &pose, const Triangle &t) { return {pose.apply(t.a), pose.apply(t.b), pose.apply(t.c)}; }

// Points x with |normal . x - offset| <= half.
struct Slab {
    static constexpr double NONE = 1e300;  // half thickness of a node without a slab; its normal is zero
    Vec3 normal;
    double offset = 0.0, half = NONE;
};

struct Node {
    Vec3 center, half;  // the box
    Slab slab;
    std::int32_t first = 0;  // leaf: its first triangle in leaf order; else its left child, the right one is the next
    std::int32_t count = 0;  // triangles of a leaf, 0 for inner nodes

    bool is_leaf() const { return count > 0; }
};

// Box and plane of a triangle, as those of a node.
Node bounds_of(const Triangle &t);

// Eight entries of the tree side by side, nodes or triangles, in float32: what the walk over two trees tests at once.
//
// The binary tree is collapsed from the top (Wald, Benthin and Boulos, "Getting rid of packets", 2008): a block
// holds up to eight descendants of a node, opened in the order of their areas, with the triangles of leaves as
// entries of their own. Coordinates are relative to the centre of the root's box, so that rounding is relative
// to the size of the mesh; boxes and slabs are rounded outward.
struct alignas(32) Block {
    static constexpr int LANES = 8;
    float center[3][LANES], half[3][LANES];          // boxes; an empty lane has a negative half extent and meets nothing
    float normal[3][LANES], offset[LANES], thickness[LANES];  // slabs; thickness is half of it
    std::uint32_t entry[LANES];                       // a node, or a triangle when TRIANGLE is set
};
constexpr std::uint32_t TRIANGLE = 1u << 31;

// A node, or a triangle, as the walk compares it with the lanes of a block; the same frame and rounding.
struct NodeBounds {
    float center[3], half[3];
    float normal[3], offset, thickness;
    std::int32_t block = -1;  // that holds its descendants, -1 for nodes inside a block

    float extent() const { return half[0] + half[1] + half[2]; }
};
struct TriangleBounds {
    float corners[9];
    float normal[3], offset, thickness;
};

struct TriangleTree {
    std::vector<Node> nodes;           // the root is the first; children come after their parents
    std::vector<Triangle> triangles;   // in leaf order; those of closed pieces are wound outward
    std::vector<std::uint8_t> solid;   // by triangle: 1 where it belongs to a closed piece, which contains things
    std::vector<Vec3> pieces;          // a point of every connected piece
    double scale = 0.0;                // largest coordinate
    bool closed = false;               // some piece is closed

    std::vector<std::int32_t> order;   // by triangle: its row among the faces of the mesh
    int depth = 0;                     // levels below the root

    std::vector<Block> blocks;             // for the walk over two trees
    std::vector<NodeBounds> node_bounds;   // by node
    std::vector<TriangleBounds> triangle_bounds;  // by triangle
    double size = 0.0;                     // half extents of the root's box together: a bound of its radius

    const Node &root() const { return nodes.front(); }
};

// A triangle of a mesh before the tree is built.
struct MeshTriangle {
    Triangle corners;
    std::int32_t row = 0;  // of the mesh's faces
    bool solid = false;    // belongs to a closed piece
};

// Builds the tree over at least one triangle; `pieces` are points of the connected pieces.
TriangleTree build_tree(std::span<const MeshTriangle> triangles, std::vector<Vec3> pieces);

// Is the point (frame of the mesh) inside the closed pieces of the mesh?
//
// The signed crossings of a ray with a closed, consistently wound surface sum to the winding number of its
// origin, which is not zero exactly inside. Triangles of open pieces are passed over. A crossing near an edge
// is not counted: another ray is tried, and after a few the sum of solid angles (van Oosterom and Strackee,
// 1983) decides.
bool point_inside(const TriangleTree &tree, Vec3 point);

}  // namespace elbowroom
