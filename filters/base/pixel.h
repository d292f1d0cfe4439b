// Shortens the declaration of per-pixel operations: one CPU row function and one device functor a type.
#pragma once

#include "filters/base/graph.h"

namespace imgpipe {

/// A channelwise operation on one image. `make(t)` returns the device functor for float or double; `row` is called as
/// row(in, out, count, functor) and holds the CPU's own code.
template <class Make, class Row>
PixelOp unary_op(Compute compute, const std::string& header, const std::string& device_name, double flops, Make make,
                 Row row) {
  PixelOp op;
  op.flops = flops;
  visit_compute(compute, [&](auto t) {
    using T = decltype(t);
    const auto numbers = make(t);
    op.cpu = [numbers, row](const PixelRow& r) { row(r.in<T>(), r.out<T>(), r.count, numbers); };
    op.device = device_code(header, device_name + "<" + c_name(compute) + ">", numbers);
  });
  return op;
}

/// The same on two images of as many channels.
template <class Make, class Row>
PixelOp binary_op(Compute compute, const std::string& header, const std::string& device_name, double flops, Make make,
                  Row row) {
  PixelOp op;
  op.flops = flops;
  visit_compute(compute, [&](auto t) {
    using T = decltype(t);
    const auto numbers = make(t);
    op.cpu = [numbers, row](const PixelRow& r) { row(r.in<T>(0), r.in<T>(1), r.out<T>(), r.count, numbers); };
    op.device = device_code(header, device_name + "<" + c_name(compute) + ">", numbers);
  });
  return op;
}

}  // namespace imgpipe
