#include "elbowroom/stomp_cost.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace elbowroom {
namespace {

constexpr double BOX_ROUNDING = 1e-6;  // metres and share by which balls around boxes are enlarged, for float32

// All steps of a trajectory: joint values, poses in float64 when they are asked for, and spheres in lanes, sixteen steps at a time.
struct Walk {
    const LinkSpheres *model = nullptr;
    std::size_t steps = 0, room = 0;  // steps, and the same up to whole blocks; spare ones repeat the last
    std::vector<double> values;       // (moving joints, room)
    ExactPoses poses;
    std::vector<std::uint8_t> placed;  // by four steps: whether the poses are there
    SphereBlock block;
    bool sound = true;  // float32 is as good as its error bound says, in the block that was placed

    void start(const LinkSpheres &spheres, const Trajectories &paths, std::size_t k) {
        const Robot &robot = *spheres.robot;
        model = &spheres, steps = paths.steps, room = (steps + WIDE - 1) / WIDE * WIDE;
        values.resize(robot.laws().size() * room);
        for (const int joint : robot.order()) {
            const JointLaw &law = robot.laws()[static_cast<std::size_t>(joint)];
            double *out = &values[static_cast<std::size_t>(joint) * room];
            const std::size_t driver = static_cast<std::size_t>(law.driver);
            for (std::size_t t = 0; t < room; t++)
                out[t] = law.coupled ? law.value(values[driver * room + t]) : paths.row(k, std::min(t, steps - 1))[driver];
        }
        poses.start(robot, values.data(), static_cast<int>(room));
        placed.assign(room / 4, 0);
        block.fit(spheres);
    }
    // The links in the sixteen steps from t0 on.
    void place(std::size_t t0) {
        sound = true;
        for (std::size_t j = 0; j < model->largest.size(); j++) {
            const double *from = &values[j * room + t0];
            std::copy_n(from, WIDE, &block.values[j * WIDE]);
            for (int k = 0; k < WIDE; k++) sound &= std::fabs(from[k]) <= model->largest[j];
        }
        if (sound) block.place_links(*model);
    }
    unsigned lanes(std::size_t t0) const { return first_lanes(static_cast<int>(std::min<std::size_t>(WIDE, steps - t0))); }
    std::size_t before(std::size_t t) const { return t == 0 ? 0 : t - 1; }
    std::size_t after(std::size_t t) const { return std::min(t + 1, steps - 1); }
    // A body in the frame of the root.
    Pose pose(int body, std::size_t t) {
        if (!placed[t / 4]) placed[t / 4] = 1, poses.place_four(static_cast<int>(t));
        return poses.body_pose(body, static_cast<int>(t));
    }
    Vec3 at(int body, Vec3 point, std::size_t t) { return pose(body, t).apply(point); }
};

// One body in the world in the steps of a block and those around it, each placed when it is first asked for.
class BodyInWorld {
  public:
    BodyInWorld(Walk &walk, const Pose &base, int body, std::size_t t0) : walk_(walk), base_(base), body_(body), first_(walk.before(t0)) {}

    const Pose &operator()(std::size_t t) {
        const std::size_t k = t - first_;
        if (!(ready_ >> k & 1u)) {
            ready_ |= 1u << k;
            at_[k] = base_ * walk_.pose(body_, t);
        }
        return at_[k];
    }
    // Of a point of the body, with `rate` steps a second.
    double speed(Vec3 point, std::size_t t, double rate) {
        const std::size_t before = walk_.before(t), after = walk_.after(t);
        return norm((*this)(after).apply(point) - (*this)(before).apply(point)) * rate / static_cast<double>(after - before);
    }

  private:
    Walk &walk_;
    const Pose &base_;
    int body_;
    std::size_t first_;
    unsigned ready_ = 0;
    Pose at_[WIDE + 2];
};

template <class Visit> void each_lane(unsigned lanes, Visit visit) {
    for (; lanes; lanes &= lanes - 1) visit(static_cast<std::size_t>(std::countr_zero(lanes)));
}

}  // namespace

// Scratch of a thread.
struct ObstacleCost::Work {
    struct Near {
        int obstacle;
        unsigned lanes;
    };
    Walk walk;
    std::vector<std::vector<Near>> near;  // by link: obstacles that it may be near, and in which lanes
    std::vector<unsigned> hits;           // the same of a sphere, by place in that list
    std::size_t last = 0;                 // the box that met something last: it comes first
    std::size_t t0 = 0;
};

