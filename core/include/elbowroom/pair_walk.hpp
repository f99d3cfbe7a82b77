// The walk over two triangle trees: which triangles may meet, visited in an order and under a bound that the
// caller sets.
//
// The relative rotation is fixed once per query. Boxes are tested on the three axes of A and the three of B
// (Gottschalk's test without the nine crosses, which cost more than they prune here) and on the slab of each;
// the result is a bound of how far the entries overlap. The larger entry is opened, a block of eight at a time
// in float32 lanes.
//
// Guaranteed: the bound is never below the true overlap. `Boxes::rounding` exceeds what float32 can lose: fewer
// than 30 roundings of numbers no larger than the two meshes and the distance of their centres together.
#pragma once

#include <bit>
#include <cstdint>

#include "elbowroom/geometry.hpp"
#include "elbowroom/lanes.hpp"
#include "elbowroom/triangles.hpp"

namespace elbowroom {

constexpr double TOUCH = 1e-13;  // gaps below this share of the scene's size are touching: some 100 roundings of a float64

// Triangles of A and B in leaf order.
struct TriangleNumbers {
    std::uint32_t a = 0, b = 0;
};

// Two meshes in one place: B at `rel` in the frame of A.
struct PosedPair {
    const TriangleTree &a, &b;
    Pose rel, inv;  // B in the frame of A, A in the frame of B
    double tol;     // length below which a gap is touching, for this pair and pose

    PosedPair(const TriangleTree &tree_a, const TriangleTree &tree_b, const Pose &b_in_a)
        : a(tree_a), b(tree_b), rel(b_in_a), inv(b_in_a.inverse()),
          tol(TOUCH * (a.scale + b.scale + std::max({std::fabs(rel.t[0]), std::fabs(rel.t[1]), std::fabs(rel.t[2])}))) {}
};

namespace walking {

constexpr double ROUNDING = 64.0 / 16777216.0;  // 64 roundings of a float32, as a share of the largest number
constexpr float LEAST = 1e-36f;                 // metres: below, float32 has no digits left

// A pose in float32, between the frames of two trees centred at their roots' boxes.
struct Turn {
    float r[9];             // rotation by rows,
    F32x4 column[3];        // by columns; the fourth number of each is 0
    F32x4 absolute[3];      // their absolute values
    F32x4 shift;

