#include "elbowroom/separation.hpp"

#include <algorithm>
#include <limits>

#include "elbowroom/proximity.hpp"

namespace elbowroom {
namespace {

constexpr double GAP = 2e-6;  // metres: translations that open a smaller gap do not separate
constexpr double CLOSE =
    1e-12;  // share of a translation by which rounding may put the end of an interval before its begin
constexpr double STATIC =
    1e-12;  // a projection that moves slower than this share of the axis' length stands still
constexpr double UNBOUNDED = 1e300;
// Pairs of entries that wait at most: two trees of 2^30 triangles are below 200 levels deep together, with
// seven a level.
constexpr int WAITING = 2048;
constexpr int WINDOWS =
    32;  // parts of the way searched one after the other for the next meeting of the surfaces

constexpr int STEPS = 24;  // of one descent at most
constexpr int FACETS = 4;  // of a notch, remembered at most
constexpr double ASIDE =
    1.3;  // ways out up to this multiple of the best are followed while a notch is explored
constexpr double SAME = 1e-12;  // relative difference of depths that counts as none
constexpr double LEVEL =
    1e-9;  // cosine between a direction and a facet's normal below which the facet says nothing
// Shares of the best translation at which directions are tried: an opening may be closed again further out.
// The first of them is farther for directions away from the best, since a descent from there may still end
// below it.
constexpr double SHELLS[] = {1.0 - 1e-6, 0.7, 0.35};
constexpr double OTHER_SHELL = 1.05;
constexpr double AWAY = 0.95;  // cosine with the best direction below which another is away from it
constexpr int ROUNDS = 4;  // times all directions are tried again after one of them was better
constexpr int REFINEMENTS = 16;  // times the directions around the best are tried again in each round

// The axis that ends a sliding interval.
struct AxisName {
    AxisKind kind = AxisKind::face_a;
    int edge_a = 0, edge_b = 0;
};

// Translations for which two triangles share a point, and the axis that ends them.
class SlideInterval {
  public:
    explicit SlideInterval(double tol) : tol_(tol) {}

    // Keeps the translations t with low <= t * speed <= high; `size` is the length of the axis.
    void cut(double low, double high, double speed, double size, AxisName axis) {
        if (std::fabs(speed) <= STATIC * size) {
            const double slack = tol_ * size;
            if (low > slack || high < -slack) begin = UNBOUNDED, end = -UNBOUNDED;
            return;
        }
        const double one = low / speed, two = high / speed;
        begin = std::max(begin, std::min(one, two));
        if (std::max(one, two) < end) {
            end = std::max(one, two);
            last = axis;
        }
    }
    bool is_empty() const { return begin > end + (16.0 * tol_ + CLOSE * std::fabs(end)); }

    double begin = -UNBOUNDED, end = UNBOUNDED;
    AxisName last;

