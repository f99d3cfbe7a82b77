// The proof that balls cover a link, and the growth that makes a set of balls pass it.
//
// With pow_i(x) = |x - c_i|^2 - r_i^2, a point is inside the union of the balls exactly when min_i pow_i(x) <= 0. Where
// pow_i is the smallest (the cell of i in the power diagram, Aurenhammer 1987) it is convex, so over the piece of a
// triangle inside that cell it peaks at a corner of the piece. Inside a closed mesh whose surface is covered, the
// minimum can peak only at vertices of the power diagram. Finitely many points decide.
//
// Guarantee: rounding can make a covered link look uncovered, by about 1e-14 of its size, and never the other way round.
// Each piece is cut out by half planes that are moved outwards by CUT_SLACK, well above the rounding error of a cut, so
// a computed piece contains the true one, and the largest value at its corners is an upper bound. The bounds hold with
// and without fused multiply-add: fusing leaves out a rounding and adds none. Coordinates are taken relative to the
// triangle to keep rounding small.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "elbowroom/link_shape.hpp"

namespace elbowroom {

// A point outside every ball.
struct Witness {
    static constexpr int NOBODY = -1;
    Vec3 point;
    double gap = 0.0;    // distance to the union, metres
    int owner = NOBODY;  // ball whose cell the point bounds: a point is found once for each such ball
};

// A convex polygon that is cut by half planes. Its memory is kept from one polygon to the next.
class Polygon {
  public:
    void assign(std::span<const Vec3> corners);
    std::span<const Vec3> corners() const { return {buffers_[active_].data(), count_}; }
    // Keeps the part with normal . x <= offset.
    void cut(Vec3 normal, double offset);

  private:
    std::vector<Vec3> buffers_[2];  // a cut writes to the other one
    std::size_t active_ = 0, count_ = 0;
};

// Bounds the gap between triangles and a union of balls, again and again as the balls change a little.
class SurfaceBound {
  public:
    // Keeps a reference to the triangles. No more than `capacity` witnesses are kept.
    SurfaceBound(const Clusters &clusters, std::size_t capacity);

    // Upper bound of the distance from any point of the triangles to the union of at least one ball: not positive when
    // all is proved to be inside. Finds witnesses otherwise; there may be none where only rounding is in doubt.
    double bound(std::span<const Ball> balls) { return walk<true>(balls); }
    // Finds the witnesses alone, for balls that move little from call to call: a piece is cut no further once one ball
    // holds it, and a triangle is not looked at while no ball has moved by more than it was inside.
    void find_witnesses(std::span<const Ball> balls);
    std::span<const Witness> witnesses() const { return witnesses_; }

  private:
    // A ball relative to the triangle in work, with its number.
    struct Local {
        Vec3 center;
        double weight;  // |center|^2 - radius^2
        double radius;
        int ball;
    };
    // With `tight`, pieces are cut down to cells in any case, for the least bound.
    template <bool tight> double walk(std::span<const Ball> balls);
    template <bool tight> double walk_run(std::size_t run, std::span<const Ball> balls);
    template <bool tight> double bound_triangle(const Triangle &triangle, std::span<const Ball> balls);
    bool held_by(const Local &own) const;
    void add(Vec3 point, double gap, int owner);

    const Clusters &clusters_;
    std::size_t capacity_;
    std::vector<std::size_t> holders_;  // by cluster: the ball to try first
    std::vector<int> close_;            // balls that may meet the cluster in work
    std::vector<Local> near_;           // balls that may meet the triangle in work
    Polygon polygon_;
    std::vector<Witness> witnesses_;
    // Of `find_witnesses`: the balls of the last call, how far balls have moved in all calls (sum of the largest change
    // of centre and radius), and up to where of it triangles and whole runs of them stay inside.
    std::vector<Ball> last_balls_;
    double travel_ = 0.0;
    std::vector<double> triangle_safe_, run_safe_;
};

// Corners of the faces of the power diagram, inside a box, that no ball holds.
std::vector<Witness> power_vertices(std::span<const Ball> balls, Vec3 low, Vec3 high);

struct Coverage {
    double surface_bound = 0.0;      // upper bound of the distance from the surface to the union, metres
    std::vector<Witness> witnesses;  // on the surface, then in cavities
    std::size_t cavities = 0;        // witnesses inside closed pieces, off the surface

    bool covered() const { return surface_bound <= 0.0 && cavities == 0; }
};

// Decides whether balls, at least one, cover a link: its surface, and what its closed pieces enclose.
Coverage prove_coverage(const LinkShape &shape, std::span<const Ball> balls);

// Grows balls, at least one, until they are proved to cover a link. Each witness grows the ball nearest to it; the
// overshoot rises from round to round. Should `rounds` not be enough, the first ball grows around everything.
std::vector<Ball> grow_to_cover(const LinkShape &shape, std::span<const Ball> balls, int rounds);

}  // namespace elbowroom
