/* Finds the edges of a picture by a CUDA C++ kernel: sobel INPUT.png OUTPUT.pgm */
#include <kernelmill/c_api.h>
#include <stdio.h>
#include <stdlib.h>

#include "image.h"

enum { kTile = 16 };

static void check(km_status status) {
  char message[4700] = "unknown error";
  if (status == KM_SUCCESS) return;
  km_last_error_message(message, sizeof message, NULL);
  fprintf(stderr, "sobel: %s\n", message);
  exit(1);
}

/* Runs the kernel on a grey picture, in place. */
static void sobel(image* grey) {
  km_device device;
  km_context context;
  km_stream stream;
  km_module module;
  km_function function;
  km_slice in, out;
  km_launch launch;
  const size_t size = image_bytes(grey);
  check(km_device_open("auto", &device)); /* what KM_DEVICE says, else a GPU, else the CPU */
  check(km_context_create(device, &context));
  check(km_stream_create(context, KM_STREAM_DEFAULT, 0, &stream));
  check(km_module_load_file(context, KERNEL_FILE, &module));
  check(km_module_function(module, "sobel", &function));
  check(km_slice_create(context, size, 1, KM_SLICE_DEFAULT, &in));
  check(km_slice_create(context, size, 1, KM_SLICE_DEFAULT, &out));
  check(km_slice_upload(stream, in, 0, grey->pixels, size));
  check(km_launch_create(stream, function, &launch));
  check(km_launch_set_grid(launch, (uint32_t)(grey->width + kTile - 1) / kTile,
                           (uint32_t)(grey->height + kTile - 1) / kTile, 1));
  check(km_launch_set_block(launch, kTile, kTile, 1));
  check(km_launch_arg_slice(launch, in, 0));
  check(km_launch_arg_slice(launch, out, 0));
  check(km_launch_arg_scalar(launch, &grey->width, sizeof grey->width));
  check(km_launch_arg_scalar(launch, &grey->height, sizeof grey->height));
  check(km_launch_submit(launch));
  check(km_slice_download(stream, out, 0, grey->pixels, size));
  check(km_launch_destroy(launch)); /* in any order */
  check(km_slice_destroy(out));
  check(km_slice_destroy(in));
  check(km_function_destroy(function));
  check(km_module_destroy(module));
  check(km_stream_destroy(stream));
  check(km_context_destroy(context));
  check(km_device_destroy(device));
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: sobel INPUT.png OUTPUT.pgm\n");
    return 2;
  }
  image grey = image_grey(image_read(argv[1]));
  sobel(&grey);
  image_write_pgm(&grey, argv[2]);
  free(grey.pixels);
  return 0;
}
