#include "elbowroom/ik.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>

#include "descent.hpp"

namespace elbowroom {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double INFINITE = std::numeric_limits<double>::infinity();
constexpr int ROUND = 16;  // starts of a round
// Starts that have arrived after which a round without a seed may end; with one, all run on, since the nearest may be the slowest.
constexpr int ENOUGH = 4;
constexpr int POLISH = 60;  // steps that bring a best effort to its minimum, where a search that still might arrive would be given up
constexpr double SAME = 1.1;  // squared residuals that count as equally near: a free one is preferred
// Float32 lanes have arrived within the tolerances, or within what they resolve; float64 finishes, to a thousandth of the tolerances.
constexpr double LANE_OFF = 2e-5, LANE_TURN = 1e-4, FINISH = 1e-3;
constexpr int FINISHING = 12;
constexpr double ROUNDING = 1.0 + 1e-9;  // tolerances are met to rounding: errors are computed anew for the answer
constexpr std::size_t BATCH = 16;         // combinations judged at once
constexpr std::size_t COMBINATIONS = 96;  // and at most in a round: beyond, new candidates are worth more than further combinations
constexpr double POOL = 64.0;             // candidates of a part that are combined with one other part; fewer with more parts
constexpr double LAST = 1e6;              // added to the squared distance of what comes last
constexpr double DISTINCT = 0.2;          // rad or m by which some joint of two answers differs, at least

std::size_t at(int k) { return static_cast<std::size_t>(k); }

enum class State : std::uint8_t { unknown, yes, no };

// Where the searches of one part ended that arrived.
struct Pool {
    std::size_t width = 0;
    std::vector<double> rows;      // (n, joints of the part)
    std::vector<double> distance;  // to the base, squared
    std::vector<State> finished;   // whether float64 confirms it
    std::vector<State> alone;      // whether it is free while the other parts rest
    std::vector<int> order;        // the nearest first

    std::size_t size() const { return distance.size(); }
    double *row(int k) { return rows.data() + at(k) * width; }
};

}  // namespace

Ik::Ik(std::shared_ptr<const Targets> whole, std::vector<Part> parts, Limits limits)
    : whole_(std::move(whole)), parts_(std::move(parts)), limits_(std::move(limits)) {
    for (const Part &part : parts_) {
        PartBounds &own = bounds_.emplace_back();
        for (int joint : part.targets->joints()) {
            const bool endless = limits_.endless[at(joint)];
            const double low = limits_.lower[at(joint)], high = limits_.upper[at(joint)], span = high - low;
            own.endless.push_back(endless);
            own.low.push_back(endless ? -INFINITE : low), own.high.push_back(endless ? INFINITE : high);
            own.weights.push_back(1.0 / (std::isfinite(span) && span > 0.0 ? span : 2.0 * std::numbers::pi));
        }
    }
}

// One question.
class Ik::Search {
  public:
    Search(const Ik &ik, const Scene *scene, std::span<const StartTable *const> tables, const IkQuestion &question, const IkSettings &settings)
        : ik_(ik), scene_(scene), question_(question), settings_(settings), cfg_(question.base.begin(), question.base.end()) {
        for (std::size_t k = 0; k < ik.parts_.size(); k++) {
            Tries &tries = tries_.emplace_back();
            tries.number = k, tries.part = &ik.parts_[k], tries.bounds = &ik.bounds_[k], tries.table = tables[k];
            tries.pool.width = tries.part->targets->solved();
            for (int position : tries.part->positions)
                tries.world.insert(tries.world.end(), question.values.begin() + position * static_cast<int>(TARGET_VALUES),
                                   question.values.begin() + (position + 1) * static_cast<int>(TARGET_VALUES));
            tries.values.resize(tries.world.size());
            tries.part->targets->in_root(tries.world, tries.values);
        }
    }

