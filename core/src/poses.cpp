#include "elbowroom/poses.hpp"

namespace elbowroom {
namespace {

constexpr double ORTHONORMAL = 1e-5;     // error of R R^T up to which a rotation is repaired
constexpr double EXACT = 1e-14;          // error below which it is left alone
constexpr double MAX_TRANSLATION = 1e9;  // metres; beyond, float64 cannot tell micrometres apart

// Makes the rotation orthonormal; false when it is not nearly a rotation, or something is not finite.
bool finish(Pose &pose) {
    double *r = pose.r;
    Vec3 x{r[0], r[1], r[2]}, y{r[3], r[4], r[5]}, z{r[6], r[7], r[8]};
    const double off[] = {squared(x) - 1.0, squared(y) - 1.0, squared(z) - 1.0, dot(x, y), dot(x, z), dot(y, z)};
    double error = 0.0;
    for (double e : off) {
        if (!(std::fabs(e) < ORTHONORMAL)) return false;
        error = std::max(error, std::fabs(e));
    }
    for (double t : pose.t)
        if (!(std::fabs(t) <= MAX_TRANSLATION)) return false;
    if (dot(cross(x, y), z) < 0.0) return false;
    if (error > EXACT) {
        x = (1.0 / norm(x)) * x;
        y = y - dot(x, y) * x;
        y = (1.0 / norm(y)) * y;
        z = cross(x, y);
        const Vec3 rows[3] = {x, y, z};
        for (int k = 0; k < 9; k++) r[k] = rows[k / 3][k % 3];
    }
    return true;
}

}  // namespace

bool pose_from_matrix(const double *matrix, Pose &out) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) out.r[3 * i + j] = matrix[4 * i + j];
        out.t[i] = matrix[4 * i + 3];
        if (matrix[12 + i] != 0.0) return false;
    }
    return matrix[15] == 1.0 && finish(out);
}

bool pose_from_vector(const double *vector, Pose &out) {
    const double w = vector[0], x = vector[1], y = vector[2], z = vector[3], length = w * w + x * x + y * y + z * z;
    if (!(length > 1e-16 && length < 1e16)) return false;
    const double s = 2.0 / length;
    out = {{1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y), s * (x * y + w * z), 1.0 - s * (x * x + z * z),
            s * (y * z - w * x), s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)},
           {vector[4], vector[5], vector[6]}};
    return finish(out);
}

bool is_rotation(const Pose &pose, double tolerance) {
    const double *r = pose.r;
    const Vec3 x = {r[0], r[3], r[6]}, y = {r[1], r[4], r[7]}, z = {r[2], r[5], r[8]};
    const double off = std::max({std::fabs(dot(x, x) - 1.0), std::fabs(dot(y, y) - 1.0), std::fabs(dot(z, z) - 1.0),
                                 std::fabs(dot(x, y)), std::fabs(dot(y, z)), std::fabs(dot(z, x))});
    return off <= tolerance && dot(cross(x, y), z) > 0.0;
}

}  // namespace elbowroom
