// How near things are: a point to a triangle or a mesh, two triangles, two surfaces.
//
// Two triangles that do not cross are closest at a corner over a face or at two edges; planes decide first.
// Normals and barycentric coordinates come from cross products, not from squared lengths: thin triangles then
// lose half as many digits. Two surfaces are searched by branch and bound over both trees, from a first pair
// of triangles that the closest points of the convex hulls name (gjk.hpp).
//
// Guaranteed: distances are those of two points that are returned; the search may stop within a relative 1e-9
// of a proved lower bound. Distances are squared inside the core.
#pragma once

#include <optional>
#include <utility>

#include "elbowroom/contacts.hpp"
#include "elbowroom/gjk.hpp"
#include "elbowroom/lanes.hpp"
#include "elbowroom/triangles.hpp"

namespace elbowroom {

constexpr double FAR = 1e300;  // square metres: no bound yet

struct ClosestPoints {
    double squared = FAR;  // distance
    Vec3 a, b;

    // Unit vector from a to b; (0, 0, 1) where they are the same.
    Vec3 normal() const {
        const double length = norm(b - a);
        return length > 0.0 ? 1.0 / length * (b - a) : Vec3{0.0, 0.0, 1.0};
    }
};

// Squared distance of a point to a triangle; anything from `limit` up when it is not below.
double squared_distance(const Triangle &t, Vec3 p, double limit = FAR);

// The same for four points, without a limit.
F64x4 squared_distances(const Triangle &t, const Vec3x4 &points);

// Improves `best` where two triangles in one frame, which do not cross, are nearer; whether they are.
// Triangles that touch may cross by rounding: their points are still right.
bool closest_points(const Triangle &a, const Triangle &b, ClosestPoints &best);

// The point `p`; or where it is off one of two triangles that touch, a point that is on both.
Vec3 point_on_both(const Triangle &a, const Triangle &b, Vec3 p);

// Visits the triangles of leaves that are nearer to a point than the square root of `limit()`, which may fall
// on the way; the nearer child first. `visit(i)` takes a triangle in leaf order.
template <class Limit, class Visit>
void visit_nearest(const TriangleTree &tree, Vec3 p, Limit limit, Visit visit) {
    // Nodes that wait at most, one a level: trees are at most 64 + log2(triangles) deep.
    constexpr int DEEPEST = 128;
    const auto gap_of = [&](const Node &node) {
        return squared(max(Vec3{}, abs(p - node.center) - node.half));
    };
    struct Waiting {
        const Node *node;
        double gap;
    };
    Waiting stack[DEEPEST];
    int top = 0;
    stack[top++] = {&tree.root(), gap_of(tree.root())};
    while (top > 0) {
        Waiting at = stack[--top];
        while (at.gap < limit() && !at.node->is_leaf()) {
            const Node *child = &tree.nodes[static_cast<std::size_t>(at.node->first)];
            Waiting near = {child, gap_of(child[0])}, far = {child + 1, gap_of(child[1])};
            // Where the point is in both boxes, the nearer centre is the better guess.
            if (far.gap < near.gap ||
                (far.gap == near.gap && squared(p - child[1].center) < squared(p - child[0].center)))
                std::swap(near, far);
            if (far.gap < limit()) stack[top++] = far;
            at = near;
        }
        if (!(at.gap < limit())) continue;
        const std::uint32_t first = static_cast<std::uint32_t>(at.node->first);
        for (std::uint32_t i = first; i < first + static_cast<std::uint32_t>(at.node->count); i++) visit(i);
    }
}

struct NearestTriangle {
    double squared;          // distance; the limit when no triangle is nearer
    std::uint32_t triangle;  // in leaf order
};

// The triangle of a mesh nearest to a point of its frame.
NearestTriangle nearest_triangle(const TriangleTree &tree, Vec3 p, double limit = FAR);

// Farthest corner of a mesh along a direction. `guess` is a corner of it that may be far along already.
Vec3 farthest_corner(const TriangleTree &tree, Vec3 direction, Vec3 guess);

// Lower bound of the distance of the convex hulls of two meshes, with closest points, in the frame of A.
ConvexDistance hull_distance(const PosedPair &pair);

struct SurfaceDistance {
    ClosestPoints closest;                     // in the frame of A
    std::optional<TriangleNumbers> triangles;  // that hold them; none when nothing is nearer than the limit
};

// Distance of two surfaces that do not meet. `hulls` is their `hull_distance`; `hint` names triangles that
// were closest nearby, to be tried first. `closest.squared` is `limit` when they are not nearer.
SurfaceDistance surface_distance(const PosedPair &pair, const ConvexDistance &hulls,
                                 std::optional<TriangleNumbers> hint = {}, double limit = FAR);

struct PairDistance {
    PairState state;
    SurfaceDistance surfaces;  // where the state is apart
};

// State of a pair as `pair_state` has it and, when it is apart, the distance.
PairDistance pair_distance(const PosedPair &pair, bool contain, std::optional<TriangleNumbers> hint = {});

// Whether two meshes touch, one is inside the other, or they are not farther apart than `buffer`; B at `rel` in the frame of A.
bool meshes_closer(const TriangleTree &a, const TriangleTree &b, const Pose &rel, double buffer);

}  // namespace elbowroom
