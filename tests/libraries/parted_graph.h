/* Captured calls of several operations, in which executable graphs can be made to stand still. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MOST_NODES = 64 };

/* Puts a record of an event behind the first of the nodes, which follow each other, and a wait for
 * another event before the second one. */
static inline void part_nodes(cudaGraph_t graph, cudaEvent_t done, cudaEvent_t go) {
  cudaGraphNode_t from[MOST_NODES], to[MOST_NODES], record, wait, root;
  size_t edges = MOST_NODES, roots = 1, first = 0;
#if CUDART_VERSION >= 13000
  cudaGraphEdgeData data[MOST_NODES];
  assert_int_equal(cudaGraphGetEdges(graph, from, to, data, &edges), 0);
#else
  assert_int_equal(cudaGraphGetEdges(graph, from, to, &edges), 0);
#endif
  assert_in_range(edges, 1, MOST_NODES);
  assert_int_equal(cudaGraphGetRootNodes(graph, &root, &roots), 0);
  assert_int_equal(roots, 1);
  while (from[first] != root) ++first;
#if CUDART_VERSION >= 13000
  assert_int_equal(cudaGraphRemoveDependencies(graph, &from[first], &to[first], NULL, 1), 0);
#else
  assert_int_equal(cudaGraphRemoveDependencies(graph, &from[first], &to[first], 1), 0);
#endif
  assert_int_equal(cudaGraphAddEventRecordNode(&record, graph, &root, 1, done), 0);
  assert_int_equal(cudaGraphAddEventWaitNode(&wait, graph, &record, 1, go), 0);
#if CUDART_VERSION >= 13000
  assert_int_equal(cudaGraphAddDependencies(graph, &wait, &to[first], NULL, 1), 0);
#else
  assert_int_equal(cudaGraphAddDependencies(graph, &wait, &to[first], 1), 0);
#endif
}

static atomic_int may_go;
static void CUDART_CB wait_for_go(void* unused) {
  (void)unused;
  while (!atomic_load(&may_go)) usleep(100);
}

/* Makes two executable graphs of a captured one, and launches them: the first stands still behind
 * its first operation, while `change` gives the other inputs, the second graph runs, and
 * `check(1)` looks at its results; then the first one ends, and `check(0)` looks at its. */
static inline void launch_parted(cudaGraph_t graph, void (*change)(void), void (*check)(int)) {
  cudaStream_t streams[3];
  cudaEvent_t done, go;
  cudaGraphExec_t execs[2];
  for (int i = 0; i < 3; ++i)
    assert_int_equal(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking), 0);
  assert_int_equal(cudaEventCreate(&done), 0);
  assert_int_equal(cudaEventCreate(&go), 0);
  part_nodes(graph, done, go);
  for (int i = 0; i < 2; ++i) assert_int_equal(cudaGraphInstantiate(&execs[i], graph, 0), 0);
  assert_int_equal(cudaGraphDestroy(graph), 0);
  atomic_store(&may_go, 0);
  assert_int_equal(cudaLaunchHostFunc(streams[2], wait_for_go, NULL), 0);
  assert_int_equal(cudaEventRecord(go, streams[2]), 0);
  assert_int_equal(cudaGraphLaunch(execs[0], streams[0]), 0);
  assert_int_equal(cudaEventSynchronize(done), 0);
  change();
  assert_int_equal(cudaEventRecord(go, streams[1]), 0); /* the second graph does not wait */
  assert_int_equal(cudaGraphLaunch(execs[1], streams[1]), 0);
  assert_int_equal(cudaStreamSynchronize(streams[1]), 0);
  check(1);
  atomic_store(&may_go, 1);
  assert_int_equal(cudaStreamSynchronize(streams[0]), 0);
  check(0);
  for (int i = 0; i < 2; ++i) assert_int_equal(cudaGraphExecDestroy(execs[i]), 0);
  for (int i = 0; i < 3; ++i) assert_int_equal(cudaStreamDestroy(streams[i]), 0);
  assert_int_equal(cudaEventDestroy(done), 0);
  assert_int_equal(cudaEventDestroy(go), 0);
}
