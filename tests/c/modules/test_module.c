/* Modules, functions, global symbols. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/testing.h"

static void functions_are_listed_and_found(void** state) {
  fixture* f = *state;
  km_module module = load_test_module(f);
  const char* expected[] = {"noop", "fill_index", "scale", "crash"};
  uint32_t count = 0;
  char name[64];
  uint64_t size = 0;
  km_function function = NULL;
  OK(km_module_function_count(module, &count));
  assert_int_equal(count, 4);
  for (uint32_t i = 0; i < count; ++i) {
    OK(km_module_function_name(module, i, name, sizeof name, &size));
    assert_string_equal(name, expected[i]);
    assert_int_equal(size, strlen(name) + 1);
    OK(km_module_function(module, name, &function));
    OK(km_function_name(function, name, sizeof name, NULL));
    assert_string_equal(name, expected[i]);
    OK(km_function_destroy(function));
  }
  function = NULL;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_module_function_name(module, 4, name, sizeof name, NULL));
  EXPECT(KM_ERROR_BUFFER_TOO_SMALL, km_module_function_name(module, 0, name, 4, NULL));
  expect_message("capacity_bytes is 4; the text needs 5");
  EXPECT(KM_ERROR_NOT_FOUND, km_module_function(module, "fill_inedx", &function));
  expect_message("no kernel 'fill_inedx' in module 'test.ptx'. Did you mean 'fill_index'?");
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_module_function(module, NULL, &function));
  assert_null(function);
  OK(km_module_destroy(module));
}

static void parameters_have_size_and_place(void** state) {
  fixture* f = *state;
  km_function function = load_kernel(f, "scale");
  const uint64_t sizes[] = {8, 4, 4}, offsets[] = {0, 8, 12};
  uint32_t count = 0;
  const km_param_type types[] = {KM_PARAM_TYPE_INTEGER, KM_PARAM_TYPE_FLOAT, KM_PARAM_TYPE_INTEGER};
  km_param_info info = {sizeof info, 77, 77, 77, 77, 77, 77};
  OK(km_function_param_count(function, &count));
  assert_int_equal(count, 3);
  for (uint32_t i = 0; i < count; ++i) {
    OK(km_function_param(function, i, &info));
    assert_int_equal(info.size_bytes, sizes[i]);
    assert_int_equal(info.align_bytes, sizes[i]);
    assert_int_equal(info.offset_bytes, offsets[i]);
    if (!is_fake(f) || is_cuda(f)) assert_int_equal(info.value_type, types[i]);
  }
  info.kind = 77;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_function_param(function, 3, &info));
  expect_message("index is 3; kernel 'scale' has 3 parameters");
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_function_param(function, 0, NULL));
  assert_int_equal(info.kind, 77);
  OK(km_function_param(function, 0, &info));
  if (is_cuda(f))
    assert_int_equal(info.kind, KM_PARAM_KIND_UNKNOWN); /* nobody looks into kernels */
  if (!is_cuda(f) && !is_fake(f)) assert_int_equal(info.kind, KM_PARAM_KIND_POINTER);
  OK(km_function_destroy(function));
}

static void attributes_are_known(void** state) {
  fixture* f = *state;
  km_function function = load_kernel(f, "scale");
  int64_t value = 77;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_function_attribute_get(function, 0, &value));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_function_attribute_get(function, 100, &value));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_function_attribute_get(function, 1, NULL));
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_function_attribute_set(function, KM_FUNCTION_ATTRIBUTE_REGISTERS, 1));
  assert_int_equal(value, 77);
  OK(km_function_attribute_set(function, KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES, 65536));
  OK(km_function_attribute_get(function, KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES, &value));
  assert_int_equal(value, 65536);
  EXPECT(KM_ERROR_INVALID_ARGUMENT,
         km_function_attribute_set(function, KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES, -1));
  if (!is_fake(f)) {
    OK(km_function_attribute_get(function, KM_FUNCTION_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &value));
    assert_int_equal(value, 1024);
    OK(km_function_attribute_get(function, KM_FUNCTION_ATTRIBUTE_PTX_VERSION, &value));
    assert_int_equal(value, 70);
    OK(km_function_attribute_get(function, KM_FUNCTION_ATTRIBUTE_TARGET, &value));
    /* A GPU compiles PTX for itself. */
    const uint32_t own = f->info.compute_capability_major * 10 + f->info.compute_capability_minor;
    assert_true(value == 70 || (is_cuda(f) && value == own));
  }
  OK(km_function_destroy(function));
}

