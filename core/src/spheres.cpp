#include "elbowroom/spheres.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <numbers>
#include <numeric>

namespace elbowroom {
namespace {

constexpr float HOLD = 1.0f + 4e-6f;     // a ball holds a sample up to this factor on the squared radius: float32 rounding
constexpr float DEPTH_MOST = 8.0f;       // largest weight that depth adds: few balls cannot spare deep hollows
constexpr float BEYOND_WEIGHT = 100.0f;  // of volume where a link should not reach, against other outside volume
constexpr double LEAST_RADIUS = 1e-3;    // during a descent, scaled
constexpr double BLAME_FLOOR = 0.2;      // share of the mean blame added to each ball's own when one is taken away
constexpr std::size_t OUTSIDE_POINTS = 16'000;  // in the box around the link; those outside it measure the volume
constexpr std::size_t WITNESSES = 4096;  // of one coverage check that a polish or a growth looks at, at most
constexpr int GROWTH_ROUNDS = 12;        // of growth at witnesses that ends a polish
constexpr std::size_t GROUPS = PointBlocks::SIZE / 8;  // lanes of a run of points

// How much more outside volume weighs at a depth over that at which it weighs double: steep, but bounded.
template <class Lanes> Lanes depth_weight(Lanes share, Lanes most) {
    const Lanes square = share * share, power = square * square * square;
    return power < most ? power : most;
}

// A ball in float32, as lanes of points are tested against it.
struct SmallBall {
    float x, y, z, squared_radius;

    explicit SmallBall(const Ball &ball)
        : x(static_cast<float>(ball.center.x)), y(static_cast<float>(ball.center.y)),
          z(static_cast<float>(ball.center.z)), squared_radius(static_cast<float>(ball.radius * ball.radius)) {}

    F32x8 squared_distance(F32x8 px, F32x8 py, F32x8 pz) const {
        const F32x8 dx = px - x, dy = py - y, dz = pz - z;
        return dx * dx + dy * dy + dz * dz;
    }
    F32x8 squared_distance(const PointBlocks &points, std::size_t first) const {
        return squared_distance(load8(&points.x[first]), load8(&points.y[first]), load8(&points.z[first]));
    }
};

// Whether a ball may hold points of a run, by bounding ball; the factor is for points in float32.
bool may_meet(const Ball &ball, const Ball &bound) {
    const double reach = (ball.radius + bound.radius) * (1.0 + 1e-5);
    return squared(ball.center - bound.center) <= reach * reach;
}

// The points outside every ball. Most runs are inside one ball, mostly that of the last time; the others are tested
// against all balls, eight runs at once, and then point by point against those that may meet them.
class Uncovered {
  public:
    explicit Uncovered(const PointBlocks &points) : points_(points), holders_(points.bounds.size(), 0) {
        const std::size_t padded = (points.bounds.size() + 7) / 8 * 8;
        for (auto *values : {&x_, &y_, &z_, &reach_}) values->assign(padded, 0.0f);
        for (std::size_t block = 0; block < points.bounds.size(); block++) {
            const Ball &bound = points.bounds[block];
            x_[block] = static_cast<float>(bound.center.x), y_[block] = static_cast<float>(bound.center.y);
            z_[block] = static_cast<float>(bound.center.z);
            reach_[block] = static_cast<float>(bound.radius) * (1.0f + 1e-6f) + 1e-6f;  // rounded up, for centres too
        }
    }

    std::span<const std::size_t> find(std::span<const Ball> balls) {
        found_.clear();
        small_.clear();
        for (const Ball &ball : balls) small_.emplace_back(ball);
        may_meet_.resize(balls.size());
        for (std::size_t first = 0; first < holders_.size(); first += 8) {
            const std::size_t last = std::min(first + 8, holders_.size());
            unsigned open = 0;
            for (std::size_t block = first; block < last; block++)
                if (!holds(balls[holders_[block]], points_.bounds[block])) open |= 1u << (block - first);
            if (open) look_at(first, open, balls);
        }
        return found_;
    }

