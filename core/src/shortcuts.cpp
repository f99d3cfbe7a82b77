#include <algorithm>
#include <chrono>
#include <cmath>

#include "elbowroom/sampler.hpp"

namespace elbowroom {
namespace {

constexpr double APART = 0.05;       // metres of travel between samples of a cut
constexpr double WORTH = 0.005;      // share of the length that a cut between random places must save: it may leave two corners more
constexpr std::int64_t BUDGET = 400; // parts that the proof of a cut may take

double length(const std::vector<double> &a, const std::vector<double> &b) {
    double total = 0.0;
    for (std::size_t k = 0; k < a.size(); k++) total += (b[k] - a[k]) * (b[k] - a[k]);
    return std::sqrt(total);
}

std::vector<double> between(const std::vector<double> &a, const std::vector<double> &b, double share) {
    std::vector<double> out(a);
    for (std::size_t k = 0; k < a.size(); k++) out[k] += share * (b[k] - a[k]);
    return out;
}

// A path whose corners are cut. `proved[k]` is whether the edge from waypoint k is, or is part of one that is.
struct Cutter {
    Sampler &sampler;
    Waypoints path;
    std::vector<bool> proved;
    bool proving;  // every cut at once, else none

    bool passes(const std::vector<double> &a, const std::vector<double> &b) {
        if (!sampler.glance().along(a.data(), b.data(), APART)) return false;
        const Lines::Line line{a.data(), b.data()};
        if (!sampler.lines().kept(line)) return false;
        return !proving || sampler.lines().prove({&line, 1}, Look::meshes, BUDGET)[0];
    }
    // Waypoints between two become others.
    void replace(std::size_t first, std::size_t last, std::initializer_list<std::vector<double>> by) {
        const auto place = [&](auto &of, std::size_t k) { return of.begin() + static_cast<std::ptrdiff_t>(k); };
        const bool from = proved[first], to = proved[last - 1];
        path.erase(place(path, first + 1), place(path, last));
        path.insert(place(path, first + 1), by);
        proved.erase(place(proved, first), place(proved, last));
        proved.insert(place(proved, first), by.size() + 1, proving);
        if (by.size() == 2) proved[first] = from, proved[first + 2] = to;
    }
    // Skips waypoints, as many at a time as possible, then tries lines between random places.
    void cut(int attempts, Random random, double seconds) {
        using Clock = std::chrono::steady_clock;
        const Clock::time_point began = Clock::now();
        std::size_t i = 0, j = path.size() - 1;
        for (int tried = 0; tried < attempts && path.size() > 2;) {
            if (!(std::chrono::duration<double>(Clock::now() - began).count() < seconds)) return;
            if (i + 2 < path.size()) {
                if (j < i + 2) {
                    i++, j = path.size() - 1;
                    continue;
                }
                tried++;
                if (passes(path[i], path[j]))
                    replace(i, j, {}), i++, j = path.size() - 1;
                else
                    j--;
                continue;
            }
            std::vector<double> marks(path.size(), 0.0);
            for (std::size_t k = 1; k < path.size(); k++) marks[k] = marks[k - 1] + length(path[k - 1], path[k]);
            double s = random.uniform() * marks.back(), t = random.uniform() * marks.back();
            if (s > t) std::swap(s, t);
            std::size_t first = 0;
            while (first + 2 < path.size() && marks[first + 1] <= s) first++;
            std::size_t last = first + 1;
            while (last + 1 < path.size() && marks[last] < t) last++;
            tried++;
            if (last < first + 2) continue;  // on one edge
            const auto share = [&](std::size_t k, double at) { return (at - marks[k]) / std::max(marks[k + 1] - marks[k], 1e-300); };
            const std::vector<double> a = between(path[first], path[first + 1], share(first, s));
            const std::vector<double> b = between(path[last - 1], path[last], share(last - 1, t));
            if (t - s - length(a, b) < WORTH * marks.back() || !passes(a, b)) continue;
            replace(first, last, {a, b});
        }
    }
    bool holds() {
        std::vector<Lines::Line> lines;
        for (std::size_t k = 0; k + 1 < path.size(); k++)
            if (!proved[k]) lines.push_back({path[k].data(), path[k + 1].data()});
        if (lines.empty()) return true;
        const std::vector<bool> free = sampler.lines().prove(lines, Look::meshes, BUDGET);
        return std::find(free.begin(), free.end(), false) == free.end();
    }
};

}  // namespace

Waypoints shortened(Sampler &sampler, const Waypoints &path, int attempts, std::uint64_t seed, double seconds) {
    if (path.size() < 3 || attempts <= 0) return path;
    const std::vector<bool> known(path.size() - 1, true);
    Cutter quick{sampler, path, known, false};
    quick.cut(attempts, Random(seed), seconds);
    if (!quick.holds()) {
        quick.path = path, quick.proved = known, quick.proving = true;
        quick.cut(attempts, Random(seed), seconds);
    }
    Waypoints out;
    for (std::vector<double> &next : quick.path)
        if (out.empty() || out.back() != next) out.push_back(std::move(next));
    if (out.size() == 1) out.push_back(out.front());
    return out;
}

}  // namespace elbowroom
