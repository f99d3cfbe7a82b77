#include "elbowroom/scene.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>

#include "elbowroom/contacts.hpp"
#include "elbowroom/proximity.hpp"
#include "elbowroom/scene_proof.hpp"

namespace elbowroom {
namespace {

constexpr double INFINITE = std::numeric_limits<double>::infinity();
constexpr double SEARCH = 1e-9;  // relative difference to the true distance at which a search for it may end
constexpr int FEW = 2;           // rows left over that are cheaper one by one than as a block
constexpr int FEW_ALIVE = WIDE / 4;     // lanes of a block not known to collide that are put aside,
constexpr std::size_t MANY_PAIRS = 16;  // when more pairs are left: placing them again costs about as much

// Share of configurations in which the meshes of a pair meet from which on they are asked at once: the other pairs need not be
// looked at then.
constexpr double LIKELY = 0.05;
// Hits of meshes, and what they take, of a pair that was not seen: of one look at what is about as often apart as not.
constexpr double USUAL_HITS = 0.3;
constexpr double USUAL_SECONDS = 3e-6;

// A configuration, and the first pair that it has not been looked at with.
struct Survivor {
    std::size_t row = 0, pair = 0;
};

// Configurations of a block; spare lanes repeat the last.
struct Rows {
    const double *at[WIDE];