ObstacleCost::ObstacleCost(std::shared_ptr<const Surroundings> around, std::span<const LinkBox> boxes, std::span<const bool> spared)
    : around_(std::move(around)), spared_(std::make_unique<bool[]>(std::max<std::size_t>(1, spared.size()))) {
    const LinkSpheres &model = around_->spheres();
    const std::size_t obstacles = static_cast<std::size_t>(around_->world().size());
    std::copy(spared.begin(), spared.end(), spared_.get());
    box_reach_.assign(model.links.size(), 0.0);
    for (std::size_t b = 0; b < boxes.size(); b++) {
        const LinkBox &given = boxes[b];
        const Pose pose = model.robot->link_places()[static_cast<std::size_t>(given.link)].in_body * given.box.pose;
        Box box{model.number[static_cast<std::size_t>(given.link)], {pose, given.box.half}, {}, 0.0f, {spared_.get() + b * obstacles, obstacles}};
        const double radius = norm(given.box.half) * (1.0 + BOX_ROUNDING) + BOX_ROUNDING;
        for (int c = 0; c < 3; c++) box.center[c] = static_cast<float>(pose.t[c]);
        box.radius = rounded_up(radius);
        double &reach = box_reach_[static_cast<std::size_t>(box.place)];
        reach = std::max(reach, norm(pose.translation() - model.exact[static_cast<std::size_t>(box.place)].center) + radius);
        boxes_.push_back(box);
    }
}

void ObstacleCost::parts(const Trajectories &paths, double dt, double clearance, std::span<double> near, std::span<bool> meets) const {
    const LinkSpheres &model = around_->spheres();
    const World &world = around_->world();
    Work &work = scratch<Work>();
    work.near.resize(std::max(work.near.size(), model.links.size()));
    work.last = 0;
    const double missing = clearance + around_->buffer();
    for (std::size_t k = 0; k < paths.count; k++) {
        work.walk.start(model, paths, k);
        const std::span<double> near_row = near.empty() ? near : near.subspan(k * paths.steps, paths.steps);
        std::fill(near_row.begin(), near_row.end(), 0.0);
        for (std::size_t t0 = 0; t0 < paths.steps; t0 += WIDE) {
            work.t0 = t0;
            work.walk.place(t0);
            const unsigned lanes = work.walk.lanes(t0);
            for (std::size_t place = 0; place < model.links.size(); place++) {
                std::vector<Work::Near> &found = work.near[place];
                found.clear();
                const bool moves = model.links[place].body != 0;
                const double spheres = near.empty() || !moves ? 0.0 : static_cast<double>(model.points[place].radius) + clearance;
                const float reach = rounded_up(std::max(spheres, box_reach_[place]) + around_->pad() + BOX_ROUNDING);
                if (!work.walk.sound) {
                    for (int n = 0; n < world.size(); n++) found.push_back({n, lanes});
                } else {
                    const Points16 at = around_->in_world(work.walk.block.point(static_cast<int>(place)));
                    unsigned close = lanes;
                    if (const ClearanceGrid *grid = around_->grid()) {
                        const F32x8 limit = splat8(reach);
                        close &= bits(grid->lower_bound(at.low, limit) < limit) | bits(grid->lower_bound(at.high, limit) < limit) << LANES;
                    }
                    if (close)
                        world.visit_near(at, reach, [&](int n, const Points16 &p) {
                            const unsigned mine = world.within(n, p, reach) & close;
                            if (mine) found.push_back({n, mine});
                        });
                }
                if (!found.empty() && spheres > 0.0) sphere_part(work, lanes, static_cast<int>(place), missing, 1.0 / dt, near_row);
            }
            unsigned open = lanes, met = 0;
            const std::size_t first = work.last;
            for (std::size_t turn = 0; turn < boxes_.size() && open; turn++) {
                const std::size_t b = (first + turn) % boxes_.size();
                const unsigned mine = box_part(work, boxes_[b], open);
                if (mine) work.last = b;
                met |= mine, open &= ~mine;
            }
            for (std::size_t c = 0; c < std::min<std::size_t>(WIDE, paths.steps - t0); c++) meets[k * paths.steps + t0 + c] = met >> c & 1u;
        }
    }
}

