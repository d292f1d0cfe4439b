#include "io/formats/format.h"

#include <algorithm>
#include <array>

#include "io/formats/single_image.h"

namespace imgpipe {
namespace {

std::vector<const Format*> by_priority() {
  std::vector<const Format*> formats;
  for (const Format& format : all_formats()) formats.push_back(&format);
  std::ranges::stable_sort(formats, std::ranges::greater(), [](const Format* f) { return f->priority; });
  return formats;
}

std::string known_formats() {
  std::string names;
  for (const Format& format : all_formats()) names += (names.empty() ? "" : ", ") + format.name;
  return names;
}

std::string file_name_in_lower_case(const std::string& path) {
  std::string name = path.substr(path.rfind('/') + 1);
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return name;
}

/// How long the suffix of `format` is that `name` ends with; 0 when it has none or nothing before it.
std::size_t suffix_length(const Format& format, const std::string& name) {
  std::size_t longest = 0;
  for (const std::string& suffix : format.suffixes)
    if (name.size() > suffix.size() && name.ends_with(suffix)) longest = std::max(longest, suffix.size());
  return longest;
}

}  // namespace

const Format& format_of_file(const std::string& path) {
  static const std::vector<const Format*> formats = by_priority();
  const InputFile file(path);
  std::array<std::byte, 512> head;
  const std::size_t size = file.read_some(0, head);
  if (size == 0) throw InputError(path, "empty file");
  for (const Format* format : formats)
    if (format->sniff && format->sniff(std::span(head).first(size))) return *format;
  throw InputError(path, "not an image of a known format (" + known_formats() + ")");
}

const Format* format_for_output(const std::string& path) {
  const std::string name = file_name_in_lower_case(path);
  const Format* best = nullptr;
  std::size_t best_length = 0;
  for (const Format& format : all_formats()) {
    const std::size_t length = suffix_length(format, name);
    const bool writes_where_best_does_not = best && format.write && !best->write;
    if (length > best_length || (length > 0 && length == best_length && writes_where_best_does_not)) {
      best = &format;
      best_length = length;
    }
  }
  return best;
}

}  // namespace imgpipe
