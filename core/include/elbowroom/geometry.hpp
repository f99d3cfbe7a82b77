// Vectors and rigid motions in float64: the few operations that every other header builds on.
//
// Lengths are metres. `Pose` maps coordinates of its own frame to those of its parent; `T_a_b` maps b to a.
#pragma once

#include <algorithm>
#include <cmath>

namespace elbowroom {

struct Vec3 {
    double x = 0.0, y = 0.0, z = 0.0;

    double operator[](int k) const { return k == 0 ? x : (k == 1 ? y : z); }
};

inline Vec3 operator+(Vec3 u, Vec3 v) { return {u.x + v.x, u.y + v.y, u.z + v.z}; }
inline Vec3 operator-(Vec3 u, Vec3 v) { return {u.x - v.x, u.y - v.y, u.z - v.z}; }
inline Vec3 operator-(Vec3 u) { return {-u.x, -u.y, -u.z}; }
inline Vec3 operator*(double s, Vec3 u) { return {s * u.x, s * u.y, s * u.z}; }
inline double dot(Vec3 u, Vec3 v) { return u.x * v.x + u.y * v.y + u.z * v.z; }
inline Vec3 cross(Vec3 u, Vec3 v) {
    return {u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x};
}
inline double squared(Vec3 u) { return dot(u, u); }
inline double norm(Vec3 u) { return std::sqrt(dot(u, u)); }
// Sum of the absolute values: a cheap upper bound of the length.
inline double size_of(Vec3 u) { return std::fabs(u.x) + std::fabs(u.y) + std::fabs(u.z); }
inline Vec3 abs(Vec3 u) { return {std::fabs(u.x), std::fabs(u.y), std::fabs(u.z)}; }
inline Vec3 min(Vec3 u, Vec3 v) { return {std::min(u.x, v.x), std::min(u.y, v.y), std::min(u.z, v.z)}; }
inline Vec3 max(Vec3 u, Vec3 v) { return {std::max(u.x, v.x), std::max(u.y, v.y), std::max(u.z, v.z)}; }

// A rigid motion: rotation by rows, then translation. Twelve numbers without padding, as Python packs them.
struct Pose {
    double r[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double t[3] = {0, 0, 0};

    Vec3 translation() const { return {t[0], t[1], t[2]}; }

    Vec3 rotate(Vec3 v) const {
        return {r[0] * v.x + r[1] * v.y + r[2] * v.z, r[3] * v.x + r[4] * v.y + r[5] * v.z,
                r[6] * v.x + r[7] * v.y + r[8] * v.z};
    }
    // The inverse rotation: a vector of the parent in this frame's axes.
    Vec3 unrotate(Vec3 v) const {
        return {r[0] * v.x + r[3] * v.y + r[6] * v.z, r[1] * v.x + r[4] * v.y + r[7] * v.z,
                r[2] * v.x + r[5] * v.y + r[8] * v.z};
    }
    Vec3 apply(Vec3 p) const { return rotate(p) + translation(); }

    Pose inverse() const {
        Pose out;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) out.r[3 * i + j] = r[3 * j + i];
        const Vec3 back = unrotate(translation());
        out.t[0] = -back.x, out.t[1] = -back.y, out.t[2] = -back.z;
        return out;
    }
};

inline Pose operator*(const Pose &a, const Pose &b) {
    Pose out;
    for (int i = 0; i < 3; i++) {
        const double u = a.r[3 * i], v = a.r[3 * i + 1], w = a.r[3 * i + 2];
        for (int j = 0; j < 3; j++) out.r[3 * i + j] = u * b.r[j] + v * b.r[3 + j] + w * b.r[6 + j];
        out.t[i] = u * b.t[0] + v * b.t[1] + w * b.t[2] + a.t[i];
    }
    return out;
}

// Pose of b in the frame of a, both given in one parent frame.
inline Pose relative(const Pose &a, const Pose &b) {
    Pose out;
    const double d[3] = {b.t[0] - a.t[0], b.t[1] - a.t[1], b.t[2] - a.t[2]};
    for (int i = 0; i < 3; i++) {
        const double u = a.r[i], v = a.r[3 + i], w = a.r[6 + i];
        for (int j = 0; j < 3; j++) out.r[3 * i + j] = u * b.r[j] + v * b.r[3 + j] + w * b.r[6 + j];
        out.t[i] = u * d[0] + v * d[1] + w * d[2];
    }
    return out;
}

}  // namespace elbowroom
