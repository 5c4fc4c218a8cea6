/* Nodes that decide on graphs within them, child graphs that are moved, and graphs of which there
 * is one. */
#include "support.h"

#include <string.h>

/* Libraries before CUDA 13.1 lack these functions. */
#pragma weak cuGraphNodeGetParams
#pragma weak cuGraphNodeSetParams

static const char setters[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);\n"
    /* Takes 1 from *left, adds 1 to *runs, and says whether there is more. */
    ".visible .entry count(.param .u64 handle, .param .u64 left, .param .u64 runs) {\n"
    " .reg .b64 %d<4>; .reg .b32 %r<4>;\n"
    " ld.param.u64 %d1, [handle]; ld.param.u64 %d2, [left]; ld.param.u64 %d3, [runs];\n"
    " ld.u32 %r1, [%d2]; sub.u32 %r1, %r1, 1; st.u32 [%d2], %r1;\n"
    " ld.u32 %r2, [%d3]; add.u32 %r2, %r2, 1; st.u32 [%d3], %r2;\n"
    " { .param .b64 a; .param .b32 b; st.param.b64 [a], %d1; st.param.b32 [b], %r1;\n"
    "   call cudaGraphSetConditional, (a, b); } ret; }\n"
    /* Says *value. */
    ".visible .entry say(.param .u64 handle, .param .u64 value) {\n"
    " .reg .b64 %d<3>; .reg .b32 %r<2>;\n"
    " ld.param.u64 %d1, [handle]; ld.param.u64 %d2, [value]; ld.u32 %r1, [%d2];\n"
    " { .param .b64 a; .param .b32 b; st.param.b64 [a], %d1; st.param.b32 [b], %r1;\n"
    "   call cudaGraphSetConditional, (a, b); } ret; }\n";

typedef struct setup {
  const fixture* f;
  CUmodule module;
  CUgraph graph;
  volatile uint32_t* words; /* that both sides see */
} setup;

/* Modules may call the function without the library that has it: the driver knows it. */
static void modules_may_set_values_themselves(void** state) {
  CUmodule module = NULL;
  CUfunction count = NULL;
  (void)state;
  OK(cuModuleLoadData(&module, setters));
  OK(cuModuleGetFunction(&count, module, "count"));
  OK(cuModuleUnload(module));
}

static setup make(void** state) {
  static const char library[] = "!<arch>\n/ 0 cuda_device_runtime";
  setup s = {*state, NULL, NULL, NULL};
  CUlinkState link = NULL;
  void* image = NULL;
  OK(cuLinkCreate(0, NULL, NULL, &link));
  OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void*)setters, sizeof setters, "a", 0, NULL, NULL));
  OK(cuLinkAddData(link, CU_JIT_INPUT_LIBRARY, (void*)library, sizeof library, "b", 0, NULL, NULL));
  OK(cuLinkComplete(link, &image, NULL));
  OK(cuModuleLoadData(&s.module, image));
  OK(cuLinkDestroy(link));
  OK(cuGraphCreate(&s.graph, 0));
  OK(cuMemHostAlloc((void**)&s.words, 64, 0));
  memset((void*)s.words, 0, 64);
  return s;
}

static void finish(setup s) {
  OK(cuGraphDestroy(s.graph));
  OK(cuMemFreeHost((void*)s.words));
  OK(cuModuleUnload(s.module));
}

static CUgraphNode add_fill(const setup* s, CUgraph graph, int index, uint32_t value) {
  CUgraphNode node = NULL;
  CUDA_MEMSET_NODE_PARAMS params = {(CUdeviceptr)(uintptr_t)(s->words + index), 4, value, 4, 1, 1};
  OK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &params, s->f->context));
  return node;
}

static CUgraphNodeParams decision(CUgraphConditionalHandle handle, CUgraphConditionalNodeType type,
                                  unsigned size) {
  CUgraphNodeParams params;
  memset(&params, 0, sizeof params);
  params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  params.conditional.handle = handle;
  params.conditional.type = type;
  params.conditional.size = size;
  return params;
}

