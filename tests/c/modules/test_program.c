/* CUDA C++ to PTX. Where NVRTC is not installed, that is what the calls must say. */
#include <stdlib.h>
#include <string.h>

#include "support/testing.h"

static const char source[] =
    "#include \"factor.h\"\n"
    "extern \"C\" __global__ void noop() {}\n"
    "template <typename T> __global__ void scale_by(T* data, unsigned n) {\n"
    "  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) data[i] *= static_cast<T>(FACTOR);\n"
    "}\n";
static const char header[] = "#define FACTOR 3\n";

static km_program new_program(const char* text) {
  km_program program;
  OK(km_program_create(text, strlen(text), "filters.cu", &program));
  return program;
}

/* Skips the test where there is no compiler. */
static void need_nvrtc(void) {
  km_program program = new_program("");
  const km_status status = km_program_compile(program);
  OK(km_program_destroy(program));
  if (status != KM_ERROR_NVRTC_UNAVAILABLE) return;
  expect_message("NVRTC");
  skip();
}

static void nothing_is_there_before_compiling(void** state) {
  km_program program = new_program(source);
  char buffer[16] = "untouched";
  uint64_t size = 0;
  (void)state;
  OK(km_program_log(program, NULL, 0, &size));
  assert_int_equal(size, 1);
  EXPECT(KM_ERROR_NOT_FOUND, km_program_ptx(program, buffer, sizeof buffer, &size));
  expect_message("program 'filters.cu' has not been compiled with success");
  EXPECT(KM_ERROR_NOT_FOUND,
         km_program_lowered_name(program, "noop", buffer, sizeof buffer, &size));
  assert_string_equal(buffer, "untouched");
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_program_add_option(program, NULL));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_program_add_header(program, NULL, "", 0));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_program_add_header(program, "a.h", NULL, 1));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_program_add_header(program, "", "", 0));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_program_add_header(program, "a.h", "", UINT64_MAX));
  char name[5000];
  memset(name, 'a', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_program_add_header(program, name, "", 0));
  expect_message("the name of the header has 4999 bytes; it can have 1 to 4095");
  OK(km_program_add_header(program, "a.h", "", 0));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_program_add_header(program, "a.h", "", 0));
  expect_message("a header 'a.h' was added before");
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_program_add_name_expression(program, NULL));
  OK(km_program_destroy(program));
  program = NULL;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_program_create(NULL, 0, NULL, &program));
  assert_null(program);
}

static void a_program_is_compiled_and_loaded(void** state) {
  fixture* f = *state;
  km_program program = new_program(source);
  km_module module;
  km_function function;
  char name[128];
  uint64_t size = 0;
  need_nvrtc();
  OK(km_program_add_header(program, "factor.h", header, strlen(header)));
  OK(km_program_add_option(program, "-DUNUSED=1"));
  OK(km_program_add_name_expression(program, "scale_by<float>"));
  OK(km_program_compile(program));
  OK(km_program_ptx(program, NULL, 0, &size));
  char* ptx = malloc(size);
  assert_non_null(ptx);
  OK(km_program_ptx(program, ptx, size, NULL));
  assert_int_equal(strlen(ptx) + 1, size);
  assert_non_null(strstr(ptx, ".entry noop"));
  OK(km_program_lowered_name(program, "scale_by<float>", name, sizeof name, NULL));
  assert_non_null(strstr(ptx, name));
  free(ptx);
  EXPECT(KM_ERROR_NOT_FOUND,
         km_program_lowered_name(program, "scale_by<int>", name, sizeof name, NULL));
  if (!is_fake(f)) {
    OK(km_module_load_program(f->context, program, &module));
    OK(km_module_function(module, "scale_by<float>", &function));
    OK(km_function_destroy(function));
    OK(km_module_function(module, name, &function));
    OK(km_function_destroy(function));
    EXPECT(KM_ERROR_NOT_FOUND, km_module_function(module, "scale_by<int>", &function));
    expect_message("instances that km_program_add_name_expression names");
    OK(km_module_destroy(module));
  }
  OK(km_program_destroy(program));
}

static void an_uninstantiated_template_is_no_kernel(void** state) {
  fixture* f = *state;
  const char text[] = "template <class T> __global__ void fill(T* x) { *x = 1; }";
  km_module module;
  km_function function;
  need_nvrtc();
  if (is_fake(f)) skip();
  OK(km_module_load_source(f->context, text, 0, "fill.cu", &module));
  EXPECT(KM_ERROR_NOT_FOUND, km_module_function(module, "fill", &function));
  expect_message(
      "no kernel 'fill' in module 'fill.cu', which has none: of a template it has the "
      "instances that km_program_add_name_expression names before the source is compiled");
  OK(km_module_destroy(module));
}

