// What the files of bindings share: array types and their checks.
//
// Bindings hold no logic: they check shapes, release the interpreter lock, and call the core. Arrays come in as
// contiguous float64 (converted where they are not) or are refused with a TypeError; results are new arrays.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>

namespace elbowroom::bindings {

namespace nb = nanobind;

// Read-only arrays of numbers, C order. The last template argument is the number of axes.
template <class T, std::size_t N>
using In = nb::ndarray<const T, nb::numpy, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
// Arrays that a call writes to, made by the caller; bound with `noconvert`, so that a copy is never written instead.
template <class T, std::size_t N>
using InOut = nb::ndarray<T, nb::numpy, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
// New arrays that Python owns.
template <class T, std::size_t N>
using Out = nb::ndarray<T, nb::numpy, nb::ndim<N>, nb::c_contig, nb::device::cpu>;

template <class T, std::size_t N> Out<T, N> make_array(const std::size_t (&shape)[N]) {
    std::size_t size = 1;
    for (std::size_t n : shape) size *= n;
    auto data = std::make_unique<T[]>(size ? size : 1);
    T *raw = data.release();
    nb::capsule owner(raw, [](void *p) noexcept { delete[] static_cast<T *>(p); });
    return Out<T, N>(raw, N, shape, owner);
}

// Several results, which the docstring lists.
using Tuple = nb::typed<nb::tuple, nb::any, nb::ellipsis>;
// Named columns or settings.
using Columns = nb::typed<nb::dict, nb::str, nb::any>;

// Refuses with a ValueError that names the argument.
inline void require(bool holds, const char *message) {
    if (!holds) throw nb::value_error(message);
}

// Refuses NaN, infinities and what no coordinate, angle or size can be; searches over such numbers need not end.
template <class Array> void require_finite(const Array &numbers, const char *message, double most = 1e10) {
    const double *at = numbers.data();
    for (std::size_t k = 0, n = numbers.size(); k < n; k++) require(std::fabs(at[k]) <= most, message);
}

void bind_robot(nb::module_ &m);
void bind_distance(nb::module_ &m);
void bind_pairs(nb::module_ &m);
void bind_mesh(nb::module_ &m);
void bind_proximity(nb::module_ &m);
void bind_closed(nb::module_ &m);
void bind_spheres(nb::module_ &m);
void bind_world(nb::module_ &m);
void bind_collision(nb::module_ &m);
void bind_plan(nb::module_ &m);
void bind_timing(nb::module_ &m);
void bind_stomp(nb::module_ &m);
void bind_drawing(nb::module_ &m);
void bind_track(nb::module_ &m);
void bind_ik(nb::module_ &m);

}  // namespace elbowroom::bindings
