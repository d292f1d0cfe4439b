// Elementary functions with the same bits on the CPU and the GPU: one source, written with +, -, *, /, explicit fma,
// selects and bit casts only. Both sides compile it without contraction, with IEEE division and with denormals.
// Polynomials: tests/filters/reference/maths_coefficients.py. Largest errors, measured by maths_test:
//   float   exp, exp2, log, log2 1.0 ulp, pow 1.25
//   double  exp, log, pow 1.2 ulp; sin, cos 1.6 for |x| <= 1000, and NaN beyond 2^30; atan 2.5, atan2 3
//   float sin, cos, tan, atan, atan2, asin, acos and log10 are the double functions rounded once.
// min and max propagate NaN and do not tell -0 from 0.
#pragma once

#include "filters/base/device.cuh"

namespace imgpipe::maths {

// ---- what the machine has

#if defined(__CUDACC_RTC__) || defined(__CUDACC__)
IMGPIPE_FN float fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
IMGPIPE_FN double fma(double a, double b, double c) { return __fma_rn(a, b, c); }
IMGPIPE_FN float sqrt(float v) { return __fsqrt_rn(v); }
IMGPIPE_FN double sqrt(double v) { return __dsqrt_rn(v); }
IMGPIPE_FN float rint(float v) { return ::rintf(v); }
IMGPIPE_FN double rint(double v) { return ::rint(v); }
IMGPIPE_FN float floor(float v) { return ::floorf(v); }
IMGPIPE_FN double floor(double v) { return ::floor(v); }
IMGPIPE_FN float ceil(float v) { return ::ceilf(v); }
IMGPIPE_FN double ceil(double v) { return ::ceil(v); }
IMGPIPE_FN u32 bits_of(float v) { return __float_as_uint(v); }
IMGPIPE_FN u64 bits_of(double v) { return u64(__double_as_longlong(v)); }
IMGPIPE_FN float float_from_bits(u32 b) { return __uint_as_float(b); }
IMGPIPE_FN double double_from_bits(u64 b) { return __longlong_as_double(i64(b)); }
#else
IMGPIPE_FN float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
IMGPIPE_FN double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
IMGPIPE_FN float sqrt(float v) { return __builtin_sqrtf(v); }
IMGPIPE_FN double sqrt(double v) { return __builtin_sqrt(v); }
IMGPIPE_FN float rint(float v) { return __builtin_rintf(v); }
IMGPIPE_FN double rint(double v) { return __builtin_rint(v); }
IMGPIPE_FN float floor(float v) { return __builtin_floorf(v); }
IMGPIPE_FN double floor(double v) { return __builtin_floor(v); }
IMGPIPE_FN float ceil(float v) { return __builtin_ceilf(v); }
IMGPIPE_FN double ceil(double v) { return __builtin_ceil(v); }
IMGPIPE_FN u32 bits_of(float v) { return __builtin_bit_cast(u32, v); }
IMGPIPE_FN u64 bits_of(double v) { return __builtin_bit_cast(u64, v); }
IMGPIPE_FN float float_from_bits(u32 b) { return __builtin_bit_cast(float, b); }
IMGPIPE_FN double double_from_bits(u64 b) { return __builtin_bit_cast(double, b); }
#endif

IMGPIPE_FN float quiet_nan(float) { return float_from_bits(0x7fc00000u); }
IMGPIPE_FN double quiet_nan(double) { return double_from_bits(0x7ff8000000000000ull); }
IMGPIPE_FN float infinity(float) { return float_from_bits(0x7f800000u); }
IMGPIPE_FN double infinity(double) { return double_from_bits(0x7ff0000000000000ull); }

/// The largest finite number.
IMGPIPE_FN float largest(float) { return float_from_bits(0x7f7fffffu); }
IMGPIPE_FN double largest(double) { return double_from_bits(0x7fefffffffffffffull); }

template <class T>
IMGPIPE_FN bool is_nan(T v) {
  return v != v;
}
/// The next smaller number, of v above -infinity.
IMGPIPE_FN float next_below(float v) {
  return v == 0 ? float_from_bits(0x80000001u) : float_from_bits(v > 0 ? bits_of(v) - 1 : bits_of(v) + 1);
}
IMGPIPE_FN double next_below(double v) {
  return v == 0 ? double_from_bits(0x8000000000000001ull) : double_from_bits(v > 0 ? bits_of(v) - 1 : bits_of(v) + 1);
}
/// The greatest T that is not above v: samples of type T are above both or none.
IMGPIPE_FN double rounded_down(double v, double) { return v; }
IMGPIPE_FN float rounded_down(double v, float) { return double(float(v)) > v ? next_below(float(v)) : float(v); }
IMGPIPE_FN float abs(float v) { return float_from_bits(bits_of(v) & 0x7fffffffu); }
IMGPIPE_FN double abs(double v) { return double_from_bits(bits_of(v) & 0x7fffffffffffffffull); }
template <class T>
IMGPIPE_FN T min(T a, T b) {
  return a != a ? a : b != b ? b : b < a ? b : a;
}
template <class T>
IMGPIPE_FN T max(T a, T b) {
  return a != a ? a : b != b ? b : a < b ? b : a;
}
/// Limits in which NaN stays NaN. `low` and `high` are not -0.
#if defined(__CUDACC_RTC__) || defined(__CUDACC__)
IMGPIPE_FN float not_below(float v, float low) {
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(v), "f"(low));
  return r;
}
IMGPIPE_FN float not_above(float v, float high) {
  float r;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(v), "f"(high));
  return r;
}
#else
IMGPIPE_FN float not_below(float v, float low) { return v <= low ? low : v; }
IMGPIPE_FN float not_above(float v, float high) { return v > high ? high : v; }
#endif
IMGPIPE_FN double not_below(double v, double low) { return v <= low ? low : v; }
IMGPIPE_FN double not_above(double v, double high) { return v > high ? high : v; }
template <class T>
IMGPIPE_FN T hypot(T a, T b) {
  return sqrt(fma(a, a, b * b));
}
IMGPIPE_FN float with_sign_of(float magnitude, float sign) {
  return float_from_bits((bits_of(magnitude) & 0x7fffffffu) | (bits_of(sign) & 0x80000000u));
}
IMGPIPE_FN double with_sign_of(double magnitude, double sign) {
  return double_from_bits((bits_of(magnitude) & 0x7fffffffffffffffull) | (bits_of(sign) & 0x8000000000000000ull));
}

