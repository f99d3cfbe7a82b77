#include "elbowroom/contacts.hpp"

#include <array>
#include <limits>

#include "elbowroom/proximity.hpp"

namespace elbowroom {
namespace {

using Pair = TwoTriangles<double>;
using Pairs = TwoTriangles<F64x4>;  // four at once

constexpr double INF = std::numeric_limits<double>::infinity();
constexpr double FACE_PREFERENCE = 1e-9;  // an edge axis must be better than a face axis by this share to be reported
constexpr double SAME_DEPTH = 1e-9;       // corners are equally deep when they differ by less than this share of the size
constexpr std::size_t LANES = 4;

struct Triangles4 {
    Vec3x4 a, b, c;
};

// Four triangles, corner by corner.
[[gnu::always_inline]] inline Triangles4 gather(const std::vector<Triangle> &from, const std::uint32_t (&at)[LANES]) {
    static_assert(sizeof(Triangle) == 9 * sizeof(double));
    const double *rows[LANES];
    for (std::size_t k = 0; k < LANES; k++) rows[k] = &from[at[k]].a.x;
    F64x4 u[4], v[4];
    for (std::size_t k = 0; k < LANES; k++) u[k] = load4(rows[k]), v[k] = load4(rows[k] + 4);
    transpose(u[0], u[1], u[2], u[3]);
    transpose(v[0], v[1], v[2], v[3]);
    const F64x4 last = {rows[0][8], rows[1][8], rows[2][8], rows[3][8]};
    return {{u[0], u[1], u[2]}, {u[3], v[0], v[1]}, {v[2], v[3], last}};
}

Vec3x4 turned(const Pose &pose, const Vec3x4 &p, const Vec3x4 &shift) {
    const double *r = pose.r;
    return {r[0] * p.x + r[1] * p.y + r[2] * p.z + shift.x, r[3] * p.x + r[4] * p.y + r[5] * p.z + shift.y,
            r[6] * p.x + r[7] * p.y + r[8] * p.z + shift.z};
}

// Up to four pairs of triangles; spare lanes repeat the last.
[[gnu::always_inline]] inline Pairs load(const PosedPair &pair, std::span<const TriangleNumbers> numbers) {
    std::uint32_t i[LANES], j[LANES];
    for (std::size_t k = 0; k < LANES; k++) {
        const TriangleNumbers &at = numbers[std::min(k, numbers.size() - 1)];
        i[k] = at.a, j[k] = at.b;
    }
    const Triangles4 a = gather(pair.a.triangles, i), b = gather(pair.b.triangles, j);
    const double *t = pair.rel.t;
    const Vec3x4 shift = {t[0] - a.a.x, t[1] - a.a.y, t[2] - a.a.z};
    return {a.b - a.a, a.c - a.a, turned(pair.rel, b.a, shift), turned(pair.rel, b.b, shift),
            turned(pair.rel, b.c, shift)};
}

Vec3 lane(const Vec3x4 &v, std::size_t k) { return {v.x[k], v.y[k], v.z[k]}; }
Pair lane(const Pairs &w, std::size_t k) {
    return {lane(w.e0, k), lane(w.e1, k), lane(w.b0, k), lane(w.b1, k), lane(w.b2, k)};
}

// Which of the pairs meet: one bit a lane. The few with almost parallel planes are decided one by one.
[[gnu::always_inline]] inline unsigned meeting(const Pairs &w, const Pose &rel, double tol) {
    const F64x4 zero{};
    unsigned meet = ~bits(max(sat::face_gap_a(w, tol), sat::face_gap_b(w, tol)) > zero) & 15u;
    if (!meet) return 0;
    const F64x4 edges = max(max(sat::edge_gap_0(w), sat::edge_gap_1(w)), sat::edge_gap_2(w));
    meet &= ~bits(edges > tol * w.size_a * w.size_b);
    if (meet) meet &= bits(box_gap(w, rel) <= splat4(tol));
    for (unsigned ask = meet & ~bits(sat::crossing_planes(w) > zero); ask; ask &= ask - 1) {
        const unsigned k = static_cast<unsigned>(std::countr_zero(ask));
        if (separated_in_plane(lane(w, k), tol)) meet &= ~(1u << k);
    }
    return meet;
}

// The axis of least overlap of pairs that meet. Moving B along sign * axis by the overlap parts the triangles.
struct LeastOverlap {
    F64x4 kind, edge_a, edge_b;  // as AxisKind; edges count for that kind only
    F64x4 sign, overlap;         // overlap times the length of the axis; 0 where the axis separates
    F64x4 squared;               // length of the axis

