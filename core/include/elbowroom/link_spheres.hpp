// The spheres of a robot's links in place: sixteen configurations in lanes, or one with its spheres in lanes.
//
// Three levels of balls: one around each link, up to four around groups of its spheres, the spheres. Points of a link are placed
// when they are first needed. Whoever asks brings a query that is told which spheres to compare (`ask`).
//
// Guarantees. Placing and comparing is float32; `margin` bounds the error of a computed distance between two spheres, for joint
// values up to `largest`. Balls are enlarged by more than rounding can take, so no level hides what the spheres themselves
// would answer: an answer is the same alone or in a batch.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "elbowroom/balls.hpp"
#include "elbowroom/body_poses.hpp"

namespace elbowroom {

struct LinkPair {
    int a = 0, b = 0;
};

// Configurations (count, dof), row by row.
struct Configurations {
    std::span<const double> values;
    std::size_t count = 0;
};

constexpr int LANES = 8;   // spheres of a link looked at at once in one configuration,
constexpr int WIDE = 16;   // and configurations of a block
constexpr int FEW_SPHERES = 3;  // of a group that cost no more to look at than the ball around them
constexpr float INFINITE32 = std::numeric_limits<float>::infinity();

struct Ball32 {
    float x, y, z, radius;
};

inline float rounded_up(double value) {
    const float near = static_cast<float>(value);
    return near < value ? std::nextafter(near, INFINITE32) : near;
}

template <class Number> Pose32<F32x8> in_all_lanes(const Pose32<Number> &pose) {
    Pose32<F32x8> out;
    for (int k = 0; k < 9; k++) out.r[k] = splat8(pose.r[k]);
    for (int k = 0; k < 3; k++) out.t[k] = splat8(pose.t[k]);
    return out;
}

// Memory of the thread, behind a pointer: compilers look up the address of what is itself thread local again and again.
template <class T> T &scratch() {
    thread_local std::unique_ptr<T> memory;
    if (!memory) memory = std::make_unique<T>();
    return *memory;
}

inline unsigned first_lanes(int count) { return (1u << std::min(count, WIDE)) - 1u; }

inline F32x8 narrowed(const double *values) {
    F32x8 out;
    for (int k = 0; k < LANES; k++) out[k] = static_cast<float>(values[k]);
    return out;
}

// Spheres and balls of the links. `points` holds the balls of the links, of the groups, then the spheres, group by group.
struct LinkSpheres {
    struct Group {
        int first = 0, count = 0;  // spheres
    };
    struct Link {
        int body = 0;
        int first_group = 0, groups = 0;  // points
        int first = 0, count = 0;         // spheres
        int column = 0, columns = 0;      // the same in the columns below
    };
    // `spheres` in the frames of `sphere_links`; `used` are the links to place, ascending, each with some. `largest_values` (one a
    // moving joint) are the joint values up to which the error bound holds.
    LinkSpheres(std::shared_ptr<const Robot> robot, std::span<const Ball> spheres, std::span<const int> sphere_links,
                std::span<const int> used, std::span<const double> largest_values);

    std::shared_ptr<const Robot> robot;
    BodyPoses bodies;
    std::vector<Link> links;
    std::vector<Group> groups;
    std::vector<Ball32> points;
    std::vector<Ball> exact;  // the same in float64, as they were given, in the frames of the bodies
    // Spheres again, in columns: those of a link start at a whole vector, and its last is repeated up to one.
    std::vector<float> x, y, z, radius;
    std::vector<double> largest;
    double margin = 0.0;
    double reach = 0.0;  // largest distance of a point from the root
    float pad = 0.0f;  // the margin in float32

    std::vector<int> number;  // by link of the robot: its place in `links`, -1 if it has none

    const Group &group(int point) const { return groups[static_cast<std::size_t>(point) - links.size()]; }
    const Ball32 &ball(int point) const { return points[static_cast<std::size_t>(point)]; }
    const Link &link(int k) const { return links[static_cast<std::size_t>(k)]; }
    // A pair of links of the robot as places in `links`.
    LinkPair numbered(LinkPair pair) const {
        return {number[static_cast<std::size_t>(pair.a)], number[static_cast<std::size_t>(pair.b)]};
    }
};

// Sixteen configurations, one in each lane.
struct SphereBlock {
    std::vector<double> values;  // (moving, WIDE)
    std::vector<Pose32<F32x16>> poses;
    std::vector<Point32<F32x16>> at;  // points
    std::vector<std::uint8_t> ready; // links whose groups and spheres are placed

