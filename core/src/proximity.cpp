#include "elbowroom/proximity.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <utility>

#include "block_bounds.hpp"
#include "elbowroom/lanes.hpp"
#include "elbowroom/pair_walk.hpp"

namespace elbowroom {
namespace {

// A squared normal below this fraction of its edges' lengths to the fourth is too inexact for a plane: edges
// decide.
constexpr double THIN_SQ = 1e-16;
// Squared sine of the angle of two edges below which they count as parallel.
constexpr double PARALLEL_SQ = 1e-14;
// A point this near to both triangles, as a fraction of their coordinates, lies on both.
constexpr double ON_BOTH = 1e-11;
// Nodes that wait at most, one a level: trees are at most 64 + log2(triangles) deep.
constexpr int DEEPEST = 128;
// Relative difference of squared distances at which the distance of the hulls counts as reached.
constexpr double REACHED = 1e-9;
// Supports taken at most for the hulls; typical runs need 4 to 10. Relative gap between the bounds that is
// enough.
constexpr GjkLimits HULLS = {24, 1e-10, 0.0};

double clamp01(double t) { return std::min(1.0, std::max(0.0, t)); }

// Squared distance of p to the segment from the origin to u.
double edge_distance(Vec3 p, Vec3 u) {
    const double uu = squared(u);
    return squared(p - (uu > 0.0 ? clamp01(dot(p, u) / uu) : 0.0) * u);
}

// Is p, relative to the first corner of the triangle spanned by u and v with normal n, over or under it?
bool over_face(Vec3 p, Vec3 u, Vec3 v, Vec3 n) {
    const Vec3 q = cross(n, p);
    const double s = dot(v, q), t = -dot(u, q);
    return s >= 0.0 && t >= 0.0 && s + t <= squared(n);
}

// Something for each corner or edge of a triangle in a lane of its own; the fourth repeats the third.
Vec3x4 three(Vec3 a, Vec3 b, Vec3 c) {
    return {F64x4{a.x, b.x, c.x, c.x}, F64x4{a.y, b.y, c.y, c.y}, F64x4{a.z, b.z, c.z, c.z}};
}
Vec3x4 same(Vec3 v) { return {splat4(v.x), splat4(v.y), splat4(v.z)}; }
Vec3 lane(const Vec3x4 &v, int k) { return {v.x[k], v.y[k], v.z[k]}; }
F64x4 clamp01(F64x4 t) { return min(splat4(1.0), max(splat4(0.0), t)); }

// A triangle with its corners and edges in lanes.
struct TriangleLanes {
    Vec3 first, u, v, normal;  // a corner, the edges from it, their cross product
    Vec3x4 corners, edges;     // edge k runs from corner k to the next
    double normal_sq;
    bool thin;

