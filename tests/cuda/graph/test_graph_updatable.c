/* Kernels' nodes of graphs that kernels change (CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE).
 * NVIDIA's driver needs its own device runtime linked to such kernels. */
#include "support.h"

#include <string.h>

enum { kSuccess = 0, kInvalidValue = 1, kUnset = 12345 }; /* of cudaError */
enum { kSetParam, kSetEnabled, kSetGrid, kApply };        /* what `change` calls */
enum { kFieldGrid = 1, kFieldParam, kFieldEnabled };      /* of cudaGraphKernelNodeUpdate */

#define CALL4(name)                                                                 \
  " { .param .b64 a; .param .b64 b; .param .b64 c; .param .b64 d; .param .b32 e;\n" \
  "   st.param.b64 [a], %d3; st.param.b64 [b], %d4; st.param.b64 [c], %d5;\n"       \
  "   st.param.b64 [d], %d6; call.uni (e), " name                                   \
  ", (a, b, c, d); ld.param.b32 %r2, [e]; "                                         \
  "}\n"

/* add: each block adds 1 to sum[0] and `value` to sum[1]; sum[2] and [3] become the grid's x and
 * y. change: does what `plan` says: a number of calls, then for each of them the function, the
 * node, three more words and, written, its error. */
static const char changers[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".extern .func (.param .b32 e) cudaGraphKernelNodeSetParam"
    "(.param .b64 node, .param .b64 offset, .param .b64 value, .param .b64 size);\n"
    ".extern .func (.param .b32 e) cudaGraphKernelNodeSetEnabled"
    "(.param .b64 node, .param .b32 on);\n"
    ".extern .func (.param .b32 e) cudaGraphKernelNodeSetGridDim"
    "(.param .b64 node, .param .align 4 .b8 grid[12]);\n"
    ".extern .func (.param .b32 e) cudaGraphKernelNodeUpdatesApply"
    "(.param .b64 updates, .param .b64 count);\n"
    ".extern .func (.param .b32 e) cudaGraphLaunch(.param .b64 exec, .param .b64 stream);\n"
    ".visible .entry add(.param .u64 sum, .param .u32 value) {\n"
    " .reg .b64 %d<2>; .reg .b32 %r<8>;\n"
    " ld.param.u64 %d1, [sum]; ld.param.u32 %r1, [value];\n"
    " red.global.add.u32 [%d1], 1; red.global.add.u32 [%d1+4], %r1;\n"
    " mov.u32 %r2, %nctaid.x; mov.u32 %r3, %nctaid.y; st.u32 [%d1+8], %r2; st.u32 [%d1+12], %r3;\n"
    " ret; }\n"
    ".visible .entry pair(.param .u64 sum, .param .u32 value) .reqnctapercluster 2, 1, 1 {\n"
    " .reg .b64 %d<2>; .reg .b32 %r<8>;\n"
    " ld.param.u64 %d1, [sum]; red.global.add.u32 [%d1], 1; ret; }\n"
    /* Adds the last two of many words, so that they lie in memory of their own. */
    ".visible .entry large(.param .u64 sum, .param .align 8 .b8 words[1600]) {\n"
    " .reg .b64 %d<2>; .reg .b32 %r<4>;\n"
    " ld.param.u64 %d1, [sum]; ld.param.u32 %r1, [words+1592]; ld.param.u32 %r2, [words+1596];\n"
    " add.u32 %r3, %r1, %r2; red.global.add.u32 [%d1+4], %r3; ret; }\n"
    ".visible .entry change(.param .u64 plan) {\n"
    " .reg .pred %p<6>; .reg .b64 %d<10>; .reg .b32 %r<8>;\n"
    " ld.param.u64 %d1, [plan]; ld.u64 %d2, [%d1]; add.u64 %d1, %d1, 8;\n"
    "next: setp.eq.u64 %p1, %d2, 0; @%p1 bra done;\n"
    " ld.u64 %d7, [%d1]; ld.u64 %d3, [%d1+8]; ld.u64 %d4, [%d1+16]; ld.u64 %d5, [%d1+24];\n"
    " ld.u64 %d6, [%d1+32];\n"
    " setp.eq.u64 %p2, %d7, 1; setp.eq.u64 %p3, %d7, 2; setp.eq.u64 %p4, %d7, 3;\n"
    " @%p2 bra enabled; @%p3 bra grid; @%p4 bra apply;\n" CALL4("cudaGraphKernelNodeSetParam")
    " bra write;\n"
    "enabled: { .param .b64 a; .param .b32 b; .param .b32 e; cvt.u32.u64 %r1, %d4;\n"
    "   st.param.b64 [a], %d3; st.param.b32 [b], %r1;\n"
    "   call.uni (e), cudaGraphKernelNodeSetEnabled, (a, b); ld.param.b32 %r2, [e]; }\n"
    " bra write;\n"
    "grid: { .param .b64 a; .param .align 4 .b8 b[12]; .param .b32 e;\n"
    "   cvt.u32.u64 %r1, %d4; cvt.u32.u64 %r3, %d5; cvt.u32.u64 %r4, %d6;\n"
    "   st.param.b64 [a], %d3; st.param.b32 [b], %r1; st.param.b32 [b+4], %r3;\n"
    "   st.param.b32 [b+8], %r4;\n"
    "   call.uni (e), cudaGraphKernelNodeSetGridDim, (a, b); ld.param.b32 %r2, [e]; }\n"
    " bra write;\n"
    "apply: { .param .b64 a; .param .b64 b; .param .b32 e;\n"
    "   st.param.b64 [a], %d3; st.param.b64 [b], %d4;\n"
    "   call.uni (e), cudaGraphKernelNodeUpdatesApply, (a, b); ld.param.b32 %r2, [e]; }\n"
    "write: cvt.u64.u32 %d7, %r2; st.u64 [%d1+40], %d7;\n"
    " add.u64 %d1, %d1, 48; sub.u64 %d2, %d2, 1; bra next;\n"
    "done: ret; }\n"
    /* Adds `left` to sum[0] and, while it is not 0, runs its graph again with one less. */
    ".visible .entry down(.param .u64 sum, .param .u64 node, .param .u32 left,"
    " .param .u64 cell) {\n"
    " .reg .pred %p<2>; .reg .b64 %d<8>; .reg .b32 %r<4>;\n"
    " ld.param.u64 %d1, [sum]; ld.param.u64 %d3, [node]; ld.param.u32 %r1, [left];\n"
    " ld.param.u64 %d5, [cell]; ld.u32 %r2, [%d1]; add.u32 %r2, %r2, %r1; st.u32 [%d1], %r2;\n"
    " setp.eq.u32 %p1, %r1, 0; @%p1 ret;\n"
    " sub.u32 %r1, %r1, 1; st.u32 [%d5], %r1; mov.u64 %d4, 16; mov.u64 %d6, 4;\n" CALL4(
        "cudaGraphKernelNodeSetParam")
    " mov.u64 %d6, 0x0100000000000000; mov.u64 %d7, %current_graph_exec;\n"
    " { .param .b64 a; .param .b64 b; .param .b32 e; st.param.b64 [a], %d7;\n"
    "   st.param.b64 [b], %d6; call.uni (e), cudaGraphLaunch, (a, b); }\n"
    " ret; }\n"
    ".visible .entry start(.param .u64 exec) {\n"
    " .reg .b64 %d<3>; ld.param.u64 %d1, [exec]; mov.u64 %d2, 0x0200000000000000;\n"
    " { .param .b64 a; .param .b64 b; .param .b32 e; st.param.b64 [a], %d1;\n"
    "   st.param.b64 [b], %d2; call.uni (e), cudaGraphLaunch, (a, b); }\n"
    " ret; }\n";

enum { kPlanCalls = 80, kCallWords = 6, kNodes = 64 };

typedef struct update { /* cudaGraphKernelNodeUpdate */
  uint64_t node;
  uint32_t field, unused;
  union {
    uint32_t grid[4];
    struct {
      const volatile void* value;
      uint64_t offset, size;
    } param;
    uint32_t enabled;
  } data;
} update;
_Static_assert(sizeof(update) == 40, "of another layout");

typedef struct memory { /* that both sides see */
  uint32_t sum[4];
  uint32_t values[4];
  uint64_t plan[1 + kPlanCalls * kCallWords];
  update updates[kNodes + 1];
  uint64_t flag, out;
  uint32_t sums[kNodes][4];
} memory;

typedef struct setup {
  const fixture* f;
  CUmodule module;
  volatile memory* m;
} setup;

static setup make(void** state) {
  setup s = {*state, NULL, NULL};
  OK(cuModuleLoadData(&s.module, changers));
  OK(cuMemHostAlloc((void**)&s.m, sizeof *s.m, 0));
  memset((void*)s.m, 0, sizeof *s.m);
  return s;
}

static void finish(setup s) {
  OK(cuMemFreeHost((void*)s.m));
  OK(cuModuleUnload(s.module));
}

static CUgraphNode add_add(const setup* s, CUgraph graph, uint32_t value,
                           const CUgraphNode* after) {
  const volatile uint32_t* sum = s->m->sum;
  void* arguments[] = {(void*)&sum, &value};
  return add_kernel(graph, s->module, "add", arguments, after);
}

static CUgraphNode add_change(const setup* s, CUgraph graph, const CUgraphNode* after) {
  const volatile uint64_t* plan = s->m->plan;
  void* arguments[] = {(void*)&plan};
  return add_kernel(graph, s->module, "change", arguments, after);
}

static CUresult set_updatable(CUgraphNode node, int wanted, uint64_t* out) {
  CUkernelNodeAttrValue value;
  memset(&value, 0, sizeof value);
  value.deviceUpdatableKernelNode.deviceUpdatable = wanted;
  CUresult done =
      cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &value);
  if (out != NULL) *out = (uint64_t)(uintptr_t)value.deviceUpdatableKernelNode.devNode;
  return done;
}