    void fit(const LinkSpheres &model) {
        values.resize(model.robot->laws().size() * WIDE);
        poses.resize(model.bodies.size());
        at.resize(model.points.size());
        ready.assign(model.links.size(), 0);
    }
    const Point32<F32x16> &point(int k) const { return at[static_cast<std::size_t>(k)]; }

    // Joint values of the configurations at `rows`. Gives the first lane that is refused, or -1.
    int expand(const LinkSpheres &model, const double *const (&rows)[WIDE]) {
        const Robot &robot = *model.robot;
        unsigned good = (1u << WIDE) - 1u;
        for (int joint : robot.order()) {
            const JointLaw &law = robot.laws()[static_cast<std::size_t>(joint)];
            const int d = law.driver;
            double *out = values.data() + joint * WIDE;
            const double *of = values.data() + d * WIDE;
            const double limit = model.largest[static_cast<std::size_t>(joint)];
            for (int k = 0; k < WIDE; k += 4) {
                const F64x4 value = law.coupled ? law.value(load4(of + k))
                                                : F64x4{rows[k][d], rows[k + 1][d], rows[k + 2][d], rows[k + 3][d]};
                store(out + k, value);
                good &= bits(abs(value) <= limit) << k | ~(0xfu << k);
            }
        }
        const unsigned bad = ~good & first_lanes(WIDE);
        return bad ? std::countr_zero(bad) : -1;
    }

    void turn(int joint, F32x16 &sine, F32x16 &cosine) const {
        const double *angles = values.data() + joint * WIDE;
        sincos(angles, sine.low, cosine.low);
        sincos(angles + LANES, sine.high, cosine.high);
    }
    F32x16 slide(int joint) const {
        const double *lengths = values.data() + joint * WIDE;
        return {narrowed(lengths), narrowed(lengths + LANES)};
    }

    void place(const LinkSpheres &model, const Pose32<F32x16> &pose, int first, int count) {
        for (int k = first; k < first + count; k++) {
            const Ball32 &ball = model.ball(k);
            at[static_cast<std::size_t>(k)] = pose.apply(splat16(ball.x), splat16(ball.y), splat16(ball.z));
        }
    }
    void place_links(const LinkSpheres &model) {
        model.bodies.compute<F32x16>(*this, poses);
        std::fill(ready.begin(), ready.end(), std::uint8_t{0});
        for (std::size_t k = 0; k < model.links.size(); k++)
            place(model, poses[static_cast<std::size_t>(model.links[k].body)], static_cast<int>(k), 1);
    }
    void need(const LinkSpheres &model, int link) {
        if (ready[static_cast<std::size_t>(link)]) return;
        ready[static_cast<std::size_t>(link)] = 1;
        const LinkSpheres::Link &l = model.link(link);
        const Pose32<F32x16> pose = poses[static_cast<std::size_t>(l.body)];
        place(model, pose, l.first_group, l.groups);
        place(model, pose, l.first, l.count);
    }

    // Lanes in which some sphere of the pair comes closer than `pad`.
    struct Touching {
        float pad;
        unsigned wanted, found = 0;

        unsigned near(const Point32<F32x16> &a, const Point32<F32x16> &b, float reach) const {
            const float limit = reach + pad;
            return bits(squared_distance(a, b) < splat16(limit * limit)) & wanted;
        }
        // A sphere against those of a group.
        void row(const LinkSpheres &model, const SphereBlock &block, int sphere, const LinkSpheres::Group &group) {
            const Point32<F32x16> a = block.point(sphere);
            const float radius = model.ball(sphere).radius;
            Mask16 met{};
            for (int k = group.first; k < group.first + group.count; k++) {
                const float limit = (radius + model.ball(k).radius) + pad;
                met |= squared_distance(a, block.point(k)) < splat16(limit * limit);
            }
            const unsigned mask = bits(met) & wanted;
            found |= mask;
            wanted &= ~mask;
        }
        bool settled() const { return wanted == 0; }
    };

