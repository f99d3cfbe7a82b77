// A point cloud with its tree, made once and shared by all worlds and poses in which it stands.
//
// Points are kept in the order of the tree, eight to a leaf, coordinate by coordinate in float64. Distances are exact
// to rounding. Coordinates are metres in the frame of the cloud; the radius of its balls belongs to the obstacle.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "elbowroom/box_tree.hpp"
#include "elbowroom/geometry.hpp"

namespace elbowroom {

class PointCloud {
  public:
    struct alignas(32) Leaf {
        static constexpr int LANES = 8;
        double at[3][LANES];  // lanes without a point repeat the last one

        Vec3 point(int k) const { return {at[0][k], at[1][k], at[2][k]}; }
    };

    // At least one point, fewer than 2^31, all finite.
    explicit PointCloud(std::span<const Vec3> points);

    std::size_t size() const { return size_; }
    Vec3 point(std::size_t i) const { return leaves_[i / Leaf::LANES].point(static_cast<int>(i % Leaf::LANES)); }
    const Bounds &bounds() const { return tree_.bounds(); }
    const BoxTree &tree() const { return tree_; }  // its members are the leaves
    std::span<const Leaf> leaves() const { return leaves_; }

    struct Nearest {
        double squared;      // distance; the limit when no point is nearer
        std::int64_t point;  // in the order of the tree, -1 for none
    };
    // The point nearest to `p`, if its squared distance is below `limit`; any whose squared distance is at most `enough` will do.
    Nearest nearest(Vec3 p, double limit, double enough = 0.0) const;

    // Distance of point `i` to the farthest of its `count` nearest others, at most 64; infinite when there are fewer.
    double neighbour_distance(std::size_t i, int count) const;

  private:
    BoxTree tree_;
    std::vector<Leaf> leaves_;
    std::size_t size_ = 0;
};

}  // namespace elbowroom
