#include "elbowroom/swept.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "block_bounds.hpp"
#include "elbowroom/proximity.hpp"

namespace elbowroom {
namespace {

using walking::Turn, walking::Vec3x8, walking::column, walking::on;

constexpr int MOST = 1500;         // blocks opened at most: a motion that needs more is too wide for one look, its halves are not
constexpr int WAITING = 2048;      // entries waiting at most, as in proximity.cpp
constexpr double ROUNDING = 1e-9;  // metres by which bounds must be better than asked: far more than float64 rounds
constexpr float MORE = 1.0f + 1e-5f;  // of sums of a few numbers in float32

// A linear function of a point of a tree, relative to the centre of its root: what a direction reads there.
struct Reading {
    float normal[4] = {}, size[4] = {};
    float offset = 0.0f;

    Reading() = default;
    Reading(Vec3 n, double at_center) : offset(static_cast<float>(at_center)) {
        for (int k = 0; k < 3; k++) normal[k] = static_cast<float>(n[k]), size[k] = std::fabs(normal[k]);
    }
    float middle(const float *p) const { return normal[0] * p[0] + normal[1] * p[1] + normal[2] * p[2] + offset; }
    float spread(const float *half) const { return size[0] * half[0] + size[1] * half[1] + size[2] * half[2]; }
};

struct Vec3f {
    float x, y, z;
    explicit Vec3f(Vec3 v) : x(static_cast<float>(v.x)), y(static_cast<float>(v.y)), z(static_cast<float>(v.z)) {}
};

float length(float x, float y, float z) { return std::sqrt(x * x + y * y + z * z); }
F32x8 length(F32x8 x, F32x8 y, F32x8 z) { return sqrt(x * x + y * y + z * z); }

class Sweep {
  public:
    Sweep(const PosedPair &pair, const RelativeMotion &motion, double buffer)
        : pair_(pair), motion_(motion), buffer_(buffer), into_a_(pair.rel, pair.a, pair.b), into_b_(pair.inv, pair.b, pair.a),
          middle_b_(pair.rel.apply(pair.b.root().center)), start_(pair.rel.unrotate(motion.velocity(middle_b_))),
          spin_(pair.rel.unrotate(motion.w)), pole_(pair.rel.unrotate(motion.c - middle_b_)), turn_(static_cast<float>(norm(motion.w)) * MORE),
          half_(static_cast<float>(motion.half)), bend_(static_cast<float>(motion.bend) * MORE), slope_(static_cast<float>(motion.bend_slope) * MORE) {
        const double far = size_of(middle_b_ - pair.a.root().center);
        const double way = motion.half * (norm(motion.velocity(middle_b_)) + norm(motion.w) * pair.b.size);
        slack_ = static_cast<float>(walking::ROUNDING * (pair.a.size + pair.b.size + far + way)) + walking::LEAST;
        keep_ = static_cast<float>(buffer + ROUNDING) * MORE + 2.0f * slack_;
    }

    Swept run(std::optional<TriangleNumbers> &hint) {
        if (hint && hint->a < pair_.a.triangles.size() && hint->b < pair_.b.triangles.size()) {
            sweep(hint->b);
            const Swept found = triangles({hint->a, hint->b}, hint);
            if (found != Swept::apart) return found;
            aim();
        }
        Entry stack[WAITING];
        int top = 0, opened = 0;
        stack[top++] = {0, 0, 0.0f};
        while (top > 0) {
            const Entry at = stack[--top];
            if (at.a & at.b & TRIANGLE) {
                const TriangleNumbers t = {at.a & ~TRIANGLE, at.b & ~TRIANGLE};
                sweep(t.b);
                if (aimed_ && gap(pair_.a.triangles[t.a], aim_) > need_) continue;
                const double before = best_.squared;
                const Swept found = triangles(t, hint);
                if (found != Swept::apart) return found;
                if (best_.squared < before) aim();
                continue;
            }
            if (++opened > MOST || top + Block::LANES > WAITING) return Swept::not_shown;
            bool open_a = (at.b & TRIANGLE) != 0;
            if (!((at.a | at.b) & TRIANGLE)) open_a = pair_.a.node_bounds[at.a].extent() >= pair_.b.node_bounds[at.b].extent();
            F32x8 bound;
            unsigned left = open_a ? look_in_a(at, bound) : look_in_b(at, bound);
            const Block &block = open_a ? block_of(pair_.a, at.a) : block_of(pair_.b, at.b);
            float lanes[Block::LANES];
            store(lanes, bound);
            const int begin = top;
            for (; left; left &= left - 1) {
                const int k = std::countr_zero(left);
                const Entry next = {open_a ? block.entry[k] : at.a, open_a ? at.b : block.entry[k], lanes[k]};
                int place = top++;  // the nearest goes on top
                for (; place > begin && stack[place - 1].bound < next.bound; place--) stack[place] = stack[place - 1];
                stack[place] = next;
            }
        }
        return Swept::apart;
    }

