#include "elbowroom/track.hpp"

#include <algorithm>
#include <cmath>

#include "elbowroom/contacts.hpp"
#include "elbowroom/proximity.hpp"
#include "elbowroom/separation.hpp"
#include "track_parts.hpp"

namespace elbowroom {
namespace {

constexpr double INFINITE = std::numeric_limits<double>::infinity();
constexpr double UNBOUNDED_RATE = 1e30;
constexpr double HOLDS = 1e-9;       // relative to a bound, and per second: what rounding may add to a rate
constexpr int MEASURED = 4;          // times at most that spheres that hold an answer back are replaced by meshes in one tick
constexpr double DRAWN[] = {0.3, 0.05};  // shares of an answer that could not be proved that are tried, the rest being braking
constexpr double ACTIVE = 1e-9;      // multipliers above this are of constraints that hold the answer back
constexpr double AHEAD = 0.1;         // seconds: like `approach`, for obstacles that come
constexpr double GIVING_WAY = 1e4;   // what it costs that rows give way, relative to the cost of velocities
constexpr double CUT = 3e-4;         // metres above what is kept that a cut asks for
constexpr double FOLLOWED = 0.02;    // rad or m: a robot within this of where it was sent moves as it was told; farther away it is at rest
constexpr double SAMPLES[] = {0.25, 0.5, 0.75, 1.0};  // where on a step depths are measured

using Clock = ProofRequest::Clock;

double dot(const double *a, const double *b, std::size_t n) {
    double total = 0.0;
    for (std::size_t k = 0; k < n; k++) total += a[k] * b[k];
    return total;
}

Held held_by(const Culprit &who) {
    return who.pair >= 0 ? Held{Held::pair, who.pair, -1} : Held{Held::obstacle, who.link, who.obstacle};
}

void note(std::vector<Held> &all, const Held &held) {
    if (std::find(all.begin(), all.end(), held) == all.end()) all.push_back(held);
}

}  // namespace

SafeStep::SafeStep(Scene scene, JointLimits limits, StepOptions options)
    : scene_(std::move(scene)), limits_(std::move(limits)), options_(options), buffer_(std::max(scene_.buffer(), options.clearance)),
      extra_(buffer_ - scene_.buffer()), own_(scene_.spheres()) {
    limited_ = std::any_of(limits_.acceleration.begin(), limits_.acceleration.end(), [](double a) { return a < INFINITE; });
    if (scene_.around() != nullptr) outside_.emplace(scene_.around()->spheres());
    for (std::size_t k = 0; k < scene_.n_pairs(); k++) {
        const LinkPair links = scene_.pair(k).links;
        const std::span<const int> a = own_.bodies(links.a), b = own_.bodies(links.b);
        Meeting meeting{0, a.size(), b.size()};
        while (meeting.a > 0 && meeting.b > 0 && a[meeting.a - 1] == b[meeting.b - 1]) meeting.a--, meeting.b--;
        meeting.body = meeting.a < a.size() ? a[meeting.a] : 0;
        meetings_.push_back(meeting);
    }
    scene_.prove({.dof = dof()}, {}, {});  // makes what proofs need: no tick shall wait for it
}

double SafeStep::seconds_to_rest(std::span<const double> velocity) const {
    double longest = 0.0;
    for (std::size_t j = 0; j < velocity.size(); j++) longest = std::max(longest, std::fabs(velocity[j]) / limits_.acceleration[j]);
    return longest;
}

std::vector<double> SafeStep::brake(const Tick &tick) const {
    const std::size_t n = dof();
    std::vector<double> out(n, 0.0);
    const double needed = seconds_to_rest(tick.velocity), share = needed > tick.dt ? 1.0 - tick.dt / needed : 0.0;
    double fast = 0.0;
    for (std::size_t j = 0; j < n; j++) out[j] = tick.velocity[j] * share, fast = std::max(fast, std::fabs(out[j]));
    if (tick.stop.empty()) return out;
    double length = 0.0;
    for (std::size_t j = 0; j < n; j++) length = std::max(length, std::fabs(tick.stop[j] - tick.cfg[j]));
    // Along the way that was proved, however the last velocity was rounded; and no farther than it.
    const double along = length > 0.0 ? std::min(fast, length / tick.dt) / length : 0.0;
    for (std::size_t j = 0; j < n; j++) out[j] = (tick.stop[j] - tick.cfg[j]) * along;
    return out;
}

SafeStep::Box SafeStep::box(const Tick &tick, std::span<const double> brake, bool least) const {
    const std::size_t n = dof();
    const double dt = tick.dt, rest = seconds_to_rest(tick.velocity);
    const double stops[] = {rest + dt, rest, std::max(rest - 0.5 * dt, 0.0), std::max(rest - dt, 0.0)};
    Box out;
    out.low.resize(n), out.high.resize(n), out.why_low.resize(n), out.why_high.resize(n);
    for (int k = least ? 3 : 0; k < 4; k++) {
        const double stop = limited_ ? stops[k] : 0.0;
        out.h = (dt + 0.5 * stop) * (1.0 + 1e-9), out.seconds = dt + stop;
        for (std::size_t j = 0; j < n; j++) {
            const double a = limits_.acceleration[j], v = tick.velocity[j];
            double low = -limits_.speed[j], high = limits_.speed[j];
            out.why_low[j] = out.why_high[j] = Held::speed;
            const auto below = [&](double most, Held::Why why) {
                if (most < high) high = most, out.why_high[j] = why;
            };
            const auto above = [&](double most, Held::Why why) {
                if (most > low) low = most, out.why_low[j] = why;
            };
            if (a < INFINITE) {
                below(std::min(v + a * dt, a * stop), Held::acceleration);
                above(std::max(v - a * dt, -a * stop), Held::acceleration);
            }
            below(std::max(limits_.upper[j] - tick.cfg[j], 0.0) / out.h, Held::limit);
            above(std::min(limits_.lower[j] - tick.cfg[j], 0.0) / out.h, Held::limit);
            out.low[j] = std::max(low, -UNBOUNDED_RATE), out.high[j] = std::min(high, UNBOUNDED_RATE);
        }
        if (!out.empty() || !limited_) break;
    }
    if (least || out.empty())
        for (std::size_t j = 0; j < n; j++) out.low[j] = std::min(out.low[j], brake[j]), out.high[j] = std::max(out.high[j], brake[j]);
    return out;
}

// Proof of a step ------------------------------------------------------------------------------------------------

bool SafeStep::contacts_no_deeper(std::span<const double> cfg, std::span<const double> end, const Survey &at, Culprit &who) const {
    const Robot &robot = scene_.robot();
    const Surroundings *around = scene_.around();
    PosedBodies now;
    std::vector<double> there(cfg.size());
    for (const double t : SAMPLES) {
        for (std::size_t j = 0; j < cfg.size(); j++) there[j] = cfg[j] + t * (end[j] - cfg[j]);
        now.place(robot, there);
        for (const Survey::Overlap &overlap : at.overlaps) {
            const Scene::Pair &pair = scene_.pair(overlap.pair);
            const Pose rel = relative(now.link(robot, pair.path.link_a()), now.link(robot, pair.path.link_b()));
            if (pair_state(*pair.a, *pair.b, rel, true) == PairState::apart) continue;
            double way = 0.0;
            separations(PosedPair(*pair.a, *pair.b, rel), {&overlap.direction, 1}, true, {&way, 1});
            if (way > overlap.depth + CLOSER) {
                who = {static_cast<int>(overlap.pair), -1, -1};
                return false;
            }
        }
        for (const Survey::Near &near : at.within) {
            if (near.distance != -INFINITE) continue;
            const LinkSpheres &model = around->spheres();
            const LinkSpheres::Link &link = model.link(near.place);
            const int number = around->link(near.place);
            const Pose pose = around->base() * now.poses[static_cast<std::size_t>(robot.link_places()[static_cast<std::size_t>(number)].body)];
            for (int s = link.first; s < link.first + link.count; s++) {
                const Ball &ball = model.exact[static_cast<std::size_t>(s)];
                if (around->world().distance_lower_bound(near.obstacle, pose.apply(ball.center), ball.radius) - ball.radius < near.depth - CLOSER) {
                    who = {-1, number, near.obstacle};
                    return false;
                }
            }
        }
    }
    return true;
}

SafeStep::Verdict SafeStep::prove(const WayToRest &asked, Survey &at, StepMemory &memory) const {
    thread_local std::vector<double> widths, moving, link_ways, link_ways_outside, kept, apart, ways, control;
    const std::span<const double> cfg = asked.begin, end = asked.end;
    const std::size_t n = cfg.size(), pairs = scene_.n_pairs(), places = scene_.around() ? scene_.around()->n_links() : 0;
    const Robot &robot = scene_.robot();
    Verdict out;
    out.proved = std::equal(cfg.begin(), cfg.end(), end.begin());
    if (out.proved) return out;
    widths.resize(n);
    for (std::size_t j = 0; j < n; j++) widths[j] = std::fabs(end[j] - cfg[j]);
    const bool bounded = joint_widths(robot, cfg, widths, moving);
    own_.ways(at.far, moving, link_ways);
    if (outside_) outside_->ways(at.far_outside, moving, link_ways_outside);
    const bool coming = places > 0 && std::any_of(asked.drift.begin(), asked.drift.end(), [](double v) { return v != 0.0; });
    const Scene &scene = coming ? moving_scenes(asked.drift, memory).still : scene_;
    kept.assign(pairs + places, ProofRequest::NOT_ASKED), apart.resize(pairs + places), ways.assign(pairs + places, INFINITE);
    ProofRequest request;
    request.budget = PARTS, request.likely = true, request.until = asked.until;
    request.keep = kept, request.apart = apart, request.ways = ways;
    bool contact = !at.overlaps.empty();
    for (std::size_t k = 0; k < pairs; k++) {
        const double way = own_way(k, link_ways);
        if (bounded) ways[k] = way;
        double least = 0.0;
        for (;;) {
            const double left = at.low[k] - buffer_;
            least = left > 0.0 ? std::min(asked.keep.metres + asked.keep.spare * way, share_of(left)) : left - CLOSER;
            apart[k] = at.low[k];
            if (request.left_of(k, buffer_ + least) > 0.0 || at.fresh[k] || scene_.pair(k).a == nullptr || at.low[k] == -INFINITE) break;
            measure_pair(k, buffer_ + options_.reach, memory, at, false);
            at.fresh[k] = 1;
        }
        if (at.low[k] != -INFINITE) kept[k] = extra_ + least;
    }
    std::vector<LinkObstacle> touching, close;
    double lowest = INFINITE;  // of what is within the clearance of an obstacle and does not touch it
    for (const Survey::Near &near : at.within) {
        close.push_back({near.place, near.obstacle});
        if (near.distance == -INFINITE)
            touching.push_back({near.place, near.obstacle}), contact = true;
        else
            lowest = std::min(lowest, near.distance - buffer_ - CLOSER);
    }
    for (std::size_t place = 0; place < places; place++) {
        const double left = at.low_outside[place] - buffer_;
        const double way = outside_->way(link_ways_outside, static_cast<int>(place), outside_->count(static_cast<int>(place)));
        apart[pairs + place] = at.low_outside[place];
        if (bounded) ways[pairs + place] = way;
        if (bounded && way == 0.0) continue;
        kept[pairs + place] = extra_ + (left > 0.0 ? std::min(asked.keep.metres + asked.keep.spare * way, share_of(left)) : 0.0);
    }
    control.assign(cfg.begin(), cfg.end());
    control.insert(control.end(), end.begin(), end.end());
    const std::vector<double> slack(n, 0.0);
    const Motion motion{n, 1, 2, control, slack};
    request.hints = memory.hints;
    const auto ask = [&](const Scene &scene) {
        PieceProof proof;
        scene.prove(motion, request, {&proof, 1});
        out.undecided = proof.outcome == Outcome::undecided, out.who = proof.who, out.t = proof.t;
        return proof.outcome == Outcome::free;
    };
    if (close.empty()) {
        if (!ask(scene)) return out;
    } else {
        // All that is apart stays apart; what is within the clearance comes no closer.
        if (!ask(scene.among(scene.around()->allowing(close)))) return out;
        if (lowest < INFINITE) {
            std::fill(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(pairs), ProofRequest::NOT_ASKED);
            for (std::size_t place = 0; place < places; place++)
                if (kept[pairs + place] != ProofRequest::NOT_ASKED) kept[pairs + place] = extra_ + lowest;
            if (!ask(scene.among(scene.around()->allowing(touching)))) return out;
        }
    }
    if (coming && !moving_clear(asked, at, link_ways_outside, memory, out)) return out;
    out.proved = !contact || contacts_no_deeper(cfg, end, at, out.who);
    return out;
}

// The programme ----------------------------------------------------------------------------------------------------

struct SafeStep::Programme {
    StepOptions options;
    Box box;
    std::span<const double> brake;
    std::size_t n;
    std::vector<double> A, least;
    std::vector<Held> who;
    std::vector<int> number;  // of the row of the survey, -1 for cuts
    std::vector<double> velocity;
    std::vector<int> active;  // rows that hold back,
    std::vector<std::pair<int, bool>> bounds;  // and joints; whether by the upper bound

