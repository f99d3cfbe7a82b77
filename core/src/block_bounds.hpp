// Lower bounds of the distances between the entries of a block of one tree and a node or triangle of another, in float32 lanes.
#pragma once

#include <cmath>

#include "elbowroom/pair_walk.hpp"

namespace elbowroom::walking {

// What rounding of a square may add to it, relatively.
constexpr float SHRINK = 1.0f - 1e-6f;
inline F32x8 square_above_zero(F32x8 gap) {
    gap = max(gap, splat8(0.0f));
    return gap * gap;
}

// A unit vector that points from the mesh whose block is opened to the other, along which gaps are looked
// for; or zero.
struct Aim {
    float own[4] = {}, own_size[4] = {};  // in the frame of the block, and its absolute values
    float other_size[3] = {};             // absolute values in the frame of the other mesh

    Aim() = default;
    Aim(Vec3 unit, Vec3 there) {
        for (int k = 0; k < 3; k++) {
            own[k] = static_cast<float>(unit[k]), own_size[k] = std::fabs(own[k]);
            other_size[k] = std::fabs(static_cast<float>(there[k]));
        }
    }
};

// Squared lower bounds of the distances of the lanes of a block to a node of the other tree: gaps between the
// boxes, in both frames, and along the slabs and the aim. `slack` is what a gap may be too large by rounding.
inline F32x8 bounds(const Block &block, const NodeBounds &other, const Turn &f, const Aim &aim, float slack) {
    const float *r = f.r, *c = other.center, *h = other.half, *n = other.normal;
    const Numbers b = f.rotate(c) + f.shift, e = f.spread(h), m = f.rotate(n);
    const float m0 = other.offset - (n[0] * c[0] + n[1] * c[1] + n[2] * c[2]);
    const Vec3x8 center = column(block.center), g = column(block.half), l = column(block.normal);
    const Vec3x8 d = {b.at[0] - center.x, b.at[1] - center.y, b.at[2] - center.z};
    const F32x8 in_block = square_above_zero(abs(d.x) - g.x - (e.at[0] + slack)) +
                           square_above_zero(abs(d.y) - g.y - (e.at[1] + slack)) +
                           square_above_zero(abs(d.z) - g.z - (e.at[2] + slack));
    const auto across = [&](int k) {
        const float x = r[k], y = r[3 + k], z = r[6 + k];
        return square_above_zero(abs(on(d, x, y, z)) - on(g, std::fabs(x), std::fabs(y), std::fabs(z)) -
                                 (h[k] + slack));
    };
    const F32x8 in_node = across(0) + across(1) + across(2);
    const F32x8 on_other_slab = abs(on(d, m.at) + m0) -
                                on(g, std::fabs(m.at[0]), std::fabs(m.at[1]), std::fabs(m.at[2])) -
                                other.thickness;
    const auto radius = [&](int k) { return abs(on(l, r[k], r[3 + k], r[6 + k])) * h[k]; };
    const F32x8 on_own_slab =
        abs(on(l, b.at) - load8(block.offset)) - (radius(0) + radius(1) + radius(2)) - load8(block.thickness);
    const float reach = aim.other_size[0] * h[0] + aim.other_size[1] * h[1] + aim.other_size[2] * h[2];
    const F32x8 along = on(d, aim.own) - on(g, aim.own_size) - reach;
    return max(max(in_block, in_node),
               square_above_zero(max(max(on_other_slab, on_own_slab), along) - slack)) *
           SHRINK;
}

// The same for a triangle of the other tree.
inline F32x8 bounds(const Block &block, const TriangleBounds &other, const Turn &f, const Aim &aim, float slack) {
    const F32x4 p = f.rotate(other.corners) + f.shift, q = f.rotate(other.corners + 3) + f.shift,
                s = f.rotate(other.corners + 6) + f.shift;
    const Numbers lowest = min(min(p, q), s), highest = max(max(p, q), s), m = f.rotate(other.normal), p0 = p,
                  p1 = q, p2 = s;
    const auto on_corner = [](const float (&u)[4], const Numbers &corner) {
        return u[0] * corner.at[0] + u[1] * corner.at[1] + u[2] * corner.at[2];
    };
    const Vec3x8 center = column(block.center), g = column(block.half), l = column(block.normal);
    const auto outside = [&](F32x8 middle, F32x8 half, int k) {
        return square_above_zero(max(lowest.at[k] - middle, middle - highest.at[k]) - half - slack);
    };
    const F32x8 in_block = outside(center.x, g.x, 0) + outside(center.y, g.y, 1) + outside(center.z, g.z, 2);
    const F32x8 on_plane = abs(on(center, m.at) - on_corner(m.at, p0)) -
                           on(g, std::fabs(m.at[0]), std::fabs(m.at[1]), std::fabs(m.at[2])) -
                           other.thickness;
    const F32x8 o = load8(block.offset), s0 = on(l, p0.at) - o, s1 = on(l, p1.at) - o, s2 = on(l, p2.at) - o;
    const F32x8 on_slab = max(min(min(s0, s1), s2), -max(max(s0, s1), s2)) - load8(block.thickness);
    const float nearest =
        std::min(std::min(on_corner(aim.own, p0), on_corner(aim.own, p1)), on_corner(aim.own, p2));
    const F32x8 along = nearest - on(center, aim.own) - on(g, aim.own_size);
    return max(in_block, square_above_zero(max(max(on_plane, on_slab), along) - slack)) * SHRINK;
}

}  // namespace elbowroom::walking
