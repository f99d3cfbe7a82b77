// Several numbers at once: the only file with vector code.
//
// Vectors are those of GCC and Clang (`vector_size`): arithmetic and comparisons work lane by lane, a comparison gives
// a mask whose lanes are all ones or all zeros, and `mask ? a : b` chooses. What the language lacks is below. Operations
// are rounded as scalar ones are; nothing is reassociated.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace elbowroom {

typedef float F32x8 __attribute__((vector_size(32)));
typedef std::int32_t I32x8 __attribute__((vector_size(32)));
typedef float F32x4 __attribute__((vector_size(16)));
typedef std::uint32_t U32x8 __attribute__((vector_size(32)));
typedef double F64x4 __attribute__((vector_size(32)));
typedef std::int64_t I64x4 __attribute__((vector_size(32)));

inline F32x8 load8(const float *p) {
    F32x8 v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
inline F64x4 load4(const double *p) {
    F64x4 v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
// The first or the last four lanes in float64.
inline F64x4 low_half(F32x8 v) { return __builtin_convertvector(__builtin_shufflevector(v, v, 0, 1, 2, 3), F64x4); }
inline F64x4 high_half(F32x8 v) { return __builtin_convertvector(__builtin_shufflevector(v, v, 4, 5, 6, 7), F64x4); }
// Both halves in float32.
inline F32x8 joined(F64x4 low, F64x4 high) {
    return __builtin_shufflevector(__builtin_convertvector(low, F32x4), __builtin_convertvector(high, F32x4), 0, 1, 2, 3, 4, 5, 6, 7);
}
inline void store(float *p, F32x8 v) { std::memcpy(p, &v, sizeof v); }
inline void store(double *p, F64x4 v) { std::memcpy(p, &v, sizeof v); }
inline F32x8 splat8(float x) { return F32x8{x, x, x, x, x, x, x, x}; }
inline F64x4 splat4(double x) { return F64x4{x, x, x, x}; }

inline U32x8 load8(const std::uint32_t *p) {
    U32x8 v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
inline void store(std::uint32_t *p, U32x8 v) { std::memcpy(p, &v, sizeof v); }
inline U32x8 splat8(std::uint32_t x) { return U32x8{x, x, x, x, x, x, x, x}; }

inline F32x4 min(F32x4 a, F32x4 b) { return a < b ? a : b; }
inline F32x4 max(F32x4 a, F32x4 b) { return a > b ? a : b; }
inline F32x8 min(F32x8 a, F32x8 b) { return a < b ? a : b; }
inline F32x8 max(F32x8 a, F32x8 b) { return a > b ? a : b; }
inline F64x4 min(F64x4 a, F64x4 b) { return a < b ? a : b; }
inline F64x4 max(F64x4 a, F64x4 b) { return a > b ? a : b; }
inline F32x8 abs(F32x8 a) { return (F32x8)((I32x8)a & 0x7fffffff); }
inline F64x4 abs(F64x4 a) { return (F64x4)((I64x4)a & 0x7fffffffffffffff); }

// The same names for one number, so that a formula can be written once for a number and for lanes of numbers.
inline double min(double a, double b) { return a < b ? a : b; }
inline double max(double a, double b) { return a > b ? a : b; }
inline double abs(double a) { return std::fabs(a); }

// A vector in each of four lanes.
struct Vec3x4 {
    F64x4 x, y, z;
};
inline Vec3x4 operator+(const Vec3x4 &u, const Vec3x4 &v) { return {u.x + v.x, u.y + v.y, u.z + v.z}; }
inline Vec3x4 operator-(const Vec3x4 &u, const Vec3x4 &v) { return {u.x - v.x, u.y - v.y, u.z - v.z}; }
inline Vec3x4 operator*(F64x4 s, const Vec3x4 &u) { return {s * u.x, s * u.y, s * u.z}; }
inline F64x4 dot(const Vec3x4 &u, const Vec3x4 &v) { return u.x * v.x + u.y * v.y + u.z * v.z; }
inline Vec3x4 cross(const Vec3x4 &u, const Vec3x4 &v) {
    return {u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x};
}
inline F64x4 size_of(const Vec3x4 &u) { return abs(u.x) + abs(u.y) + abs(u.z); }
inline Vec3x4 choose(I64x4 mask, const Vec3x4 &u, const Vec3x4 &v) {
    return {mask ? u.x : v.x, mask ? u.y : v.y, mask ? u.z : v.z};
}

inline F32x8 sqrt(F32x8 a) {
#if defined(__AVX__)
    return (F32x8)_mm256_sqrt_ps((__m256)a);
#else
    for (int k = 0; k < 8; k++) a[k] = std::sqrt(a[k]);
    return a;
#endif
}
inline F64x4 sqrt(F64x4 a) {
#if defined(__AVX__)
    return (F64x4)_mm256_sqrt_pd((__m256d)a);
#else
    for (int k = 0; k < 4; k++) a[k] = std::sqrt(a[k]);
    return a;
#endif
}

// a * b + c, rounded once where the machine can and twice where it cannot, the same way for numbers and for lanes: code that
// uses it gives the same digits however its work is laid out.
inline float fused(float a, float b, float c) {
#if defined(__FMA__) || defined(__FP_FAST_FMAF)
    return __builtin_fmaf(a, b, c);
#else
    return a * b + c;
#endif
}
inline F32x8 fused(F32x8 a, F32x8 b, F32x8 c) {
#if defined(__FMA__)
    return (F32x8)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined(__FP_FAST_FMAF)
    for (int k = 0; k < 8; k++) c[k] = __builtin_fmaf(a[k], b[k], c[k]);
    return c;
#else
    return a * b + c;
#endif
}

// Rows become columns.
inline void transpose(F64x4 &a, F64x4 &b, F64x4 &c, F64x4 &d) {
    const F64x4 ab_low = __builtin_shufflevector(a, b, 0, 4, 2, 6), ab_high = __builtin_shufflevector(a, b, 1, 5, 3, 7);
    const F64x4 cd_low = __builtin_shufflevector(c, d, 0, 4, 2, 6), cd_high = __builtin_shufflevector(c, d, 1, 5, 3, 7);
    a = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
    b = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
    c = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
    d = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}

// Sine and cosine, good to 2e-16 for |x| < 1e5: Cody-Waite reduction, then polynomials with the coefficients of
// Moshier's Cephes library. Adding and subtracting ROUND rounds to the nearest whole number.
inline void sincos(F64x4 x, F64x4 &sine, F64x4 &cosine) {
    constexpr double ROUND = 6755399441055744.0, TWO_OVER_PI = 0.6366197723675814;
    constexpr double PIO2_HIGH = 1.57079625129699707031e0, PIO2_MID = 7.54978941586159635335e-8,
                     PIO2_LOW = 5.39030285815811905e-15;
    const F64x4 shifted = x * TWO_OVER_PI + ROUND;
    const I64x4 quadrant = (I64x4)shifted;  // its low bits are those of the whole number
    const F64x4 n = shifted - ROUND;
    const F64x4 r = ((x - n * PIO2_HIGH) - n * PIO2_MID) - n * PIO2_LOW, z = r * r;
    F64x4 s = z * 1.58962301576546568060e-10 - 2.50507477628578072866e-8;
    s = s * z + 2.75573136213857245213e-6;
    s = s * z - 1.98412698295895385996e-4;
    s = s * z + 8.33333333332211858878e-3;
    s = s * z - 1.66666666666666307295e-1;
    s = s * z * r + r;
    F64x4 c = z * -1.13585365213876817300e-11 + 2.08757008419747316778e-9;
    c = c * z - 2.75573141792967388112e-7;
    c = c * z + 2.48015872888517045348e-5;
    c = c * z - 1.38888888888730564116e-3;
    c = c * z + 4.16666666666665929218e-2;
    c = c * z * z + (1.0 - 0.5 * z);
    const I64x4 odd = -(quadrant & 1);
    const I64x4 first = ((I64x4)c & odd) | ((I64x4)s & ~odd), second = ((I64x4)s & odd) | ((I64x4)c & ~odd);
    sine = (F64x4)(first ^ ((quadrant & 2) << 62));
    cosine = (F64x4)(second ^ (((quadrant + 1) & 2) << 62));
}

// Sine and cosine in float32 of an angle that is a whole number of quarter turns more than `r`, within pi / 4 of zero.
// Polynomials after Moshier's Cephes (sinf, cosf); of the quarter turns only the last two bits count.
inline void sincos_reduced(F32x8 r, I32x8 quadrant, F32x8 &sine, F32x8 &cosine) {
    const F32x8 z = r * r;
    F32x8 s = fused(z, splat8(-1.95152959e-4f), splat8(8.33216087e-3f));
    s = fused(s, z, splat8(-1.66666546e-1f));
    s = fused(s * z, r, r);
    F32x8 c = fused(z, splat8(2.44331571e-5f), splat8(-1.38873163e-3f));
    c = fused(c, z, splat8(4.16666457e-2f));
    c = fused(c * z, z, fused(z, splat8(-0.5f), splat8(1.0f)));
    const I32x8 odd = -(quadrant & 1);
    const I32x8 first = ((I32x8)c & odd) | ((I32x8)s & ~odd), second = ((I32x8)s & odd) | ((I32x8)c & ~odd);
    sine = (F32x8)(first ^ ((quadrant & 2) << 30));
    cosine = (F32x8)(second ^ (((quadrant + 1) & 2) << 30));
}

// Sine and cosine of eight float64 angles in float32, each good to 1.2e-7 for |angle| < 1e5. Angles are reduced in float64
// (the product of a quadrant number and the 24 bits of PIO2_HIGH is exact).
inline void sincos(const double *angles, F32x8 &sine, F32x8 &cosine) {
    constexpr double ROUND = 6755399441055744.0, TWO_OVER_PI = 0.6366197723675814;
    constexpr double PIO2_HIGH = 1.57079625129699707031e0, PIO2_LOW = 7.54978995489188216e-8;
    typedef float F32x4 __attribute__((vector_size(16)));
    typedef std::int32_t I32x4 __attribute__((vector_size(16)));
    F32x4 rest[2];
    I32x4 quadrants[2];
    for (int h = 0; h < 2; h++) {
        const F64x4 x = load4(angles + 4 * h), shifted = x * TWO_OVER_PI + ROUND, n = shifted - ROUND;
        rest[h] = __builtin_convertvector((x - n * PIO2_HIGH) - n * PIO2_LOW, F32x4);
        quadrants[h] = __builtin_convertvector((I64x4)shifted, I32x4);  // its low bits are those of the whole number
    }
    sincos_reduced(__builtin_shufflevector(rest[0], rest[1], 0, 1, 2, 3, 4, 5, 6, 7),
                   __builtin_shufflevector(quadrants[0], quadrants[1], 0, 1, 2, 3, 4, 5, 6, 7), sine, cosine);
}

// The same of float32 angles, good to 2e-7 for |angle| < 100: for searches, which bound no error.
inline void sincos(F32x8 x, F32x8 &sine, F32x8 &cosine) {
    constexpr float ROUND = 12582912.0f, TWO_OVER_PI = 0.63661977f;
    const F32x8 shifted = fused(x, splat8(TWO_OVER_PI), splat8(ROUND)), n = shifted - ROUND;
    F32x8 r = fused(n, splat8(-1.5703125f), x);  // pi / 2 in three parts; products with the first two are exact
    r = fused(n, splat8(-4.837512969970703125e-4f), r);
    r = fused(n, splat8(-7.549790126e-8f), r);
    sincos_reduced(r, (I32x8)shifted, sine, cosine);
}

// The angle of (x, y) for y >= 0, in [0, pi], zero for (0, 0), good to 3e-7: a polynomial on [0, tan(pi / 8)] (Cephes, atanf).
inline F32x8 angle_of(F32x8 y, F32x8 x) {
    constexpr float QUARTER_PI = 0.78539816339f, HALF_PI = 1.57079632679f, PI = 3.14159265359f;
    const F32x8 a = abs(x), low = min(a, y), high = max(a, y);
    const I32x8 big = high * 0.41421356f < low;  // then atan t = pi / 4 + atan((t - 1) / (t + 1))
    const F32x8 under = big ? high + low : high;
    const F32x8 t = (big ? low - high : low) / (under > 0.0f ? under : splat8(1.0f)), z = t * t;
    F32x8 p = fused(z, splat8(8.05374449538e-2f), splat8(-1.38776856032e-1f));
    p = fused(p, z, splat8(1.99777106478e-1f));
    p = fused(p, z, splat8(-3.33329491539e-1f));
    F32x8 angle = fused(p * z, t, t) + (big ? splat8(QUARTER_PI) : splat8(0.0f));
    angle = a < y ? HALF_PI - angle : angle;
    return x < 0.0f ? PI - angle : angle;
}

inline float sum(F32x8 v) { return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7])); }
inline float largest(F32x8 v) {
    float out = v[0];
    for (int k = 1; k < 8; k++) out = out < v[k] ? v[k] : out;
    return out;
}
inline float smallest(F32x8 v) {
    v = min(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3));
    v = min(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5));
    return min(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6))[0];
}
// The same lanes but for one, which gets another value.
inline F32x8 with_lane(F32x8 v, int lane, float x) { return I32x8{0, 1, 2, 3, 4, 5, 6, 7} == lane ? splat8(x) : v; }
// Each lane cut off to a whole number; lanes must be within the range of int32.
inline I32x8 truncated(F32x8 v) { return __builtin_convertvector(v, I32x8); }
inline F32x8 as_float(I32x8 v) { return __builtin_convertvector(v, F32x8); }
inline F32x8 gather(const float *p, I32x8 index) {
#if defined(__AVX2__)
    return (F32x8)_mm256_i32gather_ps(p, (__m256i)index, 4);
#else
    F32x8 v;
    for (int k = 0; k < 8; k++) v[k] = p[index[k]];
    return v;
#endif
}

