#include "elbowroom/keeps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace elbowroom {
namespace {

constexpr int STEPS = 30;          // of a projection
constexpr double INSIDE = 0.5;     // share of the tolerance that a projection aims at: room for the lines that follow
constexpr double FINEST = 1e-6;    // part of a line below which it is not halved
constexpr double ROUNDING = 1e-12;

Vec3 nearest_on(const std::vector<Vec3> &line, Vec3 p) {
    Vec3 best = line[0];
    for (std::size_t k = 0; k + 1 < line.size(); k++) {
        const Vec3 along = line[k + 1] - line[k];
        const double square = squared(along), share = square > 0.0 ? std::clamp(dot(p - line[k], along) / square, 0.0, 1.0) : 0.0;
        const Vec3 at = line[k] + share * along;
        if (squared(p - at) < squared(p - best)) best = at;
    }
    return best;
}

}  // namespace

Keeps::Keeps(const Robot &robot, std::vector<Keep> all) : robot_(robot), all_(std::move(all)) {
    for (const Keep &keep : all_) {
        const LinkPlace &place = robot.link_places()[static_cast<std::size_t>(keep.link)];
        double reach = norm(place.in_body.translation()) + (keep.kind == Keep::Kind::upright ? 0.0 : norm(keep.own));
        std::vector<Mover> movers;
        for (int b = place.body; b > 0; b = robot.bodies()[static_cast<std::size_t>(b)].parent) {
            const Body &body = robot.bodies()[static_cast<std::size_t>(b)];
            movers.push_back({body.joint, body.kind == JointKind::revolute, reach});
            reach += norm(body.in_parent.translation());
        }
        movers_.push_back(std::move(movers));
    }
}

Keeps::Seen Keeps::look(const Keep &keep, const double *cfg) const {
    thread_local std::vector<double> poses;
    poses.resize(7 * robot_.n_links());
    robot_.link_poses({cfg, static_cast<std::size_t>(robot_.dof())}, poses);
    const double *at = &poses[7 * static_cast<std::size_t>(keep.link)];
    const Pose pose = pose_of({at[0], at[1], at[2], at[3]}, {at[4], at[5], at[6]});
    const Vec3 own = pose.rotate(keep.own);
    if (keep.kind == Keep::Kind::upright) {
        const Vec3 across = cross(own, keep.world);
        const double size = norm(across);
        const Vec3 about = size > 1e-12 ? (1.0 / size) * across : Vec3{};
        return {std::atan2(size, dot(own, keep.world)), -1.0 * about, {}};
    }
    const Vec3 p = own + pose.translation();
    Vec3 away;
    double value;
    if (keep.kind == Keep::Kind::plane) {
        const double height = dot(keep.world, p) - keep.offset;
        value = std::fabs(height), away = (height < 0.0 ? -1.0 : 1.0) * keep.world;
    } else {
        const Vec3 off = p - nearest_on(keep.line, p);
        value = norm(off), away = value > 1e-12 ? (1.0 / value) * off : Vec3{};
    }
    return {value, cross(own, away), away};
}

double Keeps::excess(const double *cfg) const {
    double worst = -1.0;
    for (const Keep &keep : all_) worst = std::max(worst, (look(keep, cfg).value - keep.tolerance) / std::max(keep.tolerance, 1e-9));
    return worst;
}

double Keeps::change(std::size_t k, std::span<const double> width, std::span<const double> size) const {
    const bool angle = all_[k].kind == Keep::Kind::upright;
    double total = 0.0, slides = 0.0;
    for (const Mover &mover : movers_[k]) {  // outwards to the root: slides lengthen the arm of the joints before them
        const std::size_t j = static_cast<std::size_t>(mover.joint);
        if (mover.turns)
            total += width[j] * (angle ? 1.0 : mover.reach + slides);
        else
            total += angle ? 0.0 : width[j], slides += size[j];
    }
    return total * (1.0 + 1e-9) + ROUNDING;
}

bool Keeps::on_line(const double *a, const double *b, double share) const {
    const std::size_t dof = static_cast<std::size_t>(robot_.dof()), joints = robot_.laws().size();
    std::vector<double> whole(joints), width(joints), size(joints), cfg(dof);
    for (const int joint : robot_.order()) {  // over the whole line; bounds of coupled joints by their slopes
        const std::size_t k = static_cast<std::size_t>(joint);
        const JointLaw &law = robot_.laws()[k];
        const std::size_t d = static_cast<std::size_t>(law.driver);
        if (!law.coupled) {
            whole[k] = std::fabs(b[d] - a[d]), size[k] = std::max(std::fabs(a[d]), std::fabs(b[d]));
            continue;
        }
        double slope = 0.0, total = 0.0;
        for (int c = JointLaw::TERMS; c-- > 1;) {
            slope = slope * size[d] + c * std::fabs(law.coefficients[c]);
            total = (total + std::fabs(law.coefficients[c])) * size[d];
        }
        whole[k] = slope * whole[d], size[k] = total + std::fabs(law.coefficients[0]);
    }
    struct Part {
        double t, half;
    };
    std::vector<Part> waiting{{0.5, 0.5}};
    while (!waiting.empty()) {
        const Part part = waiting.back();
        waiting.pop_back();
        for (std::size_t d = 0; d < dof; d++) cfg[d] = a[d] + part.t * (b[d] - a[d]);
        for (std::size_t k = 0; k < joints; k++) width[k] = part.half * whole[k];
        bool shown = true;
        for (std::size_t k = 0; k < all_.size(); k++) {
            const double value = look(all_[k], cfg.data()).value, most = share * all_[k].tolerance;
            if (value > most) return false;
            shown &= value + change(k, width, size) <= most;
        }
        if (shown) continue;
        if (part.half < FINEST) return false;
        for (const double side : {-0.5, 0.5}) waiting.push_back({part.t + side * part.half, 0.5 * part.half});
    }
    return true;
}

bool Keeps::project(double *cfg, std::span<const int> moving, std::span<const double> low, std::span<const double> high, double share) const {
    const std::size_t dof = static_cast<std::size_t>(robot_.dof());
    std::vector<double> jacobian(6 * dof), slope(moving.size());
    for (int step = 0; step < STEPS; step++) {
        bool kept = true;
        for (const Keep &keep : all_) {
            const Seen seen = look(keep, cfg);
            if (seen.value <= share * keep.tolerance) continue;
            kept = false;
            robot_.jacobians({cfg, dof}, static_cast<std::size_t>(keep.link), jacobian);
            double square = 0.0;
            for (std::size_t j = 0; j < moving.size(); j++) {
                const std::size_t d = static_cast<std::size_t>(moving[j]);
                slope[j] = 0.0;
                for (std::size_t c = 0; c < 3; c++)
                    slope[j] += seen.move[static_cast<int>(c)] * jacobian[c * dof + d] + seen.turn[static_cast<int>(c)] * jacobian[(3 + c) * dof + d];
                square += slope[j] * slope[j];
            }
            if (!(square > 1e-12)) return false;
            const double way = (seen.value - INSIDE * share * keep.tolerance) / square;
            for (std::size_t j = 0; j < moving.size(); j++) {
                double &value = cfg[moving[j]];
                value = std::clamp(value - way * slope[j], std::min(low[j], value), std::max(high[j], value));
            }
        }
        if (kept) return true;
    }
    return false;
}

}  // namespace elbowroom
