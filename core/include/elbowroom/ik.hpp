// Ik: free configurations that meet targets, nearest to a given one first.
//
// Searches start from the entries of a table of free configurations whose links are nearest to the targets, sixteen at a time in
// float32 lanes (Levenberg-Marquardt, src/descent.hpp). What arrives is finished in float64 and judged by `Scene::free`, the
// nearest to the base configuration first. Collision is no cost of the search: among many starts some arrive free. Targets that
// share no joint are parts of their own: two arms on a fixed torso are two small problems, whose answers are combined.
//
// Guarantees. What is called a success meets all targets within the tolerances in float64, has the joints solved for within their
// limits, and is free by the scene's verdict. The answer depends on the question alone: not on threads, nor on what was asked before
// (unless time runs out).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "elbowroom/scene.hpp"
#include "elbowroom/targets.hpp"

namespace elbowroom {

// Configurations from which searches start, with the poses of the targets' links there.
class StartTable {
  public:
    // `cfgs` (n, dof), joints not solved for at the values at which they will be held.
    StartTable(std::shared_ptr<const Targets> targets, std::span<const double> cfgs);

    const Targets &targets() const { return *targets_; }
    std::size_t size() const { return n_; }
    double joint(std::size_t variable, std::size_t entry) const { return static_cast<double>(row(variable)[entry]); }

    // Squared residuals of all entries, angles by chords; when seeded, with a small weight on the squared distance to the joints of
    // `base` (dof,), whole turns of `endless` joints (solved,) left out.
    void scores(std::span<const double> values, std::span<const double> base, bool seeded, const std::vector<bool> &endless,
                std::vector<float> &out) const;
    // The `count` entries of the smallest scores after the entry `last` (-1: from the first), ties by number, ascending.
    static void pick(std::span<const float> scores, int last, std::size_t count, std::vector<int> &out);
    std::vector<int> nearest(std::span<const double> values, std::span<const double> base, bool seeded, std::size_t count) const;

  private:
    const float *row(std::size_t k) const { return rows_.data() + k * n_; }

    std::shared_ptr<const Targets> targets_;
    std::size_t n_ = 0;
    std::vector<float> rows_;  // the joints solved for, then seven of each target's link: (rows, n)
};

// Of the joints that a search moves.
struct JointBounds {
    std::vector<double> low, high;  // infinite for endless joints
    std::vector<bool> endless;      // whole turns do not count
};

struct IkSettings {
    double position_tolerance = 1e-4, orientation_tolerance = 1e-3;  // metres, radians
    int starts = 128, iterations = 30;
    double timeout = 1.0;  // seconds
    std::size_t count = 1;  // answers wanted that differ
};

struct IkQuestion {
    std::span<const double> values;  // of the targets, in world coordinates
    std::span<const double> base;    // (dof,) held joints, and what answers should be near
    bool seeded = false;             // whether a search starts from the base
};

struct IkAnswer {
    std::vector<double> cfgs;        // (n, dof): the answers, nearest first; or one, the best that was found
    std::vector<double> off, turn;   // errors of the first
    bool success = false;
    bool met = false;                // whether all searches of the first arrived
    bool free = true;                // the verdict on the first; true without a scene
    bool timed_out = false;
    int candidates = 0, starts = 0, iterations = 0;
    int refused = 0;                 // combinations judged before it that are not free
};

class Ik {
  public:
    struct Part {
        std::shared_ptr<const Targets> targets;
        std::vector<int> positions;  // of its targets among all
    };
    // Limits of all actuated joints, and which of them turn without end.
    struct Limits {
        std::vector<double> lower, upper;
        std::vector<bool> endless;
    };

    Ik(std::shared_ptr<const Targets> whole, std::vector<Part> parts, Limits limits);

    const Targets &whole() const { return *whole_; }
    std::span<const Part> parts() const { return parts_; }

    // Without a scene everything counts as free. One table a part.
    IkAnswer solve(const Scene *scene, std::span<const StartTable *const> tables, const IkQuestion &question, const IkSettings &settings) const;

    // The nearest configuration to `cfg` (dof,) that meets the targets, by one search in float64; false when it does not arrive.
    bool descend(std::span<const double> values, std::span<double> cfg, const IkSettings &settings) const;

  private:
    // Of the joints of a part.
    struct PartBounds : JointBounds {
        std::vector<double> weights;  // one over the range, so that a full turn of a wrist and of a shoulder count alike
    };
    class Search;

    // Finishes one part in float64 from `row`, the joints solved for. Does it meet the targets?
    bool finish(std::size_t part, std::span<const double> values_in_root, std::span<const double> base, std::span<double> row,
                const IkSettings &settings) const;

    std::shared_ptr<const Targets> whole_;
    std::vector<Part> parts_;
    Limits limits_;
    std::vector<PartBounds> bounds_;
};

}  // namespace elbowroom
