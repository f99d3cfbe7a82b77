#include "elbowroom/smooth.hpp"

#include <algorithm>
#include <cmath>

namespace elbowroom {
namespace {

constexpr int KNOTS = 32;          // pieces of the spline on a path without corners; each corner may add one
constexpr double KEEP_TURN = 0.1;  // radians between two edges of a path from which on its corner becomes a knot
constexpr double CLOSE = 0.1;      // shares of the spacing that corners may come close to each other or to the end; closer ones become none
constexpr double LOOSE = 0.3;      // shares of the length of the path over which the spline smooths at first,
constexpr double CLOSER = 0.5;     // and what is left of this where a piece was refused
constexpr double PINNED = 0.25;    // shares of the distance of knots: a spline that smooths over less goes through the guide
constexpr int WIDE_PIECES = 2;     // to both sides that are drawn to the guide with one that is refused although it ends on the guide
constexpr int PUSHES = 12;         // times that the guide is pushed inwards where the spline leaves the limits of joints, in a round,
constexpr double PUSH = 1.5;       // and by how much, in shares of what the spline is beyond
constexpr double ROUNDING = 1e-12; // radians or metres that a spline along a limit may be beyond it
constexpr int ROUNDS = 30;         // splines tried at most
constexpr double SPARE = 5e-4;       // radians or metres that joints may be off a piece where there is room: more than a motion at 100 Hz is,
constexpr double CLOSE_SPARE = 5e-5; // and near contact
constexpr double ROOM = 1e-3;        // metres of clearance up to which proofs and glances look for more
constexpr double ANY_ROOM = 1e-9;    // metres: a glance that asks for no room
constexpr std::int64_t BUDGET = 1000;  // parts of a piece that a proof may look at: what takes more is drawn closer instead
constexpr int STEPS = 64;          // at which paths are compared,
constexpr int FINE = 8;            // and places of a piece at which a curve is
constexpr double STRAIGHT = 1e-9;  // radians or metres by which a joint's direction changes at a waypoint that is no corner

using Rows = std::vector<double>;

// Length of a path (n, m) up to each of its waypoints.
Rows measure(std::span<const double> path, std::size_t m) {
    const std::size_t n = path.size() / m;
    Rows ways(n, 0.0);
    for (std::size_t k = 1; k < n; k++) {
        double square = 0.0;
        for (std::size_t j = 0; j < m; j++) {
            const double step = path[k * m + j] - path[(k - 1) * m + j];
            square += step * step;
        }
        ways[k] = ways[k - 1] + std::sqrt(square);
    }
    return ways;
}

// Where a path is after the lengths wanted, which increase.
Rows places_at(std::span<const double> path, std::size_t m, std::span<const double> ways, std::span<const double> wanted) {
    const std::size_t n = ways.size();
    Rows rows(wanted.size() * m);
    std::size_t k = 1;
    for (std::size_t i = 0; i < wanted.size(); i++) {
        while (k + 1 < n && ways[k] < wanted[i]) k++;
        const double width = ways[k] - ways[k - 1], t = width > 0.0 ? (wanted[i] - ways[k - 1]) / width : 1.0;
        const double *a = &path[(k - 1) * m], *b = &path[k * m];
        for (std::size_t j = 0; j < m; j++) rows[i * m + j] = t < 1.0 ? a[j] + t * (b[j] - a[j]) : b[j];  // the end of an edge exactly
    }
    return rows;
}

// The waypoints at which a path turns, and its ends: (n, m).
Rows corners_of(std::span<const double> path, std::size_t m) {
    const std::size_t n = path.size() / m;
    Rows out(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(m));
    std::vector<double> before, along(m);  // direction, by the largest joint motion
    const double *last = path.data();      // waypoint that is not repeated
    const auto keep = [&](const double *row) { out.insert(out.end(), row, row + m); };
    for (std::size_t k = 1; k < n; k++) {
        const double *row = &path[k * m];
        double step = 0.0;
        for (std::size_t j = 0; j < m; j++) step = std::max(step, std::fabs(row[j] - last[j]));
        if (step == 0.0) continue;
        double turn = 0.0;
        for (std::size_t j = 0; j < m; j++) {
            along[j] = (row[j] - last[j]) / std::max(step, 1e-12);
            if (!before.empty()) turn = std::max(turn, std::fabs(along[j] - before[j]));
        }
        if (turn > STRAIGHT) keep(last);
        before = along, last = row;
    }
    keep(last);
    return out;
}

// A spline along a guide, which is drawn closer where it is refused.
class Spline {
  public:
    Spline(const Scene &scene, const SmoothRequest &request, std::span<const std::size_t> moving, std::span<const double> path, bool every)
        : scene_(scene), request_(request), moving_(moving), m_(moving.size()) {
        const Rows ways = measure(path, m_);
        lay_knots(path, ways, ways.back() / KNOTS, every);
        const std::size_t n = knots_.size(), k = n - 1;
        guide_ = path_guide_ = places_at(path, m_, ways, knots_);
        for (std::size_t j = 0; j < m_; j++) {
            double low = request.lower[moving[j]], high = request.upper[moving[j]];
            for (std::size_t i = 0; i < n; i++) low = std::min(low, guide_[i * m_ + j]), high = std::max(high, guide_[i * m_ + j]);
            lower_.push_back(low), upper_.push_back(high);
        }
        exact_ = static_cast<std::size_t>(std::count(corners_.begin(), corners_.end(), 1)) == path.size() / m_;
        stops_.assign(n, 0), stops_.front() = stops_.back() = 1;
        reaches_.assign(n, LOOSE * ways.back());
        for (std::size_t i = 0; i < n; i++) least_.push_back(0.5 * PINNED * (knots_[std::min(i + 1, k)] - knots_[i == 0 ? 0 : i - 1]));
        again_.assign(k, 0), spares_.assign(k, -1.0), clearances_.assign(k, 0.0);
        pieces_.assign(k * 4 * m_, 0.0), known_ = pieces_;
        // What each piece is glanced at for: as much as the guide keeps.
        glances_.assign(k, Glance::room);
        straight_guide();
        for (const Glance next : {Glance::spheres, Glance::meshes}) {
            const std::vector<std::size_t> all = where([&](std::size_t p) { return static_cast<int>(glances_[p]) + 1 == static_cast<int>(next); });
            const std::vector<std::uint8_t> clear = glanced(all);
            for (std::size_t i = 0; i < all.size(); i++)
                if (!clear[i]) glances_[all[i]] = next;
        }
        for (std::size_t i = 1; i < k; i++)  // no use to try far off where meshes must decide on the guide itself
            if (glances_[i - 1] == Glance::meshes || glances_[i] == Glance::meshes) reaches_[i] = 2.0 * least_[i];
    }