  private:
    static bool holds(const Ball &ball, const Ball &bound) {
        const double room = ball.radius - bound.radius;
        return room > 0.0 && squared(ball.center - bound.center) <= room * room;
    }
    // Looks at those of eight runs whose bits are set.
    void look_at(std::size_t first, unsigned open, std::span<const Ball> balls) {
        const F32x8 x = load8(&x_[first]), y = load8(&y_[first]), z = load8(&z_[first]), reach = load8(&reach_[first]);
        for (std::size_t k = 0; k < balls.size(); k++) {
            const float radius = static_cast<float>(balls[k].radius);
            const F32x8 away = small_[k].squared_distance(x, y, z), room = radius - reach, most = radius + reach;
            const unsigned held = bits((room > 0.0f) & (away <= room * room)) & open;
            may_meet_[k] = bits(away <= most * most);
            for (unsigned left = held; left; left &= left - 1) holders_[first + lowest_bit(left)] = k;
            open &= ~held;
            if (!open) return;
        }
        for (; open; open &= open - 1) {
            const unsigned lane = lowest_bit(open);
            close_.clear();
            for (std::size_t k = 0; k < balls.size(); k++)
                if (may_meet_[k] >> lane & 1u) close_.push_back(small_[k]);
            look_at_points((first + lane) * PointBlocks::SIZE);
        }
    }
    void look_at_points(std::size_t first) {
        for (std::size_t g = first; g < first + PointBlocks::SIZE; g += 8) {
            const F32x8 x = load8(&points_.x[g]), y = load8(&points_.y[g]), z = load8(&points_.z[g]);
            unsigned open = 0xff;
            for (std::size_t q = 0; q < close_.size() && open; q++)
                open &= bits(close_[q].squared_distance(x, y, z) > close_[q].squared_radius);
            for (; open; open &= open - 1) found_.push_back(g + lowest_bit(open));
        }
    }
    static unsigned lowest_bit(unsigned mask) { return static_cast<unsigned>(std::countr_zero(mask)); }

    const PointBlocks &points_;
    std::vector<float> x_, y_, z_, reach_;  // bounding balls of the runs
    std::vector<std::size_t> holders_;      // by run: the ball to try first
    std::vector<SmallBall> small_, close_;
    std::vector<unsigned> may_meet_;  // by ball: one bit for each of eight runs
    std::vector<std::size_t> found_;
};

// Which balls hold which points, as balls shrink one after the other.
class Holding {
  public:
    Holding(const PointBlocks &points, std::span<const Ball> balls)
        : size_(points.size()), squared_(std::make_unique_for_overwrite<float[]>(size_ * balls.size())),
          counts_(size_, 0.0f), blocks_(balls.size()), limits_(balls.size()) {
        for (std::size_t k = 0; k < balls.size(); k++) {
            const SmallBall ball(balls[k]);
            limits_[k] = ball.squared_radius * HOLD;
            for (std::size_t block = 0; block < points.bounds.size(); block++)
                if (may_meet(balls[k], points.bounds[block])) blocks_[k].push_back(block);
            for_lanes(k, [&](std::size_t first) {
                const F32x8 away = ball.squared_distance(points, first);
                store(&row(k)[first], away);
                store(&counts_[first], load8(&counts_[first]) + (away <= limits_[k] ? splat8(1.0f) : splat8(0.0f)));
            });
        }
    }

    // Largest squared distance to a point that a ball holds alone; 0 if there is none.
    float own_reach(std::size_t k) const {
        F32x8 reach = splat8(0.0f);
        for_lanes(k, [&](std::size_t first) {
            const F32x8 away = load8(&row(k)[first]);
            const I32x8 alone = (away <= limits_[k]) & (load8(&counts_[first]) == 1.0f);
            reach = max(reach, alone ? away : splat8(0.0f));
        });
        return largest(reach);
    }

    // Lets go of the points beyond a squared distance.
    void shrink(std::size_t k, float kept) {
        for_lanes(k, [&](std::size_t first) {
            const F32x8 away = load8(&row(k)[first]);
            const I32x8 gone = (away <= limits_[k]) & (away > kept);
            store(&counts_[first], load8(&counts_[first]) - (gone ? splat8(1.0f) : splat8(0.0f)));
        });
    }

    // The points that a ball holds: alone, or with others.
    std::vector<std::size_t> held(std::size_t k, bool alone) const {
        std::vector<std::size_t> out;
        for (std::size_t block : blocks_[k])
            for (std::size_t s = block * PointBlocks::SIZE; s < (block + 1) * PointBlocks::SIZE; s++)
                if (row(k)[s] <= limits_[k] && (!alone || counts_[s] == 1.0f)) out.push_back(s);
        return out;
    }

  private:
    float *row(std::size_t k) { return squared_.get() + k * size_; }
    const float *row(std::size_t k) const { return squared_.get() + k * size_; }
    template <class Visit> void for_lanes(std::size_t k, Visit visit) const {
        for (std::size_t block : blocks_[k])
            for (std::size_t g = 0; g < GROUPS; g++) visit(block * PointBlocks::SIZE + 8 * g);
    }

