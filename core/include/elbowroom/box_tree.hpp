// A tree of axis-aligned boxes with eight children a node: the walk behind every query on obstacles and clouds.
//
// Members are split at medians along the widest axis of their centres, so that all nodes but the last of a level are
// full. The boxes of a node's children are side by side in float32, relative to the centre of the root's box and
// rounded outward: one test looks at eight of them.
//
// Guaranteed: no member that a query asks for is passed over; what float32 can lose is allowed for, so that a few more
// may be visited.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "elbowroom/geometry.hpp"
#include "elbowroom/lanes.hpp"

namespace elbowroom {

// An upright box by its corners; empty where low is above high.
struct Bounds {
    Vec3 low, high;

    Vec3 center() const { return 0.5 * low + 0.5 * high; }
    Vec3 half() const { return 0.5 * high - 0.5 * low; }
    void add(const Bounds &other) { low = min(low, other.low), high = max(high, other.high); }
};

// Eight boxes side by side.
struct alignas(32) BoxLanes {
    static constexpr int LANES = 8;
    float low[3][LANES], high[3][LANES];  // an empty lane has its low corner far beyond its high one
    std::uint32_t entry[LANES];           // a node, or a member when MEMBER is set
};
constexpr std::uint32_t MEMBER = 1u << 31;

class BoxTree {
  public:
    BoxTree() = default;

    // A tree over `boxes`, fewer than 2^31 of them. Every member of the tree is a group of `group` boxes that are
    // consecutive in `order()`, the last one of fewer.
    explicit BoxTree(std::span<const Bounds> boxes, std::size_t group = 1);

    std::span<const std::uint32_t> order() const { return order_; }  // boxes in the order of the members
    const Bounds &bounds() const { return bounds_; }                 // around all of them
    bool empty() const { return nodes_.empty(); }
    Vec3 center() const { return center_; }                          // origin of the coordinates of nodes
    std::span<const BoxLanes> nodes() const { return nodes_; }       // the root is the first

    // Visits members whose box is nearer to a point than `limit()`, which may fall on the way, nearest boxes first.
    // Distances are signed: inside a box, the depth under its nearest face. `visit(member)` returns true to stop, which
    // is what comes back.
    template <class Limit, class Visit> bool visit_nearest(Vec3 p, Limit limit, Visit visit) const;

    // Visits members whose box is within `radius`, not negative, of a point, in no order.
    template <class Visit> bool visit_within(Vec3 p, double radius, Visit visit) const;

    // Visits members whose box shares a point with an upright box, in no order.
    template <class Visit> bool visit_overlapping(const Bounds &box, Visit visit) const;

    // Visits members, in no order, for which `test(lanes)` has a bit set all the way down: a mask of eight bits, about
    // boxes relative to `center()`. What it says of a box has to hold for the boxes inside of it.
    template <class Test, class Visit> bool visit_where(Test test, Visit visit) const;

  private:
    static constexpr int LEVELS = 12;             // at most: 8^11 members are more than there can be
    static constexpr int WAITING = 8 * LEVELS;    // nodes that wait at most, seven on each level
    static constexpr double ROUNDING = 1.0 / 16777216.0;  // of a float32, relative

    class Builder;

    // A point relative to the centre, and how far off float32 puts it at most.
    struct Place {
        F32x8 x, y, z;
        double slack;
    };
    Place place(Vec3 p) const {
        const Vec3 d = p - center_;
        return {splat8(static_cast<float>(d.x)), splat8(static_cast<float>(d.y)), splat8(static_cast<float>(d.z)),
                2.0 * ROUNDING * size_of(d) + 1e-36};
    }
    // Signed distances of the place to eight boxes, each too large by less than 8 roundings of itself and the slack.
    static F32x8 gaps(const BoxLanes &lanes, const Place &p) {
        const F32x8 u = max(load8(lanes.low[0]) - p.x, p.x - load8(lanes.high[0]));
        const F32x8 v = max(load8(lanes.low[1]) - p.y, p.y - load8(lanes.high[1]));
        const F32x8 w = max(load8(lanes.low[2]) - p.z, p.z - load8(lanes.high[2]));
        const F32x8 inner = max(max(u, v), w), zero = splat8(0.0f);
        const F32x8 a = max(u, zero), b = max(v, zero), c = max(w, zero);
        return inner > zero ? sqrt(a * a + b * b + c * c) : inner;
    }
    // Gaps from this number on are not below the limit.
    static float beyond(double limit, double slack) {
        const double reach = limit + slack;
        return static_cast<float>(reach + 16.0 * ROUNDING * std::fabs(reach) + 1e-36);
    }

