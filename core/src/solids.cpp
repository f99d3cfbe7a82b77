#include "elbowroom/solids.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "elbowroom/proximity.hpp"

namespace elbowroom {
namespace {

constexpr double CONVERGED =
    1e-10;  // gap between the bounds, as a share of the size of the solids, that is enough
// Iterations at most; polyhedra need about ten, smooth solids thirty to two hundred.
constexpr int APART_STEPS = 250, DEEP_STEPS = 500;
// Gap between widened solids, as a share of their size, below which the line of closest points is too short
// for a normal.
constexpr double NORMAL_LOST = 1e-6;
constexpr double VISIBLE = 1e-14;  // share of the size by which a point must be above a face to be beyond it
constexpr double INF = std::numeric_limits<double>::infinity();

// False when the vector has no direction.
bool make_unit(Vec3 &v) {
    const double length = norm(v);
    if (!(length > 0.0)) return false;
    v = {v.x / length, v.y / length, v.z / length};
    return true;
}

// Distance of sets that are apart, 0 when they are not shown to be.
template <class Support> SolidDistance distance_apart(Support &&support, Vec3 start, double scale) {
    const ConvexDistance found = convex_distance(support, start, {APART_STEPS, 0.0, CONVERGED * scale});
    return {found.lower > 0.0 ? found.upper : 0.0, found.between, found.a};
}

// A polytope of points of the difference that grows over its face nearest to the origin.
template <class Support> class ExpandingPolytope {
  public:
    ExpandingPolytope(Support &support, double scale) : support_(support), scale_(scale) {
        begin();
        const Vec3 n = cross(point(1) - point(0), point(2) - point(0));
        const bool behind = dot(n, point(3) - point(0)) < 0.0;  // the fourth point is behind the first face
        const int j = behind ? 1 : 2, k = behind ? 2 : 1;
        add_face(0, j, k), add_face(0, k, 3), add_face(k, j, 3), add_face(j, 0, 3);
    }

    // The least translation of B that parts the solids, as a negative distance.
    SolidDistance run() {
        double best = INF;
        SolidDistance found{0.0, {0.0, 0.0, 1.0}, points_[0].a};
        for (int step = 0; step < DEEP_STEPS; step++) {
            const auto nearest =
                std::min_element(faces_.begin(), faces_.end(),
                                 [](const Face &f, const Face &g) { return f.height < g.height; });
            if (nearest == faces_.end() || nearest->height == INF) break;
            const Face face = *nearest;
            points_.push_back(support_(face.normal));
            const double far = dot(face.normal, points_.back().difference());
            if (far < best) {
                best = far;
                found = {-far, face.normal, foot(face)};
            }
            if (far - face.height <= CONVERGED * scale_ || best - face.height <= CONVERGED * scale_ ||
                !open_to_newest())
                break;
        }
        return found;
    }

  private:
    struct Face {
        int corners[3];  // wound outward
        Vec3 normal;
        double
            height;  // of the plane over the origin; infinite for a face without area, which is never nearest
    };
    struct Edge {
        int from, to;
    };

    Vec3 point(int i) const { return points_[static_cast<std::size_t>(i)].difference(); }

    // Four points of the difference that span a volume.
    void begin() {
        points_ = {support_({1.0, 0.0, 0.0}), support_({-1.0, 0.0, 0.0})};
        const Vec3 along = point(1) - point(0), size = abs(along);
        const Vec3 other = size.x <= size.y && size.x <= size.z
                               ? Vec3{1, 0, 0}
                               : (size.y <= size.z ? Vec3{0, 1, 0} : Vec3{0, 0, 1});
        for (int k = 2; k < 4; k++) {
            Vec3 d = k == 2 ? cross(along, other) : cross(along, point(2) - point(0));
            make_unit(d);
            const SupportPoints up = support_(d), down = support_(-d);
            const double base = dot(d, point(0));
            points_.push_back(dot(d, up.difference()) - base > base - dot(d, down.difference()) ? up : down);
        }
    }

    void add_face(int i, int j, int k) {
        Face face{{i, j, k}, cross(point(j) - point(i), point(k) - point(i)), INF};
        if (make_unit(face.normal)) face.height = dot(face.normal, point(i));
        faces_.push_back(face);
    }

    // Replaces the faces that see the newest point by those that join it to their rim; false when there are
    // none.
    bool open_to_newest() {
        const int newest = static_cast<int>(points_.size()) - 1;
        const Vec3 p = point(newest);
        edges_.clear();
        std::erase_if(faces_, [&](const Face &face) {
            if (face.height == INF || !(dot(face.normal, p) - face.height > VISIBLE * scale_)) return false;
            for (int k = 0; k < 3; k++) edges_.push_back({face.corners[k], face.corners[(k + 1) % 3]});
            return true;
        });
        for (const Edge &edge : edges_) {
            const bool inner = std::any_of(edges_.begin(), edges_.end(), [&](const Edge &e) {
                return e.from == edge.to && e.to == edge.from;
            });
            if (!inner) add_face(edge.from, edge.to, newest);
        }
        return !edges_.empty();
    }

    // The point of A over the foot of the origin on a face.
    Vec3 foot(const Face &face) const {
        const auto [i, j, k] = face.corners;
        const Vec3 u = point(j) - point(i), v = point(k) - point(i), p = face.height * face.normal - point(i);
        const double uu = squared(u), vv = squared(v), uv = dot(u, v), pu = dot(p, u), pv = dot(p, v),
                     den = uu * vv - uv * uv;
        const double x = den > 0.0 ? std::clamp((pu * vv - pv * uv) / den, 0.0, 1.0) : 0.0;
        const double y = den > 0.0 ? std::min(1.0 - x, std::max(0.0, (pv * uu - pu * uv) / den)) : 0.0;
        const auto a = [&](int at) { return points_[static_cast<std::size_t>(at)].a; };
        return (1.0 - x - y) * a(i) + x * a(j) + y * a(k);
    }

    Support &support_;
    double scale_;
    std::vector<SupportPoints> points_;
    std::vector<Face> faces_;
    std::vector<Edge> edges_;  // of the faces that were opened
};

template <class Support> SolidDistance depth_inside(Support &&support, double scale) {
    return ExpandingPolytope<std::remove_reference_t<Support>>(support, scale).run();
}

}  // namespace

ConvexSolid ConvexSolid::hull(std::vector<Vec3> points, double radius) {
    ConvexSolid out;
    out.points_ = std::move(points);
    out.radius_ = radius;
    for (const Vec3 &p : out.points_) out.reach_ = std::max(out.reach_, norm(p));
    out.reach_ += radius;
    return out;
}

ConvexSolid ConvexSolid::cylinder(double radius, double half_length) {
    ConvexSolid out;
    out.kind_ = Kind::cylinder;
    out.size_ = {radius, half_length, 0.0};
    out.reach_ = norm(out.size_);
    return out;
}

ConvexSolid ConvexSolid::ellipsoid(Vec3 semi_axes) {
    ConvexSolid out;
    out.kind_ = Kind::ellipsoid;
    out.size_ = semi_axes;
    out.reach_ = std::max({semi_axes.x, semi_axes.y, semi_axes.z});
    return out;
}

Vec3 ConvexSolid::farthest(Vec3 d) const {
    switch (kind_) {
    case Kind::cylinder: {
        const double across = std::sqrt(d.x * d.x + d.y * d.y), scale = across > 0.0 ? size_.x / across : 0.0;
        return {scale * d.x, scale * d.y, std::copysign(size_.y, d.z)};
    }
    case Kind::ellipsoid: {
        const Vec3 u = {size_.x * d.x, size_.y * d.y, size_.z * d.z};
        const double length = norm(u);
        return {size_.x * u.x / length, size_.y * u.y / length, size_.z * u.z / length};
    }
    case Kind::points: break;
    }
    const auto lower = [&](const Vec3 &p, const Vec3 &q) { return dot(d, p) < dot(d, q); };
    return *std::max_element(points_.begin(), points_.end(), lower);
}

SolidDistance solid_distance(const ConvexSolid &a, const ConvexSolid &b, const Pose &rel) {
    const double scale = a.reach() + b.reach(), radius = a.radius() + b.radius();
    const auto support = [&](Vec3 d) {
        return SupportPoints{a.farthest(d), rel.apply(b.farthest(-rel.unrotate(d)))};
    };
    SolidDistance found = distance_apart(support, rel.translation(), scale);
    if (found.distance <= (radius > 0.0 ? NORMAL_LOST * scale : 0.0)) found = depth_inside(support, scale);
    return {found.distance - radius, found.normal, found.point_a + a.radius() * found.normal};
}

MeshSolidDistance mesh_solid_distance(const TriangleTree &mesh, const ConvexSolid &solid, const Pose &rel) {
    const double scale = norm(mesh.root().half) + solid.reach();
    const auto support_of = [&](const Triangle &t) {
        return [&](Vec3 d) {
            const double p = dot(d, t.a), q = dot(d, t.b), r = dot(d, t.c);
            return SupportPoints{p >= q && p >= r ? t.a : (q >= r ? t.b : t.c),
                                 rel.apply(solid.farthest(-rel.unrotate(d)))};
        };
    };
    MeshSolidDistance found{{INF, {}, {}}, 0, false};
    // What is farther from the solid's origin than the nearest triangle and the solid's reach cannot be
    // nearer.
    const auto limit = [&] {
        const double reach = found.nearest.distance + solid.reach();
        return found.nearest.distance > 0.0 ? reach * reach : 0.0;
    };
    visit_nearest(mesh, rel.translation(), limit, [&](std::uint32_t i) {
        const SolidDistance d =
            distance_apart(support_of(mesh.triangles[i]), rel.translation() - mesh.triangles[i].a, scale);
        if (d.distance < found.nearest.distance) found.nearest = d, found.triangle = i;
    });
    found.inside = point_inside(mesh, rel.translation());
    if (!(found.nearest.distance > 0.0)) {  // the normal and the point of a triangle that meets the solid
        found.nearest = depth_inside(support_of(mesh.triangles[found.triangle]), scale);
        found.nearest.distance = std::min(0.0, found.nearest.distance);
    }
    return found;
}

}  // namespace elbowroom
