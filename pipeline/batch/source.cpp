#include "pipeline/batch/source.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>

#include "io/formats/format.h"

namespace imgpipe {
namespace {

bool takes_as_volume(const FileInfo& info, Config::Volume volume) {
  if (volume == Config::Volume::pages) return false;
  return volume == Config::Volume::stack || info.declares_volume;
}

/// Slices of a volume must be alike in all but their depth.
ImageDesc stacked(const std::vector<ImageDesc>& slices, const std::vector<std::string>& names,
                  const std::string& label) {
  ImageDesc desc = slices[0];
  std::int64_t depth = 0;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const ImageDesc& s = slices[i];
    if (s.extent.width != desc.extent.width || s.extent.height != desc.extent.height || s.dtype != desc.dtype ||
        s.channels != desc.channels || s.alpha != desc.alpha)
      throw InputError(label, fmt::format("the slices differ: {} is {}, {} is {}; `volume: pages` keeps them apart",
                                          names[0], describe(slices[0]), names[i], describe(s)));
    depth += s.extent.depth;
  }
  desc.extent.depth = depth;
  desc.volume = true;
  return desc;
}

std::vector<std::string> page_names(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back("page " + std::to_string(i + 1));
  return names;
}

Image stack(std::vector<Image> slices, const ImageDesc& desc) {
  if (slices.size() == 1) {
    slices[0].desc() = desc;
    return std::move(slices[0]);
  }
  Image volume(desc);
  std::byte* to = volume.data();
  for (Image& slice : slices) {
    std::memcpy(to, slice.data(), static_cast<std::size_t>(slice.desc().bytes()));
    to += slice.desc().bytes();
    slice = Image();
  }
  return volume;
}

std::string pages_note(const FileInfo& info, bool as_volume, Config::Volume volume) {
  if (info.pages.size() < 2 || volume != Config::Volume::automatic) return "";
  return as_volume
             ? fmt::format("{} pages taken as one volume, as the file says (`volume: pages` keeps them apart)",
                           info.pages.size())
             : fmt::format("{} pages taken as 2D images (`volume: stack` makes them a volume)", info.pages.size());
}

SourceInfo file_info(const std::string& path, Config::Volume volume) {
  FileInfo info = format_of_file(path).read_info(path);
  if (info.pages.empty()) throw InputError(path, "holds no image");
  SourceInfo source{{}, info.notes, info.pages.size()};
  const bool as_volume = takes_as_volume(info, volume);
  if (as_volume)
    source.images = {stacked(info.pages, page_names(info.pages.size()), path)};
  else
    source.images = info.pages;
  if (const std::string note = pages_note(info, as_volume, volume); !note.empty()) source.notes.push_back(note);
  return source;
}

/// What to say of a file whose name promises another format than it holds; nothing for names that promise none.
std::string misnamed(const std::string& path, const Format& holds) {
  const Format* promised = format_for_output(path);
  if (!promised || promised->name == holds.name) return "";
  return fmt::format("{} is named as {} but holds {}; read as what it holds",
                     std::filesystem::path(path).filename().string(), promised->name, holds.name);
}

}  // namespace

SourceInfo source_info(const WorkItem& item, Config::Volume volume) {
  if (item.files.size() == 1) return file_info(item.files[0], volume);
  std::vector<ImageDesc> slices;
  for (const std::string& file : item.files) {
    const FileInfo info = format_of_file(file).read_info(file);
    if (info.pages.size() != 1) throw InputError(file, fmt::format("has {} pages; a slice has one", info.pages.size()));
    slices.push_back(info.pages[0]);
  }
  return {
      {stacked(slices, item.files, item.label)}, {fmt::format("{} files taken as one volume", item.files.size())}, 1};
}

SourceImages read_source(const WorkItem& item, Config::Volume volume) {
  const SourceInfo info = source_info(item, volume);
  SourceImages source{{}, info.notes, {}};
  std::vector<Image> pages;
  for (const std::string& file : item.files) {
    const Format& format = format_of_file(file);
    if (std::string warning = misnamed(file, format); !warning.empty()) source.warnings.push_back(std::move(warning));
    ReadResult read = format.read(file, 0, info.pages_of_file);
    for (Image& page : read.pages) pages.push_back(std::move(page));
    for (std::string& warning : read.warnings) source.warnings.push_back(std::move(warning));
  }
  if (info.images.size() == 1 && (info.images[0].volume || pages.size() > 1))
    source.images.push_back(stack(std::move(pages), info.images[0]));
  else
    source.images = std::move(pages);
  return source;
}

}  // namespace imgpipe