static void globals_are_slices(void** state) {
  fixture* f = *state;
  km_module module = load_test_module(f);
  km_slice slice, again, none = NULL;
  km_slice_info info = {sizeof info, 0, 0, 0, 0, 0};
  uint32_t values[4] = {9, 9, 9, 9};
  OK(km_module_global(module, "counters", &slice));
  OK(km_slice_info_get(slice, &info));
  assert_int_equal(info.size_bytes, 16);
  OK(km_slice_download(f->stream, slice, 0, values, sizeof values));
  for (int i = 0; i < 4; ++i) assert_int_equal(values[i], 0);
  OK(km_slice_fill_u32(f->stream, slice, 4, 3, 1));
  OK(km_module_global(module, "counters", &again));
  OK(km_slice_download(f->stream, again, 0, values, sizeof values));
  assert_int_equal(values[1], 3);
  EXPECT(KM_ERROR_NOT_FOUND, km_module_global(module, "no_such_symbol", &none));
  assert_null(none);
  OK(km_module_destroy(module)); /* the slices keep it */
  OK(km_slice_download(f->stream, slice, 0, values, sizeof values));
  OK(km_slice_destroy(slice));
  OK(km_slice_destroy(again));
}

static void bad_ptx_is_an_error_with_its_place(void** state) {
  fixture* f = *state;
  km_module module = NULL;
  const char bad[] = "this is no PTX";
  EXPECT(KM_ERROR_INVALID_PTX,
         km_module_load_ptx(f->context, bad, sizeof bad - 1, "bad.ptx", &module));
  expect_message("bad.ptx:1:1");
  EXPECT(KM_ERROR_INVALID_PTX, km_module_load_ptx(f->context, "", 0, "empty.ptx", &module));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_module_load_ptx(f->context, NULL, 0, NULL, &module));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_module_load_ptx(f->context, bad, UINT64_MAX, NULL, &module));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_module_load_ptx(f->context, bad, 1, NULL, NULL));
  assert_null(module);
}

static void closing_zeros_may_be_counted(void** state) {
  fixture* f = *state;
  km_module module;
  OK(km_module_load_ptx(f->context, test_ptx, strlen(test_ptx) + 1, NULL, &module));
  OK(km_module_destroy(module));
}

static void files_are_loaded_by_ending_or_content(void** state) {
  fixture* f = *state;
  const char* endings[] = {".ptx", ".txt", ""};
  km_module module = NULL;
  char path[256];
  for (int i = 0; i < 3; ++i) {
    snprintf(path, sizeof path, "/tmp/km_test_module_%d%s", (int)getpid(), endings[i]);
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(test_ptx, file) >= 0);
    fclose(file);
    OK(km_module_load_file(f->context, path, &module));
    unlink(path);
    OK(km_module_destroy(module));
  }
  module = NULL;
  EXPECT(KM_ERROR_NOT_FOUND, km_module_load_file(f->context, path, &module));
  expect_message("cannot open");
  expect_message("No such file");
  EXPECT(KM_ERROR_IO, km_module_load_file(f->context, "/", &module));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_module_load_file(f->context, NULL, &module));
  assert_null(module);
}

static void missing_files_have_near_names(void** state) {
  fixture* f = *state;
  char folder[] = "/tmp/km_test_module_XXXXXX", path[64], wrong[64];
  km_module module = NULL;
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/scale.ptx", folder);
  snprintf(wrong, sizeof wrong, "%s/scael.ptx", folder);
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  fclose(file);
  EXPECT(KM_ERROR_NOT_FOUND, km_module_load_file(f->context, wrong, &module));
  expect_message("No such file or directory. Did you mean 'scale.ptx'?");
  unlink(path);
  rmdir(folder);
}

static char* read_whole(const char* path, uint64_t* out_size) {
  FILE* file = fopen(path, "rb");
  assert_non_null(file);
  assert_int_equal(fseek(file, 0, SEEK_END), 0);
  const long size = ftell(file);
  rewind(file);
  char* content = malloc((size_t)size);
  assert_non_null(content);
  assert_int_equal(fread(content, 1, (size_t)size, file), (size_t)size);
  fclose(file);
  *out_size = (uint64_t)size;
  return content;
}

static void fill_index_with(fixture* f, km_module module, uint32_t threads) {
  enum { kCount = 300 };
  uint32_t values[kCount] = {0};
  uint64_t address = 0;
  km_function function = NULL;
  km_slice out = NULL;
  OK(km_module_function(module, "fill_index", &function));
  OK(km_slice_create(f->context, kCount, sizeof(uint32_t), KM_SLICE_ZEROED, &out));
  OK(km_slice_address(out, &address));
  const fill_index_arguments arguments = {address, threads, kCount};
  OK(launch(f, function, (kCount + threads - 1) / threads, threads, &arguments, sizeof arguments));
  OK(km_slice_download(f->stream, out, 0, values, sizeof values));
  OK(km_stream_synchronize(f->stream));
  for (uint32_t i = 0; i < kCount; ++i) assert_int_equal(values[i], threads + i);
  OK(km_slice_destroy(out));
  OK(km_function_destroy(function));
}

