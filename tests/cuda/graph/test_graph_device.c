/* Graphs that kernels launch (CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH). NVIDIA's driver needs its
 * own device runtime linked to such kernels. */
#include "support.h"

#include <string.h>
#include <time.h>

enum { kInvalidValue = 1, kTooManyPending = 69 }; /* of cudaError */

#define TAIL (1ull << 56)
#define FORGET (2ull << 56)
#define SIBLING (3ull << 56)
#define SELF ((CUgraphExec)1)

/* log: how many entries there are, then the entries. plan: a number of launches, then for each of
 * them its graph (1: the current one), its stream and, written, its error. */
#define LOG_WHAT                                                  \
  " ld.param.u64 %d1, [log]; ld.param.u32 %r1, [what];\n"         \
  " ld.u32 %r2, [%d1]; add.u32 %r2, %r2, 1; st.u32 [%d1], %r2;\n" \
  " mul.wide.u32 %d2, %r2, 4; add.u64 %d2, %d1, %d2; st.u32 [%d2], %r1;\n"
#define LAUNCH                                                               \
  " { .param .b64 a; .param .b64 b; .param .b32 e; st.param.b64 [a], %d5;\n" \
  "   st.param.b64 [b], %d6; call.uni (e), cudaGraphLaunch, (a, b);\n"       \
  "   ld.param.b32 %r4, [e]; }\n"