    void take(I64x4 better, F64x4 over, F64x4 length_sq, F64x4 direction) {
        overlap = better ? over : overlap;
        squared = better ? length_sq : squared;
        sign = better ? direction : sign;
    }
};

F64x4 side(I64x4 up) { return up ? splat4(1.0) : splat4(-1.0); }

LeastOverlap least_overlap(const Pairs &w) {
    const F64x4 zero{}, one = splat4(1.0);
    const F64x4 aa = dot(w.n, w.n), bb = dot(w.m, w.m), a2 = w.size_a * w.size_a, b2 = w.size_b * w.size_b;
    F64x4 up = -sat::least(w.d0, w.d1, w.d2), down = sat::most(w.d0, w.d1, w.d2);
    const I64x4 flat_a = aa <= NO_NORMAL_SQ * a2 * a2;
    LeastOverlap best{};
    best.overlap = flat_a ? splat4(INF) : max(zero, min(up, down));
    best.squared = flat_a ? one : aa;
    best.sign = flat_a ? one : side(up <= down);

    up = sat::most(zero, w.r0, w.r1) - w.p, down = w.p - sat::least(zero, w.r0, w.r1);
    F64x4 over = max(zero, min(up, down));
    F64x4 bar = bb > NO_NORMAL_SQ * b2 * b2 ? best.overlap * best.overlap * bb : -one;
    I64x4 wins = over * over * best.squared < bar;
    best.take(wins, over, bb, side(up < down));
    best.kind = wins ? one : zero;

    // The crosses of an edge of B that begins at a corner with the edges of A: names as in sat::edge_gap.
    const Vec3x4 edges[3] = {w.e0, w.e1, w.e2};
    const F64x4 lengths[3] = {dot(w.e0, w.e0), dot(w.e1, w.e1), dot(w.e2, w.e2)};
    const F64x4 heights[3] = {w.r0, w.r1, w.r1 - w.r0};
    const auto crosses = [&](const Vec3x4 &f, const Vec3x4 &b, F64x4 s, double sign, double edge_b) {
        const Vec3x4 c = cross(f, b);
        const F64x4 vv = dot(f, f);
        for (int i = 0; i < 3; i++) {
            const F64x4 q = dot(edges[i], c), r = sign * heights[i], e = i == 0 ? -s : s, uv = dot(edges[i], f);
            const F64x4 rise = max(zero, e) - min(q, q + r), fall = max(q, q + r) - min(zero, e);
            const F64x4 overlap = max(zero, min(rise, fall)), uuvv = lengths[i] * vv, nn = uuvv - uv * uv;
            const F64x4 least = (1.0 - FACE_PREFERENCE) * best.overlap * best.overlap * nn;
            const F64x4 limit = nn > PARALLEL_SINE_SQ * uuvv ? least : -one;
            const I64x4 better = overlap * overlap * best.squared < limit;
            best.take(better, overlap, nn, side(rise <= fall));
            best.kind = better ? splat4(2.0) : best.kind;
            best.edge_a = better ? splat4(i) : best.edge_a;
            best.edge_b = better ? splat4(edge_b) : best.edge_b;
        }
    };
    crosses(w.f0, w.b0, w.d1 - w.d0, 1.0, 0.0);
    crosses(w.f1, w.b0, w.d2 - w.d0, -1.0, 1.0);
    crosses(w.f2, w.b1, w.d2 - w.d1, 1.0, 2.0);
    return best;
}

struct Axes {
    Vec3x4 normal;      // unit, from A to B
    F64x4 depth;
    Vec3x4 edge_point;  // middle of the closest points of the two edges, where the axis is their cross
};

F64x4 clamp01(F64x4 x) { return min(splat4(1.0), max(F64x4{}, x)); }

Axes axes_of(const Pairs &w, const LeastOverlap &least) {
    const F64x4 zero{}, one = splat4(1.0);
    const I64x4 past_a = least.edge_a > zero, last_a = least.edge_a > one;
    const I64x4 past_b = least.edge_b > zero, last_b = least.edge_b > one;
    const Vec3x4 nothing{};
    const Vec3x4 a = choose(last_a, w.e0, nothing), u = choose(past_a, w.e1, w.e0) - a;
    const Vec3x4 b = choose(last_b, w.b1, w.b0), v = choose(past_b, w.b2, w.b1) - b;
    Vec3x4 axis = choose(least.kind < one, w.n, choose(least.kind == one, w.m, cross(u, v)));
    const F64x4 size = sat::most(abs(axis.x), abs(axis.y), abs(axis.z));
    const I64x4 none = size == zero;
    const F64x4 scale = none ? one : size;
    axis = {axis.x / scale, axis.y / scale, none ? one : axis.z / scale};
    const F64x4 length = sqrt(dot(axis, axis));
    Axes out;
    out.normal = (least.sign / length) * axis;
    out.depth = none ? zero : least.overlap / (length * scale);
    const F64x4 uu = dot(u, u), vv = dot(v, v), uv = dot(u, v);
    const Vec3x4 between = a - b;
    const F64x4 ur = dot(u, between), vr = dot(v, between);
    const F64x4 free_s = clamp01((uv * vr - ur * vv) / (uu * vv - uv * uv)), free_t = (uv * free_s + vr) / vv;
    const F64x4 t = clamp01(free_t), s = free_t == t ? free_s : clamp01((t * uv - ur) / uu);
    out.edge_point = splat4(0.5) * (a + s * u + b + t * v);
    return out;
}

// Where the triangle crosses a plane from which its corners are at the given distances.
SharedSegment crossings(const Vec3 (&corner)[3], const std::array<double, 3> &distance) {
    Vec3 found[2];
    int count = 0;
    for (std::size_t k = 0; k < 3; k++) {
        const std::size_t next = (k + 1) % 3;
        if ((distance[k] <= 0.0) == (distance[next] <= 0.0) || count == 2) continue;
        found[count++] = corner[k] + (distance[k] / (distance[k] - distance[next])) * (corner[next] - corner[k]);
    }
    if (count == 2) return {found[0], found[1]};
    std::size_t near = 0;
    for (std::size_t k = 1; k < 3; k++)
        if (std::fabs(distance[k]) < std::fabs(distance[near])) near = k;
    return {corner[near], corner[near]};
}

// The segment that two crossing triangles share, directed along normal A x normal B, from A's first corner.
SharedSegment intersection(const Pair &w) {
    const SharedSegment on_a = crossings({{}, w.e0, w.e1}, {-w.p, w.r0 - w.p, w.r1 - w.p});
    const SharedSegment on_b = crossings({w.b0, w.b1, w.b2}, {w.d0, w.d1, w.d2});
    const Vec3 along = cross(w.n, w.m);
    const auto sorted = [&](SharedSegment s) {
        return dot(along, s.begin) <= dot(along, s.end) ? s : SharedSegment{s.end, s.begin};
    };
    const SharedSegment a = sorted(on_a), b = sorted(on_b);
    return {dot(along, a.begin) >= dot(along, b.begin) ? a.begin : b.begin,
            dot(along, a.end) <= dot(along, b.end) ? a.end : b.end};
}

// Middle of what is left of B when it is cut by the edges of A, seen along A's normal; none when nothing is left.
std::optional<Vec3> common_middle(const Pair &w) {
    Vec3 polygon[16] = {w.b0, w.b1, w.b2}, cut[16];  // a cut adds at most half as many corners as there are
    std::size_t n = 3;
    const Vec3 starts[3] = {{}, w.e0, {}}, inward[3] = {cross(w.n, w.e0), cross(w.n, w.e2), -cross(w.n, w.e1)};
    for (int k = 0; k < 3 && n > 0; k++) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < n; i++) {
            const Vec3 p = polygon[i], q = polygon[(i + 1) % n];
            const double dp = dot(inward[k], p - starts[k]), dq = dot(inward[k], q - starts[k]);
            if (dp >= 0.0) cut[kept++] = p;
            if ((dp >= 0.0) != (dq >= 0.0)) cut[kept++] = p + (dp / (dp - dq)) * (q - p);
        }
        std::copy(cut, cut + kept, polygon);
        n = kept;
    }
    if (n == 0) return std::nullopt;
    Vec3 sum;
    for (std::size_t i = 0; i < n; i++) sum = sum + polygon[i];
    return (1.0 / static_cast<double>(n)) * sum;
}