static void damaged_objects_are_refused(const fixture* f, char* data, uint64_t size) {
  km_module none = NULL;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_module_from_object(f->context, "PTX", 3, NULL, &none));
  expect_message("not an object file");
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_module_from_object(f->context, data, size - 1, NULL, &none));
  expect_message("damaged or cut off");
  for (uint64_t at = 20; at < size; at += size / 50) { /* behind the magic and the format */
    data[at] = (char)(data[at] ^ 4);
    EXPECT(KM_ERROR_INVALID_ARGUMENT, km_module_from_object(f->context, data, size, NULL, &none));
    data[at] = (char)(data[at] ^ 4);
  }
  data[8] = 9; /* a later format */
  EXPECT(KM_ERROR_BUILD_MISMATCH, km_module_from_object(f->context, data, size, NULL, &none));
  expect_message("made by code generator");
  assert_null(none);
}

/* `size` bytes right before a page that may not be touched; give_back() ends it. */
static char* before_forbidden_page(const char* data, uint64_t size) {
  const uint64_t page = 4096, whole = (size + page - 1) / page * page;
  char* pages =
      mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(pages, MAP_FAILED);
  assert_int_equal(mprotect(pages + whole, page, PROT_NONE), 0);
  return memcpy(pages + whole - size, data, size);
}

static void give_back(char* data, uint64_t size) {
  const uint64_t page = 4096, whole = (size + page - 1) / page * page;
  munmap(data + size - whole, whole + page);
}

/* Texts and objects with a size end there: none needs a zero behind it. */
static void texts_end_where_their_size_says(void** state) {
  fixture* f = *state;
  static const char ptx[] =
      ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry noop() { ret; } // end";
  for (uint64_t size = sizeof ptx - 1; size > 0; --size) {
    char* text = before_forbidden_page(ptx, size);
    km_module module = NULL;
    const km_status status = km_module_load_ptx(f->context, text, size, NULL, &module);
    if (size == sizeof ptx - 1) OK(status);
    if (status == KM_SUCCESS) OK(km_module_destroy(module));
    give_back(text, size);
  }
}

static void objects_end_where_their_size_says(const fixture* f, const char* data, uint64_t size) {
  for (uint64_t part = size; part > 0; part -= part > 1000 ? part / 5 : part > 16 ? 16 : 1) {
    char* object = before_forbidden_page(data, part);
    km_module module = NULL;
    const km_status status = km_module_from_object(f->context, object, part, NULL, &module);
    if ((status == KM_SUCCESS) != (part == size)) {
      char message[256] = "";
      km_last_error_message(message, sizeof message, NULL);
      fail_msg("%llu of %llu bytes: status %d, %s", (unsigned long long)part,
               (unsigned long long)size, (int)status, message);
    }
    if (status == KM_SUCCESS) OK(km_module_destroy(module));
    give_back(object, part);
  }
}

static void objects_are_saved_and_loaded(void** state) {
  fixture* f = *state;
  km_module module = load_test_module(f), copy = NULL, from_file = NULL;
  const uint32_t blocks[] = {64, 1, 1, 8, 4, 1}, too_large[] = {2000, 1, 1};
  char path[64];
  snprintf(path, sizeof path, "/tmp/km_test_module_%d.kmo", (int)getpid());
  if (is_fake(f) && !is_cuda(f)) {
    EXPECT(KM_ERROR_NOT_SUPPORTED, km_module_save_object(module, path, blocks, 2));
    EXPECT(KM_ERROR_NOT_SUPPORTED, km_module_from_object(f->context, path, 4, NULL, &copy));
    expect_message("has no compiled modules");
    OK(km_module_destroy(module));
    return;
  }
  OK(km_module_save_object(module, path, blocks, 2));
  uint64_t size = 0;
  char* data = read_whole(path, &size);
  OK(km_module_from_object(f->context, data, size, "copy.kmo", &copy));
  OK(km_module_load_file(f->context, path, &from_file));
  unlink(path);
  const uint32_t sizes[] = {64, 32, 100, 256};
  for (int i = 0; i < 4; ++i) fill_index_with(f, copy, sizes[i]);
  fill_index_with(f, from_file, 64);
  OK(km_module_destroy(from_file));
  OK(km_module_destroy(copy));

  copy = NULL;
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_module_from_object(f->context, NULL, 0, NULL, &copy));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_module_from_object(f->context, data, size, NULL, NULL));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_module_from_object(f->context, "PTX", 3, NULL, &copy));
  if (!is_cuda(f)) objects_end_where_their_size_says(f, data, size);
  if (!is_cuda(f)) damaged_objects_are_refused(f, data, size);
  assert_null(copy);
  free(data);

  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_module_save_object(module, NULL, blocks, 2));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_module_save_object(module, path, NULL, 1));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_module_save_object(module, path, blocks, UINT64_MAX));
  EXPECT(KM_ERROR_INVALID_LAUNCH, km_module_save_object(module, path, too_large, 1));
  EXPECT(KM_ERROR_IO, km_module_save_object(module, "/no/such/folder/k.kmo", NULL, 0));
  expect_message("cannot write '/no/such/folder/k.kmo'");
  assert_int_not_equal(access(path, F_OK), 0);
  OK(km_module_destroy(module));
}

