#include "pipeline/batch/batch.h"

#include <fmt/format.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <new>

#include "io/image/errors.h"
#include "pipeline/batch/interrupt.h"
#include "pipeline/batch/output.h"
#include "pipeline/batch/source.h"
#include "pipeline/plan/chain.h"

namespace imgpipe {
namespace {

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A file on its way through the stages.
struct Token {
  std::size_t index = 0;
  FileReport report;
  SourceImages source;
  std::vector<std::vector<Image>> results;  // [result][page]
};

/// Files named by `with`, read once.
std::vector<Image> read_with_files(const Config& config) {
  std::vector<Image> images;
  for (const std::string& path : with_files(config)) {
    try {
      SourceImages source = read_source({{path}, path, {}}, config.volume);
      if (source.images.size() != 1) throw InputError(path, "has several pages; a second image has one");
      images.push_back(std::move(source.images[0]));
    } catch (const InputError& error) {
      throw UsageError(error.what());
    }
  }
  return images;
}

std::vector<ImageDesc> descs_of(const std::vector<Image>& images) {
  std::vector<ImageDesc> descs;
  for (const Image& image : images) descs.push_back(image.desc());
  return descs;
}

/// Plans by image description: a batch of equal images is planned once.
class Plans {
 public:
  Plans(const Config& config, std::vector<ImageDesc> others, const Machine& machine, const PlanOptions& options)
      : config_(config), others_(std::move(others)), machine_(machine), options_(options) {}

  std::shared_ptr<const Plan> plan_for(const ImageDesc& desc) {
    const std::lock_guard lock(mutex_);
    for (const auto& [known, plan] : plans_)
      if (known == desc) return plan;
    auto plan = std::make_shared<const Plan>(make_plan(build_graph(config_, desc, others_), machine_, options_));
    if (plans_.size() > 64) plans_.clear();
    plans_.emplace_back(desc, plan);
    return plan;
  }

 private:
  const Config& config_;
  std::vector<ImageDesc> others_;
  Machine machine_;
  PlanOptions options_;
  std::mutex mutex_;
  std::vector<std::pair<ImageDesc, std::shared_ptr<const Plan>>> plans_;
};

void check_outputs(const Plan& plan, const WorkItem& item, std::size_t pages) {
  for (std::size_t r = 0; r < item.outputs.size(); ++r) {
    ImageDesc desc = plan.graph.nodes[plan.graph.results[r].value].value.desc;
    const std::string reason = cannot_write(item.outputs[r], desc, pages);
    if (!reason.empty()) throw InputError(item.outputs[r], reason);
  }
}

class Batch {
 public:
  Batch(const Config& config, const Listing& listing, Executor& executor, Executor& reference,
        const BatchOptions& options)
      : config_(config),
        listing_(listing),
        executor_(executor),
        reference_(reference),
        options_(options),
        others_(read_with_files(config)),
        plans_(config, descs_of(others_), executor.machine(), options.plan) {}

  BatchReport run(const std::function<void(const FileReport&)>& finished) {
    const auto start = std::chrono::steady_clock::now();
    BatchReport report;
    report.backend = executor_.name();
    std::atomic<bool> stop{false};
    std::size_t next = 0;
    using Item = std::shared_ptr<Token>;
    tbb::parallel_pipeline(
        static_cast<std::size_t>(in_flight()),
        tbb::make_filter<void, Item>(tbb::filter_mode::serial_in_order, [&](tbb::flow_control& control) -> Item {
          if (next == listing_.items.size() || stop || caught_signal()) {
            control.stop();
            return nullptr;
          }
          auto token = std::make_shared<Token>();
          token->index = next++;
          token->report.input = listing_.items[token->index].label;
          return token;
        }) & tbb::make_filter<Item, Item>(tbb::filter_mode::parallel, [&](Item token) {
          step(*token, [&] { decode(*token); });
          return token;
        }) & tbb::make_filter<Item, Item>(tbb::filter_mode::parallel, [&](Item token) {
          step(*token, [&] { process(*token); });
          return token;
        }) & tbb::make_filter<Item, Item>(tbb::filter_mode::parallel, [&](Item token) {
          step(*token, [&] { encode(*token); });
          return token;
        }) & tbb::make_filter<Item, void>(tbb::filter_mode::serial_in_order, [&](Item token) {
          if (token->report.status == FileReport::Status::failed && config_.on_error == Config::OnError::stop)
            stop = true;
          finished(token->report);
          report.files.push_back(std::move(token->report));
        }));
    for (; next < listing_.items.size(); ++next) {
      FileReport skipped;
      skipped.input = listing_.items[next].label;
      report.files.push_back(std::move(skipped));
    }
    report.signal = caught_signal();
    report.seconds = since(start);
    return report;
  }

 private:
  int in_flight() const { return options_.jobs > 0 ? options_.jobs : tbb::this_task_arena::max_concurrency() + 2; }

  /// Runs one stage of a file; what it throws is the file's error.
  template <class F>
  void step(Token& token, F&& f) {
    FileReport& report = token.report;
    if (report.status == FileReport::Status::failed || caught_signal()) return;
    try {
      f();
    } catch (const InputError& error) {
      fail(report, error.what());
    } catch (const DeviceError& error) {
      fail(report, report.input + ": device: " + error.what());
    } catch (const std::bad_alloc&) {
      fail(report, report.input + ": not enough memory");
    } catch (const std::exception& error) {
      fail(report, report.input + ": " + error.what());
    }
  }

