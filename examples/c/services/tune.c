/* Which block size runs a kernel fastest here: measured, and remembered under a name. */
#include <stdio.h>
#include <stdlib.h>

#include "session.h"

enum { kCount = 1 << 20 };

static char* read_source(void) {
  static char text[1 << 14];
  FILE* file = fopen(KERNEL_FILE, "r");
  require(file != NULL, "the kernel is there");
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  return text;
}

static void show(void* user_data, uint32_t done, uint32_t count) {
  (void)user_data;
  printf("%u of %u measured\n", done, count);
}

int main(void) {
  const uint32_t blocks[] = {32, 64, 128, 256, 512};
  const uint32_t n = kCount;
  const float factor = 1;
  session s = open_session();
  km_tune tune;
  uint32_t candidate, best;
  km_tune_result result = {.struct_size = sizeof result};
  km_function function;
  check(km_tune_create(s.device, read_source(), 0, "scale", &tune));
  check(km_tune_add_buffer(tune, NULL, kCount * sizeof(float), KM_TUNE_BUFFER_OUTPUT));
  check(km_tune_add_scalar(tune, &factor, sizeof factor));
  check(km_tune_add_scalar(tune, &n, sizeof n));
  for (int i = 0; i < 5; ++i) {
    const km_launch_config config = {{kCount / blocks[i], 1, 1}, {blocks[i], 1, 1}, 0};
    check(km_tune_add_candidate(tune, &config, NULL, &candidate));
  }
  check(km_tune_set_check(tune, KM_TUNE_CHECK_EXACT, 0));
  check(km_tune_set_budget(tune, 200000000, 2));
  check(km_tune_set_progress(tune, show, NULL));
  check(km_tune_run(tune, "a million floats", KM_TUNE_RUN_AGAIN, &best));
  check(km_tune_result_get(tune, best, &result));
  printf("blocks of %u: %.3f ms, the median of %u launches\n", blocks[best],
         (double)result.median_ns / 1e6, result.sample_count);
  require(result.status == KM_SUCCESS, "the best one was measured");
  check(km_tune_function(tune, best, s.context, &function)); /* ready for use */
  check(km_function_destroy(function));
  check(km_tune_destroy(tune));
  close_session(&s);
  return 0;
}
