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
  const uint16_t half_bits[] = {0x3c00, 0x4000}; /* 1, 2 */
  typed_half_slice halves;
  typed_half2_slice pairs;
  typed_geo_Mode_slice modes;
  check(typed_half_slice_create(context, 2, &halves));
  check(typed_half2_slice_create(context, 1, &pairs));
  check(typed_geo_Mode_slice_create(context, 1, &modes));
  check(km_slice_upload(stream, halves.handle, 0, half_bits, sizeof half_bits));
  const typed_half three = {0x4200};
  check(typed_half_sum(&kernels, stream, &config, halves, pairs, three, x));
  check(km_slice_download(stream, x.handle, 0, values, sizeof values[0]));
  expect(values[0] == 4, "half_sum");
  const typed_float4 vector = {1, 2, 3, 4};
  check(typed_vector_value(&kernels, stream, &config, vector, x));
  check(km_slice_download(stream, x.handle, 0, values, sizeof values[0]));
  expect(values[0] == 4, "vector_value");
  check(typed_modes(&kernels, stream, &config, modes, 1));
  expect(km_slice_set_element_type(modes.handle, KM_ELEMENT_TYPE_I16, 1, NULL) == KM_SUCCESS &&
             typed_modes(&kernels, stream, &config, modes, 1) == KM_ERROR_INVALID_LAUNCH,
         "the type of modes");
  km_slice_destroy(modes.handle);
  km_slice_destroy(pairs.handle);
  km_slice_destroy(halves.handle);
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
