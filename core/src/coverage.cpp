#include "elbowroom/coverage.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace elbowroom {
namespace {

constexpr double INF = std::numeric_limits<double>::infinity();
constexpr double EPS = std::numeric_limits<double>::epsilon();
constexpr double CUT_SLACK = 256.0 * EPS;    // outward shift of a cut over the squared size; its rounding is below 40 EPS
constexpr double DISTANCE_DOUBT = 16.0 * EPS;  // rounding of a distance over the size of the figure
constexpr double VERTEX_DOUBT = 64.0 * EPS;    // the same at a power vertex
constexpr double ROUNDED_UP = 1.0 + 1e-12;
constexpr std::size_t MOST_CORNERS = 96;         // of a piece of a triangle: beyond, planes are not cut with
constexpr std::size_t WITNESS_CAPACITY = 20'000;  // per check: more are found again after the next growth
constexpr double INSIDE_WINDING = 0.1;           // counts as inside from here on: well below 1, so doubt counts as inside
constexpr double SAME_PLACE = 1e-9;              // power vertices within a nanometre are one point, metres

// The largest distance of a triangle's corners from the centre of a ball, with its rounding, less the radius.
double bound_by_one(const Triangle &t, const Ball &ball) {
    const double far = std::sqrt(
        std::max({squared(t.a - ball.center), squared(t.b - ball.center), squared(t.c - ball.center)}));
    return far - ball.radius + DISTANCE_DOUBT * (ball.radius + far);
}

}  // namespace

void Polygon::assign(std::span<const Vec3> corners) {
    if (buffers_[active_].size() < corners.size()) buffers_[active_].resize(corners.size());
    std::copy(corners.begin(), corners.end(), buffers_[active_].begin());
    count_ = corners.size();
}

// The side of each corner is computed once, so that both edges at it agree on it whatever the compiler fuses.
void Polygon::cut(Vec3 normal, double offset) {
    if (count_ == 0) return;
    std::vector<Vec3> &kept = buffers_[1 - active_];
    if (kept.size() < 2 * count_) kept.resize(4 * count_);  // rounding may add more corners than a convex polygon can get
    const Vec3 *corner = buffers_[active_].data();
    Vec3 *next = kept.data();
    const double first_side = dot(normal, corner[0]) - offset;
    double side = first_side;
    bool any_outside = false;
    for (std::size_t v = 0; v < count_; v++) {
        const bool last = v + 1 == count_;
        const double next_side = last ? first_side : dot(normal, corner[v + 1]) - offset;
        if (side <= 0.0)
            *next++ = corner[v];
        else
            any_outside = true;
        if ((side <= 0.0) != (next_side <= 0.0)) {
            const Vec3 &to = last ? corner[0] : corner[v + 1];
            *next++ = corner[v] + (side / (side - next_side)) * (to - corner[v]);
        }
        side = next_side;
    }
    if (!any_outside) return;
    count_ = static_cast<std::size_t>(next - kept.data());
    active_ = 1 - active_;
}

SurfaceBound::SurfaceBound(const Clusters &clusters, std::size_t capacity)
    : clusters_(clusters), capacity_(capacity), holders_(clusters.bounds.size(), 0) {}

void SurfaceBound::add(Vec3 point, double gap, int owner) {
    if (witnesses_.size() < capacity_) witnesses_.push_back({point, gap, owner});
}

void SurfaceBound::find_witnesses(std::span<const Ball> balls) {
    if (last_balls_.size() == balls.size()) {
        double moved = 0.0;
        for (std::size_t k = 0; k < balls.size(); k++)
            moved = std::max(moved, norm(balls[k].center - last_balls_[k].center) +
                                        std::fabs(balls[k].radius - last_balls_[k].radius));
        travel_ += moved * ROUNDED_UP;
    } else {
        triangle_safe_.assign(clusters_.triangles.size(), -INF);
        run_safe_.assign(clusters_.bounds.size(), -INF);
    }
    last_balls_.assign(balls.begin(), balls.end());
    walk<false>(balls);
}

