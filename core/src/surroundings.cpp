#include "elbowroom/surroundings.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace elbowroom {
namespace {

constexpr double SEARCH = 1e-9;  // metres by which a bound of clearance may be searched too far

Point32<F32x8> half_of(const Point32<F32x16> &p, int h) {
    return h ? Point32<F32x8>{p.x.high, p.y.high, p.z.high} : Point32<F32x8>{p.x.low, p.y.low, p.z.low};
}

}  // namespace

Surroundings::Surroundings(std::shared_ptr<const LinkSpheres> spheres, LinkMeshes meshes, std::shared_ptr<const World> world,
                           std::shared_ptr<const ClearanceGrid> grid, std::span<const bool> allowed, double buffer)
    : spheres_(std::move(spheres)), meshes_(std::move(meshes)), world_(std::move(world)), grid_(std::move(grid)),
      allowed_(std::make_unique<bool[]>(std::max<std::size_t>(1, allowed.size()))), buffer_(buffer) {
    const Robot &robot = *spheres_->robot;
    const std::size_t n = spheres_->links.size(), obstacles = static_cast<std::size_t>(world_->size());
    std::copy(allowed.begin(), allowed.end(), allowed_.get());
    links_.resize(n);
    for (std::size_t link = 0; link < spheres_->number.size(); link++) {
        const int place = spheres_->number[link];
        if (place < 0) continue;
        Link &out = links_[static_cast<std::size_t>(place)];
        out = {static_cast<int>(link), mesh_of(meshes_, static_cast<int>(link)), {}};
        const Ignored row(allowed_.get() + static_cast<std::size_t>(place) * obstacles, obstacles);
        if (std::find(row.begin(), row.end(), true) != row.end()) out.allowed = row;
        (robot.link_places()[link].body == 0 ? still_ : moving_).push_back(place);
    }
    std::reverse(moving_.begin(), moving_.end());
    const Frame &root = robot.frames()[0];
    base_ = pose_of(root.still, root.shift);
    const Pose none;
    at_origin_ = std::equal(base_.r, base_.r + 9, none.r) && std::equal(base_.t, base_.t + 3, none.t);
    pad_ = buffer_ + spheres_->margin;
    // Rounding of a point's way into the world: five operations in each coordinate, and of the pose itself.
    if (!at_origin_) pad_ += 1.05 * std::sqrt(3.0) * UNIT32 * (8.0 * spheres_->reach + 3.0 * norm(base_.translation()));
}

Points8 Surroundings::in_world(F32x8 x, F32x8 y, F32x8 z) const {
    if (at_origin_) return {x, y, z};
    const auto row = [&](int k) {
        const auto number = [&](double value) { return splat8(static_cast<float>(value)); };
        return fused(number(base_.r[3 * k]), x,
                     fused(number(base_.r[3 * k + 1]), y, fused(number(base_.r[3 * k + 2]), z, number(base_.t[k]))));
    };
    return {row(0), row(1), row(2)};
}

Points16 Surroundings::in_world(const Point32<F32x16> &p) const {
    return {in_world(p.x.low, p.y.low, p.z.low), in_world(p.x.high, p.y.high, p.z.high)};
}

F32x8 Surroundings::lower_bound(const Points8 &p, F32x8 limit, Ignored ignored, bool exactly) const {
    if (!grid_) return world_->distance_lower_bound(p, limit, ignored);
    const F32x8 rough = grid_->lower_bound(p, limit);
    const I32x8 left = rough < limit;
    if (!exactly || !bits(left)) return rough;
    const F32x8 found = world_->distance_lower_bound(p, left ? limit : splat8(-INFINITE32), ignored);
    return left ? found : rough;
}