static uint64_t updatable(CUgraphNode node) {
  uint64_t handle = 0;
  OK(set_updatable(node, 1, &handle));
  assert_int_not_equal(handle, 0);
  return handle;
}

static CUgraph new_graph(void) {
  CUgraph graph = NULL;
  OK(cuGraphCreate(&graph, 0));
  return graph;
}

static void clear_plan(const setup* s) { s->m->plan[0] = 0; }

static void plan(const setup* s, uint64_t function, uint64_t node, uint64_t a, uint64_t b,
                 uint64_t c) {
  volatile uint64_t* call = s->m->plan + 1 + kCallWords * s->m->plan[0]++;
  assert_true(s->m->plan[0] <= kPlanCalls);
  call[0] = function;
  call[1] = node;
  call[2] = a;
  call[3] = b;
  call[4] = c;
  call[5] = kUnset;
}

static void plan_value(const setup* s, uint64_t node, int cell, uint32_t value) {
  s->m->values[cell] = value;
  plan(s, kSetParam, node, 8, (uint64_t)(uintptr_t)&s->m->values[cell], 4);
}

static uint64_t error_of(const setup* s, int call) { return s->m->plan[1 + kCallWords * call + 5]; }

static void expect_errors(const setup* s, uint64_t error) {
  for (int i = 0; i < (int)s->m->plan[0]; ++i) {
    if (error_of(s, i) != error) print_error("call %d gave %u\n", i, (unsigned)error_of(s, i));
    assert_int_equal(error_of(s, i), error);
  }
}

