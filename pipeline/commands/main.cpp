// imgpipe: folders of images and volumes through chains of filters, on the GPU or the CPU with the same bytes.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>

#include "filters/base/nearest.h"
#include "io/image/errors.h"
#include "pipeline/commands/command.h"
#include "pipeline/commands/message.h"

namespace {

using namespace imgpipe::commands;

struct Command {
  const char* name;
  const char* summary;
  int (*main)(const Arguments&);
};

constexpr Command table[] = {
    {"run", "run a pipeline file on images", run},
    {"check", "check a pipeline file, and the headers of its inputs", check},
    {"explain", "print the plan: groups, halos, bytes, predicted time", explain},
    {"compare", "compare two files or folders", compare},
    {"filters", "list the filters, or print one's reference", filters},
    {"info", "what files hold", info},
    {"devices", "the GPUs, and why none is usable", devices},
    {"bench", "time chains on this machine, CPU against GPU", bench},
};

void print_help() {
  std::puts(
      "Usage: imgpipe COMMAND [OPTIONS]\n\nRuns images and volumes through chains of filters, on the GPU or the CPU "
      "with the same bytes.\n\nCommands:");
  for (const Command& command : table) std::printf("  %-9s %s\n", command.name, command.summary);
  std::puts(
      "\n`imgpipe COMMAND --help` describes a command. Start with: imgpipe run data/pipelines/photo.yaml\n"
      "Exit codes: 0 done, 1 some inputs failed or pixels differ, 2 usage, 3 no such device, 4 not comparable.");
}

int dispatch(const std::string& name, const Arguments& arguments) {
  std::vector<std::string> names;
  for (const Command& command : table) {
    if (name == command.name) return command.main(arguments);
    names.emplace_back(command.name);
  }
  throw imgpipe::UsageError("unknown command '" + name + "'" + imgpipe::did_you_mean(name, names) +
                            "; commands: " + imgpipe::listing(names));
}

int run_program(const Arguments& all) {
  if (all.empty() || all[0] == "--help" || all[0] == "-h" || all[0] == "help") {
    print_help();
    return all.empty() ? usage : done;
  }
  if (all[0] == "--version") {
    std::puts("imgpipe " IMGPIPE_VERSION);
    return done;
  }
  try {
    return dispatch(all[0], Arguments(all.begin() + 1, all.end()));
  } catch (const imgpipe::UsageError& error) {
    tell(std::string("imgpipe: ") + error.what());
    return usage;
  } catch (const imgpipe::DeviceError& error) {
    tell(std::string("imgpipe: ") + error.what());
    return no_device;
  } catch (const std::bad_alloc&) {
    tell("imgpipe: out of memory");
    return some_failed;
  } catch (const std::exception& error) {
    tell(std::string("imgpipe: ") + error.what());
    return some_failed;
  }
}

/// What was to be printed and could not be must not look done.
bool printed_all() {
  std::cout.flush();
  return std::cout.good() && std::fflush(stdout) == 0 && !std::ferror(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int code = run_program(Arguments(argv + 1, argv + argc));
  if (printed_all()) return code;
  tell("imgpipe: standard output cannot be written");
  return code == done ? some_failed : code;
}
