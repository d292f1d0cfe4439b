#include "pipeline/batch/report.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "io/image/errors.h"

namespace imgpipe {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has no NaN and no infinities: they are written as text.
Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

const char* status_word(FileReport::Status status) {
  constexpr const char* words[] = {"done", "failed", "skipped"};
  return words[static_cast<int>(status)];
}

Json image_json(const ImageDesc& desc) {
  return {{"width", desc.extent.width},
          {"height", desc.extent.height},
          {"depth", desc.extent.depth},
          {"channels", desc.channels},
          {"dtype", name(desc.dtype)}};
}

Json file_json(const FileReport& file) {
  Json json = {{"input", file.input}, {"status", status_word(file.status)}, {"outputs", file.outputs}};
  if (!file.error.empty()) json["error"] = file.error;
  if (file.read) json["read"] = image_json(*file.read);
  if (file.read) json["pages"] = file.pages;
  for (const ImageDesc& desc : file.written) json["written"].push_back(image_json(desc));
  json["clipped"] = file.counts.clipped;
  json["nan"] = file.counts.nans;
  if (!file.notes.empty()) json["notes"] = file.notes;
  if (!file.warnings.empty()) json["warnings"] = file.warnings;
  for (const FileReport::Numbers& numbers : file.numbers) {
    Json values;
    for (const auto& [name, value] : numbers.values) values[name] = number(value);
    json["numbers"].push_back({{"step", numbers.step}, {"filter", numbers.filter}, {"values", values}});
  }
  if (file.verified) json["verified"] = *file.verified;
  json["seconds"] = {{"decode", file.decode_seconds},
                     {"upload", file.upload_seconds},
                     {"compute", file.compute_seconds},
                     {"download", file.download_seconds},
                     {"encode", file.encode_seconds}};
  return json;
}

}  // namespace

void write_report(const std::string& path, const Config& config, const BatchReport& report) {
  Json json = {{"program", "imgpipe"},      {"version", IMGPIPE_VERSION},
               {"pipeline", config.path},   {"backend", report.backend},
               {"seconds", report.seconds}, {"done", report.count(FileReport::Status::done)},
               {"failed", report.failed()}, {"skipped", report.count(FileReport::Status::skipped)},
               {"files", Json::array()}};
  for (const FileReport& file : report.files) json["files"].push_back(file_json(file));
  std::error_code error;
  if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty())
    std::filesystem::create_directories(folder, error);
  std::ofstream out(path, std::ios::binary);
  // File names need not be UTF-8.
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  out.flush();
  if (!out) throw InputError(path, "the report cannot be written");
}

}  // namespace imgpipe