    void add(const double *row, double limit, const Held &held, int of) {
        double slowest = 0.0, fastest = 0.0;
        for (std::size_t j = 0; j < n; j++) {
            slowest += row[j] * (row[j] > 0.0 ? box.low[j] : box.high[j]);
            fastest += row[j] * (row[j] > 0.0 ? box.high[j] : box.low[j]);
        }
        limit = std::min(limit, fastest - 1e-4 * std::fabs(fastest) - 1e-7);  // what nobody can move is left alone
        if (slowest >= limit) return;
        A.insert(A.end(), row, row + n);
        least.push_back(limit), who.push_back(held), number.push_back(of);
    }
    void take(const CollisionRows &found) {
        const double horizon = std::max(box.h / (1.0 - options.share), options.approach), closing = box.seconds / box.h;
        for (std::size_t k = 0; k < found.rows.size(); k++) {
            const CollisionRow &row = found.rows[k];
            const double room = options.parts ? row.distance - options.skin : std::max(row.distance - options.skin, 0.0);
            const Held held = row.contact ? Held{Held::contact, -1, -1} : held_by(row.who);
            // Before what comes, a robot must be able to stop.
            const double ahead = row.drift < 0.0 ? std::max(horizon, AHEAD) : horizon, drift = row.drift < 0.0 ? row.drift * closing : row.drift;
            add(&found.A[k * n], -room / ahead - drift, held, static_cast<int>(k));
        }
    }

