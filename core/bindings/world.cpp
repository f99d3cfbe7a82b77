// elbowroom/world: clouds, fields, obstacles, and points, boxes and meshes against all of them.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include "elbowroom/clearance_grid.hpp"
#include "elbowroom/poses.hpp"
#include "elbowroom/world.hpp"
#include "module.hpp"

namespace elbowroom::bindings {
namespace {

using namespace nb::literals;

constexpr double LARGEST = 1e7;          // metres: of a place or a size
constexpr std::size_t MOST_POINTS = 1u << 31;
constexpr std::size_t BOX_NUMBERS = 15;  // axes by rows, centre, half edges

bool is_length(double x) { return x >= 0.0 && x <= LARGEST; }

Pose pose_of(const In<double, 1> &row) {
    require(row.size() == 12, "pose: expected 12 numbers, rotation by rows and translation");
    require_finite(row, "pose: expected numbers within 1e7", LARGEST);
    for (std::size_t k = 0; k < 9; k++) require(std::fabs(row(k)) <= 1.0 + 1e-6, "pose: expected a rotation");
    Pose out;
    std::copy_n(row.data(), 9, out.r), std::copy_n(row.data() + 9, 3, out.t);
    return out;
}

std::span<const Pose> poses_of(const In<double, 2> &rows) {
    static_assert(sizeof(Pose) == 12 * sizeof(double));
    require(rows.shape(1) == 12, "poses: expected rows of 12 numbers");
    require_finite(rows, "poses: expected numbers within 1e7", LARGEST);
    return {reinterpret_cast<const Pose *>(rows.data()), rows.shape(0)};
}

std::span<const Vec3> points_of(const In<double, 2> &rows) {
    static_assert(sizeof(Vec3) == 3 * sizeof(double));
    require(rows.shape(1) == 3, "points: expected shape (n, 3)");
    return {reinterpret_cast<const Vec3 *>(rows.data()), rows.shape(0)};
}

// The first row with a number that no point has, or -1.
std::int64_t first_wild(std::span<const Vec3> points) {
    if (all_within(points.empty() ? nullptr : &points[0].x, 3 * points.size(), 1e99)) return -1;
    for (std::size_t i = 0; i < points.size(); i++)
        if (!(size_of(points[i]) <= 1e100)) return static_cast<std::int64_t>(i);
    return -1;
}

Vec3 vector_of(const In<double, 1> &numbers, const char *message, double most = LARGEST) {
    require(numbers.size() == 3, message);
    require_finite(numbers, message, most);
    return {numbers(0), numbers(1), numbers(2)};
}

Ignored ignored_of(const World &world, const std::optional<In<bool, 1>> &mask) {
    if (!mask) return {};
    require(mask->size() == static_cast<std::size_t>(world.size()), "ignored: expected one for each obstacle");
    return {mask->data(), mask->size()};
}

int place_of(const World &world, std::int64_t k) {
    require(k >= 0 && k < world.size(), "k: no such obstacle");
    return static_cast<int>(k);
}

Out<double, 2> rows_of(std::initializer_list<Vec3> points) {
    Out<double, 2> out = make_array<double, 2>({points.size(), 3});
    std::size_t i = 0;
    for (const Vec3 &p : points) out(i, 0) = p.x, out(i, 1) = p.y, out(i, 2) = p.z, i++;
    return out;
}

PointCloud cloud_of(const In<double, 2> &rows) {
    const std::span<const Vec3> points = points_of(rows);
    require(!points.empty() && points.size() < MOST_POINTS, "points: expected from 1 to 2^31 - 1 of them");
    require_finite(rows, "points: expected numbers within 1e7 m", LARGEST);
    nb::gil_scoped_release release;
    return PointCloud(points);
}

Out<double, 2> cloud_points(const PointCloud &cloud) {
    Out<double, 2> out = make_array<double, 2>({cloud.size(), 3});
    for (std::size_t i = 0; i < cloud.size(); i++) {
        const Vec3 p = cloud.point(i);
        out(i, 0) = p.x, out(i, 1) = p.y, out(i, 2) = p.z;
    }
    return out;
}

// The samples stay Python's: the array is held until the last world lets go of the field.
DistanceField field_of(const In<float, 3> &values, const In<double, 1> &spacing, const In<double, 1> &origin) {
    for (std::size_t k = 0; k < 3; k++) require(values.shape(k) >= 2, "values: expected at least 2 samples along each axis");
    const Vec3 step = vector_of(spacing, "spacing: expected three lengths"), at = vector_of(origin, "origin: expected three numbers");
    require(step.x > 0.0 && step.y > 0.0 && step.z > 0.0, "spacing: expected three lengths above 0");
    const float *raw = values.data();
    for (std::size_t k = 0; k < values.size(); k++) require(std::fabs(raw[k]) <= 1e10f, "values: expected finite numbers");
    const std::size_t shape[3] = {values.shape(0), values.shape(1), values.shape(2)};
    for (int k = 0; k < 3; k++) require(step[k] * static_cast<double>(shape[k]) <= 1e12, "spacing: expected a grid within 1e12 m");
    auto held = std::make_unique<In<float, 3>>(values);
    const std::shared_ptr<const float[]> shared(raw, [kept = held.release()](const float *) {
        nb::gil_scoped_acquire acquire;
        delete kept;
    });
    nb::gil_scoped_release release;
    return DistanceField(shared, shape, step, at);
}

World world_of(const std::vector<const Obstacle *> &obstacles) {
    std::vector<Obstacle> all;
    all.reserve(obstacles.size());
    for (const Obstacle *o : obstacles) {
        require(o != nullptr, "obstacles: expected a list of obstacles");
        all.push_back(*o);
    }
    return World(std::move(all));
}

std::int64_t nearest(const World &world, In<double, 2> rows, InOut<double, 1> distances, InOut<std::int64_t, 1> found) {
    const std::span<const Vec3> points = points_of(rows);
    require(distances.size() == points.size() && found.size() == points.size(), "distances, found: expected one for each point");
    nb::gil_scoped_release release;
    if (const std::int64_t wild = first_wild(points); wild >= 0) return wild;
    for (std::size_t i = 0; i < points.size(); i++) {
        const NearestObstacle near = world.nearest(points[i]);
        distances.data()[i] = near.distance, found.data()[i] = near.obstacle;
    }
    return -1;
}

std::int64_t gradients(const World &world, In<double, 2> rows, InOut<double, 1> distances, InOut<double, 2> out) {
    const std::span<const Vec3> points = points_of(rows);
    require(distances.size() == points.size() && out.shape(0) == points.size() && out.shape(1) == 3,
            "distances, out: expected one for each point");
    nb::gil_scoped_release release;
    if (const std::int64_t wild = first_wild(points); wild >= 0) return wild;
    for (std::size_t i = 0; i < points.size(); i++) {
        const NearestObstacle near = world.nearest(points[i]);
        Vec3 gradient;
        if (near.obstacle >= 0) gradient = world.gradient(near.obstacle, points[i]).gradient;
        distances.data()[i] = near.distance;
        std::copy_n(&gradient.x, 3, out.data() + 3 * i);
    }
    return -1;
}

Out<double, 1> lower_bounds(const World &world, In<double, 2> rows, double limit, std::optional<In<bool, 1>> mask) {
    const std::span<const Vec3> points = points_of(rows);
    const Ignored ignored = ignored_of(world, mask);
    require(!std::isnan(limit) && first_wild(points) < 0, "points, limit: expected finite points and a limit");
    Out<double, 1> out = make_array<double, 1>({points.size()});
    nb::gil_scoped_release release;
    for (std::size_t i = 0; i < points.size(); i++) out.data()[i] = world.distance_lower_bound(points[i], limit, ignored).distance;
    return out;
}

// Asks eight points at a time; the last rows are repeated.
template <class Ask> Out<float, 1> in_lanes(const In<float, 2> &rows, double limit, Ask ask) {
    require(rows.shape(1) == 3, "points: expected shape (n, 3)");
    const std::size_t n = rows.shape(0);
    const float *at = rows.data();
    require(!std::isnan(limit), "limit: expected a number");
    for (std::size_t k = 0; k < 3 * n; k++) require(std::fabs(at[k]) <= 1e30f, "points: expected finite numbers");
    Out<float, 1> out = make_array<float, 1>({n});
    nb::gil_scoped_release release;
    for (std::size_t i = 0; i < n; i += 8) {
        Points8 p{};
        for (std::size_t k = 0; k < 8; k++) {
            const float *row = at + 3 * std::min(i + k, n - 1);
            p.x[k] = row[0], p.y[k] = row[1], p.z[k] = row[2];
        }
        const F32x8 found = ask(p, splat8(static_cast<float>(limit)));
        for (std::size_t k = 0; k < 8 && i + k < n; k++) out.data()[i + k] = found[k];
    }
    return out;
}

Out<std::int64_t, 1> near(const World &world, In<double, 1> center, double radius) {
    require(is_length(radius), "radius: expected metres");
    std::vector<std::int32_t> found;
    world.near(vector_of(center, "center: expected three numbers"), radius, {}, found);
    Out<std::int64_t, 1> out = make_array<std::int64_t, 1>({found.size()});
    std::copy(found.begin(), found.end(), out.data());
    return out;
}

bool boxes_meet(const World &world, In<double, 2> boxes, std::optional<In<bool, 1>> mask, InOut<bool, 1> out) {
    require(boxes.shape(1) == BOX_NUMBERS, "boxes: expected rows of 15 numbers");
    require(out.size() == boxes.shape(0), "out: expected one for each box");
    const Ignored ignored = ignored_of(world, mask);
    static_assert(sizeof(OrientedBox) == BOX_NUMBERS * sizeof(double));
    const std::span<const OrientedBox> all(reinterpret_cast<const OrientedBox *>(boxes.data()), boxes.shape(0));
    const std::span<const double> numbers(boxes.data(), boxes.size());
    bool *answers = out.data();
    nb::gil_scoped_release release;
    if (!all_within(numbers.data(), numbers.size(), LARGEST)) return false;
    for (std::size_t i = 0; i < all.size(); i++) answers[i] = world.box_meets(all[i], ignored);
    return true;
}

std::int64_t first_no_rotation(In<double, 2> boxes, double tolerance) {
    require(boxes.shape(1) == BOX_NUMBERS, "boxes: expected rows of 15 numbers");
    const std::span<const OrientedBox> all(reinterpret_cast<const OrientedBox *>(boxes.data()), boxes.shape(0));
    nb::gil_scoped_release release;
    for (std::size_t i = 0; i < all.size(); i++)
        if (!is_rotation(all[i].pose, tolerance)) return static_cast<std::int64_t>(i);
    return -1;
}

void mesh_meets(const World &world, std::int64_t k, const TriangleTree &mesh, In<double, 2> rows, InOut<bool, 1> out) {
    const std::span<const Pose> poses = poses_of(rows);
    const int at = place_of(world, k);
    require(out.size() == poses.size(), "out: expected one for each pose");
    nb::gil_scoped_release release;
    for (std::size_t i = 0; i < poses.size(); i++) out.data()[i] = world.mesh_meets(at, mesh, poses[i]);
}

Tuple mesh_gaps(const World &world, std::int64_t k, const TriangleTree &mesh, In<double, 2> rows, double limit) {
    const std::span<const Pose> poses = poses_of(rows);
    const int at = place_of(world, k);
    require(limit >= 0.0, "limit: expected metres");
    Out<bool, 1> meets = make_array<bool, 1>({poses.size()});
    Out<double, 1> distances = make_array<double, 1>({poses.size()});
    Out<double, 3> points = make_array<double, 3>({poses.size(), 2, 3});
    {
        nb::gil_scoped_release release;
        for (std::size_t i = 0; i < poses.size(); i++) {
            const MeshGap found = world.mesh_gap(at, mesh, poses[i], limit);
            meets.data()[i] = found.meet, distances.data()[i] = found.distance;
            const double nan = std::numeric_limits<double>::quiet_NaN();
            const Vec3 none{nan, nan, nan}, a = found.found ? found.on_mesh : none, b = found.found ? found.on_obstacle : none;
            std::copy_n(&a.x, 3, points.data() + 6 * i), std::copy_n(&b.x, 3, points.data() + 6 * i + 3);
        }
    }
    return nb::make_tuple(meets, distances, points);
}

Bounds region_of(const In<double, 2> &rows) {
    require(rows.shape(0) == 2 && rows.shape(1) == 3, "region: expected shape (2, 3)");
    require_finite(rows, "region: expected numbers within 1e7 m", LARGEST);
    return {{rows(0, 0), rows(0, 1), rows(0, 2)}, {rows(1, 0), rows(1, 1), rows(1, 2)}};
}

}  // namespace

void bind_world(nb::module_ &m) {
    nb::class_<PointCloud>(m, "PointCloud", "Points with their tree, in metres.")
        .def("__init__", [](PointCloud *self, In<double, 2> points) { new (self) PointCloud(cloud_of(points)); }, "points"_a,
             "Takes points (n, 3), at least one.")
        .def_prop_ro("points", &cloud_points, nb::rv_policy::automatic, "Points (n, 3) in the order of the tree, a new array.")
        .def_prop_ro("bounds", [](const PointCloud &c) { return rows_of({c.bounds().low, c.bounds().high}); },
                     nb::rv_policy::automatic, "Lower and upper corner (2, 3) of the box around the points.")
        .def(
            "neighbour_distances",
            [](const PointCloud &cloud, In<std::int64_t, 1> picked, int count) {
                require(count >= 1 && count <= 64, "count: expected from 1 to 64");
                for (std::size_t i = 0; i < picked.size(); i++)
                    require(picked(i) >= 0 && picked(i) < static_cast<std::int64_t>(cloud.size()), "picked: no such point");
                Out<double, 1> out = make_array<double, 1>({picked.size()});
                nb::gil_scoped_release release;
                for (std::size_t i = 0; i < picked.size(); i++)
                    out.data()[i] = cloud.neighbour_distance(static_cast<std::size_t>(picked.data()[i]), count);
                return out;
            },
            "picked"_a, "count"_a, "Distance (n,) of each picked point to the farthest of its `count` nearest others.");
    nb::class_<DistanceField>(m, "DistanceField", "A sampled signed distance field; refers to the array of its samples.")
        .def(
            "__init__",
            [](DistanceField *self, In<float, 3> values, In<double, 1> spacing, In<double, 1> origin) {
                new (self) DistanceField(field_of(values, spacing, origin));
            },
            "values"_a.noconvert(), "spacing"_a, "origin"_a,
            "Takes samples (nx, ny, nz) float32, which must not change, the steps between them (3,) and the place (3,) of the first, "
            "metres.")
        .def_prop_ro("steepest", &DistanceField::steepest, "Bound on how fast it changes outside the solid, per metre.");
    nb::class_<Obstacle>(m, "Obstacle", "A shape and its pose in the world (12,): rotation by rows, then translation. Metres.")
        .def_static(
            "box",
            [](In<double, 1> half, In<double, 1> pose) {
                const Vec3 size = vector_of(half, "half_edges: expected three lengths");
                require(size.x >= 0.0 && size.y >= 0.0 && size.z >= 0.0, "half_edges: expected three lengths");
                return Obstacle::box(size, pose_of(pose));
            },
            "half_edges"_a, "pose"_a, "A box around its origin, by its half edges (3,).")
        .def_static(
            "sphere",
            [](double radius, In<double, 1> pose) {
                require(is_length(radius), "radius: expected metres");
                return Obstacle::sphere(radius, pose_of(pose));
            },
            "radius"_a, "pose"_a, "A ball around its origin.")
        .def_static(
            "cylinder",
            [](double radius, double half_length, In<double, 1> pose) {
                require(is_length(radius) && is_length(half_length), "radius, half_length: expected metres");
                return Obstacle::cylinder(radius, half_length, pose_of(pose));
            },
            "radius"_a, "half_length"_a, "pose"_a, "A cylinder about z, around its origin.")
        .def_static(
            "capsule",
            [](double radius, double half_length, In<double, 1> pose) {
                require(is_length(radius) && is_length(half_length), "radius, half_length: expected metres");
                return Obstacle::capsule(radius, half_length, pose_of(pose));
            },
            "radius"_a, "half_length"_a, "pose"_a, "All points within the radius of a segment along z, around its origin.")
        .def_static(
            "half_space",
            [](In<double, 1> normal, double offset, In<double, 1> pose) {
                require(std::fabs(offset) <= LARGEST, "offset: expected metres");
                return Obstacle::half_space(vector_of(normal, "normal: expected a unit vector", 1.0 + 1e-6), offset, pose_of(pose));
            },
            "normal"_a, "offset"_a, "pose"_a, "All points with normal . x <= offset.")
        .def_static(
            "mesh", [](std::shared_ptr<TriangleTree> tree, In<double, 1> pose) { return Obstacle::of_mesh(std::move(tree), pose_of(pose)); },
            "tree"_a, "pose"_a, "A triangle mesh, whose tree is shared.")
        .def_static(
            "cloud",
            [](std::shared_ptr<PointCloud> cloud, double radius, In<double, 1> pose) {
                require(is_length(radius), "radius: expected metres");
                return Obstacle::of_cloud(std::move(cloud), radius, pose_of(pose));
            },
            "cloud"_a, "radius"_a, "pose"_a, "Balls around the points of a cloud, which is shared.")
        .def_static(
            "field", [](std::shared_ptr<DistanceField> field, In<double, 1> pose) { return Obstacle::of_field(std::move(field), pose_of(pose)); },
            "field"_a, "pose"_a, "The solid of a distance field, which is shared.");
    nb::class_<World>(m, "World", "Obstacles, known by their places in the list; coordinates are metres in the world frame.")
        .def(
            "__init__", [](World *self, const std::vector<const Obstacle *> &obstacles) { new (self) World(world_of(obstacles)); },
            "obstacles"_a, "Takes a list of obstacles; what is large of them is shared.")
        .def_prop_ro("size", &World::size, "Number of obstacles.")
        .def(
            "bounds", [](const World &world, std::int64_t k) { return rows_of({world.bounds(place_of(world, k)).low, world.bounds(place_of(world, k)).high}); },
            "k"_a, "Lower and upper corner (2, 3) of a box around an obstacle; infinite for half-spaces.")
        .def("nearest", &nearest, "points"_a, "distances"_a.noconvert(), "found"_a.noconvert(),
             "Writes signed distances (n,) of points (n, 3) to the nearest obstacles and their places (n,) int64; infinity and -1 when "
             "there is none. Returns the first row that is not finite, or -1.")
        .def("gradients", &gradients, "points"_a, "distances"_a.noconvert(), "out"_a.noconvert(),
             "The same with gradients (n, 3) of the distances instead; zero when there is no obstacle.")
        .def(
            "distances",
            [](const World &world, std::int64_t k, In<double, 2> rows, double limit) {
                const std::span<const Vec3> points = points_of(rows);
                const int at = place_of(world, k);
                require(!std::isnan(limit) && first_wild(points) < 0, "points, limit: expected finite points and a limit");
                Out<double, 1> out = make_array<double, 1>({points.size()});
                nb::gil_scoped_release release;
                for (std::size_t i = 0; i < points.size(); i++) out.data()[i] = world.distance(at, points[i], limit);
                return out;
            },
            "k"_a, "points"_a, "limit"_a,
            "Signed distances (n,) of points (n, 3) to one obstacle; anything from `limit` up where they are not below.")
        .def("lower_bounds", &lower_bounds, "points"_a, "limit"_a, "ignored"_a.none() = nb::none(),
             "Distances (n,) of points (n, 3) to the nearest obstacle that is not ignored, fields divided by their slope, or `limit`.")
        .def(
            "lane_bounds",
            [](const World &world, In<float, 2> rows, double limit, std::optional<In<bool, 1>> mask) {
                const Ignored ignored = ignored_of(world, mask);
                return in_lanes(rows, limit, [&](const Points8 &p, F32x8 most) { return world.distance_lower_bound(p, most, ignored); });
            },
            "points"_a, "limit"_a, "ignored"_a.none() = nb::none(),
            "The same in float32 lanes for points (n, 3) float32, rounded down.")
        .def("near", &near, "center"_a, "radius"_a, "Obstacles (n,) whose box, or half-space, is within `radius` of a point (3,).")
        .def("boxes_meet", &boxes_meet, "boxes"_a, "ignored"_a.none(), "out"_a.noconvert(),
             "Writes whether boxes (n, 15), axes by rows, centre, half edges, share a point with an obstacle that is not ignored. Returns "
             "False where numbers are not finite or too large.")
        .def("mesh_meets", &mesh_meets, "k"_a, "mesh"_a, "poses"_a, "out"_a.noconvert(),
             "Writes whether a mesh at poses (n, 12) in the world shares a point with an obstacle.")
        .def("mesh_gaps", &mesh_gaps, "k"_a, "mesh"_a, "poses"_a, "limit"_a,
             "A mesh at poses (n, 12) and an obstacle: whether they meet (n,), distances (n,), `limit` where they are not nearer, and the "
             "closest points (n, 2, 3) on the mesh and on the obstacle, NaN where there are none.");
    m.def("first_no_rotation", &first_no_rotation, "boxes"_a, "tolerance"_a,
          "The first of boxes (n, 15) whose axes are not unit vectors at right angles, right-handed, to within the tolerance; or -1.");
    nb::class_<ClearanceGrid>(m, "ClearanceGrid", "Lower bounds of the distance to the obstacles of a world, cell by cell.")
        .def(
            "__init__",
            [](ClearanceGrid *self, std::shared_ptr<World> world, In<double, 2> rows) {
                const Bounds region = region_of(rows);
                nb::gil_scoped_release release;
                new (self) ClearanceGrid(std::move(world), region);
            },
            "world"_a, "region"_a, "Cells in a region (2, 3), its lower and upper corner; filled where they are asked for.")
        .def(
            "for_world", [](const ClearanceGrid &grid, std::shared_ptr<World> world) { return grid.for_world(std::move(world)); }, "world"_a,
            "The same cells for a world that differs in a few obstacles; None when it differs in too many.")
        .def_static("pays", &ClearanceGrid::pays, "world"_a, "Whether a grid is worth its filling for a world.")
        .def_prop_ro("n_cells", &ClearanceGrid::n_cells, "Number of cells.")
        .def_prop_ro("n_loose", &ClearanceGrid::n_loose, "Number of obstacles that are not in the cells.")
        .def(
            "lower_bounds",
            [](const ClearanceGrid &grid, In<double, 2> rows) {
                const std::span<const Vec3> points = points_of(rows);
                require(first_wild(points) < 0, "points: expected finite numbers");
                Out<double, 1> out = make_array<double, 1>({points.size()});
                nb::gil_scoped_release release;
                for (std::size_t i = 0; i < points.size(); i++) out.data()[i] = grid.lower_bound(points[i]);
                return out;
            },
            "points"_a, "Lower bounds (n,) of the distances of points (n, 3) to all obstacles.")
        .def(
            "lane_bounds",
            [](const ClearanceGrid &grid, In<float, 2> rows, double limit) {
                return in_lanes(rows, limit, [&](const Points8 &p, F32x8 most) { return grid.lower_bound(p, most); });
            },
            "points"_a, "limit"_a, "The same in float32 lanes for points (n, 3) float32, rounded down.");
}

}  // namespace elbowroom::bindings
