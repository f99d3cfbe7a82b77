#include "elbowroom/timing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "elbowroom/lanes.hpp"
#include "elbowroom/link_spheres.hpp"

namespace elbowroom {
namespace {

constexpr double INFINITE = std::numeric_limits<double>::infinity();

// Of the grid: intervals of a piece, more where it turns by all its slope, and of a section between two stops. 45 pieces of 7
// joints that swing widely are within 1.1 % of the fastest, a straight line within 0.1 %.
constexpr double PER_PIECE = 5.0, PER_TURN = 8.0, PER_SECTION = 60.0;
constexpr double BELOW = 1e-9;      // relative: limits are aimed at from this far below
constexpr double FLAT = 1e-9;       // share of a limit: a row that x at the far end moves by less bounds the near end alone
constexpr double ROUNDING = 1e-12;  // relative: by which the bounds of x at the far end may cross
constexpr double FASTEST = 1e9;     // 1/s: no interval takes less than a nanosecond, even where nothing moves
constexpr double TURN = 1e-6;       // relative to the largest: a jump of a derivative that is more than rounding

// Under limits of jerk.
constexpr double WINDOWS[] = {0.25, 0.4, 0.6, 0.8, 1.0, 1.4, 2.0};  // times what it takes to build up the accelerations that occur
constexpr int ROUNDS = 6;              // in which speeds are lowered where limits are exceeded
constexpr double MARGIN = 1e-3;        // of the limits: what is not used, for what lies between the places looked at
constexpr double SHORTEST = 1e-4;      // seconds of a window, at least
constexpr double TOO_SHORT = 1e-12;    // seconds: an interval that rounding makes
constexpr int LOOKS = 5;               // places of an interval at which limits are looked at, its ends among them
constexpr double CLOSE = 1.002;        // a motion that exceeds limits by so little is stretched, not made anew

// Control points of a joint's slope on a piece, by the parameter.
struct Slope {
    double d0, d1, d2, width;

    Slope(const Curve &curve, std::size_t p, std::size_t j) : width(curve.knots[p + 1] - curve.knots[p]) {
        const double p0 = curve.at(p, 0, j), p1 = curve.at(p, 1, j), p2 = curve.at(p, 2, j), p3 = curve.at(p, 3, j);
        d0 = 3.0 * (p1 - p0) / width, d1 = 3.0 * (p2 - p1) / width, d2 = 3.0 * (p3 - p2) / width;
    }
    double at(double u) const { return (1.0 - u) * (1.0 - u) * d0 + 2.0 * u * (1.0 - u) * d1 + u * u * d2; }
    double bend(double u) const { return 2.0 * ((1.0 - u) * (d1 - d0) + u * (d2 - d1)) / width; }
    double third() const { return 2.0 * (d2 - 2.0 * d1 + d0) / (width * width); }
};

// Those of the moving joints on all pieces, in lanes: (k, 3, m), m filled up to whole vectors with joints that stand.
struct Slopes {
    std::size_t m, lanes;  // joints; the same filled up
    std::vector<double> rows;

