/* Textures and surfaces of a backend: entries outside its table that follow the same rules
 * (interface.h). A backend that has them returns the address of this structure as the device
 * attribute KMB_DEVICE_ATTRIBUTE_IMAGES; others do not have that attribute. */
#ifndef KERNELMILL_BACKEND_IMAGES_H
#define KERNELMILL_BACKEND_IMAGES_H

#include "backend/interface.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The number lies outside the range of km_device_attribute. */
#define KMB_DEVICE_ATTRIBUTE_IMAGES ((km_device_attribute)0x494d4700)
#define KMB_MOST_IMAGE_LEVELS 17

/* One level of an image: its size in texels, and the distances of rows and of layers or planes. */
typedef struct kmb_image_level {
  uint64_t address;
  uint64_t row_bytes, layer_bytes;
  uint32_t width, height, depth; /* 1 for unused dimensions */
  uint32_t reserved;
} kmb_image_level;

/* A texture or surface; the caller keeps its memory. Flags are 0 or 1. */
typedef struct kmb_image {
  kmb_image_level levels[KMB_MOST_IMAGE_LEVELS];
  uint32_t level_count;
  uint32_t layers;       /* 1 without layers; six per cube of a cube map */
  uint32_t channels;     /* 1, 2 or 4 */
  uint32_t channel_kind; /* 0 u8, 1 u16, 2 u32, 3 s8, 4 s16, 5 s32, 6 f16, 7 f32 */
  uint32_t read_mode;    /* 0 unchanged, 1 as a fraction of the largest value, 2 as sRGB */
  uint32_t dimensions;   /* dimensions of one layer, 1 to 3 */
  uint32_t is_surface, is_cube, is_normalized, filters, filters_levels;
  uint32_t address_modes[3]; /* CUaddress_mode */
  float level_bias, least_level, most_level;
  float border[4];
  uint32_t channel_order, channel_type; /* results of txq and suq */
} kmb_image;

typedef struct kmb_image_entries {
  uint64_t size; /* size of this structure */
  /* The handles are arguments of kernels, valid in every context of the device. CUDA:
   * cuTexObjectCreate, cuSurfObjectCreate. */
  km_status (*image_create)(const kmb_image* image, uint64_t* out_handle, kmb_error* error);
  void (*image_destroy)(uint64_t handle);
} kmb_image_entries;

#ifdef __cplusplus
}
#endif
#endif
