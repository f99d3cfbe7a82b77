#include "world_meshes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "elbowroom/contacts.hpp"
#include "elbowroom/proximity.hpp"
#include "elbowroom/triangle_solid.hpp"

namespace elbowroom {
namespace {

constexpr int WAITING = 2048;  // entries: trees are at most 64 + log2(triangles) deep, with seven entries a level

// Lower bounds of the distances of eight entries of a mesh to a convex primitive: the plane that parts the centre of a box
// from the solid, if it parts the whole box. In float32; what rounding can add is taken off. Where a bound is not positive it
// is only an order.
class BoundsToSolid {
  public:
    BoundsToSolid(const ConvexPrimitive &solid, const PlacedMesh &placed) : kind_(solid.kind) {
        const Vec3 t = placed.rel.apply(placed.mesh.root().center);
        for (int k = 0; k < 9; k++) r_[k] = static_cast<float>(placed.rel.r[k]);
        for (int k = 0; k < 3; k++) t_[k] = static_cast<float>(t[k]), half_[k] = static_cast<float>(solid.half[k]);
        radius_ = static_cast<float>(solid.radius), length_ = static_cast<float>(solid.length);
        slack_ = static_cast<float>(walking::ROUNDING * (placed.mesh.size + size_of(t) + solid.scale())) + walking::LEAST;
    }

    F32x8 operator()(const Block &block) const {
        const F32x8 x = load8(block.center[0]), y = load8(block.center[1]), z = load8(block.center[2]), zero = splat8(0.0f);
        const auto row = [&](int k) {
            return fused(splat8(r_[3 * k]), x, fused(splat8(r_[3 * k + 1]), y, fused(splat8(r_[3 * k + 2]), z, splat8(t_[k]))));
        };
        F32x8 px = row(0), py = row(1), pz = row(2), inside, d;
        F32x8 u, v, w;  // from the nearest point of the solid, or of its core, to the centre
        if (kind_ == ConvexKind::box) {
            const F32x8 gx = abs(px) - half_[0], gy = abs(py) - half_[1], gz = abs(pz) - half_[2];
            inside = max(max(gx, gy), gz);
            u = max(gx, zero), v = max(gy, zero), w = max(gz, zero);
            d = sqrt(fused(u, u, fused(v, v, w * w)));
            u = px < zero ? -u : u, v = py < zero ? -v : v, w = pz < zero ? -w : w;
        } else if (kind_ == ConvexKind::cylinder) {
            const F32x8 rho = sqrt(fused(px, px, py * py)), side = rho - radius_, end = abs(pz) - length_;
            inside = max(side, end);
            const F32x8 out = max(side, zero), share = out > zero ? out / rho : zero;
            u = share * px, v = share * py, w = max(end, zero);
            d = sqrt(fused(out, out, w * w));
            w = pz < zero ? -w : w;
        } else {
            pz = pz - min(max(pz, splat8(-length_)), splat8(length_));
            d = sqrt(fused(px, px, fused(py, py, pz * pz)));
            u = px, v = py, w = pz;
            inside = d - radius_;
        }
        const F32x8 per = 1.0f / max(d, splat8(1e-30f));
        const auto reach = [&](int k) {
            return abs(fused(splat8(r_[k]), u, fused(splat8(r_[3 + k]), v, r_[6 + k] * w))) * load8(block.half[k]);
        };
        const F32x8 bound = (inside > zero ? inside_or(d, inside) - per * (reach(0) + reach(1) + reach(2)) : inside) - slack_;
        return load8(block.half[0]) < zero ? splat8(1e30f) : bound;  // empty lanes
    }

  private:
    // Distance to the solid: that of boxes and cylinders is `d`, that of the others is already less the radius.
    F32x8 inside_or(F32x8 d, F32x8 inside) const {
        return kind_ == ConvexKind::box || kind_ == ConvexKind::cylinder ? d : inside;
    }