static const char launchers[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".extern .func (.param .b32 e) cudaGraphLaunch(.param .b64 exec, .param .b64 stream);\n"
    ".extern .func (.param .b32 e) __cudaCDP2LaunchDeviceV2(.param .b64 p, .param .b64 s);\n"
    ".visible .entry mark(.param .u64 log, .param .u32 what) {\n"
    " .reg .b64 %d<8>; .reg .b32 %r<8>;\n" LOG_WHAT
    " ret; }\n"
    ".visible .entry act(.param .u64 log, .param .u32 what, .param .u64 plan) {\n"
    " .reg .pred %p<3>; .reg .b64 %d<8>; .reg .b32 %r<8>;\n" LOG_WHAT
    " ld.param.u64 %d3, [plan]; ld.u64 %d4, [%d3];\n"
    "next: setp.eq.u64 %p1, %d4, 0; @%p1 bra done;\n"
    " ld.u64 %d5, [%d3+8]; ld.u64 %d6, [%d3+16]; setp.eq.u64 %p2, %d5, 1;\n"
    " mov.u64 %d7, %current_graph_exec; selp.b64 %d5, %d7, %d5, %p2;\n" LAUNCH
    " cvt.u64.u32 %d5, %r4; st.u64 [%d3+24], %d5; add.u64 %d3, %d3, 24; sub.u64 %d4, %d4, 1; bra "
    "next;\n"
    "done: ret; }\n"
    /* Takes 1 from *left, adds 1 to *runs, and launches its graph again if there is more. */
    ".visible .entry again(.param .u64 left, .param .u64 runs) {\n"
    " .reg .pred %p<2>; .reg .b64 %d<8>; .reg .b32 %r<8>;\n"
    " ld.param.u64 %d1, [left]; ld.param.u64 %d2, [runs];\n"
    " ld.u32 %r1, [%d2]; add.u32 %r1, %r1, 1; st.u32 [%d2], %r1;\n"
    " ld.u32 %r1, [%d1]; sub.u32 %r1, %r1, 1; st.u32 [%d1], %r1;\n"
    " setp.eq.u32 %p1, %r1, 0; @%p1 ret;\n"
    " mov.u64 %d5, %current_graph_exec; mov.u64 %d6, 0x0100000000000000;\n" LAUNCH
    " ret; }\n"
    ".visible .entry who(.param .u64 out) {\n"
    " .reg .b64 %d<3>; ld.param.u64 %d1, [out]; mov.u64 %d2, %current_graph_exec;\n"
    " st.u64 [%d1], %d2; ret; }\n"
    ".func deep() { .reg .b32 %r<2>;\n"
    " { .param .b64 a; .param .b64 b; .param .b32 e; st.param.b64 [a], 0; st.param.b64 [b], 0;\n"
    "   call.uni (e), __cudaCDP2LaunchDeviceV2, (a, b); } ret; }\n"
    ".visible .entry nests() { call.uni deep; ret; }\n";

enum { kLogWords = 512, kPlanWords = 1024, kPlans = 4 };

typedef struct memory { /* that both sides see */
  uint32_t log[kLogWords];
  uint32_t left, runs, source[4], target[4];
  uint64_t who, flag, out;
  uint64_t plans[kPlans][kPlanWords];
} memory;

typedef struct setup {
  const fixture* f;
  CUmodule module;
  volatile memory* m;
} setup;

static setup make(void** state) {
  setup s = {*state, NULL, NULL};
  OK(cuModuleLoadData(&s.module, launchers));
  OK(cuMemHostAlloc((void**)&s.m, sizeof *s.m, 0));
  memset((void*)s.m, 0, sizeof *s.m);
  return s;
}

static void finish(setup s) {
  OK(cuMemFreeHost((void*)s.m));
  OK(cuModuleUnload(s.module));
}

static CUgraphNode add_mark(const setup* s, CUgraph graph, uint32_t what,
                            const CUgraphNode* after) {
  const volatile uint32_t* log = s->m->log;
  void* arguments[] = {(void*)&log, &what};
  return add_kernel(graph, s->module, "mark", arguments, after);
}

static CUgraphNode add_act(const setup* s, CUgraph graph, uint32_t what, int plan,
                           const CUgraphNode* after) {
  const volatile uint32_t* log = s->m->log;
  const volatile uint64_t* words = s->m->plans[plan];
  void* arguments[] = {(void*)&log, &what, (void*)&words};
  return add_kernel(graph, s->module, "act", arguments, after);
}

static CUgraph new_graph(void) {
  CUgraph graph = NULL;
  OK(cuGraphCreate(&graph, 0));
  return graph;
}

/* Ends the graph. */
static CUgraphExec instantiate(CUgraph graph, unsigned long long flags) {
  CUgraphExec exec = NULL;
  OK(cuGraphInstantiate(&exec, graph, flags));
  OK(cuGraphDestroy(graph));
  return exec;
}

/* Ends the graph. */
static CUgraphExec for_kernels(const setup* s, CUgraph graph) {
  CUgraphExec exec = instantiate(graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
  OK(cuGraphUpload(exec, s->f->stream));
  return exec;
}

/* A graph for launches by kernels whose nodes log `what` and the number after it. */
static CUgraphExec marks(const setup* s, uint32_t what) {
  CUgraph graph = new_graph();
  CUgraphNode first = add_mark(s, graph, what, NULL);
  add_mark(s, graph, what + 1, &first);
  return for_kernels(s, graph);
}

/* A graph of the host's with one kernel that follows a plan. */
static CUgraphExec follower(const setup* s, uint32_t what, int plan) {
  CUgraph graph = new_graph();
  add_act(s, graph, what, plan, NULL);
  return instantiate(graph, 0);
}

static void plan_launch(const setup* s, int plan, CUgraphExec exec, uint64_t stream) {
  volatile uint64_t* words = s->m->plans[plan];
  volatile uint64_t* next = words + 1 + 3 * words[0]++;
  next[0] = (uint64_t)(uintptr_t)exec;
  next[1] = stream;
  next[2] = 12345;
}

static void run(const setup* s, CUgraphExec exec) {
  s->m->log[0] = 0;
  OK(cuGraphLaunch(exec, s->f->stream));
  OK(cuStreamSynchronize(s->f->stream));
}

static void expect_log(const setup* s, const uint32_t* want, uint32_t count) {
  assert_int_equal(s->m->log[0], count);
  for (uint32_t i = 0; i < count; ++i) assert_int_equal(s->m->log[1 + i], want[i]);
}
#define EXPECT_LOG(s, ...)                         \
  expect_log((s), (const uint32_t[]){__VA_ARGS__}, \
             sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void expect_error(const setup* s, int plan, int launch, uint64_t error) {
  assert_int_equal(s->m->plans[plan][3 + 3 * launch], error);
}

static uint32_t place_of(const setup* s, uint32_t what) {
  for (uint32_t i = 1; i <= s->m->log[0]; ++i) {
    if (s->m->log[i] == what) return i;
  }
  fail_msg("%u is not in the log", what);
  return 0;
}

static void graphs_of_all_three_kinds_are_launched(void** state) {
  setup s = make(state);
  CUgraphExec forgotten = marks(&s, 10), sibling = marks(&s, 20), tail = marks(&s, 30);
  plan_launch(&s, 0, tail, TAIL);
  plan_launch(&s, 0, forgotten, FORGET);
  plan_launch(&s, 0, sibling, SIBLING);
  CUgraph graph = new_graph();
  CUgraphNode first = add_act(&s, graph, 1, 0, NULL);
  add_mark(&s, graph, 2, &first);
  CUgraphExec exec = instantiate(graph, 0);
  for (int round = 0; round < 3; ++round) {
    run(&s, exec);
    for (int i = 0; i < 3; ++i) expect_error(&s, 0, i, 0);
    assert_int_equal(s.m->log[0], 8);
    assert_int_equal(place_of(&s, 1), 1);
    assert_true(place_of(&s, 10) < place_of(&s, 11));
    assert_true(place_of(&s, 20) < place_of(&s, 21));
    assert_int_equal(place_of(&s, 30), 7);
    assert_int_equal(place_of(&s, 31), 8);
  }
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphExecDestroy(forgotten));
  OK(cuGraphExecDestroy(sibling));
  OK(cuGraphExecDestroy(tail));
  finish(s);
}

/* Waits until kernels of one branch have run, and then as long as wrong tails would need. */
static void let_a_branch_pass(const setup* s) {
  const struct timespec some = {0, 20000000};
  while (s->m->log[0] < 2) {
  }
  nanosleep(&some, NULL);
}

static void tails_follow_all_branches(void** state) {
  setup s = make(state);
  CUgraphExec one = marks(&s, 10), two = marks(&s, 20);
  plan_launch(&s, 0, one, TAIL);
  plan_launch(&s, 1, two, TAIL);
  uint64_t flag = (uint64_t)(uintptr_t)&s.m->flag, out = (uint64_t)(uintptr_t)&s.m->out;
  void* arguments[] = {&flag, &out};
  for (int slow_first = 0; slow_first < 2; ++slow_first) {
    CUgraph graph = new_graph();
    CUgraphNode slow = NULL;
    if (slow_first) slow = add_kernel(graph, s.f->module, "slow", arguments, NULL);
    CUgraphNode first = add_act(&s, graph, 1, 0, NULL);
    add_act(&s, graph, 2, 1, &first);
    if (!slow_first) slow = add_kernel(graph, s.f->module, "slow", arguments, NULL);
    add_mark(&s, graph, 3, &slow);
    CUgraphExec exec = instantiate(graph, 0);
    s.m->log[0] = 0;
    s.m->flag = 0;
    OK(cuGraphLaunch(exec, s.f->stream));
    let_a_branch_pass(&s);
    EXPECT(CUDA_ERROR_NOT_READY, cuStreamQuery(s.f->stream));
    s.m->flag = 1;
    OK(cuStreamSynchronize(s.f->stream));
    EXPECT_LOG(&s, 1, 2, 3, 10, 11, 20, 21);
    OK(cuGraphExecDestroy(exec));
  }
  OK(cuGraphExecDestroy(one));
  OK(cuGraphExecDestroy(two));
  finish(s);
}

static void tails_of_tails_come_before_other_tails(void** state) {
  setup s = make(state);
  CUgraphExec last = marks(&s, 40), inner = marks(&s, 30), again = NULL;
  CUgraph graph = new_graph();
  add_act(&s, graph, 2, 1, NULL);
  CUgraphExec outer = for_kernels(&s, graph);
  plan_launch(&s, 0, outer, TAIL);
  plan_launch(&s, 0, last, TAIL);
  plan_launch(&s, 1, inner, TAIL);
  CUgraphExec exec = follower(&s, 1, 0);
  run(&s, exec);
  EXPECT_LOG(&s, 1, 2, 30, 31, 40, 41);
  /* A graph that a kernel has launched does the same. */
  graph = new_graph();
  add_act(&s, graph, 1, 0, NULL);
  again = for_kernels(&s, graph);
  plan_launch(&s, 2, again, FORGET);
  CUgraphExec starter = follower(&s, 0, 2);
  run(&s, starter);
  EXPECT_LOG(&s, 0, 1, 2, 30, 31, 40, 41);
  OK(cuGraphExecDestroy(starter));
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphExecDestroy(again));
  OK(cuGraphExecDestroy(outer));
  OK(cuGraphExecDestroy(inner));
  OK(cuGraphExecDestroy(last));
  finish(s);
}

/* The first graph has tails; the first of them ends its plan and launches it once more. */
static void tails_launch_the_graph_before_them(void** state) {
  setup s = make(state);
  CUgraphExec last = marks(&s, 40);
  CUgraph graph = new_graph();
  add_act(&s, graph, 1, 0, NULL);
  CUgraphExec first = for_kernels(&s, graph);
  graph = new_graph();
  CUgraphNode fill = NULL;
  CUDA_MEMSET_NODE_PARAMS params = {(CUdeviceptr)(uintptr_t)s.m->plans[0], 8, 0, 4, 2, 1};
  OK(cuGraphAddMemsetNode(&fill, graph, NULL, 0, &params, s.f->context));
  add_act(&s, graph, 2, 1, &fill);
  CUgraphExec tail = for_kernels(&s, graph);
  plan_launch(&s, 0, tail, TAIL);
  plan_launch(&s, 0, last, TAIL);
  plan_launch(&s, 1, first, FORGET);
  plan_launch(&s, 2, first, FORGET);
  CUgraphExec starter = follower(&s, 0, 2);
  run(&s, starter);
  expect_error(&s, 1, 0, 0);
  EXPECT_LOG(&s, 0, 1, 2, 1, 40, 41);
  OK(cuGraphExecDestroy(starter));
  OK(cuGraphExecDestroy(first));
  OK(cuGraphExecDestroy(tail));
  OK(cuGraphExecDestroy(last));
  finish(s);
}

static void graphs_launch_themselves_again(void** state) {
  setup s = make(state);
  const volatile uint32_t *left = &s.m->left, *runs = &s.m->runs;
  void* arguments[] = {(void*)&left, (void*)&runs};
  CUgraph graph = new_graph();
  add_kernel(graph, s.module, "again", arguments, NULL);
  CUgraphExec exec = for_kernels(&s, graph);
  s.m->left = 100;
  run(&s, exec);
  assert_int_equal(s.m->runs, 100);
  s.m->left = 3000;
  s.m->runs = 0;
  plan_launch(&s, 0, exec, FORGET);
  CUgraphExec starter = follower(&s, 1, 0);
  run(&s, starter);
  expect_error(&s, 0, 0, 0);
  assert_int_equal(s.m->left, 0);
  assert_int_equal(s.m->runs, 3000);
  OK(cuGraphExecDestroy(starter));
  OK(cuGraphExecDestroy(exec));
  finish(s);
}

static void kernels_know_their_graph(void** state) {
  setup s = make(state);
  const volatile uint64_t* out = &s.m->who;
  void* arguments[] = {(void*)&out};
  CUgraph graph = new_graph();
  add_kernel(graph, s.module, "who", arguments, NULL);
  CUgraphExec plain = NULL;
  OK(cuGraphInstantiate(&plain, graph, 0));
  CUgraphExec exec = for_kernels(&s, graph);
  s.m->who = 1;
  run(&s, plain);
  assert_int_equal(s.m->who, 0);
  run(&s, exec);
  assert_ptr_equal((void*)(uintptr_t)s.m->who, exec);
  s.m->who = 1;
  plan_launch(&s, 0, exec, FORGET);
  CUgraphExec starter = follower(&s, 1, 0);
  run(&s, starter);
  assert_ptr_equal((void*)(uintptr_t)s.m->who, exec);
  CUfunction who = NULL;
  OK(cuModuleGetFunction(&who, s.module, "who"));
  OK(cuLaunchKernel(who, 1, 1, 1, 1, 1, 1, 0, s.f->stream, arguments, NULL));
  OK(cuStreamSynchronize(s.f->stream));
  assert_int_equal(s.m->who, 0);
  OK(cuGraphExecDestroy(starter));
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphExecDestroy(plain));
  finish(s);
}