    std::size_t size_;
    std::unique_ptr<float[]> squared_;  // (balls, points), only where a ball may meet a run of points
    std::vector<float> counts_;         // balls that hold each point
    std::vector<std::vector<std::size_t>> blocks_;
    std::vector<float> limits_;
};

// The ball whose volume grows least when it grows to a point, and the distance to it, negative inside.
Nearest cheapest_ball(std::span<const Ball> balls, Vec3 p) {
    Nearest best;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < balls.size(); k++) {
        const double d = norm(p - balls[k].center), r = balls[k].radius, more = d * d * d - r * r * r;
        if (more < least) least = more, best = {k, d - r};
    }
    return best;
}

// The same for several points at once, in float32 lanes; visits the points with their balls.
template <class Visit>
void for_cheapest(std::span<const Ball> balls, const PointBlocks &points, std::span<const std::size_t> which, Visit visit) {
    for (std::size_t first = 0; first < which.size(); first += 8) {
        F32x8 x, y, z;
        for (std::size_t lane = 0; lane < 8; lane++) {
            const std::size_t s = which[std::min(first + lane, which.size() - 1)];
            const int at = static_cast<int>(lane);
            x[at] = points.x[s], y[at] = points.y[s], z[at] = points.z[s];
        }
        F32x8 least = splat8(std::numeric_limits<float>::infinity());
        I32x8 best = {0, 0, 0, 0, 0, 0, 0, 0};
        for (std::size_t k = 0; k < balls.size(); k++) {
            const float r = static_cast<float>(balls[k].radius);
            const F32x8 d2 = SmallBall(balls[k]).squared_distance(x, y, z), more = d2 * sqrt(d2) - r * r * r;
            const I32x8 cheaper = more < least, here = I32x8{} + static_cast<std::int32_t>(k);
            least = min(more, least);
            best = cheaper ? here : best;
        }
        for (std::size_t q = first; q < std::min(first + 8, which.size()); q++)
            visit(points.point(which[q]), static_cast<std::size_t>(best[static_cast<int>(q - first)]));
    }
}

// Value at a step of what goes from first to last by a constant factor.
double between(const std::array<double, 2> &ends, int step, int steps) {
    return ends[0] * std::pow(ends[1] / ends[0], static_cast<double>(step) / std::max(steps - 1, 1));
}

// Moves and grows a ball, as little as it takes, until its gap to a point has fallen by a share.
void draw_in(Ball &ball, Vec3 p, double share) {
    const Vec3 to = p - ball.center;
    const double d = norm(to), half = 0.5 * share * (d - ball.radius);
    if (!(half > 0.0)) return;
    ball.radius += half;
    ball.center = ball.center + (half / d) * to;
}

// The ball about the middle of the box around some points, at least one.
Ball box_ball(const PointBlocks &points, std::span<const std::size_t> chosen) {
    Vec3 low = points.point(chosen[0]), high = low;
    for (std::size_t s : chosen) low = min(low, points.point(s)), high = max(high, points.point(s));
    const Vec3 center = 0.5 * (low + high);
    double far = 0.0;
    for (std::size_t s : chosen) far = std::max(far, squared(points.point(s) - center));
    return {center, std::max(std::sqrt(far), LEAST_RADIUS)};
}

// Unit direction in which some points spread most, by a few power iterations.
Vec3 widest_axis(const PointBlocks &points, std::span<const std::size_t> chosen, Vec3 middle) {
    Vec3 rows[3];
    for (std::size_t s : chosen) {
        const Vec3 p = points.point(s) - middle;
        rows[0] = rows[0] + p.x * p, rows[1] = rows[1] + p.y * p, rows[2] = rows[2] + p.z * p;
    }
    Vec3 axis = {0.61, 0.53, 0.59};
    for (int round = 0; round < 24; round++) {
        const Vec3 turned = {dot(rows[0], axis), dot(rows[1], axis), dot(rows[2], axis)};
        const double length = norm(turned);
        if (length < 1e-30) break;
        axis = (1.0 / length) * turned;
    }
    return axis;
}

// Index drawn by a number in [0, 1) with the given odds.
std::size_t drawn(std::span<const double> odds, double draw) {
    const double level = draw * std::accumulate(odds.begin(), odds.end(), 0.0);
    double total = 0.0;
    for (std::size_t k = 0; k < odds.size(); k++) {
        total += odds[k];
        if (level < total) return k;
    }
    return static_cast<std::size_t>(std::max_element(odds.begin(), odds.end()) - odds.begin());
}

Vec3 quasi_random(std::size_t k) {  // the R3 sequence (Roberts), in the unit cube
    const double n = static_cast<double>(k + 1);
    const Vec3 v = {n * 0.8191725133961645, n * 0.6710436067037893, n * 0.5497004779019703};
    return {v.x - std::floor(v.x), v.y - std::floor(v.y), v.z - std::floor(v.z)};
}

}  // namespace

