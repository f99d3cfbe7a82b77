// A posed mesh against the solid of a sampled distance field: where its trilinear interpolation is not above zero.
//
// The field changes by at most `slope` a metre, so its value at the centre of a piece of surface bounds it everywhere on
// the piece; within one cell the interpolation is a polynomial whose linear part gives a closer bound. Pieces are halved
// until they are decided. What is undecided at FINEST counts as touching: the answer is conservative by that much.
// Distances are lower bounds: the least value on the surface over the slope, less at most FINEST and the part ACCURACY of it.
#include <algorithm>
#include <cmath>
#include <utility>

#include "elbowroom/proximity.hpp"
#include "world_meshes.hpp"

namespace elbowroom {
namespace {

constexpr double FINEST = 1e-5;         // metres: pieces of surface below this radius are not halved
constexpr double ACCURACY = 0.03;       // part of a distance that its bound may be below the least value on the surface
constexpr int PIECES = 128;             // waiting at most: halving a triangle of 1 km down to FINEST takes some 60
constexpr int MOST_PIECES = 200'000;    // looked at in one query; what is undecided then counts as touching, or with its bound
constexpr double SMALLEST = 1e-12;      // metres: what is known to be apart is not nearer than this
constexpr int DEEPEST = 128;            // nodes that wait at most, one a level

// Least value over the slope on a piece by the polynomial of its cell; -infinity when it is not in one cell. `p` is a point
// of the piece, `half` the half extents of a box about that point that holds the piece.
double cell_bound(const DistanceField &field, const Triangle &t, Vec3 p, Vec3 half) {
    const DistanceField::Cell c = field.cell(p);
    const Vec3 s = field.spacing();
    for (int k = 0; k < 3; k++)
        if (std::min(c.u[k], 1.0 - c.u[k]) * s[k] < half[k]) return -UNBOUNDED;
    const double u = c.u[0], v = c.u[1], w = c.u[2];
    const auto &low = c.sample[0], &high = c.sample[1];
    // Differences along x at the corners (y, z), then values there at x.
    const double a00 = high[0][0] - low[0][0], a01 = high[0][1] - low[0][1], a10 = high[1][0] - low[1][0], a11 = high[1][1] - low[1][1];
    const double f00 = low[0][0] + u * a00, f01 = low[0][1] + u * a01, f10 = low[1][0] + u * a10, f11 = low[1][1] + u * a11;
    const double value = (1.0 - v) * ((1.0 - w) * f00 + w * f01) + v * ((1.0 - w) * f10 + w * f11);
    const Vec3 slope = {((1.0 - v) * ((1.0 - w) * a00 + w * a01) + v * ((1.0 - w) * a10 + w * a11)) / s.x,
                        ((1.0 - w) * (f10 - f00) + w * (f11 - f01)) / s.y, ((1.0 - v) * (f01 - f00) + v * (f11 - f10)) / s.z};
    const double lowest = std::min({dot(slope, t.a - p), dot(slope, t.b - p), dot(slope, t.c - p)});
    const double xy = std::fabs((1.0 - w) * (a10 - a00) + w * (a11 - a01)) / (s.x * s.y);
    const double xz = std::fabs((1.0 - v) * (a01 - a00) + v * (a11 - a10)) / (s.x * s.z);
    const double yz = std::fabs(f11 - f10 - f01 + f00) / (s.y * s.z);
    const double xyz = std::fabs(a11 - a10 - a01 + a00) / (s.x * s.y * s.z);
    const double rest = xy * half.x * half.y + xz * half.x * half.z + yz * half.y * half.z + xyz * half.x * half.y * half.z;
    return (value + lowest - rest) / field.slope();
}

// The search for the least value of a field on a surface. With a limit of 0 only touching is asked for; a positive one is
// for surfaces that are known not to touch.
class FieldSearch {
  public:
    FieldSearch(const PlacedMesh &placed, const DistanceField &field, double limit) : placed_(placed), field_(field), best_(limit) {}

    // Lower bound of the distance of a node's box to the solid.
    double node_bound(const Node &node) const { return field_.lower_bound(placed_.rel.apply(node.center)) - norm(node.half); }

    double best() const { return best_; }
    Vec3 point() const { return point_; }  // of the surface, where `best` is

    // False when the surface touches.
    bool run() {
        struct Waiting {
            const Node *node;
            double bound;
        };
        const auto open = [&](double bound) { return bound <= 0.0 || bound < best_; };
        Waiting stack[DEEPEST];
        int top = 0;
        stack[top++] = {&placed_.mesh.root(), node_bound(placed_.mesh.root())};
        while (top > 0) {
            const Waiting next = stack[--top];
            if (!open(next.bound)) continue;
            if (next.node->is_leaf()) {
                for (std::int32_t i = next.node->first; i < next.node->first + next.node->count; i++)
                    if (!look(placed_.rel * placed_.mesh.triangles[static_cast<std::size_t>(i)])) return false;
                continue;
            }
            const Node *child = &placed_.mesh.nodes[static_cast<std::size_t>(next.node->first)];
            Waiting near = {child, node_bound(child[0])}, far = {child + 1, node_bound(child[1])};
            if (far.bound < near.bound) std::swap(near, far);
            if (open(far.bound)) stack[top++] = far;
            if (open(near.bound)) stack[top++] = near;
        }
        return true;
    }

