#include "elbowroom/balls.hpp"

#include <algorithm>
#include <limits>

namespace elbowroom {
namespace {

constexpr int STEPS = 100;               // of the iteration: within a few percent of the smallest ball
constexpr double ROUND_UP = 1.0 + 1e-9;  // more than float64 loses on the way

int groups_for(std::size_t balls) { return balls <= 3 ? 1 : balls <= 8 ? 2 : balls <= 15 ? 3 : 4; }

Vec3 mean(std::span<const Ball> balls) {
    Vec3 sum;
    for (const Ball &ball : balls) sum = sum + ball.center;
    return (1.0 / static_cast<double>(balls.size())) * sum;
}

// Direction in which the centres spread most: the first eigenvector of their covariance, by power iteration.
Vec3 longest_direction(std::span<const Ball> balls) {
    const Vec3 middle = mean(balls);
    double xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0;
    for (const Ball &ball : balls) {
        const Vec3 d = ball.center - middle;
        xx += d.x * d.x, yy += d.y * d.y, zz += d.z * d.z;
        xy += d.x * d.y, xz += d.x * d.z, yz += d.y * d.z;
    }
    const Vec3 columns[3] = {{xx, xy, xz}, {xy, yy, yz}, {xz, yz, zz}};
    Vec3 v = xx >= yy && xx >= zz ? columns[0] : yy >= zz ? columns[1] : columns[2];
    for (int k = 0; k < 100; k++) {
        const double length = norm(v);
        if (!(length > 0.0)) return {1, 0, 0};
        v = (1.0 / length) * v;
        v = v.x * columns[0] + v.y * columns[1] + v.z * columns[2];
    }
    return v;
}

struct Cluster {
    double radius;  // of the ball around it; minus infinity for a single ball, which cannot be halved
    std::vector<int> members;
};

Cluster cluster_of(std::span<const Ball> balls, std::vector<int> members) {
    std::vector<Ball> mine;
    for (int k : members) mine.push_back(balls[static_cast<std::size_t>(k)]);
    const double radius = members.size() > 1 ? enclosing_ball(mine).radius : -std::numeric_limits<double>::infinity();
    return {radius, std::move(members)};
}

}  // namespace

Ball enclosing_ball(std::span<const Ball> balls) {
    if (balls.size() == 1) return balls[0];
    Ball best{{}, std::numeric_limits<double>::infinity()};
    Vec3 center = mean(balls);
    for (int step = 1; step < STEPS; step++) {
        double reach = -1.0;
        const Ball *far = nullptr;
        for (const Ball &ball : balls) {
            const double r = norm(ball.center - center) + ball.radius;
            if (r > reach) reach = r, far = &ball;
        }
        if (far == nullptr) break;  // numbers that are not finite
        if (reach < best.radius) best = {center, reach};
        center = center + (1.0 / (step + 1)) * (far->center - center);
    }
    best.radius *= ROUND_UP;
    return best;
}

std::vector<std::vector<int>> group_balls(std::span<const Ball> balls) {
    std::vector<int> all(balls.size());
    for (std::size_t k = 0; k < all.size(); k++) all[k] = static_cast<int>(k);
    std::vector<Cluster> clusters;
    clusters.push_back({0.0, std::move(all)});
    const std::size_t wanted = static_cast<std::size_t>(groups_for(balls.size()));
    while (clusters.size() < wanted) {
        const auto widest = std::max_element(clusters.begin(), clusters.end(),
                                             [](const Cluster &a, const Cluster &b) { return a.radius < b.radius; });
        std::vector<int> members = std::move(widest->members);
        clusters.erase(widest);
        std::vector<Ball> mine;
        for (int k : members) mine.push_back(balls[static_cast<std::size_t>(k)]);
        const Vec3 axis = longest_direction(mine);
        std::stable_sort(members.begin(), members.end(), [&](int a, int b) {
            return dot(balls[static_cast<std::size_t>(a)].center, axis) < dot(balls[static_cast<std::size_t>(b)].center, axis);
        });
        const auto half = members.begin() + static_cast<std::ptrdiff_t>(members.size() / 2);
        clusters.push_back(cluster_of(balls, {members.begin(), half}));
        clusters.push_back(cluster_of(balls, {half, members.end()}));
    }
    std::vector<std::vector<int>> out;
    for (Cluster &cluster : clusters) out.push_back(std::move(cluster.members));
    return out;
}

}  // namespace elbowroom
