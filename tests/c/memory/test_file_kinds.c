/* Paths that are pipes, links and devices, for every call that takes one: reading never waits, and
 * writing replaces nothing but regular files, with whole ones. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "support/testing.h"

/* A folder of the test's own, with a pipe, a file, links to both and, where the user may make
 * them, device nodes. */
typedef struct scratch {
  char folder[64];
  int has_devices;
} scratch;

static char* path_of(const scratch* s, const char* name) {
  static char paths[4][128]; /* enough for one call */
  static int next = 0;
  char* path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", s->folder, name);
  return path;
}

static void put(const scratch* s, const char* name, const char* text) {
  FILE* file = fopen(path_of(s, name), "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
  assert_int_equal(fclose(file), 0);
}

static uint64_t size_of(const scratch* s, const char* name) {
  struct stat about;
  assert_int_equal(stat(path_of(s, name), &about), 0);
  return (uint64_t)about.st_size;
}

static int is_kind(const scratch* s, const char* name, mode_t kind) {
  struct stat about;
  return lstat(path_of(s, name), &about) == 0 && (about.st_mode & S_IFMT) == kind;
}

static scratch new_scratch(void) {
  scratch s = {"/tmp/kernelmill-test-XXXXXX", 0};
  assert_non_null(mkdtemp(s.folder));
  put(&s, "file", "old");
  assert_int_equal(mkfifo(path_of(&s, "pipe"), 0600), 0);
  assert_int_equal(symlink("file", path_of(&s, "link")), 0);
  assert_int_equal(symlink("pipe", path_of(&s, "link_to_pipe")), 0);
  if (mknod(path_of(&s, "null"), S_IFCHR | 0666, makedev(1, 3)) == 0 &&
      mknod(path_of(&s, "full"), S_IFCHR | 0666, makedev(1, 7)) == 0) {
    const int file = open(path_of(&s, "null"), O_WRONLY);
    s.has_devices = file >= 0; /* not on file systems without devices */
    if (file >= 0) close(file);
  }
  return s;
}

/* The folder holds what new_scratch() made, and nothing else. */
static void remove_scratch(const scratch* s) {
  const char* names[] = {"file", "pipe", "link", "link_to_pipe", "null", "full"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) unlink(path_of(s, names[i]));
  assert_int_equal(rmdir(s->folder), 0);
}

/* Each reader of a path. */
static km_status read_as(const fixture* f, int reader, const char* path) {
  km_slice slice = NULL;
  km_host_memory memory = NULL;
  km_module module = NULL;
  switch (reader) {
    case 0:
      return km_slice_map_file(f->context, path, 0, 1, 1, KM_MAP_READ_ONLY, &slice);
    case 1:
      return km_host_memory_map_file(f->context, path, 0, 1, KM_MAP_PRIVATE, &memory);
    default:
      return km_module_load_file(f->context, path, &module);
  }
}

static void what_is_no_file_is_never_waited_for(void** state) {
  fixture* f = *state;
  scratch s = new_scratch();
  for (int reader = 0; reader < 3; ++reader) {
    EXPECT(KM_ERROR_IO, read_as(f, reader, path_of(&s, "pipe")));
    expect_message("it is a pipe");
    EXPECT(KM_ERROR_IO, read_as(f, reader, path_of(&s, "link_to_pipe")));
    expect_message("it is a pipe");
    EXPECT(KM_ERROR_IO, read_as(f, reader, s.folder));
    expect_message("it is a folder");
    EXPECT(KM_ERROR_IO, read_as(f, reader, "/dev/zero"));
    expect_message("it is a device");
    EXPECT(KM_ERROR_NOT_FOUND, read_as(f, reader, path_of(&s, "nothing")));
  }
  remove_scratch(&s);
}

static void sources_have_a_limit(void** state) {
  fixture* f = *state;
  scratch s = new_scratch();
  if (truncate(path_of(&s, "file"), (off_t)1 << 33) == 0) { /* a hole */
    EXPECT(KM_ERROR_IO, read_as(f, 2, path_of(&s, "file")));
    expect_message("256 MiB");
  }
  remove_scratch(&s);
}

/* Each writer of a path; KM_ERROR_NOT_SUPPORTED where the backend has no objects. */
static km_status write_as(const fixture* f, int writer, const char* path) {
  if (writer == 0) return km_profiler_write(f->context, path);
  km_module module = load_test_module(f);
  const km_status status = km_module_save_object(module, path, NULL, 0);
  OK(km_module_destroy(module));
  return status;
}

static int can_write(const fixture* f, int writer) {
  return writer == 0 || !is_fake(f) || is_cuda(f);
}

static void outputs_keep_links_pipes_and_devices(void** state) {
  fixture* f = *state;
  scratch s = new_scratch();
  for (int writer = 0; writer < 2; ++writer) {
    if (!can_write(f, writer)) continue;
    OK(write_as(f, writer, path_of(&s, "link")));
    assert_true(is_kind(&s, "link", S_IFLNK));
    assert_true(is_kind(&s, "file", S_IFREG));
    assert_true(size_of(&s, "file") > 3);
    put(&s, "file", "old");
    EXPECT(KM_ERROR_IO, write_as(f, writer, path_of(&s, "pipe")));
    expect_message("nobody reads");
    EXPECT(KM_ERROR_IO, write_as(f, writer, path_of(&s, "link_to_pipe")));
    assert_true(is_kind(&s, "pipe", S_IFIFO));
    EXPECT(KM_ERROR_IO, write_as(f, writer, s.folder));
    if (!s.has_devices) continue;
    OK(write_as(f, writer, path_of(&s, "null")));
    assert_true(is_kind(&s, "null", S_IFCHR));
    EXPECT(KM_ERROR_IO, write_as(f, writer, path_of(&s, "full")));
    expect_message("No space left");
    assert_true(is_kind(&s, "full", S_IFCHR));
  }
  remove_scratch(&s);
}

static void outputs_that_do_not_fit_leave_the_old_file(void** state) {
  fixture* f = *state;
  scratch s = new_scratch();
  struct rlimit before;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  const struct rlimit low = {8, before.rlim_max}; /* past it the system sends SIGXFSZ */
  for (int writer = 0; writer < 2; ++writer) {
    if (!can_write(f, writer)) continue;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    const km_status status = write_as(f, writer, path_of(&s, "file"));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, KM_ERROR_IO);
    expect_message("File too large");
    assert_int_equal(size_of(&s, "file"), 3);
  }
  remove_scratch(&s);
}

static void outputs_keep_the_mode_of_the_old_file(void** state) {
  fixture* f = *state;
  scratch s = new_scratch();
  struct stat about;
  assert_int_equal(chmod(path_of(&s, "file"), 0640), 0);
  OK(write_as(f, 0, path_of(&s, "file")));
  assert_int_equal(stat(path_of(&s, "file"), &about), 0);
  assert_int_equal(about.st_mode & 07777, 0640);
  remove_scratch(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_no_file_is_never_waited_for),
      cmocka_unit_test(sources_have_a_limit),
      cmocka_unit_test(outputs_keep_links_pipes_and_devices),
      cmocka_unit_test(outputs_that_do_not_fit_leave_the_old_file),
      cmocka_unit_test(outputs_keep_the_mode_of_the_old_file),
  };
  return RUN_ON_DEVICES("file_kinds", tests);
}