  private:
    double tol_;
};

void cut_by_axis(const TwoTriangles<double> &w, Vec3 axis, Vec3 d, AxisName name, SlideInterval &slide) {
    const AxisBounds on = bounds_on_axis(w, axis);
    slide.cut(on.low_a - on.high_b, on.high_a - on.low_b, dot(axis, d), size_of(axis), name);
}

// Translations of B along d for which the two triangles share a point; none when there are none after
// `after`.
std::optional<SlideInterval> slide_interval(const TwoTriangles<double> &w, Vec3 d, double tol, double after) {
    SlideInterval slide(tol);
    if (has_normal_a(w)) cut_by_axis(w, w.n, d, {AxisKind::face_a}, slide);
    if (has_normal_b(w)) cut_by_axis(w, w.m, d, {AxisKind::face_b}, slide);
    if (slide.is_empty() || slide.end <= after) return std::nullopt;
    const double rises[3] = {w.d1 - w.d0, w.d2 - w.d0, w.d2 - w.d1}, reaches[3] = {w.r0, w.r1, w.r1 - w.r0};
    for (int j = 0; j < 3; j++) {
        const Vec3 f = w.edge_b(j), across = cross(f, j < 2 ? w.b0 : w.b1), moving = cross(f, d);
        const double vv = squared(f);
        for (int i = 0; i < 3; i++) {
            const Vec3 e = w.edge_a(i);
            const double uu = squared(e), uv = dot(e, f);
            if (!(uu * vv - uv * uv > PARALLEL_SINE_SQ * uu * vv)) continue;
            const double q = dot(e, across), r = j == 1 ? -reaches[i] : reaches[i],
                         s = i == 0 ? -rises[j] : rises[j];
            slide.cut(std::min(0.0, s) - std::max(q, q + r), std::max(0.0, s) - std::min(q, q + r),
                      dot(e, moving), std::sqrt(uu * vv), {AxisKind::edges, i, j});
        }
        if (slide.is_empty() || slide.end <= after) return std::nullopt;
    }
    if (nearly_parallel(w)) {
        for (int k = 0; k < 6; k++) {
            const Vec3 axis = in_plane_axis(w, k);
            if (size_of(axis) > 0.0) cut_by_axis(w, axis, d, {AxisKind::in_plane, k}, slide);
        }
        if (slide.is_empty()) return std::nullopt;
    }
    slide.begin = std::min(slide.begin, slide.end);  // a moment of touch may be split by rounding
    return slide;
}

// Slides B along directions until it is free of A.
class Sweep {
  public:
    // The triangles that let go last, and the axis that they do it along.
    struct Release {
        TriangleNumbers triangles;
        AxisName axis;
    };

    Sweep(const PosedPair &pair, bool contain, double farthest)
        : pair_(pair), contain_(contain), into_a_(pair.rel, pair.a, pair.b),
          into_b_(pair.inv, pair.b, pair.a) {
        double far = farthest;
        for (int k = 0; k < 3; k++) {
            base_a_[k] = double{into_a_.shift[k]}, base_b_[k] = double{into_b_.shift[k]};
            far += std::fabs(base_a_[k]);
        }
        slack_ =
            walking::ROUNDING * (pair.a.size + pair.b.size + far) + 3.0 * pair.tol + double{walking::LEAST};
    }

    // First separating translation along a unit vector; some value from `ceiling` up when it is not below.
    // The meshes are known not to be apart up to the translation `begin`.
    double separation(Vec3 d, double begin, double ceiling) {
        release_.reset();
        d_ = d;
        d_b_ = pair_.inv.rotate(d);
        double reach = begin;
        while (true) {
            while (true) {
                const double before = reach;
                reach = extend(reach, ceiling);
                if (reach >= ceiling) return reach;
                if (reach == before) break;
            }
            if (!contain_ ||
                containment(PosedPair(pair_.a, pair_.b, moved(reach + 0.5 * GAP))) == PairState::apart)
                return reach;
            const double window = ceiling / WINDOWS;
            double low = reach, end = 0.0;
            while (true) {
                end = std::min(ceiling, low + window);
                reach = next_meeting(low, end);
                if (reach < end) break;
                if (end >= ceiling) return ceiling;
                low = end;
            }
        }
    }

    const std::optional<Release> &release() const { return release_; }

    // Unit vector of the axis along which the triangles let go; zero when it has no direction.
    Vec3 release_axis() const {
        const TriangleNumbers t = release_->triangles;
        const UnitAxis axis = axis_of(pair_of(pair_.a.triangles[t.a], pair_.rel * pair_.b.triangles[t.b]),
                                      release_->axis.kind, release_->axis.edge_a, release_->axis.edge_b);
        return axis.length > 0.0 ? axis.direction : Vec3{};
    }

    // Is B, moved by t along a unit vector, apart from A?
    bool apart_at(Vec3 d, double t) {
        d_ = d;
        return pair_state(pair_.a, pair_.b, moved(t), contain_) == PairState::apart;
    }

    Pose moved(double t) const {
        Pose out = pair_.rel;
        out.t[0] += t * d_.x, out.t[1] += t * d_.y, out.t[2] += t * d_.z;
        return out;
    }

