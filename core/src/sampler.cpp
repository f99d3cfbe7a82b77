#include "elbowroom/sampler.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <numeric>

namespace elbowroom {
namespace {

constexpr double APART = 0.05;         // metres of travel between samples of an edge
constexpr double SOFT = 0.003;         // metres that softened spheres keep at a start or goal
constexpr double STEP = 0.7;           // longest edge (rad, m) with up to USUAL joints: out of a tight place few longer ones are free
constexpr double USUAL = 7.0;
constexpr double LONG = 3.0;           // the same in the first iterations, which are all that an open scene takes,
constexpr std::int64_t OPEN = 6;       // and how many these are
constexpr std::int64_t ALL_ENDS = 20;  // iterations after which all free ends of a batch become nodes, not only the first
constexpr double DOMAIN_SHARE = 0.3, LEAST_DOMAIN = 0.054;  // of the diagonal of where samples are drawn: 4 and 0.7 rad for seven joints
constexpr float DOMAIN_CHANGE = 1e-4f; // share by which a domain changes with each edge
constexpr int REDRAWN = 16;            // samples that may fall outside the domain of their nearest node
constexpr int CONNECT = 64;            // steps towards a node of the other tree, at most
constexpr double MARGIN = 1e-5;        // metres of clearance beyond which proofs of edges do not look
constexpr std::int64_t EARLY_BUDGET = 400, LATE_BUDGET = 20'000;  // parts that the proof of an edge may take
constexpr std::int64_t LATE = 480;     // iterations after which it may take more
constexpr std::int64_t HELP = 64, FIRST_HELP = 60;  // meshes help every so many iterations, at first only
constexpr int FEW = 8;                 // a tree of fewer nodes,
constexpr std::int64_t BOTH = 180;     // and after so many whichever is smaller
constexpr std::int64_t LOOKS = 1000;   // at configurations by meshes, each time
constexpr double MESH_STEP = 0.1;      // longest edge by meshes, a share of the diagonal
constexpr double MESH_APART = 0.03;    // largest joint motion between their looks (rad, m)
constexpr std::int64_t ASKED = 4;      // what an edge costs besides the looks at it, in looks
constexpr int EARLY_LOOKS = 8;         // spread along an edge before the others

constexpr double KEPT = 0.98;          // share of the tolerances that edges keep: the rest is for chords of the motion that is made of them
constexpr double KEPT_STEP = 0.35;     // longest edge where something must be kept (rad, m)
constexpr double PROGRESS = 0.1;       // share of a step that projection may leave of it

double distance(const double *a, const double *b, std::size_t n) {
    double total = 0.0;
    for (std::size_t k = 0; k < n; k++) total += (b[k] - a[k]) * (b[k] - a[k]);
    return std::sqrt(total);
}

}  // namespace

// Lines -------------------------------------------------------------------------------------------------------

void Lines::whole(const double *values, double *out) const {
    std::copy(group_.held.begin(), group_.held.end(), out);
    for (std::size_t j = 0; j < group_.moving.size(); j++) out[group_.moving[j]] = values[j];
}

bool Lines::kept(const Line &line) const {
    if (!keeps_) return true;
    const std::size_t dof = group_.held.size();
    std::vector<double> rows(2 * dof);
    whole(line.a, rows.data()), whole(line.b, rows.data() + dof);
    return keeps_->on_line(rows.data(), rows.data() + dof, KEPT);
}

bool Lines::project(double *values) const {
    if (!keeps_) return true;
    std::vector<double> row(group_.held.size());
    whole(values, row.data());
    if (!keeps_->project(row.data(), group_.moving, group_.low, group_.high, KEPT)) return false;
    for (std::size_t j = 0; j < group_.moving.size(); j++) values[j] = row[static_cast<std::size_t>(group_.moving[j])];
    return true;
}

std::vector<bool> Lines::prove(std::span<const Line> lines, Look look, std::int64_t budget) {
    const std::size_t dof = group_.held.size(), n = lines.size();
    rows_.resize((2 * n + 1) * dof), proofs_.resize(n);
    for (std::size_t k = 0; k < n; k++) whole(lines[k].a, &rows_[2 * k * dof]), whole(lines[k].b, &rows_[(2 * k + 1) * dof]);
    std::fill_n(rows_.begin() + static_cast<std::ptrdiff_t>(2 * n * dof), dof, 0.0);
    const Motion motion{dof, n, 2, std::span(rows_).first(2 * n * dof), std::span(rows_).last(dof)};
    ProofRequest request;
    request.look = look, request.margin = MARGIN, request.budget = budget;
    scene_.prove(motion, request, std::span(proofs_).first(n));
    std::vector<bool> out(n);
    for (std::size_t k = 0; k < n; k++) out[k] = proofs_[k].outcome == Outcome::free;
    return out;
}

bool Lines::free_by_meshes(const Line &line, std::int64_t &looks) {
    const std::size_t dof = group_.held.size(), n = group_.moving.size();
    double most = 0.0;
    for (std::size_t j = 0; j < n; j++) most = std::max(most, std::fabs(line.b[j] - line.a[j]));
    const int count = static_cast<int>(std::min(most / MESH_APART, 4096.0)) + 1, apart = std::max(1, count / EARLY_LOOKS);
    std::vector<double> at(n);
    const auto row = [&](int k, double *out) {
        for (std::size_t j = 0; j < n; j++) at[j] = line.a[j] + (line.b[j] - line.a[j]) * k / count;
        whole(at.data(), out);
    };
    const auto all_free = [&](std::span<const int> places) {
        if (places.empty()) return true;
        rows_.resize(places.size() * dof);
        for (std::size_t k = 0; k < places.size(); k++) row(places[k], &rows_[k * dof]);
        looks += static_cast<std::int64_t>(places.size());
        auto free = std::make_unique<bool[]>(places.size());
        const std::span<bool> out(free.get(), places.size());
        return scene_.free(Configurations{{rows_.data(), places.size() * dof}, places.size()}, Judge::meshes, out) < 0 &&
               std::all_of(out.begin(), out.end(), [](bool good) { return good; });
    };
    std::vector<int> early, rest;
    for (int k = 1; k < count; k++) (k % apart == 0 ? early : rest).push_back(k);
    return all_free(std::vector<int>{count}) && all_free(early) && all_free(rest);
}

// Sampler -----------------------------------------------------------------------------------------------------

Sampler::Sampler(const Scene &scene, JointGroup group, std::span<const double> start, std::span<const double> goals, std::uint64_t seed)
    : scene_(scene), group_(std::move(group)), glance_(scene_, group_), lines_(scene_, group_),
      trees_{Tree(group_.moving.size()), Tree(group_.moving.size())}, random_(seed) {
    const std::size_t n = group_.moving.size();
    fresh_.resize(n), goal_at_.resize(n), ends_.resize(n * WIDE);
    diagonal_ = distance(group_.low.data(), group_.high.data(), n);
    longest_ = STEP * std::sqrt(std::max(1.0, static_cast<double>(n) / USUAL));
    domain_ = DOMAIN_SHARE * diagonal_, least_domain_ = LEAST_DOMAIN * diagonal_;
    trees_[0].add(start.data(), -1);
    for (std::size_t k = 0; k * n < goals.size(); k++) trees_[1].add(goals.data() + k * n, -1);
    const Surroundings *around = scene_.around();
    refusals_.assign(scene_.n_pairs() + (around ? around->n_links() * static_cast<std::size_t>(around->world().size()) : 0), 0);
    possible_ = !around || around->still_free(Judge::meshes);
    std::vector<const double *> roots;
    for (const Tree &tree : trees_)
        for (int k = 0; k < tree.size(); k++) roots.push_back(tree.at(k));
    for (std::size_t first = 0; first < roots.size(); first += WIDE) {
        const int count = static_cast<int>(std::min<std::size_t>(WIDE, roots.size() - first));
        for (int lane = 0; lane < WIDE; lane++)
            for (std::size_t j = 0; j < n; j++) glance_.at(j, lane) = roots[first + static_cast<std::size_t>(std::min(lane, count - 1))][j];
        for (unsigned tight = glance_.touching(count, false); tight; tight &= tight - 1)
            glance_.soften(roots[first + static_cast<std::size_t>(std::countr_zero(tight))], SOFT);
    }
}

void Sampler::keep(std::vector<Keep> all) {
    keeps_.emplace(scene_.robot(), std::move(all));
    lines_.keep(&*keeps_);
    longest_ = std::min(longest_, KEPT_STEP);
}

void Sampler::refuse(Culprit who) {
    if (who.pair >= 0) {
        refusals_[static_cast<std::size_t>(who.pair)]++;
    } else if (who.obstacle >= 0) {
        const std::size_t obstacles = static_cast<std::size_t>(scene_.around()->world().size());
        refusals_[scene_.n_pairs() + static_cast<std::size_t>(who.link) * obstacles + static_cast<std::size_t>(who.obstacle)]++;
    }
}

bool Sampler::straight() {
    const std::size_t n = group_.moving.size();
    const double *from = trees_[0].at(0);
    std::vector<int> order(static_cast<std::size_t>(trees_[1].size()));
    std::iota(order.begin(), order.end(), 0);
    std::vector<double> ways(order.size());
    for (const int k : order) ways[static_cast<std::size_t>(k)] = distance(from, trees_[1].at(k), n);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return ways[static_cast<std::size_t>(a)] < ways[static_cast<std::size_t>(b)]; });
    const auto proved = [&](int k) {
        const Lines::Line line{from, trees_[1].at(k)};
        if (!lines_.kept(line) || !lines_.prove({&line, 1}, Look::meshes, EARLY_BUDGET)[0]) return false;
        goal_ = k;
        path_ = {{line.a, line.a + n}, {line.b, line.b + n}};
        return true;
    };
    if (!possible_) return false;
    double met = -1.0;
    for (const int k : order) {
        if (glance_.along(from, trees_[1].at(k), APART) ? proved(k) : false) return true;
        if (k == order[0]) met = glance_.met();
    }
    // Where spheres refuse all of them, meshes are asked about the nearest, unless they touch where spheres do.
    const double *to = trees_[1].at(order[0]);
    for (std::size_t j = 0; j < n; j++) fresh_[j] = from[j] + met * (to[j] - from[j]);
    std::vector<double> row(group_.held.size());
    lines_.whole(fresh_.data(), row.data());
    bool free = false;
    scene_.free(Configurations{row, 1}, Judge::meshes, {&free, 1});
    return free && proved(order[0]);
}

