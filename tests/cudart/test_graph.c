/* Graphs, captured and built, with kernels named by functions of the program. */
#include "support.h"

#include <string.h>

/* Libraries before CUDA 13.1 lack these functions. */
#pragma weak cudaGraphNodeGetParams

static uint32_t* data;
static cudaStream_t stream;

static int set_up_graph(void** state) {
  set_up(state);
  OK(cudaMalloc((void**)&data, 400));
  OK(cudaMemset(data, 0, 400));
  OK(cudaStreamCreate(&stream));
  return 0;
}

static int tear_down_graph(void** state) {
  OK(cudaStreamDestroy(stream));
  OK(cudaFree(data));
  return tear_down(state);
}

static void run(cudaGraph_t graph, int times) {
  cudaGraphExec_t exec;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < times; ++i) OK(cudaGraphLaunch(exec, stream));
  OK(cudaStreamSynchronize(stream));
  OK(cudaGraphExecDestroy(exec));
}

static struct cudaKernelNodeParams add_params(uint32_t* n, void** arguments) {
  struct cudaKernelNodeParams params;
  memset(&params, 0, sizeof params);
  arguments[0] = &data;
  arguments[1] = n;
  params.func = (void*)add_one;
  params.gridDim = dims(2, 1, 1);
  params.blockDim = dims(64, 1, 1);
  params.kernelParams = arguments;
  return params;
}

static void captured_work_is_replayed(void** state) {
  (void)state;
  cudaGraph_t graph;
  enum cudaStreamCaptureStatus status;
  size_t nodes = 0;
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  OK(cudaStreamIsCapturing(stream, &status));
  assert_int_equal(status, cudaStreamCaptureStatusActive);
  OK(launch_add(data, 100, stream));
  OK(launch_add(data, 100, stream));
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphGetNodes(graph, NULL, &nodes));
  assert_int_equal(nodes, 2);
  run(graph, 5);
  assert_int_equal(read_u32(data + 99), 10);
  OK(cudaGraphDestroy(graph));
}

static void kernel_nodes_name_functions_of_the_program(void** state) {
  (void)state;
  cudaGraph_t graph;
  cudaGraphNode_t first, second;
  uint32_t n = 100;
  void* arguments[2];
  struct cudaKernelNodeParams params = add_params(&n, arguments), found;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddKernelNode(&first, graph, NULL, 0, &params));
  OK(cudaGraphAddKernelNode(&second, graph, &first, 1, &params));
  OK(cudaGraphKernelNodeGetParams(first, &found));
  assert_ptr_equal(found.func, (void*)add_one);
  assert_int_equal(found.gridDim.x, 2);
  assert_int_equal(found.blockDim.x, 64);
  run(graph, 1);
  assert_int_equal(read_u32(data + 5), 2);
  params.func = &n;
  EXPECT(cudaErrorInvalidDeviceFunction, cudaGraphAddKernelNode(&first, graph, NULL, 0, &params));
  EXPECT(cudaErrorInvalidDeviceFunction, cudaGetLastError());
  OK(cudaGraphDestroy(graph));
}

static void note(void* count) { ++*(int*)count; }

static void nodes_of_all_kinds_run(void** state) {
  (void)state;
  cudaGraph_t graph, child;
  cudaGraphNode_t fill, add, host, copy, nested;
  uint32_t n = 100, back = 0;
  int count = 0;
  void* arguments[2];
  const struct cudaKernelNodeParams params = add_params(&n, arguments);
  struct cudaMemsetParams filled = {data, 0, 7, 4, 100, 1}, found_fill;
  struct cudaHostNodeParams called = {note, &count};
  struct cudaMemcpy3DParms found;
  enum cudaGraphNodeType type;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphCreate(&child, 0));
  OK(cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &filled));
  OK(cudaGraphMemsetNodeGetParams(fill, &found_fill));
  assert_ptr_equal(found_fill.dst, data);
  assert_int_equal(found_fill.value, 7);
  OK(cudaGraphAddKernelNode(&add, child, NULL, 0, &params));
  OK(cudaGraphAddChildGraphNode(&nested, graph, &fill, 1, child));
  OK(cudaGraphAddHostNode(&host, graph, &nested, 1, &called));
  OK(cudaGraphAddMemcpyNode1D(&copy, graph, &host, 1, &back, data + 3, 4, cudaMemcpyDeviceToHost));
  OK(cudaGraphMemcpyNodeGetParams(copy, &found));
  assert_ptr_equal(found.dstPtr.ptr, &back);
  assert_ptr_equal(found.srcPtr.ptr, data + 3);
  assert_int_equal(found.extent.width, 4);
  assert_int_equal(found.kind, cudaMemcpyDeviceToHost);
  OK(cudaGraphNodeGetType(copy, &type));
  assert_int_equal(type, cudaGraphNodeTypeMemcpy);
  run(graph, 2);
  assert_int_equal(count, 2);
  assert_int_equal(back, 8);
  OK(cudaGraphDestroy(graph));
  OK(cudaGraphDestroy(child));
}

static void variables_are_copied_by_nodes(void** state) {
  (void)state;
  cudaGraph_t graph;
  cudaGraphNode_t to, from;
  uint32_t value = 31, back = 0;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddMemcpyNodeToSymbol(&to, graph, NULL, 0, counter, &value, 4, 0,
                                    cudaMemcpyHostToDevice));
  OK(cudaGraphAddMemcpyNodeFromSymbol(&from, graph, &to, 1, &back, counter, 4, 0,
                                      cudaMemcpyDeviceToHost));
  run(graph, 1);
  assert_int_equal(back, 31);
  EXPECT(cudaErrorInvalidSymbol,
         cudaGraphMemcpyNodeSetParamsToSymbol(to, &value, &value, 4, 0, cudaMemcpyHostToDevice));
  EXPECT(cudaErrorInvalidSymbol, cudaGetLastError());
  OK(cudaGraphDestroy(graph));
}

