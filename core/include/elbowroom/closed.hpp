// Which triangles bound a solid, and which way they must face: the parts of it that go through all triangles.
//
// Vertices at the same place are one. A connected piece (shared vertices connect) is closed when every edge is
// met by as many edges running the other way. Inside means a winding number that is not zero, so pieces that
// overlap and are wound against each other would cancel there. Where pieces of both windings are in one mesh,
// each is looked at from the largest down: one that lies wholly within the solid of the larger ones and is
// wound against the piece around it is a cavity; every other piece is part of the solid and faces outward. A
// piece that crosses or touches the surface of a larger one is no cavity. Cavities that cross each other are
// filled where they do, which errs to the solid. Not looked for: a piece that crosses itself.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "elbowroom/geometry.hpp"

namespace elbowroom {

using Face = std::array<std::int64_t, 3>;  // numbers of vertices

struct Merged {
    std::vector<std::int64_t> place;  // by vertex: number of its place
    std::vector<std::int64_t> first;  // by place: the first vertex there
};

// Vertices at exactly the same place; -0 is 0.
Merged merge_vertices(std::span<const Vec3> vertices);

// Piece of each face, numbered in the order of their first faces; shared vertices connect.
std::vector<std::int64_t> connected_pieces(std::span<const Face> faces, std::size_t n_vertices);

struct EdgeFaults {
    std::vector<bool> unbalanced;  // by piece: has an edge whose two directions do not cancel
    std::vector<bool> odd;         // by piece: has an edge of an odd number of faces
};

// Edges of no length are passed over; a soup that has no others is open altogether. `piece` numbers pieces from 0 to
// `n_pieces` - 1; vertices are numbered below 2^31.
EdgeFaults edge_faults(std::span<const Face> faces, std::span<const std::int64_t> piece, std::size_t n_pieces);

// By piece: whether a closed piece has to be turned so that it faces as part of the solid, or as a cavity,
// should. Faces are wound consistently within each closed piece.
std::vector<bool> inverted_pieces(std::span<const Vec3> vertices, std::span<const Face> faces,
                                  std::span<const std::int64_t> piece, const std::vector<bool> &closed);

}  // namespace elbowroom
