// Which files a run reads and writes: found, ordered and checked before any work.
#pragma once

#include <string>
#include <vector>

#include "pipeline/config/config.h"

namespace imgpipe {

/// One unit of work: one file, or the slices of a folder that are one volume.
struct WorkItem {
  std::vector<std::string> files;    ///< one, or the slices in order
  std::string label;                 ///< for messages: the file, or the folder
  std::vector<std::string> outputs;  ///< one for each of the run's results
};

struct Listing {
  std::vector<WorkItem> items;
  std::vector<std::string> warnings;  ///< "in/dead: a link to nothing"
};

/// "slice_2" before "slice_10": runs of digits compare as numbers.
bool natural_less(const std::string& a, const std::string& b);

/// Finds the inputs in natural order: files, folders (all levels, each real folder once) and globs (*, ?, [a-z], **).
/// A name that exists is taken literally, whatever characters it has; a file that is named twice comes once. Hidden
/// files, Thumbs.db, desktop.ini and
/// __MACOSX are passed over. With `stack`, the files of one folder are one item.
/// Throws UsageError when nothing is found.
Listing list_inputs(const std::vector<std::string>& patterns, bool stack);

/// Absolute, links followed: equal for two names of one file.
std::string normal_path(const std::string& path);

/// Fills `outputs` from the patterns. Throws UsageError when two outputs are one file, or an output is an input or
/// one of the `others` that the run reads.
void plan_outputs(Listing& listing, const std::vector<std::pair<std::string, std::string>>& patterns,
                  const std::vector<std::string>& others = {});

}  // namespace imgpipe
