// elbowroom/plan: costs of trajectories, and the descent of STOMP.
#include "elbowroom/stomp.hpp"

#include <nanobind/stl/shared_ptr.h>

#include "elbowroom/stomp_cost.hpp"
#include "module.hpp"

namespace elbowroom::bindings {
namespace {

using namespace nb::literals;

Trajectories paths_of(const In<double, 3> &paths, std::size_t dof, double dt) {
    require(paths.shape(1) >= 1 && paths.shape(1) <= 1'000'000 && paths.shape(2) == dof, "paths: expected shape (k, t, dof), t above 0");
    require(dt > 0.0 && dt <= 1e10, "dt: expected seconds above 0");
    require_finite(paths, "paths: expected finite numbers up to 1e10");
    return {paths.shape(0), paths.shape(1), dof, {paths.data(), paths.size()}};
}

std::size_t dof_of(const LinkSpheres &spheres) { return static_cast<std::size_t>(spheres.robot->dof()); }

void make_obstacle_cost(ObstacleCost *self, std::shared_ptr<Surroundings> around, In<double, 2> boxes, In<std::int64_t, 1> links,
                        In<bool, 2> spared) {
    const LinkSpheres &spheres = around->spheres();
    const std::size_t n = boxes.shape(0);
    require(boxes.shape(1) == 15, "boxes: expected shape (n, 15)");
    require(links.size() == n, "links: expected one for each box");
    require(spared.shape(0) == n && spared.shape(1) == static_cast<std::size_t>(around->world().size()), "spared: expected shape (n, obstacles)");
    require_finite(boxes, "boxes: expected finite numbers up to 1e10");
    std::vector<ObstacleCost::LinkBox> all(n);
    for (std::size_t k = 0; k < n; k++) {
        require(links(k) >= 0 && links(k) < static_cast<std::int64_t>(spheres.number.size()) && spheres.number[static_cast<std::size_t>(links(k))] >= 0,
                "links: expected links with spheres");
        const double *row = boxes.data() + 15 * k;
        require(row[12] >= 0.0 && row[13] >= 0.0 && row[14] >= 0.0, "boxes: expected half edges from 0 up");
        all[k].link = static_cast<int>(links(k));
        std::copy_n(row, 9, all[k].box.pose.r);
        std::copy_n(row + 9, 3, all[k].box.pose.t);
        all[k].box.half = {row[12], row[13], row[14]};
    }
    new (self) ObstacleCost(std::move(around), all, {spared.data(), spared.size()});
}

Tuple obstacle_parts(const ObstacleCost &cost, In<double, 3> paths, double dt, double clearance, bool by_spheres) {
    const Trajectories rows = paths_of(paths, dof_of(cost.around().spheres()), dt);
    require(clearance >= 0.0 && clearance <= 1e10, "clearance: expected metres from 0 up");
    Out<double, 2> near = make_array<double, 2>({rows.count, rows.steps});
    Out<bool, 2> meets = make_array<bool, 2>({rows.count, rows.steps});
    {
        nb::gil_scoped_release release;
        const std::span<double> spheres(near.data(), near.size());
        std::fill(spheres.begin(), spheres.end(), 0.0);
        cost.parts(rows, dt, clearance, by_spheres ? spheres : std::span<double>{}, {meets.data(), meets.size()});
    }
    return nb::make_tuple(near, meets);
}

Out<bool, 2> meetings(const ObstacleCost &cost, In<double, 2> cfgs) {
    require(cfgs.shape(1) == dof_of(cost.around().spheres()), "cfgs: expected shape (n, dof)");
    require_finite(cfgs, "cfgs: expected finite numbers up to 1e10");
    Out<bool, 2> met = make_array<bool, 2>({cost.n_boxes(), static_cast<std::size_t>(cost.around().world().size())});
    nb::gil_scoped_release release;
    cost.meetings({{cfgs.data(), cfgs.size()}, cfgs.shape(0)}, {met.data(), met.size()});
    return met;
}

Out<double, 2> nearness(const LinkSpheres &spheres, In<std::int64_t, 2> pairs, In<double, 3> paths, double dt, double clearance) {
    const Trajectories rows = paths_of(paths, dof_of(spheres), dt);
    require(pairs.shape(1) == 2, "pairs: expected shape (n, 2)");
    require(clearance >= 0.0 && clearance <= 1e10, "clearance: expected metres from 0 up");
    std::vector<LinkPair> wanted(pairs.shape(0));
    for (std::size_t k = 0; k < wanted.size(); k++) {
        for (std::size_t c = 0; c < 2; c++)
            require(pairs(k, c) >= 0 && pairs(k, c) < static_cast<std::int64_t>(spheres.number.size()), "pairs: out of range");
        wanted[k] = spheres.numbered({static_cast<int>(pairs(k, 0)), static_cast<int>(pairs(k, 1))});
        require(wanted[k].a >= 0 && wanted[k].b >= 0, "pairs: a link has no spheres");
    }
    Out<double, 2> out = make_array<double, 2>({rows.count, rows.steps});
    nb::gil_scoped_release release;
    self_nearness(spheres, wanted, rows, dt, clearance, {out.data(), out.size()});
    return out;
}

Out<double, 2> beyond_limits(In<double, 3> paths, double dt, In<double, 1> limits, int order) {
    const Trajectories rows = paths_of(paths, paths.shape(2), dt);
    require(limits.size() == rows.dof, "limits: expected shape (dof,)");
    for (std::size_t d = 0; d < rows.dof; d++) require(limits(d) > 0.0, "limits: expected numbers above 0");
    require(order == 1 || order == 2, "order: expected 1 or 2");
    Out<double, 2> out = make_array<double, 2>({rows.count, rows.steps});
    nb::gil_scoped_release release;
    limit_cost(rows, dt, {limits.data(), rows.dof}, order, {out.data(), out.size()});
    return out;
}

template <class T> T setting(const nb::dict &settings, const char *name) {
    require(settings.contains(name), (std::string("settings: expected ") + name).c_str());
    return nb::cast<T>(settings[name]);
}

void make_descent(Descent *self, In<double, 2> path, In<std::int64_t, 1> moving, In<double, 2> joints, const Columns &settings, std::uint64_t seed) {
    const std::size_t steps = path.shape(0), dof = path.shape(1), m = moving.size();
    require(steps >= 3 && steps <= 100'000, "path: expected shape (t, dof), t from 3 to 1e5");
    require(joints.shape(0) == 3 && joints.shape(1) == m, "joints: expected shape (3, moving)");
    require_finite(path, "path: expected finite numbers up to 1e10");
    DescentJoints own;
    for (std::size_t j = 0; j < m; j++) {
        require(moving(j) >= 0 && moving(j) < static_cast<std::int64_t>(dof), "moving: out of range");
        require(joints(0, j) <= joints(1, j) && joints(2, j) >= 0.0 && joints(2, j) <= 1e10, "joints: expected lower, upper and sigma");
        own.moving.push_back(static_cast<int>(moving(j)));
        own.lower.push_back(joints(0, j)), own.upper.push_back(joints(1, j)), own.sigma.push_back(joints(2, j));
    }
    DescentSettings all;
    all.rollouts = setting<int>(settings, "rollouts"), all.reuse = setting<int>(settings, "reuse"), all.window = setting<int>(settings, "window");
    all.sensitivity = setting<double>(settings, "sensitivity"), all.sigma_decay = setting<double>(settings, "sigma_decay");
    all.sigma_floor = setting<double>(settings, "sigma_floor"), all.smooth_update = setting<bool>(settings, "smooth_update");
    require(all.rollouts >= 1 && all.rollouts <= 1'000'000 && all.reuse >= 0 && all.reuse <= 1'000'000 && all.window >= 0, "settings: out of range");
    new (self) Descent(std::move(own), all, dof, {path.data(), path.size()}, seed);
}

template <class Array> void require_paths(const Descent &self, const Array &rollouts) {
    require(rollouts.shape(0) == self.rollouts() && rollouts.shape(1) == self.steps() && rollouts.shape(2) == self.dof(),
            "rollouts: expected shape (rollouts, t, dof)");
}

void restart(Descent &self, In<double, 2> path, In<double, 1> cost) {
    require(path.shape(0) == self.steps() && path.shape(1) == self.dof(), "path: expected shape (t, dof)");
    require(cost.size() == self.steps(), "cost: expected shape (t,)");
    require_finite(path, "path: expected finite numbers up to 1e10");
    self.restart({path.data(), path.size()}, {cost.data(), cost.size()});
}

void shake(Descent &self, InOut<double, 3> rollouts) {
    require_paths(self, rollouts);
    self.shake({rollouts.data(), rollouts.size()});
}

Out<double, 2> update(Descent &self, In<double, 3> rollouts, In<double, 2> costs) {
    require_paths(self, rollouts);
    require(costs.shape(0) == self.rollouts() && costs.shape(1) == self.steps(), "costs: expected shape (rollouts, t)");
    Out<double, 2> out = make_array<double, 2>({self.steps(), self.dof()});
    self.update({rollouts.data(), rollouts.size()}, {costs.data(), costs.size()}, {out.data(), out.size()});
    return out;
}

void settle(Descent &self, In<double, 1> cost) {
    require(cost.size() == self.steps(), "cost: expected shape (t,)");
    self.settle({cost.data(), cost.size()});
}

Out<double, 2> path_of(const Descent &self) {
    Out<double, 2> out = make_array<double, 2>({self.steps(), self.dof()});
    std::copy(self.path().begin(), self.path().end(), out.data());
    return out;
}

}  // namespace

void bind_stomp(nb::module_ &m) {
    nb::class_<ObstacleCost>(m, "ObstacleCost", "What nearness to obstacles costs, and where boxes of links meet them.")
        .def("__init__", &make_obstacle_cost, "around"_a, "boxes"_a, "links"_a, "spared"_a,
             "Boxes (n, 15) in the frames of links (n,): axes as columns, row by row, centre, half edges; `spared` (n, obstacles) marks what may "
             "meet.")
        .def("parts", &obstacle_parts, "paths"_a, "dt"_a, "clearance"_a, "by_spheres"_a,
             "For trajectories (k, t, dof), seconds `dt` a step: what is missing of the clearance times speed, summed over spheres (k, t), zeros "
             "unless `by_spheres`; whether a box meets an obstacle (k, t).")
        .def("meetings", &meetings, "cfgs"_a, "Which boxes meet which obstacles (boxes, obstacles) at any of (n, dof) configurations.");
    m.def("self_nearness", &nearness, "spheres"_a, "pairs"_a, "paths"_a, "dt"_a, "clearance"_a,
          "For trajectories (k, t, dof): what is missing of the clearance between the nearest spheres of pairs (n, 2) of links, times the speed "
          "at which their centres pass each other, summed (k, t).");
    m.def("limit_cost", &beyond_limits, "paths"_a, "dt"_a, "limits"_a, "order"_a,
          "For trajectories (k, t, dof): the sum over joints of what speeds (order 1) or accelerations (2) are beyond their limits (dof,), as "
          "shares of these (k, t).");
    nb::class_<Descent>(m, "Descent", "One trajectory of STOMP on its way to a lower cost; for one thread at a time.")
        .def("__init__", &make_descent, "path"_a, "moving"_a, "joints"_a, "settings"_a, "seed"_a,
             "From a trajectory (t, dof); entries of the joints that move (m,), their lower and upper limits and sizes of noise (3, m); settings "
             "rollouts, reuse, window, sensitivity, sigma_decay, sigma_floor, smooth_update.")
        .def("restart", &restart, "path"_a, "cost"_a,
             "Another trajectory (t, dof) and its cost (t,) at every step; to be called before the first iteration.")
        .def("shake", &shake, "rollouts"_a.noconvert(), "Fills rollouts (k, t, dof): the trajectory with smooth noise, within limits.")
        .def("update", &update, "rollouts"_a, "costs"_a, "The trajectory (t, dof) that rollouts and their costs (k, t) lead to.")
        .def("settle", &settle, "cost"_a, "Takes it, or the best rollout, by its cost (t,).")
        .def("path", &path_of, "The trajectory (t, dof).")
        .def_prop_ro("cost", &Descent::cost, "Its cost.")
        .def_prop_ro("noise", &Descent::noise, "What is left of the noise.")
        .def_rw("idle", &Descent::idle, "Iterations since the least cost.");
}

}  // namespace elbowroom::bindings
