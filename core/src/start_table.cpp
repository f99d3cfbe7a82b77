#include <algorithm>
#include <cmath>
#include <numbers>

#include "elbowroom/ik.hpp"

namespace elbowroom {
namespace {

constexpr double NEAR = 0.01;  // weight of a squared joint angle beside squared metres, where answers near a seed are asked for

}  // namespace

StartTable::StartTable(std::shared_ptr<const Targets> targets, std::span<const double> cfgs) : targets_(std::move(targets)) {
    const Robot &robot = targets_->robot();
    const std::size_t dof = static_cast<std::size_t>(robot.dof()), links = robot.n_links(), solved = targets_->solved();
    n_ = cfgs.size() / dof;
    rows_.resize((solved + 7 * targets_->size()) * n_);
    const auto out = [&](std::size_t k) { return rows_.data() + k * n_; };
    for (std::size_t v = 0; v < solved; v++)
        for (std::size_t i = 0; i < n_; i++) out(v)[i] = static_cast<float>(cfgs[i * dof + static_cast<std::size_t>(targets_->variables()[v])]);
    std::vector<double> poses(links * 7);
    for (std::size_t i = 0; i < n_; i++) {
        robot.link_poses(cfgs.subspan(i * dof, dof), poses);
        for (std::size_t t = 0; t < targets_->size(); t++)
            for (std::size_t c = 0; c < 7 && targets_->targets()[t].kind != TargetKind::joint; c++)
                out(solved + 7 * t + c)[i] = static_cast<float>(poses[7 * static_cast<std::size_t>(targets_->targets()[t].link) + c]);
    }
}

void StartTable::scores(std::span<const double> values, std::span<const double> base, bool seeded, const std::vector<bool> &endless,
                        std::vector<float> &out) const {
    out.assign(n_, 0.0f);
    float *score = out.data();
    const std::size_t solved = targets_->solved(), n = n_;
    for (std::size_t t = 0; t < targets_->size(); t++) {
        const Targets::Target &target = targets_->targets()[t];
        const double *given = values.data() + t * TARGET_VALUES;
        float v[TARGET_VALUES];
        for (std::size_t k = 0; k < TARGET_VALUES; k++) v[k] = static_cast<float>(given[k]);
        if (target.kind == TargetKind::joint) {
            if (static_cast<std::size_t>(target.variable) >= solved) continue;
            const float *q = row(static_cast<std::size_t>(target.variable)), weight = v[1] * v[1];
            for (std::size_t i = 0; i < n; i++) score[i] += weight * (q[i] - v[0]) * (q[i] - v[0]);
            continue;
        }
        const std::size_t first = solved + 7 * t;
        const float *w = row(first), *x = row(first + 1), *y = row(first + 2), *z = row(first + 3);
        const float *a = row(first + 4), *b = row(first + 5), *c = row(first + 6);
        if (target.kind == TargetKind::pose) {
            const float along = v[7] * v[7], around = 8.0f * v[8] * v[8];
            for (std::size_t i = 0; i < n; i++) {
                const float da = a[i] - v[4], db = b[i] - v[5], dc = c[i] - v[6];
                const float same = std::fabs(w[i] * v[0] + x[i] * v[1] + y[i] * v[2] + z[i] * v[3]);
                score[i] += along * (da * da + db * db + dc * dc) + around * (1.0f - same);
            }
            continue;
        }
        const float weight = v[6] * v[6], e = v[3], f = v[4], g = v[5];
        const auto turned = [&](std::size_t i, float (&to)[3]) {  // the point or axis in world axes
            const float k = 2.0f * (y[i] * g - z[i] * f), m = 2.0f * (z[i] * e - x[i] * g), o = 2.0f * (x[i] * f - y[i] * e);
            to[0] = e + w[i] * k + y[i] * o - z[i] * m;
            to[1] = f + w[i] * m + z[i] * k - x[i] * o;
            to[2] = g + w[i] * o + x[i] * m - y[i] * k;
        };
        if (target.kind == TargetKind::position) {
            for (std::size_t i = 0; i < n; i++) {
                float p[3];
                turned(i, p);
                const float dx = p[0] + a[i] - v[0], dy = p[1] + b[i] - v[1], dz = p[2] + c[i] - v[2];
                score[i] += weight * (dx * dx + dy * dy + dz * dz);
            }
            continue;
        }
        const float looks = target.kind == TargetKind::look_at ? 1.0f : 0.0f;
        for (std::size_t i = 0; i < n; i++) {
            float p[3];
            turned(i, p);
            const float dx = v[0] - looks * a[i], dy = v[1] - looks * b[i], dz = v[2] - looks * c[i];
            const float far = std::sqrt(dx * dx + dy * dy + dz * dz) + 1e-6f;
            score[i] += weight * 2.0f * (1.0f - (p[0] * dx + p[1] * dy + p[2] * dz) / far);
        }
    }
    if (!seeded) return;
    constexpr float HALF_TURN = std::numbers::pi_v<float>;
    const float weight = static_cast<float>(NEAR);
    for (std::size_t k = 0; k < solved; k++) {
        const float *q = row(k), to = static_cast<float>(base[static_cast<std::size_t>(targets_->variables()[k])]);
        const bool wraps = endless[k];
        for (std::size_t i = 0; i < n; i++) {
            float apart = std::fabs(q[i] - to);
            apart = wraps && apart > HALF_TURN ? 2.0f * HALF_TURN - apart : apart;
            score[i] += weight * apart * apart;
        }
    }
}

void StartTable::pick(std::span<const float> scores, int last, std::size_t count, std::vector<int> &out) {
    const auto score = [&](int k) { return scores[static_cast<std::size_t>(k)]; };
    const auto less = [&](int a, int b) { return score(a) < score(b) || (score(a) == score(b) && a < b); };
    out.clear();
    for (int i = 0, n = static_cast<int>(scores.size()); i < n; i++) {
        if (out.size() == count && !(score(i) < score(out.back()))) continue;
        if (last >= 0 && !less(last, i)) continue;
        if (out.size() == count) out.pop_back();
        std::size_t k = out.size();
        out.push_back(i);
        for (; k > 0 && less(i, out[k - 1]); k--) out[k] = out[k - 1];
        out[k] = i;
    }
}

std::vector<int> StartTable::nearest(std::span<const double> values, std::span<const double> base, bool seeded, std::size_t count) const {
    std::vector<float> found;
    std::vector<int> out;
    scores(values, base, seeded, std::vector<bool>(targets_->solved(), false), found);
    if (count > 0) pick(found, -1, count, out);
    return out;
}

}  // namespace elbowroom
