#include <fmt/format.h>
#include <tbb/global_control.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "io/image/errors.h"
#include "pipeline/batch/batch.h"
#include "pipeline/batch/output.h"
#include "pipeline/batch/report.h"
#include "pipeline/commands/options.h"
#include "pipeline/plan/chain.h"

namespace imgpipe::commands {
namespace {

/// A bar on a terminal; elsewhere a line now and then. Failures are always told. All of it on standard error.
class Progress {
 public:
  explicit Progress(std::size_t total) : total_(total) {
    const char* term = std::getenv("TERM");
    bar_ = isatty(STDERR_FILENO) && !std::getenv("NO_COLOR") && !(term && std::strcmp(term, "dumb") == 0);
  }

  void finished(const FileReport& file) {
    ++done_;
    clear();
    if (file.status == FileReport::Status::failed) say("error: " + file.error);
    for (const std::string& warning : file.warnings) say(file.input + ": warning: " + warning);
    for (const std::string& note : file.notes)
      if (note.find("taken as") != std::string::npos && !told_) {
        say(file.input + ": " + note);
        told_ = true;
      }
    if (file.counts.clipped || file.counts.nans)
      say(fmt::format("{}: {} samples clipped, {} NaN written as 0", file.input, file.counts.clipped,
                      file.counts.nans));
    show();
  }

  void end() { clear(); }

 private:
  static void say(std::string text) {
    for (char& c : text)
      if (static_cast<unsigned char>(c) < 32) c = '?';
    std::fprintf(stderr, "%s\n", text.c_str());
  }
  void clear() const {
    if (bar_) std::fprintf(stderr, "\r\033[K");
  }
  void show() {
    if (bar_) {
      const int width = 30, filled = static_cast<int>(width * done_ / std::max<std::size_t>(1, total_));
      std::fprintf(stderr, "[%s%s] %zu/%zu", std::string(filled, '#').c_str(), std::string(width - filled, ' ').c_str(),
                   done_, total_);
      std::fflush(stderr);
      return;
    }
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::seconds(5)) return;
    last_ = now;
    std::fprintf(stderr, "%zu of %zu files\n", done_, total_);
  }

  std::size_t total_, done_ = 0;
  bool bar_ = false, told_ = false;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

void print_plan(const Listing& listing) {
  for (const WorkItem& item : listing.items)
    for (const std::string& output : item.outputs) std::printf("%s -> %s\n", item.label.c_str(), output.c_str());
}

int exit_code(const BatchReport& report) {
  if (report.signal) return 128 + report.signal;
  return report.failed() > 0 ? some_failed : done;
}

int run_one(const std::string& path, const po::variables_map& values, const std::vector<std::string>& overrides) {
  Config config = load_config(path, overrides);
  if (values.count("input")) config.inputs = values["input"].as<std::vector<std::string>>();
  if (values.count("output")) config.outputs = {{"", values["output"].as<std::string>()}};
  if (config.inputs.empty()) throw UsageError(path + ": no `input`: name it in the file or by --input");
  if (config.outputs.empty()) throw UsageError(path + ": no `output`: name it in the file or by --output");
  try {
    for (const auto& [name, pattern] : config.outputs) expand_output(pattern, {});
  } catch (const std::invalid_argument& error) {
    throw UsageError(std::string("--output: ") + error.what());
  }
  Listing listing = list_inputs(config.inputs, config.volume == Config::Volume::stack);
  plan_outputs(listing, config.outputs, with_files(config));
  const BackendOptions backend = backend_options(values);
  if (values.count("dry-run")) {
    preflight(config, listing, Machine::cpu());
    print_plan(listing);
    return done;
  }
  const ChosenBackend chosen = choose_backend(backend);
  if (!chosen.note.empty()) std::fprintf(stderr, "%s\n", chosen.note.c_str());
  preflight(config, listing, chosen.executor->machine());
  for (const std::string& warning : listing.warnings) std::fprintf(stderr, "warning: %s\n", warning.c_str());
  BatchOptions options;
  options.jobs = values["jobs"].as<int>();
  options.verify = values.count("verify") > 0;
  const auto reference = make_cpu_executor();
  catch_signals();
  Progress progress(listing.items.size());
  const BatchReport report = run_batch(config, listing, *chosen.executor, *reference, options,
                                       [&](const FileReport& file) { progress.finished(file); });
  progress.end();
  if (report.signal) remove_temporaries();
  const auto finished =
      static_cast<std::size_t>(std::count_if(report.files.begin(), report.files.end(),
                                             [](const FileReport& f) { return f.status == FileReport::Status::done; }));
  std::fprintf(stderr, "%s: %zu of %zu files done on %s in %s%s\n", path.c_str(), finished, listing.items.size(),
               report.backend.c_str(), human_seconds(report.seconds).c_str(),
               options.verify && report.failed() == 0 ? ", verified equal to the CPU" : "");
  if (values.count("report")) write_report(values["report"].as<std::string>(), config, report);
  return exit_code(report);
}

}  // namespace

int run(const Arguments& arguments) {
  CommandLine line(
      "imgpipe run FILE.yaml... [OPTIONS]",
      "Runs pipeline files: decodes every input, runs the steps on the GPU or the CPU, writes the results.\n"
      "Outputs appear whole or not at all; a bad file is reported and the rest go on.");
  line.positional("file", -1);
  line.add()("input,i", po::value<std::vector<std::string>>()->composing(),
             "file, folder or glob, instead of the file's `input`; may be repeated")(
      "output,o", po::value<std::string>(), "output pattern, instead of the file's `output`: out/{stem}.png")(
      "set", po::value<std::vector<std::string>>()->composing(),
      "change the pipeline: steps.2.sigma=3 (steps count from 1), border=wrap")(
      "jobs,j", po::value<int>()->default_value(0), "files in flight; 0: by the machine")(
      "dry-run", "check everything and print what would be written, and do nothing")(
      "verify", "run the CPU path on the same inputs and compare every byte")("report", po::value<std::string>(),
                                                                              "write a report, FILE.json");
  add_backend_options(line);
  const auto values = line.parse(arguments);
  if (!values) return done;
  if (!values->count("file")) throw UsageError("run: name a pipeline file; `imgpipe run --help` shows how");
  if ((*values)["jobs"].as<int>() < 0) throw UsageError("--jobs: must be at least 0");
  std::vector<std::string> overrides;
  if (values->count("set")) overrides = (*values)["set"].as<std::vector<std::string>>();
  int worst = done;
  for (const std::string& path : (*values)["file"].as<std::vector<std::string>>()) {
    worst = std::max(worst, run_one(path, *values, overrides));
    if (worst >= interrupted) break;
  }
  return worst;
}

}  // namespace imgpipe::commands
