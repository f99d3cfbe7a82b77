// elbowroom/mesh: triangle trees, poses, booleans and contacts.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "elbowroom/contacts.hpp"
#include "elbowroom/poses.hpp"
#include "module.hpp"

namespace elbowroom::bindings {
namespace {

using namespace nb::literals;

constexpr int LOOK_AGAIN = -1;           // answer to a pose that is not clearly a rigid motion: Python says what is wrong
constexpr int CONTACT_NUMBERS = 9;       // of a contact in a row: point, normal, depth, triangles of A and B
constexpr std::size_t KEPT = 500'000;    // contacts a thread keeps room for between calls

// Doubles of a Python object without a copy, held as long as the view lives; nothing where it is not
// C-contiguous float64.
class Doubles {
  public:
    explicit Doubles(nb::handle object, int flags = 0) {
        if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS | flags) != 0) {
            PyErr_Clear();
            return;
        }
        held_ = true;
        sound_ = view_.format && std::strcmp(view_.format, "d") == 0;
    }
    Doubles(const Doubles &) = delete;
    Doubles &operator=(const Doubles &) = delete;
    ~Doubles() {
        if (held_) PyBuffer_Release(&view_);
    }
    bool has_shape(std::initializer_list<Py_ssize_t> shape) const {
        return sound_ && view_.ndim == static_cast<int>(shape.size()) && std::equal(shape.begin(), shape.end(), view_.shape);
    }
    double *data() const { return static_cast<double *>(view_.buf); }

  private:
    Py_buffer view_{};
    bool held_ = false, sound_ = false;
};

// One pose: None, (4, 4) or (7,); false where it has to be looked at more closely.
bool read_pose(nb::handle object, Pose &out) {
    if (object.is_none()) return true;
    const Doubles numbers(object);
    if (numbers.has_shape({4, 4})) return pose_from_matrix(numbers.data(), out);
    if (numbers.has_shape({7})) return pose_from_vector(numbers.data(), out);
    return false;
}

// Packed poses, as `pack_poses` makes them.
template <class Array> std::span<const Pose> poses_of(const Array &rows) {
    static_assert(sizeof(Pose) == 12 * sizeof(double));
    require(rows.shape(rows.ndim() - 1) == 12, "poses: expected rows of 12 numbers");
    return {reinterpret_cast<const Pose *>(rows.data()), rows.size() / 12};
}

// Two stacks of packed poses, one of which may be a single pose that goes with all of the other.
struct PosePairs {
    std::span<const Pose> a, b;

    PosePairs(const In<double, 2> &rows_a, const In<double, 2> &rows_b) : a(poses_of(rows_a)), b(poses_of(rows_b)) {
        require(a.size() == b.size() || a.size() == 1 || b.size() == 1, "poses: expected equally many, or one");
    }
    std::size_t size() const { return a.empty() || b.empty() ? 0 : std::max(a.size(), b.size()); }
    const Pose &pose_a(std::size_t i) const { return a[a.size() == 1 ? 0 : i]; }
    const Pose &pose_b(std::size_t i) const { return b[b.size() == 1 ? 0 : i]; }
};

template <class T, std::size_t N, class Get> Out<T, N> filled(const std::size_t (&shape)[N], Get get) {
    Out<T, N> out = make_array<T, N>(shape);
    for (std::size_t i = 0; i < out.size(); i++) out.data()[i] = get(i);
    return out;
}

TriangleTree tree_of(const In<double, 3> &triangles, const In<std::int64_t, 1> &rows, const In<bool, 1> &solid,
                     const In<double, 2> &pieces) {
    const std::size_t n = triangles.shape(0);
    require(n > 0 && n < (1u << 30), "triangles: expected from 1 to 2^30 - 1 of them");
    require(triangles.shape(1) == 3 && triangles.shape(2) == 3, "triangles: expected shape (n, 3, 3)");
    require(rows.size() == n && solid.size() == n, "rows, solid: expected one for each triangle");
    require(pieces.shape(1) == 3, "pieces: expected shape (k, 3)");
    const double *at = triangles.data();
    for (std::size_t k = 0; k < 9 * n; k++) require(std::fabs(at[k]) <= 1e9, "triangles: expected coordinates within 1e9 m");
    std::vector<MeshTriangle> made(n);
    for (std::size_t i = 0; i < n; i++, at += 9) {
        require(rows(i) >= 0 && rows(i) <= INT32_MAX, "rows: expected numbers from 0 to 2^31 - 1");
        made[i].corners = {{at[0], at[1], at[2]}, {at[3], at[4], at[5]}, {at[6], at[7], at[8]}};
        made[i].row = static_cast<std::int32_t>(rows(i)), made[i].solid = solid(i);
    }
    std::vector<Vec3> points(pieces.shape(0));
    for (std::size_t i = 0; i < points.size(); i++) points[i] = {pieces(i, 0), pieces(i, 1), pieces(i, 2)};
    nb::gil_scoped_release release;
    return build_tree(made, std::move(points));
}

