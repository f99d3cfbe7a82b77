// Oriented boxes against obstacles: exact but for distance fields, touching counts, every walk stops at the first hit.
//
// `rel` is the pose of the box in the frame of the obstacle; `slack` the rounding of the coordinates: gaps below it are
// touching.
#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "elbowroom/triangle_solid.hpp"
#include "elbowroom/world.hpp"

namespace elbowroom {
namespace {

constexpr double ROUNDING = 1e-15;  // gaps below this share of the coordinates that they are computed from are touching
constexpr double FINEST = 0.02;     // reach of the smallest parts of a box against a field, by the spacing of the field
constexpr int PARTS = 128;          // of a box that wait at most; what is left then counts as meeting
constexpr double LANE_SHARE = 64.0 / 16777216.0;  // 64 roundings of a float32

// An oriented box in the frame of an obstacle.
struct PlacedBox {
    Pose rel;
    Vec3 half;
    double slack;

    PlacedBox(const Obstacle &o, const OrientedBox &box) : rel(relative(o.pose, box.pose)), half(box.half) {
        const double kind_size = size_of(o.size) + o.radius + (o.has_end() ? o.length : 0.0);
        slack = ROUNDING * (size_of(o.pose.translation()) + size_of(box.pose.translation()) + size_of(half) + kind_size);
    }
    Vec3 axis(int j) const { return {rel.r[j], rel.r[3 + j], rel.r[6 + j]}; }
    // Half the width of the box along an axis of the obstacle's frame.
    double spread(int i) const {
        return std::fabs(rel.r[3 * i]) * half.x + std::fabs(rel.r[3 * i + 1]) * half.y + std::fabs(rel.r[3 * i + 2]) * half.z;
    }
    double gap_squared(Vec3 p) const { return squared(max(Vec3{}, abs(rel.unrotate(p - rel.translation())) - half)); }
};

// Does a face of either part an upright box around the origin from the box?
bool faces_apart(const PlacedBox &box, Vec3 half) {
    const Vec3 t = abs(box.rel.translation());
    if (t.x > half.x + box.slack + box.spread(0) || t.y > half.y + box.slack + box.spread(1) || t.z > half.z + box.slack + box.spread(2))
        return true;
    for (int j = 0; j < 3; j++) {
        const Vec3 axis = box.axis(j);
        if (std::fabs(dot(axis, box.rel.translation())) > box.half[j] + box.slack + dot(abs(axis), half)) return true;
    }
    return false;
}

// Does a plane along an edge of each part the upright box around the origin from the box?
//
// Near-parallel edges at angle e give a direction of length e: gaps of slack / e then count as touching, and the faces
// decide to within e times the size; one of the two is below 1e-7 of the size.
bool edges_apart(const PlacedBox &box, Vec3 half) {
    const double *r = box.rel.r, *t = box.rel.t, *h = &box.half.x, *own = &half.x;
    for (int i = 0; i < 3; i++) {
        const int m = (i + 1) % 3, n = (i + 2) % 3;
        for (int j = 0; j < 3; j++) {
            const int p = (j + 1) % 3, q = (j + 2) % 3;
            const double along = t[n] * r[3 * m + j] - t[m] * r[3 * n + j];
            const double reach = own[m] * std::fabs(r[3 * n + j]) + own[n] * std::fabs(r[3 * m + j]) +
                                 h[p] * std::fabs(r[3 * i + q]) + h[q] * std::fabs(r[3 * i + p]);
            if (std::fabs(along) > reach + box.slack) return true;
        }
    }
    return false;
}

// Squared distance of the box to the segment from -length to length on the z axis.
//
// Along the segment the squared distance is convex, and its derivative is linear between the six heights where the line
// passes the planes of the faces: those that lie in the segment narrow it to one piece, whose zero is exact.
double axis_gap_squared(const PlacedBox &box, double length) {
    const Vec3 up = {box.rel.r[6], box.rel.r[7], box.rel.r[8]}, at = -box.rel.unrotate(box.rel.translation());
    const auto beyond = [](double x, double half) { return x - std::min(std::max(x, -half), half); };
    const auto slope = [&](double s) {  // half the derivative at height s
        double sum = 0.0;
        for (int j = 0; j < 3; j++) sum += up[j] * beyond(at[j] + s * up[j], box.half[j]);
        return sum;
    };
    double low = -length, high = length, falls = slope(low), rises = slope(high), found;
    if (falls >= 0.0) {
        found = low;
    } else if (rises <= 0.0) {
        found = high;
    } else {
        for (int j = 0; j < 3; j++)
            for (const double side : {-1.0, 1.0}) {
                const double s = (side * box.half[j] - at[j]) / up[j];
                if (!(low < s && s < high)) continue;
                const double here = slope(s);
                (here < 0.0 ? low : high) = s, (here < 0.0 ? falls : rises) = here;
            }
        found = low + (high - low) * falls / (falls - rises);
    }
    return box.gap_squared({0.0, 0.0, found});
}

struct Point2 {
    double x, y;
};
double dot(Point2 a, Point2 b) { return a.x * b.x + a.y * b.y; }
double turn(Point2 a, Point2 b) { return a.x * b.y - a.y * b.x; }

// The point of a segment that is nearest to the origin.
Point2 nearest_to_origin(Point2 a, Point2 b) {
    const Point2 d = {b.x - a.x, b.y - a.y};
    const double square = dot(d, d), s = square > 0.0 ? std::min(std::max(-dot(a, d) / square, 0.0), 1.0) : 0.0;
    return {a.x + s * d.x, a.y + s * d.y};
}

// What a box has between two planes across z, seen along z: corners of a polygon, in no order.
struct Shadow {
    static constexpr int MOST = 32;  // 8 corners of the box and 2 on each of its 12 edges
    Point2 points[MOST];
    int count = 0;

