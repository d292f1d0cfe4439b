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
  std::string read_as, written_as;  ///< "512x512 uint16"
  Counts counts;
  std::vector<std::string> notes, warnings;
  struct Numbers {
    int step;
    std::string filter;
    std::vector<std::pair<std::string, double>> values;
  };
  std::vector<Numbers> numbers;  ///< of `stats` steps
  std::optional<bool> verified;
  std::string difference;  ///< where verification failed
  double decode_seconds = 0, upload_seconds = 0, compute_seconds = 0, download_seconds = 0, encode_seconds = 0;
};

struct BatchReport {
  std::string backend;
  std::vector<FileReport> files;  ///< in the order of the inputs
  double seconds = 0;
  int signal = 0;  ///< SIGINT or SIGTERM when the run was interrupted
  std::size_t failed() const;
};

/// Checks the pipeline against the first input that can be read: what its steps and outputs allow. Throws UsageError.
void preflight(const Config& config, const Listing& listing, const Machine& machine);

/// `finished` is called for every file, in order, from one thread at a time.
/// Throws UsageError when a file named by `with` cannot be used.
BatchReport run_batch(const Config& config, const Listing& listing, Executor& executor, Executor& reference,
                      const BatchOptions& options, const std::function<void(const FileReport&)>& finished);

/// SIGINT and SIGTERM end the run: nothing new is begun, temporary files go. A second one ends the process.
void catch_signals();

}  // namespace imgpipe
