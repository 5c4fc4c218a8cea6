/* Addresses where nothing is, and sizes of nothing: each call ends in a status, none in a signal.
 */
#include "support.h"

#include <signal.h>
#include <string.h>

/* Libraries before CUDA 13.1 lack these functions. */
#pragma weak cuMemcpyWithAttributesAsync

enum { BYTES = 4096, LARGE = 1 << 20 };
static const CUdeviceptr kNowhere = 0x10000, kElsewhere = 0x20000;
static const CUdeviceptr kOdd[] = {0, 1, 0x10000, 0x7fffffffffff, 0x800000000000, UINT64_MAX};
enum { ODD_COUNT = sizeof kOdd / sizeof *kOdd };
static char large[LARGE];

/* CMocka takes SIGSEGV for each test; the library finds out by it what memory is not there. */
static struct sigaction library_action;

static void hear_faults(void) { sigaction(SIGSEGV, &library_action, NULL); }

static int take_signals(void) {
  CUcontext context = NULL;
  if (cuInit(0) != CUDA_SUCCESS || cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS) return 1;
  return sigaction(SIGSEGV, NULL, &library_action);
}

static CUDA_MEMCPY3D rows(CUmemorytype from_type, CUdeviceptr from, CUmemorytype to_type,
                          CUdeviceptr to, size_t width, size_t height, size_t depth) {
  CUDA_MEMCPY3D copy;
  memset(&copy, 0, sizeof copy);
  copy.srcMemoryType = from_type;
  copy.srcDevice = from;
  copy.srcHost = (const void*)from;
  copy.srcPitch = width + 8;
  copy.srcHeight = height;
  copy.dstMemoryType = to_type;
  copy.dstDevice = to;
  copy.dstHost = (void*)to;
  copy.dstPitch = width + 16;
  copy.dstHeight = height;
  copy.WidthInBytes = width;
  copy.Height = height;
  copy.Depth = depth;
  return copy;
}

/* Still right after all of that. */
static void expect_alive(const fixture* f, CUdeviceptr memory) {
  unsigned got = 0;
  OK(cuMemsetD32(memory, 77, BYTES / 4));
  OK(cuMemcpyDtoHAsync(&got, memory + 100, sizeof got, f->stream));
  OK(cuStreamSynchronize(f->stream));
  OK(cuCtxSynchronize());
  assert_int_equal(got, 77);
}

static void copies_from_and_to_nowhere(void** state) {
  hear_faults();
  const fixture* f = *state;
  CUdeviceptr memory = 0;
  OK(cuMemAlloc(&memory, LARGE));
  for (size_t bytes = 64; bytes <= LARGE; bytes *= 128) {
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy(memory, kNowhere, bytes));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy(kNowhere, memory, bytes));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy(kNowhere, kElsewhere, bytes));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyAsync(kNowhere, kElsewhere, bytes, f->stream));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyAsync(kNowhere, memory, bytes, f->stream));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy((CUdeviceptr)large, kNowhere, bytes));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy(kNowhere, (CUdeviceptr)large, bytes));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(memory, (void*)kNowhere, bytes));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH((void*)kNowhere, memory, bytes));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoD(memory, kNowhere, bytes));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyPeer(memory, f->context, kNowhere, f->context, bytes));
  }
  for (unsigned i = 0; i < ODD_COUNT; ++i) {
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy(kOdd[i], memory, 16));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy(memory, kOdd[i], 16));
    for (unsigned k = 0; k < ODD_COUNT; ++k) {
      EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy(kOdd[i], kOdd[k], 16));
      EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy(kOdd[i], kOdd[k], SIZE_MAX));
    }
  }
  expect_alive(f, memory);
  OK(cuMemFree(memory));
}

static void host_memory_is_copied_by_unified_addresses(void** state) {
  hear_faults();
  const fixture* f = *state;
  static char from[300], to[300];
  for (unsigned i = 0; i < sizeof from; ++i) from[i] = (char)i;
  OK(cuMemcpy((CUdeviceptr)to, (CUdeviceptr)from, sizeof from));
  assert_memory_equal(to, from, sizeof from);
  memset(to, 0, sizeof to);
  OK(cuMemcpyAsync((CUdeviceptr)to, (CUdeviceptr)from, 100, f->stream));
  assert_memory_equal(to, from, 100);
  CUDA_MEMCPY3D copy =
      rows(CU_MEMORYTYPE_HOST, (CUdeviceptr)from, CU_MEMORYTYPE_HOST, (CUdeviceptr)to, 10, 3, 2);
  memset(to, 0, sizeof to);
  OK(cuMemcpy3D(&copy));
  for (unsigned row = 0; row < 6; ++row) assert_memory_equal(to + 26 * row, from + 18 * row, 10);
  assert_int_equal(to[10], 0);
}

