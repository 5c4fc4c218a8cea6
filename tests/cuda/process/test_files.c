/* Calls that read and write files: they wait for no pipe, replace nothing but regular files, and a
 * limit on the size of files is an error. */
#include "support.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], file[128], pipe_path[128], link_path[128];

/* A folder with a file, a link to it, and a pipe. */
static void make_scratch(void) {
  snprintf(folder, sizeof folder, "/tmp/km-cuda-test-XXXXXX");
  assert_non_null(mkdtemp(folder));
  snprintf(file, sizeof file, "%s/file", folder);
  snprintf(pipe_path, sizeof pipe_path, "%s/pipe", folder);
  snprintf(link_path, sizeof link_path, "%s/link", folder);
  FILE* stream = fopen(file, "w");
  assert_non_null(stream);
  assert_true(fputs("old", stream) >= 0);
  assert_int_equal(fclose(stream), 0);
  assert_int_equal(mkfifo(pipe_path, 0600), 0);
  assert_int_equal(symlink("file", link_path), 0);
}

/* Nothing else is left there. */
static void remove_scratch(void) {
  unlink(file);
  unlink(pipe_path);
  unlink(link_path);
  assert_int_equal(rmdir(folder), 0);
}

static int is_kind(const char* path, mode_t kind) {
  struct stat about;
  return lstat(path, &about) == 0 && (about.st_mode & S_IFMT) == kind;
}

static void pipes_and_folders_are_no_modules(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  CUmodule module = NULL;
  CUlibrary library = NULL;
  (void)state;
  make_scratch();
  EXPECT(CUDA_ERROR_OPERATING_SYSTEM, cuModuleLoad(&module, pipe_path));
  EXPECT(CUDA_ERROR_OPERATING_SYSTEM, cuModuleLoad(&module, folder));
  EXPECT(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "/nowhere/at/all.ptx"));
  EXPECT(CUDA_ERROR_OPERATING_SYSTEM,
         cuLibraryLoadFromFile(&library, pipe_path, NULL, NULL, 0, NULL, NULL, 0));
  remove_scratch();
}

static void pictures_and_logs_go_through_links(void** state) {
  CUgraph graph;
  struct stat about;
  (void)state;
  make_scratch();
  OK(cuGraphCreate(&graph, 0));
  OK(cuGraphDebugDotPrint(graph, link_path, 0));
  assert_true(is_kind(link_path, S_IFLNK) && is_kind(file, S_IFREG));
  assert_int_equal(stat(file, &about), 0);
  assert_true(about.st_size > 10);
  EXPECT(CUDA_ERROR_OPERATING_SYSTEM, cuGraphDebugDotPrint(graph, pipe_path, 0));
  EXPECT(CUDA_ERROR_OPERATING_SYSTEM, cuLogsDumpToFile(NULL, pipe_path, 0));
  OK(cuLogsDumpToFile(NULL, link_path, 0));
  assert_true(is_kind(link_path, S_IFLNK) && is_kind(pipe_path, S_IFIFO));
  OK(cuGraphDestroy(graph));
  remove_scratch();
}

static void a_limit_on_files_is_an_error(void** state) {
  const fixture* f = *state;
  const CUmemAllocationProp properties = {
      .type = CU_MEM_ALLOCATION_TYPE_PINNED,
      .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
      .location = {CU_MEM_LOCATION_TYPE_DEVICE, {f->device}}};
  CUmemGenericAllocationHandle handle = 0;
  struct rlimit before;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  const struct rlimit low = {4096, before.rlim_max}; /* past it the system sends SIGXFSZ */
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
  const CUresult result = cuMemCreate(&handle, 1 << 21, &properties, 0);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT(CUDA_ERROR_OUT_OF_MEMORY, result);
  OK(cuMemCreate(&handle, 1 << 21, &properties, 0));
  OK(cuMemRelease(handle));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(pipes_and_folders_are_no_modules),
      TEST(pictures_and_logs_go_through_links),
      TEST(a_limit_on_files_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
