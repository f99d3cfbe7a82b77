#include "elbowroom/closed.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "elbowroom/triangles.hpp"

namespace elbowroom {
namespace {

constexpr double INF = std::numeric_limits<double>::infinity();
constexpr double TOUCH_SHARE = 1e-9;  // of the mesh's size: surfaces this near to each other touch
constexpr double WHOLE = 0.99;        // winding numbers are whole off the surface; on it they are a half or less
constexpr int GRID = 256;             // cells along a side, at most, of the grid in which neighbours are found
// Odd 64-bit constants that spread keys over a hash table.
constexpr std::uint64_t MIX_A = 0x9E3779B97F4A7C15, MIX_B = 0xC2B2AE3D27D4EB4F, MIX_C = 0x165667B19E3779F9;

std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

// Slots of a hash table that is at most half full.
std::size_t table_size(std::size_t entries) { return std::max<std::size_t>(16, std::bit_ceil(2 * entries)); }

struct Box {
    Vec3 low{INF, INF, INF}, high{-INF, -INF, -INF};

    void grow(Vec3 p) { low = min(low, p), high = max(high, p); }
    bool holds(const Box &other) const {
        return low.x <= other.low.x && low.y <= other.low.y && low.z <= other.low.z && high.x >= other.high.x &&
               high.y >= other.high.y && high.z >= other.high.z;
    }
    bool apart(const Box &other) const {
        return low.x > other.high.x || low.y > other.high.y || low.z > other.high.z || other.low.x > high.x ||
               other.low.y > high.y || other.low.z > high.z;
    }
};

Box box_of(const Triangle &t) {
    Box box;
    for (int k = 0; k < 3; k++) box.grow(t.corner(k));
    return box;
}

// Winding number of closed triangles about a point, whole unless the point is on them.
double winding(std::span<const Triangle> triangles, Vec3 p) {
    double total = 0.0;
    for (const Triangle &t : triangles) {
        const Vec3 a = t.a - p, b = t.b - p, c = t.c - p;
        if (std::min({a.y, b.y, c.y}) > 0.0 || std::max({a.y, b.y, c.y}) < 0.0 || std::min({a.z, b.z, c.z}) > 0.0 ||
            std::max({a.z, b.z, c.z}) < 0.0)
            continue;  // the ray along x passes by
        const double u = b.y * c.z - c.y * b.z, v = c.y * a.z - a.y * c.z, w = a.y * b.z - b.y * a.z, area = u + v + w;
        if ((u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0)) continue;
        if (std::min({std::fabs(u), std::fabs(v), std::fabs(w)}) <= 1e-9 * std::fabs(area)) {
            // Through an edge: it cannot be said whose.
            double angles = 0.0;
            for (const Triangle &other : triangles) angles += half_solid_angle(other, p);
            return angles / (2.0 * std::numbers::pi);
        }
        if ((u * t.a.x + v * t.b.x + w * t.c.x) / area - p.x > 0.0) total += area > 0.0 ? 1.0 : -1.0;
    }
    return total;
}

// Does a segment cross or touch a triangle? One in its plane is left to its neighbours, which leave it.
bool edge_meets(Vec3 p, Vec3 q, const Triangle &t, double touch) {
    Vec3 n = cross(t.b - t.a, t.c - t.a);
    const double size = norm(n);
    if (size == 0.0) return false;
    n = {n.x / size, n.y / size, n.z / size};
    const double above = dot(n, p - t.a), below = dot(n, q - t.a);
    if (std::min(above, below) > touch || std::max(above, below) < -touch || above == below) return false;
    const Vec3 s = p + std::clamp(above / (above - below), 0.0, 1.0) * (q - p);
    for (int k = 0; k < 3; k++) {
        const Vec3 from = t.corner(k), edge = t.corner((k + 1) % 3) - from;
        if (dot(s - from, cross(edge, n)) > touch * norm(edge)) return false;
    }
    return true;
}

bool cross_or_touch(const Triangle &one, const Triangle &two, double touch) {
    for (int k = 0; k < 3; k++)
        if (edge_meets(one.corner(k), one.corner((k + 1) % 3), two, touch) ||
            edge_meets(two.corner(k), two.corner((k + 1) % 3), one, touch))
            return true;
    return false;
}

// Triangles by the cells of a flat grid, which lies across the shortest side of their box.
class FlatGrid {
  public:
    FlatGrid(std::span<const Triangle> triangles, const Box &around) {
        const Vec3 extent = around.high - around.low;
        const int flat = extent.x <= extent.y && extent.x <= extent.z ? 0 : (extent.y <= extent.z ? 1 : 2);
        u_ = (flat + 1) % 3, v_ = (flat + 2) % 3;
        n_ = std::min(GRID, 1 + static_cast<int>(std::sqrt(static_cast<double>(triangles.size()))));
        low_ = around.low;
        scale_u_ = n_ / std::max(extent[u_], 1e-300), scale_v_ = n_ / std::max(extent[v_], 1e-300);
        start_.assign(static_cast<std::size_t>(n_ * n_) + 1, 0);
        for (const Triangle &t : triangles) each_cell(box_of(t), [&](std::size_t cell) { start_[cell + 1]++; return false; });
        std::partial_sum(start_.begin(), start_.end(), start_.begin());
        entries_.resize(start_.back());
        std::vector<std::size_t> next(start_.begin(), start_.end() - 1);
        for (std::size_t i = 0; i < triangles.size(); i++)
            each_cell(box_of(triangles[i]), [&](std::size_t cell) { entries_[next[cell]++] = i; return false; });
    }

