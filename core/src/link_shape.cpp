#include "elbowroom/link_shape.hpp"

#include <algorithm>
#include <limits>
#include <numbers>
#include <numeric>

namespace elbowroom {
namespace {

constexpr double INF = std::numeric_limits<double>::infinity();
constexpr std::size_t LEAF = 4;  // triangles of a leaf: as many as there are lanes
constexpr int RAYS = 40;         // along the longer side of a lattice that measures a volume
constexpr double ROUNDED_UP = 1.0 + 1e-12;

double larger_side(Vec3 v) { return std::max(v.x, v.y); }

// Which side of the line ab a point is on: the same number for both triangles that share the edge, as long as they give
// it in the same direction. A call of its own, so that the compiler fuses its products in one way only.
[[gnu::noinline]] double side_of(Vec3 a, Vec3 b, double x, double y) {
    return (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x);
}

// The whole number at or below (above) x, within 0 and n - 1; any x is fine.
std::size_t floor_within(double x, std::size_t n) {
    return x > 0.0 ? static_cast<std::size_t>(std::min(std::floor(x), static_cast<double>(n - 1))) : 0;
}
std::size_t ceil_within(double x, std::size_t n) { return floor_within(std::ceil(x), n); }

double squared_distance_to_box(Vec3 p, Vec3 low, Vec3 high) { return squared(max(max(low - p, p - high), Vec3{})); }

// The sum of angles, each within (-pi, pi], in four lanes, as products of complex numbers: the argument of the product
// is the sum up to whole turns, and a turn is counted where two angles of one sign give one of the other.
class AngleSum {
  public:
    void add(F64x4 re, F64x4 im) {
        const F64x4 new_re = re_ * re - im_ * im, new_im = re_ * im + im_ * re;
        const I64x4 up = (im_ >= 0.0) & (im >= 0.0) & (new_im < 0.0);
        const I64x4 down = (im_ < 0.0) & (im < 0.0) & (new_im >= 0.0);
        turns_ += down - up;  // masks are -1
        // keeps the product within the range of numbers; 0 (a corner of the triangle) keeps the sum as it is
        const F64x4 size = abs(new_re) + abs(new_im);
        const I64x4 valid = size > 0.0;
        const F64x4 scale = 1.0 / (valid ? size : splat4(1.0));
        re_ = valid ? new_re * scale : re_;
        im_ = valid ? new_im * scale : im_;
    }
    double total() const {
        double sum = 0.0;
        for (int k = 0; k < 4; k++)
            sum += std::atan2(im_[k], re_[k]) + 2.0 * std::numbers::pi * static_cast<double>(turns_[k]);
        return sum;
    }

  private:
    F64x4 re_ = splat4(1.0), im_ = splat4(0.0);
    I64x4 turns_ = {0, 0, 0, 0};
};

F64x4 dot(const F64x4 (&u)[3], const F64x4 (&v)[3]) { return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]; }

// Points of one ball's surface in the given directions that no other ball holds.
template <class Visit>
void for_exposed(std::span<const Ball> balls, std::size_t own, std::span<const Vec3> directions, Visit visit) {
    thread_local std::vector<Ball> near;
    near.clear();
    for (std::size_t k = 0; k < balls.size(); k++) {
        const double reach = (balls[own].radius + balls[k].radius) * ROUNDED_UP;
        if (k != own && squared(balls[k].center - balls[own].center) <= reach * reach) near.push_back(balls[k]);
    }
    for (const Vec3 &u : directions) {
        const Vec3 p = balls[own].center + balls[own].radius * u;
        if (std::all_of(near.begin(), near.end(),
                        [&](const Ball &b) { return squared(p - b.center) >= b.radius * b.radius; }))
            visit(p);
    }
}

}  // namespace

Nearest nearest_ball(std::span<const Ball> balls, Vec3 p) {
    Nearest best{0, INF};
    for (std::size_t k = 0; k < balls.size(); k++) {
        const double away = gap(balls[k], p);
        if (away < best.gap) best = {k, away};
    }
    return best;
}

