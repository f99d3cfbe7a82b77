#include "elbowroom/part_proof.hpp"

#include <algorithm>
#include <cmath>

#include "elbowroom/contacts.hpp"
#include "elbowroom/proximity.hpp"

namespace elbowroom {
namespace {

constexpr double SLACK = 1e-9;        // metres by which a bound must be positive: a thousand roundings over a few metres
constexpr double SEARCH = 1e-9;       // relative difference to the true distance at which a search for it may end
constexpr double MOST_VALUE = 1e5;    // joint values, rad or m, beyond which rounding is no longer covered
constexpr double NARROW = 0.125;      // parts on which joints move less than this share of their slack are not halved
constexpr double ENOUGH = 0.01;       // metres of proved clearance beyond which meshes are not measured any closer
constexpr int MESH_DEPTH = 12;        // halvings after which meshes are asked even where spheres are a little apart
constexpr int DEEPEST = 60;           // halvings: smaller parts mean nothing
// Metres of movement above which meshes are only asked whether they touch: where balls overlap in the middle, the meshes are
// hardly ever farther apart than that.
constexpr double CLOSE = 0.05;
constexpr double WORTH = 0.25;  // balls closer than this share of their movement are asked of the mesh at once

// Bounds of the slope and of the size of a law while its variable stays within `reach` of zero.
struct Steepest {
    double slope = 0.0, size = 0.0;

    Steepest(std::span<const double> law, double reach) {
        for (std::size_t c = law.size(); c-- > 1;) {
            slope = slope * reach + static_cast<double>(c) * std::fabs(law[c]);
            size = (size + std::fabs(law[c])) * reach;
        }
        size += law.empty() ? 0.0 : std::fabs(law[0]);
    }
};

// The chords of a chain's joints on a part, and how much of their widths is motion and slack. False for values too large.
struct ChainWidths {
    std::vector<double> chords;
    double along = 0.0, beside = 0.0;

    bool set(const Chain &chain, const PartOfPiece &part, const double *slack) {
        chords.resize(chain.joints().size());
        along = beside = 0.0;
        for (std::size_t k = 0; k < chords.size(); k++) {
            const ChainJoint &joint = chain.joints()[k];
            const std::size_t d = static_cast<std::size_t>(joint.variable);
            const Steepest law(joint.law, part.size[d]);
            if (!(law.size <= MOST_VALUE)) return false;
            chords[k] = joint.chord(law.slope * part.width[d]);
            beside += law.slope * slack[d];
            along += law.slope * (part.width[d] - slack[d]);
        }
        return true;
    }
    bool narrow() const { return along < NARROW * beside; }
};

struct Waiting {
    double t, half;
    int depth;
};

GroupedBalls grouped(const LinkSpheres &model, int place) {
    const LinkSpheres::Link &link = model.link(place);
    GroupedBalls out;
    for (int g = link.first_group; g < link.first_group + link.groups; g++) {
        const LinkSpheres::Group &group = model.group(g);
        out.groups.push_back({model.exact[static_cast<std::size_t>(g)], group.first - link.first, group.count});
    }
    for (int s = link.first; s < link.first + link.count; s++) out.spheres.push_back(model.exact[static_cast<std::size_t>(s)]);
    return out;
}

// What a joint's value is of which actuated joint: laws that follow each other become one polynomial.
std::vector<double> composed_law(const Robot &robot, int joint, int &variable) {
    const JointLaw &law = robot.laws()[static_cast<std::size_t>(joint)];
    if (!law.coupled) {
        variable = law.driver;
        return {0.0, 1.0};
    }
    const std::vector<double> inner = composed_law(robot, law.driver, variable);
    std::vector<double> out = {0.0};
    for (int c = JointLaw::TERMS; c-- > 0;) {  // Horner's rule on polynomials
        std::vector<double> next(out.size() + inner.size() - 1, 0.0);
        for (std::size_t i = 0; i < out.size(); i++)
            for (std::size_t j = 0; j < inner.size(); j++) next[i + j] += out[i] * inner[j];
        next[0] += law.coefficients[c];
        while (next.size() > 1 && next.back() == 0.0) next.pop_back();
        out = std::move(next);
    }
    return out;
}

// The bodies from where the branches of two links meet, down to either; from the root to one link.
struct Branches {
    std::vector<int> a, b;

