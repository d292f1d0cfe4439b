// A shared library loaded at run time.
#pragma once

#include <string>
#include <vector>

namespace imgpipe::cuda {

class Library {
 public:
  Library() = default;
  /// Opens the first of `names` that can be opened.
  explicit Library(const std::vector<std::string>& names);
  bool open() const { return handle_ != nullptr; }
  /// Throws DeviceError when the library lacks it.
  template <class F>
  void find(F*& function, const char* name) const {
    function = reinterpret_cast<F*>(symbol(name));
  }

 private:
  void* symbol(const char* name) const;
  void* handle_ = nullptr;
};

}  // namespace imgpipe::cuda
