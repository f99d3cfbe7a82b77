#include "elbowroom/drawing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace elbowroom {
namespace {

constexpr double FLAT = 1e-16;   // m^2: a face with less area, seen along the line, is as good as its edges
constexpr double SLIVER = 1e-12; // square pixels: triangles with less are not drawn

}  // namespace

void fill_triangles(std::span<const double> corners, std::span<const double> colours, const Raster &out) {
    // Pixels from the first to the last that a span of numbers touches, within a picture of a size.
    const auto pixels = [](double low, double high, std::size_t size) {
        const double last = static_cast<double>(size) - 1.0;
        return std::pair(static_cast<std::ptrdiff_t>(std::clamp(std::floor(low), 0.0, last + 1.0)),
                         static_cast<std::ptrdiff_t>(std::clamp(std::ceil(high), -1.0, last)));
    };
    for (std::size_t t = 0; t < corners.size() / 9; t++) {
        const double *c = &corners[9 * t];
        const double x0 = c[0], y0 = c[1], x1 = c[3], y1 = c[4], x2 = c[6], y2 = c[7];
        const double area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0);
        if (!(std::fabs(area) >= SLIVER)) continue;
        const auto [left, right] = pixels(std::min({x0, x1, x2}), std::max({x0, x1, x2}), out.width);
        const auto [top, bottom] = pixels(std::min({y0, y1, y2}), std::max({y0, y1, y2}), out.height);
        for (std::ptrdiff_t row = top; row <= bottom; row++)
            for (std::ptrdiff_t column = left; column <= right; column++) {
                const double x = static_cast<double>(column) + 0.5, y = static_cast<double>(row) + 0.5;
                const double a = ((x1 - x) * (y2 - y) - (x2 - x) * (y1 - y)) / area;
                const double b = ((x2 - x) * (y0 - y) - (x0 - x) * (y2 - y)) / area, last = 1.0 - a - b;
                if (!(a >= 0.0 && b >= 0.0 && last >= 0.0)) continue;
                const std::size_t at = static_cast<std::size_t>(row) * out.width + static_cast<std::size_t>(column);
                const double z = a * c[2] + b * c[5] + last * c[8];
                if (!(z > out.depth[at])) continue;
                out.depth[at] = z;
                std::copy_n(&colours[3 * t], 3, &out.image[3 * at]);
            }
    }
}

double line_distance(const WireMesh &mesh, const Pose &pose, double x, double z, Vec3 &nearest) {
    thread_local std::vector<Vec3> moved;
    moved.resize(mesh.vertices.size() / 3);
    const Vec3 line{x, 0.0, z};
    for (std::size_t k = 0; k < moved.size(); k++)
        moved[k] = pose.apply({mesh.vertices[3 * k], mesh.vertices[3 * k + 1], mesh.vertices[3 * k + 2]}) - line;
    const auto corner = [&](std::int64_t k) { return moved[static_cast<std::size_t>(k)]; };
    for (std::size_t f = 0; f < mesh.faces.size(); f += 3) {
        const Vec3 a = corner(mesh.faces[f]), b = corner(mesh.faces[f + 1]), c = corner(mesh.faces[f + 2]);
        const double u = a.x * b.z - a.z * b.x, v = b.x * c.z - b.z * c.x, w = c.x * a.z - c.z * a.x, total = u + v + w;
        if (std::fabs(total) <= FLAT || !((u > 0.0 && v > 0.0 && w > 0.0) || (u < 0.0 && v < 0.0 && w < 0.0))) continue;
        nearest = {x, (v * a.y + w * b.y + u * c.y) / total, z};
        return 0.0;
    }
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t e = 0; e < mesh.edges.size(); e += 2) {
        const Vec3 a = corner(mesh.edges[e]), along = corner(mesh.edges[e + 1]) - a;
        const double length = std::max(along.x * along.x + along.z * along.z, 1e-300);
        const Vec3 p = a + std::clamp(-(a.x * along.x + a.z * along.z) / length, 0.0, 1.0) * along;
        const double squared = p.x * p.x + p.z * p.z;
        if (squared < best) best = squared, nearest = p + line;
    }
    return std::sqrt(best);
}

}  // namespace elbowroom