    Branches(const Robot &robot, int link_a, int link_b) {
        const LinkPath path(robot, link_a < 0 ? link_b : link_a, link_b);
        if (link_a >= 0) {
            a.assign(path.to_a().begin(), path.to_a().end()), b.assign(path.to_b().begin(), path.to_b().end());
            return;
        }
        for (int body = robot.link_places()[static_cast<std::size_t>(link_b)].body; body > 0;
             body = robot.bodies()[static_cast<std::size_t>(body)].parent)
            b.push_back(body);
        std::reverse(b.begin(), b.end());
    }
    std::vector<int> all() const {
        std::vector<int> out = a;
        out.insert(out.end(), b.begin(), b.end());
        return out;
    }
};

Chain chain_of(const Robot &robot, const Branches &branches) {
    std::vector<ChainJoint> joints;
    for (int body : branches.all()) {
        const Body &own = robot.bodies()[static_cast<std::size_t>(body)];
        ChainJoint joint;
        joint.turns = own.kind == JointKind::revolute;
        joint.in_previous = own.in_parent;
        joint.law = composed_law(robot, own.joint, joint.variable);
        joint.slope = 1.0;  // bounded by the values that occur
        joints.push_back(std::move(joint));
    }
    return Chain(std::move(joints), static_cast<int>(branches.a.size()), robot.dof());
}

Vec3 middle_of(const LinkSpheres &model, int place) { return model.exact[static_cast<std::size_t>(place)].center; }

}  // namespace

BodyChain::BodyChain(const Robot &robot, int link_a, int link_b)
    : chain(chain_of(robot, Branches(robot, link_a, link_b))), bodies(Branches(robot, link_a, link_b).all()) {}

// Pairs of links -------------------------------------------------------------------------------------------------

PairOnPart::PairOnPart(const LinkSpheres &spheres, LinkPair pair, const TriangleTree *a, const TriangleTree *b, const Robot &robot,
                       std::span<const double> lower, std::span<const double> upper)
    : joints_(robot, pair.a, pair.b),
      spheres_(joints_.chain, 0, grouped(spheres, spheres.numbered(pair).a), grouped(spheres, spheres.numbered(pair).b)),
      meshes_{a, b}, in_body_{robot.link_places()[static_cast<std::size_t>(pair.a)].in_body,
                              robot.link_places()[static_cast<std::size_t>(pair.b)].in_body} {
    const LinkPair placed = spheres.numbered(pair);
    const int side = joints_.chain.best_side(lower, upper, middle_of(spheres, placed.a), middle_of(spheres, placed.b));
    moving_[0] = joints_.chain.moving_a(side), moving_[1] = joints_.chain.moving_b(side);
    spheres_ = SpherePair(joints_.chain, side, grouped(spheres, placed.a), grouped(spheres, placed.b));
}

bool PairOnPart::blocked_in_middle(const Motion &motion, const Part &part, double buffer) const {
    if (!has_meshes()) return false;
    thread_local PartOfPiece now;
    thread_local ChainPoses poses;
    now.at(motion, part.piece, part.t, 0.0);
    joints_.chain.place(now.middle, poses);
    return meshes_closer(*meshes_[0], *meshes_[1], relative(poses.end_a * in_body_[0], poses.end_b * in_body_[1]), buffer);
}

std::optional<RelativeMotion> PairOnPart::motion_between(const Motion &motion, const Part &part, const ChainPoses &poses, Vec3 c) const {
    const Chain &chain = joints_.chain;
    const std::span<const ChainJoint> joints = chain.joints();
    const std::size_t n = joints.size(), n_a = static_cast<std::size_t>(chain.n_a());
    const double *begin = motion.piece(part.piece), *end = begin + motion.dof;
    const Pose a = poses.end_a * in_body_[0];
    const Vec3 middle = a.apply(c);
    thread_local std::vector<double> rate, curve;
    rate.resize(n), curve.resize(n);
    Vec3 v, w;
    double turning = 0.0;  // rates of all turning joints
    for (std::size_t k = 0; k < n; k++) {
        const ChainJoint &joint = joints[k];
        const std::size_t d = static_cast<std::size_t>(joint.variable);
        const double delta = end[d] - begin[d], x = begin[d] + part.t * delta;
        const double reach = std::max(std::fabs(begin[d]), std::fabs(end[d]));
        const Steepest law(joint.law, reach);
        if (!(law.size <= MOST_VALUE)) return {};
        double slope = 0.0, bends = 0.0;
        for (std::size_t e = joint.law.size(); e-- > 1;) slope = slope * x + static_cast<double>(e) * joint.law[e];
        for (std::size_t e = joint.law.size(); e-- > 2;) bends = bends * reach + static_cast<double>(e * (e - 1)) * std::fabs(joint.law[e]);
        rate[k] = law.slope * std::fabs(delta), curve[k] = bends * delta * delta;
        const double speed = (k < n_a ? -1.0 : 1.0) * slope * delta;
        const Vec3 axis = speed * axis_of(poses.joints[k]);
        if (joint.turns) {
            v = v + cross(axis, middle - poses.joints[k].translation()), w = w + axis;
            turning += rate[k];
        } else {
            v = v + axis;
        }
    }
    // Largest acceleration of a point of the second link within `radius` of the middle, from that link inwards.
    const auto bend = [&](double radius) {
        double before = turning, total = 0.0, moved = 0.0;
        for (std::size_t i = n; i-- > 0;) {
            const std::size_t k = i < n_a ? n_a - 1 - i : i;  // the path from a to b, backwards
            const ChainJoint &joint = joints[k];
            if (joint.turns) {
                before = std::max(before - rate[k], 0.0);
                const double far = axis_distance(poses.joints[k], middle) + radius + moved;
                total += (rate[k] * rate[k] + curve[k] + 2.0 * rate[k] * before) * far;
                moved += joint.chord(rate[k] * part.half) * far;
            } else {
                total += curve[k] + 2.0 * rate[k] * before;
                moved += rate[k] * part.half;
            }
        }
        return total;
    };
    const double square = 0.5 * part.half * part.half * (1.0 + SEARCH), still = bend(0.0);
    return RelativeMotion{c, a.unrotate(v), a.unrotate(w), part.half, square * still, square * (bend(1.0) - still) + 1e-12};
}

void PairOnPart::prove(const Motion &motion, const Part &part, double buffer, const ProofRequest &request,
                       std::optional<TriangleNumbers> &hint, PieceProof &out) const {
    thread_local PartOfPiece now;
    thread_local ChainWidths widths;
    thread_local ChainPoses poses;
    thread_local std::array<SpherePair::Placed, 2> placed;
    const Chain &chain = joints_.chain;
    const auto end = [&](Outcome outcome, double t) { out.outcome = outcome, out.t = t; };
    const double *slack = motion.slack_of(part.piece);
    const bool straight = motion.points == 2 && std::all_of(slack, slack + motion.dof, [](double s) { return s == 0.0; });
    bool outside = false;  // neither mesh was inside the other at some moment
    std::vector<Waiting> waiting = {{part.t, part.half, 0}};
    while (!waiting.empty()) {
        const Waiting at = waiting.back();
        waiting.pop_back();
        if (out.by_spheres + out.by_meshes >= request.budget || at.depth > DEEPEST || request.late()) return end(Outcome::undecided, at.t);
        now.at(motion, part.piece, at.t, at.half);
        if (!widths.set(chain, now, motion.slack_of(part.piece))) return end(Outcome::undecided, at.t);
        const bool narrow = widths.narrow();
        chain.place(now.middle, poses);
        const SpherePair::Bounds bounds = spheres_.bounds_in_box(poses, widths.chords, buffer, placed);
        out.by_spheres++;
        if (bounds.low > SLACK) {
            out.clearance = std::min(out.clearance, bounds.low);
            continue;
        }
        if (!has_meshes()) {
            if (bounds.center <= 0.0) return end(Outcome::blocked, at.t);
        } else if (request.look != Look::meshes) {
            if (bounds.center <= 0.0) return end(Outcome::undecided, at.t);  // spheres will not show more
        } else if (bounds.center <= 0.0 || request.likely || at.half < std::ldexp(1.0, -MESH_DEPTH) || narrow) {
            out.by_meshes++;
            const PosedPair posed(*meshes_[0], *meshes_[1], relative(poses.end_a * in_body_[0], poses.end_b * in_body_[1]));
            if (straight && request.likely) {
                // Sliding past each other: shown of all parts, and neither inside the other at one moment.
                const Vec3 near = hint && hint->a < posed.a.triangles.size() ? posed.a.triangles[hint->a].a : posed.a.root().center;
                const std::optional<RelativeMotion> moved = motion_between(motion, {part.piece, at.t, at.half}, poses, near);
                const Swept found = moved ? stay_apart(posed, *moved, buffer, hint) : Swept::not_shown;
                if (found == Swept::too_close) return end(Outcome::blocked, at.t);
                if (found == Swept::apart) {
                    if (!outside && containment(posed) != PairState::apart) return end(Outcome::blocked, at.t);
                    outside = true;
                    out.clearance = std::min(out.clearance, SLACK);
                    continue;
                }
                const double half = 0.5 * at.half;  // the later half first: steps that collide do so near their end
                waiting.push_back({at.t - half, half, at.depth + 1});
                waiting.push_back({at.t + half, half, at.depth + 1});
                continue;
            }
            double move = 0.0;
            for (int k = 0; k < 2; k++) {
                double most = 0.0;
                for (const SpherePair::Placed::Spot &group : placed[static_cast<std::size_t>(k)].groups)
                    most = std::max(most, movement(chain, poses, widths.chords, moving_[k], group.at, group.radius, [](std::size_t, double) {}));
                move += most;
            }
            const ConvexDistance hulls = hull_distance(posed);
            if (hulls.lower - buffer - move > SLACK) {
                out.clearance = std::min(out.clearance, hulls.lower - buffer - move);
                continue;
            }
            if (pair_state(posed.a, posed.b, posed.rel, true) != PairState::apart) return end(Outcome::blocked, at.t);
            const double far = buffer + move + ENOUGH;
            const SurfaceDistance found = surface_distance(posed, hulls, hint, far * far);
            if (found.triangles) hint = found.triangles;
            const double gap = std::sqrt(found.closest.squared) * (1.0 - SEARCH) - buffer;
            if (gap <= 0.0) return end(Outcome::blocked, at.t);
            if (gap - move > SLACK) {
                out.clearance = std::min(out.clearance, gap - move);
                continue;
            }
        }
        if (narrow) return end(Outcome::undecided, at.t);
        const double half = 0.5 * at.half;
        waiting.push_back({at.t + half, half, at.depth + 1});
        waiting.push_back({at.t - half, half, at.depth + 1});
    }
}

// Links and obstacles --------------------------------------------------------------------------------------------

LinkOnPart::LinkOnPart(const Surroundings &around, int place)
    : joints_(*around.spheres().robot, -1, around.link(place)), moving_(joints_.chain.moving_b(0)), place_(place) {}

// One look at a link in the middle of a part.
struct LinkOnPart::Look {
    struct Left {
        Vec3 in_root, in_world;
        double radius, move;
    };
    std::vector<Left> left;  // balls that are not shown to stay clear
    double low = UNBOUNDED;  // of the others
    double middle = UNBOUNDED, share = UNBOUNDED;  // of those left: distance in the middle, and as a share of its movement
    int nearest = -1;        // obstacle

