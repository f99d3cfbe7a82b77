// The Python module: one `bind_*` for each folder of the package, each in a file of its own.
#include "module.hpp"

#define ELBOWROOM_STRINGIFY_(x) #x
#define ELBOWROOM_STRINGIFY(x) ELBOWROOM_STRINGIFY_(x)

namespace elbowroom::bindings {

bool machine_runs_v3() {
#if defined(__x86_64__) || defined(_M_X64)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
#else
    return false;
#endif
}

}  // namespace elbowroom::bindings

NB_MODULE(ELBOWROOM_MODULE, m) {
    nanobind::set_leak_warnings(false);  // values in caches of modules live until the process ends
    m.doc() = "Elbowroom's compiled core.";
    m.attr("VARIANT") = ELBOWROOM_STRINGIFY(ELBOWROOM_MODULE);
    m.def("machine_runs_v3", &elbowroom::bindings::machine_runs_v3,
          "Whether this machine has AVX2, FMA and BMI2, which the x86-64-v3 variant uses.");
    elbowroom::bindings::bind_robot(m);
    elbowroom::bindings::bind_distance(m);
    elbowroom::bindings::bind_mesh(m);
    elbowroom::bindings::bind_proximity(m);
    elbowroom::bindings::bind_pairs(m);
    elbowroom::bindings::bind_closed(m);
    elbowroom::bindings::bind_spheres(m);
    elbowroom::bindings::bind_world(m);
    elbowroom::bindings::bind_collision(m);
    elbowroom::bindings::bind_plan(m);
    elbowroom::bindings::bind_timing(m);
    elbowroom::bindings::bind_stomp(m);
    elbowroom::bindings::bind_drawing(m);
    elbowroom::bindings::bind_track(m);
    elbowroom::bindings::bind_ik(m);
}
