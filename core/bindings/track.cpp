// elbowroom/ik/track: steps that are proved, and the quadratic programme that chooses them.
#include "elbowroom/track.hpp"

#include <nanobind/stl/shared_ptr.h>

#include <algorithm>

#include "elbowroom/aim.hpp"
#include "module.hpp"

namespace elbowroom::bindings {
namespace {

using namespace nb::literals;

std::vector<double> copied(const double *first, std::size_t n) { return {first, first + n}; }

Out<double, 1> array_of(std::span<const double> values) {
    Out<double, 1> out = make_array<double, 1>({values.size()});
    std::copy(values.begin(), values.end(), out.data());
    return out;
}

// Quadratic programmes ---------------------------------------------------------------------------------------------

Tuple solve_qp(In<double, 2> H, In<double, 1> f, In<double, 2> bounds, In<double, 2> A, In<double, 1> least) {
    const std::size_t n = f.size(), m = least.size();
    require(H.shape(0) == n && H.shape(1) == n, "H: expected shape (n, n)");
    require(bounds.shape(0) == 2 && bounds.shape(1) == n, "bounds: expected shape (2, n)");
    require(A.shape(0) == m && A.shape(1) == n, "A: expected shape (m, n)");
    require_finite(H, "H: expected finite numbers");
    require_finite(f, "f: expected finite numbers");
    require_finite(A, "A: expected finite numbers");
    require_finite(least, "least: expected finite numbers", 1e30);
    for (std::size_t k = 0; k < 2 * n; k++) require(!std::isnan(bounds.data()[k]), "bounds: expected no NaN");
    QpSolver solver;
    const QpStatus status = solver.solve({n, {H.data(), n * n}, {f.data(), n}, {bounds.data(), n}, {bounds.data() + n, n}, {A.data(), m * n}, {least.data(), m}});
    Out<double, 1> multipliers = make_array<double, 1>({2 * n + m});
    std::fill_n(multipliers.data(), 2 * n + m, 0.0);
    for (std::size_t k = 0; k < solver.active().size(); k++) multipliers.data()[solver.active()[k]] = solver.multipliers()[k];
    return nb::make_tuple(static_cast<int>(status), array_of(solver.x()), multipliers);
}

// Steps --------------------------------------------------------------------------------------------------------------

void make_safe_step(SafeStep *self, const Scene &scene, In<double, 2> limits, Columns options) {
    const std::size_t n = static_cast<std::size_t>(scene.robot().dof());
    require(limits.shape(0) == 4 && limits.shape(1) == n, "limits: expected shape (4, dof)");
    for (std::size_t k = 0; k < 4 * n; k++) require(!std::isnan(limits.data()[k]), "limits: expected no NaN");
    for (std::size_t k = 0; k < n; k++)
        require(limits(0, k) >= 0.0 && limits(1, k) > 0.0, "limits: expected speeds from 0 up and accelerations above 0");
    const double *at = limits.data();
    const auto number = [&](const char *name, double most) {
        const double value = nb::cast<double>(options[name]);
        require(value >= 0.0 && value <= most, "options: expected numbers from 0 up");
        return value;
    };
    StepOptions made;
    made.clearance = number("clearance", 1e3), made.skin = number("skin", 1e3), made.keep = number("keep", 1e3);
    made.reach = number("reach", 1e3), made.approach = number("approach_time", 1e3), made.parts = nb::cast<bool>(options["parts"]);
    made.share = number("share", 0.9), made.spare = number("spare", 0.9);
    made.cuts = static_cast<int>(number("cuts", 100));
    new (self) SafeStep(scene, {copied(at, n), copied(at + n, n), copied(at + 2 * n, n), copied(at + 3 * n, n)}, made);
}

void require_cfg(const SafeStep &safe, const In<double, 1> &cfg, const char *message) {
    require(cfg.size() == safe.dof(), message);
    require_finite(cfg, message);
}

void require_drift(const SafeStep &safe, const StepLoop &loop) {
    const Surroundings *around = safe.scene().around();
    require(loop.drift.empty() || (around != nullptr && loop.drift.size() == 3 * static_cast<std::size_t>(around->world().size())),
            "loop: expected a drift of every obstacle");
}

void require_times(double dt, double budget) {
    require(dt > 0.0 && dt <= 1e6, "dt: expected seconds above 0");
    require(budget >= 0.0, "budget: expected seconds from 0 up");
}

nb::list words_of(const Step &step) {
    nb::list out;
    for (const Held &held : step.held) out.append(nb::make_tuple(static_cast<int>(held.why), held.first, held.second));
    return out;
}

// Where to go, at which rates, what held it back, the clearance, and marks: 1 proved, 2 braked, 4 met, 8 late, 16 altered.
Tuple answer(const Step &step, bool altered) {
    const int marks = (step.stop.empty() ? 0 : 1) | (step.braked ? 2 : 0) | (step.met ? 4 : 0) | (step.late ? 8 : 0) | (altered ? 16 : 0);
    return nb::make_tuple(array_of(step.cfg), array_of(step.velocity), words_of(step), step.clearance, marks);
}

Tuple guard(const SafeStep &safe, StepLoop &loop, In<double, 1> cfg, In<double, 1> wanted, double dt, double budget, bool exactly) {
    require_cfg(safe, cfg, "cfg: expected shape (dof,), finite");
    require_cfg(safe, wanted, "wanted: expected shape (dof,), finite");
    require_times(dt, budget);
    require(loop.velocity.empty() || loop.velocity.size() == safe.dof(), "loop: expected one of the same robot");
    require_drift(safe, loop);
    bool altered = false;
    Step step;
    {
        nb::gil_scoped_release release;
        step = safe.guard(loop, {cfg.data(), cfg.size()}, {wanted.data(), wanted.size()}, dt, budget, exactly, altered);
    }
    return answer(step, altered);
}

Tuple step(const SafeStep &safe, StepLoop &loop, In<double, 2> H, In<double, 1> f, double dt, double budget) {
    const std::size_t n = safe.dof();
    require(H.shape(0) == n && H.shape(1) == n && f.size() == n, "H, f: expected shapes (dof, dof) and (dof,)");
    require_finite(H, "H: expected finite numbers");
    require_finite(f, "f: expected finite numbers");
    require_times(dt, budget);
    require(loop.cfg.size() == n && loop.velocity.size() == n, "loop: expected one that was placed");
    require_drift(safe, loop);
    Step made;
    {
        nb::gil_scoped_release release;
        made = safe.step({loop.cfg, loop.velocity, loop.stop, dt, budget, loop.drift}, {{H.data(), n * n}, {f.data(), n}}, loop.memory);
        loop.follow(made);
    }
    return answer(made, true);
}

Tuple rows(const SafeStep &safe, In<double, 1> cfg, double reach) {
    require_cfg(safe, cfg, "cfg: expected shape (dof,), finite");
    require(reach >= 0.0 && reach <= 1e3, "reach: expected metres from 0 up");
    std::vector<double> low;
    CollisionRows found;
    {
        nb::gil_scoped_release release;
        found = safe.rows({cfg.data(), cfg.size()}, reach, low);
    }
    const std::size_t m = found.rows.size(), n = safe.dof();
    Out<double, 2> A = make_array<double, 2>({m, n});
    std::copy(found.A.begin(), found.A.end(), A.data());
    Out<double, 1> distance = make_array<double, 1>({m});
    Out<std::int64_t, 2> of = make_array<std::int64_t, 2>({m, 4});
    for (std::size_t k = 0; k < m; k++) {
        const CollisionRow &row = found.rows[k];
        distance.data()[k] = row.distance;
        const std::int64_t who[4] = {row.who.pair, row.who.link, row.who.obstacle, row.contact ? 2 : row.rough ? 1 : 0};
        std::copy_n(who, 4, of.data() + 4 * k);
    }
    return nb::make_tuple(A, distance, of, array_of(low));
}

// Targets --------------------------------------------------------------------------------------------------------------

void make_follower(Follower *self, std::shared_ptr<SafeStep> safe, const Targets &targets, Columns options) {
    require(safe != nullptr, "safe: expected no None");
    require(&targets.robot() == &safe->scene().robot(), "targets: expected those of the same robot");
    require(targets.size() > 0, "targets: expected at least one");
    AimOptions made;
    const auto number = [&](const char *name, double &value) {
        value = nb::cast<double>(options[name]);
        require(value >= 0.0 && value <= 1e10, "options: expected numbers from 0 up");
    };
    number("gain", made.gain), number("feedforward", made.feedforward), number("smoothing", made.smoothing);
    number("max_linear_speed", made.linear), number("max_angular_speed", made.angular), number("posture_gain", made.posture);
    number("damping", made.damping);
    require(made.damping > 0.0, "options: expected a damping above 0");
    new (self) Follower(safe, targets, made);
}

Tuple follow(Follower &follower, StepLoop &loop, In<double, 1> values, In<double, 1> shares, In<double, 1> rest, double dt, double budget) {
    const std::size_t n = follower.safe().dof();
    require(values.size() == follower.targets().size() * TARGET_VALUES, "values: expected 9 numbers a target");
    require_finite(values, "values: expected finite numbers");
    require(shares.size() == follower.targets().size() && rest.size() == n, "shares, rest: expected shapes (targets,) and (dof,)");
    require_finite(shares, "shares: expected finite numbers");
    require_finite(rest, "rest: expected finite numbers");
    require_times(dt, budget);
    require(loop.cfg.size() == n && loop.velocity.size() == n, "loop: expected one that was placed");
    require_drift(follower.safe(), loop);
    Step made;
    {
        nb::gil_scoped_release release;
        made = follower.tick(loop, {values.data(), values.size()}, {shares.data(), shares.size()}, {rest.data(), n}, dt, budget);
    }
    return answer(made, true);
}

void place(StepLoop &loop, In<double, 1> cfg, In<double, 1> velocity) {
    require(cfg.size() == velocity.size(), "cfg, velocity: expected the same shape");
    require_finite(cfg, "cfg: expected finite numbers");
    require_finite(velocity, "velocity: expected finite numbers");
    loop.cfg = copied(cfg.data(), cfg.size()), loop.velocity = copied(velocity.data(), velocity.size());
    loop.stop.clear(), loop.met = false;
}

}  // namespace

void bind_track(nb::module_ &m) {
    m.def("solve_qp", &solve_qp, "H"_a, "f"_a, "bounds"_a, "A"_a, "least"_a,
          "Minimises 1/2 x'Hx + f'x subject to bounds (2, n) and A x >= least: the status (0 optimal, 1 infeasible, 2 failed), x, and the "
          "multipliers of lower bounds, upper bounds and rows.");
    nb::class_<StepLoop>(m, "StepLoop", "One robot in its loop of ticks: where it was sent, how fast, where it comes to rest.")
        .def(nb::init<>())
        .def("place", &place, "cfg"_a, "velocity"_a, "The robot is at `cfg` (dof,) and moves at `velocity`; no stop is proved.")
        .def(
            "clear", [](StepLoop &loop) { loop = {}; }, "Forgets all.")
        .def(
            "forget_stop", [](StepLoop &loop) { loop.stop.clear(), loop.drift.clear(), loop.memory.forget(); },
            "Forgets what was proved: among other obstacles.")
        .def(
            "set_drift",
            [](StepLoop &loop, In<double, 2> velocities) {
                require(velocities.shape(1) == 3, "velocities: expected shape (obstacles, 3)");
                require_finite(velocities, "velocities: expected finite numbers", 1e3);
                loop.drift = copied(velocities.data(), velocities.size());
            },
            "velocities"_a, "How fast obstacles move in the world, (obstacles, 3) m/s; (0, 3) when all stand still.")
        .def(
            "copy", [](const StepLoop &loop) { return loop; }, "Another with the same state.")
        .def(
            "stop", [](const StepLoop &loop) { return array_of(loop.stop); }, "Where braking ends, proved, (dof,); (0,) where that is not known.");
    nb::class_<SafeStep>(m, "SafeStep", "Steps of one robot that keep limits and touch nothing, proved with the stop after them.")
        .def("__init__", &make_safe_step, "scene"_a, "limits"_a, "options"_a,
             "Limits (4, dof): speeds, accelerations (infinite for none), lowest and highest values; options by name.")
        .def("guard", &guard, "loop"_a, "cfg"_a, "wanted"_a, "dt"_a, "budget"_a, "exactly"_a,
             "The step from `cfg` to `wanted` in `dt` seconds if it is safe and `exactly` is asked for, else the nearest one that is: where to "
             "go, rates, what held it back as (why, first, second), clearance, and marks: 1 proved, 2 braked, 4 met, 8 late, 16 altered.")
        .def("step", &step, "loop"_a, "H"_a, "f"_a, "dt"_a, "budget"_a,
             "The safe velocity that minimises 1/2 v'Hv + f'v, from where the loop is; answers as `guard`.")
        .def("rows", &rows, "cfg"_a, "reach"_a,
             "Linearised distances within reach: rows (m, dof), distances (m,) above the clearance, of whom (m, 4): pair, or link and obstacle, "
             "and 1 for spheres with meshes behind them, 2 for contacts; and lower bounds (pairs,) above the clearance.");
    nb::class_<Follower>(m, "Follower", "Follows targets of given kinds and links, tick by tick, by safe steps.")
        .def("__init__", &make_follower, "safe"_a, "targets"_a, "options"_a, "Safe steps of the robot of the targets, the targets, options by name.")
        .def("tick", &follow, "loop"_a, "values"_a, "shares"_a, "rest"_a, "dt"_a, "budget"_a,
             "One tick towards target values (9 a target), with shares (n,) of the speed bounds and the rest configuration (dof,); answers as "
             "`SafeStep.guard`.")
        .def("forget", &Follower::forget, "The next targets are not the last ones moved.");
}

}  // namespace elbowroom::bindings