    bool guide_is_path() const { return exact_; }

    // Whether some spline is proved.
    bool tighten() {
        for (int round = 0; round < ROUNDS; round++) {
            fit();
            const std::vector<std::size_t> refused = unproved();
            if (refused.empty()) return true;
            for (const std::size_t k : refused)
                if (!draw_closer(k)) return false;
        }
        return false;
    }

    SmoothCurve curve() const {
        SmoothCurve out{whole(where([](std::size_t) { return true; })), knots_, stops_, spares_, clearances_};
        for (std::size_t k = 0; k < spares_.size(); k++) out.spares[k] = std::max(out.spares[k] - moved(k), 0.0);
        return out;
    }

  private:
    enum class Glance { room, spheres, meshes };  // spheres with a millimetre of room, spheres, meshes

    // Lengths along the path at which the spline gets its knots: `spacing` apart, and at corners, or at every waypoint.
    void lay_knots(std::span<const double> path, std::span<const double> ways, double spacing, bool every) {
        const std::size_t n = ways.size();
        knots_ = {0.0}, corners_ = {1};
        std::size_t last = 0;
        for (std::size_t k = 1; k < n; k++) {
            bool keep = every || k == n - 1;
            if (!keep && std::min(ways[k] - ways[last], ways[n - 1] - ways[k]) > CLOSE * spacing) {
                const double before = ways[k] - ways[k - 1], after = ways[k + 1] - ways[k];
                double turn = 0.0;
                for (std::size_t j = 0; j < m_; j++) {
                    const double *at = &path[k * m_ + j];
                    const double change = (at[m_] - at[0]) / after - (at[0] - *(at - m_)) / before;
                    turn += change * change;
                }
                keep = turn > KEEP_TURN * KEEP_TURN;
            }
            if (!keep) continue;
            const double length = ways[k] - ways[last], cuts = std::max(1.0, std::ceil(length / spacing - 1e-9));
            for (double c = 1.0; c < cuts; c += 1.0) knots_.push_back(ways[last] + length * c / cuts), corners_.push_back(0);
            knots_.push_back(ways[k]), corners_.push_back(1);
            last = k;
        }
    }

