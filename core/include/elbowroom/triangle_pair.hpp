// Two triangles against each other by separating axes: do they meet, and the axes that contacts and sweeps
// project on.
//
// Eleven axes decide for triangles in general position (two normals, nine crosses of edges); planes that are
// almost parallel also need the in-plane normals of the six edges. Projections on a cross of edges u x v are
// computed as u . (v x b), so no axis is formed until one is reported. Separation is claimed only beyond the
// rounding error of the projections: a pair said to be apart is apart, and touching pairs count as meeting.
//
// Everything is relative to the first corner of A, in A's frame. `tol` is a length: gaps below it are contact.
// The tests are written once, for one pair (T = double) and for four pairs in lanes (T = F64x4).
#pragma once

#include <type_traits>

#include "elbowroom/geometry.hpp"
#include "elbowroom/lanes.hpp"
#include "elbowroom/triangles.hpp"

namespace elbowroom {

constexpr double COPLANAR_COSINE = 1e-6;   // planes whose normals' cosine is this close to 1 are treated as parallel
constexpr double PARALLEL_SINE_SQ = 1e-8;  // edges with a smaller squared sine have no usable cross product
constexpr double NORMAL_ROUNDING = 1e-15;  // error of a normal against the product of its edges' lengths
constexpr double NO_NORMAL_SQ = 1e-26;     // a squared normal below this share of its edges' lengths^4 is noise

template <class T> using VectorOf = std::conditional_t<std::is_same_v<T, double>, Vec3, Vec3x4>;

template <class T> struct TwoTriangles {
    using V = VectorOf<T>;
    V e0, e1, e2;        // edges of A: corner 0 to 1, 0 to 2, 1 to 2
    V f0, f1, f2;        // edges of B, the same
    V b0, b1, b2;        // corners of B, seen from A's first corner
    V n, m;              // normals e0 x e1 and f0 x f1
    T size_a, size_b;    // 1-norms of the edges 0 and 1 together: bounds of the lengths
    T d0, d1, d2;        // n . b: heights of B's corners over A
    T p, r0, r1;         // m . b0, m . e0, m . e1

    TwoTriangles() = default;
    [[gnu::always_inline]] TwoTriangles(const V &edge0, const V &edge1, const V &corner0, const V &corner1, const V &corner2)
        : e0(edge0), e1(edge1), e2(edge1 - edge0), f0(corner1 - corner0), f1(corner2 - corner0), f2(corner2 - corner1),
          b0(corner0), b1(corner1), b2(corner2), n(cross(e0, e1)), m(cross(f0, f1)), size_a(size_of(e0) + size_of(e1)),
          size_b(size_of(f0) + size_of(f1)), d0(dot(n, b0)), d1(dot(n, b1)), d2(dot(n, b2)), p(dot(m, b0)),
          r0(dot(m, e0)), r1(dot(m, e1)) {}

    const V &edge_a(int k) const { return k == 0 ? e0 : (k == 1 ? e1 : e2); }
    const V &edge_b(int k) const { return k == 0 ? f0 : (k == 1 ? f1 : f2); }
    const V &corner_b(int k) const { return k == 0 ? b0 : (k == 1 ? b1 : b2); }
};

// Both triangles in one frame.
inline TwoTriangles<double> pair_of(const Triangle &a, const Triangle &b) {
    return {a.b - a.a, a.c - a.a, b.a - a.a, b.b - a.a, b.c - a.a};
}

namespace sat {

template <class T> T least(T a, T b, T c) { return min(min(a, b), c); }
template <class T> T most(T a, T b, T c) { return max(max(a, b), c); }

// How far projections on a triangle's normal must be apart to be told apart.
template <class T, class V> T face_slack(const V &normal, T size, double tol) {
    return tol * size_of(normal) + NORMAL_ROUNDING * size * size * size;
}

// How far the normal of A, or that of B, separates the triangles beyond rounding; not divided by its length.
template <class T> T face_gap_a(const TwoTriangles<T> &w, double tol) {
    return max(least(w.d0, w.d1, w.d2), -most(w.d0, w.d1, w.d2)) - face_slack(w.n, w.size_a, tol);
}
template <class T> T face_gap_b(const TwoTriangles<T> &w, double tol) {
    const T zero{};
    return max(w.p - most(zero, w.r0, w.r1), least(zero, w.r0, w.r1) - w.p) - face_slack(w.m, w.size_b, tol);
}

// Gap on the cross of two edges: q and q + r are the projections of B, 0 and s those of A.
template <class T> T cross_gap(T q, T r, T s) {
    const T zero{};
    return max(min(q, q + r) - max(zero, s), min(zero, s) - max(q, q + r));
}

// Gap on the crosses of an edge `f` of B, which begins at the corner `b`, with the three edges of A. `s` is f .
// n, and `sign` that of the edge in the boundary of B. Not divided by the length of the axis, and without
// slack.
template <class T>
[[gnu::always_inline]] inline T edge_gap(const TwoTriangles<T> &w, const VectorOf<T> &f, const VectorOf<T> &b, T s, double sign) {
    const VectorOf<T> c = cross(f, b);
    return most(cross_gap<T>(dot(w.e0, c), sign * w.r0, -s), cross_gap<T>(dot(w.e1, c), sign * w.r1, s),
                cross_gap<T>(dot(w.e2, c), sign * (w.r1 - w.r0), s));
}
template <class T> T edge_gap_0(const TwoTriangles<T> &w) { return edge_gap<T>(w, w.f0, w.b0, w.d1 - w.d0, 1.0); }
template <class T> T edge_gap_1(const TwoTriangles<T> &w) { return edge_gap<T>(w, w.f1, w.b0, w.d2 - w.d0, -1.0); }
template <class T> T edge_gap_2(const TwoTriangles<T> &w) { return edge_gap<T>(w, w.f2, w.b1, w.d2 - w.d1, 1.0); }

// Positive when both planes are well defined and not parallel: then no other axes are needed.
template <class T> T crossing_planes(const TwoTriangles<T> &w) {
    const T nn = dot(w.n, w.n), mm = dot(w.m, w.m), nm = dot(w.n, w.m);
    const T a2 = w.size_a * w.size_a, b2 = w.size_b * w.size_b;
    return least<T>(nn - NO_NORMAL_SQ * a2 * a2, mm - NO_NORMAL_SQ * b2 * b2,
                    (1.0 - 2.0 * COPLANAR_COSINE) * nn * mm - nm * nm);
}

// Gap between the boxes around both triangles, along the axes of the frame the vectors are in.
template <class T, class V>
[[gnu::always_inline]] inline T box_gap(const V &e0, const V &e1, const V &b0, const V &b1, const V &b2) {
    const T zero{};
    const auto gap = [&](T p, T q, T x, T y, T z) {
        return max(least(x, y, z) - most(zero, p, q), least(zero, p, q) - most(x, y, z));
    };
    return most(gap(e0.x, e1.x, b0.x, b1.x, b2.x), gap(e0.y, e1.y, b0.y, b1.y, b2.y), gap(e0.z, e1.z, b0.z, b1.z, b2.z));
}

}  // namespace sat

// Largest gap between the boxes around both triangles in A's frame and in B's; `rel` is the pose of B in A's
// frame. Slacks of the other axes grow with the triangles: between boxes, a gap beyond the tolerance is always
// seen.
template <class T>
[[gnu::always_inline]] inline T box_gap(const TwoTriangles<T> &w, const Pose &rel) {
    using V = VectorOf<T>;
    const double *r = rel.r;
    const auto back = [&](const V &v) {
        return V{r[0] * v.x + r[3] * v.y + r[6] * v.z, r[1] * v.x + r[4] * v.y + r[7] * v.z,
                 r[2] * v.x + r[5] * v.y + r[8] * v.z};
    };
    return max(sat::box_gap<T>(w.e0, w.e1, w.b0, w.b1, w.b2),
               sat::box_gap<T>(back(w.e0), back(w.e1), back(w.b0), back(w.b1), back(w.b2)));
}

// Is the normal of A, or that of B, more than noise?
inline bool has_normal_a(const TwoTriangles<double> &w) {
    return squared(w.n) > NO_NORMAL_SQ * (w.size_a * w.size_a) * (w.size_a * w.size_a);
}
inline bool has_normal_b(const TwoTriangles<double> &w) {
    return squared(w.m) > NO_NORMAL_SQ * (w.size_b * w.size_b) * (w.size_b * w.size_b);
}

// The planes are parallel to tolerance, or a triangle has no plane.
inline bool nearly_parallel(const TwoTriangles<double> &w) { return !(sat::crossing_planes(w) > 0.0); }

// In-plane normal of edge `k` (0 to 2 of A, 3 to 5 of B) with respect to the larger of the two normals.
inline Vec3 in_plane_axis(const TwoTriangles<double> &w, int k) {
    const Vec3 normal = squared(w.n) >= squared(w.m) ? w.n : w.m;
    return cross(normal, k < 3 ? w.edge_a(k) : w.edge_b(k - 3));
}

struct AxisBounds {
    double low_a, high_a, low_b, high_b;
};

// Projections of both triangles on an axis.
inline AxisBounds bounds_on_axis(const TwoTriangles<double> &w, Vec3 axis) {
    const double a1 = dot(w.e0, axis), a2 = dot(w.e1, axis);
    const double b0 = dot(w.b0, axis), b1 = dot(w.b1, axis), b2 = dot(w.b2, axis);
    return {sat::least(0.0, a1, a2), sat::most(0.0, a1, a2), sat::least(b0, b1, b2), sat::most(b0, b1, b2)};
}

// Does an in-plane normal of an edge separate a pair whose planes are almost parallel?
inline bool separated_in_plane(const TwoTriangles<double> &w, double tol) {
    for (int k = 0; k < 6; k++) {
        const Vec3 axis = in_plane_axis(w, k);
        const AxisBounds on = bounds_on_axis(w, axis);
        const double slack = tol * size_of(axis);
        if (on.low_b - on.high_a > slack || on.low_a - on.high_b > slack) return true;
    }
    return false;
}

// Do the triangles share a point? Touching within `tol` counts.
inline bool triangles_meet(const TwoTriangles<double> &w, double tol) {
    if (sat::face_gap_a(w, tol) > 0.0 || sat::face_gap_b(w, tol) > 0.0) return false;
    const double slack = tol * w.size_a * w.size_b;
    if (sat::edge_gap_0(w) > slack || sat::edge_gap_1(w) > slack || sat::edge_gap_2(w) > slack) return false;
    return sat::crossing_planes(w) > 0.0 || !separated_in_plane(w, tol);
}

// The same for triangles of two meshes, B's posed by `rel`: their boxes have to meet too.
inline bool triangles_meet(const TwoTriangles<double> &w, const Pose &rel, double tol) {
    return triangles_meet(w, tol) && box_gap(w, rel) <= tol;
}

// The axes that separate two triangles, or along which they overlap least.
enum class AxisKind { face_a = 0, face_b = 1, edges = 2, in_plane = 3 };

struct UnitAxis {
    Vec3 direction;  // unit length; (0, 0, 1) when there is none
    double length;   // before it was made unit; 0 when there is none
};

inline UnitAxis unit_axis(Vec3 v) {
    const double size = sat::most(std::fabs(v.x), std::fabs(v.y), std::fabs(v.z));
    if (size == 0.0) return {{0.0, 0.0, 1.0}, 0.0};
    v = {v.x / size, v.y / size, v.z / size};
    const double length = norm(v);
    return {{v.x / length, v.y / length, v.z / length}, length * size};
}

// The axis named by its kind and edges; `edge_a` is 0 to 5 for in-plane normals.
inline UnitAxis axis_of(const TwoTriangles<double> &w, AxisKind kind, int edge_a, int edge_b) {
    switch (kind) {
    case AxisKind::face_a: return unit_axis(w.n);
    case AxisKind::face_b: return unit_axis(w.m);
    case AxisKind::in_plane: return unit_axis(in_plane_axis(w, edge_a));
    case AxisKind::edges: break;
    }
    return unit_axis(cross(w.edge_a(edge_a), w.edge_b(edge_b)));
}

}  // namespace elbowroom