static void instantiated_nodes_are_changed(void** state) {
  (void)state;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t node;
  cudaGraphExecUpdateResultInfo info;
  uint32_t n = 1, more = 100;
  void *arguments[2], *others[2];
  struct cudaKernelNodeParams params = add_params(&n, arguments), wide = add_params(&more, others);
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddKernelNode(&node, graph, NULL, 0, &params));
  OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  OK(cudaGraphLaunch(exec, stream));
  OK(cudaGraphExecKernelNodeSetParams(exec, node, &wide));
  OK(cudaGraphLaunch(exec, stream));
  OK(cudaStreamSynchronize(stream));
  assert_int_equal(read_u32(data), 2);
  assert_int_equal(read_u32(data + 99), 1);
  OK(cudaGraphExecUpdate(exec, graph, &info));
  assert_int_equal(info.result, cudaGraphExecUpdateSuccess);
  OK(cudaGraphLaunch(exec, stream));
  OK(cudaStreamSynchronize(stream));
  assert_int_equal(read_u32(data), 3);
  assert_int_equal(read_u32(data + 99), 1);
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
}

#if KM_CUDART_MAJOR == 13
static void generic_nodes_and_edges(void** state) {
  if (cudaGraphNodeGetParams == NULL) skip();
  (void)state;
  cudaGraph_t graph;
  cudaGraphNode_t first, second, from[2], to[2];
  cudaGraphEdgeData edges[2];
  size_t count = 2;
  uint32_t n = 100;
  void* arguments[2];
  struct cudaGraphNodeParams params, found;
  const struct cudaKernelNodeParams add = add_params(&n, arguments);
  memset(&params, 0, sizeof params);
  params.type = cudaGraphNodeTypeKernel;
  params.kernel.func = add.func;
  params.kernel.gridDim = add.gridDim;
  params.kernel.blockDim = add.blockDim;
  params.kernel.kernelParams = arguments;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddNode(&first, graph, NULL, NULL, 0, &params));
  OK(cudaGraphAddNode(&second, graph, NULL, NULL, 0, &params));
  OK(cudaGraphAddDependencies(graph, &first, &second, NULL, 1));
  OK(cudaGraphGetEdges(graph, from, to, edges, &count));
  assert_int_equal(count, 1);
  assert_ptr_equal(from[0], first);
  assert_ptr_equal(to[0], second);
  OK(cudaGraphNodeGetParams(first, &found));
  assert_ptr_equal(found.kernel.func, (void*)add_one);
  run(graph, 1);
  assert_int_equal(read_u32(data + 50), 2);
  params.type = (enum cudaGraphNodeType)77;
  EXPECT(cudaErrorNotSupported, cudaGraphAddNode(&first, graph, NULL, NULL, 0, &params));
  EXPECT(cudaErrorNotSupported, cudaGetLastError());
  OK(cudaGraphDestroy(graph));
}

static void a_condition_decides(void** state) {
  (void)state;
  cudaGraph_t graph;
  cudaGraphNode_t node, inside;
  cudaGraphConditionalHandle handle;
  struct cudaGraphNodeParams params;
  uint32_t n = 100;
  void* arguments[2];
  const struct cudaKernelNodeParams add = add_params(&n, arguments);
  memset(&params, 0, sizeof params);
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = handle;
  params.conditional.type = cudaGraphCondTypeIf;
  params.conditional.size = 1;
  OK(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &params));
  OK(cudaGraphAddKernelNode(&inside, params.conditional.phGraph_out[0], NULL, 0, &add));
  run(graph, 3);
  assert_int_equal(read_u32(data), 3);
  OK(cudaGraphDestroy(graph));
}
#endif

static void memory_lives_in_graphs(void** state) {
  (void)state;
  cudaGraph_t graph;
  cudaGraphNode_t alloc, fill, release;
  struct cudaMemAllocNodeParams params;
  memset(&params, 0, sizeof params);
  params.poolProps.allocType = cudaMemAllocationTypePinned;
  params.poolProps.location.type = cudaMemLocationTypeDevice;
  params.bytesize = 256;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddMemAllocNode(&alloc, graph, NULL, 0, &params));
  assert_non_null(params.dptr);
  const struct cudaMemsetParams filled = {params.dptr, 0, 1, 4, 64, 1};
  OK(cudaGraphAddMemsetNode(&fill, graph, &alloc, 1, &filled));
  OK(cudaGraphAddMemFreeNode(&release, graph, &fill, 1, params.dptr));
  run(graph, 2);
  OK(cudaGraphDestroy(graph));
  OK(cudaDeviceGraphMemTrim(0));
}

#undef TEST
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up_graph, tear_down_graph)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(captured_work_is_replayed),      TEST(kernel_nodes_name_functions_of_the_program),
      TEST(nodes_of_all_kinds_run),         TEST(variables_are_copied_by_nodes),
      TEST(instantiated_nodes_are_changed),
#if KM_CUDART_MAJOR == 13
      TEST(generic_nodes_and_edges),        TEST(a_condition_decides),
#endif
      TEST(memory_lives_in_graphs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
