#include "elbowroom/self_collision.hpp"

namespace elbowroom {
namespace {

constexpr int FEW = 2;  // rows left over that are cheaper one by one than as a block
constexpr int FEW_ALIVE = WIDE / 4;         // lanes of a block not known to collide that are put aside,
constexpr std::size_t MANY_PAIRS = 16;      // when more pairs are left: placing them again costs about as much

// A configuration, and the first pair that it has not been looked at with.
struct Survivor {
    std::size_t row = 0, pair = 0;
};

}  // namespace

SelfCollision::SelfCollision(std::shared_ptr<const Robot> robot, std::span<const Ball> spheres, std::span<const int> sphere_links,
                             std::span<const LinkPair> pairs, std::span<const double> largest_values) {
    std::vector<int> used;
    for (const LinkPair &pair : pairs) used.push_back(pair.a), used.push_back(pair.b);
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    model_ = std::make_shared<LinkSpheres>(std::move(robot), spheres, sphere_links, used, largest_values);
    for (const LinkPair &pair : pairs) pairs_.push_back(model_->numbered(pair));
}

SelfCollision SelfCollision::reordered(std::span<const int> order) const {
    SelfCollision out = *this;
    for (std::size_t k = 0; k < order.size(); k++) out.pairs_[k] = pairs_[static_cast<std::size_t>(order[k])];
    return out;
}

const Robot &SelfCollision::robot() const { return *model_->robot; }

double SelfCollision::margin() const { return model_->margin; }

// Calls `in_block(block, first row, rows)` or `in_one(one, row)` for all configurations, links placed.
template <class InBlock, class InOne>
std::int64_t SelfCollision::each(const Configurations &cfgs, InBlock in_block, InOne in_one) const {
    const LinkSpheres &model = *model_;
    const std::size_t dof = static_cast<std::size_t>(robot().dof());
    const std::size_t n = cfgs.count;
    std::size_t row = 0;
    if (n > FEW) {
        SphereBlock &block = scratch<SphereBlock>();
        block.fit(model);
        while (n - row > FEW) {
            const int count = static_cast<int>(std::min<std::size_t>(WIDE, n - row));
            const double *rows[WIDE];  // spare lanes repeat the last row
            for (int k = 0; k < WIDE; k++) rows[k] = cfgs.values.data() + (row + static_cast<std::size_t>(std::min(k, count - 1))) * dof;
            const int bad = block.expand(model, rows);
            if (bad >= 0) return static_cast<std::int64_t>(row) + bad;
            block.place_links(model);
            in_block(block, row, count);
            row += static_cast<std::size_t>(count);
        }
    }
    if (row < n) {
        SphereRow &one = scratch<SphereRow>();
        one.fit(model);
        for (; row < n; row++) {
            if (!one.expand(model, cfgs.values.data() + row * dof)) return static_cast<std::int64_t>(row);
            one.place_links(model);
            in_one(one, row);
        }
    }
    return -1;
}

std::int64_t SelfCollision::free(const Configurations &cfgs, std::span<bool> out) const {
    const LinkSpheres &model = *model_;
    const std::size_t dof = static_cast<std::size_t>(robot().dof());
    // Configurations that outlive most of their block are put aside and looked at again in a block of their like: most
    // collide at the first pairs, and the others would take most lanes empty through all pairs.
    std::vector<Survivor> aside;
    const auto look = [&](SphereBlock &block, std::span<const Survivor> rows, bool last) {
        unsigned alive = first_lanes(static_cast<int>(rows.size()));
        std::size_t p = rows[0].pair;
        for (const Survivor &row : rows) p = std::min(p, row.pair), out[row.row] = false;
        for (; p < pairs_.size() && alive; p++) {
            SphereBlock::Touching query{model.pad, alive};
            block.ask(model, pairs_[p], query);
            alive &= ~query.found;
            if (query.found && !last && std::popcount(alive) <= FEW_ALIVE && pairs_.size() - p > MANY_PAIRS) break;
        }
        for (; alive; alive &= alive - 1) {
            const Survivor &row = rows[static_cast<std::size_t>(std::countr_zero(alive))];
            if (p < pairs_.size())
                aside.push_back({row.row, p + 1});
            else
                out[row.row] = true;
        }
    };
    const auto look_again = [&](SphereBlock &block, bool last) {
        while (aside.size() >= WIDE || (last && !aside.empty())) {
            Survivor rows[WIDE];
            const double *values[WIDE];
            const std::size_t count = std::min<std::size_t>(WIDE, aside.size());
            std::copy(aside.end() - static_cast<std::ptrdiff_t>(count), aside.end(), rows);
            aside.resize(aside.size() - count);
            for (std::size_t k = 0; k < WIDE; k++) values[k] = cfgs.values.data() + rows[std::min(k, count - 1)].row * dof;
            block.expand(model, values);
            block.place_links(model);
            look(block, {rows, count}, last);
        }
    };
    const std::int64_t bad = each(
        cfgs,
        [&](SphereBlock &block, std::size_t row, int count) {
            Survivor rows[WIDE];
            for (std::size_t k = 0; k < static_cast<std::size_t>(count); k++) rows[k] = {row + k, 0};
            look(block, {rows, static_cast<std::size_t>(count)}, cfgs.count <= WIDE);
            look_again(block, false);
        },
        [&](SphereRow &one, std::size_t row) {
            SphereRow::Touching query{model.pad};
            for (const LinkPair &pair : pairs_) {
                one.ask(model, pair, query);
                if (query.found) break;
            }
            out[row] = !query.found;
        });
    if (bad < 0 && !aside.empty()) look_again(scratch<SphereBlock>(), true);
    return bad;
}

std::int64_t SelfCollision::min_distances(const Configurations &cfgs, std::span<float> out) const {
    const LinkSpheres &model = *model_;
    const float slack = 2.0f * model.pad;
    return each(
        cfgs,
        [&](SphereBlock &block, std::size_t row, int count) {
            SphereBlock::Closest<true> query{.slack = slack};
            for (const LinkPair &pair : pairs_) block.ask(model, pair, query);
            for (int k = 0; k < count; k++) out[row + static_cast<std::size_t>(k)] = lane(query.best, k);
        },
        [&](SphereRow &one, std::size_t row) {
            SphereRow::Closest query{.slack = slack};
            for (const LinkPair &pair : pairs_) one.ask(model, pair, query);
            out[row] = query.best;
        });
}

std::int64_t SelfCollision::pair_distances(const Configurations &cfgs, std::span<float> out) const {
    const LinkSpheres &model = *model_;
    const std::size_t width = pairs_.size();
    const float slack = 2.0f * model.pad;
    return each(
        cfgs,
        [&](SphereBlock &block, std::size_t row, int count) {
            for (std::size_t p = 0; p < width; p++) {
                SphereBlock::Closest<false> query{.slack = slack};
                block.ask(model, pairs_[p], query);
                for (int k = 0; k < count; k++) out[(row + static_cast<std::size_t>(k)) * width + p] = lane(query.best, k);
            }
        },
        [&](SphereRow &one, std::size_t row) {
            for (std::size_t p = 0; p < width; p++) {
                SphereRow::Closest query{.slack = slack};
                one.ask(model, pairs_[p], query);
                out[row * width + p] = query.best;
            }
        });
}

std::int64_t SelfCollision::pair_hits(const Configurations &cfgs, std::span<bool> out) const {
    const LinkSpheres &model = *model_;
    const std::size_t width = pairs_.size();
    return each(
        cfgs,
        [&](SphereBlock &block, std::size_t row, int count) {
            for (std::size_t p = 0; p < width; p++) {
                SphereBlock::Touching query{model.pad, first_lanes(count)};
                block.ask(model, pairs_[p], query);
                for (int k = 0; k < count; k++) out[(row + static_cast<std::size_t>(k)) * width + p] = (query.found >> k) & 1u;
            }
        },
        [&](SphereRow &one, std::size_t row) {
            for (std::size_t p = 0; p < width; p++) {
                SphereRow::Touching query{model.pad};
                one.ask(model, pairs_[p], query);
                out[row * width + p] = query.found;
            }
        });
}

std::int64_t SelfCollision::count_hits(const Configurations &cfgs, std::span<const float> pads,
                                       std::span<std::int64_t> counts) const {
    const LinkSpheres &model = *model_;
    return each(
        cfgs,
        [&](SphereBlock &block, std::size_t, int count) {
            for (std::size_t p = 0; p < pairs_.size(); p++) {
                SphereBlock::Touching query{pads[p], first_lanes(count)};
                block.ask(model, pairs_[p], query);
                counts[p] += std::popcount(query.found);
            }
        },
        [&](SphereRow &one, std::size_t) {
            for (std::size_t p = 0; p < pairs_.size(); p++) {
                SphereRow::Touching query{pads[p]};
                one.ask(model, pairs_[p], query);
                counts[p] += query.found;
            }
        });
}

}  // namespace elbowroom
