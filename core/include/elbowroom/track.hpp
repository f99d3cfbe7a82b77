// SafeStep: the best velocity of one tick that keeps limits and touches nothing, with a stop after it that is proved.
//
// Bounds. All joints stop together, in proportion, so the way to rest is a straight line in joint space: after a tick of velocity v
// it takes T = max |v| / a and the robot does not pass q + v (dt + T / 2). A tick that may leave a stopping time T' keeps
// |v| <= min(v_max, a T'), |v - v_before| <= a dt and (lower - q) / h <= v <= (upper - q) / h with h = dt + T' / 2, so that no
// joint's limit is passed on the way to rest. T' is the largest of T + dt, T, T - dt / 2, T - dt that leaves something.
//
// Rows. A distance d above what is proved changes by A v; A v >= -(d - skin) / max(h, approach time), unless nobody can move so.
// Things apart by spheres give rows of a few spheres; where spheres overlap, or hold an answer back, meshes are measured: a pair of
// links keeps up to five witnesses, points fixed to the bodies with their normal, since nearly parallel links meet in many places.
// Only what can matter within the bounds is looked at; distances known from the last tick, less what links moved since, save most of it.
//
// Choice. A quadratic programme (qp.hpp) finds the best velocity. Where rows contradict each other they give way, no farther than
// braking needs. The answer is proved by Scene::prove: the straight line through the tick to rest keeps the clearance, all of it. A
// proof that finds a collision at t gives a cut, the row of the pair as it is there, and the programme is solved again; one that
// does not end slows the robot down; at the deadline, or where nothing helps, the robot brakes on the line that was proved before.
//
// Obstacles that move are proved where they will be: the way to rest is cut into short spans of time, and the robot keeps clear in
// each of them of the obstacle in the middle of the span, grown by how far it moves in half of it. So a robot that brakes as it was
// proved is not reached before it stands, and one that stands is moved only by a step that is proved as well. Rows see obstacles
// come, and track_moving.cpp looks for a way out.
//
// Guaranteed: a robot that starts free and follows the steps stays free and within limits, whatever is wanted of it. A start within
// the clearance comes no closer, a start in contact gets no deeper.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "elbowroom/link_ways.hpp"
#include "elbowroom/qp.hpp"
#include "elbowroom/scene.hpp"

namespace elbowroom {

struct MovingScenes;

struct JointLimits {
    std::vector<double> speed, acceleration;  // infinite for none; speed 0 holds a joint
    std::vector<double> lower, upper;
};

struct StepOptions {
    double clearance = 0.0;       // metres that everything shall be apart; the buffer of the scene counts where it is larger
    double skin = 1e-3;           // metres above it at which an approach ends
    double keep = 5e-4;          // metres above it that are left where a stop ends, of what is closer a share
    // A robot that is not quite where it was sent must still be able to stop: of a distance, what a stop leaves as far as rows tell;
    // and of the way of a step to rest, what the proof keeps besides.
    double share = 0.25, spare = 0.05;
    bool parts = false;           // whether what is within the skin is asked to part
    double reach = 0.1;           // metres above the clearance within which things hold a motion back
    double approach = 0.05;       // seconds: nothing is approached faster than its distance divided by this
    int cuts = 3;                 // programmes solved again after a proof that found a collision
};

// What a tick begins with.
struct Tick {
    std::span<const double> cfg, velocity;  // where the robot is; of the last tick
    std::span<const double> stop;           // where braking ends, proved; empty if that is not known
    double dt = 0.0, budget = 0.0;          // seconds; the budget is wall time
    std::span<const double> drift = {};     // (obstacles, 3) velocities in the world, m/s; empty: all stand still
};

struct Objective {
    std::span<const double> H, f;  // minimise 1/2 v'Hv + f'v
};

// What held a motion back.
struct Held {
    enum Why { speed, acceleration, limit, pair, obstacle, contact, nothing, time } why = nothing;
    int first = -1, second = -1;  // joint; pair of the scene; link of the robot and obstacle
    bool operator==(const Held &) const = default;
};

struct Step {
    std::vector<double> cfg, velocity, stop;  // stop: empty where it is not proved
    std::vector<Held> held;
    double clearance = 0.0;  // lower bound where the tick began, metres; not looked for beyond the reach
    bool braked = false;     // nothing better than braking was found
    bool met = false;        // links or obstacles held the motion back
    bool late = false;       // the budget was spent
};

// What one loop remembers from tick to tick. It saves time and steadies rows; no guarantee rests on it but by proved bounds.
struct StepMemory {
    struct Witness {
        Vec3 a, b, normal;  // points in the bodies of the two links; normal in that of the first
    };
    struct Pair {
        double apart = 0.0;  // proved lower bound of the distance at `where`, metres
        std::vector<Witness> witnesses;
    };
    std::vector<double> where;
    std::vector<Pair> pairs;
    std::vector<std::optional<TriangleNumbers>> hints;
    std::shared_ptr<const MovingScenes> moving;
    std::vector<double> refuge;  // where the robot makes way for an obstacle that comes; empty: it need not, or knows none
    bool by_meshes = false;      // the refuge is clear by meshes; spheres are too large for it
    std::uint64_t draws = 0;     // how often one was looked for, or looked at again

