// Targets: what links and joints are asked to be, how far a configuration is from it, and how that changes with the joints.
//
// Residuals, in world axes, for a link pose (R, p), weighted:
//   pose      position weight (p_target - p), then orientation weight log(R_target R^T), a rotation vector;
//   position  weight (position - (R point + p));
//   axis      weight times the rotation vector that takes R axis to the direction on the shortest way;
//   look_at   the same with the direction from p to the point;
//   joint     weight (value - q).
// The Jacobian is their exact derivative by the actuated joints: for orientations it holds the inverse of the right Jacobian of
// the rotation vector (Sola, Deray, Atchuthan, "A micro Lie theory", eq. 144).
//
// `Targets` holds the kinds and links alone; the numbers of a question are passed with it, `TARGET_VALUES` each:
//   pose      wxyz_xyz of the link, position weight, orientation weight;
//   position  position, point in the link frame, weight, 0, 0;
//   axis      direction, axis in the link frame, weight, 0, 0 (both of length one);
//   look_at   point, axis in the link frame, weight, 0, 0;
//   joint     value, weight, zeros.
// Everything is computed in the frame of the root (`in_root` takes the numbers there) and turned to world axes at the end. The
// mathematics is written once for float64 and for float32 lanes (src/target_lanes.hpp).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "elbowroom/body_poses.hpp"
#include "elbowroom/robot.hpp"

namespace elbowroom {

enum class TargetKind { pose = 0, position = 1, axis = 2, look_at = 3, joint = 4 };

constexpr std::size_t TARGET_VALUES = 9;

inline std::size_t residual_rows(TargetKind kind) { return kind == TargetKind::pose ? 6 : kind == TargetKind::joint ? 1 : 3; }

class Targets {
  public:
    // What is asked for, without numbers: of a link, or of an actuated joint.
    struct Asked {
        TargetKind kind = TargetKind::pose;
        int place = 0;
    };
    // The same in the terms of the computation.
    struct Target {
        TargetKind kind;
        int link;              // -1 for a joint
        int body;              // of the link, among `bodies()`; 0 for a joint
        Pose in_body;
        int variable;          // of the joint, -1 for a link
        std::size_t row;       // its first
        std::vector<int> moved_by;  // variables solved for, ascending
    };
    // A body on the way to a target: which joint moves it.
    struct Carrier {
        int number;   // of the robot
        int parent;   // among `bodies()`
        bool turns;
        int joint;    // moving joint
        int variable; // that drives it
    };

    // `joints` are the actuated joints that may move; what does not move any target is left out.
    Targets(std::shared_ptr<const Robot> robot, std::span<const Asked> asked, std::span<const int> joints);

    const Robot &robot() const { return *robot_; }
    std::size_t size() const { return targets_.size(); }
    std::size_t rows() const { return rows_; }
    std::span<const Target> targets() const { return targets_; }
    // Actuated joints that move some target: those solved for first, ascending, then those that are held.
    std::span<const int> variables() const { return variables_; }
    std::size_t solved() const { return solved_; }
    std::span<const int> joints() const { return std::span(variables_).first(solved_); }

    // Variables solved for that move both of two targets.
    std::span<const int> shared(std::size_t t, std::size_t u) const { return shared_[t * size() + u]; }

    std::span<const Carrier> bodies() const { return carriers_; }
    std::span<const int> moving() const { return moving_; }  // joints that count, those that are followed first
    int variable_of(int actuated) const { return variable_of_[static_cast<std::size_t>(actuated)]; }
    const BodyPoses &body_poses() const { return poses_; }
    const Pose &root() const { return root_; }
    bool root_is_origin() const { return root_is_origin_; }

    // The numbers of targets in the frame of the root: `values` (targets, TARGET_VALUES).
    void in_root(std::span<const double> values, std::span<double> out) const;

    // What `linearise` fills.
    struct Linearised {
        std::span<double> residual;  // (rows,)
        std::span<double> jacobian;  // (rows, dof), zero for joints that are not solved for; empty: left out
        std::span<double> off;       // (targets,) position errors, metres; zero for targets that ask for no position
        std::span<double> turn;      // (targets,) orientation errors, rad, or of a joint rad or m; zero where none is asked
    };
    // At one configuration (dof,), in float64.
    void linearise(std::span<const double> values, std::span<const double> cfg, const Linearised &out) const;

  private:
    std::shared_ptr<const Robot> robot_;
    std::vector<Target> targets_;
    std::vector<int> variables_, variable_of_, moving_;
    std::vector<std::vector<int>> shared_;
    std::size_t solved_ = 0, rows_ = 0;
    std::vector<Carrier> carriers_;
    BodyPoses poses_;
    Pose root_;
    bool root_is_origin_ = true;
};

}  // namespace elbowroom