Out<double, 3> triangles_of(const TriangleTree &tree) {
    return filled<double, 3>({tree.triangles.size(), 3, 3}, [&](std::size_t i) { return (&tree.triangles[i / 9].a.x)[i % 9]; });
}

Out<double, 2> pieces_of(const TriangleTree &tree) {
    return filled<double, 2>({tree.pieces.size(), 3}, [&](std::size_t i) { return tree.pieces[i / 3][static_cast<int>(i % 3)]; });
}

// What `make_tree` takes, in the order of the mesh's faces: a tree made of it is the same.
Tuple state_of(const TriangleTree &tree) {
    const std::size_t n = tree.triangles.size();
    std::vector<std::size_t> sorted(n);
    std::iota(sorted.begin(), sorted.end(), std::size_t{0});
    std::sort(sorted.begin(), sorted.end(), [&](std::size_t i, std::size_t j) { return tree.order[i] < tree.order[j]; });
    return nb::make_tuple(filled<double, 3>({n, 3, 3}, [&](std::size_t i) { return (&tree.triangles[sorted[i / 9]].a.x)[i % 9]; }),
                          filled<std::int64_t, 1>({n}, [&](std::size_t i) { return tree.order[sorted[i]]; }),
                          filled<bool, 1>({n}, [&](std::size_t i) { return tree.solid[sorted[i]] != 0; }), pieces_of(tree));
}

nb::object pack_poses(nb::handle poses) {
    const auto pack = [](const auto &array, std::size_t width, auto read) -> nb::object {
        const std::size_t n = array.shape(0);
        Out<double, 2> rows = make_array<double, 2>({n, 12});
        Pose pose;
        for (std::size_t i = 0; i < n; i++) {
            if (!read(array.data() + width * i, pose)) return nb::none();
            std::memcpy(rows.data() + 12 * i, &pose, sizeof pose);
        }
        return nb::cast(rows);
    };
    if (In<double, 3> matrices; nb::try_cast(poses, matrices) && matrices.shape(1) == 4 && matrices.shape(2) == 4)
        return pack(matrices, 16, pose_from_matrix);
    if (In<double, 2> vectors; nb::try_cast(poses, vectors) && vectors.shape(1) == 7) return pack(vectors, 7, pose_from_vector);
    return nb::none();
}

int pair_state_at(const TriangleTree &a, nb::handle T_a, const TriangleTree &b, nb::handle T_b, bool contain) {
    Pose pose_a, pose_b;
    if (!read_pose(T_a, pose_a) || !read_pose(T_b, pose_b)) return LOOK_AGAIN;
    nb::gil_scoped_release release;
    return static_cast<int>(pair_state(a, b, relative(pose_a, pose_b), contain));
}

Out<std::uint8_t, 1> pair_states(const TriangleTree &a, In<double, 2> rows_a, const TriangleTree &b, In<double, 2> rows_b,
                                 bool contain) {
    const PosePairs poses(rows_a, rows_b);
    Out<std::uint8_t, 1> out = make_array<std::uint8_t, 1>({poses.size()});
    std::uint8_t *to = out.data();
    nb::gil_scoped_release release;
    for (std::size_t i = 0; i < poses.size(); i++)
        to[i] = static_cast<std::uint8_t>(pair_state(a, b, relative(poses.pose_a(i), poses.pose_b(i)), contain));
    return out;
}

Out<std::int64_t, 2> close_rows(const TriangleTree &a, In<double, 2> rows_a, const TriangleTree &b, In<double, 2> rows_b) {
    const PosePairs poses(rows_a, rows_b);
    require(poses.size() == 1, "poses: expected one of each");
    std::vector<TriangleNumbers> found;
    {
        nb::gil_scoped_release release;
        close_pairs(PosedPair(a, b, relative(poses.a[0], poses.b[0])), found);
    }
    return filled<std::int64_t, 2>(
        {found.size(), 2}, [&](std::size_t i) { return i % 2 ? b.order[found[i / 2].b] : a.order[found[i / 2].a]; });
}

