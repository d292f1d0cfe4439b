// Command lines of the sub-commands, with Boost.Program_options.
#pragma once

#include <boost/program_options.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/commands/command.h"
#include "pipeline/exec/backend.h"

namespace imgpipe::commands {

namespace po = boost::program_options;

/// A command's usage line, text and options.
class CommandLine {
 public:
  CommandLine(std::string usage, std::string text);
  po::options_description_easy_init add() { return options_.add_options(); }
  /// Positional arguments go to option `name`, `most` of them (-1: any number). Not shown in the help.
  void positional(const std::string& name, int most);
  /// Nothing when --help was asked for and printed. Throws UsageError.
  std::optional<po::variables_map> parse(const Arguments& arguments);

 private:
  std::string usage_, text_;
  po::options_description options_{"Options"};
  po::options_description hidden_;
  po::positional_options_description positional_;
};

void add_backend_options(CommandLine& line);
BackendOptions backend_options(const po::variables_map& values);

std::string human_bytes(double bytes);
std::string human_seconds(double seconds);

}  // namespace imgpipe::commands
