// Signed distance of convex solids that are known by their farthest points along directions: cylinders,
// ellipsoids, hulls of points, all of them widened by a radius if wanted; and of a triangle mesh to one of
// them.
//
// The algorithm of Gilbert, Johnson and Keerthi for solids apart (gjk.hpp), the expanding polytope of van den
// Bergen
// ("Proximity queries and penetration depth computation on 3D game objects", 2001) for those that overlap,
// both on the difference of the solids, which holds the origin when they overlap. The polytope grows inside
// the difference from any tetrahedron of its points, always over the face nearest to the origin, faces that
// leave the origin outside first: no simplex around the origin is needed to begin with.
//
// Guaranteed: for solids apart the distance is that of two of their points; for those that overlap, B moved
// by the depth along the normal is apart. Both are within 1e-10 of the size of the solids of the truth where
// the iteration ends by itself.
#pragma once

#include <vector>

#include "elbowroom/gjk.hpp"
#include "elbowroom/triangles.hpp"

namespace elbowroom {

// A convex solid in its own frame.
class ConvexSolid {
  public:
    static ConvexSolid hull(std::vector<Vec3> points, double radius);  // at least one point
    static ConvexSolid cylinder(double radius, double half_length);    // about z
    static ConvexSolid ellipsoid(Vec3 semi_axes);

    // The point farthest along a direction, the radius left out.
    Vec3 farthest(Vec3 direction) const;
    double radius() const { return radius_; }
    double reach() const { return reach_; }  // how far from the origin of its frame it goes at most

  private:
    enum class Kind { points, cylinder, ellipsoid };

    Kind kind_ = Kind::points;
    Vec3 size_;  // radius and half length of a cylinder, semi-axes of an ellipsoid
    std::vector<Vec3> points_;
    double radius_ = 0.0, reach_ = 0.0;
};

// Signed distance, positive apart, and where it is; in the frame of A.
struct SolidDistance {
    double distance;
    Vec3 normal;   // unit vector from A to B
    Vec3 point_a;  // on A; that on B is point_a + distance * normal
};

// B is at `rel` in the frame of A.
SolidDistance solid_distance(const ConvexSolid &a, const ConvexSolid &b, const Pose &rel);

struct MeshSolidDistance {
    SolidDistance nearest;   // of the surface's triangles; not positive where one meets the solid
    std::uint32_t triangle;  // which one, in leaf order
    bool inside;             // the solid's origin is inside the mesh
};

// A triangle mesh and a convex solid at `rel` in its frame.
MeshSolidDistance mesh_solid_distance(const TriangleTree &mesh, const ConvexSolid &solid, const Pose &rel);

}  // namespace elbowroom