/* Size 0 is up to the closing zero; other sizes may count it: the same in every call. */
static void texts_end_at_their_size_or_their_zero(void** state) {
  fixture* f = *state;
  const uint64_t sizes[] = {0, sizeof source - 1, sizeof source};
  const uint64_t header_sizes[] = {0, sizeof header - 1, sizeof header};
  const char plain[] = "extern \"C\" __global__ void noop() {}";
  const uint64_t plain_sizes[] = {0, sizeof plain - 1, sizeof plain};
  need_nvrtc();
  for (int i = 0; i < 3; ++i) {
    km_program program;
    km_module module;
    km_function function;
    uint64_t ptx_size = 0;
    OK(km_program_create(source, sizes[i], NULL, &program));
    OK(km_program_add_header(program, "factor.h", header, header_sizes[i]));
    OK(km_program_add_header(program, "empty.h", NULL, 0));
    OK(km_program_add_name_expression(program, "scale_by<float>"));
    OK(km_program_compile(program));
    OK(km_program_ptx(program, NULL, 0, &ptx_size));
    assert_true(ptx_size > 100);
    OK(km_program_destroy(program));
    if (is_fake(f)) continue;
    OK(km_module_load_source(f->context, plain, plain_sizes[i], NULL, &module));
    OK(km_module_function(module, "noop", &function));
    OK(km_function_destroy(function));
    OK(km_module_destroy(module));
  }
}

static void ptx_ends_at_its_size_or_its_zero(void** state) {
  fixture* f = *state;
  const uint64_t length = strlen(test_ptx);
  const uint64_t sizes[] = {0, length, length + 1};
  const km_launch_config config = {{1, 1, 1}, {32, 1, 1}, 0};
  for (int i = 0; i < 3; ++i) {
    km_module module;
    km_tune tune;
    uint32_t best = 9;
    OK(km_module_load_ptx(f->context, test_ptx, sizes[i], NULL, &module));
    OK(km_module_destroy(module));
    OK(km_tune_create(f->device, test_ptx, sizes[i], "noop", &tune));
    OK(km_tune_add_candidate(tune, &config, NULL, &best));
    if (!is_fake(f)) OK(km_tune_run(tune, NULL, 0, &best));
    OK(km_tune_destroy(tune));
  }
}

static void errors_are_in_the_log(void** state) {
  fixture* f = *state;
  km_program program = new_program("__global__ void k() { undeclared = 1; }\n");
  km_module module = NULL;
  char log[4096];
  need_nvrtc();
  EXPECT(KM_ERROR_COMPILATION_FAILED, km_program_compile(program));
  expect_message("undeclared");
  OK(km_program_log(program, log, sizeof log, NULL));
  assert_non_null(strstr(log, "undeclared"));
  assert_non_null(strstr(log, "filters.cu"));
  EXPECT(KM_ERROR_NOT_FOUND, km_module_load_program(f->context, program, &module));
  EXPECT(KM_ERROR_COMPILATION_FAILED,
         km_module_load_source(f->context, "nonsense", 8, "bad.cu", &module));
  assert_null(module);
  OK(km_program_destroy(program));
}

static void source_is_compiled_for_the_device(void** state) {
  fixture* f = *state;
  const char text[] =
      "extern \"C\" __global__ void fill_index(unsigned* out, unsigned base, unsigned n) {\n"
      "  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) out[i] = base + i;\n"
      "}\n";
  km_module module;
  km_function function;
  km_slice slice;
  fill_index_arguments arguments = {0, 50, 1000};
  uint32_t values[1000];
  need_nvrtc();
  if (is_fake(f)) skip();
  OK(km_module_load_source(f->context, text, strlen(text), "fill.cu", &module));
  OK(km_module_function(module, "fill_index", &function));
  OK(km_slice_create(f->context, 1000, 4, 0, &slice));
  OK(km_slice_address(slice, &arguments.out));
  OK(launch(f, function, 8, 128, &arguments, sizeof arguments));
  OK(km_slice_download(f->stream, slice, 0, values, sizeof values));
  for (uint32_t i = 0; i < 1000; ++i) assert_int_equal(values[i], 50 + i);
  OK(km_slice_destroy(slice));
  OK(km_function_destroy(function));
  OK(km_module_destroy(module));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_there_before_compiling),
      cmocka_unit_test(a_program_is_compiled_and_loaded),
      cmocka_unit_test(an_uninstantiated_template_is_no_kernel),
      cmocka_unit_test(texts_end_at_their_size_or_their_zero),
      cmocka_unit_test(ptx_ends_at_its_size_or_its_zero),
      cmocka_unit_test(errors_are_in_the_log),
      cmocka_unit_test(source_is_compiled_for_the_device),
  };
  return RUN_ON_DEVICES("program", tests);
}