static void run(const setup* s, CUgraphExec exec) {
  s->m->sum[0] = s->m->sum[1] = 0;
  OK(cuGraphLaunch(exec, s->f->stream));
  OK(cuStreamSynchronize(s->f->stream));
}

/* The changes that are planned, by a kernel of no graph. */
static void change_now(const setup* s) {
  const volatile uint64_t* words = s->m->plan;
  void* arguments[] = {(void*)&words};
  CUfunction change = NULL;
  OK(cuModuleGetFunction(&change, s->module, "change"));
  OK(cuLaunchKernel(change, 1, 1, 1, 1, 1, 1, 0, s->f->stream, arguments, NULL));
}

static void expect_sum(const setup* s, uint32_t blocks, uint32_t sum) {
  assert_int_equal(s->m->sum[0], blocks);
  assert_int_equal(s->m->sum[1], sum);
}

/* A graph with one node that kernels change, which adds `value`. */
static CUgraphExec adder(const setup* s, uint32_t value, uint64_t* out_handle, CUgraph* out_graph,
                         CUgraphNode* out_node) {
  CUgraphExec exec = NULL;
  *out_graph = new_graph();
  *out_node = add_add(s, *out_graph, value, NULL);
  *out_handle = updatable(*out_node);
  OK(cuGraphInstantiate(&exec, *out_graph, 0));
  return exec;
}

static void end(setup s, CUgraphExec exec, CUgraph graph) {
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
  finish(s);
}

static void changes_count_in_the_launch_that_makes_them(void** state) {
  setup s = make(state);
  CUgraph graph = new_graph();
  CUgraphExec exec = NULL;
  CUgraphNode change = add_change(&s, graph, NULL), node = add_add(&s, graph, 5, &change);
  uint64_t handle = updatable(node);
  OK(cuGraphInstantiate(&exec, graph, 0));
  OK(cuGraphUpload(exec, s.f->stream));
  run(&s, exec);
  expect_sum(&s, 1, 5);
  plan_value(&s, handle, 0, 7);
  run(&s, exec);
  expect_errors(&s, kSuccess);
  expect_sum(&s, 1, 7);
  plan(&s, kSetGrid, handle, 3, 2, 2);
  run(&s, exec);
  expect_errors(&s, kSuccess);
  expect_sum(&s, 12, 84);
  assert_int_equal(s.m->sum[2], 3);
  assert_int_equal(s.m->sum[3], 2);
  clear_plan(&s); /* what was changed stays */
  run(&s, exec);
  expect_sum(&s, 12, 84);
  plan(&s, kSetEnabled, handle, 0, 0, 0);
  run(&s, exec);
  expect_errors(&s, kSuccess);
  expect_sum(&s, 0, 0);
  clear_plan(&s);
  plan(&s, kSetEnabled, handle, 1, 0, 0);
  plan(&s, kSetGrid, handle, 1, 1, 1);
  run(&s, exec);
  expect_errors(&s, kSuccess);
  expect_sum(&s, 1, 7);
  end(s, exec, graph);
}

static void several_changes_are_applied_at_once(void** state) {
  setup s = make(state);
  CUgraph graph = new_graph();
  CUgraphExec exec = NULL;
  CUgraphNode change = add_change(&s, graph, NULL);
  uint64_t handles[kNodes];
  for (uint32_t i = 0; i < kNodes; ++i) { /* each in a branch of its own */
    const volatile uint32_t* sum = s.m->sums[i];
    uint32_t value = 1;
    void* arguments[] = {(void*)&sum, &value};
    handles[i] = updatable(add_kernel(graph, s.module, "add", arguments, &change));
  }
  OK(cuGraphInstantiate(&exec, graph, 0));
  for (uint32_t round = 1; round < 4; ++round) {
    volatile update* updates = s.m->updates;
    uint32_t values[kNodes];
    clear_plan(&s);
    for (uint32_t i = 0; i < kNodes; ++i) {
      values[i] = i + round;
      updates[i].node = handles[i];
      updates[i].field = i % 3 == 0 ? kFieldParam : i % 3 == 1 ? kFieldGrid : kFieldEnabled;
      if (i % 3 == 0) {
        updates[i].data.param.value = &values[i];
        updates[i].data.param.offset = 8;
        updates[i].data.param.size = 4;
      } else if (i % 3 == 1) {
        updates[i].data.grid[0] = round;
        updates[i].data.grid[1] = i;
        updates[i].data.grid[2] = 1;
      } else {
        updates[i].data.enabled = round % 2 << 8; /* any bit says that it is on */
      }
    }
    OK(cuMemHostRegister(values, sizeof values, 0));
    plan(&s, kApply, (uint64_t)(uintptr_t)updates, kNodes, 0, 0);
    memset((void*)s.m->sums, 0, sizeof s.m->sums);
    run(&s, exec);
    OK(cuMemHostUnregister(values));
    expect_errors(&s, kSuccess);
    for (uint32_t i = 0; i < kNodes; ++i) {
      const uint32_t blocks = i % 3 == 0 ? 1 : i % 3 == 1 ? round * i : round % 2;
      assert_int_equal(s.m->sums[i][0], blocks);
      assert_int_equal(s.m->sums[i][1], i % 3 == 0 ? i + round : blocks);
    }
  }
  end(s, exec, graph);
}

