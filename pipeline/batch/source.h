// A unit of work in memory: headers first, then pixels; pages, volumes and stacks sorted out.
#pragma once

#include <string>
#include <vector>

#include "pipeline/batch/listing.h"

namespace imgpipe {

/// What an item will be processed as, from headers only.
struct SourceInfo {
  std::vector<ImageDesc> images;   ///< one volume, or one 2D image a page
  std::vector<std::string> notes;  ///< "3 pages taken as 2D images (volume: stack makes them a volume)"
  std::size_t pages_of_file = 1;
};

/// Throws InputError.
SourceInfo source_info(const WorkItem& item, Config::Volume volume);

struct SourceImages {
  std::vector<Image> images;
  std::vector<std::string> notes, warnings;
};
/// Reads the pixels; the images have the descriptions of `source_info`. Throws InputError.
SourceImages read_source(const WorkItem& item, Config::Volume volume);

}  // namespace imgpipe
