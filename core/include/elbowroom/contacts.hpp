// Posed meshes against each other: do they collide, which of their triangles meet, and the contacts of those.
//
// Touching counts as meeting; what is said to be apart is apart. Surfaces decide first; where they do not meet,
// a closed piece contains what is inside it (closed.hpp says what is closed). The contact of two triangles has
// the normal along which they part with the least motion, over the separating axes; the axis says how they
// touch. A corner in a face gives the corner, crossing edges the middle of the closest points of the two,
// parallel faces the middle of the common polygon; where the deepest corner is not over the other triangle, the
// middle of the line of intersection. The point of a contact without depth lies on both triangles. Depths are
// those of pairs of triangles, not of the meshes they belong to.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "elbowroom/pair_walk.hpp"
#include "elbowroom/triangle_pair.hpp"
#include "elbowroom/triangles.hpp"

namespace elbowroom {

enum class PairState : std::uint8_t { apart = 0, surfaces = 1, a_in_b = 2, b_in_a = 3 };

// Largest gap between the boxes of the two roots, grown by `tol`, along an axis of one of them. Where it is
// negative, moving along that axis by as much parts the boxes and what is in them.
double box_gap(const TriangleTree &a, const TriangleTree &b, const Pose &rel, double tol);

// Do the balls or boxes around the two meshes show that they are apart?
bool bounds_apart(const PosedPair &pair);

// Do the surfaces share a point?
bool surfaces_meet(const PosedPair &pair);

// A pair of triangles that meet.
std::optional<TriangleNumbers> meeting_pair(const PosedPair &pair);

// State of a pair whose surfaces do not meet: a piece of A inside B, one of B inside A, or apart.
PairState containment(const PosedPair &pair);

// State of B at `rel` in the frame of A; `contain` looks for containment where the surfaces do not meet.
PairState pair_state(const TriangleTree &a, const TriangleTree &b, const Pose &rel, bool contain);

// Pairs of triangles whose bounds overlap; all that meet are among them. Appends to `out`.
void close_pairs(const PosedPair &pair, std::vector<TriangleNumbers> &out);

struct Contact {
    Vec3 point, normal;  // in the world; the normal is a unit vector from A to B
    double depth = 0.0;  // metres, not negative: moving B by depth * normal parts the two triangles
    TriangleNumbers triangles{};
    AxisKind kind = AxisKind::face_a;  // the axis that the normal comes from
};

// Contact of two triangles in one frame; none when they are apart.
std::optional<Contact> triangle_contact(const Triangle &a, const Triangle &b);

// All pairs of triangles that meet, with their contacts in the world. Appends to `out`.
void find_contacts(const TriangleTree &a, const Pose &pose_a, const TriangleTree &b, const Pose &pose_b,
                   std::vector<Contact> &out);

// The deepest of them, found without the others by branch and bound: two triangles are never deeper in each
// other than their bounds overlap along any axis. Pairs that only touch come last, by the boolean walk.
std::optional<Contact> deepest_contact(const TriangleTree &a, const Pose &pose_a, const TriangleTree &b, const Pose &pose_b);

struct SharedSegment {
    Vec3 begin, end;
};

// The segment that two triangles share which meet, in the world, directed along normal A x normal B; none for
// parallel planes. Where they only touch, both ends are points that they share.
std::optional<SharedSegment> contact_segment(const TriangleTree &a, const Pose &pose_a, const TriangleTree &b, const Pose &pose_b,
                                       TriangleNumbers triangles);

// Many meshes and the pairs of them to compare. Refers to the trees, which it shares.
class MeshScene {
  public:
    using Tree = std::shared_ptr<const TriangleTree>;

    MeshScene(std::vector<Tree> trees, std::vector<std::pair<int, int>> pairs)
        : trees_(std::move(trees)), pairs_(std::move(pairs)) {}

    std::size_t n_meshes() const { return trees_.size(); }
    std::size_t n_pairs() const { return pairs_.size(); }

    // State of every pair in every row of poses (n, meshes), to `out` (n, pairs). With `first_only` the pairs
    // after the first that is not apart are left as they were; the pair that collided last is tried first,
    // since neighbouring poses tend to agree.
    void states(std::span<const Pose> poses, bool contain, bool first_only, std::span<PairState> out) const;

    // Deepest contact of every pair in every row of poses, to `out` (n, pairs); none where no triangles meet.
    // Its triangles are rows of the meshes' faces.
    void deepest_contacts(std::span<const Pose> poses, std::span<std::optional<Contact>> out) const;

  private:
    const TriangleTree &tree(int k) const { return *trees_[static_cast<std::size_t>(k)]; }

    std::vector<Tree> trees_;
    std::vector<std::pair<int, int>> pairs_;
};

}  // namespace elbowroom
