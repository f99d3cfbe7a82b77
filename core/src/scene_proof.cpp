#include "elbowroom/scene_proof.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

namespace elbowroom {
namespace {

constexpr double COARSE = 0.05;   // metres, about, that things go within half a part at first
constexpr int MOST = 512;         // parts of a piece at first
constexpr int CUTS = 4;           // parts that a refused one is cut into,
constexpr int LEVELS = 2;         // and how often: beyond, float64 at the real distances shows more
constexpr float WISH = 1e-3f;     // metres of clearance above the buffer that a part is cut for: a margin worth stating
constexpr double NARROW = 0.125;  // parts on which joints move less than this share of their slack are not cut
constexpr double ROUNDING = 1e-7; // metres: of places on a motion, of pads in float32
constexpr float ROUND_UP = 1.0f + 1e-5f;  // of sums of ways in float32
constexpr std::size_t FEW_OPEN = 6;  // pairs of a short motion that are asked one by one at once
constexpr std::size_t MANY_PAIRS = 200;  // of a robot whose parts take long to look at
constexpr std::size_t BITS = 64;

F32x16 load16(const float *p) { return {load8(p), load8(p + LANES)}; }
float at(F32x16 v, int k) { return lane(v, k); }

// Sets of numbers.
bool has(std::span<const std::uint64_t> set, std::size_t k) { return set[k / BITS] >> (k % BITS) & 1u; }
void add(std::span<std::uint64_t> set, std::size_t k) { set[k / BITS] |= std::uint64_t{1} << (k % BITS); }
bool any(std::span<const std::uint64_t> set) {
    return std::any_of(set.begin(), set.end(), [](std::uint64_t word) { return word != 0; });
}

// Smallest of what spheres of a pair are apart beyond a pad of the lane; starts from what is worth knowing.
struct Keeping {
    F32x16 best;
    F32x16 pad;
    float slack;  // more than rounding can take: what it hides is not closer
    unsigned wanted;

