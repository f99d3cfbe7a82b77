// elbowroom/distance: balls and self-collision of spheres.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "elbowroom/self_collision.hpp"
#include "module.hpp"

namespace elbowroom::bindings {
namespace {

using namespace nb::literals;

std::vector<Ball> balls_of(const In<double, 2> &rows) {
    require(rows.shape(1) == 4, "balls: expected shape (n, 4)");
    std::vector<Ball> balls(rows.shape(0));
    for (std::size_t k = 0; k < balls.size(); k++) {
        balls[k] = {{rows(k, 0), rows(k, 1), rows(k, 2)}, rows(k, 3)};
        for (std::size_t c = 0; c < 4; c++) require(std::isfinite(rows(k, c)), "balls: expected finite numbers");
    }
    return balls;
}

void make_self_collision(SelfCollision *self, std::shared_ptr<Robot> shared, In<double, 2> spheres, In<std::int64_t, 1> links,
                         In<std::int64_t, 2> pairs, In<double, 1> largest) {
    const Robot &robot = *shared;
    const std::vector<Ball> balls = balls_of(spheres);
    const auto link = [&](std::int64_t k) {
        require(k >= 0 && k < static_cast<std::int64_t>(robot.n_links()), "links: out of range");
        return static_cast<int>(k);
    };
    require(links.size() == balls.size(), "links: expected one for each sphere");
    require(largest.size() == robot.laws().size(), "largest_values: expected one for each moving joint");
    require(pairs.shape(1) == 2, "pairs: expected shape (n, 2)");
    std::vector<int> of(balls.size());
    std::vector<bool> round(robot.n_links(), false);
    for (std::size_t k = 0; k < of.size(); k++) round[static_cast<std::size_t>(of[k] = link(links(k)))] = true;
    std::vector<LinkPair> wanted(pairs.shape(0));
    for (std::size_t k = 0; k < wanted.size(); k++) {
        wanted[k] = {link(pairs(k, 0)), link(pairs(k, 1))};
        require(round[static_cast<std::size_t>(wanted[k].a)] && round[static_cast<std::size_t>(wanted[k].b)],
                "pairs: a link has no spheres");
    }
    new (self) SelfCollision(shared, balls, of, wanted, {largest.data(), largest.size()});
}

Configurations rows_of(const SelfCollision &model, const In<double, 2> &cfgs) {
    require(cfgs.shape(1) == static_cast<std::size_t>(model.robot().dof()), "cfgs: expected shape (n, dof)");
    return {{cfgs.data(), cfgs.size()}, cfgs.shape(0)};
}

// Binds a question that fills one number a row.
template <class T, std::int64_t (SelfCollision::*ask)(const Configurations &, std::span<T>) const>
std::int64_t fill_rows(const SelfCollision &model, In<double, 2> cfgs, InOut<T, 1> out) {
    const Configurations rows = rows_of(model, cfgs);
    require(out.size() == rows.count, "out: expected shape (n,)");
    nb::gil_scoped_release release;
    return (model.*ask)(rows, {out.data(), out.size()});
}

// Binds a question that fills one number for each row and pair.
template <class T, std::int64_t (SelfCollision::*ask)(const Configurations &, std::span<T>) const>
std::int64_t fill_pairs(const SelfCollision &model, In<double, 2> cfgs, InOut<T, 2> out) {
    const Configurations rows = rows_of(model, cfgs);
    require(out.shape(0) == rows.count && out.shape(1) == model.n_pairs(), "out: expected shape (n, pairs)");
    nb::gil_scoped_release release;
    return (model.*ask)(rows, {out.data(), out.size()});
}

// For one configuration the lock is kept: giving it away costs more than the answer.
int is_free(const SelfCollision &model, In<double, 1> cfg) {
    require(cfg.size() == static_cast<std::size_t>(model.robot().dof()), "cfg: expected shape (dof,)");
    bool out = false;
    return model.free({{cfg.data(), cfg.size()}, 1}, {&out, 1}) < 0 ? out : -1;
}

nb::object min_distance(const SelfCollision &model, In<double, 1> cfg) {
    require(cfg.size() == static_cast<std::size_t>(model.robot().dof()), "cfg: expected shape (dof,)");
    float out = 0.0f;
    if (model.min_distances({{cfg.data(), cfg.size()}, 1}, {&out, 1}) >= 0) return nb::none();
    return nb::float_(static_cast<double>(out));
}

}  // namespace

void bind_distance(nb::module_ &m) {
    m.def(
        "enclosing_ball",
        [](In<double, 2> rows) {
            const std::vector<Ball> balls = balls_of(rows);
            require(!balls.empty(), "balls: expected at least one");
            const Ball ball = enclosing_ball(balls);
            Out<double, 1> out = make_array<double, 1>({4});
            out(0) = ball.center.x, out(1) = ball.center.y, out(2) = ball.center.z, out(3) = ball.radius;
            return out;
        },
        "balls"_a, "A ball (x, y, z, radius) that holds all balls (n, 4), near the smallest; metres.");
    m.def(
        "group_balls", [](In<double, 2> rows) { return group_balls(balls_of(rows)); }, "balls"_a,
        "Up to four groups of neighbouring balls (n, 4), as lists of their places.");
    nb::class_<SelfCollision>(m, "SelfCollision",
                              "Spheres of a robot's links over pairs of links; methods on configurations (n, dof) return the "
                              "first row that is not finite or too large, or -1.")
        .def("__init__", &make_self_collision, "robot"_a, "spheres"_a, "links"_a, "pairs"_a, "largest_values"_a,
             "Spheres (n, 4) in the frames of `links` (n,), pairs (n, 2) of links, and for each moving joint the largest "
             "value, rad or m, that the error bound covers.")
        .def(
            "reordered",
            [](const SelfCollision &model, In<std::int64_t, 1> order) {
                std::vector<int> wanted(order.size());
                std::vector<bool> seen(model.n_pairs(), false);
                require(wanted.size() == model.n_pairs(), "order: expected one for each pair");
                for (std::size_t k = 0; k < wanted.size(); k++) {
                    require(order(k) >= 0 && order(k) < static_cast<std::int64_t>(seen.size()), "order: out of range");
                    require(!seen[static_cast<std::size_t>(order(k))], "order: a pair comes twice");
                    seen[static_cast<std::size_t>(order(k))] = true;
                    wanted[k] = static_cast<int>(order(k));
                }
                return model.reordered(wanted);
            },
            "order"_a, "The same with its pairs in another order (pairs,).")
        .def_prop_ro("margin", &SelfCollision::margin, "Bound on the float32 error of a distance, metres.")
        .def("free", &fill_rows<bool, &SelfCollision::free>, "cfgs"_a, "out"_a.noconvert(),
             "Whether no pair touches, (n,) bool; spheres that overlap are never called free.")
        .def("min_distances", &fill_rows<float, &SelfCollision::min_distances>, "cfgs"_a, "out"_a.noconvert(),
             "Smallest distance of any pair, (n,) float32 metres, infinite without pairs.")
        .def("pair_distances", &fill_pairs<float, &SelfCollision::pair_distances>, "cfgs"_a, "out"_a.noconvert(),
             "Distance of every pair, (n, pairs) float32 metres.")
        .def("pair_hits", &fill_pairs<bool, &SelfCollision::pair_hits>, "cfgs"_a, "out"_a.noconvert(),
             "Whether each pair touches, (n, pairs) bool, as conservative as `free`.")
        .def(
            "count_hits",
            [](const SelfCollision &model, In<double, 2> cfgs, In<float, 1> pads, InOut<std::int64_t, 1> counts) {
                const Configurations rows = rows_of(model, cfgs);
                require(pads.size() == model.n_pairs() && counts.size() == model.n_pairs(), "pads, counts: expected shape (pairs,)");
                nb::gil_scoped_release release;
                return model.count_hits(rows, {pads.data(), pads.size()}, {counts.data(), counts.size()});
            },
            "cfgs"_a, "pads"_a, "counts"_a.noconvert(),
            "Adds to counts (pairs,) int64 the configurations in which each pair comes closer than its pad, metres.")
        .def("is_free", &is_free, "cfg"_a, "One configuration (dof,): 1 when free, 0 when not, -1 when refused.")
        .def("min_distance", &min_distance, "cfg"_a, "One configuration (dof,): metres, or None when refused.");
}

}  // namespace elbowroom::bindings