F32x16 Surroundings::bounds(const Point32<F32x16> &p, F32x16 limit, unsigned wanted, Ignored ignored, bool exactly) const {
    F32x16 out = limit;
    for (int h = 0; h < 2; h++) {
        const unsigned mine = wanted >> (LANES * h) & 0xffu;
        if (!mine) continue;
        const Point32<F32x8> half = half_of(p, h);
        const F32x8 all = h ? limit.high : limit.low, asked = mine == 0xffu ? all : (lanes_of(mine) ? all : splat8(-INFINITE32));
        const F32x8 found = lower_bound(in_world(half.x, half.y, half.z), asked, ignored, exactly);
        const F32x8 kept = mine == 0xffu ? found : (lanes_of(mine) ? found : all);
        (h ? out.high : out.low) = kept;
    }
    return out;
}

unsigned Surroundings::near(const Point32<F32x16> &p, F32x16 reach, unsigned wanted, Ignored ignored, bool exactly) const {
    return bits(bounds(p, reach, wanted, ignored, exactly) < reach) & wanted;
}

F32x16 Surroundings::apart(SphereBlock &block, int place, F32x16 pad, float most, unsigned wanted) const {
    const LinkSpheres &model = *spheres_;
    const Ignored ignored = allowed(place);
    F32x16 best = splat16(most);
    const auto reached = [&](int point, unsigned lanes) {
        return near(block.point(point), max(best, F32x16{}) + pad + splat16(model.ball(point).radius), lanes, ignored, false);
    };
    const unsigned close = reached(place, wanted);
    if (!close) return best;
    block.need(model, place);
    const LinkSpheres::Link &link = model.link(place);
    for (int g = link.first_group; g < link.first_group + link.groups; g++) {
        const unsigned in_group = link.groups > 1 ? reached(g, close) : close;
        if (!in_group) continue;
        const LinkSpheres::Group &group = model.group(g);
        for (int s = group.first; s < group.first + group.count; s++) {
            const F32x16 size = pad + splat16(model.ball(s).radius);
            const F32x16 limit = max(best, F32x16{}) + size, found = bounds(block.point(s), limit, in_group, ignored, true);
            // Only what is below its limit is known; the difference of others would be rounding.
            best.low = found.low < limit.low ? min(best.low, found.low - size.low) : best.low;
            best.high = found.high < limit.high ? min(best.high, found.high - size.high) : best.high;
        }
    }
    return best;
}

unsigned Surroundings::touched(SphereBlock &block, const LinkSpheres &model, int place, unsigned wanted, bool any, int &obstacle) const {
    const Ignored ignored = allowed(place);
    const float pad = rounded_up(pad_);
    const LinkSpheres::Link &link = model.link(place);
    unsigned met = 0;
    if (grid_) {
        const auto reached = [&](int point, unsigned lanes, bool exactly) {
            return near(block.point(point), splat16(model.ball(point).radius + pad), lanes, ignored, exactly);
        };
        const unsigned close = reached(place, wanted, false);
        if (!close) return 0;
        block.need(model, place);
        for (int g = link.first_group; g < link.first_group + link.groups; g++) {
            const unsigned in_group = link.groups > 1 ? reached(g, close & ~met, false) : close & ~met;
            const LinkSpheres::Group &group = model.group(g);
            for (int s = group.first; in_group && s < group.first + group.count; s++) {
                met |= reached(s, in_group & ~met, true);
                if (met && any) return met;
            }
        }
        return met;
    }
    struct Near {
        int obstacle;
        unsigned lanes;
    };
    thread_local std::vector<Near> found;
    found.clear();
    const float reach = model.ball(place).radius + pad;
    world_->visit_near(in_world(block.point(place)), reach, [&](int k, const Points16 &p) {
        if (!ignored.empty() && ignored[static_cast<std::size_t>(k)]) return;
        const unsigned lanes = world_->within(k, p, reach) & wanted;
        if (lanes) found.push_back({k, lanes});
    });
    if (found.empty()) return 0;
    block.need(model, place);
    for (int g = link.first_group; g < link.first_group + link.groups; g++) {
        const LinkSpheres::Group &group = model.group(g);
        const bool whole = link.groups == 1 || group.count <= FEW_SPHERES;
        const Points16 middle = in_world(block.point(g));
        for (const Near &next : found) {
            unsigned lanes = next.lanes & ~met;
            if (lanes && !whole) lanes &= world_->within(next.obstacle, middle, model.ball(g).radius + pad);
            for (int s = group.first; lanes && s < group.first + group.count; s++) {
                const unsigned hit = world_->within(next.obstacle, in_world(block.point(s)), model.ball(s).radius + pad) & lanes;
                if (!hit) continue;
                met |= hit, lanes &= ~hit, obstacle = next.obstacle;
                if (any) return met;
            }
        }
    }
    return met;
}

