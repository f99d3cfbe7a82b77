// Whether two links can meet at all: search for a configuration in which they do, proof that there is none.
//
// The proof is branch and bound over boxes of the joint values between the two links. In a box, what is farther apart at the
// centre than both can move (chain.hpp) stays apart in all of it; a box that is not decided is halved along the joint that
// moves the deciding parts most. `bisect` is that loop, for any way to judge a box; `SpherePair` judges by spheres.
//
// Guaranteed: `proved` means that no configuration within the limits brings the two closer than asked, rounding included;
// `hit` comes with a configuration that does.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "elbowroom/balls.hpp"
#include "elbowroom/chain.hpp"

namespace elbowroom {

enum class Proof { undecided = 0, proved = 1, hit = 2 };

struct BoxRange {
    std::span<const double> lower, upper;  // joint values, one a variable
};

struct ProofOutcome {
    Proof status = Proof::undecided;
    std::int64_t boxes = 0;       // looked at
    double bound = 0.0;           // proved: lower bound of what is left after padding; hit: what is left at `cfg`; metres
    std::vector<double> cfg;      // hit: joint values
};

// A box of joint values, and what its halves inherit.
template <class Note> struct Box {
    std::vector<double> center, half;
    Note note{};
};

struct Judgement {
    Proof status = Proof::undecided;
    int halve = 0;  // undecided: the variable; negative to give up
};

// Halves the range until `judge(box)` has proved every part, one is hit, or `max_boxes` are spent.
template <class Note, class Judge> ProofOutcome bisect(const BoxRange &range, std::int64_t max_boxes, Judge judge) {
    constexpr std::size_t WAITING = 8192;  // boxes at most; depth first, so there is one for each halving
    const std::size_t n = range.lower.size();
    std::vector<Box<Note>> waiting(1);
    waiting[0].center.resize(n), waiting[0].half.resize(n);
    for (std::size_t v = 0; v < n; v++) {
        waiting[0].center[v] = 0.5 * (range.lower[v] + range.upper[v]);
        waiting[0].half[v] = 0.5 * (range.upper[v] - range.lower[v]);
    }
    ProofOutcome out;
    while (!waiting.empty()) {
        if (out.boxes >= max_boxes || waiting.size() >= WAITING) return out;
        Box<Note> box = std::move(waiting.back());
        waiting.pop_back();
        out.boxes++;
        const Judgement found = judge(box);
        if (found.status == Proof::proved) continue;
        if (found.status == Proof::hit) {
            out.status = Proof::hit;
            out.cfg = box.center;
            return out;
        }
        if (found.halve < 0 || static_cast<std::size_t>(found.halve) >= n) return out;
        const std::size_t v = static_cast<std::size_t>(found.halve);
        box.half[v] *= 0.5;
        Box<Note> other = box;
        box.center[v] -= box.half[v];
        other.center[v] += box.half[v];
        waiting.push_back(std::move(box));
        waiting.push_back(std::move(other));
    }
    out.status = Proof::proved;
    return out;
}

// The variable whose joints have the largest shares together.
int widest_variable(const Chain &chain, std::span<const double> shares);

// Spheres of a link in groups, each with a ball around it; in the frame of the body at the end of a chain.
struct GroupedBalls {
    struct Group {
        Ball ball;
        int first = 0, count = 0;  // in `spheres`
    };
    std::vector<Group> groups;
    std::vector<Ball> spheres;
};

class SpherePair {
  public:
    // `side` as in `Chain::moving_a`.
    SpherePair(Chain chain, int side, GroupedBalls a, GroupedBalls b);

    const Chain &chain() const { return chain_; }

    // Smallest distance between spheres of the two links, metres.
    double clearance(std::span<const double> values) const;

    // Lowers the clearance by moving one joint at a time with shrinking steps (pattern search) from every start, (n, variables),
    // for `rounds` sweeps; ends when it is not above `target`. Gives the smallest clearance and, in `values`, where it is.
    double search(std::span<const double> starts, const BoxRange &range, double target, int rounds, std::span<double> values) const;

    // Whether the spheres stay farther apart than `pad` in the whole range.
    ProofOutcome prove(const BoxRange &range, double pad, std::int64_t max_boxes) const;

    // Balls of one link in the frame of the chain, and how far each may move.
    struct Placed {
        struct Spot {
            Vec3 at;
            double radius = 0.0, move = 0.0;
        };
        std::vector<Spot> groups, spheres;
        std::vector<std::uint8_t> seen;  // groups whose spheres are placed
    };
    struct Bounds {
        double low;             // of the clearance in the whole box, less padding
        double center;          // at its centre, or a little above 0 where a group stands for more
        Vec3 worst_a, worst_b;  // centres of the balls that decide
    };
    // In a box of joint values around that of the poses, for the chords of its half-widths. `ends` is for what is placed.
    Bounds bounds_in_box(const ChainPoses &poses, std::span<const double> chords, double pad, std::array<Placed, 2> &ends) const;

  private:
    Chain chain_;
    std::vector<int> moving_[2];
    GroupedBalls balls_[2];
};

}  // namespace elbowroom
