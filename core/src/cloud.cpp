#include "elbowroom/cloud.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace elbowroom {
namespace {

constexpr int MOST_NEIGHBOURS = 64;

// Squared distances of a point to those of a leaf.
struct Squares {
    F64x4 low, high;

    Squares(const PointCloud::Leaf &leaf, Vec3 p) : low(part(leaf, p, 0)), high(part(leaf, p, 4)) {}
    double operator[](int k) const { return k < 4 ? low[k] : high[k - 4]; }
    unsigned below(double limit) const { return bits(low < splat4(limit)) | bits(high < splat4(limit)) << 4; }

  private:
    static F64x4 part(const PointCloud::Leaf &leaf, Vec3 p, int from) {
        const F64x4 x = load4(leaf.at[0] + from) - p.x, y = load4(leaf.at[1] + from) - p.y, z = load4(leaf.at[2] + from) - p.z;
        return x * x + y * y + z * z;
    }
};

}  // namespace

PointCloud::PointCloud(std::span<const Vec3> points) : size_(points.size()) {
    std::vector<Bounds> boxes(points.size());
    for (std::size_t i = 0; i < points.size(); i++) boxes[i] = {points[i], points[i]};
    tree_ = BoxTree(boxes, Leaf::LANES);
    leaves_.resize((points.size() + Leaf::LANES - 1) / Leaf::LANES);
    for (std::size_t i = 0; i < leaves_.size() * Leaf::LANES; i++) {
        const Vec3 p = points[tree_.order()[std::min(i, points.size() - 1)]];
        for (int axis = 0; axis < 3; axis++) leaves_[i / Leaf::LANES].at[axis][i % Leaf::LANES] = p[axis];
    }
}

PointCloud::Nearest PointCloud::nearest(Vec3 p, double limit, double enough) const {
    Nearest found{limit, -1};
    double reach = std::sqrt(limit);
    tree_.visit_nearest(
        p, [&] { return reach; },
        [&](std::uint32_t leaf) {
            const Squares squares(leaves_[leaf], p);
            for (unsigned hits = squares.below(found.squared); hits; hits &= hits - 1) {
                const int k = std::countr_zero(hits);
                if (!(squares[k] < found.squared)) continue;
                found = {squares[k], std::min<std::int64_t>(std::int64_t{leaf} * Leaf::LANES + k, static_cast<std::int64_t>(size_) - 1)};
                reach = std::sqrt(squares[k]);
            }
            return found.squared <= enough;
        });
    return found;
}

double PointCloud::neighbour_distance(std::size_t i, int count) const {
    const Vec3 p = point(i);
    double near[MOST_NEIGHBOURS];
    count = std::min(count, MOST_NEIGHBOURS);
    std::fill_n(near, count, std::numeric_limits<double>::infinity());
    tree_.visit_nearest(
        p, [&] { return std::sqrt(near[count - 1]); },
        [&](std::uint32_t leaf) {
            const Squares squares(leaves_[leaf], p);
            const std::size_t first = std::size_t{leaf} * Leaf::LANES;
            for (int k = 0; k < Leaf::LANES && first + static_cast<std::size_t>(k) < size_; k++) {
                if (first + static_cast<std::size_t>(k) == i || !(squares[k] < near[count - 1])) continue;
                int place = count - 1;
                for (; place > 0 && near[place - 1] > squares[k]; place--) near[place] = near[place - 1];
                near[place] = squares[k];
            }
            return false;
        });
    return std::sqrt(near[count - 1]);
}

}  // namespace elbowroom