    Slopes(const Curve &curve, std::span<const std::size_t> moving)
        : m(moving.size()), lanes((m + 3) / 4 * 4), rows(curve.size() * 3 * lanes, 0.0) {
        for (std::size_t p = 0; p < curve.size(); p++)
            for (std::size_t e = 0; e < m; e++) {
                const Slope slope(curve, p, moving[e]);
                double *row = &rows[3 * p * lanes + e];
                row[0] = slope.d0, row[lanes] = slope.d1, row[2 * lanes] = slope.d2;
            }
    }
    const double *piece(std::size_t p) const { return &rows[3 * p * lanes]; }
};

// Knots at which the robot rests: the stops, and where the derivative of this order (1 or 2), or a lower one, jumps.
std::vector<std::uint8_t> find_stops(const Curve &curve, int order) {
    const std::size_t k = curve.size(), dof = curve.dof;
    const auto second = [&](std::size_t p, std::size_t c, std::size_t j) {
        return curve.at(p, c + 2, j) - 2.0 * curve.at(p, c + 1, j) + curve.at(p, c, j);
    };
    double largest1 = 0.0, largest2 = 0.0;
    for (std::size_t p = 0; p < k; p++) {
        const double width = curve.knots[p + 1] - curve.knots[p];
        for (std::size_t j = 0; j < dof; j++) {
            for (std::size_t c = 0; c < 3; c++)
                largest1 = std::max(largest1, std::fabs(curve.at(p, c + 1, j) - curve.at(p, c, j)) / width);
            for (std::size_t c = 0; c < 2; c++) largest2 = std::max(largest2, std::fabs(second(p, c, j)) / (width * width));
        }
    }
    std::vector<std::uint8_t> out(k + 1, 0);
    out[0] = out[k] = 1;
    for (std::size_t p = 1; p < k; p++) {
        const double before = curve.knots[p] - curve.knots[p - 1], after = curve.knots[p + 1] - curve.knots[p];
        bool rests = curve.stops[p];
        for (std::size_t j = 0; j < dof && !rests; j++) {
            const double slope0 = (curve.at(p - 1, 3, j) - curve.at(p - 1, 2, j)) / before;
            const double slope1 = (curve.at(p, 1, j) - curve.at(p, 0, j)) / after;
            rests = std::fabs(slope1 - slope0) > TURN * largest1;
            if (order < 2) continue;
            // Of a straight line all second derivatives are rounding.
            const double least = TURN * std::max(largest2, largest1 / std::min(before, after));
            rests |= std::fabs(second(p, 0, j) / (after * after) - second(p - 1, 1, j) / (before * before)) > least;
        }
        out[p] = rests;
    }
    return out;
}

// By how much the slope of a piece changes on it, relative to the largest: 0 where it is straight, 2 in a cusp.
double turn_of(const Curve &curve, std::size_t p) {
    double change = 0.0, largest = 0.0;
    for (std::size_t j = 0; j < curve.dof; j++) {
        const double d0 = curve.at(p, 1, j) - curve.at(p, 0, j), d1 = curve.at(p, 2, j) - curve.at(p, 1, j);
        const double d2 = curve.at(p, 3, j) - curve.at(p, 2, j);
        change = std::max(change, std::max({d0, d1, d2}) - std::min({d0, d1, d2}));
        largest = std::max({largest, std::fabs(d0), std::fabs(d1), std::fabs(d2)});
    }
    return largest > 0.0 ? change / largest : 0.0;
}

// Intervals: parameters at their ends (n + 1), whether the robot rests there, and the piece each is in (n).
struct Grid {
    std::vector<double> places;
    std::vector<std::uint8_t> at_rest;
    std::vector<std::int64_t> piece_of;

    std::size_t size() const { return piece_of.size(); }

    // Of the pieces from `begin` to `end`, at both of which the robot rests.
    Grid(const Curve &curve, std::span<const std::uint8_t> stops, std::size_t begin, std::size_t end) {
        for (std::size_t first = begin; first < end;) {
            std::size_t last = first + 1;
            while (!stops[last]) last++;
            const double length = curve.knots[last] - curve.knots[first];
            for (std::size_t p = first; p < last; p++) {
                const double share = PER_SECTION * (curve.knots[p + 1] - curve.knots[p]) / length;
                const double count = std::ceil(std::max(share, PER_PIECE + PER_TURN * turn_of(curve, p)));
                const double width = (curve.knots[p + 1] - curve.knots[p]) / count;
                for (double c = 0.0; c < count; c += 1.0) {
                    places.push_back(curve.knots[p] + c * width);
                    at_rest.push_back(c == 0.0 && stops[p]);
                    piece_of.push_back(static_cast<std::int64_t>(p));
                }
            }
            first = last;
        }
        places.push_back(curve.knots[end]);
        at_rest.push_back(1);
    }
};

// What bounds x where a slope has these Bernstein coefficients: as long as x is below the line between X0 = 1 / r0^2 at one end
// and X1 = 1 / r1^2 at the other, q'^2 x is below q'^2 times that line, a polynomial of degree five which its coefficients bound
// by 1. Fills r0 and r1 for four joints.
void slope_bounds(F64x4 b0, F64x4 b1, F64x4 b2, double *r0, double *r1) {
    const F64x4 most = max(max(abs(b0), abs(b1)), max(abs(b2), splat4(1e-150)));  // what does not move is not divided by zero
    const F64x4 q0 = max(abs(b0), 0.5 * most), q1 = max(abs(b2), 0.5 * most), x0 = 1.0 / (q0 * q0), x1 = 1.0 / (q1 * q1);
    const F64x4 p0 = b0 * b0, p1 = b0 * b1, p2 = (b0 * b2 + 2.0 * b1 * b1) / 3.0, p3 = b1 * b2, p4 = b2 * b2;
    const F64x4 outer = max(max(p0 * x0, p4 * x1), max((p0 * x1 + 4.0 * p1 * x0) / 5.0, (4.0 * p3 * x1 + p4 * x0) / 5.0));
    const F64x4 above = sqrt(max(outer, max((2.0 * p1 * x1 + 3.0 * p2 * x0) / 5.0, (3.0 * p2 * x1 + 2.0 * p3 * x0) / 5.0)));
    store(r0, q0 * above), store(r1, q1 * above);
}

// Limits of the moving joints, (m) each, which may be tightened for what joints can reach.
struct Bounds {
    std::vector<double> velocity, acceleration, jerk;
};

// The largest squared rates of the parameter on a grid.
class Fastest {
  public:
    std::vector<double> squared;        // (n + 1)
    std::vector<double> speed, effort;  // (m) what no joint's speed and acceleration exceeds, anywhere

