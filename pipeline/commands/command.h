// What a sub-command is, and the exit codes of the program.
#pragma once

#include <string>
#include <vector>

namespace imgpipe::commands {

enum Exit : int {
  done = 0,
  some_failed = 1,     ///< inputs failed, or `compare` found differing pixels
  usage = 2,           ///< wrong command line or pipeline file: nothing was done
  no_device = 3,       ///< the requested device cannot be used
  not_comparable = 4,  ///< `compare`: size, channels, dtype, pages or spacing differ
  interrupted = 130,   ///< SIGINT; any other signal that ends a run is 128 + its number, too
  terminated = 143     ///< SIGTERM
};

using Arguments = std::vector<std::string>;

int run(const Arguments& arguments);
int check(const Arguments& arguments);
int explain(const Arguments& arguments);
int compare(const Arguments& arguments);
int filters(const Arguments& arguments);
int info(const Arguments& arguments);
int devices(const Arguments& arguments);
int bench(const Arguments& arguments);

}  // namespace imgpipe::commands
