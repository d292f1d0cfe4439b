// Two images compared: geometry and dtype first, then every sample.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/image/image.h"

namespace imgpipe {

struct CompareOptions {
  double tolerance = 0;       ///< in units of the samples, inclusive
  bool ignore_dtype = false;  ///< compare values of different dtypes
  bool ignore_spacing = false;
};

struct Comparison {
  std::string mismatch;  ///< why the images cannot be compared; "" when they can
  std::int64_t samples = 0, different = 0;
  double largest = 0, mean = 0, rmse = 0;  ///< over pairs of numbers; infinite when NaN meets a number
  double psnr = 0;                         ///< dB on the nominal range; infinite for equal images
  double ssim = 1;                         ///< mean over 8x8 blocks of the colours, 1 for equal images
  struct Place {
    std::int64_t x, y, z;
    int channel;
    double a, b;
  };
  std::optional<Place> first;
  bool equal() const { return mismatch.empty() && different == 0; }
};

/// NaN equals NaN and differs from every number; alpha counts like any channel.
Comparison compare_images(const Image& a, const Image& b, const CompareOptions& options);

/// |a - b| summed over channels, scaled so that the largest is white, red on black. Needs comparable images.
Image heatmap(const Image& a, const Image& b);

/// "R", "alpha", "3".
std::string channel_name(const ImageDesc& desc, int channel);

}  // namespace imgpipe