    Fastest(const Curve &curve, const Grid &grid, const Slopes &slopes, const Bounds &bounds)
        : squared(grid.size() + 1), speed(slopes.m), effort(slopes.m), grid_(grid), m_(slopes.m), lanes_(slopes.lanes), rows_(3 * lanes_),
          slower_(lanes_, 1.0), limits_(rows_, 1.0), rates_(memory().rates), near_(memory().near), far_(memory().far),
          slopes_(memory().slopes), reaches_(memory().reaches), highest_(grid.size() + 1) {
        rates_.resize(grid.size() * 2 * lanes_);
        for (auto *rows : {&near_, &far_, &slopes_, &reaches_}) rows->resize(grid.size() * rows_);
        for (std::size_t e = 0; e < m_; e++) {
            slower_[e] = 1.0 / bounds.velocity[e];
            for (std::size_t c = 0; c < 3; c++) limits_[c * lanes_ + e] = bounds.acceleration[e];
        }
        for (std::size_t i = 0; i < grid.size(); i++) {
            const std::size_t p = static_cast<std::size_t>(grid.piece_of[i]);
            const double width = curve.knots[p + 1] - curve.knots[p], half = 0.5 / (grid.places[i + 1] - grid.places[i]), twice = 2.0 / width;
            const double t0 = (grid.places[i] - curve.knots[p]) / width;
            const double t1 = std::min((grid.places[i + 1] - curve.knots[p]) / width, 1.0);
            for (std::size_t e = 0; e < lanes_; e += 4) {
                const double *slope = slopes.piece(p) + e;
                const F64x4 d0 = load4(slope), d1 = load4(slope + lanes_), d2 = load4(slope + 2 * lanes_);
                const F64x4 a0 = d0 + t0 * (d1 - d0), a1 = d1 + t0 * (d2 - d1), b0 = d0 + t1 * (d1 - d0), b1 = d1 + t1 * (d2 - d1);
                const F64x4 first = a0 + t0 * (a1 - a0), middle = a0 + t1 * (a1 - a0), last = b0 + t1 * (b1 - b0);
                slope_bounds(first, middle, last, &rates_[2 * i * lanes_ + e], &rates_[(2 * i + 1) * lanes_ + e]);
                const F64x4 bend0 = twice * (a1 - a0), bend1 = twice * (b1 - b0);
                double *near = &near_[i * rows_ + e], *far = &far_[i * rows_ + e];
                store(near, bend0 - half * first), store(far, half * first);
                store(near + lanes_, 0.5 * bend1 - half * middle), store(far + lanes_, 0.5 * bend0 + half * middle);
                store(near + 2 * lanes_, -half * last), store(far + 2 * lanes_, bend1 + half * last);
            }
        }
    }

    // With bounds besides, (n + 1).
    void solve(std::span<const double> ceiling) {
        bound_alone(ceiling);
        for (std::size_t i = grid_.size(); i-- > 0;) step_back(i);
        squared[0] = 0.0;
        for (std::size_t i = 0; i < grid_.size(); i++) {
            F64x4 high = splat4(highest_[i + 1]);
            const double *slopes = &slopes_[rows_ * i], *reaches = &reaches_[rows_ * i];
            for (std::size_t c = 0; c < rows_; c += 4) high = min(high, load4(slopes + c) * squared[i] + load4(reaches + c));
            squared[i + 1] = std::max(std::min({high[0], high[1], high[2], high[3]}), 0.0);
        }
        measure();
    }