PointBlocks::PointBlocks(std::span<const Vec3> points) {
    if (points.empty()) return;
    Vec3 low = points[0], high = low;
    for (const Vec3 &p : points) low = min(low, p), high = max(high, p);
    const Vec3 extent = high - low;
    const double cells = 1023.0 / std::max({extent.x, extent.y, extent.z, 1e-300});
    const auto spread = [](double cell) {  // bits three places apart, so that those of three coordinates take turns
        std::uint64_t code = 0;
        const auto whole = static_cast<std::uint64_t>(std::clamp(cell, 0.0, 1023.0));
        for (unsigned bit = 0; bit < 10; bit++) code |= (whole >> bit & 1u) << (3 * bit);
        return code;
    };
    std::vector<std::pair<std::uint64_t, std::size_t>> keys;  // the Morton order
    for (std::size_t k = 0; k < points.size(); k++) {
        const Vec3 cell = cells * (points[k] - low);
        keys.emplace_back(spread(cell.x) | spread(cell.y) << 1 | spread(cell.z) << 2, k);
    }
    std::sort(keys.begin(), keys.end());
    for (const auto &[_, k] : keys) order.push_back(k);
    const std::size_t blocks = (points.size() + SIZE - 1) / SIZE;
    for (std::size_t s = 0; s < blocks * SIZE; s++) {
        const Vec3 p = points[order[std::min(s, points.size() - 1)]];
        x.push_back(static_cast<float>(p.x)), y.push_back(static_cast<float>(p.y)), z.push_back(static_cast<float>(p.z));
    }
    for (std::size_t block = 0; block < blocks; block++) {
        const std::size_t first = block * SIZE;
        Vec3 least = point(first), most = least;
        for (std::size_t s = first; s < first + SIZE; s++) least = min(least, point(s)), most = max(most, point(s));
        const Vec3 center = 0.5 * (least + most);
        double far = 0.0;
        for (std::size_t s = first; s < first + SIZE; s++) far = std::max(far, squared(point(s) - center));
        bounds.push_back({center, std::sqrt(far)});
    }
}

LatticeField::LatticeField(const Lattice &lattice, std::vector<float> values)
    : values_(std::move(values)), spacing_(static_cast<float>(lattice.spacing)) {
    const auto &n = lattice.counts;
    for (std::size_t d = 0; d < 3; d++) {
        low_[d] = static_cast<float>(lattice.low[static_cast<int>(d)]);
        most_[d] = static_cast<float>(n[d]) - 1.001f;  // within the last cell
    }
    stride_ = {static_cast<std::int32_t>(n[1] * n[2]), static_cast<std::int32_t>(n[2]), 1};
}

F32x8 LatticeField::at(F32x8 x, F32x8 y, F32x8 z) const {
    const F32x8 place[3] = {(x - low_[0]) / spacing_, (y - low_[1]) / spacing_, (z - low_[2]) / spacing_};
    I32x8 node = {0, 0, 0, 0, 0, 0, 0, 0};
    F32x8 part[3], away = splat8(0.0f);
    for (std::size_t d = 0; d < 3; d++) {
        const F32x8 within = min(max(place[d], splat8(0.0f)), splat8(most_[d]));
        const I32x8 whole = truncated(within);
        part[d] = within - as_float(whole);
        node += whole * stride_[d];
        away += (place[d] - within) * (place[d] - within);
    }
    const auto along_z = [&](std::int32_t offset) {
        const F32x8 a = gather(values_.data() + offset, node), b = gather(values_.data() + offset + 1, node);
        return a + (b - a) * part[2];
    };
    const F32x8 near_low = along_z(0), near_high = along_z(stride_[1]);
    const F32x8 far_low = along_z(stride_[0]), far_high = along_z(stride_[0] + stride_[1]);
    const F32x8 near = near_low + (near_high - near_low) * part[1], far = far_low + (far_high - far_low) * part[1];
    return near + (far - near) * part[0] + spacing_ * sqrt(away);
}

FitProblem::FitProblem(const LinkShape &shape, const FitInput &input, double deep) : scale_(input.scale) {
    const auto scaled = [&](Vec3 p) { return (1.0 / scale_) * (p - input.origin); };
    const auto scaled_all = [&](const std::vector<Vec3> &points) {
        std::vector<Vec3> out;
        for (const Vec3 &p : points) out.push_back(scaled(p));
        return PointBlocks(out);
    };
    samples_ = scaled_all(input.samples), inside_ = scaled_all(input.inside);
    std::vector<Triangle> triangles;
    for (const Triangle &t : shape.clusters().triangles) triangles.push_back({scaled(t.a), scaled(t.b), scaled(t.c)});
    surface_ = Clusters(std::move(triangles));
    weight_ = scale_ * scale_ * scale_ / input.reference_volume;
    const Lattice lattice = {scaled(input.lattice.low), input.lattice.spacing / scale_, input.lattice.counts};
    const auto field = [&](std::vector<float> values) {
        for (float &value : values) value = static_cast<float>(value / scale_);
        return LatticeField(lattice, std::move(values));
    };
    distance_ = field(input.signed_distances);
    if (!input.beyond.empty()) beyond_ = field(input.beyond);
    for (std::size_t k = 0; k + DIRECTIONS <= input.directions.size(); k += DIRECTIONS) {
        DirectionSet &set = directions_.emplace_back();
        for (std::size_t q = 0; q < DIRECTIONS; q++) {
            const Vec3 u = input.directions[k + q];
            set.x[q] = static_cast<float>(u.x), set.y[q] = static_cast<float>(u.y), set.z[q] = static_cast<float>(u.z);
        }
    }
    Vec3 extent;
    extent.x = lattice.spacing * static_cast<double>(lattice.counts[0] - 1);
    extent.y = lattice.spacing * static_cast<double>(lattice.counts[1] - 1);
    extent.z = lattice.spacing * static_cast<double>(lattice.counts[2] - 1);
    const double unit = extent.x * extent.y * extent.z / static_cast<double>(OUTSIDE_POINTS) * weight_;
    std::vector<Vec3> points;
    std::vector<float> depth, units;
    for (std::size_t k = 0; k < OUTSIDE_POINTS; k += 8) {
        Vec3 p[8];
        F32x8 x, y, z;
        for (int lane = 0; lane < 8; lane++) {
            const Vec3 u = quasi_random(k + static_cast<std::size_t>(lane));
            p[lane] = lattice.low + Vec3{extent.x * u.x, extent.y * u.y, extent.z * u.z};
            x[lane] = static_cast<float>(p[lane].x), y[lane] = static_cast<float>(p[lane].y),
            z[lane] = static_cast<float>(p[lane].z);
        }
        const F32x8 distance = distance_.at(x, y, z), past = beyond_ ? beyond_->at(x, y, z) : splat8(0.0f);
        for (int lane = 0; lane < 8; lane++) {
            if (input.closed && !(distance[lane] > 0.0f)) continue;
            points.push_back(p[lane]);
            depth.push_back(std::max(distance[lane], 0.0f));
            units.push_back(static_cast<float>(unit) * (past[lane] > 0.0f ? BEYOND_WEIGHT : 1.0f));
        }
    }
    outside_ = PointBlocks(points);
    outside_depth_.assign(outside_.size(), 0.0f), outside_unit_.assign(outside_.size(), 0.0f);
    for (std::size_t s = 0; s < outside_.order.size(); s++)
        outside_depth_[s] = depth[outside_.order[s]], outside_unit_[s] = units[outside_.order[s]];
    set_depth(deep);
}