    bool solve(const Objective &objective) {
        thread_local QpSolver solver;
        thread_local std::vector<double> H, f, low, high, rows, limits;
        thread_local std::vector<std::size_t> free;
        const std::size_t m = least.size();
        free.clear();
        for (std::size_t j = 0; j < n; j++)
            if (box.low[j] < box.high[j]) free.push_back(j);
        const std::size_t q = free.size();
        const auto fixed = [&](std::size_t j) { return box.low[j] >= box.high[j] ? box.low[j] : 0.0; };
        const auto fill = [&](std::size_t width) {
            H.assign(width * width, 0.0), f.assign(width, 0.0), low.assign(width, 0.0), high.assign(width, 0.0);
            rows.assign(m * width, 0.0), limits.assign(m, 0.0);
            for (std::size_t a = 0; a < q; a++) {
                f[a] = objective.f[free[a]], low[a] = box.low[free[a]], high[a] = box.high[free[a]];
                for (std::size_t j = 0; j < n; j++)
                    if (box.low[j] >= box.high[j]) f[a] += objective.H[free[a] * n + j] * fixed(j);
                for (std::size_t b = 0; b < q; b++) H[a * width + b] = objective.H[free[a] * n + free[b]];
            }
            for (std::size_t k = 0; k < m; k++) {
                limits[k] = least[k];
                for (std::size_t j = 0; j < n; j++) limits[k] -= A[k * n + j] * fixed(j);
                for (std::size_t a = 0; a < q; a++) rows[k * width + a] = A[k * n + free[a]];
            }
        };
        fill(q);
        QpStatus status = solver.solve({q, H, f, low, high, rows, limits});
        std::size_t width = q;
        if (status != QpStatus::optimal) {
            // Rows give way, all by the same share of what is between what they must at least be and braking.
            width = q + 1;
            fill(width);
            double most = 0.0, trace = 1.0;
            for (std::size_t k = 0; k < m; k++) {
                rows[k * width + q] = std::max(least[k] - dot(&A[k * n], brake.data(), n), 0.0) * (1.0 + 1e-9) + 1e-12;
                most = std::max(most, rows[k * width + q]);
            }
            for (std::size_t k = 0; k < m; k++) rows[k * width + q] /= std::max(most, 1e-12);
            for (std::size_t a = 0; a < q; a++) trace += H[a * width + a];
            H[q * width + q] = GIVING_WAY * trace, high[q] = std::max(most, 1e-12);
            status = solver.solve({width, H, f, low, high, rows, limits});
        }
        if (status != QpStatus::optimal) return false;
        velocity.resize(n);
        for (std::size_t j = 0; j < n; j++) velocity[j] = fixed(j);
        for (std::size_t a = 0; a < q; a++) velocity[free[a]] = solver.x()[a];
        active.clear(), bounds.clear();
        for (std::size_t k = 0; k < solver.active().size(); k++) {
            const std::size_t c = static_cast<std::size_t>(solver.active()[k]);
            if (!(solver.multipliers()[k] > ACTIVE)) continue;
            if (c >= 2 * width)
                active.push_back(static_cast<int>(c - 2 * width));
            else if (c % width < q)
                bounds.push_back({static_cast<int>(free[c % width]), c >= width});
        }
        return true;
    }
};

// The choice -------------------------------------------------------------------------------------------------------

class SafeStep::Choice {
  public:
    Choice(const SafeStep &self, const Tick &tick, StepMemory &memory, Clock::time_point until, std::span<const double> wanted = {})
        : self_(self), tick_(tick), memory_(memory), end_(until), until_(tick.stop.empty() ? until - (until - Clock::now()) / 3 : until), brake_(self.brake(tick)), box_(self.box(tick, brake_, false)),
          threat_(self.threat(tick, wanted, memory)) {}

