// Bindings of the search for paths.
#include <nanobind/stl/shared_ptr.h>

#include "elbowroom/roadmap.hpp"
#include "elbowroom/sampler.hpp"
#include "module.hpp"

namespace elbowroom::bindings {
namespace {

using namespace nb::literals;

void make_sampler(Sampler *self, const Scene &scene, In<std::int64_t, 1> moving, In<double, 2> span, In<double, 1> start, In<double, 2> goals,
                  std::uint64_t seed) {
    const std::size_t dof = static_cast<std::size_t>(scene.robot().dof()), n = moving.size();
    require(start.size() == dof, "start: expected shape (dof,)");
    require(goals.shape(1) == dof && goals.shape(0) >= 1, "goals: expected shape (n, dof), n at least 1");
    require(span.shape(0) == 2 && span.shape(1) == n, "span: expected shape (2, moving)");
    require(n >= 1 && n <= dof, "moving: expected one to all of the joints");
    require_finite(start, "start: expected finite numbers");
    require_finite(goals, "goals: expected finite numbers");
    require_finite(span, "span: expected finite numbers", 1e5);
    JointGroup group;
    group.held.assign(start.data(), start.data() + dof);
    for (std::size_t k = 0; k < n; k++) {
        const std::int64_t joint = moving.data()[k];
        require(joint >= 0 && joint < static_cast<std::int64_t>(dof) && (k == 0 || joint > moving.data()[k - 1]), "moving: expected ascending joints");
        require(span(0, k) <= span(1, k), "span: expected low before high");
        group.moving.push_back(static_cast<int>(joint));
    }
    group.low.assign(span.data(), span.data() + n), group.high.assign(span.data() + n, span.data() + 2 * n);
    std::vector<double> from, to;
    const auto part = [&](const double *row, std::vector<double> &out) {
        for (int joint : group.moving) out.push_back(row[joint]);
    };
    part(start.data(), from);
    for (std::size_t k = 0; k < goals.shape(0); k++) part(goals.data() + k * dof, to);
    require(scene.covers({{start.data(), dof}, 1}) < 0 && scene.covers({{goals.data(), goals.size()}, goals.shape(0)}) < 0,
            "start, goals: values beyond what the scene's error bound covers");
    new (self) Sampler(scene, std::move(group), from, to, seed);
}

// What must be looked at more closely in configurations, the first of which is a start, as bits: 1 where a joint that moves leaves its
// limits, 2 where one that is held does, 4 where held joints differ, 8 where another is within `same` of the first.
int ends_marks(In<double, 2> rows, In<bool, 1> moves, In<double, 2> limits, double same) {
    const std::size_t dof = moves.size();
    require(rows.shape(0) >= 1 && rows.shape(1) == dof, "rows: expected shape (n, dof), n at least 1");
    require(limits.shape(0) >= 2 && limits.shape(1) == dof, "limits: expected shape (2, dof)");
    int marks = 0;
    for (std::size_t k = 0; k < rows.shape(0); k++) {
        bool here = k > 0;
        for (std::size_t d = 0; d < dof; d++) {
            const double value = rows(k, d);
            if (!(value >= limits(0, d) && value <= limits(1, d))) marks |= moves(d) ? 1 : 2;
            if (!moves(d) && !(value == rows(0, d))) marks |= 4;
            here = here && std::fabs(value - rows(0, d)) <= same;
        }
        if (here) marks |= 8;
    }
    return marks;
}

Out<double, 2> rows_of(const Sampler &sampler, const Waypoints &path) {
    const std::size_t dof = sampler.group().held.size();
    Out<double, 2> out = make_array<double, 2>({path.size(), dof});
    const Lines lines(sampler.scene(), sampler.group());
    for (std::size_t k = 0; k < path.size(); k++) lines.whole(path[k].data(), out.data() + k * dof);
    return out;
}

constexpr std::int64_t MOST = 100'000;  // iterations or attempts of one call

bool grow(Sampler &sampler, std::int64_t iterations, double seconds) {
    require(iterations >= 0 && iterations <= MOST, "iterations: expected a number up to 100,000");
    nb::gil_scoped_release release;
    return sampler.grow(iterations, seconds);
}

Out<double, 2> shorten(Sampler &sampler, In<double, 2> path, std::int64_t attempts, std::uint64_t seed, double seconds) {
    const std::vector<int> &moving = sampler.group().moving;
    require(path.shape(1) == sampler.group().held.size() && path.shape(0) >= 2, "path: expected shape (n, dof), n at least 2");
    require_finite(path, "path: expected finite numbers", 1e5);
    require(path.shape(0) <= 1'000'000 && attempts >= 0 && attempts <= MOST, "attempts: expected a number up to 100,000");
    Waypoints given(path.shape(0)), made;
    for (std::size_t k = 0; k < given.size(); k++)
        for (const int joint : moving) given[k].push_back(path(k, static_cast<std::size_t>(joint)));
    {
        nb::gil_scoped_release release;
        made = shortened(sampler, given, static_cast<int>(attempts), seed, seconds);
    }
    return rows_of(sampler, made);
}

Tuple trees(const Sampler &sampler) {
    const std::size_t n = static_cast<std::size_t>(sampler.nodes()), dof = sampler.group().held.size();
    Out<double, 2> cfgs = make_array<double, 2>({n, dof});
    Out<std::int64_t, 2> marks = make_array<std::int64_t, 2>({n, 3});
    const Lines lines(sampler.scene(), sampler.group());
    std::size_t row = 0;
    for (int t = 0; t < 2; t++) {
        const Tree &tree = sampler.tree(t);
        const int before = t == 0 ? 0 : sampler.tree(0).size();
        for (int k = 0; k < tree.size(); k++, row++) {
            const Tree::Node &node = tree.node(k);
            lines.whole(tree.at(k), cfgs.data() + row * dof);
            marks(row, 0) = node.parent < 0 ? -1 : node.parent + before;
            marks(row, 1) = t;
            marks(row, 2) = node.gone ? -1 : node.proved;
        }
    }
    return nb::make_tuple(cfgs, marks);
}

Keep keep_of(const Robot &robot, int kind, std::int64_t link, In<double, 2> vectors, In<double, 1> numbers) {
    require(kind >= 0 && kind <= 2, "kind: expected 0 (upright), 1 (plane) or 2 (tube)");
    require(link >= 0 && link < static_cast<std::int64_t>(robot.n_links()), "link: expected a link of the robot");
    require(vectors.shape(1) == 3 && vectors.shape(0) >= 2, "vectors: expected shape (n, 3), n at least 2");
    require(numbers.size() == 2 && numbers.data()[1] >= 0.0, "numbers: expected an offset and a tolerance from 0 up");
    require_finite(vectors, "vectors: expected finite numbers");
    require_finite(numbers, "numbers: expected finite numbers");
    const auto row = [&](std::size_t k) { return Vec3{vectors(k, 0), vectors(k, 1), vectors(k, 2)}; };
    Keep out{static_cast<Keep::Kind>(kind), static_cast<int>(link), row(0), row(1), numbers.data()[0], numbers.data()[1], {}};
    for (std::size_t k = 1; k < vectors.shape(0); k++) out.line.push_back(row(k));
    return out;
}

struct RobotKeeps {
    std::shared_ptr<Robot> robot;
    std::vector<Keep> all;
    Keeps keeps;
};

void make_keeps(RobotKeeps *self, std::shared_ptr<Robot> robot, nb::typed<nb::list, nb::any> all) {
    require(robot != nullptr, "robot: expected no None");
    std::vector<Keep> made;
    for (nb::handle one : all) {
        const auto row = nb::cast<nb::tuple>(one);
        require(row.size() == 4, "all: expected (kind, link, vectors, numbers)");
        made.push_back(keep_of(*robot, nb::cast<int>(row[0]), nb::cast<std::int64_t>(row[1]), nb::cast<In<double, 2>>(row[2]), nb::cast<In<double, 1>>(row[3])));
    }
    new (self) RobotKeeps{robot, made, Keeps(*robot, made)};
}

void make_graph(Graph *self, int nodes, In<std::int64_t, 2> edges, In<double, 1> lengths) {
    require(nodes >= 0 && nodes <= 100'000'000, "nodes: expected a number up to 1e8");
    require(edges.shape(1) == 2 && lengths.size() == edges.shape(0), "edges: expected shape (n, 2) and a length for each");
    std::vector<Graph::Edge> all;
    for (std::size_t k = 0; k < lengths.size(); k++) {
        for (std::size_t end = 0; end < 2; end++) require(edges(k, end) >= 0 && edges(k, end) < nodes, "edges: expected numbers of nodes");
        require(lengths.data()[k] >= 0.0, "lengths: expected numbers from 0 up");
        all.push_back({static_cast<int>(edges(k, 0)), static_cast<int>(edges(k, 1)), lengths.data()[k]});
    }
    new (self) Graph(nodes, std::move(all));
}

Out<std::int64_t, 1> numbers_of(const std::vector<int> &found) {
    Out<std::int64_t, 1> out = make_array<std::int64_t, 1>({found.size()});
    std::copy(found.begin(), found.end(), out.data());
    return out;
}

Tuple shortest(const Graph &graph, In<std::int64_t, 1> starts, In<double, 1> first, In<double, 1> rest, In<bool, 1> closed) {
    const std::size_t n = graph.nodes();
    require(starts.size() == first.size(), "first: expected a length for each of the starts");
    require(rest.size() == n && closed.size() == graph.edges(), "rest, closed: expected shapes (nodes,) and (edges,)");
    std::vector<Graph::Way> from;
    for (std::size_t k = 0; k < starts.size(); k++) {
        const std::int64_t node = starts.data()[k];
        require(node >= 0 && node < static_cast<std::int64_t>(n), "starts: expected numbers of nodes");
        require(first.data()[k] >= 0.0, "first: expected numbers from 0 up");
        from.push_back({static_cast<int>(node), first.data()[k]});
    }
    for (std::size_t k = 0; k < n; k++) require(rest.data()[k] >= 0.0, "rest: expected numbers from 0 up");
    const Graph::Found found = graph.shortest(from, {rest.data(), n}, {closed.data(), closed.size()});
    return nb::make_tuple(numbers_of(found.nodes), numbers_of(found.edges));
}

}  // namespace

void bind_plan(nb::module_ &m) {
    nb::class_<RobotKeeps>(m, "Keeps", "What a path keeps on its way: links upright, points of links on planes or in tubes.")
        .def("__init__", &make_keeps, "robot"_a, "all"_a,
             "Each (kind, link, vectors, numbers): 0 for upright, 1 for a plane, 2 for a tube; a link; (n, 3) the unit axis or the point in its "
             "frame, then the unit direction, the unit normal, or the points of the tube's line; offset of the plane and tolerance.")
        .def(
            "excess",
            [](const RobotKeeps &keeps, In<double, 2> cfgs) {
                require(cfgs.shape(1) == static_cast<std::size_t>(keeps.robot->dof()), "cfgs: expected shape (n, dof)");
                require_finite(cfgs, "cfgs: expected finite numbers");
                Out<double, 1> out = make_array<double, 1>({cfgs.shape(0)});
                for (std::size_t k = 0; k < cfgs.shape(0); k++) out.data()[k] = keeps.keeps.excess(cfgs.data() + k * cfgs.shape(1));
                return out;
            },
            "cfgs"_a, "The largest excess over a tolerance, as a share of it, at configurations (n, dof): (n,); not above zero where all are kept.")
        .def(
            "on_path",
            [](const RobotKeeps &keeps, In<double, 2> rows) {
                require(rows.shape(1) == static_cast<std::size_t>(keeps.robot->dof()), "rows: expected shape (n, dof)");
                require_finite(rows, "rows: expected finite numbers", 1e5);
                nb::gil_scoped_release release;
                for (std::size_t k = 0; k + 1 < rows.shape(0); k++)
                    if (!keeps.keeps.on_line(rows.data() + k * rows.shape(1), rows.data() + (k + 1) * rows.shape(1), 1.0)) return false;
                return true;
            },
            "rows"_a, "Whether all tolerances are kept on the straight lines between rows (n, dof).");
    m.def("ends_marks", &ends_marks, "rows"_a, "moves"_a, "limits"_a, "same"_a,
          "What must be looked at more closely in configurations (n, dof), the first of which is a start: bits, 1 where a joint that moves (dof,) "
          "leaves its limits (2, dof) or is no number, 2 where one that is held does, 4 where held joints differ, 8 where another row is within "
          "`same` of the first.");
    nb::class_<Sampler>(m, "Sampler", "Two trees from a start and from goals that grow until they meet; the edges of a path are proved. Not for threads.")
        .def("__init__", &make_sampler, "scene"_a, "moving"_a, "span"_a, "start"_a, "goals"_a, "seed"_a,
             "Joints (m,) that may move, ascending; bounds (2, m) to sample from; configurations start (dof,) and goals (n, dof) that meshes "
             "call free; the others are held where the start has them.")
        .def(
            "keep",
            [](Sampler &sampler, const RobotKeeps &keeps) {
                require(keeps.robot.get() == &sampler.scene().robot(), "keeps: expected those of the same robot");
                sampler.keep(keeps.all);
            },
            "keeps"_a, "Paths must keep this on their way, as start and goals do; said before anything is asked.")
        .def("straight", &Sampler::straight, nb::call_guard<nb::gil_scoped_release>(),
             "Tries the straight line to the goals, the nearest first; whether there is now a path.")
        .def("grow", &grow, "iterations"_a, "seconds"_a,
             "Up to so many iterations more, until so many seconds have passed; whether there is a path.")
        .def("path", [](const Sampler &sampler) { return rows_of(sampler, sampler.path()); }, "Waypoints (n, dof) from the start to a goal; none while there is no path.")
        .def("shorten", &shorten, "path"_a, "attempts"_a, "seed"_a, "seconds"_a,
             "A path (n, dof) of proved edges made shorter by up to so many cuts, within so many seconds; all edges of it are proved.")
        .def("trees", &trees, "Nodes (n, dof) of both trees; and (n, 3) the row of each one's parent (-1 at roots), its tree, and whether the edge from the parent is "
                              "proved (1), not (0), or cut off (-1).")
        .def("refusals",
             [](const Sampler &sampler) {
                 const auto found = sampler.refusals();
                 Out<std::int64_t, 1> out = make_array<std::int64_t, 1>({found.size()});
                 std::copy(found.begin(), found.end(), out.data());
                 return out;
             },
             "How often each pair of links, then each link with each obstacle, by rows, refused an edge.")
        .def_prop_ro("goal", &Sampler::goal, "The goal that the path leads to, -1 while there is none.")
        .def_prop_ro("possible", &Sampler::possible, "False where links that no joint moves touch an obstacle.")
        .def_prop_ro("iterations", &Sampler::iterations, "Done so far.")
        .def_prop_ro("nodes", &Sampler::nodes, "Configurations in both trees.");
    nb::class_<Graph>(m, "Graph", "Nodes, and edges between them with lengths.")
        .def("__init__", &make_graph, "nodes"_a, "edges"_a, "lengths"_a, "Edges (n, 2) between nodes, and their lengths (n,).")
        .def("shortest", &shortest, "starts"_a, "first"_a, "rest"_a, "closed"_a,
             "The shortest way from nodes (s,), `first` (s,) away, to the goal, `rest` (nodes,) away or infinitely far, on edges that are not "
             "closed (edges,): its nodes (k,) and edges (k - 1,), none where there is no way.");
}

}  // namespace elbowroom::bindings
