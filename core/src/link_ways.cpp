#include "elbowroom/link_ways.hpp"

#include <algorithm>
#include <cmath>

#include "elbowroom/chain.hpp"

namespace elbowroom {
namespace {

constexpr double MOST_VALUE = 1e5;  // joint values, rad or m, beyond which rounding is no longer covered

}  // namespace

int actuated(const Robot &robot, int joint) {
    const JointLaw *law = &robot.laws()[static_cast<std::size_t>(joint)];
    while (law->coupled) law = &robot.laws()[static_cast<std::size_t>(law->driver)];
    return law->driver;
}

void PosedBodies::place(const Robot &robot, std::span<const double> cfg) {
    values.resize(robot.laws().size()), slopes.resize(robot.laws().size()), poses.resize(robot.bodies().size());
    for (int joint : robot.order()) {
        const std::size_t k = static_cast<std::size_t>(joint);
        const JointLaw &law = robot.laws()[k];
        const std::size_t of = static_cast<std::size_t>(law.driver);
        values[k] = law.coupled ? law.value(values[of]) : cfg[of];
        slopes[k] = law.coupled ? law.slope(values[of]) * slopes[of] : 1.0;
    }
    poses[0] = {};
    for (std::size_t b = 1; b < poses.size(); b++) {
        const Body &body = robot.bodies()[b];
        Pose &pose = poses[b] = poses[static_cast<std::size_t>(body.parent)] * body.in_parent;
        const double q = values[static_cast<std::size_t>(body.joint)];
        if (body.kind == JointKind::revolute) {
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
}

void PosedBodies::add_rates(const Robot &robot, int body, int from, Vec3 point, Vec3 direction, double sign, double *row) const {
    for (int b = body; b != from && b > 0; b = robot.bodies()[static_cast<std::size_t>(b)].parent) {
        const Body &own = robot.bodies()[static_cast<std::size_t>(b)];
        const Pose &pose = poses[static_cast<std::size_t>(b)];
        const Vec3 axis = axis_of(pose);
        const double speed = own.kind == JointKind::revolute ? dot(direction, cross(axis, point - pose.translation())) : dot(direction, axis);
        row[actuated(robot, own.joint)] += sign * slopes[static_cast<std::size_t>(own.joint)] * speed;
    }
}

bool joint_widths(const Robot &robot, std::span<const double> cfg, std::span<const double> widths, std::vector<double> &out) {
    thread_local std::vector<double> size;
    out.resize(robot.laws().size()), size.resize(robot.laws().size());
    bool good = true;
    for (int joint : robot.order()) {
        const std::size_t k = static_cast<std::size_t>(joint);
        const JointLaw &law = robot.laws()[k];
        const std::size_t of = static_cast<std::size_t>(law.driver);
        if (law.coupled) {
            double slope = 0.0, total = 0.0;
            for (int c = JointLaw::TERMS; c-- > 1;) {
                slope = slope * size[of] + c * std::fabs(law.coefficients[c]);
                total = (total + std::fabs(law.coefficients[c])) * size[of];
            }
            out[k] = slope * out[of], size[k] = total + std::fabs(law.coefficients[0]);
        } else {
            out[k] = widths[of], size[k] = std::fabs(cfg[of]) + widths[of];
        }
        good = good && size[k] <= MOST_VALUE;
    }
    return good;
}

LinkWays::LinkWays(const LinkSpheres &model) : model_(model), first_(1, 0) {
    const Robot &robot = *model.robot;
    for (std::size_t link = 0; link < model.number.size(); link++) {
        if (model.number[link] < 0) continue;
        for (int b = robot.link_places()[link].body; b > 0; b = robot.bodies()[static_cast<std::size_t>(b)].parent) bodies_.push_back(b);
        first_.push_back(static_cast<int>(bodies_.size()));
    }
}

void LinkWays::axes(const PosedBodies &at, std::vector<double> &far) const {
    far.assign(bodies_.size(), 0.0);
    const Robot &robot = *model_.robot;
    for (std::size_t place = 0; place < model_.links.size(); place++) {
        const std::size_t first = static_cast<std::size_t>(first_[place]), last = static_cast<std::size_t>(first_[place + 1]);
        if (first == last) continue;
        const LinkSpheres::Link &link = model_.links[place];
        const Pose &own = at.poses[static_cast<std::size_t>(bodies_[first])];
        for (int g = link.first_group; g < link.first_group + link.groups; g++) {
            const Ball &ball = model_.exact[static_cast<std::size_t>(g)];
            const Vec3 center = own.apply(ball.center);
            for (std::size_t i = first; i < last; i++) {
                const std::size_t body = static_cast<std::size_t>(bodies_[i]);
                if (robot.bodies()[body].kind == JointKind::revolute)
                    far[i] = std::max(far[i], axis_distance(at.poses[body], center) + ball.radius);
            }
        }
    }
}

void LinkWays::ways(std::span<const double> far, std::span<const double> widths, std::vector<double> &out) const {
    out.resize(bodies_.size());
    const Robot &robot = *model_.robot;
    for (std::size_t place = 0; place + 1 < first_.size(); place++) {
        double total = 0.0;
        for (std::size_t i = static_cast<std::size_t>(first_[place]); i < static_cast<std::size_t>(first_[place + 1]); i++) {
            const Body &body = robot.bodies()[static_cast<std::size_t>(bodies_[i])];
            const double width = widths[static_cast<std::size_t>(body.joint)];  // a chord is no longer than its arc
            total += body.kind == JointKind::revolute ? width * (far[i] + total) : width;
            out[i] = total;
        }
    }
}

}  // namespace elbowroom