    template <class Condition> std::vector<std::size_t> where(const Condition &holds) const {
        std::vector<std::size_t> out;
        for (std::size_t k = 0; k < spares_.size(); k++)
            if (holds(k)) out.push_back(k);
        return out;
    }

    double *piece(std::size_t k) { return &pieces_[k * 4 * m_]; }

    void straight_guide() {
        for (std::size_t k = 0; k < spares_.size(); k++)
            for (std::size_t j = 0; j < m_; j++) {
                const double begin = guide_[k * m_ + j], end = guide_[(k + 1) * m_ + j], third = (end - begin) / 3.0;
                double *p = piece(k) + j;
                p[0] = begin, p[m_] = begin + third, p[2 * m_] = end - third, p[3 * m_] = end;
            }
    }

    // Pieces with the joints that do not move: (n, 4, dof).
    Rows whole(std::span<const std::size_t> rows) const {
        const std::size_t dof = request_.dof;
        Rows out(rows.size() * 4 * dof);
        for (std::size_t i = 0; i < rows.size(); i++)
            for (std::size_t c = 0; c < 4; c++) {
                double *to = &out[(4 * i + c) * dof];
                std::copy_n(request_.path.data(), dof, to);
                for (std::size_t j = 0; j < m_; j++) to[moving_[j]] = pieces_[(4 * rows[i] + c) * m_ + j];
            }
        return out;
    }

    // Fits the spline, and pushes the guide inwards where it leaves the limits of joints.
    void fit() {
        const std::size_t k = spares_.size();
        for (int turn = 0; turn < PUSHES; turn++) {
            smooth_pieces();
            std::vector<double> beyond(k * m_);
            bool inside = true;
            for (std::size_t p = 0; p < k; p++)
                for (std::size_t j = 0; j < m_; j++) {
                    const double *at = piece(p) + j;
                    const double high = std::max({at[0], at[m_], at[2 * m_], at[3 * m_]}) - upper_[j];
                    const double low = std::min({at[0], at[m_], at[2 * m_], at[3 * m_]}) - lower_[j];
                    inside &= high <= ROUNDING && low >= -ROUNDING;
                    beyond[p * m_ + j] = PUSH * (std::max(high, 0.0) + std::min(low, 0.0));
                }
            if (inside) break;
            for (std::size_t i = 1; i < k; i++)
                for (std::size_t j = 0; !stops_[i] && j < m_; j++) {
                    const double before = beyond[(i - 1) * m_ + j], after = beyond[i * m_ + j];
                    guide_[i * m_ + j] -= std::fabs(before) > std::fabs(after) ? before : after;
                }
        }
        for (std::size_t i = 0; i < pieces_.size(); i++) {
            const double inside = std::clamp(pieces_[i], lower_[i % m_], upper_[i % m_]);
            if (std::fabs(inside - pieces_[i]) <= ROUNDING) pieces_[i] = inside;
        }
    }

