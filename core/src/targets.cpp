#include "elbowroom/targets.hpp"

#include <algorithm>
#include <iterator>

#include "elbowroom/link_spheres.hpp"
#include "target_lanes.hpp"

namespace elbowroom {
namespace {

std::size_t at(int k) { return static_cast<std::size_t>(k); }

// The actuated joint that a moving joint follows in the end.
int driver_of(const Robot &robot, int joint) {
    while (robot.laws()[at(joint)].coupled) joint = robot.laws()[at(joint)].driver;
    return robot.laws()[at(joint)].driver;
}

std::vector<int> links_of(std::span<const Targets::Asked> asked) {
    std::vector<int> out;
    for (const Targets::Asked &one : asked)
        if (one.kind != TargetKind::joint) out.push_back(one.place);
    return out;
}

}  // namespace

Targets::Targets(std::shared_ptr<const Robot> robot, std::span<const Asked> asked, std::span<const int> joints)
    : robot_(std::move(robot)), poses_(*robot_, links_of(asked)) {
    const Frame &base = robot_->frames()[0];
    root_ = pose_of(base.still, base.shift);
    for (int k = 0; k < 9; k++) root_is_origin_ &= root_.r[k] == (k % 4 == 0 ? 1.0 : 0.0);
    for (double t : root_.t) root_is_origin_ &= t == 0.0;

    std::vector<bool> used(at(robot_->dof())), solved(used.size()), counts(robot_->laws().size());
    for (int joint : joints) solved[at(joint)] = true;
    for (const Asked &one : asked)
        if (one.kind == TargetKind::joint) used[at(one.place)] = true;
    const std::span<const Body> all = robot_->bodies();
    for (std::size_t b = 0; b < all.size(); b++) {
        if (poses_.place(static_cast<int>(b)) < 0) continue;
        Carrier carrier{static_cast<int>(b), b == 0 ? -1 : poses_.place(all[b].parent), all[b].kind == JointKind::revolute, all[b].joint, -1};
        if (b > 0) {
            used[at(driver_of(*robot_, all[b].joint))] = true;
            for (int joint = all[b].joint; !counts[at(joint)]; joint = robot_->laws()[at(joint)].driver) {
                counts[at(joint)] = true;
                if (!robot_->laws()[at(joint)].coupled) break;
            }
        }
        carriers_.push_back(carrier);
    }
    for (int joint : robot_->order())
        if (counts[at(joint)]) moving_.push_back(joint);
    variable_of_.assign(used.size(), -1);
    for (bool first : {true, false})
        for (std::size_t k = 0; k < used.size(); k++)
            if (used[k] && solved[k] == first) {
                variable_of_[k] = static_cast<int>(variables_.size());
                variables_.push_back(static_cast<int>(k));
                solved_ += first;
            }
    for (Carrier &carrier : carriers_)
        if (carrier.parent >= 0) carrier.variable = variable_of(driver_of(*robot_, carrier.joint));
    for (const Asked &one : asked) {
        Target target{one.kind, one.kind == TargetKind::joint ? -1 : one.place, 0, Pose{}, -1, rows_, {}};
        if (one.kind == TargetKind::joint) {
            target.variable = variable_of(one.place);
            if (at(target.variable) < solved_) target.moved_by.push_back(target.variable);
        } else {
            const LinkPlace &place = robot_->link_places()[at(one.place)];
            target.body = poses_.place(place.body), target.in_body = place.in_body;
            for (int b = target.body; b > 0; b = carriers_[at(b)].parent)
                if (at(carriers_[at(b)].variable) < solved_) target.moved_by.push_back(carriers_[at(b)].variable);
            std::sort(target.moved_by.begin(), target.moved_by.end());
            target.moved_by.erase(std::unique(target.moved_by.begin(), target.moved_by.end()), target.moved_by.end());
        }
        rows_ += residual_rows(one.kind);
        targets_.push_back(std::move(target));
    }
    for (const Target &a : targets_)
        for (const Target &b : targets_) {
            std::vector<int> &both = shared_.emplace_back();
            std::set_intersection(a.moved_by.begin(), a.moved_by.end(), b.moved_by.begin(), b.moved_by.end(), std::back_inserter(both));
        }
}

void Targets::in_root(std::span<const double> values, std::span<double> out) const {
    std::copy(values.begin(), values.end(), out.begin());
    if (root_is_origin_) return;
    const Quaternion base = robot_->frames()[0].still;
    const double length = std::sqrt(base.w * base.w + base.x * base.x + base.y * base.y + base.z * base.z);
    const double w = base.w / length, x = -base.x / length, y = -base.y / length, z = -base.z / length;  // the inverse
    for (std::size_t k = 0; k < targets_.size(); k++) {
        double *v = out.data() + k * TARGET_VALUES;
        const auto turn_at = [&](double *p) {
            const Vec3 turned = root_.unrotate({p[0], p[1], p[2]});
            p[0] = turned.x, p[1] = turned.y, p[2] = turned.z;
        };
        const auto place_at = [&](double *p) {
            for (int i = 0; i < 3; i++) p[i] -= root_.t[i];
            turn_at(p);
        };
        if (targets_[k].kind == TargetKind::pose) {
            const double a = v[0], b = v[1], c = v[2], d = v[3];
            v[0] = w * a - x * b - y * c - z * d;
            v[1] = w * b + x * a + y * d - z * c;
            v[2] = w * c - x * d + y * a + z * b;
            v[3] = w * d + x * c - y * b + z * a;
            place_at(v + 4);
        } else if (targets_[k].kind == TargetKind::axis) {
            turn_at(v);
        } else if (targets_[k].kind != TargetKind::joint) {
            place_at(v);
        }
    }
}

void Targets::linearise(std::span<const double> values, std::span<const double> cfg, const Linearised &out) const {
    struct Memory {
        TargetLanes<double> lanes;
        std::vector<double> values;
    };
    Memory &memory = scratch<Memory>();
    TargetLanes<double> &lanes = memory.lanes;
    lanes.fit(*this);
    memory.values.resize(values.size());
    in_root(values, memory.values);
    lanes.ask(*this, memory.values);
    for (std::size_t k = 0; k < variables_.size(); k++) lanes.q[k] = cfg[at(variables_[k])];
    lanes.residuals(*this);
    std::copy_n(lanes.off.begin(), size(), out.off.begin());
    std::copy_n(lanes.turn.begin(), size(), out.turn.begin());
    const std::size_t dof = cfg.size(), n = solved_;
    // Three numbers of one target, `step` apart, in world axes.
    const auto write = [&](const double *from, std::size_t step, double *to, std::size_t to_step, std::size_t rows) {
        for (std::size_t r = 0; r < rows; r += 3) {
            if (rows == 1) {
                to[0] = from[0];
                break;
            }
            Vec3 part{from[r * step], from[(r + 1) * step], from[(r + 2) * step]};
            if (!root_is_origin_) part = root_.rotate(part);
            to[r * to_step] = part.x, to[(r + 1) * to_step] = part.y, to[(r + 2) * to_step] = part.z;
        }
    };
    for (const Target &target : targets_)
        write(lanes.error.data() + target.row, 1, out.residual.data() + target.row, 1, residual_rows(target.kind));
    if (out.jacobian.empty()) return;
    lanes.jacobians(*this);
    std::fill(out.jacobian.begin(), out.jacobian.end(), 0.0);
    for (const Target &target : targets_)
        for (int var : target.moved_by)
            write(lanes.jacobian.data() + target.row * n + at(var), n,
                  out.jacobian.data() + target.row * dof + at(variables_[at(var)]), dof, residual_rows(target.kind));
}

}  // namespace elbowroom