static CUDA_MEMCPY3D copy_of(CUmemorytype from_type, const volatile void* from, CUdeviceptr to) {
  CUDA_MEMCPY3D copy;
  memset(&copy, 0, sizeof copy);
  copy.srcMemoryType = from_type;
  copy.srcHost = (const void*)from;
  copy.srcDevice = (CUdeviceptr)(uintptr_t)from;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = to;
  copy.WidthInBytes = 8;
  copy.Height = copy.Depth = 1;
  return copy;
}

static void copies_fills_and_child_graphs_are_launched(void** state) {
  setup s = make(state);
  CUdeviceptr data = 0;
  CUgraphNode fill = NULL, copy = NULL, rows = NULL, child_node = NULL;
  OK(cuMemAlloc(&data, 64));
  CUgraph graph = new_graph(), child = new_graph();
  CUDA_MEMSET_NODE_PARAMS filled = {data, 4, 7, 4, 16, 1};
  OK(cuGraphAddMemsetNode(&fill, graph, NULL, 0, &filled, s.f->context));
  CUDA_MEMCPY3D pinned = copy_of(CU_MEMORYTYPE_HOST, s.m->source, data);
  OK(cuGraphAddMemcpyNode(&copy, graph, &fill, 1, &pinned, s.f->context));
  CUDA_MEMSET_NODE_PARAMS stripes = {data + 8, 16, 9, 4, 1, 2};
  OK(cuGraphAddMemsetNode(&rows, graph, &copy, 1, &stripes, s.f->context));
  CUdeviceptr first = data;
  uint32_t n = 5;
  void* arguments[] = {&first, &n};
  CUgraphNode add = NULL;
  CUDA_KERNEL_NODE_PARAMS params;
  memset(&params, 0, sizeof params);
  params.func = kernel(s.f, "add_one");
  params.gridDimX = params.gridDimY = params.gridDimZ = params.blockDimY = params.blockDimZ = 1;
  params.blockDimX = 32;
  params.kernelParams = arguments;
  OK(cuGraphAddKernelNode(&add, child, NULL, 0, &params));
  OK(cuGraphAddChildGraphNode(&child_node, graph, &rows, 1, child));
  OK(cuGraphDestroy(child));
  CUgraphExec exec = for_kernels(&s, graph);
  plan_launch(&s, 0, exec, FORGET);
  CUgraphExec starter = follower(&s, 1, 0);
  s.m->source[0] = 100;
  s.m->source[1] = 200;
  run(&s, starter);
  uint32_t got[16];
  OK(cuMemcpyDtoH(got, data, sizeof got));
  const uint32_t want[16] = {101, 201, 10, 8, 8, 7, 9, 7, 7, 7, 7, 7, 7, 7, 7, 7};
  for (int i = 0; i < 16; ++i) assert_int_equal(got[i], want[i]);
  OK(cuGraphExecDestroy(starter));
  OK(cuGraphExecDestroy(exec));
  OK(cuMemFree(data));
  finish(s);
}

