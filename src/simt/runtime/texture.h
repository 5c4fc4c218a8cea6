// Fetches from textures, for all lanes of a warp at once.
#pragma once

#include "simt/runtime/image.h"

namespace km::simt {

/// tex and tld4: reads coordinates from `slots` and writes up to four results per lane to its first
/// slots. All lanes are computed, whatever their coordinates: none is read outside of the image.
void fetch_texture(const Image& image, const ImageForm& form, ImageSlot* slots);

// One for each set of instructions; `detail`: the level of each lane in steps of 1/256, null where
// there is one level.
void fetch_texture_plain(const Image& image, const ImageForm& form, const int32_t* detail,
                         ImageSlot* slots);
void fetch_texture_avx2(const Image& image, const ImageForm& form, const int32_t* detail,
                        ImageSlot* slots);
void fetch_texture_avx512(const Image& image, const ImageForm& form, const int32_t* detail,
                          ImageSlot* slots);

/// sRGB to linear light, as GPUs round it: halves of up to eight significant bits.
extern const float (&kLinearOfSrgb)[256];

/// Converts a border colour to what a fetch of the image gives outside.
void set_border(Image& image, const float (&color)[kChannels]);

}  // namespace km::simt