Clusters::Clusters(std::vector<Triangle> ordered) : triangles(std::move(ordered)) {
    for (std::size_t k = 0; k * SIZE < triangles.size(); k++) {
        Vec3 low{INF, INF, INF}, high{-INF, -INF, -INF};
        for (const Triangle &t : run(k)) {
            low = min(low, min(t.a, min(t.b, t.c)));
            high = max(high, max(t.a, max(t.b, t.c)));
        }
        const Vec3 center = 0.5 * (low + high);
        double far = 0.0;
        for (const Triangle &t : run(k))
            far = std::max({far, squared(t.a - center), squared(t.b - center), squared(t.c - center)});
        bounds.push_back({center, std::sqrt(far) * ROUNDED_UP});
    }
}

std::span<const Triangle> Clusters::run(std::size_t k) const {
    const std::size_t first = k * SIZE;
    return {triangles.data() + first, std::min(SIZE, triangles.size() - first)};
}

LinkShape::LinkShape(std::vector<Vec3> vertices, std::vector<Face> faces, std::vector<Face> solid)
    : vertices_(std::move(vertices)), solid_(std::move(solid)), closed_(solid_.size() == faces.size()) {
    low_ = {INF, INF, INF}, high_ = {-INF, -INF, -INF};
    for (const Vec3 &v : vertices_) low_ = min(low_, v), high_ = max(high_, v);
    const auto corners = [this](const std::vector<Face> &of) {
        std::vector<Triangle> out;
        out.reserve(of.size());
        for (const Face &f : of) out.push_back({vertices_[f[0]], vertices_[f[1]], vertices_[f[2]]});
        return out;
    };
    clusters_ = Clusters(build_tree(corners(faces)));
    if (!closed_) {
        const std::vector<Triangle> closed = corners(solid_);
        for (std::size_t k = 0; k < closed.size(); k += LEAF)
            solid_leaves_.emplace_back(std::span(closed).subspan(k, std::min(LEAF, closed.size() - k)));
    }
}

std::vector<Triangle> LinkShape::build_tree(std::vector<Triangle> triangles) {
    struct Item {
        Triangle triangle;
        Vec3 middle;
    };
    std::vector<Item> items;
    items.reserve(triangles.size());
    for (const Triangle &t : triangles) {
        const Vec3 sum = t.a + t.b + t.c;
        items.push_back({t, {sum.x / 3.0, sum.y / 3.0, sum.z / 3.0}});
    }
    struct Task {
        std::size_t box, first, last;
    };
    std::vector<Task> tasks = {{0, 0, items.size()}};
    boxes_.resize(1);
    std::vector<std::pair<double, std::size_t>> keys;
    std::vector<Item> sorted;
    while (!tasks.empty()) {
        const Task task = tasks.back();
        tasks.pop_back();
        const std::span<Item> part = std::span(items).subspan(task.first, task.last - task.first);
        Vec3 low{INF, INF, INF}, high{-INF, -INF, -INF}, least = low, most = high;
        for (const Item &item : part) {
            const Triangle &t = item.triangle;
            low = min(low, min(t.a, min(t.b, t.c))), high = max(high, max(t.a, max(t.b, t.c)));
            least = min(least, item.middle), most = max(most, item.middle);
        }
        boxes_[task.box].low = low, boxes_[task.box].high = high;
        if (part.size() <= LEAF) {
            boxes_[task.box].leaf = static_cast<std::int32_t>(leaves_.size());
            std::vector<Triangle> few;
            for (const Item &item : part) few.push_back(item.triangle);
            leaves_.emplace_back(few);
            continue;
        }
        const Vec3 spread = most - least;
        const int axis = spread.x >= spread.y ? (spread.x >= spread.z ? 0 : 2) : (spread.y >= spread.z ? 1 : 2);
        keys.clear();
        for (std::size_t k = 0; k < part.size(); k++) keys.emplace_back(part[k].middle[axis], k);
        std::sort(keys.begin(), keys.end());
        sorted.clear();
        for (const auto &[_, k] : keys) sorted.push_back(part[k]);
        std::copy(sorted.begin(), sorted.end(), part.begin());
        const std::size_t half = (task.first + task.last) / 2, child = boxes_.size();
        boxes_[task.box].child = static_cast<std::int32_t>(child);
        boxes_.resize(child + 2);
        tasks.push_back({child, task.first, half});
        tasks.push_back({child + 1, half, task.last});
    }
    std::vector<Triangle> ordered;
    ordered.reserve(items.size());
    for (const Item &item : items) ordered.push_back(item.triangle);
    return ordered;
}

