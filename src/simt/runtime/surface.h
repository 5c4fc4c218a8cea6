// Loads, stores and reductions of surfaces, and queries of images.
#pragma once

#include "simt/runtime/image.h"

namespace km::simt {

/// The reason why an access to a surface failed.
enum class SurfaceFault : uint8_t { none, outside, misaligned };

/// Performs suld, sust or sured for one lane, with operands in `slots`. Returns the fault of an
/// access that traps.
SurfaceFault access_surface(const Image& image, const ImageForm& form, uint32_t lane,
                            ImageSlot* slots);

/// Answers txq and suq; `level` is 0 if the form has none.
uint32_t query_image(const Image& image, ImageQuery query, uint32_t level);

}  // namespace km::simt