  private:
    // Rows as x1 within slope * x0 -+ reach, and what bounds x0 alone.
    void bound_alone(std::span<const double> ceiling) {
        const std::size_t n = grid_.size();
        highest_.assign(ceiling.begin(), ceiling.end());
        for (std::size_t i = 0; i < n; i++)
            for (std::size_t end = 0; end < 2; end++) {
                F64x4 slowest = splat4(1.0 / ((grid_.places[i + 1] - grid_.places[i]) * FASTEST));  // inverse of the rate
                const double *rates = &rates_[(2 * i + end) * lanes_];
                for (std::size_t e = 0; e < lanes_; e += 4) slowest = max(slowest, load4(rates + e) * load4(&slower_[e]));
                const double most = 1.0 / std::max({slowest[0], slowest[1], slowest[2], slowest[3]});
                highest_[i + end] = std::min(highest_[i + end], most * most);
            }
        for (std::size_t i = 0; i <= n; i++)
            if (grid_.at_rest[i]) highest_[i] = 0.0;
        for (std::size_t i = 0; i < n; i++) {
            F64x4 alone = splat4(highest_[i]);
            for (std::size_t c = 0; c < rows_; c += 4) {
                const std::size_t at = rows_ * i + c;
                const F64x4 limit = load4(&limits_[c]), near = load4(&near_[at]), far = load4(&far_[at]);
                const I64x4 steep = abs(far) * highest_[i + 1] > FLAT * limit;
                const F64x4 by = 1.0 / (steep ? far : splat4(1.0));
                store(&slopes_[at], steep ? -near * by : F64x4{}), store(&reaches_[at], steep ? limit * abs(by) : splat4(INFINITE));
                // Infinite where x does not matter at all.
                alone = steep ? alone : min(alone, (1.0 - FLAT) * limit / abs(near));
            }
            highest_[i] = std::min({alone[0], alone[1], alone[2], alone[3]});
        }
    }

    // The largest x at a grid point from which the next can be reached.
    void step_back(std::size_t i) {
        const double *slopes = &slopes_[rows_ * i], *reaches = &reaches_[rows_ * i];
        const double most = highest_[i + 1], tolerance = ROUNDING * most;
        double x = highest_[i];
        for (std::size_t turn = 0; turn < 3 * m_ + 8; turn++) {
            F64x4 lows{}, highs = splat4(most), low_slopes{}, high_slopes{};
            for (std::size_t c = 0; c < rows_; c += 4) {
                const F64x4 slope = load4(slopes + c), reach = load4(reaches + c), low = slope * x - reach, high = slope * x + reach;
                low_slopes = low > lows ? slope : low_slopes, lows = max(low, lows);
                high_slopes = high < highs ? slope : high_slopes, highs = min(high, highs);
            }
            int l = 0, h = 0;
            for (int k = 1; k < 4; k++) l = lows[k] > lows[l] ? k : l, h = highs[k] < highs[h] ? k : h;
            if (lows[l] <= highs[h] + tolerance) break;
            // The two lines bound what is possible; where they meet is the next guess, from above.
            x = std::max(0.0, x - (lows[l] - highs[h]) / (low_slopes[l] - high_slopes[h]));
        }
        highest_[i] = x;
    }

    void measure() {
        std::vector<double> fast(lanes_, 0.0), quick(lanes_, 0.0);
        for (std::size_t i = 0; i < grid_.size(); i++) {
            const double x0 = squared[i], x1 = squared[i + 1];
            for (std::size_t e = 0; e < lanes_; e += 4) {
                const F64x4 rate0 = load4(&rates_[2 * i * lanes_ + e]), rate1 = load4(&rates_[(2 * i + 1) * lanes_ + e]);
                store(&fast[e], max(load4(&fast[e]), max(rate0 * rate0 * x0, rate1 * rate1 * x1)));
                F64x4 most = load4(&quick[e]);
                for (std::size_t c = e; c < rows_; c += lanes_)
                    most = max(most, abs(load4(&near_[rows_ * i + c]) * x0 + load4(&far_[rows_ * i + c]) * x1));
                store(&quick[e], most);
            }
        }
        for (std::size_t e = 0; e < m_; e++) speed[e] = std::sqrt(fast[e]), effort[e] = quick[e];
    }

