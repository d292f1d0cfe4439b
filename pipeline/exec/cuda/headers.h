// The device headers of filters/, embedded in the program for the run-time compiler.
#pragma once

#include <span>

namespace imgpipe::cuda {

struct DeviceHeader {
  const char* path;  ///< as in #include
  const char* text;
};
std::span<const DeviceHeader> device_headers();

}  // namespace imgpipe::cuda
