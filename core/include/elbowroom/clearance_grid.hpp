// Lower bounds of the distance to all obstacles, cell by cell: the broad phase of worlds with clouds, large meshes or
// hundreds of obstacles. A handful of primitives does better without (World::near and lanes).
//
// Cells are filled where they are first asked for, so a grid costs little until it is used, and little where little is asked.
// A cell holds the distance of its centre less half its diagonal, rounded down, so that the bound holds for every point
// of the cell. Half-spaces are asked one by one. A world that differs from another in a few obstacles keeps the grid:
// those that came or moved are `loose` and asked one by one; those that left only make bounds lower than they need be.
//
// Guaranteed: bounds are never above `World::distance_lower_bound`.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "elbowroom/world.hpp"

namespace elbowroom {

class ClearanceGrid {
  public:
    // A grid over the part of `region` that is near obstacles, filled where it is asked; beyond it, bounds come from the box around
    // all of them.
    ClearanceGrid(std::shared_ptr<const World> world, const Bounds &region);

    // The same cells for a world that differs in a few obstacles; none when it differs in too many.
    std::shared_ptr<const ClearanceGrid> for_world(std::shared_ptr<const World> world) const;

    const World &world() const { return *world_; }
    std::size_t n_cells() const;
    std::size_t n_loose() const { return loose_.size(); }

    // Is a grid worth its memory and filling for this world?
    static bool pays(const World &world);

    // Lower bound of the distance of a point to all obstacles; anything from `limit` up where it is not below.
    double lower_bound(Vec3 p, double limit = UNBOUNDED) const;
    // The same for eight points, rounded down.
    F32x8 lower_bound(const Points8 &p, F32x8 limit) const;

  private:
    struct Cells;
    ClearanceGrid() = default;

    std::shared_ptr<const World> world_;
    std::shared_ptr<const Cells> cells_;  // shared by all worlds that keep them
    std::vector<std::int32_t> loose_;     // obstacles that are not in the cells
};

}  // namespace elbowroom
