// A motion, and what is known of it once it is proved: free with a margin, blocked somewhere, or not decided.
//
// A motion is a sequence of pieces in joint space, each a Bezier curve of degree 1 (a straight line) to 3, and how far every joint
// may besides be off it, at any time in either direction. A part of a piece lies in the hull of its own control points, so every
// joint stays within a known width of its value in the middle of the part; coupled joints follow their laws, whose slopes are
// bounded by the values that occur.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "elbowroom/pair_walk.hpp"

namespace elbowroom {

struct Motion {
    std::size_t dof = 0, pieces = 0, points = 2;  // control points of a piece: 2 to 4
    std::span<const double> control = {};              // (pieces, points, dof)
    std::span<const double> slack = {};                // (pieces, dof), or (dof) for all of them

    const double *piece(std::size_t k) const { return control.data() + k * points * dof; }
    const double *slack_of(std::size_t k) const { return slack.data() + (slack.size() == dof ? 0 : k * dof); }
};

// How far a motion moves things, about: the link that goes farthest, not all branches of a robot together. It decides how densely to
// look at first, so an estimate will do: what is proved does not depend on it.
class RoughReach {
  public:
    // Metres that each of some joints moves a link, per unit.
    void add(std::span<const double> link);
    // The same of some of the joints.
    RoughReach of(std::span<const int> joints) const;

    // Metres; `step(k)` is how far joint k goes.
    template <class Step>
    double travel(Step step) const {
        double most = 0.0;
        for (const std::vector<double> &link : links_) {
            double total = 0.0;
            for (std::size_t k = 0; k < link.size(); k++) total += link[k] * step(k);
            most = std::max(most, total);
        }
        return most;
    }

  private:
    std::vector<std::vector<double>> links_;  // none that another one outdoes in every joint
};

// How closely to look. A glance is no proof: spheres in the middles of a few parts of a piece. By spheres, meshes still decide pairs
// that only they can, and links that no joint moves.
enum class Look { glance, spheres, meshes };

inline constexpr double BOUND_SLACK = 1e-9;  // metres by which bounds must be better: a thousand roundings over a few metres

struct ProofRequest {
    Look look = Look::meshes;
    double margin = 1e-3;        // metres of clearance, above the buffer, up to which it is worth proving more
    std::int64_t budget = 20'000;  // parts of a piece that may be looked at

    // For those who ask again and again about short motions.
    using Clock = std::chrono::steady_clock;
    static constexpr double NOT_ASKED = -std::numeric_limits<double>::infinity();
    // Metres above the buffer that every pair of links, then every link among obstacles (its place in the surroundings), shall keep,
    // maybe negative; NOT_ASKED for what is known to stay clear. None: the buffer is what all shall keep.
    std::span<const double> keep = {};
    // What was measured where the motion begins, in the same order, or none: lower bounds of distances, metres; and how far things can
    // come towards each other on all of the motion (link_ways.hpp), infinite where no bound holds.
    std::span<const double> apart = {}, ways = {};
    std::span<std::optional<TriangleNumbers>> hints = {};  // by pair of links: triangles closest the last time, kept up to date; or none
    bool likely = false;                    // the motion is short and likely free: float64 at once, no search for a collision first
    std::optional<Clock::time_point> until = {};  // undecided from then on
    Vec3 shift = {};                        // metres that all obstacles are from where the world has them; heeded where `likely`

    double kept(std::size_t k) const { return keep.empty() ? 0.0 : keep[k]; }
    // Metres above `least` that stay at least, by what was measured where the motion begins; negative: it does not tell.
    double left_of(std::size_t k, double least) const { return apart.empty() ? -1.0 : apart[k] - ways[k] - least - BOUND_SLACK; }
    bool late() const { return until && Clock::now() >= *until; }
};

enum class Outcome { free = 0, blocked = 1, undecided = 2 };

// Who is in the way: a pair of links of the scene, or a link of the robot and an obstacle; -1 for the others.
struct Culprit {
    int pair = -1, link = -1, obstacle = -1;
};

struct PieceProof {
    Outcome outcome = Outcome::free;
    double t = -1.0;       // blocked: where; undecided: where it was given up; fraction of the piece
    double clearance = 0;  // free: lower bound of what is kept above the buffer, metres, not looked for beyond the margin
    Culprit who;
    std::int64_t by_spheres = 0, by_meshes = 0;  // parts looked at
};

// The middle of a part of a piece, and how far joints go from there; one number an actuated joint.
struct PartOfPiece {
    std::vector<double> middle, width, size;  // width: slack included; size: bound of the values that occur
    double along = 0.0, beside = 0.0;         // widths together: by the motion, by slack

    void at(const Motion &motion, std::size_t piece, double t, double half);
};

}  // namespace elbowroom
