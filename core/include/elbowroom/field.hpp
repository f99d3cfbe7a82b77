// A signed distance field sampled on a grid, trilinear between samples; solid where it is not above zero.
//
// Inside the grid the field is trilinear, but no deeper than the nearest face of the grid: the solid ends there. Beyond
// the grid, with q the nearest point of the grid, all of the solid lies on the far side of q: by Pythagoras it is at
// least the root of |p - q|^2 + value(q)^2 away. That is continuous, and changes as slowly as the field does.
//
// Samples are shared with whoever made them. Coordinates are metres in the frame of the grid.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "elbowroom/geometry.hpp"

namespace elbowroom {

// Distance and its gradient at a point.
struct DistanceGradient {
    double distance;
    Vec3 gradient;
};

class DistanceField {
  public:
    // Samples (nx, ny, nz), z fastest, at least two along every axis; sample (i, j, k) is at origin + (i, j, k) * spacing.
    DistanceField(std::shared_ptr<const float[]> values, const std::size_t (&shape)[3], Vec3 spacing, Vec3 origin);

    Vec3 spacing() const { return spacing_; }
    Vec3 origin() const { return origin_; }
    std::int64_t samples(int axis) const { return shape_[axis]; }
    float sample(std::int64_t i, std::int64_t j, std::int64_t k) const { return values_.get()[(i * shape_[1] + j) * shape_[2] + k]; }

    // Bound on the gradient outside the solid as it is, and at least 1: what `lower_bound` divides by. In a cell the
    // gradient is longest at a corner. Cells that are wholly solid do not count.
    double steepest() const { return steepest_; }
    double slope() const { return steepest_ > 1.0 ? steepest_ : 1.0; }

    // The interpolated signed distance, which may be as steep as `steepest()`.
    double distance(Vec3 p) const;
    DistanceGradient gradient(Vec3 p) const;
    // Lower bound of the distance to the solid, which changes by at most 1 a metre outside it; not positive only inside.
    // The distance over the slope, and beyond the grid no less than the distance to the grid.
    double lower_bound(Vec3 p) const;

    // The cell of a point, or of the nearest point of the grid.
    struct Cell {
        double sample[2][2][2];  // at its corners, by steps along x, y, z
        double u[3];             // place in it, from 0 to 1 along each axis
        Vec3 beyond;             // how far the point is outside the grid, signed
    };
    Cell cell(Vec3 p) const;

  private:
    double distance_in(const Cell &cell, Vec3 p) const;
    double steepest_gradient() const;
    double face_depth(int axis, double x) const {  // how far inside the grid a coordinate is
        const double inner = x - origin_[axis];
        return std::min(inner, origin_[axis] + spacing_[axis] * static_cast<double>(shape_[axis] - 1) - x);
    }

    std::shared_ptr<const float[]> values_;
    std::int64_t shape_[3];  // samples along each axis
    Vec3 spacing_, origin_;
    double steepest_ = 1.0;
};

}  // namespace elbowroom
