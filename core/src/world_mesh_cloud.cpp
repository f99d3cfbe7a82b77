// A posed mesh against the balls of a point cloud.
//
// Both trees are walked together in float32 lanes, nearest boxes first; triangles and points are compared in float64. A
// ball whose centre is inside a closed mesh touches it, too: where no ball meets the surface, points nearer to one another
// than to the surface are on the same side of it, so that few of them are asked.
#include <algorithm>
#include <bit>
#include <cmath>

#include "elbowroom/pair_walk.hpp"
#include "elbowroom/proximity.hpp"
#include "elbowroom/triangle_solid.hpp"
#include "world_meshes.hpp"

namespace elbowroom {
namespace {

constexpr int WAITING = 2048;  // entries: two trees of 2^30 are below 200 levels deep together, with seven entries a level

struct Box {
    float center[3], half[3];

    float extent() const { return half[0] + half[1] + half[2]; }
};

// Eight boxes, by axis.
struct Boxes8 {
    F32x8 center[3], half[3];

    explicit Boxes8(const Block &block) {
        for (int k = 0; k < 3; k++) center[k] = load8(block.center[k]), half[k] = load8(block.half[k]);
    }
    explicit Boxes8(const BoxLanes &lanes) {
        for (int k = 0; k < 3; k++) {
            const F32x8 low = 0.5f * load8(lanes.low[k]), high = 0.5f * load8(lanes.high[k]);
            center[k] = low + high, half[k] = high - low;
        }
    }
    Box box(int k) const {
        return {{center[0][k], center[1][k], center[2][k]}, {half[0][k], half[1][k], half[2][k]}};
    }
};

Box box_of(const TriangleBounds &t) {
    Box out;
    for (int k = 0; k < 3; k++) {
        const float low = std::min({t.corners[k], t.corners[3 + k], t.corners[6 + k]});
        const float high = std::max({t.corners[k], t.corners[3 + k], t.corners[6 + k]});
        out.center[k] = 0.5f * (low + high), out.half[k] = 0.5f * (high - low);
    }
    return out;
}

Box box_of(const NodeBounds &node) {
    Box out;
    std::copy_n(node.center, 3, out.center), std::copy_n(node.half, 3, out.half);
    return out;
}

// The frame of one tree, whose box is held, in that of the other, whose lanes are opened; both relative to their centres.
struct Turn32 {
    float r[9], t[3];