    Shadow(const PlacedBox &box, double length) {
        const double *r = box.rel.r;
        for (int corner = 0; corner < 8; corner++) {
            const Vec3 s = {corner & 1 ? box.half.x : -box.half.x, corner & 2 ? box.half.y : -box.half.y,
                            corner & 4 ? box.half.z : -box.half.z};
            const Vec3 p = box.rel.apply(s);
            if (std::fabs(p.z) <= length) points[count++] = {p.x, p.y};
            for (int j = 0; j < 3; j++) {  // edges from here to the corner on the other side
                if (corner & (1 << j)) continue;
                const double edge = 2.0 * box.half[j], rise = edge * r[6 + j];
                for (const double side : {-1.0, 1.0}) {
                    const double at = (side * length - p.z) / rise;
                    if (0.0 < at && at < 1.0) points[count++] = {p.x + at * edge * r[j], p.y + at * edge * r[3 + j]};
                }
            }
        }
    }

    // Does its convex hull come within `radius` of the origin?
    //
    // Gilbert, Johnson and Keerthi's walk with one edge of the hull in hand: the farthest point against the nearest
    // place found so far either proves a gap or makes, with the edge, a triangle with a nearer place.
    bool reaches(double radius) const {
        if (count == 0) return false;
        Point2 a = points[0], b = a;
        for (int step = 0; step < 4 * MOST; step++) {
            const Point2 v = nearest_to_origin(a, b);
            const double square = dot(v, v);
            if (square <= radius * radius) return true;
            double least = UNBOUNDED;
            Point2 far = a;
            for (int i = 0; i < count; i++)
                if (const double along = dot(v, points[i]); along < least) least = along, far = points[i];
            if (least > 0.0 && least * least > radius * radius * square) return false;
            // Turns of the triangle's edges around the origin: all one way when it is inside.
            const double first = turn(a, b), second = turn(b, far), third = turn(far, a);
            if ((first > 0.0 && second > 0.0 && third > 0.0) || (first < 0.0 && second < 0.0 && third < 0.0)) return true;
            const Point2 p = nearest_to_origin(a, far), q = nearest_to_origin(b, far);
            const double pp = dot(p, p), qq = dot(q, q);
            (pp <= qq ? b : a) = far;
            // No progress but for rounding: the radius lies between two roundings of the gap.
            if (!(std::min(pp, qq) < square)) return true;
        }
        return true;
    }
};

// The box in float32, relative to the centre of a tree, against eight upright boxes: which does no face part from it?
class BoxInLanes {
  public:
    BoxInLanes(const PlacedBox &box, Vec3 center, double size, double grown) {
        const Vec3 t = box.rel.translation() - center;
        for (int k = 0; k < 9; k++) r_[k] = static_cast<float>(box.rel.r[k]);
        for (int k = 0; k < 3; k++) {
            t_[k] = static_cast<float>(t[k]), half_[k] = static_cast<float>(box.half[k]);
            spread_[k] = static_cast<float>(box.spread(k));
        }
        slack_ = static_cast<float>(grown + LANE_SHARE * (size_of(t) + size_of(box.half) + size + grown)) + 1e-36f;
    }
    // A mask of those that may meet the box; centre and half edges by axis.
    unsigned meets(const F32x8 (&center)[3], const F32x8 (&half)[3]) const {
        const F32x8 x = t_[0] - center[0], y = t_[1] - center[1], z = t_[2] - center[2];
        I32x8 near = (abs(x) <= half[0] + (spread_[0] + slack_)) & (abs(y) <= half[1] + (spread_[1] + slack_)) &
                     (abs(z) <= half[2] + (spread_[2] + slack_));
        for (int j = 0; j < 3; j++) {
            const float u = r_[j], v = r_[3 + j], w = r_[6 + j];
            const F32x8 reach = std::fabs(u) * half[0] + std::fabs(v) * half[1] + std::fabs(w) * half[2];
            near &= abs(u * x + v * y + w * z) <= reach + (half_[j] + slack_);
        }
        return bits(near);
    }

