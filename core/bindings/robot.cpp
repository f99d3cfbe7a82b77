// elbowroom/robot: kinematics.
#include "elbowroom/robot.hpp"

#include "module.hpp"

namespace elbowroom::bindings {
namespace {

using namespace nb::literals;

Quaternion quaternion_at(const In<double, 2> &a, std::size_t i) { return {a(i, 0), a(i, 1), a(i, 2), a(i, 3)}; }
Vec3 vector_at(const In<double, 2> &a, std::size_t i) { return {a(i, 0), a(i, 1), a(i, 2)}; }

// Frames and laws as records of arrays, as `KinematicTree` holds them.
void make_robot(Robot *self, int dof, Columns frames, Columns joints, In<std::int64_t, 1> link_frames) {
    const auto ints = [](const Columns &d, const char *name) { return nb::cast<In<std::int64_t, 1>>(d[name]); };
    const auto rows = [](const Columns &d, const char *name) { return nb::cast<In<double, 2>>(d[name]); };
    const auto parent = ints(frames, "parent"), kind = ints(frames, "kind"), q_idx = ints(frames, "q_idx");
    const auto still = rows(frames, "quat_cos"), turned = rows(frames, "quat_sin"), shift = rows(frames, "shift"),
               slide = rows(frames, "slide"), axis = rows(frames, "axis");
    const auto driver = ints(joints, "driver"), coupled = ints(joints, "is_coupled"), order = ints(joints, "order");
    const auto coefficients = rows(joints, "polycoef");
    const std::size_t n = parent.size(), moving = driver.size();
    require(n > 0 && kind.size() == n && q_idx.size() == n, "frames: columns of different lengths, or none");
    for (const auto *a : {&still, &turned}) require(a->shape(0) == n && a->shape(1) == 4, "frames: expected (frames, 4)");
    for (const auto *a : {&shift, &slide, &axis}) require(a->shape(0) == n && a->shape(1) == 3, "frames: expected (frames, 3)");
    require(coupled.size() == moving && order.size() == moving && coefficients.shape(0) == moving &&
                coefficients.shape(1) == JointLaw::TERMS,
            "joints: columns of different lengths");
    require(dof >= 0, "dof: expected a number from 0 up");
    std::vector<Frame> made(n);
    for (std::size_t i = 0; i < n; i++) {
        Frame &frame = made[i];
        require(kind(i) >= 0 && kind(i) <= 2, "frames: kind must be 0, 1 or 2");
        require(i == 0 || (parent(i) >= 0 && parent(i) < static_cast<std::int64_t>(i)), "frames: parents must come first");
        require(kind(i) == 0 || (q_idx(i) >= 0 && q_idx(i) < static_cast<std::int64_t>(moving)), "frames: q_idx out of range");
        frame.parent = i == 0 ? -1 : static_cast<int>(parent(i));
        frame.kind = static_cast<JointKind>(kind(i));
        frame.joint = kind(i) == 0 ? -1 : static_cast<int>(q_idx(i));
        frame.still = quaternion_at(still, i);
        frame.turned = quaternion_at(turned, i);
        frame.shift = vector_at(shift, i);
        frame.slide = vector_at(slide, i);
        frame.axis = vector_at(axis, i);
    }
    std::vector<JointLaw> laws(moving);
    std::vector<int> sorted(moving), links(link_frames.size());
    std::vector<bool> known(moving, false);
    for (std::size_t k = 0; k < moving; k++) {
        require(order(k) >= 0 && order(k) < static_cast<std::int64_t>(moving), "joints: order out of range");
        const std::size_t i = static_cast<std::size_t>(order(k));
        JointLaw &law = laws[i];
        law.coupled = coupled(i) != 0;
        require(driver(i) >= 0 && driver(i) < static_cast<std::int64_t>(law.coupled ? moving : static_cast<std::size_t>(dof)),
                "joints: driver out of range");
        law.driver = static_cast<int>(driver(i));
        require(!known[i] && (!law.coupled || known[static_cast<std::size_t>(law.driver)]), "joints: drivers must come first");
        known[i] = true;
        for (std::size_t c = 0; c < JointLaw::TERMS; c++) law.coefficients[c] = coefficients(i, c);
        sorted[k] = static_cast<int>(i);
    }
    for (std::size_t k = 0; k < links.size(); k++) {
        require(link_frames(k) >= 0 && link_frames(k) < static_cast<std::int64_t>(n), "link_frames: out of range");
        links[k] = static_cast<int>(link_frames(k));
    }
    new (self) Robot(dof, std::move(made), std::move(laws), std::move(sorted), std::move(links));
}

std::span<const double> rows_of(const Robot &robot, const In<double, 2> &cfgs) {
    require(cfgs.shape(1) == static_cast<std::size_t>(robot.dof()), "cfgs: expected shape (n, dof)");
    return {cfgs.data(), cfgs.size()};
}

Tuple points_of(const Robot &robot, In<double, 1> cfg, In<std::int64_t, 1> links, In<double, 2> local, bool jacobian) {
    const std::size_t n = links.size(), dof = static_cast<std::size_t>(robot.dof());
    require(cfg.size() == dof, "cfg: expected shape (dof,)");
    require(local.shape(0) == n && local.shape(1) == 3, "local: expected shape (n, 3)");
    for (std::size_t k = 0; k < n; k++) require(links(k) >= 0 && links(k) < static_cast<std::int64_t>(robot.n_links()), "links: out of range");
    Out<double, 2> out = make_array<double, 2>({n, 3});
    Out<double, 3> rates = make_array<double, 3>({jacobian ? n : 0, 3, dof});
    robot.points({cfg.data(), dof}, {links.data(), n}, {local.data(), local.size()}, {out.data(), out.size()}, {rates.data(), rates.size()});
    return jacobian ? nb::make_tuple(out, rates) : nb::make_tuple(out, nb::none());
}

}  // namespace

void bind_robot(nb::module_ &m) {
    nb::class_<Robot>(m, "Robot", "Kinematics of a robot: frames, joints and the laws that couple them.")
        .def("__init__", &make_robot, "dof"_a, "frames"_a, "joints"_a, "link_frames"_a,
             "Takes the arrays of a `KinematicTree`: `frames` and `joints` are dictionaries of columns.")
        .def(
            "link_poses",
            [](const Robot &robot, In<double, 2> cfgs, InOut<double, 3> out) {
                const std::span<const double> rows = rows_of(robot, cfgs);
                require(out.shape(0) == cfgs.shape(0) && out.shape(1) == robot.n_links() && out.shape(2) == 7,
                        "out: expected shape (n, links, 7)");
                nb::gil_scoped_release release;
                robot.link_poses(rows, {out.data(), out.size()});
            },
            "cfgs"_a, "out"_a.noconvert(), "Writes the world poses (n, links, 7) wxyz_xyz of configurations (n, dof).")
        .def(
            "jacobians",
            [](const Robot &robot, In<double, 2> cfgs, std::size_t link, InOut<double, 3> out) {
                const std::span<const double> rows = rows_of(robot, cfgs);
                require(link < robot.n_links(), "link: out of range");
                require(out.shape(0) == cfgs.shape(0) && out.shape(1) == 6 && out.shape(2) == cfgs.shape(1),
                        "out: expected shape (n, 6, dof)");
                nb::gil_scoped_release release;
                robot.jacobians(rows, link, {out.data(), out.size()});
            },
            "cfgs"_a, "link"_a, "out"_a.noconvert(),
            "Writes Jacobians (n, 6, dof) of a link frame by its number: linear, then angular velocity, world axes.")
        .def("points", &points_of, "cfg"_a, "links"_a, "local"_a, "jacobian"_a,
             "Points `local` (n, 3) of links (n,) in the world (n, 3) at a configuration (dof,), and their Jacobians (n, 3, dof), or None.");
}

}  // namespace elbowroom::bindings
