// A robot's kinematics: frames joined by joints, laws that couple joints, forward kinematics and Jacobians.
//
// Every joint gives one frame, after its motion; a link whose frame is not that of its joint has a fixed one more.
// Frame 0 is the root; parents come before their children, so one pass places all frames. Rotations are unit
// quaternions (w, x, y, z): composing them needs neither branches nor square roots. Positions are metres in the world.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "elbowroom/geometry.hpp"

namespace elbowroom {

struct Quaternion {
    double w = 1.0, x = 0.0, y = 0.0, z = 0.0;
};

enum class JointKind { fixed = 0, revolute = 1, prismatic = 2 };

struct Frame {
    int parent = -1;
    JointKind kind = JointKind::fixed;
    int joint = -1;  // moving joint that moves it, -1 for fixed frames
    // Rotation in the parent frame: `still` for joint value 0; `still * cos(q / 2) + turned * sin(q / 2)` when revolute.
    Quaternion still, turned;
    // Position in the parent frame: `shift + slide * q`; the slide is zero unless prismatic.
    Vec3 shift, slide;
    Vec3 axis;  // of the joint, in the frame itself
};

// What a moving joint's value is: that of an actuated joint, or a polynomial of another moving joint's value.
struct JointLaw {
    static constexpr int TERMS = 5;
    int driver = 0;  // actuated joint, or the moving joint that is followed
    bool coupled = false;
    double coefficients[TERMS] = {0, 1, 0, 0, 0};  // constant term first

    template <class Number> Number value(Number x) const {
        return coefficients[0] +
               x * (coefficients[1] + x * (coefficients[2] + x * (coefficients[3] + x * coefficients[4])));
    }
    double slope(double x) const {
        return coefficients[1] +
               x * (2.0 * coefficients[2] + x * (3.0 * coefficients[3] + x * 4.0 * coefficients[4]));
    }
};

// A rigid body: frames joined by fixed joints. One joint moves it, about or along its own z axis; body 0 is the root and
// stays where it is.
struct Body {
    int parent = -1;
    JointKind kind = JointKind::fixed;
    int joint = -1;  // moving joint
    Pose in_parent;  // for joint value 0
};

// Where a link is: on which body, and its frame there.
struct LinkPlace {
    int body = 0;
    Pose in_body;
};

// Rotation by a quaternion of any length, then translation.
Pose pose_of(const Quaternion &q, Vec3 t);

class Robot {
  public:
    // `order` lists the moving joints so that each comes after the one it follows; `link_frames` are the frames of the
    // links, in their order.
    Robot(int dof, std::vector<Frame> frames, std::vector<JointLaw> laws, std::vector<int> order,
          std::vector<int> link_frames);

    int dof() const { return dof_; }
    std::size_t n_links() const { return link_frames_.size(); }
    std::span<const Frame> frames() const { return frames_; }
    std::span<const JointLaw> laws() const { return laws_; }
    std::span<const int> order() const { return order_; }
    std::span<const int> link_frames() const { return link_frames_; }
    // Bodies, parents first, in the frame of the root.
    std::span<const Body> bodies() const { return bodies_; }
    std::span<const LinkPlace> link_places() const { return link_places_; }

    // Poses of all links: `cfgs` (n, dof) to `out` (n, links, 7), quaternion then position.
    void link_poses(std::span<const double> cfgs, std::span<double> out) const;

    // Geometric Jacobian of a link frame: `cfgs` (n, dof) to `out` (n, 6, dof), linear velocity of its origin, then
    // angular velocity, in world axes. Coupled joints are in the columns of the joints that drive them.
    void jacobians(std::span<const double> cfgs, std::size_t link, std::span<double> out) const;

    // Points `local` (n, 3) of `links` (n) at one configuration, and their Jacobians unless `jacobian` is empty: `out` (n, 3), (n, 3, dof).
    void points(std::span<const double> cfg, std::span<const std::int64_t> links, std::span<const double> local, std::span<double> out,
                std::span<double> jacobian) const;

  private:
    int dof_;
    std::vector<Frame> frames_;
    std::vector<JointLaw> laws_;
    std::vector<int> order_;
    std::vector<int> link_frames_;
    std::vector<Body> bodies_;
    std::vector<LinkPlace> link_places_;
};

}  // namespace elbowroom