static void kernels_outside_change_nodes(void** state) {
  setup s = make(state);
  CUgraph graph = NULL, other = new_graph();
  CUgraphNode node = NULL;
  uint64_t handle = 0;
  CUgraphExec exec = adder(&s, 5, &handle, &graph, &node), changer = NULL;
  plan_value(&s, handle, 0, 9);
  change_now(&s);
  run(&s, exec);
  expect_errors(&s, kSuccess);
  expect_sum(&s, 1, 9);
  add_change(&s, other, NULL);
  OK(cuGraphInstantiate(&changer, other, 0));
  s.m->values[0] = 11;
  OK(cuGraphLaunch(changer, s.f->stream));
  run(&s, exec);
  expect_sum(&s, 1, 11);
  OK(cuGraphExecDestroy(changer));
  OK(cuGraphDestroy(other));
  end(s, exec, graph);
}

static void arguments_of_any_size_are_changed(void** state) {
  setup s = make(state);
  static uint32_t words[400];
  CUgraph graph = new_graph();
  CUgraphExec exec = NULL;
  const volatile uint32_t* sum = s.m->sum;
  void* arguments[] = {(void*)&sum, words};
  words[398] = 1;
  words[399] = 2;
  uint64_t handle = updatable(add_kernel(graph, s.module, "large", arguments, NULL));
  OK(cuGraphInstantiate(&exec, graph, 0));
  run(&s, exec);
  assert_int_equal(s.m->sum[1], 3);
  CUdeviceptr bytes = 0;
  OK(cuMemAlloc(&bytes, 1608));
  words[398] = 0x01020304;
  words[399] = 0x10203040;
  OK(cuMemcpyHtoD(bytes + 3, words, sizeof words)); /* at an odd address */
  plan(&s, kSetParam, handle, 8, bytes + 3, sizeof words);
  change_now(&s);
  run(&s, exec);
  expect_errors(&s, kSuccess);
  assert_int_equal(s.m->sum[1], 0x11223344);
  clear_plan(&s);
  s.m->values[0] = 0xAABBCCDD;
  plan(&s, kSetParam, handle, 8 + 1593, (uint64_t)(uintptr_t)s.m->values, 3); /* across words */
  change_now(&s);
  run(&s, exec);
  expect_errors(&s, kSuccess);
  assert_int_equal(s.m->sum[1], 0xBBCCDD04 + 0x10203040);
  OK(cuMemFree(bytes));
  end(s, exec, graph);
}

static void wrong_changes_are_errors(void** state) {
  setup s = make(state);
  CUgraph graph = NULL, gone = NULL, early = new_graph();
  CUgraphNode node = NULL, other = NULL;
  uint64_t handle = 0, ended = 0;
  CUgraphExec ending = adder(&s, 5, &ended, &gone, &other);
  CUgraphExec exec = adder(&s, 5, &handle, &graph, &node);
  OK(cuGraphExecDestroy(ending));
  OK(cuGraphDestroy(gone));
  const uint64_t value = (uint64_t)(uintptr_t)s.m->values;
  const uint64_t not_yet = updatable(add_add(&s, early, 1, NULL));
  const uint64_t none[] = {0,
                           1,
                           ended,
                           not_yet,
                           handle + 8,
                           (uint64_t)(uintptr_t)node,
                           value,
                           UINT64_MAX,
                           (uint64_t)1 << 63,
                           (uint64_t)(uintptr_t)exec};
  for (size_t i = 0; i < sizeof none / sizeof *none; ++i) {
    plan(&s, kSetParam, none[i], 8, value, 4);
    plan(&s, kSetEnabled, none[i], 0, 0, 0);
    plan(&s, kSetGrid, none[i], 2, 1, 1);
  }
  plan(&s, kSetParam, handle, 9, value, 4);
  plan(&s, kSetParam, handle, 12, value, 1);
  plan(&s, kSetParam, handle, 13, value, 0);
  plan(&s, kSetParam, handle, 0, value, 13);
  plan(&s, kSetParam, handle, UINT64_MAX, value, 2);
  plan(&s, kSetParam, handle, 8, value, UINT64_MAX);
  plan(&s, kSetParam, handle, 8, 0, 4);
  plan(&s, kSetGrid, handle, 0, 1, 1);
  plan(&s, kSetGrid, handle, 1, 0, 1);
  plan(&s, kSetGrid, handle, 1, 1, 0);
  plan(&s, kSetGrid, handle, 1, 65536, 1);
  plan(&s, kSetGrid, handle, 1, 1, 65536);
  plan(&s, kSetGrid, handle, 1u << 31, 1, 1);
  change_now(&s);
  run(&s, exec);
  expect_errors(&s, kInvalidValue);
  expect_sum(&s, 1, 5);
  /* Nothing is no error. */
  clear_plan(&s);
  plan(&s, kSetParam, handle, 12, value, 0);
  plan(&s, kSetParam, handle, 0, 0, 0);
  plan(&s, kApply, 0, 0, 0, 0);
  change_now(&s);
  run(&s, exec);
  expect_errors(&s, kSuccess);
  expect_sum(&s, 1, 5);
  OK(cuGraphDestroy(early));
  end(s, exec, graph);
}

