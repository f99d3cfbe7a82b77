// From a path with corners to a curve without, proved free all the way; and how rough a path is.
//
// A smoothing spline (Reinsch 1967) follows the path as a guide, at first loosely: it cuts every corner, and is shorter and far smoother
// than its guide. A natural cubic spline f minimises sum |y_i - f(x_i)|^2 / give_i + integral |f''|^2: with give 0 it goes through y_i.
// Where a piece of it cannot be proved free (Scene::prove), the spline is drawn closer to the guide, there alone, and the proof is tried
// again. The guide is free, so this ends: at the latest where the spline goes through the guide, or, where that is still not enough,
// stops at its corners.
//
// Guaranteed: the curve is free with joints up to `spares` off it, no rougher than the path, and within the limits wherever the path is.
// Direction and curvature are continuous except at its stops. Joints that do not move keep their values to the last bit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "elbowroom/scene.hpp"

namespace elbowroom {

struct SmoothRequest {
    std::size_t dof = 0;
    std::span<const double> path;          // (n, dof) waypoints whose straight lines are free, n at least 2
    std::span<const bool> moves;           // (dof) joints that may move; the others have one value along the path
    std::span<const double> lower, upper;  // (dof) limits, infinite where there are none
};

// Cubic pieces, as of timing.hpp's `Curve`; none where nothing better than the path could be proved.
struct SmoothCurve {
    std::vector<double> pieces;       // (k, 4, dof)
    std::vector<double> knots;        // (k + 1)
    std::vector<std::uint8_t> stops;  // (k + 1)
    std::vector<double> spares;       // (k) how far each moving joint may be off the piece with all proved free (rad, m)
    std::vector<double> clearances;   // (k) metres above the buffer that everything keeps then
};

SmoothCurve smooth_path(const Scene &scene, const SmoothRequest &request);

// A path (n, dof), n at least 1, of straight segments at so many places (at least 2), equally far apart along it: (places, dof).
std::vector<double> resampled(std::span<const double> path, std::size_t dof, int places);

// Sum of squared second differences of a path (n, dof), resampled at `steps` equally long steps.
double roughness(std::span<const double> path, std::size_t dof, int steps);

// The same of cubic pieces (k, 4, dof).
double curve_roughness(std::span<const double> pieces, std::size_t dof, int steps);

}  // namespace elbowroom
