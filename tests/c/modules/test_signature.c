/* The types of kernels' parameters, and slices that are checked against them. */
#include <stdio.h>
#include <string.h>

#include <kernelmill/helpers.h>

#include "support/testing.h"

static const char source[] =
    "struct Point { float x, y; };\n"
    "extern \"C\" __global__ void mixed(const float* in, double* out, Point p, const Point* q,\n"
    "                                 int n, void* any, char* text, float4* v, float** rows) {\n"
    "  if (n > 0) out[0] = in[0] + p.x + q[0].y + text[0] + v[0].x;\n"
    "}\n"
    "namespace ns { __global__ void named(Point* p, unsigned long address) {} }\n"
    "#if 0\n"
    "extern \"C\" __global__ void hidden(int* x) {}\n"
    "#endif\n";

static const char plain[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry plain(.param .u64 a, .param .f32 b) { ret; }\n"
    ".visible .entry _Z5wrongPff(.param .u64 a, .param .u32 b) { ret; }\n"
    ".visible .entry _Z5rightPKff(.param .u64 a, .param .f32 b) { ret; }\n";

static km_function from_source(const fixture* f, const char* name) {
  km_module module;
  km_function function;
  if (is_fake(f)) skip(); /* it knows kernels by name only */
  km_status status = km_module_load_source(f->context, source, 0, "typed.cu", &module);
  if (status == KM_ERROR_NVRTC_UNAVAILABLE) skip();
  OK(status);
  OK(km_module_function(module, name, &function));
  OK(km_module_destroy(module));
  return function;
}

static km_function from_ptx(const fixture* f, const char* name) {
  km_module module;
  km_function function;
  if (is_fake(f)) skip();
  OK(km_module_load_ptx(f->context, plain, 0, "plain.ptx", &module));
  OK(km_module_function(module, name, &function));
  OK(km_module_destroy(module));
  return function;
}

/* "const float*4", with the lanes at the end. */
static void expect_type(km_function function, uint32_t index, const char* expected) {
  km_param_signature found = {.struct_size = sizeof found};
  char name[100], text[200];
  OK(km_function_param_signature(function, index, &found));
  OK(km_function_param_type_name(function, index, name, sizeof name, NULL));
  snprintf(text, sizeof text, "%s%s%s%u", found.is_const ? "const " : "", name,
           found.kind == KM_SIGNATURE_KIND_POINTER ? "*" : "", found.lanes);
  assert_string_equal(text, expected);
}

static void sources_tell_the_types(void** state) {
  km_function mixed = from_source(*state, "mixed");
  const char* types[] = {"const float*1", "double*1", "Point1",   "const Point*1", "int1",
                         "void*1",        "char*1",   "float4*4", "void**1"};
  for (uint32_t i = 0; i < 9; ++i) expect_type(mixed, i, types[i]);
  km_param_signature found = {.struct_size = sizeof found};
  OK(km_function_param_signature(mixed, 2, &found));
  assert_int_equal(found.kind, KM_SIGNATURE_KIND_VALUE);
  assert_int_equal(found.element, KM_ELEMENT_TYPE_NAMED);
  assert_int_equal(found.element_size_bytes, 8);
  assert_int_equal(found.size_bytes, 8);
  assert_int_equal(found.offset_bytes, 16);
  OK(km_function_destroy(mixed));
}

static void mangled_names_tell_the_types(void** state) {
  km_function named = from_source(*state, "_ZN2ns5namedEP5Pointm");
  expect_type(named, 0, "Point*1");
  expect_type(named, 1, "unsigned long1");
  OK(km_function_destroy(named));
  km_function right = from_ptx(*state, "_Z5rightPKff");
  expect_type(right, 0, "const float*1");
  expect_type(right, 1, "float1");
  OK(km_function_destroy(right));
}

static void messages_name_kernels_as_their_source_does(void** state) {
  fixture* f = *state;
  km_function right = from_ptx(f, "_Z5rightPKff");
  km_launch launch;
  km_param_info info = {.struct_size = sizeof info};
  OK(km_launch_create(f->stream, right, &launch));
  EXPECT(KM_ERROR_INVALID_LAUNCH, km_launch_submit(launch));
  expect_message("kernel 'right' has 2 parameters");
  EXPECT(KM_ERROR_INVALID_LAUNCH, km_launch_arg_scalar(launch, &info, 3));
  expect_message("of kernel 'right'");
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_function_param(right, 2, &info));
  expect_message("kernel 'right' has 2 parameters");
  OK(km_launch_destroy(launch));
  OK(km_function_destroy(right));
}