LinkShape::Leaf::Leaf(std::span<const Triangle> triangles) {
    const auto inverse = [](double x) { return x > 0.0 && std::isfinite(1.0 / x) ? 1.0 / x : 0.0; };
    for (std::size_t k = 0; k < LEAF; k++) {
        const int lane = static_cast<int>(k);
        const Vec3 first = triangles.front().a;
        const Triangle t = k < triangles.size() ? triangles[k] : Triangle{first, first, first};
        const Vec3 e = t.b - t.a, f = t.c - t.a;
        for (int d = 0; d < 3; d++) a[d][lane] = t.a[d], ab[d][lane] = e[d], ac[d][lane] = f[d];
        const double ee = squared(e), ef = elbowroom::dot(e, f), ff = squared(f);
        inverse_ab[lane] = inverse(ee), inverse_ac[lane] = inverse(ff), inverse_bc[lane] = inverse(squared(f - e));
        inverse_area[lane] = inverse(ee * ff - ef * ef);
    }
}

// The least of the distances to the three edges and, where the foot of the point is inside, to the plane. Each of them
// is the distance to some point of the triangle, so slivers are measured as well as others.
F64x4 LinkShape::Leaf::squared_distances(Vec3 p) const {
    const F64x4 zero = splat4(0.0), one = splat4(1.0);
    const F64x4 ap[3] = {p.x - a[0], p.y - a[1], p.z - a[2]};
    const auto to = [&](F64x4 s, F64x4 t) {
        const F64x4 away[3] = {ap[0] - s * ab[0] - t * ac[0], ap[1] - s * ab[1] - t * ac[1],
                               ap[2] - s * ab[2] - t * ac[2]};
        return dot(away, away);
    };
    const auto clamp = [&](F64x4 t) { return min(max(t, zero), one); };
    const F64x4 d1 = dot(ab, ap), d2 = dot(ac, ap), bb = dot(ab, ab), bc = dot(ab, ac), cc = dot(ac, ac);
    F64x4 best = min(to(clamp(d1 * inverse_ab), zero), to(zero, clamp(d2 * inverse_ac)));
    const F64x4 along = clamp(((d2 - bc) - (d1 - bb)) * inverse_bc);  // from b to c
    best = min(best, to(one - along, along));
    const F64x4 s = (cc * d1 - bc * d2) * inverse_area, t = (bb * d2 - bc * d1) * inverse_area;
    const I64x4 inside = (s >= 0.0) & (t >= 0.0) & (s + t <= 1.0) & (inverse_area > 0.0);
    return inside ? min(best, to(s, t)) : best;
}

double LinkShape::distance(Vec3 p, std::int32_t &nearest_leaf) const {
    return std::sqrt(squared_distance(p, nearest_leaf, INF));
}

