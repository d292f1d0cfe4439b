#include "pipeline/commands/message.h"

#include <cstdio>

namespace imgpipe::commands {

std::string printable(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = '?';
  return text;
}

void tell(const std::string& text) { std::fprintf(stderr, "%s\n", printable(text).c_str()); }

}  // namespace imgpipe::commands
