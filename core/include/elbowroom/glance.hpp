// A quick look at configurations and at straight lines between them: spheres in lanes, no proof.
//
// Sixteen configurations at a time are compared by their spheres in float32. Pairs and links whose distance the moving joints
// cannot change are left out. A line is sampled every so many metres of travel, in blocks whose samples are spread over all of it.
// For a search alone, spheres that refuse a configuration which meshes call free can be made smaller (`soften`).
//
// Nothing is promised of what lies between samples, nor of softened spheres: what a glance lets pass is then proved (scene.hpp).
// Not for use by several threads at a time.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "elbowroom/scene.hpp"

namespace elbowroom {

// The joints that a search may move.
struct JointGroup {
    std::vector<int> moving;        // actuated joints, ascending
    std::vector<double> held;       // a configuration; entries of moving joints mean nothing
    std::vector<double> low, high;  // of the moving joints: where to sample
};

class Glance {
  public:
    Glance(const Scene &scene, const JointGroup &group);

    // Value of a moving joint in a lane.
    double &at(std::size_t joint, int lane) { return columns_[joint * WIDE + static_cast<std::size_t>(lane)]; }
    // Lanes of the first `count` in which spheres touch. With `any`, it is enough to find one.
    unsigned touching(int count, bool any);
    // Whether samples of the straight line between two values of the moving joints do not touch, none farther than `apart` metres
    // of travel from the next; `met` is then where they do, a fraction of the line.
    bool along(const double *a, const double *b, double apart);
    double met() const { return met_; }
    // Who touched last.
    Culprit who() const { return who_; }

    // Whether pairs that only meshes can decide are free at one configuration of the moving joints.
    bool mesh_pairs_free(const double *part);
    // Metres, about, that the robot travels on a line.
    double travel(const double *a, const double *b) const;

    // Makes spheres that touch at a configuration so small that they keep `room` metres there.
    void soften(const double *part, double room);

  private:
    struct Step {  // a moving joint that the group moves
        int joint = 0, column = -1, follows = -1;  // its value is a column, or follows another joint
        bool turns = true;
    };
    struct Turns;
    struct Seen {  // spheres of the links, and where they are
        std::shared_ptr<const LinkSpheres> model;
        std::shared_ptr<LinkSpheres> softer;  // the same, once some were made smaller
        SphereBlock block;
    };

    void put(const double *part);  // in all lanes
    void place();
    void place(Seen &seen, bool all);
    Seen &outside() { return apart_ ? *apart_ : own_; }

    const Scene &scene_;
    std::vector<double> columns_;  // (moving, WIDE)
    std::vector<Step> steps_;
    std::vector<F32x16> sine_, cosine_, slide_;  // by moving joint of the robot
    Seen own_;
    std::unique_ptr<Seen> apart_;  // as obstacles see them, where that differs
    std::vector<std::uint8_t> body_moves_;
    std::vector<int> pairs_, mesh_pairs_, links_;  // that the group changes; links as obstacles number them, outermost first
    RoughReach rough_;
    std::vector<double> one_;  // joint values of a single configuration
    float pad_ = 0.0f;
    double met_ = 0.0;
    Culprit who_;
};

}  // namespace elbowroom
