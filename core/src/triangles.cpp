#include "elbowroom/triangles.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>

namespace elbowroom {
namespace {

constexpr double INF = std::numeric_limits<double>::infinity();
constexpr int LEAF_TRIANGLES = 2;   // measured best for the walk over two trees
constexpr int BINS = 16;            // per axis, of the surface area heuristic
constexpr int MAX_SAH_DEPTH = 64;   // below, splits are by median: no tree is deeper than 64 + log2(triangles)
constexpr int STACK = 256;          // nodes waiting at most: one a level, and two at the last
constexpr double SLAB_GAIN = 0.8;   // a node carries a slab that is thinner than this share of its box along the normal
constexpr float NO_SLAB = 1e30f;    // half thickness of an entry without a slab
constexpr float NOWHERE = -1e30f;   // half extent of an empty lane

struct Box {
    Vec3 low{INF, INF, INF}, high{-INF, -INF, -INF};

    void grow(const Box &other) { low = min(low, other.low), high = max(high, other.high); }
    // Twice the centre: what triangles are binned by.
    double middle(int axis) const { return low[axis] + high[axis]; }
    double half_area() const {
        const Vec3 d = high - low;
        return d.x * d.y + d.y * d.z + d.z * d.x;
    }
};

Box box_of(const Triangle &t) { return {min(min(t.a, t.b), t.c), max(max(t.a, t.b), t.c)}; }

struct Split {
    int axis, bin;
    double low, scale;

    int bin_of(const Box &box) const { return static_cast<int>((box.middle(axis) - low) * scale); }
};

// Triangles a subtree is built of, by number, and how deep it starts.
struct Task {
    std::size_t node;
    int begin, end, depth;
};

class Builder {
  public:
    explicit Builder(std::span<const MeshTriangle> triangles)
        : triangles_(triangles), boxes_(triangles.size()), order_(triangles.size()) {
        for (std::size_t i = 0; i < triangles.size(); i++) boxes_[i] = box_of(triangles[i].corners);
        std::iota(order_.begin(), order_.end(), 0u);
    }

    // Nodes of the tree; `order()` is then the leaf order.
    std::vector<Node> build(int &depth) {
        std::vector<Node> nodes(1);
        nodes.reserve(2 * order_.size());
        std::vector<Task> work = {{0, 0, static_cast<int>(order_.size()), 0}};
        depth = 0;
        while (!work.empty()) {
            const Task task = work.back();
            work.pop_back();
            depth = std::max(depth, task.depth);
            Node node = bound(task.begin, task.end);
            const int count = task.end - task.begin;
            if (count <= LEAF_TRIANGLES) {
                node.first = task.begin, node.count = count;
                nodes[task.node] = node;
                continue;
            }
            int middle = task.begin + count / 2;
            if (task.depth < MAX_SAH_DEPTH)
                if (const auto split = best_split(task.begin, task.end)) middle = partition(task.begin, task.end, *split);
            const std::size_t left = nodes.size();
            node.first = static_cast<std::int32_t>(left);
            nodes[task.node] = node;
            nodes.resize(left + 2);
            work.push_back({left, task.begin, middle, task.depth + 1});
            work.push_back({left + 1, middle, task.end, task.depth + 1});
        }
        return nodes;
    }

    std::span<const unsigned> order() const { return order_; }

  private:
    const Box &box(int i) const { return boxes_[order_[static_cast<std::size_t>(i)]]; }
    const Triangle &triangle(int i) const { return triangles_[order_[static_cast<std::size_t>(i)]].corners; }

    Node bound(int begin, int end) const {
        Box all;
        for (int i = begin; i < end; i++) all.grow(box(i));
        Node node;
        node.center = 0.5 * (all.low + all.high);
        node.half = max(all.high - node.center, node.center - all.low);
        fit_slab(node, begin, end);
        return node;
    }

    // The thinner of two slabs, along the mean normal and along the normal of the largest triangle, where it gains.
    void fit_slab(Node &node, int begin, int end) const {
        Vec3 mean, largest;
        double most = 0.0;
        for (int i = begin; i < end; i++) {
            const Triangle &t = triangle(i);
            const Vec3 normal = cross(t.b - t.a, t.c - t.a);
            if (squared(normal) > most) most = squared(normal), largest = normal;
            mean = dot(mean, normal) >= 0.0 ? mean + normal : mean - normal;
        }
        for (Vec3 axis : {mean, largest}) {
            const double length = norm(axis);
            if (!(length > 0.0 && 1.0 / length < 1e300)) continue;
            axis = {axis.x / length, axis.y / length, axis.z / length};
            double low = INF, high = -INF;
            for (int i = begin; i < end; i++)
                for (int k = 0; k < 3; k++) {
                    const double at = dot(axis, triangle(i).corner(k));
                    low = std::min(low, at), high = std::max(high, at);
                }
            const double half = 0.5 * (high - low);
            if (half < SLAB_GAIN * dot(abs(axis), node.half) && half < node.slab.half)
                node.slab = {axis, 0.5 * (low + high), half};
        }
    }

