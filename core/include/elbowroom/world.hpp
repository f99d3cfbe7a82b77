// World: obstacles of every kind, packed once, and one walk that answers for points, boxes and meshes.
//
// Primitives (boxes, spheres, cylinders, capsules, half-spaces) are exact; meshes, clouds and fields are shared with
// other worlds. Obstacles with an end are the members of one tree of boxes; half-spaces are asked one by one. Solids
// (all but open meshes) contain what is inside them. Obstacles are known by their numbers, in the order given.
//
// Guaranteed: touching counts as meeting, and what is said to be apart is apart. Distances are exact to rounding for
// all but fields, whose `lower_bound`s are divided by how steep the field is. Lower bounds in float32 lanes hold
// for the points as given: what rounding can lose is taken off.
//
// A world does not change once it is made and may be asked by many threads at once. Metres, in one world frame.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "elbowroom/box_tree.hpp"
#include "elbowroom/cloud.hpp"
#include "elbowroom/field.hpp"
#include "elbowroom/geometry.hpp"
#include "elbowroom/lanes.hpp"
#include "elbowroom/triangles.hpp"

namespace elbowroom {

constexpr double UNBOUNDED = std::numeric_limits<double>::infinity();

enum class ObstacleKind : std::uint8_t { box, sphere, cylinder, capsule, half_space, mesh, cloud, field };

// A shape in its own frame, and where that frame is. Cheap to copy: what is large is shared.
struct Obstacle {
    ObstacleKind kind = ObstacleKind::sphere;
    Pose pose;           // T_world_obstacle
    Vec3 size;           // box: half edges; half-space: its unit normal, which points out of the solid
    double radius = 0.0; // sphere, cylinder, capsule, and the balls of a cloud
    double length = 0.0; // half length along z of a cylinder, of a capsule's axis; offset of a half-space along its normal
    std::shared_ptr<const TriangleTree> mesh;
    std::shared_ptr<const PointCloud> cloud;
    std::shared_ptr<const DistanceField> field;

    static Obstacle box(Vec3 half_edges, const Pose &pose);
    static Obstacle sphere(double radius, const Pose &pose);
    static Obstacle cylinder(double radius, double half_length, const Pose &pose);
    static Obstacle capsule(double radius, double half_length, const Pose &pose);
    static Obstacle half_space(Vec3 normal, double offset, const Pose &pose);
    static Obstacle of_mesh(std::shared_ptr<const TriangleTree> mesh, const Pose &pose);
    static Obstacle of_cloud(std::shared_ptr<const PointCloud> cloud, double radius, const Pose &pose);
    static Obstacle of_field(std::shared_ptr<const DistanceField> field, const Pose &pose);

    bool has_end() const { return kind != ObstacleKind::half_space; }
    // Its box in the world; infinite for half-spaces.
    Bounds bounds() const;
    // The same shape in the same place, its parts shared.
    bool same_as(const Obstacle &other) const;
};

// By obstacle: true where a query is to pass it over, because it may be touched. Empty: none is.
using Ignored = std::span<const bool>;

// Eight points of the world in lanes.
struct Points8 {
    F32x8 x, y, z;
};

struct Points16 {
    Points8 low, high;
};

// A box by its axes (the columns of the rotation) and centre, and its half edges along them; none negative.
struct OrientedBox {
    Pose pose;
    Vec3 half;
};

struct NearestObstacle {
    double distance;  // signed: not positive inside; the limit when nothing is nearer
    int obstacle;     // -1 when nothing is nearer
};

// A mesh and an obstacle.
struct MeshGap {
    bool meet = false;
    double distance = UNBOUNDED;  // 0 when they meet; the limit when they are not nearer than it
    bool found = false;           // the points are those of `distance`
    Vec3 on_mesh, on_obstacle;    // in the world
};

class World {
  public:
    World() = default;
    explicit World(std::vector<Obstacle> obstacles);

    int size() const { return static_cast<int>(obstacles_.size()); }
    const Obstacle &obstacle(int k) const { return obstacles_[static_cast<std::size_t>(k)]; }
    const Bounds &bounds(int k) const { return bounds_[static_cast<std::size_t>(k)]; }
    const BoxTree &tree() const { return tree_; }                   // over `bounded()`
    std::span<const std::int32_t> bounded() const { return bounded_; }      // obstacles with an end: members of the tree
    std::span<const std::int32_t> half_spaces() const { return endless_; }  // the others

    // Points ----------------------------------------------------------------------------------------------------

    // Signed distance of a point to the nearest obstacle, and which; inside several the deepest counts. Where it is not
    // below `limit`, `limit` and -1.
    NearestObstacle nearest(Vec3 p, double limit = UNBOUNDED, Ignored ignored = {}) const;