    // Control points of the spline that smooths over the reach of each knot, and stops at stops. Data a step h apart with give g are
    // smoothed over a length of about (g h)^(1/4), so a reach is that length. Between two stops the spline is natural: a straight guide
    // gives a straight line.
    void smooth_pieces() {
        const std::size_t n = knots_.size();
        give_.assign(n, 0.0);
        for (std::size_t i = 0; i < n; i++)
            if (!stops_[i]) give_[i] = 2.0 * std::pow(reaches_[i], 4) / (knots_[i + 1] - knots_[i - 1]);
        values_ = guide_;
        bends_.assign(guide_.size(), 0.0);
        for (std::size_t first = 0, last = 1; last < n; last++)
            if (stops_[last]) fit_part(first, last), first = last;
        for (std::size_t k = 0; k + 1 < n; k++) {
            const double h = knots_[k + 1] - knots_[k], bend = h * h / 18.0;
            for (std::size_t j = 0; j < m_; j++) {
                const double begin = values_[k * m_ + j], end = values_[(k + 1) * m_ + j], third = (end - begin) / 3.0;
                const double b0 = bends_[k * m_ + j], b1 = bends_[(k + 1) * m_ + j];
                double *p = piece(k) + j;
                // At a stop the curve before and the one after are natural: `bends_` is zero for both.
                p[0] = begin, p[m_] = begin + third - bend * (2.0 * b0 + b1);
                p[2 * m_] = end - third - bend * (b0 + 2.0 * b1), p[3 * m_] = end;
            }
        }
    }

    // Second derivatives at the knots solve one symmetric system of five diagonals, (T + Q' diag(give) Q) f'' = Q' y, and
    // f = y - diag(give) Q f''.
    void fit_part(std::size_t first, std::size_t last) {
        const std::size_t n = last - first + 1;
        if (n < 3) return;
        const double *x = &knots_[first], *give = &give_[first], *guide = &guide_[first * m_];
        double *values = &values_[first * m_], *bends = &bends_[first * m_];
        main_.assign(n, 0.0), first_.assign(n, 0.0), second_.assign(n, 0.0);
        for (std::size_t k = 1; k < n - 1; k++) {
            const double a = 1.0 / (x[k] - x[k - 1]), b = 1.0 / (x[k + 1] - x[k]);
            main_[k] = (x[k + 1] - x[k - 1]) / 3.0 + a * a * give[k - 1] + (a + b) * (a + b) * give[k] + b * b * give[k + 1];
            if (k < n - 2) {
                const double c = 1.0 / (x[k + 2] - x[k + 1]);
                first_[k] = (x[k + 1] - x[k]) / 6.0 - (a + b) * b * give[k] - b * (b + c) * give[k + 1];
                if (k < n - 3) second_[k] = b * c * give[k + 1];
            }
            for (std::size_t j = 0; j < m_; j++)
                bends[k * m_ + j] = (guide[(k + 1) * m_ + j] - guide[k * m_ + j]) * b - (guide[k * m_ + j] - guide[(k - 1) * m_ + j]) * a;
        }
        // L D L' in place: `first_` and `second_` become the entries of L below the diagonal.
        for (std::size_t k = 1; k < n - 1; k++) {
            const double one = first_[k] / main_[k], two = second_[k] / main_[k];
            if (k < n - 2) main_[k + 1] -= one * first_[k], first_[k + 1] -= one * second_[k];
            if (k < n - 3) main_[k + 2] -= two * second_[k];
            first_[k] = one, second_[k] = two;
            for (std::size_t j = 0; j < m_; j++) {
                if (k < n - 2) bends[(k + 1) * m_ + j] -= one * bends[k * m_ + j];
                if (k < n - 3) bends[(k + 2) * m_ + j] -= two * bends[k * m_ + j];
            }
        }
        for (std::size_t k = n - 2; k > 0; k--)
            for (std::size_t j = 0; j < m_; j++) {
                double value = bends[k * m_ + j] / main_[k];
                if (k < n - 2) value -= first_[k] * bends[(k + 1) * m_ + j];
                if (k < n - 3) value -= second_[k] * bends[(k + 2) * m_ + j];
                bends[k * m_ + j] = value;
            }
        for (std::size_t k = 1; k < n - 1; k++) {
            const double a = 1.0 / (x[k] - x[k - 1]), b = 1.0 / (x[k + 1] - x[k]);
            for (std::size_t j = 0; j < m_; j++)
                values[k * m_ + j] -= give[k] * (a * bends[(k - 1) * m_ + j] - (a + b) * bends[k * m_ + j] + b * bends[(k + 1) * m_ + j]);
        }
    }

