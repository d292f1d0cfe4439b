#include "pipeline/batch/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace imgpipe {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double value_at(const ConstImageView& view, std::int64_t i) {
  return visit_dtype(view.dtype, [&](auto t) { return static_cast<double>(view.samples<decltype(t)>()[i]); });
}

std::string mismatch_of(const ImageDesc& a, const ImageDesc& b, const CompareOptions& options) {
  if (a.extent != b.extent || a.channels != b.channels || a.alpha != b.alpha ||
      (a.dtype != b.dtype && !options.ignore_dtype))
    return describe(a) + " against " + describe(b) +
           (a.extent == b.extent && a.channels == b.channels && a.alpha == b.alpha ? " (--ignore-dtype compares values)"
                                                                                   : "");
  if (options.ignore_spacing) return "";
  for (int k = 0; k < 3; ++k)
    if (a.geometry.unit != b.geometry.unit ||
        std::abs(a.geometry.spacing[k] - b.geometry.spacing[k]) > 1e-6 * std::abs(a.geometry.spacing[k]) ||
        std::abs(a.geometry.origin[k] - b.geometry.origin[k]) > 1e-6 * (1 + std::abs(a.geometry.origin[k])))
      return fmt::format("spacing {}x{}x{} {} against {}x{}x{} {} (--ignore-spacing compares samples)",
                         a.geometry.spacing[0], a.geometry.spacing[1], a.geometry.spacing[2], a.geometry.unit,
                         b.geometry.spacing[0], b.geometry.spacing[1], b.geometry.spacing[2], b.geometry.unit);
  return "";
}

/// 0 for equal numbers, also for two NaN and for equal infinities.
double distance(double a, double b) {
  if (a == b || (a != a && b != b)) return 0;
  const double d = std::abs(a - b);
  return d != d ? infinity : d;
}

/// Structural similarity of one block (Wang et al. 2004, uniform weights).
double ssim_of(const std::vector<double>& a, const std::vector<double>& b, double range) {
  const double n = static_cast<double>(a.size()), c1 = 1e-4 * range * range, c2 = 9e-4 * range * range;
  double ma = 0, mb = 0, va = 0, vb = 0, covariance = 0;
  for (std::size_t i = 0; i < a.size(); ++i) ma += a[i] / n, mb += b[i] / n;
  for (std::size_t i = 0; i < a.size(); ++i) {
    va += (a[i] - ma) * (a[i] - ma) / n;
    vb += (b[i] - mb) * (b[i] - mb) / n;
    covariance += (a[i] - ma) * (b[i] - mb) / n;
  }
  return (2 * ma * mb + c1) * (2 * covariance + c2) / ((ma * ma + mb * mb + c1) * (va + vb + c2));
}

/// A block where NaN or an infinity meets another value is worth 0; where both are the same, they are left out.
double mean_ssim(const ConstImageView& a, const ConstImageView& b, double range) {
  double sum = 0;
  std::int64_t blocks = 0;
  std::vector<double> va, vb;
  for (int c = 0; c < a.channels; ++c)
    for (std::int64_t z = 0; z < a.extent.depth; ++z)
      for (std::int64_t y0 = 0; y0 < a.extent.height; y0 += 8)
        for (std::int64_t x0 = 0; x0 < a.extent.width; x0 += 8) {
          va.clear();
          vb.clear();
          bool broken = false;
          for (std::int64_t y = y0; y < std::min(y0 + 8, a.extent.height); ++y)
            for (std::int64_t x = x0; x < std::min(x0 + 8, a.extent.width); ++x) {
              const double p = value_at(a, a.offset(x, y, z, c)), q = value_at(b, b.offset(x, y, z, c));
              if (!std::isfinite(p) || !std::isfinite(q)) {
                broken = broken || distance(p, q) > 0;
                continue;
              }
              va.push_back(p);
              vb.push_back(q);
            }
          if (va.empty() && !broken) continue;
          if (!broken) sum += ssim_of(va, vb, range);
          ++blocks;
        }
  return blocks ? sum / static_cast<double>(blocks) : 1;
}

Comparison::Place place_of(const ConstImageView& view, std::int64_t i, double a, double b) {
  const int c = static_cast<int>(i % view.channels);
  const std::int64_t p = i / view.channels, row = p / view.extent.width;
  return {p % view.extent.width, row % view.extent.height, row / view.extent.height, c, a, b};
}

}  // namespace

Comparison compare_images(const Image& first, const Image& second, const CompareOptions& options) {
  Comparison result;
  result.mismatch = mismatch_of(first.desc(), second.desc(), options);
  if (!result.mismatch.empty()) return result;
  const ConstImageView a = first.view(), b = second.view();
  result.samples = first.desc().samples();
  double absolute = 0, squared = 0;
  for (std::int64_t i = 0; i < result.samples; ++i) {
    const double p = value_at(a, i), q = value_at(b, i), d = distance(p, q);
    if (d == 0) continue;
    absolute += d;
    squared += d * d;
    result.largest = std::max(result.largest, d);
    if (d <= options.tolerance) continue;
    if (!result.first) result.first = place_of(a, i, p, q);
    ++result.different;
  }
  const double n = static_cast<double>(result.samples);
  result.mean = absolute / n;
  result.rmse = std::sqrt(squared / n);
  const NominalRange nominal = nominal_range(first.desc().dtype);
  const double range = nominal.white - nominal.black;
  result.psnr = squared == 0 ? infinity : 20 * std::log10(range / result.rmse);
  result.ssim = squared == 0 ? 1 : mean_ssim(a, b, range);
  return result;
}

Image heatmap(const Image& first, const Image& second) {
  const ConstImageView a = first.view(), b = second.view();
  const std::int64_t pixels = first.desc().extent.pixels();
  std::vector<double> sums(static_cast<std::size_t>(pixels), 0.0);
  double most = 0;
  for (std::int64_t p = 0; p < pixels; ++p) {
    for (int c = 0; c < a.channels; ++c)
      sums[p] += distance(value_at(a, p * a.channels + c), value_at(b, p * b.channels + c));
    if (std::isfinite(sums[p])) most = std::max(most, sums[p]);
  }
  ImageDesc desc = first.desc();
  desc.dtype = DType::u8;
  desc.channels = 3;
  desc.alpha = false;
  Image map(desc);
  for (std::int64_t p = 0; p < pixels; ++p) {
    const double t = sums[p] == 0 ? 0 : most == 0 || !std::isfinite(sums[p]) ? 1 : sums[p] / most;
    // Black, red, yellow, white; the least difference is still seen.
    const double heat = t == 0 ? 0 : 0.2 + 0.8 * t;
    for (int c = 0; c < 3; ++c)
      map.samples<std::uint8_t>()[3 * p + c] =
          static_cast<std::uint8_t>(std::lround(255 * std::clamp(3 * heat - c, 0.0, 1.0)));
  }
  return map;
}

std::string channel_name(const ImageDesc& desc, int channel) {
  if (desc.alpha && channel == desc.channels - 1) return "alpha";
  if (desc.channels - (desc.alpha ? 1 : 0) == 3) return std::string(1, "RGB"[channel]);
  return std::to_string(channel);
}

}  // namespace imgpipe