// Is the point, seen from the first corner of a triangle, over or under it? u and v are its edges from there, n
// their cross.
bool over_face(Vec3 p, Vec3 u, Vec3 v, Vec3 n) {
    const double nn = squared(n), slack = SAME_DEPTH * nn, s = dot(n, cross(p, v)), t = dot(n, cross(u, p));
    return s >= -slack && t >= -slack && s + t <= nn + slack;
}

// Contact point on a face axis, from A's first corner.
Vec3 face_point(const Pair &w, bool of_a, Vec3 normal, double depth) {
    const double side = of_a ? 1.0 : -1.0;
    const Vec3 corners[3] = {of_a ? w.b0 : Vec3{}, of_a ? w.b1 : w.e0, of_a ? w.b2 : w.e1};
    double height[3];
    for (int k = 0; k < 3; k++) height[k] = side * dot(corners[k], normal);
    const double low = std::min({height[0], height[1], height[2]});
    const double same = low + SAME_DEPTH * (size_of(w.e0) + size_of(w.f0) + std::fabs(low));
    int count = 0;
    Vec3 sum;
    for (int k = 0; k < 3; k++)
        if (height[k] <= same) sum = sum + corners[k], count++;
    if (count == 3 && has_normal_a(w))
        if (const auto middle = common_middle(w)) return *middle;
    const Vec3 deepest = (1.0 / count) * sum;
    if (of_a ? over_face(deepest, w.e0, w.e1, w.n) : over_face(deepest - w.b0, w.f0, w.f1, w.m))
        return deepest + (0.5 * depth * side) * normal;
    const SharedSegment shared = intersection(w);
    return 0.5 * (shared.begin + shared.end);
}