    explicit TriangleLanes(const Triangle &t)
        : first(t.a), u(t.b - t.a), v(t.c - t.a), normal(cross(u, v)), corners(three(t.a, t.b, t.c)),
          edges(three(u, t.c - t.b, t.a - t.c)), normal_sq(squared(normal)) {
        const double size = size_of(u) + size_of(v);
        thin = normal_sq <= THIN_SQ * (size * size) * (size * size);
    }
};

enum class Planes { farther, unsure };

// Corners of `other` over the face of `t`: improves `best`, whose point of `t` is on_face and of `other`
// on_other. `farther` when the plane shows that the triangles are no nearer than `best`.
Planes corners_over_face(const TriangleLanes &t, const TriangleLanes &other, double &best, Vec3 &on_face,
                         Vec3 &on_other) {
    if (t.thin) return Planes::unsure;
    const Vec3x4 p = other.corners - same(t.first), n = same(t.normal);
    const F64x4 height = dot(n, p);
    const double low = std::min({height[0], height[1], height[2]}),
                 high = std::max({height[0], height[1], height[2]});
    const double gap = low > 0.0 ? low : std::min(0.0, high);
    if (gap * gap >= best * t.normal_sq) return Planes::farther;
    const Vec3x4 q = cross(n, p);
    const F64x4 x = dot(same(t.v), q), y = -dot(same(t.u), q);
    const I64x4 over =
        (x >= 0.0) & (y >= 0.0) & (x + y <= t.normal_sq) & (height * height < best * t.normal_sq);
    for (unsigned hits = bits(over) & 7u; hits; hits &= hits - 1) {
        const int k = std::countr_zero(hits);
        const double d = height[k] * height[k] / t.normal_sq;
        if (!(d < best)) continue;
        best = d;
        on_other = lane(other.corners, k);
        on_face = on_other - (height[k] / t.normal_sq) * t.normal;
    }
    return Planes::unsure;
}

// Closest points of the edges of two triangles: the three of A, in lanes, against one of B after the other.
void improve_by_edges(const TriangleLanes &a, const TriangleLanes &b, ClosestPoints &best) {
    const Vec3x4 u = a.edges;
    const F64x4 uu = dot(u, u), zero = splat4(0.0), inverse_uu = uu > 0.0 ? 1.0 / uu : zero;
    F64x4 least = splat4(best.squared);
    Vec3x4 on_a{}, on_b{};
    for (int j = 0; j < 3; j++) {
        const Vec3x4 start = same(lane(b.corners, j)), v = same(lane(b.edges, j)), r = a.corners - start;
        const F64x4 vv = dot(v, v), uv = dot(u, v), ur = dot(u, r), vr = dot(v, r), den = uu * vv - uv * uv;
        F64x4 s = den > PARALLEL_SQ * uu * vv ? clamp01((uv * vr - ur * vv) / den) : zero;
        F64x4 t = vv > 0.0 ? (uv * s + vr) / vv : zero;
        const I64x4 inside = (t >= 0.0) & (t <= 1.0) & (vv > 0.0);
        t = clamp01(t);
        s = inside ? s : clamp01((t * uv - ur) * inverse_uu);
        const Vec3x4 p = a.corners + s * u, q = start + t * v, gap = p - q;
        const F64x4 d = dot(gap, gap);
        const I64x4 nearer = d < least;
        least = nearer ? d : least;
        on_a = choose(nearer, p, on_a);
        on_b = choose(nearer, q, on_b);
    }
    int k = least[1] < least[0] ? 1 : 0;
    if (least[2] < least[k]) k = 2;
    if (least[k] < best.squared) best = {least[k], lane(on_a, k), lane(on_b, k)};
}

}  // namespace

Vec3 farthest_corner(const TriangleTree &tree, Vec3 d, Vec3 guess) {
    const Vec3 size = abs(d);
    const auto reach = [&](const Node &node) { return dot(d, node.center) + dot(size, node.half); };
    double best = dot(d, guess);
    std::int32_t stack[DEEPEST];
    int top = 0;
    const Node *node = &tree.root();
    while (true) {
        bool passed = false;
        while (!node->is_leaf()) {
            std::int32_t near = node->first, other = near + 1;
            double p = reach(tree.nodes[static_cast<std::size_t>(near)]),
                   q = reach(tree.nodes[static_cast<std::size_t>(other)]);
            if (p < q) {
                std::swap(near, other);
                std::swap(p, q);
            }
            if (q > best) stack[top++] = other;
            if (p <= best) {
                passed = true;
                break;
            }
            node = &tree.nodes[static_cast<std::size_t>(near)];
        }
        if (!passed) {
            for (std::int32_t i = node->first; i < node->first + node->count; i++) {
                const Triangle &t = tree.triangles[static_cast<std::size_t>(i)];
                for (const Vec3 &corner : {t.a, t.b, t.c}) {
                    const double p = dot(d, corner);
                    if (p > best) {
                        best = p;
                        guess = corner;
                    }
                }
            }
        }
        do {
            if (top == 0) return guess;
            node = &tree.nodes[static_cast<std::size_t>(stack[--top])];
        } while (reach(*node) <= best);
    }
}

double squared_distance(const Triangle &t, Vec3 point, double limit) {
    const Vec3 u = t.b - t.a, v = t.c - t.a, p = point - t.a, n = cross(u, v);
    const double nn = squared(n);
    if (nn > 0.0) {
        const double above = dot(n, p), height = above * above / nn;
        if (height >= limit || over_face(p, u, v, n)) return height;
    }
    return std::min({edge_distance(p, u), edge_distance(p, v), edge_distance(p - u, v - u)});
}

F64x4 squared_distances(const Triangle &t, const Vec3x4 &points) {
    const Vec3 u = t.b - t.a, v = t.c - t.a, n = cross(u, v);
    const double nn = squared(n);
    const Vec3x4 p = points - same(t.a);
    const auto to_edge = [](const Vec3x4 &from, Vec3 edge) {
        const double length = squared(edge);
        const Vec3x4 along = same(edge);
        const Vec3x4 off = from - (length > 0.0 ? clamp01(dot(from, along) * (1.0 / length)) : splat4(0.0)) * along;
        return dot(off, off);
    };
    const F64x4 edges = min(min(to_edge(p, u), to_edge(p, v)), to_edge(p - same(u), v - u));
    if (!(nn > 0.0)) return edges;
    const Vec3x4 q = cross(same(n), p);
    const F64x4 above = dot(same(n), p), s = dot(same(v), q), r = -dot(same(u), q);
    return (s >= 0.0) & (r >= 0.0) & (s + r <= nn) ? above * above / nn : edges;
}

bool closest_points(const Triangle &a, const Triangle &b, ClosestPoints &best) {
    const double before = best.squared;
    const TriangleLanes lanes_a(a), lanes_b(b);
    if (corners_over_face(lanes_a, lanes_b, best.squared, best.a, best.b) == Planes::farther) return false;
    if (corners_over_face(lanes_b, lanes_a, best.squared, best.b, best.a) == Planes::unsure)
        improve_by_edges(lanes_a, lanes_b, best);
    return best.squared < before;
}

Vec3 point_on_both(const Triangle &a, const Triangle &b, Vec3 p) {
    double size = 0.0;
    for (const Vec3 &corner : {a.a, a.b, a.c, b.a, b.b, b.c})
        size = std::max({size, std::fabs(corner.x), std::fabs(corner.y), std::fabs(corner.z)});
    const double off = std::max(squared_distance(a, p), squared_distance(b, p));
    if (off <= ON_BOTH * size * (ON_BOTH * size)) return p;
    ClosestPoints best;
    closest_points(a, b, best);
    return best.squared < off ? 0.5 * (best.a + best.b) : p;
}

NearestTriangle nearest_triangle(const TriangleTree &tree, Vec3 p, double limit) {
    NearestTriangle found{limit, 0};
    visit_nearest(
        tree, p, [&] { return found.squared; },
        [&](std::uint32_t i) {
            const double d = squared_distance(tree.triangles[i], p, found.squared);
            if (d < found.squared) found = {d, i};
        });
    return found;
}

ConvexDistance hull_distance(const PosedPair &pair) {
    Vec3 last_a = pair.a.triangles.front().a, last_b = pair.b.triangles.front().a;
    const auto farthest = [&](Vec3 d) {
        last_a = farthest_corner(pair.a, d, last_a);
        last_b = farthest_corner(pair.b, -pair.inv.rotate(d), last_b);
        return SupportPoints{last_a, pair.rel.apply(last_b)};
    };
    return convex_distance(farthest, pair.rel.apply(pair.b.root().center) - pair.a.root().center, HULLS);
}

namespace {

// Entries waiting at most: two trees of 2^30 triangles are below 200 levels deep together, with seven entries
// a level.
constexpr int WAITING = 2048;

using walking::Aim, walking::Turn, walking::bounds;

// Depth-first branch and bound over two trees, a block of eight at a time, the nearest entry first.
class SurfaceSearch {
  public:
    SurfaceSearch(const PosedPair &pair, double limit) : pair_(pair) { found_.closest.squared = limit; }

