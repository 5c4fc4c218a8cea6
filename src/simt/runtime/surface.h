// Loads from surfaces, stores to them, reductions there; queries of images.
#pragma once

#include "simt/runtime/image.h"

namespace km::simt {

/// Why an access to a surface was not made.
enum class SurfaceFault : uint8_t { none, outside, misaligned };

/// suld, sust and sured of one lane, by `slots`. Gives the fault of an access that traps.
SurfaceFault access_surface(const Image& image, const ImageForm& form, uint32_t lane,
                            ImageSlot* slots);

/// txq and suq; `level` is 0 where the form names none.
uint32_t query_image(const Image& image, ImageQuery query, uint32_t level);

}  // namespace km::simt