    // Maps the frame of `from` into that of `to`.
    Turn(const Pose &pose, const TriangleTree &to, const TriangleTree &from) {
        const Vec3 t = pose.apply(from.root().center) - to.root().center;
        for (int k = 0; k < 9; k++) r[k] = static_cast<float>(pose.r[k]);
        for (int k = 0; k < 3; k++) {
            column[k] = F32x4{r[k], r[3 + k], r[6 + k], 0.0f};
            absolute[k] = F32x4{std::fabs(r[k]), std::fabs(r[3 + k]), std::fabs(r[6 + k]), 0.0f};
        }
        shift = F32x4{static_cast<float>(t.x), static_cast<float>(t.y), static_cast<float>(t.z), 0.0f};
    }
    F32x4 rotate(const float *v) const { return column[0] * v[0] + column[1] * v[1] + column[2] * v[2]; }
    // Half extents of the box around a turned box.
    F32x4 spread(const float *half) const { return absolute[0] * half[0] + absolute[1] * half[1] + absolute[2] * half[2]; }
};

struct Overlaps {
    F32x8 overlap;  // least overlap on the axes tested, metres; negative when an axis separates
    F32x8 near;     // squared distance of the centres
};

struct Vec3x8 {
    F32x8 x, y, z;
};
inline Vec3x8 column(const float (&rows)[3][Block::LANES]) { return {load8(rows[0]), load8(rows[1]), load8(rows[2])}; }
inline F32x8 on(const Vec3x8 &v, float x, float y, float z) { return v.x * x + v.y * y + v.z * z; }
inline F32x8 on(const Vec3x8 &v, const float (&u)[4]) { return on(v, u[0], u[1], u[2]); }

// The numbers of a vector, to be spread over lanes one by one.
struct Numbers {
    float at[4];
    Numbers(F32x4 v) { std::memcpy(at, &v, sizeof at); }
};

// The lanes of a block against a node of the other tree.
[[gnu::always_inline]] inline Overlaps overlaps(const Block &block, const NodeBounds &other, const Turn &f) {
    const float *r = f.r, *c = other.center, *h = other.half, *n = other.normal;
    const Numbers b = f.rotate(c) + f.shift, e = f.spread(h), m = f.rotate(n);
    const float m0 = other.offset - (n[0] * c[0] + n[1] * c[1] + n[2] * c[2]);

    const Vec3x8 center = column(block.center), g = column(block.half), l = column(block.normal);
    const Vec3x8 d = {b.at[0] - center.x, b.at[1] - center.y, b.at[2] - center.z};
    const F32x8 on_own = min(min(e.at[0] + g.x - abs(d.x), e.at[1] + g.y - abs(d.y)), e.at[2] + g.z - abs(d.z));
    const auto on_axis = [&](int k) {
        const float x = r[k], y = r[3 + k], z = r[6 + k];
        return h[k] + on(g, std::fabs(x), std::fabs(y), std::fabs(z)) - abs(on(d, x, y, z));
    };
    const F32x8 on_others = min(min(on_axis(0), on_axis(1)), on_axis(2));
    const F32x8 thick = on(g, std::fabs(m.at[0]), std::fabs(m.at[1]), std::fabs(m.at[2]));
    const F32x8 on_other_slab = other.thickness + thick - abs(on(d, m.at) + m0);
    const auto radius = [&](int k) { return abs(on(l, r[k], r[3 + k], r[6 + k])) * h[k]; };
    const F32x8 aside = abs(on(l, b.at) - load8(block.offset));
    const F32x8 on_own_slab = load8(block.thickness) + (radius(0) + radius(1) + radius(2)) - aside;
    // Minima in pairs: a chain of them would take as long as everything else.
    return {min(min(on_own, on_others), min(on_other_slab, on_own_slab)), d.x * d.x + d.y * d.y + d.z * d.z};
}

// The lanes of a block against a triangle of the other tree: its own bounds in the block's frame, its plane,
// its corners.
[[gnu::always_inline]] inline Overlaps overlaps(const Block &block, const TriangleBounds &other, const Turn &f) {
    const F32x4 p = f.rotate(other.corners) + f.shift, q = f.rotate(other.corners + 3) + f.shift;
    const F32x4 s = f.rotate(other.corners + 6) + f.shift;
    const F32x4 lowest = min(min(p, q), s), highest = max(max(p, q), s), across = f.rotate(other.normal);
    const Numbers b = 0.5f * (lowest + highest), e = 0.5f * (highest - lowest), m = across, p0 = p, p1 = q, p2 = s;
    const float m0 = m.at[0] * p0.at[0] + m.at[1] * p0.at[1] + m.at[2] * p0.at[2];

    const Vec3x8 center = column(block.center), g = column(block.half), l = column(block.normal);
    const Vec3x8 d = {b.at[0] - center.x, b.at[1] - center.y, b.at[2] - center.z};
    const F32x8 on_own = min(min(e.at[0] + g.x - abs(d.x), e.at[1] + g.y - abs(d.y)), e.at[2] + g.z - abs(d.z));
    const F32x8 thick = on(g, std::fabs(m.at[0]), std::fabs(m.at[1]), std::fabs(m.at[2]));
    const F32x8 on_plane = other.thickness + thick - abs(on(center, m.at) - m0);
    const F32x8 o = load8(block.offset), s0 = on(l, p0.at) - o, s1 = on(l, p1.at) - o, s2 = on(l, p2.at) - o;
    const F32x8 low = min(min(s0, s1), s2), high = max(max(s0, s1), s2);
    return {min(min(on_own, on_plane), load8(block.thickness) + min(high, -low)), d.x * d.x + d.y * d.y + d.z * d.z};
}

}  // namespace walking

// Which of the entries of an opened block is visited first.
enum class VisitFirst { any, nearest, deepest };

// A triangle of one tree and some of the other whose bounds overlap its own.
struct TriangleHits {
    std::uint32_t held;            // of A when `of_a` is false
    const std::uint32_t *opened;   // `count` of them, of A when `of_a`; eight may be read
    int count;
    bool of_a;