  private:
    // Extends `low` to the end of every interval that begins before low + GAP; stops at `high`.
    double extend(double low, double high) {
        pass<true>([&] { return low + 0.5 * GAP; }, [] { return 0.5 * GAP; },
                   [&](TriangleNumbers t) {
                       const auto slide = interval(t, low);
                       if (!slide || !(slide->end > low && slide->begin <= low + GAP)) return false;
                       low = slide->end;
                       release_ = {t, slide->last};
                       return low >= high;
                   });
        return low;
    }

    // Earliest beginning of an interval between `low` and `high`, or `high`.
    double next_meeting(double low, double high) {
        pass<false>([&] { return 0.5 * (low + high); }, [&] { return 0.5 * (high - low); },
                    [&](TriangleNumbers t) {
                        const auto slide = interval(t, low);
                        if (!slide || !(slide->begin > low && slide->begin < high)) return false;
                        high = slide->begin;
                        release_ = {t, slide->last};
                        return false;
                    });
        return high;
    }

    std::optional<SlideInterval> interval(TriangleNumbers t, double after) const {
        const Triangle &ta = pair_.a.triangles[t.a], tb = pair_.rel * pair_.b.triangles[t.b];
        const double front = std::max({dot(d_, ta.a), dot(d_, ta.b), dot(d_, ta.c)});
        const double rear = std::min({dot(d_, tb.a), dot(d_, tb.b), dot(d_, tb.c)});
        if (front - rear <= after) return std::nullopt;  // B has passed A by then
        return slide_interval(pair_of(ta, tb), d_, pair_.tol, after);
    }

    // One pass over both trees, with B where it is at the translation `where()`, that visits pairs of
    // triangles whose bounds come within `margin()` of each other; both may change on the way. LEAVES_LAST
    // visits first what B leaves last, else what it meets first.
    template <bool LEAVES_LAST, class Where, class Margin, class Visit>
    void pass(Where where, Margin margin, Visit visit) {
        using namespace walking;
        const TriangleTree &a = pair_.a, &b = pair_.b;
        struct Waiting {
            std::uint32_t a, b;
            float ahead;
        };
        Waiting stack[WAITING];
        int top = 0;
        stack[top++] = {0, 0, 0.0f};
        double placed = std::numeric_limits<double>::quiet_NaN();
        while (top > 0) {
            const Waiting at = stack[--top];
            if (at.a & at.b & TRIANGLE) {
                if (visit(TriangleNumbers{at.a & ~TRIANGLE, at.b & ~TRIANGLE})) return;
                continue;
            }
            if (const double t = where(); t != placed) place(placed = t);
            bool open_a = (at.b & TRIANGLE) != 0;
            if (!((at.a | at.b) & TRIANGLE))
                open_a = a.node_bounds[at.a].extent() >= b.node_bounds[at.b].extent();
            const TriangleTree &opened = open_a ? a : b, &held = open_a ? b : a;
            const std::uint32_t parent = open_a ? at.a : at.b, other = open_a ? at.b : at.a;
            const Turn &turn = open_a ? into_a_ : into_b_;
            const Block &block = opened.blocks[static_cast<std::size_t>(opened.node_bounds[parent].block)];
            const Overlaps found = other & TRIANGLE
                                       ? overlaps(block, held.triangle_bounds[other & ~TRIANGLE], turn)
                                       : overlaps(block, held.node_bounds[other], turn);
            // What B leaves last is in front of A, or at the rear of B.
            const double sign = open_a == LEAVES_LAST ? 1.0 : -1.0;
            const Vec3 along = sign * (open_a ? d_ : d_b_);
            float ahead[Block::LANES];
            store(ahead, on(column(block.center), static_cast<float>(along.x), static_cast<float>(along.y),
                            static_cast<float>(along.z)));
            const float allowance = static_cast<float>(slack_ + margin());
            const int begin = top;
            for (unsigned hits = bits(found.overlap + allowance >= splat8(0.0f)); hits; hits &= hits - 1) {
                const int k = std::countr_zero(hits);
                const std::uint32_t entry = block.entry[k];
                const Waiting next = {open_a ? entry : other, open_a ? other : entry, ahead[k]};
                int slot = top++;
                for (; slot > begin && stack[slot - 1].ahead > next.ahead; slot--)
                    stack[slot] = stack[slot - 1];
                stack[slot] = next;
            }
        }
    }

