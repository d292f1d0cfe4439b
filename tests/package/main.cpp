#include <cstdio>

#include "pipeline/config/config.h"
#include "pipeline/exec/executor.h"
#include "pipeline/plan/chain.h"

/// Blurs an impulse of 100 by a box of 5 x 5: 4 everywhere near it.
int main() {
  using namespace imgpipe;
  ImageDesc desc;
  desc.dtype = DType::f32;
  desc.extent = {9, 9, 1};
  Image image(desc);
  for (int i = 0; i < 81; ++i) image.samples<float>()[i] = i == 40 ? 100.0f : 0.0f;
  const Config config = parse_config("steps: [{box: {radius: 2}}]", "chain", {});
  const auto executor = make_cpu_executor();
  const Image* inputs[] = {&image};
  const RunResult result = executor->run(make_plan(build_graph(config, desc, {}), executor->machine()), inputs);
  const float value = result.images[0].samples<float>()[9 * 3 + 5];
  std::printf("%g\n", value);
  return value == 4.0f ? 0 : 1;
}
