// Distances at one configuration: which are known to be large, which are measured, and how they change with the joints.
#include <algorithm>
#include <bit>
#include <cmath>

#include "elbowroom/contacts.hpp"
#include "elbowroom/proximity.hpp"
#include "elbowroom/separation.hpp"
#include "track_parts.hpp"

namespace elbowroom {
namespace {

constexpr double INFINITE = std::numeric_limits<double>::infinity();
constexpr double SEARCH = 1e-9;   // relative difference to the true distance at which a search for it may end
constexpr double NEAR = 1e-9;     // metres between spheres below which meshes are asked
constexpr std::size_t SPREAD = 3;       // rows of spheres for one pair at most
constexpr std::size_t WITNESSES = 5;    // rows of meshes for one pair at most
constexpr double SLIP = 0.006, GAP = 0.03, SAME = 0.004;  // metres: witnesses that slid, parted, or came together are dropped
constexpr double CALM = 0.004;  // metres above the skin: farther apart, meshes are measured when they hold an answer back
constexpr std::size_t MOST_OUTSIDE = 512;  // rows of links and obstacles: beyond, the proof alone has a word

Vec3 unit(Vec3 v) {
    const double length = norm(v);
    return length > 1e-12 ? 1.0 / length * v : Vec3{1.0, 0.0, 0.0};
}

// How fast an obstacle moves along a direction of the world.
double along_drift(std::span<const double> drift, int obstacle, Vec3 direction) {
    const std::size_t k = 3 * static_cast<std::size_t>(obstacle);
    return drift.empty() ? 0.0 : dot(direction, {drift[k], drift[k + 1], drift[k + 2]});
}

// The nearest sphere of the second link for every sphere of the first that is within reach of one; numbers of columns.
struct NearSpheres {
    struct Pick {
        int a, b;
        float gap;
    };
    float far;
    std::vector<Pick> &picks;