    std::vector<BoxLanes> nodes_;  // the root is the first
    std::vector<std::uint32_t> order_;
    Bounds bounds_{};
    Vec3 center_;
};

template <class Limit, class Visit> bool BoxTree::visit_nearest(Vec3 p, Limit limit, Visit visit) const {
    if (empty()) return false;
    struct Opened {
        F32x8 gaps;  // infinite for lanes that were visited
        const BoxLanes *lanes;
    };
    const Place at = place(p);
    Opened stack[LEVELS];
    int top = 0;
    stack[0] = {gaps(nodes_.front(), at), &nodes_.front()};
    while (top >= 0) {
        Opened &next = stack[top];
        const float least = smallest(next.gaps);
        if (!(least < beyond(limit(), at.slack))) {
            top--;
            continue;
        }
        const int k = std::countr_zero(bits(next.gaps == splat8(least)));
        next.gaps = with_lane(next.gaps, k, std::numeric_limits<float>::infinity());
        const std::uint32_t entry = next.lanes->entry[k];
        if (!(entry & MEMBER))
            stack[++top] = {gaps(nodes_[entry], at), &nodes_[entry]};
        else if (visit(entry & ~MEMBER))
            return true;
    }
    return false;
}

template <class Test, class Visit> bool BoxTree::visit_where(Test test, Visit visit) const {
    if (empty()) return false;
    std::uint32_t stack[WAITING];
    int top = 0;
    stack[top++] = 0;
    while (top > 0) {
        const BoxLanes &lanes = nodes_[stack[--top]];
        for (unsigned hits = test(lanes); hits; hits &= hits - 1) {
            const std::uint32_t entry = lanes.entry[std::countr_zero(hits)];
            if (!(entry & MEMBER))
                stack[top++] = entry;
            else if (visit(entry & ~MEMBER))
                return true;
        }
    }
    return false;
}

template <class Visit> bool BoxTree::visit_within(Vec3 p, double radius, Visit visit) const {
    const Place at = place(p);
    const F32x8 reach = splat8(beyond(radius, at.slack));
    return visit_where([&](const BoxLanes &lanes) { return bits(gaps(lanes, at) < reach); }, visit);
}

template <class Visit> bool BoxTree::visit_overlapping(const Bounds &box, Visit visit) const {
    const Vec3 low = box.low - center_, high = box.high - center_;
    const auto down = [](double x) { return splat8(static_cast<float>(x - 2.0 * ROUNDING * std::fabs(x) - 1e-36)); };
    const auto up = [](double x) { return splat8(static_cast<float>(x + 2.0 * ROUNDING * std::fabs(x) + 1e-36)); };
    const F32x8 low_x = down(low.x), low_y = down(low.y), low_z = down(low.z);
    const F32x8 high_x = up(high.x), high_y = up(high.y), high_z = up(high.z);
    return visit_where(
        [&](const BoxLanes &lanes) {
            const I32x8 x = (low_x <= load8(lanes.high[0])) & (high_x >= load8(lanes.low[0]));
            const I32x8 y = (low_y <= load8(lanes.high[1])) & (high_y >= load8(lanes.low[1]));
            const I32x8 z = (low_z <= load8(lanes.high[2])) & (high_z >= load8(lanes.low[2]));
            return bits(x & y & z);
        },
        visit);
}

}  // namespace elbowroom
