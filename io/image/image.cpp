#include "io/image/image.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <new>

namespace imgpipe {

std::string describe(const ImageDesc& desc) {
  std::string text = std::to_string(desc.extent.width) + "x" + std::to_string(desc.extent.height);
  if (desc.volume || desc.extent.depth > 1) text += "x" + std::to_string(desc.extent.depth);
  text += " " + std::string(name(desc.dtype));
  if (desc.channels == 3 && !desc.alpha)
    text += " RGB";
  else if (desc.channels == 4 && desc.alpha)
    text += " RGBA";
  else if (desc.channels == 2 && desc.alpha)
    text += " gray+alpha";
  else if (desc.channels > 1)
    text += " " + std::to_string(desc.channels) + " channels";
  return text;
}

namespace {

constexpr std::size_t cache_line = 64, huge_page = std::size_t(2) << 20;

/// Not std::aligned_alloc: what that frees in glibc serves no later request of the same size and alignment, so a long
/// batch would grow without end. The block's own address stands before the aligned one. Large images ask for huge
/// pages: the faults of 4 KiB pages cost more than a pass of arithmetic over them.
std::byte* allocate(std::size_t bytes) {
  const bool large = bytes >= 2 * huge_page;
  const std::size_t alignment = large ? huge_page : cache_line;
  void* const block = std::malloc(bytes + alignment + sizeof(void*));
  if (!block) throw std::bad_alloc();
  const auto least = reinterpret_cast<std::uintptr_t>(block) + sizeof(void*);
  auto* const aligned = reinterpret_cast<std::byte*>((least + alignment - 1) / alignment * alignment);
  reinterpret_cast<void**>(aligned)[-1] = block;
#ifdef MADV_HUGEPAGE
  if (large) madvise(aligned, bytes / huge_page * huge_page, MADV_HUGEPAGE);
#endif
  return aligned;
}

}  // namespace

Image::Image(ImageDesc desc, std::int64_t spare) : desc_(std::move(desc)) {
  storage_.reset(allocate(static_cast<std::size_t>(desc_.bytes() + spare)));
}

void Image::Free::operator()(std::byte* p) const {
  if (p) std::free(reinterpret_cast<void**>(p)[-1]);
}

namespace {
template <class View, class Byte>
View dense_view(Byte* data, const ImageDesc& desc) {
  View view;
  view.data = data;
  view.dtype = desc.dtype;
  view.extent = desc.extent;
  view.channels = desc.channels;
  view.stride_x = desc.channels;
  view.stride_y = view.stride_x * desc.extent.width;
  view.stride_z = view.stride_y * desc.extent.height;
  return view;
}
}  // namespace

ImageView Image::view() { return dense_view<ImageView>(storage_.get(), desc_); }
ConstImageView Image::view() const { return dense_view<ConstImageView>(storage_.get(), desc_); }

}  // namespace imgpipe
