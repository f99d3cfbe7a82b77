#include "elbowroom/stomp.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

namespace elbowroom {
namespace {

// xoshiro256** (Blackman and Vigna 2018): the same numbers on every machine.
std::uint64_t next_bits(std::uint64_t (&s)[4]) {
    const std::uint64_t out = std::rotl(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0], s[3] ^= s[1], s[1] ^= s[2], s[0] ^= s[3];
    s[2] ^= t, s[3] = std::rotl(s[3], 45);
    return out;
}
double uniform(std::uint64_t (&s)[4]) { return static_cast<double>(next_bits(s) >> 11) * 0x1p-53; }

// Layers of equal area under exp(-x^2 / 2) (Marsaglia and Tsang 2000): x at their right ends, from the widest up, and the height there.
struct Ziggurat {
    static constexpr int LAYERS = 256;
    static constexpr double TAIL = 3.6541528853610088, AREA = 0.00492867323399;
    std::array<double, LAYERS + 1> x, height;

    Ziggurat() {
        const auto density = [](double at) { return std::exp(-0.5 * at * at); };
        x[0] = AREA / density(TAIL), x[1] = TAIL;
        for (std::size_t k = 2; k < LAYERS; k++) x[k] = std::sqrt(-2.0 * std::log(AREA / x[k - 1] + density(x[k - 1])));
        x[LAYERS] = 0.0;
        for (std::size_t k = 0; k <= LAYERS; k++) height[k] = density(x[k]);
    }
};

double sum(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

}  // namespace

Descent::Descent(DescentJoints joints, const DescentSettings &settings, std::size_t dof, std::span<const double> path, std::uint64_t seed)
    : joints_(std::move(joints)), settings_(settings), dof_(dof), steps_(path.size() / dof), path_(path.begin(), path.end()),
      cost_at_(steps_, 0.0), candidate_(path_) {
    for (std::uint64_t &word : state_) {  // splitmix64: no state of zeros
        seed += 0x9e3779b97f4a7c15u;
        std::uint64_t z = seed;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u, z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        word = z ^ (z >> 31);
    }
    // R has 6, -4 and 1 on its diagonals: squared second differences of all steps, those beyond both ends at rest included.
    const std::size_t n = steps_ - 2;
    inverse_.resize(n), one_.assign(n + 2, 0.0), two_.assign(n + 2, 0.0);
    for (std::size_t i = 0; i < n; i++) {
        if (i >= 2) two_[i] = inverse_[i - 2];
        if (i >= 1) one_[i] = (-4.0 - two_[i] * one_[i - 1]) * inverse_[i - 1];
        inverse_[i] = 1.0 / std::sqrt(6.0 - one_[i] * one_[i] - two_[i] * two_[i]);
    }
    largest_ = 0.0;
    std::vector<double> column(n);
    for (std::size_t i = 0; i < n; i++) {
        std::fill(column.begin(), column.end(), 0.0);
        column[i] = 1.0;
        solve(column.data(), 1);
        column_most_.push_back(*std::max_element(column.begin(), column.end()));
        largest_ = std::max(largest_, column[i]);
    }
}

void Descent::restart(std::span<const double> path, std::span<const double> cost) {
    std::copy(path.begin(), path.end(), path_.begin());
    std::copy(cost.begin(), cost.end(), cost_at_.begin());
    cost_ = least_ = sum(cost_at_);
    kept_.clear();
}

double Descent::normal() {
    static const Ziggurat layers;
    while (true) {
        const std::uint64_t word = next_bits(state_);
        const std::size_t k = word % Ziggurat::LAYERS;
        const double u = 2.0 * (static_cast<double>(word >> 11) * 0x1p-53) - 1.0, x = u * layers.x[k];
        if (std::fabs(x) < layers.x[k + 1]) return x;
        if (k == 0) {  // beyond the last layer: Marsaglia's tail
            double far, high;
            do {
                far = -std::log(1.0 - uniform(state_)) / Ziggurat::TAIL, high = -std::log(1.0 - uniform(state_));
            } while (2.0 * high < far * far);
            return std::copysign(Ziggurat::TAIL + far, u);
        }
        const double low = layers.height[k], top = layers.height[k + 1];
        if (low + uniform(state_) * (top - low) < std::exp(-0.5 * x * x)) return x;
    }
}

void Descent::solve_back(double *values, std::size_t stride) const {
    const std::size_t n = inverse_.size();
    double next = 0.0, after = 0.0;
    for (std::size_t i = n; i-- > 0;) {
        double &value = values[i * stride];
        value = (value - one_[i + 1] * next - two_[i + 2] * after) * inverse_[i];
        after = next, next = value;
    }
}

void Descent::solve(double *values, std::size_t stride) const {
    double before = 0.0, earlier = 0.0;
    for (std::size_t i = 0; i < inverse_.size(); i++) {
        double &value = values[i * stride];
        value = (value - one_[i] * before - two_[i] * earlier) * inverse_[i];
        earlier = before, before = value;
    }
    solve_back(values, stride);
}

void Descent::shake(std::span<double> rollouts) {
    const std::size_t n = steps_ - 2, m = joints_.moving.size();
    const double scale = noise_ / std::sqrt(largest_);
    std::vector<double> noise(n * m);
    for (std::size_t k = 0; k < this->rollouts(); k++) {
        for (double &value : noise) value = normal();
        // With L L' = R, solving L' x = normal numbers gives the covariance R^-1.
        for (std::size_t i = n; i-- > 0;) {
            double *row = &noise[i * m];
            const double *next = i + 1 < n ? row + m : row, *after = i + 2 < n ? row + 2 * m : row;
            for (std::size_t j = 0; j < m; j++) row[j] = (row[j] - one_[i + 1] * next[j] - two_[i + 2] * after[j]) * inverse_[i];
        }
        double *out = &rollouts[k * steps_ * dof_];
        std::copy(path_.begin(), path_.end(), out);
        for (std::size_t i = 0; i < n; i++)
            for (std::size_t j = 0; j < m; j++) {
                double &value = out[(i + 1) * dof_ + static_cast<std::size_t>(joints_.moving[j])];
                value = std::clamp(value + scale * joints_.sigma[j] * noise[i * m + j], joints_.lower[j], joints_.upper[j]);
            }
    }
}

// Per timestep, how far the mean of the rollouts, weighted by exponentiated cost, is from the trajectory. The cost of a timestep is scaled to
// 0 for the best rollout and 1 for the worst; a rollout weighs exp(-sensitivity * scaled cost). Where all cost the same, nothing moves.
void Descent::weigh(std::span<const RowView> rows, std::span<double> delta) const {
    const std::size_t m = joints_.moving.size();
    const int window = settings_.window, last = static_cast<int>(steps_) - 1;
    std::vector<double> seen(rows.size());
    std::fill(delta.begin(), delta.end(), 0.0);
    for (int t = 1; t < last; t++) {
        double least = HUGE_VAL, most = -HUGE_VAL;
        for (std::size_t r = 0; r < rows.size(); r++) {
            double total = 0.0;  // costs a few timesteps away count less
            for (int u = std::max(t - window, 0); u <= std::min(t + window, last); u++)
                total += rows[r].cost[u] * (1.0 - std::abs(u - t) / (window + 1.0));
            seen[r] = total;
            least = std::min(least, total), most = std::max(most, total);
        }
        if (!(most - least > 1e-12 * std::max(std::fabs(most), 1e-300))) continue;
        double weights = 0.0, *out = &delta[static_cast<std::size_t>(t - 1) * m];
        const std::size_t at = static_cast<std::size_t>(t) * dof_;
        for (std::size_t r = 0; r < rows.size(); r++) {
            const double weight = std::exp(-settings_.sensitivity / (most - least) * (seen[r] - least));
            weights += weight;
            for (std::size_t j = 0; j < m; j++) {
                const std::size_t d = at + static_cast<std::size_t>(joints_.moving[j]);
                out[j] += weight * (rows[r].path[d] - path_[d]);
            }
        }
        for (std::size_t j = 0; j < m; j++) out[j] /= weights;
    }
}

// Moves a trajectory back within limits by smooth bends, the worst timestep first: a bend that takes one timestep to its limit takes its
// neighbours along. What is left after as many bends as there are timesteps is clipped.
void Descent::keep_within(std::span<double> path) const {
    const std::size_t n = steps_ - 2;
    std::vector<double> bend(n);
    for (std::size_t j = 0; j < joints_.moving.size(); j++) {
        const auto value = [&](std::size_t i) -> double & { return path[(i + 1) * dof_ + static_cast<std::size_t>(joints_.moving[j])]; };
        const auto inside = [&](double x) { return std::clamp(x, joints_.lower[j], joints_.upper[j]); };
        for (std::size_t turn = 0; turn < steps_; turn++) {
            double worst = 0.0;
            std::size_t at = n;
            for (std::size_t i = 0; i < n; i++) {
                const double beyond = std::fabs(value(i) - inside(value(i)));
                if (beyond > worst) worst = beyond, at = i;
            }
            if (at == n) break;
            std::fill(bend.begin(), bend.end(), 0.0);
            bend[at] = 1.0;
            solve(bend.data(), 1);
            const double back = inside(value(at)) - value(at), scale = back / bend[at];
            for (std::size_t i = 0; i < n; i++) value(i) += scale * bend[i];
            value(at) = inside(value(at));
        }
        for (std::size_t i = 0; i < n; i++) value(i) = inside(value(i));
    }
}

void Descent::update(std::span<const double> rollouts, std::span<const double> costs, std::span<double> out) {
    const std::size_t n = steps_ - 2, m = joints_.moving.size(), size = steps_ * dof_;
    std::vector<RowView> rows;
    for (std::size_t k = 0; k < this->rollouts(); k++)
        rows.push_back({&rollouts[k * size], &costs[k * steps_], sum(costs.subspan(k * steps_, steps_))});
    rows.push_back({path_.data(), cost_at_.data(), cost_});
    for (const Row &row : kept_) rows.push_back({row.path.data(), row.cost.data(), row.total});
    std::vector<double> delta(n * m);
    weigh(rows, delta);
    if (settings_.smooth_update) {
        // R^-1 with every column scaled to the largest entry 1 / n.
        for (std::size_t i = 0; i < n; i++)
            for (std::size_t j = 0; j < m; j++) delta[i * m + j] /= column_most_[i] * static_cast<double>(n);
        for (std::size_t j = 0; j < m; j++) solve(&delta[j], m);
    }
    candidate_ = path_;
    for (std::size_t i = 0; i < n; i++)
        for (std::size_t j = 0; j < m; j++) candidate_[(i + 1) * dof_ + static_cast<std::size_t>(joints_.moving[j])] += delta[i * m + j];
    keep_within(candidate_);
    std::copy(candidate_.begin(), candidate_.end(), out.begin());
    std::stable_sort(rows.begin(), rows.end(), [](const RowView &a, const RowView &b) { return a.total < b.total; });
    const auto copied = [&](const RowView &row) { return Row{{row.path, row.path + size}, {row.cost, row.cost + steps_}, row.total}; };
    std::vector<Row> kept;
    for (std::size_t r = 0; r < std::min<std::size_t>(rows.size(), static_cast<std::size_t>(settings_.reuse)); r++) kept.push_back(copied(rows[r]));
    best_ = copied(rows[0]);
    kept_ = std::move(kept);
}

void Descent::settle(std::span<const double> cost) {
    const double total = sum(cost);
    if (best_.total < total) {
        path_ = best_.path, cost_at_ = best_.cost, cost_ = best_.total;
    } else {
        path_ = candidate_, cost_at_.assign(cost.begin(), cost.end()), cost_ = total;
    }
    if (cost_ < least_) {
        least_ = cost_, idle = 0;
    } else {  // less noise after an iteration that did not help
        idle++;
        noise_ = std::max(noise_ * settings_.sigma_decay, settings_.sigma_floor);
    }
}

}  // namespace elbowroom
