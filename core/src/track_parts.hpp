// What the files of SafeStep share.
#pragma once

#include <limits>
#include <vector>

#include "elbowroom/track.hpp"

namespace elbowroom {

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
    double h = 0.0;  // seconds at the rate of the tick that lead to rest

    bool empty() const {
        for (std::size_t k = 0; k < low.size(); k++)
            if (!(low[k] <= high[k])) return true;
        return false;
    }
};

inline bool operator==(const Culprit &a, const Culprit &b) { return a.pair == b.pair && a.link == b.link && a.obstacle == b.obstacle; }

}  // namespace elbowroom
