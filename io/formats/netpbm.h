// What the formats of the netpbm family share: headers of text, and samples between 0 and a maxval of their own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/formats/single_image.h"

namespace imgpipe::netpbm {

/// Reads text from a file, byte by byte. Every read past the end is an InputError "truncated".
class Text {
 public:
  Text(const InputFile& file, std::int64_t offset) : file_(file), offset_(offset) {}

  std::int64_t offset() const { return offset_; }
  bool at_end() { return offset_ >= file_.size(); }
  char peek();
  char next();
  /// As `next`, but a comment (`#` to the end of its line) is read as that end of line.
  char next_without_comment();
  /// Up to the end of the line, which is read too.
  std::string line();
  void skip_space();
  /// The next word and the one white-space character behind it; comments and white space before it are skipped.
  std::string word();
  /// `word` as a whole number. Throws InputError that names `what`.
  std::int64_t number(const char* what);

 private:
  void fill();
  const InputFile& file_;
  std::int64_t offset_;
  std::int64_t buffered_from_ = 0;
  std::vector<std::byte> buffer_;
};

bool is_space(char c);
std::int64_t whole_number(const InputFile& file, const std::string& word, const char* what);

/// uint8 up to 255, uint16 above. Throws InputError outside 1..65535.
DType dtype_for(const InputFile& file, std::int64_t maxval);

/// "maxval 1023: samples are kept as stored", or nothing where it is the largest value of the type.
std::vector<std::string> maxval_notes(const ImageDesc& desc, std::int64_t maxval);

/// Refuses samples above maxval, and stretches alpha to its type's range.
void check_samples(const InputFile& file, Image& image, std::int64_t maxval);

/// The samples of a raw image at `offset`: big-endian when they are of two bytes.
void read_raw(const InputFile& file, std::int64_t offset, Image& image);
void write_raw(OutputFile& out, const Image& image);

/// "12 bytes behind the image are ignored".
std::string trailing_bytes(std::int64_t count);

}  // namespace imgpipe::netpbm