    void forget() { where.clear(), pairs.clear(), hints.clear(), moving.reset(); }
};

// One robot in its loop: where it was sent, how fast, and where it comes to rest from there.
struct StepLoop {
    std::vector<double> cfg, velocity, stop;  // empty: nothing is known; stop: not proved
    std::vector<double> drift;                // velocities of the obstacles, as of `Tick`
    StepMemory memory;
    bool met = false;  // the last tick was held back by links or obstacles

    void follow(const Step &step) { cfg = step.cfg, velocity = step.velocity, stop = step.stop, met = step.met; }
};

// Linearised distances at one configuration: to first order `distance + A change` after a change.
struct CollisionRow {
    Culprit who;
    double distance = 0.0;  // metres above the clearance; 0 for contacts
    bool rough = false;     // of spheres with meshes behind them
    bool contact = false;   // of things that overlap
    double drift = 0.0;     // how fast the distance changes by itself, m/s: obstacles that move
};
struct CollisionRows {
    std::vector<CollisionRow> rows;
    std::vector<double> A;  // (rows, dof)
};

class SafeStep {
  public:
    SafeStep(Scene scene, JointLimits limits, StepOptions options);

    const Scene &scene() const { return scene_; }
    std::size_t dof() const { return static_cast<std::size_t>(scene_.robot().dof()); }
    const JointLimits &limits() const { return limits_; }

    // The velocity that minimises the objective among those that are safe.
    Step step(const Tick &tick, const Objective &objective, StepMemory &memory) const;
    // The step to a wanted configuration: exactly, where that is safe and `exactly` is asked for, else the nearest one that is safe;
    // `altered` tells which.
    Step towards(const Tick &tick, std::span<const double> wanted, StepMemory &memory, bool exactly, bool &altered) const;
    // The same in a loop, for a robot that is measured at `cfg`: where it was sent, beside it, or, farther off, at rest.
    Step guard(StepLoop &loop, std::span<const double> cfg, std::span<const double> wanted, double dt, double budget, bool exactly,
               bool &altered) const;
    // Whether all of the straight line between two configurations keeps what a step must keep from the first.
    bool proved(std::span<const double> begin, std::span<const double> end, double budget, StepMemory &memory) const;
    static bool drifts(std::span<const double> drift, int obstacle) {
        const std::size_t k = 3 * static_cast<std::size_t>(obstacle);
        return !drift.empty() && (drift[k] != 0.0 || drift[k + 1] != 0.0 || drift[k + 2] != 0.0);
    }