    IkAnswer run() {
        const Clock::time_point begin = Clock::now();
        if (tries_.empty()) return alone();
        if (question_.seeded && seeds_meet() && choose()) return end();
        for (int round = 0; round * ROUND < settings_.starts; round++) {
            const bool all_arrived = std::all_of(tries_.begin(), tries_.end(), [](const Tries &one) { return !one.pool.order.empty(); });
            for (Tries &one : tries_)
                if (all_arrived || one.pool.order.empty()) start(one);
            if (choose()) break;
            if (std::chrono::duration<double>(Clock::now() - begin).count() > settings_.timeout) {
                answer_.timed_out = true;
                break;
            }
            if (std::all_of(tries_.begin(), tries_.end(), [](const Tries &one) { return one.spent; })) break;
        }
        return end();
    }

  private:
    // The starts of one part.
    struct Tries {
        std::size_t number = 0;
        const Part *part = nullptr;
        const PartBounds *bounds = nullptr;
        const StartTable *table = nullptr;
        std::vector<double> world, values;  // numbers of its targets, in the world and in the frame of the root
        Pool pool;
        std::vector<double> misses, costs;  // (n, joints): where searches ended that did not arrive, and their squared residuals
        std::vector<float> scores;
        int last = -1;       // entry of the table that was picked last
        bool spent = false;  // whether the table has no further entry
    };
    using Combination = std::vector<int>;
    struct Judged {
        State free = State::no;  // unknown: it meets the targets no more when measured in float64
        bool counted = false;
    };

    double base(const Tries &one, std::size_t variable) const { return question_.base[at(one.part->targets->variables()[variable])]; }

    DescentRequest request(bool careful) const {
        return {std::max(settings_.position_tolerance, LANE_OFF), std::max(settings_.orientation_tolerance, LANE_TURN),
                careful ? POLISH : settings_.iterations, careful, question_.seeded || careful || settings_.count > 1 ? 0 : ENOUGH};
    }

    void add(Tries &one, std::span<const double> row, State finished) {
        double far = 0.0;
        for (std::size_t v = 0; v < row.size(); v++) {
            const double off = (row[v] - base(one, v)) * one.bounds->weights[v];
            far += off * off;
        }
        Pool &pool = one.pool;
        const int number = static_cast<int>(pool.size());
        pool.rows.insert(pool.rows.end(), row.begin(), row.end());
        pool.distance.push_back(far), pool.finished.push_back(finished), pool.alone.push_back(State::unknown);
        std::size_t k = pool.order.size();
        pool.order.push_back(number);
        for (; k > 0 && far < pool.distance[at(pool.order[k - 1])]; k--) pool.order[k] = pool.order[k - 1];
        pool.order[k] = number;
    }

    // Parts whose targets the seed meets as it is: nothing is nearer. Are these all?
    bool seeds_meet() {
        bool all = true;
        std::vector<double> row;
        for (Tries &one : tries_) {
            const std::size_t n = one.pool.width;
            row.resize(n);
            for (std::size_t v = 0; v < n; v++) row[v] = base(one, v);
            bool within = true;
            for (std::size_t v = 0; v < n; v++) within &= row[v] >= one.bounds->low[v] && row[v] <= one.bounds->high[v];
            if (within && measured(one, row) <= 1.0)
                add(one, row, State::yes);
            else
                all = false;
        }
        return all;
    }

    // The largest error of a part's targets, as a share of the tolerances.
    double measured(const Tries &one, std::span<const double> row) const {
        TargetLanes<double> &lanes = scratch<Descent<double>>().lanes;
        const Targets &targets = *one.part->targets;
        lanes.fit(targets);
        lanes.ask(targets, one.values);
        for (std::size_t v = 0; v < targets.variables().size(); v++) lanes.q[v] = v < row.size() ? row[v] : base(one, v);
        lanes.residuals(targets);
        double worst = 0.0;
        for (std::size_t t = 0; t < targets.size(); t++)
            worst = std::max({worst, lanes.off[t] / settings_.position_tolerance, lanes.turn[t] / settings_.orientation_tolerance});
        return worst;
    }