/* Behind `kernels`: one that needs textures that compare. */
static km_status load_with_textures(fixture* f, const char* kernels, km_module* out) {
  char text[8192];
  const int size =
      snprintf(text, sizeof text,
               "%s\n.visible .entry picture(.param .u64 texture) {\n"
               "  .reg .b64 %%rd<2>;\n  .reg .f32 %%f<7>;\n"
               "  ld.param.u64 %%rd1, [texture];\n"
               "  tex.2d.v4.f32.f32 {%%f1, %%f2, %%f3, %%f4}, [%%rd1, {%%f5, %%f6}], %%f5;\n"
               "  ret;\n}\n",
               kernels);
  assert_true(size > 0 && (size_t)size < sizeof text);
  return km_module_load_ptx(f->context, text, (uint64_t)size, "beside.ptx", out);
}

static void expect_only_textures_refused(fixture* f, km_module module) {
  uint32_t count = 0;
  char name[64];
  km_function function = NULL;
  OK(km_module_function_count(module, &count));
  assert_int_equal(count, 5);
  OK(km_module_function_name(module, 4, name, sizeof name, NULL));
  assert_string_equal(name, "picture");
  EXPECT(KM_ERROR_UNSUPPORTED_PTX, km_module_function(module, "picture", &function));
  expect_message("'tex.2d.v4.f32.f32' in 'picture' is not supported by the cpu backend");
  assert_null(function);
  fill_index_with(f, module, 64);
}

static void kernels_run_beside_one_that_cannot(void** state) {
  fixture* f = *state;
  if (is_cuda(f) || is_fake(f)) return; /* they take any PTX, or look at none */
  km_module module = NULL, none = NULL, copy = NULL;
  const char header[] = ".version 8.0\n.target sm_80\n.address_size 64\n";
  EXPECT(KM_ERROR_UNSUPPORTED_PTX, load_with_textures(f, header, &none));
  expect_message("'tex.2d.v4.f32.f32' in 'picture'");
  assert_null(none);
  OK(load_with_textures(f, test_ptx, &module));
  expect_only_textures_refused(f, module);
  char path[64];
  snprintf(path, sizeof path, "/tmp/km_test_beside_%d.kmo", (int)getpid());
  OK(km_module_save_object(module, path, NULL, 0));
  OK(km_module_load_file(f->context, path, &copy));
  unlink(path);
  expect_only_textures_refused(f, copy);
  OK(km_module_destroy(copy));
  OK(km_module_destroy(module));
}

static void modules_for_newer_devices_are_refused(void** state) {
  fixture* f = *state;
  if (is_cuda(f) || is_fake(f)) return;
  km_module none = NULL;
  static const char later[] =
      ".version 8.7\n.target sm_120\n.address_size 64\n.visible .entry k() { ret; }\n";
  EXPECT(KM_ERROR_INVALID_PTX,
         km_module_load_ptx(f->context, later, sizeof later - 1, "later.ptx", &none));
  expect_message("the module is for sm_120, the device has compute capability 8.9");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(functions_are_listed_and_found),
      cmocka_unit_test(parameters_have_size_and_place),
      cmocka_unit_test(attributes_are_known),
      cmocka_unit_test(globals_are_slices),
      cmocka_unit_test(bad_ptx_is_an_error_with_its_place),
      cmocka_unit_test(closing_zeros_may_be_counted),
      cmocka_unit_test(files_are_loaded_by_ending_or_content),
      cmocka_unit_test(missing_files_have_near_names),
      cmocka_unit_test(texts_end_where_their_size_says),
      cmocka_unit_test(objects_are_saved_and_loaded),
      cmocka_unit_test(kernels_run_beside_one_that_cannot),
      cmocka_unit_test(modules_for_newer_devices_are_refused),
  };
  return RUN_ON_DEVICES("module", tests);
}
