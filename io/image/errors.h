// The exception types of the project. Types are API, texts are not.
#pragma once

#include <stdexcept>
#include <string>

namespace imgpipe {

/// A wrong command line or pipeline file: exit code 2, nothing has been done.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One input or output file cannot be used; `what()` begins with its path. The batch goes on.
struct InputError : std::runtime_error {
  InputError(const std::string& path, const std::string& reason)
      : std::runtime_error(path + ": " + reason), path(path), reason(reason) {}
  std::string path;
  std::string reason;
};

/// The device failed. After a fatal error the device cannot be used again in this process.
struct DeviceError : std::runtime_error {
  DeviceError(const std::string& text, bool fatal) : std::runtime_error(text), fatal(fatal) {}
  bool fatal;
};

}  // namespace imgpipe
