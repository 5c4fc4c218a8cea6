/* The C contestant: what the calls cost without any binding. */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#define PROGRAM "call_cost"
#include "support.h"

enum { kQueries = 20000 };

static km_stream stream;
static km_function function;

static void query(int calls) {
  for (int i = 0; i < calls; ++i) check(km_stream_query(stream));
}

static void launch(int calls) {
  const km_launch_config config = {{1, 1, 1}, {1, 1, 1}, 0};
  for (int i = 1; i <= calls; ++i) {
    check(km_launch_kernel(stream, function, &config, NULL, 0, NULL, 0));
    if (i % kLaunchesPerWait == 0) check(km_stream_synchronize(stream));
  }
}

static void measure(const char* metric, void (*run)(int), int calls) {
  double least = 0;
  run(calls);
  for (int batch = 0; batch < kBatches; ++batch) {
    const double start = now_ns();
    run(calls);
    const double per_call = (now_ns() - start) / calls;
    if (batch == 0 || per_call < least) least = per_call;
  }
  printf("{\"metric\": \"%s\", \"unit\": \"ns\", \"value\": %.3f}\n", metric, least);
}

int main(int argc, char** argv) {
  km_device device;
  km_context context;
  km_module module;
  if (argc != 2) {
    fprintf(stderr, "usage: call_cost EMPTY.ptx\n");
    return 2;
  }
  check(km_device_open("cpu:0", &device));
  check(km_context_create(device, &context));
  check(km_stream_create(context, KM_STREAM_DEFAULT, 0, &stream));
  check(km_module_load_file(context, argv[1], &module));
  check(km_module_function(module, "empty", &function));
  measure("status_query", query, kQueries);
  measure("launch_empty", launch, kLaunches);
  return 0;
}