    Turn32(const Pose &pose, Vec3 from, Vec3 to) {
        const Vec3 shift = pose.apply(from) - to;
        for (int k = 0; k < 9; k++) r[k] = static_cast<float>(pose.r[k]);
        for (int k = 0; k < 3; k++) t[k] = static_cast<float>(shift[k]);
    }
};

// Lower bounds of the distances of eight boxes to another that is turned: gaps along the axes of both frames. Where a bound
// is 0, nothing is known.
F32x8 box_gaps(const Boxes8 &lanes, const Box &held, const Turn32 &f, float slack) {
    const float *r = f.r;
    F32x8 d[3];
    F32x8 own = splat8(0.0f), other = own;
    const auto square = [](F32x8 gap) {
        gap = max(gap, splat8(0.0f));
        return gap * gap;
    };
    for (int k = 0; k < 3; k++) {
        const float at = r[3 * k] * held.center[0] + r[3 * k + 1] * held.center[1] + r[3 * k + 2] * held.center[2] + f.t[k];
        const float reach = std::fabs(r[3 * k]) * held.half[0] + std::fabs(r[3 * k + 1]) * held.half[1] + std::fabs(r[3 * k + 2]) * held.half[2];
        d[k] = at - lanes.center[k];
        own = own + square(abs(d[k]) - lanes.half[k] - (reach + slack));
    }
    for (int j = 0; j < 3; j++) {
        const float u = r[j], v = r[3 + j], w = r[6 + j];
        const F32x8 reach = std::fabs(u) * lanes.half[0] + std::fabs(v) * lanes.half[1] + std::fabs(w) * lanes.half[2];
        other = other + square(abs(u * d[0] + v * d[1] + w * d[2]) - reach - (held.half[j] + slack));
    }
    return sqrt(max(own, other)) * (1.0f - 1e-6f);
}

// Gaps of eight boxes of a cloud to the plane of a triangle of the mesh.
F32x8 plane_gaps(const Boxes8 &lanes, const TriangleBounds &t, const Turn32 &f, float slack) {
    const float *r = f.r, *n = t.normal;
    const float x = r[0] * n[0] + r[1] * n[1] + r[2] * n[2], y = r[3] * n[0] + r[4] * n[1] + r[5] * n[2],
                z = r[6] * n[0] + r[7] * n[1] + r[8] * n[2];
    const float offset = t.offset + x * f.t[0] + y * f.t[1] + z * f.t[2];
    const F32x8 reach = std::fabs(x) * lanes.half[0] + std::fabs(y) * lanes.half[1] + std::fabs(z) * lanes.half[2];
    return abs(x * lanes.center[0] + y * lanes.center[1] + z * lanes.center[2] - offset) - reach - (t.thickness + slack);
}

struct TriangleAndPoint {
    double squared;  // distance
    std::uint32_t triangle = 0;
    Vec3 point{};  // in the frame of the cloud
};

// The search for the point of a cloud that is nearest to the surface of a mesh.
class CloudSearch {
  public:
    CloudSearch(const PlacedMesh &placed, const PointCloud &cloud, double most, double enough)
        : placed_(placed), cloud_(cloud), into_cloud_(placed.rel, placed.mesh.root().center, cloud.tree().center()),
          into_mesh_(placed.inv, cloud.tree().center(), placed.mesh.root().center), enough_(enough), best_{most},
          reach_(std::sqrt(most)) {
        const double far = std::fabs(into_mesh_.t[0]) + std::fabs(into_mesh_.t[1]) + std::fabs(into_mesh_.t[2]);
        slack_ = static_cast<float>(walking::ROUNDING * (placed.mesh.size + size_of(cloud.bounds().half()) + far)) + walking::LEAST;
    }

    // Ends at the first pair within `enough`.
    TriangleAndPoint run() {
        const TriangleTree &mesh = placed_.mesh;
        if (best_.squared > enough_ * (1.0 + 1e-9)) begin_near();
        if (best_.squared <= enough_) return best_;
        push_cloud(0, Boxes8(cloud_root()), 0);
        while (top_ > 0) {
            const Entry next = stack_[--top_];
            if (!(next.bound < reach_)) continue;
            const bool triangle = next.mesh & TRIANGLE, leaf = next.cloud & MEMBER;
            if (triangle && leaf) {
                if (compare(next.mesh & ~TRIANGLE, next.cloud & ~MEMBER)) break;
                continue;
            }
            const bool open_mesh =
                !triangle && (leaf || mesh.node_bounds[next.mesh].extent() >= next.box.extent());
            if (open_mesh) {
                const Block &block = mesh.blocks[static_cast<std::size_t>(mesh.node_bounds[next.mesh].block)];
                const Boxes8 lanes(block);
                const F32x8 bound = box_gaps(lanes, next.box, into_mesh_, slack_);
                push(bound, [&](int k) { return Entry{block.entry[k], next.cloud, next.box, bound[k]}; });
            } else {
                push_cloud(next.mesh, Boxes8(cloud_.tree().nodes()[next.cloud]), next.cloud);
            }
        }
        return best_;
    }

  private:
    struct Entry {
        std::uint32_t mesh, cloud;  // node or triangle, node or leaf
        Box box;                    // of the cloud's
        float bound;
    };

    // A near pair to begin with, found from one side and the other in turn.
    void begin_near() {
        Vec3 from = placed_.rel.apply(placed_.mesh.root().center);
        for (int turn = 0; turn < 2; turn++) {
            const Vec3 p = cloud_.point(static_cast<std::size_t>(cloud_.nearest(from, FAR).point)), there = placed_.inv.apply(p);
            const NearestTriangle near = nearest_triangle(placed_.mesh, there);
            if (near.squared < best_.squared) best_ = {near.squared, near.triangle, p}, reach_ = std::sqrt(near.squared);
            const Triangle &t = placed_.mesh.triangles[near.triangle];
            from = placed_.rel.apply(1.0 / 3.0 * (t.a + t.b + t.c));
        }
    }

