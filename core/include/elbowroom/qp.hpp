// Quadratic programmes of a few dozen variables: bounds on each of them, and rows that have a least value.
//
// Minimises 1/2 x'Hx + f'x subject to lower <= x <= upper and A x >= least, by the dual active set method of Goldfarb and Idnani
// ("A numerically stable dual method for solving strictly convex quadratic programs", 1983): from the unconstrained minimum,
// violated constraints are taken in one by one, the worst first, and let go again when their multipliers fall to zero. An
// orthogonal factorisation of the active constraints is updated by plane rotations. Every iterate is optimal for its active
// constraints, so a programme that little holds back takes few steps.
//
// Guaranteed of an answer: bounds hold exactly, rows to FEASIBLE relative to their size. What is called infeasible has a
// combination of constraints that contradicts itself, to rounding.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace elbowroom {

struct QuadraticProgramme {
    std::size_t n = 0;
    std::span<const double> H;             // (n, n), symmetric, positive definite
    std::span<const double> f;             // (n)
    std::span<const double> lower, upper;  // (n), infinite for none
    std::span<const double> A;             // (m, n)
    std::span<const double> least;         // (m)
};

enum class QpStatus { optimal = 0, infeasible = 1, failed = 2 };  // failed: not positive definite, or too many steps

class QpSolver {
  public:
    static constexpr double FEASIBLE = 1e-10;

    QpStatus solve(const QuadraticProgramme &programme);

    std::span<const double> x() const { return x_; }
    // Constraints that hold the answer back: k < n lower bounds, k < 2 n upper bounds, then rows; with their multipliers.
    std::span<const int> active() const { return active_; }
    std::span<const double> multipliers() const { return u_; }
    int steps() const { return steps_; }

  private:
    bool factorise(const QuadraticProgramme &p);
    int worst(const QuadraticProgramme &p, double &violation);
    void add(std::size_t n);
    void drop(std::size_t place, std::size_t n);
    double slack(const QuadraticProgramme &p, int k) const;
    void transformed_normal(const QuadraticProgramme &p, int k);

    double *column(std::size_t k) { return J_.data() + k * n_; }

    std::size_t n_ = 0;
    std::vector<double> x_, u_, L_;
    std::vector<double> J_;            // (n, n) by columns: the inverse of the factor of H, rotated
    std::vector<double> R_;            // (n, n) by columns: triangle of the active normals
    std::vector<double> d_, r_, z_, size_;
    std::vector<int> active_;
    std::vector<char> in_;
    int steps_ = 0;
};

}  // namespace elbowroom