double LinkShape::squared_distance(Vec3 p, std::int32_t &nearest_leaf, double best) const {
    const auto least = [](F64x4 v) { return std::min(std::min(v[0], v[1]), std::min(v[2], v[3])); };
    struct Entry {
        double key;
        std::int32_t box;
    };
    Entry stack[128];  // the tree is balanced: its depth is below 40
    int top = 0;
    best = std::min(best, least(leaves_[static_cast<std::size_t>(nearest_leaf)].squared_distances(p)));
    stack[top++] = {0.0, 0};
    while (top > 0) {
        const Entry entry = stack[--top];
        if (entry.key >= best) continue;
        const Box &box = boxes_[static_cast<std::size_t>(entry.box)];
        if (box.leaf >= 0) {
            const double here = least(leaves_[static_cast<std::size_t>(box.leaf)].squared_distances(p));
            if (here < best) best = here, nearest_leaf = box.leaf;
            continue;
        }
        const Box *children = &boxes_[static_cast<std::size_t>(box.child)];
        Entry near = {squared_distance_to_box(p, children[0].low, children[0].high), box.child};
        Entry far = {squared_distance_to_box(p, children[1].low, children[1].high), box.child + 1};
        if (far.key < near.key) std::swap(near, far);
        if (far.key < best) stack[top++] = far;
        if (near.key < best) stack[top++] = near;
    }
    return best;
}

double LinkShape::least_distance(std::span<const Vec3> points, double bound) const {
    constexpr std::size_t FIRST = 64;  // points nearest to the box: measured first, they tell how near the others must be
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t k = 0; k < points.size(); k++) order.emplace_back(squared_distance_to_box(points[k], low_, high_), k);
    if (order.size() > FIRST) std::nth_element(order.begin(), order.begin() + FIRST, order.end());
    double best = bound * bound;
    std::int32_t leaf = 0;
    for (const auto &[to_box, k] : order)
        if (to_box < best) best = squared_distance(points[k], leaf, best);
    return std::min(bound, std::sqrt(best));
}

void LinkShape::distances(std::span<const Vec3> points, std::span<double> out) const {
    std::int32_t leaf = 0;
    for (std::size_t k = 0; k < points.size(); k++) out[k] = distance(points[k], leaf);
}

void LinkShape::signed_distances(const Lattice &lattice, std::span<double> out) const {
    const auto [nx, ny, nz] = lattice.counts;
    const auto level = [&](std::size_t k) { return lattice.low.z + lattice.spacing * static_cast<double>(k); };
    std::int32_t leaf = 0;
    std::size_t node = 0;
    for (std::size_t i = 0; i < nx; i++)
        for (std::size_t j = 0; j < ny; j++)
            for (std::size_t k = 0; k < nz; k++)
                out[node++] = distance({lattice.low.x + lattice.spacing * static_cast<double>(i),
                                        lattice.low.y + lattice.spacing * static_cast<double>(j), level(k)},
                                       leaf);
    if (solid_.empty() || lattice.size() == 0) return;
    const Crossings found = crossings({lattice.low.x, lattice.low.y, lattice.spacing, lattice.spacing, nx, ny});
    for (std::size_t ray = 0; ray < nx * ny; ray++) {
        const std::span<const Crossing> along = found.of(ray);
        int winding = 0;
        std::size_t next = 0;
        for (std::size_t k = 0; k < nz; k++) {
            while (next < along.size() && along[next].z < level(k)) winding += along[next++].sign;
            if (winding != 0) out[ray * nz + k] = -out[ray * nz + k];
        }
    }
}

double LinkShape::winding(std::span<const Leaf> leaves, Vec3 p) {
    AngleSum half_angles;
    for (const Leaf &leaf : leaves) {
        const F64x4 a[3] = {leaf.a[0] - p.x, leaf.a[1] - p.y, leaf.a[2] - p.z};
        const F64x4 b[3] = {a[0] + leaf.ab[0], a[1] + leaf.ab[1], a[2] + leaf.ab[2]};
        const F64x4 c[3] = {a[0] + leaf.ac[0], a[1] + leaf.ac[1], a[2] + leaf.ac[2]};
        const F64x4 bc[3] = {b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]};
        const F64x4 na = sqrt(dot(a, a)), nb = sqrt(dot(b, b)), nc = sqrt(dot(c, c));
        half_angles.add(na * nb * nc + dot(a, b) * nc + dot(b, c) * na + dot(c, a) * nb, dot(a, bc));
    }
    return half_angles.total() / (2.0 * std::numbers::pi);
}