void FitProblem::set_depth(double deep) {
    deep_ = static_cast<float>(deep / scale_);
    outside_weight_.resize(outside_.size());
    for (std::size_t s = 0; s < outside_.size(); s++)
        outside_weight_[s] = outside_unit_[s] * (1.0f + depth_weight(outside_depth_[s] / deep_, DEPTH_MOST));
}

FitProblem FitProblem::with_depth(double deep) const {
    FitProblem out = *this;
    out.set_depth(deep);
    return out;
}

FitProblem::Cost FitProblem::assess(std::span<const Ball> balls) const {
    struct Held {
        std::size_t ball;
        I32x8 lanes[GROUPS];
    };
    thread_local std::vector<Held> held;  // by the balls that may meet a run of points
    Cost out{0.0, std::vector<double>(balls.size(), 0.0)};
    const F32x8 none = splat8(0.0f);
    for (std::size_t block = 0; block < outside_.bounds.size(); block++) {
        held.clear();
        I32x8 counts[GROUPS] = {};
        const std::size_t first = block * PointBlocks::SIZE;
        for (std::size_t k = 0; k < balls.size(); k++) {
            if (!may_meet(balls[k], outside_.bounds[block])) continue;
            Held &mine = held.emplace_back();
            mine.ball = k;
            const SmallBall ball(balls[k]);
            for (std::size_t g = 0; g < GROUPS; g++) {
                mine.lanes[g] = ball.squared_distance(outside_, first + 8 * g) <= ball.squared_radius * HOLD;
                counts[g] -= mine.lanes[g];  // masks are -1
            }
        }
        if (held.empty()) continue;
        F32x8 covered = none;
        for (std::size_t g = 0; g < GROUPS; g++)
            covered += counts[g] > 0 ? load8(&outside_weight_[first + 8 * g]) : none;
        out.total += sum(covered);
        for (const Held &mine : held) {
            F32x8 own = none;
            for (std::size_t g = 0; g < GROUPS; g++)
                own += mine.lanes[g] & (counts[g] == 1) ? load8(&outside_weight_[first + 8 * g]) : none;
            out.blame[mine.ball] += sum(own);
        }
    }
    return out;
}

double FitProblem::cost(std::span<const Ball> balls) const { return assess(balls).total; }

