#include "elbowroom/never.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace elbowroom {
namespace {

constexpr double SLACK = 1e-9;  // metres by which a bound must be positive: a thousand roundings of float64 over a few metres
constexpr double INFINITE = std::numeric_limits<double>::infinity();

}  // namespace

int widest_variable(const Chain &chain, std::span<const double> shares) {
    std::vector<double> gain(static_cast<std::size_t>(chain.n_variables()), 0.0);
    for (std::size_t k = 0; k < shares.size(); k++) gain[static_cast<std::size_t>(chain.joints()[k].variable)] += shares[k];
    return gain.empty() ? -1 : static_cast<int>(std::max_element(gain.begin(), gain.end()) - gain.begin());
}

SpherePair::SpherePair(Chain chain, int side, GroupedBalls a, GroupedBalls b)
    : chain_(std::move(chain)), moving_{chain_.moving_a(side), chain_.moving_b(side)}, balls_{std::move(a), std::move(b)} {}

// Where a pair of groups is apart in the whole box its bound stands for its spheres; other groups are looked at in detail.
SpherePair::Bounds SpherePair::bounds_in_box(const ChainPoses &poses, std::span<const double> chords, double pad,
                                             std::array<Placed, 2> &ends) const {
    const auto spot = [&](std::size_t end, const Ball &ball) -> Placed::Spot {
        const Vec3 at = (end == 0 ? poses.end_a : poses.end_b).apply(ball.center);
        return {at, ball.radius, movement(chain_, poses, chords, moving_[end], at, [](std::size_t, double) {})};
    };
    for (std::size_t end = 0; end < 2; end++) {
        Placed &placed = ends[end];
        placed.groups.clear();
        placed.spheres.resize(balls_[end].spheres.size());
        placed.seen.assign(balls_[end].groups.size(), 0);
        for (const GroupedBalls::Group &group : balls_[end].groups) placed.groups.push_back(spot(end, group.ball));
    }
    const auto detail = [&](std::size_t end, std::size_t g) {
        if (ends[end].seen[g]) return;
        ends[end].seen[g] = 1;
        const GroupedBalls::Group &group = balls_[end].groups[g];
        for (std::size_t k = static_cast<std::size_t>(group.first); k < static_cast<std::size_t>(group.first + group.count); k++)
            ends[end].spheres[k] = spot(end, balls_[end].spheres[k]);
    };
    Bounds out{INFINITE, INFINITE, {}, {}};
    for (std::size_t ga = 0; ga < ends[0].groups.size(); ga++) {
        for (std::size_t gb = 0; gb < ends[1].groups.size(); gb++) {
            const Placed::Spot &a = ends[0].groups[ga], &b = ends[1].groups[gb];
            const double apart = norm(a.at - b.at) - a.radius - b.radius - pad, bound = apart - a.move - b.move;
            if (bound > SLACK) {
                if (bound < out.low) out.low = bound, out.worst_a = a.at, out.worst_b = b.at;
                out.center = std::min(out.center, std::max(apart, SLACK));
                continue;
            }
            detail(0, ga), detail(1, gb);
            const GroupedBalls::Group &mine = balls_[0].groups[ga], &yours = balls_[1].groups[gb];
            for (int i = mine.first; i < mine.first + mine.count; i++) {
                const Placed::Spot &p = ends[0].spheres[static_cast<std::size_t>(i)];
                for (int j = yours.first; j < yours.first + yours.count; j++) {
                    const Placed::Spot &q = ends[1].spheres[static_cast<std::size_t>(j)];
                    const double gap = norm(p.at - q.at) - p.radius - q.radius - pad, kept = gap - p.move - q.move;
                    out.center = std::min(out.center, gap);
                    if (!(kept >= out.low)) out.low = kept, out.worst_a = p.at, out.worst_b = q.at;  // so that NaN is no proof
                }
            }
        }
    }
    return out;
}

