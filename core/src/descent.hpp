// Levenberg-Marquardt on the residuals of targets, for `double` (one configuration) and for `F32x16` (sixteen at once).
//
// Each step solves (J J^T + damping I) y = r and moves the joints by -J^T y: the dual form, whose matrix has six rows a pose
// whatever the number of joints. The damping follows the error (Sugihara, "Solvability-unconcerned inverse kinematics by the
// Levenberg-Marquardt method", 2011), so that steps are short far away and Newton's close by. A joint that would pass a limit is
// put on it, and the step of the others is computed anew.
#pragma once

#include <bit>
#include <limits>
#include <numbers>

#include "elbowroom/ik.hpp"
#include "target_lanes.hpp"

namespace elbowroom {

struct DescentRequest {
    double off_most = 1e-4, turn_most = 1e-3;  // metres and radians within which a search has arrived
    int iterations = 30;
    // Steps that make the error larger are taken back: finds the nearest configuration where targets cannot be reached, and
    // is slower where they can.
    bool careful = false;
    int enough = 0;  // ends when so many have arrived; 0: when all have ended
};

template <class Number> class Descent {
  public:
    using Of = NumberOf<Number>;
    static constexpr int WIDTH = Of::WIDTH;

    TargetLanes<Number> lanes;
    unsigned ended = 0, arrived = 0;  // lanes that ended, and those within the tolerances
    int steps = 0;                    // of all lanes
    double costs[WIDTH] = {};         // squared residual where a lane ended

    void fit(const Targets &targets) {
        const std::size_t rows = targets.rows(), n = targets.solved();
        lanes.fit(targets);
        gram_.resize(rows * (rows + 1) / 2), y_.resize(rows), move_.resize(n), best_.resize(n);
        ends_.resize(n * static_cast<std::size_t>(WIDTH));
    }
    // Puts a value of a variable into a lane.
    void set(std::size_t variable, int lane, double value) {
        if constexpr (WIDTH == 1)
            lanes.q[variable] = value;
        else if (lane < 8)
            lanes.q[variable].low[lane] = static_cast<float>(value);
        else
            lanes.q[variable].high[lane - 8] = static_cast<float>(value);
    }
    // Where a lane ended: the joints solved for, within limits.
    double end(std::size_t variable, int lane) const { return ends_[variable * static_cast<std::size_t>(WIDTH) + static_cast<std::size_t>(lane)]; }

    // Searches from `lanes.q` in the first `count` lanes, after `lanes.ask`.
    void run(const Targets &targets, const JointBounds &bounds, const DescentRequest &request, int count) {
        unsigned active = count >= 32 ? ~0u : (1u << count) - 1u;
        ended = arrived = 0, steps = 0;
        const Number zero = Of::make(0.0), one = Of::make(1.0);
        const Number share = Of::make(request.careful ? CAREFUL_PROGRESS : PROGRESS);
        const Number patience = Of::make((request.careful ? CAREFUL_PATIENCE : PATIENCE) - 0.5);
        Number best = Of::make(std::numeric_limits<double>::infinity()), idle = zero, care = one;
        for (int step_number = 0;; step_number++) {
            lanes.residuals(targets);
            Number cost = zero, worst = zero;
            for (const Number &e : lanes.error) cost = fused(e, e, cost);
            for (std::size_t t = 0; t < targets.size(); t++)
                worst = max(worst, max(Of::make(1.0 / request.off_most) * lanes.off[t], Of::make(1.0 / request.turn_most) * lanes.turn[t]));
            const auto worse = best < cost, better = cost < best;
            idle = choose(cost < share * best, zero, idle + one);
            const unsigned now = bits(worst < one) & active;
            unsigned done = now | (bits(patience < idle) & active) | (step_number >= request.iterations ? active : 0u);
            if (request.careful) {
                done &= ~bits(worse);  // it is put back first
                care = choose(worse, Of::make(MORE_CARE) * care, choose(better, Of::make(LESS_CARE) * care, care));
                for (std::size_t v = 0; v < best_.size(); v++) best_[v] = choose(worse, best_[v], lanes.q[v]);
            }
            best = choose(better, cost, best);
            for (unsigned left = done; left; left &= left - 1) record(bounds, std::countr_zero(left), cost);
            ended |= done, arrived |= now & done;
            active &= ~done;
            if (!active || (request.enough > 0 && std::popcount(arrived) >= request.enough)) return;
            steps += std::popcount(active);
            step(targets, bounds, (Of::make(DAMPING) * cost + Of::make(LEAST_DAMPING)) * care);
            if (request.careful)
                for (std::size_t v = 0; v < best_.size(); v++) lanes.q[v] = choose(worse, best_[v], lanes.q[v]);
        }
    }

  private:
    using Scalar = typename Of::Scalar;
    static constexpr double DAMPING = 0.03;  // per squared weighted error: a tenth or ten times as much makes no odds
    static constexpr double LEAST_DAMPING = sizeof(Scalar) == 8 ? 1e-6 : 4e-6;  // above the rounding of the matrix
    static constexpr int LIMIT_PASSES = 2;  // solutions that settle joints on their limits; one loses half of a humanoid's answers
    static constexpr double MORE_CARE = 8.0, LESS_CARE = 0.5;  // factors of the damping after a step that is taken back, or not
    // A search is given up after so many steps in a row that left more than this share of the squared error.
    static constexpr double PROGRESS = 0.9, PATIENCE = 3, CAREFUL_PROGRESS = 0.999, CAREFUL_PATIENCE = 12;

    static std::size_t corner(std::size_t row) { return row * (row + 1) / 2; }

    void record(const JointBounds &bounds, int lane, Number cost) {
        constexpr double TURN = 2.0 * std::numbers::pi;
        costs[lane] = Of::lane(cost, lane);
        for (std::size_t v = 0; v < move_.size(); v++) {
            double q = Of::lane(lanes.q[v], lane);
            if (bounds.endless[v]) q -= TURN * std::floor(q / TURN + 0.5);
            ends_[v * static_cast<std::size_t>(WIDTH) + static_cast<std::size_t>(lane)] = std::clamp(q, bounds.low[v], bounds.high[v]);
        }
    }

    // Lower triangle of J J^T + damping I, row by row; only joints that move both rows' targets count.
    void fill_gram(const Targets &targets, Number damping) {
        const std::size_t n = targets.solved();
        for (std::size_t t = 0; t < targets.size(); t++) {
            const Targets::Target &a = targets.targets()[t];
            for (std::size_t u = 0; u <= t; u++) {
                const Targets::Target &b = targets.targets()[u];
                const std::span<const int> both = targets.shared(t, u);
                for (std::size_t r = a.row; r < a.row + residual_rows(a.kind); r++)
                    for (std::size_t c = b.row; c < std::min(b.row + residual_rows(b.kind), r + 1); c++) {
                        Number total = r == c ? damping : Of::make(0.0);
                        const Number *left = lanes.jacobian.data() + r * n, *right = lanes.jacobian.data() + c * n;
                        for (int v : both) total = fused(left[v], right[v], total);
                        gram_[corner(r) + c] = total;
                    }
            }
        }
    }

    // y of the system with the residual on its right: L D L^T in place, then both substitutions.
    void factor_and_solve() {
        const std::size_t rows = y_.size();
        for (std::size_t r = 0; r < rows; r++) {
            Number *a = gram_.data() + corner(r);
            Number value = lanes.error[r], diagonal = a[r];
            for (std::size_t c = 0; c < r; c++) {  // L D for now; rows above hold L and 1 / D
                const Number *b = gram_.data() + corner(c);
                Number total = a[c];
                for (std::size_t k = 0; k < c; k++) total = fused(-a[k], b[k], total);
                a[c] = total;
            }
            for (std::size_t c = 0; c < r; c++) {
                const Number total = a[c], below = total * gram_[corner(c) + c];
                diagonal = fused(-total, below, diagonal);
                a[c] = below;
                value = fused(-below, y_[c], value);
            }
            a[r] = Of::make(1.0) / max(diagonal, Of::make(1e-9));
            y_[r] = value;
        }
        for (std::size_t r = rows; r-- > 0;) {
            Number value = y_[r] * gram_[corner(r) + r];
            for (std::size_t k = r + 1; k < rows; k++) value = fused(-gram_[corner(k) + r], y_[k], value);
            y_[r] = value;
        }
    }

    void descend(const Targets &targets) {
        const std::size_t n = targets.solved();
        std::fill(move_.begin(), move_.end(), Of::make(0.0));
        for (const Targets::Target &target : targets.targets())
            for (int v : target.moved_by) {
                Number total = move_[static_cast<std::size_t>(v)];
                for (std::size_t r = target.row; r < target.row + residual_rows(target.kind); r++)
                    total = fused(-lanes.jacobian[r * n + static_cast<std::size_t>(v)], y_[r], total);
                move_[static_cast<std::size_t>(v)] = total;
            }
    }

    // Puts joints that would pass a limit on it: their column and their share of the residual leave the system. Were there any?
    bool settle_limits(const JointBounds &bounds) {
        const std::size_t n = move_.size();
        bool any = false;
        for (std::size_t v = 0; v < n; v++) {
            const Number q = lanes.q[v], to = q + move_[v], low = Of::make(bounds.low[v]), high = Of::make(bounds.high[v]);
            const typename Of::Mask below = to < low, above = high < to, beyond = below | above;
            if (!bits(beyond)) continue;
            any = true;
            const Number end = choose(below, low, choose(above, high, q)), change = end - q;
            lanes.q[v] = end;
            for (std::size_t r = 0; r < y_.size(); r++) {
                Number &slope = lanes.jacobian[r * n + v];
                lanes.error[r] = fused(slope, change, lanes.error[r]);
                slope = choose(beyond, Of::make(0.0), slope);
            }
        }
        return any;
    }

    void step(const Targets &targets, const JointBounds &bounds, Number damping) {
        lanes.jacobians(targets);
        for (int pass = 0; pass < LIMIT_PASSES; pass++) {
            fill_gram(targets, damping);
            factor_and_solve();
            descend(targets);
            if (pass == LIMIT_PASSES - 1 || !settle_limits(bounds)) break;
        }
        for (std::size_t v = 0; v < move_.size(); v++)
            lanes.q[v] = min(max(lanes.q[v] + move_[v], Of::make(bounds.low[v])), Of::make(bounds.high[v]));
    }

    std::vector<Number> gram_, y_, move_, best_;
    std::vector<double> ends_;
};

}  // namespace elbowroom
