#include "elbowroom/clearance_grid.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <thread>
#include <unordered_map>
#include <utility>

namespace elbowroom {
namespace {

constexpr double CELL = 0.025;            // metres: a ball of some centimetres is told apart from an obstacle about as far away
constexpr double MAX_CELLS = 2'000'000;   // cells grow beyond it; 8 MB of float32
constexpr double SLACK = 1e-6;            // metres taken off every bound: more than the rounding of places in the grid
constexpr double TIGHT = 0.4;             // metres beyond which bounds need not be tight: no ball around a part of a link is larger
constexpr std::size_t MAX_LOOSE = 8;      // obstacles asked one by one at most
constexpr int BLOCK = 4;                  // cells along an edge of a block; far from obstacles one distance serves a whole block
constexpr std::size_t FEW = 16;           // obstacles near a block that are asked one by one; where there are more, the tree is
constexpr double ROUNDING = 1.0 / 16777216.0;
constexpr int MANY = 32;                  // obstacles from which on a grid pays
constexpr std::size_t LARGE = 100;        // triangles of a mesh from which on it pays

float rounded_down(double x) { return static_cast<float>(x - 2.0 * ROUNDING * std::fabs(x) - 1e-36); }

// Lower bound of the distance to obstacles that have an end, below `limit`. Inside an obstacle, anything not positive.
double nearest_bounded(const World &world, Vec3 p, double limit) {
    double best = limit;
    world.tree().visit_nearest(
        p, [&] { return best; },
        [&](std::uint32_t member) {
            best = std::min(best, world.distance_lower_bound(world.bounded()[member], p, best));
            return best <= 0.0;
        });
    return best;
}

// Of where and what an obstacle is; the same for those that are the same.
std::size_t hash_of(const Obstacle &o) {
    std::uint64_t hash = 1469598103934665603u;
    const auto mix = [&](double x) { hash = (hash ^ std::bit_cast<std::uint64_t>(x + 0.0)) * 1099511628211u; };
    mix(static_cast<double>(o.kind)), mix(o.radius), mix(o.length), mix(o.size.x), mix(o.size.y), mix(o.size.z);
    for (const double x : o.pose.r) mix(x);
    for (const double x : o.pose.t) mix(x);
    return static_cast<std::size_t>(hash ^ hash >> 32);
}

}  // namespace

// What worlds share that differ in a few obstacles.
struct ClearanceGrid::Cells {
    std::shared_ptr<const World> made_of;
    std::unordered_multimap<std::size_t, std::int32_t> inside;  // obstacles of that world in the cells, by hash
    Bounds around{};                                            // around them
    Vec3 corner{};
    double cell = CELL, half = 0.0;  // edge, and half the diagonal
    int shape[3] = {0, 0, 0};
    std::vector<float> bounds;  // z fastest; inside an obstacle anything that is not positive

    Cells(std::shared_ptr<const World> world, const Bounds &region, int threads) : made_of(std::move(world)) {
        for (const std::int32_t k : made_of->bounded()) inside.emplace(hash_of(made_of->obstacle(k)), k);
        if (made_of->tree().empty()) return;
        around = made_of->tree().bounds();
        const Vec3 reach = {TIGHT, TIGHT, TIGHT};
        const Vec3 low = max(around.low - reach, region.low), extent = max(Vec3{}, min(around.high + reach, region.high) - low);
        cell = std::max(CELL, std::cbrt(extent.x * extent.y * extent.z / MAX_CELLS));
        const auto along = [&](int k) { return std::ceil(extent[k] / cell); };
        // A flat region has few cells along one axis: their number is not the volume's.
        while (along(0) * along(1) * along(2) > MAX_CELLS) cell *= 1.1;
        half = 0.5 * std::sqrt(3.0) * cell;
        corner = low;
        for (int k = 0; k < 3; k++) shape[k] = static_cast<int>(std::min(along(k), MAX_CELLS));
        bounds.resize(static_cast<std::size_t>(shape[0]) * static_cast<std::size_t>(shape[1]) * static_cast<std::size_t>(shape[2]));
        if (!bounds.empty()) fill(threads);
    }

