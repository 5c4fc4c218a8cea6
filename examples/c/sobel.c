/* Finds the edges of a picture by a CUDA C++ kernel: sobel INPUT.png OUTPUT.pgm */
#include <kernelmill/c_api.h>
#include <stdio.h>
#include <stdlib.h>

#include "generated/sobel.h"
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
static void find_edges(image* grey) {
  km_device device;
  km_context context;
  km_stream stream;
  sobel_kernels kernels = {0};
  sobel_uint8_t_slice in, out;
  const km_launch_config config = {{(uint32_t)(grey->width + kTile - 1) / kTile,
                                    (uint32_t)(grey->height + kTile - 1) / kTile, 1},
                                   {kTile, kTile, 1},
                                   0};
  const size_t size = image_bytes(grey);
  check(km_device_open("auto", &device)); /* what KM_DEVICE says, else a GPU, else the CPU */
  check(km_context_create(device, &context));
  check(km_stream_create(context, KM_STREAM_DEFAULT, 0, &stream));
  check(sobel_load(context, &kernels));
  check(sobel_uint8_t_slice_create(context, size, &in));
  check(sobel_uint8_t_slice_create(context, size, &out));
  check(km_slice_upload(stream, in.handle, 0, grey->pixels, size));
  check(sobel_sobel(&kernels, stream, &config, in, out, grey->width, grey->height));
  check(km_slice_download(stream, out.handle, 0, grey->pixels, size));
  check(km_slice_destroy(out.handle)); /* in any order */
  check(km_slice_destroy(in.handle));
  sobel_unload(&kernels);
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
  find_edges(&grey);
  image_write_pgm(&grey, argv[2]);
  free(grey.pixels);
  return 0;
}