    // Moves B by t along the direction.
    void place(double t) {
        for (int k = 0; k < 3; k++) {
            into_a_.shift[k] = static_cast<float>(base_a_[k] + t * d_[k]);
            into_b_.shift[k] = static_cast<float>(base_b_[k] - t * d_b_[k]);
        }
    }

    const PosedPair &pair_;
    bool contain_;
    walking::Turn into_a_, into_b_;
    double base_a_[3], base_b_[3];
    double slack_;
    Vec3 d_, d_b_;  // the direction in both frames
    std::optional<Release> release_;
};

// Facets that bound a notch: planes with the origin on their inner side.
class Notch {
  public:
    void clear() { size_ = 0; }
    void add(Vec3 normal, double offset) {
        if (size_ == FACETS) {
            std::copy(planes_ + 1, planes_ + FACETS, planes_);
            size_--;
        }
        planes_[size_++] = {normal, offset};
    }

    // The point nearest to the origin beyond all planes; none when there is none. It is the nearest point of
    // one plane, of the line of two or the corner of three: all are tried.
    std::optional<Vec3> nearest_beyond() const {
        double best = std::numeric_limits<double>::infinity();
        std::optional<Vec3> found;
        const auto consider = [&](Vec3 p) {
            const double length = norm(p);
            if (!(length < best)) return;
            for (int i = 0; i < size_; i++)
                if (dot(planes_[i].normal, p) < planes_[i].offset - 1e-9 * length) return;
            best = length;
            found = p;
        };
        for (int i = 0; i < size_; i++) {
            const auto [p, c] = planes_[i];
            consider(c * p);
            for (int j = 0; j < i; j++) {
                const auto [q, d] = planes_[j];
                const double g = dot(p, q), det = 1.0 - g * g;
                if (det < 1e-10) continue;
                consider((c - g * d) / det * p + (d - g * c) / det * q);
                const Vec3 n = cross(p, q);
                for (int k = 0; k < j; k++) {
                    const auto [r, e] = planes_[k];
                    const double volume = dot(n, r);
                    if (std::fabs(volume) >= 1e-6)
                        consider(1.0 / volume * (e * n + c * cross(q, r) + d * cross(r, p)));
                }
            }
        }
        return found;
    }