double LinkShape::winding_of_all(Vec3 p) const { return winding(leaves_, p); }
double LinkShape::winding_of_solid(Vec3 p) const { return winding(closed_ ? leaves_ : solid_leaves_, p); }

LinkShape::Crossings LinkShape::crossings(const Rays &rays) const {
    // Visits the rays that cross a face, with the height and whether they leave there.
    const auto for_each = [&](auto visit) {
        for (const Face &face : solid_) {
            const Vec3 corner[3] = {vertices_[face[0]], vertices_[face[1]], vertices_[face[2]]};
            const Vec3 low = min(corner[0], min(corner[1], corner[2])), high = max(corner[0], max(corner[1], corner[2]));
            const std::size_t i_last = ceil_within((high.x - rays.x) / rays.dx, rays.nx);
            const std::size_t j_first = floor_within((low.y - rays.y) / rays.dy, rays.ny);
            const std::size_t j_last = ceil_within((high.y - rays.y) / rays.dy, rays.ny);
            for (std::size_t i = floor_within((low.x - rays.x) / rays.dx, rays.nx); i <= i_last; i++) {
                const double x = rays.x + static_cast<double>(i) * rays.dx;
                for (std::size_t j = j_first; j <= j_last; j++) {
                    const double y = rays.y + static_cast<double>(j) * rays.dy;
                    double weight[3];  // of the corner opposite each edge
                    bool above[3];
                    for (std::size_t e = 0; e < 3; e++) {
                        const std::size_t f = (e + 1) % 3;
                        // A ray exactly on an edge belongs to the triangle that runs it upwards in index order.
                        const bool upwards = face[e] < face[f];
                        const double side = upwards ? side_of(corner[e], corner[f], x, y)
                                                    : -side_of(corner[f], corner[e], x, y);
                        weight[(e + 2) % 3] = side;
                        above[e] = side > 0.0 || (side == 0.0 && upwards);
                    }
                    const double total = weight[0] + weight[1] + weight[2];
                    if (above[0] != above[1] || above[1] != above[2] || total == 0.0) continue;
                    const double z =
                        (weight[0] * corner[0].z + weight[1] * corner[1].z + weight[2] * corner[2].z) / total;
                    visit(i * rays.ny + j, Crossing{z, above[0] ? -1 : 1});
                }
            }
        }
    };
    Crossings out;
    out.start.assign(rays.nx * rays.ny + 1, 0);
    for_each([&](std::size_t ray, Crossing) { out.start[ray + 1]++; });
    std::partial_sum(out.start.begin(), out.start.end(), out.start.begin());
    out.all.resize(out.start.back());
    std::vector<std::size_t> next(out.start.begin(), out.start.end() - 1);
    for_each([&](std::size_t ray, Crossing crossing) { out.all[next[ray]++] = crossing; });
    for (std::size_t ray = 0; ray < rays.nx * rays.ny; ray++)
        std::stable_sort(out.all.begin() + static_cast<std::ptrdiff_t>(out.start[ray]),
                         out.all.begin() + static_cast<std::ptrdiff_t>(out.start[ray + 1]),
                         [](const Crossing &u, const Crossing &v) { return u.z < v.z; });
    return out;
}

