#include "elbowroom/world.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "elbowroom/proximity.hpp"

namespace elbowroom {
namespace {

constexpr double ON_SURFACE = 1e-9;  // metres; nearer to a surface the direction to it is rounding: its normal is taken
constexpr double PROBE = 1e-6;       // metres along the normal at which it is asked whether a mesh is closed on that side
constexpr std::size_t FEW = 2;       // obstacles that are asked sooner than their boxes
constexpr double FLOAT_ROUNDING = 1.0 / 16777216.0;

Vec3 local(const Obstacle &o, Vec3 p) { return o.pose.unrotate(p - o.pose.translation()); }

// Distance from signed distances along three axes that are at right angles.
double corner_distance(double a, double b, double c) {
    const double inner = std::max(std::max(a, b), c);
    if (inner <= 0.0) return inner;
    return norm({std::max(a, 0.0), std::max(b, 0.0), std::max(c, 0.0)});
}

double mesh_distance(const TriangleTree &mesh, Vec3 p, double limit) {
    if (mesh.closed && point_inside(mesh, p)) return -std::sqrt(nearest_triangle(mesh, p).squared);
    if (limit <= 0.0) return 0.0;
    return std::sqrt(nearest_triangle(mesh, p, std::min(limit * limit, FAR)).squared);
}

double cloud_distance(const PointCloud &cloud, double radius, Vec3 p, double limit) {
    const double reach = limit + radius;
    if (reach <= 0.0) return limit;
    const PointCloud::Nearest found = cloud.nearest(p, reach * reach);
    return found.point >= 0 ? std::sqrt(found.squared) - radius : limit;
}

// Signed distance of a point in the frame of the obstacle; anything from `limit` up where it is not below.
template <bool LOWER> double local_distance(const Obstacle &o, Vec3 p, double limit) {
    switch (o.kind) {
    case ObstacleKind::box: {
        const Vec3 d = abs(p) - o.size;
        return corner_distance(d.x, d.y, d.z);
    }
    case ObstacleKind::sphere: return norm(p) - o.radius;
    case ObstacleKind::cylinder:
        return corner_distance(std::sqrt(p.x * p.x + p.y * p.y) - o.radius, std::fabs(p.z) - o.length, -UNBOUNDED);
    case ObstacleKind::capsule: return norm({p.x, p.y, std::max(std::fabs(p.z) - o.length, 0.0)}) - o.radius;
    case ObstacleKind::half_space: return dot(o.size, p) - o.length;
    case ObstacleKind::mesh: return mesh_distance(*o.mesh, p, limit);
    case ObstacleKind::cloud: return cloud_distance(*o.cloud, o.radius, p, limit);
    case ObstacleKind::field: return LOWER ? o.field->lower_bound(p) : o.field->distance(p);
    }
    return UNBOUNDED;
}

// Length and direction of a vector; x for none, which leads out of spheres and capsules alike.
DistanceGradient outward(Vec3 v) {
    const double length = norm(v);
    return {length, length > 0.0 ? Vec3{v.x / length, v.y / length, v.z / length} : Vec3{1.0, 0.0, 0.0}};
}

double sign_of(double x) { return std::copysign(1.0, x); }

DistanceGradient box_gradient(Vec3 half, Vec3 p) {
    const Vec3 d = abs(p) - half, sign = {sign_of(p.x), sign_of(p.y), sign_of(p.z)};
    const double inner = std::max(std::max(d.x, d.y), d.z);
    if (inner > 0.0)
        return outward({sign.x * std::max(d.x, 0.0), sign.y * std::max(d.y, 0.0), sign.z * std::max(d.z, 0.0)});
    if (d.x == inner) return {inner, {sign.x, 0.0, 0.0}};
    if (d.y == inner) return {inner, {0.0, sign.y, 0.0}};
    return {inner, {0.0, 0.0, sign.z}};
}

DistanceGradient cylinder_gradient(double radius, double half, Vec3 p) {
    const double r = std::sqrt(p.x * p.x + p.y * p.y), side = r - radius, end = std::fabs(p.z) - half;
    const double ux = r > 0.0 ? p.x / r : 1.0, uy = r > 0.0 ? p.y / r : 0.0;
    if (side > 0.0 && end > 0.0) return outward({side * ux, side * uy, end * sign_of(p.z)});
    if (side > end) return {side, {ux, uy, 0.0}};
    return {end, {0.0, 0.0, sign_of(p.z)}};
}

Vec3 nearest_on_edge(Vec3 a, Vec3 b, Vec3 p) {
    const Vec3 u = b - a;
    const double uu = squared(u);
    return a + (uu > 0.0 ? std::min(1.0, std::max(0.0, dot(p - a, u) / uu)) : 0.0) * u;
}

struct SurfacePoint {
    Vec3 point, normal;  // the normal is a unit vector, or zero for a triangle without a plane
};

// The point of a triangle that is nearest to a point.
SurfacePoint nearest_on_triangle(const Triangle &t, Vec3 point) {
    const Vec3 u = t.b - t.a, v = t.c - t.a, p = point - t.a, n = cross(u, v);
    const double nn = squared(n), length = nn > 0.0 ? std::sqrt(nn) : 1.0;
    const Vec3 normal = {n.x / length, n.y / length, n.z / length}, q = cross(n, p);
    const double s = dot(v, q), r = -dot(u, q);
    if (nn > 0.0 && s >= 0.0 && r >= 0.0 && s + r <= nn) return {point - (dot(n, p) / nn) * n, normal};
    Vec3 best = nearest_on_edge(t.a, t.b, point);
    for (const Vec3 &other : {nearest_on_edge(t.b, t.c, point), nearest_on_edge(t.c, t.a, point)})
        if (squared(other - point) < squared(best - point)) best = other;
    return {best, normal};
}

DistanceGradient mesh_gradient(const TriangleTree &mesh, Vec3 p) {
    const NearestTriangle nearest = nearest_triangle(mesh, p);
    const SurfacePoint on = nearest_on_triangle(mesh.triangles[nearest.triangle], p);
    const double distance = std::sqrt(nearest.squared), turn = mesh.closed && point_inside(mesh, p) ? -1.0 : 1.0;
    const Vec3 off = p - on.point;
    if (distance > ON_SURFACE) return {turn * distance, outward(turn * off).gradient};
    const bool back = mesh.closed ? point_inside(mesh, on.point + PROBE * on.normal) : dot(on.normal, off) < 0.0;
    return {turn * distance, (back ? -1.0 : 1.0) * on.normal};
}

DistanceGradient local_gradient(const Obstacle &o, Vec3 p) {
    const auto less = [](DistanceGradient found, double radius) { return DistanceGradient{found.distance - radius, found.gradient}; };
    switch (o.kind) {
    case ObstacleKind::box: return box_gradient(o.size, p);
    case ObstacleKind::sphere: return less(outward(p), o.radius);
    case ObstacleKind::cylinder: return cylinder_gradient(o.radius, o.length, p);
    case ObstacleKind::capsule:
        return less(outward({p.x, p.y, p.z - std::min(std::max(p.z, -o.length), o.length)}), o.radius);
    case ObstacleKind::half_space: return {dot(o.size, p) - o.length, o.size};
    case ObstacleKind::mesh: return mesh_gradient(*o.mesh, p);
    case ObstacleKind::cloud: {
        const PointCloud::Nearest found = o.cloud->nearest(p, UNBOUNDED);
        return less(outward(p - o.cloud->point(static_cast<std::size_t>(found.point))), o.radius);
    }
    case ObstacleKind::field: return o.field->gradient(p);
    }
    return {UNBOUNDED, {}};
}

}  // namespace

// Obstacles ---------------------------------------------------------------------------------------------------

namespace {

Obstacle primitive(ObstacleKind kind, const Pose &pose, Vec3 size, double radius, double length) {
    Obstacle out;
    out.kind = kind, out.pose = pose, out.size = size, out.radius = radius, out.length = length;
    return out;
}

}  // namespace

Obstacle Obstacle::box(Vec3 half_edges, const Pose &pose) { return primitive(ObstacleKind::box, pose, half_edges, 0.0, 0.0); }
Obstacle Obstacle::sphere(double radius, const Pose &pose) { return primitive(ObstacleKind::sphere, pose, {}, radius, 0.0); }
Obstacle Obstacle::cylinder(double radius, double half_length, const Pose &pose) {
    return primitive(ObstacleKind::cylinder, pose, {}, radius, half_length);
}
Obstacle Obstacle::capsule(double radius, double half_length, const Pose &pose) {
    return primitive(ObstacleKind::capsule, pose, {}, radius, half_length);
}
Obstacle Obstacle::half_space(Vec3 normal, double offset, const Pose &pose) {
    return primitive(ObstacleKind::half_space, pose, normal, 0.0, offset);
}
Obstacle Obstacle::of_mesh(std::shared_ptr<const TriangleTree> mesh, const Pose &pose) {
    Obstacle out = primitive(ObstacleKind::mesh, pose, {}, 0.0, 0.0);
    out.mesh = std::move(mesh);
    return out;
}
Obstacle Obstacle::of_cloud(std::shared_ptr<const PointCloud> cloud, double radius, const Pose &pose) {
    Obstacle out = primitive(ObstacleKind::cloud, pose, {}, radius, 0.0);
    out.cloud = std::move(cloud);
    return out;
}
Obstacle Obstacle::of_field(std::shared_ptr<const DistanceField> field, const Pose &pose) {
    Obstacle out = primitive(ObstacleKind::field, pose, {}, 0.0, 0.0);
    out.field = std::move(field);
    return out;
}

Bounds Obstacle::bounds() const {
    const double *r = pose.r;
    Vec3 middle, half;  // in its own frame, and along the axes of the world
    const auto turned = [&](Vec3 h) {
        return Vec3{std::fabs(r[0]) * h.x + std::fabs(r[1]) * h.y + std::fabs(r[2]) * h.z,
                    std::fabs(r[3]) * h.x + std::fabs(r[4]) * h.y + std::fabs(r[5]) * h.z,
                    std::fabs(r[6]) * h.x + std::fabs(r[7]) * h.y + std::fabs(r[8]) * h.z};
    };
    const Vec3 axis = {r[2], r[5], r[8]}, all = {radius, radius, radius};
    switch (kind) {
    case ObstacleKind::box: half = turned(size); break;
    case ObstacleKind::sphere: half = all; break;
    case ObstacleKind::cylinder: {
        const auto across = [](double a) { return std::sqrt(std::max(0.0, 1.0 - a * a)); };
        half = length * abs(axis) + radius * Vec3{across(axis.x), across(axis.y), across(axis.z)};
        break;
    }
    case ObstacleKind::capsule: half = length * abs(axis) + all; break;
    case ObstacleKind::half_space: return {-UNBOUNDED * Vec3{1.0, 1.0, 1.0}, UNBOUNDED * Vec3{1.0, 1.0, 1.0}};
    case ObstacleKind::mesh: middle = mesh->root().center, half = turned(mesh->root().half); break;
    case ObstacleKind::cloud: middle = cloud->bounds().center(), half = turned(cloud->bounds().half()) + all; break;
    case ObstacleKind::field: {
        const auto extent = [&](int k) { return 0.5 * field->spacing()[k] * static_cast<double>(field->samples(k) - 1); };
        const Vec3 own = {extent(0), extent(1), extent(2)};
        middle = field->origin() + own, half = turned(own);
        break;
    }
    }
    // More than the roundings of the few operations that lead here.
    const Vec3 at = pose.apply(middle);
    const double slack = 1e-14 * (size_of(pose.translation()) + size_of(middle) + size_of(half));
    half = half + Vec3{slack, slack, slack};
    return {at - half, at + half};
}

bool Obstacle::same_as(const Obstacle &other) const {
    return kind == other.kind && std::equal(pose.r, pose.r + 9, other.pose.r) && std::equal(pose.t, pose.t + 3, other.pose.t) &&
           size.x == other.size.x && size.y == other.size.y && size.z == other.size.z && radius == other.radius &&
           length == other.length && mesh == other.mesh && cloud == other.cloud && field == other.field;
}

// World -------------------------------------------------------------------------------------------------------

World::World(std::vector<Obstacle> obstacles) : obstacles_(std::move(obstacles)) {
    std::vector<Bounds> boxes;
    std::vector<std::int32_t> ends;
    for (int k = 0; k < size(); k++) {
        bounds_.push_back(obstacle(k).bounds());
        lanes_.emplace_back(obstacle(k), bounds(k));
        if (!obstacle(k).has_end()) {
            endless_.push_back(k);
            continue;
        }
        ends.push_back(k);
        boxes.push_back(bounds(k));
    }
    tree_ = BoxTree(boxes);
    for (const std::uint32_t i : tree_.order()) bounded_.push_back(ends[i]);
}

namespace {

bool passed_over(Ignored ignored, int k) { return !ignored.empty() && ignored[static_cast<std::size_t>(k)]; }

template <bool LOWER> NearestObstacle nearest_of(const World &world, Vec3 p, double limit, Ignored ignored) {
    NearestObstacle best{limit, -1};
    const auto improve = [&](int k) {
        if (passed_over(ignored, k)) return;
        const Obstacle &o = world.obstacle(k);
        const double d = local_distance<LOWER>(o, local(o, p), best.distance);
        if (d < best.distance) best = {d, k};
    };
    for (const std::int32_t k : world.half_spaces()) improve(k);
    if (world.bounded().size() <= FEW) {
        for (const std::int32_t k : world.bounded()) improve(k);
        return best;
    }
    world.tree().visit_nearest(
        p, [&] { return best.distance; },
        [&](std::uint32_t member) {
            improve(world.bounded()[member]);
            return false;
        });
    return best;
}

}  // namespace

NearestObstacle World::nearest(Vec3 p, double limit, Ignored ignored) const { return nearest_of<false>(*this, p, limit, ignored); }
NearestObstacle World::distance_lower_bound(Vec3 p, double limit, Ignored ignored) const {
    return nearest_of<true>(*this, p, limit, ignored);
}
double World::distance(int k, Vec3 p, double limit) const { return local_distance<false>(obstacle(k), local(obstacle(k), p), limit); }
double World::distance_lower_bound(int k, Vec3 p, double limit) const {
    return local_distance<true>(obstacle(k), local(obstacle(k), p), limit);
}

bool World::is_within(int k, Vec3 p, double reach) const {
    const Obstacle &o = obstacle(k);
    if (o.kind != ObstacleKind::cloud) return distance_lower_bound(k, p, 1.01 * reach) <= reach;
    const double far = reach + o.radius;
    return far >= 0.0 && o.cloud->nearest(local(o, p), 1.01 * far * far, far * far).squared <= far * far;
}

int World::within(Vec3 p, double reach, Ignored ignored) const {
    int found = -1;
    const auto look = [&](std::int32_t k) {
        if (!passed_over(ignored, k) && is_within(k, p, reach)) found = k;
        return found >= 0;
    };
    if (std::any_of(endless_.begin(), endless_.end(), look)) return found;
    if (bounded_.size() <= FEW)
        std::any_of(bounded_.begin(), bounded_.end(), look);
    else
        tree_.visit_within(p, reach, [&](std::uint32_t member) { return look(bounded_[member]); });
    return found;
}

DistanceGradient World::gradient(int k, Vec3 p) const {
    const Obstacle &o = obstacle(k);
    const DistanceGradient found = local_gradient(o, local(o, p));
    return {found.distance, o.pose.rotate(found.gradient)};
}

// Lanes -------------------------------------------------------------------------------------------------------

World::LaneShape::LaneShape(const Obstacle &o, const Bounds &box) {
    kind = o.kind;
    const auto narrow = [](double x) { return static_cast<float>(x); };
    for (int k = 0; k < 9; k++) r[k] = narrow(o.pose.r[k]);
    for (int k = 0; k < 3; k++) t[k] = narrow(o.pose.t[k]), size[k] = narrow(o.size[k]);
    radius = narrow(o.radius), length = narrow(o.length);
    // 22 roundings of the way from the obstacle's origin, which is no longer than its size and the distance; 2 of its
    // place; 8 of its size.
    double far = size_of(o.pose.translation()) + size_of(o.size) + o.radius + std::fabs(o.length);
    if (o.kind == ObstacleKind::half_space) {
        const Vec3 normal = o.pose.rotate(o.size);
        const double offset = o.length + dot(normal, o.pose.translation());
        for (int k = 0; k < 3; k++) size[k] = narrow(normal[k]);
        length = narrow(offset);
        far = std::fabs(offset);
    } else if (o.kind >= ObstacleKind::mesh) {  // the box in the world
        for (int k = 0; k < 3; k++) t[k] = narrow(box.center()[k]), size[k] = narrow(box.half()[k]);
        far = size_of(box.center()) + size_of(box.half());
    }
    margin = static_cast<float>(32.0 * FLOAT_ROUNDING * far) + 1e-36f;
}

namespace {

F32x8 corner_distance(F32x8 a, F32x8 b, F32x8 c) {
    const F32x8 zero = splat8(0.0f), inner = max(max(a, b), c);
    a = max(a, zero), b = max(b, zero), c = max(c, zero);
    return inner > zero ? sqrt(fused(a, a, fused(b, b, c * c))) : inner;
}

constexpr float SHARE = static_cast<float>(32.0 * FLOAT_ROUNDING);

}  // namespace

F32x8 World::distance_lower_bound(int k, const Points8 &p, F32x8 limit) const {
    const LaneShape &o = lanes_[static_cast<std::size_t>(k)];
    if (o.kind == ObstacleKind::half_space) {
        const F32x8 high = fused(splat8(o.size[0]), p.x, fused(splat8(o.size[1]), p.y, fused(splat8(o.size[2]), p.z, splat8(-o.length))));
        return high - fused(splat8(SHARE), abs(p.x) + abs(p.y) + abs(p.z), splat8(o.margin));
    }
    F32x8 x = p.x - o.t[0], y = p.y - o.t[1], z = p.z - o.t[2], d;
    if (o.kind >= ObstacleKind::mesh) {
        d = corner_distance(abs(x) - o.size[0], abs(y) - o.size[1], abs(z) - o.size[2]);
        d = d - fused(splat8(SHARE), abs(d), splat8(o.margin));
        for (unsigned rest = bits(d < limit); rest; rest &= rest - 1) {
            const int lane = std::countr_zero(rest);
            const double found = distance_lower_bound(k, {p.x[lane], p.y[lane], p.z[lane]}, limit[lane]);
            // What is not below the limit leaves it as it is.
            d[lane] = found < limit[lane] ? static_cast<float>(found - 2.0 * FLOAT_ROUNDING * std::fabs(found)) : limit[lane];
        }
        return d;
    }
    const auto along = [&](int axis) {
        return fused(splat8(o.r[axis]), x, fused(splat8(o.r[3 + axis]), y, o.r[6 + axis] * z));
    };
    if (o.kind == ObstacleKind::box) {
        const F32x8 u = along(0), v = along(1), w = along(2);
        d = corner_distance(abs(u) - o.size[0], abs(v) - o.size[1], abs(w) - o.size[2]);
    } else if (o.kind == ObstacleKind::sphere) {
        d = sqrt(fused(x, x, fused(y, y, z * z))) - o.radius;
    } else {
        const F32x8 u = along(0), v = along(1), w = abs(along(2)) - o.length, across = fused(u, u, v * v);
        if (o.kind == ObstacleKind::cylinder) {
            d = corner_distance(sqrt(across) - o.radius, w, splat8(-1e30f));
        } else {
            const F32x8 end = max(w, splat8(0.0f));
            d = sqrt(fused(end, end, across)) - o.radius;
        }
    }
    return d - fused(splat8(SHARE), abs(d), splat8(o.margin));
}

F32x8 World::distance_lower_bound(const Points8 &p, F32x8 limit, Ignored ignored) const {
    F32x8 best = limit;
    const auto improve = [&](int k) {
        if (!passed_over(ignored, k)) best = min(best, distance_lower_bound(k, p, best));
    };
    for (const std::int32_t k : endless_) improve(k);
    // The upright box around the points that are looked at, each grown by its limit.
    const F32x8 none = splat8(1e30f), reach = max(best, splat8(0.0f));
    const I32x8 active = best > splat8(-1e30f);
    const auto lowest = [&](F32x8 v) { return static_cast<double>(-largest(-(active ? v - reach : none))); };
    const auto highest = [&](F32x8 v) { return static_cast<double>(largest(active ? v + reach : -none)); };
    Bounds box{{lowest(p.x), lowest(p.y), lowest(p.z)}, {highest(p.x), highest(p.y), highest(p.z)}};
    const double slack = 8.0 * FLOAT_ROUNDING * (size_of(box.low) + size_of(box.high));
    if (!(slack < 1e30)) {  // points or limits without end
        for (const std::int32_t k : bounded_) improve(k);
        return best;
    }
    box.low = box.low - Vec3{slack, slack, slack}, box.high = box.high + Vec3{slack, slack, slack};
    tree_.visit_overlapping(box, [&](std::uint32_t member) {
        improve(bounded_[member]);
        return false;
    });
    return best;
}

unsigned World::within(int k, const Points16 &p, float reach) const {
    const F32x8 limit = splat8(reach);
    return bits(distance_lower_bound(k, p.low, limit) < limit) | bits(distance_lower_bound(k, p.high, limit) < limit) << 8;
}

// Balls -------------------------------------------------------------------------------------------------------

void World::near(Vec3 center, double radius, Ignored ignored, std::vector<std::int32_t> &out) const {
    for (const std::int32_t k : endless_)
        if (!passed_over(ignored, k) && distance(k, center) <= radius) out.push_back(k);
    tree_.visit_within(center, radius, [&](std::uint32_t member) {
        if (!passed_over(ignored, bounded_[member])) out.push_back(bounded_[member]);
        return false;
    });
}

}  // namespace elbowroom