    Step choose(Objective objective) {
        Survey &at = scratch<Survey>();
        const std::size_t n = self_.dof();
        std::vector<double> H, f;
        if (!threat_) memory_.refuge.clear();
        if (threat_) {
            note(out_.held, held_by(*threat_)), out_.met = true;
            f = self_.towards_refuge(tick_, *threat_, memory_, until_);
            if (!f.empty()) {
                H.assign(n * n, 0.0);
                for (std::size_t j = 0; j < n; j++) H[j * n + j] = 1.0;
                objective = {H, f};
            }
        }
        std::vector<double> widths(n);
        const double horizon = std::max(box_.h, self_.options_.approach);
        for (std::size_t j = 0; j < n; j++)
            widths[j] = std::min(std::max({std::fabs(box_.low[j]), std::fabs(box_.high[j]), std::fabs(brake_[j])}) * horizon, 1e3);
        self_.survey(tick_.cfg, widths, self_.options_.reach, memory_, at, tick_.drift);
        out_.clearance = at.lowest();
        Programme programme = this->programme(at);
        bool fell = false;
        std::vector<double> chosen = brake_;
        for (int round = 0; round <= self_.options_.cuts; round++) {
            if (late()) break;
            bool found = solve(objective, programme, at);
            if (!found && !fell) {
                fell = true;
                box_ = self_.box(tick_, brake_, true);
                programme = this->programme(at);
                found = solve(objective, programme, at);
            }
            if (!found) {
                note(out_.held, {Held::nothing, -1, -1});
                break;
            }
            chosen = programme.velocity;
            say(programme);
            const Verdict verdict = prove(chosen, at);
            if (verdict.proved) return made(chosen, false);
            if (verdict.who.pair < 0 && verdict.who.link < 0) break;
            note(out_.held, held_by(verdict.who)), out_.met = true;
            if (verdict.undecided || round == self_.options_.cuts || !cut(programme, chosen, verdict, at)) break;
        }
        for (const double share : DRAWN) {
            if (late()) break;
            std::vector<double> drawn(n);
            for (std::size_t j = 0; j < n; j++) drawn[j] = brake_[j] + share * (chosen[j] - brake_[j]);
            if (prove(drawn, at).proved) return made(drawn, false);
        }
        if (late()) note(out_.held, {Held::time, -1, -1}), out_.late = true;
        if (!tick_.stop.empty()) {
            out_.stop.assign(tick_.stop.begin(), tick_.stop.end());
        } else {
            std::vector<double> end = end_of(brake_);
            if (within(end) && self_.prove({tick_.cfg, end, end_, {}, tick_.drift, pace_of(brake_)}, at, memory_).proved) out_.stop = std::move(end);
        }
        return made(brake_, true);
    }