void write_contact(const Contact &contact, double *row) {
    const Vec3 p = contact.point, n = contact.normal;
    const double numbers[CONTACT_NUMBERS] = {p.x, p.y, p.z, n.x, n.y, n.z, contact.depth, static_cast<double>(contact.triangles.a),
                                             static_cast<double>(contact.triangles.b)};
    std::copy(numbers, numbers + CONTACT_NUMBERS, row);
}

Tuple contacts(const TriangleTree &a, In<double, 2> rows_a, const TriangleTree &b, In<double, 2> rows_b, bool leaf_order) {
    const PosePairs poses(rows_a, rows_b);
    thread_local std::vector<Contact> found;
    found.clear();
    Out<std::int64_t, 1> starts = make_array<std::int64_t, 1>({poses.size() + 1});
    std::int64_t *start = starts.data();
    {
        nb::gil_scoped_release release;
        start[0] = 0;
        for (std::size_t i = 0; i < poses.size(); i++) {
            find_contacts(a, poses.pose_a(i), b, poses.pose_b(i), found);
            start[i + 1] = static_cast<std::int64_t>(found.size());
        }
    }
    const std::size_t n = found.size();
    const auto points = make_array<double, 2>({n, 3}), normals = make_array<double, 2>({n, 3});
    const auto depths = make_array<double, 1>({n});
    const auto tri_a = make_array<std::int64_t, 1>({n}), tri_b = make_array<std::int64_t, 1>({n});
    for (std::size_t i = 0; i < n; i++) {
        const Contact &contact = found[i];
        std::memcpy(points.data() + 3 * i, &contact.point, sizeof(Vec3));
        std::memcpy(normals.data() + 3 * i, &contact.normal, sizeof(Vec3));
        depths.data()[i] = contact.depth;
        const TriangleNumbers at = contact.triangles;
        tri_a.data()[i] = leaf_order ? static_cast<std::int64_t>(at.a) : a.order[at.a];
        tri_b.data()[i] = leaf_order ? static_cast<std::int64_t>(at.b) : b.order[at.b];
    }
    if (found.capacity() > KEPT) found = {};
    return nb::make_tuple(points, normals, depths, tri_a, tri_b, starts);
}

// Kind of the axis, -1 without a contact, LOOK_AGAIN - 1 for poses to be looked at.
int deepest_contact_at(const TriangleTree &a, nb::handle T_a, const TriangleTree &b, nb::handle T_b, nb::handle out) {
    const Doubles row(out, PyBUF_WRITABLE);
    require(row.has_shape({CONTACT_NUMBERS}), "out: expected a writable float64 array of shape (9,)");
    Pose pose_a, pose_b;
    if (!read_pose(T_a, pose_a) || !read_pose(T_b, pose_b)) return LOOK_AGAIN - 1;
    nb::gil_scoped_release release;
    const std::optional<Contact> found = deepest_contact(a, pose_a, b, pose_b);
    if (!found) return -1;
    write_contact(*found, row.data());
    return static_cast<int>(found->kind);
}

int triangle_contact_at(In<double, 2> tri_a, In<double, 2> tri_b, InOut<double, 1> out) {
    for (const In<double, 2> *t : {&tri_a, &tri_b})
        require(t->shape(0) == 3 && t->shape(1) == 3, "triangles: expected shape (3, 3)");
    require(out.size() == CONTACT_NUMBERS, "out: expected shape (9,)");
    const auto corners = [](const In<double, 2> &t) {
        return Triangle{{t(0, 0), t(0, 1), t(0, 2)}, {t(1, 0), t(1, 1), t(1, 2)}, {t(2, 0), t(2, 1), t(2, 2)}};
    };
    const std::optional<Contact> found = triangle_contact(corners(tri_a), corners(tri_b));
    if (!found) return -1;
    write_contact(*found, out.data());
    return static_cast<int>(found->kind);
}

