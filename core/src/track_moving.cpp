// Obstacles that move: a proof of where they will be, and ways out of their way.
//
// A robot that an obstacle reaches where it stands, within LOOK_AHEAD, looks for a refuge: of configurations drawn around its own,
// half of them with other values of the joints that carry the threatened link alone, the nearest one clear of all that the
// obstacles sweep, for the longest of HORIZONS, to which a straight motion within the limits leads, ahead of them, clear of itself
// and of what stands still. It goes there, by steps that are proved like all others, and stays until it may be where it is wanted;
// it looks for another one as soon as the motion there is no longer clear. Spheres decide what is clear, and where they are too
// large, meshes at sampled moments; no guarantee rests on them.
#include <algorithm>
#include <array>
#include <cmath>

#include "elbowroom/tree.hpp"
#include "track_parts.hpp"

namespace elbowroom {
namespace {

constexpr double INFINITE = std::numeric_limits<double>::infinity();
constexpr double LONGEST = 0.02, SHORTEST = 5e-4;  // metres that an obstacle moves in a span of time in which it is one grown obstacle
constexpr double LOOK_AHEAD = 2.0;  // seconds
constexpr std::array HORIZONS = {4.0, 3.0, LOOK_AHEAD};  // seconds for which refuges are clear, the longest preferred
constexpr double CLEAR = 0.01;      // metres that obstacles pass a refuge by, above what all shall be apart
constexpr double CALM = 0.5;        // share of it at which a robot has to make way, or a refuge is given up
constexpr int DRAWS = 64;           // configurations drawn in one tick
constexpr double SPREADS[] = {0.2, 0.5, 1.0, 2.0};  // rad or m
constexpr int MOMENTS = 12;         // of a way to a refuge that are looked at
constexpr int PARTS_OF_MOMENT = 3;  // looked at by meshes, where spheres refuse a moment
constexpr unsigned MOMENTS_AT_REST = 128;  // of a robot in a refuge that are looked at by meshes; a power of two
constexpr unsigned AGAIN = 16;      // one of so many moments is checked again in each tick
constexpr double HASTE = 0.9;       // share of the limits at which ways to refuges are planned
constexpr double NEARER = 0.02;     // share of a way to a refuge to which it is shortened
constexpr double BRISK = 1e3;       // rates and accelerations where there are no limits, 1/s and 1/s^2

// Actuated joints that move a link; all of them where there is none.
std::vector<bool> joints_that_carry(const Robot &robot, int link) {
    std::vector<bool> out(static_cast<std::size_t>(robot.dof()), link < 0);
    for (int body = link < 0 ? -1 : robot.link_places()[static_cast<std::size_t>(link)].body; body > 0;) {
        const Body &at = robot.bodies()[static_cast<std::size_t>(body)];
        int joint = at.joint;
        while (joint >= 0 && robot.laws()[static_cast<std::size_t>(joint)].coupled) joint = robot.laws()[static_cast<std::size_t>(joint)].driver;
        if (joint >= 0) out[static_cast<std::size_t>(robot.laws()[static_cast<std::size_t>(joint)].driver)] = true;
        body = at.parent;
    }
    return out;
}

}  // namespace

const MovingScenes &SafeStep::moving_scenes(std::span<const double> drift, StepMemory &memory) const {
    bool known = memory.moving && memory.moving->moving.size() * 3 == drift.size();
    for (std::size_t k = 0; known && 3 * k < drift.size(); k++) known = drifts(drift, static_cast<int>(k)) == (memory.moving->moving[k] != 0);
    if (!known) memory.moving = std::make_shared<MovingScenes>(scene_, drift);
    return *memory.moving;
}

MovingScenes::MovingScenes(const Scene &scene, std::span<const double> drift) : still(scene) {
    const Surroundings &around = *scene.around();
    const auto allowing = [&](auto pick) {
        std::vector<LinkObstacle> pairs;
        for (int place = 0; place < static_cast<int>(around.n_links()); place++)
            for (int k = 0; k < around.world().size(); k++)
                if (pick(k)) pairs.push_back({place, k});
        return scene.among(around.allowing(pairs));
    };
    for (int k = 0; k < around.world().size(); k++) moving.push_back(SafeStep::drifts(drift, k));
    still = allowing([&](int k) { return moving[static_cast<std::size_t>(k)] != 0; });
    for (int own = 0; own < around.world().size(); own++)
        if (moving[static_cast<std::size_t>(own)]) each.emplace_back(own, allowing([&](int k) { return k != own; }));
}

double SafeStep::Pace::gone(double t) const {
    const double late = std::clamp(t - dt, 0.0, rest);
    return way() > 0.0 ? (std::clamp(t, 0.0, dt) + (late > 0.0 ? late * (1.0 - 0.5 * late / rest) : 0.0)) / way() : 1.0;
}

// Rates that change in steps lead less far than ones that fall evenly, by half a tick at full rate in all.
double SafeStep::Pace::least_gone(double t) const { return t > dt ? std::max(gone(dt), gone(t) - 0.5 * dt / way()) : gone(t); }

double SafeStep::Pace::time(double share) const {
    const double at_full_rate = share * way();
    return at_full_rate <= dt ? at_full_rate : dt + rest - std::sqrt(std::max(rest * rest - 2.0 * rest * (at_full_rate - dt), 0.0));
}

bool SafeStep::moving_clear(const WayToRest &asked, const Survey &at, std::span<const double> link_ways, const StepMemory &memory, Verdict &out) const {
    const std::span<const double> cfg = asked.begin, end = asked.end;
    const std::size_t n = cfg.size(), pairs = scene_.n_pairs(), places = scene_.around()->n_links();
    std::vector<double> kept, control(2 * n), distance(places), least(places), apart(pairs + places), ways(pairs + places, INFINITE);
    const std::vector<double> slack(n, 0.0);
    const Motion motion{n, 1, 2, control, slack};
    ProofRequest request;
    request.until = asked.until;
    request.budget = PARTS, request.likely = true, request.apart = apart, request.ways = ways;
    // Whether the part of the way between two shares keeps what `kept` says.
    const auto clear = [&](const Scene &scene, double begin, double until, Vec3 shift) {
        for (std::size_t j = 0; j < n; j++)
            control[j] = cfg[j] + begin * (end[j] - cfg[j]), control[n + j] = cfg[j] + until * (end[j] - cfg[j]);
        request.keep = kept, request.shift = shift;
        PieceProof proof;
        scene.prove(motion, request, {&proof, 1});
        out.undecided = proof.outcome == Outcome::undecided, out.who = proof.who, out.t = begin + proof.t * (until - begin);
        return proof.outcome == Outcome::free;
    };
    for (const auto &[obstacle, scene] : memory.moving->each) {
        const double *v = asked.drift.data() + 3 * static_cast<std::size_t>(obstacle);
        const Vec3 velocity{v[0], v[1], v[2]};
        const double speed = norm(velocity);
        std::fill(distance.begin(), distance.end(), buffer_ + options_.reach);
        for (const Survey::Near &near : at.coming)
            if (near.obstacle == obstacle) distance[static_cast<std::size_t>(near.place)] = near.distance;
        for (const Survey::Near &near : at.within)
            if (near.obstacle == obstacle && near.distance == -INFINITE) distance[static_cast<std::size_t>(near.place)] = -INFINITE;
        bool within = false;
        kept.assign(pairs + places, ProofRequest::NOT_ASKED), std::fill(ways.begin(), ways.end(), INFINITE);
        for (std::size_t place = 0; place < places; place++) {
            const double left = distance[place] - buffer_, way = outside_->way(link_ways, static_cast<int>(place), outside_->count(static_cast<int>(place)));
            if (way == 0.0 || distance[place] <= 0.0) least[place] = -INFINITE;  // contacts are judged apart
            else if (left > 0.0) least[place] = std::min(asked.keep.metres + asked.keep.spare * way, share_of(left));
            else least[place] = share_of(distance[place]) - buffer_, kept[pairs + place] = extra_ + left - CLOSER, within = true;
        }
        // What is within the clearance comes no nearer by the robot's own motion.
        if (within && !clear(scene, 0.0, 1.0, {})) return false;
        // Spans of time, halved where the obstacle, grown by half of what it moves in one, is in the way.
        std::vector<std::pair<double, double>> spans = {{0.0, asked.pace.seconds()}};
        for (int looks = 0; !spans.empty(); looks++) {
            const auto [t, next] = spans.back();
            spans.pop_back();
            const double way_of_obstacle = speed * (next - t), begin = asked.pace.least_gone(t), until = next < asked.pace.seconds() ? asked.pace.gone(next) : 1.0;
            bool clear_at_once = true;
            kept.assign(pairs + places, ProofRequest::NOT_ASKED);
            for (std::size_t place = 0; place < places; place++) {
                if (least[place] == -INFINITE) continue;
                const std::size_t k = pairs + place;
                // As the robot is when the span begins, from the obstacle as it is in the middle.
                const double way = outside_->way(link_ways, static_cast<int>(place), outside_->count(static_cast<int>(place)));
                apart[k] = distance[place] - begin * way - 0.5 * (t + next) * speed, ways[k] = (until - begin) * way;
                const double more = least[place] + 0.5 * way_of_obstacle;
                kept[k] = extra_ + more;
                clear_at_once = clear_at_once && request.left_of(k, buffer_ + more) > 0.0;
            }
            if ((clear_at_once || way_of_obstacle <= LONGEST) && clear(scene, begin, until, 0.5 * (t + next) * velocity)) continue;
            if (way_of_obstacle <= SHORTEST || looks >= PARTS || request.late()) return false;
            spans.push_back({0.5 * (t + next), next}), spans.push_back({t, 0.5 * (t + next)});
        }
    }
    return true;
}

// Refuges ----------------------------------------------------------------------------------------------------------

std::optional<Culprit> SafeStep::reached(std::span<const double> cfg, std::span<const double> drift, double begin, double until, double margin) const {
    thread_local PosedBodies at;
    const Surroundings &around = *scene_.around();
    const LinkSpheres &model = around.spheres();
    const Robot &robot = scene_.robot();
    at.place(robot, cfg);
    for (const int place : around.moving()) {
        const LinkSpheres::Link &link = model.link(place);
        const int number = around.link(place);
        const Pose pose = around.base() * at.poses[static_cast<std::size_t>(robot.link_places()[static_cast<std::size_t>(number)].body)];
        const Ignored allowed = around.allowed(place);
        for (int k = 0; k < around.world().size(); k++) {
            if (!drifts(drift, k) || (!allowed.empty() && allowed[static_cast<std::size_t>(k)])) continue;
            const double *v = drift.data() + 3 * static_cast<std::size_t>(k);
            const Vec3 velocity{v[0], v[1], v[2]};
            const double speed = norm(velocity);
            const auto meets = [&](int point) {
                const Ball &ball = model.exact[static_cast<std::size_t>(point)];
                const Vec3 p = pose.apply(ball.center);
                const double size = ball.radius + buffer_ + margin;
                for (double t = begin; t <= until;) {
                    const double gap = around.world().distance_lower_bound(k, p - t * velocity, size + speed * (until - t) + SHORTEST) - size;
                    if (gap <= SHORTEST) return true;
                    t += gap / speed;
                }
                return false;
            };
            if (!meets(place)) continue;
            for (int g = link.first_group; g < link.first_group + link.groups; g++) {
                if (!meets(g)) continue;
                const LinkSpheres::Group &group = model.group(g);
                for (int s = group.first; s < group.first + group.count; s++)
                    if (meets(s)) return Culprit{-1, number, k};
            }
        }
    }
    return {};
}

std::optional<Culprit> SafeStep::threat(const Tick &tick, std::span<const double> wanted, const StepMemory &memory) const {
    const bool coming = scene_.around() != nullptr && std::any_of(tick.drift.begin(), tick.drift.end(), [](double v) { return v != 0.0; });
    std::optional<Culprit> out;
    if (coming) {
        const bool away = memory.refuge.size() == dof();
        out = reached(tick.cfg, tick.drift, 0.0, LOOK_AHEAD, away ? CLEAR : CALM * CLEAR);
        if (!out && away && !wanted.empty()) out = reached(wanted, tick.drift, 0.0, LOOK_AHEAD, CLEAR);
    }
    return out;
}

// Exact, for motions that spheres refuse.
bool SafeStep::passes(const MovingScenes &scenes, std::span<const double> control, std::span<const double> drift, double begin, double until, double margin) const {
    const std::size_t n = dof(), pairs = scene_.n_pairs();
    const std::vector<double> slack(n, 0.0);
    std::vector<double> kept(pairs + scene_.around()->n_links(), margin);
    std::fill_n(kept.begin(), pairs, ProofRequest::NOT_ASKED);
    ProofRequest request;
    request.keep = kept, request.likely = true, request.budget = PARTS;
    for (const auto &[obstacle, scene] : scenes.each) {
        const double *v = drift.data() + 3 * static_cast<std::size_t>(obstacle);
        request.shift = 0.5 * (begin + until) * Vec3{v[0], v[1], v[2]};
        PieceProof proof;
        scene.prove({n, 1, 2, control, slack}, request, {&proof, 1});
        if (proof.outcome != Outcome::free) return false;
    }
    return true;
}

// In bit-reversed order, so that an obstacle that sweeps through the refuge is found after a few moments.
bool SafeStep::passes_at_rest(const MovingScenes &scenes, std::span<const double> cfg, const Tick &tick, double until, ProofRequest::Clock::time_point enough, std::optional<unsigned> again) const {
    std::vector<double> control(cfg.begin(), cfg.end());
    control.insert(control.end(), cfg.begin(), cfg.end());
    for (unsigned k = again.value_or(0) % AGAIN; k < MOMENTS_AT_REST; k += again ? AGAIN : 1) {
        if (ProofRequest::Clock::now() >= enough) return again.has_value();
        unsigned place = 0;
        for (unsigned bit = 1; bit < MOMENTS_AT_REST; bit *= 2) place = 2 * place + (k / bit & 1u);
        const double t = until * place / MOMENTS_AT_REST;
        if (!passes(scenes, control, tick.drift, t, t + until / MOMENTS_AT_REST, CLEAR)) return false;
    }
    return true;
}

bool SafeStep::way_out(const Tick &tick, std::span<const double> end, const MovingScenes &scenes, ProofRequest::Clock::time_point until) const {
    const std::size_t n = dof();
    // Straight, from rest to rest: speed and acceleration as shares of the way.
    double speed = BRISK, acceleration = BRISK;
    for (std::size_t j = 0; j < n; j++) {
        const double way = std::fabs(end[j] - tick.cfg[j]);
        if (way > 0.0) speed = std::min(speed, HASTE * limits_.speed[j] / way), acceleration = std::min(acceleration, HASTE * limits_.acceleration[j] / way);
    }
    const double top = std::min(speed, std::sqrt(acceleration)), ramp = top / acceleration, whole = 1.0 / top + ramp;
    std::vector<double> control(2 * n);
    const auto place = [&](double t, double *out) {
        const double late = std::max(t - (whole - ramp), 0.0), early = std::min(t, ramp);
        const double gone = 0.5 * acceleration * (early * early - late * late) + top * std::max(t - ramp, 0.0);
        for (std::size_t j = 0; j < n; j++) out[j] = tick.cfg[j] + gone * (end[j] - tick.cfg[j]);
    };
    for (int k = 0; k < MOMENTS; k++) {
        const double t = whole * k / MOMENTS, next = t + whole / MOMENTS;
        place(next, control.data());
        if (!reached({control.data(), n}, tick.drift, t, next, 0.0)) continue;
        for (int part = 0; part < PARTS_OF_MOMENT; part++) {
            const double from = t + (next - t) * part / PARTS_OF_MOMENT, to = t + (next - t) * (part + 1) / PARTS_OF_MOMENT;
            place(from, control.data()), place(to, control.data() + n);
            if (ProofRequest::Clock::now() >= until || !passes(scenes, control, tick.drift, from, to, 0.0)) return false;
        }
    }
    std::copy(tick.cfg.begin(), tick.cfg.end(), control.begin());
    std::copy(end.begin(), end.end(), control.begin() + static_cast<std::ptrdiff_t>(n));
    const std::vector<double> slack(n, 0.0);
    ProofRequest request;
    request.budget = PARTS, request.until = until;
    PieceProof proof;
    scenes.still.prove({n, 1, 2, control, slack}, request, {&proof, 1});
    return proof.outcome == Outcome::free;
}

std::vector<double> SafeStep::towards_refuge(const Tick &tick, Culprit who, StepMemory &memory, ProofRequest::Clock::time_point until) const {
    const std::size_t n = dof();
    // For how long the refuge is clear, as one of HORIZONS; one that is clear for longer, or to which a way leads, is looked for.
    const ProofRequest::Clock::time_point now = ProofRequest::Clock::now(), enough = now + (until - now) / 3;
    const MovingScenes &scenes = moving_scenes(tick.drift, memory);
    std::size_t lasting = HORIZONS.size();
    if (!memory.refuge.empty()) {
        const auto still_clear = [&](double horizon) {
            return !reached(memory.refuge, tick.drift, 0.0, horizon, CALM * CLEAR) ||
                   (memory.by_meshes && passes_at_rest(scenes, memory.refuge, tick, horizon, enough, static_cast<unsigned>(memory.draws)));
        };
        for (lasting = 0; lasting < HORIZONS.size() && !still_clear(HORIZONS[lasting]);) lasting++;
        memory.draws += memory.by_meshes;
    }
    if (lasting == HORIZONS.size()) memory.refuge.clear();
    if (lasting < HORIZONS.size() && !way_out(tick, memory.refuge, scenes, enough)) lasting = HORIZONS.size();
    if (lasting > 0) {
        Random random(memory.draws++);
        std::vector<std::pair<double, std::vector<double>>> ends;
        const std::vector<bool> carrying = joints_that_carry(scene_.robot(), who.link);
        for (int k = 0; k < DRAWS; k++) {
            const bool few = k % 8 >= 4;  // only joints that carry the link that is in the way
            std::vector<double> end(n);
            double far = 0.0;
            for (std::size_t j = 0; j < n; j++) {
                // The sum of four even draws, nearly normal.
                double draw = -2.0;
                for (int i = 0; i < 4; i++) draw += random.uniform();
                const double way = limits_.speed[j] > 0.0 && (carrying[j] || !few) ? std::sqrt(3.0) * draw * SPREADS[k % 4] : 0.0;
                end[j] = std::clamp(tick.cfg[j] + way, std::min(limits_.lower[j], tick.cfg[j]), std::max(limits_.upper[j], tick.cfg[j]));
                far = std::max(far, std::fabs(end[j] - tick.cfg[j]));
            }
            ends.emplace_back(far, std::move(end));
        }
        std::sort(ends.begin(), ends.end());
        bool found = false;
        // By spheres, the longest horizon first; then by meshes.
        for (std::size_t k = 0; k < lasting + 1 && !found; k++)
            for (const auto &[far, end] : ends) {
                if (found || ProofRequest::Clock::now() >= enough) break;
                const bool by_meshes = k == lasting;
                const double horizon = HORIZONS[by_meshes ? lasting - 1 : k];
                if (by_meshes ? !passes_at_rest(scenes, end, tick, horizon, enough) : reached(end, tick.drift, 0.0, horizon, CLEAR).has_value()) continue;
                // Joints that need not move stay: the way is shorter, and less of the robot gets near anything on it.
                std::vector<double> nearest = end;
                for (std::size_t j = 0; j < n && !by_meshes; j++) {
                    nearest[j] = tick.cfg[j];
                    if (end[j] != tick.cfg[j] && reached(nearest, tick.drift, 0.0, horizon, CLEAR)) nearest[j] = end[j];
                }
                found = way_out(tick, nearest, scenes, enough);
                if (found) memory.refuge = nearest, memory.by_meshes = by_meshes;
            }
    }
    if (memory.refuge.empty()) return {};
    // On the way there, no farther than it has to be for now.
    std::vector<double> out(n), there(n);
    double clear = 1.0;
    for (double step = 0.5; step > NEARER; step *= 0.5) {
        for (std::size_t j = 0; j < n; j++) there[j] = tick.cfg[j] + (clear - step) * (memory.refuge[j] - tick.cfg[j]);
        if (!reached(there, tick.drift, 0.0, LOOK_AHEAD, CLEAR)) clear -= step;
    }
    double share = 1.0 / tick.dt;
    for (std::size_t j = 0; j < n; j++) {
        const double way = clear * std::fabs(memory.refuge[j] - tick.cfg[j]);
        if (way > 0.0) share = std::min({share, limits_.speed[j] / way, std::sqrt(2.0 * HASTE * limits_.acceleration[j] / way)});
    }
    for (std::size_t j = 0; j < n; j++) out[j] = -share * clear * (memory.refuge[j] - tick.cfg[j]);
    return out;
}

}  // namespace elbowroom
