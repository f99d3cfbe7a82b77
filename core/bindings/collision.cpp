// elbowroom/collision: the scene and its verdicts.
#include <nanobind/stl/map.h>
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

std::int64_t clearances(const Scene &scene, In<double, 2> cfgs, bool exact, In<bool, 1> without, InOut<double, 1> smallest,
                        InOut<std::int64_t, 1> closest, InOut<bool, 2> touching) {
    const Configurations rows = rows_of(scene, cfgs);
    require(without.size() == scene.n_pairs(), "without: expected shape (pairs,)");
    require(smallest.size() == rows.count && closest.size() == rows.count, "smallest, closest: expected shape (n,)");
    require(touching.shape(0) == rows.count && touching.shape(1) == scene.n_pairs(), "touching: expected shape (n, pairs)");
    nb::gil_scoped_release release;
    return scene.clearances(rows, exact, {without.data(), without.size()},
                            {{smallest.data(), smallest.size()}, {closest.data(), closest.size()}, {touching.data(), touching.size()}});
}

bool by_spheres(const Scene &scene, In<double, 1> cfg) {
    require(cfg.size() == static_cast<std::size_t>(scene.robot().dof()), "cfg: expected shape (dof,)");
    return scene.free_by_spheres({cfg.data(), cfg.size()});
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
        .def("free", &free_rows, "cfgs"_a, "by_meshes"_a, "out"_a.noconvert(),
             "Whether nothing touches or comes closer than the buffer, (n,) bool: by meshes, or by spheres wherever they can decide.")
        .def("is_free", &is_free, "cfg"_a, "by_meshes"_a,
             "One configuration (dof,): 1 when free, 0 when not, 2 when it leaves the range, 3 when refused.")
        .def("by_spheres", &by_spheres, "cfg"_a,
             "Whether spheres alone show that everything is farther apart than the buffer at one configuration (dof,).")
        .def("clearances", &clearances, "cfgs"_a, "exact"_a, "without"_a, "smallest"_a.noconvert(), "closest"_a.noconvert(),
             "touching"_a.noconvert(),
             "Lower bound of the smallest clearance (n,), the pair that it is of (n,) or -1, and pairs (n, pairs) found to touch. "
             "With `exact`, the smallest distance of pairs apart, measured, pairs marked in `without` (pairs,) left out.");
}

}  // namespace elbowroom::bindings
