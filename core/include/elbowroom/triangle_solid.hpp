// One triangle against a convex primitive: do they share a point, and how far apart are they, with proof.
//
// The closest point of a triangle to a convex solid is in its interior only where the triangle's plane parts the two: then
// it lies over the solid's farthest point towards that plane. Otherwise it is on an edge, along which the distance is
// convex: its minimum is bracketed, and the tangents at both ends of the bracket bound it from below.
//
// Guaranteed: apart is claimed only beyond the rounding error of what was compared. Distances to boxes and cylinders are
// lower bounds, at most 1e-10 m below the truth; those to spheres and capsules are exact to rounding. Triangles are in
// the frame of the solid, which is centred there. Solids contain: a triangle inside one meets it.
#pragma once

#include "elbowroom/geometry.hpp"
#include "elbowroom/triangles.hpp"

namespace elbowroom {

enum class ConvexKind { box, sphere, cylinder, capsule };

struct ConvexPrimitive {
    ConvexKind kind;
    Vec3 half;      // edges of a box
    double radius;  // of the others
    double length;  // half length along z of a cylinder, or of the axis of a capsule; 0 for a sphere

    // Radius of the largest ball around its origin that is of it.
    double inner() const;
    // Sizes together: what rounding is measured by.
    double scale() const { return size_of(half) + radius + length; }
};

struct OutwardVector {
    double distance;  // of a point; inside not positive, which is no depth
    Vec3 normal;      // unit vector to it from the nearest point of the solid; zero inside
};
// The solid lies behind the plane through that nearest point across that vector.
OutwardVector outward(const ConvexPrimitive &solid, Vec3 p);

// Lower bound of the distance of a triangle, from the plane that parts its centroid from the solid.
double plane_bound(const ConvexPrimitive &solid, const Triangle &t);

// Do a triangle and the solid box of half edges `half`, around the origin and along its axes, share a point?
bool triangle_meets_box(const Triangle &t, Vec3 half);

struct TriangleGap {
    bool meet = false;
    double distance = 0.0;       // from `limit` up when they are not nearer
    Vec3 on_triangle, on_solid;  // where the distance is below `limit`
};
// Gaps up to the length `tol` are touching. With a limit of 0 only `meet` is found out.
TriangleGap triangle_gap(const ConvexPrimitive &solid, const Triangle &t, double limit, double tol);

}  // namespace elbowroom
