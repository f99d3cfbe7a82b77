#include "elbowroom/roadmap.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

namespace elbowroom {

Graph::Graph(int nodes, std::vector<Edge> edges) : edges_(std::move(edges)), first_(static_cast<std::size_t>(nodes) + 1, 0) {
    for (const Edge &edge : edges_)
        for (const int end : {edge.a, edge.b}) first_[static_cast<std::size_t>(end) + 1]++;
    for (std::size_t k = 1; k < first_.size(); k++) first_[k] += first_[k - 1];
    touching_.resize(2 * edges_.size());
    std::vector<int> next(first_.begin(), first_.end() - 1);
    for (std::size_t k = 0; k < edges_.size(); k++)
        for (const int end : {edges_[k].a, edges_[k].b}) touching_[static_cast<std::size_t>(next[static_cast<std::size_t>(end)]++)] = static_cast<int>(k);
}

Graph::Found Graph::shortest(std::span<const Way> starts, std::span<const double> rest, std::span<const bool> closed) const {
    constexpr double NONE = std::numeric_limits<double>::infinity();
    std::vector<double> best(nodes(), NONE);
    std::vector<int> by(nodes(), -1);  // the edge that led to a node
    using Waiting = std::pair<double, int>;
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting;
    for (const Way &start : starts) {
        double &known = best[static_cast<std::size_t>(start.node)];
        if (start.length < known) known = start.length, waiting.push({start.length, start.node});
    }
    double total = NONE;
    int last = -1;
    while (!waiting.empty() && waiting.top().first < total) {
        const auto [way, node] = waiting.top();
        waiting.pop();
        const std::size_t n = static_cast<std::size_t>(node);
        if (way > best[n]) continue;
        if (way + rest[n] < total) total = way + rest[n], last = node;
        for (int k = first_[n]; k < first_[n + 1]; k++) {
            const int e = touching_[static_cast<std::size_t>(k)];
            if (closed[static_cast<std::size_t>(e)]) continue;
            const Edge &edge = edges_[static_cast<std::size_t>(e)];
            const int other = edge.a == node ? edge.b : edge.a;
            const double there = way + edge.length;
            if (there < best[static_cast<std::size_t>(other)]) best[static_cast<std::size_t>(other)] = there, by[static_cast<std::size_t>(other)] = e, waiting.push({there, other});
        }
    }
    Found out;
    for (int node = last; node >= 0;) {
        out.nodes.push_back(node);
        const int e = by[static_cast<std::size_t>(node)];
        if (e < 0) break;
        out.edges.push_back(e);
        const Edge &edge = edges_[static_cast<std::size_t>(e)];
        node = edge.a == node ? edge.b : edge.a;
    }
    std::reverse(out.nodes.begin(), out.nodes.end());
    std::reverse(out.edges.begin(), out.edges.end());
    return out;
}

}  // namespace elbowroom