// One bit a lane: its sign, which in a mask is whether the lane is set.
inline unsigned bits(I32x8 mask) {
#if defined(__AVX__)
    return static_cast<unsigned>(_mm256_movemask_ps((__m256)mask));
#else
    unsigned out = 0;
    for (int k = 0; k < 8; k++) out |= static_cast<unsigned>(mask[k] < 0) << k;
    return out;
#endif
}
inline unsigned bits(I64x4 mask) {
#if defined(__AVX__)
    return static_cast<unsigned>(_mm256_movemask_pd((__m256d)mask));
#else
    unsigned out = 0;
    for (int k = 0; k < 4; k++) out |= static_cast<unsigned>(mask[k] < 0) << k;
    return out;
#endif
}

// The mask whose lanes are those of the bits.
inline I32x8 lanes_of(unsigned marked) {
    const I32x8 bit = {1, 2, 4, 8, 16, 32, 64, 128};
    return (bit & static_cast<std::int32_t>(marked)) != 0;
}

// Are all of these numbers finite and no larger than `most`?
inline bool all_within(const double *p, std::size_t n, double most) {
    I64x4 outside{};
    std::size_t k = 0;
    for (; k + 4 <= n; k += 4) outside |= ~(abs(load4(p + k)) <= splat4(most));
    bool sound = bits(outside) == 0;
    for (; k < n; k++) sound &= std::fabs(p[k]) <= most;
    return sound;
}

