// An image or volume in memory: what it is (ImageDesc), a view of its samples, and their owner.
// Axis order in memory is (z, y, x, channel), the channel fastest; vectors are [x, y, z].
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "io/image/dtype.h"
#include "io/image/memory.h"

namespace imgpipe {

struct Extent {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t depth = 1;
  std::int64_t pixels() const { return width * height * depth; }
  bool operator==(const Extent&) const = default;
};

/// Where the pixels lie in the world. `unit` is "pixel" when the file gives no physical size.
struct Geometry {
  std::array<double, 3> spacing{1, 1, 1};  ///< distance of pixel centres along x, y, z, in `unit`
  std::array<double, 3> origin{0, 0, 0};   ///< world position of pixel (0, 0, 0), in `unit`
  std::string unit = "pixel";              ///< "pixel", "mm", "um", "nm", "m"
  bool operator==(const Geometry&) const = default;
};

/// Everything about an image but its samples.
struct ImageDesc {
  DType dtype = DType::u8;
  Extent extent;
  int channels = 1;
  bool alpha = false;   ///< the last channel is unassociated alpha
  bool volume = false;  ///< filters run in 3D, also when depth is 1
  Geometry geometry;
  std::int64_t samples() const { return extent.pixels() * channels; }
  std::int64_t bytes() const { return samples() * static_cast<std::int64_t>(size_of(dtype)); }
  bool operator==(const ImageDesc&) const = default;
};

/// "5x7 uint16", "640x480 uint8 RGBA", "64x64x30 float32": for messages.
std::string describe(const ImageDesc& desc);

/// The samples of an image or of a part of it: never owns. Strides are in samples and may be negative.
template <class Byte>
struct BasicImageView {
  Byte* data = nullptr;  ///< sample (0, 0, 0, 0)
  DType dtype = DType::u8;
  Extent extent;
  int channels = 1;
  std::int64_t stride_x = 0, stride_y = 0, stride_z = 0;
  static constexpr std::int64_t stride_c = 1;

  std::int64_t offset(std::int64_t x, std::int64_t y, std::int64_t z, int c = 0) const {
    return x * stride_x + y * stride_y + z * stride_z + c;
  }
  template <class T>
  auto samples() const {
    using Sample = std::conditional_t<std::is_const_v<Byte>, const T, T>;
    return reinterpret_cast<Sample*>(data);
  }
};
using ImageView = BasicImageView<std::byte>;
using ConstImageView = BasicImageView<const std::byte>;

/// Owns the samples of one image, dense, 64-byte aligned. Move-only.
class Image {
 public:
  Image() = default;
  /// Uninitialised samples, and `spare` bytes of room behind them. Throws std::bad_alloc.
  explicit Image(ImageDesc desc, std::int64_t spare = 0);

  const ImageDesc& desc() const { return desc_; }
  ImageDesc& desc() { return desc_; }
  std::byte* data() { return storage_.get(); }
  const std::byte* data() const { return storage_.get(); }
  template <class T>
  T* samples() {
    return reinterpret_cast<T*>(storage_.get());
  }
  template <class T>
  const T* samples() const {
    return reinterpret_cast<const T*>(storage_.get());
  }
  ImageView view();
  ConstImageView view() const;
  bool empty() const { return !storage_; }

 private:
  ImageDesc desc_;
  memory::Owned storage_;
};

}  // namespace imgpipe