Out<double, 2> contact_segments(const TriangleTree &a, In<double, 2> rows_a, const TriangleTree &b, In<double, 2> rows_b,
                                In<std::int64_t, 1> tri_a, In<std::int64_t, 1> tri_b) {
    const PosePairs poses(rows_a, rows_b);
    require(poses.size() == 1, "poses: expected one of each");
    require(tri_a.size() == tri_b.size(), "triangles: expected equally many");
    const std::size_t n = tri_a.size();
    Out<double, 2> out = make_array<double, 2>({n, 6});
    for (std::size_t i = 0; i < n; i++) {
        require(tri_a(i) >= 0 && tri_a(i) < static_cast<std::int64_t>(a.triangles.size()) && tri_b(i) >= 0 &&
                    tri_b(i) < static_cast<std::int64_t>(b.triangles.size()),
                "triangles: out of range");
        const TriangleNumbers numbers{static_cast<std::uint32_t>(tri_a(i)), static_cast<std::uint32_t>(tri_b(i))};
        const std::optional<SharedSegment> found = contact_segment(a, poses.a[0], b, poses.b[0], numbers);
        if (found)
            std::memcpy(out.data() + 6 * i, &*found, sizeof *found);
        else
            std::fill_n(out.data() + 6 * i, 6, std::numeric_limits<double>::quiet_NaN());
    }
    return out;
}

void make_scene(MeshScene *self, std::vector<std::shared_ptr<TriangleTree>> trees, In<std::int64_t, 2> pairs) {
    require(pairs.shape(1) == 2, "pairs: expected shape (k, 2)");
    std::vector<std::pair<int, int>> numbers(pairs.shape(0));
    for (std::size_t k = 0; k < numbers.size(); k++) {
        for (std::size_t c = 0; c < 2; c++)
            require(pairs(k, c) >= 0 && pairs(k, c) < static_cast<std::int64_t>(trees.size()), "pairs: a number that no mesh has");
        numbers[k] = {static_cast<int>(pairs(k, 0)), static_cast<int>(pairs(k, 1))};
    }
    for (const auto &tree : trees) require(tree != nullptr, "trees: expected no None");
    new (self) MeshScene({trees.begin(), trees.end()}, std::move(numbers));
}

void scene_states(const MeshScene &scene, In<double, 3> poses, InOut<std::uint8_t, 2> out, bool contain, bool first_only) {
    const std::span<const Pose> rows = poses_of(poses);
    require(poses.shape(1) == scene.n_meshes(), "poses: expected shape (n, meshes, 12)");
    require(out.shape(0) == poses.shape(0) && out.shape(1) == scene.n_pairs(), "out: expected shape (n, pairs)");
    nb::gil_scoped_release release;
    scene.states(rows, contain, first_only, {reinterpret_cast<PairState *>(out.data()), out.size()});
}

Out<double, 3> scene_deepest(const MeshScene &scene, In<double, 3> poses) {
    const std::span<const Pose> rows = poses_of(poses);
    require(poses.shape(1) == scene.n_meshes(), "poses: expected shape (n, meshes, 12)");
    const std::size_t n = poses.shape(0) * scene.n_pairs();
    Out<double, 3> out = make_array<double, 3>({poses.shape(0), scene.n_pairs(), CONTACT_NUMBERS});
    double *row = out.data();
    nb::gil_scoped_release release;
    std::vector<std::optional<Contact>> found(n);
    scene.deepest_contacts(rows, found);
    std::fill_n(row, CONTACT_NUMBERS * n, std::numeric_limits<double>::quiet_NaN());
    for (std::size_t i = 0; i < n; i++)
        if (found[i]) write_contact(*found[i], row + CONTACT_NUMBERS * i);
    return out;
}

}  // namespace

