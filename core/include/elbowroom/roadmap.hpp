// Shortest ways through a table of nodes and edges: Dijkstra's algorithm, with edges that may be closed for a question.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace elbowroom {

class Graph {
  public:
    struct Edge {
        int a = 0, b = 0;
        double length = 0.0;
    };
    // A node, and the length of the way to it from outside.
    struct Way {
        int node = 0;
        double length = 0.0;
    };
    struct Found {
        std::vector<int> nodes, edges;  // in the order of the way, one edge fewer; none where there is no way
    };

    Graph(int nodes, std::vector<Edge> edges);

    std::size_t nodes() const { return first_.size() - 1; }
    std::size_t edges() const { return edges_.size(); }
    // The shortest way from one of `starts` to where `rest` (nodes), the length from each node to the goal, is finite. Edges marked in
    // `closed` are not taken.
    Found shortest(std::span<const Way> starts, std::span<const double> rest, std::span<const bool> closed) const;

  private:
    std::vector<Edge> edges_;
    std::vector<int> first_, touching_;  // edges of a node: touching_[first_[node]] up to the next one's
};

}  // namespace elbowroom