    template <class Number> Number limit(Number reach) const { return reach + far; }
    void row(const LinkSpheres &model, const SphereRow &one, int sphere, int others) {
        const F32x8 radii = load8(&model.radius[static_cast<std::size_t>(others)]);
        const F32x8 reach = radii + model.radius[static_cast<std::size_t>(sphere)], most = reach + far;
        const F32x8 squared = squared_distance(one.everywhere(sphere), one.points(others));
        unsigned near = bits(squared < most * most);
        if (!near) return;
        const F32x8 distance = sqrt(squared) - reach;
        if (picks.empty() || picks.back().a != sphere) picks.push_back({sphere, -1, INFINITE32});
        Pick &best = picks.back();
        for (; near; near &= near - 1) {
            const int k = std::countr_zero(near);
            if (distance[k] < best.gap) best.gap = distance[k], best.b = others + k;
        }
    }
    bool settled() const { return false; }
};

// A sphere of a link by its column.
const Ball &ball_of(const LinkSpheres &model, const LinkSpheres::Link &link, int column) {
    return model.exact[static_cast<std::size_t>(link.first + std::min(column - link.column, link.count - 1))];
}

}  // namespace

void SafeStep::Survey::drop_rough(const Culprit &who, std::size_t dof) {
    std::size_t kept = 0;
    for (std::size_t k = 0; k < found.rows.size(); k++) {
        if (found.rows[k].rough && found.rows[k].who == who) continue;
        if (kept != k) {
            found.rows[kept] = found.rows[k];
            std::copy_n(found.A.begin() + static_cast<std::ptrdiff_t>(k * dof), dof, found.A.begin() + static_cast<std::ptrdiff_t>(kept * dof));
        }
        kept++;
    }
    found.rows.resize(kept), found.A.resize(kept * dof);
}

double SafeStep::own_way(std::size_t pair, std::span<const double> ways) const {
    const LinkPair links = scene_.pair(pair).links;
    return own_.way(ways, links.a, meetings_[pair].a) + own_.way(ways, links.b, meetings_[pair].b);
}

void SafeStep::pair_row(std::size_t pair, const PosedBodies &at, Vec3 a, Vec3 b, Vec3 normal, double *row) const {
    const Robot &robot = scene_.robot();
    const LinkPath &path = scene_.pair(pair).path;
    const int meet = meetings_[pair].body;
    at.add_rates(robot, robot.link_places()[static_cast<std::size_t>(path.link_a())].body, meet, a, normal, -1.0, row);
    at.add_rates(robot, robot.link_places()[static_cast<std::size_t>(path.link_b())].body, meet, b, normal, 1.0, row);
}

void SafeStep::measure_pair(std::size_t k, double limit, StepMemory &memory, Survey &out, bool with_rows) const {
    const Scene::Pair &pair = scene_.pair(k);
    const Robot &robot = scene_.robot();
    const Pose pose_a = out.at.link(robot, pair.path.link_a()), pose_b = out.at.link(robot, pair.path.link_b());
    const PosedPair posed(*pair.a, *pair.b, relative(pose_a, pose_b));
    StepMemory::Pair &known = memory.pairs[k];
    std::optional<TriangleNumbers> &hint = memory.hints[k];
    const Culprit who{static_cast<int>(k), -1, -1};
    const bool apart = known.apart > BOUND_SLACK;
    if (!apart && pair_state(posed.a, posed.b, posed.rel, true) != PairState::apart) {
        out.low[k] = -INFINITE, known.apart = 0.0;
        known.witnesses.clear();
        // Parted along the direction that needs the shortest way: of the deepest triangles, between the middles, along the axes.
        std::vector<Vec3> tried = {unit(posed.rel.apply(posed.b.root().center) - posed.a.root().center)};
        const std::optional<Contact> deepest = deepest_contact(posed.a, pose_a, posed.b, pose_b);
        if (deepest) tried.push_back(pose_a.unrotate(deepest->normal));
        for (int axis = 0; axis < 3; axis++)
            for (const double sign : {1.0, -1.0}) tried.push_back({sign * (axis == 0), sign * (axis == 1), sign * (axis == 2)});
        std::vector<double> ways(tried.size());
        separations(posed, tried, true, ways);
        const std::size_t best = static_cast<std::size_t>(std::min_element(ways.begin(), ways.end()) - ways.begin());
        out.overlaps.push_back({k, tried[best], ways[best]});
        const Vec3 at = deepest ? deepest->point : pose_a.apply(posed.rel.apply(posed.b.root().center));
        pair_row(k, out.at, at, at, pose_a.rotate(tried[best]), out.add_row({who, 0.0, false, true}, dof()));
        return;
    }
    const ConvexDistance hulls = apart && hint ? ConvexDistance{} : hull_distance(posed);
    const SurfaceDistance found = surface_distance(posed, hulls, hint, limit * limit);
    if (!found.triangles) {
        out.fresh[k] = 1;
        out.low[k] = std::max(out.low[k], limit * (1.0 - SEARCH));
        known.apart = std::max(known.apart, out.low[k]);
        return;
    }
    hint = found.triangles;
    const double distance = std::sqrt(found.closest.squared) * (1.0 - SEARCH), left = distance - buffer_;
    out.low[k] = known.apart = distance;
    out.fresh[k] = 1;
    if (!with_rows) return;
    const Vec3 a = pose_a.apply(found.closest.a), b = pose_a.apply(found.closest.b), normal = unit(b - a);
    pair_row(k, out.at, a, b, normal, out.add_row({who, left}, dof()));
    const Pose &body_a = out.at.poses[static_cast<std::size_t>(robot.link_places()[static_cast<std::size_t>(pair.path.link_a())].body)];
    const Pose &body_b = out.at.poses[static_cast<std::size_t>(robot.link_places()[static_cast<std::size_t>(pair.path.link_b())].body)];
    struct Kept {
        double gap;
        StepMemory::Witness witness;
        Vec3 a, b, normal;
    };
    std::vector<Kept> kept;
    for (const StepMemory::Witness &w : known.witnesses) {
        const Vec3 wa = body_a.apply(w.a), wb = body_b.apply(w.b), n = body_a.rotate(w.normal);
        const double gap = dot(n, wb - wa);
        if (gap > GAP || gap < 0.0 || norm(wb - wa - gap * n) > SLIP || norm(wa - a) < SAME) continue;
        kept.push_back({gap, w, wa, wb, n});
    }
    std::stable_sort(kept.begin(), kept.end(), [](const Kept &x, const Kept &y) { return x.gap < y.gap; });
    if (kept.size() > WITNESSES - 1) kept.resize(WITNESSES - 1);
    known.witnesses.assign(1, {body_a.unrotate(a - body_a.translation()), body_b.unrotate(b - body_b.translation()), body_a.unrotate(normal)});
    for (const Kept &w : kept) {
        known.witnesses.push_back(w.witness);
        pair_row(k, out.at, w.a, w.b, w.normal, out.add_row({who, std::max(w.gap - buffer_, left)}, dof()));
    }
}

// Rows of the points that were closest the last time, as far apart as is known: enough to see whether they hold an answer back.
void SafeStep::witness_rows(std::size_t k, const StepMemory &memory, Survey &out) const {
    const Robot &robot = scene_.robot();
    const LinkPath &path = scene_.pair(k).path;
    const Pose &body_a = out.at.poses[static_cast<std::size_t>(robot.link_places()[static_cast<std::size_t>(path.link_a())].body)];
    const Pose &body_b = out.at.poses[static_cast<std::size_t>(robot.link_places()[static_cast<std::size_t>(path.link_b())].body)];
    const StepMemory::Pair &known = memory.pairs[k];
    for (const StepMemory::Witness &w : known.witnesses) {
        double *row = out.add_row({{static_cast<int>(k), -1, -1}, known.apart - buffer_, true}, dof());
        pair_row(k, out.at, body_a.apply(w.a), body_b.apply(w.b), body_a.rotate(w.normal), row);
    }
}

void SafeStep::look_at_pairs(std::span<const double> cfg, double reach, StepMemory &memory, Survey &out) const {
    thread_local std::vector<NearSpheres::Pick> picks;
    const LinkSpheres &model = scene_.spheres();
    SphereRow &row = scratch<SphereRow>();
    row.fit(model);
    const bool placed = row.expand(model, cfg.data());
    if (placed) row.place_links(model);
    for (std::size_t k = 0; k < scene_.n_pairs(); k++) {
        const Scene::Pair &pair = scene_.pair(k);
        StepMemory::Pair &known = memory.pairs[k];
        const double way = out.wild ? INFINITE : own_way(k, out.ways);
        const double limit = buffer_ + std::min(reach, options_.skin + way + BOUND_SLACK);
        const double far = buffer_ + reach;
        out.low[k] = known.apart;
        if (known.apart > far) continue;
        double gap = placed ? far : -INFINITE;
        picks.clear();
        if (placed) {
            NearSpheres query{rounded_up(far + 2.0 * model.margin), picks};
            row.ask(model, pair.links, query);
            for (const NearSpheres::Pick &pick : picks) gap = std::min(gap, static_cast<double>(pick.gap) - model.margin);
        }
        if (placed && picks.empty()) {  // the balls around the links may tell more
            const Point32<float> &a = row.balls[static_cast<std::size_t>(pair.links.a)], &b = row.balls[static_cast<std::size_t>(pair.links.b)];
            const float radii = model.ball(pair.links.a).radius + model.ball(pair.links.b).radius;
            gap = std::max(gap, static_cast<double>(std::sqrt(squared_distance(a, b)) - radii) - 2.0 * model.margin);
        }
        out.fresh[k] = gap > buffer_ + NEAR || pair.a == nullptr;
        if (gap > known.apart) known.apart = gap;
        out.low[k] = pair.a == nullptr ? gap : std::max(gap, known.apart);
        if (out.low[k] >= limit) continue;  // may be measured if a proof needs more
        if (gap <= buffer_ + NEAR && pair.a != nullptr) {
            if (known.apart > buffer_ + options_.skin + CALM && !known.witnesses.empty()) {
                witness_rows(k, memory, out);
            } else {
                measure_pair(k, far, memory, out, true);
            }
            continue;
        }
        // Rows of the closest spheres, no sphere twice.
        std::sort(picks.begin(), picks.end(), [](const auto &x, const auto &y) { return x.gap < y.gap || (x.gap == y.gap && x.a < y.a); });
        const LinkSpheres::Link &a = model.link(pair.links.a), &b = model.link(pair.links.b);
        const Robot &robot = scene_.robot();
        const Pose &pose_a = out.at.poses[static_cast<std::size_t>(robot.link_places()[static_cast<std::size_t>(pair.path.link_a())].body)];
        const Pose &pose_b = out.at.poses[static_cast<std::size_t>(robot.link_places()[static_cast<std::size_t>(pair.path.link_b())].body)];
        std::size_t count = 0;
        for (std::size_t i = 0; i < picks.size() && count < SPREAD; i++) {
            bool seen = false;
            for (std::size_t j = 0; j < count; j++) seen = seen || picks[j].b == picks[i].b;
            if (seen) continue;
            const Ball &ball_a = ball_of(model, a, picks[i].a), &ball_b = ball_of(model, b, picks[i].b);
            std::swap(picks[count++], picks[i]);
            const Vec3 p = pose_a.apply(ball_a.center), q = pose_b.apply(ball_b.center);
            const double left = norm(q - p) - ball_a.radius - ball_b.radius - buffer_;
            const bool contact = left + buffer_ <= 0.0;
            pair_row(k, out.at, p, q, unit(q - p), out.add_row({{static_cast<int>(k), -1, -1}, contact ? 0.0 : left, pair.a != nullptr, contact}, dof()));
        }
    }
}

void SafeStep::measure_obstacle(int place, int obstacle, double limit, Survey &out) const {
    const Surroundings &around = *scene_.around();
    const Robot &robot = scene_.robot();
    const int link = around.link(place);
    const Pose pose = around.base() * out.at.link(robot, link);
    const MeshGap gap = around.world().mesh_gap(obstacle, *around.mesh(place), pose, limit);
    const Culprit who{-1, link, obstacle};
    if (gap.meet) {
        out.within.push_back({place, obstacle, -INFINITE});
        out.low_outside[static_cast<std::size_t>(place)] = -INFINITE;
        return;
    }
    double &low = out.low_outside[static_cast<std::size_t>(place)];
    low = std::min(low, std::min(gap.distance, limit));
    for (Survey::Near &near : out.coming)
        if (near.place == place && near.obstacle == obstacle) near.distance = std::min(gap.distance, limit);
    if (gap.distance <= buffer_) out.within.push_back({place, obstacle, gap.distance});
    if (!gap.found || gap.distance >= limit || out.found.rows.size() >= MOST_OUTSIDE + 3 * scene_.n_pairs()) return;
    const Pose &base = around.base();
    const Vec3 between = unit(gap.on_obstacle - gap.on_mesh), point = base.unrotate(gap.on_mesh - base.translation());
    CollisionRow row{who, gap.distance - buffer_};
    row.drift = along_drift(out.drift, obstacle, between);
    out.at.add_rates(robot, robot.link_places()[static_cast<std::size_t>(link)].body, 0, point, base.unrotate(between), -1.0,
                     out.add_row(row, dof()));
}

void SafeStep::look_at_obstacles(double reach, Survey &out) const {
    const Surroundings *around = scene_.around();
    if (around == nullptr) return;
    thread_local std::vector<std::int32_t> near, waiting;
    thread_local std::vector<std::pair<double, int>> gaps;
    const LinkSpheres &model = around->spheres();
    const Robot &robot = scene_.robot();
    const World &world = around->world();
    const Pose &base = around->base();
    out.low_outside.assign(around->n_links(), INFINITE);
    for (const int place : around->moving()) {
        const LinkSpheres::Link &link = model.link(place);
        const int number = around->link(place), body = robot.link_places()[static_cast<std::size_t>(number)].body;
        const Pose pose = base * out.at.poses[static_cast<std::size_t>(body)];
        const double limit = buffer_ + reach;
        double &low = out.low_outside[static_cast<std::size_t>(place)];
        low = limit;
        const Ignored allowed = around->allowed(place);
        const auto bound = [&](int point) {
            const Ball &ball = model.exact[static_cast<std::size_t>(point)];
            return world.distance_lower_bound(pose.apply(ball.center), ball.radius + limit, allowed).distance - ball.radius;
        };
        if (bound(place) >= limit) continue;
        near.clear();
        for (int g = link.first_group; g < link.first_group + link.groups; g++) {
            if (bound(g) >= limit) continue;
            const Ball &ball = model.exact[static_cast<std::size_t>(g)];
            waiting.clear();
            world.near(pose.apply(ball.center), ball.radius + limit, allowed, waiting);
            for (const std::int32_t k : waiting)
                if (std::find(near.begin(), near.end(), k) == near.end()) near.push_back(k);
        }
        for (const std::int32_t k : near) {
            gaps.clear();
            double closest = INFINITE;
            for (int s = link.first; s < link.first + link.count; s++) {
                const Ball &ball = model.exact[static_cast<std::size_t>(s)];
                const double gap = world.distance_lower_bound(k, pose.apply(ball.center), ball.radius + limit) - ball.radius;
                if (gap < limit) gaps.push_back({gap, s});
                closest = std::min(closest, gap);
            }
            if (gaps.empty()) continue;
            if (drifts(out.drift, k)) out.coming.push_back({place, k, closest});
            const std::size_t first_within = out.within.size();
            if (around->mesh(place) != nullptr && closest <= buffer_ + NEAR) {
                measure_obstacle(place, k, limit, out);
                if (out.within.size() == first_within || out.within.back().distance != -INFINITE) continue;
                out.within.back().depth = closest;
            } else {
                low = std::min(low, closest);
                if (closest <= buffer_) out.within.push_back({place, k, closest > 0.0 ? closest : -INFINITE, closest});
            }
            // Rows of the closest spheres; where they overlap, of the deepest.
            const bool overlap = out.within.size() > first_within && out.within.back().distance == -INFINITE;
            std::sort(gaps.begin(), gaps.end());
            for (std::size_t i = 0; i < std::min(gaps.size(), SPREAD) && out.found.rows.size() < MOST_OUTSIDE + 3 * scene_.n_pairs(); i++) {
                const Vec3 at = pose.apply(model.exact[static_cast<std::size_t>(gaps[i].second)].center);
                const Vec3 slope = unit(world.gradient(k, at).gradient);
                CollisionRow row{{-1, number, k}, overlap ? 0.0 : gaps[i].first - buffer_, !overlap && around->mesh(place) != nullptr, overlap};
                row.drift = -along_drift(out.drift, k, slope);
                out.at.add_rates(robot, body, 0, base.unrotate(at - base.translation()), base.unrotate(slope), 1.0, out.add_row(row, dof()));
            }
        }
    }
}

void SafeStep::survey(std::span<const double> cfg, std::span<const double> widths, double reach, StepMemory &memory, Survey &out,
                      std::span<const double> drift) const {
    thread_local std::vector<double> moving, since, ways;
    const Robot &robot = scene_.robot();
    const std::size_t pairs = scene_.n_pairs();
    out.at.place(robot, cfg);
    own_.axes(out.at, out.far);
    out.wild = !joint_widths(robot, cfg, widths, moving);
    own_.ways(out.far, moving, out.ways);
    if (outside_) {
        outside_->axes(out.at, out.far_outside);
        outside_->ways(out.far_outside, moving, out.ways_outside);
    }
    out.low.assign(pairs, 0.0), out.fresh.assign(pairs, 0), out.low_outside.clear(), out.within.clear(), out.overlaps.clear();
    out.coming.clear(), out.drift = drift;
    out.found.rows.clear(), out.found.A.clear();
    if (memory.pairs.size() != pairs || memory.where.size() != cfg.size()) {
        memory.pairs.assign(pairs, {}), memory.hints.assign(pairs, {});
        memory.where.assign(cfg.begin(), cfg.end());
    } else if (!std::equal(cfg.begin(), cfg.end(), memory.where.begin())) {
        since.resize(cfg.size());
        for (std::size_t d = 0; d < cfg.size(); d++) since[d] = std::fabs(cfg[d] - memory.where[d]);
        const bool bounded = joint_widths(robot, cfg, since, moving);
        own_.ways(out.far, moving, ways);
        for (std::size_t k = 0; k < pairs; k++) {
            double &apart = memory.pairs[k].apart;
            apart = bounded ? std::max(0.0, apart - own_way(k, ways) - BOUND_SLACK) : 0.0;
        }
        memory.where.assign(cfg.begin(), cfg.end());
    }
    look_at_pairs(cfg, reach, memory, out);
    look_at_obstacles(reach, out);
}

CollisionRows SafeStep::rows(std::span<const double> cfg, double reach, std::vector<double> &low) const {
    StepMemory memory;
    Survey found;
    const std::vector<double> any(dof(), 1e3);
    survey(cfg, any, reach, memory, found);
    low = found.low;
    for (double &d : low) d -= buffer_;
    return std::move(found.found);
}

}  // namespace elbowroom