    // The same with fields divided by their slope: changes by at most 1 a metre, so that a ball of that radius around
    // the point is free.
    NearestObstacle distance_lower_bound(Vec3 p, double limit = UNBOUNDED, Ignored ignored = {}) const;

    // Of one obstacle. Where it is not below `limit`, anything from `limit` up.
    double distance(int k, Vec3 p, double limit = UNBOUNDED) const;
    double distance_lower_bound(int k, Vec3 p, double limit = UNBOUNDED) const;

    // Any obstacle that a point is no farther than `reach` from by `distance_lower_bound`, -1 for none; whether one is.
    int within(Vec3 p, double reach, Ignored ignored = {}) const;
    bool is_within(int k, Vec3 p, double reach) const;

    // Signed distance of a point to one obstacle and its gradient, in the world. Where there is no gradient (the middle
    // of a sphere, a ridge, a surface), one of the one-sided ones.
    DistanceGradient gradient(int k, Vec3 p) const;

    // Points in lanes ---------------------------------------------------------------------------------------------

    // Lower bounds of the distances of eight points to one obstacle, or to all of them: in every lane no larger than
    // `distance_lower_bound` of that very point, and smaller by at most LANE_ROUNDING of the coordinates that it comes
    // from (the point, the place and size of the obstacle). Lanes that are not below `limit` hold anything from there up.
    // Lanes whose limit is -infinity are not looked at.
    F32x8 distance_lower_bound(int k, const Points8 &p, F32x8 limit) const;
    F32x8 distance_lower_bound(const Points8 &p, F32x8 limit, Ignored ignored = {}) const;
    static constexpr double LANE_ROUNDING = 64.0 / 16777216.0;

    // Visits the obstacles, `visit(k, p)`, that may be within `reach` metres of any of sixteen points.
    template <class Visit> void visit_near(const Points16 &p, float reach, Visit visit) const;
    // Lanes in which obstacle `k` may be nearer than `reach`: all in which it is, by `distance_lower_bound`, and hardly others.
    unsigned within(int k, const Points16 &p, float reach) const;

    // Balls -------------------------------------------------------------------------------------------------------

    // Appends the obstacles that a ball may reach: all whose box, or half-space, is within `radius` of its centre. The
    // boxes are compared eight at a time. No order.
    void near(Vec3 center, double radius, Ignored ignored, std::vector<std::int32_t> &out) const;

    // Boxes -------------------------------------------------------------------------------------------------------

    // Does a box share a point with an obstacle? Exact to rounding but for fields, where boxes nearer than a fiftieth of
    // the spacing may count.
    bool box_meets(const OrientedBox &box, Ignored ignored = {}) const;
    bool box_meets(int k, const OrientedBox &box) const;

    // Meshes ------------------------------------------------------------------------------------------------------

    // Does a mesh at `pose` in the world share a point with obstacle `k`? Closed meshes and solids contain.
    bool mesh_meets(int k, const TriangleTree &mesh, const Pose &pose) const;

    // The same and, when they are apart, the distance if it is below `limit`, with closest points. Distances are exact
    // to rounding but for boxes and cylinders, where they are at most 1e-10 m below the truth, and for fields, where
    // they are lower bounds.
    MeshGap mesh_gap(int k, const TriangleTree &mesh, const Pose &pose, double limit = UNBOUNDED) const;

  private:
    // An obstacle in float32.
    struct LaneShape {
        ObstacleKind kind;
        float r[9], t[3];        // pose; for meshes, clouds and fields, t is the centre of the box in the world
        float size[3];           // as of the obstacle; half edges of that box; normal of a half-space in the world
        float radius, length;    // as of the obstacle; offset of a half-space in the world
        float margin;            // metres that rounding may add, besides a share of the distance

        LaneShape(const Obstacle &obstacle, const Bounds &box);
    };

    std::vector<Obstacle> obstacles_;
    std::vector<Bounds> bounds_;
    std::vector<LaneShape> lanes_;
    std::vector<std::int32_t> bounded_, endless_;
    BoxTree tree_;
};

template <class Visit> void World::visit_near(const Points16 &p, float reach, Visit visit) const {
    for (const std::int32_t k : endless_) visit(k, p);
    const auto least = [&](F32x8 a, F32x8 b) { return smallest(min(a, b)); };
    const auto most = [&](F32x8 a, F32x8 b) { return -smallest(-max(a, b)); };
    Bounds box{{least(p.low.x, p.high.x), least(p.low.y, p.high.y), least(p.low.z, p.high.z)},
               {most(p.low.x, p.high.x), most(p.low.y, p.high.y), most(p.low.z, p.high.z)}};
    box.low = box.low - Vec3{reach, reach, reach}, box.high = box.high + Vec3{reach, reach, reach};
    tree_.visit_overlapping(box, [&](std::uint32_t member) {
        visit(bounded_[member], p);
        return false;
    });
}

}  // namespace elbowroom
