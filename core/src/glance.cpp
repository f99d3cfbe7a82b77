#include "elbowroom/glance.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace elbowroom {
namespace {

// Ends at the first lane that touches.
struct AnyTouching : SphereBlock::Touching {
    bool settled() const { return found != 0; }
};

}  // namespace

// What forward kinematics asks of the joints.
struct Glance::Turns {
    const Glance &of;

    void turn(int joint, F32x16 &sine, F32x16 &cosine) const {
        sine = of.sine_[static_cast<std::size_t>(joint)], cosine = of.cosine_[static_cast<std::size_t>(joint)];
    }
    F32x16 slide(int joint) const { return of.slide_[static_cast<std::size_t>(joint)]; }
};

Glance::Glance(const Scene &scene, const JointGroup &group)
    : scene_(scene), columns_(group.moving.size() * WIDE, 0.0), pad_(rounded_up(scene.buffer() + scene.spheres().margin)) {
    const Robot &robot = scene.robot();
    const std::size_t joints = robot.laws().size();
    std::vector<int> column(static_cast<std::size_t>(robot.dof()), -1);
    for (std::size_t k = 0; k < group.moving.size(); k++) column[static_cast<std::size_t>(group.moving[k])] = static_cast<int>(k);
    std::vector<std::uint8_t> moves(joints, 0);
    one_.assign(joints + 4, 0.0);
    sine_.resize(joints), cosine_.resize(joints), slide_.resize(joints);
    std::vector<std::uint8_t> turns(joints, 0);
    for (const Body &body : robot.bodies())
        if (body.joint >= 0) turns[static_cast<std::size_t>(body.joint)] = body.kind == JointKind::revolute;
    for (const int joint : robot.order()) {
        const std::size_t k = static_cast<std::size_t>(joint);
        const JointLaw &law = robot.laws()[k];
        const std::size_t d = static_cast<std::size_t>(law.driver);
        one_[k] = law.coupled ? law.value(one_[d]) : group.held[d];
        const double all[LANES] = {one_[k], one_[k], one_[k], one_[k], one_[k], one_[k], one_[k], one_[k]};
        F32x8 s, c;
        sincos(all, s, c);
        sine_[k] = {s, s}, cosine_[k] = {c, c}, slide_[k] = splat16(static_cast<float>(one_[k]));
        moves[k] = law.coupled ? moves[d] : column[d] >= 0;
        if (moves[k]) steps_.push_back({joint, law.coupled ? -1 : column[d], law.coupled ? law.driver : -1, turns[k] != 0});
    }
    body_moves_.assign(robot.bodies().size(), 0);
    for (std::size_t b = 1; b < body_moves_.size(); b++) {
        const Body &body = robot.bodies()[b];
        body_moves_[b] = body_moves_[static_cast<std::size_t>(body.parent)] || (body.joint >= 0 && moves[static_cast<std::size_t>(body.joint)]);
    }
    const auto moved = [&](std::span<const int> bodies) {
        return std::any_of(bodies.begin(), bodies.end(), [&](int b) {
            const int joint = robot.bodies()[static_cast<std::size_t>(b)].joint;
            return joint >= 0 && moves[static_cast<std::size_t>(joint)];
        });
    };
    for (std::size_t k = 0; k < scene.n_pairs(); k++) {
        const Scene::Pair &pair = scene.pair(k);
        if (moved(pair.path.to_a()) || moved(pair.path.to_b())) (pair.only_meshes ? mesh_pairs_ : pairs_).push_back(static_cast<int>(k));
    }
    own_.model = scene.shared_spheres();
    place(own_, true);
    if (const Surroundings *around = scene.around()) {
        if (around->shared_spheres() != own_.model) {
            apart_ = std::make_unique<Seen>(Seen{around->shared_spheres(), {}, {}});
            place(*apart_, true);
        }
        for (const int place : around->moving())
            if (body_moves_[static_cast<std::size_t>(robot.link_places()[static_cast<std::size_t>(around->link(place))].body)]) links_.push_back(place);
    }
    rough_ = scene.rough_reach().of(group.moving);
}

void Glance::place(Seen &seen, bool all) {
    const LinkSpheres &model = *seen.model;
    SphereBlock &block = seen.block;
    if (all) block.fit(model);
    model.bodies.compute<F32x16>(Turns{*this}, block.poses);
    for (std::size_t link = 0; link < model.number.size(); link++) {
        const int k = model.number[link];
        if (k < 0 || !(all || body_moves_[static_cast<std::size_t>(model.robot->link_places()[link].body)])) continue;
        block.ready[static_cast<std::size_t>(k)] = 0;
        block.place(model, block.poses[static_cast<std::size_t>(model.link(k).body)], k, 1);
        if (all) block.need(model, k);
    }
}

void Glance::place() {
    std::vector<double> &values = own_.block.values;
    const Robot &robot = scene_.robot();
    for (const Step &step : steps_) {
        const std::size_t k = static_cast<std::size_t>(step.joint);
        double *out = values.data() + k * WIDE;
        const double *from = step.column >= 0 ? columns_.data() + static_cast<std::size_t>(step.column) * WIDE
                                              : values.data() + static_cast<std::size_t>(step.follows) * WIDE;
        if (step.column >= 0)
            std::copy(from, from + WIDE, out);
        else
            for (int lane = 0; lane < WIDE; lane++) out[lane] = robot.laws()[k].value(from[lane]);
        if (step.turns) {
            sincos(out, sine_[k].low, cosine_[k].low);
            sincos(out + LANES, sine_[k].high, cosine_[k].high);
        } else {
            slide_[k] = {narrowed(out), narrowed(out + LANES)};
        }
    }
    place(own_, false);
    if (apart_) place(*apart_, false);
}

