/* Handles that are none inside structures; handles.py gives them to all functions as arguments. */
#include "support.h"

#include <string.h>

static void* const wrong[] = {
    (void*)0x10,
    (void*)0x5b00000012345678,
    (void*)0xdeadbeefdeadbeef,
    (void*)-1,
};
enum { WRONG_COUNT = sizeof wrong / sizeof *wrong };

static void is_an_error(CUresult given, const char* what) {
  if (given == CUDA_SUCCESS) fail_msg("%s: CUDA_SUCCESS", what);
}
#define ERROR(call) is_an_error((call), #call)

static void launches_have_streams_and_events(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  const fixture* f = *state;
  CUlaunchConfig config;
  CUlaunchAttribute attribute;
  memset(&config, 0, sizeof config);
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  for (size_t i = 0; i < WRONG_COUNT; ++i) {
    config.hStream = wrong[i];
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernelEx(&config, kernel(f, "noop"), NULL, NULL));
  }
  config.hStream = f->stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  memset(&attribute, 0, sizeof attribute);
  attribute.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
  for (size_t i = 0; i < WRONG_COUNT; ++i) {
    attribute.value.launchCompletionEvent.event = wrong[i];
    ERROR(cuLaunchKernelEx(&config, kernel(f, "noop"), NULL, NULL));
  }
  OK(cuStreamSynchronize(f->stream));
}

static void nodes_have_functions_graphs_events_and_addresses(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  static const CUgraphNodeType types[] = {
      CU_GRAPH_NODE_TYPE_KERNEL,       CU_GRAPH_NODE_TYPE_GRAPH,    CU_GRAPH_NODE_TYPE_WAIT_EVENT,
      CU_GRAPH_NODE_TYPE_EVENT_RECORD, CU_GRAPH_NODE_TYPE_MEM_FREE, CU_GRAPH_NODE_TYPE_MEMSET,
      CU_GRAPH_NODE_TYPE_CONDITIONAL,
  };
  CUgraph graph = NULL;
  (void)state;
  OK(cuGraphCreate(&graph, 0));
  for (size_t i = 0; i < WRONG_COUNT * (sizeof types / sizeof *types); ++i) {
    const CUdeviceptr value = (CUdeviceptr)(uintptr_t)wrong[i % WRONG_COUNT];
    CUgraphNode node = NULL;
    CUgraphNodeParams params;
    memset(&params, 0, sizeof params);
    params.type = types[i / WRONG_COUNT];
    memcpy((char*)&params + offsetof(CUgraphNodeParams, kernel), &value, sizeof value);
    if (params.type == CU_GRAPH_NODE_TYPE_KERNEL) {
      params.kernel.gridDimX = params.kernel.gridDimY = params.kernel.gridDimZ = 1;
      params.kernel.blockDimX = params.kernel.blockDimY = params.kernel.blockDimZ = 1;
    }
    if (params.type == CU_GRAPH_NODE_TYPE_MEMSET) {
      params.memset.elementSize = 1;
      params.memset.width = params.memset.height = 1;
    }
    ERROR(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    assert_null(node);
  }
  OK(cuGraphDestroy(graph));
}

static void copies_have_contexts_and_addresses(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  const fixture* f = *state;
  CUdeviceptr memory = 0;
  CUDA_MEMCPY3D_PEER peer;
  CUDA_MEMCPY2D rows;
  OK(cuMemAlloc(&memory, 64));
  memset(&peer, 0, sizeof peer);
  peer.srcMemoryType = peer.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  peer.srcDevice = peer.dstDevice = memory;
  peer.WidthInBytes = peer.Height = peer.Depth = 1;
  memset(&rows, 0, sizeof rows);
  rows.srcMemoryType = rows.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  rows.srcDevice = memory;
  rows.WidthInBytes = rows.Height = 1;
  for (size_t i = 0; i < WRONG_COUNT; ++i) {
    peer.srcContext = f->context;
    peer.dstContext = wrong[i];
    ERROR(cuMemcpy3DPeer(&peer));
    peer.srcContext = wrong[i];
    peer.dstContext = f->context;
    ERROR(cuMemcpy3DPeer(&peer));
    rows.dstDevice = (CUdeviceptr)(uintptr_t)wrong[i];
    ERROR(cuMemcpy2D(&rows));
    ERROR(cuMemcpy2DAsync(&rows, f->stream));
  }
  OK(cuMemFree(memory));
  rows.dstDevice = memory; /* gone */
  ERROR(cuMemcpy2D(&rows));
}

static void work_on_values_has_addresses(void** state) {
  const fixture* f = *state;
  CUstreamBatchMemOpParams op;
  memset(&op, 0, sizeof op);
  op.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  for (size_t i = 0; i < WRONG_COUNT; ++i) {
    op.writeValue.address = (CUdeviceptr)(uintptr_t)wrong[i];
    ERROR(cuStreamBatchMemOp(f->stream, 1, &op, 0));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(launches_have_streams_and_events),
      TEST(nodes_have_functions_graphs_events_and_addresses),
      TEST(copies_have_contexts_and_addresses),
      TEST(work_on_values_has_addresses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
