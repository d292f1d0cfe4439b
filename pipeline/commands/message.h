// Messages to the person: each is one line of printable text, whatever the names in it hold.
#pragma once

#include <string>

namespace imgpipe::commands {

/// Control characters as '?': a name cannot break a line or command a terminal.
std::string printable(std::string text);

/// Writes one line to standard error.
void tell(const std::string& text);

}  // namespace imgpipe::commands
