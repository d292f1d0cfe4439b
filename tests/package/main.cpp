// A chain of filters on an image in memory, through the installed library; the result goes through a file.
#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "io/formats/format.h"
#include "pipeline/batch/output.h"
#include "pipeline/config/config.h"
#include "pipeline/exec/executor.h"
#include "pipeline/plan/chain.h"

int main() {
  using namespace imgpipe;
  ImageDesc desc;
  desc.extent = {5, 4, 1};
  Image image(desc);
  std::fill_n(image.samples<std::uint8_t>(), desc.samples(), std::uint8_t{10});
  image.samples<std::uint8_t>()[7] = 255;

  const Config config = parse_config("steps: [{median: 1}, invert]", "chain.yaml", {});
  const auto executor = make_cpu_executor();
  const Plan plan = make_plan(build_graph(config, desc, {}), executor->machine());
  const RunResult result = executor->run(plan, std::vector<const Image*>{&image});
  write_output("result.png", result.images);

  const ReadResult read = format_of_file("result.png").read("result.png", 0, 1);
  std::printf("%s: %d\n", describe(read.pages[0].desc()).c_str(), read.pages[0].samples<std::uint8_t>()[7]);
}