template <bool tight> double SurfaceBound::walk(std::span<const Ball> balls) {
    witnesses_.clear();
    double bound = -INF;
    for (std::size_t c = 0; c < clusters_.bounds.size(); c++) {
        if (!tight && travel_ < run_safe_[c]) continue;
        const Ball &around = clusters_.bounds[c];
        double run_bound = -INF;
        // Whether one ball holds the whole run; otherwise whether it may meet it.
        const auto holds = [&](std::size_t k, double &away) {
            const Ball &ball = balls[k];
            away = norm(ball.center - around.center);
            const double worst =
                away + around.radius - ball.radius + DISTANCE_DOUBT * (away + around.radius + ball.radius);
            if (worst > 0.0) return false;
            run_bound = worst;
            holders_[c] = k;
            return true;
        };
        double away = 0.0;
        bool held = holders_[c] < balls.size() && holds(holders_[c], away);
        close_.clear();
        for (std::size_t k = 0; k < balls.size() && !held; k++) {
            held = holds(k, away);
            if (away <= (balls[k].radius + around.radius) * ROUNDED_UP) close_.push_back(static_cast<int>(k));
        }
        if (!held) run_bound = walk_run<tight>(c, balls);
        if constexpr (!tight) run_safe_[c] = travel_ - run_bound;
        bound = std::max(bound, run_bound);
    }
    return bound;
}

template <bool tight> double SurfaceBound::walk_run(std::size_t run, std::span<const Ball> balls) {
    double bound = -INF;
    int last = Witness::NOBODY;  // holder of the triangle before: often that of the next as well
    std::size_t place = run * Clusters::SIZE;
    for (const Triangle &triangle : clusters_.run(run)) {
        double *safe = tight ? nullptr : &triangle_safe_[place++];
        if (!tight && travel_ < *safe) {
            bound = std::max(bound, travel_ - *safe);
            continue;
        }
        double worst = INF;
        const auto holds = [&](int k) {
            worst = bound_by_one(triangle, balls[static_cast<std::size_t>(k)]);
            if (worst <= 0.0) last = k;
            return worst <= 0.0;
        };
        if ((last == Witness::NOBODY || !holds(last)) && std::none_of(close_.begin(), close_.end(), holds)) {
            last = Witness::NOBODY;
            worst = bound_triangle<tight>(triangle, balls);
        }
        if (!tight) *safe = travel_ - worst;
        bound = std::max(bound, worst);
    }
    return bound;
}

bool SurfaceBound::held_by(const Local &own) const {
    const double most = own.radius * own.radius * (1.0 - 1e-12);
    return std::all_of(polygon_.corners().begin(), polygon_.corners().end(),
                       [&](const Vec3 &corner) { return squared(corner - own.center) <= most; });
}

template <bool tight>
double SurfaceBound::bound_triangle(const Triangle &triangle, std::span<const Ball> balls) {
    const Vec3 sum = triangle.a + triangle.b + triangle.c;
    const Vec3 middle = {sum.x / 3.0, sum.y / 3.0, sum.z / 3.0};
    const std::array<Vec3, 3> corners = {triangle.a - middle, triangle.b - middle, triangle.c - middle};
    const double reach = std::sqrt(std::max({squared(corners[0]), squared(corners[1]), squared(corners[2])}));
    near_.clear();
    double scale = reach;
    for (int k : close_) {
        const Ball &ball = balls[static_cast<std::size_t>(k)];
        const Vec3 center = ball.center - middle;
        const double away = squared(center), touching = (ball.radius + reach) * ROUNDED_UP;
        if (away > touching * touching) continue;  // covers nothing of the triangle
        near_.push_back({center, away - ball.radius * ball.radius, ball.radius, k});
        scale = std::max(scale, std::sqrt(away) + ball.radius);
    }
    // Those that dominate at the middle of the triangle first: their cuts leave least of the pieces of others.
    std::sort(near_.begin(), near_.end(),
              [](const Local &u, const Local &v) { return u.weight < v.weight || (u.weight == v.weight && u.ball < v.ball); });
    double bound = -INF;
    if (near_.empty()) {
        for (const Vec3 &corner : {triangle.a, triangle.b, triangle.c}) {
            const double away = nearest_ball(balls, corner).gap;
            bound = std::max(bound, away);
            add(corner, away, Witness::NOBODY);
        }
        return bound;
    }
    const double slack = CUT_SLACK * scale * scale, doubt = DISTANCE_DOUBT * scale;
    for (const Local &own : near_) {
        polygon_.assign(corners);
        for (const Local &other : near_) {
            if (&other == &own) continue;
            if (polygon_.corners().size() + 2 > MOST_CORNERS) break;  // fewer cuts leave a larger piece: still safe
            polygon_.cut(2.0 * (other.center - own.center), other.weight - own.weight + slack);
            if (polygon_.corners().empty() || (!tight && held_by(own))) break;
        }
        for (const Vec3 &corner : polygon_.corners()) {
            const double away = norm(corner - own.center) - own.radius + doubt;
            bound = std::max(bound, away);
            if (!(away > 0.0)) continue;
            const Vec3 point = corner + middle;
            const double true_gap = nearest_ball(balls, point).gap;
            if (true_gap > 0.0) add(point, true_gap, own.ball);
        }
    }
    return bound == -INF ? INF : bound;  // some cell must meet the triangle: if none does, nothing is proved
}