/* Updates before the wrong one have been applied, those after it have not. */
static void updates_end_at_the_first_error(void** state) {
  setup s = make(state);
  CUgraph graph = NULL;
  CUgraphNode node = NULL;
  uint64_t handle = 0;
  CUgraphExec exec = adder(&s, 5, &handle, &graph, &node);
  volatile update* updates = s.m->updates;
  for (int i = 0; i < 3; ++i) {
    updates[i].node = handle;
    updates[i].field = kFieldGrid;
    updates[i].data.grid[0] = 2 + (uint32_t)i;
    updates[i].data.grid[1] = updates[i].data.grid[2] = 1;
  }
  for (uint32_t field = 0; field < 6; field = field == 0 ? 4 : field + 1) {
    clear_plan(&s);
    updates[1].field = field;
    plan(&s, kApply, (uint64_t)(uintptr_t)updates, 3, 0, 0);
    change_now(&s);
    run(&s, exec);
    expect_errors(&s, kInvalidValue);
    expect_sum(&s, 2, 10);
  }
  updates[1].field = kFieldGrid;
  updates[1].node = handle + 1;
  run(&s, exec);
  change_now(&s);
  run(&s, exec);
  expect_errors(&s, kInvalidValue);
  expect_sum(&s, 2, 10);
  end(s, exec, graph);
}

static void grids_fit_clusters_and_cooperative_launches(void** state) {
  setup s = make(state);
  CUgraph graph = new_graph();
  CUgraphExec exec = NULL;
  const volatile uint32_t* sum = s.m->sum;
  uint32_t value = 0;
  void* arguments[] = {(void*)&sum, &value};
  CUgraphNode pair = NULL, node = NULL;
  CUDA_KERNEL_NODE_PARAMS params = one_thread_of(s.module, "pair", arguments);
  params.gridDimX = 2;
  OK(cuGraphAddKernelNode(&pair, graph, NULL, 0, &params));
  params = one_thread_of(s.module, "add", arguments);
  params.gridDimX = 4;
  OK(cuGraphAddKernelNode(&node, graph, &pair, 1, &params));
  CUkernelNodeAttrValue cooperative;
  memset(&cooperative, 0, sizeof cooperative);
  uint64_t handle = updatable(node); /* which an attribute set later keeps */
  cooperative.cooperative = 1;
  OK(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &cooperative));
  uint64_t of_pair = updatable(pair);
  OK(cuGraphInstantiate(&exec, graph, 0));
  run(&s, exec);
  expect_sum(&s, 6, 0);
  plan(&s, kSetGrid, of_pair, 3, 1, 1);
  plan(&s, kSetGrid, handle, 5, 1, 1);
  plan(&s, kSetGrid, handle, 2, 3, 1);
  change_now(&s);
  run(&s, exec);
  expect_errors(&s, kInvalidValue);
  expect_sum(&s, 6, 0);
  clear_plan(&s);
  plan(&s, kSetGrid, of_pair, 4, 3, 1);
  plan(&s, kSetGrid, handle, 1, 3, 1);
  change_now(&s);
  run(&s, exec);
  expect_errors(&s, kSuccess);
  expect_sum(&s, 15, 0);
  clear_plan(&s);
  OK(cuGraphExecKernelNodeSetParams(exec, node, &params)); /* it stays a cooperative one */
  OK(cuGraphUpload(exec, s.f->stream));
  plan(&s, kSetGrid, handle, 5, 1, 1);
  change_now(&s);
  run(&s, exec);
  expect_errors(&s, kInvalidValue);
  expect_sum(&s, 16, 0);
  end(s, exec, graph);
}

static void set_value(const setup* s, CUgraphExec exec, CUgraphNode node, uint32_t value) {
  const volatile uint32_t* sum = s->m->sum;
  void* arguments[] = {(void*)&sum, &value};
  CUDA_KERNEL_NODE_PARAMS params = one_thread_of(s->module, "add", arguments);
  OK(cuGraphExecKernelNodeSetParams(exec, node, &params));
}

static void the_host_overwrites_changes(void** state) {
  setup s = make(state);
  CUgraph graph = NULL;
  CUgraphNode node = NULL;
  uint64_t handle = 0;
  CUgraphExec exec = adder(&s, 5, &handle, &graph, &node);
  plan_value(&s, handle, 0, 7);
  plan(&s, kSetGrid, handle, 2, 1, 1);
  change_now(&s);
  OK(cuGraphUpload(exec, s.f->stream)); /* the host has changed nothing */
  run(&s, exec);
  expect_sum(&s, 2, 14);
  set_value(&s, exec, node, 100);
  change_now(&s); /* before the launch that takes over what the host has set */
  run(&s, exec);
  expect_sum(&s, 1, 100);
  change_now(&s);
  run(&s, exec);
  expect_sum(&s, 2, 14);
  set_value(&s, exec, node, 200);
  OK(cuGraphUpload(exec, s.f->stream));
  change_now(&s); /* after that */
  run(&s, exec);
  expect_sum(&s, 2, 14);
  OK(cuGraphNodeSetEnabled(exec, node, 0));
  run(&s, exec);
  expect_sum(&s, 0, 0);
  clear_plan(&s);
  plan(&s, kSetEnabled, handle, 1, 0, 0);
  change_now(&s);
  run(&s, exec);
  expect_errors(&s, kSuccess);
  expect_sum(&s, 1, 200);
  OK(cuGraphNodeSetEnabled(exec, node, 1));
  run(&s, exec);
  expect_sum(&s, 1, 200);
  end(s, exec, graph);
}

