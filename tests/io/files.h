// Files for the tests of formats: a folder of their own, bytes in and out, and a round trip.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "io/formats/format.h"
#include "tests/support/chain.h"

namespace imgpipe::test {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("imgpipe_io_" + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

inline void put(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }
inline std::string get(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::vector<Image> pages_of(Image image) {
  std::vector<Image> pages;
  pages.push_back(std::move(image));
  return pages;
}

/// Writes without loss where the format can, and reads all pages back by content.
inline ReadResult round_trip(const std::string& path, const std::vector<Image>& pages) {
  format_for_output(path)->write(path, pages, {.quality = 100});
  const Format& format = format_of_file(path);
  const FileInfo info = format.read_info(path);
  ReadResult read = format.read(path, 0, info.pages.size());
  EXPECT_EQ(read.pages.size(), info.pages.size());
  for (std::size_t i = 0; i < read.pages.size(); ++i)
    EXPECT_TRUE(read.pages[i].desc() == info.pages[i]) << path << " page " << i;
  return read;
}

/// All pages of a file, by content.
inline ReadResult read_file(const std::string& path) {
  const Format& format = format_of_file(path);
  return format.read(path, 0, format.read_info(path).pages.size());
}
/// The same of bytes.
inline ReadResult read_bytes(const Folder& folder, const std::string& bytes) {
  const std::string path = folder.file("bytes");
  put(path, bytes);
  return read_file(path);
}
/// Why a file is refused; "" when it is read.
inline std::string refusal_of(const Folder& folder, const std::string& bytes) {
  try {
    read_bytes(folder, bytes);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// Numbers as bytes.
inline std::string number(std::uint64_t value, int size, bool big_endian = false) {
  std::string bytes;
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * (big_endian ? size - 1 - i : i)) & 255);
  return bytes;
}

}  // namespace imgpipe::test