    const BoxLanes &cloud_root() const { return cloud_.tree().nodes().front(); }

    // The children of a node of the cloud against a node or triangle of the mesh.
    void push_cloud(std::uint32_t entry, const Boxes8 &lanes, std::uint32_t cloud_node) {
        const TriangleTree &mesh = placed_.mesh;
        const bool triangle = entry & TRIANGLE;
        F32x8 bound;
        if (triangle) {
            const TriangleBounds &t = mesh.triangle_bounds[entry & ~TRIANGLE];
            bound = max(box_gaps(lanes, box_of(t), into_cloud_, slack_), plane_gaps(lanes, t, into_cloud_, slack_));
            if (bits(bound < splat8(static_cast<float>(std::min(reach_, 1e29)))))
                bound = max(bound, ball_gaps(lanes, mesh.triangles[entry & ~TRIANGLE]));
        } else {
            bound = box_gaps(lanes, box_of(mesh.node_bounds[entry]), into_cloud_, slack_);
        }
        const BoxLanes &node = cloud_.tree().nodes()[cloud_node];
        push(bound, [&](int k) { return Entry{entry, node.entry[k], lanes.box(k), bound[k]}; });
    }

    template <class Make> void push(F32x8 bound, Make make) {
        const int begin = top_;
        for (unsigned hits = bits(bound < splat8(static_cast<float>(std::min(reach_ * (1.0 + 1e-6), 1e29)))); hits; hits &= hits - 1) {
            const int k = std::countr_zero(hits);
            int place = top_++;  // the nearest goes on top
            for (; place > begin && stack_[place - 1].bound < bound[k]; place--) stack_[place] = stack_[place - 1];
            stack_[place] = make(k);
        }
    }

    // Lower bounds of the distances of the balls around eight boxes of the cloud to a triangle.
    F32x8 ball_gaps(const Boxes8 &lanes, const Triangle &t) const {
        const Vec3 c = cloud_.tree().center();
        const F64x4 low = sqrt(squared_distances(t, in_mesh(low_half(lanes.center[0]) + c.x, low_half(lanes.center[1]) + c.y,
                                                            low_half(lanes.center[2]) + c.z)));
        const F64x4 high = sqrt(squared_distances(t, in_mesh(high_half(lanes.center[0]) + c.x, high_half(lanes.center[1]) + c.y,
                                                             high_half(lanes.center[2]) + c.z)));
        const F32x8 *h = lanes.half, around = sqrt(h[0] * h[0] + h[1] * h[1] + h[2] * h[2]);
        return (joined(low, high) - around) - (slack_ + 1e-6f * around);
    }

    // Points of the cloud in the frame of the mesh.
    Vec3x4 in_mesh(F64x4 x, F64x4 y, F64x4 z) const {
        const double *r = placed_.inv.r, *t = placed_.inv.t;
        return {r[0] * x + r[1] * y + r[2] * z + t[0], r[3] * x + r[4] * y + r[5] * z + t[1], r[6] * x + r[7] * y + r[8] * z + t[2]};
    }

    // The points of a leaf against a triangle; whether one is near enough.
    bool compare(std::uint32_t triangle, std::uint32_t leaf) {
        const Triangle &t = placed_.mesh.triangles[triangle];
        const PointCloud::Leaf &points = cloud_.leaves()[leaf];
        for (int from = 0; from < PointCloud::Leaf::LANES; from += 4) {
            const F64x4 x = load4(points.at[0] + from), y = load4(points.at[1] + from), z = load4(points.at[2] + from);
            const F64x4 d = squared_distances(t, in_mesh(x, y, z));
            for (unsigned nearer = bits(d < splat4(best_.squared)); nearer; nearer &= nearer - 1) {
                const int k = std::countr_zero(nearer);
                if (!(d[k] < best_.squared)) continue;
                best_ = {d[k], triangle, points.point(from + k)};
                reach_ = std::sqrt(d[k]);
            }
            if (best_.squared <= enough_) return true;
        }
        return false;
    }

