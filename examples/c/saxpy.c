/* The ten-line program: y += a x on a GPU where there is one, else on the CPU. saxpy KERNEL.cu */
#include <kernelmill/c_api.h>
#include <stdio.h>
#include <stdlib.h>

enum { kCount = 1000 };

static void check(km_status status) {
  char message[4700] = "unknown error";
  if (status == KM_SUCCESS) return;
  km_last_error_message(message, sizeof message, NULL);
  fprintf(stderr, "%s\n", message);
  exit(1);
}

int main(int argc, char** argv) {
  const struct {
    uint64_t x, y;
    float a;
    int32_t n;
  } arguments = {0, 0, 2, kCount}; /* memory is given as slices */
  const km_launch_config config = {{4, 1, 1}, {256, 1, 1}, 0};
  const char* kernel_file = argc == 2 ? argv[1] : "saxpy.cu";
  km_device device;
  km_context context;
  km_stream stream;
  km_module module;
  km_function saxpy;
  km_slice x, y;
  float ones[kCount], result[kCount];
  for (int i = 0; i < kCount; ++i) ones[i] = 1;

  /* docs/bindings.md shows what follows. */
  check(km_device_open("auto", &device));
  check(km_context_create(device, &context));
  check(km_context_default_stream(context, &stream));
  check(km_module_load_file(context, kernel_file, &module));
  check(km_module_function(module, "saxpy", &saxpy));
  check(km_slice_create(context, kCount, sizeof(float), KM_SLICE_DEFAULT, &x));
  check(km_slice_create(context, kCount, sizeof(float), KM_SLICE_ZEROED, &y));
  check(km_slice_upload(stream, x, 0, ones, sizeof ones));
  const km_launch_slice slices[] = {{0, 0, (uint64_t)x, 0}, {1, 0, (uint64_t)y, 0}};
  check(km_launch_kernel(stream, saxpy, &config, &arguments, sizeof arguments, slices, 2));
  check(km_slice_download(stream, y, 0, result, sizeof result));
  printf("y[999] = %g\n", result[999]);
  /* docs/bindings.md shows no more. */

  check(km_slice_destroy(y));
  check(km_slice_destroy(x));
  check(km_function_destroy(saxpy));
  check(km_module_destroy(module));
  check(km_stream_destroy(stream));
  check(km_context_destroy(context));
  check(km_device_destroy(device));
  return 0;
}