    TriangleNumbers operator[](int k) const {
        return of_a ? TriangleNumbers{opened[k], held} : TriangleNumbers{held, opened[k]};
    }
};

namespace walking {

// How far a node or triangle and one of the other tree can overlap at most, as `overlaps`, in float64. `pose`
// maps the frame of `other` into that of `one`.
inline double overlap_bound(const Node &one, const Node &other, const Pose &pose) {
    const Vec3 b = pose.apply(other.center), d = b - one.center, turned = pose.unrotate(d), m = pose.rotate(other.slab.normal);
    const Vec3 l = pose.unrotate(one.slab.normal), g = one.half, h = other.half;
    const double aside = dot(m, d) + other.slab.offset - dot(other.slab.normal, other.center);
    double least = other.slab.half + dot(abs(m), g) - std::fabs(aside);
    least = std::min(least, one.slab.half + dot(abs(l), h) - std::fabs(dot(one.slab.normal, b) - one.slab.offset));
    for (int k = 0; k < 3; k++) {
        const double *row = pose.r + 3 * k, *column = pose.r + k;
        least = std::min(least, g[k] + dot(abs(Vec3{row[0], row[1], row[2]}), h) - std::fabs(d[k]));
        least = std::min(least, h[k] + dot(abs(Vec3{column[0], column[3], column[6]}), g) - std::fabs(turned[k]));
    }
    return least;
}

inline Node bounds_of(const TriangleTree &tree, std::uint32_t entry) {
    return entry & TRIANGLE ? elbowroom::bounds_of(tree.triangles[entry & ~TRIANGLE]) : tree.nodes[entry];
}

// Pairs of entries that wait, first in, first out: the next are then known before the block at hand is decided,
// and the processor works on several blocks at once.
class Queue {
  public:
    void start() {
        head_ = 0, tail_ = 1;
        if (a_.empty()) grow();
        a_[0] = b_[0] = 0;
    }
    bool empty() const { return head_ == tail_; }
    void next(std::uint32_t &a, std::uint32_t &b) { a = a_[head_], b = b_[head_++]; }
    void push(bool open_a, U32x8 entries, unsigned marked, std::uint32_t other) {
        if (tail_ + Block::LANES > a_.size()) grow();
        store((open_a ? a_ : b_).data() + tail_, pack_front(entries, marked));
        store((open_a ? b_ : a_).data() + tail_, splat8(other));
        tail_ += static_cast<std::size_t>(std::popcount(marked));
    }

  private:
    void grow() {
        a_.resize(2 * a_.size() + 4096);
        b_.resize(a_.size());
    }
    std::vector<std::uint32_t> a_, b_;
    std::size_t head_ = 0, tail_ = 0;
};

// Pairs of entries that wait, last in, first out, and how far they may overlap.
class Stack {
  public:
    void start() {
        a_[0] = b_[0] = 0, allowed_[0] = 1e30f;
        top_ = 1;
    }
    bool empty() const { return top_ == 0; }
    float next(std::uint32_t &a, std::uint32_t &b) {
        top_--;
        a = a_[top_], b = b_[top_];
        return allowed_[top_];
    }
    // The one whose `key` is least goes on top. Whole vectors are written past the top.
    void push(bool open_a, U32x8 entries, unsigned marked, std::uint32_t other, F32x8 bound, F32x8 key) {
        store((open_a ? a_ : b_) + top_, pack_front(entries, marked));
        store((open_a ? b_ : a_) + top_, splat8(other));
        store(allowed_ + top_, pack_front(bound, marked));
        const int end = top_ + std::popcount(marked);
        if (end - top_ > 1) {
            const int place = top_ + std::popcount(marked & ((1u << least_lane(key, marked)) - 1u));
            std::swap(a_[place], a_[end - 1]);
            std::swap(b_[place], b_[end - 1]);
            std::swap(allowed_[place], allowed_[end - 1]);
        }
        top_ = end;
    }