/// A number as an unevaluated sum.
template <class T>
struct Sum {
  T high, low;
};

// ---- float: log2 as a sum, exp2 of a sum

/// log2 of a positive finite float.
IMGPIPE_FN Sum<float> log2_sum(float x) {
  const bool tiny = x < 1.17549435e-38f;
  const float scaled = tiny ? x * 16777216.0f : x;
  const u32 bits = bits_of(scaled);
  const i32 exponent = i32(bits - 0x3f3504f3u) >> 23;
  const float f = float_from_bits(bits - (u32(exponent) << 23)) - 1.0f;
  const float e = float(exponent) - (tiny ? 24.0f : 0.0f);
  float q = 0.09765637521f;
  q = fma(q, f, -0.1667364191f);
  q = fma(q, f, 0.1704131023f);
  q = fma(q, f, -0.1791944744f);
  q = fma(q, f, 0.205328944f);
  q = fma(q, f, -0.2404617265f);
  q = fma(q, f, 0.28855988f);
  q = fma(q, f, -0.3606739181f);
  q = fma(q, f, 0.4808981949f);
  q = fma(q, f, -0.7213475196f);
  const float square = f * f, high = f * 1.4426950216293335f;
  float low = fma(f, 1.4426950216293335f, -high);
  low = fma(f, 1.925963033500011e-08f, low);
  low = fma(square, q, low);
  const float sum = e + high, rest = (high - (sum - e)) + low, all = sum + rest;
  return {all, (sum - all) + rest};
}

IMGPIPE_FN float scale(float v, i32 n) {
  const i32 half = n >> 1;
  return v * float_from_bits(u32(half + 127) << 23) * float_from_bits(u32(n - half + 127) << 23);
}

/// 2^(high + low); a NaN in `high` has to be put right by the caller.
IMGPIPE_FN float exp2_sum(Sum<float> v) {
  float high = v.high < -200.0f ? -200.0f : v.high;
  high = high > 200.0f ? 200.0f : high;
  high = high != high ? 0.0f : high;
  const float n = rint(high);
  const bool inside = high == v.high;
  const float r = (high - n) + (inside ? v.low : 0.0f);
  float p = 0.0001545316295f;
  p = fma(p, r, 0.001339086336f);
  p = fma(p, r, 0.009618082557f);
  p = fma(p, r, 0.05550357114f);
  p = fma(p, r, 0.2402265076f);
  p = fma(p, r, 0.693147188f);
  return scale(fma(p, r, 1.0f), i32(n));
}

// ---- double: the same with longer polynomials