  static void fail(FileReport& report, const std::string& why) {
    report.status = FileReport::Status::failed;
    report.error = why;
  }

  void decode(Token& token) {
    const WorkItem& item = listing_.items[token.index];
    const auto start = std::chrono::steady_clock::now();
    const SourceInfo info = source_info(item, config_.volume);
    for (const ImageDesc& desc : info.images) check_outputs(*plans_.plan_for(desc), item, info.images.size());
    token.source = read_source(item, config_.volume);
    token.report.notes = token.source.notes;
    token.report.warnings = token.source.warnings;
    token.report.read = token.source.images[0].desc();
    token.report.pages = token.source.images.size();
    token.report.decode_seconds = since(start);
  }

  void process(Token& token) {
    token.results.resize(listing_.items[token.index].outputs.size());
    for (std::size_t page = 0; page < token.source.images.size(); ++page) {
      std::vector<const Image*> inputs{&token.source.images[page]};
      for (const Image& other : others_) inputs.push_back(&other);
      const auto plan = plans_.plan_for(inputs[0]->desc());
      RunResult run = executor_.run(*plan, inputs);
      collect(token.report, *plan, run);
      if (options_.verify) verify(token.report, *plan, inputs, run);
      for (std::size_t r = 0; r < token.results.size(); ++r) token.results[r].push_back(std::move(run.images[r]));
      token.source.images[page] = Image();
    }
  }

  static void collect(FileReport& report, const Plan& plan, const RunResult& run) {
    report.counts += run.counts;
    report.upload_seconds += run.upload_seconds;
    report.compute_seconds += run.compute_seconds;
    report.download_seconds += run.download_seconds;
    report.warnings.insert(report.warnings.end(), run.notes.begin(), run.notes.end());
    for (std::size_t r = 0; r < run.reports.size(); ++r) {
      const auto& declared = plan.graph.reports[r];
      if (declared.warning) {
        const std::string text = declared.warning(run.reports[r]);
        if (!text.empty())
          report.warnings.push_back(fmt::format("step {} {}: {}", declared.step, declared.label, text));
        continue;
      }
      FileReport::Numbers numbers{declared.step, declared.label, {}};
      for (std::size_t k = 0; k < declared.names.size(); ++k)
        numbers.values.emplace_back(declared.names[k], run.reports[r][k]);
      report.numbers.push_back(std::move(numbers));
    }
  }

  void verify(FileReport& report, const Plan& plan, const std::vector<const Image*>& inputs, const RunResult& run) {
    const RunResult expected = reference_.run(plan, inputs);
    bool equal = true;
    for (std::size_t r = 0; r < run.images.size() && equal; ++r)
      equal = std::memcmp(run.images[r].data(), expected.images[r].data(),
                          static_cast<std::size_t>(run.images[r].desc().bytes())) == 0;
    report.verified = report.verified.value_or(true) && equal;
    if (!equal)
      throw InputError(report.input,
                       "the " + executor_.name() + " result differs from the " + reference_.name() + " result");
  }

  void encode(Token& token) {
    const WorkItem& item = listing_.items[token.index];
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t r = 0; r < item.outputs.size(); ++r) {
      write_output(item.outputs[r], token.results[r]);
      token.report.outputs.push_back(item.outputs[r]);
      token.report.written.push_back(token.results[r][0].desc());
    }
    token.report.encode_seconds = since(start);
    token.report.status = FileReport::Status::done;
    token.results.clear();
  }

  const Config& config_;
  const Listing& listing_;
  Executor& executor_;
  Executor& reference_;
  BatchOptions options_;
  std::vector<Image> others_;
  Plans plans_;
};

}  // namespace

std::size_t BatchReport::count(FileReport::Status status) const {
  return static_cast<std::size_t>(
      std::count_if(files.begin(), files.end(), [&](const FileReport& f) { return f.status == status; }));
}

void preflight(const Config& config, const Listing& listing, const Machine& machine) {
  std::vector<ImageDesc> others;
  for (const std::string& path : with_files(config)) {
    try {
      others.push_back(source_info({{path}, path, {}}, config.volume).images.at(0));
    } catch (const InputError& error) {
      throw UsageError(error.what());
    }
  }
  // One odd image at the front must not stop the rest; a wrong pipeline must not cost a look at every header.
  constexpr std::size_t most_refusals = 32;
  std::string refusal;
  std::size_t refusals = 0;
  for (const WorkItem& item : listing.items) {
    SourceInfo info;
    try {
      info = source_info(item, config.volume);
    } catch (const InputError&) {
      continue;  // reported when its turn comes
    }
    try {
      check_outputs(make_plan(build_graph(config, info.images[0], others), machine), item, info.images.size());
      return;
    } catch (const UsageError& error) {
      if (refusals++ == 0) refusal = error.what();
    } catch (const InputError& error) {
      if (refusals++ == 0) refusal = error.what();
    }
    if (refusals == most_refusals) break;
  }
  if (refusals > 0) throw UsageError(refusal);
}

BatchReport run_batch(const Config& config, const Listing& listing, Executor& executor, Executor& reference,
                      const BatchOptions& options, const std::function<void(const FileReport&)>& finished) {
  return Batch(config, listing, executor, reference, options).run(finished);
}

}  // namespace imgpipe