RayVolumes LinkShape::volumes_along(const Rays &rays, const Crossings *solid, std::span<const Ball> balls) {
    struct Piece {
        double low, high;
    };
    std::vector<Ball> row;  // balls that the rays of one row may meet
    std::vector<Piece> pieces;
    RayVolumes length;
    for (std::size_t i = 0; i < rays.nx; i++) {
        const double x = rays.x + static_cast<double>(i) * rays.dx;
        row.clear();
        for (const Ball &ball : balls)
            if (std::fabs(x - ball.center.x) <= ball.radius) row.push_back(ball);
        for (std::size_t j = 0; j < rays.ny; j++) {
            const double y = rays.y + static_cast<double>(j) * rays.dy;
            pieces.clear();
            for (const Ball &ball : row) {
                const double dx = x - ball.center.x, dy = y - ball.center.y;
                const double h2 = ball.radius * ball.radius - dx * dx - dy * dy;
                if (!(h2 > 0.0)) continue;
                const double h = std::sqrt(h2);
                const Piece piece = {ball.center.z - h, ball.center.z + h};
                std::size_t at = pieces.size();  // insertion sort: few balls a ray
                pieces.push_back(piece);
                for (; at > 0 && pieces[at - 1].low > piece.low; at--) pieces[at] = pieces[at - 1];
                pieces[at] = piece;
            }
            std::size_t merged = 0;
            for (const Piece &piece : pieces) {
                if (merged > 0 && piece.low <= pieces[merged - 1].high)
                    pieces[merged - 1].high = std::max(pieces[merged - 1].high, piece.high);
                else
                    pieces[merged++] = piece;
            }
            pieces.resize(merged);
            for (const Piece &piece : pieces) length.balls += piece.high - piece.low;
            if (solid == nullptr) continue;
            const std::span<const Crossing> along = solid->of(i * rays.ny + j);
            int winding = 0;
            for (std::size_t q = 0; q + 1 < along.size(); q++) {
                winding += along[q].sign;
                if (winding == 0) continue;
                length.solid += along[q + 1].z - along[q].z;
                for (const Piece &piece : pieces)
                    length.both += std::max(0.0, std::min(piece.high, along[q + 1].z) - std::max(piece.low, along[q].z));
            }
        }
    }
    const double cell = rays.dx * rays.dy;
    return {length.solid * cell, length.balls * cell, length.both * cell};
}

std::array<RayVolumes, LinkShape::SHIFTS> LinkShape::volumes(std::span<const Ball> balls) const {
    Vec3 low = low_, high = high_;
    for (const Ball &ball : balls) {
        const Vec3 reach = {ball.radius, ball.radius, ball.radius};
        low = min(low, ball.center - reach), high = max(high, ball.center + reach);
    }
    const double least = 1e-9 * std::max(size(), 1e-9);
    const Vec3 extent = max(high - low, {least, least, least});
    const double step = larger_side(extent) / RAYS;
    const auto rays_along = [&](double side) {
        return side / step > 8.0 ? static_cast<std::size_t>(std::min(std::ceil(side / step), 2.0 * RAYS)) : std::size_t{8};
    };
    Rays rays;
    rays.nx = rays_along(extent.x), rays.ny = rays_along(extent.y);
    rays.dx = extent.x / static_cast<double>(rays.nx), rays.dy = extent.y / static_cast<double>(rays.ny);
    std::array<RayVolumes, SHIFTS> out;
    for (std::size_t shift = 0; shift < SHIFTS; shift++) {
        // the R2 sequence (Roberts): well spread shifts, never on a mesh's round coordinates
        const double turn = static_cast<double>(shift) + 1.37;
        const double u = 0.7548776662466927 * turn, v = 0.5698402909980532 * turn;
        rays.x = low.x + rays.dx * (u - std::floor(u)), rays.y = low.y + rays.dy * (v - std::floor(v));
        const Crossings solid = crossings(rays);
        out[shift] = volumes_along(rays, &solid, balls);
    }
    return out;
}

