// Fetches with what every processor has.
#include "simt/runtime/texture.h"

namespace km::simt {
using TexelWord [[gnu::aligned(1), gnu::may_alias]] = int32_t;
}

#define KM_TEXTURE_LANES 8
#include "simt/runtime/texture_lanes.inc"
#undef KM_TEXTURE_LANES
#define KM_TEXTURE_LANES 16
#include "simt/runtime/texture_lanes.inc"
#undef KM_TEXTURE_LANES
#define KM_TEXTURE_LANES 32
#include "simt/runtime/texture_lanes.inc"
#undef KM_TEXTURE_LANES

namespace km::simt {

void fetch_texture_plain(const Image& image, const ImageForm& form, const int32_t* detail,
                         ImageSlot* slots) {
  if (form.lanes == 8) return lanes_8::fetch_8(image, form, detail, slots);
  if (form.lanes == 16) return lanes_16::fetch_16(image, form, detail, slots);
  lanes_32::fetch_32(image, form, detail, slots);
}

}  // namespace km::simt
