#include "elbowroom/finish.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

namespace elbowroom {
namespace {

constexpr double TURN = 1e-9;         // by which a joint's direction changes at a waypoint that is a corner
constexpr double LEAST_STEP = 1e-12;  // of the parameter on an edge
constexpr double ON_TIME = 1e-9;      // of a step: an end that is this close to a row is on it
constexpr double MOST_ROWS = 1e7;

// Whether nothing leaves the values for which pairs were shown never to meet, joints being off by `slack`.
bool within(const ProvedRange &range, std::span<const double> row, std::span<const double> slack) {
    for (std::size_t d = 0; d < row.size(); d++)
        if (!(row[d] - slack[d] >= range.lower[d] && row[d] + slack[d] <= range.upper[d])) return false;
    return true;
}

void lay_rows(FinishedMotion &made, const FinishRequest &request) {
    const std::size_t dof = request.path.dof;
    const Schedule &schedule = made.schedule;
    const double steps = schedule.times.back() * request.rate;
    if (!(steps <= MOST_ROWS)) return;
    const std::size_t n = static_cast<std::size_t>(std::max(0.0, std::ceil(steps - ON_TIME))) + 1;
    for (std::size_t k = 0; k < n; k++) made.times.push_back(static_cast<double>(k) / request.rate);
    made.rows.resize(n * dof);
    const Curve curve{dof, made.curve.pieces, made.curve.knots, {}};
    evaluate(curve, {schedule.times, schedule.places, schedule.rates, schedule.pushes, schedule.jerks, schedule.pieces}, 0, made.times, made.rows);
    for (std::size_t d = 0; d < dof; d++) {
        if (!request.path.moves[d])
            for (std::size_t k = 0; k < n; k++) made.rows[k * dof + d] = request.path.path[d];  // to the last bit
        made.rows[d] = made.curve.pieces[d], made.rows[(n - 1) * dof + d] = made.curve.pieces[made.curve.pieces.size() - dof + d];
    }
}

// Proves pieces of so many control points; false where something is not free.
bool proved(FinishedMotion &made, const Scene &scene, std::size_t points, std::span<const double> control, std::span<const double> slack) {
    const std::size_t dof = slack.size(), rows = control.size() / dof;
    if (rows == 0) return true;
    for (std::size_t k = 0; k < rows; k++)
        if (!within(scene.range(), control.subspan(k * dof, dof), slack)) return false;
    if (scene.covers({control, rows}) >= 0) return false;
    std::vector<PieceProof> proofs(rows / points);
    scene.prove({dof, proofs.size(), points, control, slack}, {}, proofs);
    made.segments += static_cast<std::int64_t>(proofs.size());
    for (const PieceProof &proof : proofs) {
        if (proof.outcome != Outcome::free) return false;
        made.clearance = std::min(made.clearance, proof.clearance);
    }
    return true;
}

void prove(FinishedMotion &made, const Scene &scene, const FinishRequest &request) {
    const std::size_t dof = request.path.dof, count = made.curve.spares.size();
    std::vector<double> slack(dof), chords, open;
    for (std::size_t d = 0; d < dof; d++) slack[d] = made.schedule.peaks[dof + d] / (8.0 * request.rate * request.rate);
    made.clearance = std::numeric_limits<double>::infinity(), made.segments = static_cast<std::int64_t>(made.rounded ? count : 0);
    std::vector<std::uint8_t> tight(count, 0);  // proved, but with less room than straight lines between rows need
    for (std::size_t k = 0; k < count; k++) {
        if (made.curve.spares[k] < 0.0) {
            open.insert(open.end(), &made.curve.pieces[k * 4 * dof], &made.curve.pieces[k * 4 * dof] + 4 * dof);
            continue;
        }
        made.clearance = std::min(made.clearance, made.curve.clearances[k]);
        for (std::size_t d = 0; d < dof; d++) tight[k] |= slack[d] > (request.path.moves[d] ? made.curve.spares[k] : 0.0);
    }
    std::size_t last = 0;  // row up to which chords were added
    for (std::size_t k = 0; k < made.schedule.pieces.size(); k++) {
        if (!tight[static_cast<std::size_t>(made.schedule.pieces[k])]) continue;
        const double begin = made.schedule.times[k] * request.rate, end = made.schedule.times[k + 1] * request.rate;
        const std::size_t from = std::max(last, static_cast<std::size_t>(std::max(0.0, std::floor(begin - ON_TIME))));
        const std::size_t to = std::min(made.times.size() - 1, static_cast<std::size_t>(std::ceil(end + ON_TIME)));
        if (from < to) {
            for (std::size_t row = from; row < to; row++)
                chords.insert(chords.end(), &made.rows[row * dof], &made.rows[row * dof] + 2 * dof);
            last = to;
        }
    }
    made.proved = proved(made, scene, 4, open, slack) && proved(made, scene, 2, chords, std::vector<double>(dof, 0.0));
    made.slack = made.proved && chords.empty() ? slack : std::vector<double>(dof, 0.0);
}

}  // namespace

SmoothCurve polyline(std::span<const double> path, std::size_t dof) {
    const std::size_t n = path.size() / dof;
    std::vector<const double *> rows{path.data()};
    for (std::size_t k = 1; k < n; k++)
        if (!std::equal(&path[k * dof], &path[k * dof] + dof, &path[(k - 1) * dof])) rows.push_back(&path[k * dof]);
    if (rows.size() == 1) rows.push_back(&path[(n - 1) * dof]);
    SmoothCurve out;
    out.knots = {0.0};
    for (std::size_t k = 1; k < rows.size(); k++) {
        const double *a = rows[k - 1], *b = rows[k];
        double far = 0.0;
        for (std::size_t d = 0; d < dof; d++) far = std::max(far, std::fabs(b[d] - a[d]));
        out.knots.push_back(out.knots.back() + std::max(far, LEAST_STEP));
        const std::size_t at = out.pieces.size();
        out.pieces.resize(at + 4 * dof);
        for (std::size_t d = 0; d < dof; d++) {
            const double third = (b[d] - a[d]) / 3.0;
            double *p = &out.pieces[at + d];
            p[0] = a[d], p[dof] = a[d] + third, p[2 * dof] = b[d] - third, p[3 * dof] = b[d];
        }
    }
    out.stops.assign(rows.size(), 1);
    for (std::size_t k = 1; k + 1 < rows.size(); k++) {
        double turn = 0.0;
        for (std::size_t d = 0; d < dof; d++) {
            const double before = (rows[k][d] - rows[k - 1][d]) / (out.knots[k] - out.knots[k - 1]);
            turn = std::max(turn, std::fabs((rows[k + 1][d] - rows[k][d]) / (out.knots[k + 1] - out.knots[k]) - before));
        }
        out.stops[k] = turn > TURN;
    }
    out.spares.assign(rows.size() - 1, -1.0), out.clearances.assign(rows.size() - 1, 0.0);
    return out;
}

FinishedMotion finish(const Scene &scene, const FinishRequest &request) {
    using Clock = std::chrono::steady_clock;
    FinishedMotion made;
    Clock::time_point last = Clock::now();
    const auto lap = [&](std::size_t stage) {
        const Clock::time_point now = Clock::now();
        made.seconds[stage] = std::chrono::duration<double>(now - std::exchange(last, now)).count();
    };
    if (request.smooth) made.curve = smooth_path(scene, request.path);
    made.rounded = !made.curve.spares.empty();
    if (!made.rounded) made.curve = polyline(request.path.path, request.path.dof);
    lap(0);
    const std::vector<std::uint8_t> &stops = made.curve.stops;
    const std::unique_ptr<bool[]> stop(new bool[stops.size()]);
    std::copy(stops.begin(), stops.end(), stop.get());
    made.schedule = time_curve({request.path.dof, made.curve.pieces, made.curve.knots, {stop.get(), stops.size()}}, request.limits);
    if (made.schedule.times.empty()) return made;
    lay_rows(made, request);
    lap(1);
    if (request.limits.jerk.empty() && !made.rows.empty()) prove(made, scene, request);
    lap(2);
    return made;
}

}  // namespace elbowroom