    // Where the robot comes to rest after a tick of this velocity, at most.
    std::vector<double> end_of(std::span<const double> velocity) const {
        const double way = pace_of(velocity).way();
        std::vector<double> out(velocity.size());
        for (std::size_t j = 0; j < out.size(); j++) out[j] = tick_.cfg[j] + velocity[j] * way;
        return out;
    }
    Pace pace_of(std::span<const double> velocity) const { return {tick_.dt, self_.seconds_to_rest(velocity)}; }

    // Whether no joint passes a limit on the way to rest: one that is beyond it may come back.
    bool within(std::span<const double> end) const {
        for (std::size_t j = 0; j < end.size(); j++)
            if (end[j] > std::max(self_.limits_.upper[j], tick_.cfg[j]) || end[j] < std::min(self_.limits_.lower[j], tick_.cfg[j])) return false;
        return true;
    }

    bool threatened() const { return threat_.has_value(); }

  private:
    bool late() const { return Clock::now() >= until_; }

    Programme programme(const Survey &at) const {
        Programme out{self_.options_, box_, brake_, self_.dof(), {}, {}, {}, {}, {}, {}, {}};
        out.take(at.found);
        return out;
    }

    // Solves; where spheres hold the answer back, measures the meshes behind them and solves again.
    bool solve(const Objective &objective, Programme &programme, Survey &at) {
        bool found = programme.solve(objective);
        for (int look = 0; found && look < MEASURED; look++) {
            std::vector<Culprit> rough;
            for (int k : programme.active) {
                const int number = programme.number[static_cast<std::size_t>(k)];
                if (number < 0 || !at.found.rows[static_cast<std::size_t>(number)].rough) continue;
                const Culprit &who = at.found.rows[static_cast<std::size_t>(number)].who;
                if (std::find(rough.begin(), rough.end(), who) == rough.end()) rough.push_back(who);
            }
            if (rough.empty()) break;
            const double limit = self_.options_.reach + self_.buffer_;
            for (const Culprit &who : rough) {
                at.drop_rough(who, self_.dof());
                if (who.pair >= 0) {
                    self_.measure_pair(static_cast<std::size_t>(who.pair), limit, memory_, at, true);
                } else {
                    self_.measure_obstacle(self_.scene_.around()->spheres().number[static_cast<std::size_t>(who.link)], who.obstacle, limit, at);
                }
            }
            // The cuts stay.
            std::vector<std::size_t> cuts;
            for (std::size_t k = 0; k < programme.number.size(); k++)
                if (programme.number[k] < 0) cuts.push_back(k);
            Programme again = this->programme(at);
            for (std::size_t k : cuts) again.add(&programme.A[k * self_.dof()], programme.least[k], programme.who[k], -1);
            programme = std::move(again);
            found = programme.solve(objective);
        }
        return found;
    }

