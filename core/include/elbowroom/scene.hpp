// Scene: a robot's spheres, meshes and pairs of links, and the obstacles around it: the one verdict on a configuration.
//
// Spheres accept: they cover the links, so spheres that are apart show links that are apart. Meshes decide what spheres refuse,
// for just those pairs in just those configurations, in the same call. A pair in which a link has no mesh is decided by its
// spheres. Many configurations are looked at sixteen at a time, a single one with its spheres in lanes (link_spheres.hpp).
//
// Guarantees. What is called free is free: rounding of the float32 lanes is added to the radii, meshes are float64. An answer is
// the same alone or in a batch. A scene does not change once it is made, may be asked by many threads at once, and shares the
// robot, its spheres and meshes and the world with other scenes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "elbowroom/motion.hpp"
#include "elbowroom/surroundings.hpp"

namespace elbowroom {

// `beyond`: a joint leaves the range in which pairs were proved never to meet. `refused`: a value is not finite or too large.
enum class Verdict { colliding = 0, free = 1, beyond = 2, refused = 3 };

// Joint values, one an actuated joint, between which pairs that are left out of a scene were shown never to meet.
struct ProvedRange {
    std::vector<double> lower, upper;
};

class SceneProof;

class Scene {
  public:
    // `only_meshes` marks the pairs that spheres cannot decide. Things must be farther apart than `buffer`, metres.
    Scene(std::shared_ptr<const LinkSpheres> spheres, LinkMeshes meshes, std::span<const LinkPair> pairs,
          std::span<const bool> only_meshes, double buffer, ProvedRange range);

    // The same robot among obstacles; none for no obstacles. Copies nothing large.
    Scene among(std::shared_ptr<const Surroundings> around) const;

    // The same scene, asking pairs in an order that was cheap on these configurations: first those whose meshes refuse most
    // often for the time that they take. Changes no answer.
    Scene tuned(const Configurations &cfgs) const;

    const Robot &robot() const { return *spheres_->robot; }
    std::size_t n_pairs() const { return pairs_->size(); }
    // Pairs whose meshes are asked as soon as their spheres refuse, because they often meet; those of the others come last.
    std::size_t n_at_once() const { return by_meshes_->likely; }
    double margin() const { return spheres_->margin; }
    double buffer() const { return buffer_; }
    const Surroundings *around() const { return around_.get(); }

    // Whether nothing touches or comes closer than the buffer: `out` (n,). Returns the first row that is not finite or too
    // large, or -1.
    std::int64_t free(const Configurations &cfgs, Judge judge, std::span<bool> out) const;

    // One configuration; `beyond` when it leaves the range.
    Verdict free(std::span<const double> cfg, Judge judge) const;

    // Who is found first to touch in one configuration, or to come closer than the buffer; none also where that is not decided.
    std::optional<Culprit> clash(std::span<const double> cfg) const;

    // The first row with a value that is not finite or too large for the error bound, or -1.
    std::int64_t covers(const Configurations &cfgs) const;

    // Whether spheres alone show one configuration to be free, those of pairs too that only meshes decide.
    bool free_by_spheres(std::span<const double> cfg) const;

    // What `clearances` fills, one row a configuration.
    struct Clearances {
        std::span<double> smallest;        // metres
        std::span<std::int64_t> closest;   // the pair that it is of, -1 for none
        std::span<bool> touching;          // (n, pairs): meshes that were found to touch
        std::span<LinkObstacle> obstacles; // what `smallest` is of where it is of an obstacle; empty: obstacles are not looked at
    };
    // Lower bounds of the smallest clearance: by spheres where they are apart, by meshes where not; where meshes touch, minus
    // what parts the boxes around them. With `exact`, the smallest distance of pairs that are apart, measured; pairs that touch,
    // and those marked in `without`, are left out. Returns as `free`.
    std::int64_t clearances(const Configurations &cfgs, bool exact, std::span<const bool> without, const Clearances &out) const;

    // Proves motions piece by piece: `out` (pieces,).
    void prove(const Motion &motion, const ProofRequest &request, std::span<PieceProof> out) const;

    struct Pair {
        LinkPair links;             // places in the spheres
        LinkPath path;
        const TriangleTree *a = nullptr, *b = nullptr;  // both, or none
        bool only_meshes = false;   // spheres cannot decide it

        bool by_meshes(Judge judge) const { return a != nullptr && (judge == Judge::meshes || only_meshes); }
    };
    const LinkSpheres &spheres() const { return *spheres_; }
    const std::shared_ptr<const LinkSpheres> &shared_spheres() const { return spheres_; }
    // How far motions of the actuated joints move things, about.
    const RoughReach &rough_reach() const;
    // Whether the meshes of a pair touch or come closer than the buffer.
    bool meshes_refuse(std::size_t pair, int lane, ExactPoses &poses) const { return meshes_refuse((*pairs_)[pair], lane, poses); }
    const Pair &pair(std::size_t k) const { return (*pairs_)[k]; }
    const ProvedRange &range() const { return range_; }
    // A block of the spheres that obstacles see, at the configurations of one of those that links see.
    SphereBlock &outside(SphereBlock &block) const;

  private:
    // Whether two meshes touch or come closer than the buffer.
    bool meshes_refuse(const Pair &pair, int lane, ExactPoses &poses) const;
    // Lanes that no pair from `next` on refuses. Unless it is the `last` look, ends early when few lanes are left, with `next` the
    // pair to go on with.
    unsigned own_free(SphereBlock &block, unsigned alive, Judge judge, ExactPoses &poses, std::size_t &next, bool last) const;
    // The pair that refuses one configuration, -1 for none.
    int refusing(SphereRow &row, Judge judge, ExactPoses &poses) const;
    bool apart_by_spheres(SphereRow &row) const;
    void row_clearance(std::span<const double> bounds, int lane, bool exact, ExactPoses &poses, double &smallest,
                       std::int64_t &closest, std::span<bool> touching) const;

    SphereRow &outside(SphereRow &row) const;
    const SceneProof &proof() const;

    std::shared_ptr<const LinkSpheres> spheres_;
    std::shared_ptr<const LinkMeshes> meshes_;
    std::shared_ptr<const std::vector<Pair>> pairs_;
    // The order in which pairs are asked. Meshes of the first `likely` are asked as soon as spheres refuse, those of the others when
    // the spheres of all pairs are known.
    struct Order {
        std::vector<int> pairs;
        std::size_t likely = 0;
    };
    std::shared_ptr<const Order> by_meshes_, by_spheres_;  // by who has the last word
    std::shared_ptr<const Surroundings> around_;
    struct OwnLater;
    struct Later;
    std::shared_ptr<OwnLater> own_later_;  // what proofs need of pairs, made when one is first asked for,
    std::shared_ptr<Later> later_;         // and of obstacles
    double buffer_;
    float pad_;  // what spheres must be apart: buffer and rounding
    ProvedRange range_;
};

}  // namespace elbowroom
