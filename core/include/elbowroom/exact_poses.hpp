// Poses of links in float64, for configurations that were looked at in float32 lanes and that meshes must decide.
//
// Only what is asked for is computed: sines of the joints on the way, four at a time, and bodies from the root down. Two links
// with few joints between them are posed relative to the body where their branches meet, without the bodies that carry it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "elbowroom/lanes.hpp"
#include "elbowroom/robot.hpp"

namespace elbowroom {

// The bodies between two links.
class LinkPath {
  public:
    LinkPath(const Robot &robot, int link_a, int link_b);

    bool is_short() const { return a_.size() + b_.size() <= FEW; }
    std::span<const int> to_a() const { return a_; }  // bodies below the one where the branches meet, that first
    std::span<const int> to_b() const { return b_; }
    int link_a() const { return link_a_; }
    int link_b() const { return link_b_; }

  private:
    static constexpr std::size_t FEW = 6;  // bodies: more are likely posed from the root already

    int link_a_, link_b_;
    std::vector<int> a_, b_;
};

class ExactPoses {
  public:
    // The value of a joint in a lane is `values[joint * lanes + lane]`; `values` has room for whole vectors.
    void start(const Robot &robot, const double *values, int lanes) {
        robot_ = &robot, values_ = values, lanes_ = lanes;
        ready_ = false;
    }

    // A link in the frame of the root.
    Pose link(int link, int lane) {
        if (!ready_) forget();
        const LinkPlace &place = robot_->link_places()[static_cast<std::size_t>(link)];
        return body(place.body, lane) * place.in_body;
    }
    // The body that carries a link, in the frame of the root.
    const Pose &body_of_link(int link, int lane) {
        if (!ready_) forget();
        return body(robot_->link_places()[static_cast<std::size_t>(link)].body, lane);
    }
    // A body in the frame of the root.
    Pose body_pose(int number, int lane) {
        if (!ready_) forget();
        return body(number, lane);
    }
    // Computes all bodies in the four lanes around one at once: cheaper than one by one where most of them are asked for. The number of
    // lanes must be a multiple of four.
    void place_four(int lane);
    // The second link of a path in the frame of the first.
    Pose across(const LinkPath &path, int lane);

  private:
    std::size_t at(int joint, int lane) const {
        return static_cast<std::size_t>(joint) * static_cast<std::size_t>(lanes_) + static_cast<std::size_t>(lane);
    }
    void forget();  // what was computed for other values
    const Pose &body(int body, int lane);  // in the frame of the root
    void move(const Body &body, int lane, Pose &pose);  // by its joint
    void turn(std::size_t first);  // fills four sines and cosines
    Pose down(std::span<const int> bodies, int link, int lane);

    const Robot *robot_ = nullptr;
    const double *values_ = nullptr;
    int lanes_ = 1;
    bool ready_ = false;
    std::vector<double> sines_, cosines_;
    std::vector<std::uint8_t> turned_;  // by vector of sines: whether it is there
    std::vector<Pose> bodies_;
    std::vector<std::uint8_t> posed_;
};

}  // namespace elbowroom
