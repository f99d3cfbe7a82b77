// A search for a path between a start and goals: two trees that grow until they meet, and the proof of what was found.
//
// RRT-Connect (Kuffner and LaValle 2000) with balanced trees and dynamic domains (Yershova et al. 2005). Trees grow by glances
// (glance.hpp): ends of sixteen edges at once, then samples along an edge. Nothing is proved until the trees meet; then the edges of
// the path are, and one whose proof fails is cut off, and the search goes on. Spheres that refuse the start or a goal, which meshes
// call free, are made smaller for the search. Where that leads nowhere, meshes decide where trees may grow, from time to time.
//
// Where something must be kept on the way (keeps.hpp), ends of edges are projected and edges that do not keep it are refused.
//
// Guaranteed: every edge of a path is proved free by Scene::prove, and keeps what must be kept. The same seed gives the same path, however the iterations are
// parted, unless time runs out. Not for use by several threads at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "elbowroom/glance.hpp"
#include "elbowroom/keeps.hpp"
#include "elbowroom/tree.hpp"

namespace elbowroom {

// Values of the moving joints, waypoint by waypoint.
using Waypoints = std::vector<std::vector<double>>;

// Straight lines between values of the moving joints.
class Lines {
  public:
    Lines(const Scene &scene, const JointGroup &group) : scene_(scene), group_(group) {}

    struct Line {
        const double *a, *b;
    };
    // Which of the lines are proved free.
    std::vector<bool> prove(std::span<const Line> lines, Look look, std::int64_t budget);
    // Whether meshes call samples of a line free; counts the looks. The far end comes first, which is refused most often.
    bool free_by_meshes(const Line &line, std::int64_t &looks);
    // A configuration with these values.
    void whole(const double *values, double *out) const;

    // What lines must keep besides; none for nothing.
    void keep(const Keeps *keeps) { keeps_ = keeps; }
    bool constrained() const { return keeps_ != nullptr; }
    // Whether a line keeps it.
    bool kept(const Line &line) const;
    // Moves values to where it is kept; whether that succeeds.
    bool project(double *values) const;

  private:
    const Scene &scene_;
    const JointGroup &group_;
    const Keeps *keeps_ = nullptr;
    std::vector<double> rows_;
    std::vector<PieceProof> proofs_;
};

class Sampler {
  public:
    // `starts` and `goals` are rows of values of the moving joints, which meshes call free.
    Sampler(const Scene &scene, JointGroup group, std::span<const double> start, std::span<const double> goals, std::uint64_t seed);
    Sampler(const Sampler &) = delete;

    // Paths must keep this on their way, as start and goals do. Said before anything is asked.
    void keep(std::vector<Keep> all);

    // The straight line to the nearest goal that it reaches; whether there is one. Asked before anything else.
    bool straight();
    // Up to so many iterations more, until `seconds` have passed; whether there is a path.
    bool grow(std::int64_t iterations, double seconds);

    const Waypoints &path() const { return path_; }  // from the start to a goal; empty while there is none
    int goal() const { return goal_; }
    bool possible() const { return possible_; }  // false where links that no joint moves touch an obstacle
    std::int64_t iterations() const { return done_; }
    std::int64_t nodes() const { return trees_[0].size() + trees_[1].size(); }
    const Tree &tree(int k) const { return trees_[k]; }
    // How often each pair of links, then each link among obstacles with each obstacle, by rows, refused an edge.
    std::span<const std::int64_t> refusals() const { return refusals_; }
    const JointGroup &group() const { return group_; }
    const Scene &scene() const { return scene_; }
    Glance &glance() { return glance_; }
    Lines &lines() { return lines_; }

  private:
    struct Meeting {
        int nodes[2];
        int fresh;  // the tree whose node came last
    };

    void by_spheres();
    void by_meshes(std::int64_t looks);
    void sample(std::vector<double> &out);
    // One step from a node of a tree towards values, `far` away; the new node, or -1.
    bool step(int tree, int node, const double *goal, double far, double longest, bool by_meshes, std::int64_t &looks);
    // The values a step leads to, into `out`; false where they cannot be projected.
    bool aim(const double *from, const double *goal, double far, double longest, double *out) const;
    // Steps until the values are reached; whether they are, and from which node.
    bool connect(int tree, int &node, const double *goal, double longest, bool by_meshes, std::int64_t &looks);
    bool holds(const Meeting &met, std::int64_t budget);
    void refuse(Culprit who);

    Scene scene_;
    JointGroup group_;
    Glance glance_;
    Lines lines_;
    std::optional<Keeps> keeps_;
    Tree trees_[2];
    Random random_;
    double diagonal_ = 0.0, longest_ = 0.0, domain_ = 0.0, least_domain_ = 0.0;
    std::int64_t done_ = 0;
    std::vector<double> fresh_, goal_at_;
    std::vector<double> ends_;
    std::vector<std::int64_t> refusals_;
    Waypoints path_;
    int goal_ = -1;
    bool possible_ = true;
};

// Shorter ways along a path: corners are cut where a glance lets the straight line pass; what is then proved counts, else cuts that
// are proved one by one. Never longer than it was, and every edge is proved if those of `path` are.
Waypoints shortened(Sampler &sampler, const Waypoints &path, int attempts, std::uint64_t seed, double seconds);

}  // namespace elbowroom