    // Whether `use` of a triangle in a cell that the box reaches is true for any.
    template <class Use> bool any_near(const Box &box, Use use) const {
        return each_cell(box, [&](std::size_t cell) {
            for (std::size_t e = start_[cell]; e < start_[cell + 1]; e++)
                if (use(entries_[e])) return true;
            return false;
        });
    }

  private:
    template <class Use> bool each_cell(const Box &box, Use use) const {
        const auto cell = [&](double x) { return static_cast<int>(std::clamp(x, 0.0, n_ - 1.0)); };
        const int u1 = cell((box.high[u_] - low_[u_]) * scale_u_), v1 = cell((box.high[v_] - low_[v_]) * scale_v_);
        for (int u = cell((box.low[u_] - low_[u_]) * scale_u_); u <= u1; u++)
            for (int v = cell((box.low[v_] - low_[v_]) * scale_v_); v <= v1; v++)
                if (use(static_cast<std::size_t>(u * n_ + v))) return true;
        return false;
    }

    int u_, v_, n_;
    Vec3 low_;
    double scale_u_, scale_v_;
    std::vector<std::size_t> start_, entries_;
};

// Does any triangle of one set cross or touch one of the other?
bool sets_meet(std::span<const Triangle> one, std::span<const Triangle> two, double touch) {
    const Vec3 reach{touch, touch, touch};
    Box around;
    std::vector<Box> boxes;
    for (const Triangle &t : one) {
        boxes.push_back(box_of(t));
        around.grow(boxes.back().low), around.grow(boxes.back().high);
    }
    around = {around.low - reach, around.high + reach};
    const FlatGrid grid(one, around);
    for (const Triangle &t : two) {
        Box box = box_of(t);
        box = {box.low - reach, box.high + reach};
        if (box.apart(around)) continue;
        const auto meets = [&](std::size_t i) { return !boxes[i].apart(box) && cross_or_touch(one[i], t, touch); };
        if (grid.any_near(box, meets)) return true;
    }
    return false;
}

struct Piece {
    double volume = 0.0;  // signed
    Box box;
    std::vector<Triangle> triangles;
};

}  // namespace

Merged merge_vertices(std::span<const Vec3> vertices) {
    Merged out;
    out.place.resize(vertices.size());
    std::vector<std::int64_t> table(table_size(vertices.size()), -1);
    const std::uint64_t mask = table.size() - 1;
    const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x + 0.0); };
    for (std::size_t i = 0; i < vertices.size(); i++) {
        const Vec3 v = vertices[i];
        std::uint64_t h = bits(v.x) * MIX_A + bits(v.y) * MIX_B + bits(v.z) * MIX_C;
        h = (h ^ (h >> 29)) * MIX_B;
        for (std::uint64_t slot = (h ^ (h >> 32)) & mask;; slot = (slot + 1) & mask) {
            const std::int64_t place = table[slot];
            if (place < 0) {
                table[slot] = out.place[i] = static_cast<std::int64_t>(out.first.size());
                out.first.push_back(static_cast<std::int64_t>(i));
                break;
            }
            const Vec3 known = vertices[at(out.first[at(place)])];
            if (bits(known.x) == bits(v.x) && bits(known.y) == bits(v.y) && bits(known.z) == bits(v.z)) {
                out.place[i] = place;
                break;
            }
        }
    }
    return out;
}

std::vector<std::int64_t> connected_pieces(std::span<const Face> faces, std::size_t n_vertices) {
    std::vector<std::int64_t> parent(n_vertices), number(n_vertices, -1), piece;
    std::iota(parent.begin(), parent.end(), 0);
    const auto root = [&](std::int64_t v) {
        while (parent[at(v)] != v) v = parent[at(v)] = parent[at(parent[at(v)])];
        return v;
    };
    for (const Face &face : faces)
        for (int k = 1; k < 3; k++) parent[at(root(face[static_cast<std::size_t>(k)]))] = root(face[0]);
    std::int64_t count = 0;
    for (const Face &face : faces) {
        std::int64_t &known = number[at(root(face[0]))];
        if (known < 0) known = count++;
        piece.push_back(known);
    }
    return piece;
}

