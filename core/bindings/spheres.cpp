// elbowroom/spheres: shapes of links, the coverage proof, sphere fitting.
#include "elbowroom/spheres.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <limits>
#include <tuple>
#include <utility>

#include "module.hpp"

namespace elbowroom::bindings {
namespace {

using namespace nb::literals;

constexpr std::size_t MOST_NODES = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t MOST_FACES = 400'000'000;

constexpr double MOST = 1e90;  // of a coordinate, metres: products of three stay finite

std::vector<Vec3> vectors(const In<double, 2> &a, const char *message) {
    require(a.shape(1) == 3, message);
    require_finite(a, message, MOST);
    std::vector<Vec3> out(a.shape(0));
    for (std::size_t k = 0; k < out.size(); k++) out[k] = {a(k, 0), a(k, 1), a(k, 2)};
    return out;
}

std::vector<LinkShape::Face> faces_of(const In<std::int64_t, 2> &a, std::size_t n_vertices) {
    require(a.shape(1) == 3 && static_cast<std::int64_t>(a.shape(0)) < MOST_FACES, "faces: expected shape (n, 3)");
    std::vector<LinkShape::Face> out(a.shape(0));
    for (std::size_t k = 0; k < out.size(); k++)
        for (std::size_t c = 0; c < 3; c++) {
            require(a(k, c) >= 0 && a(k, c) < static_cast<std::int64_t>(n_vertices), "faces: index out of range");
            out[k][c] = static_cast<std::uint32_t>(a(k, c));
        }
    return out;
}

std::vector<Ball> balls_of(const In<double, 2> &a, std::size_t least) {
    require(a.shape(1) == 4 && a.shape(0) >= least, "balls: expected shape (n, 4), centres and radii, and at least one");
    require_finite(a, "balls: expected finite numbers", MOST);
    std::vector<Ball> out(a.shape(0));
    for (std::size_t k = 0; k < out.size(); k++) {
        require(a(k, 3) >= 0.0, "balls: expected radii from 0 up");
        out[k] = {{a(k, 0), a(k, 1), a(k, 2)}, a(k, 3)};
    }
    return out;
}

Out<double, 2> rows_of(std::span<const Ball> balls) {
    Out<double, 2> out = make_array<double, 2>({balls.size(), 4});
    double *at = out.data();
    for (const Ball &b : balls) *at++ = b.center.x, *at++ = b.center.y, *at++ = b.center.z, *at++ = b.radius;
    return out;
}

// Runs the core without the interpreter lock.
template <class Work> auto unlocked(Work work) {
    nb::gil_scoped_release release;
    return work();
}

Lattice lattice_of(std::array<double, 3> low, double spacing, std::array<std::size_t, 3> counts) {
    for (double x : low) require(std::fabs(x) <= MOST, "low: expected finite numbers");
    require(spacing <= MOST && spacing > 0.0, "spacing: expected a positive number");
    std::size_t nodes = 1;
    for (std::size_t n : counts) {
        require(n <= MOST_NODES && nodes * n <= MOST_NODES, "counts: too many nodes");
        nodes *= n;
    }
    return {{low[0], low[1], low[2]}, spacing, counts};
}

void make_shape(LinkShape *self, In<double, 2> vertices, In<std::int64_t, 2> faces, In<std::int64_t, 2> solid) {
    std::vector<Vec3> points = vectors(vertices, "vertices: expected finite numbers of shape (n, 3)");
    std::vector<LinkShape::Face> all = faces_of(faces, points.size()), closed = faces_of(solid, points.size());
    require(!all.empty() && closed.size() <= all.size(), "faces: expected at least one, and as many as in solid");
    nb::gil_scoped_release release;
    new (self) LinkShape(std::move(points), std::move(all), std::move(closed));
}

std::vector<float> float_values(const Columns &d, const char *name, const Lattice &lattice) {
    const auto a = nb::cast<In<float, 3>>(d[name]);
    for (std::size_t k = 0; k < 3; k++) require(a.shape(k) == lattice.counts[k], "lattice values: shapes differ");
    for (std::size_t k = 0; k < a.size(); k++) require(std::isfinite(a.data()[k]), "lattice values: expected finite numbers");
    return {a.data(), a.data() + a.size()};
}

void make_problem(FitProblem *self, const LinkShape &shape, Columns d, double deep) {
    const auto number = [&](const char *name) { return nb::cast<double>(d[name]); };
    const auto points = [&](const char *name) {
        return vectors(nb::cast<In<double, 2>>(d[name]), "samples and directions: expected finite numbers of shape (n, 3)");
    };
    FitInput input;
    const auto origin = nb::cast<std::array<double, 3>>(d["origin"]);
    input.origin = {origin[0], origin[1], origin[2]};
    input.scale = number("scale");
    input.reference_volume = number("reference_volume");
    require(std::isfinite(squared(input.origin)) && input.scale > 0.0 && std::isfinite(input.scale) &&
                input.reference_volume > 0.0 && deep > 0.0,
            "expected a finite origin, and positive scale, reference volume and depth");
    input.samples = points("samples"), input.inside = points("inside"), input.directions = points("directions");
    require(!input.samples.empty(), "samples: expected at least one");
    require(!input.directions.empty() && input.directions.size() % FitProblem::DIRECTIONS == 0,
            "directions: expected sets of 32");
    const auto values = nb::cast<In<float, 3>>(d["signed_distances"]);
    input.lattice = lattice_of(nb::cast<std::array<double, 3>>(d["low"]), number("spacing"),
                               {values.shape(0), values.shape(1), values.shape(2)});
    for (std::size_t n : input.lattice.counts) require(n >= 2, "signed_distances: expected at least two nodes each way");
    input.signed_distances = float_values(d, "signed_distances", input.lattice);
    if (!d["beyond"].is_none()) input.beyond = float_values(d, "beyond", input.lattice);
    input.closed = nb::cast<bool>(d["closed"]);
    nb::gil_scoped_release release;
    new (self) FitProblem(shape, input, deep);
}

Schedule schedule_of(int steps, std::array<double, 2> step_size, std::array<double, 2> penalty) {
    for (double x : {step_size[0], step_size[1], penalty[0], penalty[1]})
        require(x > 0.0 && std::isfinite(x), "step_size, penalty: expected positive numbers");
    return {steps, step_size, penalty};
}

std::vector<std::size_t> indices(const std::int64_t *data, std::size_t n, std::size_t size) {
    std::vector<std::size_t> out(n);
    for (std::size_t k = 0; k < n; k++) {
        require(data[k] >= 0 && data[k] < static_cast<std::int64_t>(size), "sample out of range");
        out[k] = static_cast<std::size_t>(data[k]);
    }
    return out;
}

using Rows = In<double, 2>;

void bind_shape(nb::module_ &m) {
    nb::class_<LinkShape>(m, "LinkShape", "Triangles of a link, ordered in space: distances, volumes, coverage by balls.")
        .def("__init__", &make_shape, "vertices"_a, "faces"_a, "solid"_a,
             "Vertices (n, 3) in metres; faces (m, 3), at least one, and those of them that belong to closed pieces.")
        .def(
            "distances",
            [](const LinkShape &shape, Rows points) {
                const std::vector<Vec3> at = vectors(points, "points: expected finite numbers of shape (n, 3)");
                Out<double, 1> out = make_array<double, 1>({at.size()});
                nb::gil_scoped_release release;
                shape.distances(at, {out.data(), at.size()});
                return out;
            },
            "points"_a, "Unsigned distances (n,) of points (n, 3) to the surface, metres.")
        .def(
            "least_distance",
            [](const LinkShape &shape, Rows points, double bound) {
                const std::vector<Vec3> at = vectors(points, "points: expected finite numbers of shape (n, 3)");
                require(bound >= 0.0, "bound: expected a number from 0 up");
                return unlocked([&] { return shape.least_distance(at, bound); });
            },
            "points"_a, "bound"_a, "Least distance of points (n, 3) to the surface, or the bound if that is less, metres.")
        .def(
            "signed_distances",
            [](const LinkShape &shape, std::array<double, 3> low, double spacing, std::array<std::size_t, 3> counts) {
                const Lattice lattice = lattice_of(low, spacing, counts);
                Out<double, 3> out = make_array<double, 3>({counts[0], counts[1], counts[2]});
                nb::gil_scoped_release release;
                shape.signed_distances(lattice, {out.data(), lattice.size()});
                return out;
            },
            "low"_a, "spacing"_a, "counts"_a,
            "Distances at the nodes of a lattice, metres, negative inside closed pieces, in the shape of `counts`.")
        .def(
            "volumes",
            [](const LinkShape &shape, Rows balls) {
                const std::vector<Ball> all = balls_of(balls, 0);
                const auto found = unlocked([&] { return shape.volumes(all); });
                Out<double, 2> out = make_array<double, 2>({found.size(), 3});
                double *at = out.data();
                for (const RayVolumes &v : found) *at++ = v.solid, *at++ = v.balls, *at++ = v.both;
                return out;
            },
            "balls"_a, "Volumes (8, 3) of solid, union of balls (n, 4) and both, by shifted lattices of rays, cubic metres.")
        .def(
            "protrusion",
            [](const LinkShape &shape, Rows balls) {
                const std::vector<Ball> all = balls_of(balls, 0);
                const Protrusion found = unlocked([&] { return shape.protrusion(all); });
                return std::pair(found.mean, found.largest);
            },
            "balls"_a, "Mean and largest distance from the outer surface of a union of balls (n, 4) to the mesh, metres.")
        .def(
            "prove_coverage",
            [](const LinkShape &shape, Rows balls) {
                const std::vector<Ball> all = balls_of(balls, 1);
                const Coverage found = unlocked([&] { return prove_coverage(shape, all); });
                Out<double, 2> points = make_array<double, 2>({found.witnesses.size(), 3});
                Out<double, 1> gaps = make_array<double, 1>({found.witnesses.size()});
                for (std::size_t k = 0; k < found.witnesses.size(); k++) {
                    const Witness &w = found.witnesses[k];
                    points(k, 0) = w.point.x, points(k, 1) = w.point.y, points(k, 2) = w.point.z, gaps(k) = w.gap;
                }
                return std::tuple(found.surface_bound, points, gaps, found.cavities);
            },
            "balls"_a,
            "Whether balls (n, 4) cover the link: an upper bound of the surface's distance to their union, points (w, 3)\n"
            "outside every ball with their gaps (w,), and how many of them, the last ones, are inside closed pieces.")
        .def(
            "grow_to_cover",
            [](const LinkShape &shape, Rows balls, int rounds) {
                const std::vector<Ball> all = balls_of(balls, 1);
                return rows_of(unlocked([&] { return grow_to_cover(shape, all, rounds); }));
            },
            "balls"_a, "rounds"_a, "Balls (n, 4) with radii grown until they are proved to cover the link.");
    m.def(
        "union_volume",
        [](Rows balls) {
            const std::vector<Ball> all = balls_of(balls, 0);
            return unlocked([&] { return union_volume(all); });
        },
        "balls"_a, "Volume of a union of balls (n, 4) by one lattice of rays, cubic metres.");
}

void bind_fit(nb::module_ &m) {
    nb::class_<FitProblem>(m, "FitProblem",
                           "A link prepared for fitting. Balls are rows (x, y, z, r), scaled: relative to the origin, in\n"
                           "units of the scale.")
        .def("__init__", &make_problem, "shape"_a, "input"_a, "deep"_a,
             "`input` is a dictionary in metres, link frame: origin (3,), scale, samples (n, 3), inside (m, 3),\n"
             "low (3,), spacing and signed_distances (nx, ny, nz) float32 of a lattice, beyond (the same, or None),\n"
             "directions (k, 3) in sets of 32, reference_volume, closed. `deep` is the protrusion whose outside volume\n"
             "weighs double.")
        .def("with_depth",
             [](const FitProblem &problem, double deep) {
                 require(deep > 0.0, "deep: expected a positive number");
                 return problem.with_depth(deep);
             },
             "deep"_a, "The same problem with another depth, metres.")
        .def_prop_ro("n_samples", &FitProblem::n_samples, "Samples to cover, repeated ones included.")
        .def_prop_ro("n_turns", &FitProblem::n_turns, "Sets of directions.")
        .def(
            "clustered",
            [](const FitProblem &problem, In<std::int64_t, 1> picks, In<std::int64_t, 2> fresh) {
                require(picks.size() > 0 && fresh.shape(1) == picks.size(), "fresh: expected shape (rounds, count)");
                const auto first = indices(picks.data(), picks.size(), problem.n_samples());
                const auto spare = indices(fresh.data(), fresh.size(), problem.n_samples());
                return rows_of(unlocked([&] { return problem.clustered(first, spare); }));
            },
            "picks"_a, "fresh"_a,
            "Balls (count, 4) about clusters of the samples, by Lloyd's algorithm from samples `picks` (count,); samples\n"
            "`fresh` (rounds, count) take the place of empty clusters.")
        .def(
            "split_worst",
            [](const FitProblem &problem, Rows balls) {
                const std::vector<Ball> all = balls_of(balls, 1);
                return rows_of(unlocked([&] { return problem.split_worst(all); }));
            },
            "balls"_a, "Balls (n + 1, 4): the one to blame for most outside volume is cut in two.")
        .def(
            "descend",
            [](const FitProblem &problem, Rows balls, int steps, std::array<double, 2> step_size,
               std::array<double, 2> penalty) {
                const std::vector<Ball> all = balls_of(balls, 1);
                const Schedule schedule = schedule_of(steps, step_size, penalty);
                return rows_of(unlocked([&] { return problem.descend(all, schedule); }));
            },
            "balls"_a, "steps"_a, "step_size"_a, "penalty"_a,
            "Balls (n, 4) after a descent on outside volume with sampled coverage; first and last step and penalty.")
        .def(
            "improve",
            [](const FitProblem &problem, Rows balls, Rows draws, int steps, std::array<double, 2> step_size,
               std::array<double, 2> penalty) {
                require(draws.shape(1) == 2, "draws: expected shape (trials, 2)");
                require_finite(draws, "draws: expected finite numbers", MOST);
                const std::vector<Ball> all = balls_of(balls, 1);
                const Schedule schedule = schedule_of(steps, step_size, penalty);
                const auto made = unlocked([&] { return problem.improve(all, {draws.data(), draws.size()}, schedule); });
                return std::pair(rows_of(made.balls), made.cost);
            },
            "balls"_a, "draws"_a, "steps"_a, "step_size"_a, "penalty"_a,
            "Better balls (n, 4) and their cost, by moves drawn with uniform numbers (trials, 2), each with a descent.")
        .def(
            "polish",
            [](const FitProblem &problem, Rows balls, int steps, std::array<double, 2> step_size) {
                const std::vector<Ball> all = balls_of(balls, 1);
                schedule_of(steps, step_size, {1.0, 1.0});
                return rows_of(unlocked([&] { return problem.polish(all, steps, step_size); }));
            },
            "balls"_a, "steps"_a, "step_size"_a, "Balls (n, 4) after a descent with exact coverage, grown at its witnesses.")
        .def(
            "cost",
            [](const FitProblem &problem, Rows balls) {
                const std::vector<Ball> all = balls_of(balls, 1);
                return unlocked([&] { return problem.cost(all); });
            },
            "balls"_a, "Weighted outside volume of balls (n, 4) over the reference volume.")
        .def(
            "cost_gradient",
            [](const FitProblem &problem, Rows balls, std::size_t turn) {
                const std::vector<Ball> all = balls_of(balls, 1);
                return rows_of(unlocked([&] { return problem.cost_gradient(all, turn); }));
            },
            "balls"_a, "turn"_a, "Estimate of the gradient (n, 4) of the cost by one set of directions.");
}

}  // namespace

void bind_spheres(nb::module_ &m) {
    bind_shape(m);
    bind_fit(m);
}

}  // namespace elbowroom::bindings
