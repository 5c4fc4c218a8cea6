/* Runs the CUDA C++ kernels of examples/demo on a photograph, on whatever device there is, and
 * compares every pixel with plain C++.
 *
 *   photo INPUT.png [KERNEL_FOLDER [DEVICE]]
 *
 * Writes blur.png, edges.png, equalized.png and resized.png beside the input. */
#include <inttypes.h>
#include <kernelmill/c_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "reference.h"

enum { kLaunches = 10, kTileX = 32, kTileY = 8, kBins = 256, kHistogramBlocks = 64 };

/* A kernel argument: memory of the device, or a value. */
typedef struct {
  km_slice slice;
  const void* value;
  size_t size;
} argument;
#define SLICE(s) ((argument){(s), NULL, 0})
#define VALUE(v) ((argument){NULL, &(v), sizeof(v)})
#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

static const char *input, *kernel_folder = KERNEL_FOLDER;
static km_context context;
static km_stream stream;
static km_event start, end;
static image photo;
static km_slice photo_slice;
static int wrong_pictures;

static void check(km_status status) {
  char message[4096] = "unknown error";
  if (status == KM_SUCCESS) return;
  km_last_error_message(message, sizeof message, NULL);
  fprintf(stderr, "photo: %s\n", message);
  exit(1);
}

static km_slice new_slice(size_t size_bytes) {
  km_slice slice;
  check(km_slice_create(context, size_bytes, 1, KM_SLICE_ZEROED, &slice));
  return slice;
}

static km_module load(const char* file) {
  km_module module;
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", kernel_folder, file);
  check(km_module_load_file(context, path, &module));
  return module;
}

/* Launches a kernel several times, zeroing `zeroed` before each, and prints the times. */
static void run(km_module module, const char* name, uint32_t grid_x, uint32_t grid_y,
                uint32_t grid_z, uint32_t block_x, uint32_t block_y, const argument* arguments,
                int argument_count, km_slice zeroed) {
  km_function function;
  km_launch launch;
  int64_t elapsed, first = 0, best = INT64_MAX;
  check(km_module_function(module, name, &function));
  check(km_launch_create(stream, function, &launch));
  check(km_launch_set_grid(launch, grid_x, grid_y, grid_z));
  check(km_launch_set_block(launch, block_x, block_y, 1));
  for (const argument* a = arguments; a < arguments + argument_count; ++a) {
    check(a->value != NULL ? km_launch_arg_scalar(launch, a->value, a->size)
                           : km_launch_arg_slice(launch, a->slice, 0));
  }
  for (int i = 0; i < kLaunches; ++i) {
    if (zeroed != NULL) check(km_slice_fill_u32(stream, zeroed, 0, 0, kBins));
    check(km_event_record(start, stream));
    check(km_launch_submit(launch));
    check(km_event_record(end, stream));
    check(km_stream_synchronize(stream));
    check(km_event_elapsed_ns(start, end, &elapsed));
    if (i == 0) first = elapsed;
    if (elapsed < best) best = elapsed;
  }
  printf("%-15s %8.3f ms, first launch %8.3f ms\n", name, (double)best / 1e6, (double)first / 1e6);
  check(km_launch_destroy(launch));
  check(km_function_destroy(function));
}

/* Downloads and writes a result, compares it with plain C++, frees all three. */
static void finish(km_slice result, image* picture, image* plain, const char* name) {
  size_t size = image_bytes(picture), wrong = 0;
  check(km_slice_download(stream, result, 0, picture->pixels, size));
  check(km_stream_synchronize(stream));
  for (size_t i = 0; i < size; ++i) wrong += picture->pixels[i] != plain->pixels[i];
  image_write(picture, input, name);
  printf("  %s\n", wrong == 0 ? "same bits as plain C++" : "DIFFERS from plain C++");
  if (wrong != 0) printf("  in %zu of %zu bytes\n", wrong, size);
  wrong_pictures += wrong != 0;
  free(picture->pixels);
  free(plain->pixels);
  check(km_slice_destroy(result));
}

static uint32_t blocks(int count, int per_block) {
  return (uint32_t)((count + per_block - 1) / per_block);
}

static void blur(void) {
  image out = image_new(photo.width, photo.height, 3), plain = image_new(out.width, out.height, 3);
  km_slice slice = new_slice(image_bytes(&out));
  float weights[2 * BLUR_RADIUS + 1], sum = 0.0f;
  for (int i = -BLUR_RADIUS; i <= BLUR_RADIUS; ++i) {
    sum += weights[i + BLUR_RADIUS] = expf(-(float)(i * i) / 8.0f);
  }
  for (int i = 0; i <= 2 * BLUR_RADIUS; ++i) weights[i] /= sum;
  const argument arguments[] = {SLICE(photo_slice),  SLICE(slice),          VALUE(photo.width),
                                VALUE(photo.height), VALUE(photo.channels), VALUE(weights)};
  km_module module = load("blur.cu");
  run(module, "blur", blocks(out.width, kTileX), blocks(out.height, kTileY), 3, kTileX, kTileY,
      arguments, COUNT(arguments), NULL);
  reference_blur(photo.pixels, plain.pixels, photo.width, photo.height, 3, weights);
  finish(slice, &out, &plain, "blur");
  check(km_module_destroy(module));
}