bool Surroundings::mesh_refused(int place, int obstacle, int lane, ExactPoses &poses) const {
    const Link &link = links_[static_cast<std::size_t>(place)];
    if (link.mesh == nullptr) return true;
    const Pose own = poses.link(link.link, lane);
    return mesh_closer(obstacle, *link.mesh, at_origin_ ? own : base_ * own, buffer_);
}

bool Surroundings::mesh_closer(int obstacle, const TriangleTree &mesh, const Pose &pose, double buffer) const {
    if (buffer == 0.0) return world_->mesh_meets(obstacle, mesh, pose);
    const MeshGap gap = world_->mesh_gap(obstacle, mesh, pose, 1.01 * buffer);
    return gap.meet || gap.distance <= buffer;
}

std::shared_ptr<const Surroundings> Surroundings::allowing(std::span<const LinkObstacle> more) const {
    const std::size_t obstacles = static_cast<std::size_t>(world_->size());
    auto marks = std::make_unique<bool[]>(links_.size() * obstacles);
    for (std::size_t k = 0; k < links_.size(); k++)
        if (!links_[k].allowed.empty()) std::copy(links_[k].allowed.begin(), links_[k].allowed.end(), marks.get() + k * obstacles);
    for (const LinkObstacle &pair : more) marks[static_cast<std::size_t>(pair.link) * obstacles + static_cast<std::size_t>(pair.obstacle)] = true;
    return std::make_shared<Surroundings>(spheres_, meshes_, world_, grid_, std::span<const bool>(marks.get(), links_.size() * obstacles), buffer_);
}

// `point` is in the frame of the root.
int Surroundings::refusing(int place, Vec3 point, double radius, Judge judge, int lane, ExactPoses &poses, Cleared &cleared) const {
    const Vec3 p = at_origin_ ? point : base_.apply(point);
    const double reach = radius + pad_;
    const Ignored ignored = allowed(place);
    if (judge == Judge::spheres) return world_->within(p, reach, ignored);
    thread_local std::vector<std::int32_t> found;
    found.clear();
    world_->near(p, reach, ignored, found);
    for (const std::int32_t k : found) {
        if (std::find(cleared.begin(), cleared.end(), k) != cleared.end()) continue;
        if (!world_->is_within(k, p, reach)) continue;
        if (mesh_refused(place, k, lane, poses)) return k;
        cleared.push_back(k);
    }
    return -1;
}

unsigned Surroundings::free(SphereBlock &block, unsigned alive, Judge judge, ExactPoses &poses) const {
    const LinkSpheres &model = *spheres_;
    thread_local Cleared cleared[WIDE];
    const float pad = rounded_up(pad_);
    for (const int place : moving_) {
        if (!alive) break;
        const Ignored ignored = allowed(place);
        const auto reached = [&](int point, unsigned wanted) {
            return near(block.point(point), splat16(model.ball(point).radius + pad), wanted, ignored, false);
        };
        const unsigned close = reached(place, alive);
        if (!close) continue;
        block.need(model, place);
        for (Cleared &lane : cleared) lane.clear();
        unsigned refused = 0;
        const LinkSpheres::Link &link = model.link(place);
        for (int g = link.first_group; g < link.first_group + link.groups; g++) {
            const unsigned in_group = link.groups > 1 ? reached(g, close & ~refused) : close & ~refused;
            if (!in_group) continue;
            const LinkSpheres::Group &group = model.group(g);
            for (int s = group.first; s < group.first + group.count; s++) {
                for (unsigned left = reached(s, in_group & ~refused); left; left &= left - 1) {
                    const int k = std::countr_zero(left);
                    const Point32<F32x16> &at = block.point(s);
                    const Vec3 p{lane(at.x, k), lane(at.y, k), lane(at.z, k)};
                    if (refusing(place, p, model.ball(s).radius, judge, k, poses, cleared[k]) >= 0) refused |= 1u << k;
                }
            }
        }
        alive &= ~refused;
    }
    return alive;
}