template double SurfaceBound::walk<true>(std::span<const Ball>);
template double SurfaceBound::walk<false>(std::span<const Ball>);

namespace {

// A square of some half side in the plane normal . x = offset, about the foot of the origin.
void make_square(Vec3 normal, double offset, double half, Polygon &polygon) {
    const Vec3 size = abs(normal);
    const Vec3 axis = size.x <= size.y && size.x <= size.z ? Vec3{1, 0, 0}
                      : size.y <= size.z                   ? Vec3{0, 1, 0}
                                                           : Vec3{0, 0, 1};
    const Vec3 tilted = axis - dot(axis, normal) * normal, u = (half / norm(tilted)) * tilted, w = cross(normal, u);
    const Vec3 foot = offset * normal;
    polygon.assign(std::array{foot + u + w, foot - u + w, foot - u - w, foot + u - w});
}

}  // namespace

std::vector<Witness> power_vertices(std::span<const Ball> balls, Vec3 low, Vec3 high) {
    struct Plane {
        double distance;  // signed, from the centre of the cell: the cell is on the near side
        std::size_t ball;
    };
    const Vec3 middle = 0.5 * (low + high), half = 0.5 * (high - low), most = (1.0 + 1e-9) * half;
    const double size = norm(half);
    double scale = size;
    std::vector<Vec3> centers;
    std::vector<double> weights;
    for (const Ball &ball : balls) {
        const Vec3 center = ball.center - middle;
        centers.push_back(center);
        weights.push_back(squared(center) - ball.radius * ball.radius);
        scale = std::max(scale, norm(center) + ball.radius);
    }
    const double slack = CUT_SLACK * scale * scale, doubt = VERTEX_DOUBT * scale;
    std::vector<Plane> planes;
    Polygon polygon;
    std::vector<Witness> found;
    for (std::size_t i = 0; i < balls.size(); i++) {
        planes.clear();
        for (std::size_t k = 0; k < balls.size(); k++) {
            const Vec3 between = centers[k] - centers[i];
            const double apart2 = squared(between), least = 1e-12 * scale;
            if (k == i || apart2 < least * least) continue;  // concentric balls: the larger one holds the other
            const double power = weights[k] - weights[i] - 2.0 * dot(centers[i], between);
            planes.push_back({power / (2.0 * std::sqrt(apart2)), k});
        }
        std::stable_sort(planes.begin(), planes.end(),
                         [](const Plane &u, const Plane &v) { return u.distance < v.distance; });
        for (const Plane &plane : planes) {
            const std::size_t j = plane.ball;
            if (j < i) continue;
            const Vec3 between = centers[j] - centers[i];
            const double length = norm(between), offset = (weights[j] - weights[i]) / (2.0 * length);
            if (!(std::fabs(offset) <= size * (1.0 + 1e-9))) continue;
            make_square((1.0 / length) * between, offset, 2.0 * size, polygon);
            // Planes come nearest first; once they are farther than every corner, none can cut any more.
            for (std::size_t q = 0; q < planes.size() && !polygon.corners().empty(); q++) {
                const Plane &other = planes[q];
                if (other.ball == j) continue;
                if (q % 8 == 0 && other.distance > 0.0) {
                    double far = 0.0;
                    for (const Vec3 &corner : polygon.corners()) far = std::max(far, squared(corner - centers[i]));
                    if (other.distance * other.distance > far * (1.0 + 1e-9)) break;
                }
                polygon.cut(2.0 * (centers[other.ball] - centers[i]), weights[other.ball] - weights[i] + slack);
            }
            for (const Vec3 &corner : polygon.corners()) {
                const Vec3 beyond = abs(corner) - most;
                if (beyond.x > 0.0 || beyond.y > 0.0 || beyond.z > 0.0) continue;
                if (!(norm(corner - centers[i]) - balls[i].radius + doubt > 0.0)) continue;
                const Vec3 point = corner + middle;
                const double away = nearest_ball(balls, point).gap;
                if (away > -doubt) found.push_back({point, away, Witness::NOBODY});  // else a ball around ball i holds it
            }
        }
    }
    return found;
}

