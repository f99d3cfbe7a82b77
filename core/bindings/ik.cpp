// elbowroom/ik: targets and the search for configurations that meet them.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "elbowroom/ik.hpp"
#include "module.hpp"

namespace elbowroom::bindings {
namespace {

using namespace nb::literals;

std::vector<int> joint_numbers(const Robot &robot, const std::vector<int> &joints) {
    for (int joint : joints) require(joint >= 0 && joint < robot.dof(), "joints: out of range");
    return joints;
}

std::shared_ptr<Targets> make_targets(std::shared_ptr<Robot> robot, const std::vector<int> &kinds, const std::vector<int> &places,
                                      const std::vector<int> &joints) {
    require(robot != nullptr, "robot: expected no None");
    require(kinds.size() == places.size() && !kinds.empty(), "kinds, places: expected as many of each, and one at least");
    std::vector<Targets::Asked> asked;
    for (std::size_t k = 0; k < kinds.size(); k++) {
        require(kinds[k] >= 0 && kinds[k] <= 4, "kinds: expected 0 to 4");
        const TargetKind kind = static_cast<TargetKind>(kinds[k]);
        const std::size_t most = kind == TargetKind::joint ? static_cast<std::size_t>(robot->dof()) : robot->n_links();
        require(places[k] >= 0 && static_cast<std::size_t>(places[k]) < most, "places: out of range");
        asked.push_back({kind, places[k]});
    }
    return std::make_shared<Targets>(robot, asked, joint_numbers(*robot, joints));
}

void require_values(const Targets &targets, std::span<const double> values) {
    require(values.size() == targets.size() * TARGET_VALUES, "values: expected nine for each target");
    for (double value : values) require(std::fabs(value) <= 1e10, "values: expected finite numbers up to 1e10");
}

// Residuals, Jacobians (none unless asked for), errors of position and of orientation.
Tuple linearise(const Targets &targets, In<double, 1> values, In<double, 2> cfgs, bool slope) {
    const std::size_t n = cfgs.shape(0), dof = static_cast<std::size_t>(targets.robot().dof()), rows = targets.rows(), nt = targets.size();
    require_values(targets, {values.data(), values.size()});
    require(cfgs.shape(1) == dof, "cfgs: expected shape (n, dof)");
    require_finite(cfgs, "cfgs: expected finite numbers up to 1e5", 1e5);
    auto residual = make_array<double, 2>({n, rows});
    auto jacobian = make_array<double, 3>({slope ? n : 0, rows, dof});
    auto off = make_array<double, 2>({n, nt}), turn = make_array<double, 2>({n, nt});
    {
        nb::gil_scoped_release release;
        for (std::size_t k = 0; k < n; k++)
            targets.linearise({values.data(), values.size()}, {cfgs.data() + k * dof, dof},
                              {{residual.data() + k * rows, rows},
                               slope ? std::span(jacobian.data() + k * rows * dof, rows * dof) : std::span<double>{},
                               {off.data() + k * nt, nt},
                               {turn.data() + k * nt, nt}});
    }
    return nb::make_tuple(residual, jacobian, off, turn);
}

std::shared_ptr<StartTable> make_table(std::shared_ptr<Targets> targets, In<double, 2> cfgs) {
    require(targets != nullptr, "targets: expected no None");
    require(cfgs.shape(0) > 0 && cfgs.shape(1) == static_cast<std::size_t>(targets->robot().dof()), "cfgs: expected shape (n, dof), one row at least");
    require_finite(cfgs, "cfgs: expected finite numbers up to 1e5", 1e5);
    return std::make_shared<StartTable>(targets, std::span(cfgs.data(), cfgs.size()));
}

Out<std::int64_t, 1> nearest(const StartTable &table, In<double, 1> values, In<double, 1> base, bool seeded, std::size_t count) {
    require_values(table.targets(), {values.data(), values.size()});
    require(base.size() == static_cast<std::size_t>(table.targets().robot().dof()), "base: expected shape (dof,)");
    require_finite(base, "base: expected finite numbers up to 1e5", 1e5);
    const std::vector<int> found = table.nearest({values.data(), values.size()}, {base.data(), base.size()}, seeded, std::min(count, table.size()));
    auto out = make_array<std::int64_t, 1>({found.size()});
    std::copy(found.begin(), found.end(), out.data());
    return out;
}

IkSettings make_settings(double position_tolerance, double orientation_tolerance, int starts, int iterations, double timeout, std::size_t count) {
    require(position_tolerance > 0.0 && orientation_tolerance > 0.0, "tolerances: expected numbers above 0");
    require(starts >= 0 && starts <= 1'000'000 && iterations >= 0 && iterations <= 1'000'000, "starts, iterations: expected 0 to 1e6");
    require(timeout >= 0.0, "timeout: expected seconds from 0 up");
    require(count >= 1 && count <= 1'000'000, "count: expected 1 to 1e6");
    return {position_tolerance, orientation_tolerance, starts, iterations, timeout, count};
}

using GivenPart = std::tuple<std::shared_ptr<Targets>, std::vector<int>>;

std::shared_ptr<Ik> make_ik(std::shared_ptr<Targets> whole, const std::vector<GivenPart> &parts, In<double, 1> lower, In<double, 1> upper,
                            In<bool, 1> endless) {
    require(whole != nullptr, "whole: expected no None");
    const std::size_t dof = static_cast<std::size_t>(whole->robot().dof());
    require(lower.size() == dof && upper.size() == dof && endless.size() == dof, "lower, upper, endless: expected shape (dof,)");
    for (std::size_t k = 0; k < dof; k++) require(lower(k) <= upper(k), "lower: expected no more than upper");
    std::vector<Ik::Part> made;
    std::vector<bool> taken(dof, false);
    for (const auto &[targets, positions] : parts) {
        require(targets != nullptr && &targets->robot() == &whole->robot(), "parts: expected the same robot");
        require(targets->solved() > 0, "parts: expected some joint that moves a target");
        require(positions.size() == targets->size(), "parts: expected a position for each target");
        for (std::size_t k = 0; k < positions.size(); k++) {
            require(positions[k] >= 0 && static_cast<std::size_t>(positions[k]) < whole->size(), "parts: position out of range");
            require(targets->targets()[k].kind == whole->targets()[static_cast<std::size_t>(positions[k])].kind, "parts: expected the same kinds");
        }
        for (int joint : targets->joints()) {
            require(!taken[static_cast<std::size_t>(joint)], "parts: expected no joint twice");
            taken[static_cast<std::size_t>(joint)] = true;
        }
        made.push_back({targets, positions});
    }
    Ik::Limits limits{{lower.data(), lower.data() + dof}, {upper.data(), upper.data() + dof}, {}};
    limits.endless.assign(endless.data(), endless.data() + dof);
    return std::make_shared<Ik>(whole, std::move(made), std::move(limits));
}

void require_question(const Ik &ik, const std::vector<double> &values, const In<double, 1> &base) {
    require_values(ik.whole(), values);
    require(base.size() == static_cast<std::size_t>(ik.whole().robot().dof()), "base: expected shape (dof,)");
    require_finite(base, "base: expected finite numbers up to 1e5", 1e5);
}

Out<double, 1> copied(const std::vector<double> &numbers) {
    auto out = make_array<double, 1>({numbers.size()});
    std::copy(numbers.begin(), numbers.end(), out.data());
    return out;
}

Tuple solve(const Ik &ik, const Scene *scene, const std::vector<std::shared_ptr<StartTable>> &tables, const std::vector<double> &values,
            In<double, 1> base, bool seeded, const IkSettings &settings) {
    require_question(ik, values, base);
    require(scene == nullptr || &scene->robot() == &ik.whole().robot(), "scene: expected the same robot");
    require(tables.size() == ik.parts().size(), "tables: expected one for each part");
    std::vector<const StartTable *> given;
    for (std::size_t k = 0; k < tables.size(); k++) {
        require(tables[k] != nullptr && &tables[k]->targets() == ik.parts()[k].targets.get(), "tables: expected those of the parts");
        given.push_back(tables[k].get());
    }
    IkAnswer answer;
    {
        nb::gil_scoped_release release;
        answer = ik.solve(scene, given, {values, {base.data(), base.size()}, seeded}, settings);
    }
    const std::size_t dof = base.size();
    auto cfgs = make_array<double, 2>({answer.cfgs.size() / dof, dof});
    std::copy(answer.cfgs.begin(), answer.cfgs.end(), cfgs.data());
    return nb::make_tuple(cfgs, copied(answer.off), copied(answer.turn), answer.success, answer.met, answer.free, answer.timed_out,
                          answer.candidates, answer.starts, answer.iterations, answer.refused);
}

bool descend(const Ik &ik, const std::vector<double> &values, InOut<double, 1> cfg, const IkSettings &settings) {
    require_question(ik, values, In<double, 1>(cfg));
    nb::gil_scoped_release release;
    return ik.descend(values, {cfg.data(), cfg.size()}, settings);
}

}  // namespace

void bind_ik(nb::module_ &m) {
    nb::class_<Targets>(m, "Targets", "Kinds and links of targets, and the joints that may move to meet them.")
        .def(nb::new_(&make_targets), "robot"_a, "kinds"_a, "places"_a, "joints"_a,
             "Kinds (0 pose, 1 position, 2 axis, 3 look at, 4 joint), of each the link or actuated joint, and the actuated joints that may "
             "move.")
        .def_prop_ro("rows", &Targets::rows, "Rows of the residual.")
        .def_prop_ro("joints", [](const Targets &t) { return std::vector<int>(t.joints().begin(), t.joints().end()); },
                     "Actuated joints that may move and move some target.")
        .def("linearise", &linearise, "values"_a, "cfgs"_a, "slope"_a,
             "At configurations (n, dof), for the numbers of the targets (9 each): weighted residuals (n, rows), their derivatives (n, rows, "
             "dof) or (0, rows, dof), position errors and orientation errors (n, targets).");
    nb::class_<StartTable>(m, "StartTable", "Configurations from which searches start, with the poses of the targets' links.")
        .def(nb::new_(&make_table), "targets"_a, "cfgs"_a, "Configurations (n, dof), joints not solved for where they will be held.")
        .def("__len__", &StartTable::size)
        .def("nearest", &nearest, "values"_a, "base"_a, "seeded"_a, "count"_a,
             "Entries (up to `count`,) nearest to the targets, the nearest first; when seeded, rather near the configuration `base` (dof,).");
    nb::class_<IkSettings>(m, "IkSettings", "What a search may cost, and what it calls a success.")
        .def(nb::new_(&make_settings), "position_tolerance"_a, "orientation_tolerance"_a, "starts"_a, "iterations"_a, "timeout"_a, "count"_a,
             "Metres and radians, starts and the steps of each, seconds, and how many answers are wanted that differ.");
    nb::class_<Ik>(m, "Ik", "One shape of question: all targets, and the parts of them that share no joint.")
        .def(nb::new_(&make_ik), "whole"_a, "parts"_a, "lower"_a, "upper"_a, "endless"_a,
             "All targets; of each part its own, with their positions among all; limits (dof,) and marks (dof,) of joints whose whole turns "
             "do not count.")
        .def("solve", &solve, "scene"_a.none(), "tables"_a, "values"_a, "base"_a, "seeded"_a, "settings"_a,
             "Free configurations that meet targets, nearest to `base` (dof,) first, which holds the joints not solved for: answers (n, dof), or "
             "the best that was found; its position and orientation errors (targets,); whether it is a success, met the targets, is free, and "
             "time was up; candidates, starts, steps, and candidates refused before it. Nine numbers in `values` for each target; a table for "
             "each part; `seeded` starts from the base as well. No scene: everything is free.")
        .def("descend", &descend, "values"_a, "cfg"_a.noconvert(), "settings"_a,
             "Moves `cfg` (dof,) onto the targets by one search in float64; whether it arrives.");
}

}  // namespace elbowroom::bindings