static void sobel(void) {
  image out = image_new(photo.width, photo.height, 1), plain = image_new(out.width, out.height, 1);
  km_slice slice = new_slice(image_bytes(&out));
  float threshold = 60.0f;
  const argument arguments[] = {SLICE(photo_slice), SLICE(slice), VALUE(photo.width),
                                VALUE(photo.height), VALUE(threshold)};
  km_module module = load("sobel.cu");
  run(module, "sobel", blocks(out.width, kTileX), blocks(out.height, kTileY), 1, kTileX, kTileY,
      arguments, COUNT(arguments), NULL);
  reference_sobel(photo.pixels, plain.pixels, photo.width, photo.height, threshold);
  finish(slice, &out, &plain, "edges");
  check(km_module_destroy(module));
}

static void equalize(void) {
  image out = image_new(photo.width, photo.height, 3), plain = image_new(out.width, out.height, 3);
  km_slice slice = new_slice(image_bytes(&out)), table = new_slice(kBins);
  km_slice bins = new_slice(kBins * sizeof(uint32_t));
  int pixels = photo.width * photo.height;
  const argument count[] = {SLICE(photo_slice), SLICE(bins), VALUE(pixels)};
  const argument sums[] = {SLICE(bins), SLICE(table)};
  const argument apply[] = {SLICE(photo_slice), SLICE(slice), SLICE(table), VALUE(pixels)};
  km_module module = load("equalize.cu");
  run(module, "histogram", kHistogramBlocks, 1, 1, kBins, 1, count, COUNT(count), bins);
  run(module, "equalize_table", 1, 1, 1, kBins, 1, sums, COUNT(sums), NULL);
  run(module, "equalize", blocks(pixels, kBins), 1, 1, kBins, 1, apply, COUNT(apply), NULL);
  reference_equalize(photo.pixels, plain.pixels, pixels);
  finish(slice, &out, &plain, "equalized");
  check(km_slice_destroy(table));
  check(km_slice_destroy(bins));
  check(km_module_destroy(module));
}

static void resize(void) {
  image out = image_new(photo.width * 3 / 2, photo.height * 3 / 2, 3);
  image plain = image_new(out.width, out.height, 3);
  km_slice slice = new_slice(image_bytes(&out));
  float scale_x = (float)photo.width / (float)out.width;
  float scale_y = (float)photo.height / (float)out.height;
  const argument arguments[] = {SLICE(photo_slice),  VALUE(photo.width), VALUE(photo.height),
                                SLICE(slice),        VALUE(out.width),   VALUE(out.height),
                                VALUE(out.channels), VALUE(scale_x),     VALUE(scale_y)};
  km_module module = load("resize.cu");
  run(module, "resize", blocks(out.width, kTileX), blocks(out.height, kTileY), 1, kTileX, kTileY,
      arguments, COUNT(arguments), NULL);
  reference_resize(photo.pixels, photo.width, photo.height, plain.pixels, out.width, out.height, 3);
  finish(slice, &out, &plain, "resized");
  check(km_module_destroy(module));
}

int main(int argc, char** argv) {
  km_device device;
  km_device_info info = {.struct_size = sizeof info};
  if (argc < 2 || argc > 4) {
    fprintf(stderr, "usage: photo INPUT.png [KERNEL_FOLDER [DEVICE]]\n");
    return 2;
  }
  input = argv[1];
  if (argc > 2) kernel_folder = argv[2];
  photo = image_read(input);
  check(km_device_open(argc > 3 ? argv[3] : "auto", &device));
  check(km_device_info_get(device, &info));
  check(km_context_create(device, &context));
  check(km_stream_create(context, KM_STREAM_DEFAULT, 0, &stream));
  check(km_event_create(context, KM_EVENT_DEFAULT, &start));
  check(km_event_create(context, KM_EVENT_DEFAULT, &end));
  printf("%s: %s (%s), %dx%d pixels\n", info.uri, info.name, info.isa, photo.width, photo.height);
  photo_slice = new_slice(image_bytes(&photo));
  check(km_slice_upload(stream, photo_slice, 0, photo.pixels, image_bytes(&photo)));
  blur();
  sobel();
  equalize();
  resize();
  check(km_context_destroy(context));
  check(km_device_destroy(device));
  return wrong_pictures == 0 ? 0 : 1;
}
