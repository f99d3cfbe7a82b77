// The shape of a link as sphere fitting sees it: its triangles in spatial order, distances to them, what they enclose.
//
// Distances walk a tree of boxes that is split at the median of the longest spread; its leaves are four triangles in
// lanes. What is enclosed is found along rays: their crossings with the closed pieces of the mesh, signed by direction,
// give winding numbers and, on lattices of rays, volumes. All of this serves fitting and measuring. The coverage proof
// (coverage.hpp) takes from here only the triangles, their order and the winding number of single points.
// Coordinates are metres in the link frame.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "elbowroom/balls.hpp"
#include "elbowroom/geometry.hpp"
#include "elbowroom/lanes.hpp"
#include "elbowroom/triangles.hpp"

namespace elbowroom {

// Distance of a point to the surface of a ball, negative inside.
inline double gap(const Ball &ball, Vec3 p) { return norm(p - ball.center) - ball.radius; }

struct Nearest {
    std::size_t ball = 0;
    double gap = 0.0;  // to the union of the balls, negative inside
};
// The ball nearest to a point, of at least one.
Nearest nearest_ball(std::span<const Ball> balls, Vec3 p);

// Triangles ordered in space, and bounding balls of runs of them, which many queries decide at once.
struct Clusters {
    static constexpr std::size_t SIZE = 16;  // triangles in a run
    std::vector<Triangle> triangles;
    std::vector<Ball> bounds;

    Clusters() = default;
    explicit Clusters(std::vector<Triangle> ordered);
    std::span<const Triangle> run(std::size_t k) const;
};

// Nodes `low + spacing * (i, j, k)`; values are stored with k fastest.
struct Lattice {
    Vec3 low;
    double spacing = 0.0;
    std::array<std::size_t, 3> counts{};

    std::size_t size() const { return counts[0] * counts[1] * counts[2]; }
};

// Volumes along one lattice of rays, cubic metres.
struct RayVolumes {
    double solid = 0.0, balls = 0.0, both = 0.0;
};

struct Protrusion {
    double mean = 0.0, largest = 0.0;  // distance from the outer surface of a union of balls to the mesh, metres
};

class LinkShape {
  public:
    using Face = std::array<std::uint32_t, 3>;
    static constexpr int SHIFTS = 8;  // shifted lattices of rays that `volumes` measures

    // At least one face; the faces of `solid` are those of closed pieces, turned consistently. Vertices must be finite
    // and indices in range.
    LinkShape(std::vector<Vec3> vertices, std::vector<Face> faces, std::vector<Face> solid);

    const Clusters &clusters() const { return clusters_; }
    bool encloses() const { return !solid_.empty(); }
    Vec3 low() const { return low_; }
    Vec3 high() const { return high_; }
    double size() const { return norm(high_ - low_); }  // diagonal of the bounding box
    std::span<const Vec3> vertices() const { return vertices_; }

    // Distances of points to the surface. Points that follow each other should be near each other: each search starts
    // from the triangles that were nearest before.
    void distances(std::span<const Vec3> points, std::span<double> out) const;
    // The least of them, or the bound if that is less: most points are too far to be measured.
    double least_distance(std::span<const Vec3> points, double bound) const;
    // The same at the nodes of a lattice, negative inside closed pieces.
    void signed_distances(const Lattice &lattice, std::span<double> out) const;

    // Signed number of times that triangles wrap a point (sum of solid angles, van Oosterom and Strackee 1983).
    double winding_of_solid(Vec3 p) const;
    double winding_of_all(Vec3 p) const;

    // Volumes of the solid, of a union of balls and of both, by shifted lattices of rays along z.
    std::array<RayVolumes, SHIFTS> volumes(std::span<const Ball> balls) const;

    // Mean and largest protrusion of a union of balls. The mean is over evenly spread points of the outer surface; the
    // largest is refined about the farthest of them: a close lower bound, not a proof.
    Protrusion protrusion(std::span<const Ball> balls) const;

  private:
    // Four triangles: a corner, two edges from there, and one over squared lengths of the edges and over the squared
    // area of the parallelogram. What has no length or area has 0 there; missing triangles are points.
    struct Leaf {
        F64x4 a[3], ab[3], ac[3], inverse_ab, inverse_ac, inverse_bc, inverse_area;

        explicit Leaf(std::span<const Triangle> triangles);
        F64x4 squared_distances(Vec3 p) const;
    };
    static double winding(std::span<const Leaf> leaves, Vec3 p);
    struct Box {
        Vec3 low, high;
        std::int32_t child = -1;  // the other child is the next; -1 for a leaf
        std::int32_t leaf = -1;
    };
    // Crossings of a lattice of rays along +z with the closed pieces, sorted along each ray.
    struct Crossing {
        double z;
        int sign;  // +1 where the ray enters, -1 where it leaves
    };
    struct Rays {
        double x = 0.0, y = 0.0, dx = 0.0, dy = 0.0;
        std::size_t nx = 0, ny = 0;
    };
    struct Crossings {
        std::vector<std::size_t> start;
        std::vector<Crossing> all;

        std::span<const Crossing> of(std::size_t ray) const { return {all.data() + start[ray], start[ray + 1] - start[ray]}; }
    };

    // Orders the triangles in space and makes the tree over them.
    std::vector<Triangle> build_tree(std::vector<Triangle> triangles);
    // The square of the distance where it is below `best`, otherwise `best`.
    double squared_distance(Vec3 p, std::int32_t &nearest_leaf, double best) const;
    double distance(Vec3 p, std::int32_t &nearest_leaf) const;
    Crossings crossings(const Rays &rays) const;
    static RayVolumes volumes_along(const Rays &rays, const Crossings *solid, std::span<const Ball> balls);
    friend double union_volume(std::span<const Ball> balls);

    std::vector<Vec3> vertices_;
    std::vector<Face> solid_;
    Vec3 low_, high_;
    std::vector<Box> boxes_;
    std::vector<Leaf> leaves_;
    Clusters clusters_;
    std::vector<Leaf> solid_leaves_;  // triangles of closed pieces, where these are not all
    bool closed_ = false;             // all triangles belong to closed pieces
};

// Volume of a union of balls by one lattice of rays: quick, for comparing fits.
double union_volume(std::span<const Ball> balls);

// Unit vectors spread evenly over the sphere (the Fibonacci lattice).
std::vector<Vec3> fibonacci(std::size_t n);

}  // namespace elbowroom