/* Everything is in the order of the stream, whenever it was queued. */
static void changes_are_in_stream_order(void** state) {
  setup s = make(state);
  CUgraph graph = NULL;
  CUgraphNode node = NULL;
  uint64_t handle = 0;
  CUgraphExec exec = adder(&s, 1, &handle, &graph, &node);
  uint64_t flag = (uint64_t)(uintptr_t)&s.m->flag, out = (uint64_t)(uintptr_t)&s.m->out;
  void* arguments[] = {&flag, &out};
  OK(cuLaunchKernel(kernel(s.f, "slow"), 1, 1, 1, 1, 1, 1, 0, s.f->stream, arguments, NULL));
  OK(cuGraphLaunch(exec, s.f->stream)); /* 1 */
  plan_value(&s, handle, 0, 10);
  change_now(&s);
  OK(cuGraphLaunch(exec, s.f->stream)); /* 10 */
  set_value(&s, exec, node, 100);
  OK(cuGraphLaunch(exec, s.f->stream)); /* 100 */
  set_value(&s, exec, node, 1000);
  OK(cuGraphUpload(exec, s.f->stream));
  OK(cuGraphLaunch(exec, s.f->stream)); /* 1000 */
  change_now(&s);
  OK(cuGraphLaunch(exec, s.f->stream)); /* 10 */
  s.m->flag = 1;
  OK(cuStreamSynchronize(s.f->stream));
  expect_errors(&s, kSuccess);
  expect_sum(&s, 5, 1121);
  end(s, exec, graph);
}

static void captured_launches_are_changed(void** state) {
  setup s = make(state);
  CUgraph graph = NULL;
  CUgraphExec exec = NULL;
  CUfunction add = NULL;
  const volatile uint32_t* sum = s.m->sum;
  uint32_t value = 3;
  void* arguments[] = {(void*)&sum, &value};
  CUlaunchAttribute attribute;
  memset(&attribute, 0, sizeof attribute);
  attribute.id = CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE;
  attribute.value.deviceUpdatableKernelNode.deviceUpdatable = 1;
  CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, s.f->stream, &attribute, 1};
  OK(cuModuleGetFunction(&add, s.module, "add"));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuLaunchKernelEx(&config, add, arguments, NULL));
  OK(cuStreamSynchronize(s.f->stream));
  expect_sum(&s, 0, 0); /* nor was it launched */
  OK(cuStreamBeginCapture(s.f->stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  change_now(&s);
  attribute.value.deviceUpdatableKernelNode.deviceUpdatable = 2;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuLaunchKernelEx(&config, add, arguments, NULL));
  attribute.value.deviceUpdatableKernelNode.deviceUpdatable = 1;
  OK(cuLaunchKernelEx(&config, add, arguments, NULL));
  uint64_t first = (uint64_t)(uintptr_t)attribute.value.deviceUpdatableKernelNode.devNode;
  OK(cuLaunchKernelEx(&config, add, arguments, NULL));
  uint64_t second = (uint64_t)(uintptr_t)attribute.value.deviceUpdatableKernelNode.devNode;
  OK(cuStreamEndCapture(s.f->stream, &graph));
  assert_int_not_equal(first, 0);
  assert_int_not_equal(second, first);
  OK(cuGraphInstantiate(&exec, graph, 0));
  plan_value(&s, first, 0, 50);
  plan(&s, kSetGrid, second, 2, 1, 1);
  run(&s, exec);
  expect_errors(&s, kSuccess);
  expect_sum(&s, 3, 56);
  end(s, exec, graph);
}

