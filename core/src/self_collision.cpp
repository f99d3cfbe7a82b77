#include "elbowroom/self_collision.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace elbowroom {
namespace {

constexpr int LANES = 8;   // spheres of a link looked at at once in one configuration,
constexpr int WIDE = 16;   // and configurations of a block
constexpr int FEW = 2;  // rows left over that are cheaper one by one than as a block
constexpr int FEW_SPHERES = 3;  // of a group that cost no more to look at than the ball around them
constexpr int FEW_ALIVE = WIDE / 4;         // lanes of a block not known to collide that are put aside,
constexpr std::size_t MANY_PAIRS = 16;      // when more pairs are left: placing them again costs about as much
constexpr float INFINITE = std::numeric_limits<float>::infinity();

struct Ball32 {
    float x, y, z, radius;
};

// A configuration, and the first pair that it has not been looked at with.
struct Survivor {
    std::size_t row = 0, pair = 0;
};

float rounded_up(double value) {
    const float near = static_cast<float>(value);
    return near < value ? std::nextafter(near, INFINITE) : near;
}

Ball32 narrowed(const Ball &ball, double more) {
    return {static_cast<float>(ball.center.x), static_cast<float>(ball.center.y), static_cast<float>(ball.center.z),
            rounded_up(ball.radius + more)};
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

F32x8 narrowed(const double *values) {
    F32x8 out;
    for (int k = 0; k < LANES; k++) out[k] = static_cast<float>(values[k]);
    return out;
}

}  // namespace

// Spheres and balls of the links. `points` holds the balls of the links, of the groups, then the spheres, group by group.
struct SelfCollision::Model {
    struct Group {
        int first = 0, count = 0;  // spheres
    };
    struct Link {
        int body = 0;
        int first_group = 0, groups = 0;  // points
        int first = 0, count = 0;         // spheres
        int column = 0, columns = 0;      // the same in the columns below
    };
    const Robot *robot = nullptr;
    BodyPoses bodies;
    std::vector<Link> links;
    std::vector<Group> groups;
    std::vector<Ball32> points;
    // Spheres again, in columns: those of a link start at a whole vector, and its last is repeated up to one.
    std::vector<float> x, y, z, radius;
    std::vector<double> largest;
    double margin = 0.0;
    float pad = 0.0f;  // the margin in float32

    const Group &group(int point) const { return groups[static_cast<std::size_t>(point) - links.size()]; }
    const Ball32 &ball(int point) const { return points[static_cast<std::size_t>(point)]; }
    const Link &link(int k) const { return links[static_cast<std::size_t>(k)]; }
};

// Sixteen configurations, one in each lane.
struct SelfCollision::Block {
    std::vector<double> values;  // (moving, WIDE)
    std::vector<Pose32<F32x16>> poses;
    std::vector<Point32<F32x16>> at;  // points
    std::vector<std::uint8_t> ready; // links whose groups and spheres are placed

    void fit(const Model &model) {
        values.resize(model.robot->laws().size() * WIDE);
        poses.resize(model.bodies.size());
        at.resize(model.points.size());
        ready.assign(model.links.size(), 0);
    }
    const Point32<F32x16> &point(int k) const { return at[static_cast<std::size_t>(k)]; }

