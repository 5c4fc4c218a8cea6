/* quickstart.c: y += a x, on an NVIDIA GPU where there is one, else on the CPU. */
#include <kernelmill/helpers.h>

enum { kCount = 1000, kBlock = 256 };

static const char kSource[] =
    "extern \"C\" __global__ void saxpy(const float* x, float* y, float a, int n) {\n"
    "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) y[i] += a * x[i];\n"
    "}\n";

int main(void) {
  const float a = 2;
  const int n = kCount;
  float ones[kCount], result[kCount];
  km_device device;
  km_context context;
  km_stream stream;
  km_module module;
  km_function saxpy;
  km_slice x, y;
  km_launch launch;
  for (int i = 0; i < n; ++i) ones[i] = 1;

  KM_CHECK(km_device_open("auto", &device)); /* a call that fails says why, and ends the program */
  KM_CHECK(km_context_create(device, &context));
  KM_CHECK(km_context_default_stream(context, &stream));
  KM_CHECK(km_module_load_source(context, kSource, 0, "saxpy.cu", &module));
  KM_CHECK(km_module_function(module, "saxpy", &saxpy));
  KM_CHECK(km_slice_create(context, kCount, sizeof(float), KM_SLICE_DEFAULT, &x));
  KM_CHECK(km_slice_create(context, kCount, sizeof(float), KM_SLICE_ZEROED, &y));
  KM_CHECK(km_slice_upload(stream, x, 0, ones, sizeof ones));

  KM_CHECK(km_launch_create(stream, saxpy, &launch));
  KM_CHECK(km_launch_set_grid(launch, km_block_count(kCount, kBlock), 1, 1));
  KM_CHECK(km_launch_set_block(launch, kBlock, 1, 1));
  KM_CHECK(km_launch_arg_slice(launch, x, 0));
  KM_CHECK(km_launch_arg_slice(launch, y, 0));
  KM_CHECK(km_launch_arg_scalar(launch, &a, sizeof a));
  KM_CHECK(km_launch_arg_scalar(launch, &n, sizeof n));
  KM_CHECK(km_launch_submit(launch));
  KM_CHECK(km_slice_download(stream, y, 0, result, sizeof result)); /* waits for the kernel */
  printf("y[999] = %g\n", result[999]);
  return 0; /* the end of the process lets go of everything */
}
