#include "elbowroom/body_poses.hpp"

#include <cmath>

namespace elbowroom {
namespace {

// Entries of rotations by right angles come out as 6e-17 or 1 - 1e-16: they are 0, 1 and -1, to less than a unit.
float snapped(double entry) {
    const double whole = std::round(entry);
    return static_cast<float>(std::fabs(entry - whole) < 1e-9 ? whole : entry);
}

void set_columns(BodyPoses::Step &step) {
    step.right_angles = true;
    for (int k = 0; k < 3; k++) {
        int found = 0;
        for (int row = 0; row < 3; row++) {
            const float entry = step.r[3 * row + k];
            if (entry == 0.0f) continue;
            found++;
            step.column[k] = row, step.sign[k] = entry;
            step.right_angles &= std::fabs(entry) == 1.0f;
        }
        step.right_angles &= found == 1;
    }
}

}  // namespace

BodyPoses::BodyPoses(const Robot &robot, std::span<const int> links) {
    const std::span<const Body> all = robot.bodies();
    places_.assign(all.size(), -1);
    places_[0] = 0;
    for (int link : links)
        for (int b = robot.link_places()[static_cast<std::size_t>(link)].body; b > 0; b = all[static_cast<std::size_t>(b)].parent)
            places_[static_cast<std::size_t>(b)] = 0;
    for (std::size_t b = 0; b < all.size(); b++) {
        if (places_[b] < 0) continue;
        places_[b] = static_cast<int>(steps_.size());
        bodies_.push_back(static_cast<int>(b));
        Step step{};
        step.parent = b == 0 ? -1 : places_[static_cast<std::size_t>(all[b].parent)];
        step.kind = all[b].kind, step.joint = all[b].joint;
        for (int k = 0; k < 9; k++) step.r[k] = snapped(all[b].in_parent.r[k]);
        set_columns(step);
        for (int k = 0; k < 3; k++) step.t[k] = static_cast<float>(all[b].in_parent.t[k]);
        steps_.push_back(step);
    }
}

std::vector<BodyPoses::Error> BodyPoses::error_bounds(const Robot &robot, std::span<const double> largest) const {
    // What a joint adds to the error of a rotation (Frobenius norm): 12 units for the product with the fixed part (its
    // entries are rounded once, each sum of three products three times, and the norms of both factors are sqrt(3)), 12.2 for
    // the turn about z with sine and cosine good to 2 units, and the rest for terms of second order.
    constexpr double TURN = 26.0 * UNIT32;
    std::vector<Error> out(steps_.size());
    for (std::size_t b = 1; b < steps_.size(); b++) {
        const Body &body = robot.bodies()[static_cast<std::size_t>(bodies_[b])];
        const Error &up = out[static_cast<std::size_t>(steps_[b].parent)];
        const double arm = norm(body.in_parent.translation());
        const double slide = body.kind == JointKind::prismatic ? largest[static_cast<std::size_t>(body.joint)] : 0.0;
        Error &error = out[b];
        error.turn = up.turn + TURN;
        error.reach = up.reach + arm + slide;
        // A position inherits its parent's error, turns the error of the rotation by the lever arm, and is rounded in each
        // of four operations.
        const double rounding = std::sqrt(3.0) * UNIT32 * (4.0 * arm + 5.0 * slide + 3.0 * error.reach);
        error.shift = up.shift + up.turn * arm + error.turn * slide + rounding;
    }
    return out;
}

}  // namespace elbowroom
