// Balls that hold other balls: the bounding volumes of links and of groups of their spheres.
//
// `enclosing_ball` is Badoiu and Clarkson's iteration ("Smaller core-sets for balls", 2003): walk from the mean towards the
// farthest ball by ever shorter steps and keep the best centre seen. `group_balls` halves the widest group across its
// longest direction until there are enough groups; links of few spheres gain nothing from many.
#pragma once

#include <span>
#include <vector>

#include "elbowroom/geometry.hpp"

namespace elbowroom {

struct Ball {
    Vec3 center;
    double radius = 0.0;
};

// A ball that holds all given ones, at least one, near the smallest.
Ball enclosing_ball(std::span<const Ball> balls);

// Groups of neighbouring balls, as positions in `balls`, none of them empty: up to four.
std::vector<std::vector<int>> group_balls(std::span<const Ball> balls);

}  // namespace elbowroom