    // Smallest distance between spheres of the pair, unless that in `best` is smaller. ACROSS pairs, `best` is seldom improved
    // and a look whether it is saves the square root; for each pair alone the look costs more.
    template <bool ACROSS> struct Closest {
        F32x16 best = splat16(INFINITE32);
        float slack;  // more than rounding can take: what it hides is not closer

        unsigned near(const Point32<F32x16> &a, const Point32<F32x16> &b, float reach) const {
            const F32x16 limit = max(best + (reach + slack), F32x16{});
            return bits(squared_distance(a, b) < limit * limit);
        }
        void row(const LinkSpheres &model, const SphereBlock &block, int sphere, const LinkSpheres::Group &group) {
            const Point32<F32x16> a = block.point(sphere);
            const float radius = model.ball(sphere).radius;
            for (int k = group.first; k < group.first + group.count; k++) {
                const float reach = radius + model.ball(k).radius;
                if (ACROSS && !near(a, block.point(k), reach)) continue;
                best = min(sqrt(squared_distance(a, block.point(k))) - reach, best);
            }
        }
        bool settled() const { return false; }
    };

    template <class Query> void ask(const LinkSpheres &model, LinkPair pair, Query &query) {
        if (!query.near(point(pair.a), point(pair.b), model.ball(pair.a).radius + model.ball(pair.b).radius)) return;
        need(model, pair.a);
        need(model, pair.b);
        const LinkSpheres::Link &a = model.link(pair.a), &b = model.link(pair.b);
        const float radius_b = model.ball(pair.b).radius;
        for (int ga = a.first_group; ga < a.first_group + a.groups; ga++) {
            const float radius = model.ball(ga).radius;
            if (b.groups > 1 && !query.near(point(ga), point(pair.b), radius + radius_b)) continue;
            const LinkSpheres::Group &mine = model.group(ga);
            for (int gb = b.first_group; gb < b.first_group + b.groups; gb++) {
                const float other = model.ball(gb).radius;
                if (!query.near(point(ga), point(gb), radius + other)) continue;
                const LinkSpheres::Group &yours = model.group(gb);
                for (int s = mine.first; s < mine.first + mine.count; s++) {
                    if (yours.count > FEW_SPHERES && !query.near(point(s), point(gb), model.ball(s).radius + other)) continue;
                    query.row(model, *this, s, yours);
                    if (query.settled()) return;
                }
            }
        }
    }
};

// One configuration, with spheres of a link in lanes.
struct SphereRow {
    std::vector<double> values;  // of the moving joints, with room for one vector more
    std::vector<float> sine, cosine;
    std::vector<Pose32<float>> poses;
    std::vector<Point32<float>> balls;  // of the links
    std::vector<float> x, y, z;         // spheres, as in the columns of the model
    std::vector<std::uint8_t> ready;

    void fit(const LinkSpheres &model) {
        const std::size_t joints = (model.robot->laws().size() + LANES - 1) / LANES * LANES;
        values.resize(joints);
        sine.resize(joints), cosine.resize(joints);
        poses.resize(model.bodies.size());
        balls.resize(model.links.size());
        for (auto *column : {&x, &y, &z}) column->resize(model.x.size());
        ready.resize(model.links.size());
    }
    Point32<F32x8> points(int first) const {
        const std::size_t k = static_cast<std::size_t>(first);
        return {load8(&x[k]), load8(&y[k]), load8(&z[k])};
    }
    Point32<F32x8> everywhere(int sphere) const {
        const std::size_t k = static_cast<std::size_t>(sphere);
        return {splat8(x[k]), splat8(y[k]), splat8(z[k])};
    }

    bool expand(const LinkSpheres &model, const double *cfg) {
        const Robot &robot = *model.robot;
        bool good = true;
        for (int joint : robot.order()) {
            const std::size_t k = static_cast<std::size_t>(joint);
            const JointLaw &law = robot.laws()[k];
            const std::size_t driver = static_cast<std::size_t>(law.driver);
            values[k] = law.coupled ? law.value(values[driver]) : cfg[driver];
            good &= std::fabs(values[k]) <= model.largest[k];
        }
        return good;
    }
    void turn(int joint, float &s, float &c) const {
        s = sine[static_cast<std::size_t>(joint)], c = cosine[static_cast<std::size_t>(joint)];
    }
    float slide(int joint) const { return static_cast<float>(values[static_cast<std::size_t>(joint)]); }