    std::optional<Split> best_split(int begin, int end) const {
        std::optional<Split> best;
        double best_cost = INF;
        for (int axis = 0; axis < 3; axis++) {
            double low = INF, high = -INF;
            for (int i = begin; i < end; i++) {
                const double at = box(i).middle(axis);
                low = std::min(low, at), high = std::max(high, at);
            }
            Split split{axis, 0, low, BINS * (1.0 - 1e-9) / (high - low)};
            if (!(high - low > 0.0) || !(split.scale < 1e300)) continue;
            struct Bin {
                Box box;
                int count = 0;
            };
            std::array<Bin, BINS> bins;
            for (int i = begin; i < end; i++) {
                Bin &bin = bins[static_cast<std::size_t>(split.bin_of(box(i)))];
                bin.box.grow(box(i)), bin.count++;
            }
            std::array<double, BINS> right_cost;
            Box merged;
            int count = 0;
            for (std::size_t b = BINS - 1; b > 0; b--) {
                merged.grow(bins[b].box), count += bins[b].count;
                right_cost[b] = count > 0 ? count * merged.half_area() : INF;
            }
            merged = {}, count = 0;
            for (std::size_t b = 0; b + 1 < BINS; b++) {
                merged.grow(bins[b].box), count += bins[b].count;
                if (count == 0 || count == end - begin) continue;
                const double cost = count * merged.half_area() + right_cost[b + 1];
                if (cost < best_cost) best_cost = cost, split.bin = static_cast<int>(b), best = split;
            }
        }
        return best;
    }

    int partition(int begin, int end, const Split &split) {
        const auto middle = std::partition(order_.begin() + begin, order_.begin() + end,
                                           [&](unsigned t) { return split.bin_of(boxes_[t]) <= split.bin; });
        return static_cast<int>(middle - order_.begin());
    }

