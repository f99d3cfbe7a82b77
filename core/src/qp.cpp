#include "elbowroom/qp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace elbowroom {
namespace {

constexpr double INFINITE = std::numeric_limits<double>::infinity();
constexpr double PARALLEL = 1e-18;  // squared share of a normal that is left beside the active ones: below, it depends on them

double dot(const double *a, const double *b, std::size_t n) {
    double total = 0.0;
    for (std::size_t k = 0; k < n; k++) total += a[k] * b[k];
    return total;
}

void rotate(double *a, double *b, double c, double s, std::size_t n) {
    for (std::size_t k = 0; k < n; k++) {
        const double u = a[k], v = b[k];
        a[k] = c * u + s * v;
        b[k] = c * v - s * u;
    }
}

}  // namespace

bool QpSolver::factorise(const QuadraticProgramme &p) {
    const std::size_t n = p.n;
    L_.assign(n * n, 0.0), J_.assign(n * n, 0.0), R_.assign(n * n, 0.0);
    for (std::size_t i = 0; i < n; i++)  // H = L L', by rows
        for (std::size_t j = 0; j <= i; j++) {
            const double rest = p.H[i * n + j] - dot(&L_[i * n], &L_[j * n], j);
            if (i == j) {
                if (!(rest > 0.0)) return false;
                L_[i * n + i] = std::sqrt(rest);
            } else {
                L_[i * n + j] = rest / L_[j * n + j];
            }
        }
    // Columns of J are the rows of the inverse of L: J J' = inverse of H.
    for (std::size_t i = 0; i < n; i++) {
        double *row = column(i);
        for (std::size_t k = 0; k < i; k++) {
            const double share = -L_[i * n + k];
            const double *above = column(k);
            for (std::size_t j = 0; j <= k; j++) row[j] += share * above[j];
        }
        row[i] = 1.0;
        for (std::size_t j = 0; j <= i; j++) row[j] /= L_[i * n + i];
    }
    return true;
}

double QpSolver::slack(const QuadraticProgramme &p, int k) const {
    const std::size_t i = static_cast<std::size_t>(k), n = p.n;
    if (i < n) return x_[i] - p.lower[i];
    if (i < 2 * n) return p.upper[i - n] - x_[i - n];
    return dot(&p.A[(i - 2 * n) * n], x_.data(), n) - p.least[i - 2 * n];
}

int QpSolver::worst(const QuadraticProgramme &p, double &violation) {
    const std::size_t n = p.n, m = p.least.size();
    int found = -1;
    double most = 0.0;
    const auto look = [&](std::size_t k, double slack, double size, double limit) {
        if (in_[k] || slack >= -FEASIBLE * (size + std::fabs(limit))) return;
        if (-slack > most * size) most = -slack / size, found = static_cast<int>(k), violation = slack;
    };
    for (std::size_t i = 0; i < n; i++) {
        look(i, x_[i] - p.lower[i], 1.0, p.lower[i]);
        look(n + i, p.upper[i] - x_[i], 1.0, p.upper[i]);
    }
    for (std::size_t k = 0; k < m; k++)
        look(2 * n + k, dot(&p.A[k * n], x_.data(), n) - p.least[k], size_[k], p.least[k]);
    return found;
}

// The normal of a constraint in the rotated frame.
void QpSolver::transformed_normal(const QuadraticProgramme &p, int k) {
    const std::size_t i = static_cast<std::size_t>(k), n = p.n;
    for (std::size_t c = 0; c < n; c++)
        d_[c] = i < n ? column(c)[i] : i < 2 * n ? -column(c)[i - n] : dot(&p.A[(i - 2 * n) * n], column(c), n);
}

void QpSolver::add(std::size_t n) {
    const std::size_t q = active_.size();
    for (std::size_t k = n - 1; k > q; k--) {
        const double length = std::hypot(d_[k - 1], d_[k]);
        if (length == 0.0 || d_[k] == 0.0) continue;
        rotate(column(k - 1), column(k), d_[k - 1] / length, d_[k] / length, n);
        d_[k - 1] = length, d_[k] = 0.0;
    }
    for (std::size_t k = 0; k <= q; k++) R_[q * n + k] = d_[k];
}