    // Joint values of the configurations at `rows`. Gives the first lane that is refused, or -1.
    int expand(const Model &model, const double *const (&rows)[WIDE]) {
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

    void place(const Model &model, const Pose32<F32x16> &pose, int first, int count) {
        for (int k = first; k < first + count; k++) {
            const Ball32 &ball = model.ball(k);
            at[static_cast<std::size_t>(k)] = pose.apply(splat16(ball.x), splat16(ball.y), splat16(ball.z));
        }
    }
    void place_links(const Model &model) {
        model.bodies.compute<F32x16>(*this, poses);
        std::fill(ready.begin(), ready.end(), std::uint8_t{0});
        for (std::size_t k = 0; k < model.links.size(); k++)
            place(model, poses[static_cast<std::size_t>(model.links[k].body)], static_cast<int>(k), 1);
    }
    void need(const Model &model, int link) {
        if (ready[static_cast<std::size_t>(link)]) return;
        ready[static_cast<std::size_t>(link)] = 1;
        const Model::Link &l = model.link(link);
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
        void row(const Model &model, const Block &block, int sphere, const Model::Group &group) {
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
        F32x16 best = splat16(INFINITE);
        float slack;  // more than rounding can take: what it hides is not closer

        unsigned near(const Point32<F32x16> &a, const Point32<F32x16> &b, float reach) const {
            const F32x16 limit = max(best + (reach + slack), F32x16{});
            return bits(squared_distance(a, b) < limit * limit);
        }
        void row(const Model &model, const Block &block, int sphere, const Model::Group &group) {
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

    template <class Query> void ask(const Model &model, LinkPair pair, Query &query) {
        if (!query.near(point(pair.a), point(pair.b), model.ball(pair.a).radius + model.ball(pair.b).radius)) return;
        need(model, pair.a);
        need(model, pair.b);
        const Model::Link &a = model.link(pair.a), &b = model.link(pair.b);
        const float radius_b = model.ball(pair.b).radius;
        for (int ga = a.first_group; ga < a.first_group + a.groups; ga++) {
            const float radius = model.ball(ga).radius;
            if (b.groups > 1 && !query.near(point(ga), point(pair.b), radius + radius_b)) continue;
            const Model::Group &mine = model.group(ga);
            for (int gb = b.first_group; gb < b.first_group + b.groups; gb++) {
                const float other = model.ball(gb).radius;
                if (!query.near(point(ga), point(gb), radius + other)) continue;
                const Model::Group &yours = model.group(gb);
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
struct SelfCollision::One {
    std::vector<double> values;  // of the moving joints, with room for one vector more
    std::vector<float> sine, cosine;
    std::vector<Pose32<float>> poses;
    std::vector<Point32<float>> balls;  // of the links
    std::vector<float> x, y, z;         // spheres, as in the columns of the model
    std::vector<std::uint8_t> ready;

    void fit(const Model &model) {
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

    bool expand(const Model &model, const double *cfg) {
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

    void place_links(const Model &model) {
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
    void need(const Model &model, int link) {
        if (ready[static_cast<std::size_t>(link)]) return;
        ready[static_cast<std::size_t>(link)] = 1;
        const Model::Link &l = model.link(link);
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
        void row(const Model &model, const One &one, int sphere, int others) {
            const F32x8 radii = load8(&model.radius[static_cast<std::size_t>(others)]);
            const F32x8 reach = (radii + model.radius[static_cast<std::size_t>(sphere)]) + pad;
            if (bits(squared_distance(one.everywhere(sphere), one.points(others)) < reach * reach)) found = true;
        }
        bool settled() const { return found; }
    };
    struct Closest {
        float best = INFINITE;
        float slack;

        float limit(float reach) const { return std::max(best + (reach + slack), 0.0f); }
        F32x8 limit(F32x8 reach) const { return max(best + (reach + slack), F32x8{}); }
        void row(const Model &model, const One &one, int sphere, int others) {
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

    template <class Query> void ask(const Model &model, LinkPair pair, Query &query) {
        const Point32<float> p = balls[static_cast<std::size_t>(pair.b)];
        const float radius = model.ball(pair.b).radius;
        const float reach = query.limit(model.ball(pair.a).radius + radius);
        if (!(squared_distance(balls[static_cast<std::size_t>(pair.a)], p) < reach * reach)) return;
        need(model, pair.a);
        need(model, pair.b);
        const Model::Link &a = model.link(pair.a), &b = model.link(pair.b);
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

SelfCollision::SelfCollision(const Robot &robot, std::span<const Ball> spheres, std::span<const int> sphere_links,
                             std::span<const LinkPair> pairs, std::span<const double> largest_values) {
    auto model = std::make_shared<Model>();
    model->robot = &robot;
    model->largest.assign(largest_values.begin(), largest_values.end());
    std::vector<int> used;
    for (const LinkPair &pair : pairs) used.push_back(pair.a), used.push_back(pair.b);
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    model->bodies = BodyPoses(robot, used);
    std::vector<int> number(robot.n_links(), -1);
    for (std::size_t k = 0; k < used.size(); k++) number[static_cast<std::size_t>(used[k])] = static_cast<int>(k);
    for (const LinkPair &pair : pairs)
        pairs_.push_back({number[static_cast<std::size_t>(pair.a)], number[static_cast<std::size_t>(pair.b)]});

    std::vector<Ball> tops, middles, leaves;
    std::vector<double> arms(used.size(), 0.0);  // farthest sphere centre from the origin of the body
    for (std::size_t k = 0; k < used.size(); k++) {
        const LinkPlace &place = robot.link_places()[static_cast<std::size_t>(used[k])];
        std::vector<Ball> balls;
        for (std::size_t s = 0; s < spheres.size(); s++)
            if (sphere_links[s] == used[k]) balls.push_back({place.in_body.apply(spheres[s].center), spheres[s].radius});
        for (const Ball &ball : balls) arms[k] = std::max(arms[k], norm(ball.center));
        tops.push_back(enclosing_ball(balls));
        Model::Link link{model->bodies.place(place.body), static_cast<int>(middles.size()), 0, static_cast<int>(leaves.size()),
                         static_cast<int>(balls.size()), 0, 0};
        for (const std::vector<int> &members : group_balls(balls)) {
            std::vector<Ball> group;
            for (int m : members) group.push_back(balls[static_cast<std::size_t>(m)]);
            model->groups.push_back({static_cast<int>(leaves.size()), static_cast<int>(group.size())});
            middles.push_back(enclosing_ball(group));
            leaves.insert(leaves.end(), group.begin(), group.end());
            link.groups++;
        }
        model->links.push_back(link);
    }
    const int n_links = static_cast<int>(used.size()), n_groups = static_cast<int>(middles.size());
    for (Model::Link &link : model->links) link.first_group += n_links, link.first += n_links + n_groups;
    for (Model::Group &group : model->groups) group.first += n_links + n_groups;

    // Errors of two points, each with its share of the distance's own rounding.
    const std::vector<BodyPoses::Error> errors = model->bodies.error_bounds(robot, largest_values);
    double worst = 0.0, widest = 0.0;
    for (std::size_t k = 0; k < used.size(); k++) {
        const BodyPoses::Error &body = errors[static_cast<std::size_t>(model->links[k].body)];
        const double rounding = std::sqrt(3.0) * UNIT32 * (4.0 * arms[k] + 2.0 * (body.reach + arms[k]));
        worst = std::max(worst, body.shift + body.turn * arms[k] + rounding);
    }
    for (const auto *balls : {&tops, &middles, &leaves})
        for (const Ball &ball : *balls) widest = std::max(widest, ball.radius);
    model->margin = 1.05 * (2.0 * worst + 12.0 * UNIT32 * 2.0 * widest);
    model->pad = rounded_up(model->margin);

    // A computed distance of spheres may be one margin too small and one of balls one too large, so this hides nothing.
    const double more = 2.0 * model->margin;
    for (const Ball &ball : tops) model->points.push_back(narrowed(ball, more));
    for (const Ball &ball : middles) model->points.push_back(narrowed(ball, more));
    for (const Ball &ball : leaves) model->points.push_back(narrowed(ball, 0.0));
    for (Model::Link &link : model->links) {
        link.column = static_cast<int>(model->x.size());
        link.columns = (link.count + LANES - 1) / LANES * LANES;
        for (int k = 0; k < link.columns; k++) {
            const Ball32 &ball = model->ball(link.first + std::min(k, link.count - 1));
            model->x.push_back(ball.x), model->y.push_back(ball.y), model->z.push_back(ball.z);
            model->radius.push_back(ball.radius);
        }
    }
    model_ = std::move(model);
}

SelfCollision SelfCollision::reordered(std::span<const int> order) const {
    SelfCollision out = *this;
    for (std::size_t k = 0; k < order.size(); k++) out.pairs_[k] = pairs_[static_cast<std::size_t>(order[k])];
    return out;
}

const Robot &SelfCollision::robot() const { return *model_->robot; }

double SelfCollision::margin() const { return model_->margin; }

// Calls `in_block(block, first row, rows)` or `in_one(one, row)` for all configurations, links placed.
template <class InBlock, class InOne>
std::int64_t SelfCollision::each(const Configurations &cfgs, InBlock in_block, InOne in_one) const {
    const Model &model = *model_;
    const std::size_t dof = static_cast<std::size_t>(robot().dof());
    const std::size_t n = cfgs.count;
    std::size_t row = 0;
    if (n > FEW) {
        Block &block = scratch<Block>();
        block.fit(model);
        while (n - row > FEW) {
            const int count = static_cast<int>(std::min<std::size_t>(WIDE, n - row));
            const double *rows[WIDE];  // spare lanes repeat the last row
            for (int k = 0; k < WIDE; k++) rows[k] = cfgs.values.data() + (row + static_cast<std::size_t>(std::min(k, count - 1))) * dof;
            const int bad = block.expand(model, rows);
            if (bad >= 0) return static_cast<std::int64_t>(row) + bad;
            block.place_links(model);
            in_block(block, row, count);
            row += static_cast<std::size_t>(count);
        }
    }
    if (row < n) {
        One &one = scratch<One>();
        one.fit(model);
        for (; row < n; row++) {
            if (!one.expand(model, cfgs.values.data() + row * dof)) return static_cast<std::int64_t>(row);
            one.place_links(model);
            in_one(one, row);
        }
    }
    return -1;
}

std::int64_t SelfCollision::free(const Configurations &cfgs, std::span<bool> out) const {
    const Model &model = *model_;
    const std::size_t dof = static_cast<std::size_t>(robot().dof());
    // Configurations that outlive most of their block are put aside and looked at again in a block of their like: most
    // collide at the first pairs, and the others would take most lanes empty through all pairs.
    std::vector<Survivor> aside;
    const auto look = [&](Block &block, std::span<const Survivor> rows, bool last) {
        unsigned alive = first_lanes(static_cast<int>(rows.size()));
        std::size_t p = rows[0].pair;
        for (const Survivor &row : rows) p = std::min(p, row.pair), out[row.row] = false;
        for (; p < pairs_.size() && alive; p++) {
            Block::Touching query{model.pad, alive};
            block.ask(model, pairs_[p], query);
            alive &= ~query.found;
            if (query.found && !last && std::popcount(alive) <= FEW_ALIVE && pairs_.size() - p > MANY_PAIRS) break;
        }
        for (; alive; alive &= alive - 1) {
            const Survivor &row = rows[static_cast<std::size_t>(std::countr_zero(alive))];
            if (p < pairs_.size())
                aside.push_back({row.row, p + 1});
            else
                out[row.row] = true;
        }
    };
    const auto look_again = [&](Block &block, bool last) {
        while (aside.size() >= WIDE || (last && !aside.empty())) {
            Survivor rows[WIDE];
            const double *values[WIDE];
            const std::size_t count = std::min<std::size_t>(WIDE, aside.size());
            std::copy(aside.end() - static_cast<std::ptrdiff_t>(count), aside.end(), rows);
            aside.resize(aside.size() - count);
            for (std::size_t k = 0; k < WIDE; k++) values[k] = cfgs.values.data() + rows[std::min(k, count - 1)].row * dof;
            block.expand(model, values);
            block.place_links(model);
            look(block, {rows, count}, last);
        }
    };
    const std::int64_t bad = each(
        cfgs,
        [&](Block &block, std::size_t row, int count) {
            Survivor rows[WIDE];
            for (std::size_t k = 0; k < static_cast<std::size_t>(count); k++) rows[k] = {row + k, 0};
            look(block, {rows, static_cast<std::size_t>(count)}, cfgs.count <= WIDE);
            look_again(block, false);
        },
        [&](One &one, std::size_t row) {
            One::Touching query{model.pad};
            for (const LinkPair &pair : pairs_) {
                one.ask(model, pair, query);
                if (query.found) break;
            }
            out[row] = !query.found;
        });
    if (bad < 0 && !aside.empty()) look_again(scratch<Block>(), true);
    return bad;
}

std::int64_t SelfCollision::min_distances(const Configurations &cfgs, std::span<float> out) const {
    const Model &model = *model_;
    const float slack = 2.0f * model.pad;
    return each(
        cfgs,
        [&](Block &block, std::size_t row, int count) {
            Block::Closest<true> query{.slack = slack};
            for (const LinkPair &pair : pairs_) block.ask(model, pair, query);
            for (int k = 0; k < count; k++) out[row + static_cast<std::size_t>(k)] = lane(query.best, k);
        },
        [&](One &one, std::size_t row) {
            One::Closest query{.slack = slack};
            for (const LinkPair &pair : pairs_) one.ask(model, pair, query);
            out[row] = query.best;
        });
}

std::int64_t SelfCollision::pair_distances(const Configurations &cfgs, std::span<float> out) const {
    const Model &model = *model_;
    const std::size_t width = pairs_.size();
    const float slack = 2.0f * model.pad;
    return each(
        cfgs,
        [&](Block &block, std::size_t row, int count) {
            for (std::size_t p = 0; p < width; p++) {
                Block::Closest<false> query{.slack = slack};
                block.ask(model, pairs_[p], query);
                for (int k = 0; k < count; k++) out[(row + static_cast<std::size_t>(k)) * width + p] = lane(query.best, k);
            }
        },
        [&](One &one, std::size_t row) {
            for (std::size_t p = 0; p < width; p++) {
                One::Closest query{.slack = slack};
                one.ask(model, pairs_[p], query);
                out[row * width + p] = query.best;
            }
        });
}

std::int64_t SelfCollision::pair_hits(const Configurations &cfgs, std::span<bool> out) const {
    const Model &model = *model_;
    const std::size_t width = pairs_.size();
    return each(
        cfgs,
        [&](Block &block, std::size_t row, int count) {
            for (std::size_t p = 0; p < width; p++) {
                Block::Touching query{model.pad, first_lanes(count)};
                block.ask(model, pairs_[p], query);
                for (int k = 0; k < count; k++) out[(row + static_cast<std::size_t>(k)) * width + p] = (query.found >> k) & 1u;
            }
        },
        [&](One &one, std::size_t row) {
            for (std::size_t p = 0; p < width; p++) {
                One::Touching query{model.pad};
                one.ask(model, pairs_[p], query);
                out[row * width + p] = query.found;
            }
        });
}

std::int64_t SelfCollision::count_hits(const Configurations &cfgs, std::span<const float> pads,
                                       std::span<std::int64_t> counts) const {
    const Model &model = *model_;
    return each(
        cfgs,
        [&](Block &block, std::size_t, int count) {
            for (std::size_t p = 0; p < pairs_.size(); p++) {
                Block::Touching query{pads[p], first_lanes(count)};
                block.ask(model, pairs_[p], query);
                counts[p] += std::popcount(query.found);
            }
        },
        [&](One &one, std::size_t) {
            for (std::size_t p = 0; p < pairs_.size(); p++) {
                One::Touching query{pads[p]};
                one.ask(model, pairs_[p], query);
                counts[p] += query.found;
            }
        });
}

}  // namespace elbowroom
