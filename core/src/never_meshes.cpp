#include "elbowroom/never_meshes.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "elbowroom/contacts.hpp"
#include "elbowroom/proximity.hpp"

namespace elbowroom {
namespace {

// Metres by which a bound must be better than asked: far more than float64 rounds over a few metres.
constexpr double ROUNDING = 1e-9;
// Added to the sine of the angle between a direction and an axis, which float64 has to 1e-8 where it is near 0.
constexpr double TILT = 1e-7;
// Pairs of tree nodes opened at most for one box of joint values, some 10 ms: one that needs more is halved.
constexpr std::int64_t OPENED = 20'000;
// The same on average over all boxes of a budget: proofs that need more end as if the boxes were spent.
constexpr std::int64_t MEAN_OPENED = 1500;

// Metres between two meshes beyond which a pose is a fault of the joint laws, not a place of a robot.
constexpr double FARTHEST = 1e9;

// A joint in the frame of mesh A at the centre of a box, and how far its value goes from there.
struct MovingAxis {
    bool turns;
    Vec3 direction, origin;
    double half, chord;
};

struct Reach {
    double move = 0.0, along = 0.0;  // how far a point moves, and how far along a direction; metres
};

// Squared lower bound of the distance of two boxes with slabs, `b` at `rel` in the frame of `a`.
double squared_gap(const Node &a, const Node &b, const Pose &rel) {
    const Vec3 place = rel.apply(b.center), d = place - a.center;
    const double *r = rel.r;
    const Vec3 g = a.half, h = b.half;
    const auto outside = [](double gap) { return gap > 0.0 ? gap * gap : 0.0; };
    double by_a = 0.0, by_b = 0.0;
    for (int k = 0; k < 3; k++) {
        const double *row = r + 3 * k;
        by_a += outside(std::fabs(d[k]) - g[k] - std::fabs(row[0]) * h.x - std::fabs(row[1]) * h.y - std::fabs(row[2]) * h.z);
        const Vec3 axis = {r[k], r[3 + k], r[6 + k]};
        by_b += outside(std::fabs(dot(axis, d)) - h[k] - dot(abs(axis), g));
    }
    double bound = std::max(by_a, by_b);
    if (a.slab.half < Slab::NONE) {
        const Vec3 own = rel.unrotate(a.slab.normal);
        bound = std::max(bound, outside(std::fabs(dot(a.slab.normal, place) - a.slab.offset) - a.slab.half - dot(abs(own), h)));
    }
    if (b.slab.half < Slab::NONE) {
        const Vec3 normal = rel.rotate(b.slab.normal);
        const double offset = b.slab.offset + dot(normal, rel.translation());
        bound = std::max(bound, outside(std::fabs(dot(normal, a.center) - offset) - b.slab.half - dot(abs(normal), g)));
    }
    return bound;
}

// The surfaces of two meshes in a box of joint values.
class BoxLook {
  public:
    struct Answer {
        Proof status;
        bool has_points;      // undecided: the triangles in the way have closest points
        std::int64_t opened;  // pairs of nodes
    };
    std::vector<MovingAxis> axes;
    const std::vector<int> *moving;  // of A and of B, outermost first
    const TriangleTree &a, &b;
    Pose rel;  // B in the frame of A
    double target;
    bool by_axes;

    BoxLook(const TriangleTree &tree_a, const TriangleTree &tree_b, const std::vector<int> (&joints)[2], double kept, bool axes_too)
        : moving(joints), a(tree_a), b(tree_b), target(kept), by_axes(axes_too) {}

    // Proved: the surfaces stay farther apart than the target. Hit: two triangles are not farther apart at the centre.
    // Undecided: `hint` has the triangles in the way.
    Answer look(std::optional<TriangleNumbers> &hint);

    // What each joint moves the closest points found last along the direction found last.
    void shares(std::span<double> out) const {
        const auto share = [&](std::size_t k, double part) { out[k] = part; };
        reach(0, closest_.a, 0.0, direction_, share);
        reach(1, closest_.b, 0.0, direction_, share);
    }

  private:
    // Of any point of a ball on mesh `end`, along the unit vector n; `share(joint, metres along n)` is told each part.
    template <class Share> Reach reach(int end, Vec3 center, double radius, Vec3 n, Share share) const {
        Reach out;
        for (int joint : moving[end]) {
            const std::size_t k = static_cast<std::size_t>(joint);
            const MovingAxis &axis = axes[k];
            const double cosine = dot(n, axis.direction);
            double part = axis.half * std::fabs(cosine);
            if (axis.turns) {
                const Vec3 rate = cross(axis.direction, center - axis.origin);
                const double far = norm(rate) + radius + out.move;
                const double sine = std::sqrt(std::max(0.0, 1.0 - cosine * cosine)) + TILT;
                part = axis.half * (std::fabs(dot(n, rate)) + sine * (radius + out.move + 0.5 * axis.half * far));
                part = std::min(part, sine * axis.chord * far);
                out.move += axis.chord * far;
            } else {
                out.move += axis.half;
            }
            share(k, part);
            out.along += part;
        }
        return out;
    }
    Reach reach(int end, Vec3 center, double radius, Vec3 n) const {
        return reach(end, center, radius, n, [](std::size_t, double) {});
    }