static void what_nobody_tells_is_unknown(void** state) {
  const char* names[] = {"plain", "_Z5wrongPff"};
  for (int i = 0; i < 2; ++i) {
    km_function function = from_ptx(*state, names[i]);
    km_param_signature found = {.struct_size = sizeof found};
    OK(km_function_param_signature(function, 0, &found));
    assert_int_equal(found.kind, KM_SIGNATURE_KIND_UNKNOWN);
    assert_int_equal(found.lanes, 0);
    expect_type(function, 1, "0");
    OK(km_function_destroy(function));
  }
}

static void object_files_keep_the_types(void** state) {
  fixture* f = *state;
  km_module module, loaded;
  km_function function;
  if (is_fake(f)) skip();
  km_status status = km_module_load_source(f->context, source, 0, "typed.cu", &module);
  if (status == KM_ERROR_NVRTC_UNAVAILABLE) skip();
  OK(status);
  status = km_module_save_object(module, "test_signature.kmo", NULL, 0);
  if (status == KM_ERROR_NOT_SUPPORTED) skip();
  OK(status);
  OK(km_module_load_file(f->context, "test_signature.kmo", &loaded));
  OK(km_module_function(loaded, "mixed", &function));
  expect_type(function, 3, "const Point*1");
  remove("test_signature.kmo");
  OK(km_function_destroy(function));
  OK(km_module_destroy(loaded));
  OK(km_module_destroy(module));
}

static void bad_questions_are_errors(void** state) {
  km_function function = from_ptx(*state, "plain");
  km_param_signature found = {.struct_size = 3};
  char name[1];
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_function_param_signature(function, 0, &found));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_function_param_signature(function, 0, NULL));
  found.struct_size = sizeof found;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_function_param_signature(function, 2, &found));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_function_param_type_name(function, 2, name, 1, NULL));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_function_param_type_name(function, 0, NULL, 0, NULL));
  EXPECT(KM_ERROR_INVALID_HANDLE, km_function_param_signature(NULL, 0, &found));
  EXPECT(KM_ERROR_INVALID_HANDLE, km_function_param_type_name(NULL, 0, name, 1, NULL));
  OK(km_function_destroy(function));
}

/* Gives a slice of this type to a parameter of `mixed`, by both ways of launching. */
static void expect_launch(fixture* f, km_status expected, uint32_t parameter, km_element_type type,
                          uint32_t lanes, const char* name) {
  km_function mixed = from_source(f, "mixed");
  km_slice slice, view;
  char arguments[72] = {0};
  km_launch_config config = {{1, 1, 1}, {1, 1, 1}, 0};
  OK(km_slice_create(f->context, 16, 16, KM_SLICE_ZEROED, &slice));
  OK(km_slice_set_element_type(slice, type, lanes, name));
  OK(km_slice_view(slice, 0, 4, &view));
  km_launch_slice entry = {parameter, 0, (uint64_t)(uintptr_t)view, 0};
  EXPECT(expected,
         km_launch_kernel(f->stream, mixed, &config, arguments, sizeof arguments, &entry, 1));
  OK(km_stream_synchronize(f->stream));
  OK(km_slice_destroy(view));
  OK(km_slice_destroy(slice));
  OK(km_function_destroy(mixed));
}

/* One parameter of `fits` for each element type, and the types that fit it beside its own. */
static const char fits[] =
    "struct Point { float x, y; };\n"
    "extern \"C\" __global__ void fits(char* c, signed char* b, bool* t, short* h, int* i, long* "
    "l,\n"
    "                                long long* q, float* f, double* d, float2* f2,\n"
    "                                float4* f4, uint3* u3, uchar4* c4, Point* p, int** a,\n"
    "                                void* v) {}\n";

