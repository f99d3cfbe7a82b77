// A descent of STOMP (Kalakrishnan et al., ICRA 2011): one trajectory on its way to a lower cost.
//
// An iteration adds smooth noise to the trajectory, is told the cost of every noisy rollout at every timestep, and moves each timestep towards
// the rollouts that cost least there. Beyond the paper: rollouts are kept as long as they are among the best, costs are seen a few timesteps
// away, and a rollout that costs less than the updated trajectory takes its place. Noise has the covariance R^-1, where R weighs squared
// accelerations of a trajectory that rests at both ends: R is a band of five diagonals, so noise and smoothing take work that grows with the
// number of timesteps alone.
//
// Guaranteed: ends and joints that do not move stay as they are, the others within their limits; the same seed gives the same descent. For
// one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace elbowroom {

struct DescentSettings {
    int rollouts = 32, reuse = 8, window = 2;
    double sensitivity = 10.0, sigma_decay = 0.98, sigma_floor = 0.1;
    bool smooth_update = true;
};

// Joints that move, and their noise and limits: one number a moving joint.
struct DescentJoints {
    std::vector<int> moving;
    std::vector<double> lower, upper, sigma;
};

class Descent {
  public:
    // From a trajectory (steps, dof), at least three steps; joints that do not move keep their values.
    Descent(DescentJoints joints, const DescentSettings &settings, std::size_t dof, std::span<const double> path, std::uint64_t seed);

    std::size_t steps() const { return steps_; }
    std::size_t dof() const { return dof_; }
    std::size_t rollouts() const { return static_cast<std::size_t>(settings_.rollouts); }
    std::span<const double> path() const { return path_; }  // (steps, dof)
    double cost() const { return cost_; }
    double noise() const { return noise_; }  // what is left of it
    int idle = 0;                            // iterations since the least cost

    // Another trajectory (steps, dof), and its cost at every step; rollouts are forgotten, the noise that is left stays. To be called before
    // the first iteration.
    void restart(std::span<const double> path, std::span<const double> cost);

    // An iteration: rollouts (rollouts, steps, dof); from these and their costs (rollouts, steps) a trajectory (steps, dof); then its cost
    // (steps).
    void shake(std::span<double> rollouts);
    void update(std::span<const double> rollouts, std::span<const double> costs, std::span<double> out);
    void settle(std::span<const double> cost);

  private:
    struct Row {
        std::vector<double> path, cost;  // (steps, dof), (steps)
        double total = 0.0;
    };
    struct RowView {
        const double *path, *cost;
        double total;
    };
    void weigh(std::span<const RowView> rows, std::span<double> delta) const;
    void keep_within(std::span<double> path) const;
    void solve_back(double *values, std::size_t stride) const;
    void solve(double *values, std::size_t stride) const;  // R x = values, in place; every `stride`-th number
    double normal();

    DescentJoints joints_;
    DescentSettings settings_;
    std::size_t dof_, steps_;
    std::vector<double> path_, cost_at_, candidate_;
    double cost_ = 0.0, least_ = 0.0, noise_ = 1.0;
    std::vector<Row> kept_;
    Row best_;  // of the iteration under way
    // Cholesky factor of R, row by row: the inverse of the entry on the diagonal, and the two beside it.
    std::vector<double> inverse_, one_, two_;
    std::vector<double> column_most_;  // (steps - 2) largest entry of each column of R^-1
    double largest_ = 1.0;             // entry on the diagonal of R^-1
    std::uint64_t state_[4];           // of the random numbers
};

}  // namespace elbowroom
