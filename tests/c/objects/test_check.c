/* The checker of a context: its tools, and the callback that gets its findings. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/testing.h"

enum { ELEMENTS = 32, LAUNCHED = 64 };

/* A context with findings of its own. */
typedef struct checked {
  km_context context;
  km_stream stream;
  km_function function;
  km_slice slice;
  uint32_t found;
  km_finding last;
  km_status of_wait, of_check, of_query;
} checked;

static void open_checked(const fixture* f, checked* c) {
  km_module module;
  memset(c, 0, sizeof *c);
  OK(km_context_create(f->device, &c->context));
  OK(km_context_default_stream(c->context, &c->stream));
  OK(km_module_load_ptx(c->context, test_ptx, strlen(test_ptx), "test.ptx", &module));
  OK(km_module_function(module, "fill_index", &c->function));
  OK(km_module_destroy(module));
  OK(km_slice_create(c->context, ELEMENTS, sizeof(uint32_t), 0, &c->slice));
}

static void close_checked(checked* c) {
  OK(km_slice_destroy(c->slice));
  OK(km_function_destroy(c->function));
  OK(km_stream_destroy(c->stream));
  OK(km_context_destroy(c->context));
}

/* Launches fill_index on so many elements. */
static void launch_on(const checked* c, uint32_t elements) {
  const km_launch_config config = {{1, 1, 1}, {LAUNCHED, 1, 1}, 0};
  fill_index_arguments arguments = {0, 5, elements};
  OK(km_slice_address(c->slice, &arguments.out));
  OK(km_launch_kernel(c->stream, c->function, &config, &arguments, sizeof arguments, NULL, 0));
}

/* Launches fill_index on more elements than the slice has. */
static void launch_beyond(const checked* c) { launch_on(c, LAUNCHED); }

static void keep(void* data, const km_finding* finding) {
  checked* const c = data;
  assert_int_equal(finding->struct_size, sizeof *finding);
  c->last = *finding;
  ++c->found;
}

static void make_calls(void* data, const km_finding* finding) {
  checked* const c = data;
  keep(data, finding);
  c->of_wait = km_stream_synchronize(c->stream);
  c->of_check = km_context_set_check(c->context, KM_CHECK_OFF, 0, NULL, NULL);
  c->of_query = km_stream_query(c->stream);
}

static void findings_come_to_the_callback(void** state) {
  const fixture* f = *state;
  checked c;
  uint64_t address = 0;
  if (is_fake(f) || is_cuda(f)) skip();
  open_checked(f, &c);
  OK(km_context_set_check(c.context, KM_CHECK_MEMORY, 0, keep, &c));
  launch_beyond(&c);
  OK(km_stream_synchronize(c.stream)); /* the kernel goes on after a finding */
  assert_int_equal(c.found, 1);
  assert_int_equal(c.last.tool, KM_CHECK_MEMORY);
  assert_string_equal(c.last.kind, "illegal-address");
  assert_string_equal(c.last.kernel, "fill_index");
  assert_int_equal(c.last.count, LAUNCHED - ELEMENTS);
  OK(km_slice_address(c.slice, &address));
  assert_int_equal(c.last.address, address + ELEMENTS * sizeof(uint32_t));
  assert_int_equal(c.last.size_bytes, 4);
  assert_string_equal(c.last.place.access, "write of 4 bytes");
  assert_string_equal(c.last.place.source, "test.ptx");
  assert_true(c.last.place.line > 0);
  assert_int_equal(c.last.place.thread[0], ELEMENTS);
  assert_int_equal(c.last.place.block[2], 0);
  assert_string_equal(c.last.other.access, "");
  assert_non_null(strstr(c.last.allocation, "past the end of the 128-byte allocation"));
  close_checked(&c);
}

/* Two stores of one line of a helper, which the compiler has put in the place of two calls. */
static const char inlined_ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"helper.cu\"\n"
    ".visible .entry inlined(.param .u64 to) {\n"
    ".reg .u32 %t; .reg .u64 %a, %o;\n"
    ".loc 1 20 7\n"
    "ld.param.u64 %a, [to]; mov.u32 %t, %tid.x;\n"
    "mul.wide.u32 %o, %t, 4; add.u64 %a, %a, %o;\n"
    ".loc 1 12 5, function_name $L__info, inlined_at 1 20 7\n"
    "st.global.u32 [%a], %t;\n"
    ".loc 1 30 7\n"
    "bar.sync 0;\n"
    ".loc 1 21 3, function_name $L__info, inlined_at 1 30 7\n"
    "bar.sync 0;\n"
    ".loc 1 12 5, function_name $L__info, inlined_at 1 21 3\n"
    "st.global.u32 [%a], %t;\n"
    "ret; }\n";

