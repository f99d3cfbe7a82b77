// elbowroom/mesh: distances and depths of posed meshes and convex solids.
#include "elbowroom/proximity.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "elbowroom/separation.hpp"
#include "elbowroom/solids.hpp"
#include "module.hpp"

namespace elbowroom::bindings {
namespace {

using namespace nb::literals;

static_assert(sizeof(Pose) == 12 * sizeof(double) && sizeof(Vec3) == 3 * sizeof(double));

std::span<const Pose> poses_of(const In<double, 2> &rows) {
    require(rows.shape(1) == 12, "poses: expected rows of 12 numbers");
    require_finite(rows, "poses: expected finite numbers up to 1e10");
    return {reinterpret_cast<const Pose *>(rows.data()), rows.shape(0)};
}
Pose pose_of(const In<double, 1> &row) {
    require(row.size() == 12, "pose: expected 12 numbers");
    require_finite(row, "pose: expected finite numbers up to 1e10");
    return *reinterpret_cast<const Pose *>(row.data());
}
std::span<const Vec3> vectors_of(const In<double, 2> &rows) {
    require(rows.shape(1) == 3, "expected vectors of shape (n, 3)");
    require_finite(rows, "vectors: expected finite numbers up to 1e10");
    return {reinterpret_cast<const Vec3 *>(rows.data()), rows.shape(0)};
}
void put(Vec3 v, double *to) { std::memcpy(to, &v, sizeof v); }
Out<double, 1> vector(Vec3 v) {
    Out<double, 1> out = make_array<double, 1>({3});
    put(v, out.data());
    return out;
}

Tuple distances(const TriangleTree &a, In<double, 2> rows_a, const TriangleTree &b, In<double, 2> rows_b,
                    bool contain) {
    const std::span<const Pose> poses_a = poses_of(rows_a), poses_b = poses_of(rows_b);
    require(poses_a.size() == poses_b.size() || poses_a.size() == 1 || poses_b.size() == 1,
            "poses: expected equally many, or one");
    const std::size_t n = poses_a.empty() || poses_b.empty() ? 0 : std::max(poses_a.size(), poses_b.size());
    const auto states = make_array<std::uint8_t, 1>({n});
    const auto found = make_array<double, 1>({n});
    const auto points_a = make_array<double, 2>({n, 3}), points_b = make_array<double, 2>({n, 3}),
               normals = make_array<double, 2>({n, 3});
    const auto tri_a = make_array<std::int64_t, 1>({n}), tri_b = make_array<std::int64_t, 1>({n});
    {
        nb::gil_scoped_release release;
        std::optional<TriangleNumbers> hint;
        constexpr double NONE = std::numeric_limits<double>::quiet_NaN();
        constexpr Vec3 NOWHERE{NONE, NONE, NONE};
        for (std::size_t i = 0; i < n; i++) {
            const Pose &pose_a = poses_a[poses_a.size() == 1 ? 0 : i],
                       &pose_b = poses_b[poses_b.size() == 1 ? 0 : i];
            const PairDistance pair = pair_distance(PosedPair(a, b, relative(pose_a, pose_b)), contain, hint);
            const SurfaceDistance &d = pair.surfaces;
            const bool apart = d.triangles.has_value();
            if (apart) hint = d.triangles;
            states.data()[i] = static_cast<std::uint8_t>(pair.state);
            found.data()[i] = apart ? std::sqrt(d.closest.squared) : 0.0;
            put(apart ? pose_a.apply(d.closest.a) : NOWHERE, points_a.data() + 3 * i);
            put(apart ? pose_a.apply(d.closest.b) : NOWHERE, points_b.data() + 3 * i);
            put(apart ? pose_a.rotate(d.closest.normal()) : NOWHERE, normals.data() + 3 * i);
            tri_a.data()[i] = apart ? a.order[d.triangles->a] : -1;
            tri_b.data()[i] = apart ? b.order[d.triangles->b] : -1;
        }
    }
    return nb::make_tuple(states, found, points_a, points_b, normals, tri_a, tri_b);
}

Out<double, 1> separations_along(const TriangleTree &a, const TriangleTree &b, In<double, 1> rel,
                                 In<double, 2> directions, bool contain) {
    const PosedPair pair(a, b, pose_of(rel));
    const std::span<const Vec3> along = vectors_of(directions);
    Out<double, 1> out = make_array<double, 1>({along.size()});
    nb::gil_scoped_release release;
    separations(pair, along, contain, {out.data(), out.size()});
    return out;
}

Out<double, 1> overlaps_of_hulls(In<double, 2> points_a, In<double, 2> points_b, In<double, 1> rel,
                                 In<double, 2> directions) {
    const std::span<const Vec3> a = vectors_of(points_a), b = vectors_of(points_b),
                                along = vectors_of(directions);
    const Pose pose = pose_of(rel);
    Out<double, 1> out = make_array<double, 1>({along.size()});
    nb::gil_scoped_release release;
    hull_overlaps(a, b, pose, along, {out.data(), out.size()});
    return out;
}

Tuple depth(const TriangleTree &a, const TriangleTree &b, In<double, 1> rel, Tuple search,
                bool contain) {
    require(search.size() == 4, "search: expected starts, scan, spread and begin");
    const auto starts = nb::cast<In<double, 2>>(search[0]), scan = nb::cast<In<double, 2>>(search[1]),
               spread = nb::cast<In<double, 2>>(search[2]);
    const DirectionSearch where{vectors_of(starts), vectors_of(scan), vectors_of(spread),
                                nb::cast<double>(search[3])};
    const PosedPair pair(a, b, pose_of(rel));
    Depth found;
    {
        nb::gil_scoped_release release;
        found = least_separation(pair, where, contain);
    }
    if (!found.last) return nb::make_tuple(found.depth, vector(found.direction), nb::none());
    const TriangleNumbers t = found.last->triangles;
    return nb::make_tuple(found.depth, vector(found.direction),
                          nb::make_tuple(a.order[t.a], b.order[t.b], vector(found.last->point)));
}

ConvexSolid hull_solid(In<double, 2> points, double radius) {
    const std::span<const Vec3> corners = vectors_of(points);
    require(!corners.empty(), "points: expected at least one");
    return ConvexSolid::hull({corners.begin(), corners.end()}, radius);
}

Tuple solids_apart(const ConvexSolid &a, const ConvexSolid &b, In<double, 1> rel) {
    const Pose pose = pose_of(rel);
    SolidDistance found;
    {
        nb::gil_scoped_release release;
        found = solid_distance(a, b, pose);
    }
    return nb::make_tuple(found.distance, vector(found.normal), vector(found.point_a));
}

Tuple mesh_and_solid(const TriangleTree &mesh, const ConvexSolid &solid, In<double, 1> rel) {
    const Pose pose = pose_of(rel);
    MeshSolidDistance found;
    {
        nb::gil_scoped_release release;
        found = mesh_solid_distance(mesh, solid, pose);
    }
    return nb::make_tuple(found.nearest.distance, vector(found.nearest.normal), vector(found.nearest.point_a),
                          mesh.order[found.triangle], found.inside);
}

}  // namespace

void bind_proximity(nb::module_ &m) {
    m.def("distances", &distances, "a"_a, "rows_a"_a, "b"_a, "rows_b"_a, "contain"_a,
          "Distances of two meshes at packed poses (n, 12), one of which may be single: states (n,), "
          "distances (n,) in metres, "
          "closest points (n, 3) on A and B in the world, unit normals (n, 3) from A to B, and rows (n,) of "
          "the faces that hold "
          "the points. Where a state is not 0 the distance is 0, vectors are NaN and rows -1.");
    m.def("separations", &separations_along, "a"_a, "b"_a, "rel"_a, "directions"_a, "contain"_a,
          "First separating translation (n,) of B, in metres, along unit vectors (n, 3) in the frame of A; "
          "`rel` (12,) is the "
          "pose of B there.");
    m.def("hull_overlaps", &overlaps_of_hulls, "points_a"_a, "points_b"_a, "rel"_a, "directions"_a,
          "How far (k,) the hull of points_b (m, 3), posed at `rel` (12,), must move along directions (k, 3) "
          "until a plane across "
          "them parts it from the hull of points_a (n, 3); metres, in the frame of A.");
    m.def("least_separation", &depth, "a"_a, "b"_a, "rel"_a, "search"_a, "contain"_a,
          "Least separating translation of B that is found: depth in metres, its direction (3,) and what "
          "touches last, faces of "
          "A and B and the point (3,) on A, or None. `search` is (starts (k, 3), scan (m, 3), spread (j, 3), "
          "begin); all is in "
          "the frame of A, where `rel` (12,) is the pose of B.");
    nb::class_<ConvexSolid>(m, "ConvexSolid",
                            "A convex solid in its own frame, known by its farthest points.")
        .def_static("hull", &hull_solid, "points"_a, "radius"_a,
                    "The hull of points (n, 3), widened by a radius; metres.")
        .def_static("cylinder", &ConvexSolid::cylinder, "radius"_a, "half_length"_a,
                    "A cylinder about z; metres.")
        .def_static(
            "ellipsoid", [](double x, double y, double z) { return ConvexSolid::ellipsoid({x, y, z}); },
            "x"_a, "y"_a, "z"_a, "An ellipsoid by its semi-axes in metres.");
    m.def("solid_distance", &solids_apart, "a"_a, "b"_a, "rel"_a,
          "Signed distance of two solids in metres, unit normal (3,) from A to B and point (3,) on A, in the "
          "frame of A, where "
          "`rel` (12,) is the pose of B.");
    m.def("mesh_solid_distance", &mesh_and_solid, "mesh"_a, "solid"_a, "rel"_a,
          "Distance of the nearest triangle of a mesh to a solid at `rel` (12,) in its frame, not positive "
          "where they meet; unit "
          "normal (3,) and point (3,) on the mesh, the row of its face, and whether the solid's origin is "
          "inside the mesh.");
}

}  // namespace elbowroom::bindings
