// A controller at 1 kHz that never moves into a collision: every step is proved free before it is taken.
//
//     control_loop scene.bin [seconds]
//
// A careless policy drives towards random goals at the joints' top speeds. Each tick proves the straight motion of the next
// millisecond, with the robot's meshes and all obstacles; a step that is not proved is not taken, and the policy gets another
// goal. Prints how long ticks took, in wall time and CPU time, which a busy machine disturbs less; exits with 1 if a verdict
// differs from Python's or the robot ever collides.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <thread>

#include "scene_file.hpp"

using namespace elbowroom;
using Clock = std::chrono::steady_clock;

int main(int argc, char **argv) try {
    if (argc < 2) {
        std::fprintf(stderr, "usage: control_loop scene.bin [seconds]\n");
        return 2;
    }
    const double seconds = argc > 2 ? std::atof(argv[2]) : 10.0, dt = 1e-3;
    const example::SceneFile file(argv[1]);
    const Scene scene = example::scene_of(file);
    const std::size_t dof = static_cast<std::size_t>(scene.robot().dof());

    // The same scene as in Python?
    const example::Array &cfgs = file["cfgs"];
    std::size_t differ = 0, free = 0;
    for (std::size_t k = 0; k < cfgs.rows(); k++) {
        const bool found = scene.free({cfgs.row(k), dof}, Judge::meshes) == Verdict::free;
        differ += found != (file["free"].values[k] != 0.0);
        free += found;
    }
    std::printf("%zu of %zu verdicts differ from Python's; %zu are free\n", differ, cfgs.rows(), free);

    std::vector<double> q = file["start"].values, goal = q, control(2 * dof);
    const std::vector<double> slack(dof, 0.0);
    std::mt19937_64 random(1);
    const auto ticks = static_cast<std::size_t>(seconds / dt);
    std::size_t moved = 0, held = 0, late = 0;
    double worst = 0.0, worst_cpu = 0.0, sum = 0.0, travelled = 0.0;
    auto next = Clock::now();
    for (std::size_t tick = 0; tick < ticks; tick++) {
        const auto begin = Clock::now();
        const std::clock_t cpu = std::clock();
        double far = 0.0;
        for (std::size_t j = 0; j < dof; j++) {
            const double top = file["velocity"].values[j] * dt;
            const double step = std::clamp(goal[j] - q[j], -top, top);
            control[j] = q[j], control[dof + j] = q[j] + step;
            far = std::max(far, std::fabs(goal[j] - q[j]));
        }
        PieceProof proof;
        ProofRequest request;
        request.likely = true;
        scene.prove({dof, 1, 2, control, slack}, request, {&proof, 1});
        if (proof.outcome == Outcome::free) {
            for (std::size_t j = 0; j < dof; j++) travelled += std::fabs(control[dof + j] - q[j]), q[j] = control[dof + j];
            moved++;
        } else {
            held++;
        }
        if (far < 1e-3 || proof.outcome != Outcome::free)
            for (std::size_t j = 0; j < dof; j++)
                goal[j] = std::uniform_real_distribution<double>(file["lower"].values[j], file["upper"].values[j])(random);
        const double took = std::chrono::duration<double>(Clock::now() - begin).count();
        worst = std::max(worst, took), sum += took;
        worst_cpu = std::max(worst_cpu, static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC);
        late += took > dt;
        next = std::max(next + std::chrono::microseconds(1000), Clock::now());
        std::this_thread::sleep_until(next);
        if (scene.free(q, Judge::meshes) != Verdict::free) {
            std::printf("collision at tick %zu\n", tick);
            return 1;
        }
    }
    std::printf("%zu ticks: %zu steps taken (%.1f rad), %zu refused\n", ticks, moved, travelled, held);
    std::printf("a tick: mean %.1f us, worst %.1f us (%.1f us of CPU time); %zu took longer than 1 ms\n",
                1e6 * sum / static_cast<double>(ticks), 1e6 * worst, 1e6 * worst_cpu, late);
    return differ == 0 && moved > 0 ? 0 : 1;
} catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
}