static void changes_count_from_the_next_upload_on(void** state) {
  setup s = make(state);
  CUgraph graph = new_graph();
  CUgraphNode node = add_mark(&s, graph, 10, NULL);
  CUgraphExec exec = NULL;
  OK(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
  plan_launch(&s, 0, exec, FORGET);
  CUgraphExec starter = follower(&s, 1, 0);
  run(&s, starter); /* it was not uploaded */
  expect_error(&s, 0, 0, kInvalidValue);
  EXPECT_LOG(&s, 1);
  OK(cuGraphUpload(exec, s.f->stream));
  run(&s, starter);
  expect_error(&s, 0, 0, 0);
  EXPECT_LOG(&s, 1, 10);
  CUDA_KERNEL_NODE_PARAMS params;
  OK(cuGraphKernelNodeGetParams(node, &params));
  uint32_t what = 20;
  params.kernelParams[1] = &what;
  OK(cuGraphExecKernelNodeSetParams(exec, node, &params));
  run(&s, starter);
  EXPECT_LOG(&s, 1, 10);
  OK(cuGraphUpload(exec, s.f->stream));
  run(&s, starter);
  EXPECT_LOG(&s, 1, 20);
  OK(cuGraphNodeSetEnabled(exec, node, 0));
  run(&s, exec); /* which uploads, too */
  assert_int_equal(s.m->log[0], 0);
  run(&s, starter);
  EXPECT_LOG(&s, 1);
  OK(cuGraphExecDestroy(starter));
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
  finish(s);
}

/* An uploaded graph outlives an update that takes its kernels away. */
static void uploaded_graphs_keep_their_kernels(void** state) {
  setup s = make(state), own = s;
  CUgraphExecUpdateResultInfo info;
  OK(cuModuleLoadData(&own.module, launchers));
  CUgraph graph = new_graph();
  add_mark(&own, graph, 10, NULL);
  CUgraphExec exec = for_kernels(&own, graph);
  plan_launch(&s, 0, exec, FORGET);
  CUgraphExec starter = follower(&s, 1, 0);
  graph = new_graph();
  add_mark(&s, graph, 20, NULL);
  OK(cuGraphExecUpdate(exec, graph, &info));
  OK(cuGraphDestroy(graph));
  OK(cuModuleUnload(own.module));
  run(&s, starter);
  EXPECT_LOG(&s, 1, 10);
  OK(cuGraphUpload(exec, s.f->stream));
  run(&s, starter);
  EXPECT_LOG(&s, 1, 20);
  OK(cuGraphExecDestroy(starter));
  OK(cuGraphExecDestroy(exec));
  finish(s);
}

static void wrong_launches_are_errors_of_the_thread(void** state) {
  setup s = make(state);
  CUgraphExec good = marks(&s, 10), gone = marks(&s, 20), plain = follower(&s, 1, 3);
  CUgraph graph = new_graph();
  add_act(&s, graph, 1, 0, NULL);
  CUgraphExec exec = for_kernels(&s, graph);
  OK(cuGraphExecDestroy(gone));
  plan_launch(&s, 0, good, FORGET);
  plan_launch(&s, 0, good, FORGET); /* it is under way */
  plan_launch(&s, 0, good, SIBLING);
  plan_launch(&s, 0, gone, FORGET);
  plan_launch(&s, 0, plain, FORGET); /* not for kernels */
  plan_launch(&s, 0, (CUgraphExec)(uintptr_t)0x123456, TAIL);
  plan_launch(&s, 0, NULL, TAIL);
  plan_launch(&s, 0, good, 0); /* streams of kernels are none for graphs */
  plan_launch(&s, 0, good, 3);
  plan_launch(&s, 0, good, 4ull << 56);
  plan_launch(&s, 0, SELF, FORGET); /* only as a tail */
  run(&s, exec);
  expect_error(&s, 0, 0, 0);
  for (int i = 1; i < 11; ++i) expect_error(&s, 0, i, kInvalidValue);
  EXPECT_LOG(&s, 1, 10, 11);
  /* A graph waits once to be its own tail. */
  s.m->plans[0][0] = 0;
  plan_launch(&s, 0, good, TAIL);
  plan_launch(&s, 0, good, TAIL);
  run(&s, exec);
  expect_error(&s, 0, 0, 0);
  expect_error(&s, 0, 1, kInvalidValue);
  EXPECT_LOG(&s, 1, 10, 11);
  /* Kernels that are in no graph launch none. */
  CUfunction act = NULL;
  OK(cuModuleGetFunction(&act, s.module, "act"));
  const volatile uint32_t* log = s.m->log;
  const volatile uint64_t* words = s.m->plans[0];
  uint32_t what = 5;
  void* arguments[] = {(void*)&log, &what, (void*)&words};
  s.m->log[0] = 0;
  OK(cuLaunchKernel(act, 1, 1, 1, 1, 1, 1, 0, s.f->stream, arguments, NULL));
  OK(cuStreamSynchronize(s.f->stream));
  expect_error(&s, 0, 0, kInvalidValue);
  EXPECT_LOG(&s, 5);
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphExecDestroy(good));
  OK(cuGraphExecDestroy(plain));
  finish(s);
}