double SpherePair::clearance(std::span<const double> values) const {
    thread_local ChainPoses poses;
    thread_local std::vector<Vec3> at[2];
    chain_.place(values, poses);
    for (std::size_t end = 0; end < 2; end++) {
        at[end].clear();
        for (const Ball &ball : balls_[end].spheres) at[end].push_back((end == 0 ? poses.end_a : poses.end_b).apply(ball.center));
    }
    double best = INFINITE;
    for (const GroupedBalls::Group &a : balls_[0].groups) {
        const Vec3 middle = poses.end_a.apply(a.ball.center);
        for (const GroupedBalls::Group &b : balls_[1].groups) {
            if (norm(middle - poses.end_b.apply(b.ball.center)) - a.ball.radius - b.ball.radius >= best) continue;
            for (std::size_t i = static_cast<std::size_t>(a.first); i < static_cast<std::size_t>(a.first + a.count); i++)
                for (std::size_t j = static_cast<std::size_t>(b.first); j < static_cast<std::size_t>(b.first + b.count); j++)
                    best = std::min(best, norm(at[0][i] - at[1][j]) - balls_[0].spheres[i].radius - balls_[1].spheres[j].radius);
        }
    }
    return best;
}

double SpherePair::search(std::span<const double> starts, const BoxRange &range, double target, int rounds,
                          std::span<double> values) const {
    const std::size_t n = range.lower.size(), count = n ? starts.size() / n : 0;
    double best = INFINITE;
    std::vector<double> cfg(n), step(n);
    for (std::size_t s = 0; s < count && best > target; s++) {
        std::copy_n(starts.begin() + static_cast<std::ptrdiff_t>(s * n), n, cfg.begin());
        for (std::size_t v = 0; v < n; v++) step[v] = (range.upper[v] - range.lower[v]) / 8.0;
        double value = clearance(cfg);
        for (int round = 0; round < rounds && value > target; round++) {
            for (std::size_t v = 0; v < n; v++) {
                const double old = cfg[v];
                bool moved = false;
                for (double way : {-1.0, 1.0}) {
                    cfg[v] = std::min(std::max(old + way * step[v], range.lower[v]), range.upper[v]);
                    const double trial = clearance(cfg);
                    moved = trial < value;
                    if (moved) {
                        value = trial;
                        break;
                    }
                }
                if (!moved) cfg[v] = old;
                step[v] *= moved ? 1.6 : 0.5;
            }
        }
        if (value < best) best = value, std::copy(cfg.begin(), cfg.end(), values.begin());
    }
    return best;
}

ProofOutcome SpherePair::prove(const BoxRange &range, double pad, std::int64_t max_boxes) const {
    struct Nothing {};
    const std::size_t m = chain_.joints().size();
    ChainPoses poses;
    std::array<Placed, 2> ends;
    std::vector<double> chords(m), shares(m);
    double low = INFINITE, middle = 0.0;
    ProofOutcome out = bisect<Nothing>(range, max_boxes, [&](const Box<Nothing> &box) -> Judgement {
        for (std::size_t k = 0; k < m; k++) {
            const ChainJoint &joint = chain_.joints()[k];
            chords[k] = joint.chord(joint.slope * box.half[static_cast<std::size_t>(joint.variable)]);
        }
        chain_.place(box.center, poses);
        const Bounds found = bounds_in_box(poses, chords, pad, ends);
        middle = found.center;
        if (found.center <= 0.0) return {Proof::hit};
        if (found.low > SLACK) {
            low = std::min(low, found.low);
            return {Proof::proved};
        }
        std::fill(shares.begin(), shares.end(), 0.0);
        const auto share = [&](std::size_t k, double part) { shares[k] += part; };
        movement(chain_, poses, chords, moving_[0], found.worst_a, share);
        movement(chain_, poses, chords, moving_[1], found.worst_b, share);
        return {Proof::undecided, widest_variable(chain_, shares)};
    });
    out.bound = out.status == Proof::proved ? low : out.status == Proof::hit ? middle : 0.0;
    return out;
}

}  // namespace elbowroom
