// elbowroom/collision: the scene and its verdicts.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include "elbowroom/scene.hpp"
#include "module.hpp"

namespace elbowroom::bindings {
namespace {

using namespace nb::literals;

using GivenMeshes = std::map<int, std::shared_ptr<TriangleTree>>;

int link_number(const Robot &robot, std::int64_t k) {
    require(k >= 0 && k < static_cast<std::int64_t>(robot.n_links()), "links: out of range");
    return static_cast<int>(k);
}

void make_link_spheres(LinkSpheres *self, std::shared_ptr<Robot> robot, In<double, 2> spheres, In<std::int64_t, 1> links,
                       In<double, 1> largest) {
    require(spheres.shape(1) == 4, "spheres: expected shape (n, 4)");
    require(links.size() == spheres.shape(0), "links: expected one for each sphere");
    require(largest.size() == robot->laws().size(), "largest_values: expected one for each moving joint");
    require_finite(spheres, "spheres: expected finite numbers up to 1e10");
    std::vector<Ball> balls(spheres.shape(0));
    std::vector<int> of(balls.size());
    for (std::size_t k = 0; k < balls.size(); k++) {
        balls[k] = {{spheres(k, 0), spheres(k, 1), spheres(k, 2)}, spheres(k, 3)};
        of[k] = link_number(*robot, links(k));
    }
    std::vector<int> used = of;
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    new (self) LinkSpheres(std::move(robot), balls, of, used, {largest.data(), largest.size()});
}

LinkMeshes meshes_of(const Robot &robot, const GivenMeshes &given) {
    LinkMeshes out;
    for (const auto &[link, tree] : given) {
        require(tree != nullptr, "meshes: expected no None");
        out[link_number(robot, link)] = tree;
    }
    return out;
}

void make_scene(Scene *self, std::shared_ptr<LinkSpheres> spheres, const GivenMeshes &meshes, In<std::int64_t, 2> pairs,
                In<bool, 1> only_meshes, double buffer, In<double, 2> range) {
    const Robot &robot = *spheres->robot;
    const std::size_t dof = static_cast<std::size_t>(robot.dof());
    require(pairs.shape(1) == 2, "pairs: expected shape (n, 2)");
    require(only_meshes.size() == pairs.shape(0), "only_meshes: expected one for each pair");
    require(buffer >= 0.0 && buffer <= 1e10, "buffer: expected metres from 0 up");
    require(range.shape(0) == 2 && range.shape(1) == dof, "range: expected shape (2, dof)");
    std::vector<LinkPair> wanted(pairs.shape(0));
    for (std::size_t k = 0; k < wanted.size(); k++) {
        wanted[k] = {link_number(robot, pairs(k, 0)), link_number(robot, pairs(k, 1))};
        const LinkPair placed = spheres->numbered(wanted[k]);
        require(placed.a >= 0 && placed.b >= 0, "pairs: a link has no spheres");
    }
    ProvedRange proved{{range.data(), range.data() + dof}, {range.data() + dof, range.data() + 2 * dof}};
    new (self) Scene(spheres, meshes_of(robot, meshes), wanted, {only_meshes.data(), only_meshes.size()}, buffer, std::move(proved));
}

std::shared_ptr<Surroundings> surroundings_of(std::shared_ptr<LinkSpheres> spheres, const GivenMeshes &meshes, std::shared_ptr<World> world,
                                              std::shared_ptr<ClearanceGrid> grid, In<bool, 2> allowed, double buffer) {
    require(world != nullptr && spheres != nullptr, "spheres, world: expected no None");
    require(allowed.shape(0) == spheres->links.size() && allowed.shape(1) == static_cast<std::size_t>(world->size()),
            "allowed: expected shape (links of the spheres, obstacles)");
    require(buffer >= 0.0 && buffer <= 1e10, "buffer: expected metres from 0 up");
    require(grid == nullptr || &grid->world() == world.get(), "grid: expected that of the world");
    return std::make_shared<Surroundings>(spheres, meshes_of(*spheres->robot, meshes), std::move(world), std::move(grid),
                                          std::span(allowed.data(), allowed.size()), buffer);
}

Scene among(const Scene &scene, std::shared_ptr<Surroundings> around) {
    require(around == nullptr || around->spheres().robot.get() == &scene.robot(), "around: expected the same robot");
    require(around == nullptr || around->buffer() == scene.buffer(), "around: expected the same buffer");
    return scene.among(std::move(around));
}

Judge judge_of(bool by_meshes) { return by_meshes ? Judge::meshes : Judge::spheres; }

Configurations rows_of(const Scene &scene, const In<double, 2> &cfgs) {
    require(cfgs.shape(1) == static_cast<std::size_t>(scene.robot().dof()), "cfgs: expected shape (n, dof)");
    return {{cfgs.data(), cfgs.size()}, cfgs.shape(0)};
}

std::int64_t free_rows(const Scene &scene, In<double, 2> cfgs, bool by_meshes, InOut<bool, 1> out) {
    const Configurations rows = rows_of(scene, cfgs);
    require(out.size() == rows.count, "out: expected shape (n,)");
    nb::gil_scoped_release release;
    return scene.free(rows, judge_of(by_meshes), {out.data(), out.size()});
}

// For one configuration the lock is kept: giving it away costs more than the answer.
int is_free(const Scene &scene, In<double, 1> cfg, bool by_meshes) {
    require(cfg.size() == static_cast<std::size_t>(scene.robot().dof()), "cfg: expected shape (dof,)");
    return static_cast<int>(scene.free(std::span(cfg.data(), cfg.size()), judge_of(by_meshes)));
}

std::int64_t clearances(const Scene &scene, In<double, 2> cfgs, In<bool, 1> without, InOut<double, 1> smallest,
                        InOut<std::int64_t, 2> closest, InOut<bool, 2> touching, bool exact) {
    const Configurations rows = rows_of(scene, cfgs);
    require(without.size() == scene.n_pairs(), "without: expected shape (pairs,)");
    require(smallest.size() == rows.count, "smallest: expected shape (n,)");
    require(closest.shape(0) == rows.count && closest.shape(1) == 3, "closest: expected shape (n, 3)");
    require(touching.shape(0) == rows.count && touching.shape(1) == scene.n_pairs(), "touching: expected shape (n, pairs)");
    nb::gil_scoped_release release;
    std::vector<std::int64_t> pairs(rows.count);
    std::vector<LinkObstacle> obstacles(exact ? 0 : rows.count);
    const std::int64_t bad = scene.clearances(rows, exact, {without.data(), without.size()},
                                              {{smallest.data(), smallest.size()}, pairs, {touching.data(), touching.size()}, obstacles});
    for (std::size_t k = 0; bad < 0 && k < rows.count; k++) {
        const LinkObstacle other = exact ? LinkObstacle{} : obstacles[k];
        closest(k, 0) = pairs[k], closest(k, 1) = other.link, closest(k, 2) = other.obstacle;
    }
    return bad;
}

bool by_spheres(const Scene &scene, In<double, 1> cfg) {
    require(cfg.size() == static_cast<std::size_t>(scene.robot().dof()), "cfg: expected shape (dof,)");
    return scene.free_by_spheres({cfg.data(), cfg.size()});
}

// Outcomes in columns.
Tuple prove(const Scene &scene, In<double, 3> control, In<double, 2> slack, int look, double margin, std::int64_t budget) {
    const std::size_t n = control.shape(0), dof = static_cast<std::size_t>(scene.robot().dof());
    require(control.shape(1) >= 2 && control.shape(1) <= 4 && control.shape(2) == dof, "control: expected shape (n, 2 to 4, dof)");
    require((slack.shape(0) == n || slack.shape(0) == 1) && slack.shape(1) == dof, "slack: expected shape (n, dof) or (1, dof)");
    require(look >= 0 && look <= 2, "look: expected 0 (glance), 1 (spheres) or 2 (meshes)");
    require(margin > 0.0 && margin <= 1e10, "margin: expected metres above 0");
    require(budget >= 0 && budget <= 10'000'000, "budget: expected a number of parts up to 1e7");
    require_finite(control, "control: expected finite numbers up to 1e10");
    require_finite(slack, "slack: expected finite numbers up to 1e10");
    for (std::size_t k = 0; k < slack.size(); k++) require(slack.data()[k] >= 0.0, "slack: expected numbers from 0 up");
    Out<double, 2> found = make_array<double, 2>({n, 2});
    Out<std::int64_t, 2> counts = make_array<std::int64_t, 2>({n, 6});
    {
        nb::gil_scoped_release release;
        std::vector<PieceProof> proofs(n);
        const Motion motion{dof, n, control.shape(1), {control.data(), control.size()}, {slack.data(), slack.size()}};
        scene.prove(motion, {static_cast<Look>(look), margin, budget}, proofs);
        for (std::size_t k = 0; k < n; k++) {
            const PieceProof &proof = proofs[k];
            found.data()[2 * k] = proof.t, found.data()[2 * k + 1] = proof.clearance;
            const std::int64_t row[6] = {static_cast<int>(proof.outcome), proof.who.pair, proof.who.link, proof.who.obstacle,
                                         proof.by_spheres, proof.by_meshes};
            std::copy_n(row, 6, counts.data() + 6 * k);
        }
    }
    return nb::make_tuple(found, counts);
}

}  // namespace

void bind_collision(nb::module_ &m) {
    nb::class_<LinkSpheres>(m, "LinkSpheres", "Spheres of a robot's links, for joint values up to given ones.")
        .def("__init__", &make_link_spheres, "robot"_a, "spheres"_a, "links"_a, "largest_values"_a,
             "Spheres (n, 4) in the frames of `links` (n,), and for each moving joint the largest value, rad or m, that the error "
             "bound covers.")
        .def_ro("margin", &LinkSpheres::margin, "Bound on the float32 error of a distance, metres.");
    nb::class_<Scene>(m, "Scene",
                      "Spheres, meshes and pairs of a robot's links: one verdict. Methods on configurations (n, dof) return the first "
                      "row that is not finite or too large, or -1.")
        .def("__init__", &make_scene, "spheres"_a, "meshes"_a, "pairs"_a, "only_meshes"_a, "buffer"_a, "range"_a,
             "Trees of meshes by link, pairs (n, 2) of links, marks (n,) of those that spheres cannot decide, metres that all must "
             "be apart, and the joint values (2, dof) between which the other pairs were shown never to meet.")
        .def(
            "tuned",
            [](const Scene &scene, In<double, 2> cfgs) {
                const Configurations rows = rows_of(scene, cfgs);
                nb::gil_scoped_release release;
                return scene.tuned(rows);
            },
            "cfgs"_a, "The same scene, asking pairs in an order that was cheap on these configurations (n, dof). Changes no answer.")
        .def_prop_ro("at_once", &Scene::n_at_once,
                     "Number of pairs whose meshes are asked as soon as their spheres refuse; those of the others when all spheres are known.")
        .def("free", &free_rows, "cfgs"_a, "by_meshes"_a, "out"_a.noconvert(),
             "Whether nothing touches or comes closer than the buffer, (n,) bool: by meshes, or by spheres wherever they can decide.")
        .def("is_free", &is_free, "cfg"_a, "by_meshes"_a,
             "One configuration (dof,): 1 when free, 0 when not, 2 when it leaves the range, 3 when refused.")
        .def(
            "covers", [](const Scene &scene, In<double, 2> cfgs) { return scene.covers(rows_of(scene, cfgs)); }, "cfgs"_a,
            "The first of configurations (n, dof) with a value that the error bound does not cover, or -1.")
        .def(
            "decides",
            [](const Scene &scene, In<double, 2> cfgs) {
                const Configurations rows = rows_of(scene, cfgs);
                const std::size_t dof = scene.range().lower.size();
                for (std::size_t k = 0; k < rows.values.size(); k++)
                    if (!(rows.values[k] >= scene.range().lower[k % dof] && rows.values[k] <= scene.range().upper[k % dof])) return false;
                return scene.covers(rows) < 0;
            },
            "cfgs"_a, "Whether configurations (n, dof) are within the range, with values that the error bound covers.")
        .def("by_spheres", &by_spheres, "cfg"_a,
             "Whether spheres alone show that everything is farther apart than the buffer at one configuration (dof,).")
        .def("clearances", &clearances, "cfgs"_a, "without"_a, "smallest"_a.noconvert(), "closest"_a.noconvert(),
             "touching"_a.noconvert(), "exact"_a,
             "Lower bound of the smallest clearance (n,); what it is of (n, 3), a pair, or a link and an obstacle, or -1; pairs "
             "(n, pairs) found to touch. With `exact`, the smallest distance of pairs of links apart, measured, obstacles and pairs "
             "marked in `without` (pairs,) left out.")
        .def("prove", &prove, "control"_a, "slack"_a, "look"_a, "margin"_a, "budget"_a,
             "Proves pieces of a motion, Bezier curves by their control configurations (n, 2 to 4, dof), with joints up to `slack` (n, dof) "
             "or (1, dof) off them: where (n, 2) each is blocked or was given up and the clearance above the buffer that is proved, up to "
             "the margin; and (n, 6) the outcome (0 free, 1 blocked, 2 undecided), the pair, or the link and the obstacle, or -1, and the "
             "parts looked at by spheres and by meshes. `look` is 0 for a glance, 1 for spheres, 2 for meshes too.")
        .def(
            "obstacle_clearances",
            [](const Scene &scene, In<double, 2> cfgs, InOut<double, 1> smallest) {
                const Configurations rows = rows_of(scene, cfgs);
                require(scene.around() != nullptr, "scene: expected one among obstacles");
                require(smallest.size() == cfgs.shape(0), "smallest: expected shape (n,)");
                nb::gil_scoped_release release;
                return scene.around()->clearances(rows, {smallest.data(), smallest.size()});
            },
            "cfgs"_a, "smallest"_a.noconvert(),
            "Lower bounds (n,) of the clearance to the obstacles at configurations (n, dof).")
        .def("among", &among, "around"_a.none(), "The same links among obstacles, or among none; what is large is shared.");
    nb::class_<Surroundings>(m, "Surroundings", "The links of a robot among obstacles.")
        .def(nb::new_(&surroundings_of), "spheres"_a, "meshes"_a, "world"_a, "grid"_a.none(), "allowed"_a, "buffer"_a,
             "Spheres and trees of meshes, by link, as obstacles see them, the obstacles and their grid or None, marks (links of the "
             "spheres, obstacles) of what may touch, metres that all must be apart.")
        .def(
            "still_free", [](const Surroundings &around, bool by_meshes) { return around.still_free(judge_of(by_meshes)); }, "by_meshes"_a,
            "Whether the links that no joint moves are free.");
}

}  // namespace elbowroom::bindings