static CUgraph* add_decision(const setup* s, CUgraph graph, CUgraphConditionalHandle handle,
                             CUgraphConditionalNodeType type, unsigned size, CUgraphNode after) {
  CUgraphNodeParams params = decision(handle, type, size);
  CUgraphNode node = NULL;
  CUgraphNodeType is = CU_GRAPH_NODE_TYPE_KERNEL;
  params.conditional.ctx = s->f->context;
  OK(cuGraphAddNode(&node, graph, &after, NULL, after != NULL ? 1 : 0, &params));
  OK(cuGraphNodeGetType(node, &is));
  assert_int_equal(is, CU_GRAPH_NODE_TYPE_CONDITIONAL);
  assert_non_null(params.conditional.phGraph_out);
  return params.conditional.phGraph_out;
}

static CUgraphConditionalHandle new_handle(const setup* s, CUgraph graph, unsigned value,
                                           unsigned flags) {
  CUgraphConditionalHandle handle = 0;
  OK(cuGraphConditionalHandleCreate(&handle, graph, s->f->context, value, flags));
  assert_true(handle != 0);
  return handle;
}

static void launch(const setup* s, CUgraphExec exec) {
  OK(cuGraphLaunch(exec, s->f->stream));
  OK(cuStreamSynchronize(s->f->stream));
}