static void rows_from_and_to_nowhere(void** state) {
  hear_faults();
  static const CUmemorytype types[] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE,
                                       CU_MEMORYTYPE_UNIFIED};
  const fixture* f = *state;
  CUdeviceptr memory = 0;
  OK(cuMemAlloc(&memory, LARGE));
  for (unsigned i = 0; i < 9; ++i) {
    const CUmemorytype from = types[i / 3], to = types[i % 3];
    CUDA_MEMCPY3D copy = rows(from, kNowhere, to, kElsewhere, 32, 4, 2);
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D(&copy));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DAsync(&copy, f->stream));
    copy = rows(from, kNowhere, to, kElsewhere, SIZE_MAX / 2, SIZE_MAX / 2, 3);
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D(&copy));
    copy = rows(from, kNowhere, to, kElsewhere, 32, 0, 2);
    OK(cuMemcpy3D(&copy)); /* of nothing */
  }
  CUDA_MEMCPY3D copy = rows(CU_MEMORYTYPE_DEVICE, memory, CU_MEMORYTYPE_HOST, kNowhere, 32, 4, 2);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D(&copy));
  copy = rows(CU_MEMORYTYPE_HOST, kNowhere, CU_MEMORYTYPE_DEVICE, memory, 32, 4, 2);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DAsync(&copy, f->stream));
  copy.srcMemoryType = (CUmemorytype)9;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D(&copy));
  expect_alive(f, memory);
  OK(cuMemFree(memory));
}

static void batches_from_and_to_nowhere(void** state) {
  if (cuMemcpyWithAttributesAsync == NULL) skip();
  hear_faults();
  const fixture* f = *state;
  CUdeviceptr memory = 0, to[2] = {kNowhere, kElsewhere}, from[2] = {kElsewhere, 0};
  size_t sizes[2] = {64, 64}, first = 0, failed = 9;
  CUmemcpyAttributes how;
  memset(&how, 0, sizeof how);
  how.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  OK(cuMemAlloc(&memory, BYTES));
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuMemcpyBatchAsync(to, from, sizes, 2, &how, &first, 1, f->stream));
  to[0] = memory;
  from[0] = memory + 1024;
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuMemcpyBatchAsync(to, from, sizes, 2, &how, &first, 1, f->stream));
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuMemcpyBatchAsync(to, from, sizes, 0, &how, &first, 1, f->stream));
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuMemcpyWithAttributesAsync(kNowhere, kElsewhere, 64, &how, f->stream));
  (void)failed;
  expect_alive(f, memory);
  OK(cuMemFree(memory));
}

static void fills_of_nowhere(void** state) {
  hear_faults();
  const fixture* f = *state;
  CUdeviceptr memory = 0;
  OK(cuMemAlloc(&memory, BYTES));
  for (unsigned i = 0; i < ODD_COUNT; ++i) {
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(kOdd[i], 1, 16));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemsetD16Async(kOdd[i], 1, SIZE_MAX, f->stream));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(kOdd[i], 1, SIZE_MAX / 4));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D8(kOdd[i], 64, 1, 16, 4));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D32(kOdd[i], SIZE_MAX & ~3ULL, 1, 16, SIZE_MAX));
    OK(cuMemsetD8(kOdd[i], 1, 0));
    OK(cuMemsetD2D16(kOdd[i], 64, 1, 0, 4));
  }
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D32(memory, 8, 1, 16, 4)); /* rows overlap */
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(memory + 1, 1, 4));
  expect_alive(f, memory);
  OK(cuMemFree(memory));
}