double union_volume(std::span<const Ball> balls) {
    Vec3 low{INF, INF, INF}, high{-INF, -INF, -INF};
    for (const Ball &ball : balls) {
        const Vec3 reach = {ball.radius, ball.radius, ball.radius};
        low = min(low, ball.center - reach), high = max(high, ball.center + reach);
    }
    if (balls.empty()) return 0.0;
    LinkShape::Rays rays;
    rays.nx = rays.ny = RAYS;
    rays.dx = (high.x - low.x) / RAYS, rays.dy = (high.y - low.y) / RAYS;
    rays.x = low.x + 0.43 * rays.dx, rays.y = low.y + 0.57 * rays.dy;
    return LinkShape::volumes_along(rays, nullptr, balls).balls;
}

std::vector<Vec3> fibonacci(std::size_t n) {
    std::vector<Vec3> out;
    out.reserve(n);
    for (std::size_t k = 0; k < n; k++) {
        const double i = static_cast<double>(k) + 0.5, z = 1.0 - 2.0 * i / static_cast<double>(n);
        const double angle = std::numbers::pi * (1.0 + std::sqrt(5.0)) * i, s = std::sqrt(1.0 - z * z);
        out.push_back({s * std::cos(angle), s * std::sin(angle), z});
    }
    return out;
}

Protrusion LinkShape::protrusion(std::span<const Ball> balls) const {
    constexpr std::size_t POINTS = 400;                    // on each ball
    constexpr std::size_t LOOKS = 64, SEEDS = 6;           // farthest points that are looked at, and refined
    constexpr std::size_t REFINEMENTS = 6, TILTS = 24;     // rounds about a seed, and half the directions of each
    struct Exposed {
        double distance;
        std::size_t ball;
        Vec3 point;
    };
    const std::vector<Vec3> directions = fibonacci(POINTS);
    std::vector<Exposed> exposed;
    double sum = 0.0, weight = 0.0;
    std::int32_t leaf = 0;
    for (std::size_t k = 0; k < balls.size(); k++) {
        const double area = balls[k].radius * balls[k].radius;
        for_exposed(balls, k, directions, [&](Vec3 p) {
            exposed.push_back({distance(p, leaf), k, p});
            sum += area * exposed.back().distance, weight += area;
        });
    }
    if (!(weight > 0.0)) return {};
    Protrusion out{sum / weight, 0.0};
    const auto looked = exposed.begin() + static_cast<std::ptrdiff_t>(std::min(LOOKS, exposed.size()));
    std::stable_sort(exposed.begin(), exposed.end(),
                     [](const Exposed &u, const Exposed &v) { return u.distance > v.distance; });
    std::size_t seeds = 0;
    const std::vector<Vec3> cap = fibonacci(2 * TILTS);  // the first half of them is enough to tilt a vector every way
    std::vector<Vec3> tilted(2 * TILTS);
    for (auto seed = exposed.begin(); seed != looked && seeds < SEEDS; ++seed) {
        if (std::fabs(winding_of_all(seed->point)) > 0.5) continue;  // inside: a hollow of the link
        seeds++;
        const Ball &ball = balls[seed->ball];
        const auto direction = [&](Vec3 p) { return (1.0 / ball.radius) * (p - ball.center); };
        Vec3 unit = direction(seed->point);
        double here = seed->distance, reach = std::sqrt(4.0 * std::numbers::pi / static_cast<double>(POINTS));
        for (std::size_t round = 0; round < REFINEMENTS; round++, reach *= 0.5) {
            for (std::size_t q = 0; q < TILTS; q++) {
                const Vec3 up = unit + reach * cap[q], down = unit - reach * cap[q];
                tilted[q] = (1.0 / norm(up)) * up, tilted[TILTS + q] = (1.0 / norm(down)) * down;
            }
            Vec3 best = unit;
            for_exposed(balls, seed->ball, tilted, [&](Vec3 p) {
                const double d = distance(p, leaf);
                if (d > here) here = d, best = direction(p);
            });
            unit = best;
        }
        out.largest = std::max(out.largest, here);
    }
    return out;
}

}  // namespace elbowroom