    void balls(const LinkOnPart &self, const Surroundings &around, const Pose &base, const ChainPoses &poses, std::span<const double> chords, double buffer,
               double margin) {
        const LinkSpheres &model = around.spheres();
        const LinkSpheres::Link &link = model.link(self.place_);
        const Ignored allowed = around.allowed(self.place_);
        left.clear();
        low = middle = share = UNBOUNDED, nearest = -1;
        const auto look = [&](int point, bool keep) {
            const Ball &ball = model.exact[static_cast<std::size_t>(point)];
            const Vec3 root = poses.end_b.apply(ball.center), world = base.apply(root);
            const double move = movement(self.joints_.chain, poses, chords, self.moving_, root, [](std::size_t, double) {});
            const double size = ball.radius + buffer, need = size + move;
            const NearestObstacle found = around.world().distance_lower_bound(world, need + margin, allowed);
            if (found.distance - need > SLACK) {
                low = std::min(low, found.distance - need);
                return true;
            }
            if (!keep) return false;
            const double apart = found.distance - size;
            if (apart < middle) middle = apart, nearest = found.obstacle;
            share = std::min(share, apart / std::max(move, SLACK));
            left.push_back({root, world, ball.radius, move});
            return false;
        };
        for (int g = link.first_group; g < link.first_group + link.groups; g++) {
            if (look(g, false)) continue;
            const LinkSpheres::Group &group = model.group(g);
            for (int s = group.first; s < group.first + group.count; s++) look(s, true);
        }
    }
};

int LinkOnPart::blocked_in_middle(const Surroundings &around, const Motion &motion, const Part &part, double buffer) const {
    thread_local PartOfPiece now;
    thread_local ChainPoses poses;
    thread_local Look look;
    thread_local std::vector<std::int32_t> near, seen;
    thread_local std::vector<double> still;
    const TriangleTree *mesh = around.mesh(place_);
    if (mesh == nullptr) return -1;
    now.at(motion, part.piece, part.t, 0.0);
    joints_.chain.place(now.middle, poses);
    still.assign(joints_.chain.joints().size(), 0.0);
    look.balls(*this, around, around.base(), poses, still, buffer, 0.0);
    const Pose in_body = around.spheres().robot->link_places()[static_cast<std::size_t>(around.link(place_))].in_body;
    const Pose pose = around.base() * (poses.end_b * in_body);
    seen.clear();
    for (const Look::Left &ball : look.left) {
        near.clear();
        around.world().near(ball.in_world, ball.radius + buffer, around.allowed(place_), near);
        for (const std::int32_t k : near) {
            if (std::find(seen.begin(), seen.end(), k) != seen.end()) continue;
            seen.push_back(k);
            if (around.mesh_closer(k, *mesh, pose, buffer)) return k;
        }
    }
    return -1;
}

void LinkOnPart::prove(const Surroundings &around, const Motion &motion, const Part &part, double buffer, const ProofRequest &request,
                       PieceProof &out) const {
    thread_local PartOfPiece now;
    thread_local ChainWidths widths;
    thread_local ChainPoses poses;
    thread_local Look look;
    thread_local std::vector<std::int32_t> near;
    const Chain &chain = joints_.chain;
    const TriangleTree *mesh = around.mesh(place_);
    const double margin = std::max(ENOUGH, request.margin);
    const auto end = [&](Outcome outcome, double t, int obstacle) {
        out.outcome = outcome, out.t = t;
        out.who = {-1, around.link(place_), obstacle};
    };
    const Pose in_body = around.spheres().robot->link_places()[static_cast<std::size_t>(around.link(place_))].in_body;
    Pose base = around.base();
    base.t[0] -= request.shift.x, base.t[1] -= request.shift.y, base.t[2] -= request.shift.z;
    std::vector<Waiting> waiting = {{part.t, part.half, 0}};
    while (!waiting.empty()) {
        const Waiting at = waiting.back();
        waiting.pop_back();
        now.at(motion, part.piece, at.t, at.half);
        const bool good = widths.set(chain, now, motion.slack_of(part.piece));
        const bool last = !good || (widths.beside > 0.0 && widths.narrow()) || !(widths.along > 0.0);
        chain.place(now.middle, poses);
        look.balls(*this, around, base, poses, widths.chords, buffer, margin);
        out.by_spheres++;
        if (!good || out.by_spheres + out.by_meshes > request.budget || at.depth > DEEPEST || request.late())
            return end(Outcome::undecided, at.t, std::max(look.nearest, 0));
        if (look.left.empty()) {
            out.clearance = std::min(out.clearance, look.low);
            continue;
        }
        int in_the_way = look.nearest;
        double low = look.low;
        if (mesh == nullptr) {
            if (look.middle <= 0.0) return end(Outcome::blocked, at.t, look.nearest);
        } else if (request.look != elbowroom::Look::meshes) {
            if (look.middle <= 0.0) return end(Outcome::undecided, at.t, look.nearest);  // spheres will not show more
        } else {
            double move = 0.0;
            for (const Look::Left &ball : look.left)
                move = std::max(move, movement(chain, poses, widths.chords, moving_, ball.in_root, ball.radius, [](std::size_t, double) {}));
            const bool wide = move > CLOSE && !last;
            if (!(look.middle > 0.0 && !last && (wide || look.share > WORTH))) {
                out.by_meshes++;
                near.clear();
                for (const Look::Left &ball : look.left) {
                    const double need = ball.radius + buffer + (wide ? 0.0 : ball.move);
                    const std::size_t first = near.size();
                    around.world().near(ball.in_world, need + margin, around.allowed(place_), near);
                    std::size_t kept = first;
                    for (std::size_t k = first; k < near.size(); k++) {
                        if (std::find(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(kept), near[k]) !=
                            near.begin() + static_cast<std::ptrdiff_t>(kept))
                            continue;
                        const double spare = around.world().distance_lower_bound(near[k], ball.in_world, need + margin) - need;
                        if (spare > SLACK)
                            low = std::min(low, spare);
                        else
                            near[kept++] = near[k];
                    }
                    near.resize(kept);
                    low = std::min(low, margin);
                }
                const Pose pose = base * (poses.end_b * in_body);
                bool shown = !wide;
                for (const std::int32_t k : near) {
                    if (wide && buffer == 0.0) {
                        if (around.world().mesh_meets(k, *mesh, pose)) return end(Outcome::blocked, at.t, k);
                        continue;
                    }
                    const double limit = wide ? 1.01 * buffer : buffer + move + margin;
                    const MeshGap gap = around.world().mesh_gap(k, *mesh, pose, limit);
                    if (gap.meet || gap.distance < buffer) return end(Outcome::blocked, at.t, k);
                    const double bound = std::min(gap.distance, limit) - buffer - move;
                    if (bound > SLACK)
                        low = std::min(low, bound);
                    else
                        shown = false, in_the_way = k;
                }
                if (shown) {
                    out.clearance = std::min(out.clearance, low);
                    continue;
                }
            }
        }
        if (last) return end(Outcome::undecided, at.t, std::max(in_the_way, 0));
        const double half = 0.5 * at.half;
        waiting.push_back({at.t + half, half, at.depth + 1});
        waiting.push_back({at.t - half, half, at.depth + 1});
    }
}

}  // namespace elbowroom
