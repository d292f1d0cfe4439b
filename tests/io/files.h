// Files for tests of formats: a folder of their own, bytes made by hand, and what reading brings.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "io/formats/format.h"
#include "tests/support/chain.h"

namespace imgpipe::test {

class Folder {
 public:
  Folder() {
    static int serial = 0;
    const std::string name = "imgpipe_io_" + std::to_string(getpid()) + "_" + std::to_string(serial++);
    path_ = std::filesystem::temp_directory_path() / name;
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// A new file: some file systems write one that is cut and written again to the disk at once.
inline void put(const std::string& path, const std::string& bytes) {
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary) << bytes;
}
inline std::string get(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::vector<Image> pages_of(Image image) {
  std::vector<Image> pages;
  pages.push_back(std::move(image));
  return pages;
}

/// Whole numbers as bytes, the lowest or the highest first.
inline std::string little(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i);
  return text;
}
inline std::string big(std::uint64_t value, int bytes) {
  const std::string text = little(value, bytes);
  return {text.rbegin(), text.rend()};
}
inline std::string bytes_of(std::initializer_list<int> values) {
  std::string text;
  for (int v : values) text += static_cast<char>(v);
  return text;
}

/// All pages of a file, by content; what its header says must be what comes.
inline ReadResult read_file(const std::string& path) {
  const Format& format = format_of_file(path);
  const FileInfo info = format.read_info(path);
  ReadResult read = format.read(path, 0, info.pages.size());
  EXPECT_EQ(read.pages.size(), info.pages.size());
  for (std::size_t i = 0; i < read.pages.size(); ++i)
    EXPECT_TRUE(read.pages[i].desc() == info.pages[i]) << path << " page " << i;
  return read;
}

/// Why a file is refused by `read_info` and `read`; "" when one of them takes it.
inline std::string refusal_of(const std::string& path) {
  try {
    format_of_file(path).read_info(path);
    format_of_file(path).read(path, 0, 1);
  } catch (const InputError& error) {
    return error.reason;
  }
  return "";
}

/// Every true prefix of a good file must be refused.
inline void expect_every_prefix_refused(const std::string& path, const std::string& good) {
  for (std::size_t n = 0; n < good.size(); ++n) {
    put(path, good.substr(0, n));
    EXPECT_NE(refusal_of(path), "") << "cut to " << n << " of " << good.size();
  }
}

/// No file may crash, whatever byte is damaged: it is read, or refused with InputError.
inline void survive_every_flipped_byte(const std::string& path, const std::string& good) {
  for (std::size_t i = 0; i < good.size(); ++i)
    for (int flip : {0x01, 0x80, 0xff}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      put(path, bad);
      refusal_of(path);
    }
}

}  // namespace imgpipe::test
