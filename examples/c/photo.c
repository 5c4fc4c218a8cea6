/* Runs the CUDA C++ kernels of examples/demo on a photograph, on whatever device there is, and
 * compares every pixel with plain C++.
 *
 *   photo INPUT.png [KERNEL_FOLDER [DEVICE]]
 *
 * Writes blur.png, edges.png, equalized.png and resized.png beside the input. */
#include <kernelmill/c_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "reference.h"
#include "runner.h"

enum { kTileX = 32, kTileY = 8, kBins = 256, kHistogramBlocks = 64 };

/* What kernels make, and the same by plain C++. */
typedef struct {
  image out, plain;
  km_slice slice;
} result;

static const char *input, *kernel_folder = KERNEL_FOLDER;
static image photo;
static km_slice photo_slice;
static int wrong_pictures;

static result new_result(int width, int height, int channels) {
  result r = {image_new(width, height, channels), image_new(width, height, channels), NULL};
  r.slice = new_slice(image_bytes(&r.out));
  return r;
}

static uint32_t blocks(int count, int per_block) {
  return (uint32_t)((count + per_block - 1) / per_block);
}

/* A thread per pixel, `layers` times. */
static km_launch_config tiles(const image* out, uint32_t layers) {
  const km_launch_config config = {
      {blocks(out->width, kTileX), blocks(out->height, kTileY), layers}, {kTileX, kTileY, 1}, 0};
  return config;
}

/* Downloads and writes a result, compares it with plain C++, frees everything. */
static void finish(result* r, km_module module, const char* name) {
  const size_t size = image_bytes(&r->out);
  download(r->slice, r->out.pixels, size);
  image_write(&r->out, input, name);
  const int differs = memcmp(r->out.pixels, r->plain.pixels, size) != 0;
  printf("  %s\n", differs ? "DIFFERS from plain C++" : "same bits as plain C++");
  wrong_pictures += differs;
  free(r->out.pixels);
  free(r->plain.pixels);
  check(km_slice_destroy(r->slice));
  check(km_module_destroy(module));
}

static void blur(void) {
  result r = new_result(photo.width, photo.height, 3);
  km_module module = load(kernel_folder, "blur.cu");
  float weights[2 * BLUR_RADIUS + 1], sum = 0.0f;
  for (int i = -BLUR_RADIUS; i <= BLUR_RADIUS; ++i) {
    sum += weights[i + BLUR_RADIUS] = expf(-(float)(i * i) / 8.0f);
  }
  for (int i = 0; i <= 2 * BLUR_RADIUS; ++i) weights[i] /= sum;
  run(module, "blur", tiles(&r.out, 3),
      ARGUMENTS(SLICE(photo_slice), SLICE(r.slice), VALUE(photo.width), VALUE(photo.height),
                VALUE(photo.channels), VALUE(weights)),
      NULL);
  reference_blur(photo.pixels, r.plain.pixels, photo.width, photo.height, 3, weights);
  finish(&r, module, "blur");
}

static void sobel(void) {
  result r = new_result(photo.width, photo.height, 1);
  km_module module = load(kernel_folder, "sobel.cu");
  float threshold = 60.0f;
  run(module, "sobel", tiles(&r.out, 1),
      ARGUMENTS(SLICE(photo_slice), SLICE(r.slice), VALUE(photo.width), VALUE(photo.height),
                VALUE(threshold)),
      NULL);
  reference_sobel(photo.pixels, r.plain.pixels, photo.width, photo.height, threshold);
  finish(&r, module, "edges");
}

static void equalize(void) {
  result r = new_result(photo.width, photo.height, 3);
  km_module module = load(kernel_folder, "equalize.cu");
  km_slice table = new_slice(kBins), bins = new_slice(kBins * sizeof(uint32_t));
  int pixels = photo.width * photo.height;
  const km_launch_config few = {{kHistogramBlocks, 1, 1}, {kBins, 1, 1}, 0};
  const km_launch_config one = {{1, 1, 1}, {kBins, 1, 1}, 0};
  const km_launch_config all = {{blocks(pixels, kBins), 1, 1}, {kBins, 1, 1}, 0};
  run(module, "histogram", few, ARGUMENTS(SLICE(photo_slice), SLICE(bins), VALUE(pixels)), bins);
  run(module, "equalize_table", one, ARGUMENTS(SLICE(bins), SLICE(table)), NULL);
  run(module, "equalize", all,
      ARGUMENTS(SLICE(photo_slice), SLICE(r.slice), SLICE(table), VALUE(pixels)), NULL);
  reference_equalize(photo.pixels, r.plain.pixels, pixels);
  check(km_slice_destroy(table));
  check(km_slice_destroy(bins));
  finish(&r, module, "equalized");
}

static void resize(void) {
  result r = new_result(photo.width * 3 / 2, photo.height * 3 / 2, 3);
  km_module module = load(kernel_folder, "resize.cu");
  float scale_x = (float)photo.width / (float)r.out.width;
  float scale_y = (float)photo.height / (float)r.out.height;
  run(module, "resize", tiles(&r.out, 1),
      ARGUMENTS(SLICE(photo_slice), VALUE(photo.width), VALUE(photo.height), SLICE(r.slice),
                VALUE(r.out.width), VALUE(r.out.height), VALUE(r.out.channels), VALUE(scale_x),
                VALUE(scale_y)),
      NULL);
  reference_resize(photo.pixels, photo.width, photo.height, r.plain.pixels, r.out.width,
                   r.out.height, 3);
  finish(&r, module, "resized");
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) {
    fprintf(stderr, "usage: photo INPUT.png [KERNEL_FOLDER [DEVICE]]\n");
    return 2;
  }
  input = argv[1];
  if (argc > 2) kernel_folder = argv[2];
  photo = image_read(input);
  open_device(argc > 3 ? argv[3] : "auto");
  printf("%dx%d pixels\n", photo.width, photo.height);
  photo_slice = new_slice(image_bytes(&photo));
  upload(photo_slice, photo.pixels, image_bytes(&photo));
  blur();
  sobel();
  equalize();
  resize();
  check(km_slice_destroy(photo_slice));
  free(photo.pixels);
  close_device();
  return wrong_pictures == 0 ? 0 : 1;
}
