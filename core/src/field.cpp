#include "elbowroom/field.hpp"

#include <algorithm>
#include <cmath>

#include "elbowroom/lanes.hpp"

namespace elbowroom {
namespace {

constexpr double ROUNDING = 1e-12;  // of the steepest gradient, relative

double mixed(double a, double b, double t) { return (1.0 - t) * a + t * b; }

}  // namespace

DistanceField::DistanceField(std::shared_ptr<const float[]> values, const std::size_t (&shape)[3], Vec3 spacing, Vec3 origin)
    : values_(std::move(values)),
      shape_{static_cast<std::int64_t>(shape[0]), static_cast<std::int64_t>(shape[1]), static_cast<std::int64_t>(shape[2])}, spacing_(spacing), origin_(origin) {
    steepest_ = steepest_gradient();
}

DistanceField::Cell DistanceField::cell(Vec3 p) const {
    Cell out;
    const auto along = [&](double x, double origin, double step, int axis, double &beyond) {
        const double last = static_cast<double>(shape_[axis] - 1), u = (x - origin) / step, inner = std::min(std::max(u, 0.0), last);
        const std::int64_t at = std::min(static_cast<std::int64_t>(inner), shape_[axis] - 2);
        out.u[axis] = inner - static_cast<double>(at);
        beyond = (u - inner) * step;
        return at;
    };
    const std::int64_t i0 = along(p.x, origin_.x, spacing_.x, 0, out.beyond.x), j0 = along(p.y, origin_.y, spacing_.y, 1, out.beyond.y),
                       k0 = along(p.z, origin_.z, spacing_.z, 2, out.beyond.z);
    const std::int64_t along_y = shape_[2], along_x = shape_[1] * shape_[2];
    const float *first = values_.get() + i0 * along_x + j0 * along_y + k0;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            const float *row = first + (i ? along_x : 0) + (j ? along_y : 0);
            out.sample[i][j][0] = row[0], out.sample[i][j][1] = row[1];
        }
    return out;
}

double DistanceField::distance(Vec3 p) const { return distance_in(cell(p), p); }

double DistanceField::lower_bound(Vec3 p) const {
    const Cell c = cell(p);
    const double least = distance_in(c, p) / slope(), gap = squared(c.beyond);
    return gap > 0.0 && gap > least * least ? std::sqrt(gap) : least;
}

double DistanceField::distance_in(const Cell &c, Vec3 p) const {
    const auto &f = c.sample;
    const double a = mixed(f[0][0][0], f[0][0][1], c.u[2]), b = mixed(f[0][1][0], f[0][1][1], c.u[2]);
    const double d = mixed(f[1][0][0], f[1][0][1], c.u[2]), e = mixed(f[1][1][0], f[1][1][1], c.u[2]);
    const double value = mixed(mixed(a, b, c.u[1]), mixed(d, e, c.u[1]), c.u[0]);
    const double gap = squared(c.beyond);
    if (gap > 0.0) {
        const double above = std::max(value, 0.0);
        return std::sqrt(gap + above * above);
    }
    if (value >= 0.0) return value;
    return std::max(value, -std::min({face_depth(0, p.x), face_depth(1, p.y), face_depth(2, p.z)}));
}

DistanceGradient DistanceField::gradient(Vec3 p) const {
    const Cell c = cell(p);
    double value = 0.0, slope[3] = {0.0, 0.0, 0.0};
    for (int corner = 0; corner < 8; corner++) {
        const int i = corner >> 2, j = (corner >> 1) & 1, k = corner & 1;
        const double sample_here = c.sample[i][j][k];
        const double pu = i ? c.u[0] : 1.0 - c.u[0], pv = j ? c.u[1] : 1.0 - c.u[1], pw = k ? c.u[2] : 1.0 - c.u[2];
        value += pu * pv * pw * sample_here;
        slope[0] += (2 * i - 1) * pv * pw * sample_here;
        slope[1] += (2 * j - 1) * pu * pw * sample_here;
        slope[2] += (2 * k - 1) * pu * pv * sample_here;
    }
    const Vec3 inside = {slope[0] / spacing_.x, slope[1] / spacing_.y, slope[2] / spacing_.z};
    const Vec3 out = c.beyond;
    if (squared(out) > 0.0) {
        const double above = std::max(value, 0.0), length = std::sqrt(squared(out) + above * above), per = 1.0 / length;
        return {length, {per * (out.x != 0.0 ? out.x : above * inside.x), per * (out.y != 0.0 ? out.y : above * inside.y),
                                per * (out.z != 0.0 ? out.z : above * inside.z)}};
    }
    if (value >= 0.0) return {value, inside};
    int axis = 0;
    double depth = face_depth(0, p.x);
    for (int k = 1; k < 3; k++)
        if (const double other = face_depth(k, p[k]); other < depth) depth = other, axis = k;
    if (-depth <= value) return {value, inside};
    const double middle = origin_[axis] + 0.5 * spacing_[axis] * static_cast<double>(shape_[axis] - 1);
    const double way = p[axis] > middle ? 1.0 : -1.0;
    return {-depth, {axis == 0 ? way : 0.0, axis == 1 ? way : 0.0, axis == 2 ? way : 0.0}};
}

// At a corner of a cell the gradient is made of the differences along the three edges that meet there.
double DistanceField::steepest_gradient() const {
    const double rx = 1.0 / spacing_.x, ry = 1.0 / spacing_.y, rz = 1.0 / spacing_.z;
    const std::int64_t along_y = shape_[2], along_x = shape_[1] * shape_[2];
    double worst = 0.0;
    for (std::int64_t i = 0; i + 1 < shape_[0]; i++)
        for (std::int64_t j = 0; j + 1 < shape_[1]; j++) {
            const float *row = values_.get() + i * along_x + j * along_y;
            for (std::int64_t k = 0; k + 1 < shape_[2]; k++) {
                const float *at = row + k;
                const double a = at[0], b = at[1], c = at[along_y], d = at[along_y + 1];
                const double e = at[along_x], f = at[along_x + 1], g = at[along_x + along_y], h = at[along_x + along_y + 1];
                const double most = std::max(std::max(std::max(a, b), std::max(c, d)), std::max(std::max(e, f), std::max(g, h)));
                // Squared differences along the four edges of each direction; the corners pick one of each.
                const auto square = [](double x) { return x * x; };
                const double x00 = square((e - a) * rx), x01 = square((f - b) * rx), x10 = square((g - c) * rx), x11 = square((h - d) * rx);
                const double y00 = square((c - a) * ry), y01 = square((d - b) * ry), y10 = square((g - e) * ry), y11 = square((h - f) * ry);
                const double z00 = square((b - a) * rz), z01 = square((d - c) * rz), z10 = square((f - e) * rz), z11 = square((h - g) * rz);
                const double p = std::max(std::max(x00 + y00 + z00, x01 + y01 + z00), std::max(x10 + y00 + z01, x11 + y01 + z01));
                const double q = std::max(std::max(x00 + y10 + z10, x01 + y11 + z10), std::max(x10 + y10 + z11, x11 + y11 + z11));
                worst = std::max(worst, most > 0.0 ? std::max(p, q) : 0.0);
            }
        }
    return std::sqrt(worst) * (1.0 + ROUNDING);
}

}  // namespace elbowroom