static void launches_of_a_graph_are_limited(void** state) {
  enum { kGraphs = 256 };
  setup s = make(state);
  CUgraphExec all[kGraphs];
  CUgraph graph = new_graph();
  add_mark(&s, graph, 10, NULL);
  for (int i = 0; i < kGraphs; ++i) {
    OK(cuGraphInstantiate(&all[i], graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    OK(cuGraphUpload(all[i], s.f->stream));
    plan_launch(&s, 0, all[i], TAIL);
    if (i <= 120) plan_launch(&s, 1, all[i], FORGET);
  }
  CUgraphExec tails = follower(&s, 1, 0), children = follower(&s, 1, 1);
  for (int round = 0; round < 2; ++round) {
    run(&s, tails);
    expect_error(&s, 0, 254, 0);
    expect_error(&s, 0, 255, kTooManyPending);
    assert_int_equal(s.m->log[0], 256);
    run(&s, children);
    expect_error(&s, 1, 119, 0);
    expect_error(&s, 1, 120, kTooManyPending);
    assert_int_equal(s.m->log[0], 121);
  }
  OK(cuGraphExecDestroy(tails));
  OK(cuGraphExecDestroy(children));
  for (int i = 0; i < kGraphs; ++i) OK(cuGraphExecDestroy(all[i]));
  OK(cuGraphDestroy(graph));
  finish(s);
}

static void CUDA_CB do_nothing(void* data) { (void)data; }

static void expect_refusal(CUgraph graph, CUgraphInstantiateResult why) {
  CUgraphExec exec = NULL;
  CUDA_GRAPH_INSTANTIATE_PARAMS how;
  memset(&how, 0, sizeof how);
  how.flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithParams(&exec, graph, &how));
  assert_int_equal(how.result_out, why);
  CUgraphNode nodes[8];
  size_t count = 8;
  int is_one = how.hErrNode_out == NULL && why == CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
  OK(cuGraphGetNodes(graph, nodes, &count));
  for (size_t i = 0; i < count && i < 8; ++i) is_one = is_one || nodes[i] == how.hErrNode_out;
  assert_true(is_one);
  OK(cuGraphDestroy(graph));
}

static void graphs_for_kernels_have_rules(void** state) {
  setup s = make(state);
  const CUgraphInstantiateResult node_why = CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
  CUgraph graph = new_graph(), child = new_graph();
  CUgraphNode node = NULL;
  CUgraphExec exec = NULL;
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuGraphInstantiate(&exec, graph,
                            CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH |
                                CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
  expect_refusal(graph, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
  graph = new_graph();
  OK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
  expect_refusal(graph, node_why);
  graph = new_graph();
  CUDA_HOST_NODE_PARAMS host = {do_nothing, NULL};
  OK(cuGraphAddHostNode(&node, child, NULL, 0, &host));
  OK(cuGraphAddChildGraphNode(&node, graph, NULL, 0, child));
  expect_refusal(graph, node_why);
  OK(cuGraphDestroy(child));
  graph = new_graph();
  add_kernel(graph, s.module, "nests", NULL, NULL);
  expect_refusal(graph, node_why);
  graph = new_graph();
  CUdeviceptr data = 0;
  OK(cuMemAlloc(&data, 64));
  static char pageable[8];
  CUDA_MEMCPY3D copy = copy_of(CU_MEMORYTYPE_HOST, pageable, data);
  OK(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, s.f->context));
  expect_refusal(graph, node_why);
  OK(cuMemFree(data));
  /* The host launches them, too. */
  graph = new_graph();
  add_mark(&s, graph, 10, NULL);
  CUDA_GRAPH_INSTANTIATE_PARAMS how;
  memset(&how, 0, sizeof how);
  how.flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
  how.hUploadStream = s.f->stream;
  OK(cuGraphInstantiateWithParams(&exec, graph, &how));
  assert_int_equal(how.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
  cuuint64_t flags = 0;
  OK(cuGraphExecGetFlags(exec, &flags));
  assert_int_equal(flags, how.flags);
  plan_launch(&s, 0, exec, FORGET);
  CUgraphExec starter = follower(&s, 1, 0);
  run(&s, starter);
  EXPECT_LOG(&s, 1, 10);
  run(&s, exec);
  EXPECT_LOG(&s, 10);
  OK(cuGraphExecDestroy(starter));
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
  finish(s);
}

/* Copies from and to arrays, and between contexts. */
static void graphs_for_kernels_copy_within_their_context(void** state) {
  NEEDS_TWO_DEVICES();
  setup s = make(state);
  CUDA_ARRAY_DESCRIPTOR shape = {8, 1, CU_AD_FORMAT_UNSIGNED_INT8, 1};
  CUarray array = NULL;
  CUdeviceptr data = 0, far = 0;
  CUgraphNode node = NULL;
  CUdevice second = 0;
  CUcontext other = NULL;
  OK(cuMemAlloc(&data, 64));
  OK(cuArrayCreate(&array, &shape));
  for (int to_array = 0; to_array < 2; ++to_array) {
    CUgraph graph = new_graph();
    CUDA_MEMCPY3D copy = copy_of(CU_MEMORYTYPE_DEVICE, (void*)(uintptr_t)data, data + 32);
    if (to_array) {
      copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
      copy.dstArray = array;
    } else {
      copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
      copy.srcArray = array;
    }
    OK(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, s.f->context));
    expect_refusal(graph, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED);
  }
  OK(cuDeviceGet(&second, 1));
  OK(cuDevicePrimaryCtxRetain(&other, second));
  OK(cuCtxPushCurrent(other));
  OK(cuMemAlloc(&far, 64));
  OK(cuCtxPopCurrent(NULL));
  for (int in_child = 0; in_child < 2; ++in_child) {
    CUgraph graph = new_graph(), child = new_graph();
    CUDA_MEMCPY3D copy = copy_of(CU_MEMORYTYPE_DEVICE, (void*)(uintptr_t)data, far);
    OK(cuGraphAddMemcpyNode(&node, in_child ? child : graph, NULL, 0, &copy, s.f->context));
    if (in_child) OK(cuGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    OK(cuGraphDestroy(child));
    expect_refusal(graph, CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED);
  }
  OK(cuMemFree(far));
  OK(cuDevicePrimaryCtxRelease(second));
  OK(cuArrayDestroy(array));
  OK(cuMemFree(data));
  finish(s);
}

static void expect_failed_update(CUgraphExec exec, CUgraph graph, CUgraphNode node) {
  CUgraphExecUpdateResultInfo info;
  EXPECT(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, graph, &info));
  assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED);
  assert_ptr_equal(info.errorNode, node);
  OK(cuGraphDestroy(graph));
}

static void updates_keep_the_rules(void** state) {
  setup s = make(state);
  static char pageable[8];
  CUdeviceptr data = 0;
  OK(cuMemAlloc(&data, 64));
  CUgraph graph = new_graph(), child = new_graph();
  CUgraphExec exec = NULL, plain = NULL;
  CUgraphNode mark = add_mark(&s, graph, 10, NULL), copy = NULL, inner = NULL, within = NULL;
  CUDA_MEMCPY3D pinned = copy_of(CU_MEMORYTYPE_HOST, s.m->source, data);
  OK(cuGraphAddMemcpyNode(&copy, graph, &mark, 1, &pinned, s.f->context));
  add_mark(&s, child, 20, NULL);
  OK(cuGraphAddChildGraphNode(&inner, graph, &copy, 1, child));
  OK(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
  OK(cuGraphInstantiate(&plain, graph, 0));
  OK(cuGraphUpload(exec, s.f->stream));
  /* One node. */
  CUDA_KERNEL_NODE_PARAMS nests;
  OK(cuGraphKernelNodeGetParams(mark, &nests));
  OK(cuModuleGetFunction(&nests.func, s.module, "nests"));
  nests.kernelParams = NULL;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphExecKernelNodeSetParams(exec, mark, &nests));
  OK(cuGraphExecKernelNodeSetParams(plain, mark, &nests));
  CUDA_MEMCPY3D from_host = copy_of(CU_MEMORYTYPE_HOST, pageable, data);
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuGraphExecMemcpyNodeSetParams(exec, copy, &from_host, s.f->context));
  OK(cuGraphExecMemcpyNodeSetParams(plain, copy, &from_host, s.f->context));
  CUgraph bad_child = new_graph();
  OK(cuGraphAddKernelNode(&within, bad_child, NULL, 0, &nests));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphExecChildGraphNodeSetParams(exec, inner, bad_child));
  OK(cuGraphExecChildGraphNodeSetParams(plain, inner, bad_child));
  /* All of them. */
  for (int bad = 0; bad < 3; ++bad) {
    CUgraph changed = NULL;
    CUgraphNode nodes[3];
    OK(cuGraphClone(&changed, graph));
    OK(cuGraphNodeFindInClone(&nodes[0], mark, changed));
    OK(cuGraphNodeFindInClone(&nodes[1], copy, changed));
    OK(cuGraphNodeFindInClone(&nodes[2], inner, changed));
    if (bad == 0) OK(cuGraphKernelNodeSetParams(nodes[0], &nests));
    if (bad == 1) OK(cuGraphMemcpyNodeSetParams(nodes[1], &from_host));
    if (bad == 2) {
      CUgraph held = NULL;
      size_t count = 1;
      OK(cuGraphChildGraphNodeGetGraph(nodes[2], &held));
      OK(cuGraphGetNodes(held, &within, &count));
      OK(cuGraphKernelNodeSetParams(within, &nests));
    }
    expect_failed_update(exec, changed, nodes[bad]);
  }
  /* Nothing has changed. */
  plan_launch(&s, 0, exec, FORGET);
  OK(cuGraphUpload(exec, s.f->stream));
  CUgraphExec starter = follower(&s, 1, 0);
  run(&s, starter);
  EXPECT_LOG(&s, 1, 10, 20);
  OK(cuGraphExecDestroy(starter));
  OK(cuGraphExecDestroy(plain));
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(bad_child));
  OK(cuGraphDestroy(child));
  OK(cuGraphDestroy(graph));
  OK(cuMemFree(data));
  finish(s);
}