  private:
    // Two trees of 2^30 triangles are below 200 levels deep together, with seven entries a level.
    static constexpr int MOST = 2048;
    std::uint32_t a_[MOST + Block::LANES], b_[MOST + Block::LANES];
    float allowed_[MOST + Block::LANES];
    int top_;
};

}  // namespace walking

// Visits pairs of triangles whose bounds overlap by at least `visit.floor()` (metres, negative to allow gaps;
// it may rise on the way). `visit(hits)` says whether to end the walk; `Visit::FIRST` is the order. Returns
// whether it was ended.
template <class Visit> bool walk(const PosedPair &pair, Visit &visit) {
    using namespace walking;
    constexpr bool ORDERED = Visit::FIRST != VisitFirst::any;
    const TriangleTree &a = pair.a, &b = pair.b;
    const Turn into_a(pair.rel, a, b), into_b(pair.inv, b, a);
    const double far = std::fabs(into_a.shift[0]) + std::fabs(into_a.shift[1]) + std::fabs(into_a.shift[2]);
    // What a bound may be too small by: rounding, and the reach of touching on the axes tested (at most 2.74 tol).
    const float slack = static_cast<float>(ROUNDING * (a.size + b.size + far) + 3.0 * pair.tol) + LEAST;
    thread_local std::conditional_t<ORDERED, Stack, Queue> kept;
    auto &waiting = kept;
    waiting.start();
    while (!waiting.empty()) {
        std::uint32_t at_a, at_b;
        if constexpr (ORDERED) {
            if (waiting.next(at_a, at_b) < visit.floor()) continue;
        } else {
            waiting.next(at_a, at_b);
        }
        bool open_a = (at_b & TRIANGLE) != 0;
        if (!((at_a | at_b) & TRIANGLE)) open_a = a.node_bounds[at_a].extent() >= b.node_bounds[at_b].extent();
        const TriangleTree &opened = open_a ? a : b, &held = open_a ? b : a;
        const std::uint32_t parent = open_a ? at_a : at_b, other = open_a ? at_b : at_a;
        const Turn &turn = open_a ? into_a : into_b;
        const Block &block = opened.blocks[static_cast<std::size_t>(opened.node_bounds[parent].block)];
        const Overlaps found = other & TRIANGLE ? overlaps(block, held.triangle_bounds[other & ~TRIANGLE], turn)
                                                : overlaps(block, held.node_bounds[other], turn);
        const F32x8 bound = found.overlap + slack;
        const U32x8 entries = load8(block.entry);
        unsigned hits = bits(bound >= splat8(visit.floor()));
        if constexpr (Visit::FIRST == VisitFirst::deepest) {
            // Where float32 cannot tell: faces that slide along each other overlap by nothing, and there are
            // many of them.
            for (unsigned close = hits & bits(bound < splat8(visit.floor() + 2.0f * slack)); close; close &= close - 1) {
                const int lane = std::countr_zero(close);
                const Pose &pose = open_a ? pair.rel : pair.inv;
                const Node mine = bounds_of(opened, block.entry[lane]), theirs = bounds_of(held, other);
                if (overlap_bound(mine, theirs, pose) <= visit.depth()) hits &= ~(1u << lane);
            }
        }
        const unsigned leaves = other & TRIANGLE ? hits & bits((I32x8)entries) : 0u, inner = hits & ~leaves;
        if (leaves) {
            std::uint32_t triangles[Block::LANES];
            store(triangles, pack_front(entries & ~TRIANGLE, leaves));
            if (visit(TriangleHits{other & ~TRIANGLE, triangles, std::popcount(leaves), open_a})) return true;
        }
        if constexpr (ORDERED)
            waiting.push(open_a, entries, inner, other, bound, Visit::FIRST == VisitFirst::nearest ? found.near : -bound);
        else
            waiting.push(open_a, entries, inner, other);
    }
    return false;
}

}  // namespace elbowroom