static void nodes_of_nothing_and_nowhere(void** state) {
  hear_faults();
  const fixture* f = *state;
  CUdeviceptr memory = 0;
  CUgraph graph = NULL;
  CUgraphExec exec = NULL;
  CUgraphNode node = NULL, fill = NULL, other = NULL;
  OK(cuMemAlloc(&memory, BYTES));
  OK(cuGraphCreate(&graph, 0));
  CUDA_MEMCPY3D good =
      rows(CU_MEMORYTYPE_DEVICE, memory, CU_MEMORYTYPE_DEVICE, memory + 2048, 16, 1, 1);
  CUDA_MEMSET_NODE_PARAMS set = {memory, 0, 1, 4, 16, 1};
  OK(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &good, f->context));
  OK(cuGraphAddMemsetNode(&fill, graph, NULL, 0, &set, f->context));
  OK(cuGraphInstantiate(&exec, graph, 0));
  for (unsigned i = 0; i < 3 * ODD_COUNT; ++i) {
    const size_t extent[3] = {i % 3 == 0 ? 0 : 16, i % 3 == 1 ? 0 : 1, i % 3 == 2 ? 0 : 1};
    const CUdeviceptr at = kOdd[i / 3];
    CUDA_MEMCPY3D bad = rows(CU_MEMORYTYPE_DEVICE, memory, CU_MEMORYTYPE_DEVICE, at, extent[0],
                             extent[1], extent[2]);
    for (unsigned side = 0; side < 4; ++side) {
      bad.srcMemoryType = side % 2 == 0 ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_UNIFIED;
      bad.dstMemoryType = side / 2 == 0 ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
      EXPECT(CUDA_ERROR_INVALID_VALUE,
             cuGraphAddMemcpyNode(&other, graph, NULL, 0, &bad, f->context));
      EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphMemcpyNodeSetParams(node, &bad));
      EXPECT(CUDA_ERROR_INVALID_VALUE,
             cuGraphExecMemcpyNodeSetParams(exec, node, &bad, f->context));
    }
    CUDA_MEMSET_NODE_PARAMS none = {at, 64, 1, 4, extent[0], extent[1] * extent[2]};
    if (extent[0] * extent[1] * extent[2] != 0) continue;
    EXPECT(CUDA_ERROR_INVALID_VALUE,
           cuGraphAddMemsetNode(&other, graph, NULL, 0, &none, f->context));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphMemsetNodeSetParams(fill, &none));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphExecMemsetNodeSetParams(exec, fill, &none, f->context));
  }
  set.elementSize = 3;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemsetNode(&other, graph, NULL, 0, &set, f->context));
  OK(cuGraphLaunch(exec, f->stream));
  OK(cuStreamSynchronize(f->stream));
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
  expect_alive(f, memory);
  OK(cuMemFree(memory));
}

static void questions_and_advice_about_nowhere(void** state) {
  hear_faults();
  const fixture* f = *state;
  const CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
  CUmemLocation odd = {(CUmemLocationType)77, {-9}};
  for (unsigned i = 0; i < ODD_COUNT; ++i) {
    CUdeviceptr base = 0;
    size_t bytes = 0;
    unsigned long long value = 0;
    for (int attribute = -1; attribute < 40; ++attribute) {
      EXPECT(CUDA_ERROR_INVALID_VALUE,
             cuPointerGetAttribute(&value, (CUpointer_attribute)attribute, kOdd[i]));
    }
    EXPECT(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(&base, &bytes, kOdd[i]));
    EXPECT(CUDA_ERROR_INVALID_VALUE,
           cuMemAdvise(kOdd[i], SIZE_MAX, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemPrefetchAsync(kOdd[i], 0, here, 0, f->stream));
    EXPECT(CUDA_ERROR_INVALID_DEVICE, cuMemPrefetchAsync(kOdd[i], 16, odd, 0, f->stream));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(f->stream, kOdd[i], 1, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue64(f->stream, kOdd[i], 1, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuStreamAttachMemAsync(f->stream, kOdd[i], 0, 4));
  }
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(f->stream, 1, NULL, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(f->stream, UINT32_MAX, NULL, 0));
  OK(cuStreamSynchronize(f->stream));
}

static void captures_refuse_what_graphs_cannot_hold(void** state) {
  hear_faults();
  const fixture* f = *state;
  static char from[64], to[64];
  CUgraph graph = NULL;
  OK(cuStreamBeginCapture(f->stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
         cuMemcpyAsync((CUdeviceptr)to, (CUdeviceptr)from, sizeof to, f->stream));
  EXPECT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(f->stream, &graph));
  OK(cuMemcpyAsync((CUdeviceptr)to, (CUdeviceptr)from, sizeof to, f->stream));
}

static void waits_for_events_of_invalid_captures(void** state) {
  hear_faults();
  const fixture* f = *state;
  CUstream idle = NULL;
  CUevent event = NULL;
  CUgraph graph = NULL;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  OK(cuStreamCreate(&idle, CU_STREAM_NON_BLOCKING));
  OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  OK(cuStreamBeginCapture(f->stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(cuEventRecord(event, f->stream));
  EXPECT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(f->stream));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuStreamWaitEvent(idle, event, 0));
  OK(cuStreamIsCapturing(idle, &status));
  assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamWaitEvent(f->stream, event, 0));
  EXPECT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(f->stream, &graph));
  OK(cuEventDestroy(event));
  OK(cuStreamDestroy(idle));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(copies_from_and_to_nowhere),
      TEST(host_memory_is_copied_by_unified_addresses),
      TEST(rows_from_and_to_nowhere),
      TEST(batches_from_and_to_nowhere),
      TEST(fills_of_nowhere),
      TEST(nodes_of_nothing_and_nowhere),
      TEST(questions_and_advice_about_nowhere),
      TEST(captures_refuse_what_graphs_cannot_hold),
      TEST(waits_for_events_of_invalid_captures),
  };
  if (take_signals() != 0) return 1;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