    std::size_t at(int i, int j, int k) const {
        return (static_cast<std::size_t>(i) * static_cast<std::size_t>(shape[1]) + static_cast<std::size_t>(j)) *
                   static_cast<std::size_t>(shape[2]) + static_cast<std::size_t>(k);
    }

    bool holds(const Obstacle &o) const {
        for (auto [it, end] = inside.equal_range(hash_of(o)); it != end; ++it)
            if (made_of->obstacle(it->second).same_as(o)) return true;
        return false;
    }

    void fill(int threads) {
        const int columns = (shape[0] + BLOCK - 1) / BLOCK, workers = std::clamp(threads, 1, columns);
        std::vector<std::thread> running;
        // Columns are dealt out in turn: obstacles are seldom spread evenly.
        const auto work = [&](int first) {
            for (int bx = first; bx < columns; bx += workers) fill_column(bx);
        };
        for (int w = 1; w < workers; w++) running.emplace_back(work, w);
        work(0);
        for (std::thread &thread : running) thread.join();
    }

    // A block far from all obstacles, or deep inside one, gets the bounds that its centre's distance leaves to its cells.
    void fill_column(int bx) {
        const World &world = *made_of;
        const double reach = BLOCK * half;
        std::vector<std::int32_t> some;
        for (int by = 0; by < (shape[1] + BLOCK - 1) / BLOCK; by++) {
            double middle = TIGHT + reach;
            for (int bz = 0; bz < (shape[2] + BLOCK - 1) / BLOCK; bz++) {
                const auto place = [&](double i, double j, double k) { return corner + cell * Vec3{i, j, k}; };
                const Vec3 center = place((bx + 0.5) * BLOCK, (by + 0.5) * BLOCK, (bz + 0.5) * BLOCK);
                // The next block is at most a step farther.
                middle = nearest_bounded(world, center, std::min(TIGHT + reach, middle + BLOCK * cell + SLACK));
                const bool exact = -reach < middle && middle < 3.0 * reach;
                some.clear();
                // What is nearest to a cell of the block is not much farther from its centre than the nearest there.
                if (exact) world.tree().visit_within(center, std::max(middle, 0.0) + 2.0 * reach, [&](std::uint32_t member) {
                    some.push_back(world.bounded()[member]);
                    return some.size() > FEW;
                });
                for (int i = bx * BLOCK; i < std::min(shape[0], (bx + 1) * BLOCK); i++)
                    for (int j = by * BLOCK; j < std::min(shape[1], (by + 1) * BLOCK); j++)
                        for (int k = bz * BLOCK; k < std::min(shape[2], (bz + 1) * BLOCK); k++) {
                            const Vec3 p = place(i + 0.5, j + 0.5, k + 0.5);
                            const double off = norm(p - center);
                            double found = middle - off;
                            if (exact) {
                                found = middle + off + SLACK;
                                if (some.size() > FEW)
                                    found = nearest_bounded(world, p, found);
                                else
                                    for (std::size_t c = 0; c < some.size() && found > 0.0; c++)
                                        found = std::min(found, world.distance_lower_bound(some[c], p, found));
                            }
                            bounds[at(i, j, k)] = rounded_down(found - half - SLACK);
                        }
            }
        }
    }
};

ClearanceGrid::ClearanceGrid(std::shared_ptr<const World> world, const Bounds &region, int threads)
    : world_(world), cells_(std::make_shared<const Cells>(std::move(world), region, threads)) {}

std::shared_ptr<const ClearanceGrid> ClearanceGrid::for_world(std::shared_ptr<const World> world) const {
    std::vector<std::int32_t> loose;
    std::size_t kept = 0;
    for (const std::int32_t k : world->bounded()) {
        if (cells_->holds(world->obstacle(k)))
            kept++;
        else
            loose.push_back(k);
    }
    const std::size_t before = cells_->inside.size(), stale = before > kept ? before - kept : 0;
    if (loose.size() > MAX_LOOSE || stale > MAX_LOOSE) return nullptr;
    auto out = std::shared_ptr<ClearanceGrid>(new ClearanceGrid());
    out->world_ = std::move(world), out->cells_ = cells_, out->loose_ = std::move(loose);
    return out;
}

bool ClearanceGrid::pays(const World &world) {
    if (world.bounded().size() > MANY) return true;
    for (const std::int32_t k : world.bounded()) {
        const Obstacle &o = world.obstacle(k);
        if (o.kind == ObstacleKind::cloud || (o.kind == ObstacleKind::mesh && o.mesh->triangles.size() > LARGE)) return true;
    }
    return false;
}

std::size_t ClearanceGrid::n_cells() const { return cells_->bounds.size(); }

double ClearanceGrid::lower_bound(Vec3 p, double limit) const {
    const Cells &c = *cells_;
    double low = UNBOUNDED;
    if (!c.inside.empty()) {
        const Vec3 at = 1.0 / c.cell * (p - c.corner), cell = {std::floor(at.x), std::floor(at.y), std::floor(at.z)};
        if (cell.x >= 0.0 && cell.x < c.shape[0] && cell.y >= 0.0 && cell.y < c.shape[1] && cell.z >= 0.0 && cell.z < c.shape[2]) {
            const double known = c.bounds[c.at(static_cast<int>(cell.x), static_cast<int>(cell.y), static_cast<int>(cell.z))];
            // The centre of the cell tells more than the cell: the distance changes by at most the way to it.
            low = known + c.half - c.cell * norm(at - cell - Vec3{0.5, 0.5, 0.5});
        } else {
            low = norm(max(Vec3{}, max(c.around.low - p, p - c.around.high))) - SLACK;
        }
    }
    for (const std::int32_t k : world_->half_spaces()) low = std::min(low, world_->distance(k, p));
    for (const std::int32_t k : loose_) low = std::min(low, world_->distance_lower_bound(k, p, std::min(low, limit)));
    return low;
}

F32x8 ClearanceGrid::lower_bound(const Points8 &p, F32x8 limit) const {
    const Cells &c = *cells_;
    const F32x8 zero = splat8(0.0f);
    F32x8 low = splat8(1e30f);
    if (!c.inside.empty()) {
        const auto narrow = [](double x) { return static_cast<float>(x); };
        const F32x8 far = abs(p.x) + abs(p.y) + abs(p.z);
        const auto outside = [&](double lowest, double highest, F32x8 v) {
            return max(max(narrow(lowest) - v, v - narrow(highest)), zero);
        };
        const F32x8 u = outside(c.around.low.x, c.around.high.x, p.x), v = outside(c.around.low.y, c.around.high.y, p.y),
                    w = outside(c.around.low.z, c.around.high.z, p.z);
        low = sqrt(fused(u, u, fused(v, v, w * w)));
        if (!c.bounds.empty()) {
            const float per = narrow(1.0 / c.cell), cell = narrow(c.cell);
            const F32x8 x = (p.x - narrow(c.corner.x)) * per, y = (p.y - narrow(c.corner.y)) * per, z = (p.z - narrow(c.corner.z)) * per;
            const auto within = [&](F32x8 a, int n) { return (a >= zero) & (a < splat8(static_cast<float>(n))); };
            const I32x8 inside = within(x, c.shape[0]) & within(y, c.shape[1]) & within(z, c.shape[2]);
            const I32x8 i = truncated(inside ? x : zero), j = truncated(inside ? y : zero), k = truncated(inside ? z : zero);
            const F32x8 dx = x - as_float(i) - 0.5f, dy = y - as_float(j) - 0.5f, dz = z - as_float(k) - 0.5f;
            const F32x8 off = sqrt(fused(dx, dx, fused(dy, dy, dz * dz)));
            const F32x8 known = gather(c.bounds.data(), (i * c.shape[1] + j) * c.shape[2] + k);
            low = inside ? fused(off, splat8(-cell), known + narrow(c.half)) : low;
        }
        // What float32 makes of the place, and of the way to the centre or to the box around all.
        const float margin = narrow(SLACK + 32.0 * ROUNDING * (size_of(c.corner) + size_of(c.around.low) + size_of(c.around.high) + c.cell));
        low = low - fused(splat8(static_cast<float>(32.0 * ROUNDING)), far, splat8(margin));
    }
    for (const std::int32_t k : world_->half_spaces()) low = min(low, world_->distance_lower_bound(k, p, limit));
    for (const std::int32_t k : loose_) low = min(low, world_->distance_lower_bound(k, p, min(low, limit)));
    return low;
}

}  // namespace elbowroom
