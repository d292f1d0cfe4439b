#include "io/formats/bmp/run_lengths.h"

#include <algorithm>

namespace imgpipe::bmp {
namespace {

class Decoder {
 public:
  Decoder(const InputFile& file, const Header& header)
      : file_(file),
        width_(header.desc.extent.width),
        height_(header.desc.extent.height),
        nibbles_(header.compression == Compression::rle4),
        data_(file.bytes(header.offset, file.size() - header.offset)) {
    out_.values.resize(static_cast<std::size_t>(width_ * height_));
  }

  Indices run() {
    while (step()) {
    }
    return std::move(out_);
  }

 private:
  enum Escape { end_of_line = 0, end_of_bitmap = 1, delta = 2 };  // larger: so many pixels as they are

  [[noreturn]] void fail(const char* what) const {
    throw InputError(file_.path(), std::string("damaged RLE: ") + what);
  }

  int byte() {
    if (at_ == data_.size()) throw InputError(file_.path(), "truncated: the RLE data end too early");
    return static_cast<int>(data_[at_++]);
  }

  int index(int pair, int i) const { return !nibbles_ ? pair : i % 2 == 0 ? pair >> 4 : pair & 15; }

  void put(int value) {
    if (x_ >= width_ || y_ >= height_) fail("a run leaves the image");
    out_.values[static_cast<std::size_t>(y_ * width_ + x_++)] = static_cast<std::uint8_t>(value);
  }

  /// To the pixel at (x, y), which lies behind the last one.
  void move_to(std::int64_t x, std::int64_t y) {
    if (x > width_ || y > height_) fail("a step leaves the image");
    if (y_ < height_ && (y > y_ ? x_ < width_ || y > y_ + 1 || x > 0 : x > x_)) out_.skipped = true;
    x_ = x;
    y_ = y;
  }

  void literal(int count) {
    int pair = 0;
    for (int i = 0; i < count; ++i) {
      if (!nibbles_ || i % 2 == 0) pair = byte();
      put(index(pair, i));
    }
    const int bytes = nibbles_ ? (count + 1) / 2 : count;
    if (bytes % 2 == 1) byte();  // to whole words
  }

  bool step() {
    // A whole image may lack its last marker.
    if (at_ == data_.size() && (y_ == height_ || (y_ == height_ - 1 && x_ == width_))) return false;
    const int count = byte(), value = byte();
    if (count > 0) {
      for (int i = 0; i < count; ++i) put(index(value, i));
    } else if (value == end_of_line) {
      move_to(0, y_ + 1);
    } else if (value == end_of_bitmap) {
      move_to(0, height_);
      return false;
    } else if (value == delta) {
      const int right = byte();
      move_to(x_ + right, y_ + byte());
    } else {
      literal(value);
    }
    return true;
  }

  const InputFile& file_;
  std::int64_t width_, height_;
  bool nibbles_;
  std::vector<std::byte> data_;
  std::size_t at_ = 0;
  std::int64_t x_ = 0, y_ = 0;
  Indices out_;
};

}  // namespace

Indices decode_run_lengths(const InputFile& file, const Header& header) { return Decoder(file, header).run(); }

}  // namespace imgpipe::bmp