void FitProblem::add_gradient(std::span<const Ball> balls, std::size_t turn, std::span<Ball> gradient) const {
    const DirectionSet &set = directions_[turn % directions_.size()];
    thread_local std::vector<SmallBall> near;
    // Points of a ball's surface that no other holds, and their directions: nearly all points are not.
    alignas(32) float px[DIRECTIONS + 8], py[DIRECTIONS + 8], pz[DIRECTIONS + 8];
    alignas(32) float ux[DIRECTIONS + 8], uy[DIRECTIONS + 8], uz[DIRECTIONS + 8];
    for (std::size_t i = 0; i < balls.size(); i++) {
        const Ball &own = balls[i];
        near.clear();
        for (std::size_t k = 0; k < balls.size(); k++) {
            const double reach = own.radius + balls[k].radius;
            if (k != i && squared(balls[k].center - own.center) < reach * reach) near.emplace_back(balls[k]);
        }
        const float r = static_cast<float>(own.radius), cx = static_cast<float>(own.center.x),
                    cy = static_cast<float>(own.center.y), cz = static_cast<float>(own.center.z);
        std::size_t n = 0;
        for (std::size_t g = 0; g < DIRECTIONS; g += 8) {
            const F32x8 x = cx + r * load8(&set.x[g]), y = cy + r * load8(&set.y[g]), z = cz + r * load8(&set.z[g]);
            unsigned open = 0xff;
            for (std::size_t q = 0; q < near.size() && open; q++)
                open &= bits(near[q].squared_distance(x, y, z) >= near[q].squared_radius);
            for (std::size_t lane = 0; lane < 8; lane++) {
                if (!(open >> lane & 1u)) continue;
                const int at = static_cast<int>(lane);
                px[n] = x[at], py[n] = y[at], pz[n] = z[at];
                ux[n] = set.x[g + lane], uy[n] = set.y[g + lane], uz[n] = set.z[g + lane];
                n++;
            }
        }
        for (std::size_t q = n; q < (n + 7) / 8 * 8; q++) px[q] = cx, py[q] = cy, pz[q] = cz, ux[q] = uy[q] = uz[q] = 0;
        F32x8 gx = splat8(0.0f), gy = gx, gz = gx, gr = gx;
        const F32x8 numbers = {0, 1, 2, 3, 4, 5, 6, 7}, one = splat8(1.0f), none = splat8(0.0f);
        for (std::size_t g = 0; g < n; g += 8) {
            const F32x8 x = load8(&px[g]), y = load8(&py[g]), z = load8(&pz[g]);
            const F32x8 away = distance_.at(x, y, z);
            F32x8 share = min(max(away / distance_.spacing() + 0.5f, none), one);
            share *= away > 0.0f ? 1.0f + depth_weight(away / deep_, splat8(DEPTH_MOST)) : one;
            if (beyond_) share *= beyond_->at(x, y, z) > 0.0f ? splat8(BEYOND_WEIGHT) : one;
            share = numbers < static_cast<float>(n - g) ? share : none;
            gx += share * load8(&ux[g]), gy += share * load8(&uy[g]), gz += share * load8(&uz[g]), gr += share;
        }
        const double patch = 4.0 * std::numbers::pi * own.radius * own.radius / DIRECTIONS * weight_;
        gradient[i].center = gradient[i].center + patch * Vec3{sum(gx), sum(gy), sum(gz)};
        gradient[i].radius += patch * sum(gr);
    }
}

std::vector<Ball> FitProblem::cost_gradient(std::span<const Ball> balls, std::size_t turn) const {
    std::vector<Ball> out(balls.size());
    add_gradient(balls, turn, out);
    return out;
}

void FitProblem::run_descent(std::vector<Ball> &balls, const Schedule &schedule) const {
    constexpr double KEEP_MEAN = 0.8, KEEP_SQUARE = 0.95;  // Adam's decay rates: a descent has few steps
    struct Means {
        double first[4] = {}, second[4] = {};
    };
    std::vector<Means> means(balls.size());
    std::vector<Ball> gradient(balls.size());
    Uncovered uncovered(samples_);
    double mean_left = 1.0, square_left = 1.0;
    for (int step = 0; step < schedule.steps; step++) {
        std::fill(gradient.begin(), gradient.end(), Ball{});
        add_gradient(balls, static_cast<std::size_t>(step), gradient);
        const double rho = between(schedule.penalty, step, schedule.steps) / static_cast<double>(samples_.size());
        for_cheapest(balls, samples_, uncovered.find(balls), [&](Vec3 p, std::size_t k) {
            const Vec3 to = p - balls[k].center;
            const double length = norm(to), away = length - balls[k].radius;
            if (!(away > 0.0)) return;
            const double force = 2.0 * rho * away;
            gradient[k].radius -= force;
            gradient[k].center = gradient[k].center - (force / length) * to;
        });
        mean_left *= KEEP_MEAN, square_left *= KEEP_SQUARE;
        const double size = between(schedule.step_size, step, schedule.steps) / (1.0 - mean_left);
        for (std::size_t k = 0; k < balls.size(); k++) {
            const Ball &g = gradient[k];
            const double slopes[4] = {g.center.x, g.center.y, g.center.z, g.radius};
            double moves[4];
            for (int d = 0; d < 4; d++) {
                double &first = means[k].first[d], &second = means[k].second[d];
                first = KEEP_MEAN * first + (1.0 - KEEP_MEAN) * slopes[d];
                second = KEEP_SQUARE * second + (1.0 - KEEP_SQUARE) * slopes[d] * slopes[d];
                moves[d] = size * first / (std::sqrt(second / (1.0 - square_left)) + 1e-9);
            }
            balls[k].center = balls[k].center - Vec3{moves[0], moves[1], moves[2]};
            balls[k].radius = std::max(balls[k].radius - moves[3], LEAST_RADIUS);
        }
    }
}