    // Searches from up to sixteen rows of values of the joints solved for.
    void search(Tries &one, std::span<const double> rows, bool careful) {
        Descent<F32x16> &descent = scratch<Descent<F32x16>>();
        const Targets &targets = *one.part->targets;
        const std::size_t n = one.pool.width;
        const int count = static_cast<int>(rows.size() / n);
        descent.fit(targets);
        descent.lanes.ask(targets, one.values);
        for (std::size_t v = 0; v < targets.variables().size(); v++)
            for (int lane = 0; lane < ROUND; lane++) {
                const std::size_t row = at(std::min(lane, count - 1));
                descent.set(v, lane, v < n ? std::clamp(rows[row * n + v], one.bounds->low[v], one.bounds->high[v]) : base(one, v));
            }
        descent.run(targets, *one.bounds, request(careful), count);
        answer_.iterations += descent.steps;
        std::vector<double> end(n);
        for (int lane = 0; lane < count; lane++) {
            if (!(descent.ended >> lane & 1u)) continue;
            for (std::size_t v = 0; v < n; v++) end[v] = descent.end(v, lane);
            if (descent.arrived >> lane & 1u) {
                add(one, end, State::unknown);
            } else if (std::isfinite(descent.costs[lane])) {
                one.misses.insert(one.misses.end(), end.begin(), end.end());
                one.costs.push_back(descent.costs[lane]);
            }
        }
    }

    // A round: the seed, where there is one, and the entries of the table that come next.
    void start(Tries &one) {
        const std::size_t n = one.pool.width;
        const bool first = one.scores.empty();
        std::vector<double> rows;
        if (first) {
            one.table->scores(one.world, question_.base, question_.seeded, one.bounds->endless, one.scores);
            for (std::size_t v = 0; v < n && question_.seeded; v++) rows.push_back(base(one, v));
        }
        std::vector<int> picked;
        if (!one.spent) StartTable::pick(one.scores, one.last, at(ROUND) - rows.size() / n, picked);
        if (!picked.empty()) one.last = picked.back();
        one.spent = picked.empty();
        for (int entry : picked)
            for (std::size_t v = 0; v < n; v++) rows.push_back(one.table->joint(v, at(entry)));
        answer_.starts += static_cast<int>(rows.size() / n);
        if (!rows.empty()) search(one, rows, false);
    }

    // Finishes a candidate in float64. Does it meet the targets?
    bool finish(Tries &one, int number) {
        State &state = one.pool.finished[at(number)];
        if (state == State::unknown) {
            std::span<double> row{one.pool.row(number), one.pool.width};
            state = ik_.finish(one.number, one.values, question_.base, row, settings_) ? State::yes : State::no;
        }
        return state == State::yes;
    }

    void place(const Tries &one, const double *row, double *cfg) const {
        for (std::size_t v = 0; v < one.pool.width; v++) cfg[at(one.part->targets->variables()[v])] = row[v];
    }

    // Judges combinations together that were not judged before.
    void judge(std::span<const Combination> combinations) {
        std::vector<const Combination *> asked;
        std::vector<double> cfgs;
        for (const Combination &combination : combinations) {
            auto [found, fresh] = judged_.try_emplace(combination);
            if (!fresh) continue;
            bool met = true;
            for (std::size_t k = 0; k < tries_.size(); k++) met = met && finish(tries_[k], combination[k]);
            found->second.free = met ? State::yes : State::unknown;
            if (!met || !scene_) continue;
            asked.push_back(&found->first);
            const std::size_t first = cfgs.size();
            cfgs.insert(cfgs.end(), question_.base.begin(), question_.base.end());
            for (std::size_t k = 0; k < tries_.size(); k++) place(tries_[k], tries_[k].pool.row(combination[k]), cfgs.data() + first);
        }
        if (asked.empty()) return;
        const std::vector<bool> verdicts = free(cfgs);
        for (std::size_t k = 0; k < asked.size(); k++) judged_[*asked[k]].free = verdicts[k] ? State::yes : State::no;
    }