bool Sampler::grow(std::int64_t iterations, double seconds) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point began = Clock::now();
    for (; iterations > 0 && path_.empty() && possible_; iterations--) {
        if (!(std::chrono::duration<double>(Clock::now() - began).count() < seconds)) break;
        by_spheres();
        const int fewest = std::min(trees_[0].size(), trees_[1].size());
        if (path_.empty() && done_ % HELP == FIRST_HELP && (fewest < FEW || done_ >= BOTH)) by_meshes(LOOKS);
        done_++;
    }
    return !path_.empty();
}

void Sampler::sample(std::vector<double> &out) {
    for (std::size_t j = 0; j < out.size(); j++) out[j] = group_.low[j] + random_.uniform() * (group_.high[j] - group_.low[j]);
}

bool Sampler::aim(const double *from, const double *goal, double far, double longest, double *out) const {
    const std::size_t n = group_.moving.size();
    const double share = far > longest ? longest / far : 1.0;
    for (std::size_t j = 0; j < n; j++) out[j] = share == 1.0 ? goal[j] : from[j] + share * (goal[j] - from[j]);
    return !lines_.constrained() || share == 1.0 || (lines_.project(out) && distance(out, goal, n) < far - PROGRESS * longest);
}

bool Sampler::step(int tree, int node, const double *goal, double far, double longest, bool by_meshes, std::int64_t &looks) {
    const double *from = trees_[tree].at(node);
    if (!aim(from, goal, far, longest, fresh_.data()) || !lines_.kept({from, fresh_.data()})) return false;
    if (by_meshes) {
        looks += ASKED;
        return lines_.free_by_meshes({from, fresh_.data()}, looks);
    }
    const bool free = glance_.along(from, fresh_.data(), APART) && glance_.mesh_pairs_free(fresh_.data());
    if (!free) refuse(glance_.who());
    return free;
}

