#include "elbowroom/triangle_solid.hpp"

#include <algorithm>
#include <cmath>

#include "elbowroom/proximity.hpp"

namespace elbowroom {
namespace {

constexpr double ROUNDING = 1e-14;     // error of a projection against the products it is made of: tens of roundings
constexpr double ACCURACY = 1e-10;     // metres between the bounds at which a search along an edge ends
constexpr double THIN = 1e-8;          // a normal shorter than this share of its edges' squared lengths is no plane
constexpr double NORMAL_ERROR = 1e-15; // error of a normal against its edges' squared lengths: some roundings
constexpr int MAX_STEPS = 60;          // of a search along an edge; typical ones need 5 to 8

double least(double a, double b, double c) { return std::min(std::min(a, b), c); }
double most(double a, double b, double c) { return std::max(std::max(a, b), c); }

// Does one of the three crosses of the box's axes with edge u part the box from corners a (on the edge) and b?
bool cross_parts(Vec3 u, Vec3 a, Vec3 b, Vec3 h, double slack) {
    const Vec3 v = abs(u), p = cross(u, a), q = cross(u, b);
    slack *= v.x + v.y + v.z;
    const double rx = v.y * h.z + v.z * h.y + slack, ry = v.z * h.x + v.x * h.z + slack, rz = v.x * h.y + v.y * h.x + slack;
    return std::min(p.x, q.x) > rx || std::max(p.x, q.x) < -rx || std::min(p.y, q.y) > ry || std::max(p.y, q.y) < -ry ||
           std::min(p.z, q.z) > rz || std::max(p.z, q.z) < -rz;
}

// Does the segment |z| <= half of the z axis cross the triangle? Triangles along z are left to their edges.
bool axis_pierces(const Triangle &t, double half) {
    const double u = t.b.x * t.c.y - t.c.x * t.b.y, v = t.c.x * t.a.y - t.a.x * t.c.y, w = t.a.x * t.b.y - t.b.x * t.a.y;
    const double area = u + v + w;
    if (area == 0.0 || least(u, v, w) * most(u, v, w) < 0.0) return false;
    return std::fabs(u * t.a.z + v * t.b.z + w * t.c.z) <= half * std::fabs(area);
}

// Squared distance of the z axis to the segment from p to q, seen along z.
double axis_gap_squared(Vec3 p, Vec3 q) {
    const double u = q.x - p.x, v = q.y - p.y, length = u * u + v * v;
    const double s = length > 0.0 ? std::min(1.0, std::max(0.0, -(p.x * u + p.y * v) / length)) : 0.0;
    const double x = p.x + s * u, y = p.y + s * v;
    return x * x + y * y;
}

// Do a triangle and the solid cylinder about z share a point?
//
// The part of the triangle between the planes of the ends, seen along the axis, is a polygon: does it come within the
// radius of the axis? Its sides are the clipped edges and the cuts of the end planes.
bool triangle_meets_cylinder(const Triangle &t, double radius, double half) {
    if (axis_pierces(t, half)) return true;
    const double near = radius * radius;
    Vec3 top, low;
    int tops = 0, lows = 0;
    for (int i = 0; i < 3; i++) {
        const Vec3 p = t.corner(i), u = t.corner((i + 1) % 3) - p;
        const bool over = (p.z > half) != (p.z + u.z > half), under = (p.z < -half) != (p.z + u.z < -half);
        if (!over && !under && std::fabs(p.z) > half) continue;
        double first = 0.0, last = 1.0;
        if (over) {
            const double at = (half - p.z) / u.z;
            const Vec3 cut = p + at * u;
            if (tops == 1 && axis_gap_squared(cut, top) <= near) return true;
            top = cut, tops++;
            (p.z > half ? first : last) = at;
        }
        if (under) {
            const double at = (-half - p.z) / u.z;
            const Vec3 cut = p + at * u;
            if (lows == 1 && axis_gap_squared(cut, low) <= near) return true;
            low = cut, lows++;
            (p.z < -half ? first : last) = at;
        }
        if (axis_gap_squared(p + first * u, p + last * u) <= near) return true;
    }
    return false;
}

struct EdgeGap {
    double distance, at;
};

// Lower bound of the distance of an edge to a solid, at most ACCURACY below it, and the place of the nearest point.
//
// False position on the slope of the squared distance (Illinois rule), between tangents. Ends early at `limit`.
EdgeGap edge_gap(const ConvexPrimitive &solid, Vec3 start, Vec3 u, double limit) {
    struct End {
        double s, d, slope, weight;
    };
    const auto along = [&](double s) {
        const OutwardVector found = outward(solid, start + s * u);
        return End{s, std::max(found.distance, 0.0), dot(found.normal, u), 1.0};
    };
    End a = along(0.0);
    if (a.slope >= 0.0) return {a.d, a.s};
    End b = along(1.0);
    if (b.slope <= 0.0) return {b.d, b.s};
    int last = 0;
    double lower = 0.0;
    for (int step = 0; step < MAX_STEPS; step++) {
        const double crossing = (a.d - b.d + b.slope * b.s - a.slope * a.s) / (b.slope - a.slope);
        lower = std::max(lower, a.d + a.slope * (crossing - a.s));
        if (lower >= limit || std::min(a.d, b.d) - lower <= ACCURACY) break;
        const double ga = a.weight * a.d * a.slope, gb = b.weight * b.d * b.slope;
        double s = a.s - ga * (b.s - a.s) / (gb - ga);
        if (!(s > a.s && s < b.s)) s = 0.5 * (a.s + b.s);
        const End middle = along(s);
        if (middle.d <= 0.0) return {0.0, s};
        if (middle.slope < 0.0) {
            a = middle;
            b.weight = last == -1 ? 0.5 * b.weight : 1.0;
            last = -1;
        } else {
            b = middle;
            a.weight = last == 1 ? 0.5 * a.weight : 1.0;
            last = 1;
        }
    }
    return {lower, a.d <= b.d ? a.s : b.s};
}

struct FaceGap {
    double gap;  // between the triangle's plane and the solid
    bool over;   // it is the distance of the triangle
    Vec3 on_triangle, on_solid;
};

// It is the distance when the solid's point nearest to the plane lies under the triangle. A box or a cylinder.
FaceGap face_gap(const ConvexPrimitive &solid, const Triangle &t) {
    const Vec3 u = t.b - t.a, v = t.c - t.a;
    Vec3 n = cross(u, v);
    const double length = norm(n), size = size_of(u) + size_of(v);
    if (!(length > THIN * size * size)) return {0.0, false, {}, {}};
    n = {n.x / length, n.y / length, n.z / length};
    double off = dot(n, t.a);
    if (off < 0.0) off = -off, n = -n;
    Vec3 q;
    if (solid.kind == ConvexKind::box) {
        q = {std::copysign(solid.half.x, n.x), std::copysign(solid.half.y, n.y), std::copysign(solid.half.z, n.z)};
    } else {
        const double flat = std::sqrt(n.x * n.x + n.y * n.y), s = flat > 0.0 ? solid.radius / flat : 0.0;
        q = {s * n.x, s * n.y, std::copysign(solid.length, n.z)};
    }
    const double far = off + size + size_of(q);
    const double gap = off - dot(n, q) - NORMAL_ERROR * far * size * size / length;
    if (gap <= 0.0) return {gap, false, {}, {}};
    const Vec3 above = q + gap * n, p = above - t.a;
    double s = dot(n, cross(p, v)), r = dot(n, cross(u, p));
    if (dot(n, cross(u, v)) < 0.0) s = -s, r = -r;
    return {gap, s >= 0.0 && r >= 0.0 && s + r <= length, above, q};
}

// A capsule or, with no length, a sphere: distance of the triangle to the core less the radius.
TriangleGap core_gap(const ConvexPrimitive &solid, const Triangle &t, double limit, double tol) {
    if (axis_pierces(t, solid.length)) return {true, 0.0, {}, {}};
    const Vec3 end = {0.0, 0.0, solid.length};
    const double reach = std::max(limit, tol) + solid.radius, furthest = std::min(reach * reach, FAR);
    ClosestPoints best;
    best.squared = furthest;
    if (!closest_points(t, {-end, end, end}, best)) return {false, limit, {}, {}};
    const double d = std::sqrt(best.squared);
    if (d - solid.radius <= tol) return {true, 0.0, {}, {}};
    return {false, d - solid.radius, best.a, best.b + (solid.radius / d) * (best.a - best.b)};
}

}  // namespace

double ConvexPrimitive::inner() const {
    switch (kind) {
    case ConvexKind::box: return least(half.x, half.y, half.z);
    case ConvexKind::cylinder: return std::min(radius, length);
    default: return radius;
    }
}

OutwardVector outward(const ConvexPrimitive &solid, Vec3 p) {
    if (solid.kind == ConvexKind::box) {
        const Vec3 off = abs(p) - solid.half, w = max(Vec3{}, off);
        const double d = norm(w);
        if (!(d > 0.0)) return {most(off.x, off.y, off.z), {}};
        return {d, {std::copysign(w.x, p.x) / d, std::copysign(w.y, p.y) / d, std::copysign(w.z, p.z) / d}};
    }
    if (solid.kind == ConvexKind::cylinder) {
        const double rho = std::sqrt(p.x * p.x + p.y * p.y), side = rho - solid.radius, end = std::fabs(p.z) - solid.length;
        if (side <= 0.0 && end <= 0.0) return {std::max(side, end), {}};
        const double u = std::max(0.0, side), w = std::max(0.0, end), d = std::sqrt(u * u + w * w);
        const double s = u > 0.0 ? u / (rho * d) : 0.0;
        return {d, {s * p.x, s * p.y, std::copysign(w, p.z) / d}};
    }
    p.z -= std::min(solid.length, std::max(-solid.length, p.z));
    const double d = norm(p);
    if (d <= solid.radius) return {d - solid.radius, {}};
    return {d - solid.radius, {p.x / d, p.y / d, p.z / d}};
}

double plane_bound(const ConvexPrimitive &solid, const Triangle &t) {
    const Vec3 c = 1.0 / 3.0 * (t.a + t.b + t.c);
    const OutwardVector from = outward(solid, c);
    return from.distance + least(dot(from.normal, t.a - c), dot(from.normal, t.b - c), dot(from.normal, t.c - c));
}

// Thirteen separating axes (Akenine-Moeller, "Fast 3D triangle-box overlap testing", 2001).
bool triangle_meets_box(const Triangle &t, Vec3 h) {
    const Vec3 a = abs(t.a), b = abs(t.b), c = abs(t.c), widest = max(max(a, b), max(c, h));
    const double slack = ROUNDING * most(widest.x, widest.y, widest.z);
    const Vec3 low = min(min(t.a, t.b), t.c), high = max(max(t.a, t.b), t.c);
    if (low.x > h.x + slack || high.x < -h.x - slack || low.y > h.y + slack || high.y < -h.y - slack || low.z > h.z + slack ||
        high.z < -h.z - slack)
        return false;
    const Vec3 u = t.b - t.a, v = t.c - t.a, n = cross(u, v);
    const double reach = dot(abs(n), h) + slack * size_of(u) * size_of(v);
    if (std::fabs(dot(n, t.a)) > reach) return false;
    return !(cross_parts(u, t.a, t.c, h, slack) || cross_parts(v, t.c, t.b, h, slack) || cross_parts(t.c - t.b, t.b, t.a, h, slack));
}

TriangleGap triangle_gap(const ConvexPrimitive &solid, const Triangle &t, double limit, double tol) {
    if (solid.kind == ConvexKind::capsule) return core_gap(solid, t, limit, tol);
    if (solid.kind == ConvexKind::sphere) {
        if (limit > 0.0) return core_gap(solid, t, limit, tol);
        const double reach = solid.radius + tol;
        return {squared_distance(t, {}) <= reach * reach, 0.0, {}, {}};
    }
    FaceGap face{0.0, false, {}, {}};
    if (limit > 0.0) face = face_gap(solid, t);
    if (face.gap <= tol) {
        const bool meet = solid.kind == ConvexKind::box
                              ? triangle_meets_box(t, solid.half + Vec3{tol, tol, tol})
                              : triangle_meets_cylinder(t, solid.radius + tol, solid.length + tol);
        if (meet) return {true, 0.0, {}, {}};
    }
    if (face.over || face.gap >= limit) return {false, face.gap, face.on_triangle, face.on_solid};
    TriangleGap best{false, limit, {}, {}};
    for (int i = 0; i < 3; i++) {
        const Vec3 p = t.corner(i), u = t.corner((i + 1) % 3) - p;
        const EdgeGap found = edge_gap(solid, p, u, best.distance);
        if (found.distance < best.distance) best.distance = found.distance, best.on_triangle = p + found.at * u;
    }
    if (best.distance <= tol) return {true, 0.0, {}, {}};
    if (best.distance < limit) {
        const OutwardVector from = outward(solid, best.on_triangle);
        best.on_solid = best.on_triangle - from.distance * from.normal;
    }
    return best;
}

}  // namespace elbowroom