// Grows the cheapest ball to each uncovered sample, then shrinks every ball to what it alone covers.
void FitProblem::repair(std::vector<Ball> &balls) const {
    Uncovered uncovered(samples_);
    for (std::size_t s : uncovered.find(balls)) {
        const auto [k, away] = cheapest_ball(balls, samples_.point(s));
        balls[k].radius += std::max(away, 0.0);
    }
    Holding holding(samples_, balls);
    std::vector<std::size_t> order(balls.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t u, std::size_t v) { return balls[u].radius > balls[v].radius; });
    for (std::size_t k : order) {
        const float reach = holding.own_reach(k);
        if (!(reach < balls[k].radius * balls[k].radius)) continue;
        holding.shrink(k, reach * HOLD);
        balls[k].radius = std::sqrt(static_cast<double>(reach));
    }
}

std::vector<Ball> FitProblem::descend(std::span<const Ball> balls, const Schedule &schedule) const {
    std::vector<Ball> out(balls.begin(), balls.end());
    run_descent(out, schedule);
    repair(out);
    return out;
}

// The first ball without which every sample that is covered would still be covered.
std::optional<std::size_t> FitProblem::spare_ball(std::span<const Ball> balls) const {
    const Holding holding(samples_, balls);
    for (std::size_t k = 0; k < balls.size(); k++)
        if (holding.own_reach(k) == 0.0f) return k;
    return std::nullopt;
}

// Cuts one ball in two along the widest spread of the samples that it alone covers; the two come last.
std::vector<Ball> FitProblem::split(std::span<const Ball> balls, std::size_t index) const {
    const Holding holding(samples_, balls);
    std::vector<std::size_t> chosen = holding.held(index, true);
    if (chosen.size() < 4) chosen = holding.held(index, false);
    std::vector<Ball> out(balls.begin(), balls.end());
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(index));
    if (chosen.size() < 2) {
        out.insert(out.end(), 2, {balls[index].center, 0.5 * balls[index].radius});
        return out;
    }
    Vec3 middle;
    for (std::size_t s : chosen) middle = middle + (1.0 / static_cast<double>(chosen.size())) * samples_.point(s);
    const Vec3 axis = widest_axis(samples_, chosen, middle);
    std::vector<double> along;
    for (std::size_t s : chosen) along.push_back(dot(samples_.point(s) - middle, axis));
    std::vector<double> sorted = along;
    std::sort(sorted.begin(), sorted.end());
    const double median = 0.5 * (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]);
    std::vector<std::size_t> upper, lower;
    for (std::size_t q = 0; q < chosen.size(); q++) (along[q] > median ? upper : lower).push_back(chosen[q]);
    if (upper.empty()) {  // all in one plane across the axis
        upper.push_back(lower.front());
        lower.erase(lower.begin());
    }
    out.push_back(box_ball(samples_, upper));
    out.push_back(box_ball(samples_, lower));
    return out;
}

std::vector<Ball> FitProblem::split_worst(std::span<const Ball> balls) const {
    const std::vector<double> blame = assess(balls).blame;
    return split(balls, static_cast<std::size_t>(std::max_element(blame.begin(), blame.end()) - blame.begin()));
}

std::vector<Ball> FitProblem::clustered(std::span<const std::size_t> picks, std::span<const std::size_t> fresh) const {
    const std::size_t count = picks.size(), n = samples_.size();
    std::vector<Ball> balls;
    for (std::size_t pick : picks) balls.push_back({samples_.point(pick), 0.0});
    std::vector<std::int32_t> label(n);
    for (std::size_t round = 0; count > 0 && round < fresh.size() / count; round++) {
        std::vector<SmallBall> seeds(balls.begin(), balls.end());
        std::vector<double> sizes(count, 0.0);
        std::vector<Vec3> sums(count);
        for (std::size_t first = 0; first < n; first += 8) {
            F32x8 least = seeds[0].squared_distance(samples_, first);
            I32x8 best = {0, 0, 0, 0, 0, 0, 0, 0};
            for (std::size_t k = 1; k < count; k++) {
                const F32x8 away = seeds[k].squared_distance(samples_, first);
                const I32x8 nearer = away < least, here = I32x8{} + static_cast<std::int32_t>(k);
                least = min(away, least);
                best = nearer ? here : best;
            }
            for (std::size_t lane = 0; lane < 8; lane++) {
                const auto k = static_cast<std::size_t>(best[static_cast<int>(lane)]);
                label[first + lane] = static_cast<std::int32_t>(k);
                sizes[k] += 1.0;
                sums[k] = sums[k] + samples_.point(first + lane);
            }
        }
        for (std::size_t k = 0; k < count; k++)
            balls[k].center = sizes[k] > 0.0 ? (1.0 / sizes[k]) * sums[k] : samples_.point(fresh[round * count + k]);
    }
    std::vector<std::vector<std::size_t>> members(count);
    for (std::size_t s = 0; s < n && count > 0; s++) members[static_cast<std::size_t>(label[s])].push_back(s);
    for (std::size_t k = 0; k < count; k++) {
        if (members[k].empty())
            balls[k].radius = 0.05;
        else
            balls[k] = box_ball(samples_, members[k]);
    }
    return balls;
}

