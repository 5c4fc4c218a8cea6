#include "runner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { kLaunches = 10 };

static km_device device;
static km_context context;
static km_stream stream;
static km_event start, end;

void check(km_status status) {
  char message[4700] = "unknown error";
  if (status == KM_SUCCESS) return;
  km_last_error_message(message, sizeof message, NULL);
  fprintf(stderr, "%s\n", message);
  exit(1);
}

km_slice new_slice(size_t size_bytes) {
  km_slice slice;
  check(km_slice_create(context, size_bytes, 1, KM_SLICE_ZEROED, &slice));
  return slice;
}

void open_device(const char* uri) {
  km_device_info info = {.struct_size = sizeof info};
  check(km_device_open(uri, &device));
  check(km_device_info_get(device, &info));
  check(km_context_create(device, &context));
  check(km_stream_create(context, KM_STREAM_DEFAULT, 0, &stream));
  check(km_event_create(context, KM_EVENT_DEFAULT, &start));
  check(km_event_create(context, KM_EVENT_DEFAULT, &end));
  printf("%s: %s (%s)\n", info.uri, info.name, info.isa);
}

void close_device(void) {
  check(km_event_destroy(end));
  check(km_event_destroy(start));
  check(km_stream_destroy(stream));
  check(km_context_destroy(context));
  check(km_device_destroy(device));
}

km_module load(const char* folder, const char* file) {
  km_module module;
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, file);
  check(km_module_load_file(context, path, &module));
  return module;
}

void upload(km_slice slice, const void* bytes, size_t size_bytes) {
  check(km_slice_upload(stream, slice, 0, bytes, size_bytes));
}

void download(km_slice slice, void* bytes, size_t size_bytes) {
  check(km_slice_download(stream, slice, 0, bytes, size_bytes));
}

void run(km_module module, const char* name, km_launch_config config, const argument* arguments,
         km_slice zeroed) {
  km_function function;
  km_launch launch;
  km_slice_info info = {.struct_size = sizeof info};
  int64_t elapsed, first = 0, best = INT64_MAX;
  check(km_module_function(module, name, &function));
  check(km_launch_create(stream, function, &launch));
  check(km_launch_set_grid(launch, config.grid[0], config.grid[1], config.grid[2]));
  check(km_launch_set_block(launch, config.block[0], config.block[1], config.block[2]));
  for (const argument* a = arguments; a->size != 0; ++a) {
    check(a->value != NULL ? km_launch_arg_scalar(launch, a->value, a->size)
                           : km_launch_arg_slice(launch, a->slice, 0));
  }
  if (zeroed != NULL) check(km_slice_info_get(zeroed, &info));
  for (int i = 0; i < kLaunches; ++i) {
    if (zeroed != NULL) check(km_slice_fill_u8(stream, zeroed, 0, 0, info.size_bytes));
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