    std::vector<bool> free(std::span<const double> cfgs) const {
        const std::size_t count = cfgs.size() / cfg_.size();
        bool verdicts[BATCH];
        std::vector<bool> out;
        for (std::size_t first = 0; first < count; first += BATCH) {
            const std::size_t some = std::min(BATCH, count - first);
            const std::int64_t bad = scene_->free({cfgs.subspan(first * cfg_.size(), some * cfg_.size()), some}, Judge::meshes, {verdicts, some});
            for (std::size_t k = 0; k < some; k++) out.push_back(bad < 0 && verdicts[k]);
        }
        return out;
    }

    // Candidates of a part that collide while the other parts rest come last.
    void judge_alone(Tries &one) {
        std::vector<int> fresh;
        std::vector<double> cfgs;
        for (int k : one.pool.order)
            if (one.pool.alone[at(k)] == State::unknown) {
                fresh.push_back(k);
                cfgs.insert(cfgs.end(), question_.base.begin(), question_.base.end());
                place(one, one.pool.row(k), cfgs.data() + cfgs.size() - cfg_.size());
            }
        const std::vector<bool> verdicts = free(cfgs);
        for (std::size_t k = 0; k < fresh.size(); k++) one.pool.alone[at(fresh[k])] = verdicts[k] ? State::yes : State::no;
    }

    // Combinations, one candidate of each part: fewest that collide alone first, then the smallest distance in all.
    std::vector<Combination> in_order() {
        std::vector<std::pair<double, Combination>> all{{0.0, {}}};
        const std::size_t parts = tries_.size();
        const std::size_t most = parts == 1 ? COMBINATIONS : std::max<std::size_t>(2, static_cast<std::size_t>(std::pow(POOL, 2.0 / static_cast<double>(parts))));
        for (Tries &one : tries_) {
            std::vector<std::pair<double, int>> near;
            for (int k : one.pool.order)
                near.push_back({one.pool.distance[at(k)] + (one.pool.alone[at(k)] == State::no ? LAST : 0.0), k});
            std::stable_sort(near.begin(), near.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
            near.resize(std::min(near.size(), most));
            std::vector<std::pair<double, Combination>> next;
            for (const auto &[far, combination] : all)
                for (const auto &[more, k] : near) {
                    next.push_back({far + more, combination});
                    next.back().second.push_back(k);
                }
            all = std::move(next);
        }
        const std::size_t count = std::min(COMBINATIONS, all.size());
        std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end());
        std::vector<Combination> out;
        for (std::size_t k = 0; k < count; k++) out.push_back(std::move(all[k].second));
        return out;
    }

    // Looks at the verdict of a combination; true when enough answers are found.
    bool take(const Combination &combination) {
        Judged &found = judged_[combination];
        if (found.free == State::unknown) return false;
        for (std::size_t k = 0; k < tries_.size(); k++) place(tries_[k], tries_[k].pool.row(combination[k]), cfg_.data());
        if (found.free == State::no) {
            if (!found.counted) answer_.refused++;
            found.counted = true;
            if (refused_.empty()) refused_ = cfg_;
            return false;
        }
        const std::size_t dof = cfg_.size();
        for (std::size_t k = 0; k < answer_.cfgs.size(); k += dof) {
            double far = 0.0;
            for (std::size_t d = 0; d < dof; d++) far = std::max(far, std::fabs(answer_.cfgs[k + d] - cfg_[d]));
            if (far < DISTINCT) return false;
        }
        answer_.cfgs.insert(answer_.cfgs.end(), cfg_.begin(), cfg_.end());
        return answer_.cfgs.size() == settings_.count * dof;
    }