    Rows(const Configurations &cfgs, std::size_t first, int count, std::size_t dof) {
        for (int k = 0; k < WIDE; k++) at[k] = cfgs.values.data() + (first + static_cast<std::size_t>(std::min(k, count - 1))) * dof;
    }
};

}  // namespace

// What proofs need of the pairs, for all scenes of the robot.
struct Scene::OwnLater {
    std::once_flag once;
    std::shared_ptr<const OwnProofs> proofs;
};

struct Scene::Later {
    std::once_flag once;
    std::unique_ptr<const Scene> scene;  // a copy without `later`: the proof refers to it
    std::unique_ptr<const SceneProof> proof;
};

Scene::Scene(std::shared_ptr<const LinkSpheres> spheres, LinkMeshes meshes, std::span<const LinkPair> pairs,
             std::span<const bool> only_meshes, double buffer, ProvedRange range)
    : spheres_(std::move(spheres)), meshes_(std::make_shared<LinkMeshes>(std::move(meshes))), buffer_(buffer),
      pad_(rounded_up(buffer + spheres_->margin)), range_(std::move(range)) {
    auto all = std::make_shared<std::vector<Pair>>();
    for (std::size_t k = 0; k < pairs.size(); k++) {
        Pair pair{spheres_->numbered(pairs[k]), LinkPath(robot(), pairs[k].a, pairs[k].b), mesh_of(*meshes_, pairs[k].a),
                  mesh_of(*meshes_, pairs[k].b), only_meshes[k]};
        if (pair.a == nullptr || pair.b == nullptr) pair.a = pair.b = nullptr;
        all->push_back(std::move(pair));
    }
    pairs_ = std::move(all);
    std::vector<int> order(pairs.size());
    std::iota(order.begin(), order.end(), 0);
    by_meshes_ = std::make_shared<const Order>(Order{order, order.size()});
    std::stable_partition(order.begin(), order.end(), [&](int k) { return !only_meshes[static_cast<std::size_t>(k)]; });
    by_spheres_ = std::make_shared<const Order>(Order{order, order.size()});
    own_later_ = std::make_shared<OwnLater>();
    later_ = std::make_shared<Later>();
}

Scene Scene::among(std::shared_ptr<const Surroundings> around) const {
    Scene out = *this;
    out.around_ = std::move(around);
    out.later_ = std::make_shared<Later>();
    return out;
}

const SceneProof &Scene::proof() const {
    std::call_once(later_->once, [&] {
        auto copy = std::make_unique<Scene>(*this);
        copy->later_.reset();
        later_->scene = std::move(copy);
        std::call_once(own_later_->once, [&] { own_later_->proofs = std::make_shared<OwnProofs>(*later_->scene); });
        later_->proof = std::make_unique<SceneProof>(*later_->scene, own_later_->proofs);
    });
    return *later_->proof;
}

const RoughReach &Scene::rough_reach() const {
    proof();
    return own_later_->proofs->rough;
}

void Scene::prove(const Motion &motion, const ProofRequest &request, std::span<PieceProof> out) const { proof().prove(motion, request, out); }

SphereBlock &Scene::outside(SphereBlock &block) const {
    struct Outside : SphereBlock {};
    const LinkSpheres &model = around_->spheres();
    if (&model == spheres_.get()) return block;
    SphereBlock &other = scratch<Outside>();
    other.fit(model);
    other.values = block.values;
    other.place_links(model);
    return other;
}

SphereRow &Scene::outside(SphereRow &row) const {
    struct Outside : SphereRow {};
    const LinkSpheres &model = around_->spheres();
    if (&model == spheres_.get()) return row;
    SphereRow &other = scratch<Outside>();
    other.fit(model);
    other.values = row.values;
    other.place_links(model);
    return other;
}

bool Scene::meshes_refuse(const Pair &pair, int lane, ExactPoses &poses) const {
    return meshes_closer(*pair.a, *pair.b, poses.across(pair.path, lane), buffer_);
}

unsigned Scene::own_free(SphereBlock &block, unsigned alive, Judge judge, ExactPoses &poses, std::size_t &next, bool last) const {
    const Order &order = judge == Judge::meshes ? *by_meshes_ : *by_spheres_;
    struct Refused {
        const Pair *pair;
        unsigned lanes;
    };
    thread_local std::vector<Refused> later;
    later.clear();
    const auto ask_meshes = [&](const Pair &pair, unsigned lanes) {
        for (unsigned left = lanes & alive; left; left &= left - 1) {
            const int lane = std::countr_zero(left);
            if (meshes_refuse(pair, lane, poses)) alive &= ~(1u << lane);
        }
    };
    while (next < order.pairs.size() && alive) {
        const bool likely = next < order.likely;
        const Pair &pair = (*pairs_)[static_cast<std::size_t>(order.pairs[next++])];
        SphereBlock::Touching query{pad_, alive};
        block.ask(*spheres_, pair.links, query);
        if (!query.found) continue;
        const unsigned before = alive;
        if (!pair.by_meshes(judge))
            alive &= ~query.found;
        else if (likely)
            ask_meshes(pair, query.found);
        else
            later.push_back({&pair, query.found});
        if (alive != before && likely && !last && std::popcount(alive) <= FEW_ALIVE && order.pairs.size() - next >= MANY_PAIRS)
            break;
    }
    for (const Refused &entry : later) ask_meshes(*entry.pair, entry.lanes);
    return alive;
}

int Scene::refusing(SphereRow &row, Judge judge, ExactPoses &poses) const {
    thread_local std::vector<int> refused;
    refused.clear();
    for (const int k : (judge == Judge::meshes ? *by_meshes_ : *by_spheres_).pairs) {
        const Pair &asked = pair(static_cast<std::size_t>(k));
        SphereRow::Touching query{pad_};
        row.ask(*spheres_, asked.links, query);
        if (!query.found) continue;
        if (!asked.by_meshes(judge)) return k;
        refused.push_back(k);
    }
    const auto found = std::find_if(refused.begin(), refused.end(),
                                    [&](int k) { return meshes_refuse(pair(static_cast<std::size_t>(k)), 0, poses); });
    return found == refused.end() ? -1 : *found;
}

Scene Scene::tuned(const Configurations &cfgs) const {
    struct Seen {
        double refused = 0.0, hits = 0.0, seconds = 0.0;
        // What a look at the meshes tells for its time; what was seldom seen is taken for ordinary.
        double worth() const { return (hits + USUAL_HITS) / (seconds + USUAL_SECONDS); }
    };
    std::vector<Seen> seen(pairs_->size());
    const std::size_t dof = static_cast<std::size_t>(robot().dof());
    ExactPoses &poses = scratch<ExactPoses>();
    SphereBlock &block = scratch<SphereBlock>();
    block.fit(*spheres_);
    for (std::size_t row = 0; row < cfgs.count; row += WIDE) {
        const int count = static_cast<int>(std::min<std::size_t>(WIDE, cfgs.count - row));
        if (block.expand(*spheres_, Rows(cfgs, row, count, dof).at) >= 0) continue;
        block.place_links(*spheres_);
        poses.start(robot(), block.values.data(), WIDE);
        for (std::size_t k = 0; k < pairs_->size(); k++) {
            const Pair &pair = (*pairs_)[k];
            SphereBlock::Touching query{pad_, first_lanes(count)};
            block.ask(*spheres_, pair.links, query);
            if (!query.found) continue;
            seen[k].refused += std::popcount(query.found);
            if (pair.a == nullptr) continue;
            const auto start = std::chrono::steady_clock::now();
            for (unsigned left = query.found; left; left &= left - 1)
                seen[k].hits += meshes_refuse(pair, std::countr_zero(left), poses);
            seen[k].seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        }
    }
    Scene out = *this;
    Order meshes = *by_meshes_, spheres = *by_spheres_;
    const auto at = [&](int k) -> const Seen & { return seen[static_cast<std::size_t>(k)]; };
    const auto likely = [&](int k) { return at(k).hits >= LIKELY * static_cast<double>(cfgs.count); };
    const auto end = std::stable_partition(meshes.pairs.begin(), meshes.pairs.end(), likely);
    meshes.likely = static_cast<std::size_t>(end - meshes.pairs.begin());
    for (const auto &[first, last] : {std::pair(meshes.pairs.begin(), end), std::pair(end, meshes.pairs.end())})
        std::stable_sort(first, last, [&](int a, int b) { return at(a).worth() > at(b).worth(); });
    std::stable_sort(spheres.pairs.begin(), spheres.pairs.end(), [&](int a, int b) {
        const bool first = pair(static_cast<std::size_t>(a)).only_meshes, second = pair(static_cast<std::size_t>(b)).only_meshes;
        return first != second ? second : at(a).refused > at(b).refused;
    });
    out.by_meshes_ = std::make_shared<const Order>(std::move(meshes)), out.by_spheres_ = std::make_shared<const Order>(std::move(spheres));
    return out;
}

std::int64_t Scene::free(const Configurations &cfgs, Judge judge, std::span<bool> out) const {
    const LinkSpheres &model = *spheres_;
    const std::size_t dof = static_cast<std::size_t>(robot().dof()), n = cfgs.count;
    ExactPoses &poses = scratch<ExactPoses>();
    SphereBlock &block = scratch<SphereBlock>();
    if (n > FEW) block.fit(model);
    const bool stuck = around_ && !around_->still_free(judge);
    // Configurations that outlive most of their block are put aside and looked at again in a block of their like: many
    // collide at the first pairs, and the others would take most lanes empty through all pairs.
    std::vector<Survivor> aside;
    const auto look = [&](std::span<const Survivor> rows, bool last) -> std::int64_t {
        const double *values[WIDE];  // spare lanes repeat the last row
        for (std::size_t k = 0; k < WIDE; k++) values[k] = cfgs.values.data() + rows[std::min(k, rows.size() - 1)].row * dof;
        const int bad = block.expand(model, values);
        if (bad >= 0) return static_cast<std::int64_t>(rows[std::min(static_cast<std::size_t>(bad), rows.size() - 1)].row);
        std::size_t next = pairs_->size();
        for (const Survivor &row : rows) next = std::min(next, row.pair), out[row.row] = false;
        if (stuck) return -1;
        block.place_links(model);
        poses.start(robot(), block.values.data(), WIDE);
        unsigned alive = own_free(block, first_lanes(static_cast<int>(rows.size())), judge, poses, next, last);
        if (around_ && next == pairs_->size() && alive) alive = around_->free(outside(block), alive, judge, poses);
        for (; alive; alive &= alive - 1) {
            const Survivor &row = rows[static_cast<std::size_t>(std::countr_zero(alive))];
            if (next < pairs_->size())
                aside.push_back({row.row, next});
            else
                out[row.row] = true;
        }
        return -1;
    };
    Survivor rows[WIDE];
    const auto look_again = [&](std::size_t at_least) {
        while (aside.size() >= at_least && !aside.empty()) {
            const std::size_t count = std::min<std::size_t>(WIDE, aside.size());
            std::copy(aside.end() - static_cast<std::ptrdiff_t>(count), aside.end(), rows);
            aside.resize(aside.size() - count);
            look({rows, count}, true);
        }
    };
    std::size_t row = 0;
    while (n - row > FEW) {
        const std::size_t count = std::min<std::size_t>(WIDE, n - row);
        for (std::size_t k = 0; k < count; k++) rows[k] = {row + k, 0};
        const std::int64_t bad = look({rows, count}, n <= WIDE);
        if (bad >= 0) return bad;
        row += count;
        look_again(WIDE);
    }
    look_again(1);
    for (; row < n; row++) {
        SphereRow &one = scratch<SphereRow>();
        one.fit(model);
        if (!one.expand(model, cfgs.values.data() + row * dof)) return static_cast<std::int64_t>(row);
        one.place_links(model);
        poses.start(robot(), one.values.data(), 1);
        out[row] = !stuck && refusing(one, judge, poses) < 0 && (!around_ || around_->free(outside(one), judge, poses));
    }
    return -1;
}

std::int64_t Scene::covers(const Configurations &cfgs) const {
    const std::size_t dof = static_cast<std::size_t>(robot().dof());
    SphereRow &one = scratch<SphereRow>();
    one.fit(*spheres_);
    for (std::size_t row = 0; row < cfgs.count; row++)
        if (!one.expand(*spheres_, cfgs.values.data() + row * dof)) return static_cast<std::int64_t>(row);
    return -1;
}

Verdict Scene::free(std::span<const double> cfg, Judge judge) const {
    for (std::size_t d = 0; d < cfg.size(); d++)
        if (!(cfg[d] >= range_.lower[d] && cfg[d] <= range_.upper[d])) return Verdict::beyond;
    SphereRow &one = scratch<SphereRow>();
    one.fit(*spheres_);
    if (!one.expand(*spheres_, cfg.data())) return Verdict::refused;
    one.place_links(*spheres_);
    ExactPoses &poses = scratch<ExactPoses>();
    poses.start(robot(), one.values.data(), 1);
    if (refusing(one, judge, poses) >= 0) return Verdict::colliding;
    if (around_ && !(around_->still_free(judge) && around_->free(outside(one), judge, poses))) return Verdict::colliding;
    return Verdict::free;
}

std::optional<Culprit> Scene::clash(std::span<const double> cfg) const {
    SphereRow &one = scratch<SphereRow>();
    one.fit(*spheres_);
    if (!one.expand(*spheres_, cfg.data())) return std::nullopt;
    one.place_links(*spheres_);
    ExactPoses &poses = scratch<ExactPoses>();
    poses.start(robot(), one.values.data(), 1);
    if (around_) {
        const LinkObstacle found = around_->refused(outside(one), Judge::meshes, poses);
        if (found.link >= 0) return Culprit{-1, found.link, found.obstacle};
    }
    const int pair = refusing(one, Judge::meshes, poses);
    if (pair >= 0) return Culprit{pair, -1, -1};
    return std::nullopt;
}

bool Scene::apart_by_spheres(SphereRow &row) const {
    SphereRow::Touching query{pad_};
    for (const Pair &pair : *pairs_) row.ask(*spheres_, pair.links, query);
    return !query.found;
}

bool Scene::free_by_spheres(std::span<const double> cfg) const {
    SphereRow &one = scratch<SphereRow>();
    one.fit(*spheres_);
    if (!one.expand(*spheres_, cfg.data())) return false;
    one.place_links(*spheres_);
    if (!apart_by_spheres(one)) return false;
    ExactPoses &poses = scratch<ExactPoses>();
    poses.start(robot(), one.values.data(), 1);
    return !around_ || (around_->still_free(Judge::spheres) && around_->free(outside(one), Judge::spheres, poses));
}

void Scene::row_clearance(std::span<const double> bounds, int lane, bool exact, ExactPoses &poses, double &smallest,
                          std::int64_t &closest, std::span<bool> touching) const {
    thread_local std::vector<int> order;
    order.resize(bounds.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return bounds[static_cast<std::size_t>(a)] < bounds[static_cast<std::size_t>(b)]; });
    smallest = INFINITE, closest = -1;
    const auto keep = [&](double gap, int k) {
        if (gap < smallest) smallest = gap, closest = k;
    };
    for (int k : order) {
        const double bound = bounds[static_cast<std::size_t>(k)];
        if (bound == INFINITE || (exact && bound >= std::max(smallest, 0.0))) break;  // below zero, spheres do not bound depths
        const Pair &pair = (*pairs_)[static_cast<std::size_t>(k)];
        if (pair.a == nullptr || (bound > 0.0 && !exact)) {
            keep(bound, k);
            continue;
        }
        const Pose rel = poses.across(pair.path, lane);
        const PosedPair posed(*pair.a, *pair.b, rel);
        if (pair_state(*pair.a, *pair.b, rel, true) != PairState::apart) {
            touching[static_cast<std::size_t>(k)] = true;
            if (!exact) keep(std::min(0.0, box_gap(*pair.a, *pair.b, rel, 0.0)), k);
            continue;
        }
        const double limit = smallest < INFINITE ? std::max(smallest, 0.0) * std::max(smallest, 0.0) : FAR;
        const double squared = surface_distance(posed, hull_distance(posed), {}, limit).closest.squared;
        keep(std::sqrt(squared) * (exact ? 1.0 : 1.0 - SEARCH), k);
    }
}