void Glance::put(const double *part) {
    for (std::size_t j = 0; j * WIDE < columns_.size(); j++) std::fill_n(columns_.begin() + static_cast<std::ptrdiff_t>(j * WIDE), WIDE, part[j]);
}

unsigned Glance::touching(int count, bool any) {
    place();
    const unsigned all = first_lanes(count);
    unsigned met = 0;
    who_ = {};
    if (const Surroundings *around = scene_.around()) {
        Seen &seen = outside();
        for (const int place : links_) {
            int obstacle = -1;
            const unsigned found = around->touched(seen.block, *seen.model, place, all & ~met, any, obstacle);
            if (!found) continue;
            met |= found, who_ = {-1, place, obstacle};
            if (any || met == all) return met;
        }
    }
    for (const int k : pairs_) {
        const LinkPair links = scene_.pair(static_cast<std::size_t>(k)).links;
        unsigned found;
        if (any) {
            AnyTouching query{{pad_, all & ~met}};
            own_.block.ask(*own_.model, links, query);
            found = query.found;
        } else {
            SphereBlock::Touching query{pad_, all & ~met};
            own_.block.ask(*own_.model, links, query);
            found = query.found;
        }
        if (!found) continue;
        met |= found, who_ = {k, -1, -1};
        if (any || met == all) return met;
    }
    return met;
}

double Glance::travel(const double *a, const double *b) const {
    return rough_.travel([&](std::size_t j) { return std::fabs(b[j] - a[j]); });
}

bool Glance::along(const double *a, const double *b, double apart) {
    constexpr double MOST = 4096.0;
    const int samples = static_cast<int>(std::min(travel(a, b) / apart, MOST)) + 1, blocks = (samples + WIDE - 1) / WIDE;
    const int count = blocks == 1 ? samples : WIDE;
    const double share = 1.0 / (count * blocks);
    const unsigned rounds = std::bit_ceil(static_cast<unsigned>(blocks));
    const int width = std::countr_zero(rounds);
    for (unsigned round = 0; round < rounds; round++) {
        int block = 0;  // from coarse to fine: its bits in reverse
        for (int bit = 0; bit < width; bit++) block |= static_cast<int>(round >> bit & 1u) << (width - 1 - bit);
        if (block >= blocks) continue;
        const auto place_of = [&](int lane) { return (std::min(lane, count - 1) * blocks + block + 1) * share; };  // the end is one
        for (std::size_t j = 0; j * WIDE < columns_.size(); j++)
            for (int lane = 0; lane < WIDE; lane++) at(j, lane) = a[j] + place_of(lane) * (b[j] - a[j]);
        if (const unsigned met = touching(count, true)) {
            met_ = place_of(std::countr_zero(met));
            return false;
        }
    }
    return true;
}

bool Glance::mesh_pairs_free(const double *part) {
    if (mesh_pairs_.empty()) return true;
    const Robot &robot = scene_.robot();
    for (const Step &step : steps_) {
        const std::size_t k = static_cast<std::size_t>(step.joint);
        one_[k] = step.column >= 0 ? part[step.column] : robot.laws()[k].value(one_[static_cast<std::size_t>(step.follows)]);
    }
    ExactPoses &poses = scratch<ExactPoses>();
    poses.start(robot, one_.data(), 1);
    for (const int k : mesh_pairs_) {
        if (!scene_.meshes_refuse(static_cast<std::size_t>(k), 0, poses)) continue;
        who_ = {k, -1, -1};
        return false;
    }
    return true;
}

void Glance::soften(const double *part, double room) {
    put(part);
    place();
    // A sphere may be this large; none at all where that is below zero: no comparison with what is not a number holds.
    const auto shrink = [](Seen &seen, int sphere, double radius) {
        if (!seen.softer) seen.model = seen.softer = std::make_shared<LinkSpheres>(*seen.model);
        seen.softer->points[static_cast<std::size_t>(sphere)].radius = radius > 0.0 ? static_cast<float>(radius) : std::nanf("");
    };
    const auto center = [](const SphereBlock &block, int sphere) {
        const Point32<F32x16> &p = block.point(sphere);
        return Vec3{lane(p.x, 0), lane(p.y, 0), lane(p.z, 0)};
    };
    if (const Surroundings *around = scene_.around()) {
        Seen &seen = outside();
        for (const int place : links_) {
            seen.block.need(*seen.model, place);
            const LinkSpheres::Link link = seen.model->link(place);
            for (int s = link.first; s < link.first + link.count; s++) {
                const double reach = seen.model->ball(s).radius + around->pad();
                if (std::isnan(reach)) continue;
                const double gap = around->world().distance_lower_bound(around->base().apply(center(seen.block, s)), reach, around->allowed(place)).distance;
                if (gap < reach) shrink(seen, s, gap - around->pad() - room);
            }
        }
    }
    for (const int k : pairs_) {
        const LinkPair pair = scene_.pair(static_cast<std::size_t>(k)).links;
        SphereBlock::Touching query{pad_, 1u};
        own_.block.ask(*own_.model, pair, query);
        if (!query.found) continue;
        const LinkSpheres::Link a = own_.model->link(pair.a), b = own_.model->link(pair.b);
        for (int s = a.first; s < a.first + a.count; s++)
            for (int t = b.first; t < b.first + b.count; t++) {
                const double one = own_.model->ball(s).radius, two = own_.model->ball(t).radius;
                const double over = one + two + pad_ - norm(center(own_.block, s) - center(own_.block, t));
                if (!(over > 0.0)) continue;
                shrink(own_, s, one - 0.5 * (over + room));
                shrink(own_, t, two - 0.5 * (over + room));
            }
    }
}

}  // namespace elbowroom