    struct Gaps {
        double center, kept;  // at the centre, and in the whole box
    };
    Gaps gaps_along(const Triangle &ta, const Triangle &tb, Vec3 n) const;
    Proof triangles_apart(const Triangle &ta, const Triangle &tb, double need);

    struct NodeReach {
        double move, gap;  // how far both boxes move, and the gap along n that they keep
    };
    NodeReach nodes_apart(const Node &na, const Node &nb, Vec3 place, Vec3 n) const;

    ClosestPoints closest_;
    Vec3 direction_, aim_;
    std::vector<TriangleNumbers> stack_;  // nodes
};

BoxLook::Gaps BoxLook::gaps_along(const Triangle &ta, const Triangle &tb, Vec3 n) const {
    double high = -FAR, low = FAR, high_moved = -FAR, low_moved = FAR;
    for (int k = 0; k < 3; k++) {
        const Vec3 p = ta.corner(k), q = tb.corner(k);
        const double at = dot(n, p), other = dot(n, q);
        high = std::max(high, at), high_moved = std::max(high_moved, at + reach(0, p, 0.0, n).along);
        low = std::min(low, other), low_moved = std::min(low_moved, other - reach(1, q, 0.0, n).along);
    }
    return {low - high, low_moved - high_moved};
}

// Two triangles in the frame of A that do not cross. Farther apart than `need` they are proved at once. Nearer, the directions
// tried are `aim_`, the one between their closest points, and those of the joints' axes, along which their joints move
// nothing. One that shows them apart becomes `aim_`; where none does, `direction_` is the one whose gap at the centre is
// largest for what they move along it, with `by_axes`, or the direction from one to the other.
Proof BoxLook::triangles_apart(const Triangle &ta, const Triangle &tb, double need) {
    ClosestPoints found{need * need, {}, {}};
    if (!closest_points(ta, tb, found)) return Proof::proved;
    closest_ = found;
    const double distance = std::sqrt(found.squared);
    if (!(distance > target)) return Proof::hit;
    if (gaps_along(ta, tb, aim_).kept > target + ROUNDING) return Proof::proved;
    const Vec3 between = found.b - found.a;
    double best = -FAR;
    for (int k = -1; k < static_cast<int>(axes.size()); k++) {
        Vec3 trial = k < 0 ? (1.0 / distance) * between : axes[static_cast<std::size_t>(k)].direction;
        if (dot(trial, between) < 0.0) trial = -trial;
        const Gaps gaps = gaps_along(ta, tb, trial);
        if (gaps.kept > target + ROUNDING) {
            aim_ = trial;
            return Proof::proved;
        }
        const double share = (gaps.center - target) / (gaps.center - gaps.kept);
        if (share > best && (by_axes || k < 0)) best = share, direction_ = trial;
    }
    return Proof::undecided;
}

BoxLook::NodeReach BoxLook::nodes_apart(const Node &na, const Node &nb, Vec3 place, Vec3 n) const {
    const Reach of_a = reach(0, na.center, norm(na.half), n), of_b = reach(1, place, norm(nb.half), n);
    const double gap = dot(n, place - na.center) - dot(abs(n), na.half) - dot(abs(rel.unrotate(n)), nb.half);
    return {of_a.move + of_b.move, gap - of_a.along - of_b.along};
}

BoxLook::Answer BoxLook::look(std::optional<TriangleNumbers> &hint) {
    aim_ = direction_ = {};
    if (hint) {
        const Proof status = triangles_apart(a.triangles[hint->a], rel * b.triangles[hint->b], std::sqrt(FAR));
        if (status != Proof::proved) return {status, true, 1};
    }
    stack_.assign(1, {0, 0});
    std::int64_t opened = 0;
    bool tested = false;
    while (!stack_.empty()) {
        const TriangleNumbers at = stack_.back();
        stack_.pop_back();
        if (++opened > OPENED) {
            direction_ = aim_;
            return {Proof::undecided, tested, opened};
        }
        const Node &na = a.nodes[at.a], &nb = b.nodes[at.b];
        if (na.is_leaf() && nb.is_leaf()) {
            const double move = nodes_apart(na, nb, rel.apply(nb.center), direction_).move;
            const double need = (target + move + ROUNDING) * (1.0 + ROUNDING);
            for (int j = nb.first; j < nb.first + nb.count; j++) {
                const Triangle posed = rel * b.triangles[static_cast<std::size_t>(j)];
                for (int i = na.first; i < na.first + na.count; i++) {
                    const Proof status = triangles_apart(a.triangles[static_cast<std::size_t>(i)], posed, need);
                    if (status != Proof::proved) {
                        hint = TriangleNumbers{static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j)};
                        return {status, true, opened};
                    }
                    tested = true;
                }
            }
            continue;
        }
        const bool open_a = nb.is_leaf() || (!na.is_leaf() && size_of(na.half) >= size_of(nb.half));
        const std::uint32_t child = static_cast<std::uint32_t>(open_a ? na.first : nb.first);
        TriangleNumbers children[2];
        double bounds[2];
        for (std::uint32_t k = 0; k < 2; k++) {
            children[k] = open_a ? TriangleNumbers{child + k, at.b} : TriangleNumbers{at.a, child + k};
            bounds[k] = squared_gap(a.nodes[children[k].a], b.nodes[children[k].b], rel);
        }
        if (bounds[0] < bounds[1]) std::swap(children[0], children[1]), std::swap(bounds[0], bounds[1]);
        for (int k = 0; k < 2; k++) {  // the nearer one is looked at first: it goes on the stack last
            const Node &ca = a.nodes[children[k].a], &cb = b.nodes[children[k].b];
            const Vec3 place = rel.apply(cb.center), between = place - ca.center;
            const double far = norm(between);
            direction_ = far > 0.0 ? (1.0 / far) * between : Vec3{};
            const NodeReach found = nodes_apart(ca, cb, place, direction_);
            const double need = target + found.move + ROUNDING;
            if (bounds[k] > need * need * (1.0 + ROUNDING) || found.gap > target + ROUNDING) continue;
            if (squared(aim_) > 0.5 && nodes_apart(ca, cb, place, aim_).gap > target + ROUNDING) continue;
            stack_.push_back(children[k]);
        }
    }
    return {Proof::proved, false, opened};
}

}  // namespace