void QpSolver::drop(std::size_t place, std::size_t n) {
    const std::size_t q = active_.size();
    in_[static_cast<std::size_t>(active_[place])] = 0;
    for (std::size_t c = place + 1; c < q; c++) std::copy_n(&R_[c * n], c + 1, &R_[(c - 1) * n]);
    for (std::size_t c = place; c + 1 < q; c++) {
        double &diagonal = R_[c * n + c], &below = R_[c * n + c + 1];
        const double length = std::hypot(diagonal, below);
        if (length == 0.0) continue;
        const double cosine = diagonal / length, sine = below / length;
        diagonal = length, below = 0.0;
        for (std::size_t k = c + 1; k + 1 < q; k++) rotate(&R_[k * n + c], &R_[k * n + c + 1], cosine, sine, 1);
        rotate(column(c), column(c + 1), cosine, sine, n);
    }
    active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(place));
    u_.erase(u_.begin() + static_cast<std::ptrdiff_t>(place));
}

QpStatus QpSolver::solve(const QuadraticProgramme &p) {
    const std::size_t n = p.n, m = p.least.size();
    n_ = n, steps_ = 0;
    active_.clear(), u_.clear();
    in_.assign(2 * n + m, 0);
    d_.resize(n), r_.resize(n), z_.resize(n), size_.resize(m), x_.assign(n, 0.0);
    for (std::size_t i = 0; i < n; i++)
        if (p.lower[i] > p.upper[i]) return QpStatus::infeasible;
    if (!factorise(p)) return QpStatus::failed;
    for (std::size_t k = 0; k < m; k++) size_[k] = std::max(std::sqrt(dot(&p.A[k * n], &p.A[k * n], n)), 1e-12);
    for (std::size_t c = 0; c < n; c++) {  // x = -J J' f
        const double share = -dot(column(c), p.f.data(), n);
        for (std::size_t i = 0; i < n; i++) x_[i] += share * column(c)[i];
    }
    const int most_steps = 50 + 10 * static_cast<int>(n + m);
    double violation = 0.0;
    for (int k = worst(p, violation); k >= 0; k = worst(p, violation)) {
        double own = 0.0;  // multiplier of the constraint that is taken in
        for (;;) {
            if (++steps_ > most_steps) return QpStatus::failed;
            transformed_normal(p, k);
            const std::size_t q = active_.size();
            double whole = 0.0, beside = 0.0;
            for (std::size_t c = 0; c < n; c++) (c < q ? whole : beside) += d_[c] * d_[c];
            whole += beside;
            for (std::size_t c = q; c-- > 0;) {
                double total = d_[c];
                for (std::size_t j = c + 1; j < q; j++) total -= R_[j * n + c] * r_[j];
                r_[c] = total / R_[c * n + c];
            }
            double first = INFINITE;
            std::size_t leaving = 0;
            for (std::size_t c = 0; c < q; c++)
                if (r_[c] > 0.0 && u_[c] / r_[c] < first) first = u_[c] / r_[c], leaving = c;
            const bool depends = beside <= PARALLEL * whole;
            const double second = depends ? INFINITE : -violation / beside;
            const double step = std::min(first, second);
            if (step == INFINITE) return QpStatus::infeasible;
            for (std::size_t c = 0; c < q; c++) u_[c] -= step * r_[c];
            own += step;
            if (!depends) {
                std::fill(z_.begin(), z_.end(), 0.0);
                for (std::size_t c = q; c < n; c++)
                    for (std::size_t i = 0; i < n; i++) z_[i] += d_[c] * column(c)[i];
                for (std::size_t i = 0; i < n; i++) x_[i] += step * z_[i];
            }
            if (second <= first) {
                add(n);
                active_.push_back(k), u_.push_back(own);
                in_[static_cast<std::size_t>(k)] = 1;
                break;
            }
            drop(leaving, n);
            violation = slack(p, k);
            if (violation >= 0.0) break;
        }
    }
    for (std::size_t i = 0; i < n; i++) x_[i] = std::clamp(x_[i], p.lower[i], p.upper[i]);
    return QpStatus::optimal;
}

}  // namespace elbowroom