    void say(const Programme &programme) {
        for (const auto &[joint, above] : programme.bounds) {
            const std::size_t j = static_cast<std::size_t>(joint);
            note(out_.held, {above ? box_.why_high[j] : box_.why_low[j], joint, -1});
        }
        for (int k : programme.active) note(out_.held, programme.who[static_cast<std::size_t>(k)]), out_.met = true;
    }

    Verdict prove(std::span<const double> velocity, Survey &at) {
        const std::vector<double> end = end_of(velocity);
        if (!within(end)) return {};
        return self_.prove({tick_.cfg, end, until_, {self_.options_.keep, self_.options_.spare}, tick_.drift, pace_of(velocity)}, at, memory_);
    }

    // Adds the row of what was in the way as it is there; false where that says nothing new.
    bool cut(Programme &programme, std::span<const double> velocity, const Verdict &verdict, const Survey &at) {
        Survey there;
        there.drift = tick_.drift;
        const std::size_t n = self_.dof();
        const std::vector<double> end = end_of(velocity);
        const Pace pace = pace_of(velocity);
        std::vector<double> cfg(n);
        StepMemory memory;
        memory.pairs.resize(self_.scene_.n_pairs()), memory.hints = memory_.hints;
        double now = 0.0;
        if (verdict.who.pair >= 0) now = std::max(at.low[static_cast<std::size_t>(verdict.who.pair)] - self_.buffer_, 0.0);
        const double ask = self_.options_.keep + CUT + self_.options_.share * now;
        bool violated = false;
        double shares[] = {std::max(verdict.t, 0.15), 0.5, 1.0};
        for (double t : shares) {
            if (late()) return false;
            for (; t > 0.05; t *= 0.5) {
                for (std::size_t j = 0; j < n; j++) cfg[j] = tick_.cfg[j] + t * (end[j] - tick_.cfg[j]);
                there.at.place(self_.scene_.robot(), cfg);
                there.low.assign(self_.scene_.n_pairs(), 0.0), there.fresh.assign(self_.scene_.n_pairs(), 0), there.within.clear(), there.overlaps.clear();
                there.low_outside.assign(self_.scene_.around() ? self_.scene_.around()->n_links() : 0, INFINITE);
                there.found.rows.clear(), there.found.A.clear();
                const double limit = self_.buffer_ + 0.5 * self_.options_.reach;
                if (verdict.who.pair >= 0) {
                    const std::size_t pair = static_cast<std::size_t>(verdict.who.pair);
                    if (self_.scene_.pair(pair).a == nullptr) return false;
                    memory.pairs[pair] = {};
                    self_.measure_pair(pair, limit, memory, there, true);
                } else {
                    const int place = self_.scene_.around()->spheres().number[static_cast<std::size_t>(verdict.who.link)];
                    if (self_.scene_.around()->mesh(place) == nullptr) return false;
                    self_.measure_obstacle(place, verdict.who.obstacle, limit, there);
                }
                if (!there.found.rows.empty() && !there.found.rows[0].contact) break;
                if (there.found.rows.empty() && there.overlaps.empty() && there.within.empty()) break;  // far away
            }
            if (there.found.rows.empty() || there.found.rows[0].contact) continue;
            const double distance = there.found.rows[0].distance + there.found.rows[0].drift * pace.time(t);
            const double *row = there.found.A.data();
            violated = violated || distance < ask;
            programme.add(row, dot(row, velocity.data(), n) + (ask - distance) / (t * pace.way()), held_by(verdict.who), -1);
        }
        return violated;
    }

