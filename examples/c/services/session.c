#include "session.h"

#include <stdio.h>
#include <stdlib.h>

void check(km_status status) {
  char message[4700] = "unknown error";
  if (status == KM_SUCCESS) return;
  km_last_error_message(message, sizeof message, NULL);
  fprintf(stderr, "%s\n", message);
  exit(1);
}

void require(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "not as expected: %s\n", what);
  exit(1);
}

session open_session(void) {
  session s;
  km_module module;
  check(km_device_open("auto", &s.device));
  check(km_context_create(s.device, &s.context));
  check(km_stream_create(s.context, KM_STREAM_DEFAULT, 0, &s.stream));
  check(km_module_load_file(s.context, KERNEL_FILE, &module));
  check(km_module_function(module, "scale", &s.scale));
  check(km_module_destroy(module)); /* the function keeps it */
  return s;
}

void close_session(session* s) {
  check(km_function_destroy(s->scale));
  check(km_stream_destroy(s->stream));
  check(km_context_destroy(s->context));
  check(km_device_destroy(s->device));
}

void queue_scale(const session* s, km_slice slice, float factor, uint32_t n) {
  const km_launch_config config = {{(n + 255) / 256, 1, 1}, {256, 1, 1}, 0};
  const km_launch_slice data = {0, 0, (uint64_t)slice, 0};
  const scale_arguments arguments = {0, factor, n};
  check(km_launch_kernel(s->stream, s->scale, &config, &arguments, sizeof arguments, &data, 1));
}
