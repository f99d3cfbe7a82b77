// Two surfaces while one moves past the other: do they stay apart on a motion around a moment in the middle?
//
// In the frame of A, a point x of B moves from where it is in the middle by s v(x) + r, |s| <= half, where
// v(x) = v + w x (x - c) is its velocity there, and r what its path bends, |r| <= bend + bend_slope |x - c|. Two convex sets stay
// apart when their gap along a fixed unit vector n stays positive; along n a point of B reads n . x + s n . v(x), linear in x and
// in s, so that corners of boxes and triangles at both ends of the motion say it all. Surfaces that slide along each other hardly
// move along n, however fast they are: this is what a bound of mere distances cannot see.
// Pairs of tree nodes are opened until boxes are farther apart than B moves, in any direction or along the direction of the closest
// triangles known; pairs of triangles are tried along that direction, then along their own.
//
// Guaranteed: surfaces that are said to stay apart do, rounding included. Of solids inside each other nothing is said.
#pragma once

#include <optional>

#include "elbowroom/pair_walk.hpp"

namespace elbowroom {

// How B moves in the frame of A, as above; metres and radians per unit of s.
struct RelativeMotion {
    Vec3 c, v, w;
    double half = 0.0, bend = 0.0, bend_slope = 0.0;  // the bends are those for this half

    Vec3 velocity(Vec3 x) const { return v + cross(w, x - c); }
};

enum class Swept { apart, not_shown, too_close };  // too close: in the middle

// Whether two surfaces stay farther apart than `buffer`, metres. `hint` names triangles to begin with, those closest the last time;
// it receives the closest that were met, or those in the way.
Swept stay_apart(const PosedPair &pair, const RelativeMotion &motion, double buffer, std::optional<TriangleNumbers> &hint);

}  // namespace elbowroom