static void loops_end_when_kernels_say_so(void** state) {
  setup s = make(state);
  CUgraphExec exec = NULL;
  CUgraphConditionalHandle handle = new_handle(&s, s.graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  CUgraph body = add_decision(&s, s.graph, handle, CU_GRAPH_COND_TYPE_WHILE, 1, NULL)[0];
  const volatile uint32_t *left = s.words, *runs = s.words + 1;
  void* arguments[] = {&handle, (void*)&left, (void*)&runs};
  add_kernel(body, s.module, "count", arguments, NULL);
  OK(cuGraphInstantiate(&exec, s.graph, 0));
  for (uint32_t round = 1; round <= 3; ++round) {
    s.words[0] = 100 * round;
    s.words[1] = 0;
    launch(&s, exec);
    assert_int_equal(s.words[0], 0);
    assert_int_equal(s.words[1], 100 * round);
  }
  OK(cuGraphExecDestroy(exec));
  finish(s);
}

static void nodes_within_loops_are_updated(void** state) {
  setup s = make(state);
  CUgraphExec exec = NULL;
  CUgraphConditionalHandle handle = new_handle(&s, s.graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  CUgraph body = add_decision(&s, s.graph, handle, CU_GRAPH_COND_TYPE_WHILE, 1, NULL)[0];
  const volatile uint32_t *left = s.words, *runs = s.words + 1;
  const volatile uint32_t *others_left = s.words + 2, *others_runs = s.words + 3;
  void* arguments[] = {&handle, (void*)&left, (void*)&runs};
  void* changed[] = {&handle, (void*)&others_left, (void*)&others_runs};
  CUgraphNode node = add_kernel(body, s.module, "count", arguments, NULL);
  CUDA_KERNEL_NODE_PARAMS params = one_thread_of(s.module, "count", changed);
  OK(cuGraphInstantiate(&exec, s.graph, 0));
  OK(cuGraphExecKernelNodeSetParams(exec, node, &params));
  s.words[0] = 5;
  s.words[2] = 7;
  launch(&s, exec);
  assert_int_equal(s.words[0], 5);
  assert_int_equal(s.words[2], 0);
  assert_int_equal(s.words[3], 7);
  OK(cuGraphExecDestroy(exec));
  finish(s);
}

/* Two copies of one graph are two places. */
static void nodes_within_children_are_updated(void** state) {
  setup s = make(state);
  CUgraphExec exec = NULL;
  CUgraph child = NULL, second = NULL;
  CUgraphNode nodes[2] = {NULL, NULL}, inner = NULL;
  size_t count = 1;
  OK(cuGraphCreate(&child, 0));
  add_fill(&s, child, 0, 11);
  OK(cuGraphAddChildGraphNode(&nodes[0], s.graph, NULL, 0, child));
  OK(cuGraphAddChildGraphNode(&nodes[1], s.graph, &nodes[0], 1, child));
  OK(cuGraphChildGraphNodeGetGraph(nodes[1], &second));
  OK(cuGraphGetNodes(second, &inner, &count));
  OK(cuGraphInstantiate(&exec, s.graph, 0));
  CUDA_MEMSET_NODE_PARAMS params;
  OK(cuGraphMemsetNodeGetParams(inner, &params));
  params.dst += 4;
  params.value = 22;
  OK(cuGraphExecMemsetNodeSetParams(exec, inner, &params, s.f->context));
  launch(&s, exec);
  assert_int_equal(s.words[0], 11);
  assert_int_equal(s.words[1], 22);
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(child));
  finish(s);
}

static void values_choose_graphs(void** state) {
  setup s = make(state);
  CUgraphExec exec = NULL;
  CUgraphConditionalHandle handles[3];
  for (int i = 0; i < 3; ++i) handles[i] = new_handle(&s, s.graph, 0, 0);
  const volatile uint32_t* value = s.words;
  CUgraphNode last = NULL;
  for (int i = 0; i < 3; ++i) {
    void* arguments[] = {&handles[i], (void*)&value};
    last = add_kernel(s.graph, s.module, "say", arguments, i != 0 ? &last : NULL);
  }
  /* words[1]: if; words[2]: if, else; words[3]: switch */
  CUgraph* bodies = add_decision(&s, s.graph, handles[0], CU_GRAPH_COND_TYPE_IF, 1, last);
  add_fill(&s, bodies[0], 1, 1);
  bodies = add_decision(&s, s.graph, handles[1], CU_GRAPH_COND_TYPE_IF, 2, last);
  add_fill(&s, bodies[0], 2, 1);
  add_fill(&s, bodies[1], 2, 2);
  bodies = add_decision(&s, s.graph, handles[2], CU_GRAPH_COND_TYPE_SWITCH, 3, last);
  for (int i = 0; i < 3; ++i) add_fill(&s, bodies[i], 3, 10 + (uint32_t)i);
  OK(cuGraphInstantiate(&exec, s.graph, 0));
  for (uint32_t v = 0; v < 5; ++v) {
    memset((void*)s.words, 0, 64);
    s.words[0] = v;
    launch(&s, exec);
    assert_int_equal(s.words[1], v != 0);
    assert_int_equal(s.words[2], v != 0 ? 1 : 2);
    assert_int_equal(s.words[3], v < 3 ? 10 + v : 0);
  }
  OK(cuGraphExecDestroy(exec));
  finish(s);
}

static void decisions_are_nested_and_captured(void** state) {
  setup s = make(state);
  CUgraphExec exec = NULL;
  const volatile uint32_t *left = s.words, *runs = s.words + 1;
  CUgraphConditionalHandle outer = new_handle(&s, s.graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  CUgraph body = add_decision(&s, s.graph, outer, CU_GRAPH_COND_TYPE_WHILE, 1, NULL)[0];
  CUgraphConditionalHandle inner = new_handle(&s, body, 0, 0);
  CUgraphNode last = NULL;
  void* say[] = {&inner, (void*)&left};
  void* count[] = {&outer, (void*)&left, (void*)&runs};
  last = add_kernel(body, s.module, "say", say, NULL);
  CUgraph within = add_decision(&s, body, inner, CU_GRAPH_COND_TYPE_IF, 1, last)[0];
  CUstream stream = NULL;
  CUfunction function = NULL;
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  OK(cuModuleGetFunction(&function, s.module, "count"));
  OK(cuStreamBeginCaptureToGraph(stream, within, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, count, NULL));
  OK(cuStreamEndCapture(stream, NULL)); /* the program has the graph */
  CUgraph captured = NULL;
  OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuStreamEndCapture(stream, NULL));
  OK(cuStreamEndCapture(stream, &captured));
  OK(cuGraphDestroy(captured));
  OK(cuGraphInstantiate(&exec, s.graph, 0));
  s.words[0] = 7;
  launch(&s, exec);
  assert_int_equal(s.words[1], 7);
  OK(cuStreamDestroy(stream));
  OK(cuGraphExecDestroy(exec));
  finish(s);
}

static void CUDA_CB do_nothing(void* data) { (void)data; }

static void decisions_have_rules(void** state) {
  if (cuGraphNodeGetParams == NULL || cuGraphNodeSetParams == NULL) skip();
  setup s = make(state);
  CUgraphExec exec = NULL, second = NULL;
  CUgraph other = NULL, clone = NULL;
  CUgraphNode node = NULL;
  CUgraphConditionalHandle handle = 0;
  CUDA_GRAPH_INSTANTIATE_PARAMS how;
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuGraphConditionalHandleCreate(NULL, s.graph, s.f->context, 0, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuGraphConditionalHandleCreate(&handle, s.graph, s.f->context, 0, 2));
  handle = new_handle(&s, s.graph, 0, CU_GRAPH_COND_ASSIGN_DEFAULT);
  memset(&how, 0, sizeof how);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithParams(&exec, s.graph, &how));
  assert_int_equal(how.result_out, CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED);
  CUgraphNodeParams params = decision(handle, CU_GRAPH_COND_TYPE_WHILE, 2);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&node, s.graph, NULL, NULL, 0, &params));
  params = decision(handle, CU_GRAPH_COND_TYPE_IF, 3);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&node, s.graph, NULL, NULL, 0, &params));
  params = decision(handle, CU_GRAPH_COND_TYPE_SWITCH, 0);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&node, s.graph, NULL, NULL, 0, &params));
  params = decision(handle, (CUgraphConditionalNodeType)9, 1);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&node, s.graph, NULL, NULL, 0, &params));
  params = decision(handle + 4, CU_GRAPH_COND_TYPE_IF, 1);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&node, s.graph, NULL, NULL, 0, &params));
  OK(cuGraphCreate(&other, 0));
  params = decision(handle, CU_GRAPH_COND_TYPE_IF, 1);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&node, other, NULL, NULL, 0, &params));
  CUgraph body = add_decision(&s, s.graph, handle, CU_GRAPH_COND_TYPE_IF, 1, NULL)[0];
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&node, s.graph, NULL, NULL, 0, &params));
  /* The graph within is a part of the node. */
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(body));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(&exec, body, 0));
  size_t count = 1;
  OK(cuGraphGetNodes(s.graph, &node, &count));
  memset(&params, 0, sizeof params);
  OK(cuGraphNodeGetParams(node, &params));
  assert_int_equal(params.conditional.handle, handle);
  assert_int_equal(params.conditional.size, 1);
  assert_ptr_equal(params.conditional.phGraph_out[0], body);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphNodeSetParams(node, &params));
  /* One instantiation, no clones. */
  EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuGraphClone(&clone, s.graph));
  EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddChildGraphNode(&node, other, NULL, 0, s.graph));
  OK(cuGraphInstantiate(&exec, s.graph, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(&second, s.graph, 0));
  launch(&s, exec);
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphInstantiate(&exec, s.graph, 0));
  OK(cuGraphExecUpdate(exec, s.graph, &(CUgraphExecUpdateResultInfo){0}));
  OK(cuGraphExecDestroy(exec));
  /* What the graphs within may have. */
  CUDA_HOST_NODE_PARAMS host = {do_nothing, NULL};
  OK(cuGraphAddHostNode(&node, body, NULL, 0, &host));
  memset(&how, 0, sizeof how);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithParams(&exec, s.graph, &how));
  assert_int_equal(how.result_out, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED);
  OK(cuGraphDestroy(other));
  finish(s);
}