    // Tries one pair of triangles.
    void try_pair(TriangleNumbers t) {
        compare(t, pair_.a.triangles[t.a], pair_.rel * pair_.b.triangles[t.b]);
    }

    // Sets the direction along which gaps are looked for, from A to B.
    void aim_at(Vec3 unit) {
        const Vec3 there = pair_.inv.rotate(unit);
        aim_ = unit;
        aim_a_ = Aim(unit, there);
        aim_b_ = Aim(-there, unit);
    }
    void aim_at_best() {
        const Vec3 between = found_.closest.b - found_.closest.a;
        const double length = norm(between);
        if (length > 1e-300) aim_at((1.0 / length) * between);
    }

    bool has_pair() const { return found_.triangles.has_value(); }

    // `floor` is a squared lower bound of the distance that is known already.
    SurfaceDistance run(double floor) {
        const TriangleTree &a = pair_.a, &b = pair_.b;
        const Turn into_a(pair_.rel, a, b), into_b(pair_.inv, b, a);
        const double far =
            std::fabs(into_a.shift[0]) + std::fabs(into_a.shift[1]) + std::fabs(into_a.shift[2]);
        const float slack = static_cast<float>(walking::ROUNDING * (a.size + b.size + far)) + walking::LEAST;
        double &best = found_.closest.squared;
        Entry stack[WAITING];
        int top = 0;
        stack[top++] = {0, 0, 0.0f};
        while (top > 0 && best * (1.0 - REACHED) > floor) {
            const Entry pair = stack[--top];
            if (pair.bound >= best) continue;
            if (pair.a & pair.b & TRIANGLE) {
                const TriangleNumbers t = {pair.a & ~TRIANGLE, pair.b & ~TRIANGLE};
                const Triangle &ta = a.triangles[t.a], tb = pair_.rel * b.triangles[t.b];
                const double gap = std::min({dot(aim_, tb.a), dot(aim_, tb.b), dot(aim_, tb.c)}) -
                                   std::max({dot(aim_, ta.a), dot(aim_, ta.b), dot(aim_, ta.c)});
                if (gap > 0.0 && gap * gap >= best * (1.0 - REACHED)) continue;
                if (compare(t, ta, tb)) aim_at_best();
                continue;
            }
            bool open_a = (pair.b & TRIANGLE) != 0;
            if (!((pair.a | pair.b) & TRIANGLE))
                open_a = a.node_bounds[pair.a].extent() >= b.node_bounds[pair.b].extent();
            const TriangleTree &opened = open_a ? a : b, &held = open_a ? b : a;
            const std::uint32_t parent = open_a ? pair.a : pair.b, other = open_a ? pair.b : pair.a;
            const Turn &turn = open_a ? into_a : into_b;
            const Aim &aim = open_a ? aim_a_ : aim_b_;
            const Block &block = opened.blocks[static_cast<std::size_t>(opened.node_bounds[parent].block)];
            const F32x8 bound = other & TRIANGLE
                                    ? bounds(block, held.triangle_bounds[other & ~TRIANGLE], turn, aim, slack)
                                    : bounds(block, held.node_bounds[other], turn, aim, slack);
            float lanes[Block::LANES];
            store(lanes, bound);
            const int begin = top;
            for (unsigned hits =
                     bits(bound < splat8(static_cast<float>(std::min(best * (1.0 + REACHED), 1e38))));
                 hits; hits &= hits - 1) {
                const int k = std::countr_zero(hits);
                const std::uint32_t entry = block.entry[k];
                Entry next = {open_a ? entry : other, open_a ? other : entry, lanes[k]};
                int place = top++;  // the nearest goes on top
                for (; place > begin && stack[place - 1].bound < next.bound; place--)
                    stack[place] = stack[place - 1];
                stack[place] = next;
            }
        }
        return found_;
    }