    Step made(std::span<const double> velocity, bool braked) {
        const std::size_t n = self_.dof();
        out_.velocity.assign(velocity.begin(), velocity.end());
        out_.cfg.resize(n);
        for (std::size_t j = 0; j < n; j++) out_.cfg[j] = tick_.cfg[j] + velocity[j] * tick_.dt;
        if (!braked) out_.stop = end_of(velocity);
        out_.braked = braked;
        return std::move(out_);
    }

    const SafeStep &self_;
    const Tick &tick_;
    StepMemory &memory_;
    Clock::time_point end_, until_;  // a part of the time is kept for braking where that is not proved yet
    std::vector<double> brake_;
    Box box_;
    std::optional<Culprit> threat_;  // the robot has to make way for an obstacle that comes
    Step out_;
};

namespace {

Clock::time_point deadline(double budget) {
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(budget, 1e6)));
}

}  // namespace

Step SafeStep::step(const Tick &tick, const Objective &objective, StepMemory &memory) const {
    return Choice(*this, tick, memory, deadline(tick.budget)).choose(objective);
}

Step SafeStep::guard(StepLoop &loop, std::span<const double> cfg, std::span<const double> wanted, double dt, double budget, bool exactly,
                     bool &altered) const {
    const std::vector<double> still(dof(), 0.0);
    Tick tick{cfg, still, {}, dt, budget, loop.drift};
    double off = INFINITE;
    if (limited_ && loop.cfg.size() == cfg.size()) {
        off = 0.0;
        for (std::size_t j = 0; j < cfg.size(); j++) off = std::max(off, std::fabs(cfg[j] - loop.cfg[j]));
    }
    if (off <= FOLLOWED) tick.velocity = loop.velocity;
    if (off == 0.0) {
        tick.stop = loop.stop;
    } else if (off <= FOLLOWED && !loop.stop.empty()) {
        // Measured beside the command: braking as it was told keeps speeds and accelerations. Only where that would pass a joint's limit
        // or is not proved from here, it goes to where the last stop ends, by noise maybe faster.
        const Choice slower(*this, tick, loop.memory, deadline(budget));
        const std::vector<double> end = slower.end_of(brake(tick));
        if (!(slower.within(end) && proved(cfg, end, budget, loop.memory)) && proved(cfg, loop.stop, budget, loop.memory)) tick.stop = loop.stop;
    }
    Step out = towards(tick, wanted, loop.memory, exactly, altered);
    loop.follow(out);
    return out;
}

