// elbowroom/_closed.py: which triangles bound a solid.
#include "elbowroom/closed.hpp"

#include <cstring>

#include "module.hpp"

namespace elbowroom::bindings {
namespace {

using namespace nb::literals;

std::span<const Vec3> vertices_of(const In<double, 2> &vertices) {
    static_assert(sizeof(Vec3) == 3 * sizeof(double));
    require(vertices.shape(1) == 3, "vertices: expected shape (verts, 3)");
    require(vertices.shape(0) < (1u << 31), "vertices: expected fewer than 2^31");
    return {reinterpret_cast<const Vec3 *>(vertices.data()), vertices.shape(0)};
}

std::span<const Face> faces_of(const In<std::int64_t, 2> &faces, std::int64_t n_vertices) {
    static_assert(sizeof(Face) == 3 * sizeof(std::int64_t));
    require(faces.shape(1) == 3, "faces: expected shape (tris, 3)");
    for (std::size_t i = 0; i < faces.size(); i++)
        require(faces.data()[i] >= 0 && faces.data()[i] < n_vertices, "faces: a number that no vertex has");
    return {reinterpret_cast<const Face *>(faces.data()), faces.shape(0)};
}

std::span<const std::int64_t> pieces_of(const In<std::int64_t, 1> &piece, std::size_t n_faces, std::size_t n_pieces) {
    require(piece.size() == n_faces, "piece: expected one number for each face");
    for (std::size_t i = 0; i < piece.size(); i++)
        require(piece(i) >= 0 && static_cast<std::size_t>(piece(i)) < n_pieces, "piece: out of range");
    return {piece.data(), piece.size()};
}

Out<std::int64_t, 1> array_of(const std::vector<std::int64_t> &numbers) {
    Out<std::int64_t, 1> out = make_array<std::int64_t, 1>({numbers.size()});
    std::copy(numbers.begin(), numbers.end(), out.data());
    return out;
}

Out<bool, 1> array_of(const std::vector<bool> &marks) {
    Out<bool, 1> out = make_array<bool, 1>({marks.size()});
    std::copy(marks.begin(), marks.end(), out.data());
    return out;
}

}  // namespace

void bind_closed(nb::module_ &m) {
    m.def(
        "merge_vertices",
        [](In<double, 2> vertices) -> Tuple {
            const Merged found = merge_vertices(vertices_of(vertices));
            return nb::make_tuple(array_of(found.place), array_of(found.first));
        },
        "vertices"_a, "Number of the place (verts,) of every vertex (verts, 3), and the first vertex at every place.");
    m.def(
        "connected_pieces",
        [](In<std::int64_t, 2> faces, std::int64_t n_vertices) {
            require(n_vertices >= 0 && n_vertices < (std::int64_t{1} << 31), "n_vertices: expected from 0 to 2^31 - 1");
            return array_of(connected_pieces(faces_of(faces, n_vertices), static_cast<std::size_t>(n_vertices)));
        },
        "faces"_a, "n_vertices"_a, "Piece (tris,) of each face (tris, 3), numbered in the order of their first faces.");
    m.def(
        "edge_faults",
        [](In<std::int64_t, 2> faces, In<std::int64_t, 1> piece, std::size_t n_pieces) -> Tuple {
            require(n_pieces <= piece.size(), "n_pieces: expected no more than faces");
            const std::span<const Face> all = faces_of(faces, std::int64_t{1} << 31);
            const EdgeFaults found = edge_faults(all, pieces_of(piece, all.size(), n_pieces), n_pieces);
            return nb::make_tuple(array_of(found.unbalanced), array_of(found.odd));
        },
        "faces"_a, "piece"_a, "n_pieces"_a,
        "Which pieces have an edge whose directions do not cancel, and which one of an odd number of faces (pieces,).");
    m.def(
        "inverted_pieces",
        [](In<double, 2> vertices, In<std::int64_t, 2> faces, In<std::int64_t, 1> piece, In<bool, 1> closed) {
            const std::span<const Vec3> corners = vertices_of(vertices);
            const std::span<const Face> all = faces_of(faces, static_cast<std::int64_t>(corners.size()));
            for (std::size_t i = 0; i < vertices.size(); i++)
                require(std::fabs(vertices.data()[i]) <= 1e100, "vertices: expected finite numbers up to 1e100");
            const std::vector<bool> marks(closed.data(), closed.data() + closed.size());
            return array_of(inverted_pieces(corners, all, pieces_of(piece, all.size(), marks.size()), marks));
        },
        "vertices"_a, "faces"_a, "piece"_a, "closed"_a,
        "Which closed pieces (pieces,) have to be turned so that parts of the solid face outward and cavities inward.");
}

}  // namespace elbowroom::bindings
