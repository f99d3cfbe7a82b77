#include "elbowroom/aim.hpp"

#include <algorithm>
#include <cmath>

namespace elbowroom {
namespace {

// Share of the acceleration limits that braking towards a target uses; at one half the gain of a small error and the constant
// deceleration of a large one meet without a kink.
constexpr double BRAKE = 0.5;
constexpr double POSTURE_SPEED = 0.2;  // share of the velocity limits that the pull to the rest configuration may ask for
constexpr double PER_TICK = 0.5;       // share of an error that one tick may remove at most; more would overshoot when ticks are late
// What it costs to change a joint's velocity by 1 while something is in the way, as the square of a weighted hand speed: more lets
// hands lag, less lets joints shake at their acceleration limits.
constexpr double STEADY = 0.02;
constexpr double LAPSE = 2.5;          // a target that has not moved for so many of its own intervals stands still

}  // namespace

Aim::Aim(Targets targets, AimOptions options) : targets_(std::move(targets)), options_(options) {
    for (const Targets::Target &target : targets_.targets()) {
        const bool linear = target.kind == TargetKind::pose || target.kind == TargetKind::position;
        const std::size_t rows = residual_rows(target.kind), n_linear = linear ? 3 : 0;
        spans_.push_back({target.row, n_linear, rows - n_linear});
    }
    const std::size_t rows = targets_.rows(), dof = static_cast<std::size_t>(targets_.robot().dof());
    residual_.resize(rows), before_.resize(rows), jacobian_.resize(rows * dof), feed_.assign(rows, 0.0), wanted_.resize(rows);
    off_.resize(spans_.size()), turn_.resize(spans_.size()), bounds_.resize(2 * spans_.size());
    H_.resize(dof * dof), f_.resize(dof);
}

void Aim::forget() {
    values_.clear();
    std::fill(feed_.begin(), feed_.end(), 0.0);
}

void Aim::follow(std::span<const double> values, std::span<const double> cfg, double dt) {
    unchanged_ += dt;
    if (values_.empty() || options_.feedforward == 0.0) {
        unchanged_ = interval_ = 0.0;
    } else if (!std::equal(values.begin(), values.end(), values_.begin())) {
        targets_.linearise(values_, cfg, {before_, {}, off_, turn_});
        const double blend = unchanged_ / (unchanged_ + options_.smoothing);
        for (std::size_t t = 0; t < spans_.size(); t++)
            for (int part = 0; part < 2; part++) {
                const std::size_t begin = spans_[t].first + (part ? spans_[t].linear : 0);
                const std::size_t end = begin + (part ? spans_[t].angular : spans_[t].linear);
                double total = 0.0;
                for (std::size_t k = begin; k < end; k++) total += (residual_[k] - before_[k]) * (residual_[k] - before_[k]);
                const double most = bounds_[2 * t + static_cast<std::size_t>(part)] * unchanged_;
                const bool jump = total > most * most;  // rates above the bounds are jumps, not motions
                for (std::size_t k = begin; k < end; k++) {
                    const double rate = options_.feedforward * (residual_[k] - before_[k]) / unchanged_;
                    feed_[k] = jump ? 0.0 : feed_[k] + blend * (rate - feed_[k]);
                }
            }
        interval_ = unchanged_, unchanged_ = 0.0;
    } else if (unchanged_ > LAPSE * interval_) {
        std::fill(feed_.begin(), feed_.end(), 0.0);
    }
    values_.assign(values.begin(), values.end());
}

double Aim::brakeable(std::size_t first, std::size_t rows, const JointLimits &limits, double gain) const {
    // The joint displacement that removes the error alone, damped, to first order: J'(JJ' + damping)^-1 r.
    const std::size_t dof = f_.size();
    const double *J = jacobian_.data() + first * dof, *r = residual_.data() + first;
    double M[6][6] = {}, y[6] = {};
    for (std::size_t a = 0; a < rows; a++) {
        double total = r[a];
        for (std::size_t b = 0; b <= a; b++) {
            double value = a == b ? options_.damping * options_.damping : 0.0;
            for (std::size_t i = 0; i < dof; i++) value += J[a * dof + i] * J[b * dof + i];
            for (std::size_t c = 0; c < b; c++) value -= M[a][c] * M[b][c];
            M[a][b] = a == b ? std::sqrt(std::max(value, 1e-18)) : value / M[b][b];
            if (b < a) total -= M[a][b] * y[b];
        }
        y[a] = total / M[a][a];
    }
    for (std::size_t a = rows; a-- > 0;) {
        for (std::size_t b = a + 1; b < rows; b++) y[a] -= M[b][a] * y[b];
        y[a] /= M[a][a];
    }
    for (std::size_t i = 0; i < dof; i++) {
        double way = 0.0;
        for (std::size_t a = 0; a < rows; a++) way += J[a * dof + i] * y[a];
        way = std::fabs(way);
        if (way > 0.0 && limits.speed[i] > 0.0)
            gain = std::min({gain, limits.speed[i] / way, std::sqrt(2.0 * BRAKE * limits.acceleration[i] / way)});
    }
    return gain;
}

Objective Aim::at(std::span<const double> values, std::span<const double> shares, std::span<const double> cfg, std::span<const double> rest,
                  const JointLimits &limits, double dt) {
    const std::size_t dof = f_.size();
    targets_.linearise(values, cfg, {residual_, jacobian_, off_, turn_});
    for (std::size_t t = 0; t < spans_.size(); t++) {
        const double *own = values.data() + t * TARGET_VALUES;
        const TargetKind kind = targets_.targets()[t].kind;
        const double linear = kind == TargetKind::pose ? own[7] : kind == TargetKind::position ? own[6] : 0.0;
        const double angular = kind == TargetKind::pose ? own[8] : kind == TargetKind::joint ? own[1] : kind == TargetKind::position ? 0.0 : own[6];
        bounds_[2 * t] = shares[t] * linear * options_.linear, bounds_[2 * t + 1] = shares[t] * angular * options_.angular;
    }
    follow(values, cfg, dt);
    const double small = options_.damping * options_.damping, gain = std::min(options_.gain, PER_TICK / dt);
    std::fill(H_.begin(), H_.end(), 0.0);
    for (std::size_t i = 0; i < dof; i++) {
        const double most = POSTURE_SPEED * limits.speed[i];
        H_[i * dof + i] = small;
        f_[i] = -small * std::clamp(options_.posture * (rest[i] - cfg[i]), -most, most);
    }
    for (std::size_t t = 0; t < spans_.size(); t++) {
        const Span &span = spans_[t];
        const double s = brakeable(span.first, span.linear + span.angular, limits, gain);
        for (int part = 0; part < 2; part++) {
            const std::size_t begin = span.first + (part ? span.linear : 0), end = begin + (part ? span.angular : span.linear);
            double speed = 0.0;
            for (std::size_t k = begin; k < end; k++) wanted_[k] = -s * residual_[k] - feed_[k], speed += wanted_[k] * wanted_[k];
            speed = std::sqrt(speed);
            const double bound = bounds_[2 * t + static_cast<std::size_t>(part)];
            for (std::size_t k = begin; k < end && speed > bound; k++) wanted_[k] *= bound / speed;
        }
        for (std::size_t k = span.first; k < span.first + span.linear + span.angular; k++)
            for (std::size_t i = 0; i < dof; i++) {
                const double at = jacobian_[k * dof + i];
                if (at == 0.0) continue;
                f_[i] -= at * wanted_[k];
                for (std::size_t j = 0; j <= i; j++) H_[i * dof + j] += at * jacobian_[k * dof + j];
            }
    }
    for (std::size_t i = 0; i < dof; i++)
        for (std::size_t j = 0; j < i; j++) H_[j * dof + i] = H_[i * dof + j];
    return {H_, f_};
}

void Aim::steady(std::span<const double> velocity, double weight) {
    const std::size_t dof = f_.size();
    for (std::size_t i = 0; i < dof; i++) H_[i * dof + i] += weight, f_[i] -= weight * velocity[i];
}

Step Follower::tick(StepLoop &loop, std::span<const double> values, std::span<const double> shares, std::span<const double> rest, double dt,
                    double budget) {
    const ProofRequest::Clock::time_point begun = ProofRequest::Clock::now();
    Objective objective = aim_.at(values, shares, loop.cfg, rest, safe_->limits(), dt);
    // While something is in the way, contact comes and goes from tick to tick, and the best velocity with it.
    if (loop.met) aim_.steady(loop.velocity, STEADY);
    const double spent = std::chrono::duration<double>(ProofRequest::Clock::now() - begun).count();
    Step out = safe_->step({loop.cfg, loop.velocity, loop.stop, dt, std::max(budget - spent, 0.0), loop.drift}, objective, loop.memory);
    loop.follow(out);
    return out;
}

}  // namespace elbowroom
