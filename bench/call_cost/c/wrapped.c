/* A launch by hand against the same by the wrapper of `kernelmill wrap`, and on slices whose type
 * is checked against slices without one, batch by batch in turn in one process. */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#define PROGRAM "call_cost_wrapped"
#include "support.h"

#include "generated/wrapped.h"

enum { kWays = 3 };

static km_stream stream;
static wrapped_kernels kernels;
static wrapped_float_slice x, y;
static km_slice plain_x, plain_y;
static const km_launch_config config = {{1, 1, 1}, {1, 1, 1}, 0};

static km_status launch_slices(km_slice from, km_slice to, int n) {
  const struct {
    uint64_t x, y;
    float a;
    int32_t n;
  } arguments = {0, 0, 2, n};
  const km_launch_operand operands[] = {{0, KM_ACCESS_READ, (uint64_t)from, 0, 0},
                                        {1, KM_ACCESS_READ_WRITE, (uint64_t)to, 0, 0}};
  return km_launch_kernel_operands(stream, kernels.nothing, &config, &arguments, sizeof arguments,
                                   operands, 2);
}

static km_status by_hand(int n) { return launch_slices(x.handle, y.handle, n); }
static km_status by_wrapper(int n) {
  return wrapped_nothing(&kernels, stream, &config, x, y, 2, n);
}
static km_status without_types(int n) { return launch_slices(plain_x, plain_y, n); }

static double batch_ns(km_status (*launch)(int)) {
  const double start = now_ns();
  for (int i = 1; i <= kLaunches; ++i) {
    check(launch(i));
    if (i % kLaunchesPerWait == 0) check(km_stream_synchronize(stream));
  }
  return (now_ns() - start) / kLaunches;
}

static int compare(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

static double median(double* values) {
  qsort(values, kBatches, sizeof *values, compare);
  return values[kBatches / 2];
}

int main(void) {
  km_status (*const ways[kWays])(int) = {by_hand, by_wrapper, without_types};
  const char* const names[kWays] = {"hand", "wrapper", "without_types"};
  static double taken[kWays][kBatches], over[kWays][kBatches];
  km_device device;
  km_context context;
  check(km_device_open("cpu:0", &device));
  check(km_context_create(device, &context));
  check(km_stream_create(context, KM_STREAM_DEFAULT, 0, &stream));
  check(wrapped_load(context, &kernels));
  check(wrapped_float_slice_create(context, 16, &x));
  check(wrapped_float_slice_create(context, 16, &y));
  check(km_slice_create(context, 16, sizeof(float), KM_SLICE_DEFAULT, &plain_x));
  check(km_slice_create(context, 16, sizeof(float), KM_SLICE_DEFAULT, &plain_y));
  for (int way = 0; way < kWays; ++way) batch_ns(ways[way]);
  for (int batch = 0; batch < kBatches; ++batch) {
    for (int i = 0; i < kWays; ++i) { /* each round begins with another one */
      const int way = (batch + i) % kWays;
      taken[way][batch] = batch_ns(ways[way]);
    }
    for (int way = 0; way < kWays; ++way) over[way][batch] = taken[way][batch] - taken[0][batch];
  }
  printf("{\"metric\": \"launch_c\", \"unit\": \"ns\"");
  for (int way = 0; way < kWays; ++way) printf(", \"%s\": %.1f", names[way], median(taken[way]));
  printf(", \"wrapper_adds\": %.1f, \"no_types_adds\": %.1f}\n", median(over[1]), median(over[2]));
  return 0;
}