bool Sampler::connect(int tree, int &node, const double *goal, double longest, bool by_meshes, std::int64_t &looks) {
    double far;
    node = trees_[tree].nearest(goal, far);
    for (int k = 0; k < CONNECT; k++) {
        if (!step(tree, node, goal, far, longest, by_meshes, looks)) return false;
        if (far <= longest) return true;
        node = trees_[tree].add(fresh_.data(), node);
        far = distance(fresh_.data(), goal, fresh_.size());
    }
    return false;
}

void Sampler::by_spheres() {
    const std::size_t n = group_.moving.size();
    const double longest = done_ < OPEN && !lines_.constrained() ? LONG : longest_;
    const int side = trees_[0].size() <= trees_[1].size() ? 0 : 1;
    Tree &tree = trees_[side];
    int from[WIDE];
    double ways[WIDE];
    unsigned lost = 0;  // that cannot be projected
    for (int k = 0; k < WIDE; k++) {
        for (int draw = 0; draw < REDRAWN; draw++) {
            sample(goal_at_);
            from[k] = tree.nearest(goal_at_.data(), ways[k]);
            if (ways[k] <= static_cast<double>(tree.node(from[k]).domain)) break;
        }
        double *end = &ends_[static_cast<std::size_t>(k) * n];
        if (!aim(tree.at(from[k]), goal_at_.data(), ways[k], longest, end) || (lines_.constrained() && !lines_.project(end))) lost |= 1u << k;
        for (std::size_t j = 0; j < n; j++) glance_.at(j, k) = end[j];
    }
    const unsigned free = ~(glance_.touching(WIDE, false) | lost) & first_lanes(WIDE);
    std::int64_t looks = 0;
    for (unsigned left = free; left; left &= left - 1) {
        const int k = std::countr_zero(left);
        const double *end = &ends_[static_cast<std::size_t>(k) * n];
        if (!step(side, from[k], end, 0.0, longest, false, looks)) {
            float &domain = tree.node(from[k]).domain;
            domain = std::isinf(domain) ? static_cast<float>(domain_) : std::max(static_cast<float>(least_domain_), domain * (1.0f - DOMAIN_CHANGE));
            continue;
        }
        tree.node(from[k]).domain *= 1.0f + DOMAIN_CHANGE;
        const int fresh = tree.add(end, from[k]);
        int other;
        if (connect(1 - side, other, end, longest, false, looks)) {
            Meeting met{{fresh, other}, side};
            if (side == 1) std::swap(met.nodes[0], met.nodes[1]);
            holds(met, done_ < LATE ? EARLY_BUDGET : LATE_BUDGET);
            return;  // nodes may be cut off that other ends hang on
        }
        if (done_ < ALL_ENDS) return;
    }
}

