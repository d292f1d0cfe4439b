#include "io/image/image.h"

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

Image::Image(ImageDesc desc, std::int64_t spare) : desc_(std::move(desc)) {
  const memory::Block block = memory::take(static_cast<std::size_t>(desc_.bytes() + spare));
  storage_ = memory::Owned(block.data, {block.bytes});
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
