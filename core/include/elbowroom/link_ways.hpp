// Where the bodies of a robot are at one configuration in float64, how points on them move with the joints, and how far links can
// move while every joint stays within a width: the bound of chain.hpp, for all links of a robot at once.
#pragma once

#include <span>
#include <vector>

#include "elbowroom/link_spheres.hpp"

namespace elbowroom {

struct PosedBodies {
    std::vector<double> values, slopes;  // by moving joint: its value, and how it follows its actuated joint
    std::vector<Pose> poses;             // by body, in the frame of the root

    void place(const Robot &robot, std::span<const double> cfg);

    Pose link(const Robot &robot, int link) const {
        const LinkPlace &place = robot.link_places()[static_cast<std::size_t>(link)];
        return poses[static_cast<std::size_t>(place.body)] * place.in_body;
    }
    // Adds to a row (dof) how fast a point that `body` carries moves along a direction, times `sign`, by the joints below body `from`.
    void add_rates(const Robot &robot, int body, int from, Vec3 point, Vec3 direction, double sign, double *row) const;
};

// The actuated joint that moves a moving joint.
int actuated(const Robot &robot, int joint);

// Bounds of how far moving joints go when actuated ones stay within `widths` of a configuration; false for values too large.
bool joint_widths(const Robot &robot, std::span<const double> cfg, std::span<const double> widths, std::vector<double> &out);

// The ways of the links of a set of spheres.
class LinkWays {
  public:
    explicit LinkWays(const LinkSpheres &model);

    std::span<const int> bodies(int place) const { return {bodies_.data() + first_[static_cast<std::size_t>(place)], count(place)}; }
    std::size_t count(int place) const {
        return static_cast<std::size_t>(first_[static_cast<std::size_t>(place) + 1] - first_[static_cast<std::size_t>(place)]);
    }

    // Distances of the farthest points of each link from the axes of the bodies that carry it, outermost first.
    void axes(const PosedBodies &at, std::vector<double> &far) const;
    // How far any point of each link moves by the joints from its own body up to each that carries it, for widths of moving joints.
    void ways(std::span<const double> far, std::span<const double> widths, std::vector<double> &out) const;
    // Of one link by its outermost `n` joints.
    double way(std::span<const double> ways, int place, std::size_t n) const {
        return n == 0 ? 0.0 : ways[static_cast<std::size_t>(first_[static_cast<std::size_t>(place)]) + n - 1];
    }

  private:
    const LinkSpheres &model_;
    std::vector<int> bodies_, first_;
};

}  // namespace elbowroom