    unsigned near(const Point32<F32x16> &a, const Point32<F32x16> &b, float reach) const {
        const F32x16 limit = max(best + pad + (reach + slack), F32x16{});
        return bits(squared_distance(a, b) < limit * limit) & wanted;
    }
    void row(const LinkSpheres &model, const SphereBlock &block, int sphere, const LinkSpheres::Group &group) {
        const Point32<F32x16> a = block.point(sphere);
        const float radius = model.ball(sphere).radius;
        for (int k = group.first; k < group.first + group.count; k++) {
            const float reach = radius + model.ball(k).radius;
            if (!near(a, block.point(k), reach)) continue;
            best = min(sqrt(squared_distance(a, block.point(k))) - pad - splat16(reach), best);
        }
    }
    bool settled() const { return false; }
};

// How far points within `far` of a point can go, in every lane.
template <class Joints>
F32x16 way_of(const SphereBlock &block, const Point32<F32x16> &p, float far, const Joints &joints, const std::vector<float> &chords) {
    F32x16 total{};
    for (const auto &joint : joints) {
        const F32x16 chord = load16(&chords[static_cast<std::size_t>(joint.joint) * WIDE]);
        if (!joint.turns) {
            total = total + chord;
            continue;
        }
        const Pose32<F32x16> &pose = block.poses[static_cast<std::size_t>(joint.body)];
        const F32x16 x = p.x - pose.t[0], y = p.y - pose.t[1], z = p.z - pose.t[2];
        const F32x16 u = y * pose.r[8] - z * pose.r[5], v = z * pose.r[2] - x * pose.r[8], w = x * pose.r[5] - y * pose.r[2];
        const F32x16 distance = sqrt(fused(u, u, fused(v, v, w * w)));
        total = fused(chord, (distance + far) + total, total);
    }
    return total * splat16(ROUND_UP);
}

std::vector<float> far_of(const LinkSpheres &model) {
    std::vector<float> out;
    for (std::size_t k = 0; k < model.links.size(); k++) {
        const LinkSpheres::Link &link = model.links[k];
        double far = 0.0;
        for (int s = link.first; s < link.first + link.count; s++)
            far = std::max(far, norm(model.exact[static_cast<std::size_t>(s)].center - model.exact[k].center));
        out.push_back(rounded_up(far));
    }
    return out;
}

// What rounding can take from the distance of a point from an axis: of both places, and of the direction.
float blur_of(const LinkSpheres &model) {
    double turn = 0.0;
    for (const BodyPoses::Error &error : model.bodies.error_bounds(*model.robot, model.largest)) turn = std::max(turn, error.turn);
    return rounded_up(2.0 * model.margin + 2.0 * (turn + 8.0 * UNIT32) * model.reach);
}

LaneJoints lane_joints(const LinkSpheres &model, const BodyChain &chain, std::span<const int> moving) {
    LaneJoints out;
    for (int k : moving) {
        const int body = chain.bodies[static_cast<std::size_t>(k)];
        out.push_back({model.bodies.place(body), model.robot->bodies()[static_cast<std::size_t>(body)].joint,
                       chain.chain.joints()[static_cast<std::size_t>(k)].turns});
    }
    return out;
}

}  // namespace

LaneBounds::LaneBounds(const LinkSpheres &model) : far(far_of(model)), blur(blur_of(model)) {}

// A part of a piece, and what is to be looked at on it.
struct SceneProof::Job {
    Part part;
    std::vector<std::uint64_t> open;  // pairs of links, then links among obstacles
    float apart = 0.0f;               // least of what their spheres are apart in the middle
};

OwnProofs::OwnProofs(const Scene &scene) : bounds(scene.spheres()) {
    const LinkSpheres &model = scene.spheres();
    const Robot &robot = scene.robot();
    for (std::size_t k = 0; k < scene.n_pairs(); k++) {
        const Scene::Pair &pair = scene.pair(k);
        const LinkPair links{pair.path.link_a(), pair.path.link_b()};
        pairs.emplace_back(model, links, pair.a, pair.b, robot, scene.range().lower, scene.range().upper);
        moving.push_back({{lane_joints(model, pairs[k].joints(), pairs[k].moving(0)), lane_joints(model, pairs[k].joints(), pairs[k].moving(1))}});
    }
    // Most of the distance of a link from a joint, with the joints at zero: about what it moves in the middle of its range.
    std::vector<double> reach(static_cast<std::size_t>(robot.dof()));
    from_root.resize(model.links.size());
    const std::vector<double> zeros(robot.laws().size() + 4, 0.0);
    ExactPoses poses;
    poses.start(robot, zeros.data(), 1);
    for (std::size_t link = 0; link < model.number.size(); link++) {
        if (model.number[link] < 0) continue;
        const BodyChain chain(robot, -1, static_cast<int>(link));
        LaneJoints &joints = from_root[static_cast<std::size_t>(model.number[link])];
        for (std::size_t k = 0; k < chain.bodies.size(); k++)
            joints.push_back({model.bodies.place(chain.bodies[k]), robot.bodies()[static_cast<std::size_t>(chain.bodies[k])].joint,
                              chain.chain.joints()[k].turns});
        const Vec3 middle = poses.body_of_link(static_cast<int>(link), 0).apply(model.exact[static_cast<std::size_t>(model.number[link])].center);
        std::fill(reach.begin(), reach.end(), 0.0);
        for (std::size_t k = 0; k < chain.bodies.size(); k++) {
            const ChainJoint &joint = chain.chain.joints()[k];
            const double slope = joint.law.size() > 1 ? std::fabs(joint.law[1]) : 0.0;
            const Pose body = poses.body_pose(chain.bodies[k], 0);
            reach[static_cast<std::size_t>(joint.variable)] += slope * (joint.turns ? 0.7 * norm(middle - body.translation()) : 1.0);
        }
        rough.add(reach);
    }
}

SceneProof::SceneProof(const Scene &scene, std::shared_ptr<const OwnProofs> own)
    : scene_(scene), own_(std::move(own)), pairs_(own_->pairs), costly_(pairs_.size() >= MANY_PAIRS) {
    if (const Surroundings *around = scene.around()) {
        outside_.emplace(around->spheres());
        costly_ |= ClearanceGrid::pays(around->world());
        for (int place = 0; place < static_cast<int>(around->n_links()); place++) {
            links_.emplace_back(*around, place);
            link_lanes_.push_back(lane_joints(around->spheres(), links_.back().joints(), links_.back().moving()));
        }
    }
    words_ = (pairs_.size() + links_.size() + BITS - 1) / BITS;
}

double SceneProof::rough_travel(const Motion &motion, std::size_t piece) const {
    const double *points = motion.piece(piece);
    return own_->rough.travel([&](std::size_t d) {
        double total = 0.0;
        for (std::size_t k = 0; k + 1 < motion.points; k++) total += std::fabs(points[(k + 1) * motion.dof + d] - points[k * motion.dof + d]);
        return total;
    });
}

// Sixteen parts in lanes.
struct SceneProof::Lanes {
    PartOfPiece part;
    std::vector<double> cfgs, width, size;  // (moving or dof, WIDE)
    std::vector<float> chords;
    double along[WIDE], beside[WIDE];
    bool beyond[WIDE];

