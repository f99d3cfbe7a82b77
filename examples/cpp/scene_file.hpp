// Reads what `export_scene.py` writes, and makes the core's scene of it. The core itself knows no files.
#pragma once

#include <cstdint>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "elbowroom/scene.hpp"

namespace example {

using namespace elbowroom;

struct Array {
    std::vector<std::size_t> shape;
    std::vector<double> values;

    std::size_t rows() const { return shape.empty() ? 0 : shape[0]; }
    const double *row(std::size_t k) const { return values.data() + k * (values.size() / rows()); }
    int integer(std::size_t k) const { return static_cast<int>(values[k]); }
    Vec3 vector(std::size_t k) const { return {row(k)[0], row(k)[1], row(k)[2]}; }
    Quaternion quaternion(std::size_t k) const { return {row(k)[0], row(k)[1], row(k)[2], row(k)[3]}; }
    std::vector<int> integers() const { return {values.begin(), values.end()}; }
};

class SceneFile {
  public:
    explicit SceneFile(const std::string &path) {
        std::ifstream file(path, std::ios::binary);
        if (!file) throw std::runtime_error("cannot open " + path);
        for (std::string line; std::getline(file, line);) {
            std::istringstream words(line);
            std::string name;
            Array array;
            words >> name;
            std::size_t count = 1;
            for (std::size_t n; words >> n; count *= n) array.shape.push_back(n);
            array.values.resize(count);
            file.read(reinterpret_cast<char *>(array.values.data()), static_cast<std::streamsize>(count * sizeof(double)));
            if (!file) throw std::runtime_error(path + " ends in the middle of " + name);
            arrays_[name] = std::move(array);
        }
    }
    bool has(const std::string &name) const { return arrays_.contains(name); }
    const Array &operator[](const std::string &name) const {
        const auto found = arrays_.find(name);
        if (found == arrays_.end()) throw std::runtime_error("the file has no " + name);
        return found->second;
    }

  private:
    std::map<std::string, Array> arrays_;
};

inline std::shared_ptr<const Robot> robot_of(const SceneFile &file) {
    const Array &parent = file["parent"], &kind = file["kind"], &joint = file["q_idx"];
    std::vector<Frame> frames(parent.rows());
    for (std::size_t k = 0; k < frames.size(); k++) {
        Frame &frame = frames[k];
        frame.parent = k == 0 ? -1 : parent.integer(k);
        frame.kind = static_cast<JointKind>(kind.integer(k));
        frame.joint = frame.kind == JointKind::fixed ? -1 : joint.integer(k);
        frame.still = file["quat_cos"].quaternion(k), frame.turned = file["quat_sin"].quaternion(k);
        frame.shift = file["shift"].vector(k), frame.slide = file["slide"].vector(k), frame.axis = file["axis"].vector(k);
    }
    std::vector<JointLaw> laws(file["driver"].rows());
    for (std::size_t k = 0; k < laws.size(); k++) {
        laws[k].driver = file["driver"].integer(k);
        laws[k].coupled = file["is_coupled"].integer(k) != 0;
        for (int c = 0; c < JointLaw::TERMS; c++) laws[k].coefficients[c] = file["polycoef"].row(k)[c];
    }
    return std::make_shared<const Robot>(file["dof"].integer(0), std::move(frames), std::move(laws), file["order"].integers(),
                                         file["link_frames"].integers());
}

inline std::shared_ptr<const LinkSpheres> spheres_of(const SceneFile &file, std::shared_ptr<const Robot> robot, const char *radii) {
    const std::vector<int> links = file["sphere_links"].integers();
    std::vector<Ball> balls(links.size());
    for (std::size_t k = 0; k < balls.size(); k++) balls[k] = {file["centers"].vector(k), file[radii].values[k]};
    std::vector<int> used = links;
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    return std::make_shared<const LinkSpheres>(std::move(robot), balls, links, used, file["largest"].values);
}

inline LinkMeshes meshes_of(const SceneFile &file, std::size_t n_links) {
    LinkMeshes out;
    for (std::size_t link = 0; link < n_links; link++) {
        const std::string name = "mesh." + std::to_string(link) + ".";
        if (!file.has(name + "triangles")) continue;
        const Array &triangles = file[name + "triangles"], &pieces = file[name + "pieces"];
        std::vector<MeshTriangle> made(triangles.rows());
        for (std::size_t k = 0; k < made.size(); k++) {
            const double *at = triangles.row(k);
            made[k].corners = {{at[0], at[1], at[2]}, {at[3], at[4], at[5]}, {at[6], at[7], at[8]}};
            made[k].row = file[name + "rows"].integer(k);
            made[k].solid = file[name + "solid"].integer(k) != 0;
        }
        std::vector<Vec3> points(pieces.rows());
        for (std::size_t k = 0; k < points.size(); k++) points[k] = pieces.vector(k);
        out[static_cast<int>(link)] = std::make_shared<const TriangleTree>(build_tree(made, std::move(points)));
    }
    return out;
}

inline Scene scene_of(const SceneFile &file) {
    const auto robot = robot_of(file);
    const auto own = spheres_of(file, robot, "radii_self"), outside = spheres_of(file, robot, "radii_world");
    const LinkMeshes meshes = meshes_of(file, robot->n_links());
    const Array &given = file["pairs"], &range = file["range"];
    std::vector<LinkPair> pairs(given.rows());
    const auto only_meshes = std::make_unique<bool[]>(pairs.size());
    for (std::size_t k = 0; k < pairs.size(); k++) {
        pairs[k] = {static_cast<int>(given.row(k)[0]), static_cast<int>(given.row(k)[1])};
        only_meshes[k] = file["only_meshes"].integer(k) != 0;
    }
    const std::size_t dof = static_cast<std::size_t>(robot->dof());
    ProvedRange proved{{range.row(0), range.row(0) + dof}, {range.row(1), range.row(1) + dof}};
    const double buffer = file["buffer"].values[0];
    const Scene alone(own, meshes, pairs, {only_meshes.get(), pairs.size()}, buffer, std::move(proved));

    std::vector<Obstacle> boxes;
    for (std::size_t k = 0; k < file["box_sizes"].rows(); k++) {
        const double *T = file["box_poses"].row(k);  // 4 x 4, by rows
        const Pose place{{T[0], T[1], T[2], T[4], T[5], T[6], T[8], T[9], T[10]}, {T[3], T[7], T[11]}};
        boxes.push_back(Obstacle::box(0.5 * file["box_sizes"].vector(k), place));
    }
    const std::size_t marks = outside->links.size() * boxes.size();
    const auto allowed = std::make_unique<bool[]>(marks);  // nothing may touch
    auto world = std::make_shared<const World>(std::move(boxes));
    return alone.among(std::make_shared<const Surroundings>(outside, meshes, std::move(world), nullptr,
                                                            std::span<const bool>(allowed.get(), marks), buffer));
}

}  // namespace example