FitProblem::Improved FitProblem::improve(std::span<const Ball> balls, std::span<const double> draws,
                                         const Schedule &schedule) const {
    std::vector<Ball> best(balls.begin(), balls.end());
    Cost cost = assess(best);
    if (best.size() < 2 || draws.size() < 2) return {std::move(best), cost.total};
    std::optional<std::size_t> spare = spare_ball(best);
    std::vector<double> odds(best.size());
    for (std::size_t trial = 0; trial + 1 < draws.size(); trial += 2) {
        const double mean = std::accumulate(cost.blame.begin(), cost.blame.end(), 0.0) / static_cast<double>(best.size());
        for (std::size_t k = 0; k < best.size(); k++) odds[k] = 1.0 / (cost.blame[k] + BLAME_FLOOR * mean + 1e-9);
        const std::size_t gone = spare ? *spare : drawn(odds, draws[trial]);
        for (std::size_t k = 0; k < best.size(); k++) odds[k] = k == gone ? 0.0 : cost.blame[k] + 1e-12;
        const std::size_t cut = drawn(odds, draws[trial + 1]);
        std::vector<Ball> moved = best;
        moved.erase(moved.begin() + static_cast<std::ptrdiff_t>(gone));
        repair(moved);
        moved = descend(split(moved, cut - (cut > gone ? 1 : 0)), schedule);
        Cost new_cost = assess(moved);
        if (new_cost.total < cost.total) {
            best = std::move(moved), cost = std::move(new_cost);
            spare = spare_ball(best);
        }
    }
    return {std::move(best), cost.total};
}

// Coverage is exact here: what is uncovered is found by the power diagram. Each such point draws all balls whose cells
// it bounds; were it the nearest alone, large balls would grow at the cost of small ones.
std::vector<Ball> FitProblem::polish(std::span<const Ball> start, int steps, std::array<double, 2> step_size) const {
    constexpr double KEEP_MEAN = 0.8;  // decay rate of the mean slope
    std::vector<Ball> balls(start.begin(), start.end()), gradient(balls.size()), mean(balls.size());
    SurfaceBound surface(surface_, WITNESSES);
    Uncovered uncovered(inside_);
    for (int step = 0; step < steps; step++) {
        const double size = between(step_size, step, steps);
        std::fill(gradient.begin(), gradient.end(), Ball{});
        add_gradient(balls, static_cast<std::size_t>(step), gradient);
        for (std::size_t k = 0; k < balls.size(); k++) {
            const double radius = std::max(balls[k].radius, LEAST_RADIUS);
            const double share = (1.0 - KEEP_MEAN) / (4.0 * std::numbers::pi * radius * radius * weight_);
            mean[k].center = KEEP_MEAN * mean[k].center + share * gradient[k].center;
            mean[k].radius = KEEP_MEAN * mean[k].radius + share * gradient[k].radius;
            balls[k].center = balls[k].center - size * mean[k].center;
            balls[k].radius = std::max(balls[k].radius - size * mean[k].radius, LEAST_RADIUS);
        }
        surface.find_witnesses(balls);
        for (const Witness &witness : surface.witnesses()) {
            const auto [k, away] = cheapest_ball(balls, witness.point);
            if (!(away > 0.0)) continue;
            if (witness.owner != Witness::NOBODY)
                draw_in(balls[static_cast<std::size_t>(witness.owner)], witness.point, 0.5);
            else
                draw_in(balls[k], witness.point, 1.0);
        }
        for (std::size_t s : uncovered.find(balls)) {
            const Vec3 p = inside_.point(s);
            draw_in(balls[cheapest_ball(balls, p).ball], p, 1.0);
        }
    }
    grow_at_witnesses(balls, surface);
    return balls;
}

// Grows the nearest ball to each inside sample that is outside, then to each witness of uncovered surface, in rounds.
void FitProblem::grow_at_witnesses(std::vector<Ball> &balls, SurfaceBound &surface) const {
    for (std::size_t s = 0; s < inside_.size(); s++) {
        const auto [k, away] = nearest_ball(balls, inside_.point(s));
        balls[k].radius += std::max(away, 0.0);
    }
    for (int round = 0; round < GROWTH_ROUNDS; round++) {
        if (surface.bound(balls) <= 0.0) break;
        std::vector<Witness> worst_first(surface.witnesses().begin(), surface.witnesses().end());
        std::stable_sort(worst_first.begin(), worst_first.end(),
                         [](const Witness &u, const Witness &v) { return u.gap > v.gap; });
        for (const Witness &witness : worst_first) {
            const auto [k, away] = nearest_ball(balls, witness.point);
            if (away > 0.0) balls[k].radius += away * (1.0 + 0.05 * round) + 1e-7;
        }
    }
}

}  // namespace elbowroom
