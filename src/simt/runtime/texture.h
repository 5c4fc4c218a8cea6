// Fetches from textures, for all lanes of a warp at once.
#pragma once

#include "simt/runtime/image.h"

namespace km::simt {

/// tex and tld4: reads coordinates from `slots` and writes up to four results per lane to the first
/// slots. All lanes are computed, whatever their coordinates, but nothing outside of the image is
/// read.
void fetch_texture(const Image& image, const ImageForm& form, ImageSlot* slots);

/// The texture fetch of one KernelSet. `detail` is the level of each lane in steps of 1/256, or
/// null if there is one level.
using TextureFetch = void(const Image& image, const ImageForm& form, const int32_t* detail,
                          ImageSlot* slots);
TextureFetch fetch_texture_plain, fetch_texture_wide, fetch_texture_widest;

/// The code of the set, as far as the architecture has some of its own.
TextureFetch* texture_fetch_of(KernelSet set);

/// sRGB to linear light with the rounding of GPUs: halves with at most eight significant bits.
extern const float (&kLinearOfSrgb)[256];

/// Converts a border colour to the result of a fetch outside of the image.
void set_border(Image& image, const float (&color)[kChannels]);

}  // namespace km::simt
