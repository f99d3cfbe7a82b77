// What a path keeps on its way: a link upright, a point of a link on a plane or in a tube, each within a tolerance.
//
// Configurations are projected by steps along the gradient of what is exceeded most. On a straight line in joint space a link turns by
// no more than its revolute joints together, and a point moves by no more than each joint moves it at its largest distance; so a line
// is shown to keep the tolerance by its middle and that bound, or is halved.
//
// Guaranteed: a line that `keeps` keeps every tolerance in all of its points, to rounding. Does not change once it is made.
#pragma once

#include <span>
#include <vector>

#include "elbowroom/robot.hpp"

namespace elbowroom {

struct Keep {
    enum class Kind { upright = 0, plane = 1, tube = 2 };
    Kind kind = Kind::upright;
    int link = 0;
    Vec3 own;                // unit axis of the link, or a point of it, in its frame
    Vec3 world;              // unit direction that the axis points in, or unit normal of the plane
    double offset = 0.0;     // of the plane along its normal, metres
    double tolerance = 0.0;  // rad or m: angle, distance from the plane, radius of the tube
    std::vector<Vec3> line;  // middle of the tube: straight pieces
};

class Keeps {
  public:
    Keeps(const Robot &robot, std::vector<Keep> all);

    // The largest excess over a tolerance at a configuration, as a share of it; not above zero where all are kept.
    double excess(const double *cfg) const;
    // Whether all tolerances, times `share`, are kept on the straight line between two configurations.
    bool on_line(const double *a, const double *b, double share) const;
    // Moves the joints named, between `low` and `high`, until all tolerances, times `share`, are kept; whether they are.
    bool project(double *cfg, std::span<const int> moving, std::span<const double> low, std::span<const double> high, double share) const;

  private:
    struct Seen {
        double value = 0.0;  // angle or distance
        Vec3 turn, move;     // change of the value with the rotation of the link, and with the place of its frame
    };
    struct Mover {  // a moving joint that carries the link
        int joint = 0;
        bool turns = true;
        double reach = 0.0;  // largest distance of the point, without slides
    };
    Seen look(const Keep &keep, const double *cfg) const;
    // How far a value can change while joints move by up to `width` from a configuration; (moving joints of the robot).
    double change(std::size_t k, std::span<const double> width, std::span<const double> size) const;

    const Robot &robot_;
    std::vector<Keep> all_;
    std::vector<std::vector<Mover>> movers_;
};

}  // namespace elbowroom
