// Runs a pipeline on all its inputs: decode, process and encode overlap; one bad file does not stop the rest.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/batch/listing.h"
#include "pipeline/exec/executor.h"

namespace imgpipe {

struct BatchOptions {
  int jobs = 0;         ///< files in flight; 0: by the machine
  bool verify = false;  ///< run the CPU path on the same inputs and compare bytes
  PlanOptions plan;
};

struct FileReport {
  enum class Status { done, failed, skipped };
  std::string input;
  std::vector<std::string> outputs;
  Status status = Status::skipped;
  std::string error;
  std::optional<ImageDesc> read;  ///< the first page, when the pixels were read
  std::size_t pages = 0;
  std::vector<ImageDesc> written;  ///< the first page of each of `outputs`
  Counts counts;
  std::vector<std::string> notes, warnings;
  struct Numbers {
    int step;
    std::string filter;
    std::vector<std::pair<std::string, double>> values;
  };
  std::vector<Numbers> numbers;  ///< of `stats` steps
  std::optional<bool> verified;
  double decode_seconds = 0, upload_seconds = 0, compute_seconds = 0, download_seconds = 0, encode_seconds = 0;
};

struct BatchReport {
  std::string backend;
  std::vector<FileReport> files;  ///< in the order of the inputs
  double seconds = 0;
  int signal = 0;  ///< that ended the run early: nothing new was begun
  std::size_t count(FileReport::Status status) const;
  std::size_t failed() const { return count(FileReport::Status::failed); }
};

/// Checks what the pipeline's steps and outputs allow against the inputs' headers, until one can be processed.
/// Throws UsageError with the first refusal when none can.
void preflight(const Config& config, const Listing& listing, const Machine& machine);

/// `finished` is called for every file, in order, from one thread at a time.
/// Throws UsageError when a file named by `with` cannot be used.
BatchReport run_batch(const Config& config, const Listing& listing, Executor& executor, Executor& reference,
                      const BatchOptions& options, const std::function<void(const FileReport&)>& finished);

}  // namespace imgpipe