  private:
    // Improves the bound by a triangle; false when it touches.
    bool look(const Triangle &triangle) {
        Triangle pieces[PIECES];
        int top = 0;
        pieces[top++] = triangle;
        while (top > 0) {
            const Triangle t = pieces[--top];
            left_--;
            // Halved across the longest edge, from `a` to `b`.
            int edge = 0;
            double longest = -1.0;
            for (int k = 0; k < 3; k++)
                if (const double length = squared(t.corner(k) - t.corner((k + 1) % 3)); length > longest) edge = k, longest = length;
            const Vec3 a = t.corner(edge), b = t.corner((edge + 1) % 3), tip = t.corner((edge + 2) % 3), p = 0.5 * (a + b);
            const double d = field_.lower_bound(p);
            if (d <= 0.0) return false;
            const double radius = std::sqrt(std::max(0.25 * longest, squared(tip - p)));
            double low = d - radius;
            if (low <= 0.0 || low < best_) low = std::max(low, cell_bound(field_, t, p, max(abs(a - p), abs(tip - p))));
            if (low > 0.0 && low >= best_) continue;
            if (radius <= FINEST || left_ <= 0 || top + 2 > PIECES) {
                if (best_ == 0.0) return false;
                best_ = std::max(low, SMALLEST), point_ = p;
                continue;
            }
            const double floor = (1.0 - ACCURACY) * d - FINEST;
            if (floor > 0.0 && floor < best_) best_ = floor, point_ = p;
            pieces[top++] = {p, b, tip};
            pieces[top++] = {a, p, tip};
        }
        return true;
    }

    const PlacedMesh &placed_;
    const DistanceField &field_;
    double best_;
    Vec3 point_;
    int left_ = MOST_PIECES;
};

// Is a sample of the solid inside the closed pieces of a mesh? Every connected part of the solid has a sample.
//
// (Along one of the two directions of each axis the interpolation does not rise, down to a corner of the cell.) Where no
// part of the solid meets the surface, samples nearer to one another than to the surface are on the same side of it.
bool sample_inside(const PlacedMesh &placed, const DistanceField &field) {
    const Node &root = placed.mesh.root();
    const Vec3 center = placed.rel.apply(root.center), origin = field.origin(), step = field.spacing();
    std::int64_t low[3], high[3];
    for (int k = 0; k < 3; k++) {
        const double *r = placed.rel.r + 3 * k;
        const double at = center[k] - origin[k], last = static_cast<double>(field.samples(k));
        const double reach = std::fabs(r[0]) * root.half.x + std::fabs(r[1]) * root.half.y + std::fabs(r[2]) * root.half.z;
        low[k] = static_cast<std::int64_t>(std::min(last, std::max(0.0, std::floor((at - reach) / step[k]))));
        high[k] = static_cast<std::int64_t>(std::min(last, std::max(0.0, std::floor((at + reach) / step[k]) + 1.0)));
    }
    Vec3 outside;
    double clear = -1.0;  // squared distance of that place to the surface
    for (std::int64_t i = low[0]; i < high[0]; i++)
        for (std::int64_t j = low[1]; j < high[1]; j++)
            for (std::int64_t m = low[2]; m < high[2];) {
                const double value = field.sample(i, j, m);
                if (value > 0.0) {  // no sample of the solid is nearer than that
                    m += static_cast<std::int64_t>(std::min(std::max(1.0, value / (field.slope() * step.z)), 1e9));
                    continue;
                }
                const Vec3 p = placed.inv.apply({origin.x + static_cast<double>(i) * step.x, origin.y + static_cast<double>(j) * step.y,
                                                 origin.z + static_cast<double>(m) * step.z});
                m++;
                const Vec3 off = abs(p - root.center);
                if (off.x > root.half.x || off.y > root.half.y || off.z > root.half.z || squared(p - outside) < clear) continue;
                if (point_inside(placed.mesh, p)) return true;
                outside = p, clear = nearest_triangle(placed.mesh, p).squared;
            }
    return false;
}

// The point at a distance from `p` down the slope of the field, by differences over a cell.
Vec3 other_point(const DistanceField &field, double distance, Vec3 p) {
    const Vec3 h = 0.5 * field.spacing();
    const auto rise = [&](Vec3 step, double size) { return (field.lower_bound(p + step) - field.lower_bound(p - step)) / size; };
    const Vec3 up = {rise({h.x, 0.0, 0.0}, h.x), rise({0.0, h.y, 0.0}, h.y), rise({0.0, 0.0, h.z}, h.z)};
    const double length = norm(up);
    return length > 0.0 ? p - (distance / length) * up : p;
}

}  // namespace

MeshGap field_gap(const PlacedMesh &placed, const DistanceField &field, double limit) {
    FieldSearch touching(placed, field, 0.0);
    const double bound = touching.node_bound(placed.mesh.root());
    if (bound > 0.0 && bound >= limit) return not_nearer(limit);
    if (bound <= 0.0 && (!touching.run() || (placed.mesh.closed && sample_inside(placed, field)))) return meeting();
    if (limit <= 0.0) return not_nearer(limit);
    FieldSearch nearest(placed, field, limit);
    nearest.run();
    if (!(nearest.best() < limit)) return not_nearer(limit);
    return {false, nearest.best(), true, nearest.point(), other_point(field, nearest.best(), nearest.point())};
}

}  // namespace elbowroom
