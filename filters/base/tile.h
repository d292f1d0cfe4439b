// What a filter's CPU code sees of an image: rows of pixels, or windows on one channel of a tile.
#pragma once

#include <array>
#include <cstdint>

#include "io/image/image.h"

// Compiles a function for several x86-64 levels, chosen when the program starts.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(IMGPIPE_NO_CLONES)
#define IMGPIPE_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define IMGPIPE_CLONES
#endif

namespace imgpipe {

/// `count` pixels of one row in the compute type, one plane a channel. A channelwise operation sees one channel.
/// Output rows may be the same memory as input rows of the first input, never partly overlapping.
struct PixelRow {
  const void* const* const* inputs;  ///< inputs[k][c]: row of channel c of input k
  void* const* outputs;              ///< outputs[c]
  std::int64_t count;
  int channels;           ///< of the first input
  std::int64_t x, y, z;   ///< of the first pixel
  Extent extent;          ///< of the whole image
  const double* scalars;  ///< of the reduction it depends on, or nullptr

  template <class T>
  const T* in(int k = 0, int c = 0) const {
    return static_cast<const T*>(inputs[k][c]);
  }
  template <class T>
  T* out(int c = 0) const {
    return static_cast<T*>(outputs[c]);
  }
};

/// One channel of a tile: T at [z * plane + y * pitch + x].
template <class T>
struct Plane {
  T* data;
  std::int64_t pitch;
  std::int64_t plane;
  T* row(std::int64_t y, std::int64_t z = 0) const { return data + z * plane + y * pitch; }
};

/// The pixels (0..width, 0..height, 0..depth) to compute. The input can be read around each of them as far as the
/// operation's halo says; input (0, 0, 0) stands where output (0, 0, 0) does. Input and output never overlap.
struct Window {
  const void* input;
  std::int64_t in_pitch, in_plane;
  void* output;
  std::int64_t out_pitch, out_plane;
  std::int64_t width, height, depth;

  template <class T>
  Plane<const T> in() const {
    return {static_cast<const T*>(input), in_pitch, in_plane};
  }
  template <class T>
  Plane<T> out() const {
    return {static_cast<T*>(output), out_pitch, out_plane};
  }
};

}  // namespace imgpipe
