// When each place of a curve is passed: as fast as limits of velocity, acceleration and jerk allow, from rest to rest.
//
// Without limits of jerk: reachability analysis (Pham and Pham, "A New Approach to Time-Optimal Path Parameterization Based on
// Reachability Analysis", 2018) with x, the squared rate of the parameter, linear in the parameter between grid points. On an
// interval inside one cubic piece a joint's acceleration q'(s) x'/2 + q''(s) x is then a quadratic polynomial whose three Bernstein
// coefficients are linear in x at the two ends. Limits are asked of the coefficients, so they hold between the grid points too, and
// nothing has to be checked or stretched afterwards.
//
// With limits of jerk: these speeds averaged over a window of time, section by section between two stops. The average of the
// parameter over a window has for its rate and acceleration the averages of rate and acceleration, and for its third derivative what
// the acceleration changes over the window, divided by its length. Where joints exceed a limit, speeds are lowered and averaged
// again, a few times, and what is left is stretched in time; of several windows the shortest motion is kept. Limits are looked at
// five times on every interval, which is no proof.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace elbowroom {

// Cubic Bezier pieces one after the other.
struct Curve {
    std::size_t dof = 0;
    std::span<const double> pieces;  // (k, 4, dof)
    std::span<const double> knots;   // (k + 1) parameters at their ends, increasing
    std::span<const bool> stops;     // (k + 1) where the direction may jump

    std::size_t size() const { return knots.size() - 1; }
    double at(std::size_t piece, std::size_t point, std::size_t joint) const { return pieces[(4 * piece + point) * dof + joint]; }
};

// One number a joint, infinite where there is no limit; `jerk` may be empty.
struct MotionLimits {
    std::span<const double> velocity, acceleration, jerk;
};

// On each of n intervals the parameter of the curve is a cubic polynomial of time.
struct Schedule {
    std::vector<double> times, places, rates, pushes, jerks;  // (n + 1) when an interval begins, and the parameter and its derivatives
    std::vector<std::int64_t> pieces;                         // (n) that it lies in
    std::vector<double> peaks;  // (3, dof) what speeds, accelerations and jerks do not exceed; infinite jerks unless limited
    int unlimited = -1;         // a joint that moves and has neither a limit of velocity nor of acceleration: nothing was timed
};

// The fastest motion along a curve, at rest at both ends, at its stops and where its direction jumps, under limits of jerk also
// where its curvature does. A curve that goes nowhere takes no time. Empty where numbers are too large or too small to compute with.
Schedule time_curve(const Curve &curve, const MotionLimits &limits);

// Configurations at times `at` (n), or a derivative by time, 1 to 3: `out` (n, dof). Before the beginning and after the end the
// robot rests.
struct ScheduleRows {
    std::span<const double> times, places, rates, pushes, jerks;
    std::span<const std::int64_t> pieces;
};
void evaluate(const Curve &curve, const ScheduleRows &schedule, int derivative, std::span<const double> at, std::span<double> out);

}  // namespace elbowroom
