// From a path whose edges are proved to a motion: rounded where that can be proved, timed, and given as rows a fixed time apart.
//
// What is proved, where `proved` is said, is the curve with room for the straight lines between the rows: a joint with accelerations
// up to A leaves its chord over h seconds by at most A h^2 / 8, which is the slack that is asked of the proof. Pieces that rounding
// has proved with as much room are not asked again; where it has proved them with less, the straight lines themselves are proved. Under
// limits of jerk accelerations are not bound, and nothing is said.
#pragma once

#include "elbowroom/smooth.hpp"
#include "elbowroom/timing.hpp"

namespace elbowroom {

// Straight lines through waypoints (n, dof), n at least 2, with a stop at each that is no straight line; waypoints that repeat the one
// before are left out. The parameter is the largest joint motion. Nothing is proved of them: `spares` are -1.
SmoothCurve polyline(std::span<const double> path, std::size_t dof);

struct FinishRequest {
    SmoothRequest path;
    bool smooth = true;
    MotionLimits limits;
    double rate = 100.0;  // rows a second
};

struct FinishedMotion {
    SmoothCurve curve;  // the path as it was where nothing rounder could be proved
    bool rounded = false;
    Schedule schedule;                // as of `time_curve`: may be empty
    std::vector<double> times, rows;  // (t), (t, dof); none without a schedule, or where they were too many
    bool proved = false;
    std::vector<double> slack;  // (dof) how far joints may be off the curve with the proof still holding
    double clearance = 0.0;     // metres above the buffer that are proved, not looked for beyond a millimetre
    std::int64_t segments = 0;  // pieces looked at
    double seconds[3] = {};     // that rounding, timing and the proof took
};

FinishedMotion finish(const Scene &scene, const FinishRequest &request);

}  // namespace elbowroom