  private:
    struct Entry {
        std::uint32_t a, b;
        float bound;
    };
    static const Block &block_of(const TriangleTree &tree, std::uint32_t node) {
        return tree.blocks[static_cast<std::size_t>(tree.node_bounds[node].block)];
    }

    // How far points of B within a radius of one of its points bend off their straight way, and go at all.
    template <class Number> Number bend_at(Number x, Number y, Number z, Number radius) const {
        return bend_ + slope_ * (length(x - pole_.x, y - pole_.y, z - pole_.z) * MORE + radius);
    }
    template <class Number> Number speed_at(Number x, Number y, Number z, Number radius) const {
        const Number u = start_.x + (spin_.y * z - spin_.z * y), v = start_.y + (spin_.z * x - spin_.x * z),
                     w = start_.z + (spin_.x * y - spin_.y * x);
        return (length(u, v, w) * MORE + turn_ * radius) * half_ * MORE;
    }
    static float radius_of(const float *half) { return length(half[0], half[1], half[2]) * MORE; }

    // Lanes of an opened block that may not stay apart; `bound` tells how near they are, squared.
    unsigned look_in_a(const Entry &at, F32x8 &bound) const {
        const Block &block = block_of(pair_.a, at.a);
        const bool triangle = (at.b & TRIANGLE) != 0;
        float bend = 0.0f, way = 0.0f, low[2] = {INFINITE, INFINITE};
        if (triangle) {
            const TriangleBounds &other = pair_.b.triangle_bounds[at.b & ~TRIANGLE];
            for (int k = 0; k < 9; k += 3) {
                const float *p = other.corners + k;
                bend = std::max(bend, bend_at(p[0], p[1], p[2], 0.0f)), way = std::max(way, speed_at(p[0], p[1], p[2], 0.0f));
                for (int e = 0; e < 2; e++) low[e] = std::min(low[e], ends_[e].middle(p));
            }
            bound = walking::bounds(block, other, into_a_, {}, slack_);
        } else {
            const NodeBounds &other = pair_.b.node_bounds[at.b];
            const float *c = other.center, radius = radius_of(other.half);
            bend = bend_at(c[0], c[1], c[2], radius), way = speed_at(c[0], c[1], c[2], radius);
            for (int e = 0; e < 2; e++) low[e] = ends_[e].middle(c) - ends_[e].spread(other.half);
            bound = walking::bounds(block, other, into_a_, {}, slack_);
        }
        const float need = (keep_ + bend + way) * MORE;
        unsigned left = bits(bound < splat8(need * need * MORE));
        if (left && aimed_) {
            const F32x8 high = on(column(block.center), aim_a_.normal) + on(column(block.half), aim_a_.size);
            left &= bits(std::min(low[0], low[1]) - high < splat8(keep_ + bend));
        }
        return left & occupied(block);
    }
    unsigned look_in_b(const Entry &at, F32x8 &bound) const {
        const Block &block = block_of(pair_.b, at.b);
        const Vec3x8 c = column(block.center), h = column(block.half);
        float high = -INFINITE;
        if (at.a & TRIANGLE) {
            const TriangleBounds &other = pair_.a.triangle_bounds[at.a & ~TRIANGLE];
            for (int k = 0; k < 9; k += 3) high = std::max(high, aim_a_.middle(other.corners + k));
            bound = walking::bounds(block, other, into_b_, {}, slack_);
        } else {
            const NodeBounds &other = pair_.a.node_bounds[at.a];
            high = aim_a_.middle(other.center) + aim_a_.spread(other.half);
            bound = walking::bounds(block, other, into_b_, {}, slack_);
        }
        const F32x8 radius = length(h.x, h.y, h.z) * MORE, bend = bend_at(c.x, c.y, c.z, radius);
        const F32x8 need = (keep_ + bend + speed_at(c.x, c.y, c.z, radius)) * MORE;
        unsigned left = bits(bound < need * need * MORE);
        if (left && aimed_) {
            const auto low = [&](const Reading &end) { return on(c, end.normal) + end.offset - on(h, end.size); };
            left &= bits(min(low(ends_[0]), low(ends_[1])) - high < keep_ + bend);
        }
        return left & occupied(block);
    }
    static unsigned occupied(const Block &block) { return bits(load8(block.half[0]) >= splat8(0.0f)); }

