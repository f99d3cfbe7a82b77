// Proof in float64 that two links, or a link and the obstacles, stay apart on a part of a piece.
//
// In the middle of the part, balls whose distance exceeds radii, buffer and both movements (chain.hpp) stay apart on all of it.
// Where balls do not, the distance of the meshes in the middle must exceed the movement of everything that the balls enclose. What
// neither shows is halved, until a middle that collides is found or the budget is spent. A part that is hardly wider than the
// slack is not halved: what does not show there will not show. A collision is one of the motion itself, without slack.
//
// On straight motions without slack that are likely free, meshes are judged by what they move towards each other (swept.hpp). Off the velocity of the middle a point is at most half the square of the time times its largest
// acceleration. Along a chain of joints with rates r_j, from the first link to the second, that is at most the sum over j of
// (r_j^2 + c_j + 2 r_j sum of r_i before j) d_j for turning joints, d_j the point's distance from the axis, and of
// c_j + 2 r_j sum of r_i before j for sliding ones, where i are turning joints and c_j bounds the joint's own acceleration (of
// coupled joints that are not linear). Distances from axes change by what the joints after j move.
//
// Guaranteed: bounds must be positive by more than float64 rounds over a few metres; distances of meshes are searched to 1e-9.
#pragma once

#include <optional>

#include "elbowroom/motion.hpp"
#include "elbowroom/never.hpp"
#include "elbowroom/surroundings.hpp"
#include "elbowroom/swept.hpp"

namespace elbowroom {

// The joints from one link of a robot to another, or from the root to one (`a` -1), with the bodies that they move.
struct BodyChain {
    Chain chain;
    std::vector<int> bodies;  // of the robot, one a joint

    BodyChain(const Robot &robot, int link_a, int link_b);
};

// A part of a piece that waits.
struct Part {
    std::size_t piece = 0;
    double t = 0.5, half = 0.5;
};

class PairOnPart {
  public:
    // Meshes may be none. Limits are those of the robot, only to choose where motions are short.
    PairOnPart(const LinkSpheres &spheres, LinkPair pair, const TriangleTree *a, const TriangleTree *b, const Robot &robot,
               std::span<const double> lower, std::span<const double> upper);

    const BodyChain &joints() const { return joints_; }
    std::span<const int> moving(int end) const { return moving_[end]; }  // joints, outermost first
    bool has_meshes() const { return meshes_[0] != nullptr; }

    // Whether the meshes are too close in the middle of the part. Nothing is said of pairs without meshes.
    bool blocked_in_middle(const Motion &motion, const Part &part, double buffer) const;
    // Improves on `out`, which is free so far. `hint` as in `stay_apart`.
    void prove(const Motion &motion, const Part &part, double buffer, const ProofRequest &request, std::optional<TriangleNumbers> &hint,
               PieceProof &out) const;

    // How the second mesh moves in the frame of the first around the middle of a part of a straight piece; nothing for values that
    // are too large. Bounds hold for points near `c`, a point of the first mesh, best.
    std::optional<RelativeMotion> motion_between(const Motion &motion, const Part &part, const ChainPoses &poses, Vec3 c) const;

  private:
    BodyChain joints_;
    std::vector<int> moving_[2];
    SpherePair spheres_;
    const TriangleTree *meshes_[2];
    Pose in_body_[2];
};

class LinkOnPart {
  public:
    LinkOnPart(const Surroundings &around, int place);

    const BodyChain &joints() const { return joints_; }
    std::span<const int> moving() const { return moving_; }

    // The obstacle that the mesh is too close to in the middle of the part, or -1. Nothing is said of links without a mesh.
    int blocked_in_middle(const Surroundings &around, const Motion &motion, const Part &part, double buffer) const;
    void prove(const Surroundings &around, const Motion &motion, const Part &part, double buffer, const ProofRequest &request,
               PieceProof &out) const;

  private:
    struct Look;
    BodyChain joints_;
    std::vector<int> moving_;
    int place_;
};

}  // namespace elbowroom
