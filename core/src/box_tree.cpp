#include "elbowroom/box_tree.hpp"

#include <algorithm>
#include <cstddef>

namespace elbowroom {
namespace {

constexpr float NOWHERE = 1e30f;  // low corner of an empty lane, and less the high one

// A number that is not above `x`, or not below it, in float32.
float rounded_down(double x) { return static_cast<float>(x - 1.2e-7 * std::fabs(x) - 1e-36); }
float rounded_up(double x) { return static_cast<float>(x + 1.2e-7 * std::fabs(x) + 1e-36); }

// Where a box is in the order, and its centre, which splits go by.
struct Item {
    float at[3];
    std::uint32_t box;
};

void sort_halves(std::span<Item> items, std::size_t middle) {
    float low[3], high[3];
    for (int k = 0; k < 3; k++) low[k] = high[k] = items[0].at[k];
    for (const Item &item : items)
        for (int k = 0; k < 3; k++) low[k] = std::min(low[k], item.at[k]), high[k] = std::max(high[k], item.at[k]);
    int axis = high[1] - low[1] > high[0] - low[0] ? 1 : 0;
    if (high[2] - low[2] > high[axis] - low[axis]) axis = 2;
    std::nth_element(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(middle), items.end(),
                     [axis](const Item &a, const Item &b) { return a.at[axis] < b.at[axis]; });
}

}  // namespace

class BoxTree::Builder {
  public:
    Builder(BoxTree &tree, std::span<const Bounds> boxes, std::size_t group) : tree_(tree), boxes_(boxes), group_(group) {
        items_.resize(boxes.size());
        for (std::size_t i = 0; i < boxes.size(); i++) {
            const Vec3 c = boxes[i].center() - tree.center_;
            items_[i] = {{static_cast<float>(c.x), static_cast<float>(c.y), static_cast<float>(c.z)},
                         static_cast<std::uint32_t>(i)};
        }
    }

    void run() {
        add_node(0, items_.size());
        tree_.order_.resize(items_.size());
        for (std::size_t i = 0; i < items_.size(); i++) tree_.order_[i] = items_[i].box;
    }

  private:
    struct Children {
        std::size_t begin[BoxLanes::LANES + 1];
        int count = 0;
    };

    // A node over some items, with up to eight children that are all full but the last.
    Bounds add_node(std::size_t first, std::size_t count) {
        std::size_t unit = group_;
        while (unit * BoxLanes::LANES < count) unit *= BoxLanes::LANES;
        Children children;
        split(first, count, unit, children);
        children.begin[children.count] = first + count;
        const std::size_t at = tree_.nodes_.size();
        tree_.nodes_.emplace_back();
        Bounds around{};
        for (int k = 0; k < BoxLanes::LANES; k++) {
            std::uint32_t entry = 0;
            Bounds bounds{};
            if (k < children.count) {
                const std::size_t begin = children.begin[k], size = children.begin[k + 1] - begin;
                if (unit == group_) {
                    entry = MEMBER | static_cast<std::uint32_t>(begin / group_);
                    bounds = boxes_[items_[begin].box];
                    for (std::size_t i = begin + 1; i < begin + size; i++) bounds.add(boxes_[items_[i].box]);
                } else {
                    entry = static_cast<std::uint32_t>(tree_.nodes_.size());
                    bounds = add_node(begin, size);
                }
                if (k == 0) around = bounds;
                around.add(bounds);
            }
            BoxLanes &lanes = tree_.nodes_[at];
            lanes.entry[k] = entry;
            for (int axis = 0; axis < 3; axis++) {
                lanes.low[axis][k] = k < children.count ? rounded_down(bounds.low[axis] - tree_.center_[axis]) : NOWHERE;
                lanes.high[axis][k] = k < children.count ? rounded_up(bounds.high[axis] - tree_.center_[axis]) : -NOWHERE;
            }
        }
        return around;
    }

    // Sorts items into runs of `unit`.
    void split(std::size_t first, std::size_t count, std::size_t unit, Children &children) {
        if (count <= unit) {
            children.begin[children.count++] = first;
            return;
        }
        const std::size_t half = ((count + unit - 1) / unit / 2) * unit;
        sort_halves({items_.data() + first, count}, half);
        split(first, half, unit, children);
        split(first + half, count - half, unit, children);
    }

    BoxTree &tree_;
    std::span<const Bounds> boxes_;
    std::size_t group_;
    std::vector<Item> items_;
};

BoxTree::BoxTree(std::span<const Bounds> boxes, std::size_t group) {
    if (boxes.empty()) return;
    bounds_ = boxes[0];
    for (const Bounds &box : boxes) bounds_.add(box);
    center_ = bounds_.center();
    Builder(*this, boxes, group).run();
}

}  // namespace elbowroom
