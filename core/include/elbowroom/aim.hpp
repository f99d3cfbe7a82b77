// Aim: targets made into the objective of a tick, a quadratic in the joint velocities, with the targets' own motion.
//
// Wanted of each target is a rate of its residual r, -s r plus what the target's own motion asks for. The gain s is the largest, up
// to a given one, at which every joint that would remove the error alone can still brake in time (constant deceleration: the gain
// falls with the square root of the error) and keep its velocity limit, and at which the hand keeps its speed bounds. What the
// targets leave free goes towards a rest configuration. No error is summed up, so nothing winds up.
#pragma once

#include <span>
#include <vector>

#include "elbowroom/targets.hpp"
#include "elbowroom/track.hpp"

namespace elbowroom {

struct AimOptions {
    double gain = 30.0;              // share of a small error that is removed per second
    double feedforward = 1.0;        // share of the targets' own velocity that is followed without an error
    double smoothing = 0.02;         // seconds over which that velocity is averaged
    double linear = 1.0, angular = 3.0;  // bounds of hand speeds, m/s and rad/s
    double posture = 1.0;            // 1/s towards the rest configuration
    double damping = 0.01;           // weighted hand speed that is given up to save a joint speed of 1
};

// Remembers the last targets to know how fast they move: one for one loop.
class Aim {
  public:
    Aim(Targets targets, AimOptions options);

    const Targets &targets() const { return targets_; }

    // H (dof, dof) and f (dof) at a configuration, valid until the next call. `values` are those of the targets, `shares` (targets)
    // of their speed bounds that count, `rest` (dof) where joints go that are free.
    Objective at(std::span<const double> values, std::span<const double> shares, std::span<const double> cfg, std::span<const double> rest,
                 const JointLimits &limits, double dt);
    // Adds a cost of changing velocities; before the objective is used.
    void steady(std::span<const double> velocity, double weight);
    // The next targets are not the same ones moved: what they do at first is no velocity.
    void forget();

  private:
    double brakeable(std::size_t first, std::size_t rows, const JointLimits &limits, double gain) const;
    void follow(std::span<const double> values, std::span<const double> cfg, double dt);

    Targets targets_;
    AimOptions options_;
    struct Span {
        std::size_t first, linear, angular;  // rows of the residual
    };
    std::vector<Span> spans_;
    std::vector<double> residual_, before_, jacobian_, off_, turn_, feed_, bounds_, wanted_, H_, f_, values_;
    double unchanged_ = 0.0, interval_ = 0.0;  // seconds since the targets moved, and between their last moves
};

// Follows targets in a loop: the objective of a tick, and the safe step that is best for it.
class Follower {
  public:
    Follower(std::shared_ptr<const SafeStep> safe, Targets targets, AimOptions options) : safe_(std::move(safe)), aim_(std::move(targets), options) {}

    const SafeStep &safe() const { return *safe_; }
    const Targets &targets() const { return aim_.targets(); }
    void forget() { aim_.forget(); }

    // `values`, `shares` and `rest` as of `Aim::at`.
    Step tick(StepLoop &loop, std::span<const double> values, std::span<const double> shares, std::span<const double> rest, double dt,
              double budget);

  private:
    std::shared_ptr<const SafeStep> safe_;
    Aim aim_;
};

}  // namespace elbowroom
