/* Large modules, whose kernels are read when they are first used. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/testing.h"

enum { kTextBytes = 200 << 10 };

/* test_ptx, kernels that make it large, and `more`. The caller frees it. */
static char* large_text(const char* more) {
  const size_t capacity = kTextBytes + strlen(test_ptx) + strlen(more) + 4096;
  char* text = malloc(capacity);
  assert_non_null(text);
  size_t size = (size_t)snprintf(text, capacity, "%s", test_ptx);
  for (int i = 0; size < kTextBytes; ++i) {
    size += (size_t)snprintf(text + size, capacity - size,
                             ".visible .entry filler_%d(.param .u64 out) {\n"
                             "  .reg .b64 %%rd<3>; // \" {\n"
                             "  ld.param.u64 %%rd1, [out];\n"
                             "  add.u64 %%rd2, %%rd1, %d;\n  ret;\n}\n",
                             i, i);
  }
  snprintf(text + size, capacity - size, "%s", more);
  return text;
}

static km_module load_large(const fixture* f, const char* more) {
  km_module module = NULL;
  char* text = large_text(more);
  OK(km_module_load_ptx(f->context, text, 0, "large.ptx", &module));
  free(text);
  return module;
}

static int reads_all_at_load(const fixture* f) { return is_cuda(f) || is_fake(f); }

static void kernels_run_and_variables_have_values(void** state) {
  fixture* f = *state;
  if (reads_all_at_load(f)) return;
  km_module module = load_large(f,
                                ".visible .global .align 4 .u32 chosen = 77;\n"
                                ".visible .global .align 8 .u64 place = generic(chosen);\n"
                                ".func (.param .b32 r) twice(.param .b32 x) {\n"
                                "  .reg .b32 %r<3>; ld.param.b32 %r1, [x]; add.u32 %r2, %r1, %r1;\n"
                                "  st.param.b32 [r], %r2; ret;\n}\n"
                                ".visible .entry last(.param .u64 out) {\n"
                                "  .reg .b32 %r<3>; .reg .b64 %rd<4>;\n"
                                "  ld.param.u64 %rd1, [out]; ld.global.u64 %rd2, [place];\n"
                                "  ld.u32 %r1, [%rd2];\n"
                                "  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1;\n"
                                "  call.uni (b), twice, (a); ld.param.b32 %r2, [b]; }\n"
                                "  st.global.u32 [%rd1], %r2; ret;\n}\n");
  km_function function = NULL;
  km_slice out, chosen;
  uint64_t address = 0;
  uint32_t value = 0;
  OK(km_slice_create(f->context, 1, sizeof value, KM_SLICE_ZEROED, &out));
  OK(km_slice_address(out, &address));
  OK(km_module_function(module, "last", &function));
  OK(launch(f, function, 1, 1, &address, sizeof address));
  OK(km_slice_download(f->stream, out, 0, &value, sizeof value));
  OK(km_stream_synchronize(f->stream));
  assert_int_equal(value, 154);
  OK(km_module_global(module, "chosen", &chosen));
  OK(km_slice_fill_u32(f->stream, chosen, 0, 5, 1));
  OK(launch(f, function, 1, 1, &address, sizeof address));
  OK(km_slice_download(f->stream, out, 0, &value, sizeof value));
  OK(km_stream_synchronize(f->stream));
  assert_int_equal(value, 10);
  OK(km_slice_destroy(chosen));
  OK(km_slice_destroy(out));
  OK(km_function_destroy(function));
  OK(km_module_destroy(module));
}

static void names_are_listed_without_reading_kernels(void** state) {
  fixture* f = *state;
  if (reads_all_at_load(f)) return;
  km_module module = load_large(f, ".visible .entry broken() { add.s32; }\n");
  uint32_t count = 0;
  char name[64];
  km_function function = NULL;
  OK(km_module_function_count(module, &count));
  assert_true(count > 1000);
  OK(km_module_function_name(module, 4, name, sizeof name, NULL));
  assert_string_equal(name, "filler_0");
  OK(km_module_function_name(module, count - 1, name, sizeof name, NULL));
  assert_string_equal(name, "broken");
  EXPECT(KM_ERROR_NOT_FOUND, km_module_function(module, "filer_7", &function));
  expect_message("Did you mean 'filler_7'?");
  OK(km_module_destroy(module));
}