static void nodes_that_kernels_change_have_rules(void** state) {
  setup s = make(state);
  const CUkernelNodeAttrID id = CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE;
  CUgraph graph = new_graph(), clone = NULL;
  CUgraphNode node = add_add(&s, graph, 1, NULL), plain = add_add(&s, graph, 1, &node), empty;
  CUgraphExec exec = NULL, second = NULL;
  CUkernelNodeAttrValue read;
  OK(cuGraphAddEmptyNode(&empty, graph, NULL, 0));
  OK(cuGraphKernelNodeGetAttribute(node, id, &read));
  assert_int_equal(read.deviceUpdatableKernelNode.deviceUpdatable, 0);
  assert_null(read.deviceUpdatableKernelNode.devNode);
  EXPECT(CUDA_ERROR_INVALID_VALUE, set_updatable(empty, 1, NULL));
  EXPECT(CUDA_ERROR_INVALID_VALUE, set_updatable(node, 2, NULL));
  OK(set_updatable(node, 0, NULL));
  const uint64_t handle = updatable(node);
  assert_int_equal(updatable(node), handle);
  EXPECT(CUDA_ERROR_INVALID_VALUE, set_updatable(node, 0, NULL));
  OK(cuGraphKernelNodeGetAttribute(node, id, &read));
  assert_int_equal(read.deviceUpdatableKernelNode.deviceUpdatable, 1);
  assert_int_equal((uintptr_t)read.deviceUpdatableKernelNode.devNode, handle);
  EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuGraphDestroyNode(node));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphKernelNodeCopyAttributes(node, plain));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphKernelNodeCopyAttributes(plain, node));
  EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuGraphClone(&clone, graph));
  /* New parameters leave it as it is. */
  CUDA_KERNEL_NODE_PARAMS params;
  OK(cuGraphKernelNodeGetParams(node, &params));
  OK(cuGraphKernelNodeSetParams(node, &params));
  assert_int_equal(updatable(node), handle);
  /* One instantiation, which is not updated as a whole, nor captured. */
  OK(cuGraphInstantiate(&exec, graph, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(&second, graph, 0));
  CUgraphExecUpdateResultInfo info;
  EXPECT(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, graph, &info));
  assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED);
  OK(cuStreamBeginCapture(s.f->stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuGraphLaunch(exec, s.f->stream));
  OK(cuStreamEndCapture(s.f->stream, &clone));
  OK(cuGraphDestroy(clone));
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphInstantiate(&exec, graph, 0));
  plan_value(&s, handle, 0, 6); /* the handle is that of the new one */
  change_now(&s);
  run(&s, exec);
  expect_errors(&s, kSuccess);
  expect_sum(&s, 2, 7);
  end(s, exec, graph);
}

/* A graph that becomes a part of another takes its nodes along. */
static void nodes_of_child_graphs_are_changed(void** state) {
  setup s = make(state);
  CUgraph graph = new_graph(), child = new_graph();
  CUgraphExec exec = NULL;
  CUgraphNode node = NULL;
  uint64_t handle = updatable(add_add(&s, child, 1, NULL));
  EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddChildGraphNode(&node, graph, NULL, 0, child));
  CUgraphNodeParams params;
  memset(&params, 0, sizeof params);
  params.type = CU_GRAPH_NODE_TYPE_GRAPH;
  params.graph.graph = child;
  params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
  CUgraphNode change = add_change(&s, graph, NULL);
  OK(cuGraphAddNode(&node, graph, &change, NULL, 1, &params));
  OK(cuGraphInstantiate(&exec, graph, 0));
  plan_value(&s, handle, 0, 8);
  plan(&s, kSetGrid, handle, 2, 1, 1);
  run(&s, exec);
  expect_errors(&s, kSuccess);
  expect_sum(&s, 2, 16);
  end(s, exec, graph);
}

static void nodes_of_conditional_bodies_are_changed(void** state) {
  setup s = make(state);
  CUgraph graph = new_graph();
  CUgraphExec exec = NULL;
  CUgraphConditionalHandle condition = 0;
  CUgraphNode node = NULL;
  CUgraphNodeParams params;
  OK(cuGraphConditionalHandleCreate(&condition, graph, s.f->context, 1,
                                    CU_GRAPH_COND_ASSIGN_DEFAULT));
  memset(&params, 0, sizeof params);
  params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  params.conditional.handle = condition;
  params.conditional.type = CU_GRAPH_COND_TYPE_IF;
  params.conditional.size = 1;
  params.conditional.ctx = s.f->context;
  CUgraphNode before = add_change(&s, graph, NULL);
  OK(cuGraphAddNode(&node, graph, &before, NULL, 1, &params));
  CUgraph body = params.conditional.phGraph_out[0];
  uint64_t handle = updatable(add_add(&s, body, 1, NULL));
  OK(cuGraphInstantiate(&exec, graph, 0));
  CUgraphExecUpdateResultInfo info;
  EXPECT(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, graph, &info));
  plan_value(&s, handle, 0, 8);
  plan(&s, kSetGrid, handle, 2, 1, 1);
  run(&s, exec);
  expect_errors(&s, kSuccess);
  expect_sum(&s, 2, 16);
  plan(&s, kSetEnabled, handle, 0, 0, 0);
  run(&s, exec);
  expect_sum(&s, 0, 0);
  end(s, exec, graph);
}