Step SafeStep::towards(const Tick &tick, std::span<const double> wanted, StepMemory &memory, bool exactly, bool &altered) const {
    const Clock::time_point until = deadline(tick.budget);
    const std::size_t n = dof();
    std::vector<double> rate(n), H(n * n, 0.0), f(n), widths(n);
    for (std::size_t j = 0; j < n; j++) rate[j] = (wanted[j] - tick.cfg[j]) / tick.dt, f[j] = -rate[j], H[j * n + j] = 1.0;
    Choice choice(*this, tick, memory, until, wanted);
    bool fits = exactly;
    for (std::size_t j = 0; j < n; j++) {
        const double slack = HOLDS * (1.0 + std::fabs(rate[j])), a = limits_.acceleration[j];
        fits = fits && std::fabs(rate[j]) <= limits_.speed[j] + slack && std::fabs(rate[j] - tick.velocity[j]) <= a * tick.dt + slack;
    }
    std::vector<double> end = choice.end_of(rate);
    if (fits && !choice.threatened() && choice.within(end)) {
        Survey &at = scratch<Survey>();
        for (std::size_t j = 0; j < n; j++) widths[j] = std::fabs(end[j] - tick.cfg[j]);
        survey(tick.cfg, widths, options_.reach, memory, at, tick.drift);
        bool ahead = true;  // of what comes towards the robot
        for (std::size_t k = 0; k < at.found.rows.size(); k++) {
            const CollisionRow &row = at.found.rows[k];
            if (!(row.drift < 0.0)) continue;
            const double room = std::max(row.distance - options_.skin, 0.0), horizon = std::max(choice.pace_of(rate).seconds(), options_.approach);
            ahead = ahead && dot(&at.found.A[k * n], rate.data(), n) + row.drift >= -room / horizon;
        }
        if (ahead && prove({tick.cfg, end, until, {HAIR, 0.0}, tick.drift, choice.pace_of(rate)}, at, memory).proved) {
            altered = false, memory.refuge.clear();
            Step out;
            out.cfg.assign(wanted.begin(), wanted.end()), out.velocity = std::move(rate), out.stop = std::move(end);
            out.clearance = at.lowest();
            return out;
        }
    }
    altered = true;
    return choice.choose({H, f});
}

bool SafeStep::proved(std::span<const double> begin, std::span<const double> end, double budget, StepMemory &memory) const {
    Survey &at = scratch<Survey>();
    std::vector<double> widths(dof());
    for (std::size_t j = 0; j < widths.size(); j++) widths[j] = std::fabs(end[j] - begin[j]);
    survey(begin, widths, options_.reach, memory, at);
    return prove({begin, end, deadline(budget)}, at, memory).proved;
}

}  // namespace elbowroom
