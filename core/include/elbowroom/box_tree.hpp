// A tree of axis-aligned boxes with eight children a node: the walk behind every query on obstacles and clouds.
//
// Members are split at medians along the widest axis of their centres, so that all nodes but the last of a level are
// full. The boxes of a node's children are side by side in float32, relative to the centre of the root's box and
// rounded outward: one test looks at eight of them.
//
// Guaranteed: bounds of distances that a walk prunes by are never above the true ones; `Frame::slack` exceeds what
// float32 loses.
#pragma once

#include <bit>
#include <cstdint>
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

// Distance of a point to an upright box: not positive inside, where it is the depth under the nearest face.
double signed_distance(const Bounds &box, Vec3 p);

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

    // A tree over `boxes`. Every member of the tree is a group of `group` boxes that are consecutive in `order()`, the
    // last one of fewer.
    explicit BoxTree(std::span<const Bounds> boxes, std::size_t group = 1);
    // The same over points.
    explicit BoxTree(std::span<const Vec3> points, std::size_t group = 1);

    std::span<const std::uint32_t> order() const { return order_; }  // boxes in the order of the members
    const Bounds &bounds() const { return bounds_; }
    bool empty() const { return nodes_.empty(); }
    std::span<const BoxLanes> nodes() const { return nodes_; }  // the root is the first

    // Visits members whose box is nearer to a point than `limit()`, which may fall on the way, nearest boxes first.
    // Distances are signed: inside a box, the depth under its nearest face. `visit(member)` returns true to stop.
    template <class Limit, class Visit> bool visit_nearest(Vec3 p, Limit limit, Visit visit) const;

    // Visits members whose box shares a point with an upright box. `visit(member)` returns true to stop, which is
    // what comes back.
    template <class Visit> bool visit_overlapping(const Bounds &box, Visit visit) const;

    // Visits members for which `test(lanes)`, a mask of eight bits for boxes relative to `center()`, has a bit set all
    // the way down. What it says of lanes must hold for what is inside of them.
    template <class Test, class Visit> bool visit_where(Test test, Visit visit) const;

    Vec3 center() const { return center_; }   // origin of the float32 coordinates
    double rounding() const { return rounding_; }  // metres: error of the corners, which are rounded outward by it

  private:
    std::vector<BoxLanes> nodes_;
    std::vector<std::uint32_t> order_;
    Bounds bounds_{};
    Vec3 center_;
    double rounding_ = 0.0;
    int depth_ = 0;
};

}  // namespace elbowroom