    // How far a piece is from what it was when it was last proved.
    double moved(std::size_t k) const {
        double most = 0.0;
        for (std::size_t i = k * 4 * m_; i < (k + 1) * 4 * m_; i++) most = std::max(most, std::fabs(pieces_[i] - known_[i]));
        return most;
    }

    // A quick look, no proof, at some places of pieces, each for what it is to keep.
    std::vector<std::uint8_t> glanced(std::span<const std::size_t> rows) {
        std::vector<std::uint8_t> out(rows.size(), 1);
        for (const Glance how : {Glance::room, Glance::spheres, Glance::meshes}) {
            std::vector<std::size_t> places, mine;
            for (std::size_t i = 0; i < rows.size(); i++)
                if (glances_[rows[i]] == how) places.push_back(i), mine.push_back(rows[i]);
            if (mine.empty()) continue;
            if (how == Glance::meshes) {
                const std::vector<std::uint8_t> free = free_by_meshes(mine);
                for (std::size_t i = 0; i < mine.size(); i++) out[places[i]] = free[i];
                continue;
            }
            const std::vector<PieceProof> found = prove(mine, Rows(request_.dof, 0.0), {Look::glance, how == Glance::room ? ROOM : ANY_ROOM, BUDGET});
            for (std::size_t i = 0; i < mine.size(); i++) out[places[i]] = found[i].outcome == Outcome::free;
        }
        return out;
    }

    std::vector<std::uint8_t> free_by_meshes(std::span<const std::size_t> rows) const {
        constexpr double PLACES[] = {0.25, 0.5, 0.75, 1.0};
        constexpr std::size_t N = std::size(PLACES);
        const std::size_t dof = request_.dof;
        const Rows control = whole(rows);
        Rows cfgs;
        for (std::size_t i = 0; i < rows.size(); i++)
            for (const double t : PLACES)
                for (std::size_t d = 0; d < dof; d++) {
                    const double s = 1.0 - t, *p = &control[4 * i * dof + d];
                    cfgs.push_back(s * s * s * p[0] + 3.0 * s * s * t * p[dof] + 3.0 * s * t * t * p[2 * dof] + t * t * t * p[3 * dof]);
                }
        const auto free = std::make_unique<bool[]>(rows.size() * N);
        std::fill_n(free.get(), rows.size() * N, false);
        scene_.free({cfgs, rows.size() * N}, Judge::meshes, {free.get(), rows.size() * N});
        std::vector<std::uint8_t> out(rows.size());
        for (std::size_t i = 0; i < rows.size(); i++) out[i] = std::all_of(&free[N * i], &free[N * i] + N, [](bool yes) { return yes; });
        return out;
    }

    // `slack` (rows, dof), or (dof) for all.
    std::vector<PieceProof> prove(std::span<const std::size_t> rows, std::span<const double> slack, const ProofRequest &request) const {
        const Rows control = whole(rows);
        std::vector<PieceProof> out(rows.size());
        scene_.prove({request_.dof, rows.size(), 4, control, slack}, request, out);
        return out;
    }

    // How far all joints may be off a piece without leaving the range in which the pairs of the scene are all that can meet.
    double room(std::size_t k) const {
        double least = SPARE;
        for (std::size_t i = k * 4 * m_; i < (k + 1) * 4 * m_; i++) {
            const std::size_t d = moving_[i % m_];
            least = std::min({least, pieces_[i] - scene_.range().lower[d], scene_.range().upper[d] - pieces_[i]});
        }
        return least;
    }