MeshPair::MeshPair(Chain chain, int side, CarriedMesh a, CarriedMesh b)
    : chain_(std::move(chain)), moving_{chain_.moving_a(side), chain_.moving_b(side)}, meshes_{std::move(a), std::move(b)} {}

void MeshPair::clearances(std::span<const double> values, std::span<double> out) const {
    const std::size_t n = static_cast<std::size_t>(chain_.n_variables());
    ChainPoses poses;
    std::optional<TriangleNumbers> hint;
    for (std::size_t s = 0; s < out.size(); s++) {
        chain_.place(values.subspan(s * n, n), poses);
        const Pose rel = relative(poses.end_a * meshes_[0].in_body, poses.end_b * meshes_[1].in_body);
        if (!(size_of(rel.translation()) <= FARTHEST)) {  // a polynomial out of its range, or NaN: nothing is known
            out[s] = 0.0;
            continue;
        }
        const PairDistance found = pair_distance(PosedPair(*meshes_[0].tree, *meshes_[1].tree, rel), true, hint);
        const bool apart = found.state == PairState::apart;
        out[s] = apart ? std::sqrt(found.surfaces.closest.squared) : 0.0;
        if (apart) hint = found.surfaces.triangles;
    }
}

ProofOutcome MeshPair::prove(const BoxRange &range, double target, std::int64_t max_boxes, bool by_axes) const {
    using Hint = std::optional<TriangleNumbers>;
    const std::size_t m = chain_.joints().size();
    BoxLook box_look(*meshes_[0].tree, *meshes_[1].tree, moving_, target, by_axes);
    box_look.axes.resize(m);
    ChainPoses poses;
    std::vector<double> shares(m, 0.0);
    std::int64_t work = 0;
    bool first = true;
    return bisect<Hint>(range, max_boxes, [&](Box<Hint> &box) -> Judgement {
        if (work > MEAN_OPENED * max_boxes) return {Proof::undecided, -1};
        chain_.place(box.center, poses);
        const Pose at_a = poses.end_a * meshes_[0].in_body, at_b = poses.end_b * meshes_[1].in_body;
        box_look.rel = relative(at_a, at_b);
        if (pair_state(box_look.a, box_look.b, box_look.rel, first) != PairState::apart) return {Proof::hit};
        first = false;
        for (std::size_t k = 0; k < m; k++) {
            const ChainJoint &joint = chain_.joints()[k];
            const double half = joint.slope * box.half[static_cast<std::size_t>(joint.variable)];
            const Pose &pose = poses.joints[k];
            box_look.axes[k] = {joint.turns, at_a.unrotate(axis_of(pose)), at_a.unrotate(pose.translation() - at_a.translation()),
                                half, joint.chord(half)};
        }
        const BoxLook::Answer found = box_look.look(box.note);
        work += found.opened;
        if (found.status != Proof::undecided) return {found.status};
        if (found.has_points)
            box_look.shares(shares);
        else
            for (std::size_t k = 0; k < m; k++) shares[k] = box_look.axes[k].half;
        return {Proof::undecided, widest_variable(chain_, shares)};
    });
}

}  // namespace elbowroom