IMGPIPE_FN Sum<double> log2_sum(double x) {
  const bool tiny = x < 2.2250738585072014e-308;
  const double scaled = tiny ? x * 18014398509481984.0 : x;
  const u64 bits = bits_of(scaled);
  const i64 exponent = i64(bits - 0x3fe6a09e667f3bcdull) >> 52;
  const double m = double_from_bits(bits - (u64(exponent) << 52));
  const double e = double(i32(exponent)) - (tiny ? 54.0 : 0.0);
  // log2 m = 2/ln2 * atanh(s), s = (m - 1) / (m + 1) as a sum.
  const double f = m - 1.0, g = m + 1.0;
  const double part = g - m, g_low = (m - (g - part)) + (1.0 - part);
  const double s = f / g;
  const double s_low = (fma(-s, g, f) - s * g_low) / g;
  const double t = s * s;
  double a = 0.059409986014807291287;
  a = fma(a, t, 0.05844061821431555448);
  a = fma(a, t, 0.066678193349199110977);
  a = fma(a, t, 0.076922875661650486518);
  a = fma(a, t, 0.090909092968283815224);
  a = fma(a, t, 0.11111111109929367571);
  a = fma(a, t, 0.14285714285717679552);
  a = fma(a, t, 0.1999999999999999625);
  a = fma(a, t, 0.33333333333333333334);
  const double c = 2.8853900817779268, c_low = 4.0710547481862066e-17;
  const double high = s * c;
  double low = fma(s, c, -high);
  low = fma(s, c_low, low);
  low = fma(s_low + s * t * a, c, low);
  const double sum = e + high, rest = (high - (sum - e)) + low, all = sum + rest;
  return {all, (sum - all) + rest};
}

IMGPIPE_FN double scale(double v, i32 n) {
  const i32 half = n >> 1;
  return v * double_from_bits(u64(half + 1023) << 52) * double_from_bits(u64(n - half + 1023) << 52);
}

IMGPIPE_FN double exp2_sum(Sum<double> v) {
  double high = v.high < -1200.0 ? -1200.0 : v.high;
  high = high > 1200.0 ? 1200.0 : high;
  high = high != high ? 0.0 : high;
  const double n = rint(high);
  const bool inside = high == v.high;
  const double r = (high - n) + (inside ? v.low : 0.0);
  double p = 2.5729324177362304214e-11;
  p = fma(p, r, 4.455817908336064493e-10);
  p = fma(p, r, 7.0548973041554992774e-9);
  p = fma(p, r, 1.0178057087733941105e-7);
  p = fma(p, r, 1.321548680870556279e-6);
  p = fma(p, r, 0.000015252733841556772589);
  p = fma(p, r, 0.00015403530393370733411);
  p = fma(p, r, 0.0013333558146406470697);
  p = fma(p, r, 0.0096181291076284794928);
  p = fma(p, r, 0.055504108664821627039);
  p = fma(p, r, 0.24022650695910071233);
  p = fma(p, r, 0.69314718055994530925);
  return scale(fma(p, r, 1.0), i32(n));
}

// ---- exp, log and pow for both types

template <class T>
struct Log2e;
template <>
struct Log2e<float> {
  static constexpr float high = 1.4426950216293335f, low = 1.925963033500011e-08f;
  static constexpr float ln2 = 0.693147182f, ln2_low = -1.90465421e-9f;
};
template <>
struct Log2e<double> {
  static constexpr double high = 1.4426950408889634, low = 2.0355273740931033e-17;
  static constexpr double ln2 = 0.6931471805599453, ln2_low = 2.3190468138462996e-17;
};

template <class T>
IMGPIPE_FN T exp2(T x) {
  return x != x ? x : exp2_sum(Sum<T>{x, T(0)});
}

template <class T>
IMGPIPE_FN T exp(T x) {
  const T high = x * Log2e<T>::high;
  const T low = fma(x, Log2e<T>::low, fma(x, Log2e<T>::high, -high));
  return x != x ? x : exp2_sum(Sum<T>{high, low});
}

/// What a logarithm is where it has no number.
template <class T>
IMGPIPE_FN T log_ends(T x, T value) {
  value = x == infinity(T(0)) ? x : value;
  value = x == T(0) ? -infinity(T(0)) : value;
  return x < T(0) || x != x ? quiet_nan(T(0)) : value;
}

template <class T>
IMGPIPE_FN T log2(T x) {
  const Sum<T> l = log2_sum(x);
  return log_ends(x, l.high + l.low);
}

template <class T>
IMGPIPE_FN T log(T x) {
  const Sum<T> l = log2_sum(x);
  return log_ends(x, fma(l.high, Log2e<T>::ln2, fma(l.low, Log2e<T>::ln2, l.high * Log2e<T>::ln2_low)));
}

