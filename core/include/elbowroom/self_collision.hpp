// Self-collision of a robot's spheres over given pairs of links.
//
// Many configurations are answered sixteen at a time, one in each lane, and a level of balls is entered when any lane needs it;
// a single one is answered with its spheres in lanes (link_spheres.hpp).
//
// Guarantees. `free` adds the bound on rounding to every sum of radii, so spheres that overlap in exact arithmetic are never
// called free. An answer is the same alone or in a batch, in any order of pairs.
#pragma once

#include "elbowroom/link_spheres.hpp"

namespace elbowroom {

class SelfCollision {
  public:
    // `spheres` in the frames of `sphere_links`; every link of a pair has some. `largest_values` (one a moving joint) are
    // the joint values up to which the error bound holds; configurations beyond are refused.
    SelfCollision(std::shared_ptr<const Robot> robot, std::span<const Ball> spheres, std::span<const int> sphere_links,
                  std::span<const LinkPair> pairs, std::span<const double> largest_values);

    // The same with its pairs in another order.
    SelfCollision reordered(std::span<const int> order) const;

    const Robot &robot() const;
    std::size_t n_pairs() const { return pairs_.size(); }
    double margin() const;  // bound on the error of a distance, metres

    // All below, for n configurations, return the first row that is not finite or too large, or -1.

    // Whether no pair touches: `out` (n,).
    std::int64_t free(const Configurations &cfgs, std::span<bool> out) const;
    // Smallest distance of any pair, metres, infinite without pairs: `out` (n,).
    std::int64_t min_distances(const Configurations &cfgs, std::span<float> out) const;
    // Distance of every pair: `out` (n, pairs).
    std::int64_t pair_distances(const Configurations &cfgs, std::span<float> out) const;
    // Whether each pair touches, as conservative as `free`: `out` (n, pairs).
    std::int64_t pair_hits(const Configurations &cfgs, std::span<bool> out) const;
    // Adds to `counts` (pairs) the configurations in which each pair comes closer than its pad, metres.
    std::int64_t count_hits(const Configurations &cfgs, std::span<const float> pads, std::span<std::int64_t> counts) const;

  private:
    template <class InBlock, class InOne> std::int64_t each(const Configurations &cfgs, InBlock, InOne) const;

    std::shared_ptr<const LinkSpheres> model_;
    std::vector<LinkPair> pairs_;  // of links of the model
};

}  // namespace elbowroom