    const PlacedMesh &placed_;
    const PointCloud &cloud_;
    const Turn32 into_cloud_, into_mesh_;
    double enough_;
    TriangleAndPoint best_;
    double reach_;
    float slack_ = 0.0f;
    int top_ = 0;
    Entry stack_[WAITING];
};

// Is a point of the cloud inside the closed pieces of a mesh whose surface no ball meets?
//
// A box farther from the surface than it is large is on one side of it.
bool points_inside(const PlacedMesh &placed, const PointCloud &cloud) {
    struct Waiting {
        std::uint32_t entry;
        Box box;
    };
    const TriangleTree &mesh = placed.mesh;
    const Node &root = mesh.root();
    const double widest = std::max({root.half.x, root.half.y, root.half.z});
    const Turn32 into_cloud(placed.rel, root.center, cloud.tree().center());
    const double far = std::fabs(into_cloud.t[0]) + std::fabs(into_cloud.t[1]) + std::fabs(into_cloud.t[2]);
    const float slack = static_cast<float>(walking::ROUNDING * (mesh.size + size_of(cloud.bounds().half()) + far)) + walking::LEAST;
    Vec3 outside;
    double clear = -1.0;  // how far the surface is from that place
    const auto side_known = [&](Vec3 p, double size) { return clear > 0.0 && norm(p - outside) + size < clear; };
    const auto inside = [&](Vec3 p) {  // else it is the place outside
        if (point_inside(mesh, p)) return true;
        outside = p, clear = std::sqrt(nearest_triangle(mesh, p).squared);
        return false;
    };
    Waiting stack[WAITING];
    int top = 0;
    const auto open = [&](const BoxLanes &node) {
        const Boxes8 lanes(node);
        const F32x8 gaps = box_gaps(lanes, box_of(mesh.node_bounds.front()), into_cloud, slack);
        for (unsigned hits = bits(gaps <= splat8(0.0f)); hits; hits &= hits - 1) {
            const int k = std::countr_zero(hits);
            stack[top++] = {node.entry[k], lanes.box(k)};
        }
    };
    open(cloud.tree().nodes().front());
    while (top > 0) {
        const Waiting next = stack[--top];
        const float *c = next.box.center;
        const Vec3 center = placed.inv.apply(cloud.tree().center() + Vec3{c[0], c[1], c[2]});
        const double size = norm({next.box.half[0], next.box.half[1], next.box.half[2]}) + slack;
        if (side_known(center, size)) continue;
        if (size < widest) {
            const double d = std::sqrt(nearest_triangle(mesh, center).squared);
            if (d > size) {
                if (point_inside(mesh, center)) return true;
                outside = center, clear = d;
                continue;
            }
        }
        if (!(next.entry & MEMBER)) {
            open(cloud.tree().nodes()[next.entry]);
            continue;
        }
        const PointCloud::Leaf &leaf = cloud.leaves()[next.entry & ~MEMBER];
        for (int k = 0; k < PointCloud::Leaf::LANES; k++) {
            const Vec3 p = placed.inv.apply(leaf.point(k));
            if (!side_known(p, 0.0) && inside(p)) return true;
        }
    }
    return false;
}

}  // namespace

MeshGap cloud_gap(const PlacedMesh &placed, const PointCloud &cloud, double radius, double limit) {
    const double enough = (radius + placed.tol) * (radius + placed.tol);
    const double most = std::min(std::max((radius + limit) * (radius + limit), enough * (1.0 + 1e-15)), FAR);
    CloudSearch search(placed, cloud, most, enough);
    const TriangleAndPoint found = search.run();
    if (found.squared <= enough) return meeting();
    if (placed.mesh.closed && points_inside(placed, cloud)) return meeting();
    if (!(found.squared < most) || !(std::sqrt(found.squared) - radius < limit)) return not_nearer(limit);
    const Vec3 back = -found.point;
    const Triangle t = placed.rel * placed.mesh.triangles[found.triangle];
    const TriangleGap at = triangle_gap({ConvexKind::sphere, {}, radius, 0.0}, {t.a + back, t.b + back, t.c + back}, UNBOUNDED, placed.tol);
    return {false, std::sqrt(found.squared) - radius, true, at.on_triangle + found.point, at.on_solid + found.point};
}

}  // namespace elbowroom