// The least of the marked lanes: its number. `marked` has at least one bit.
inline int least_lane(F32x8 v, unsigned marked) {
    int best = std::countr_zero(marked);
    for (unsigned rest = marked & (marked - 1); rest; rest &= rest - 1) {
        const int lane = std::countr_zero(rest);
        best = v[lane] < v[best] ? lane : best;
    }
    return best;
}

// By mask: the numbers of the marked lanes, a byte each.
struct MarkedLanes {
    std::uint64_t of[256];
    constexpr MarkedLanes() : of{} {
        for (unsigned mask = 0; mask < 256; mask++) {
            int count = 0;
            for (unsigned lane = 0; lane < 8; lane++)
                if (mask >> lane & 1u) of[mask] |= std::uint64_t{lane} << (8 * count++);
        }
    }
};
inline constexpr MarkedLanes MARKED_LANES;

// The marked lanes moved to the front, in order; the others are of no meaning.
inline U32x8 pack_front(U32x8 v, unsigned marked) {
#if defined(__AVX2__)
    const __m256i lanes = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(MARKED_LANES.of[marked])));
    return (U32x8)_mm256_permutevar8x32_epi32((__m256i)v, lanes);
#else
    U32x8 out = v;
    int count = 0;
    for (; marked; marked &= marked - 1) out[count++] = v[std::countr_zero(marked)];
    return out;