    // The nearest free combinations of what arrived. Are there as many as wanted?
    bool choose() {
        answer_.cfgs.clear();
        Combination best;
        for (const Tries &one : tries_) {
            if (one.pool.order.empty()) return false;
            best.push_back(one.pool.order[0]);
        }
        if (judged_.find(best) == judged_.end()) {
            judge({&best, 1});
            if (take(best) || (settings_.count == 1 && !answer_.cfgs.empty())) return true;
            answer_.cfgs.clear();
        }
        if (scene_ && tries_.size() > 1)
            for (Tries &one : tries_) judge_alone(one);
        const std::vector<Combination> order = in_order();
        for (std::size_t first = 0; first < order.size(); first += BATCH) {
            const std::span<const Combination> some = std::span(order).subspan(first, std::min(BATCH, order.size() - first));
            judge(some);
            for (const Combination &combination : some)
                if (take(combination)) return true;
        }
        return false;
    }

    // Every joint is held.
    IkAnswer alone() {
        answer_.cfgs = cfg_;
        answer_.met = true;
        answer_.free = !scene_ || free(cfg_)[0];
        answer_.refused = answer_.free ? 0 : 1;
        return finished();
    }

    IkAnswer end() {
        if (answer_.cfgs.empty() && refused_.empty()) {
            for (Tries &one : tries_)
                if (one.pool.order.empty()) polish(one);
            choose();
        }
        for (const Tries &one : tries_) answer_.candidates += static_cast<int>(one.pool.order.size());
        answer_.met = !answer_.cfgs.empty() || !refused_.empty();
        if (answer_.cfgs.empty()) {
            answer_.free = refused_.empty() && best_effort();
            if (!refused_.empty()) answer_.cfgs = refused_;
        }
        return finished();
    }

    // Misses, those with the smallest residual first.
    std::vector<int> closest(const Tries &one) const {
        std::vector<int> order(one.costs.size());
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return one.costs[at(a)] < one.costs[at(b)]; });
        return order;
    }

    // Follows the closest misses to their minimum, where a search that ought to arrive soon was given up.
    void polish(Tries &one) {
        std::vector<int> order = closest(one);
        order.resize(std::min(order.size(), at(ROUND)));
        std::vector<double> rows;
        for (int k : order)
            rows.insert(rows.end(), one.misses.begin() + static_cast<std::ptrdiff_t>(at(k) * one.pool.width),
                        one.misses.begin() + static_cast<std::ptrdiff_t>((at(k) + 1) * one.pool.width));
        if (!rows.empty()) search(one, rows, true);
    }

    // The nearest miss; of several that are as near, one that is free. Is it?
    bool best_effort() {
        std::vector<std::vector<const double *>> best;
        std::size_t count = 1;
        for (Tries &one : tries_) {
            std::vector<const double *> &rows = best.emplace_back();
            for (int k : one.pool.order) rows.push_back(one.pool.row(k));
            if (rows.empty()) {
                const std::vector<int> order = closest(one);
                for (int k : order)
                    if (one.costs[at(k)] <= SAME * one.costs[at(order[0])]) rows.push_back(one.misses.data() + at(k) * one.pool.width);
            }
            rows.resize(std::min(rows.size(), at(ROUND)));
            count = std::max(count, rows.size());
        }
        std::vector<double> cfgs;
        for (std::size_t k = 0; k < count; k++) {
            cfgs.insert(cfgs.end(), question_.base.begin(), question_.base.end());
            for (std::size_t p = 0; p < tries_.size(); p++)
                if (!best[p].empty()) place(tries_[p], best[p][std::min(k, best[p].size() - 1)], cfgs.data() + k * cfg_.size());
        }
        std::size_t chosen = 0;
        bool is_free = true;
        if (scene_) {
            const std::vector<bool> verdicts = free(cfgs);
            const auto found = std::find(verdicts.begin(), verdicts.end(), true);
            is_free = found != verdicts.end();
            if (is_free) chosen = static_cast<std::size_t>(found - verdicts.begin());
        }
        const auto begin = cfgs.begin() + static_cast<std::ptrdiff_t>(chosen * cfg_.size());
        answer_.cfgs.assign(begin, begin + static_cast<std::ptrdiff_t>(cfg_.size()));
        return is_free;
    }

    // Measures the answer anew: a success only if everything holds.
    IkAnswer finished() {
        const Targets &whole = *ik_.whole_;
        std::vector<double> residual(whole.rows());
        answer_.off.resize(whole.size()), answer_.turn.resize(whole.size());
        const std::span<const double> cfg = std::span(answer_.cfgs).first(cfg_.size());
        whole.linearise(question_.values, cfg, {residual, {}, answer_.off, answer_.turn});
        answer_.success = answer_.met && answer_.free;
        for (double off : answer_.off) answer_.success &= off <= settings_.position_tolerance * ROUNDING;
        for (double turn : answer_.turn) answer_.success &= turn <= settings_.orientation_tolerance * ROUNDING;
        for (const Part &part : ik_.parts_)
            for (int joint : part.targets->joints())
                answer_.success &= cfg[at(joint)] >= ik_.limits_.lower[at(joint)] && cfg[at(joint)] <= ik_.limits_.upper[at(joint)];
        return std::move(answer_);
    }

    const Ik &ik_;
    const Scene *scene_;
    const IkQuestion &question_;
    const IkSettings &settings_;
    std::vector<Tries> tries_;
    std::map<Combination, Judged> judged_;
    std::vector<double> cfg_, refused_;  // scratch; the nearest combination that meets the targets and is not free
    IkAnswer answer_;
};