static void findings_name_the_calls_of_inlined_code(void** state) {
  const fixture* f = *state;
  const km_launch_config config = {{1, 1, 1}, {LAUNCHED, 1, 1}, 0};
  uint64_t address = 0;
  checked c;
  km_module module;
  km_function inlined;
  if (is_fake(f) || is_cuda(f)) skip();
  open_checked(f, &c);
  OK(km_context_set_check(c.context, KM_CHECK_MEMORY, 0, keep, &c));
  OK(km_module_load_ptx(c.context, inlined_ptx, strlen(inlined_ptx), "inlined.ptx", &module));
  OK(km_module_function(module, "inlined", &inlined));
  OK(km_module_destroy(module));
  OK(km_slice_address(c.slice, &address));
  OK(km_launch_kernel(c.stream, inlined, &config, &address, sizeof address, NULL, 0));
  OK(km_stream_synchronize(c.stream));
  assert_int_equal(c.found, 2);
  assert_string_equal(c.last.place.source, "helper.cu");
  assert_int_equal(c.last.place.line, 12);
  assert_string_equal(c.last.place_callers, "helper.cu:21\nhelper.cu:30");
  assert_string_equal(c.last.other_callers, "");
  OK(km_function_destroy(inlined));
  close_checked(&c);
}

static void contexts_have_tools_of_their_own(void** state) {
  const fixture* f = *state;
  checked memory, race;
  km_context_flags flags = 0;
  if (is_fake(f) || is_cuda(f)) skip();
  open_checked(f, &memory);
  open_checked(f, &race);
  OK(km_context_set_check(memory.context, KM_CHECK_MEMORY | KM_CHECK_INIT, 0, keep, &memory));
  OK(km_context_set_check(race.context, KM_CHECK_RACE | KM_CHECK_SAME_VALUE, 0, keep, &race));
  OK(km_context_flags_get(race.context, &flags));
  assert_true((flags & KM_CONTEXT_CHECKED) != 0);
  launch_beyond(&memory);
  OK(km_stream_synchronize(memory.stream));
  assert_int_equal(memory.found, 1);
  launch_beyond(&race);
  EXPECT(KM_ERROR_ILLEGAL_ADDRESS, km_stream_synchronize(race.stream));
  assert_int_equal(race.found, 0);
  close_checked(&memory);
  close_checked(&race);
}

static void tools_change_with_the_next_launch(void** state) {
  const fixture* f = *state;
  checked c;
  if (is_fake(f) || is_cuda(f)) skip();
  open_checked(f, &c);
  OK(km_context_set_check(c.context, KM_CHECK_ALL, 2, keep, &c));
  for (int i = 0; i < 3; ++i) launch_beyond(&c);
  OK(km_stream_synchronize(c.stream));
  assert_int_equal(c.found, 2); /* the limit */
  OK(km_context_set_check(c.context, KM_CHECK_MEMORY, 0, make_calls, &c));
  launch_beyond(&c);
  OK(km_stream_synchronize(c.stream));
  assert_int_equal(c.found, 3);
  assert_int_equal(c.of_wait, KM_ERROR_NOT_PERMITTED);
  assert_int_equal(c.of_check, KM_ERROR_NOT_PERMITTED);
  assert_true(c.of_query == KM_NOT_READY || c.of_query == KM_SUCCESS);
  OK(km_context_set_check(c.context, KM_CHECK_OFF, 0, keep, &c));
  launch_on(&c, ELEMENTS);
  OK(km_stream_synchronize(c.stream));
  close_checked(&c);
  assert_int_equal(c.found, 3);
}