    std::span<const MeshTriangle> triangles_;
    std::vector<Box> boxes_;
    std::vector<unsigned> order_;
};

// float32, not below the number.
float round_up(double x) {
    const float near = static_cast<float>(x);
    return near < x ? std::nextafter(near, std::numeric_limits<float>::infinity()) : near;
}

// Box and slab around `center`, in float32, rounded outward.
NodeBounds rounded(Vec3 center, Vec3 half, const Slab &slab, Vec3 origin) {
    NodeBounds out;
    const Vec3 at = center - origin;
    for (int k = 0; k < 3; k++) {
        out.center[k] = static_cast<float>(at[k]);
        out.half[k] = round_up(half[k] + std::fabs(at[k] - static_cast<double>(out.center[k])));
        out.normal[k] = static_cast<float>(slab.normal[k]);
    }
    // The offset is that of the rounded normal, and the slab is widened by what rounding may turn it within the box.
    const Vec3 normal{out.normal[0], out.normal[1], out.normal[2]};
    const double offset = slab.offset - dot(slab.normal, origin);
    out.offset = static_cast<float>(offset);
    const double turned = dot(abs(normal - slab.normal), abs(at) + half);
    const double shifted = std::fabs(offset - static_cast<double>(out.offset));
    out.thickness = slab.half < Slab::NONE ? round_up(slab.half + turned + shifted) : NO_SLAB;
    return out;
}

struct Slots {
    std::array<int, Block::LANES> node;
    int count = 0;
};

// Descendants of a node that share its block; a leaf takes a lane for each of its triangles. Always opens the largest
// that fits: filling blocks better makes them larger, and that was measured slower.
Slots collapse(const std::vector<Node> &nodes, int at) {
    const auto node = [&](int i) -> const Node & { return nodes[static_cast<std::size_t>(i)]; };
    const auto lanes = [&](int i) { return std::max(1, node(i).count); };
    Slots out;
    if (node(at).is_leaf()) {
        out.node[0] = at, out.count = 1;
        return out;
    }
    out.node[0] = node(at).first, out.node[1] = node(at).first + 1, out.count = 2;
    int used = lanes(out.node[0]) + lanes(out.node[1]);
    while (true) {
        int best = -1, best_lanes = 0;
        double best_area = -1.0;
        for (int s = 0; s < out.count; s++) {
            const Node &inner = node(out.node[static_cast<std::size_t>(s)]);
            if (inner.is_leaf()) continue;
            const int more = lanes(inner.first) + lanes(inner.first + 1) - 1;
            const Vec3 h = inner.half;
            const double area = h.x * h.y + h.y * h.z + h.z * h.x;
            if (used + more <= Block::LANES && area > best_area) best = s, best_area = area, best_lanes = more;
        }
        if (best < 0) return out;
        const int child = node(out.node[static_cast<std::size_t>(best)]).first;
        out.node[static_cast<std::size_t>(best)] = child;
        out.node[static_cast<std::size_t>(out.count++)] = child + 1;
        used += best_lanes;
    }
}

void put(Block &block, int lane, const NodeBounds &bounds, std::uint32_t entry) {
    for (int k = 0; k < 3; k++) {
        block.center[k][lane] = bounds.center[k];
        block.half[k][lane] = bounds.half[k];
        block.normal[k][lane] = bounds.normal[k];
    }
    block.offset[lane] = bounds.offset;
    block.thickness[lane] = bounds.thickness;
    block.entry[lane] = entry;
}

void make_blocks(TriangleTree &tree) {
    const Vec3 origin = tree.root().center;
    tree.node_bounds.reserve(tree.nodes.size());
    for (const Node &node : tree.nodes) tree.node_bounds.push_back(rounded(node.center, node.half, node.slab, origin));
    std::vector<NodeBounds> of_triangle;
    for (const Triangle &t : tree.triangles) {
        const Node box = bounds_of(t);
        const NodeBounds bounds = rounded(box.center, box.half, box.slab, origin);
        TriangleBounds out;
        for (int k = 0; k < 9; k++) out.corners[k] = static_cast<float>(t.corner(k / 3)[k % 3] - origin[k % 3]);
        std::copy(bounds.normal, bounds.normal + 3, out.normal);
        out.offset = bounds.offset, out.thickness = bounds.thickness;
        of_triangle.push_back(bounds);
        tree.triangle_bounds.push_back(out);
    }
    NodeBounds empty{};
    for (int k = 0; k < 3; k++) empty.half[k] = NOWHERE;
    tree.node_bounds[0].block = 0;
    for (std::size_t at = 0; at < tree.nodes.size(); at++) {  // parents come before their children
        if (tree.node_bounds[at].block < 0) continue;
        tree.node_bounds[at].block = static_cast<std::int32_t>(tree.blocks.size());
        Block &block = tree.blocks.emplace_back();
        const Slots slots = collapse(tree.nodes, static_cast<int>(at));
        int lane = 0;
        for (int s = 0; s < slots.count; s++) {
            const std::uint32_t i = static_cast<std::uint32_t>(slots.node[static_cast<std::size_t>(s)]);
            const Node &node = tree.nodes[i];
            if (!node.is_leaf()) {
                put(block, lane++, tree.node_bounds[i], i);
                tree.node_bounds[i].block = 0;  // wanted: numbered when its turn comes
            }
            for (int k = 0; k < node.count; k++) {
                const std::uint32_t t = static_cast<std::uint32_t>(node.first + k);
                put(block, lane++, of_triangle[t], t | TRIANGLE);
            }
        }
        for (; lane < Block::LANES; lane++) put(block, lane, empty, 0);
    }
}

// Directions of rays tried in turn; any four in general position do.
constexpr Vec3 RAYS[] = {
    {0.3729, 0.5841, 0.7210}, {-0.6113, 0.2337, 0.7561}, {0.4517, -0.8219, 0.3473}, {-0.1931, -0.4787, -0.8565}};
constexpr double EDGE_MARGIN = 1e-9;  // barycentric coordinates closer to zero are too near an edge to be counted

enum class Crossing { none, in, out, unsure };

Crossing crossing(const Triangle &t, Vec3 point, Vec3 ray) {
    const Vec3 e = t.b - t.a, f = t.c - t.a, n = cross(e, f), s = point - t.a;
    const double slope = dot(n, ray), turn = slope > 0.0 ? 1.0 : -1.0, size = std::fabs(slope);
    const Vec3 q = cross(ray, s);
    // Cramer's rule: barycentric coordinates of the crossing, times the slope.
    const double u = turn * dot(f, q), v = -turn * dot(e, q), margin = EDGE_MARGIN * size_of(n);
    if (u < -margin || v < -margin || u + v > size + margin || turn * dot(n, s) > 0.0) return Crossing::none;
    if (size <= margin || std::min({u, v, size - u - v}) < margin) return Crossing::unsure;
    return slope > 0.0 ? Crossing::out : Crossing::in;
}

bool ray_meets(const Node &node, Vec3 point, Vec3 ray) {
    double enter = 0.0, leave = INF;
    for (int k = 0; k < 3; k++) {
        const double s = node.center[k] - point[k], h = node.half[k] * (1.0 + 1e-9) + 1e-300;
        const double one = (s - h) / ray[k], two = (s + h) / ray[k];
        enter = std::max(enter, std::min(one, two)), leave = std::min(leave, std::max(one, two));
    }
    return enter <= leave;
}

// Sum of signed crossings of a ray; none when one of them was too near an edge.
std::optional<int> ray_winding(const TriangleTree &tree, Vec3 point, Vec3 ray) {
    std::int32_t stack[STACK];
    int top = 0, total = 0;
    stack[top++] = 0;
    while (top > 0) {
        const Node &node = tree.nodes[static_cast<std::size_t>(stack[--top])];
        if (!ray_meets(node, point, ray)) continue;
        if (!node.is_leaf()) {
            stack[top++] = node.first, stack[top++] = node.first + 1;
            continue;
        }
        for (int i = node.first; i < node.first + node.count; i++) {
            const std::size_t t = static_cast<std::size_t>(i);
            if (!tree.solid[t]) continue;
            const Crossing c = crossing(tree.triangles[t], point, ray);
            if (c == Crossing::unsure) return std::nullopt;
            total += c == Crossing::out ? 1 : (c == Crossing::in ? -1 : 0);
        }
    }
    return total;
}

}  // namespace

Node bounds_of(const Triangle &t) {
    const Box box = box_of(t);
    Node out;
    out.center = 0.5 * (box.low + box.high);
    out.half = max(box.high - out.center, out.center - box.low);
    const Vec3 normal = cross(t.b - t.a, t.c - t.a);
    const double length = norm(normal);
    if (length > 0.0 && 1.0 / length < 1e300) {
        const Vec3 unit = {normal.x / length, normal.y / length, normal.z / length};
        const double p = dot(unit, t.a), q = dot(unit, t.b), r = dot(unit, t.c);
        const double low = std::min({p, q, r}), high = std::max({p, q, r});
        out.slab = {unit, 0.5 * (low + high), 0.5 * (high - low)};
    }
    return out;
}

double half_solid_angle(const Triangle &t, Vec3 point) {
    const Vec3 a = t.a - point, b = t.b - point, c = t.c - point;
    const double la = norm(a), lb = norm(b), lc = norm(c);
    return std::atan2(dot(a, cross(b, c)), la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(a, c) * lb);
}

TriangleTree build_tree(std::span<const MeshTriangle> triangles, std::vector<Vec3> pieces) {
    TriangleTree tree;
    Builder builder(triangles);
    tree.nodes = builder.build(tree.depth);
    tree.pieces = std::move(pieces);
    for (unsigned i : builder.order()) {
        const MeshTriangle &t = triangles[i];
        tree.triangles.push_back(t.corners);
        tree.solid.push_back(t.solid);
        tree.order.push_back(t.row);
        tree.closed |= t.solid;
        for (int k = 0; k < 3; k++) {
            const Vec3 at = abs(t.corners.corner(k));
            tree.scale = std::max({tree.scale, at.x, at.y, at.z});
        }
    }
    tree.size = size_of(tree.root().half);
    make_blocks(tree);
    return tree;
}

bool point_inside(const TriangleTree &tree, Vec3 point) {
    const Vec3 off = abs(point - tree.root().center), half = tree.root().half;
    if (off.x > half.x || off.y > half.y || off.z > half.z) return false;
    for (Vec3 ray : RAYS)
        if (const auto winding = ray_winding(tree, point, ray)) return *winding != 0;
    double total = 0.0;
    for (std::size_t t = 0; t < tree.triangles.size(); t++)
        if (tree.solid[t]) total += half_solid_angle(tree.triangles[t], point);
    return std::fabs(total / (2.0 * std::numbers::pi)) > 0.5;
}

}  // namespace elbowroom
