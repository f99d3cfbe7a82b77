// A posed mesh against one obstacle, kind by kind: what `World::mesh_gap` is made of.
//
// `rel` is the pose of the mesh in the frame of the obstacle, in which points come back. With a limit of 0 only meeting is
// found out. Gaps up to `tol` touch.
#pragma once

#include "elbowroom/world.hpp"

namespace elbowroom {

struct PlacedMesh {
    const TriangleTree &mesh;
    Pose rel, inv;  // of the mesh in the frame of the obstacle, and back
    double tol;
};

MeshGap cloud_gap(const PlacedMesh &placed, const PointCloud &cloud, double radius, double limit);
MeshGap field_gap(const PlacedMesh &placed, const DistanceField &field, double limit);

inline MeshGap meeting() {
    MeshGap out;
    out.meet = true, out.distance = 0.0;
    return out;
}
inline MeshGap not_nearer(double limit) {
    MeshGap out;
    out.distance = limit;
    return out;
}

}  // namespace elbowroom