namespace {

// Uncovered power vertices inside the closed pieces of a link, each once.
//
// When the surface is covered, an uncovered region inside is bounded by balls alone, and the minimum of the powers
// peaks in it at a power vertex: no uncovered power vertex inside, no uncovered region inside. A vertex between planes
// parallel to within rounding may be computed far from its place; but along the edge that such planes share the minimum
// is convex up to rounding, so the region reaches on to a vertex that is not.
std::vector<Witness> find_cavities(const LinkShape &shape, std::span<const Ball> balls) {
    if (!shape.encloses() || balls.size() < 4) return {};
    struct Place {
        std::array<double, 3> rounded;
        Witness witness;
    };
    std::vector<Place> places;
    for (const Witness &w : power_vertices(balls, shape.low(), shape.high())) {
        const auto round = [](double x) { return std::nearbyint(x / SAME_PLACE); };
        places.push_back({{round(w.point.x), round(w.point.y), round(w.point.z)}, w});
    }
    std::stable_sort(places.begin(), places.end(), [](const Place &u, const Place &v) { return u.rounded < v.rounded; });
    const auto last = std::unique(places.begin(), places.end(),
                                  [](const Place &u, const Place &v) { return u.rounded == v.rounded; });
    std::vector<Witness> out;
    for (auto place = places.begin(); place != last; ++place)
        if (std::fabs(shape.winding_of_solid(place->witness.point)) > INSIDE_WINDING) out.push_back(place->witness);
    return out;
}

Coverage prove(const LinkShape &shape, SurfaceBound &surface, std::span<const Ball> balls) {
    Coverage out;
    out.surface_bound = surface.bound(balls);
    out.witnesses.assign(surface.witnesses().begin(), surface.witnesses().end());
    const std::vector<Witness> cavities = find_cavities(shape, balls);
    out.cavities = cavities.size();
    out.witnesses.insert(out.witnesses.end(), cavities.begin(), cavities.end());
    return out;
}

}  // namespace

Coverage prove_coverage(const LinkShape &shape, std::span<const Ball> balls) {
    SurfaceBound surface(shape.clusters(), WITNESS_CAPACITY);
    return prove(shape, surface, balls);
}

std::vector<Ball> grow_to_cover(const LinkShape &shape, std::span<const Ball> balls, int rounds) {
    std::vector<Ball> grown(balls.begin(), balls.end());
    SurfaceBound surface(shape.clusters(), WITNESS_CAPACITY);
    for (int turn = 0; turn < rounds; turn++) {
        Coverage result = prove(shape, surface, grown);
        if (result.covered()) return grown;
        const double extra = 1e-10 * shape.size() * std::pow(1.3, turn);
        if (result.witnesses.empty()) {  // the bound is positive by rounding alone
            for (Ball &ball : grown) ball.radius += std::max(result.surface_bound, 0.0) + extra;
            continue;
        }
        std::stable_sort(result.witnesses.begin(), result.witnesses.end(),
                         [](const Witness &u, const Witness &v) { return u.gap > v.gap; });
        const double factor = 1.0 + 0.02 * turn;
        for (const Witness &witness : result.witnesses) {
            const Nearest nearest = nearest_ball(grown, witness.point);
            if (nearest.gap > -extra) grown[nearest.ball].radius += std::max(nearest.gap, 0.0) * factor + extra;
        }
        if (turn > 0.8 * rounds)
            for (Ball &ball : grown) ball.radius += result.witnesses.front().gap;
    }
    if (!prove(shape, surface, grown).covered()) {  // a ball around everything always covers
        double far = 0.0;
        for (const Vec3 &v : shape.vertices()) far = std::max(far, norm(v - grown[0].center));
        grown[0].radius = far * (1.0 + 1e-9) + 1e-12;
    }
    return grown;
}

}  // namespace elbowroom
