// Poses as they come from users: homogeneous matrices, or quaternion and position.
//
// Rotations that are only nearly orthonormal (float32 input) are made so, because the core inverts by transposing.
// What is not clearly a rigid motion is refused, without a reason: Python looks again and says what is wrong.
#pragma once

#include "elbowroom/geometry.hpp"

namespace elbowroom {

// From a matrix (4, 4) by rows; false when it is not a rigid motion to 1e-5, not finite, or beyond 1e9 m.
bool pose_from_matrix(const double *matrix, Pose &out);

// From seven numbers, w x y z of a quaternion of any length and then the position.
bool pose_from_vector(const double *vector, Pose &out);

// Is the rotation of a pose one: axes of length one, at right angles and right-handed to within the tolerance?
bool is_rotation(const Pose &pose, double tolerance);

}  // namespace elbowroom
