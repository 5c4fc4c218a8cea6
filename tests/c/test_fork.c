/* After fork(), every call of the child is KM_ERROR_FORKED; the parent goes on. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/testing.h"

/* Runs in the child, so it tells by its exit status: 0, or which check failed. */
static int check_child(const fixture* f) {
  uint32_t major, minor, patch, count = 77;
  km_device device = NULL;
  km_slice slice = NULL;
  const char* name = NULL;
  km_status status = KM_SUCCESS;
  char message[512];
  if (km_stream_query(f->stream) != KM_ERROR_FORKED) return 1;
  if (km_stream_synchronize(f->stream) != KM_ERROR_FORKED) return 2;
  if (km_slice_create(f->context, 1, 1, 0, &slice) != KM_ERROR_FORKED) return 3;
  if (km_device_open("cpu", &device) != KM_ERROR_FORKED) return 4;
  if (km_device_destroy(f->device) != KM_ERROR_FORKED) return 5;
  if (km_backend_count(&count) != KM_ERROR_FORKED) return 6;
  if (km_last_error_message(message, sizeof message, NULL) != KM_SUCCESS) return 7;
  if (strstr(message, "forked") == NULL) return 8;
  if (km_last_error_status(&status) != KM_SUCCESS || status != KM_ERROR_FORKED) return 12;
  if (km_last_error_take(&status) != KM_SUCCESS || status != KM_ERROR_FORKED) return 13;
  if (km_status_from_cuda(3, &status) != KM_SUCCESS || status != KM_ERROR_FORKED) return 14;
  if (km_version(&major, &minor, &patch) != KM_SUCCESS) return 9;
  if (km_status_name(KM_ERROR_FORKED, &name) != KM_SUCCESS) return 10;
  if (count != 77 || device != NULL || slice != NULL) return 11;
  return 0;
}

static void calls_of_the_child_are_refused(void** state) {
  fixture* f = *state;
  int status = 0;
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) _exit(check_child(f));
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  OK(km_stream_synchronize(f->stream));
}

static void the_child_can_exit_as_usual(void** state) {
  int status = 0;
  (void)state;
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    alarm(20); /* instead of hanging */
    exit(0);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(calls_of_the_child_are_refused),
      cmocka_unit_test(the_child_can_exit_as_usual),
  };
  return RUN_ON_DEVICES("fork", tests);
}
