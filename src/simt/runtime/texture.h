// Fetches from textures, for all lanes of a warp at once.
#pragma once

#include "simt/runtime/image.h"

namespace km::simt {

/// tex and tld4: reads coordinates from `slots` and writes up to four results per lane to the first
/// slots. All lanes are computed, whatever their coordinates, but nothing outside of the image is
/// read.
void fetch_texture(const Image& image, const ImageForm& form, ImageSlot* slots);

// The fetch for each instruction set; `detail` has each lane's level in steps of 1/256, or is null
// for an image with one level.
void fetch_texture_plain(const Image& image, const ImageForm& form, const int32_t* detail,
                         ImageSlot* slots);
void fetch_texture_avx2(const Image& image, const ImageForm& form, const int32_t* detail,
                        ImageSlot* slots);
void fetch_texture_avx512(const Image& image, const ImageForm& form, const int32_t* detail,
                          ImageSlot* slots);

/// sRGB to linear light with the rounding of GPUs: halves with at most eight significant bits.
extern const float (&kLinearOfSrgb)[256];

/// Converts a border colour to the result of a fetch outside of the image.
void set_border(Image& image, const float (&color)[kChannels]);

}  // namespace km::simt