static void wrong_kernels_are_told_when_they_are_used(void** state) {
  fixture* f = *state;
  if (reads_all_at_load(f)) return;
  km_module module = load_large(f,
                                "\n.visible .entry broken() {\n  add.s32 %none, 1, 2;\n}\n"
                                ".visible .entry missing() {\n  call absent;\n  ret;\n}\n"
                                ".visible .global .u32 unfit[2] = {1, 2, 3};\n");
  km_function function = NULL;
  km_slice slice = NULL;
  for (int i = 0; i < 2; ++i) {
    EXPECT(KM_ERROR_INVALID_PTX, km_module_function(module, "broken", &function));
    expect_message("large.ptx:");
    expect_message("%none");
  }
  EXPECT(KM_ERROR_INVALID_PTX, km_module_function(module, "missing", &function));
  expect_message("absent");
  EXPECT(KM_ERROR_INVALID_PTX, km_module_global(module, "unfit", &slice));
  EXPECT(KM_ERROR_NOT_FOUND, km_module_global(module, "unfitt", &slice));
  expect_message("Did you mean 'unfit'?");
  assert_null(function);
  assert_null(slice);
  OK(km_module_function(module, "filler_3", &function));
  OK(km_function_destroy(function));
  OK(km_module_destroy(module));
}

static void broken_texts_are_refused_at_load(void** state) {
  fixture* f = *state;
  if (reads_all_at_load(f)) return;
  static const char* const ends[] = {".visible .entry open() { ret;", "nothing",
                                     ".entry k() {} .entry k() {}"};
  for (int i = 0; i < 3; ++i) {
    km_module none = NULL;
    char* text = large_text(ends[i]);
    EXPECT(KM_ERROR_INVALID_PTX, km_module_load_ptx(f->context, text, 0, "large.ptx", &none));
    expect_message("large.ptx:");
    assert_null(none);
    free(text);
  }
}

static void functions_have_one_address_in_all_kernels(void** state) {
  fixture* f = *state;
  if (reads_all_at_load(f)) return;
  km_module module =
      load_large(f,
                 ".func (.param .b32 r) one() { st.param.b32 [r], 1; ret; }\n"
                 ".func (.param .b32 r) two() { st.param.b32 [r], 2; ret; }\n"
                 ".visible .global .u64 kept;\n"
                 ".visible .entry keep() { .reg .b64 %rd<2>; mov.u64 %rd1, two;\n"
                 "  st.global.u64 [kept], %rd1; ret; }\n"
                 ".visible .entry use(.param .u64 out) { .reg .b64 %rd<3>; .reg .b32 %r<2>;\n"
                 "  ld.param.u64 %rd1, [out]; ld.global.u64 %rd2, [kept];\n"
                 "  { .param .b32 r; p: .callprototype (.param .b32 _) _ ();\n"
                 "  call (r), %rd2, (), p; ld.param.b32 %r1, [r]; }\n"
                 "  st.global.u32 [%rd1], %r1; ret; }\n");
  km_function keep = NULL, use = NULL;
  km_slice out;
  uint64_t address = 0;
  uint32_t value = 0;
  OK(km_slice_create(f->context, 1, sizeof value, KM_SLICE_ZEROED, &out));
  OK(km_slice_address(out, &address));
  OK(km_module_function(module, "keep", &keep));
  OK(launch(f, keep, 1, 1, NULL, 0));
  OK(km_module_function(module, "use", &use));
  OK(launch(f, use, 1, 1, &address, sizeof address));
  OK(km_slice_download(f->stream, out, 0, &value, sizeof value));
  OK(km_stream_synchronize(f->stream));
  assert_int_equal(value, 2);
  OK(km_slice_destroy(out));
  OK(km_function_destroy(use));
  OK(km_function_destroy(keep));
  OK(km_module_destroy(module));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kernels_run_and_variables_have_values),
      cmocka_unit_test(names_are_listed_without_reading_kernels),
      cmocka_unit_test(wrong_kernels_are_told_when_they_are_used),
      cmocka_unit_test(broken_texts_are_refused_at_load),
      cmocka_unit_test(functions_have_one_address_in_all_kernels),
  };
  return RUN_ON_DEVICES("lazy", tests);
}