EdgeFaults edge_faults(std::span<const Face> faces, std::span<const std::int64_t> piece, std::size_t n_pieces) {
    struct Edge {
        std::int64_t key = -1, piece = 0;
        int total = 0, signed_total = 0;
    };
    std::vector<Edge> table(table_size(3 * faces.size()));
    const std::uint64_t mask = table.size() - 1;
    bool any = false;
    for (std::size_t i = 0; i < faces.size(); i++)
        for (std::size_t k = 0; k < 3; k++) {
            const std::int64_t u = faces[i][k], v = faces[i][(k + 1) % 3];
            if (u == v) continue;
            any = true;
            const std::int64_t key = (std::min(u, v) << 32) | std::max(u, v);
            const std::uint64_t h = static_cast<std::uint64_t>(key) * MIX_A;
            std::uint64_t slot = (h ^ (h >> 31)) & mask;
            while (table[slot].key >= 0 && table[slot].key != key) slot = (slot + 1) & mask;
            Edge &edge = table[slot];
            edge.key = key, edge.piece = piece[i];
            edge.total++, edge.signed_total += u < v ? 1 : -1;
        }
    EdgeFaults out{std::vector<bool>(n_pieces, !any), std::vector<bool>(n_pieces, !any)};
    for (const Edge &edge : table) {
        if (edge.signed_total != 0) out.unbalanced[at(edge.piece)] = true;
        if (edge.total & 1) out.odd[at(edge.piece)] = true;
    }
    return out;
}

std::vector<bool> inverted_pieces(std::span<const Vec3> vertices, std::span<const Face> faces,
                                  std::span<const std::int64_t> piece, const std::vector<bool> &closed) {
    std::vector<Piece> pieces(closed.size());
    double extent = 0.0;
    for (std::size_t i = 0; i < faces.size(); i++) {
        const Triangle t{vertices[at(faces[i][0])], vertices[at(faces[i][1])], vertices[at(faces[i][2])]};
        Piece &mine = pieces[at(piece[i])];
        mine.triangles.push_back(t);
        for (int k = 0; k < 3; k++) mine.box.grow(t.corner(k));
        const Vec3 o = mine.triangles.front().a;
        mine.volume += dot(t.a - o, cross(t.b - o, t.c - o)) / 6.0;
    }
    std::vector<std::size_t> solid;  // closed pieces that have a volume
    bool outward = false, inward = false;
    for (std::size_t k = 0; k < pieces.size(); k++) {
        const Vec3 size = pieces[k].box.high - pieces[k].box.low;
        extent = std::max({extent, size.x, size.y, size.z});
        if (!closed[k] || pieces[k].volume == 0.0) continue;
        solid.push_back(k);
        (pieces[k].volume > 0.0 ? outward : inward) = true;
    }
    std::vector<bool> turn(pieces.size(), false);
    if (!outward || !inward) return turn;  // wound alike, nothing cancels
    const auto negative = [&](std::size_t k) { return pieces[k].volume < 0.0; };
    const double touch = TOUCH_SHARE * extent;
    std::stable_sort(solid.begin(), solid.end(), [&](std::size_t i, std::size_t j) {
        return std::fabs(pieces[i].volume) > std::fabs(pieces[j].volume);
    });
    for (std::size_t rank = 0; rank < solid.size(); rank++) {
        const std::size_t k = solid[rank];
        turn[k] = negative(k);  // part of the solid, unless it is found to be a cavity
        std::vector<std::size_t> around;
        bool against = false;
        for (std::size_t r = 0; r < rank; r++)
            if (pieces[solid[r]].box.holds(pieces[k].box)) {
                around.push_back(solid[r]);
                against |= negative(solid[r]) != negative(k);
            }
        if (!against) continue;
        // The smallest piece of the solid around this one, if it lies wholly within the solid.
        std::size_t container = k;
        double total = 0.0;
        bool meets = false;
        for (std::size_t j : around) {  // from the largest down
            if ((meets = sets_meet(pieces[k].triangles, pieces[j].triangles, touch))) break;
            const double w = winding(pieces[j].triangles, pieces[k].triangles.front().a) * (turn[j] ? -1.0 : 1.0);
            total += w;
            if (w > WHOLE && turn[j] == negative(j)) container = j;
        }
        if (!meets && total > WHOLE && negative(container) != negative(k)) turn[k] = !negative(k);
    }
    return turn;
}

}  // namespace elbowroom
