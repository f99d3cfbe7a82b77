// elbowroom/plan: curves, made smooth along a path, and when each place of them is passed.
#include "elbowroom/timing.hpp"

#include "elbowroom/finish.hpp"
#include "module.hpp"

namespace elbowroom::bindings {
namespace {

using namespace nb::literals;

Curve curve_of(const In<double, 3> &pieces, const In<double, 1> &knots) {
    require(pieces.shape(0) > 0 && pieces.shape(1) == 4, "pieces: expected shape (k, 4, dof), k above 0");
    require(knots.size() == pieces.shape(0) + 1, "knots: expected shape (k + 1,)");
    require_finite(pieces, "pieces: expected finite numbers up to 1e10");
    require_finite(knots, "knots: expected finite numbers up to 1e10");
    for (std::size_t k = 1; k < knots.size(); k++) require(knots(k) > knots(k - 1), "knots: expected increasing numbers");
    return {pieces.shape(2), {pieces.data(), pieces.size()}, {knots.data(), knots.size()}, {}};
}

// A joint that moves without a limit or -1, and the schedule.
Tuple arrays_of(const Schedule &found, std::size_t dof) {
    const std::size_t n = found.times.size();
    if (n == 0) return nb::make_tuple(found.unlimited, nb::none(), nb::none(), nb::none());
    Out<double, 2> rows = make_array<double, 2>({5, n}), peaks = make_array<double, 2>({3, dof});
    Out<std::int64_t, 1> piece_of = make_array<std::int64_t, 1>({found.pieces.size()});
    std::size_t at = 0;
    for (const auto *row : {&found.times, &found.places, &found.rates, &found.pushes, &found.jerks})
        std::copy(row->begin(), row->end(), rows.data() + n * at++);
    std::copy(found.pieces.begin(), found.pieces.end(), piece_of.data());
    std::copy(found.peaks.begin(), found.peaks.end(), peaks.data());
    return nb::make_tuple(found.unlimited, rows, piece_of, peaks);
}

Tuple time(In<double, 3> pieces, In<double, 1> knots, In<bool, 1> stops, In<double, 2> limits) {
    Curve curve = curve_of(pieces, knots);
    require(stops.size() == knots.size(), "stops: expected shape (k + 1,)");
    require((limits.shape(0) == 2 || limits.shape(0) == 3) && limits.shape(1) == curve.dof, "limits: expected shape (2 or 3, dof)");
    for (std::size_t k = 0; k < limits.size(); k++) require(limits.data()[k] > 0.0, "limits: expected numbers above 0");
    curve.stops = {stops.data(), stops.size()};
    const std::span<const double> all(limits.data(), limits.size());
    Schedule found;
    {
        nb::gil_scoped_release release;
        found = time_curve(curve, {all.first(curve.dof), all.subspan(curve.dof, curve.dof), all.subspan(2 * curve.dof)});
    }
    require(!found.times.empty() || found.unlimited >= 0, "limits: too large or too small for this curve to be timed");
    return arrays_of(found, curve.dof);
}

Out<double, 2> evaluate_at(In<double, 3> pieces, In<double, 1> knots, In<double, 2> rows, In<std::int64_t, 1> piece_of, int derivative,
                           In<double, 1> at) {
    const Curve curve = curve_of(pieces, knots);
    const std::size_t n = piece_of.size();
    require(n > 0 && rows.shape(0) == 5 && rows.shape(1) == n + 1, "rows: expected shape (5, n + 1), n above 0");
    for (std::size_t k = 0; k < n; k++)
        require(piece_of(k) >= 0 && piece_of(k) < static_cast<std::int64_t>(curve.size()), "piece_of: out of range");
    require(derivative >= 0 && derivative <= 3, "derivative: expected 0 to 3");
    const auto row = [&](std::size_t k) { return std::span<const double>(rows.data() + k * (n + 1), n + 1); };
    Out<double, 2> out = make_array<double, 2>({at.size(), curve.dof});
    nb::gil_scoped_release release;
    evaluate(curve, {row(0), row(1), row(2), row(3), row(4), {piece_of.data(), n}}, derivative, {at.data(), at.size()},
             {out.data(), out.size()});
    return out;
}

Out<double, 1> column(const std::vector<double> &values) {
    Out<double, 1> out = make_array<double, 1>({values.size()});
    std::copy(values.begin(), values.end(), out.data());
    return out;
}

Tuple arrays_of(const SmoothCurve &found, std::size_t dof) {
    Out<double, 3> pieces = make_array<double, 3>({found.spares.size(), 4, dof});
    std::copy(found.pieces.begin(), found.pieces.end(), pieces.data());
    Out<bool, 1> stops = make_array<bool, 1>({found.stops.size()});
    std::copy(found.stops.begin(), found.stops.end(), stops.data());
    return nb::make_tuple(pieces, column(found.knots), stops, column(found.spares), column(found.clearances));
}

SmoothRequest request_of(const Scene &scene, const In<double, 2> &path, const In<bool, 1> &moves, const In<double, 2> &limits) {
    const std::size_t dof = static_cast<std::size_t>(scene.robot().dof());
    require(path.shape(0) >= 2 && path.shape(1) == dof, "path: expected shape (n, dof), n at least 2");
    require(moves.size() == dof, "moves: expected shape (dof,)");
    require(limits.shape(0) >= 2 && limits.shape(1) == dof, "limits: expected shape (2, dof)");
    require_finite(path, "path: expected finite numbers up to 1e10");
    for (std::size_t d = 0; d < dof; d++) require(limits(0, d) <= limits(1, d), "limits: expected lower ones first");
    return {dof, {path.data(), path.size()}, {moves.data(), dof}, {limits.data(), dof}, {limits.data() + dof, dof}};
}

Tuple smooth(const Scene &scene, In<double, 2> path, In<bool, 1> moves, In<double, 2> limits) {
    const SmoothRequest request = request_of(scene, path, moves, limits);
    SmoothCurve found;
    {
        nb::gil_scoped_release release;
        found = smooth_path(scene, request);
    }
    return arrays_of(found, request.dof);
}

Tuple finished(const Scene &scene, In<double, 2> path, In<bool, 1> moves, In<double, 2> limits, double rate, bool smooth) {
    const SmoothRequest request = request_of(scene, path, moves, limits);
    const std::size_t dof = request.dof;
    require(limits.shape(0) == 4 || limits.shape(0) == 5, "limits: expected shape (4 or 5, dof)");
    for (std::size_t k = 2 * dof; k < limits.size(); k++) require(limits.data()[k] > 0.0, "limits: expected numbers above 0");
    require(rate > 0.0 && std::isfinite(rate), "rate: expected a number above 0");
    const auto row = [&](std::size_t k) { return std::span<const double>(limits.data() + k * dof, dof); };
    const MotionLimits most{row(2), row(3), limits.shape(0) == 5 ? row(4) : std::span<const double>()};
    FinishedMotion found;
    {
        nb::gil_scoped_release release;
        found = finish(scene, {request, smooth, most, rate});
    }
    Out<double, 2> rows = make_array<double, 2>({found.times.size(), dof});
    std::copy(found.rows.begin(), found.rows.end(), rows.data());
    return nb::make_tuple(arrays_of(found.curve, dof), found.rounded, arrays_of(found.schedule, dof), nb::make_tuple(column(found.times), rows),
                          nb::make_tuple(found.proved, column(found.slack), found.clearance, found.segments),
                          nb::make_tuple(found.seconds[0], found.seconds[1], found.seconds[2]));
}

Tuple straight_lines(In<double, 2> path) {
    require(path.shape(0) >= 2 && path.shape(1) > 0, "path: expected shape (n, dof), n at least 2");
    require_finite(path, "path: expected finite numbers up to 1e10");
    const nb::tuple all = arrays_of(polyline({path.data(), path.size()}, path.shape(1)), path.shape(1));
    return nb::make_tuple(all[0], all[1], all[2]);
}

Out<double, 2> resample(In<double, 2> path, int places) {
    require(places >= 2 && places <= 1'000'000, "places: expected 2 to 1e6");
    require(path.shape(0) > 0 && path.shape(1) > 0, "path: expected shape (n, dof), both above 0");
    require_finite(path, "path: expected finite numbers up to 1e10");
    const std::vector<double> rows = resampled({path.data(), path.size()}, path.shape(1), places);
    Out<double, 2> out = make_array<double, 2>({static_cast<std::size_t>(places), path.shape(1)});
    std::copy(rows.begin(), rows.end(), out.data());
    return out;
}

double roughness_of(In<double, 2> path, int steps) {
    require(steps >= 1 && steps <= 1'000'000, "steps: expected 1 to 1e6");
    require(path.shape(1) > 0, "path: expected shape (n, dof), dof above 0");
    require_finite(path, "path: expected finite numbers up to 1e10");
    return roughness({path.data(), path.size()}, path.shape(1), steps);
}

double roughness_of_curve(In<double, 3> pieces, int steps) {
    require(pieces.shape(1) == 4 && pieces.shape(2) > 0, "pieces: expected shape (k, 4, dof), dof above 0");
    require(steps >= 1 && steps <= 1'000'000, "steps: expected 1 to 1e6");
    require_finite(pieces, "pieces: expected finite numbers up to 1e10");
    return curve_roughness({pieces.data(), pieces.size()}, pieces.shape(2), steps);
}

}  // namespace

void bind_timing(nb::module_ &m) {
    m.def("time_curve", &time, "pieces"_a, "knots"_a, "stops"_a, "limits"_a,
          "The fastest motion along cubic Bezier pieces (k, 4, dof) with parameters (k + 1,) at their ends, at rest where `stops` (k + 1,) "
          "says, within limits (2 or 3, dof) of velocity, acceleration and jerk. Returns a joint that moves without a limit, or -1; (5, n + 1) "
          "times at which intervals begin, the parameter then, its rate, acceleration and third derivative; (n,) the piece of each; (3, dof) "
          "bounds of velocity, acceleration and jerk.");
    m.def("evaluate_motion", &evaluate_at, "pieces"_a, "knots"_a, "rows"_a, "piece_of"_a, "derivative"_a, "at"_a,
          "Configurations (t, dof) at times (t,) of a motion as of `time_curve`, or a derivative by time, 1 to 3.");
    m.def("smooth_path", &smooth, "scene"_a, "path"_a, "moves"_a, "limits"_a,
          "A smooth curve along waypoints (n, dof) whose straight lines are free in a scene, proved free; joints that move (dof,), lower and "
          "upper limits (2, dof). Returns cubic Bezier pieces (k, 4, dof), parameters (k + 1,) at their ends, stops (k + 1,), how far moving "
          "joints may be off each piece (k,), and the clearance that is kept then, above the buffer (k,); k is 0 where nothing was proved.");
    m.def("finish_path", &finished, "scene"_a, "path"_a, "moves"_a, "limits"_a, "rate"_a, "smooth"_a,
          "A motion along waypoints (n, dof) whose straight lines are free in a scene, rounded if wished and where that can be proved; limits "
          "(4 or 5, dof) are lower, upper, of velocity, acceleration and jerk. Returns the curve as `smooth_path` does, and whether it is rounded; "
          "what `time_curve` does, None where it cannot be timed; times (t,) and rows (t, dof), so many a second; and whether curve and straight lines "
          "between rows are proved free, with joints how far off the curve (dof,), with what clearance above the buffer, in how many pieces; and the seconds of rounding, timing and proof.");
    m.def("polyline", &straight_lines, "path"_a,
          "Straight lines through waypoints (n, dof): cubic Bezier pieces (k, 4, dof), parameters (k + 1,) at their ends, and stops (k + 1,) where it "
          "turns.");
    m.def("resampled", &resample, "path"_a, "places"_a,
          "A path (n, dof) of straight segments at so many places, equally far apart along it: (places, dof).");
    m.def("roughness", &roughness_of, "path"_a, "steps"_a,
          "Sum of squared second differences of a path (n, dof), resampled at so many equally long steps.");
    m.def("curve_roughness", &roughness_of_curve, "pieces"_a, "steps"_a, "The same of cubic Bezier pieces (k, 4, dof).");
}

}  // namespace elbowroom::bindings
