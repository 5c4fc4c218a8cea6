// Texture fetches, compiled for the baseline instruction set.
#include "simt/runtime/texture.h"

#define KM_TEXTURE_FETCH fetch_texture_plain
#include "simt/runtime/texture_fetch.inc"