bool Ik::finish(std::size_t part, std::span<const double> values_in_root, std::span<const double> base, std::span<double> row,
                const IkSettings &settings) const {
    Descent<double> &descent = scratch<Descent<double>>();
    const Targets &targets = *parts_[part].targets;
    descent.fit(targets);
    descent.lanes.ask(targets, values_in_root);
    for (std::size_t v = 0; v < targets.variables().size(); v++) descent.lanes.q[v] = v < row.size() ? row[v] : base[at(targets.variables()[v])];
    descent.run(targets, bounds_[part], {FINISH * settings.position_tolerance, FINISH * settings.orientation_tolerance, FINISHING, true, 0}, 1);
    double worst = 0.0;
    for (std::size_t t = 0; t < targets.size(); t++)
        worst = std::max({worst, descent.lanes.off[t] / settings.position_tolerance, descent.lanes.turn[t] / settings.orientation_tolerance});
    for (std::size_t v = 0; v < row.size(); v++) row[v] = descent.end(v, 0);
    return worst <= 1.0;
}

bool Ik::descend(std::span<const double> values, std::span<double> cfg, const IkSettings &settings) const {
    std::vector<double> world, inside, row;
    bool all = true;
    for (std::size_t k = 0; k < parts_.size(); k++) {
        const Targets &targets = *parts_[k].targets;
        world.clear();
        for (int position : parts_[k].positions)
            world.insert(world.end(), values.begin() + position * static_cast<int>(TARGET_VALUES),
                         values.begin() + (position + 1) * static_cast<int>(TARGET_VALUES));
        inside.resize(world.size());
        targets.in_root(world, inside);
        const JointBounds &bounds = bounds_[k];
        row.resize(targets.solved());
        for (std::size_t v = 0; v < row.size(); v++) row[v] = std::clamp(cfg[at(targets.variables()[v])], bounds.low[v], bounds.high[v]);
        all &= finish(k, inside, cfg, row, settings);
        for (std::size_t v = 0; v < row.size(); v++) cfg[at(targets.variables()[v])] = row[v];
    }
    return all;
}

IkAnswer Ik::solve(const Scene *scene, std::span<const StartTable *const> tables, const IkQuestion &question, const IkSettings &settings) const {
    return Search(*this, scene, tables, question, settings).run();
}

}  // namespace elbowroom
