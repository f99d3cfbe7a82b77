// How far one mesh must move to be apart from another: along given directions, or along the best one.
//
// Two triangles overlap on one interval of translations along a direction, the intersection of what each
// separating axis allows. Two surfaces overlap on the union of these intervals, and the first translation
// outside the union that also leaves no part inside a closed mesh separates them. Nothing is assumed to be
// monotone: interlinked parts meet again further on. The union is found by passes over both trees that visit
// only what may extend it, farthest first; the last pass, which finds nothing, is the proof.
//
// The translations of B at which the meshes meet form the Minkowski difference; the depth is the distance of
// the origin to the nearest point outside. The axis of the triangles that let go last along a direction is
// the normal of the facet that the way out leads through; the next direction is that of the nearest point of
// its plane. When the way there is shorter, the set is convex there and only the new facet counts; when it is
// longer, old and new facets bound a notch, and the nearest point beyond all of them is next. So a descent
// ends in a local minimum, in the middle of a facet or in the bottom of a notch. To find the right one, many
// directions are tried by a boolean: is B, moved along one by less than the best translation, apart from A?
// Only there another descent starts.
//
// Guaranteed: B moved by a separation along its direction is apart, and not before (gaps narrower than 2e-6 m
// excepted). Not guaranteed: that no other direction would do with less. Vectors are in the frame of A.
#pragma once

#include <optional>
#include <span>

#include "elbowroom/contacts.hpp"

namespace elbowroom {

// A translation that separates the balls around two meshes whatever the direction.
double parting_distance(const PosedPair &pair);

// First separating translation of B along each of the unit vectors, at most the parting distance.
void separations(const PosedPair &pair, std::span<const Vec3> directions, bool contain,
                 std::span<double> out);

// How far B must move along each direction until a plane across it parts the hulls of two sets of points.
void hull_overlaps(std::span<const Vec3> points_a, std::span<const Vec3> points_b, const Pose &rel,
                   std::span<const Vec3> directions, std::span<double> out);

// Where the search for the depth goes; unit vectors.
struct DirectionSearch {
    std::span<const Vec3> starts;  // descents start from these
    std::span<const Vec3> scan;    // these are tried, and a descent starts where one is promising
    std::span<const Vec3> spread;  // offsets; the best direction is tried with each of them added
    // When positive, the one start is the best direction, and the meshes are not apart up to this
    // translation.
    double begin = 0.0;
};

struct Depth {
    double depth = 0.0;  // metres
    Vec3 direction;      // in which B moves
    struct LastTouch {
        TriangleNumbers triangles;
        Vec3 point;  // of A
    };
    std::optional<LastTouch> last;  // what is in touch last on the way out; none when they only touch now
};

// Least separating translation of B that the search finds, at most the parting distance.
Depth least_separation(const PosedPair &pair, const DirectionSearch &search, bool contain);

}  // namespace elbowroom