    void set(const Scene &scene, const Motion &motion, std::span<const Job> jobs, bool moving) {
        const Robot &robot = scene.robot();
        const std::size_t joints = robot.laws().size(), dof = motion.dof;
        cfgs.resize(WIDE * dof), width.resize(WIDE * joints), size.resize(WIDE * joints), chords.resize(WIDE * joints);
        for (std::size_t lane = 0; lane < WIDE; lane++) {
            const Part &own = jobs[std::min(lane, jobs.size() - 1)].part;
            if (lane < jobs.size()) part.at(motion, own.piece, own.t, own.half);
            std::copy(part.middle.begin(), part.middle.end(), cfgs.begin() + static_cast<std::ptrdiff_t>(lane * dof));
            along[lane] = part.along, beside[lane] = part.beside;
            beyond[lane] = false;
            for (int joint : robot.order()) {
                const JointLaw &law = robot.laws()[static_cast<std::size_t>(joint)];
                const std::size_t k = static_cast<std::size_t>(joint) * WIDE + lane, d = static_cast<std::size_t>(law.driver);
                if (law.coupled) {
                    const std::size_t of = d * WIDE + lane;
                    double slope = 0.0, total = 0.0;
                    for (int c = JointLaw::TERMS; c-- > 1;) {
                        slope = slope * size[of] + c * std::fabs(law.coefficients[c]);
                        total = (total + std::fabs(law.coefficients[c])) * size[of];
                    }
                    width[k] = slope * width[of], size[k] = total + std::fabs(law.coefficients[0]);
                } else {
                    width[k] = part.width[d], size[k] = part.size[d];
                }
                beyond[lane] |= !(size[k] <= scene.spheres().largest[static_cast<std::size_t>(joint)]);
                // The chord 2 sin(w / 2) is no longer than w, nor than 2; slides are long enough to end any proof.
                chords[k] = moving ? static_cast<float>(width[k] * (1.0 + 1e-6)) + 1e-30f : 0.0f;
            }
        }
    }
};

void SceneProof::look(const Motion &motion, const ProofRequest &request, std::span<const Job> jobs, std::span<PieceProof> out,
                      std::vector<Job> &smaller, std::vector<Job> &exact, int level) const {
    thread_local Lanes lanes;
    const bool proving = request.look != Look::glance;
    const LinkSpheres &model = scene_.spheres();
    const int count = static_cast<int>(jobs.size());
    lanes.set(scene_, motion, jobs, proving);
    SphereBlock &block = scratch<SphereBlock>();
    block.fit(model);
    const double *rows[WIDE];
    unsigned good = first_lanes(count);
    for (int k = 0; k < count; k++)
        if (lanes.beyond[k]) good &= ~(1u << k);
    const int sound = good ? std::countr_zero(good) : -1;
    for (int k = 0; k < WIDE; k++) {
        const int from = (good >> k & 1u) ? k : std::max(sound, 0);
        rows[k] = lanes.cfgs.data() + static_cast<std::size_t>(from) * motion.dof;
    }
    std::vector<Job> refused(static_cast<std::size_t>(count)), met(static_cast<std::size_t>(count));
    for (int k = 0; k < count; k++) {
        const Job &job = jobs[static_cast<std::size_t>(k)];
        out[job.part.piece].by_spheres++;
        refused[static_cast<std::size_t>(k)] = met[static_cast<std::size_t>(k)] = {job.part, {}, INFINITE32};
    }
    float kept[WIDE];  // what is proved in each lane
    std::fill(kept, kept + WIDE, static_cast<float>(request.margin));
    const auto mark = [&](Job &job, std::size_t number) {
        if (job.open.empty()) job.open.assign(words_, 0);
        add(job.open, number);
    };
    const auto note = [&](F32x16 found, F32x16 way, unsigned wanted, std::size_t number) {
        for (unsigned left = bits(found < splat16(static_cast<float>(request.margin))) & wanted; left; left &= left - 1) {
            const int k = std::countr_zero(left);
            // Above zero it is proved; a part that may be cut is to show a little more.
            const float enough = level < LEVELS ? std::min(WISH, static_cast<float>(request.margin)) : 0.0f;
            Job &meeting = met[static_cast<std::size_t>(k)];
            const float apart = at(found, k) + at(way, k);
            if (apart <= 0.0f)
                mark(meeting, number), meeting.apart = std::min(meeting.apart, apart);
            else if (!(at(found, k) > 0.0f && at(found, k) >= enough))
                mark(refused[static_cast<std::size_t>(k)], number);
            else
                kept[k] = std::min(kept[k], at(found, k));
        }
    };
    const bool alike = std::all_of(jobs.begin(), jobs.end(), [&](const Job &job) { return job.open == jobs[0].open; });
    const auto open_lanes = [&](std::size_t number) {
        if (alike) return has(jobs[0].open, number) ? good : 0u;
        unsigned out_lanes = 0;
        for (int k = 0; k < count; k++) out_lanes |= static_cast<unsigned>(has(jobs[static_cast<std::size_t>(k)].open, number)) << k;
        return out_lanes & good;
    };
    if (good && block.expand(model, rows) < 0) {
        block.place_links(model);
        const float pad = rounded_up(scene_.buffer() + model.margin + ROUNDING), slack = 2.0f * model.pad;
        // How far links go in the frame of the root: more than they go towards each other, and known for all pairs at once.
        thread_local std::vector<F32x16> ways;
        ways.resize(model.links.size());
        for (std::size_t k = 0; k < model.links.size(); k++)
            ways[k] = way_of(block, block.point(static_cast<int>(k)), own_->bounds.far[k] + own_->bounds.blur, own_->from_root[k], lanes.chords);
        for (std::size_t p = 0; p < pairs_.size(); p++) {
            const unsigned wanted = open_lanes(p);
            if (!wanted) continue;
            const LinkPair links = scene_.pair(p).links;
            const F32x16 most = ways[static_cast<std::size_t>(links.a)] + ways[static_cast<std::size_t>(links.b)];
            const Keeping far{splat16(static_cast<float>(request.margin)), most + pad, slack, wanted};
            if (!far.near(block.point(links.a), block.point(links.b), model.ball(links.a).radius + model.ball(links.b).radius)) continue;
            F32x16 way{};
            for (int end = 0; end < 2; end++) {
                const int place = end == 0 ? links.a : links.b;
                way = way + way_of(block, block.point(place), own_->bounds.far[static_cast<std::size_t>(place)] + own_->bounds.blur,
                                   own_->moving[p].ends[end], lanes.chords);
            }
            const float more = rounded_up(request.kept(p));
            Keeping query{splat16(static_cast<float>(request.margin)), way + (pad + more), slack, wanted};
            block.ask(model, links, query);
            note(query.best, way, wanted, p);
        }
        if (const Surroundings *around = scene_.around()) {
            SphereBlock &other = scene_.outside(block);
            const float away = rounded_up(around->pad() + ROUNDING);
            for (const int place : around->moving()) {
                const std::size_t number = pairs_.size() + static_cast<std::size_t>(place);
                const unsigned wanted = open_lanes(number);
                if (!wanted) continue;
                const F32x16 way = way_of(other, other.point(place), outside_->far[static_cast<std::size_t>(place)] + outside_->blur,
                                          link_lanes_[static_cast<std::size_t>(place)], lanes.chords);
                const float more = rounded_up(request.kept(number));
                const F32x16 found = around->apart(other, place, way + (away + more), static_cast<float>(request.margin), wanted);
                note(found, way, wanted, number);
            }
        }
    } else {
        good = 0;
    }
    for (int k = 0; k < count; k++) {
        const std::size_t i = static_cast<std::size_t>(k);
        PieceProof &proof = out[jobs[i].part.piece];
        if (!(good >> k & 1u)) {
            exact.push_back(jobs[i]);
            continue;
        }
        const bool narrow = lanes.along[k] < NARROW * lanes.beside[k];
        if (!proving) {
            if (any(refused[i].open) || any(met[i].open)) proof.outcome = Outcome::blocked, proof.t = jobs[i].part.t;
            continue;
        }
        proof.clearance = std::min(proof.clearance, static_cast<double>(kept[k]));
        if (any(met[i].open)) exact.push_back(std::move(met[i]));
        if (!any(refused[i].open)) continue;
        if (level < LEVELS && !narrow) {
            const Part &own = refused[i].part;
            for (int c = 0; c < CUTS; c++) {
                const double half = own.half / CUTS;
                smaller.push_back({{own.piece, own.t + own.half * ((2.0 * c + 1.0) / CUTS - 1.0), half}, refused[i].open});
            }
        } else {
            exact.push_back(std::move(refused[i]));
        }
    }
}

void SceneProof::finish(const Motion &motion, const ProofRequest &request, const Job &job, PieceProof &out) const {
    for (std::size_t n = 0; n < links_.size() && out.outcome == Outcome::free; n++)
        if (has(job.open, pairs_.size() + n)) {
            const double buffer = std::max(scene_.around()->buffer() + request.kept(pairs_.size() + n), 0.0);
            links_[n].prove(*scene_.around(), motion, job.part, buffer, request, out);
        }
    for (std::size_t p = 0; p < pairs_.size() && out.outcome == Outcome::free; p++) {
        if (!has(job.open, p)) continue;
        std::optional<TriangleNumbers> none;
        ProofRequest asked = request;
        if (scene_.pair(p).only_meshes) asked.look = Look::meshes;
        const double buffer = scene_.buffer() + request.kept(p);
        pairs_[p].prove(motion, job.part, pairs_[p].has_meshes() ? std::max(buffer, 0.0) : buffer, asked,
                        request.hints.empty() ? none : request.hints[p], out);
        if (out.outcome != Outcome::free) out.who = {static_cast<int>(p), -1, -1};
    }
}

void SceneProof::look_at_middle(const Motion &motion, const ProofRequest &request, const Job &job, bool obstacles, PieceProof &out) const {
    const auto blocked = [&](Culprit who) { out.outcome = Outcome::blocked, out.t = job.part.t, out.who = who; };
    for (std::size_t n = 0; obstacles && n < links_.size() && out.outcome == Outcome::free; n++) {
        if (!has(job.open, pairs_.size() + n) || scene_.around()->mesh(static_cast<int>(n)) == nullptr) continue;
        out.by_meshes++;
        const double buffer = std::max(scene_.around()->buffer() + request.kept(pairs_.size() + n), 0.0);
        const int obstacle = links_[n].blocked_in_middle(*scene_.around(), motion, job.part, buffer);
        if (obstacle >= 0) blocked({-1, scene_.around()->link(static_cast<int>(n)), obstacle});
    }
    for (std::size_t p = 0; !obstacles && p < pairs_.size() && out.outcome == Outcome::free; p++) {
        if (!has(job.open, p) || !pairs_[p].has_meshes()) continue;
        out.by_meshes++;
        if (pairs_[p].blocked_in_middle(motion, job.part, std::max(scene_.buffer() + request.kept(p), 0.0)))
            blocked({static_cast<int>(p), -1, -1});
    }
}

void SceneProof::prove_likely(const Motion &motion, std::size_t piece, const ProofRequest &request, std::vector<std::uint64_t> open,
                              std::span<const std::uint64_t> still, std::span<PieceProof> out) const {
    std::size_t count = 0;
    for (std::uint64_t word : open) count += static_cast<std::size_t>(std::popcount(word));
    if (count > FEW_OPEN && !request.late() && norm(request.shift) == 0.0) {
        std::vector<Job> jobs, smaller, left;
        for (int c = 0; c < WIDE; c++) jobs.push_back({{piece, (c + 0.5) / WIDE, 0.5 / WIDE}, open});
        look(motion, request, jobs, out, smaller, left, LEVELS);
        out[piece].by_spheres = 0;
        std::fill(open.begin(), open.end(), std::uint64_t{0});
        for (const Job &job : left)
            for (std::size_t w = 0; w < words_; w++) open[w] |= job.open[w];
    }
    for (std::size_t w = 0; w < words_; w++) open[w] |= still[w];
    finish(motion, request, {{piece, 0.5, 0.5}, std::move(open)}, out[piece]);
}

void SceneProof::look_at_piece(const Motion &motion, std::size_t piece, PieceProof &out) const {
    thread_local PartOfPiece now;
    now.at(motion, piece, 0.5, 0.0);
    const std::optional<Culprit> who = scene_.clash(now.middle);
    if (!who) return;
    // Where spheres decide, the proof looks at them in float64.
    const Surroundings *around = scene_.around();
    const bool meshes = who->pair >= 0 ? pairs_[static_cast<std::size_t>(who->pair)].has_meshes()
                                       : around->mesh(around->spheres().number[static_cast<std::size_t>(who->link)]) != nullptr;
    if (!meshes) return;
    out.outcome = Outcome::blocked, out.t = 0.5, out.who = *who;
    out.by_meshes++;
}

void SceneProof::prove(const Motion &motion, const ProofRequest &request, std::span<PieceProof> out) const {
    const bool nothing = pairs_.empty() && links_.empty();
    std::vector<std::uint64_t> in_lanes(words_, 0), by_meshes(words_, 0), still(words_, 0);
    double most = nothing ? UNBOUNDED : request.margin;  // of what can be stated
    const auto is_open = [&](std::size_t number, double buffer) {
        if (request.kept(number) == ProofRequest::NOT_ASKED) return false;
        const double left = request.left_of(number, buffer + request.kept(number));
        if (!(left > 0.0)) return true;
        most = std::min(most, left);
        return false;
    };
    for (std::size_t p = 0; p < pairs_.size(); p++)
        if (is_open(p, scene_.buffer())) add(scene_.pair(p).only_meshes ? by_meshes : in_lanes, p);
    for (std::size_t n = 0; n < links_.size(); n++)
        if (is_open(pairs_.size() + n, scene_.around()->buffer())) add(links_[n].moving().empty() ? still : in_lanes, pairs_.size() + n);
    if (request.likely) {
        for (std::size_t w = 0; w < words_; w++) in_lanes[w] |= by_meshes[w];
        for (std::size_t k = 0; k < motion.pieces; k++) {
            out[k] = {};
            out[k].clearance = most;
            prove_likely(motion, k, request, in_lanes, still, out);
        }
        return;
    }
    // Motions that are blocked are most often blocked in the middle of some part: that is looked for before anything is proved
    // in float64, which takes longer.
    std::vector<Job> jobs, smaller, exact, later;
    for (std::size_t k = 0; k < motion.pieces; k++) {
        out[k] = {};
        out[k].clearance = most;
        // The verdict knows one buffer for all, so it is no judge of those that shall keep more or less.
        if (costly_ && request.look == Look::meshes && request.keep.empty()) look_at_piece(motion, k, out[k]);
        if (out[k].outcome != Outcome::free) continue;
        const double travel = rough_travel(motion, k);
        const int parts = travel < 2.0 * COARSE * MOST ? static_cast<int>(travel / (2.0 * COARSE)) + 1 : MOST;
        if (any(by_meshes)) later.push_back({{k, 0.5, 0.5}, by_meshes});
        if (any(in_lanes))
            for (int c = 0; c < parts; c++) jobs.push_back({{k, (c + 0.5) / parts, 0.5 / parts}, in_lanes});
    }
    const bool with_meshes = request.look == Look::meshes;
    if (any(still) && request.look != Look::glance && motion.pieces > 0) {  // the same on every piece
        PieceProof once;
        once.clearance = most;
        if (with_meshes || !request.keep.empty())
            finish(motion, request, {{0, 0.5, 0.5}, still}, once);
        else if (scene_.around()->still_free(Judge::meshes))
            once.clearance = 0.0;
        else
            once.outcome = Outcome::undecided, once.t = 0.5;
        for (std::size_t k = 0; k < motion.pieces; k++)
            if (out[k].outcome == Outcome::free) out[k] = once;
        if (once.outcome != Outcome::free) return;
    }
    for (int level = 0; !jobs.empty(); level++) {
        smaller.clear();
        const std::size_t known = exact.size();
        for (std::size_t first = 0; first < jobs.size(); first += WIDE)
            look(motion, request, std::span(jobs).subspan(first, std::min<std::size_t>(WIDE, jobs.size() - first)), out, smaller, exact,
                 level);
        if (request.look == Look::glance) return;
        // Those whose spheres overlap most first: they are the likeliest to touch.
        std::stable_sort(exact.begin() + static_cast<std::ptrdiff_t>(known), exact.end(),
                         [](const Job &a, const Job &b) { return a.apart < b.apart; });
        for (const bool obstacles : {true, false})
            for (std::size_t k = known; with_meshes && k < exact.size(); k++)
                if (out[exact[k].part.piece].outcome == Outcome::free)
                    look_at_middle(motion, request, exact[k], obstacles, out[exact[k].part.piece]);
        jobs.clear();
        for (Job &job : smaller)
            if (out[job.part.piece].outcome == Outcome::free) jobs.push_back(std::move(job));
    }
    exact.insert(exact.end(), std::make_move_iterator(later.begin()), std::make_move_iterator(later.end()));
    for (const Job &job : exact)
        if (out[job.part.piece].outcome == Outcome::free) finish(motion, request, job, out[job.part.piece]);
}

}  // namespace elbowroom