static void graphs_that_kernels_launch_are_changed(void** state) {
  setup s = make(state);
  CUgraph graph = new_graph(), starter = new_graph();
  CUgraphExec exec = NULL, first = NULL;
  CUgraphNode node = add_add(&s, graph, 1, NULL), last = add_add(&s, graph, 1000, &node);
  uint64_t handle = updatable(node);
  OK(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
  OK(cuGraphUpload(exec, s.f->stream));
  void* arguments[] = {&exec};
  CUgraphNode change = add_change(&s, starter, NULL);
  add_kernel(starter, s.module, "start", arguments, &change);
  OK(cuGraphInstantiate(&first, starter, 0));
  run(&s, first);
  expect_sum(&s, 2, 1001);
  plan_value(&s, handle, 0, 20);
  plan(&s, kSetGrid, handle, 2, 1, 1);
  run(&s, first);
  expect_errors(&s, kSuccess);
  expect_sum(&s, 3, 1040);
  run(&s, exec); /* the host's launches run the same node */
  expect_sum(&s, 3, 1040);
  plan(&s, kSetEnabled, handle, 0, 0, 0);
  run(&s, first);
  expect_errors(&s, kSuccess);
  expect_sum(&s, 1, 1000);
  set_value(&s, exec, node, 4);
  OK(cuGraphUpload(exec, s.f->stream));
  clear_plan(&s);
  run(&s, first);
  expect_sum(&s, 2, 1004);
  OK(cuGraphNodeSetEnabled(exec, last, 0));
  OK(cuGraphNodeSetEnabled(exec, node, 0));
  OK(cuGraphUpload(exec, s.f->stream));
  run(&s, first);
  expect_sum(&s, 0, 0);
  plan(&s, kSetEnabled, handle, 1, 0, 0);
  run(&s, first);
  expect_sum(&s, 1, 4);
  OK(cuGraphExecDestroy(first));
  OK(cuGraphDestroy(starter));
  end(s, exec, graph);
}

/* A node changes itself for the next time that its graph runs. */
static void graphs_change_themselves(void** state) {
  setup s = make(state);
  CUgraph graph = new_graph();
  CUgraphExec exec = NULL;
  const volatile uint32_t *sum = s.m->sum, *cell = s.m->values;
  uint64_t handle = 0;
  uint32_t left = 100;
  void* arguments[] = {(void*)&sum, &handle, &left, (void*)&cell};
  CUgraphNode node = add_kernel(graph, s.module, "down", arguments, NULL);
  handle = updatable(node);
  CUDA_KERNEL_NODE_PARAMS params = one_thread_of(s.module, "down", arguments);
  OK(cuGraphKernelNodeSetParams(node, &params));
  OK(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
  OK(cuGraphUpload(exec, s.f->stream));
  run(&s, exec);
  assert_int_equal(s.m->sum[0], 5050);
  end(s, exec, graph);
}

/* A graph that was destroyed ends its launches with their changes. */
static void graphs_that_run_change_after_their_end(void** state) {
  setup s = make(state);
  CUgraph graph = new_graph();
  CUgraphExec exec = NULL;
  uint64_t flag = (uint64_t)(uintptr_t)&s.m->flag, out = (uint64_t)(uintptr_t)&s.m->out;
  void* arguments[] = {&flag, &out};
  CUgraphNode slow = NULL;
  CUDA_KERNEL_NODE_PARAMS params = one_thread_of(s.module, "add", arguments);
  params.func = kernel(s.f, "slow");
  OK(cuGraphAddKernelNode(&slow, graph, NULL, 0, &params));
  CUgraphNode change = add_change(&s, graph, &slow), node = add_add(&s, graph, 5, &change);
  uint64_t handle = updatable(node);
  plan_value(&s, handle, 0, 9);
  OK(cuGraphInstantiate(&exec, graph, 0));
  OK(cuGraphLaunch(exec, s.f->stream));
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
  s.m->flag = 1;
  OK(cuStreamSynchronize(s.f->stream));
  expect_errors(&s, kSuccess);
  expect_sum(&s, 1, 9);
  clear_plan(&s);
  plan_value(&s, handle, 0, 9);
  change_now(&s);
  OK(cuStreamSynchronize(s.f->stream));
  expect_errors(&s, kInvalidValue); /* nothing has the node any more */
  finish(s);
}

/* One branch changes the node of another as often as it can. */
static void branches_change_each_other(void** state) {
  setup s = make(state);
  CUgraph graph = new_graph();
  CUgraphExec exec = NULL;
  uint64_t flag = (uint64_t)(uintptr_t)&s.m->flag, out = (uint64_t)(uintptr_t)&s.m->out;
  void* arguments[] = {&flag, &out};
  CUgraphNode node = NULL;
  CUDA_KERNEL_NODE_PARAMS params = one_thread_of(s.module, "add", arguments);
  params.func = kernel(s.f, "slow"); /* branches run at the same time where a kernel waits */
  OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
  s.m->flag = 1;
  add_change(&s, graph, NULL);
  uint64_t handle = 0;
  for (int i = 0; i < 8; ++i) {
    node = add_add(&s, graph, 1, i == 0 ? NULL : &node);
    handle = updatable(node);
  }
  OK(cuGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 38; ++i) {
    plan_value(&s, handle, i % 2, 1 + (uint32_t)i % 2);
    plan(&s, kSetGrid, handle, 1 + (uint64_t)i % 2, 1, 1);
  }
  for (int round = 0; round < 200; ++round) {
    run(&s, exec);
    expect_errors(&s, kSuccess);
    const uint32_t blocks = s.m->sum[0] - 7, sum = s.m->sum[1] - 7;
    assert_true(blocks == 1 || blocks == 2);
    assert_true(sum == blocks || sum == 2 * blocks);
  }
  run(&s, exec);
  end(s, exec, graph);
}

int main(void) {
  if (on_nvidias_driver()) return 0;
  const struct CMUnitTest tests[] = {
      TEST(changes_count_in_the_launch_that_makes_them),
      TEST(several_changes_are_applied_at_once),
      TEST(kernels_outside_change_nodes),
      TEST(arguments_of_any_size_are_changed),
      TEST(wrong_changes_are_errors),
      TEST(updates_end_at_the_first_error),
      TEST(grids_fit_clusters_and_cooperative_launches),
      TEST(the_host_overwrites_changes),
      TEST(changes_are_in_stream_order),
      TEST(captured_launches_are_changed),
      TEST(nodes_that_kernels_change_have_rules),
      TEST(nodes_of_child_graphs_are_changed),
      TEST(nodes_of_conditional_bodies_are_changed),
      TEST(graphs_that_kernels_launch_are_changed),
      TEST(graphs_change_themselves),
      TEST(graphs_that_run_change_after_their_end),
      TEST(branches_change_each_other),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
