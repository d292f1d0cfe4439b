#include "pipeline/plan/explain.h"

#include <cstdio>

#include "io/image/errors.h"
#include "pipeline/batch/source.h"
#include "pipeline/commands/options.h"
#include "pipeline/commands/subject.h"

namespace imgpipe::commands {

int explain(const Arguments& arguments) {
  CommandLine line(
      "imgpipe explain FILE.yaml [INPUT] [OPTIONS]",
      "Prints the plan: groups and why each ends, halos, tile memory, bytes moved and the predicted time.\n"
      "The plan is made for INPUT, else for the first of the file's inputs, else for --image.");
  line.positional("file", 2);
  line.add()("image", po::value<std::string>(),
             "a made-up image: WIDTHxHEIGHT[xDEPTH]:DTYPE[:CHANNELS], such as 8192x8192:uint16")(
      "set", po::value<std::vector<std::string>>()->composing(), "change the pipeline: steps.2.sigma=3")(
      "for", po::value<std::string>()->default_value("gpu"), "plan for: gpu or cpu")(
      "no-fuse", "one operation a group")("json", "print JSON");
  const auto values = line.parse(arguments);
  if (!values) return done;
  const Subject subject = subject_of(*values);
  const std::string target = (*values)["for"].as<std::string>();
  if (target != "gpu" && target != "cpu") throw UsageError("--for: must be gpu or cpu, got '" + target + "'");
  const Machine machine = target == "gpu" ? Machine::gpu() : Machine::cpu();
  const Plan plan = make_plan(subject.graph, machine, {values->count("no-fuse") == 0, {0, 0, 0}});
  std::fputs((values->count("json") ? explain_json(plan) + "\n" : explain_text(plan)).c_str(), stdout);
  return done;
}

}  // namespace imgpipe::commands
