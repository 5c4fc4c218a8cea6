/* Kernels that never end: waits with a time limit, reset, and the end of the process. */
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/host.h"

enum { kSecond = 1000000000 };

static void check_reset(void) {
  host h;
  host_open(&h);
  for (int i = 0; i < 5; ++i) {
    launch_plain(&h, "endless", 8, 64);
    CHECK_STATUS(KM_TIMEOUT, km_stream_synchronize_timeout(h.stream, kSecond / 100));
    CHECK_STATUS(KM_NOT_READY, km_stream_query(h.stream));
    uint64_t begin = host_now_ns();
    OK(km_context_reset(h.context));
    CHECK(host_now_ns() - begin < 5u * kSecond);
    host_load(&h);
    check_works(&h);
  }
  host_close(&h);
}

static void set_flag(void* flag, km_status status) {
  (void)status;
  atomic_store((atomic_int*)flag, 1);
}

/* Kernels may have all workers: a callback on another stream needs none. */
static void check_callback_beside_kernels(void) {
  host h;
  km_stream other;
  atomic_int called = 0;
  host_open(&h);
  OK(km_stream_create(h.context, 0, 0, &other));
  launch_plain(&h, "endless", 1000, 64);
  CHECK_STATUS(KM_TIMEOUT, km_stream_synchronize_timeout(h.stream, kSecond / 50));
  OK(km_stream_add_callback(other, set_flag, &called));
  OK(km_stream_synchronize_timeout(other, 20ull * kSecond));
  CHECK(atomic_load(&called));
  OK(km_context_reset(h.context));
  OK(km_stream_destroy(other));
  host_close(&h);
}

/* A process that returns from main while a kernel runs must end, and soon. */
static void check_exit(uint32_t blocks) {
  uint64_t* begin =
      mmap(NULL, sizeof *begin, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(begin != MAP_FAILED);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    host h;
    host_open(&h);
    launch_plain(&h, "endless", blocks, 64);
    km_stream_synchronize_timeout(h.stream, kSecond / 50);
    *begin = host_now_ns(); /* compiling has no limit */
    exit(3);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
  CHECK(host_now_ns() - *begin < 20ull * kSecond);
  munmap(begin, sizeof *begin);
}

int main(void) {
  check_exit(8); /* before this process uses the library: a child may not go on with it */
  check_exit(1);
  check_reset();
  check_callback_beside_kernels();
  return 0;
}