    ConvexKind kind_;
    float r_[9], t_[3], half_[3], radius_, length_, slack_;
};

// Surface of a mesh against a convex primitive: its tree is walked, nearest entries first; triangles are tested exactly.
MeshGap surface_gap(const PlacedMesh &placed, const ConvexPrimitive &solid, double limit) {
    struct Entry {
        std::uint32_t node;
        float bound;
    };
    const TriangleTree &mesh = placed.mesh;
    const double tol = placed.tol;
    const BoundsToSolid bounds(solid, placed);
    MeshGap best = not_nearer(limit);
    const auto farther = [&](double bound) { return bound > tol && bound >= best.distance; };
    Entry stack[WAITING];
    int top = 0;
    stack[top++] = {0, -1e30f};
    while (top > 0) {
        const Entry next = stack[--top];
        if (farther(next.bound)) continue;
        if (next.node & TRIANGLE) {
            const Triangle t = placed.rel * mesh.triangles[next.node & ~TRIANGLE];
            if (farther(plane_bound(solid, t))) continue;
            const TriangleGap found = triangle_gap(solid, t, best.distance, tol);
            if (found.meet) return meeting();
            if (found.distance < best.distance) best = {false, found.distance, true, found.on_triangle, found.on_solid};
            continue;
        }
        const Block &block = mesh.blocks[static_cast<std::size_t>(mesh.node_bounds[next.node].block)];
        const F32x8 bound = bounds(block);
        const float reach = static_cast<float>(std::min(std::max(tol, best.distance) * (1.0 + 1e-6) + 1e-36, 1e29));
        const int begin = top;
        for (unsigned hits = bits(bound < splat8(reach)); hits; hits &= hits - 1) {
            const int k = std::countr_zero(hits);
            int place = top++;  // the nearest goes on top
            for (; place > begin && stack[place - 1].bound < bound[k]; place--) stack[place] = stack[place - 1];
            stack[place] = {block.entry[k], bound[k]};
        }
    }
    return best;
}

// Is an obstacle that the surface does not meet inside the closed pieces of a mesh? The origin of its frame is asked, where
// the ball of radius `inner` around it is of the obstacle.
bool holds(const PlacedMesh &placed, double inner) {
    const Vec3 p = placed.inv.translation(), off = abs(p - placed.mesh.root().center), half = placed.mesh.root().half;
    if (off.x + inner > half.x || off.y + inner > half.y || off.z + inner > half.z) return false;
    return point_inside(placed.mesh, p);
}

MeshGap convex_gap(const PlacedMesh &placed, const ConvexPrimitive &solid, double limit) {
    const MeshGap found = surface_gap(placed, solid, limit);
    return !found.meet && placed.mesh.closed && holds(placed, solid.inner()) ? meeting() : found;
}

// A mesh against the half-space normal . x <= offset: its lowest corner decides.
MeshGap half_space_gap(const PlacedMesh &placed, Vec3 normal, double offset, double limit) {
    const Node &root = placed.mesh.root();
    const Vec3 down = -placed.rel.unrotate(normal);
    const double base = dot(normal, placed.rel.translation()) - offset;
    const double low = base - dot(down, root.center) - dot(abs(down), root.half);
    if (low > placed.tol && low >= limit) return not_nearer(limit);
    const Vec3 lowest = farthest_corner(placed.mesh, down, placed.mesh.triangles.front().a);
    const double d = base - dot(down, lowest);
    if (d <= placed.tol) return meeting();
    if (!(d < limit)) return not_nearer(limit);
    const Vec3 p = placed.rel.apply(lowest);
    return {false, d, true, p, p - d * normal};
}

MeshGap meshes_gap(const TriangleTree &obstacle, const TriangleTree &mesh, const Pose &rel, double limit) {
    const PosedPair pair(obstacle, mesh, rel);
    if (limit > 0.0 && box_gap(obstacle, mesh, rel, 0.0) >= limit) return not_nearer(limit);
    if (!bounds_apart(pair) && (surfaces_meet(pair) || containment(pair) != PairState::apart)) return meeting();
    if (limit <= 0.0) return not_nearer(limit);
    const double most = std::min(limit * limit, FAR);
    const SurfaceDistance found = surface_distance(pair, hull_distance(pair), {}, most);
    if (!(found.closest.squared < most)) return not_nearer(limit);
    return {false, std::sqrt(found.closest.squared), true, found.closest.b, found.closest.a};
}

// The same in the frame of the obstacle.
MeshGap local_gap(const Obstacle &o, const TriangleTree &mesh, const Pose &rel, double limit) {
    if (o.kind == ObstacleKind::mesh) return meshes_gap(*o.mesh, mesh, rel, limit);
    const double far = std::max({std::fabs(rel.t[0]), std::fabs(rel.t[1]), std::fabs(rel.t[2])});
    const double size = size_of(o.size) + o.radius + std::fabs(o.length);
    const PlacedMesh placed{mesh, rel, rel.inverse(), TOUCH * (mesh.scale + far + size)};
    switch (o.kind) {
    case ObstacleKind::box: return convex_gap(placed, {ConvexKind::box, o.size, 0.0, 0.0}, limit);
    case ObstacleKind::sphere: return convex_gap(placed, {ConvexKind::sphere, {}, o.radius, 0.0}, limit);
    case ObstacleKind::cylinder: return convex_gap(placed, {ConvexKind::cylinder, {}, o.radius, o.length}, limit);
    case ObstacleKind::capsule: return convex_gap(placed, {ConvexKind::capsule, {}, o.radius, o.length}, limit);
    case ObstacleKind::half_space: return half_space_gap(placed, o.size, o.length, limit);
    case ObstacleKind::cloud: return cloud_gap(placed, *o.cloud, o.radius, limit);
    default: return field_gap(placed, *o.field, limit);
    }
}

}  // namespace

bool World::mesh_meets(int k, const TriangleTree &mesh, const Pose &pose) const {
    return local_gap(obstacle(k), mesh, relative(obstacle(k).pose, pose), 0.0).meet;
}

MeshGap World::mesh_gap(int k, const TriangleTree &mesh, const Pose &pose, double limit) const {
    const Obstacle &o = obstacle(k);
    MeshGap found = local_gap(o, mesh, relative(o.pose, pose), limit);
    if (found.found) found.on_mesh = o.pose.apply(found.on_mesh), found.on_obstacle = o.pose.apply(found.on_obstacle);
    return found;
}

}  // namespace elbowroom
