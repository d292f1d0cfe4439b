// Writing a result so that it is there whole or not at all.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "io/image/image.h"

namespace imgpipe {

/// Why an image of this description cannot be written to this path, or "".
std::string cannot_write(const std::string& path, const ImageDesc& desc, std::size_t pages);

/// Makes the folders, writes under a temporary name in the same folder, flushes and renames. Throws InputError.
void write_output(const std::string& path, std::span<const Image> pages);
/// The same for any file: `write` fills the file of the name it is given.
void write_whole(const std::string& path, const std::function<void(const std::string& temporary)>& write);

/// Removes the temporary files of outputs under way: after an interrupt. Async-signal-unsafe.
void remove_temporaries();

}  // namespace imgpipe
