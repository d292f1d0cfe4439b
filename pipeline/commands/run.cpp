#include <fmt/format.h>
#include <tbb/global_control.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "io/image/errors.h"
#include "pipeline/batch/batch.h"
#include "pipeline/batch/interrupt.h"
#include "pipeline/batch/report.h"
#include "pipeline/commands/message.h"
#include "pipeline/commands/options.h"
#include "pipeline/plan/chain.h"

namespace imgpipe::commands {
namespace {

namespace fs = std::filesystem;

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
    if (file.status == FileReport::Status::failed) tell("error: " + file.error);
    for (const std::string& warning : file.warnings) tell(file.input + ": warning: " + warning);
    for (const std::string& note : file.notes)
      if (note.find("taken as") != std::string::npos && !told_) {
        tell(file.input + ": " + note);
        told_ = true;
      }
    if (file.counts.clipped || file.counts.nans)
      tell(fmt::format("{}: {} samples clipped, {} NaN written as 0", file.input, file.counts.clipped,
                       file.counts.nans));
    show();
  }

  void end() { clear(); }

 private:
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
    for (const std::string& output : item.outputs)
      std::printf("%s -> %s\n", printable(item.label).c_str(), printable(output).c_str());
}

int exit_code(const BatchReport& report) {
  if (report.signal) return 128 + report.signal;
  return report.failed() > 0 ? some_failed : done;
}

/// The pipeline file with what the command line changes, complete.
Config config_of(const std::string& path, const po::variables_map& values, const std::vector<std::string>& overrides) {
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
  return config;
}

/// A report that cannot be written, or would replace a file of the run, is told before any work.
void check_report(const std::string& path, const Config& config, const Listing& listing) {
  std::error_code error;
  fs::path there = fs::absolute(path);
  while (!fs::exists(there, error)) there = there.parent_path();
  const bool is_there = there == fs::absolute(path);
  if (fs::is_directory(there, error) == is_there || access(there.c_str(), W_OK) != 0)
    throw UsageError("--report: " + path + " cannot be written: " + there.string() +
                     (is_there ? " is a folder, or not yours" : " is no folder that you may write to"));
  std::vector<std::string> files = with_files(config);
  files.push_back(config.path);
  for (const WorkItem& item : listing.items) {
    files.insert(files.end(), item.files.begin(), item.files.end());
    files.insert(files.end(), item.outputs.begin(), item.outputs.end());
  }
  const std::string report = normal_path(path);
  for (const std::string& file : files)
    if (normal_path(file) == report) throw UsageError("--report: " + path + " is a file of this run");
}

int run_one(const Config& config, const po::variables_map& values) {
  Listing listing = list_inputs(config.inputs, config.volume == Config::Volume::stack);
  plan_outputs(listing, config.outputs, with_files(config));
  if (values.count("report")) check_report(values["report"].as<std::string>(), config, listing);
  for (const std::string& warning : listing.warnings) tell("warning: " + warning);
  const BackendOptions backend = backend_options(values);
  if (values.count("dry-run")) {
    preflight(config, listing, Machine::cpu());
    print_plan(listing);
    return done;
  }
  const ChosenBackend chosen = choose_backend(backend);
  if (!chosen.note.empty()) tell(chosen.note);
  preflight(config, listing, chosen.executor->machine());
  BatchOptions options;
  options.jobs = values["jobs"].as<int>();
  options.verify = values.count("verify") > 0;
  const auto reference = make_cpu_executor();
  catch_signals();
  Progress progress(listing.items.size());
  const BatchReport report = run_batch(config, listing, *chosen.executor, *reference, options,
                                       [&](const FileReport& file) { progress.finished(file); });
  progress.end();
  tell(fmt::format("{}: {} of {} files done on {} in {}{}", config.path, report.count(FileReport::Status::done),
                   listing.items.size(), report.backend, human_seconds(report.seconds),
                   options.verify && report.failed() == 0 ? ", verified equal to the CPU" : ""));
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
  const auto paths = (*values)["file"].as<std::vector<std::string>>();
  for (const char* option : {"output", "report"})
    if (paths.size() > 1 && values->count(option))
      throw UsageError(std::string("--") + option + ": goes with one pipeline file, and there are " +
                       std::to_string(paths.size()));
  std::vector<Config> configs;
  for (const std::string& path : paths) configs.push_back(config_of(path, *values, overrides));
  int worst = done;
  for (const Config& config : configs) {
    worst = std::max(worst, run_one(config, *values));
    if (caught_signal()) break;
  }
  return worst;
}

}  // namespace imgpipe::commands