static CUgraphNodeParams moved(CUgraph child) {
  CUgraphNodeParams params;
  memset(&params, 0, sizeof params);
  params.type = CU_GRAPH_NODE_TYPE_GRAPH;
  params.graph.graph = child;
  params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
  return params;
}

static CUgraphNode add_allocation(const setup* s, CUgraph graph, CUdeviceptr* out) {
  CUgraphNode node = NULL;
  CUDA_MEM_ALLOC_NODE_PARAMS params;
  memset(&params, 0, sizeof params);
  params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  params.poolProps.location.id = s->f->device;
  params.bytesize = 64;
  OK(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
  *out = params.dptr;
  return node;
}

static void child_graphs_are_moved(void** state) {
  setup s = make(state);
  CUgraph child = NULL, other = NULL, found = NULL;
  CUgraphExec exec = NULL;
  CUgraphNode node = NULL, allocation = NULL, extra = NULL;
  CUdeviceptr memory = 0;
  OK(cuGraphCreate(&child, 0));
  OK(cuGraphCreate(&other, 0));
  allocation = add_allocation(&s, child, &memory);
  CUDA_MEMSET_NODE_PARAMS fill = {memory, 4, 42, 4, 1, 1};
  OK(cuGraphAddMemsetNode(&node, child, &allocation, 1, &fill, s.f->context));
  EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddChildGraphNode(&node, s.graph, NULL, 0, child));
  CUgraphNodeParams params = moved(child);
  OK(cuGraphAddNode(&node, s.graph, NULL, NULL, 0, &params));
  OK(cuGraphChildGraphNodeGetGraph(node, &found));
  assert_ptr_equal(found, child);
  /* It is the parent's now. */
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&extra, other, NULL, NULL, 0, &params));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(child));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(&exec, child, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemFreeNode(&extra, child, NULL, 0, memory));
  params = moved(s.graph);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&extra, s.graph, NULL, NULL, 0, &params));
  add_fill(&s, child, 0, 9); /* other nodes may come */
  OK(cuGraphInstantiate(&exec, s.graph, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuGraphExecUpdate(exec, child, &(CUgraphExecUpdateResultInfo){0}));
  launch(&s, exec);
  uint32_t word = 0;
  OK(cuMemcpyDtoH(&word, memory, 4));
  assert_int_equal(word, 42);
  assert_int_equal(s.words[0], 9);
  OK(cuMemFree(memory));
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(other));
  OK(cuGraphDestroy(s.graph));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(child)); /* gone with its parent */
  OK(cuGraphCreate(&s.graph, 0));
  finish(s);
}

static void graphs_that_allocate_are_instantiated_once(void** state) {
  setup s = make(state);
  CUgraphExec exec = NULL, second = NULL;
  CUgraphNode node = NULL, allocation = NULL;
  CUdeviceptr memory = 0;
  allocation = add_allocation(&s, s.graph, &memory);
  OK(cuGraphAddMemFreeNode(&node, s.graph, &allocation, 1, memory));
  OK(cuGraphInstantiate(&exec, s.graph, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(&second, s.graph, 0));
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphInstantiate(&exec, s.graph, 0));
  OK(cuGraphExecDestroy(exec));
  EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuGraphDestroyNode(node));
  EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuGraphRemoveDependencies(s.graph, &allocation, &node, NULL, 1));
  finish(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(modules_may_set_values_themselves),
      TEST(loops_end_when_kernels_say_so),
      TEST(nodes_within_loops_are_updated),
      TEST(nodes_within_children_are_updated),
      TEST(values_choose_graphs),
      TEST(decisions_are_nested_and_captured),
      TEST(decisions_have_rules),
      TEST(child_graphs_are_moved),
      TEST(graphs_that_allocate_are_instantiated_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
