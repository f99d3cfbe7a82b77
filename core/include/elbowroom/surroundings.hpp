// The links of a robot among obstacles: spheres accept, meshes decide what they refuse.
//
// Balls around links, parts of links and then the spheres are compared with the obstacles in float32 lanes, by the grid of lower
// bounds first where there is one. A sphere that may reach an obstacle is compared with it in float64; where it does, the mesh of
// its link is compared with the exact shape, once for every link and obstacle. A link without a mesh is decided by its spheres.
// Links that no joint moves are asked once.
//
// Guaranteed: what is called free is free, rounding included. Made for one robot and one world, both shared, and does not change.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <vector>

#include "elbowroom/clearance_grid.hpp"
#include "elbowroom/exact_poses.hpp"
#include "elbowroom/link_spheres.hpp"
#include "elbowroom/world.hpp"

namespace elbowroom {

// Who has the last word: meshes, or spheres wherever they can decide (conservative and faster).
enum class Judge { meshes, spheres };

using LinkMeshes = std::map<int, std::shared_ptr<const TriangleTree>>;  // by link of the robot

inline const TriangleTree *mesh_of(const LinkMeshes &meshes, int link) {
    const auto found = meshes.find(link);
    return found == meshes.end() ? nullptr : found->second.get();
}

// A link and an obstacle, -1 for none.
struct LinkObstacle {
    int link = -1, obstacle = -1;
};

class Surroundings {
  public:
    // Spheres and meshes of the links that take part; `grid` may be none. `allowed` (links of the spheres, obstacles), by rows,
    // marks what may touch.
    Surroundings(std::shared_ptr<const LinkSpheres> spheres, LinkMeshes meshes, std::shared_ptr<const World> world,
                 std::shared_ptr<const ClearanceGrid> grid, std::span<const bool> allowed, double buffer);

    // The same with more that may touch, links by their places here.
    std::shared_ptr<const Surroundings> allowing(std::span<const LinkObstacle> more) const;

    const LinkSpheres &spheres() const { return *spheres_; }
    const std::shared_ptr<const LinkSpheres> &shared_spheres() const { return spheres_; }
    const World &world() const { return *world_; }
    const ClearanceGrid *grid() const { return grid_.get(); }  // none for a handful of obstacles
    const Pose &base() const { return base_; }  // the root in the world
    double buffer() const { return buffer_; }
    double pad() const { return pad_; }         // what spheres must be apart from obstacles: buffer and rounding
    std::size_t n_links() const { return links_.size(); }
    int link(int place) const { return links_[static_cast<std::size_t>(place)].link; }
    const TriangleTree *mesh(int place) const { return links_[static_cast<std::size_t>(place)].mesh; }
    Ignored allowed(int place) const { return links_[static_cast<std::size_t>(place)].allowed; }
    std::span<const int> moving() const { return moving_; }  // links that some joint moves, outermost first

    // Whether the links that no joint moves are free.
    bool still_free(Judge judge) const;
    // Lanes in which no moving link is refused; links are placed, of a block of these spheres.
    unsigned free(SphereBlock &block, unsigned alive, Judge judge, ExactPoses &poses) const;
    bool free(SphereRow &row, Judge judge, ExactPoses &poses) const { return refused(row, judge, poses).link < 0; }
    // The first moving link found that is refused, and by which obstacle.
    LinkObstacle refused(SphereRow &row, Judge judge, ExactPoses &poses) const;

    // Lower bound of the clearance of all links to all obstacles in one lane; where they overlap, minus what surely parts them.
    // Improves `smallest` and `closest` where it is smaller.
    void clearance(int lane, ExactPoses &poses, double &smallest, LinkObstacle &closest) const;

    // The same for many configurations, to `smallest` (n,). Returns the first row that is not finite or too large, or -1.
    std::int64_t clearances(const Configurations &cfgs, std::span<double> smallest) const;

    // What the spheres of a link are apart from the obstacles beyond `pad`, a lower bound in each lane of `wanted`; not looked for
    // beyond `most`. The ball of the link is placed.
    F32x16 apart(SphereBlock &block, int place, F32x16 pad, float most, unsigned wanted) const;

    // Lanes of `wanted` in which a sphere of a link reaches an obstacle, by spheres in float32 alone; with `any`, it is enough to find
    // one. `obstacle` is then one of those, -1 where it is not known which. `model` has the spheres, their radii maybe other ones.
    unsigned touched(SphereBlock &block, const LinkSpheres &model, int place, unsigned wanted, bool any, int &obstacle) const;

    // Points of the root's frame in the world; `pad` covers the rounding.
    Points16 in_world(const Point32<F32x16> &p) const;

    // Whether a mesh at `pose` in the world touches an obstacle or comes closer than `buffer`.
    bool mesh_closer(int obstacle, const TriangleTree &mesh, const Pose &pose, double buffer) const;

  private:
    struct Link {
        int link = 0;  // of the robot
        const TriangleTree *mesh = nullptr;
        Ignored allowed;  // empty when nothing is
    };
    using Cleared = std::vector<std::int32_t>;  // obstacles that the mesh of a link is known to be apart from

    // Lanes of `wanted` in which an obstacle may be nearer than `reach` to a point of the root's frame.
    unsigned near(const Point32<F32x16> &p, F32x16 reach, unsigned wanted, Ignored ignored, bool exactly) const;
    // Lower bounds of the distances, or anything from the limit up.
    F32x16 bounds(const Point32<F32x16> &p, F32x16 limit, unsigned wanted, Ignored ignored, bool exactly) const;
    F32x8 lower_bound(const Points8 &p, F32x8 limit, Ignored ignored, bool exactly) const;
    Points8 in_world(F32x8 x, F32x8 y, F32x8 z) const;
    // The obstacle within reach of a sphere that refuses its link, -1 for none.
    int refusing(int place, Vec3 point, double radius, Judge judge, int lane, ExactPoses &poses, Cleared &cleared) const;
    bool mesh_refused(int place, int obstacle, int lane, ExactPoses &poses) const;
    int refusing(SphereRow &row, int place, Judge judge, ExactPoses &poses) const;  // the same of all spheres of a link
    double parting(const Ball &around, int obstacle) const;

    std::shared_ptr<const LinkSpheres> spheres_;
    LinkMeshes meshes_;
    std::shared_ptr<const World> world_;
    std::shared_ptr<const ClearanceGrid> grid_;
    std::unique_ptr<bool[]> allowed_;
    std::vector<Link> links_;
    std::vector<int> moving_, still_;
    Pose base_;
    bool at_origin_ = true;  // the root is the origin of the world
    double buffer_, pad_;
    mutable std::atomic<int> still_known_[2] = {-1, -1};
};

}  // namespace elbowroom
