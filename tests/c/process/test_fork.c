/* After fork(), every call of the child is KM_ERROR_FORKED; the parent goes on. */
#include <pthread.h>
#include <stdatomic.h>
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
    end_after(20);
    exit(0);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* What threads do while another one forks: calls that take locks of all kinds, with objects of the
 * thread's own. */
typedef struct busy_threads {
  const fixture* f;
  km_function function;
  atomic_bool is_over;
  pthread_t threads[4];
} busy_threads;

static void do_nothing(void* ignored, km_status status) {
  (void)ignored;
  (void)status;
}

static void* make_calls(void* argument) {
  busy_threads* busy = argument;
  fixture own = *busy->f;
  while (!atomic_load(&busy->is_over)) {
    km_slice slice = NULL;
    if (km_stream_create(own.context, 0, 0, &own.stream) != KM_SUCCESS) continue;
    if (km_slice_create(own.context, 1, 64, 0, &slice) == KM_SUCCESS) {
      km_stream_add_callback(own.stream, do_nothing, NULL);
      launch(&own, busy->function, 1, 1, NULL, 0);
      km_stream_synchronize(own.stream);
      km_slice_destroy(slice);
    }
    km_stream_destroy(own.stream);
  }
  return NULL;
}

static void end_child(int way) {
  end_after(20);
  if (way == 0) exit(0);
  if (way == 1) _exit(0);
  if (way == 2) pthread_exit(NULL); /* the only thread: then as exit(0) */
  km_device device = NULL;
  exit(km_device_open("cpu", &device) == KM_ERROR_FORKED ? 0 : 1);
}

static void children_of_busy_threads_end(void** state) {
  fixture* f = *state;
  if (is_cuda(f)) skip(); /* the driver's own ends */
  busy_threads busy = {.f = f, .function = load_kernel(f, "noop")};
  /* The thread that forks has made calls itself. */
  OK(launch(f, busy.function, 1, 1, NULL, 0));
  OK(km_stream_synchronize(f->stream));
  for (int i = 0; i < 4; ++i) {
    assert_int_equal(pthread_create(&busy.threads[i], NULL, make_calls, &busy), 0);
  }
  int stuck = 0;
  for (int i = 0; i < 200 && stuck == 0; ++i) {
    int status = 0;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) end_child(i % 4);
    assert_int_equal(waitpid(child, &status, 0), child);
    stuck += status != 0;
  }
  atomic_store(&busy.is_over, 1);
  for (int i = 0; i < 4; ++i) pthread_join(busy.threads[i], NULL);
  assert_int_equal(stuck, 0);
  OK(km_stream_synchronize(f->stream));
}

static void fork_and_return(void* child, km_status status) {
  (void)status;
  *(pid_t*)child = fork();
}

static void a_callback_that_returns_in_a_child_ends_it(void** state) {
  fixture* f = *state;
  pid_t child = -1;
  int status = 0;
  if (is_cuda(f)) skip();
  OK(km_stream_add_callback(f->stream, fork_and_return, &child));
  OK(km_stream_synchronize(f->stream));
  assert_true(child > 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(calls_of_the_child_are_refused),
      cmocka_unit_test(the_child_can_exit_as_usual),
      cmocka_unit_test(children_of_busy_threads_end),
      cmocka_unit_test(a_callback_that_returns_in_a_child_ends_it),
  };
  return RUN_ON_DEVICES("fork", tests);
}
