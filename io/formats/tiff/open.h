// A TIFF file, with the library's messages caught for that file alone, and what one page of it says.
#pragma once

#include <tiffio.h>

#include <memory>
#include <string>

#include "io/formats/format.h"

namespace imgpipe::tiff {

struct Messages {
  std::string error, warning;
};

/// An open file. Errors of the library land in `messages`, never on the terminal.
class TiffFile {
 public:
  /// Throws InputError.
  TiffFile(const std::string& path, const char* mode);
  TIFF* get() const { return file_.get(); }
  Messages& messages() { return *messages_; }
  /// Throws InputError with the library's own words.
  [[noreturn]] void fail(const std::string& what) const;
  const std::string& path() const { return path_; }
  /// Closes and flushes; throws InputError when that fails.
  void close();

 private:
  struct Close {
    void operator()(TIFF* file) const { TIFFClose(file); }
  };
  std::string path_;
  std::unique_ptr<Messages> messages_;
  std::unique_ptr<TIFF, Close> file_;
};

/// How the samples of a page are stored, and what it is read as.
struct Page {
  std::uint32_t width = 0, height = 0;
  std::uint16_t bits = 1, samples = 1, format = SAMPLEFORMAT_UINT, photometric = PHOTOMETRIC_MINISBLACK;
  std::uint16_t planar = PLANARCONFIG_CONTIG, orientation = 1, compression = COMPRESSION_NONE;
  bool tiled = false, alpha = false, associated = false, palette = false, inverted = false, ycbcr = false, cmyk = false;
  ImageDesc desc;  ///< as read: orientation applied, palette expanded
  std::vector<std::string> notes;
};

/// Reads the current directory's tags. `number` counts from 1, for messages. Throws InputError.
Page read_page_tags(TiffFile& file, std::size_t number);

/// Spacing and whether the pages are one volume, from resolution tags and ImageJ or OME descriptions.
struct Description {
  bool volume = false;
  std::size_t images = 0;  ///< ImageJ: slices of which only the first has a directory
  Geometry geometry;
  std::vector<std::string> notes, warnings;
};
Description read_description(TIFF* file);

}  // namespace imgpipe::tiff