IMGPIPE_FN double log10(double x) {
  const Sum<double> l = log2_sum(x);
  return log_ends(x, fma(l.high, 0.3010299956639812, fma(l.low, 0.3010299956639812, l.high * -2.8037281277851704e-18)));
}
IMGPIPE_FN float log10(float x) { return float(log10(double(x))); }

/// C99 pow, also for negative bases with whole exponents, zeros, infinities and NaN.
template <class T>
IMGPIPE_FN T pow(T x, T y) {
  const T a = abs(x);
  const Sum<T> l = log2_sum(a);
  const T high = y * l.high;
  const T low = fma(y, l.low, fma(y, l.high, -high));
  T v = exp2_sum(Sum<T>{high, low});
  const T half = y * T(0.5);
  const bool whole = rint(y) == y, odd = whole && rint(half) != half;
  const bool ends = a == T(0) || a == infinity(T(0));
  const bool grows = (a == T(0)) == (y < T(0));
  v = ends ? (grows ? infinity(T(0)) : T(0)) : v;
  const bool endless = abs(y) == infinity(T(0));
  v = endless ? ((a > T(1)) == (y > T(0)) ? infinity(T(0)) : T(0)) : v;
  v = endless && a == T(1) ? T(1) : v;
  v = bits_of(x) >> (sizeof(T) * 8 - 1) && odd ? -v : v;
  v = x < T(0) && a != infinity(T(0)) && !whole && !endless ? quiet_nan(T(0)) : v;
  v = x != x || y != y ? quiet_nan(T(0)) : v;
  return x == T(1) || y == T(0) ? T(1) : v;
}

/// pow for x >= 0 and finite y > 0, leaner: within 2.3 ulp while |y log2 x| < 16 and y < 4. Results below the smallest
/// normal number, and of x below it, are 0. Adding 1.5 * 2^23 rounds to a whole number and leaves it in the low bits: a
/// conversion would take a slower pipe.
IMGPIPE_FN float pow_magnitude(float x, float y) {
  constexpr float whole = 12582912.0f + 127.0f;
  const u32 bits = bits_of(x);
  const u32 exponent = (bits - 0x3f3504f3u) & 0xff800000u;
  const float e = float(i32(exponent)), f = float_from_bits(bits - exponent) - 1.0f;
  const float scaled = y * 1.1920929e-7f;  // 2^-23: `exponent` counts in those
  float p = 0.09765637521f;
  p = fma(p, f, -0.1667364191f);
  p = fma(p, f, 0.1704131023f);
  p = fma(p, f, -0.1791944744f);
  p = fma(p, f, 0.205328944f);
  p = fma(p, f, -0.2404617265f);
  p = fma(p, f, 0.28855988f);
  p = fma(p, f, -0.3606739181f);
  p = fma(p, f, 0.4808981949f);
  p = fma(p, f, -0.7213475196f);
  p = fma(p, f, 1.44269504f);
  const float part = y * (p * f);
  float t = fma(scaled, e, part) + whole;
  t = t > whole - 127.0f ? t : whole - 127.0f;
  t = t < whole + 128.0f ? t : whole + 128.0f;
  const float r = fma(scaled, e, whole - t) + part;
  float q = 0.0001545316295f;
  q = fma(q, r, 0.001339086336f);
  q = fma(q, r, 0.009618082557f);
  q = fma(q, r, 0.05550357114f);
  q = fma(q, r, 0.2402265076f);
  q = fma(q, r, 0.693147188f);
  q = fma(q, r, 1.0f);
  const float v = q * float_from_bits(bits_of(t) << 23);
  const float known = x < 1.17549435e-38f ? 0.0f : v;
  return x < infinity(x) ? known : x;
}
IMGPIPE_FN double pow_magnitude(double x, double y) { return pow(x, y); }

// ---- trigonometry, in double

