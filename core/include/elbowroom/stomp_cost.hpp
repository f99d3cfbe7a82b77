// Costs of many trajectories at every timestep: of being near obstacles, near oneself, and beyond limits.
//
// Two-part costs. Obstacles: the sum over spheres of what is missing of a clearance times the sphere's speed, and whether the oriented box
// of any link meets an obstacle. The robot itself: the same sum over pairs of links, by their nearest spheres and the speed at which these
// pass each other. Sixteen timesteps are looked at in float32 lanes first; what these cannot rule out is computed in float64, so costs are
// exact to its rounding. Speeds are central differences, one-sided at the first and the last timestep.
//
// Guaranteed: costs do not depend on which trajectories are asked together. They do not change once they are made and may be asked by many
// threads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "elbowroom/surroundings.hpp"

namespace elbowroom {

// Configurations (count, steps, dof).
struct Trajectories {
    std::size_t count = 0, steps = 0, dof = 0;
    std::span<const double> values;

    const double *row(std::size_t k, std::size_t t) const { return values.data() + (k * steps + t) * dof; }
};

class ObstacleCost {
  public:
    // Boxes in the frames of links of the robot, which have spheres; `spared` (boxes, obstacles) marks what may meet.
    struct LinkBox {
        int link = 0;
        OrientedBox box;
    };
    ObstacleCost(std::shared_ptr<const Surroundings> around, std::span<const LinkBox> boxes, std::span<const bool> spared);

    std::size_t n_boxes() const { return boxes_.size(); }
    const Surroundings &around() const { return *around_; }

    // For every timestep: what is missing of `clearance` metres times speed, summed over the spheres (m^2/s), `near` (count, steps), which
    // may be empty; and whether a box meets an obstacle, `meets` (count, steps).
    void parts(const Trajectories &paths, double dt, double clearance, std::span<double> near, std::span<bool> meets) const;

    // Which boxes meet which obstacles at any of some configurations (n, dof), what is spared included: `met` (boxes, obstacles).
    void meetings(const Configurations &cfgs, std::span<bool> met) const;

  private:
    struct Box {
        int place = 0;  // among the links of the spheres
        OrientedBox in_body;
        float center[3], radius = 0.0f;  // of the ball around it
        Ignored spared;
    };
    struct Work;

    void sphere_part(Work &work, unsigned lanes, int place, double clearance, double rate, std::span<double> near) const;
    unsigned box_part(Work &work, const Box &box, unsigned lanes) const;

    std::shared_ptr<const Surroundings> around_;
    std::vector<Box> boxes_;
    std::unique_ptr<bool[]> spared_;
    std::vector<double> box_reach_;  // by link: radius of the ball around its boxes, with the centre of that around its spheres
};

// What is missing of `clearance` metres between the nearest spheres of each pair of links, times the speed at which their centres pass each
// other, summed over the pairs: `out` (count, steps).
void self_nearness(const LinkSpheres &spheres, std::span<const LinkPair> pairs, const Trajectories &paths, double dt, double clearance,
                   std::span<double> out);

// Sum over joints of max(0, |derivative| / limit - 1), `out` (count, steps). Of order 1, speeds of the straight lines between steps, of which a
// step has the larger of the two that meet there; of order 2, second differences, at rest before the first and after the last step.
void limit_cost(const Trajectories &paths, double dt, std::span<const double> limits, int order, std::span<double> out);

}  // namespace elbowroom