    // Proves pieces with joints off them as far as it holds.
    void prove_spares(std::vector<std::size_t> rows) {
        for (const double spare : {SPARE, CLOSE_SPARE, 0.0}) {
            if (spare == 0.0)  // on the guide, which may be too close for any slack
                std::erase_if(rows, [&](std::size_t k) { return !pinned(k); });
            if (rows.empty()) return;
            Rows slack(rows.size() * request_.dof, 0.0);
            for (std::size_t i = 0; i < rows.size(); i++)
                for (const std::size_t d : moving_) slack[i * request_.dof + d] = std::max(std::min(spare, room(rows[i])), 0.0);
            const std::vector<PieceProof> found = prove(rows, slack, {Look::meshes, ROOM, BUDGET});
            std::vector<std::size_t> left;
            for (std::size_t i = 0; i < rows.size(); i++) {
                if (found[i].outcome == Outcome::free && room(rows[i]) >= 0.0)
                    spares_[rows[i]] = slack[i * request_.dof + moving_[0]], clearances_[rows[i]] = found[i].clearance;
                else
                    left.push_back(rows[i]);
            }
            rows = std::move(left);
        }
    }

    // Pieces that are not proved, or that leave the limits; only glanced at where that refuses some already.
    std::vector<std::size_t> unproved() {
        // A piece that has moved by less than its proof allowed is still proved.
        std::vector<std::size_t> fresh = where([&](std::size_t k) { return moved(k) > 0.5 * spares_[k]; });
        std::vector<std::size_t> refused, seen;
        for (const std::size_t k : fresh) {
            bool inside = true;
            for (std::size_t i = k * 4 * m_; i < (k + 1) * 4 * m_; i++) inside &= pieces_[i] >= lower_[i % m_] && pieces_[i] <= upper_[i % m_];
            (inside ? seen : refused).push_back(k);
        }
        const std::vector<std::uint8_t> clear = glanced(seen);
        for (std::size_t i = 0; i < seen.size(); i++)
            if (!clear[i]) refused.push_back(seen[i]);
        if (refused.empty()) {
            for (const std::size_t k : fresh) {
                spares_[k] = -1.0;
                std::copy_n(&pieces_[k * 4 * m_], 4 * m_, &known_[k * 4 * m_]);
            }
            prove_spares(fresh);
            refused = where([&](std::size_t k) { return spares_[k] < 0.0; });
        }
        std::sort(refused.begin(), refused.end());
        return refused;
    }

    bool on_guide(std::size_t i) const { return reaches_[i] == 0.0 || stops_[i]; }
    // Both its ends are on the guide.
    bool pinned(std::size_t k) const { return on_guide(k) && on_guide(k + 1); }

    // Draws the spline to the guide at a piece; false when it is there already.
    bool draw_closer(std::size_t k) {
        if (!pinned(k)) {
            for (const std::size_t i : {k, k + 1}) {
                reaches_[i] *= CLOSER;
                if (reaches_[i] < least_[i]) reaches_[i] = 0.0;
            }
            return true;
        }
        const int wide = ++again_[k];
        glances_[k] = wide > 1 ? Glance::meshes : Glance::spheres;
        const std::size_t side = static_cast<std::size_t>(wide);
        if (wide <= WIDE_PIECES) {  // its neighbours bend it
            for (std::size_t i = k - std::min(k, side); i < std::min(k + 2 + side, reaches_.size()); i++) reaches_[i] = 0.0;
            return true;
        }
        std::size_t before = k, after = k + 1;
        while (!corners_[before]) before--;
        while (!corners_[after]) after++;
        if (!exact_ || (stops_[before] && stops_[after])) return false;
        stops_[before] = stops_[after] = 1;
        std::copy(path_guide_.begin() + static_cast<std::ptrdiff_t>(before * m_), path_guide_.begin() + static_cast<std::ptrdiff_t>((after + 1) * m_),
                  guide_.begin() + static_cast<std::ptrdiff_t>(before * m_));
        return true;
    }

