#include "elbowroom/chain.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace elbowroom {

double ChainJoint::chord(double half) const {
    if (!turns) return half;
    return half < std::numbers::pi ? 2.0 * std::sin(0.5 * half) : 2.0;
}

Chain::Chain(std::vector<ChainJoint> joints, int n_a, int n_variables)
    : joints_(std::move(joints)), n_a_(n_a), n_variables_(n_variables) {}

void Chain::place(std::span<const double> values, ChainPoses &out) const {
    const std::size_t n_a = static_cast<std::size_t>(n_a_), n = joints_.size();
    out.joints.resize(n);
    for (std::size_t k = 0; k < n; k++) {
        const ChainJoint &joint = joints_[k];
        const double q = joint.value(values[static_cast<std::size_t>(joint.variable)]);
        Pose &pose = out.joints[k];
        pose = k == 0 || k == n_a ? joint.in_previous : out.joints[k - 1] * joint.in_previous;
        if (joint.turns) {
            const double s = std::sin(q), c = std::cos(q);
            for (int i = 0; i < 9; i += 3) {
                const double u = pose.r[i], v = pose.r[i + 1];
                pose.r[i] = u * c + v * s;
                pose.r[i + 1] = v * c - u * s;
            }
        } else {
            for (int i = 0; i < 3; i++) pose.t[i] += q * pose.r[3 * i + 2];
        }
    }
    out.end_a = n_a > 0 ? out.joints[n_a - 1] : Pose{};
    out.end_b = n > n_a ? out.joints[n - 1] : Pose{};
}

std::vector<int> Chain::path() const {
    std::vector<int> out(joints_.size());
    for (int k = 0; k < static_cast<int>(out.size()); k++) out[static_cast<std::size_t>(k)] = k < n_a_ ? n_a_ - 1 - k : k;
    return out;
}

std::vector<int> Chain::moving_a(int side) const {
    const std::vector<int> all = path();
    return {all.begin(), all.begin() + side};
}

std::vector<int> Chain::moving_b(int side) const {
    const std::vector<int> all = path();
    return {all.rbegin(), all.rend() - side};
}

int Chain::best_side(std::span<const double> lower, std::span<const double> upper, Vec3 point_a, Vec3 point_b) const {
    constexpr int LOOKS = 8;  // configurations, along a diagonal of the limits
    const std::vector<int> all = path();
    const std::size_t m = all.size();
    std::vector<double> values(lower.size()), spans(lower.size()), cost(m + 1, 0.0);
    ChainPoses poses;
    for (int look = 0; look < LOOKS; look++) {
        const double fraction = 0.05 + 0.9 * look / (LOOKS - 1);
        for (std::size_t v = 0; v < lower.size(); v++) {
            spans[v] = std::isfinite(upper[v] - lower[v]) ? upper[v] - lower[v] : 1.0;
            values[v] = (std::isfinite(lower[v]) ? lower[v] : -0.5) + fraction * spans[v];
        }
        place(values, poses);
        const Vec3 at_a = poses.end_a.apply(point_a), at_b = poses.end_b.apply(point_b);
        for (std::size_t k = 0; k < m; k++) {
            const std::size_t j = static_cast<std::size_t>(all[k]);
            const ChainJoint &joint = joints_[j];
            const double travel = joint.slope * spans[static_cast<std::size_t>(joint.variable)];
            const double way_a = (joint.turns ? axis_distance(poses.joints[j], at_a) : 1.0) * travel;
            const double way_b = (joint.turns ? axis_distance(poses.joints[j], at_b) : 1.0) * travel;
            for (std::size_t side = 0; side <= m; side++) cost[side] += k < side ? way_a : way_b;
        }
    }
    return static_cast<int>(std::min_element(cost.begin(), cost.end()) - cost.begin());
}

}  // namespace elbowroom
