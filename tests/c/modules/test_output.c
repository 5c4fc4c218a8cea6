/* The text that kernels print goes to a callback, which may make calls, and for which no other call
   waits. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "support/testing.h"

static const char print_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 arguments);\n"
    ".global .align 1 .b8 text[6] = {104, 101, 108, 108, 111, 0};\n"
    ".visible .entry greet() {\n  .reg .b64 %a;\n  .reg .b32 %r;\n"
    "  mov.u64 %a, text;\n  cvta.global.u64 %a, %a;\n  {\n"
    "    .param .b64 format0;\n    st.param.b64 [format0], %a;\n"
    "    .param .b64 arguments0;\n    st.param.b64 [arguments0], 0;\n"
    "    .param .b32 result0;\n    call.uni (result0), vprintf, (format0, arguments0);\n"
    "    ld.param.b32 %r, [result0];\n  }\n  ret;\n}\n"
    ".visible .entry crash() { trap; }\n";

/* A context with a stream and a slice, and how often its text came. */
typedef struct printer {
  km_context context;
  km_stream stream;
  km_slice slice;
  atomic_int greetings, others;
  km_status of_fill, of_default_stream, of_query, of_output;
  sem_t is_inside, may_return;
} printer;

static void open_printer(const fixture* f, printer* p) {
  memset(p, 0, sizeof *p);
  OK(km_context_create(f->device, &p->context));
  OK(km_stream_create(p->context, 0, 0, &p->stream));
  OK(km_slice_create(p->context, 64, 4, 0, &p->slice));
  assert_int_equal(sem_init(&p->is_inside, 0, 0), 0);
  assert_int_equal(sem_init(&p->may_return, 0, 0), 0);
}

static void close_printer(printer* p) {
  OK(km_slice_destroy(p->slice));
  OK(km_stream_destroy(p->stream));
  OK(km_context_destroy(p->context));
  sem_destroy(&p->is_inside);
  sem_destroy(&p->may_return);
}

static void launch_both(const printer* p) {
  const km_launch_config one = {{1, 1, 1}, {1, 1, 1}, 0};
  const char* const names[] = {"greet", "crash"};
  km_module module;
  OK(km_module_load_ptx(p->context, print_ptx, strlen(print_ptx), "print.ptx", &module));
  for (int i = 0; i < 2; ++i) {
    km_function function;
    OK(km_module_function(module, names[i], &function));
    OK(km_launch_kernel(p->stream, function, &one, NULL, 0, NULL, 0));
    OK(km_function_destroy(function));
  }
  OK(km_module_destroy(module));
}

static void count_text(printer* p, const char* text, uint64_t size_bytes) {
  atomic_int* const which =
      size_bytes == 5 && memcmp(text, "hello", 5) == 0 ? &p->greetings : &p->others;
  atomic_fetch_add(which, 1);
}

static void make_calls(void* data, const char* text, uint64_t size_bytes) {
  printer* const p = data;
  km_stream stream = NULL;
  count_text(p, text, size_bytes);
  p->of_fill = km_slice_fill_u32(p->stream, p->slice, 0, 1, 16);
  p->of_default_stream = km_context_default_stream(p->context, &stream);
  p->of_query = km_stream_query(p->stream);
  p->of_output = km_context_set_output(p->context, make_calls, p);
  if (stream != NULL) km_stream_destroy(stream);
}

static void output_callbacks_may_make_calls(void** state) {
  const fixture* f = *state;
  printer p;
  if (is_fake(f) || is_cuda(f)) skip();
  open_printer(f, &p);
  OK(km_context_set_output(p.context, make_calls, &p));
  launch_both(&p);
  EXPECT(KM_ERROR_TRAP, km_stream_synchronize(p.stream));
  assert_int_equal(p.greetings, 1);
  assert_int_equal(p.others, 0);
  EXPECT(KM_ERROR_TRAP, p.of_fill);
  EXPECT(KM_ERROR_TRAP, p.of_default_stream);
  EXPECT(KM_ERROR_TRAP, p.of_query);
  EXPECT(KM_SUCCESS, p.of_output);
  OK(km_context_reset(p.context));
  OK(km_stream_destroy(p.stream));
  OK(km_stream_create(p.context, 0, 0, &p.stream));
  launch_both(&p); /* the callback is still the same */
  EXPECT(KM_ERROR_TRAP, km_stream_synchronize(p.stream));
  assert_int_equal(p.greetings, 2);
  close_printer(&p);
}

static void stay_inside(void* data, const char* text, uint64_t size_bytes) {
  printer* const p = data;
  count_text(p, text, size_bytes);
  sem_post(&p->is_inside);
  while (sem_wait(&p->may_return) != 0) continue;
}

static void* synchronize(void* data) {
  const printer* const p = data;
  km_stream_synchronize(p->stream);
  return NULL;
}

static void* make_failing_calls(void* data) {
  printer* const p = data;
  km_stream stream = NULL;
  p->of_fill = km_slice_fill_u32(p->stream, p->slice, 0, 1, 16);
  p->of_default_stream = km_context_default_stream(p->context, &stream);
  if (stream != NULL) km_stream_destroy(stream);
  return NULL;
}

static void calls_that_fail_wait_for_no_output_callback(void** state) {
  enum { LIMIT_S = 60 };
  const fixture* f = *state;
  printer p;
  pthread_t waiting, failing;
  struct timespec limit;
  if (is_fake(f) || is_cuda(f)) skip();
  open_printer(f, &p);
  OK(km_context_set_output(p.context, stay_inside, &p));
  launch_both(&p);
  assert_int_equal(pthread_create(&waiting, NULL, synchronize, &p), 0);
  while (sem_wait(&p.is_inside) != 0) continue;
  assert_int_equal(pthread_create(&failing, NULL, make_failing_calls, &p), 0);
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += LIMIT_S;
  assert_int_equal(pthread_timedjoin_np(failing, NULL, &limit), 0);
  EXPECT(KM_ERROR_TRAP, p.of_fill);
  sem_post(&p.may_return);
  assert_int_equal(pthread_join(waiting, NULL), 0);
  assert_int_equal(p.greetings, 1);
  close_printer(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(output_callbacks_may_make_calls),
      cmocka_unit_test(calls_that_fail_wait_for_no_output_callback),
  };
  return RUN_ON_DEVICES("output", tests);
}
