#include "elbowroom/clearance_grid.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <unordered_map>
#include <utility>

namespace elbowroom {
namespace {

constexpr double CELL = 0.025;            // metres: a ball of some centimetres is told apart from an obstacle about as far away
constexpr double MAX_CELLS = 2'000'000;   // cells grow beyond it; 8 MB of float32
constexpr double SLACK = 1e-6;            // metres taken off every bound: more than the rounding of places in the grid
constexpr double TIGHT = 0.4;             // metres beyond which bounds need not be tight: no ball around a part of a link is larger
constexpr std::size_t MAX_LOOSE = 8;      // obstacles asked one by one at most
constexpr int BLOCK = 4;                  // cells along an edge of a block, a power of two; far from obstacles one distance serves it
constexpr double FAR = 3.0;               // distance of obstacles from there on, in halves of a block's diagonal
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

// What worlds share that differ in a few obstacles. A block of cells is filled when one of them is first asked for, by whoever asks:
// threads that meet there write the same numbers.
struct ClearanceGrid::Cells {
    std::shared_ptr<const World> made_of;
    std::unordered_multimap<std::size_t, std::int32_t> inside;  // obstacles of that world in the cells, by hash
    Bounds around{};                                            // around them
    Vec3 corner{};
    double cell = CELL, half = 0.0;  // edge, and half the diagonal
    int shape[3] = {0, 0, 0};
    std::size_t count = 0;
    std::unique_ptr<std::atomic<float>[]> bounds;  // z fastest; 0: not known yet; inside an obstacle anything that is not positive

    Cells(std::shared_ptr<const World> world, const Bounds &region) : made_of(std::move(world)) {
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
        count = static_cast<std::size_t>(shape[0]) * static_cast<std::size_t>(shape[1]) * static_cast<std::size_t>(shape[2]);
        bounds = std::make_unique<std::atomic<float>[]>(count);
    }

    std::size_t at(int i, int j, int k) const {
        return (static_cast<std::size_t>(i) * static_cast<std::size_t>(shape[1]) + static_cast<std::size_t>(j)) *
                   static_cast<std::size_t>(shape[2]) + static_cast<std::size_t>(k);
    }
    void set(int i, int j, int k, double bound) const { bounds[at(i, j, k)].store(rounded_down(bound), std::memory_order_relaxed); }
    double known(int i, int j, int k) const {
        const std::atomic<float> &bound = bounds[at(i, j, k)];
        if (bound.load(std::memory_order_relaxed) == 0.0f) fill_around(i, j, k);
        return bound.load(std::memory_order_relaxed);
    }
    // Lanes read the cells as what they are in memory: aligned numbers of four bytes, which no store leaves half written.
    const float *lanes() const {
        static_assert(sizeof(std::atomic<float>) == sizeof(float) && std::atomic<float>::is_always_lock_free);
        return reinterpret_cast<const float *>(bounds.get());
    }

    bool holds(const Obstacle &o) const {
        for (auto [it, end] = inside.equal_range(hash_of(o)); it != end; ++it)
            if (made_of->obstacle(it->second).same_as(o)) return true;
        return false;
    }

    // Fills the block that a cell is in.
    void fill_around(int i, int j, int k) const {
        thread_local std::vector<std::int32_t> some;
        fill_block(i & -BLOCK, j & -BLOCK, k & -BLOCK, BLOCK, UNBOUNDED, some);
    }