    // A triangle of B in the middle and at both ends of its straight motion; what it must be apart.
    void sweep(std::uint32_t b) {
        middle_ = pair_.rel * pair_.b.triangles[b];
        double far = 0.0;
        for (int k = 0; k < 3; k++) {
            const Vec3 p = middle_.corner(k), way = motion_.half * motion_.velocity(p);
            far = std::max(far, squared(p - motion_.c));
            swept_[k] = p + way, swept_[3 + k] = p - way;
        }
        need_ = motion_.bend + motion_.bend_slope * std::sqrt(far) + buffer_ + ROUNDING;
    }
    double gap(const Triangle &a, Vec3 d) const {
        double low = dot(d, swept_[0]);
        for (int k = 1; k < 6; k++) low = std::min(low, dot(d, swept_[k]));
        return low - std::max({dot(d, a.a), dot(d, a.b), dot(d, a.c)});
    }
    // A triangle of A against the swept one.
    Swept triangles(TriangleNumbers numbers, std::optional<TriangleNumbers> &hint) {
        const Triangle &a = pair_.a.triangles[numbers.a];
        ClosestPoints found;
        closest_points(a, middle_, found);
        const double far = norm(found.b - found.a);
        const bool close = found.squared <= buffer_ * buffer_ || !(far > 1e-12);
        const bool shown = !close && gap(a, 1.0 / far * (found.b - found.a)) > need_;
        if (found.squared < best_.squared || !shown) best_ = found, hint = numbers;
        return close ? Swept::too_close : shown ? Swept::apart : Swept::not_shown;
    }
    // Aims along the closest points known.
    void aim() {
        const Vec3 between = best_.b - best_.a;
        const double far = norm(between);
        if (!(far > 1e-12)) return;
        aim_ = 1.0 / far * between, aimed_ = true;
        const Vec3 center = pair_.a.root().center, turn = cross(aim_, motion_.w);
        aim_a_ = Reading(aim_, 0.0);
        for (int k = 0; k < 2; k++) {
            const double s = k ? motion_.half : -motion_.half;
            const double at_center = dot(aim_, middle_b_ - center) + s * dot(aim_, motion_.velocity(middle_b_));
            ends_[k] = Reading(pair_.rel.unrotate(aim_ + s * turn), at_center);
        }
    }

    static constexpr float INFINITE = std::numeric_limits<float>::infinity();

    const PosedPair &pair_;
    const RelativeMotion &motion_;
    double buffer_;
    Turn into_a_, into_b_;
    Vec3 middle_b_;             // of the root of B, in the frame of A
    Vec3f start_, spin_, pole_;  // velocity there, turn rate and `c`, in the frame of B, relative to its centre
    float turn_, half_, bend_, slope_, slack_, keep_;
    bool aimed_ = false;
    Vec3 aim_;
    Reading aim_a_, ends_[2];
    Triangle middle_;
    Vec3 swept_[6];
    double need_ = 0.0;
    ClosestPoints best_;
};

}  // namespace

Swept stay_apart(const PosedPair &pair, const RelativeMotion &motion, double buffer, std::optional<TriangleNumbers> &hint) {
    return Sweep(pair, motion, buffer).run(hint);
}

}  // namespace elbowroom