    const Grid &grid_;
    std::size_t m_, lanes_, rows_;  // moving joints, the same filled up to whole vectors, and three rows of them
    std::vector<double> slower_, limits_;  // inverse limits of velocity (lanes); of acceleration (3, lanes)
    // Of what the joints do on an interval with x0 and x1 at its ends: the square of a speed is at most the larger of rates^2 x at the
    // two ends (n, 2, lanes); accelerations lie between the smallest and the largest of near * x0 + far * x1 (n, 3, lanes).
    std::vector<double> &rates_, &near_, &far_;
    std::vector<double> &slopes_, &reaches_;  // rows as x1 within slope * x0 -+ reach
    std::vector<double> highest_;

    // Large enough to be worth keeping: of the thread, for one at a time.
    struct Memory {
        std::vector<double> rates, near, far, slopes, reaches;
    };
    static Memory &memory() { return scratch<Memory>(); }
};

// Times, rates and accelerations of a parameter whose squared rate is linear between grid points.
void fill_times(std::span<const double> grid, std::span<const double> squared, Schedule &out) {
    const std::size_t n = grid.size() - 1;
    out.times.assign(n + 1, 0.0), out.rates.resize(n + 1), out.pushes.assign(n + 1, 0.0);
    out.places.assign(grid.begin(), grid.end());
    for (std::size_t i = 0; i <= n; i++) out.rates[i] = std::sqrt(squared[i]);
    for (std::size_t i = 0; i < n; i++) {
        const double h = grid[i + 1] - grid[i];
        out.times[i + 1] = out.times[i] + 2.0 * h / (out.rates[i] + out.rates[i + 1]);
        out.pushes[i] = 0.5 * (squared[i + 1] - squared[i]) / h;
    }
}

// The average of a schedule over a window of time; intervals are cut at knots of the curve.
void average(const Schedule &of, std::span<const double> knots, double window, Schedule &out) {
    const std::size_t last = of.times.size() - 1;
    const double begin = of.places.front(), end = of.places.back();
    out.times.clear(), out.places.clear(), out.rates.clear(), out.pushes.clear(), out.jerks.clear();
    const auto add = [&](double now, double place, double rate, double push, double jerk) {
        out.times.push_back(now), out.places.push_back(place), out.rates.push_back(rate);
        out.pushes.push_back(push), out.jerks.push_back(jerk);
    };
    // Intervals in which the window begins and ends; `tail` counts from 1, 0 is before all.
    std::size_t head = 0, tail = 0, knot = 1;
    double now = 0.0, place = begin;
    while (true) {
        double front = end, front_rate = 0.0, front_push = 0.0, back = begin, back_rate = 0.0, back_push = 0.0;
        if (head < last) {
            const double tau = now - of.times[head];
            front = of.places[head] + tau * (of.rates[head] + 0.5 * tau * of.pushes[head]);
            front_rate = of.rates[head] + tau * of.pushes[head], front_push = of.pushes[head];
        }
        if (tail > 0) {
            const double tau = now - window - of.times[tail - 1];
            back = of.places[tail - 1] + tau * (of.rates[tail - 1] + 0.5 * tau * of.pushes[tail - 1]);
            back_rate = of.rates[tail - 1] + tau * of.pushes[tail - 1], back_push = of.pushes[tail - 1];
        }
        double rate = std::max((front - back) / window, 0.0), push = (front_rate - back_rate) / window;
        const double jerk = (front_push - back_push) / window;
        const double until_head = head < last ? of.times[head + 1] : INFINITE, until_tail = of.times[tail] + window;
        const double until = std::min(until_head, until_tail);
        double step = until - now;
        while (step > TOO_SHORT) {
            add(now, place, rate, push, jerk);
            const auto travelled = [&](double tau) { return place + tau * (rate + tau * (push / 2.0 + tau * jerk / 6.0)); };
            double after = travelled(step), part = step;
            if (knot < knots.size() - 1 && after > knots[knot]) {
                double low = 0.0, high = step;
                for (int turn = 0; turn < 60; turn++) {
                    part = 0.5 * (low + high);
                    (travelled(part) < knots[knot] ? low : high) = part;
                }
                after = knots[knot++];
            }
            place = after;
            rate = std::max(rate + part * (push + 0.5 * part * jerk), 0.0);
            push += part * jerk, now += part, step -= part;
        }
        now = until;
        if (until_head <= until) head++;
        if (until_tail <= until && tail++ == last) break;
    }
    add(now, end, 0.0, 0.0, 0.0);
}

// Looks at the limits along a section: fills peaks (3, m) and, for each interval, by which time must be stretched on it; returns the
// largest.
double look(const Curve &curve, std::size_t first, std::size_t end, const Schedule &of, const Slopes &slopes, const Bounds &bounds,
            std::span<double> peaks, std::vector<double> &needs) {
    const std::size_t n = of.times.size() - 1, m = slopes.m, lanes = slopes.lanes;
    std::vector<double> inverse(3 * lanes, 0.0), most(3 * lanes, 0.0);
    for (std::size_t e = 0; e < m; e++)
        inverse[e] = 1.0 / bounds.velocity[e], inverse[lanes + e] = 1.0 / bounds.acceleration[e], inverse[2 * lanes + e] = 1.0 / bounds.jerk[e];
    needs.resize(n);
    double worst = 0.0;
    std::size_t p = first;
    const auto largest = [](F64x4 v) { return std::max({v[0], v[1], v[2], v[3]}); };
    for (std::size_t i = 0; i < n; i++) {
        while (p < end - 1 && 0.5 * (of.places[i] + of.places[i + 1]) > curve.knots[p + 1]) p++;
        const double length = of.times[i + 1] - of.times[i], width = curve.knots[p + 1] - curve.knots[p], per = 2.0 / width;
        F64x4 shares[3] = {};
        for (int c = 0; c < LOOKS; c++) {
            const double tau = length * c / (LOOKS - 1);
            const double s0 = of.places[i] + tau * (of.rates[i] + tau * (of.pushes[i] / 2.0 + tau * of.jerks[i] / 6.0));
            const double s1 = of.rates[i] + tau * (of.pushes[i] + tau * of.jerks[i] / 2.0);
            const double s2 = of.pushes[i] + tau * of.jerks[i], s3 = of.jerks[i];
            const double u = std::clamp((s0 - curve.knots[p]) / width, 0.0, 1.0), v = 1.0 - u, third = per / width * s1 * s1 * s1;
            for (std::size_t e = 0; e < lanes; e += 4) {
                const double *slope = slopes.piece(p) + e;
                const F64x4 d0 = load4(slope), d1 = load4(slope + lanes), d2 = load4(slope + 2 * lanes);
                const F64x4 along = v * v * d0 + 2.0 * u * v * d1 + u * u * d2, bend = per * (v * (d1 - d0) + u * (d2 - d1));
                const F64x4 found[3] = {abs(along * s1), abs(along * s2 + bend * (s1 * s1)),
                                        abs(along * s3 + bend * (3.0 * s1 * s2) + third * (d2 - 2.0 * d1 + d0))};
                for (std::size_t order = 0; order < 3; order++) {
                    double *peak = &most[order * lanes + e];
                    store(peak, max(load4(peak), found[order]));
                    shares[order] = max(shares[order], found[order] * load4(&inverse[order * lanes + e]));
                }
            }
        }
        needs[i] = std::max({largest(shares[0]), std::sqrt(largest(shares[1])), std::cbrt(largest(shares[2]))});
        worst = std::max(worst, needs[i]);
    }
    for (std::size_t order = 0; order < 3; order++) std::copy_n(&most[order * lanes], m, &peaks[order * m]);
    return worst;
}

// Lowers the bounds of x where the average needs more time: at all that a window there looks at.
void lower_ceiling(const Schedule &of, std::span<const double> squared, const Schedule &averaged, std::span<const double> needs,
                   double window, std::span<double> ceiling) {
    std::size_t first = 0;
    for (std::size_t i = 0; i < of.times.size(); i++) {
        while (first < needs.size() && averaged.times[first + 1] < of.times[i]) first++;
        double need = 1.0;
        for (std::size_t k = first; k < needs.size() && averaged.times[k] <= of.times[i] + window; k++) need = std::max(need, needs[k]);
        if (need > 1.0) ceiling[i] = std::min(ceiling[i], squared[i] / (need * need));
    }
}

// The pieces from `first` to `end`, without a stop between, within all three limits: the shortest motion of several windows.
Schedule time_section(const Curve &curve, std::span<const std::uint8_t> stops, std::size_t first, std::size_t end,
                      const Slopes &slopes, const Bounds &bounds) {
    const Grid grid(curve, stops, first, end);
    const std::size_t m = bounds.jerk.size();
    Fastest fastest(curve, grid, slopes, bounds);
    Schedule timed, averaged, best;
    std::vector<double> needs, peaks(3 * m);
    double shortest = INFINITE, longest = -1.0;
    for (const double factor : WINDOWS) {
        std::vector<double> ceiling(grid.size() + 1, INFINITE);
        for (int round = 0; round < ROUNDS; round++) {
            fastest.solve(ceiling);
            if (longest < 0.0)
                for (std::size_t e = 0; e < m; e++) longest = std::max(longest, fastest.effort[e] / bounds.jerk[e]);
            const double window = std::max(factor * longest, SHORTEST);
            fill_times(grid.places, fastest.squared, timed);
            if (!(timed.times.back() + window < INFINITE)) break;  // of numbers beyond what float64 can compute with
            average(timed, curve.knots.subspan(first, end - first + 1), window, averaged);
            const double worst = look(curve, first, end, averaged, slopes, bounds, peaks, needs), stretch = std::max(worst, 1.0);
            if (averaged.times.back() * stretch < shortest) {
                shortest = averaged.times.back() * stretch;
                best = averaged, best.peaks = peaks;
                double power = 1.0;
                for (double &time : best.times) time *= stretch;
                for (auto *rows : {&best.rates, &best.pushes, &best.jerks}) {
                    power *= stretch;
                    for (double &value : *rows) value /= power;
                    const std::size_t order = rows == &best.rates ? 0 : rows == &best.pushes ? 1 : 2;
                    for (std::size_t e = 0; e < m; e++) best.peaks[order * m + e] /= power;
                }
            }
            if (worst <= CLOSE) break;
            lower_ceiling(timed, fastest.squared, averaged, needs, window, ceiling);
        }
    }
    return best;
}

// Every section between two stops by itself.
Schedule time_smoothly(const Curve &curve, std::span<const std::size_t> moving, const Bounds &bounds) {
    const std::vector<std::uint8_t> stops = find_stops(curve, 2);
    const Slopes slopes(curve, moving);
    const std::size_t m = moving.size();
    Schedule out;
    out.peaks.assign(3 * curve.dof, 0.0);
    double begun = 0.0;
    for (std::size_t first = 0; first < curve.size();) {
        std::size_t end = first + 1;
        while (!stops[end]) end++;
        Schedule part = time_section(curve, stops, first, end, slopes, bounds);
        if (part.times.empty()) return part;
        for (double &time : part.times) time += begun;
        begun = part.times.back();
        if (!out.times.empty())  // a section begins where the one before ended
            for (auto *rows : {&out.times, &out.places, &out.rates, &out.pushes, &out.jerks}) rows->pop_back();
        const auto append = [](std::vector<double> &to, const std::vector<double> &from) { to.insert(to.end(), from.begin(), from.end()); };
        append(out.times, part.times), append(out.places, part.places), append(out.rates, part.rates);
        append(out.pushes, part.pushes), append(out.jerks, part.jerks);
        for (std::size_t order = 0; order < 3; order++)
            for (std::size_t e = 0; e < m; e++) {
                double &peak = out.peaks[order * curve.dof + moving[e]];
                peak = std::max(peak, part.peaks[order * m + e]);
            }
        first = end;
    }
    std::size_t p = 0;
    for (std::size_t i = 0; i + 1 < out.times.size(); i++) {
        while (p + 1 < curve.size() && 0.5 * (out.places[i] + out.places[i + 1]) >= curve.knots[p + 1]) p++;
        out.pieces.push_back(static_cast<std::int64_t>(p));
    }
    return out;
}

// A motion of no time along a curve that goes nowhere.
Schedule standing(const Curve &curve) {
    Schedule out;
    out.times = out.rates = out.pushes = out.jerks = {0.0, 0.0};
    out.places = {curve.knots.front(), curve.knots.back()};
    out.pieces = {0};
    out.peaks.assign(3 * curve.dof, 0.0);
    return out;
}

}  // namespace

Schedule time_curve(const Curve &curve, const MotionLimits &limits) {
    const std::size_t dof = curve.dof;
    std::vector<std::size_t> moving;
    std::vector<double> ways;  // how far each moving joint goes in all
    bool smooth = false;
    for (std::size_t j = 0; j < dof; j++) {
        double way = 0.0;
        bool moves = false;
        for (std::size_t p = 0; p < curve.size(); p++)
            for (std::size_t c = 0; c < 4; c++) {
                if (c > 0) way += std::fabs(curve.at(p, c, j) - curve.at(p, c - 1, j));
                moves |= curve.at(p, c, j) != curve.at(0, 0, j);
            }
        if (!moves) continue;
        moving.push_back(j), ways.push_back(way);
        smooth |= !limits.jerk.empty() && std::isfinite(limits.jerk[j]);
    }
    if (moving.empty()) return standing(curve);
    Schedule out;
    Bounds bounds;
    const double share = smooth ? 1.0 - MARGIN : 1.0;
    for (std::size_t e = 0; e < moving.size(); e++) {
        const double velocity = limits.velocity[moving[e]] * share, acceleration = limits.acceleration[moving[e]] * share;
        if (std::isinf(velocity) && std::isinf(acceleration)) {
            out.unlimited = static_cast<int>(moving[e]);
            return out;
        }
        // More than this a joint cannot reach, from rest: speed over its way, acceleration while it keeps its speed.
        bounds.velocity.push_back(std::min(velocity, std::sqrt(2.0 * acceleration * ways[e])));
        bounds.acceleration.push_back(acceleration);
        if (!smooth) continue;
        bounds.jerk.push_back(limits.jerk[moving[e]] * share);
        bounds.acceleration.back() = std::min(acceleration, std::sqrt(2.0 * bounds.jerk.back() * bounds.velocity.back()));
    }
    if (smooth) return time_smoothly(curve, moving, bounds);
    for (std::size_t e = 0; e < moving.size(); e++) bounds.velocity[e] *= 1.0 - BELOW, bounds.acceleration[e] *= 1.0 - BELOW;
    Grid grid(curve, find_stops(curve, 1), 0, curve.size());
    Fastest fastest(curve, grid, Slopes(curve, moving), bounds);
    fastest.solve(std::vector<double>(grid.size() + 1, INFINITE));
    fill_times(grid.places, fastest.squared, out);
    if (!(out.times.back() < INFINITE)) return {};
    out.jerks.assign(grid.size() + 1, 0.0);
    out.pieces = std::move(grid.piece_of);
    out.peaks.assign(3 * dof, 0.0);
    for (std::size_t e = 0; e < moving.size(); e++) {
        out.peaks[moving[e]] = fastest.speed[e], out.peaks[dof + moving[e]] = fastest.effort[e];
        out.peaks[2 * dof + moving[e]] = INFINITE;
    }
    return out;
}

void evaluate(const Curve &curve, const ScheduleRows &of, int derivative, std::span<const double> at, std::span<double> out) {
    const std::size_t n = of.pieces.size(), dof = curve.dof;
    std::size_t i = 0;
    for (std::size_t r = 0; r < at.size(); r++) {
        const double t = at[r];
        double *row = out.data() + r * dof;
        if (derivative > 0 && (t < 0.0 || t > of.times[n])) {
            std::fill_n(row, dof, 0.0);
            continue;
        }
        // The last interval that begins no later: times often ascend, so look from the one before first.
        if (!(of.times[i] <= t && (i + 1 == n || t < of.times[i + 1])))
            i = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(
                std::upper_bound(of.times.begin(), of.times.end(), t) - of.times.begin() - 1, 0, static_cast<std::ptrdiff_t>(n) - 1));
        const double tau = std::clamp(t - of.times[i], 0.0, std::max(of.times[i + 1] - of.times[i], 0.0));
        const double s0 = of.places[i] + tau * (of.rates[i] + tau * (of.pushes[i] / 2.0 + tau * of.jerks[i] / 6.0));
        const double s1 = of.rates[i] + tau * (of.pushes[i] + tau * of.jerks[i] / 2.0);
        const double s2 = of.pushes[i] + tau * of.jerks[i], s3 = of.jerks[i];
        const std::size_t p = static_cast<std::size_t>(of.pieces[i]);
        const double u = std::clamp((s0 - curve.knots[p]) / (curve.knots[p + 1] - curve.knots[p]), 0.0, 1.0), v = 1.0 - u;
        for (std::size_t j = 0; j < dof; j++) {
            if (derivative == 0) {
                const double p0 = curve.at(p, 0, j), p1 = curve.at(p, 1, j), p2 = curve.at(p, 2, j), p3 = curve.at(p, 3, j);
                row[j] = v * v * v * p0 + 3.0 * u * v * (v * p1 + u * p2) + u * u * u * p3;
                continue;
            }
            const Slope slope(curve, p, j);
            if (derivative == 1)
                row[j] = slope.at(u) * s1;
            else if (derivative == 2)
                row[j] = slope.at(u) * s2 + slope.bend(u) * s1 * s1;
            else
                row[j] = slope.at(u) * s3 + 3.0 * slope.bend(u) * s1 * s2 + slope.third() * s1 * s1 * s1;
        }
    }
}

}  // namespace elbowroom
