// What the files of SafeStep share.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "elbowroom/track.hpp"

namespace elbowroom {

inline constexpr double CLOSER = 1e-6;  // metres by which things in contact may seem to come closer: what measuring and rounding add
inline constexpr double HAIR = 1e-5;    // metres: closer, exact tools begin to differ on whether things touch, and no robot stands that still
inline constexpr std::int64_t PARTS = 200;  // of a pair on one step that may be looked at: one that needs more is too close for its speed

// What is kept of a distance that is hardly there.
inline double share_of(double distance) { return std::max(0.5 * distance, std::min(0.9 * distance, HAIR)); }

// What is known of distances at one configuration.
struct SafeStep::Survey {
    PosedBodies at;
    std::vector<double> far, far_outside;    // of LinkWays
    std::vector<double> ways, ways_outside;  // for the widths that were asked
    bool wild = false;                       // values too large for bounds
    std::vector<double> low;                 // by pair: lower bound of the distance, metres; minus infinity where they overlap
    std::vector<char> fresh;                 // by pair: the bound is of this configuration, not what is left of an earlier one
    std::vector<double> low_outside;         // by place: of a link to all obstacles
    struct Near {
        int place = 0, obstacle = 0;
        double distance = 0.0;  // metres; minus infinity where they overlap
        double depth = 0.0;     // overlapping: signed distance of the deepest sphere
    };
    std::vector<Near> within;  // links and obstacles that are not farther apart than the clearance
    std::vector<Near> coming;  // links within reach of obstacles that move
    std::span<const double> drift;
    struct Overlap {
        std::size_t pair = 0;
        Vec3 direction;        // in the frame of the first mesh: what parts them with the least way that was found
        double depth = 0.0;    // that way, metres
    };
    std::vector<Overlap> overlaps;
    CollisionRows found;

    double lowest() const {
        double out = std::numeric_limits<double>::infinity();
        for (double d : low) out = std::min(out, d);
        for (double d : low_outside) out = std::min(out, d);
        return out;
    }
    double *add_row(const CollisionRow &row, std::size_t dof) {
        found.rows.push_back(row);
        found.A.resize(found.A.size() + dof, 0.0);
        return found.A.data() + found.A.size() - dof;
    }
    // Removes the rows of spheres of a pair, or of a link and an obstacle.
    void drop_rough(const Culprit &who, std::size_t dof);
};

struct SafeStep::Verdict {
    bool proved = false;
    bool undecided = false;
    Culprit who;
    double t = 0.0;
};

// A tick at full rate, then slowing down evenly to rest.
struct SafeStep::Pace {
    double dt = 0.0, rest = 0.0;  // seconds

    double seconds() const { return dt + rest; }
    double way() const { return dt + 0.5 * rest; }  // seconds at full rate that lead as far
    double gone(double t) const;                    // share of the way after t seconds,
    double least_gone(double t) const;              // the same of a robot that slows down in steps of dt, at least,
    double time(double share) const;                // and the other way round
};

// A straight motion that ends at rest, and what its proof shall show.
struct SafeStep::WayToRest {
    std::span<const double> begin, end;
    std::optional<ProofRequest::Clock::time_point> until = {};  // undecided from then on
    struct Keep {
        double metres = 0.0, spare = 0.0;  // above the clearance; and as a share of the way
    } keep = {};
    std::span<const double> drift = {};  // velocities of obstacles, as of `Tick`
    Pace pace = {};
};

// The scene with obstacles that stand still, and one for each that moves.
struct MovingScenes {
    std::vector<char> moving;  // by obstacle
    Scene still;
    std::vector<std::pair<int, Scene>> each;

    MovingScenes(const Scene &scene, std::span<const double> drift);
};

// Bounds of the rates of one tick, and why they are there.
struct SafeStep::Box {
    std::vector<double> low, high;
    std::vector<Held::Why> why_low, why_high;
    double h = 0.0;        // seconds at the rate of the tick that lead to rest
    double seconds = 0.0;  // until then

    bool empty() const {
        for (std::size_t k = 0; k < low.size(); k++)
            if (!(low[k] <= high[k])) return true;
        return false;
    }
};

inline bool operator==(const Culprit &a, const Culprit &b) { return a.pair == b.pair && a.link == b.link && a.obstacle == b.obstacle; }

}  // namespace elbowroom
