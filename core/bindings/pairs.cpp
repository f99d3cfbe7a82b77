// elbowroom/pairs and the chains of elbowroom/robot: joints between two links, search and proof over their values.
#include "elbowroom/never.hpp"

#include <nanobind/stl/shared_ptr.h>

#include "elbowroom/never_meshes.hpp"
#include "module.hpp"

namespace elbowroom::bindings {
namespace {

using namespace nb::literals;

void make_chain(Chain *self, In<std::int64_t, 1> kind, In<double, 3> local, In<double, 2> poly, In<std::int64_t, 1> var,
                In<double, 1> slope, std::int64_t n_a) {
    const std::size_t n = kind.size();
    require(local.shape(0) == n && local.shape(1) == 3 && local.shape(2) == 4, "local: expected shape (joints, 3, 4)");
    require(poly.shape(0) == n && var.size() == n && slope.size() == n, "poly, var, slope: expected one for each joint");
    require(n_a >= 0 && n_a <= static_cast<std::int64_t>(n), "n_a: expected a number of joints");
    require_finite(local, "local: expected finite numbers");
    require_finite(poly, "poly: expected finite numbers");
    require_finite(slope, "slope: expected finite numbers");
    std::vector<ChainJoint> joints(n);
    int variables = 0;
    for (std::size_t k = 0; k < n; k++) {
        require(kind(k) == 1 || kind(k) == 2, "kind: expected 1 (turns) or 2 (slides)");
        require(var(k) >= 0 && var(k) < static_cast<std::int64_t>(n), "var: out of range");
        ChainJoint &joint = joints[k];
        joint.turns = kind(k) == 1;
        joint.variable = static_cast<int>(var(k));
        joint.slope = slope(k);
        for (std::size_t i = 0; i < 3; i++) {
            for (std::size_t j = 0; j < 3; j++) joint.in_previous.r[3 * i + j] = local(k, i, j);
            joint.in_previous.t[i] = local(k, i, 3);
        }
        for (std::size_t c = 0; c < poly.shape(1); c++) joint.law.push_back(poly(k, c));
        variables = std::max(variables, joint.variable + 1);
    }
    new (self) Chain(std::move(joints), static_cast<int>(n_a), variables);
}

int side_of(const Chain &chain, std::int64_t side) {
    require(side >= 0 && side <= static_cast<std::int64_t>(chain.joints().size()), "side: expected a number of joints");
    return static_cast<int>(side);
}

Vec3 point_of(const In<double, 1> &point) {
    require(point.size() == 3, "point: expected shape (3,)");
    return {point(0), point(1), point(2)};
}

BoxRange range_of(const Chain &chain, const In<double, 1> &lower, const In<double, 1> &upper) {
    const std::size_t n = static_cast<std::size_t>(chain.n_variables());
    require(lower.size() == n && upper.size() == n, "lower, upper: expected shape (variables,)");
    return {{lower.data(), n}, {upper.data(), n}};
}

// Groups first, then spheres; `spans` has each group's first ball and count.
GroupedBalls grouped(const In<double, 2> &balls, const In<std::int64_t, 2> &spans) {
    require(balls.shape(1) == 4 && spans.shape(1) == 2 && spans.shape(0) > 0, "balls: expected (n, 4), spans (groups, 2)");
    const std::int64_t groups = static_cast<std::int64_t>(spans.shape(0)), all = static_cast<std::int64_t>(balls.shape(0));
    require(groups < all, "balls: expected groups, then spheres");
    require_finite(balls, "balls: expected finite numbers");
    const auto ball = [&](std::size_t k) { return Ball{{balls(k, 0), balls(k, 1), balls(k, 2)}, balls(k, 3)}; };
    GroupedBalls out;
    for (std::size_t g = 0; g < spans.shape(0); g++) {
        const std::int64_t first = spans(g, 0), count = spans(g, 1);
        require(first >= groups && first <= all && count > 0 && count <= all - first, "spans: out of range");
        out.groups.push_back({ball(g), static_cast<int>(first - groups), static_cast<int>(count)});
    }
    for (std::size_t k = spans.shape(0); k < balls.shape(0); k++) out.spheres.push_back(ball(k));
    return out;
}

template <class T> Out<double, 1> array_of(const T &values) {
    Out<double, 1> out = make_array<double, 1>({values.size()});
    std::copy(values.begin(), values.end(), out.data());
    return out;
}

void make_sphere_pair(SpherePair *self, const Chain &chain, std::int64_t side, In<double, 2> balls_a, In<std::int64_t, 2> spans_a,
                      In<double, 2> balls_b, In<std::int64_t, 2> spans_b) {
    new (self) SpherePair(chain, side_of(chain, side), grouped(balls_a, spans_a), grouped(balls_b, spans_b));
}

CarriedMesh carried(std::shared_ptr<TriangleTree> tree, const In<double, 2> &T) {
    require(tree != nullptr, "tree: expected a TriangleTree");
    require(T.shape(0) == 4 && T.shape(1) == 4, "T_body_mesh: expected shape (4, 4)");
    require_finite(T, "T_body_mesh: expected finite numbers");
    CarriedMesh out;
    out.tree = std::move(tree);
    for (std::size_t i = 0; i < 3; i++) {
        for (std::size_t j = 0; j < 3; j++) out.in_body.r[3 * i + j] = T(i, j);
        out.in_body.t[i] = T(i, 3);
    }
    return out;
}

void make_mesh_pair(MeshPair *self, const Chain &chain, std::int64_t side, std::shared_ptr<TriangleTree> tree_a, In<double, 2> T_body_a,
                    std::shared_ptr<TriangleTree> tree_b, In<double, 2> T_body_b) {
    new (self) MeshPair(chain, side_of(chain, side), carried(std::move(tree_a), T_body_a), carried(std::move(tree_b), T_body_b));
}

// Rows of joint values; a pair that nothing moves has rows without numbers.
template <class Pair> std::span<const double> rows_of(const Pair &pair, const In<double, 2> &values) {
    require(values.shape(1) == static_cast<std::size_t>(pair.chain().n_variables()), "values: expected shape (n, variables)");
    require_finite(values, "values: expected finite numbers");
    return {values.data(), values.size()};
}

Tuple told(const ProofOutcome &outcome) {
    return nb::make_tuple(static_cast<int>(outcome.status), outcome.bound, outcome.boxes, array_of(outcome.cfg));
}

}  // namespace

void bind_pairs(nb::module_ &m) {
    m.attr("UNDECIDED") = static_cast<int>(Proof::undecided);
    m.attr("PROVED") = static_cast<int>(Proof::proved);
    m.attr("HIT") = static_cast<int>(Proof::hit);
    nb::class_<Chain>(m, "Chain", "The joints between two links: first those down to link a, then those down to link b.")
        .def("__init__", &make_chain, "kind"_a, "local"_a, "poly"_a, "var"_a, "slope"_a, "n_a"_a, "Takes the arrays of a `Chain`.")
        .def(
            "best_side",
            [](const Chain &chain, In<double, 1> lower, In<double, 1> upper, In<double, 1> point_a, In<double, 1> point_b) {
                const BoxRange range = range_of(chain, lower, upper);
                return chain.best_side(range.lower, range.upper, point_of(point_a), point_of(point_b));
            },
            "lower"_a, "upper"_a, "point_a"_a, "point_b"_a,
            "Joints on the path from a that should count as moving a; points (3,) stand for the links, limits (variables,).");
    nb::class_<SpherePair>(m, "SpherePair", "Spheres of two links with a chain between them; metres, radians.")
        .def("__init__", &make_sphere_pair, "chain"_a, "side"_a, "balls_a"_a, "spans_a"_a, "balls_b"_a, "spans_b"_a,
             "Balls (n, 4), groups then spheres, in the bodies at the ends; spans (groups, 2) with first ball and count.")
        .def(
            "clearances",
            [](const SpherePair &pair, In<double, 2> values) {
                const std::span<const double> rows = rows_of(pair, values);
                Out<double, 1> out = make_array<double, 1>({values.shape(0)});
                double *to = out.data();
                nb::gil_scoped_release release;
                for (std::size_t k = 0; k < values.shape(0); k++) to[k] = pair.clearance(rows.subspan(k * values.shape(1), values.shape(1)));
                return out;
            },
            "values"_a, "Smallest distance between spheres (n,) at joint values (n, variables).")
        .def(
            "search",
            [](const SpherePair &pair, In<double, 2> starts, In<double, 1> lower, In<double, 1> upper, double target, int rounds) -> Tuple {
                const std::span<const double> rows = rows_of(pair, starts);
                const BoxRange range = range_of(pair.chain(), lower, upper);
                std::vector<double> at(lower.size(), 0.0);
                double found = 0.0;
                {
                    nb::gil_scoped_release release;
                    found = pair.search(rows, range, target, rounds, at);
                }
                return nb::make_tuple(found, array_of(at));
            },
            "starts"_a, "lower"_a, "upper"_a, "target"_a, "rounds"_a,
            "Pattern search downhill from starts (n, variables): smallest clearance found, and where.")
        .def(
            "prove",
            [](const SpherePair &pair, In<double, 1> lower, In<double, 1> upper, double pad, std::int64_t max_boxes) -> Tuple {
                const BoxRange range = range_of(pair.chain(), lower, upper);
                ProofOutcome out;
                {
                    nb::gil_scoped_release release;
                    out = pair.prove(range, pad, max_boxes);
                }
                return told(out);
            },
            "lower"_a, "upper"_a, "pad"_a, "max_boxes"_a,
            "Whether the spheres stay farther apart than `pad` within the limits: (status, bound less pad, boxes, values of a hit).");
    nb::class_<MeshPair>(m, "MeshPair", "Meshes of two links with a chain between them; metres, radians.")
        .def("__init__", &make_mesh_pair, "chain"_a, "side"_a, "tree_a"_a, "T_body_a"_a, "tree_b"_a, "T_body_b"_a,
             "Trees of the meshes and their poses (4, 4) in the bodies at the ends of the chain.")
        .def(
            "clearances",
            [](const MeshPair &pair, In<double, 2> values) {
                const std::span<const double> rows = rows_of(pair, values);
                Out<double, 1> out = make_array<double, 1>({values.shape(0)});
                const std::span<double> to(out.data(), values.shape(0));
                nb::gil_scoped_release release;
                pair.clearances(rows, to);
                return out;
            },
            "values"_a, "Distance of the meshes (n,) at joint values (n, variables); 0 where they collide.")
        .def(
            "prove",
            [](const MeshPair &pair, In<double, 1> lower, In<double, 1> upper, double target, std::int64_t max_boxes, bool by_axes) -> Tuple {
                const BoxRange range = range_of(pair.chain(), lower, upper);
                ProofOutcome out;
                {
                    nb::gil_scoped_release release;
                    out = pair.prove(range, target, max_boxes, by_axes);
                }
                return nb::make_tuple(static_cast<int>(out.status), out.boxes, array_of(out.cfg));
            },
            "lower"_a, "upper"_a, "target"_a, "max_boxes"_a, "by_axes"_a,
            "Whether the meshes stay farther apart than `target` within the limits: (status, boxes, values of a hit).");
}

}  // namespace elbowroom::bindings
