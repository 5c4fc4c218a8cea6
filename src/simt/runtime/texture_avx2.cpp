// Fetches with AVX2.
#if defined(__x86_64__)
#include "simt/runtime/texture.h"

namespace km::simt {
using TexelWord [[gnu::aligned(1), gnu::may_alias]] = int32_t;
}

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx,avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx,avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt")
#endif
#define KM_TEXTURE_LANES 8
#include "simt/runtime/texture_lanes.inc"
#undef KM_TEXTURE_LANES
#define KM_TEXTURE_LANES 16
#include "simt/runtime/texture_lanes.inc"
#undef KM_TEXTURE_LANES
#define KM_TEXTURE_LANES 32
#include "simt/runtime/texture_lanes.inc"
#undef KM_TEXTURE_LANES
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
namespace km::simt {

void fetch_texture_avx2(const Image& image, const ImageForm& form, const int32_t* detail,
                        ImageSlot* slots) {
  if (form.lanes == 8) return lanes_8::fetch_8(image, form, detail, slots);
  if (form.lanes == 16) return lanes_16::fetch_16(image, form, detail, slots);
  lanes_32::fetch_32(image, form, detail, slots);
}

}  // namespace km::simt
#endif