struct Quadrant {
  double r;
  int quarter;
  bool valid;
};
IMGPIPE_FN Quadrant reduce_angle(double x) {
  const bool valid = abs(x) <= 1073741824.0;
  const double v = valid ? x : 0.0;
  const double n = rint(v * 0.6366197723675814);
  double r = fma(-n, 1.5707963267948966, v);
  r = fma(-n, 6.123233995736766e-17, r);
  r = fma(-n, -1.4973849048591698e-33, r);
  return {r, int(i64(n) & 3), valid};
}
IMGPIPE_FN double sin_core(double r) {
  const double t = r * r;
  double p = -7.5854925078212397552e-13;
  p = fma(p, t, 1.6058510979535350536e-10);
  p = fma(p, t, -2.5052106100926673184e-8);
  p = fma(p, t, 2.7557319218956731749e-6);
  p = fma(p, t, -0.00019841269841264568477);
  p = fma(p, t, 0.00833333333333333126);
  p = fma(p, t, -0.16666666666666666665);
  return fma(r * t, p, r);
}
IMGPIPE_FN double cos_core(double r) {
  const double t = r * r;
  double p = 4.7452021557023590291e-14;
  p = fma(p, t, -1.1470449412409709722e-11);
  p = fma(p, t, 2.0876755717957294132e-9);
  p = fma(p, t, -2.75573192211901992e-7);
  p = fma(p, t, 0.000024801587301584370404);
  p = fma(p, t, -0.0013888888888888887736);
  p = fma(p, t, 0.041666666666666666666);
  const double half = 0.5 * t, w = 1.0 - half;
  return w + (((1.0 - w) - half) + t * t * p);
}
IMGPIPE_FN double sin(double x) {
  const Quadrant q = reduce_angle(x);
  const double v = q.quarter & 1 ? cos_core(q.r) : sin_core(q.r);
  return q.valid ? (q.quarter & 2 ? -v : v) : quiet_nan(0.0);
}
IMGPIPE_FN double cos(double x) {
  const Quadrant q = reduce_angle(x);
  const double v = q.quarter & 1 ? -sin_core(q.r) : cos_core(q.r);
  return q.valid ? (q.quarter & 2 ? -v : v) : quiet_nan(0.0);
}
IMGPIPE_FN double tan(double x) { return sin(x) / cos(x); }

IMGPIPE_FN double atan(double x) {
  const double a = abs(x);
  const bool inverse = a > 1.0;
  const double z = inverse ? 1.0 / a : a;
  const bool upper = z > 0.41421356237309503;
  const double u = upper ? (z - 1.0) / (z + 1.0) : z;
  const double t = u * u;
  double p = -0.010313893151444422063;
  p = fma(p, t, 0.024363577253520646105);
  p = fma(p, t, -0.033935221946341401899);
  p = fma(p, t, 0.039340357953597709122);
  p = fma(p, t, -0.043378176143807784829);
  p = fma(p, t, 0.047608053756207581986);
  p = fma(p, t, -0.052630701587544067121);
  p = fma(p, t, 0.058823478883873678069);
  p = fma(p, t, -0.066666664603272205349);
  p = fma(p, t, 0.076923076865147703513);
  p = fma(p, t, -0.090909090908027248979);
  p = fma(p, t, 0.11111111111109932979);
  p = fma(p, t, -0.1428571428571427887);
  p = fma(p, t, 0.19999999999999999984);
  p = fma(p, t, -0.33333333333333333333);
  double v = fma(u * t, p, u);
  v = upper ? 0.7853981633974483 + (v + 3.0616169978683830e-17) : v;
  v = inverse ? 1.5707963267948966 - (v - 6.123233995736766e-17) : v;
  return x != x ? x : with_sign_of(v, x);
}
IMGPIPE_FN double atan2(double y, double x) {
  const double ax = abs(x), ay = abs(y), inf = infinity(0.0);
  double v = ax == 0.0 && ay == 0.0 ? 0.0 : ax == inf && ay == inf ? 0.7853981633974483 : atan(ay / ax);
  v = bits_of(x) >> 63 ? 3.141592653589793 - (v - 1.2246467991473532e-16) : v;
  return x != x || y != y ? quiet_nan(0.0) : with_sign_of(v, y);
}
IMGPIPE_FN double asin(double x) { return abs(x) > 1.0 ? quiet_nan(0.0) : atan2(x, sqrt((1.0 - x) * (1.0 + x))); }
IMGPIPE_FN double acos(double x) { return abs(x) > 1.0 ? quiet_nan(0.0) : atan2(sqrt((1.0 - x) * (1.0 + x)), x); }

IMGPIPE_FN float sin(float x) { return float(sin(double(x))); }
IMGPIPE_FN float cos(float x) { return float(cos(double(x))); }
IMGPIPE_FN float tan(float x) { return float(tan(double(x))); }
IMGPIPE_FN float atan(float x) { return float(atan(double(x))); }
IMGPIPE_FN float atan2(float y, float x) { return float(atan2(double(y), double(x))); }
IMGPIPE_FN float asin(float x) { return float(asin(double(x))); }
IMGPIPE_FN float acos(float x) { return float(acos(double(x))); }

}  // namespace imgpipe::maths
