/* Launches a kernel by its wrapper. */
#include <stdio.h>

#include "saxpy.h"

int main(void) {
  km_device device;
  km_context context;
  km_stream stream;
  saxpy_kernels kernels;
  saxpy_float_slice x, y;
  const km_launch_config config = {{1, 1, 1}, {32, 1, 1}, 0};
  float values[3] = {1, 2, 3};
  const float ones[3] = {1, 1, 1};
  if (km_device_open("cpu", &device) != KM_SUCCESS) return 1;
  if (km_context_create(device, &context) != KM_SUCCESS) return 1;
  if (km_stream_create(context, KM_STREAM_DEFAULT, 0, &stream) != KM_SUCCESS) return 1;
  if (saxpy_load(context, &kernels) != KM_SUCCESS) return 1;
  if (saxpy_float_slice_create(context, 3, &x) != KM_SUCCESS) return 1;
  if (saxpy_float_slice_create(context, 3, &y) != KM_SUCCESS) return 1;
  km_slice_upload(stream, x.handle, 0, values, sizeof values);
  km_slice_upload(stream, y.handle, 0, ones, sizeof ones);
  if (saxpy_saxpy(&kernels, stream, &config, x, y, 3) != KM_SUCCESS) return 1;
  km_slice_download(stream, y.handle, 0, values, sizeof values);
  printf("%g %g %g\n", values[0], values[1], values[2]);
  return 0;
}