void Sampler::by_meshes(std::int64_t looks) {
    std::vector<double> goal(group_.moving.size());
    const double longest = lines_.constrained() ? longest_ : MESH_STEP * diagonal_;
    for (std::int64_t looked = 0; looked < looks && path_.empty();) {
        const int side = trees_[0].size() <= trees_[1].size() ? 0 : 1;
        sample(goal);
        double far;
        const int from = trees_[side].nearest(goal.data(), far);
        looked++;
        if (!step(side, from, goal.data(), far, longest, true, looked)) continue;
        const int fresh = trees_[side].add(fresh_.data(), from);
        goal = fresh_;
        int other;
        if (!connect(1 - side, other, goal.data(), longest, true, looked)) continue;
        Meeting met{{fresh, other}, side};
        if (side == 1) std::swap(met.nodes[0], met.nodes[1]);
        holds(met, LATE_BUDGET);
    }
}

bool Sampler::holds(const Meeting &met, std::int64_t budget) {
    const std::size_t n = group_.moving.size();
    struct Edge {
        int tree, node;
    };
    std::vector<Edge> edges;
    std::vector<Lines::Line> lines;
    for (int tree = 0; tree < 2; tree++)
        for (int k = met.nodes[tree]; trees_[tree].node(k).parent >= 0; k = trees_[tree].node(k).parent) {
            if (trees_[tree].node(k).proved) continue;
            edges.push_back({tree, k});
            lines.push_back({trees_[tree].at(trees_[tree].node(k).parent), trees_[tree].at(k)});
        }
    lines.push_back({trees_[0].at(met.nodes[0]), trees_[1].at(met.nodes[1])});
    const std::vector<bool> free = lines_.prove(lines, Look::meshes, budget);
    for (std::size_t k = 0; k < edges.size(); k++) {
        Tree &tree = trees_[edges[k].tree];
        if (free[k])
            tree.node(edges[k].node).proved = true;
        else
            tree.cut(edges[k].node);
    }
    if (!free.back()) {  // so that it is not tried again
        const int last = met.nodes[met.fresh];
        if (trees_[met.fresh].node(last).parent >= 0) trees_[met.fresh].cut(last);
    }
    if (std::find(free.begin(), free.end(), false) != free.end()) return false;
    const auto add = [&](const double *values) {
        std::vector<double> next(values, values + n);
        if (path_.empty() || path_.back() != next) path_.push_back(std::move(next));
    };
    std::vector<int> way;
    for (int k = met.nodes[0]; k >= 0; k = trees_[0].node(k).parent) way.push_back(k);
    for (std::size_t k = way.size(); k-- > 0;) add(trees_[0].at(way[k]));
    for (int k = met.nodes[1]; k >= 0; k = trees_[1].node(k).parent) add(trees_[1].at(k));
    if (path_.size() == 1) path_.push_back(path_.front());
    goal_ = trees_[1].root_of(met.nodes[1]);
    return true;
}

}  // namespace elbowroom
