/* Compiled PTX is kept on disk: a second compilation of the same needs no compiler, and whatever
 * changes the result is noticed. A process of its own, with a cache of its own. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/testing.h"

static char folder[] = "/tmp/kernelmill-ptx-XXXXXX";
static char log_path[64], header_path[64];

static void write_text(const char* path, const char* text) {
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

/* Compilations so far that the cache answered. */
static int hits(void) {
  char line[1000];
  int count = 0;
  FILE* file = fopen(log_path, "r");
  if (file == NULL) return 0;
  while (fgets(line, sizeof line, file) != NULL) count += strstr(line, "from the cache") != NULL;
  fclose(file);
  return count;
}

typedef struct input {
  const char *source, *option, *header, *expression;
} input;

/* Whether the cache had it. The PTX is copied out. */
static int compile(const input* in, char* ptx, uint64_t capacity_bytes) {
  const int before = hits();
  km_program program;
  OK(km_program_create(in->source, strlen(in->source), "cached.cu", &program));
  if (in->option != NULL) OK(km_program_add_option(program, in->option));
  if (in->header != NULL) {
    OK(km_program_add_header(program, "given.h", in->header, strlen(in->header)));
  }
  if (in->expression != NULL) OK(km_program_add_name_expression(program, in->expression));
  const km_status status = km_program_compile(program);
  if (status == KM_ERROR_NVRTC_UNAVAILABLE) {
    OK(km_program_destroy(program));
    skip();
  }
  OK(status);
  OK(km_program_ptx(program, ptx, capacity_bytes, NULL));
  if (in->expression != NULL) {
    char name[200];
    OK(km_program_lowered_name(program, in->expression, name, sizeof name, NULL));
    assert_non_null(strstr(ptx, name));
  }
  OK(km_program_destroy(program));
  return hits() - before;
}

static const char plain[] =
    "#include \"given.h\"\n"
    "template <int N> __global__ void k(int* out) { out[threadIdx.x] = VALUE + N; }\n";

static void the_same_is_not_compiled_again(void** state) {
  static char first[20000], second[20000];
  const input in = {plain, "-DOTHER=1", "#define VALUE 1000\n", "k<2>"};
  (void)state;
  assert_int_equal(compile(&in, first, sizeof first), 0);
  assert_int_equal(compile(&in, second, sizeof second), 1);
  assert_string_equal(first, second);
  assert_non_null(strstr(first, "1002"));
}

static void whatever_changes_the_result_is_noticed(void** state) {
  static char ptx[20000];
  const input inputs[] = {
      {plain, NULL, "#define VALUE 1\n", "k<2>"},
      {plain, NULL, "#define VALUE 2\n", "k<2>"},
      {plain, NULL, "#define VALUE 1\n", "k<3>"},
      {plain, "--use_fast_math", "#define VALUE 1\n", "k<2>"},
      {plain, "--gpu-architecture=compute_80", "#define VALUE 1\n", "k<2>"},
      {"#include \"given.h\"\n\ntemplate <int N> __global__ void k(int* out) { *out = VALUE; }\n",
       NULL, "#define VALUE 1\n", "k<2>"},
  };
  (void)state;
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; ++i) {
      assert_int_equal(compile(&inputs[i], ptx, sizeof ptx), round);
    }
  }
}

static void files_that_are_included_count(void** state) {
  static char ptx[20000];
  char option[100];
  const input in = {
      "#include <disk.h>\n"
      "extern \"C\" __global__ void k(int* out) { *out = FROM_DISK; }\n",
      option, NULL, NULL};
  (void)state;
  snprintf(option, sizeof option, "--include-path=%s", folder);
  write_text(header_path, "#define FROM_DISK 4001\n");
  assert_int_equal(compile(&in, ptx, sizeof ptx), 0);
  assert_int_equal(compile(&in, ptx, sizeof ptx), 1);
  write_text(header_path, "#define FROM_DISK 4002\n");
  assert_int_equal(compile(&in, ptx, sizeof ptx), 0);
  assert_non_null(strstr(ptx, "4002"));
  /* What it includes in turn, too. */
  write_text(header_path, "#include \"inner.h\"\n");
  char inner[100];
  snprintf(inner, sizeof inner, "%s/inner.h", folder);
  write_text(inner, "#define FROM_DISK 4003\n");
  assert_int_equal(compile(&in, ptx, sizeof ptx), 0);
  assert_int_equal(compile(&in, ptx, sizeof ptx), 1);
  write_text(inner, "#define FROM_DISK 4004\n");
  assert_int_equal(compile(&in, ptx, sizeof ptx), 0);
  assert_non_null(strstr(ptx, "4004"));
  unlink(inner);
  unlink(header_path);
}

static void what_cannot_be_told_is_not_kept(void** state) {
  static char ptx[20000];
  const input inputs[] = {
      {"#define NAME \"given.h\"\n#include NAME\nextern \"C\" __global__ void k() {}\n", NULL,
       "#define VALUE 1\n", NULL},
      {"extern \"C\" __global__ void k(char* out) { *out = __TIME__[0]; }\n", NULL, NULL, NULL},
      {"# /* */ include \"given.h\"\nextern \"C\" __global__ void k() {}\n", NULL, "\n", NULL},
      {"#inc\\\nlude \"given.h\"\nextern \"C\" __global__ void k() {}\n", NULL, "\n", NULL},
  };
  (void)state;
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; ++i) {
      assert_int_equal(compile(&inputs[i], ptx, sizeof ptx), 0);
    }
  }
}

static void failures_are_not_kept(void** state) {
  (void)state;
  for (int i = 0; i < 2; ++i) {
    km_program program;
    OK(km_program_create("nonsense", 8, "bad.cu", &program));
    const km_status status = km_program_compile(program);
    OK(km_program_destroy(program));
    if (status == KM_ERROR_NVRTC_UNAVAILABLE) skip();
    assert_int_equal(status, KM_ERROR_COMPILATION_FAILED);
  }
}

static int make_folder(void** state) {
  (void)state;
  if (mkdtemp(folder) == NULL) return -1;
  snprintf(log_path, sizeof log_path, "%s/log", folder);
  snprintf(header_path, sizeof header_path, "%s/disk.h", folder);
  return setenv("KM_CACHE_DIR", folder, 1) != 0 || setenv("KM_LOG_FILE", log_path, 1) != 0 ||
                 setenv("KM_LOG", "debug,compile", 1) != 0
             ? -1
             : 0;
}

static int remove_folder(void** state) {
  char path[400];
  DIR* listed = opendir(folder);
  (void)state;
  if (listed == NULL) return -1;
  for (struct dirent* entry = readdir(listed); entry != NULL; entry = readdir(listed)) {
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    unlink(path);
  }
  closedir(listed);
  return rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_same_is_not_compiled_again),
      cmocka_unit_test(whatever_changes_the_result_is_noticed),
      cmocka_unit_test(files_that_are_included_count),
      cmocka_unit_test(what_cannot_be_told_is_not_kept),
      cmocka_unit_test(failures_are_not_kept),
  };
  return cmocka_run_group_tests_name("ptx cache", tests, make_folder, remove_folder);
}
