#include "io/formats/netpbm.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <span>

namespace imgpipe::netpbm {
namespace {

constexpr std::int64_t buffer_bytes = 1 << 16;
constexpr std::size_t longest_word = 256;

void swap_bytes_of_pairs(std::byte* samples, std::int64_t bytes) {
  for (std::int64_t i = 0; i + 1 < bytes; i += 2) std::swap(samples[i], samples[i + 1]);
}

template <class T>
void check(const InputFile& file, Image& image, std::int64_t maxval) {
  const ImageDesc& desc = image.desc();
  T* samples = image.samples<T>();
  const auto white = static_cast<std::int64_t>(nominal_range(desc.dtype).white);
  if (maxval == white) return;
  const T* end = samples + desc.samples();
  if (std::any_of(samples, samples + desc.samples(), [&](T v) { return v > maxval; }))
    throw InputError(file.path(), "damaged: a sample is larger than maxval " + std::to_string(maxval));
  if (!desc.alpha) return;
  for (T* alpha = samples + desc.channels - 1; alpha < end; alpha += desc.channels)
    *alpha = static_cast<T>((*alpha * white + maxval / 2) / maxval);
}

}  // namespace

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

void Text::fill() {
  if (offset_ >= buffered_from_ && offset_ < buffered_from_ + static_cast<std::int64_t>(buffer_.size())) return;
  // A header fits the first, small read; text samples go on in large ones.
  const std::int64_t wanted = buffer_.empty() ? 512 : buffer_bytes;
  buffer_ = file_.bytes(offset_, std::clamp<std::int64_t>(file_.size() - offset_, 1, wanted));
  buffered_from_ = offset_;
}

char Text::peek() {
  fill();
  return static_cast<char>(buffer_[static_cast<std::size_t>(offset_ - buffered_from_)]);
}

char Text::next() {
  const char c = peek();
  ++offset_;
  return c;
}

char Text::next_without_comment() {
  char c = next();
  if (c != '#') return c;
  while (c != '\n' && c != '\r') c = next();
  return c;
}

std::string Text::line() {
  std::string text;
  for (char c = next(); c != '\n'; c = next()) {
    text += c;
    if (text.size() > 4096) throw InputError(file_.path(), "damaged header: a line is too long");
  }
  return text;
}

void Text::skip_space() {
  while (!at_end() && is_space(peek())) ++offset_;
}

std::string Text::word() {
  char c = next_without_comment();
  while (is_space(c)) c = next_without_comment();
  std::string text;
  for (; !is_space(c); c = next_without_comment()) {
    text += c;
    if (text.size() > longest_word) throw InputError(file_.path(), "damaged header: a word is too long");
  }
  return text;
}

std::int64_t Text::number(const char* what) { return whole_number(file_, word(), what); }

std::int64_t whole_number(const InputFile& file, const std::string& word, const char* what) {
  std::int64_t value = 0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc() || stop != end || value < 0)
    throw InputError(file.path(), std::string("damaged header: the ") + what + " is not a whole number");
  return value;
}

DType dtype_for(const InputFile& file, std::int64_t maxval) {
  if (maxval < 1 || maxval > 65535)
    throw InputError(file.path(), "damaged header: maxval " + std::to_string(maxval) + " is not in 1..65535");
  return maxval < 256 ? DType::u8 : DType::u16;
}

std::vector<std::string> maxval_notes(const ImageDesc& desc, std::int64_t maxval) {
  if (static_cast<double>(maxval) == nominal_range(desc.dtype).white) return {};
  std::vector<std::string> notes = {"maxval " + std::to_string(maxval) + ": samples are kept as stored"};
  if (desc.alpha) notes[0] += ", alpha is scaled to " + std::string(name(desc.dtype));
  return notes;
}

void check_samples(const InputFile& file, Image& image, std::int64_t maxval) {
  if (image.desc().dtype == DType::u8)
    check<std::uint8_t>(file, image, maxval);
  else
    check<std::uint16_t>(file, image, maxval);
}

void read_raw(const InputFile& file, std::int64_t offset, Image& image) {
  const std::int64_t bytes = image.desc().bytes();
  file.read(offset, {image.data(), static_cast<std::size_t>(bytes)});
  if (size_of(image.desc().dtype) == 2 && std::endian::native == std::endian::little)
    swap_bytes_of_pairs(image.data(), bytes);
}

void write_raw(OutputFile& out, const Image& image) {
  const std::int64_t bytes = image.desc().bytes(), part = 1 << 16;
  const bool swap = size_of(image.desc().dtype) == 2 && std::endian::native == std::endian::little;
  std::vector<std::byte> block;
  for (std::int64_t at = 0; at < bytes; at += part) {
    block.assign(image.data() + at, image.data() + std::min(at + part, bytes));
    if (swap) swap_bytes_of_pairs(block.data(), static_cast<std::int64_t>(block.size()));
    out.write(block.data(), block.size());
  }
}

std::string trailing_bytes(std::int64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes") + " behind the image are ignored";
}

}  // namespace imgpipe::netpbm
