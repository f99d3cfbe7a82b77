#include "elbowroom/link_spheres.hpp"

namespace elbowroom {
namespace {

Ball32 narrowed(const Ball &ball, double more) {
    return {static_cast<float>(ball.center.x), static_cast<float>(ball.center.y), static_cast<float>(ball.center.z),
            rounded_up(ball.radius + more)};
}

}  // namespace

LinkSpheres::LinkSpheres(std::shared_ptr<const Robot> of_robot, std::span<const Ball> spheres, std::span<const int> sphere_links,
                         std::span<const int> used, std::span<const double> largest_values)
    : robot(std::move(of_robot)), bodies(*robot, used), largest(largest_values.begin(), largest_values.end()),
      number(robot->n_links(), -1) {
    for (std::size_t k = 0; k < used.size(); k++) number[static_cast<std::size_t>(used[k])] = static_cast<int>(k);
    std::vector<Ball> tops, middles, leaves;
    std::vector<double> arms(used.size(), 0.0);  // farthest sphere centre from the origin of the body
    for (std::size_t k = 0; k < used.size(); k++) {
        const LinkPlace &place = robot->link_places()[static_cast<std::size_t>(used[k])];
        std::vector<Ball> balls;
        for (std::size_t s = 0; s < spheres.size(); s++)
            if (sphere_links[s] == used[k]) balls.push_back({place.in_body.apply(spheres[s].center), spheres[s].radius});
        for (const Ball &ball : balls) arms[k] = std::max(arms[k], norm(ball.center));
        tops.push_back(enclosing_ball(balls));
        Link link{bodies.place(place.body), static_cast<int>(middles.size()), 0, static_cast<int>(leaves.size()),
                  static_cast<int>(balls.size()), 0, 0};
        for (const std::vector<int> &members : group_balls(balls)) {
            std::vector<Ball> group;
            for (int m : members) group.push_back(balls[static_cast<std::size_t>(m)]);
            groups.push_back({static_cast<int>(leaves.size()), static_cast<int>(group.size())});
            middles.push_back(enclosing_ball(group));
            leaves.insert(leaves.end(), group.begin(), group.end());
            link.groups++;
        }
        links.push_back(link);
    }
    const int n_links = static_cast<int>(used.size()), n_groups = static_cast<int>(middles.size());
    for (Link &link : links) link.first_group += n_links, link.first += n_links + n_groups;
    for (Group &group : groups) group.first += n_links + n_groups;

    // Errors of two points, each with its share of the distance's own rounding.
    const std::vector<BodyPoses::Error> errors = bodies.error_bounds(*robot, largest_values);
    double worst = 0.0, widest = 0.0;
    for (std::size_t k = 0; k < used.size(); k++) {
        const BodyPoses::Error &body = errors[static_cast<std::size_t>(links[k].body)];
        const double rounding = std::sqrt(3.0) * UNIT32 * (4.0 * arms[k] + 2.0 * (body.reach + arms[k]));
        reach = std::max(reach, body.reach + arms[k]);
        worst = std::max(worst, body.shift + body.turn * arms[k] + rounding);
    }
    for (const auto *balls : {&tops, &middles, &leaves})
        for (const Ball &ball : *balls) widest = std::max(widest, ball.radius);
    margin = 1.05 * (2.0 * worst + 12.0 * UNIT32 * 2.0 * widest);
    pad = rounded_up(margin);

    // A computed distance of spheres may be one margin too small and one of balls one too large, so this hides nothing.
    const double more = 2.0 * margin;
    for (const auto *balls : {&tops, &middles, &leaves}) exact.insert(exact.end(), balls->begin(), balls->end());
    for (const Ball &ball : tops) points.push_back(narrowed(ball, more));
    for (const Ball &ball : middles) points.push_back(narrowed(ball, more));
    for (const Ball &ball : leaves) points.push_back(narrowed(ball, 0.0));
    for (Link &link : links) {
        link.column = static_cast<int>(x.size());
        link.columns = (link.count + LANES - 1) / LANES * LANES;
        for (int k = 0; k < link.columns; k++) {
            const Ball32 &sphere = ball(link.first + std::min(k, link.count - 1));
            x.push_back(sphere.x), y.push_back(sphere.y), z.push_back(sphere.z);
            radius.push_back(sphere.radius);
        }
    }
}

}  // namespace elbowroom
