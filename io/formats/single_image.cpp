#include "io/formats/single_image.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace imgpipe {
namespace {

constexpr std::size_t buffer_bytes = 1 << 18;
constexpr std::int64_t largest_image = std::int64_t{1} << 40;

/// One system call moves at most 2^31 - 4096 bytes on Linux.
constexpr std::size_t largest_transfer = 1 << 30;

std::string kind_of_image(const ImageDesc& desc) {
  const std::string text = describe(desc);
  return text.substr(text.find(' ') + 1);
}

}  // namespace

InputFile::InputFile(const std::string& path)
    : path_(path), file_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (file_ < 0) throw InputError(path, std::string("cannot be opened: ") + std::strerror(errno));
  struct stat status {};
  const bool regular = fstat(file_, &status) == 0 && S_ISREG(status.st_mode);
  size_ = status.st_size;
  if (regular) return;
  ::close(file_);
  throw InputError(path, S_ISDIR(status.st_mode) ? "is a folder" : "is not a regular file");
}

InputFile::~InputFile() { ::close(file_); }

std::optional<std::size_t> InputFile::try_read(std::int64_t offset, std::span<std::byte> to) const noexcept {
  std::size_t done = 0;
  while (done < to.size()) {
    const std::size_t wanted = std::min(to.size() - done, largest_transfer);
    const ssize_t got = pread(file_, to.data() + done, wanted, offset + static_cast<std::int64_t>(done));
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

std::size_t InputFile::read_some(std::int64_t offset, std::span<std::byte> to) const {
  const auto got = try_read(offset, to);
  if (!got) throw InputError(path_, std::string("cannot be read: ") + std::strerror(errno));
  return *got;
}

void InputFile::read(std::int64_t offset, std::span<std::byte> to) const {
  if (read_some(offset, to) != to.size()) throw InputError(path_, "truncated: the file ends too early");
}

std::vector<std::byte> InputFile::bytes(std::int64_t offset, std::int64_t count) const {
  if (offset > size_ || count > size_ - offset) throw InputError(path_, "truncated: the file ends too early");
  std::vector<std::byte> bytes(static_cast<std::size_t>(count));
  read(offset, bytes);
  return bytes;
}

OutputFile::OutputFile(const std::string& path)
    : path_(path), file_(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (file_ < 0) throw InputError(path, std::string("cannot be written: ") + std::strerror(errno));
  try {
    buffer_.reserve(buffer_bytes);
  } catch (...) {
    ::close(file_);
    throw;
  }
}

OutputFile::~OutputFile() {
  if (file_ >= 0) ::close(file_);
}

bool OutputFile::flush() noexcept {
  std::size_t done = 0;
  while (error_ == 0 && done < buffer_.size()) {
    const ssize_t put = ::write(file_, buffer_.data() + done, buffer_.size() - done);
    if (put >= 0)
      done += static_cast<std::size_t>(put);
    else if (errno != EINTR)
      error_ = errno;
  }
  buffer_.clear();
  return error_ == 0;
}

bool OutputFile::write(const void* data, std::size_t size) noexcept {
  const auto* from = static_cast<const std::byte*>(data);
  while (size > 0 && error_ == 0) {
    const std::size_t part = std::min(size, buffer_bytes - buffer_.size());
    buffer_.insert(buffer_.end(), from, from + part);  // within the reserved room: cannot throw
    from += part;
    size -= part;
    if (buffer_.size() == buffer_bytes) flush();
  }
  return error_ == 0;
}

void OutputFile::close() {
  flush();
  if (::close(std::exchange(file_, -1)) != 0 && error_ == 0) error_ = errno;
  if (error_ != 0) throw InputError(path_, std::string("cannot be written: ") + std::strerror(error_));
}

void check_size(const std::string& path, const ImageDesc& desc) {
  const Extent& e = desc.extent;
  if (e.width < 1 || e.height < 1 || e.depth < 1) throw InputError(path, "the header says an image without pixels");
  std::int64_t bytes = static_cast<std::int64_t>(size_of(desc.dtype)) * desc.channels;
  for (std::int64_t factor : {e.width, e.height, e.depth})
    if (__builtin_mul_overflow(bytes, factor, &bytes) || bytes > largest_image)
      throw InputError(path, "the header says " + describe(desc) + ", more than the 2^40 bytes that an image may have");
}

void check_ratio(const std::string& path, std::int64_t compressed, std::int64_t pixel_bytes, std::int64_t best_ratio) {
  constexpr std::int64_t slack = 4096;
  if (compressed < (pixel_bytes - slack) / best_ratio)
    throw InputError(path, "truncated or damaged: " + std::to_string(compressed) +
                               " bytes of compressed data cannot hold " + std::to_string(pixel_bytes) +
                               " bytes of pixels");
}

bool wants_the_page(const std::string& path, std::size_t first, std::size_t count) {
  if (count == 0) return false;
  if (first > 0) throw InputError(path, "has one page, not page " + std::to_string(first + 1));
  return true;
}

std::optional<std::string> not_one_2d_image(const std::string& format, const ImageDesc& desc, std::size_t pages) {
  const std::string holds = format + " holds one 2D image, not ";
  const std::string advice = ": write .tif or .npy";
  if (desc.extent.depth > 1) return holds + std::to_string(desc.extent.depth) + " slices" + advice;
  if (pages > 1) return holds + std::to_string(pages) + " pages" + advice;
  if (pages == 0 || desc.extent.pixels() < 1) return format + " cannot hold an image without pixels";
  return std::nullopt;
}

std::string cannot_hold_samples(const std::string& format, const std::string& holds, const ImageDesc& desc,
                                const std::string& advice) {
  const bool plain_gray = desc.channels == 1;
  return format + " holds " + holds + ", not " + kind_of_image(desc) + (plain_gray ? " gray" : "") + ": " + advice;
}

const Image& the_image(const std::string& path, std::span<const Image> pages, const Format& format) {
  const ImageDesc none;
  const auto reason = format.cannot_hold(path, pages.empty() ? none : pages[0].desc(), pages.size());
  if (reason) throw InputError(path, *reason);
  return pages[0];
}

}  // namespace imgpipe
