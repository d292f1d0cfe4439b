// TIFF files made by hand: tags in either byte order, classic or BigTIFF, pages of strips or tiles.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/io/files.h"

namespace imgpipe::test {

enum TiffTag {
  tag_width = 256,
  tag_height = 257,
  tag_bits = 258,
  tag_compression = 259,
  tag_photometric = 262,
  tag_description = 270,
  tag_strip_offsets = 273,
  tag_orientation = 274,
  tag_samples = 277,
  tag_rows_per_strip = 278,
  tag_strip_bytes = 279,
  tag_x_resolution = 282,
  tag_y_resolution = 283,
  tag_planar = 284,
  tag_resolution_unit = 296,
  tag_predictor = 317,
  tag_colour_map = 320,
  tag_tile_width = 322,
  tag_tile_height = 323,
  tag_tile_offsets = 324,
  tag_tile_bytes = 325,
  tag_extra_samples = 338,
  tag_sample_format = 339,
  tag_icc_profile = 34675
};

struct TiffField {
  int type = 3;  ///< 2 text, 3 of two bytes, 4 of four, 5 ratios of two of four, 7 bytes, 16 of eight
  std::vector<std::uint64_t> values;
};

struct TiffPage {
  std::map<int, TiffField> fields;  ///< in the order of their numbers, as the format asks
  std::vector<std::string> blocks;  ///< strips or tiles
  bool tiled = false;

  TiffPage& set(int tag, std::vector<std::uint64_t> values, int type = 3) {
    fields[tag] = {type, std::move(values)};
    return *this;
  }
  TiffPage& set_text(int tag, const std::string& text) {
    fields[tag] = {2, {}};
    for (char c : text) fields[tag].values.push_back(static_cast<unsigned char>(c));
    fields[tag].values.push_back(0);
    return *this;
  }
};

struct TiffBytes {
  bool big_endian = false, big_tiff = false;

  std::string number(std::uint64_t value, int size) const {
    return big_endian ? big(value, size) : little(value, size);
  }

  std::string file(std::vector<TiffPage> pages) const {
    std::string out = std::string(big_endian ? "MM" : "II") + number(big_tiff ? 43 : 42, 2);
    if (big_tiff) out += number(8, 2) + number(0, 2);
    std::size_t link = out.size();
    out += number(0, word());
    for (TiffPage& page : pages) {
      std::vector<std::uint64_t> offsets, sizes;
      for (const std::string& block : page.blocks) {
        offsets.push_back(out.size());
        sizes.push_back(block.size());
        out += block + (block.size() % 2 ? std::string(1, '\0') : "");
      }
      page.set(page.tiled ? tag_tile_offsets : tag_strip_offsets, offsets, big_tiff ? 16 : 4);
      page.set(page.tiled ? tag_tile_bytes : tag_strip_bytes, sizes, big_tiff ? 16 : 4);
      add_directory(page, out, link);
    }
    return out;
  }

 private:
  int word() const { return big_tiff ? 8 : 4; }

  std::string values_of(const TiffField& field) const {
    std::string text;
    const int size = field.type == 3 ? 2 : field.type == 4 || field.type == 5 ? 4 : field.type == 16 ? 8 : 1;
    for (std::uint64_t v : field.values) text += number(v, size);
    return text;
  }

  void add_directory(const TiffPage& page, std::string& out, std::size_t& link) const {
    std::string directory = number(page.fields.size(), big_tiff ? 8 : 2);
    for (const auto& [tag, field] : page.fields) {
      std::string values = values_of(field);
      directory += number(static_cast<std::uint64_t>(tag), 2) + number(static_cast<std::uint64_t>(field.type), 2) +
                   number(field.type == 5 ? field.values.size() / 2 : field.values.size(), word());
      if (values.size() > static_cast<std::size_t>(word())) {
        directory += number(out.size(), word());
        out += values + (values.size() % 2 ? std::string(1, '\0') : "");
      } else {
        values.resize(static_cast<std::size_t>(word()), '\0');
        directory += values;
      }
    }
    out.replace(link, static_cast<std::size_t>(word()), number(out.size(), word()));
    out += directory;
    link = out.size();
    out += number(0, word());
  }
};

/// A page of one strip: uncompressed, black is 0, unsigned unless more is set.
inline TiffPage tiff_page(int width, int height, int bits, const std::string& pixels, int samples = 1) {
  TiffPage page;
  page.set(tag_width, {static_cast<std::uint64_t>(width)}, 4).set(tag_height, {static_cast<std::uint64_t>(height)}, 4);
  page.set(tag_bits, std::vector<std::uint64_t>(static_cast<std::size_t>(samples), static_cast<std::uint64_t>(bits)));
  page.set(tag_compression, {1}).set(tag_photometric, {samples >= 3 ? 2u : 1u});
  page.set(tag_samples, {static_cast<std::uint64_t>(samples)});
  page.set(tag_rows_per_strip, {static_cast<std::uint64_t>(height)}, 4);
  page.blocks = {pixels};
  return page;
}

}  // namespace imgpipe::test
