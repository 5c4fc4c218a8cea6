/* Textures and surfaces of a backend: entries beside its table, of the same rules (interface.h).
 * A backend that has them gives the address of this structure as the device attribute
 * KMB_DEVICE_ATTRIBUTE_IMAGES; for all others there is no such attribute. */
#ifndef KERNELMILL_BACKEND_IMAGES_H
#define KERNELMILL_BACKEND_IMAGES_H

#include "backend/interface.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Beyond all attributes that km_device_attribute names. */
#define KMB_DEVICE_ATTRIBUTE_IMAGES ((km_device_attribute)0x494d4700)
#define KMB_MOST_IMAGE_LEVELS 17

/* One level of an image: texels, and bytes between rows and between layers or planes. */
typedef struct kmb_image_level {
  uint64_t address;
  uint64_t row_bytes, layer_bytes;
  uint32_t width, height, depth; /* 1 in dimensions that there are not */
  uint32_t reserved;
} kmb_image_level;

/* A texture or surface, in memory that the caller keeps. Flags are 0 or 1. */
typedef struct kmb_image {
  kmb_image_level levels[KMB_MOST_IMAGE_LEVELS];
  uint32_t level_count;
  uint32_t layers;       /* 1 when there are none; of a cube six for each */
  uint32_t channels;     /* 1, 2 or 4 */
  uint32_t channel_kind; /* 0 u8, 1 u16, 2 u32, 3 s8, 4 s16, 5 s32, 6 f16, 7 f32 */
  uint32_t read_mode;    /* 0 as it is, 1 as a fraction of the largest value, 2 as sRGB */
  uint32_t dimensions;   /* of a layer */
  uint32_t is_surface, is_cube, is_normalized, filters, filters_levels;
  uint32_t address_modes[3]; /* CUaddress_mode */
  float level_bias, least_level, most_level;
  float border[4];
  uint32_t channel_order, channel_type; /* what txq and suq give */
} kmb_image;

typedef struct kmb_image_entries {
  uint64_t size; /* of this structure */
  /* Handles are what kernels are given, in every context of the device. CUDA: cuTexObjectCreate,
   * cuSurfObjectCreate. */
  km_status (*image_create)(const kmb_image* image, uint64_t* out_handle, kmb_error* error);
  void (*image_destroy)(uint64_t handle);
} kmb_image_entries;

#ifdef __cplusplus
}
#endif
#endif