    void place_links(const LinkSpheres &model) {
        for (std::size_t k = 0; k < values.size(); k += LANES) {
            F32x8 s, c;
            sincos(&values[k], s, c);
            store(&sine[k], s), store(&cosine[k], c);
        }
        model.bodies.compute<float>(*this, poses);
        std::fill(ready.begin(), ready.end(), std::uint8_t{0});
        for (std::size_t k = 0; k < model.links.size(); k++) {
            const Ball32 &ball = model.points[k];
            balls[k] = poses[static_cast<std::size_t>(model.links[k].body)].apply(ball.x, ball.y, ball.z);
        }
    }
    void need(const LinkSpheres &model, int link) {
        if (ready[static_cast<std::size_t>(link)]) return;
        ready[static_cast<std::size_t>(link)] = 1;
        const LinkSpheres::Link &l = model.link(link);
        const Pose32<F32x8> pose = in_all_lanes(poses[static_cast<std::size_t>(l.body)]);
        for (int k = l.column; k < l.column + l.columns; k += LANES) {
            const std::size_t i = static_cast<std::size_t>(k);
            const Point32<F32x8> p = pose.apply(load8(&model.x[i]), load8(&model.y[i]), load8(&model.z[i]));
            store(&x[i], p.x), store(&y[i], p.y), store(&z[i], p.z);
        }
    }

    struct Touching {
        float pad;
        bool found = false;

        template <class Number> Number limit(Number reach) const { return reach + pad; }
        // A sphere against eight others, numbers of columns.
        void row(const LinkSpheres &model, const SphereRow &one, int sphere, int others) {
            const F32x8 radii = load8(&model.radius[static_cast<std::size_t>(others)]);
            const F32x8 reach = (radii + model.radius[static_cast<std::size_t>(sphere)]) + pad;
            if (bits(squared_distance(one.everywhere(sphere), one.points(others)) < reach * reach)) found = true;
        }
        bool settled() const { return found; }
    };
    struct Closest {
        float best = INFINITE32;
        float slack;

        float limit(float reach) const { return std::max(best + (reach + slack), 0.0f); }
        F32x8 limit(F32x8 reach) const { return max(best + (reach + slack), F32x8{}); }
        void row(const LinkSpheres &model, const SphereRow &one, int sphere, int others) {
            const F32x8 radii = load8(&model.radius[static_cast<std::size_t>(others)]);
            const F32x8 reach = radii + model.radius[static_cast<std::size_t>(sphere)], far = limit(reach);
            const F32x8 squared = squared_distance(one.everywhere(sphere), one.points(others));
            unsigned near = bits(squared < far * far);
            if (!near) return;
            const F32x8 distance = sqrt(squared) - reach;
            for (; near; near &= near - 1) best = std::min(best, distance[std::countr_zero(near)]);
        }
        bool settled() const { return false; }
    };

    template <class Query> void ask(const LinkSpheres &model, LinkPair pair, Query &query) {
        const Point32<float> p = balls[static_cast<std::size_t>(pair.b)];
        const float radius = model.ball(pair.b).radius;
        const float reach = query.limit(model.ball(pair.a).radius + radius);
        if (!(squared_distance(balls[static_cast<std::size_t>(pair.a)], p) < reach * reach)) return;
        need(model, pair.a);
        need(model, pair.b);
        const LinkSpheres::Link &a = model.link(pair.a), &b = model.link(pair.b);
        const Point32<F32x8> middle = {splat8(p.x), splat8(p.y), splat8(p.z)};
        for (int i = a.column; i < a.column + a.columns; i += LANES) {
            const F32x8 far = query.limit(load8(&model.radius[static_cast<std::size_t>(i)]) + radius);
            unsigned near = bits(squared_distance(points(i), middle) < far * far);
            near &= first_lanes(a.column + a.count - i);
            for (; near; near &= near - 1) {
                const int sphere = i + std::countr_zero(near);
                for (int j = b.column; j < b.column + b.columns; j += LANES) {
                    query.row(model, *this, sphere, j);
                    if (query.settled()) return;
                }
            }
        }
    }
};

}  // namespace elbowroom