    const Scene &scene_;
    const SmoothRequest &request_;
    std::span<const std::size_t> moving_;
    std::size_t m_;                        // columns below, of the moving joints
    Rows knots_, guide_, path_guide_;      // (n), (n, m), and the guide before it was pushed
    Rows lower_, upper_;                   // (m)
    std::vector<std::uint8_t> corners_, stops_;  // (n) knots that are waypoints; knots at which the direction may jump
    bool exact_ = false;                   // the guide is the path, so that it is free itself
    Rows reaches_, least_;                 // (n) what is smoothed over, and below which the spline goes through the guide
    std::vector<int> again_;               // (k) how often each piece was refused with both its ends on the guide
    std::vector<Glance> glances_;          // (k)
    Rows pieces_, known_;                  // (k, 4, m) as they are, and as they were when they were last proved
    Rows spares_, clearances_;             // (k) what was proved then; -1 where nothing was
    Rows give_, values_, bends_, main_, first_, second_;
};

Rows dense_rows(std::span<const double> pieces, std::size_t dof) {
    const std::size_t k = pieces.size() / (4 * dof);
    Rows out;
    for (std::size_t p = 0; p < k; p++)
        for (int c = 0; c < FINE + (p + 1 == k); c++) {
            const double t = static_cast<double>(c) / FINE, s = 1.0 - t;
            for (std::size_t d = 0; d < dof; d++) {
                const double *at = &pieces[p * 4 * dof + d];
                out.push_back(s * s * s * at[0] + 3.0 * s * t * (s * at[dof] + t * at[2 * dof]) + t * t * t * at[3 * dof]);
            }
        }
    return out;
}

}  // namespace

std::vector<double> resampled(std::span<const double> path, std::size_t dof, int places) {
    const Rows ways = measure(path, dof);
    Rows out, wanted;
    if (ways.back() == 0.0) {
        for (int i = 0; i < places; i++) out.insert(out.end(), path.begin(), path.begin() + static_cast<std::ptrdiff_t>(dof));
        return out;
    }
    for (int i = 0; i < places; i++) wanted.push_back(i + 1 == places ? ways.back() : ways.back() * i / (places - 1));
    return places_at(path, dof, ways, wanted);
}

double roughness(std::span<const double> path, std::size_t dof, int steps) {
    if (path.size() < 2 * dof) return 0.0;
    const Rows rows = resampled(path, dof, steps + 1);
    double total = 0.0;
    for (std::size_t i = dof; i + dof < rows.size(); i++) {
        const double bend = rows[i - dof] - 2.0 * rows[i] + rows[i + dof];
        total += bend * bend;
    }
    return total;
}

double curve_roughness(std::span<const double> pieces, std::size_t dof, int steps) { return roughness(dense_rows(pieces, dof), dof, steps); }

SmoothCurve smooth_path(const Scene &scene, const SmoothRequest &request) {
    const std::size_t dof = request.dof, n = request.path.size() / dof;
    std::vector<std::size_t> moving;
    for (std::size_t d = 0; d < dof; d++)
        if (request.moves[d]) moving.push_back(d);
    if (moving.empty()) return {};
    Rows parts;
    for (std::size_t i = 0; i < n; i++)
        for (const std::size_t d : moving) parts.push_back(request.path[i * dof + d]);
    const Rows corners = corners_of(parts, moving.size());
    if (corners.size() < 3 * moving.size()) return {};
    const double allowed = roughness(request.path, dof, STEPS);
    for (const bool every : {false, true}) {
        Spline spline(scene, request, moving, corners, every);
        if (spline.tighten()) {
            SmoothCurve found = spline.curve();
            if (curve_roughness(found.pieces, dof, STEPS) <= allowed) return found;
        }
        if (spline.guide_is_path()) break;
    }
    return {};
}

}  // namespace elbowroom