static void graphs_that_run_may_be_destroyed(void** state) {
  setup s = make(state);
  CUmodule own = NULL;
  OK(cuModuleLoadData(&own, kernels_ptx));
  uint64_t flag = (uint64_t)(uintptr_t)&s.m->flag, out = (uint64_t)(uintptr_t)&s.m->out;
  void* arguments[] = {&flag, &out};
  CUgraph graph = new_graph();
  CUgraphNode first = add_kernel(graph, own, "slow", arguments, NULL);
  add_mark(&s, graph, 10, &first);
  CUgraphExec exec = for_kernels(&s, graph);
  plan_launch(&s, 0, exec, FORGET);
  CUgraphExec starter = follower(&s, 1, 0);
  s.m->log[0] = 0;
  OK(cuGraphLaunch(starter, s.f->stream));
  while (s.m->log[0] == 0 || s.m->plans[0][3] != 0) {
  }
  OK(cuGraphExecDestroy(exec));
  OK(cuModuleUnload(own));
  OK(cuGraphExecDestroy(starter));
  EXPECT(CUDA_ERROR_NOT_READY, cuStreamQuery(s.f->stream));
  s.m->flag = 1;
  OK(cuStreamSynchronize(s.f->stream));
  assert_int_equal(s.m->out, 1);
  EXPECT_LOG(&s, 1, 10);
  finish(s);
}