std::int64_t Scene::clearances(const Configurations &cfgs, bool exact, std::span<const bool> without, const Clearances &out) const {
    const LinkSpheres &model = *spheres_;
    const std::size_t dof = static_cast<std::size_t>(robot().dof()), n = cfgs.count, width = pairs_->size();
    const float slack = 2.0f * model.pad;
    std::vector<double> bounds(WIDE * width);
    ExactPoses &poses = scratch<ExactPoses>();
    SphereBlock &block = scratch<SphereBlock>();
    block.fit(model);
    for (std::size_t row = 0; row < n; row += WIDE) {
        const int count = static_cast<int>(std::min<std::size_t>(WIDE, n - row));
        const int bad = block.expand(model, Rows(cfgs, row, count, dof).at);
        if (bad >= 0) return static_cast<std::int64_t>(row) + bad;
        block.place_links(model);
        poses.start(robot(), block.values.data(), WIDE);
        for (std::size_t p = 0; p < width; p++) {
            SphereBlock::Closest<false> query{.slack = slack};
            if (!(exact && !without.empty() && without[p])) block.ask(model, (*pairs_)[p].links, query);
            for (int k = 0; k < count; k++)
                bounds[static_cast<std::size_t>(k) * width + p] = static_cast<double>(lane(query.best, k)) - model.margin;
        }
        for (int k = 0; k < count; k++) {
            const std::size_t at = row + static_cast<std::size_t>(k);
            row_clearance(std::span(bounds).subspan(static_cast<std::size_t>(k) * width, width), k, exact, poses, out.smallest[at],
                          out.closest[at], out.touching.subspan(at * width, width));
            if (!around_ || out.obstacles.empty()) continue;
            out.obstacles[at] = {};
            around_->clearance(k, poses, out.smallest[at], out.obstacles[at]);
            if (out.obstacles[at].link >= 0) out.closest[at] = -1;
        }
    }
    return -1;
}

}  // namespace elbowroom
