// Proof of a motion in a scene: spheres in lanes first, sixteen parts at a time, float64 and meshes for what they leave.
//
// A lane holds the middle of a part of a piece. Spheres of a link go no farther from there than the motion bound of chain.hpp for
// all points of the link within `far` of the middle of its ball, with distances from the axes as they are in that lane. What stays
// apart by more than that is proved on the whole part. A part that is refused for its width alone is cut; a pair, or a link
// among obstacles, whose spheres overlap in the middle is left to part_proof.hpp, and so is what is as small as lanes make it.
//
// Rounding. Distances are off by at most the error bound of the spheres; axes by at most `blur` at the distance of any point.
// Results do not depend on which pieces are asked together.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "elbowroom/part_proof.hpp"
#include "elbowroom/scene.hpp"

namespace elbowroom {

// Joints that move a point in lanes, outermost first: places of their bodies among the poses, and the moving joints.
struct LaneJoint {
    int body = 0, joint = 0;
    bool turns = true;
};
using LaneJoints = std::vector<LaneJoint>;

// What proofs need of the spheres of links in lanes.
struct LaneBounds {
    std::vector<float> far;  // metres between the middle of a link's ball and the centre of a sphere in it
    float blur = 0.0f;       // what rounding can take from the distance of a point from an axis

    explicit LaneBounds(const LinkSpheres &model);
};

// What proofs need of the pairs of links: made once for all scenes of a robot.
struct OwnProofs {
    struct Moving {
        LaneJoints ends[2];
    };
    std::vector<PairOnPart> pairs;
    std::vector<Moving> moving;
    std::vector<LaneJoints> from_root;  // by place of a link: all joints that move it
    LaneBounds bounds;
    RoughReach rough;  // to choose how many parts to begin with

    explicit OwnProofs(const Scene &scene);
};

class SceneProof {
  public:
    SceneProof(const Scene &scene, std::shared_ptr<const OwnProofs> own);

    void prove(const Motion &motion, const ProofRequest &request, std::span<PieceProof> out) const;

  private:
    struct Lanes;
    struct Job;

    double rough_travel(const Motion &motion, std::size_t piece) const;
    // Whether the middle of a piece collides, and who.
    void look_at_piece(const Motion &motion, std::size_t piece, PieceProof &out) const;
    void look(const Motion &motion, const ProofRequest &request, std::span<const Job> jobs, std::span<PieceProof> out,
              std::vector<Job> &smaller, std::vector<Job> &exact, int level) const;
    // Whether meshes are too close in the middle of a part: to obstacles, or to each other.
    void look_at_middle(const Motion &motion, const ProofRequest &request, const Job &job, bool obstacles, PieceProof &out) const;
    // A short motion: sixteen parts of it in lanes leave a few pairs and links, of which all of it is proved at once.
    void prove_likely(const Motion &motion, std::size_t piece, const ProofRequest &request, std::vector<std::uint64_t> open,
                      std::span<const std::uint64_t> still, std::span<PieceProof> out) const;
    void finish(const Motion &motion, const ProofRequest &request, const Job &job, PieceProof &out) const;

    const Scene &scene_;
    std::shared_ptr<const OwnProofs> own_;
    std::span<const PairOnPart> pairs_;
    std::vector<LinkOnPart> links_;  // by place among the spheres that obstacles see
    std::vector<LaneJoints> link_lanes_;
    std::optional<LaneBounds> outside_;
    std::size_t words_ = 0;  // of a set of pairs and links
    bool costly_ = false;    // distances of spheres take long: a verdict on the middle of a piece comes first
};

}  // namespace elbowroom
