// A tree of configurations that grows, with the nearest node to a point.
//
// Nodes are kept in float64, and in float32 in blocks of eight for the search of the nearest one, which looks at all of them. A
// node whose edge turned out to be blocked is cut off with all that hangs on it: its numbers stay, far from everything.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "elbowroom/lanes.hpp"

namespace elbowroom {

class Tree {
  public:
    struct Node {
        int parent = -1;        // -1 for roots
        bool proved = false;    // the edge from the parent
        bool gone = false;      // cut off
        float domain = std::numeric_limits<float>::infinity();  // samples farther away are not meant for it
    };

    explicit Tree(std::size_t joints) : joints_(joints), probe_(joints) {}

    int size() const { return static_cast<int>(nodes_.size()); }
    Node &node(int k) { return nodes_[static_cast<std::size_t>(k)]; }
    const Node &node(int k) const { return nodes_[static_cast<std::size_t>(k)]; }
    const double *at(int k) const { return values_.data() + static_cast<std::size_t>(k) * joints_; }
    int add(const double *values, int parent);
    // The nearest node that is not cut off, and how far it is.
    int nearest(const double *values, double &far);
    // Takes a node out with all that hangs on it.
    void cut(int k);
    int root_of(int k) const;

  private:
    static constexpr std::size_t BLOCK = 8;
    static constexpr float AWAY = 1e17f;  // its square, added up over joints, is finite

    float *column(int k) { return blocks_.data() + static_cast<std::size_t>(k) / BLOCK * BLOCK * joints_ + static_cast<std::size_t>(k) % BLOCK; }

    std::size_t joints_;
    std::vector<Node> nodes_;
    std::vector<double> values_;  // (nodes, joints)
    std::vector<float> blocks_;   // (blocks, joints, BLOCK)
    std::vector<float> probe_;
};

// Random numbers: splitmix64.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed * 0x632BE59BD9B4E019u + 1u) {}
    // Evenly from 0 up to 1.
    double uniform() {
        state_ += 0x9E3779B97F4A7C15u;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        z ^= z >> 31;
        return static_cast<double>(z >> 11) * 0x1p-53;
    }

  private:
    std::uint64_t state_;
};

}  // namespace elbowroom
