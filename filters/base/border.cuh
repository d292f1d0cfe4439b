// The border index maps for device code; the pictures are in border.h.
#pragma once

#include "filters/base/device.cuh"

namespace imgpipe {

enum : int { border_reflect101 = 0, border_reflect = 1, border_replicate = 2, border_wrap = 3, border_constant = 4 };

/// The index inside [0, n) that stands for i, or -1 for the constant.
IMGPIPE_FN i64 border_at(i64 i, i64 n, int mode) {
  if (i >= 0 && i < n) return i;
  if (mode == border_constant) return -1;
  if (mode == border_replicate || n == 1) return i < 0 ? 0 : n - 1;
  if (mode == border_wrap) {
    const i64 r = i % n;
    return r < 0 ? r + n : r;
  }
  // Distance walked from the mirror at the left edge, folded into one period there and back.
  const i64 turn = mode == border_reflect101 ? n - 1 : n;
  i64 walked = i < 0 ? (mode == border_reflect101 ? -i : -i - 1) : i;
  walked %= 2 * turn;
  if (walked < n) return walked;
  return mode == border_reflect101 ? 2 * turn - walked : 2 * turn - 1 - walked;
}

}  // namespace imgpipe