int Surroundings::refusing(SphereRow &row, int place, Judge judge, ExactPoses &poses) const {
    const LinkSpheres &model = *spheres_;
    thread_local Cleared cleared;
    cleared.clear();
    const float pad = rounded_up(pad_);
    row.need(model, place);
    const LinkSpheres::Link &link = model.link(place);
    for (int i = link.column; i < link.column + link.columns; i += LANES) {
        const Point32<F32x8> at = row.points(i);
        const F32x8 limit = load8(&model.radius[static_cast<std::size_t>(i)]) + pad;
        unsigned left = bits(lower_bound(in_world(at.x, at.y, at.z), limit, allowed(place), false) < limit);
        left &= first_lanes(link.column + link.count - i);
        for (; left; left &= left - 1) {
            const int k = std::countr_zero(left);
            const double radius = model.radius[static_cast<std::size_t>(i + k)];
            const int obstacle = refusing(place, {at.x[k], at.y[k], at.z[k]}, radius, judge, 0, poses, cleared);
            if (obstacle >= 0) return obstacle;
        }
    }
    return -1;
}

LinkObstacle Surroundings::refused(SphereRow &row, Judge judge, ExactPoses &poses) const {
    const LinkSpheres &model = *spheres_;
    const float pad = rounded_up(pad_);
    for (std::size_t first = 0; first < moving_.size(); first += LANES) {  // links in lanes
        F32x8 x{}, y{}, z{}, limit = splat8(-INFINITE32);
        const std::size_t count = std::min<std::size_t>(LANES, moving_.size() - first);
        for (std::size_t k = 0; k < count; k++) {
            const int place = moving_[first + k];
            const Point32<float> &at = row.balls[static_cast<std::size_t>(place)];
            x[k] = at.x, y[k] = at.y, z[k] = at.z, limit[k] = model.ball(place).radius + pad;
        }
        unsigned close = bits(lower_bound(in_world(x, y, z), limit, {}, false) < limit);
        for (; close; close &= close - 1) {
            const int place = moving_[first + static_cast<std::size_t>(std::countr_zero(close))];
            const int obstacle = refusing(row, place, judge, poses);
            if (obstacle >= 0) return {link(place), obstacle};
        }
    }
    return {};
}

bool Surroundings::still_free(Judge judge) const {
    std::atomic<int> &known = still_known_[judge == Judge::meshes ? 0 : 1];
    if (known.load() < 0) {
        SphereRow row;  // of its own: the caller's may be in use
        row.fit(*spheres_);
        std::fill(row.values.begin(), row.values.end(), 0.0);
        row.place_links(*spheres_);
        ExactPoses poses;
        poses.start(*spheres_->robot, row.values.data(), 1);
        known = std::all_of(still_.begin(), still_.end(), [&](int place) { return refusing(row, place, judge, poses) < 0; });
    }
    return known.load() == 1;
}

