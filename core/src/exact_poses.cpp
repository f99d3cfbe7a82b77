#include "elbowroom/exact_poses.hpp"

#include <algorithm>

namespace elbowroom {

LinkPath::LinkPath(const Robot &robot, int link_a, int link_b) : link_a_(link_a), link_b_(link_b) {
    const auto body_of = [&](int link) { return robot.link_places()[static_cast<std::size_t>(link)].body; };
    const auto above = [&](int body) { return robot.bodies()[static_cast<std::size_t>(body)].parent; };
    int a = body_of(link_a), b = body_of(link_b);
    while (a != b) {  // parents come before their children
        if (a > b)
            a_.push_back(a), a = above(a);
        else
            b_.push_back(b), b = above(b);
    }
    std::reverse(a_.begin(), a_.end());
    std::reverse(b_.begin(), b_.end());
}

void ExactPoses::forget() {
    const std::size_t count = robot_->laws().size() * static_cast<std::size_t>(lanes_), room = (count + 3) / 4 * 4;
    sines_.resize(room), cosines_.resize(room);
    turned_.assign(room / 4, 0);
    bodies_.resize(robot_->bodies().size() * static_cast<std::size_t>(lanes_));
    posed_.assign(bodies_.size(), 0);
    ready_ = true;
}

void ExactPoses::turn(std::size_t first) {
    turned_[first / 4] = 1;
    F64x4 sine, cosine;
    sincos(load4(values_ + first), sine, cosine);
    store(&sines_[first], sine), store(&cosines_[first], cosine);
}

void ExactPoses::place_four(int lane) {
    struct Pose4 {
        F64x4 r[9], t[3];
    };
    if (!ready_) forget();
    const std::span<const Body> bodies = robot_->bodies();
    const int first = lane / 4 * 4;
    thread_local std::vector<Pose4> memory;
    memory.resize(bodies.size());
    for (std::size_t b = 0; b < bodies.size(); b++) {
        Pose4 &out = memory[b];
        const Body &own = bodies[b];
        if (b == 0) {
            for (int k = 0; k < 9; k++) out.r[k] = splat4(k % 4 == 0 ? 1.0 : 0.0);
            for (int k = 0; k < 3; k++) out.t[k] = F64x4{};
        } else {
            const Pose4 &up = memory[static_cast<std::size_t>(own.parent)];
            const Pose &in = own.in_parent;
            const std::size_t k = at(own.joint, first);
            const bool turns = own.kind != JointKind::prismatic;
            if (turns && !turned_[k / 4]) turn(k);
            const F64x4 s = turns ? load4(&sines_[k]) : F64x4{}, c = turns ? load4(&cosines_[k]) : splat4(1.0);
            for (int i = 0; i < 3; i++) {
                const F64x4 u = up.r[3 * i], v = up.r[3 * i + 1], w = up.r[3 * i + 2];
                const F64x4 x = u * in.r[0] + v * in.r[3] + w * in.r[6], y = u * in.r[1] + v * in.r[4] + w * in.r[7];
                const F64x4 z = u * in.r[2] + v * in.r[5] + w * in.r[8];
                out.t[i] = u * in.t[0] + v * in.t[1] + w * in.t[2] + up.t[i];
                if (!turns) out.t[i] += load4(values_ + k) * z;
                out.r[3 * i] = x * c + y * s, out.r[3 * i + 1] = y * c - x * s, out.r[3 * i + 2] = z;
            }
        }
        F64x4 rows[12];
        std::copy_n(out.r, 9, rows), std::copy_n(out.t, 3, rows + 9);
        for (int k = 0; k < 12; k += 4) transpose(rows[k], rows[k + 1], rows[k + 2], rows[k + 3]);
        for (int l = 0; l < 4; l++) {
            const std::size_t place = static_cast<std::size_t>(first + l) * bodies.size() + b;
            Pose &pose = bodies_[place];
            store(pose.r, rows[l]), store(pose.r + 4, rows[4 + l]);
            pose.r[8] = rows[8 + l][0];
            for (int k = 0; k < 3; k++) pose.t[k] = rows[8 + l][k + 1];
            posed_[place] = 1;
        }
    }
}

void ExactPoses::move(const Body &body, int lane, Pose &pose) {
    const std::size_t k = at(body.joint, lane);
    if (body.kind == JointKind::prismatic) {
        for (int i = 0; i < 3; i++) pose.t[i] += values_[k] * pose.r[3 * i + 2];
        return;
    }
    if (!turned_[k / 4]) turn(k / 4 * 4);
    const double s = sines_[k], c = cosines_[k];
    for (int i = 0; i < 9; i += 3) {
        const double u = pose.r[i], v = pose.r[i + 1];
        pose.r[i] = u * c + v * s;
        pose.r[i + 1] = v * c - u * s;
    }
}

const Pose &ExactPoses::body(int body, int lane) {
    const std::size_t bodies = robot_->bodies().size(), row = static_cast<std::size_t>(lane) * bodies;
    Pose &out = bodies_[row + static_cast<std::size_t>(body)];
    if (posed_[row + static_cast<std::size_t>(body)]) return out;
    posed_[row + static_cast<std::size_t>(body)] = 1;
    if (body == 0) return out = Pose{};
    const Body &own = robot_->bodies()[static_cast<std::size_t>(body)];
    const Pose &up = this->body(own.parent, lane);
    out = own.parent == 0 ? own.in_parent : up * own.in_parent;
    move(own, lane, out);
    return out;
}

Pose ExactPoses::down(std::span<const int> bodies, int link, int lane) {
    const Pose &in_body = robot_->link_places()[static_cast<std::size_t>(link)].in_body;
    Pose pose;
    bool first = true;
    for (int body : bodies) {
        const Body &own = robot_->bodies()[static_cast<std::size_t>(body)];
        pose = first ? own.in_parent : pose * own.in_parent;
        first = false;
        move(own, lane, pose);
    }
    return first ? in_body : pose * in_body;
}

Pose ExactPoses::across(const LinkPath &path, int lane) {
    if (!ready_) forget();
    if (path.is_short()) return relative(down(path.to_a(), path.link_a(), lane), down(path.to_b(), path.link_b(), lane));
    return relative(link(path.link_a(), lane), link(path.link_b(), lane));
}

}  // namespace elbowroom