static const char null_ptx[] =
    ".version 8.0\n"
    ".target sm_80\n"
    ".address_size 64\n"
    ".visible .entry store_to_null(.param .u64 from) {\n"
    ".reg .u64 %a; .reg .u32 %v;\n"
    "ld.param.u64 %a, [from];\n"
    "mov.u32 %v, %ctaid.x;\n"
    "st.global.u32 [%a], %v;\n"
    "ret; }\n";

/* `race` compares what blocks store with what is in memory, which need not be there. */
static void races_on_no_memory_are_faults(void** state) {
  enum { TRIALS = 50 };
  const fixture* f = *state;
  const km_launch_config config = {{256, 1, 1}, {LAUNCHED, 1, 1}, 0};
  const uint64_t null_address = 0;
  if (is_fake(f) || is_cuda(f)) skip();
  for (int i = 0; i < TRIALS; ++i) {
    km_context context;
    km_stream stream;
    km_module module;
    km_function function;
    OK(km_context_create(f->device, &context));
    OK(km_context_set_check(context, KM_CHECK_RACE, 0, NULL, NULL));
    OK(km_context_default_stream(context, &stream));
    OK(km_module_load_ptx(context, null_ptx, strlen(null_ptx), "null.ptx", &module));
    OK(km_module_function(module, "store_to_null", &function));
    OK(km_launch_kernel(stream, function, &config, &null_address, sizeof null_address, NULL, 0));
    EXPECT(KM_ERROR_ILLEGAL_ADDRESS, km_stream_synchronize(stream));
    OK(km_function_destroy(function));
    OK(km_module_destroy(module));
    OK(km_stream_destroy(stream));
    OK(km_context_destroy(context));
  }
}

static void wrong_ranges_of_calls_are_findings(void** state) {
  const fixture* f = *state;
  checked c;
  km_slice view = NULL;
  if (is_fake(f) || is_cuda(f)) skip();
  open_checked(f, &c);
  OK(km_context_set_check(c.context, KM_CHECK_MEMORY, 0, keep, &c));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_slice_fill_u8(c.stream, c.slice, 100, 0, 29));
  assert_int_equal(c.found, 1);
  assert_string_equal(c.last.kind, "out-of-bounds");
  assert_string_equal(c.last.kernel, "km_slice_fill_u8");
  assert_int_equal(c.last.size_bytes, 29);
  assert_int_equal(c.last.place.thread[0], UINT32_MAX);
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_slice_view(c.slice, 1, ELEMENTS, &view));
  assert_int_equal(c.found, 2);
  assert_string_equal(c.last.kernel, "km_slice_view");
  close_checked(&c);
}

/* A kernel that allocates, waits for words[1], and frees if that is 1. */
static const char heap_ptx[] =
    ".version 8.0\n"
    ".target sm_80\n"
    ".address_size 64\n"
    ".extern .func (.param .b64 result) malloc(.param .b64 size);\n"
    ".extern .func free(.param .b64 block);\n"
    ".visible .entry allocate(.param .u64 words) {\n"
    ".reg .u64 %w, %a; .reg .u32 %v; .reg .pred %p;\n"
    "ld.param.u64 %w, [words];\n"
    "{ .param .b64 size; .param .b64 result;\n"
    "st.param.b64 [size], 24;\n"
    "call.uni (result), malloc, (size);\n"
    "ld.param.b64 %a, [result]; }\n"
    "mov.u32 %v, 1;\n"
    "st.volatile.u32 [%w], %v;\n"
    "wait: ld.volatile.u32 %v, [%w+4];\n"
    "setp.eq.u32 %p, %v, 0;\n"
    "@%p bra wait;\n"
    "setp.eq.u32 %p, %v, 2;\n"
    "@%p bra over;\n"
    "{ .param .b64 block;\n"
    "st.param.b64 [block], %a;\n"
    "call.uni free, (block); }\n"
    "over: st.volatile.u32 [%w+8], %v;\n"
    "ret; }\n";

/* Launches that kernel in a context that looks for leaks. */
static void open_heap(const fixture* f, checked* c, volatile uint32_t* words) {
  const km_launch_config config = {{1, 1, 1}, {1, 1, 1}, 0};
  km_module module;
  uint64_t address = (uintptr_t)words;
  memset(c, 0, sizeof *c);
  OK(km_context_create(f->device, &c->context));
  OK(km_context_set_check(c->context, KM_CHECK_LEAK, 0, keep, c));
  OK(km_context_default_stream(c->context, &c->stream));
  OK(km_module_load_ptx(c->context, heap_ptx, strlen(heap_ptx), "heap.ptx", &module));
  OK(km_module_function(module, "allocate", &c->function));
  OK(km_module_destroy(module));
  OK(km_launch_kernel(c->stream, c->function, &config, &address, sizeof address, NULL, 0));
}

