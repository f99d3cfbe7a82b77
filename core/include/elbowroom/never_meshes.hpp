// Whether the meshes of two links stay apart: their distance at configurations, and proof over boxes of joint values.
//
// Branch and bound as in never.hpp, with the triangles themselves. All is seen in the frame of mesh A at the centre of a box.
// When every joint stays within h of its centre, move the joints one after the other, outermost first, as in chain.hpp: inner
// axes are then where they are at the centre, and when the turn of joint k comes a point has moved by at most m. Turned by t
// about the axis w, at r from a point of it, it goes
//
//     sin t (w x r) + (1 - cos t) w x (w x r),
//
// which is perpendicular to w. Along a fixed unit vector n, with s the sine of the angle between n and w and d the distance
// from the axis at the centre, that is at most
//
//     h (|n . (w x r)| + s m) + h^2 / 2 s (d + m), and at most s 2 sin(h / 2) (d + m),
//
// and h |n . w| for a slide. So links that turn close to each other hardly approach along the normal of the gap, and joints
// with parallel axes do not move anything along them: bounds of mere distances cannot see that. Two boxes of the trees or two
// triangles stay apart when their gap along some fixed n exceeds what both move along it, or their distance what both move in
// any direction. Boxes and triangles are convex, so their corners say it all.
#pragma once

#include <memory>

#include "elbowroom/never.hpp"
#include "elbowroom/triangles.hpp"

namespace elbowroom {

// A mesh on the body at the end of a chain.
struct CarriedMesh {
    std::shared_ptr<const TriangleTree> tree;
    Pose in_body;
};

class MeshPair {
  public:
    // `side` as in `Chain::moving_a`.
    MeshPair(Chain chain, int side, CarriedMesh a, CarriedMesh b);

    const Chain &chain() const { return chain_; }

    // Distance of the meshes at each row of joint values, (n, variables); 0 where they collide.
    void clearances(std::span<const double> values, std::span<double> out) const;

    // Whether the meshes stay farther apart than `target` in the whole range. Surfaces are looked at, and once whether one
    // mesh lies inside the other: what is outside stays outside while no surface is touched. With `by_axes` boxes are halved
    // by the most promising direction, axes of joints included, or else by the direction between the triangles in the way:
    // some pairs need the one, some the other.
    ProofOutcome prove(const BoxRange &range, double target, std::int64_t max_boxes, bool by_axes) const;

  private:
    Chain chain_;
    std::vector<int> moving_[2];
    CarriedMesh meshes_[2];
};

}  // namespace elbowroom
