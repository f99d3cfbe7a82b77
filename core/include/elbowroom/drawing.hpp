// Small geometry for pictures and for hands: triangles into a depth buffer, and the distance of a mesh to a line.
#pragma once

#include <cstdint>
#include <span>

#include "elbowroom/geometry.hpp"

namespace elbowroom {

struct Raster {
    std::size_t height = 0, width = 0;
    std::span<double> image;  // (height, width, 3)
    std::span<double> depth;  // (height, width), larger is nearer
};

// Draws triangles where they are nearer than what is there: corners (n, 3, 3) in pixels and depth, colours (n, 3).
void fill_triangles(std::span<const double> corners, std::span<const double> colours, const Raster &out);

struct WireMesh {
    std::span<const double> vertices;     // (n, 3)
    std::span<const std::int64_t> edges;  // (e, 2)
    std::span<const std::int64_t> faces;  // (f, 3)
};

// Distance of a mesh at `pose` to the line along y through (x, 0, z), zero when the line meets it, and the mesh's nearest point. Seen along
// the line the mesh is a drawing: the nearest point lies on an edge unless the line passes through a face.
double line_distance(const WireMesh &mesh, const Pose &pose, double x, double z, Vec3 &nearest);

}  // namespace elbowroom