  private:
    struct Plane {
        Vec3 normal;
        double offset;
    };
    Plane planes_[FACETS];
    int size_ = 0;
};

// The best way out found so far.
struct Best {
    double depth;
    Vec3 direction;
    std::optional<Sweep::Release> release;
};

// Descends from a direction. A positive `begin` says that it is the best one and that the meshes are not
// apart before.
void descend(Sweep &sweep, Vec3 direction, double begin, Best &best) {
    Notch notch;
    double promised = 0.0;
    for (int step = 0; step < STEPS; step++) {
        const double ceiling = ASIDE * best.depth, t = sweep.separation(direction, begin, ceiling);
        if (t >= ceiling) return;
        if (t < best.depth) best = {t, direction, sweep.release()};
        if (!sweep.release() || begin > 0.0) return;
        const Vec3 axis = sweep.release_axis();
        const double slope = dot(axis, direction);
        if (std::fabs(slope) < LEVEL) return;
        if (t <= promised * (1.0 + LEVEL)) notch.clear();
        notch.add((slope > 0.0 ? 1.0 : -1.0) * axis, t * std::fabs(slope));
        const std::optional<Vec3> next = notch.nearest_beyond();
        if (!next) return;
        promised = norm(*next);
        if (!(promised < best.depth * (1.0 - SAME)) || promised == 0.0) return;
        direction = 1.0 / promised * *next;
    }
}

}  // namespace

void hull_overlaps(std::span<const Vec3> points_a, std::span<const Vec3> points_b, const Pose &rel,
                   std::span<const Vec3> directions, std::span<double> out) {
    const auto highest = [](std::span<const Vec3> points, const Vec3x4 &d) {
        F64x4 high = splat4(-std::numeric_limits<double>::infinity());
        for (const Vec3 &p : points) high = max(high, d.x * p.x + d.y * p.y + d.z * p.z);
        return high;
    };
    for (std::size_t k = 0; k < directions.size();
         k += 4) {  // four directions at a time, the last one repeated
        const auto in_lanes = [](const Vec3(&v)[4]) {
            return Vec3x4{{v[0].x, v[1].x, v[2].x, v[3].x},
                          {v[0].y, v[1].y, v[2].y, v[3].y},
                          {v[0].z, v[1].z, v[2].z, v[3].z}};
        };
        Vec3 at[4], back[4];
        for (std::size_t lane = 0; lane < 4; lane++) {
            at[lane] = directions[std::min(k + lane, directions.size() - 1)];
            back[lane] = -rel.unrotate(at[lane]);
        }
        const Vec3x4 d = in_lanes(at), there = in_lanes(back);
        const F64x4 overlap = highest(points_a, d) + highest(points_b, there) -
                              (d.x * rel.t[0] + d.y * rel.t[1] + d.z * rel.t[2]);
        for (std::size_t lane = 0; lane < 4 && k + lane < directions.size(); lane++)
            out[k + lane] = overlap[lane];
    }
}

double parting_distance(const PosedPair &pair) {
    const Vec3 between = pair.rel.apply(pair.b.root().center) - pair.a.root().center;
    return 1.001 * (norm(pair.a.root().half) + norm(pair.b.root().half) + norm(between)) + 1e-5;
}

void separations(const PosedPair &pair, std::span<const Vec3> directions, bool contain,
                 std::span<double> out) {
    const double ceiling = parting_distance(pair);
    Sweep sweep(pair, contain, ceiling);
    for (std::size_t k = 0; k < directions.size(); k++)
        out[k] = std::min(sweep.separation(directions[k], 0.0, ceiling), ceiling);
}

Depth least_separation(const PosedPair &pair, const DirectionSearch &search, bool contain) {
    const double ceiling = parting_distance(pair);
    Sweep sweep(pair, contain, ASIDE * ceiling);
    Best best{ceiling, {}, std::nullopt};
    for (const Vec3 &start : search.starts) descend(sweep, start, search.begin, best);
    const auto try_direction = [&](Vec3 direction) {
        const bool away = dot(direction, best.direction) < AWAY;
        for (double shell : SHELLS) {
            if (!sweep.apart_at(direction, (away && shell == SHELLS[0] ? OTHER_SHELL : shell) * best.depth))
                continue;
            descend(sweep, direction, 0.0, best);
            break;
        }
    };
    for (int round = 0; round < ROUNDS && best.depth > 0.0; round++) {
        const double before = best.depth;
        for (const Vec3 &direction : search.scan) try_direction(direction);
        for (int refinement = 0; refinement < REFINEMENTS; refinement++) {
            const double coarse = best.depth;
            for (const Vec3 &offset : search.spread) {
                const Vec3 near = best.direction + offset;
                try_direction(1.0 / norm(near) * near);
            }
            if (best.depth >= coarse * (1.0 - SAME)) break;
        }
        if (best.depth >= before * (1.0 - SAME)) break;
    }
    Depth found{best.depth, best.direction, std::nullopt};
    if (best.release) {
        const TriangleNumbers t = best.release->triangles;
        Pose moved = pair.rel;
        const Vec3 shift = best.depth * best.direction;
        moved.t[0] += shift.x, moved.t[1] += shift.y, moved.t[2] += shift.z;
        ClosestPoints closest;
        closest_points(pair.a.triangles[t.a], moved * pair.b.triangles[t.b], closest);
        found.last = {t, closest.a};
    }
    return found;
}

}  // namespace elbowroom