static void faults_are_those_of_the_hosts_launch(void** state) {
  setup s = make(state);
  CUgraph graph = new_graph();
  add_kernel(graph, s.f->module, "crash", NULL, NULL);
  CUgraphExec exec = for_kernels(&s, graph), after = marks(&s, 10);
  plan_launch(&s, 0, after, TAIL);
  plan_launch(&s, 0, exec, FORGET);
  CUgraphExec starter = follower(&s, 1, 0);
  OK(cuGraphLaunch(starter, s.f->stream));
  EXPECT(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(s.f->stream));
  EXPECT_LOG(&s, 1); /* no tail after the fault */
  OK(cuDevicePrimaryCtxReset(s.f->device));
}

int main(void) {
  if (on_nvidias_driver()) return 0;
  const struct CMUnitTest tests[] = {
      TEST(graphs_of_all_three_kinds_are_launched),
      TEST(tails_follow_all_branches),
      TEST(tails_of_tails_come_before_other_tails),
      TEST(tails_launch_the_graph_before_them),
      TEST(graphs_launch_themselves_again),
      TEST(kernels_know_their_graph),
      TEST(copies_fills_and_child_graphs_are_launched),
      TEST(changes_count_from_the_next_upload_on),
      TEST(uploaded_graphs_keep_their_kernels),
      TEST(wrong_launches_are_errors_of_the_thread),
      TEST(launches_of_a_graph_are_limited),
      TEST(graphs_for_kernels_have_rules),
      TEST(graphs_for_kernels_copy_within_their_context),
      TEST(updates_keep_the_rules),
      TEST(graphs_that_run_may_be_destroyed),
      TEST(faults_are_those_of_the_hosts_launch),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
