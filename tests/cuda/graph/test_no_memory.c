/* Calls for which the program's memory does not last: they fail, and what comes after works. */
#include "support.h"

#include <errno.h>
#include <stdlib.h>

enum { kMostAllocations = 64 };

/* The C library's own, by the names under which it exports them beside the usual ones. */
void* __libc_malloc(size_t size);
void* __libc_memalign(size_t align, size_t size);

static _Thread_local unsigned fails_from; /* this allocation of the thread on; 0: none fails */

static int fails(void) {
  if (fails_from == 0 || --fails_from != 0) return 0;
  fails_from = 1; /* and so the next one, which may be another try */
  errno = ENOMEM;
  return 1;
}

void* malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void* aligned_alloc(size_t align, size_t size) {
  return fails() ? NULL : __libc_memalign(align, size);
}

/* Asks for the graph of a capture, the first of the process, with the allocations of the call
 * failing from the first on, from the second, and so on: those of the table of handles among them.
 */
static void captures_give_their_graph_later(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  const fixture* f = *state;
  CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  CUgraph graph = NULL, asked = NULL;
  OK(cuStreamBeginCapture(f->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  for (unsigned after = 1; after < kMostAllocations && result != CUDA_SUCCESS; ++after) {
    fails_from = after;
    result = cuStreamGetCaptureInfo(f->stream, &status, NULL, &asked, NULL, NULL, NULL);
    fails_from = 0;
    assert_true(result == CUDA_SUCCESS || result == CUDA_ERROR_OUT_OF_MEMORY);
  }
  assert_int_equal(result, CUDA_SUCCESS); /* in the end the call needs no more */
  assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  OK(cuStreamEndCapture(f->stream, &graph));
  assert_ptr_equal(graph, asked);
  OK(cuGraphDestroy(graph));
}

int main(void) {
  const struct CMUnitTest tests[] = {TEST(captures_give_their_graph_later)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