void bind_mesh(nb::module_ &m) {
    nb::class_<TriangleTree>(m, "TriangleTree", "Triangles of a mesh with their bounding volume hierarchy.")
        .def(
            "__init__",
            [](TriangleTree *self, In<double, 3> triangles, In<std::int64_t, 1> rows, In<bool, 1> solid, In<double, 2> pieces) {
                new (self) TriangleTree(tree_of(triangles, rows, solid, pieces));
            },
            "triangles"_a, "rows"_a, "solid"_a, "pieces"_a,
            "Takes triangles (n, 3, 3) in metres, their rows (n,) among the faces of the mesh, which of them (n,) belong "
            "to closed pieces, and a point of every connected piece (k, 3).")
        .def("__getstate__", &state_of)
        .def("__setstate__",
             [](TriangleTree &self, Tuple state) {
                 require(state.size() == 4, "state: expected four arrays");
                 new (&self) TriangleTree(tree_of(nb::cast<In<double, 3>>(state[0]), nb::cast<In<std::int64_t, 1>>(state[1]),
                                                  nb::cast<In<bool, 1>>(state[2]), nb::cast<In<double, 2>>(state[3])));
             })
        .def_prop_ro("triangles", &triangles_of, nb::rv_policy::automatic, "Corners (n, 3, 3) in leaf order, a new array.")
        .def_prop_ro("order",
                     [](const TriangleTree &t) {
                         return filled<std::int64_t, 1>({t.order.size()}, [&](std::size_t i) { return t.order[i]; });
                     },
                     nb::rv_policy::automatic, "Rows (n,) of the mesh's faces in leaf order, a new array.")
        .def_prop_ro("pieces", &pieces_of, nb::rv_policy::automatic, "A point (k, 3) of every connected piece, a new array.")
        .def_prop_ro("bounds",
                     [](const TriangleTree &t) {
                         const Node &root = t.root();
                         const auto at = [&](std::size_t i) { return (i < 3 ? root.center : root.half)[static_cast<int>(i % 3)]; };
                         return filled<double, 2>({2, 3}, at);
                     },
                     nb::rv_policy::automatic, "Centre and half extents (2, 3) of the bounding box.")
        .def_ro("depth", &TriangleTree::depth, "Levels below the root.")
        .def("as_surface",
             [](const TriangleTree &t) {
                 TriangleTree out = t;
                 std::fill(out.solid.begin(), out.solid.end(), std::uint8_t{0});
                 out.closed = false;
                 return out;
             },
             "The same triangles, nothing of which is solid.")
        .def(
            "point_inside",
            [](const TriangleTree &tree, In<double, 1> point) {
                require(point.size() == 3, "point: expected shape (3,)");
                return point_inside(tree, {point(0), point(1), point(2)});
            },
            "point"_a, "Whether a point (3,) of the mesh's frame is inside its closed pieces.");
    nb::class_<MeshScene>(m, "MeshScene", "Many meshes and the pairs of them to compare.")
        .def("__init__", &make_scene, "trees"_a, "pairs"_a, "Takes trees and pairs (k, 2) of their numbers.")
        .def("states", &scene_states, "poses"_a, "out"_a.noconvert(), "contain"_a, "first_only"_a,
             "Writes the state of every pair (n, pairs) at packed poses (n, meshes, 12): 0 apart, 1 surfaces meet, 2 the first is "
             "inside the second, 3 the second inside the first. With `first_only`, stops at the first that is not apart.")
        .def("deepest_contacts", &scene_deepest, "poses"_a,
             "Deepest contacts (n, pairs, 9) at packed poses (n, meshes, 12): point, normal, depth, rows of the two meshes' faces; "
             "NaN where no triangles meet.");
    m.def("pack_poses", &pack_poses, "poses"_a,
          "Poses (n, 4, 4) or (n, 7) as rows (n, 12), rotation by rows and translation; None unless all are clearly rigid.");
    m.def("pair_state", &pair_state_at, "a"_a, "T_a"_a.none(), "b"_a, "T_b"_a.none(), "contain"_a,
          "State of one posed pair; poses are None, (4, 4) or (7,). -1 for a pose that is not clearly rigid.");
    m.def("pair_states", &pair_states, "a"_a, "rows_a"_a, "b"_a, "rows_b"_a, "contain"_a,
          "States (n,) of a pair of meshes at packed poses (n, 12), or (1, 12) for one that stays.");
    m.def("close_pairs", &close_rows, "a"_a, "rows_a"_a, "b"_a, "rows_b"_a,
          "Rows of faces (n, 2) whose bounds overlap, at packed poses (1, 12).");
    m.def("contacts", &contacts, "a"_a, "rows_a"_a, "b"_a, "rows_b"_a, "leaf_order"_a = false,
          "All contacts of a pair of meshes at packed poses (n, 12): points (c, 3), normals (c, 3), depths (c,), triangles of A and "
          "B (c,) as rows of faces or in leaf order, and the first contact of every pose (n + 1,).");
    m.def("deepest_contact", &deepest_contact_at, "a"_a, "T_a"_a.none(), "b"_a, "T_b"_a.none(), "out"_a,
          "Writes point, normal, depth and triangles (leaf order) of the deepest contact to `out` (9,) and returns the kind of its "
          "axis; -1 when no triangles meet, -2 for a pose that is not clearly rigid.");
    m.def("triangle_contact", &triangle_contact_at, "tri_a"_a, "tri_b"_a, "out"_a.noconvert(),
          "The same for two triangles (3, 3).");
    m.def("contact_segments", &contact_segments, "a"_a, "rows_a"_a, "b"_a, "rows_b"_a, "tri_a"_a, "tri_b"_a,
          "Segments (n, 6) shared by triangles (leaf order) that meet, in the world; NaN for parallel planes.");
}

}  // namespace elbowroom::bindings