// Contacts of up to four pairs that meet, in the frame of A.
void make_contacts(const Pairs &w, std::span<const TriangleNumbers> numbers, std::span<Contact> out) {
    const LeastOverlap least = least_overlap(w);
    const Axes axes = axes_of(w, least);
    for (std::size_t k = 0; k < numbers.size(); k++) {
        Contact &contact = out[k];
        contact.kind = static_cast<AxisKind>(static_cast<int>(least.kind[k]));
        contact.normal = lane(axes.normal, k);
        contact.depth = axes.depth[k];
        contact.triangles = numbers[k];
        contact.point = lane(axes.edge_point, k);
        // Many axes part triangles that touch: the one chosen may be one of features that are not in touch.
        const bool touches = contact.depth <= SAME_DEPTH * w.size_a[k];
        if (contact.kind == AxisKind::edges && !touches) continue;
        const Pair one = lane(w, k);
        if (contact.kind != AxisKind::edges)
            contact.point = face_point(one, contact.kind == AxisKind::face_a, contact.normal, contact.depth);
        if (touches) contact.point = point_on_both({{}, one.e0, one.e1}, {one.b0, one.b1, one.b2}, contact.point);
    }
}

// Moves contacts from the first corners of A's triangles into the world.
void place(const PosedPair &pair, const Pose &pose_a, std::span<Contact> contacts) {
    for (Contact &contact : contacts) {
        contact.point = pose_a.apply(contact.point + pair.a.triangles[contact.triangles.a].a);
        contact.normal = pose_a.rotate(contact.normal);
    }
}

// Keeps the deepest pair seen; triangles wait until there are four.
class FindDeepest {
  public:
    static constexpr VisitFirst FIRST = VisitFirst::deepest;

    explicit FindDeepest(const PosedPair &pair) : pair_(pair), depth_(pair.tol), floor_(static_cast<float>(pair.tol)) {}

    float floor() const { return floor_; }
    double depth() const { return depth_; }
    bool operator()(const TriangleHits &hits) {
        for (int k = 0; k < hits.count; k++) {
            queue_[waiting_++] = hits[k];
            if (waiting_ == LANES) settle();
        }
        return false;
    }
    // The deepest, or none when no pair is deeper than the tolerance.
    std::optional<TriangleNumbers> found() {
        if (waiting_ > 0) settle();
        return found_;
    }

