#include "io/formats/format.h"

#include <algorithm>
#include <cctype>
#include <fstream>

namespace imgpipe {

const Format& format_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(path, "cannot be opened for reading");
  char bytes[512];
  file.read(bytes, sizeof bytes);
  const auto count = static_cast<std::size_t>(file.gcount());
  if (count == 0) throw InputError(path, "empty file");
  const Format* best = nullptr;
  std::string known;
  for (const Format& format : all_formats()) {
    known += (known.empty() ? "" : ", ") + format.name;
    if ((!best || format.priority > best->priority) && format.sniff({reinterpret_cast<const std::byte*>(bytes), count})) best = &format;
  }
  if (!best) throw InputError(path, "not an image of a known format (" + known + ")");
  return *best;
}

const Format* format_for_output(const std::string& path) {
  std::string lower = path;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const Format& format : all_formats())
    for (const std::string& suffix : format.suffixes)
      if (lower.size() >= suffix.size() && lower.compare(lower.size() - suffix.size(), suffix.size(), suffix) == 0) return &format;
  return nullptr;
}

}  // namespace imgpipe