#endif
}
inline F32x8 pack_front(F32x8 v, unsigned marked) { return (F32x8)pack_front((U32x8)v, marked); }
// Sixteen numbers as two vectors, where the work between branches is too short for one.
struct F32x16 {
    F32x8 low, high;
};
struct Mask16 {
    I32x8 low, high;
};
inline F32x16 splat16(float x) { return {splat8(x), splat8(x)}; }
inline F32x16 operator+(F32x16 a, F32x16 b) { return {a.low + b.low, a.high + b.high}; }
inline F32x16 operator-(F32x16 a, F32x16 b) { return {a.low - b.low, a.high - b.high}; }
inline F32x16 operator*(F32x16 a, F32x16 b) { return {a.low * b.low, a.high * b.high}; }
inline F32x16 operator/(F32x16 a, F32x16 b) { return {a.low / b.low, a.high / b.high}; }
inline F32x16 operator-(F32x16 a) { return {-a.low, -a.high}; }
inline F32x16 operator*(float a, F32x16 b) { return {a * b.low, a * b.high}; }
inline F32x16 operator+(F32x16 a, float b) { return {a.low + b, a.high + b}; }
inline F32x16 operator-(F32x16 a, float b) { return {a.low - b, a.high - b}; }
inline Mask16 operator<(F32x16 a, F32x16 b) { return {a.low < b.low, a.high < b.high}; }
inline Mask16 operator|(Mask16 a, Mask16 b) { return {a.low | b.low, a.high | b.high}; }
inline Mask16 &operator|=(Mask16 &a, Mask16 b) {
    a.low |= b.low, a.high |= b.high;
    return a;
}
inline F32x16 fused(F32x16 a, F32x16 b, F32x16 c) { return {fused(a.low, b.low, c.low), fused(a.high, b.high, c.high)}; }
inline F32x16 min(F32x16 a, F32x16 b) { return {min(a.low, b.low), min(a.high, b.high)}; }
inline F32x16 max(F32x16 a, F32x16 b) { return {max(a.low, b.low), max(a.high, b.high)}; }
inline F32x16 sqrt(F32x16 a) { return {sqrt(a.low), sqrt(a.high)}; }
inline F32x16 abs(F32x16 a) { return {abs(a.low), abs(a.high)}; }
inline F32x16 angle_of(F32x16 y, F32x16 x) { return {angle_of(y.low, x.low), angle_of(y.high, x.high)}; }
inline void sincos(F32x16 x, F32x16 &sine, F32x16 &cosine) {
    sincos(x.low, sine.low, cosine.low);
    sincos(x.high, sine.high, cosine.high);
}
inline F32x16 choose(Mask16 mask, F32x16 a, F32x16 b) { return {mask.low ? a.low : b.low, mask.high ? a.high : b.high}; }
inline unsigned bits(Mask16 mask) { return bits(mask.low) | bits(mask.high) << 8; }
inline Mask16 lanes16_of(unsigned marked) { return {lanes_of(marked & 0xffu), lanes_of(marked >> 8)}; }
inline float lane(F32x16 a, int k) { return k < 8 ? a.low[k] : a.high[k - 8]; }

}  // namespace elbowroom