enum { C, B, T, H, I, L, Q, F, D, F2, F4, U3, C4, P, A, V, kParameters };

static const struct {
  km_element_type type;
  uint32_t lanes;
  const char* name;
  uint32_t fits; /* a bit for each parameter */
} given[] = {
#define BIT(x) (1U << (x))
    {KM_ELEMENT_TYPE_UNKNOWN, 0, NULL, BIT(kParameters) - 1},
    {KM_ELEMENT_TYPE_U8, 1, NULL, BIT(kParameters) - 1},
    {KM_ELEMENT_TYPE_I8, 1, NULL, BIT(kParameters) - 1},
    {KM_ELEMENT_TYPE_CHAR, 1, NULL, BIT(kParameters) - 1},
    {KM_ELEMENT_TYPE_BOOL, 1, NULL, BIT(T) | BIT(V)},
    {KM_ELEMENT_TYPE_I16, 1, NULL, BIT(H) | BIT(V)},
    {KM_ELEMENT_TYPE_U16, 1, NULL, BIT(H) | BIT(V)},
    {KM_ELEMENT_TYPE_I32, 1, NULL, BIT(I) | BIT(U3) | BIT(V)},
    {KM_ELEMENT_TYPE_U32, 1, NULL, BIT(I) | BIT(U3) | BIT(V)},
    {KM_ELEMENT_TYPE_I64, 1, NULL, BIT(L) | BIT(Q) | BIT(A) | BIT(V)},
    {KM_ELEMENT_TYPE_U64, 1, NULL, BIT(L) | BIT(Q) | BIT(A) | BIT(V)},
    {KM_ELEMENT_TYPE_POINTER, 1, NULL, BIT(L) | BIT(Q) | BIT(A) | BIT(V)},
    {KM_ELEMENT_TYPE_I128, 1, NULL, BIT(V)},
    {KM_ELEMENT_TYPE_U128, 1, NULL, BIT(V)},
    {KM_ELEMENT_TYPE_F16, 1, NULL, BIT(V)},
    {KM_ELEMENT_TYPE_BF16, 1, NULL, BIT(V)},
    {KM_ELEMENT_TYPE_F8_E4M3, 1, NULL, BIT(V)},
    {KM_ELEMENT_TYPE_F8_E5M2, 1, NULL, BIT(V)},
    {KM_ELEMENT_TYPE_F32, 1, NULL, BIT(F) | BIT(F2) | BIT(F4) | BIT(V)},
    {KM_ELEMENT_TYPE_F32, 2, NULL, BIT(F2) | BIT(V)},
    {KM_ELEMENT_TYPE_F32, 4, NULL, BIT(F4) | BIT(V)},
    {KM_ELEMENT_TYPE_F64, 1, NULL, BIT(D) | BIT(V)},
    {KM_ELEMENT_TYPE_I32, 3, NULL, BIT(U3) | BIT(V)},
    {KM_ELEMENT_TYPE_I8, 4, NULL, BIT(C4) | BIT(V)},
    {KM_ELEMENT_TYPE_NAMED, 1, "Point", BIT(P) | BIT(V)},
    {KM_ELEMENT_TYPE_NAMED, 1, "ns::Point", BIT(V)},
    {KM_ELEMENT_TYPE_NAMED, 1, NULL, BIT(P) | BIT(V)},
};

static void slices_fit_the_types_that_the_header_lists(void** state) {
  fixture* f = *state;
  km_module module;
  km_function function;
  km_slice slice;
  uint64_t arguments[kParameters] = {0};
  km_launch_config config = {{1, 1, 1}, {1, 1, 1}, 0};
  if (is_fake(f)) skip();
  km_status status = km_module_load_source(f->context, fits, 0, "fits.cu", &module);
  if (status == KM_ERROR_NVRTC_UNAVAILABLE) skip();
  OK(status);
  OK(km_module_function(module, "fits", &function));
  OK(km_slice_create(f->context, 16, 16, KM_SLICE_ZEROED, &slice));
  for (size_t i = 0; i < sizeof given / sizeof given[0]; ++i) {
    OK(km_slice_set_element_type(slice, given[i].type, given[i].lanes, given[i].name));
    for (uint32_t parameter = 0; parameter < kParameters; ++parameter) {
      km_launch_slice entry = {parameter, 0, (uint64_t)(uintptr_t)slice, 0};
      EXPECT(
          (given[i].fits >> parameter & 1) != 0 ? KM_SUCCESS : KM_ERROR_INVALID_LAUNCH,
          km_launch_kernel(f->stream, function, &config, arguments, sizeof arguments, &entry, 1));
    }
  }
  OK(km_stream_synchronize(f->stream));
  OK(km_slice_destroy(slice));
  OK(km_function_destroy(function));
  OK(km_module_destroy(module));
}

