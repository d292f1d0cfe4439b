// What the formats that hold one 2D image a file share: files whose every read and write is checked,
// the limits of size, the page range, and the words for what does not fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/formats/format.h"

namespace imgpipe {

/// A file opened by its literal path and read at any place. Throws InputError.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  std::int64_t size() const { return size_; }
  /// How many bytes there were from `offset`, up to the size of `to`.
  std::size_t read_some(std::int64_t offset, std::span<std::byte> to) const;
  /// As `read_some`, but without exceptions: nothing when the disk fails.
  std::optional<std::size_t> try_read(std::int64_t offset, std::span<std::byte> to) const noexcept;
  /// Exactly these bytes, or InputError "truncated".
  void read(std::int64_t offset, std::span<std::byte> to) const;
  std::vector<std::byte> bytes(std::int64_t offset, std::int64_t count) const;

 private:
  std::string path_;
  int file_ = -1;
  std::int64_t size_ = 0;
};

/// A file written from its start. A failed write is kept, and thrown by `close`: C callbacks may call `write`.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  bool write(const void* data, std::size_t size) noexcept;
  /// Throws InputError when not every byte went out.
  void close();

 private:
  std::string path_;
  int file_ = -1;
  int error_ = 0;
  std::vector<std::byte> buffer_;
  bool flush() noexcept;
};

/// What notes and warnings say of a file whose colours are told by a profile.
inline constexpr const char* profile_dropped = "its ICC profile is dropped: colours are taken as they are stored";

/// Refuses images that no machine holds (over 2^40 bytes) or that have no pixels, before anything is allocated.
void check_size(const std::string& path, const ImageDesc& desc);

/// Refuses a file whose `compressed` bytes cannot hold its pixels at `best_ratio` bytes of pixels a byte.
void check_ratio(const std::string& path, std::int64_t compressed, std::int64_t pixel_bytes, std::int64_t best_ratio);

/// Whether the one page is asked for. Throws InputError for a page that the file does not have.
bool wants_the_page(const std::string& path, std::size_t first, std::size_t count);

/// Why a format of one 2D image a file cannot hold this, whatever its samples are.
std::optional<std::string> not_one_2d_image(const std::string& format, const ImageDesc& desc, std::size_t pages);

/// "JPEG holds uint8 gray or RGB, not uint16 RGBA: " and the advice.
std::string cannot_hold_samples(const std::string& format, const std::string& holds, const ImageDesc& desc,
                                const std::string& advice);

/// The one image of `pages`. Throws InputError when the format cannot hold it.
const Image& the_image(const std::string& path, std::span<const Image> pages, const Format& format);

}  // namespace imgpipe