    // Fills a block of cells from its first one on, of which the obstacles are no farther from the middle than `limit`. A block far from
    // all obstacles, or deep inside one, gets the bounds that the distance of its middle leaves to its cells; another is parted, and
    // what is found in its middle bounds the search in its parts.
    void fill_block(int i, int j, int k, int size, double limit, std::vector<std::int32_t> &some) const {
        const World &world = *made_of;
        const double reach = size * half;
        const auto place = [&](double x, double y, double z) { return corner + cell * Vec3{x, y, z}; };
        const Vec3 center = place(i + 0.5 * size, j + 0.5 * size, k + 0.5 * size);
        double middle = std::min(TIGHT + reach, limit);
        if (size == BLOCK || some.size() > FEW)
            middle = nearest_bounded(world, center, middle);
        else
            for (std::size_t c = 0; c < some.size() && middle > -reach; c++)
                middle = std::min(middle, world.distance_lower_bound(some[c], center, middle));
        if (size == 1) {
            set(i, j, k, middle - half - SLACK);
        } else if (-reach < middle && middle < FAR * reach) {
            if (size == BLOCK) {
                some.clear();
                // What is nearest to a cell of the block is not much farther from its centre than the nearest there.
                world.tree().visit_within(center, std::max(middle, 0.0) + 2.0 * reach, [&](std::uint32_t member) {
                    some.push_back(world.bounded()[member]);
                    return some.size() > FEW;
                });
            }
            const int part = size / 2;
            const double most = middle + 0.5 * reach + SLACK;
            for (int x = i; x < std::min(shape[0], i + size); x += part)
                for (int y = j; y < std::min(shape[1], j + size); y += part)
                    for (int z = k; z < std::min(shape[2], k + size); z += part) fill_block(x, y, z, part, most, some);
        } else {
            for (int x = i; x < std::min(shape[0], i + size); x++)
                for (int y = j; y < std::min(shape[1], j + size); y++)
                    for (int z = k; z < std::min(shape[2], k + size); z++)
                        set(x, y, z, middle - norm(place(x + 0.5, y + 0.5, z + 0.5) - center) - half - SLACK);
        }
    }
};

ClearanceGrid::ClearanceGrid(std::shared_ptr<const World> world, const Bounds &region)
    : world_(world), cells_(std::make_shared<const Cells>(std::move(world), region)) {}

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

std::size_t ClearanceGrid::n_cells() const { return cells_->count; }

double ClearanceGrid::lower_bound(Vec3 p, double limit) const {
    const Cells &c = *cells_;
    double low = UNBOUNDED;
    if (!c.inside.empty()) {
        const Vec3 at = 1.0 / c.cell * (p - c.corner), cell = {std::floor(at.x), std::floor(at.y), std::floor(at.z)};
        if (cell.x >= 0.0 && cell.x < c.shape[0] && cell.y >= 0.0 && cell.y < c.shape[1] && cell.z >= 0.0 && cell.z < c.shape[2]) {
            const double known = c.known(static_cast<int>(cell.x), static_cast<int>(cell.y), static_cast<int>(cell.z));
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
        if (c.count > 0) {
            const float per = narrow(1.0 / c.cell), cell = narrow(c.cell);
            const F32x8 x = (p.x - narrow(c.corner.x)) * per, y = (p.y - narrow(c.corner.y)) * per, z = (p.z - narrow(c.corner.z)) * per;
            const auto within = [&](F32x8 a, int n) { return (a >= zero) & (a < splat8(static_cast<float>(n))); };
            const I32x8 inside = within(x, c.shape[0]) & within(y, c.shape[1]) & within(z, c.shape[2]);
            const I32x8 i = truncated(inside ? x : zero), j = truncated(inside ? y : zero), k = truncated(inside ? z : zero);
            const F32x8 dx = x - as_float(i) - 0.5f, dy = y - as_float(j) - 0.5f, dz = z - as_float(k) - 0.5f;
            const F32x8 off = sqrt(fused(dx, dx, fused(dy, dy, dz * dz)));
            const I32x8 cells = (i * c.shape[1] + j) * c.shape[2] + k;
            F32x8 known = gather(c.lanes(), cells);
            if (unsigned unknown = bits((known == zero) & inside)) {
                for (; unknown; unknown &= unknown - 1) {
                    const int q = std::countr_zero(unknown);
                    c.known(i[q], j[q], k[q]);
                }
                known = gather(c.lanes(), cells);
            }
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
