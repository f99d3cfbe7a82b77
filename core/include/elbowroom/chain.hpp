// The joints between two links: where they are, and how far they can move a point.
//
// How two links move relative to each other depends only on the joints on the path between them; coupled joints follow
// their drivers by a polynomial, so the variables are actuated joints. Everything is in the frame of the body where the two
// branches meet, in float64.
//
// The motion bound. When joint values stay within h of a centre, a point of one link moves relative to a fixed body of the
// path by at most the sum over its joints, from the link inwards, of 2 sin(h / 2) (d + m): h the joint's half-width, d the
// point's distance from the joint's axis at the centre, and m how far the joints before have moved it. (A rotation by an
// angle up to h moves a point at distance r along a chord of at most 2 r sin(h / 2); moving joints one after the other,
// outermost first, keeps the inner axes in place.) A slide adds h.
#pragma once

#include <span>
#include <vector>

#include "elbowroom/geometry.hpp"

namespace elbowroom {

struct ChainJoint {
    bool turns = true;        // about its z axis; otherwise it slides along it
    Pose in_previous;         // for value 0, in the joint before; the first of either branch in the body where they meet
    std::vector<double> law;  // its value as a polynomial of its variable, constant term first
    int variable = 0;
    double slope = 1.0;       // bound on the law's derivative within the limits

    double value(double x) const {
        double out = 0.0;
        for (std::size_t k = law.size(); k-- > 0;) out = out * x + law[k];
        return out;
    }
    // What it adds to the motion of a point, per metre of distance from the axis when it turns, when its value stays within
    // `half` of a centre.
    double chord(double half) const;
};

// Where the joints are after their motion, and the bodies at the two ends.
struct ChainPoses {
    std::vector<Pose> joints;
    Pose end_a, end_b;
};

class Chain {
  public:
    // `n_a` joints from the meeting body down to link a come first, then those down to link b.
    Chain(std::vector<ChainJoint> joints, int n_a, int n_variables);

    std::span<const ChainJoint> joints() const { return joints_; }
    int n_variables() const { return n_variables_; }
    int n_a() const { return n_a_; }  // joints of the branch down to a: the first ones

    void place(std::span<const double> values, ChainPoses &out) const;

    // Joints that move link a, and link b, relative to the body after `side` joints on the path from a; outermost first.
    std::vector<int> moving_a(int side) const;
    std::vector<int> moving_b(int side) const;

    // The side that makes both links move least, on average over the limits: any is right, a good one makes proofs short.
    // The points stand for the links, in the bodies at the ends.
    int best_side(std::span<const double> lower, std::span<const double> upper, Vec3 point_a, Vec3 point_b) const;

  private:
    std::vector<int> path() const;  // from a to b

    std::vector<ChainJoint> joints_;
    int n_a_, n_variables_;
};

inline Vec3 axis_of(const Pose &joint) { return {joint.r[2], joint.r[5], joint.r[8]}; }

inline double axis_distance(const Pose &joint, Vec3 point) { return norm(cross(point - joint.translation(), axis_of(joint))); }

// How far any point of a ball may move by `moving` joints. `chords` are those of the half-widths; `share(joint, metres)` is told
// what each joint adds.
template <class Share>
double movement(const Chain &chain, const ChainPoses &poses, std::span<const double> chords, std::span<const int> moving,
                Vec3 center, double radius, Share share) {
    double total = 0.0;
    for (int joint : moving) {
        const std::size_t k = static_cast<std::size_t>(joint);
        double part = chords[k];
        if (chain.joints()[k].turns) part *= axis_distance(poses.joints[k], center) + radius + total;
        share(k, part);
        total += part;
    }
    return total;
}

// The same of a point.
template <class Share>
double movement(const Chain &chain, const ChainPoses &poses, std::span<const double> chords, std::span<const int> moving,
                Vec3 point, Share share) {
    return movement(chain, poses, chords, moving, point, 0.0, share);
}

}  // namespace elbowroom