static void close_heap(checked* c) {
  OK(km_function_destroy(c->function));
  OK(km_stream_destroy(c->stream));
  OK(km_context_destroy(c->context));
}

static void kernel_leaks_come_to_the_callback(void** state) {
  const fixture* f = *state;
  if (is_fake(f) || is_cuda(f)) skip();
  for (int by_reset = 0; by_reset < 2; ++by_reset) {
    uint32_t words[3] = {0, 2, 0};
    checked c;
    open_heap(f, &c, words);
    OK(km_stream_synchronize(c.stream));
    assert_int_equal(c.found, 0);
    if (by_reset != 0) OK(km_context_reset(c.context));
    assert_int_equal(c.found, by_reset);
    close_heap(&c);
    assert_int_equal(c.found, 1);
    assert_string_equal(c.last.kind, "kernel-memory");
    assert_string_equal(c.last.kernel, "allocate");
    assert_int_equal(c.last.size_bytes, 24);
    assert_string_equal(c.last.place.source, "heap.ptx");
  }
}

static void wait_for(const volatile uint32_t* word) {
  for (int i = 0; i < 100000 && *word == 0; ++i) usleep(100);
}

static void kernels_that_run_leak_nothing_yet(void** state) {
  const fixture* f = *state;
  static volatile uint32_t words[3];
  char text[256] = "";
  FILE* file;
  int kept;
  checked c;
  if (is_fake(f) || is_cuda(f)) skip();
  assert_non_null(file = tmpfile());
  assert_true((kept = dup(STDERR_FILENO)) >= 0);
  memset((void*)words, 0, sizeof words);
  open_heap(f, &c, words);
  wait_for(&words[0]);
  assert_int_equal(dup2(fileno(file), STDERR_FILENO), STDERR_FILENO);
  close_heap(&c);
  words[1] = 1;
  wait_for(&words[2]);
  usleep(20000); /* the stream is closed */
  assert_int_equal(dup2(kept, STDERR_FILENO), STDERR_FILENO);
  close(kept);
  rewind(file);
  assert_null(fgets(text, sizeof text, file));
  fclose(file);
  assert_int_not_equal(words[2], 0);
  assert_int_equal(c.found, 0);
}

static void wrong_flags_are_refused(void** state) {
  const fixture* f = *state;
  const km_status expected = is_fake(f) || is_cuda(f) ? KM_ERROR_NOT_SUPPORTED : KM_SUCCESS;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_context_set_check(f->context, 512, 0, NULL, NULL));
  expect_message("0x200");
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_context_set_check(f->context, KM_CHECK_RACE | 64, 0, NULL, NULL));
  EXPECT(expected,
         km_context_set_check(f->context, KM_CHECK_ALL | KM_CHECK_SAME_VALUE, 0, NULL, NULL));
  // Streams are followed from the first one on, if KM_CHECK names them.
  EXPECT(KM_ERROR_NOT_SUPPORTED, km_context_set_check(f->context, KM_CHECK_STREAMS, 0, NULL, NULL));
  EXPECT(KM_ERROR_INVALID_HANDLE, km_context_set_check(NULL, KM_CHECK_OFF, 0, NULL, NULL));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(findings_come_to_the_callback),
      cmocka_unit_test(findings_name_the_calls_of_inlined_code),
      cmocka_unit_test(contexts_have_tools_of_their_own),
      cmocka_unit_test(tools_change_with_the_next_launch),
      cmocka_unit_test(races_on_no_memory_are_faults),
      cmocka_unit_test(wrong_ranges_of_calls_are_findings),
      cmocka_unit_test(kernel_leaks_come_to_the_callback),
      cmocka_unit_test(kernels_that_run_leak_nothing_yet),
      cmocka_unit_test(wrong_flags_are_refused),
  };
  return RUN_ON_DEVICES("check", tests);
}
