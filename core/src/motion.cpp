#include "elbowroom/motion.hpp"

#include <algorithm>
#include <cmath>

namespace elbowroom {

void RoughReach::add(std::span<const double> link) {
    const auto outdone = [](std::span<const double> one, std::span<const double> by) {
        return std::equal(one.begin(), one.end(), by.begin(), [](double x, double y) { return x <= y; });
    };
    if (std::any_of(links_.begin(), links_.end(), [&](const auto &other) { return outdone(link, other); })) return;
    std::erase_if(links_, [&](const auto &other) { return outdone(other, link); });
    links_.emplace_back(link.begin(), link.end());
}

RoughReach RoughReach::of(std::span<const int> joints) const {
    RoughReach out;
    std::vector<double> part(joints.size());
    for (const std::vector<double> &link : links_) {
        for (std::size_t k = 0; k < joints.size(); k++) part[k] = link[static_cast<std::size_t>(joints[k])];
        out.add(part);
    }
    return out;
}

void PartOfPiece::at(const Motion &motion, std::size_t piece, double t, double half) {
    const std::size_t dof = motion.dof, degree = motion.points - 1;
    const double *points = motion.piece(piece), *slack = motion.slack_of(piece);
    middle.resize(dof), width.resize(dof), size.resize(dof);
    along = beside = 0.0;
    const auto point = [&](std::size_t k, std::size_t d) { return points[std::min(k, degree) * dof + d]; };
    for (std::size_t d = 0; d < dof; d++) {
        if (degree == 1) {
            const double step = points[dof + d] - points[d];
            middle[d] = points[d] + t * step;
            width[d] = std::fabs(step) * half;
        } else if (degree == 2) {
            const double c0 = point(0, d), c1 = point(1, d), c2 = point(2, d), a0 = c0 + t * (c1 - c0), a1 = c1 + t * (c2 - c1);
            middle[d] = a0 + t * (a1 - a0);
            // With s from the middle it is m + v s + w s^2; its control points over the part are m - v h + w h^2, m - w h^2, ...
            const double v = std::fabs(2.0 * (a1 - a0)) * half, w = std::fabs(c2 - 2.0 * c1 + c0) * half * half;
            width[d] = v + w;
        } else {
            const double c0 = point(0, d), c1 = point(1, d), c2 = point(2, d), c3 = point(3, d);
            const double a0 = c0 + t * (c1 - c0), a1 = c1 + t * (c2 - c1), a2 = c2 + t * (c3 - c2);
            const double b0 = a0 + t * (a1 - a0), b1 = a1 + t * (a2 - a1);
            middle[d] = b0 + t * (b1 - b0);
            // With s from the middle it is m + v s + w s^2 + z s^3; these are its control points over the part, less m.
            const double v = 3.0 * (b1 - b0) * half, w = 3.0 * (a2 - 2.0 * a1 + a0) * half * half;
            const double z = (c3 - 3.0 * (c2 - c1) - c0) * half * half * half;
            const double ends = std::fabs(w) + std::fabs(v + z), inner = std::fabs(w) / 3.0 + std::fabs(v / 3.0 - z);
            width[d] = std::max(ends, inner);
        }
        along += width[d], beside += slack[d];
        width[d] += slack[d];
        size[d] = std::fabs(middle[d]) + width[d];
    }
}

}  // namespace elbowroom