static void slices_of_another_type_are_refused(void** state) {
  fixture* f = *state;
  expect_launch(f, KM_SUCCESS, 0, KM_ELEMENT_TYPE_F32, 1, NULL);
  expect_launch(f, KM_SUCCESS, 2, KM_ELEMENT_TYPE_F32, 1, NULL); /* a structure by value */
  expect_launch(f, KM_ERROR_INVALID_LAUNCH, 0, KM_ELEMENT_TYPE_F64, 1, NULL);
  expect_message("parameter 0 'in' of kernel 'mixed' is 'const float*'");
  expect_message("elements of 'double', expected 'float'");
  expect_launch(f, KM_ERROR_INVALID_LAUNCH, 3, KM_ELEMENT_TYPE_NAMED, 1, "ns::Point");
  expect_message("is 'const Point*'; the slice given for it has elements of 'ns::Point'");
}

static void launches_step_by_step_are_checked(void** state) {
  fixture* f = *state;
  km_function mixed = from_source(f, "mixed");
  km_launch call;
  km_slice slice;
  OK(km_slice_create(f->context, 1, 8, KM_SLICE_ZEROED, &slice));
  OK(km_slice_set_element_type(slice, KM_ELEMENT_TYPE_I64, 1, NULL));
  OK(km_launch_create(f->stream, mixed, &call));
  EXPECT(KM_ERROR_INVALID_LAUNCH, km_launch_arg_slice(call, slice, 0));
  OK(km_slice_set_element_type(slice, KM_ELEMENT_TYPE_F32, 1, NULL));
  OK(km_launch_arg_slice(call, slice, 0));
  OK(km_launch_destroy(call));
  OK(km_slice_destroy(slice));
  OK(km_function_destroy(mixed));
}

static void arguments_of_another_kind_are_refused(void** state) {
  fixture* f = *state;
  if (is_fake(f)) skip(); /* it knows sizes of parameters alone */
  km_function scale = load_kernel(f, "scale");
  km_launch call;
  km_slice slice;
  const float factor = 2;
  const int32_t wrong = 2;
  const uint32_t n = 1;
  const double wide = 1;
  OK(km_slice_create(f->context, 1, 4, KM_SLICE_ZEROED, &slice));
  OK(km_launch_create(f->stream, scale, &call));
  EXPECT(KM_ERROR_INVALID_LAUNCH, KM_ARGUMENT(call, factor));
  /* The driver of CUDA tells sizes alone. */
  expect_message(
      is_cuda(f)
          ? "parameter 0 'data' of kernel 'scale' is an integer or address of 8 bytes; 'float' "
            "was given: give a slice or an integer of 8 bytes"
          : "parameter 0 'data' of kernel 'scale' is an address of 8 bytes; 'float' was given: "
            "give a slice");
  EXPECT(KM_ERROR_INVALID_LAUNCH, KM_ARGUMENT(call, wide));
  OK(km_launch_arg_slice(call, slice, 0));
  EXPECT(KM_ERROR_INVALID_LAUNCH, KM_ARGUMENT(call, wrong));
  expect_message(
      "parameter 1 'factor' of kernel 'scale' is a float of 4 bytes; 'int' was given: give a "
      "float of 4 bytes");
  EXPECT(KM_ERROR_INVALID_LAUNCH, km_launch_arg_slice(call, slice, 0));
  expect_message("; a slice was given: give a float of 4 bytes");
  OK(KM_ARGUMENT(call, factor));
  EXPECT(KM_ERROR_INVALID_LAUNCH, KM_ARGUMENT(call, factor));
  expect_message("is an integer of 4 bytes; 'float' was given: give an integer of 4 bytes");
  OK(KM_ARGUMENT(call, n));
  OK(km_launch_destroy(call));
  OK(km_slice_destroy(slice));

  EXPECT(KM_ERROR_INVALID_LAUNCH, km_function_check_argument(scale, 1, KM_ELEMENT_TYPE_I32, 1, 4));
  OK(km_function_check_argument(scale, 1, KM_ELEMENT_TYPE_UNKNOWN, 0, 4));
  OK(km_function_check_argument(scale, 1, KM_ELEMENT_TYPE_F32, 1, 4));
  OK(km_function_check_argument(scale, 0, KM_ELEMENT_TYPE_POINTER, 1, 8));
  EXPECT(KM_ERROR_INVALID_LAUNCH, km_function_check_argument(scale, 3, KM_ELEMENT_TYPE_I32, 1, 4));
  expect_message("kernel 'scale' has 3 parameters; 'int' is given for parameter 3");
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_function_check_argument(scale, 1, KM_ELEMENT_TYPE_I32, 9, 4));
  OK(km_function_destroy(scale));
}