// Metres that surely part a ball from an obstacle: straight out of the box around it, or of the half-space.
double Surroundings::parting(const Ball &around, int obstacle) const {
    if (!world_->obstacle(obstacle).has_end()) return around.radius - world_->distance_lower_bound(obstacle, around.center);
    const Bounds &box = world_->bounds(obstacle);
    double best = UNBOUNDED;
    for (int c = 0; c < 3; c++)
        best = std::min({best, around.center[c] + around.radius - box.low[c], box.high[c] - around.center[c] + around.radius});
    return best;
}

void Surroundings::clearance(int lane, ExactPoses &poses, double &smallest, LinkObstacle &closest) const {
    const LinkSpheres &model = *spheres_;
    thread_local std::vector<std::int32_t> found, measured;
    // Obstacles that some sphere of a link overlaps are measured by its mesh, which bounds the whole link; its spheres tell of the
    // others.
    for (int place = 0; place < static_cast<int>(links_.size()); place++) {
        const Link &own = links_[static_cast<std::size_t>(place)];
        const Pose link_pose = base_ * poses.link(own.link, lane);
        const Pose body = base_ * poses.body_of_link(own.link, lane);
        const auto placed = [&](int point) {
            const Ball &ball = model.exact[static_cast<std::size_t>(point)];
            return Ball{body.apply(ball.center), ball.radius};
        };
        const Ball around = placed(place);
        const auto keep = [&](double gap, int k) {
            if (gap < smallest) smallest = gap, closest = {own.link, k};
        };
        const double far = std::max(smallest, 0.0) + around.radius;
        const double rough = grid_ ? grid_->lower_bound(around.center, far)
                                   : world_->distance_lower_bound(around.center, far, own.allowed).distance;
        if (rough >= far) continue;
        const LinkSpheres::Link &link = model.link(place);
        Ignored others = own.allowed;  // what spheres need not tell of
        measured.clear();
        for (int s = link.first; own.mesh != nullptr && s < link.first + link.count; s++) {
            const Ball ball = placed(s);
            found.clear();
            world_->near(ball.center, ball.radius, own.allowed, found);
            for (const std::int32_t k : found) {
                if (std::find(measured.begin(), measured.end(), k) != measured.end()) continue;
                if (world_->distance_lower_bound(k, ball.center, 1.01 * ball.radius) > ball.radius) continue;
                measured.push_back(k);
                const MeshGap exact = world_->mesh_gap(k, *own.mesh, link_pose, std::max(smallest, 0.0));
                keep(exact.meet ? std::min(0.0, -parting(around, k)) : exact.distance, k);
            }
        }
        std::unique_ptr<bool[]> known;
        if (!measured.empty()) {
            const std::size_t count = static_cast<std::size_t>(world_->size());
            known = std::make_unique<bool[]>(count);
            std::copy(own.allowed.begin(), own.allowed.end(), known.get());
            for (const std::int32_t k : measured) known[static_cast<std::size_t>(k)] = true;
            others = {known.get(), count};
        }
        for (int s = link.first; s < link.first + link.count; s++) {
            const Ball ball = placed(s);
            const NearestObstacle nearest =
                world_->distance_lower_bound(ball.center, std::max(smallest, 0.0) + ball.radius + SEARCH, others);
            if (nearest.obstacle >= 0) keep(nearest.distance - ball.radius, nearest.obstacle);
        }
    }
}

std::int64_t Surroundings::clearances(const Configurations &cfgs, std::span<double> smallest) const {
    const std::size_t dof = static_cast<std::size_t>(spheres_->robot->dof());
    SphereRow &row = scratch<SphereRow>();
    ExactPoses &poses = scratch<ExactPoses>();
    row.fit(*spheres_);
    for (std::size_t k = 0; k < cfgs.count; k++) {
        if (!row.expand(*spheres_, cfgs.values.data() + k * dof)) return static_cast<std::int64_t>(k);
        poses.start(*spheres_->robot, row.values.data(), 1);
        LinkObstacle closest;
        smallest[k] = UNBOUNDED;
        clearance(0, poses, smallest[k], closest);
    }
    return -1;
}

}  // namespace elbowroom
