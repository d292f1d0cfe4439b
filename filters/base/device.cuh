// The ground that device code stands on: fixed-width integers and the markers of functions. Compiles under NVRTC
// without system headers, and on the host.
#pragma once

#if defined(__CUDACC_RTC__) || defined(__CUDACC__)
#define IMGPIPE_FN __device__ __forceinline__
#define IMGPIPE_UNROLL _Pragma("unroll")
#else
#include <cstdint>
#define IMGPIPE_FN inline __attribute__((always_inline))
#define IMGPIPE_UNROLL
#endif

namespace imgpipe {

#if defined(__CUDACC_RTC__)
using i8 = signed char;
using u8 = unsigned char;
using i16 = short;
using u16 = unsigned short;
using i32 = int;
using u32 = unsigned int;
using i64 = long long;
using u64 = unsigned long long;
#else
using i8 = std::int8_t;
using u8 = std::uint8_t;
using i16 = std::int16_t;
using u16 = std::uint16_t;
using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;
#endif

}  // namespace imgpipe