  private:
    struct Entry {
        std::uint32_t a, b;
        float bound;
    };

    bool compare(TriangleNumbers t, const Triangle &ta, const Triangle &tb) {
        if (!closest_points(ta, tb, found_.closest)) return false;
        found_.triangles = t;
        return true;
    }

    const PosedPair &pair_;
    Vec3 aim_;           // in the frame of A
    Aim aim_a_, aim_b_;  // for blocks of A, for blocks of B
    SurfaceDistance found_;
};

}  // namespace

SurfaceDistance surface_distance(const PosedPair &pair, const ConvexDistance &hulls,
                                 std::optional<TriangleNumbers> hint, double limit) {
    SurfaceSearch search(pair, limit);
    if (hint) search.try_pair(*hint);
    if (hulls.lower > 0.0) {
        const NearestTriangle near_a = nearest_triangle(pair.a, hulls.a),
                              near_b = nearest_triangle(pair.b, pair.inv.apply(hulls.b));
        search.try_pair({near_a.triangle, near_b.triangle});
        search.aim_at(hulls.normal);
    } else if (search.has_pair()) {
        search.aim_at_best();
    }
    return search.run(hulls.lower * hulls.lower);
}

PairDistance pair_distance(const PosedPair &pair, bool contain, std::optional<TriangleNumbers> hint) {
    if (!bounds_apart(pair)) {
        if (surfaces_meet(pair)) return {PairState::surfaces, {}};
        if (const PairState state = contain ? containment(pair) : PairState::apart; state != PairState::apart)
            return {state, {}};
    }
    return {PairState::apart, surface_distance(pair, hull_distance(pair), hint)};
}

bool meshes_closer(const TriangleTree &a, const TriangleTree &b, const Pose &rel, double buffer) {
    if (buffer == 0.0) return pair_state(a, b, rel, true) != PairState::apart;
    const PosedPair posed(a, b, rel);
    if (box_gap(a, b, rel, posed.tol) > buffer) return false;
    if (surfaces_meet(posed) || containment(posed) != PairState::apart) return true;
    const ConvexDistance hulls = hull_distance(posed);
    if (hulls.lower > buffer) return false;
    return surface_distance(posed, hulls, {}, 1.01 * buffer * buffer).closest.squared <= buffer * buffer;
}

}  // namespace elbowroom