    // All rows within reach at a configuration, and lower bounds of the distances of pairs of links above the clearance.
    CollisionRows rows(std::span<const double> cfg, double reach, std::vector<double> &low) const;

  private:
    struct Box;
    struct Survey;
    struct Programme;
    struct Verdict;
    struct Pace;
    class Choice;

    void survey(std::span<const double> cfg, std::span<const double> widths, double reach, StepMemory &memory, Survey &out,
                std::span<const double> drift = {}) const;
    void look_at_pairs(std::span<const double> cfg, double reach, StepMemory &memory, Survey &out) const;
    void look_at_obstacles(double reach, Survey &out) const;
    // Measures the meshes of a pair and adds its rows.
    void measure_pair(std::size_t k, double limit, StepMemory &memory, Survey &out, bool with_rows) const;
    void witness_rows(std::size_t k, const StepMemory &memory, Survey &out) const;
    void measure_obstacle(int place, int obstacle, double limit, Survey &out) const;
    double own_way(std::size_t pair, std::span<const double> ways) const;
    void pair_row(std::size_t pair, const PosedBodies &at, Vec3 a, Vec3 b, Vec3 normal, double *row) const;
    struct WayToRest;
    Verdict prove(const WayToRest &asked, Survey &at, StepMemory &memory) const;
    // Whether it keeps clear of the obstacles that move; says in `out` of whom not. `link_ways` are those of LinkWays.
    bool moving_clear(const WayToRest &asked, const Survey &at, std::span<const double> link_ways, const StepMemory &memory, Verdict &out) const;
    // Whom the robot must make way for: an obstacle that comes to where it is, or, once it makes way, to where it is wanted.
    std::optional<Culprit> threat(const Tick &tick, std::span<const double> wanted, const StepMemory &memory) const;
    const MovingScenes &moving_scenes(std::span<const double> drift, StepMemory &memory) const;
    // Who reaches a robot that stands still, within seconds from now.
    std::optional<Culprit> reached(std::span<const double> cfg, std::span<const double> drift, double begin, double until, double margin) const;
    // The linear part of the objective of a tick that makes way; empty where no way is known.
    std::vector<double> towards_refuge(const Tick &tick, Culprit who, StepMemory &memory, ProofRequest::Clock::time_point until) const;
    bool way_out(const Tick &tick, std::span<const double> end, const MovingScenes &scenes, ProofRequest::Clock::time_point until) const;
    // Whether a short motion, control points (2, dof), keeps clear of the obstacles as they are half-way through it.
    bool passes(const MovingScenes &scenes, std::span<const double> control, std::span<const double> drift, double begin, double until, double margin) const;
    // Whether a robot that stands still at `cfg` keeps clear for `until` seconds, at sampled moments. A refuge that passed before is
    // checked at a few of them, others for each value of `again`. When time runs out, a new refuge fails and a known one passes.
    bool passes_at_rest(const MovingScenes &scenes, std::span<const double> cfg, const Tick &tick, double until, ProofRequest::Clock::time_point enough,
                        std::optional<unsigned> again = {}) const;
    bool contacts_no_deeper(std::span<const double> cfg, std::span<const double> end, const Survey &at, Culprit &who) const;
    Box box(const Tick &tick, std::span<const double> brake, bool least) const;
    std::vector<double> brake(const Tick &tick) const;
    double seconds_to_rest(std::span<const double> velocity) const;

    Scene scene_;
    JointLimits limits_;
    StepOptions options_;
    double buffer_ = 0.0, extra_ = 0.0;  // what all shall be apart, and how much of it is above the buffer of the scene
    bool limited_ = false;               // accelerations are
    LinkWays own_;
    std::optional<LinkWays> outside_;
    struct Meeting {
        int body = 0;              // where the branches of a pair meet
        std::size_t a = 0, b = 0;  // joints below it
    };
    std::vector<Meeting> meetings_;
};

}  // namespace elbowroom