static void messages_have_types_of_the_source(void** state) {
  fixture* f = *state;
  km_function mixed = from_source(f, "mixed");
  km_launch call;
  OK(km_launch_create(f->stream, mixed, &call));
  EXPECT(KM_ERROR_INVALID_LAUNCH, km_launch_submit(call));
  expect_message(
      "0 arguments were given: parameter 0 'in' of kernel 'mixed' is 'const float*'; give a "
      "slice");
  OK(km_launch_destroy(call));
  OK(km_function_destroy(mixed));
}

static void there_are_no_other_types(void** state) {
  fixture* f = *state;
  km_slice slice;
  static char name[5000];
  OK(km_slice_create(f->context, 1, 8, KM_SLICE_DEFAULT, &slice));
  memset(name, 'n', sizeof name - 1);
  const struct {
    km_element_type type;
    uint32_t lanes;
    const char* name;
  } wrong[] = {{KM_ELEMENT_TYPE_F32, 0, NULL},         {KM_ELEMENT_TYPE_F32, 5, NULL},
               {KM_ELEMENT_TYPE_F16, 3, NULL},         {KM_ELEMENT_TYPE_VOID, 1, NULL},
               {KM_ELEMENT_TYPE_F32, 1, "float"},      {KM_ELEMENT_TYPE_NAMED, 2, "P"},
               {KM_ELEMENT_TYPE_NAMED, 1, name},       {KM_ELEMENT_TYPE_UNKNOWN, 1, NULL},
               {KM_ELEMENT_TYPE_F8_E5M2 + 1, 1, NULL}, {-1, 1, NULL}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    EXPECT(KM_ERROR_INVALID_ARGUMENT,
           km_slice_set_element_type(slice, wrong[i].type, wrong[i].lanes, wrong[i].name));
  }
  OK(km_slice_destroy(slice));
  EXPECT(KM_ERROR_INVALID_HANDLE, km_slice_set_element_type(slice, KM_ELEMENT_TYPE_F32, 1, NULL));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sources_tell_the_types),
      cmocka_unit_test(mangled_names_tell_the_types),
      cmocka_unit_test(messages_name_kernels_as_their_source_does),
      cmocka_unit_test(what_nobody_tells_is_unknown),
      cmocka_unit_test(object_files_keep_the_types),
      cmocka_unit_test(bad_questions_are_errors),
      cmocka_unit_test(slices_fit_the_types_that_the_header_lists),
      cmocka_unit_test(slices_of_another_type_are_refused),
      cmocka_unit_test(launches_step_by_step_are_checked),
      cmocka_unit_test(arguments_of_another_kind_are_refused),
      cmocka_unit_test(messages_have_types_of_the_source),
      cmocka_unit_test(there_are_no_other_types),
  };
  return RUN_ON_DEVICES("signature", tests);
}