void ObstacleCost::sphere_part(Work &work, unsigned lanes, int place, double clearance, double rate, std::span<double> near) const {
    const LinkSpheres &model = around_->spheres();
    const World &world = around_->world();
    const LinkSpheres::Link &link = model.link(place);
    const Ignored ignored = around_->allowed(place);
    Walk &walk = work.walk;
    const std::vector<Work::Near> &found = work.near[static_cast<std::size_t>(place)];
    const float pad = rounded_up(clearance - around_->buffer() + around_->pad());
    if (walk.sound) walk.block.need(model, place);
    // Marks, of a ball, the lanes in which it may be near each obstacle; returns those of any.
    const auto look = [&](int point, std::span<const unsigned> within, std::span<unsigned> out) {
        const Points16 at = walk.sound ? around_->in_world(walk.block.point(point)) : Points16{};
        unsigned any = 0;
        for (std::size_t n = 0; n < found.size(); n++) {
            out[n] = within[n];
            if (out[n] && walk.sound) out[n] &= world.within(found[n].obstacle, at, model.ball(point).radius + pad);
            any |= out[n];
        }
        return any;
    };
    const std::size_t count = found.size();
    work.hits.resize(std::max(work.hits.size(), 3 * count));
    const std::span<unsigned> all(work.hits.data(), count), group_hits(all.data() + count, count), hits(group_hits.data() + count, count);
    for (std::size_t n = 0; n < count; n++)
        all[n] = !ignored.empty() && ignored[static_cast<std::size_t>(found[n].obstacle)] ? 0u : found[n].lanes & lanes;
    BodyInWorld body(walk, around_->base(), link.body, work.t0);
    for (int g = link.first_group; g < link.first_group + link.groups; g++) {
        const LinkSpheres::Group &group = model.group(g);
        const bool whole = group.count <= FEW_SPHERES;
        if (!whole && !look(g, all, group_hits)) continue;
        for (int s = group.first; s < group.first + group.count; s++) {
            const Ball &ball = model.exact[static_cast<std::size_t>(s)];
            const double reach = ball.radius + clearance;
            each_lane(look(s, whole ? all : group_hits, hits), [&](std::size_t lane) {
                const std::size_t t = work.t0 + lane;
                const Vec3 p = body(t).apply(ball.center);
                double gap = reach;
                for (std::size_t n = 0; n < count; n++)
                    if (hits[n] >> lane & 1u) gap = std::min(gap, world.distance(found[n].obstacle, p, gap));
                if (gap < reach) near[t] += (reach - gap) * body.speed(ball.center, t, rate);
            });
        }
    }
}

// Lanes in which a box meets an obstacle that it is not spared.
unsigned ObstacleCost::box_part(Work &work, const Box &box, unsigned lanes) const {
    const World &world = around_->world();
    Walk &walk = work.walk;
    const std::vector<Work::Near> &found = work.near[static_cast<std::size_t>(box.place)];
    if (found.empty()) return 0;
    const int body = around_->spheres().link(box.place).body;
    const float reach = box.radius + rounded_up(around_->pad() - around_->buffer());
    Points16 at{};
    if (walk.sound) {
        const Pose32<F32x16> &pose = walk.block.poses[static_cast<std::size_t>(around_->spheres().link(box.place).body)];
        at = around_->in_world(pose.apply(splat16(box.center[0]), splat16(box.center[1]), splat16(box.center[2])));
    }
    unsigned met = 0;
    for (const Work::Near &next : found) {
        unsigned mine = next.lanes & lanes & ~met;
        if (!mine || box.spared[static_cast<std::size_t>(next.obstacle)]) continue;
        if (walk.sound) mine &= world.within(next.obstacle, at, reach);
        each_lane(mine, [&](std::size_t lane) {
            const Pose pose = around_->base() * (walk.pose(body, work.t0 + lane) * box.in_body.pose);
            if (world.box_meets(next.obstacle, {pose, box.in_body.half})) met |= 1u << lane;
        });
    }
    return met;
}

