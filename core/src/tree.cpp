#include "elbowroom/tree.hpp"

#include <cmath>

namespace elbowroom {

int Tree::add(const double *values, int parent) {
    const int k = size();
    nodes_.push_back({.parent = parent});
    values_.insert(values_.end(), values, values + joints_);
    if (static_cast<std::size_t>(k) % BLOCK == 0) blocks_.resize(blocks_.size() + BLOCK * joints_, AWAY);
    float *at = column(k);
    for (std::size_t j = 0; j < joints_; j++) at[j * BLOCK] = static_cast<float>(values[j]);
    return k;
}

int Tree::nearest(const double *values, double &far) {
    for (std::size_t j = 0; j < joints_; j++) probe_[j] = static_cast<float>(values[j]);
    F32x8 best = splat8(std::numeric_limits<float>::infinity());
    I32x8 where{}, here = {0, 1, 2, 3, 4, 5, 6, 7};
    for (const float *block = blocks_.data(), *end = block + blocks_.size(); block < end; block += BLOCK * joints_) {
        F32x8 total{};
        for (std::size_t j = 0; j < joints_; j++) {
            const F32x8 off = load8(block + j * BLOCK) - probe_[j];
            total = fused(off, off, total);
        }
        const I32x8 nearer = total < best;
        best = nearer ? total : best, where = nearer ? here : where, here += static_cast<std::int32_t>(BLOCK);
    }
    int lane = 0;
    for (int k = 1; k < static_cast<int>(BLOCK); k++)
        if (best[k] < best[lane] || (best[k] == best[lane] && where[k] < where[lane])) lane = k;
    far = std::sqrt(static_cast<double>(best[lane]));
    return where[lane];
}

void Tree::cut(int k) {
    for (int n = k; n < size(); n++) {  // parents come before their children
        const int parent = node(n).parent;
        if (n != k && (parent < k || !node(parent).gone)) continue;
        node(n).gone = true;
        float *at = column(n);
        for (std::size_t j = 0; j < joints_; j++) at[j * BLOCK] = AWAY;
    }
}

int Tree::root_of(int k) const {
    while (node(k).parent >= 0) k = node(k).parent;
    return k;
}

}  // namespace elbowroom
