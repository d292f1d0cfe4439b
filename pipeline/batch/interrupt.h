// Signals that end a run: the first lets it end by itself, a second ends the process.
#pragma once

namespace imgpipe {

/// From now on SIGINT, SIGTERM and SIGHUP are noted, and a second one removes the temporary files and ends the
/// process with 128 + its number. A closed pipe or a file at its size limit is an error of its own, no end.
void catch_signals();

/// The number of the signal that was caught, or 0.
int caught_signal();

}  // namespace imgpipe
