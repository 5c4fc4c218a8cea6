/* Launches kernels by their wrapper and checks what they computed. */
#include <stdio.h>
#include <stdlib.h>

#include "typed.h"

static void check(km_status status) {
  char text[1000] = "";
  if (status == KM_SUCCESS) return;
  km_last_error_message(text, sizeof text, NULL);
  fprintf(stderr, "%s\n", text);
  exit(1);
}

static void expect(int is_right, const char* what) {
  if (is_right) return;
  fprintf(stderr, "%s is wrong\n", what);
  exit(1);
}

int main(void) {
  km_device device;
  km_context context;
  km_stream stream;
  typed_kernels kernels;
  typed_float_slice x, y;
  typed_double_slice out;
  const km_launch_config config = {{1, 1, 1}, {32, 1, 1}, 0};
  float values[3] = {1, 2, 3};
  double sum = 0;
  check(km_device_open("cpu", &device));
  check(km_context_create(device, &context));
  check(km_stream_create(context, KM_STREAM_DEFAULT, 0, &stream));
  check(typed_load(context, &kernels));
  check(typed_float_slice_create(context, 3, &x));
  check(typed_float_slice_create(context, 3, &y));
  check(typed_double_slice_create(context, 1, &out));
  check(km_slice_upload(stream, x.handle, 0, values, sizeof values));
  check(typed_saxpy(&kernels, stream, &config, 3, 2.0f, x, y));
  check(typed_scale_float(&kernels, stream, &config, y, 10.0f, 3));
  check(km_slice_download(stream, y.handle, 0, values, sizeof values));
  expect(values[0] == 20 && values[2] == 60, "saxpy");
  typed_Padded padded = {.tag = 1, .value = 2, .list = {0, 3, 0}};
  padded.points[1].y = 4;
  padded.grid_[1][2] = 5;
  check(typed_padded(&kernels, stream, &config, padded, out));
  check(km_slice_download(stream, out.handle, 0, &sum, sizeof sum));
  expect(sum == 15, "padded");
  km_slice_destroy(x.handle);
  km_slice_destroy(y.handle);
  km_slice_destroy(out.handle);
  typed_unload(&kernels);
  km_stream_destroy(stream);
  km_context_destroy(context);
  km_device_destroy(device);
  puts("right");
  return 0;
}