void ObstacleCost::meetings(const Configurations &cfgs, std::span<bool> met) const {
    const LinkSpheres &model = around_->spheres();
    const World &world = around_->world();
    const std::size_t dof = static_cast<std::size_t>(model.robot->dof()), obstacles = static_cast<std::size_t>(world.size());
    std::fill(met.begin(), met.end(), false);
    Walk &walk = scratch<Work>().walk;
    if (cfgs.count == 0) return;
    walk.start(model, {1, cfgs.count, dof, cfgs.values}, 0);
    for (std::size_t t = 0; t < cfgs.count; t++)
        for (std::size_t b = 0; b < boxes_.size(); b++) {
            const Box &box = boxes_[b];
            const Pose pose = around_->base() * (walk.pose(model.link(box.place).body, t) * box.in_body.pose);
            for (std::size_t n = 0; n < obstacles; n++)
                met[b * obstacles + n] = met[b * obstacles + n] || world.box_meets(static_cast<int>(n), {pose, box.in_body.half});
        }
}

void self_nearness(const LinkSpheres &model, std::span<const LinkPair> pairs, const Trajectories &paths, double dt, double clearance,
                   std::span<double> out) {
    struct Own : Walk {};
    Walk &walk = scratch<Own>();
    const float pad = rounded_up(clearance + model.margin);
    constexpr double ROUNDING = 1e-12;  // metres: of balls around groups
    std::fill(out.begin(), out.end(), 0.0);
    const auto placed = [&](int body, int point, std::size_t t) {
        const Ball &ball = model.exact[static_cast<std::size_t>(point)];
        return Ball{walk.at(body, ball.center, t), ball.radius};
    };
    const auto gap = [](const Ball &a, const Ball &b) { return norm(b.center - a.center) - a.radius - b.radius; };
    const auto add = [&](const LinkPair &pair, std::size_t k, std::size_t t) {
        const LinkSpheres::Link &a = model.link(pair.a), &b = model.link(pair.b);
        double best = clearance;
        int of_a = -1, of_b = -1;
        for (int g = a.first_group; g < a.first_group + a.groups; g++)
            for (int h = b.first_group; h < b.first_group + b.groups; h++) {
                if (gap(placed(a.body, g, t), placed(b.body, h, t)) >= best + ROUNDING) continue;
                const LinkSpheres::Group &mine = model.group(g), &yours = model.group(h);
                for (int s = mine.first; s < mine.first + mine.count; s++) {
                    const Ball own = placed(a.body, s, t);
                    for (int r = yours.first; r < yours.first + yours.count; r++) {
                        const double found = gap(own, placed(b.body, r, t));
                        if (found < best) best = found, of_a = s, of_b = r;
                    }
                }
            }
        if (of_a < 0) return;
        const auto apart = [&](std::size_t at) { return placed(b.body, of_b, at).center - placed(a.body, of_a, at).center; };
        const std::size_t before = walk.before(t), after = walk.after(t);
        out[k * paths.steps + t] += (clearance - best) * norm(apart(after) - apart(before)) / (dt * static_cast<double>(after - before));
    };
    for (std::size_t k = 0; k < paths.count; k++) {
        walk.start(model, paths, k);
        for (std::size_t t0 = 0; t0 < paths.steps; t0 += WIDE) {
            walk.place(t0);
            for (const LinkPair &pair : pairs) {
                unsigned near = walk.lanes(t0);
                if (walk.sound) {
                    SphereBlock::Touching query{pad, near};
                    walk.block.ask(model, pair, query);
                    near = query.found;
                }
                each_lane(near, [&](std::size_t lane) { add(pair, k, t0 + lane); });
            }
        }
    }
}

void limit_cost(const Trajectories &paths, double dt, std::span<const double> limits, int order, std::span<double> out) {
    const std::size_t steps = paths.steps, dof = paths.dof;
    std::vector<double> per(dof);
    for (std::size_t d = 0; d < dof; d++) per[d] = 1.0 / ((order == 1 ? dt : dt * dt) * limits[d]);
    for (std::size_t k = 0; k < paths.count; k++)
        for (std::size_t t = 0; t < steps; t++) {
            const double *at = paths.row(k, t), *before = paths.row(k, t == 0 ? 0 : t - 1), *after = paths.row(k, std::min(t + 1, steps - 1));
            double total = 0.0;
            for (std::size_t d = 0; d < dof; d++) {
                const double back = at[d] - before[d], on = after[d] - at[d];
                const double most = order == 1 ? std::max(std::fabs(back), std::fabs(on)) : std::fabs(on - back);
                total += std::max(most * per[d] - 1.0, 0.0);
            }
            out[k * steps + t] = total;
        }
}

}  // namespace elbowroom