  private:
    void settle() {
        const Pairs w = load(pair_, {queue_, waiting_});
        const LeastOverlap least = least_overlap(w);
        for (std::size_t k = 0; k < waiting_; k++) {
            const double depth = least.overlap[k] < INF ? least.overlap[k] / std::sqrt(least.squared[k]) : 0.0;
            if (!(depth > depth_) || !triangles_meet(lane(w, k), pair_.rel, pair_.tol)) continue;
            depth_ = depth, found_ = queue_[k];
            floor_ = std::nextafter(static_cast<float>(depth), 0.0f);  // bounds are float32: not above the depth
        }
        waiting_ = 0;
    }

    const PosedPair &pair_;
    double depth_;
    float floor_;
    std::optional<TriangleNumbers> found_;
    TriangleNumbers queue_[LANES];
    std::size_t waiting_ = 0;
};

Contact contact_of(const PosedPair &pair, const Pose &pose_a, TriangleNumbers numbers) {
    Contact out;
    make_contacts(load(pair, {&numbers, 1}), {&numbers, 1}, {&out, 1});
    place(pair, pose_a, {&out, 1});
    return out;
}

}  // namespace

std::optional<Contact> triangle_contact(const Triangle &a, const Triangle &b) {
    double size = 0.0;
    for (const Triangle *t : {&a, &b})
        for (int k = 0; k < 9; k++) size = std::max(size, std::fabs(t->corner(k / 3)[k % 3]));
    const Pair one = pair_of(a, b);
    if (!triangles_meet(one, TOUCH * size)) return std::nullopt;
    const auto splat = [](Vec3 v) { return Vec3x4{splat4(v.x), splat4(v.y), splat4(v.z)}; };
    const TriangleNumbers numbers{0, 0};
    Contact out;
    make_contacts(Pairs(splat(one.e0), splat(one.e1), splat(one.b0), splat(one.b1), splat(one.b2)), {&numbers, 1}, {&out, 1});
    out.point = out.point + a.a;
    return out;
}

void find_contacts(const TriangleTree &a, const Pose &pose_a, const TriangleTree &b, const Pose &pose_b,
                   std::vector<Contact> &out) {
    const PosedPair pair(a, b, relative(pose_a, pose_b));
    if (bounds_apart(pair)) return;
    thread_local std::vector<TriangleNumbers> close;
    close.clear();
    close_pairs(pair, close);
    // Those that meet move to the front; then four contacts at a time.
    std::size_t hits = 0;
    for (std::size_t at = 0; at < close.size(); at += LANES) {
        const std::span<const TriangleNumbers> some(close.data() + at, std::min(LANES, close.size() - at));
        unsigned meet = meeting(load(pair, some), pair.rel, pair.tol) & ((1u << some.size()) - 1u);
        for (; meet; meet &= meet - 1) close[hits++] = some[static_cast<std::size_t>(std::countr_zero(meet))];
    }
    const std::size_t first = out.size();
    out.resize(first + hits);
    const std::span<Contact> made(out.data() + first, hits);
    for (std::size_t at = 0; at < hits; at += LANES) {
        const std::size_t count = std::min(LANES, hits - at);
        const std::span<const TriangleNumbers> some(close.data() + at, count);
        make_contacts(load(pair, some), some, made.subspan(at, count));
    }
    place(pair, pose_a, made);
}

std::optional<Contact> deepest_contact(const TriangleTree &a, const Pose &pose_a, const TriangleTree &b, const Pose &pose_b) {
    const PosedPair pair(a, b, relative(pose_a, pose_b));
    if (bounds_apart(pair)) return std::nullopt;
    FindDeepest find(pair);
    walk(pair, find);
    std::optional<TriangleNumbers> found = find.found();
    if (!found) found = meeting_pair(pair);  // they touch at most
    if (!found) return std::nullopt;
    return contact_of(pair, pose_a, *found);
}

std::optional<SharedSegment> contact_segment(const TriangleTree &a, const Pose &pose_a, const TriangleTree &b, const Pose &pose_b,
                                             TriangleNumbers triangles) {
    const Triangle &one = a.triangles[triangles.a], other = relative(pose_a, pose_b) * b.triangles[triangles.b];
    const Pair w = pair_of(one, other);
    if (nearly_parallel(w)) return std::nullopt;
    const SharedSegment shared = intersection(w);
    const auto finish = [&](Vec3 p) { return pose_a.apply(point_on_both(one, other, p + one.a)); };
    return SharedSegment{finish(shared.begin), finish(shared.end)};
}

}  // namespace elbowroom
