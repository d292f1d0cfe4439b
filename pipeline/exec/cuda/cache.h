// Compiled kernels on disk. An entry is verified when read and written under a temporary name.
#pragma once

#include <optional>
#include <string>

namespace imgpipe::cuda {

/// $IMGPIPE_CACHE_DIR, else $XDG_CACHE_HOME/imgpipe, else ~/.cache/imgpipe; made when missing, for its user alone.
/// Nothing when there is no such folder to be had or it belongs to somebody else: then nothing is cached.
std::optional<std::string> cache_folder();

/// The payload stored for `key` (any text), or nothing: missing and corrupt entries alike.
std::optional<std::string> cache_read(const std::string& folder, const std::string& key);
/// Failures are silent: a cache that cannot be written is no cache.
void cache_write(const std::string& folder, const std::string& key, const std::string& payload);

}  // namespace imgpipe::cuda