  private:
    float r_[9], t_[3], half_[3], spread_[3], slack_;
};

// Does the box come within `radius` of a point of the cloud?
bool meets_cloud(const PlacedBox &box, const PointCloud &cloud, double radius) {
    const BoxTree &tree = cloud.tree();
    const BoxInLanes lanes(box, tree.center(), size_of(tree.bounds().half()), radius);
    const F32x8 middle = splat8(0.5f);
    const double *r = box.rel.r, *t = box.rel.t;
    return tree.visit_where(
        [&](const BoxLanes &node) {
            F32x8 center[3], half[3];
            for (int k = 0; k < 3; k++) {
                const F32x8 low = load8(node.low[k]), high = load8(node.high[k]);
                center[k] = middle * low + middle * high, half[k] = middle * high - middle * low;
            }
            return lanes.meets(center, half);
        },
        [&](std::uint32_t leaf) {
            const PointCloud::Leaf &points = cloud.leaves()[leaf];
            for (int from = 0; from < PointCloud::Leaf::LANES; from += 4) {
                const F64x4 x = load4(points.at[0] + from) - t[0], y = load4(points.at[1] + from) - t[1],
                            z = load4(points.at[2] + from) - t[2], zero = splat4(0.0);
                const F64x4 u = max(abs(r[0] * x + r[3] * y + r[6] * z) - box.half.x, zero);
                const F64x4 v = max(abs(r[1] * x + r[4] * y + r[7] * z) - box.half.y, zero);
                const F64x4 w = max(abs(r[2] * x + r[5] * y + r[8] * z) - box.half.z, zero);
                if (bits(u * u + v * v + w * w <= splat4(radius * radius))) return true;
            }
            return false;
        });
}

// Does the box touch a triangle, or lie inside the closed pieces of the mesh?
bool meets_mesh(const PlacedBox &box, const TriangleTree &mesh) {
    const BoxInLanes lanes(box, mesh.root().center, mesh.size, box.slack);
    const Pose inv = box.rel.inverse();
    std::uint32_t stack[2048];  // blocks: trees are at most 64 + log2(triangles) deep, with seven entries a level
    int top = 0;
    stack[top++] = 0;
    while (top > 0) {
        const Block &block = mesh.blocks[static_cast<std::size_t>(mesh.node_bounds[stack[--top]].block)];
        const F32x8 center[3] = {load8(block.center[0]), load8(block.center[1]), load8(block.center[2])};
        const F32x8 half[3] = {load8(block.half[0]), load8(block.half[1]), load8(block.half[2])};
        for (unsigned hits = lanes.meets(center, half); hits; hits &= hits - 1) {
            const std::uint32_t entry = block.entry[std::countr_zero(hits)];
            if (!(entry & TRIANGLE))
                stack[top++] = entry;
            else if (triangle_meets_box(inv * mesh.triangles[entry & ~TRIANGLE], box.half))
                return true;
        }
    }
    return mesh.closed && point_inside(mesh, box.rel.translation());
}

// May the box reach the solid of a distance field?
//
// The box is halved until the field at the middle of a part proves the part free, or is solid there, or the part is smaller
// than FINEST of the grid's spacing, which counts as meeting.
bool meets_field(const PlacedBox &box, const DistanceField &field) {
    struct Part {
        Vec3 center, half;  // in the frame of the box
    };
    const Vec3 steps = field.spacing();
    const double finest = FINEST * std::min({steps.x, steps.y, steps.z});
    Part parts[PARTS];
    int top = 0;
    parts[top++] = {{}, box.half};
    while (top > 0) {
        Part &part = parts[top - 1];
        const double gap = field.lower_bound(box.rel.apply(part.center)), reach = norm(part.half);
        if (gap > reach) {
            top--;
            continue;
        }
        if (gap <= 0.0 || reach <= finest || top == PARTS) return true;
        const Vec3 h = part.half;
        const int axis = h.x >= std::max(h.y, h.z) ? 0 : (h.y >= h.z ? 1 : 2);
        const double quarter = 0.5 * h[axis];
        const Vec3 step = {axis == 0 ? quarter : 0.0, axis == 1 ? quarter : 0.0, axis == 2 ? quarter : 0.0};
        part.half = h - step;
        parts[top] = {part.center + step, part.half};
        part.center = part.center - step;
        top++;
    }
    return false;
}

bool meets(const Obstacle &o, const OrientedBox &oriented) {
    const PlacedBox box(o, oriented);
    switch (o.kind) {
    case ObstacleKind::box: return !faces_apart(box, o.size) && !edges_apart(box, o.size);
    case ObstacleKind::sphere: return box.gap_squared({}) <= (o.radius + box.slack) * (o.radius + box.slack);
    case ObstacleKind::cylinder:
        if (faces_apart(box, {o.radius, o.radius, o.length})) return false;
        return Shadow(box, o.length + box.slack).reaches(o.radius + box.slack);
    case ObstacleKind::capsule: return axis_gap_squared(box, o.length) <= (o.radius + box.slack) * (o.radius + box.slack);
    case ObstacleKind::half_space: {  // the corner that reaches farthest against the normal
        double low = dot(o.size, box.rel.translation());
        for (int j = 0; j < 3; j++) low -= box.half[j] * std::fabs(dot(o.size, box.axis(j)));
        return low <= o.length + box.slack;
    }
    case ObstacleKind::mesh: return meets_mesh(box, *o.mesh);
    case ObstacleKind::cloud: return meets_cloud(box, *o.cloud, o.radius + box.slack);
    case ObstacleKind::field: return meets_field(box, *o.field);
    }
    return true;
}

}  // namespace

bool World::box_meets(int k, const OrientedBox &box) const { return meets(obstacle(k), box); }

bool World::box_meets(const OrientedBox &box, Ignored ignored) const {
    const auto asked = [&](int k) { return ignored.empty() || !ignored[static_cast<std::size_t>(k)]; };
    for (const std::int32_t k : endless_)
        if (asked(k) && meets(obstacle(k), box)) return true;
    const double *r = box.pose.r;
    const auto reach = [&](int i) {
        const double sum = std::fabs(r[3 * i]) * box.half.x + std::fabs(r[3 * i + 1]) * box.half.y + std::fabs(r[3 * i + 2]) * box.half.z;
        return sum + 4.0 * ROUNDING * (sum + std::fabs(box.pose.t[i]));
    };
    const Vec3 half = {reach(0), reach(1), reach(2)}, center = box.pose.translation();
    return tree_.visit_overlapping({center - half, center + half}, [&](std::uint32_t member) {
        const int k = bounded_[member];
        return asked(k) && meets(obstacle(k), box);
    });
}

}  // namespace elbowroom
