// Residuals and Jacobians of targets, written once for two kinds of number: `double` (one configuration) and `F32x16` (sixteen
// configurations, one in each lane). All in the frame of the root; see targets.hpp for what they are.
//
// Float32 lanes serve searches alone: nothing here bounds their error, and what they find is measured anew in float64.
#pragma once

#include <cmath>

#include "elbowroom/exact_poses.hpp"
#include "elbowroom/targets.hpp"

namespace elbowroom {

// What the formulas need of a number beyond arithmetic.
inline double fused(double a, double b, double c) { return a * b + c; }
inline double sqrt(double a) { return std::sqrt(a); }
inline double angle_of(double y, double x) { return std::atan2(y, x); }
inline double choose(bool mask, double a, double b) { return mask ? a : b; }
inline unsigned bits(bool mask) { return mask ? 1u : 0u; }

template <class Number> struct NumberOf;
template <> struct NumberOf<double> {
    static constexpr int WIDTH = 1;
    using Mask = bool;
    using Scalar = double;
    using PoseOf = Pose;
    static double make(double x) { return x; }
    static double lane(double x, int) { return x; }
    static Mask mask(unsigned marked) { return marked != 0; }
};
template <> struct NumberOf<F32x16> {
    static constexpr int WIDTH = 16;
    using Mask = Mask16;
    using Scalar = float;
    using PoseOf = Pose32<F32x16>;
    static F32x16 make(double x) { return splat16(static_cast<float>(x)); }
    static double lane(F32x16 x, int k) { return static_cast<double>(elbowroom::lane(x, k)); }
    static Mask mask(unsigned marked) { return lanes16_of(marked); }
};

template <class Number> struct Vec3Of {
    Number x, y, z;
};
template <class Number> Vec3Of<Number> operator+(const Vec3Of<Number> &u, const Vec3Of<Number> &v) { return {u.x + v.x, u.y + v.y, u.z + v.z}; }
template <class Number> Vec3Of<Number> operator-(const Vec3Of<Number> &u, const Vec3Of<Number> &v) { return {u.x - v.x, u.y - v.y, u.z - v.z}; }
template <class Number> Vec3Of<Number> operator*(Number s, const Vec3Of<Number> &u) { return {s * u.x, s * u.y, s * u.z}; }
template <class Number> Number dot(const Vec3Of<Number> &u, const Vec3Of<Number> &v) { return u.x * v.x + u.y * v.y + u.z * v.z; }
template <class Number> Vec3Of<Number> cross(const Vec3Of<Number> &u, const Vec3Of<Number> &v) {
    return {u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x};
}

template <class Number> class TargetLanes {
  public:
    using Of = NumberOf<Number>;
    using Vector = Vec3Of<Number>;

    std::vector<Number> q;         // variables; set by the caller
    std::vector<Number> error;     // residual (rows,)
    std::vector<Number> jacobian;  // (rows, solved)
    std::vector<Number> off, turn; // errors (targets,)

    void fit(const Targets &targets) {
        q.resize(targets.variables().size());
        error.resize(targets.rows());
        jacobian.resize(targets.rows() * targets.solved());
        off.resize(targets.size()), turn.resize(targets.size()), aims_.resize(targets.size()), values_.resize(targets.size());
        poses_.resize(targets.bodies().size());
        value_.resize((targets.robot().laws().size() + 3) / 4 * 4), slope_.resize(value_.size());
    }

    // The numbers of the targets, in the frame of the root.
    void ask(const Targets &targets, std::span<const double> values) {
        for (std::size_t k = 0; k < targets.size(); k++) {
            const double *v = values.data() + k * TARGET_VALUES;
            Asked &own = values_[k];
            const Targets::Target &target = targets.targets()[k];
            if (target.kind == TargetKind::pose) {
                own.turn = pose_of({v[0], v[1], v[2], v[3]}, {}) * target.in_body.inverse();
                own.place = {v[4], v[5], v[6]}, own.local = target.in_body.translation();
                own.along = v[7], own.around = v[8];
            } else if (target.kind == TargetKind::joint) {
                own.place.x = v[0], own.along = v[1];
            } else {
                const Vec3 given{v[3], v[4], v[5]};
                own.local = target.kind == TargetKind::position ? target.in_body.apply(given) : target.in_body.rotate(given);
                own.place = {v[0], v[1], v[2]}, own.along = v[6];
            }
        }
    }

    // Residuals and errors at `q`.
    void residuals(const Targets &targets) {
        place(targets);
        for (std::size_t k = 0; k < targets.size(); k++) {
            const Targets::Target &target = targets.targets()[k];
            const Asked &asked = values_[k];
            Number *out = error.data() + target.row;
            off[k] = turn[k] = Of::make(0.0);
            if (target.kind == TargetKind::joint) {
                const Number left = Of::make(asked.place.x) - q[index(target.variable)];
                out[0] = Of::make(asked.along) * left;
                turn[k] = abs(left);
            } else if (target.kind == TargetKind::pose) {
                pose_residual(target, asked, aims_[k], out, off[k], turn[k]);
            } else if (target.kind == TargetKind::position) {
                aims_[k].at = transform(poses_[index(target.body)], asked.local);
                const Vector d = constants(asked.place) - aims_[k].at;
                write(Of::make(asked.along), d, out);
                off[k] = sqrt(dot(d, d));
            } else {
                axis_residual(target, asked, aims_[k], out, turn[k]);
            }
        }
    }

    // Derivatives of the residuals by the joints solved for, after `residuals`.
    void jacobians(const Targets &targets) {
        const std::size_t n = targets.solved();
        std::fill(jacobian.begin(), jacobian.end(), Of::make(0.0));
        for (std::size_t k = 0; k < targets.size(); k++) {
            const Targets::Target &target = targets.targets()[k];
            Number *first = jacobian.data() + target.row * n;
            if (target.kind == TargetKind::joint) {
                if (index(target.variable) < n) first[target.variable] = Of::make(-values_[k].along);
                continue;
            }
            for (int b = target.body; b > 0; b = targets.bodies()[index(b)].parent) {
                const Targets::Carrier &carrier = targets.bodies()[index(b)];
                if (index(carrier.variable) >= n) continue;
                const auto &pose = poses_[index(b)];
                Vector axis{pose.r[2], pose.r[5], pose.r[8]};
                if (targets.robot().laws()[index(carrier.joint)].coupled) axis = slope_[index(carrier.joint)] * axis;
                const Number none = Of::make(0.0);
                const Vector linear = carrier.turns ? cross(axis, aims_[k].at - Vector{pose.t[0], pose.t[1], pose.t[2]}) : axis;
                const Vector angular = carrier.turns ? axis : Vector{none, none, none};
                Number *column = first + carrier.variable;
                if (target.kind == TargetKind::pose)
                    add_pose_column(values_[k], aims_[k], linear, angular, column, n);
                else if (target.kind == TargetKind::position)
                    add(Of::make(-values_[k].along), linear, column, n);
                else
                    add_axis_column(values_[k], aims_[k], linear, angular, column, n);
            }
        }
    }

  private:
    using Scalar = typename Of::Scalar;
    static constexpr double SMALL_ANGLE = sizeof(Scalar) == 8 ? 1e-2 : 0.1;  // rad; below, series replace quotients that lose digits
    static constexpr double TINY = sizeof(Scalar) == 8 ? 1e-12 : 1e-7;

    struct Asked {
        Pose turn;          // of a pose: the rotation that its body is to have
        Vec3 place, local;  // a point or direction, and a point or axis in the frame of the body
        double along = 0.0, around = 0.0;
    };
    struct Joints {
        const Number *values;
        void turn(int joint, Number &sine, Number &cosine) const { sincos(values[joint], sine, cosine); }
        Number slide(int joint) const { return values[joint]; }
    };
    // What the Jacobian needs of a target.
    struct Aim {
        Vector at;      // the point that is moved
        Vector vector;  // rotation vector of a pose, or the axis
        Number bend;    // of a pose: factor of the second-order term
        Number ratio, rate, near;
        Vector to;      // direction that the axis is to have
    };

    static std::size_t index(int k) { return static_cast<std::size_t>(k); }
    static Vector constants(Vec3 v) { return {Of::make(v.x), Of::make(v.y), Of::make(v.z)}; }
    static Number small() { return Of::make(SMALL_ANGLE); }
    static Number tiny() { return Of::make(TINY); }
    static Vector turned(const typename Of::PoseOf &pose, Vec3 v) {
        const Vector c = constants(v);
        const auto row = [&](int k) { return pose.r[k] * c.x + pose.r[k + 1] * c.y + pose.r[k + 2] * c.z; };
        return {row(0), row(3), row(6)};
    }
    static Vector transform(const typename Of::PoseOf &pose, Vec3 p) {
        const Vector v = turned(pose, p);
        return {v.x + pose.t[0], v.y + pose.t[1], v.z + pose.t[2]};
    }
    static void write(Number weight, const Vector &v, Number *out) { out[0] = weight * v.x, out[1] = weight * v.y, out[2] = weight * v.z; }
    static void add(Number weight, const Vector &v, Number *column, std::size_t n) {
        column[0] = column[0] + weight * v.x;
        column[n] = column[n] + weight * v.y;
        column[2 * n] = column[2 * n] + weight * v.z;
    }

    // Bodies at `q`, and the slopes of coupled joints.
    void place(const Targets &targets) {
        const Robot &robot = targets.robot();
        for (int joint : targets.moving()) {
            const JointLaw &law = robot.laws()[index(joint)];
            if (!law.coupled) {
                value_[index(joint)] = q[index(targets.variable_of(law.driver))];
                slope_[index(joint)] = Of::make(1.0);
                continue;
            }
            const Number x = value_[index(law.driver)];
            const auto c = [&](int k) { return Of::make(law.coefficients[k]); };
            value_[index(joint)] = c(0) + x * (c(1) + x * (c(2) + x * (c(3) + x * c(4))));
            slope_[index(joint)] = slope_[index(law.driver)] *
                                   (c(1) + x * (Of::make(2.0) * c(2) + x * (Of::make(3.0) * c(3) + x * Of::make(4.0) * c(4))));
        }
        if constexpr (sizeof(Scalar) == 8) {
            exact_.start(robot, value_.data(), 1);
            for (std::size_t b = 0; b < poses_.size(); b++) poses_[b] = exact_.body_pose(targets.bodies()[b].number, 0);
        } else {
            targets.body_poses().template compute<Number>(Joints{value_.data()}, poses_);
        }
    }

    void pose_residual(const Targets::Target &target, const Asked &asked, Aim &aim, Number *out, Number &far, Number &angle) const {
        const auto &body = poses_[index(target.body)];
        aim.at = transform(body, asked.local);
        const Vector d = constants(asked.place) - aim.at;
        write(Of::make(asked.along), d, out);
        far = sqrt(dot(d, d));
        // The turn that is left, R_target R^T = (R_target R_link^T) R_body^T.
        Number e[9];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                e[3 * i + j] = Of::make(asked.turn.r[3 * i]) * body.r[3 * j] + Of::make(asked.turn.r[3 * i + 1]) * body.r[3 * j + 1] +
                               Of::make(asked.turn.r[3 * i + 2]) * body.r[3 * j + 2];
        // Its quaternion times four: from the products with w, unless w is small, then with the largest of the others.
        const Number one = Of::make(1.0), ww = one + e[0] + e[4] + e[8];
        Vector v{e[7] - e[5], e[2] - e[6], e[3] - e[1]};
        Number w = ww, square = ww;
        const auto near_half_turn = ww < Of::make(1.0);
        if (bits(near_half_turn)) {
            const Number xx = one + e[0] - e[4] - e[8], yy = one + e[4] - e[0] - e[8], zz = one + e[8] - e[0] - e[4];
            const Number xy = e[1] + e[3], xz = e[2] + e[6], yz = e[5] + e[7];
            Vector u{xx, xy, xz};
            Number p = v.x, most = xx;
            const auto y_more = most < yy;
            u = {choose(y_more, xy, u.x), choose(y_more, yy, u.y), choose(y_more, yz, u.z)};
            p = choose(y_more, v.y, p), most = choose(y_more, yy, most);
            const auto z_more = most < zz;
            u = {choose(z_more, xz, u.x), choose(z_more, yz, u.y), choose(z_more, zz, u.z)};
            p = choose(z_more, v.z, p), most = choose(z_more, zz, most);
            v = {choose(near_half_turn, u.x, v.x), choose(near_half_turn, u.y, v.y), choose(near_half_turn, u.z, v.z)};
            w = choose(near_half_turn, p, w), square = choose(near_half_turn, most, square);
        }
        const Number scale = Of::make(0.5) / sqrt(max(square, tiny()));
        v = scale * v, w = scale * w;
        const Number sign = choose(w < Of::make(0.0), Of::make(-1.0), one), n = sqrt(dot(v, v)), size = abs(w);
        const Number half = angle_of(n, size);
        const auto none = n < tiny();
        const Number ratio = sign * choose(none, Of::make(2.0), Of::make(2.0) * half / choose(none, one, n));
        aim.vector = ratio * v;
        write(Of::make(asked.around), aim.vector, out + 3);
        angle = Of::make(2.0) * half;
        const auto close = angle < small();
        const Number safe = choose(close, one, angle), cotangent = half * size / choose(close, one, n);
        aim.bend = choose(close, Of::make(1.0 / 12.0) + angle * angle * Of::make(1.0 / 720.0), (one - cotangent) / (safe * safe));
    }

    void axis_residual(const Targets::Target &target, const Asked &asked, Aim &aim, Number *out, Number &angle) const {
        const auto &body = poses_[index(target.body)];
        const Number zero = Of::make(0.0), one = Of::make(1.0);
        aim.at = transform(body, target.in_body.translation());
        aim.vector = turned(body, asked.local);
        aim.to = constants(asked.place), aim.near = zero;
        if (target.kind == TargetKind::look_at) {
            const Vector d = aim.to - aim.at;
            const Number far = sqrt(dot(d, d));
            aim.near = one / choose(far < tiny(), one, far);
            aim.to = aim.near * d;
        }
        Vector c = cross(aim.vector, aim.to);
        const Number sine = sqrt(dot(c, c)), cosine = dot(aim.vector, aim.to);
        // Straight against the direction, any normal of the axis will do.
        const auto no_sine = sine < tiny();
        const auto flat = choose(no_sine, choose(cosine < zero, one, zero), zero);
        const auto against = zero < flat;
        if (bits(against)) {
            const Vector a = aim.vector;
            const Number upright = choose(abs(a.x) < Of::make(0.6), one, zero), lying = one - upright;
            const Vector normal{-(lying * a.z), upright * a.z, lying * a.x - upright * a.y};
            const Vector unit = (one / sqrt(dot(normal, normal))) * normal;
            c = {choose(against, unit.x, c.x), choose(against, unit.y, c.y), choose(against, unit.z, c.z)};
        }
        angle = angle_of(sine, cosine);
        const Number safe = choose(no_sine, one, sine);
        aim.ratio = choose(against, angle, choose(no_sine, one, angle / safe));
        const Number close = Of::make(1.0 / 3.0) + Of::make(2.0 / 15.0) * angle * angle;
        aim.rate = -choose(angle < small(), close, (sine - angle * cosine) / (safe * safe * safe));
        write(Of::make(asked.along) * aim.ratio, c, out);
    }

    static void add_pose_column(const Asked &asked, const Aim &aim, const Vector &linear, const Vector &angular, Number *column, std::size_t n) {
        add(Of::make(-asked.along), linear, column, n);
        const Vector c = cross(aim.vector, angular);
        add(Of::make(-asked.around), angular + Of::make(0.5) * c + aim.bend * cross(aim.vector, c), column + 3 * n, n);
    }
    static void add_axis_column(const Asked &asked, const Aim &aim, const Vector &linear, const Vector &angular, Number *column, std::size_t n) {
        const Vector axis_rate = cross(angular, aim.vector);
        const Vector to_rate = aim.near * (dot(aim.to, linear) * aim.to - linear);
        const Number slope = aim.rate * (dot(axis_rate, aim.to) + dot(aim.vector, to_rate));
        const Vector change = cross(axis_rate, aim.to) + cross(aim.vector, to_rate);
        add(Of::make(asked.along), aim.ratio * change + slope * cross(aim.vector, aim.to), column, n);
    }

    std::vector<typename Of::PoseOf> poses_;
    std::vector<Number> value_, slope_;  // of moving joints
    std::vector<Aim> aims_;
    std::vector<Asked> values_;
    ExactPoses exact_;
};

}  // namespace elbowroom
