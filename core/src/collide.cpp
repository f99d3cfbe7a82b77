#include "elbowroom/contacts.hpp"

namespace elbowroom {
namespace {

// Ends the walk at the first pair of triangles that meets.
struct FindMeeting {
    static constexpr VisitFirst FIRST = VisitFirst::nearest;
    const PosedPair &pair;
    TriangleNumbers found{};

    static float floor() { return 0.0f; }
    bool operator()(const TriangleHits &hits) {
        for (int k = 0; k < hits.count; k++) {
            found = hits[k];
            const Triangle posed = pair.rel * pair.b.triangles[found.b];
            if (triangles_meet(pair_of(pair.a.triangles[found.a], posed), pair.rel, pair.tol)) return true;
        }
        return false;
    }
};

struct Collect {
    static constexpr VisitFirst FIRST = VisitFirst::any;
    std::vector<TriangleNumbers> &out;
    std::size_t used = out.size();

    static float floor() { return 0.0f; }
    bool operator()(const TriangleHits &hits) {
        if (used + Block::LANES > out.size()) out.resize(2 * used + 256);
        for (int k = 0; k < Block::LANES; k++) out[used + static_cast<std::size_t>(k)] = hits[k];
        used += static_cast<std::size_t>(hits.count);
        return false;
    }
};

// Is one of A's pieces, by its point, inside the closed pieces of B? `pose` maps A's frame into B's.
bool piece_inside(const TriangleTree &a, const TriangleTree &b, const Pose &pose) {
    for (Vec3 point : a.pieces)
        if (point_inside(b, pose.apply(point))) return true;
    return false;
}

}  // namespace

double box_gap(const TriangleTree &a, const TriangleTree &b, const Pose &rel, double tol) {
    const Vec3 d = rel.apply(b.root().center) - a.root().center, e = rel.unrotate(d);
    const Vec3 more = {tol, tol, tol}, g = a.root().half + more, h = b.root().half + more;
    double gap = -1e300;
    for (int k = 0; k < 3; k++) {
        const double *row = rel.r + 3 * k, *column = rel.r + k;
        const double on_a = std::fabs(row[0]) * h.x + std::fabs(row[1]) * h.y + std::fabs(row[2]) * h.z;
        const double on_b = std::fabs(column[0]) * g.x + std::fabs(column[3]) * g.y + std::fabs(column[6]) * g.z;
        gap = std::max({gap, std::fabs(d[k]) - g[k] - on_a, std::fabs(e[k]) - h[k] - on_b});
    }
    return gap;
}

bool bounds_apart(const PosedPair &pair) {
    const Node &a = pair.a.root(), &b = pair.b.root();
    const double d = squared(pair.rel.apply(b.center) - a.center), ra = squared(a.half), rb = squared(b.half);
    if (d > ra + rb) {  // else the balls meet: spares two roots
        const double reach = std::sqrt(ra) + std::sqrt(rb);
        if (d > reach * reach * (1.0 + 1e-9)) return true;
    }
    return box_gap(pair.a, pair.b, pair.rel, pair.tol) > 0.0;
}

bool surfaces_meet(const PosedPair &pair) {
    FindMeeting find{pair};
    return walk(pair, find);
}

std::optional<TriangleNumbers> meeting_pair(const PosedPair &pair) {
    FindMeeting find{pair};
    if (!walk(pair, find)) return std::nullopt;
    return find.found;
}

PairState containment(const PosedPair &pair) {
    if (pair.b.closed && piece_inside(pair.a, pair.b, pair.inv)) return PairState::a_in_b;
    if (pair.a.closed && piece_inside(pair.b, pair.a, pair.rel)) return PairState::b_in_a;
    return PairState::apart;
}

PairState pair_state(const TriangleTree &a, const TriangleTree &b, const Pose &rel, bool contain) {
    const PosedPair pair(a, b, rel);
    if (bounds_apart(pair)) return PairState::apart;
    if (surfaces_meet(pair)) return PairState::surfaces;
    return contain ? containment(pair) : PairState::apart;
}

void close_pairs(const PosedPair &pair, std::vector<TriangleNumbers> &out) {
    Collect collect{out};
    walk(pair, collect);
    out.resize(collect.used);
}

void MeshScene::states(std::span<const Pose> poses, bool contain, bool first_only, std::span<PairState> out) const {
    const std::size_t n = n_pairs();
    if (n == 0) return;
    std::size_t last = 0;
    for (std::size_t row = 0; row < out.size() / n; row++) {
        const Pose *at = poses.data() + row * n_meshes();
        for (std::size_t s = 0; s < n; s++) {
            const std::size_t k = first_only ? (last + s) % n : s;
            const auto [a, b] = pairs_[k];
            const PairState state = pair_state(tree(a), tree(b), relative(at[a], at[b]), contain);
            out[row * n + k] = state;
            if (first_only && state != PairState::apart) {
                last = k;
                break;
            }
        }
    }
}

void MeshScene::deepest_contacts(std::span<const Pose> poses, std::span<std::optional<Contact>> out) const {
    const std::size_t n = n_pairs();
    for (std::size_t i = 0; i < out.size(); i++) {
        const Pose *at = poses.data() + i / n * n_meshes();
        const auto [a, b] = pairs_[i % n];
        out[i] = deepest_contact(tree(a), at[a], tree(b), at[b]);
        if (!out[i]) continue;
        TriangleNumbers &numbers = out[i]->triangles;
        numbers = {static_cast<std::uint32_t>(tree(a).order[numbers.a]), static_cast<std::uint32_t>(tree(b).order[numbers.b])};
    }
}

}  // namespace elbowroom
