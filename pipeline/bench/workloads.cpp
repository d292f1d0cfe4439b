#include "pipeline/bench/workloads.h"

namespace imgpipe::bench {
namespace {

ImageDesc plane(DType dtype, std::int64_t side) {
  ImageDesc desc;
  desc.dtype = dtype;
  desc.extent = {side, side, 1};
  return desc;
}

ImageDesc cube(DType dtype, std::int64_t side) {
  ImageDesc desc = plane(dtype, side);
  desc.extent.depth = side;
  desc.volume = true;
  return desc;
}

Workload flat(const char* name, DType dtype, const char* steps) {
  return {name, plane(dtype, 8192), plane(dtype, 4096), steps};
}
Workload solid(const char* name, DType dtype, const char* steps) {
  return {name, cube(dtype, 512), cube(dtype, 256), steps};
}

const std::vector<Workload>& table() {
  static const std::vector<Workload> all = {
      flat("pointwise5_f32", DType::f32,
           "- linear: {gain: 1.2, offset: 0.05}\n- clamp: {low: 0, high: 1}\n- gamma: 0.8\n- invert\n"),
      flat("pointwise10_u8", DType::u8,
           "- linear: {gain: 1.1, offset: -5}\n- clamp: {low: 0, high: 255}\n- gamma: 0.9\n- invert\n"
           "- linear: {gain: 0.95, offset: 4}\n- gamma: 1.2\n- linear: {gain: 1.02}\n- clamp: {low: 0, high: 250}\n"
           "- invert\n- gamma: 0.8\n"),
      flat("gaussian_s2_f32", DType::f32, "- gaussian: 2\n"),
      flat("gaussian_s10_f32", DType::f32, "- gaussian: 10\n"),
      flat("sobel_mag_f32", DType::f32, "- sobel\n"),
      flat("median3_u16", DType::u16, "- median: 1\n"),
      flat("median5_u16", DType::u16, "- median: 2\n"),
      flat("median11_u8", DType::u8, "- median: 5\n"),
      flat("open15_u8", DType::u8, "- open: 7\n"),
      flat("normalize_f32", DType::f32, "- normalize\n"),
      flat("otsu_u8", DType::u8, "- otsu\n"),
      flat("stats_f32", DType::f32, "- stats: {percentiles: []}\n"),
      flat("chain2d_u16", DType::u16,
           "- median: 1\n- unsharp: {sigma: 2, amount: 1.5}\n- clamp: {low: 0, high: 65535}\n- gamma: 0.8\n"
           "- normalize\n- rescale: uint8\n"),
      solid("gaussian3d_s2_f32", DType::f32, "- gaussian: 2\n"),
      solid("median3d_3_u16", DType::u16, "- median: 1\n"),
      solid("open3d_5_u16", DType::u16, "- open: 2\n"),
      solid("gradmag3d_f32", DType::f32, "- sobel\n"),
      solid("chain3d_u16", DType::u16, "- median: 1\n- gaussian: 1\n- sobel\n- threshold: 1000\n"),
  };
  return all;
}

}  // namespace

std::span<const Workload> workloads() { return table(); }

const Workload* find_workload(const std::string& name) {
  for (const Workload& w : table())
    if (name == w.name) return &w;
  return nullptr;
}

std::vector<std::string> workload_names() {
  std::vector<std::string> names;
  for (const Workload& w : table()) names.emplace_back(w.name);
  return names;
}

Image random_pixels(const ImageDesc& desc, std::uint64_t seed) {
  Image image(desc);
  std::uint64_t state = seed * 0x9e3779b97f4a7c15ull + 1;
  const auto next = [&] {  // xorshift, Marsaglia 2003
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
  };
  visit_dtype(desc.dtype, [&](auto t) {
    using T = decltype(t);
    for (std::int64_t i = 0; i < desc.samples(); ++i) {
      if constexpr (std::is_floating_point_v<T>)
        image.samples<T>()[i] = static_cast<T>(static_cast<double>(next() >> 40) * 0x1p-24);
      else
        image.samples<T>()[i] = static_cast<T>(next() >> 20);
    }
  });
  return image;
}

}  // namespace imgpipe::bench
