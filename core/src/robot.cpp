#include "elbowroom/robot.hpp"

#include "elbowroom/lanes.hpp"

namespace elbowroom {
namespace {

constexpr int LANES = 8;          // configurations placed at once,
constexpr int WIDE = LANES / 4;   // two vectors, whose chains of operations overlap in time

using Value = F64x4[WIDE];        // a number of each of LANES configurations
using FramePose = F64x4[7][WIDE]; // quaternion and position of a frame in each

struct Lanes {
    std::vector<F64x4> values;  // (moving, WIDE)
    std::vector<F64x4> poses;   // (frames, 7, WIDE)

    F64x4 *value(int joint) { return values.data() + static_cast<std::ptrdiff_t>(joint) * WIDE; }
    FramePose &pose(int frame) { return reinterpret_cast<FramePose *>(poses.data())[frame]; }
};

// Scratch memory of the thread.
Lanes &lanes_for(const Robot &robot) {
    thread_local Lanes lanes;
    lanes.values.resize(robot.laws().size() * WIDE);
    lanes.poses.resize(robot.frames().size() * 7 * WIDE);
    return lanes;
}

// Values of all moving joints from `count` rows of `cfgs`; spare lanes repeat the last row.
void expand(const Robot &robot, const double *cfgs, int count, Lanes &lanes) {
    const std::ptrdiff_t dof = robot.dof();
    for (int joint : robot.order()) {
        const JointLaw &law = robot.laws()[static_cast<std::size_t>(joint)];
        F64x4 *out = lanes.value(joint);
        if (law.coupled) {
            const F64x4 *of = lanes.value(law.driver);
            const double *c = law.coefficients;
            for (int h = 0; h < WIDE; h++) out[h] = c[0] + of[h] * (c[1] + of[h] * (c[2] + of[h] * (c[3] + of[h] * c[4])));
        } else {
            for (int k = 0; k < LANES; k++) out[k / 4][k % 4] = cfgs[std::min(k, count - 1) * dof + law.driver];
        }
    }
}

// `out` = `up` * (rotation q, translation v).
inline void compose(const FramePose &up, int h, const F64x4 (&q)[4], const F64x4 (&v)[3], FramePose &out) {
    const F64x4 pw = up[0][h], px = up[1][h], py = up[2][h], pz = up[3][h];
    out[0][h] = pw * q[0] - px * q[1] - py * q[2] - pz * q[3];
    out[1][h] = pw * q[1] + px * q[0] + py * q[3] - pz * q[2];
    out[2][h] = pw * q[2] - px * q[3] + py * q[0] + pz * q[1];
    out[3][h] = pw * q[3] + px * q[2] - py * q[1] + pz * q[0];
    const F64x4 cx = 2.0 * (py * v[2] - pz * v[1]), cy = 2.0 * (pz * v[0] - px * v[2]), cz = 2.0 * (px * v[1] - py * v[0]);
    out[4][h] = up[4][h] + v[0] + pw * cx + py * cz - pz * cy;
    out[5][h] = up[5][h] + v[1] + pw * cy + pz * cx - px * cz;
    out[6][h] = up[6][h] + v[2] + pw * cz + px * cy - py * cx;
}

void place_frames(const Robot &robot, Lanes &lanes) {
    const std::span<const Frame> frames = robot.frames();
    const Frame &root = frames[0];
    const double rest[7] = {root.still.w, root.still.x, root.still.y, root.still.z, root.shift.x, root.shift.y, root.shift.z};
    for (int j = 0; j < 7; j++)
        for (int h = 0; h < WIDE; h++) lanes.pose(0)[j][h] = splat4(rest[j]);
    for (std::size_t f = 1; f < frames.size(); f++) {
        const Frame &frame = frames[f];
        const FramePose &up = lanes.pose(frame.parent);
        FramePose &out = lanes.pose(static_cast<int>(f));
        const Quaternion a = frame.still, b = frame.turned;
        const F64x4 still[4] = {splat4(a.w), splat4(a.x), splat4(a.y), splat4(a.z)};
        const F64x4 shift[3] = {splat4(frame.shift.x), splat4(frame.shift.y), splat4(frame.shift.z)};
        for (int h = 0; h < WIDE; h++) {
            if (frame.kind == JointKind::revolute) {
                F64x4 s, c;
                sincos(0.5 * lanes.value(frame.joint)[h], s, c);
                const F64x4 turned[4] = {c * still[0] + s * b.w, c * still[1] + s * b.x, c * still[2] + s * b.y,
                                         c * still[3] + s * b.z};
                compose(up, h, turned, shift, out);
            } else if (frame.kind == JointKind::prismatic) {
                const F64x4 q = lanes.value(frame.joint)[h];
                const F64x4 moved[3] = {shift[0] + frame.slide.x * q, shift[1] + frame.slide.y * q, shift[2] + frame.slide.z * q};
                compose(up, h, still, moved, out);
            } else {
                compose(up, h, still, shift, out);
            }
        }
    }
}

// Calls `use(lanes, first row, number of rows)` for every block of configurations, all frames placed.
template <class Use> void each_block(const Robot &robot, std::span<const double> cfgs, std::size_t n, Use use) {
    Lanes &lanes = lanes_for(robot);
    for (std::size_t start = 0; start < n; start += LANES) {
        const int count = static_cast<int>(std::min<std::size_t>(LANES, n - start));
        expand(robot, cfgs.data() + start * static_cast<std::size_t>(robot.dof()), count, lanes);
        place_frames(robot, lanes);
        use(lanes, start, count);
    }
}

// A rotation whose third column is the axis.
Pose turned_to_z(Vec3 axis) {
    const Vec3 z = (1.0 / norm(axis)) * axis, size = abs(z);
    const Vec3 least = size.x <= size.y && size.x <= size.z ? Vec3{1, 0, 0} : size.y <= size.z ? Vec3{0, 1, 0} : Vec3{0, 0, 1};
    const Vec3 across = cross(least, z), x = (1.0 / norm(across)) * across, y = cross(z, x);
    return {{x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z}, {0, 0, 0}};
}

// Merges fixed frames into the bodies that carry them; gives the place of every frame.
std::vector<LinkPlace> find_bodies(std::span<const Frame> frames, std::vector<Body> &bodies) {
    std::vector<LinkPlace> places(frames.size());
    bodies.assign(1, Body{});
    for (std::size_t f = 1; f < frames.size(); f++) {
        const Frame &frame = frames[f];
        const LinkPlace up = places[static_cast<std::size_t>(frame.parent)];
        const Pose here = up.in_body * pose_of(frame.still, frame.shift);
        if (frame.kind == JointKind::fixed) {
            places[f] = {up.body, here};
            continue;
        }
        const Pose turn = turned_to_z(frame.axis);
        places[f] = {static_cast<int>(bodies.size()), turn.inverse()};
        bodies.push_back({up.body, frame.kind, frame.joint, here * turn});
    }
    return places;
}

}  // namespace

Pose pose_of(const Quaternion &q, Vec3 t) {
    const double n = 2.0 / (q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    return {{1.0 - n * (q.y * q.y + q.z * q.z), n * (q.x * q.y - q.w * q.z), n * (q.x * q.z + q.w * q.y),
             n * (q.x * q.y + q.w * q.z), 1.0 - n * (q.x * q.x + q.z * q.z), n * (q.y * q.z - q.w * q.x),
             n * (q.x * q.z - q.w * q.y), n * (q.y * q.z + q.w * q.x), 1.0 - n * (q.x * q.x + q.y * q.y)},
            {t.x, t.y, t.z}};
}

Robot::Robot(int dof, std::vector<Frame> frames, std::vector<JointLaw> laws, std::vector<int> order,
             std::vector<int> link_frames)
    : dof_(dof), frames_(std::move(frames)), laws_(std::move(laws)), order_(std::move(order)),
      link_frames_(std::move(link_frames)) {
    const std::vector<LinkPlace> places = find_bodies(frames_, bodies_);
    for (int frame : link_frames_) link_places_.push_back(places[static_cast<std::size_t>(frame)]);
}

void Robot::link_poses(std::span<const double> cfgs, std::span<double> out) const {
    const std::size_t width = n_links() * 7;
    if (width == 0) return;
    each_block(*this, cfgs, out.size() / width, [&](Lanes &lanes, std::size_t start, int count) {
        double *row = out.data() + start * width;
        for (std::size_t k = 0; k < n_links(); k++) {
            const FramePose &pose = lanes.pose(link_frames_[k]);
            for (int h = 0; 4 * h < count; h++) {
                // Two transposes write seven numbers: the fourth goes out twice, the same both times.
                F64x4 q[4] = {pose[0][h], pose[1][h], pose[2][h], pose[3][h]};
                F64x4 p[4] = {pose[3][h], pose[4][h], pose[5][h], pose[6][h]};
                transpose(q[0], q[1], q[2], q[3]);
                transpose(p[0], p[1], p[2], p[3]);
                for (int lane = 0; lane < std::min(4, count - 4 * h); lane++) {
                    double *at = row + static_cast<std::size_t>(4 * h + lane) * width + 7 * k;
                    store(at, q[lane]);
                    store(at + 3, p[lane]);
                }
            }
        }
    });
}

namespace {

Vec3 position(Lanes &lanes, int frame, int lane) {
    const FramePose &pose = lanes.pose(frame);
    return {pose[4][lane / 4][lane % 4], pose[5][lane / 4][lane % 4], pose[6][lane / 4][lane % 4]};
}

// A vector of a frame in world axes.
Vec3 turned(Lanes &lanes, int frame, int lane, Vec3 vector) {
    const FramePose &pose = lanes.pose(frame);
    const int h = lane / 4, at = lane % 4;
    const Vec3 v = {pose[1][h][at], pose[2][h][at], pose[3][h][at]}, twice = 2.0 * cross(v, vector);
    return vector + pose[0][h][at] * twice + cross(v, twice);
}

// Calls `add(actuated joint, linear, angular)` with the velocities per unit of each joint of a point that a frame carries.
template <class Add> void each_rate(const Robot &robot, Lanes &lanes, int lane, int frame, Vec3 point, Add add) {
    for (int f = frame; f > 0; f = robot.frames()[static_cast<std::size_t>(f)].parent) {
        const Frame &own = robot.frames()[static_cast<std::size_t>(f)];
        if (own.kind == JointKind::fixed) continue;
        const Vec3 axis = turned(lanes, f, lane, own.axis);
        double slope = 1.0;  // of the joint's value per unit of the actuated joint that drives it
        const JointLaw *law = &robot.laws()[static_cast<std::size_t>(own.joint)];
        for (; law->coupled; law = &robot.laws()[static_cast<std::size_t>(law->driver)])
            slope *= law->slope(lanes.value(law->driver)[lane / 4][lane % 4]);
        const bool turns = own.kind == JointKind::revolute;
        add(static_cast<std::size_t>(law->driver), slope * (turns ? cross(axis, point - position(lanes, f, lane)) : axis),
            turns ? slope * axis : Vec3{});
    }
}

}  // namespace

void Robot::jacobians(std::span<const double> cfgs, std::size_t link, std::span<double> out) const {
    const std::size_t dof = static_cast<std::size_t>(dof_);
    if (dof == 0) return;
    std::fill(out.begin(), out.end(), 0.0);
    each_block(*this, cfgs, out.size() / (6 * dof), [&](Lanes &lanes, std::size_t start, int count) {
        for (int lane = 0; lane < count; lane++) {
            double *rows = out.data() + (start + static_cast<std::size_t>(lane)) * 6 * dof;
            const Vec3 origin = position(lanes, link_frames_[link], lane);
            each_rate(*this, lanes, lane, link_frames_[link], origin, [&](std::size_t column, Vec3 linear, Vec3 angular) {
                const double add[6] = {linear.x, linear.y, linear.z, angular.x, angular.y, angular.z};
                for (std::size_t r = 0; r < 6; r++) rows[r * dof + column] += add[r];
            });
        }
    });
}

void Robot::points(std::span<const double> cfg, std::span<const std::int64_t> links, std::span<const double> local, std::span<double> out,
                   std::span<double> jacobian) const {
    const std::size_t dof = static_cast<std::size_t>(dof_);
    std::fill(jacobian.begin(), jacobian.end(), 0.0);
    each_block(*this, cfg, 1, [&](Lanes &lanes, std::size_t, int) {
        for (std::size_t k = 0; k < links.size(); k++) {
            const int frame = link_frames_[static_cast<std::size_t>(links[k])];
            const Vec3 p = position(lanes, frame, 0) + turned(lanes, frame, 0, {local[3 * k], local[3 * k + 1], local[3 * k + 2]});
            out[3 * k] = p.x, out[3 * k + 1] = p.y, out[3 * k + 2] = p.z;
            if (jacobian.empty()) continue;
            each_rate(*this, lanes, 0, frame, p, [&](std::size_t column, Vec3 linear, Vec3) {
                double *rows = &jacobian[3 * k * dof + column];
                rows[0] += linear.x, rows[dof] += linear.y, rows[2 * dof] += linear.z;
            });
        }
    });
}

}  // namespace elbowroom
