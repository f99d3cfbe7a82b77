// Fitting balls to a link: descents and moves that lower the volume outside the link while the balls keep covering it.
//
// The volume of a union of balls changes with a ball's radius by its exposed area, and with its centre by the integral
// of the outward normal over that area; both are summed over a few directions that turn from step to step (a stochastic
// gradient, followed by Adam, Kingma and Ba 2015). Coverage is a penalty on samples outside every ball, whose weight
// grows until it decides; the last descent replaces the samples by the exact witnesses of coverage.hpp. Moves take one
// ball away, split another and descend; what lowers the cost is kept.
//
// Coordinates are scaled to the link: relative to the middle of its bounding box, in units of half its diagonal, so
// that step sizes and penalties mean the same for a fingertip and for a torso. Loops over samples and directions run in
// float32 lanes. Balls that come out cover the link up to rounding and are not proved: see `grow_to_cover`. The same
// arguments give the same balls, in any thread.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "elbowroom/coverage.hpp"

namespace elbowroom {

// Points ordered in space, in runs that a ball is tested against as a whole before it is tested point by point.
struct PointBlocks {
    static constexpr std::size_t SIZE = 32;  // points in a run
    std::vector<float> x, y, z;              // the last point is repeated until its run is full
    std::vector<Ball> bounds;                // of the runs
    std::vector<std::size_t> order;          // by place: the point that was given; no entries for repeated ones

    PointBlocks() = default;
    explicit PointBlocks(std::span<const Vec3> points);
    std::size_t size() const { return x.size(); }
    Vec3 point(std::size_t k) const { return {x[k], y[k], z[k]}; }
};

// A lattice of float32 values, interpolated linearly in lanes; outside, the distance to the lattice is added.
class LatticeField {
  public:
    LatticeField() = default;
    LatticeField(const Lattice &lattice, std::vector<float> values);
    F32x8 at(F32x8 x, F32x8 y, F32x8 z) const;
    float spacing() const { return spacing_; }

  private:
    std::vector<float> values_;
    std::array<float, 3> low_{}, most_{};
    std::array<std::int32_t, 3> stride_{};
    float spacing_ = 1.0f;
};

// What a fit knows of a link, in metres in the link frame.
struct FitInput {
    Vec3 origin;         // of the scaled coordinates
    double scale = 1.0;  // metres to one of them
    std::vector<Vec3> samples, inside;      // points to cover: all of them, and those inside a closed shape
    Lattice lattice;
    std::vector<float> signed_distances;    // at the nodes of the lattice
    std::vector<float> beyond;              // the same, positive where the link should not reach; may be empty
    std::vector<Vec3> directions;           // unit vectors, in sets of DIRECTIONS
    double reference_volume = 1.0;          // of the link: costs are shares of it
    bool closed = false;                    // all of the link is closed: points inside are not outside volume
};

// How a descent runs: iterations; first and last step; first and last weight of what is not covered.
struct Schedule {
    int steps = 0;
    std::array<double, 2> step_size{}, penalty{};
};

class FitProblem {
  public:
    static constexpr std::size_t DIRECTIONS = 32;  // per ball and step

    // `deep`: protrusion at which the weight of outside volume has doubled, metres.
    FitProblem(const LinkShape &shape, const FitInput &input, double deep);
    FitProblem with_depth(double deep) const;

    std::size_t n_samples() const { return samples_.size(); }
    std::size_t n_turns() const { return directions_.size(); }

    // Balls about clusters of the samples, by a round of Lloyd's algorithm for each row of `fresh`: samples that take
    // the place of clusters without any. `picks` are the samples to start from.
    std::vector<Ball> clustered(std::span<const std::size_t> picks, std::span<const std::size_t> fresh) const;
    // Cuts the ball to blame for most outside volume in two.
    std::vector<Ball> split_worst(std::span<const Ball> balls) const;
    // Descent with sampled coverage, then strict repair on the samples.
    std::vector<Ball> descend(std::span<const Ball> balls, const Schedule &schedule) const;
    // Moves, each followed by a descent; one for each two of `draws`, uniform in [0, 1).
    struct Improved {
        std::vector<Ball> balls;
        double cost;
    };
    Improved improve(std::span<const Ball> balls, std::span<const double> draws, const Schedule &schedule) const;
    // Descent with exact coverage, then growth at the last witnesses.
    std::vector<Ball> polish(std::span<const Ball> balls, int steps, std::array<double, 2> step_size) const;

    // Weighted outside volume over the reference volume.
    double cost(std::span<const Ball> balls) const;
    // Its gradient by the exposed directions of one turn: centre and radius of each ball.
    std::vector<Ball> cost_gradient(std::span<const Ball> balls, std::size_t turn) const;

  private:
    struct Cost {
        double total;
        std::vector<double> blame;  // the part that each ball alone is to blame for
    };
    void set_depth(double deep);
    Cost assess(std::span<const Ball> balls) const;
    void add_gradient(std::span<const Ball> balls, std::size_t turn, std::span<Ball> gradient) const;
    void run_descent(std::vector<Ball> &balls, const Schedule &schedule) const;
    void repair(std::vector<Ball> &balls) const;
    std::optional<std::size_t> spare_ball(std::span<const Ball> balls) const;
    std::vector<Ball> split(std::span<const Ball> balls, std::size_t index) const;
    void grow_at_witnesses(std::vector<Ball> &balls, SurfaceBound &surface) const;

    double scale_;
    double weight_;       // one over the reference volume, scaled
    float deep_ = 1.0f;   // scaled
    PointBlocks samples_, inside_;
    Clusters surface_;
    LatticeField distance_;
    std::optional<LatticeField> beyond_;
    struct DirectionSet {
        std::array<float, DIRECTIONS> x, y, z;
    };
    std::vector<DirectionSet> directions_;
    PointBlocks outside_;                // points that measure the outside volume
    std::vector<float> outside_depth_;   // their distances to the link, 0 for repeated ones
    std::vector<float> outside_unit_;    // share of the reference volume that each stands for, 0 for repeated ones
    std::vector<float> outside_weight_;  // the same times the weight of its depth
};

}  // namespace elbowroom
