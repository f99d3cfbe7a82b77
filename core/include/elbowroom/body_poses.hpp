// Forward kinematics in float32: poses of the rigid bodies that carry given links, relative to the root.
//
// Written once for two layouts: a number is a `float` (one configuration) or an `F32x8` (eight configurations). Angles are
// reduced in float64, everything after that is float32. Every operation is a single rounded or fused one in a fixed order,
// so both layouts give the same digits.
//
// `error_bounds` follows the rounding down the tree, for arithmetic that may be fused but not reassociated.
#pragma once

#include <span>
#include <vector>

#include "elbowroom/lanes.hpp"
#include "elbowroom/robot.hpp"

namespace elbowroom {

constexpr double UNIT32 = 0x1p-24;  // relative rounding error of float32

inline float constant(float value, float) { return value; }
inline F32x8 constant(float value, F32x8) { return splat8(value); }
inline F32x16 constant(float value, F32x16) { return splat16(value); }

template <class Number> struct Point32 {
    Number x, y, z;
};

// Rotation by rows, then translation.
template <class Number> struct Pose32 {
    Number r[9], t[3];

    Point32<Number> apply(Number x, Number y, Number z) const {
        const auto row = [&](int k) { return fused(r[3 * k], x, fused(r[3 * k + 1], y, fused(r[3 * k + 2], z, t[k]))); };
        return {row(0), row(1), row(2)};
    }
};

template <class Number> inline Number squared_distance(const Point32<Number> &a, const Point32<Number> &b) {
    const Number x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return fused(z, z, fused(y, y, x * x));
}

class BodyPoses {
  public:
    struct Step {
        int parent;
        JointKind kind;
        int joint;
        float r[9], t[3];  // in the parent, for joint value 0
        // Where each column of the rotation is plus or minus a unit vector: which, and its sign. Most descriptions turn by
        // right angles; a product is then a choice of columns, with the same digits.
        bool right_angles;
        int column[3];
        float sign[3];
    };
    // What rounding adds up to for a body.
    struct Error {
        double turn = 0.0;   // of the rotation, Frobenius norm
        double shift = 0.0;  // of the position, metres
        double reach = 0.0;  // largest distance from the root, metres
    };

    BodyPoses() = default;
    // The bodies of `links` and all that carry them.
    BodyPoses(const Robot &robot, std::span<const int> links);

    std::size_t size() const { return steps_.size(); }
    // Place of a body of the robot among these, -1 if it is not.
    int place(int body) const { return places_[static_cast<std::size_t>(body)]; }

    // `joints` gives sine, cosine and value of a joint: `turn(joint, sine, cosine)` and `slide(joint)`.
    template <class Number, class Joints> void compute(const Joints &joints, std::span<Pose32<Number>> out) const {
        Pose32<Number> &root = out[0];
        for (int k = 0; k < 9; k++) root.r[k] = constant(k % 4 == 0 ? 1.0f : 0.0f, Number{});
        for (int k = 0; k < 3; k++) root.t[k] = constant(0.0f, Number{});
        for (std::size_t b = 1; b < steps_.size(); b++) {
            const Step &step = steps_[b];
            const Pose32<Number> &up = out[static_cast<std::size_t>(step.parent)];
            Pose32<Number> &pose = out[b];
            const auto local = [&](int k) { return constant(step.r[k], Number{}); };
            const auto shift = [&](int k) { return constant(step.t[k], Number{}); };
            const bool turns = step.kind == JointKind::revolute;
            Number sine{}, cosine{}, length{};
            if (turns)
                joints.turn(step.joint, sine, cosine);
            else
                length = joints.slide(step.joint);
            for (int row = 0; row < 3; row++) {
                const Number u = up.r[3 * row], v = up.r[3 * row + 1], w = up.r[3 * row + 2];
                const auto column = [&](int k) {
                    return step.right_angles ? up.r[3 * row + step.column[k]] * constant(step.sign[k], Number{})
                                             : fused(w, local(6 + k), fused(v, local(3 + k), u * local(k)));
                };
                Number x = column(0), y = column(1);
                const Number z = column(2);
                Number t = fused(w, shift(2), fused(v, shift(1), fused(u, shift(0), up.t[row])));
                if (turns) {
                    const Number turned = fused(y, sine, x * cosine);
                    y = fused(y, cosine, -(x * sine));
                    x = turned;
                } else {
                    t = fused(z, length, t);
                }
                pose.r[3 * row] = x, pose.r[3 * row + 1] = y, pose.r[3 * row + 2] = z;
                pose.t[row] = t;
            }
        }
    }

    // Of every body, for joint values no larger than `largest` (one a moving joint).
    std::vector<Error> error_bounds(const Robot &robot, std::span<const double> largest) const;

  private:
    std::vector<Step> steps_;
    std::vector<int> bodies_;  // of the robot
    std::vector<int> places_;
};

}  // namespace elbowroom
