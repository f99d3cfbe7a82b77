// elbowroom/grasp and elbowroom/ui: the little that they compute themselves.
#include "elbowroom/drawing.hpp"

#include "elbowroom/poses.hpp"
#include "module.hpp"

namespace elbowroom::bindings {
namespace {

using namespace nb::literals;

void fill(In<double, 3> corners, In<double, 2> colours, InOut<double, 3> image, InOut<double, 2> depth) {
    require(corners.shape(1) == 3 && corners.shape(2) == 3, "corners: expected shape (n, 3, 3)");
    require(colours.shape(0) == corners.shape(0) && colours.shape(1) == 3, "colours: expected shape (n, 3)");
    require(image.shape(0) == depth.shape(0) && image.shape(1) == depth.shape(1) && image.shape(2) == 3, "image: expected shape (height, width, 3)");
    nb::gil_scoped_release release;
    fill_triangles({corners.data(), corners.size()}, {colours.data(), colours.size()},
                   {depth.shape(0), depth.shape(1), {image.data(), image.size()}, {depth.data(), depth.size()}});
}

Tuple to_line(In<double, 2> vertices, In<std::int64_t, 2> edges, In<std::int64_t, 2> faces, In<double, 1> pose, double x, double z) {
    require(vertices.shape(1) == 3, "vertices: expected shape (n, 3)");
    require(edges.shape(0) > 0 && edges.shape(1) == 2, "edges: expected shape (e, 2), e above 0");
    require(faces.shape(1) == 3, "faces: expected shape (f, 3)");
    for (const auto *list : {&edges, &faces})
        for (std::size_t k = 0; k < list->size(); k++)
            require(list->data()[k] >= 0 && list->data()[k] < static_cast<std::int64_t>(vertices.shape(0)), "edges, faces: out of range");
    Pose placed;
    require(pose.size() == 7 && pose_from_vector(pose.data(), placed), "pose: expected w x y z of a quaternion, then the position");
    Vec3 nearest;
    const double distance = line_distance({{vertices.data(), vertices.size()}, {edges.data(), edges.size()}, {faces.data(), faces.size()}},
                                          placed, x, z, nearest);
    Out<double, 1> point = make_array<double, 1>({3});
    for (int c = 0; c < 3; c++) point.data()[c] = nearest[c];
    return nb::make_tuple(distance, point);
}

}  // namespace

void bind_drawing(nb::module_ &m) {
    m.def("fill_triangles", &fill, "corners"_a, "colours"_a, "image"_a.noconvert(), "depth"_a.noconvert(),
          "Draws triangles (n, 3, 3), pixel x, pixel y and depth, with colours (n, 3) where they are nearer than what is there: image (height, "
          "width, 3) and depth (height, width), larger is nearer.");
    m.def("line_distance", &to_line, "vertices"_a, "edges"_a, "faces"_a, "pose"_a, "x"_a, "z"_a,
          "Distance of a mesh at a pose (7,) wxyz_xyz to the line along y through x and z, 0 when the line meets it, and its nearest point (3,).");
}

}  // namespace elbowroom::bindings
