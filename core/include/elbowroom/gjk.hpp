// Distance of two convex sets that are known by their farthest points along directions.
//
// The algorithm of Gilbert, Johnson and Keerthi ("A fast procedure for computing the distance between complex
// objects", 1988) on the difference of the sets, points of A minus points of B. A simplex of its points
// approaches the origin; the projection on the current direction gives a lower bound of the distance, the
// simplex an upper one.
//
// Guaranteed: `lower` is a lower bound of the distance whatever the number of steps, to the rounding of one
// projection; `upper` is the distance of the two points returned, which belong to the sets.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "elbowroom/geometry.hpp"

namespace elbowroom {

// Farthest point of A along a direction and of B against it, in one frame.
struct SupportPoints {
    Vec3 a, b;

    Vec3 difference() const { return a - b; }
};

struct ConvexDistance {
    double lower = 0.0;  // 0 when the sets overlap or are not shown to be apart
    double upper = std::numeric_limits<double>::infinity();
    Vec3 normal;   // unit vector from A to B: that of the lower bound
    Vec3 a, b;     // closest points found
    Vec3 between;  // unit vector from `a` to `b`
};

// When the iteration ends by itself.
struct GjkLimits {
    int steps;
    double relative;  // gap between the bounds as a fraction of the distance
    double absolute;  // the same in metres; points nearer than this count as the same
};

// Points of the difference and where they come from; at most a tetrahedron.
class Simplex {
  public:
    void add(const SupportPoints &p) { points_[size_++] = p; }

    // Keeps the smallest face that holds the point nearest to the origin, and finds this point. The newest
    // corner is part of that face, unless rounding has hidden all progress. False when the origin is inside a
    // tetrahedron; where the sets are known to be apart (`outside`) that is rounding of a flat one.
    bool reduce(bool outside) {
        const Vec3 s = points_[size_ - 1].difference();
        if (size_ == 4 && !outside && holds_origin()) return false;
        Vec3 edge[3];
        double along[3];
        for (int i = 0; i + 1 < size_; i++) {
            edge[i] = points_[i].difference() - s;
            along[i] = -dot(s, edge[i]);
        }
        Face best{squared(s), -1, -1, 0.0, 0.0};
        for (int i = 0; i + 1 < size_; i++) {
            const double ii = squared(edge[i]);
            if (ii > 0.0) {
                const double t = along[i] / ii;
                if (t > 0.0 && t < 1.0) best.improve(squared(s + t * edge[i]), i, -1, t, 0.0);
            }
            for (int j = 0; j < i; j++) {
                const double jj = squared(edge[j]), ij = dot(edge[i], edge[j]), den = ii * jj - ij * ij;
                if (den <= FLAT * ii * jj) continue;
                const double p = (along[i] * jj - along[j] * ij) / den,
                             q = (along[j] * ii - along[i] * ij) / den;
                if (p > 0.0 && q > 0.0 && p + q < 1.0)
                    best.improve(squared(s + p * edge[i] + q * edge[j]), i, j, p, q);
            }
        }
        const SupportPoints newest = points_[size_ - 1];
        const SupportPoints other = best.i < 0 ? newest : points_[best.i];
        const SupportPoints third = best.j < 0 ? newest : points_[best.j];
        const double weight = 1.0 - best.p - best.q;
        a_ = weight * newest.a + best.p * other.a + best.q * third.a;
        b_ = weight * newest.b + best.p * other.b + best.q * third.b;
        towards_ = b_ - a_;
        if (best.j >= 0) aim_by_plane(s, edge[best.i], edge[best.j]);
        size_ = 0;
        if (best.j >= 0) add(third);
        if (best.i >= 0) add(other);
        add(newest);
        return true;
    }

    Vec3 a() const { return a_; }  // the nearest point, as points of A and B
    Vec3 b() const { return b_; }
    double distance() const { return norm(b_ - a_); }
    Vec3 towards() const { return towards_; }  // from the nearest point to the origin, not a unit vector

  private:
    static constexpr double FLAT = 1e-14;  // squared sine below which two edges span no triangle

    struct Face {
        double squared;
        int i, j;  // corners besides the newest, -1 for none
        double p, q;

        void improve(double found, int other, int third, double weight, double weight_third) {
            if (found < squared) *this = {found, other, third, weight, weight_third};
        }
    };

    // The direction to the origin is that of the triangle's plane, too. An error of the corners turns the plane
    // by its ratio to the least height of the triangle, and the line of closest points by that to its length:
    // near contact the plane is far more exact.
    void aim_by_plane(Vec3 s, Vec3 u, Vec3 v) {
        const Vec3 n = cross(u, v);
        const double longest = std::max({squared(u), squared(v), squared(u - v)}), nn = squared(n);
        const double side = -dot(n, s);
        if (nn > longest * squared(towards_) && side != 0.0) towards_ = std::copysign(1.0, side) * n;
    }

    bool holds_origin() const {
        for (int skip = 0; skip < 4; skip++) {
            const Vec3 s = points_[(skip + 1) % 4].difference();
            const Vec3 n =
                cross(points_[(skip + 2) % 4].difference() - s, points_[(skip + 3) % 4].difference() - s);
            const double inner = dot(n, points_[skip].difference() - s), origin = -dot(n, s);
            if (inner == 0.0 || inner * origin < 0.0) return false;
        }
        return true;
    }

    SupportPoints points_[4];
    int size_ = 0;
    Vec3 a_, b_, towards_;
};

// `support(d)` gives the farthest points along the unit vector `d`; `start` points from A towards B.
template <class Support>
ConvexDistance convex_distance(Support &&support, Vec3 start, const GjkLimits &limits) {
    ConvexDistance found;
    Simplex simplex;
    const double length = norm(start);
    Vec3 d = length > 0.0 ? (1.0 / length) * start : Vec3{1.0, 0.0, 0.0};
    for (int step = 0; step < limits.steps; step++) {
        const SupportPoints far = support(d);
        const double gap = -dot(d, far.difference());
        if (gap > found.lower) {
            found.lower = gap;
            found.normal = d;
        }
        if (step > 0 && found.upper - found.lower <= limits.relative * found.upper + limits.absolute) break;
        simplex.add(far);
        if (!simplex.reduce(found.lower > 0.0)) {
            found.lower = 0.0;
            break;
        }
        double shorter = simplex.distance();
        if (!(shorter < found.upper)) {
            // Rounding hides the progress of a flat simplex: begin anew from the closest points, which are in
            // the sets, too.
            simplex = Simplex{};
            simplex.add({found.a, found.b});
            simplex.add(far);
            simplex.reduce(true);
            shorter = simplex.distance();
            if (!(shorter < found.upper)) break;
        }
        if (shorter <= limits.absolute || shorter == 0.0) {
            found.lower = 0.0;
            break;
        }
        found.upper = shorter;
        found.a = simplex.a();
        found.b = simplex.b();
        d = simplex.towards();
        d = (1.0 / norm(d)) * d;
        found.between = d;
    }
    return found;
}

}  // namespace elbowroom
