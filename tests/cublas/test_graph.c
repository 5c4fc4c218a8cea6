/* Captured calls of cuBLAS as nodes: what a program that walks a graph reads, copies and changes.
 */
#include "support.h"

#include <stdio.h>
#include <string.h>

int cublasSgeam(cublasHandle_t, int, int, int, int, const float*, const float*, int, const float*,
                const float*, int, float*, int);

enum { N = 5, SIZE = N * N };

typedef struct operands {
  cudaStream_t stream;
  float *a, *b, *c, *x;
} operands;

static operands make_operands(void) {
  operands all = {NULL, fill('S', SIZE), fill('S', SIZE), managed(4 * SIZE), fill('S', N)};
  memset(all.c, 0, 4 * SIZE);
  OK(cudaStreamCreate(&all.stream));
  OK(cublasSetStream_v2(handle, all.stream));
  return all;
}

/* A product and a scaling, in this order. */
static cudaGraph_t captured(const operands* all, float scale) {
  const float one = 1, zero = 0;
  cudaGraph_t graph = NULL;
  OK(cudaStreamBeginCapture(all->stream, cudaStreamCaptureModeGlobal));
  OK(cublasSgemm_v2(handle, OP_N, OP_N, N, N, N, &one, all->a, N, all->b, N, &zero, all->c, N));
  OK(cublasSscal_v2(handle, SIZE, &scale, all->c, 1));
  OK(cudaStreamEndCapture(all->stream, &graph));
  return graph;
}

static void expect_product(const operands* all, float scale) {
  for (int row = 0; row < N; ++row) {
    for (int column = 0; column < N; ++column) {
      number sum = 0;
      for (int k = 0; k < N; ++k) {
        sum += element('S', all->a, N, OP_N, row, k) * element('S', all->b, N, OP_N, k, column);
      }
      NEAR('S', scale * sum, all->c[row + column * N]);
    }
  }
}

static void run(const operands* all, cudaGraph_t graph, float scale) {
  cudaGraphExec_t exec = NULL;
  memset(all->c, 0, 4 * SIZE);
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphLaunch(exec, all->stream));
  OK(cudaStreamSynchronize(all->stream));
  expect_product(all, scale);
  OK(cudaGraphExecDestroy(exec));
}

static void finish(const operands* all, cudaGraph_t graph) {
  OK(cudaGraphDestroy(graph));
  OK(cublasSetStream_v2(handle, NULL));
  OK(cudaStreamDestroy(all->stream));
}

/* The nodes of a graph, of which there must be two, and their types. */
static void two_nodes(cudaGraph_t graph, cudaGraphNode_t* nodes) {
  size_t count = 2;
  OK(cudaGraphGetNodes(graph, NULL, &count));
  assert_int_equal(count, 2);
  OK(cudaGraphGetNodes(graph, nodes, &count));
  for (int i = 0; i < 2; ++i) {
    enum cudaGraphNodeType type = cudaGraphNodeTypeCount;
    OK(cudaGraphNodeGetType(nodes[i], &type));
    assert_int_equal(type, cudaGraphNodeTypeHost);
  }
}

static void calls_are_host_nodes(void** state) {
  (void)state;
  const operands all = make_operands();
  const cudaGraph_t graph = captured(&all, 3);
  cudaGraphNode_t nodes[2];
  two_nodes(graph, nodes);
  for (int i = 0; i < 2; ++i) {
    struct cudaHostNodeParams params = {NULL, NULL};
    struct cudaKernelNodeParams kernel;
    struct cudaMemcpy3DParms copy;
    struct cudaMemsetParams fill_of;
    OK(cudaGraphHostNodeGetParams(nodes[i], &params));
    assert_non_null(params.fn);
    assert_non_null(params.userData);
    assert_int_not_equal(cudaGraphKernelNodeGetParams(nodes[i], &kernel), 0);
    assert_int_not_equal(cudaGraphMemcpyNodeGetParams(nodes[i], &copy), 0);
    assert_int_not_equal(cudaGraphMemsetNodeGetParams(nodes[i], &fill_of), 0);
    /* Parameters that were read can be set. */
    OK(cudaGraphHostNodeSetParams(nodes[i], &params));
  }
  run(&all, graph, 3);
  finish(&all, graph);
}

/* Each node again, by the parameters that it gave. */
static void graphs_are_copied_node_by_node(void** state) {
  (void)state;
  const operands all = make_operands();
  const cudaGraph_t graph = captured(&all, 5);
  cudaGraph_t copy = NULL, general = NULL;
  cudaGraphNode_t nodes[2], made[2], others[2];
  two_nodes(graph, nodes);
  OK(cudaGraphCreate(&copy, 0));
  OK(cudaGraphCreate(&general, 0));
  for (int i = 0; i < 2; ++i) {
    struct cudaHostNodeParams params;
    struct cudaGraphNodeParams any = {.type = cudaGraphNodeTypeHost};
    OK(cudaGraphHostNodeGetParams(nodes[i], &params));
    OK(cudaGraphAddHostNode(&made[i], copy, made, (size_t)i, &params));
    any.host.fn = params.fn;
    any.host.userData = params.userData;
    OK(cudaGraphAddNode(&others[i], general, others, NULL, (size_t)i, &any));
  }
  OK(cudaGraphDestroy(graph));
  two_nodes(copy, nodes);
  run(&all, copy, 5);
  OK(cudaGraphDestroy(copy));
  run(&all, general, 5);
  finish(&all, general);
}

/* Parameters outlive neither the nodes nor what made them. */
static void parameters_of_no_call_are_refused(void** state) {
  (void)state;
  const operands all = make_operands();
  const cudaGraph_t graph = captured(&all, 5);
  cudaGraph_t other = NULL;
  cudaGraphNode_t nodes[2], made;
  struct cudaHostNodeParams params;
  two_nodes(graph, nodes);
  OK(cudaGraphHostNodeGetParams(nodes[0], &params));
  OK(cudaGraphCreate(&other, 0));
  struct cudaHostNodeParams odd = {params.fn, NULL};
  assert_int_equal(cudaGraphAddHostNode(&made, other, NULL, 0, &odd), cudaErrorInvalidValue);
  OK(cudaGraphDestroy(graph));
  assert_int_equal(cudaGraphAddHostNode(&made, other, NULL, 0, &params), cudaErrorInvalidValue);
  finish(&all, other);
}

static void whole_graphs_are_cloned_and_nested(void** state) {
  (void)state;
  const operands all = make_operands();
  const cudaGraph_t graph = captured(&all, 2);
  cudaGraph_t clone = NULL, outer = NULL;
  cudaGraphNode_t nodes[2], child;
  OK(cudaGraphClone(&clone, graph));
  OK(cudaGraphCreate(&outer, 0));
  OK(cudaGraphAddChildGraphNode(&child, outer, NULL, 0, graph));
  OK(cudaGraphDestroy(graph));
  two_nodes(clone, nodes);
  run(&all, clone, 2);
  OK(cudaGraphDestroy(clone));
  cudaGraph_t inner = NULL;
  OK(cudaGraphChildGraphNodeGetGraph(child, &inner));
  two_nodes(inner, nodes);
  run(&all, outer, 2);
  finish(&all, outer);
}

static void what_runs_is_updated(void** state) {
  (void)state;
  const operands all = make_operands();
  const cudaGraph_t graph = captured(&all, 2), other = captured(&all, 7);
  cudaGraphExec_t exec = NULL;
  cudaGraphExecUpdateResultInfo info;
  cudaGraphNode_t nodes[2], others[2];
  struct cudaHostNodeParams params;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphExecUpdate(exec, other, &info));
  OK(cudaGraphLaunch(exec, all.stream));
  OK(cudaStreamSynchronize(all.stream));
  expect_product(&all, 7);
  /* One node back. */
  two_nodes(graph, nodes);
  two_nodes(other, others);
  OK(cudaGraphHostNodeGetParams(nodes[1], &params));
  OK(cudaGraphExecHostNodeSetParams(exec, nodes[1], &params));
  OK(cudaGraphLaunch(exec, all.stream));
  OK(cudaStreamSynchronize(all.stream));
  expect_product(&all, 2);
  /* In the graph itself. */
  OK(cudaGraphHostNodeGetParams(others[1], &params));
  OK(cudaGraphHostNodeSetParams(nodes[1], &params));
  run(&all, graph, 7);
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(other));
  finish(&all, graph);
}

static void pictures_name_the_routines(void** state) {
  (void)state;
  const operands all = make_operands();
  const cudaGraph_t graph = captured(&all, 2);
  char text[4096] = "";
  const char* path = "km_cublas_graph.dot";
  OK(cudaGraphDebugDotPrint(graph, path, 0));
  FILE* file = fopen(path, "r");
  assert_non_null(file);
  assert_true(fread(text, 1, sizeof text - 1, file) > 0);
  fclose(file);
  remove(path);
  assert_non_null(strstr(text, "gemm"));
  assert_non_null(strstr(text, "scal"));
  finish(&all, graph);
}

/* Routines that are kernels of the library are kernel nodes, which give what they take. */
static void kernels_of_the_library_are_kernel_nodes(void** state) {
  (void)state;
  const operands all = make_operands();
  const float one = 1, two = 2;
  cudaGraph_t graph = NULL, copy = NULL;
  cudaGraphNode_t node, made;
  cudaGraphExec_t exec = NULL;
  enum cudaGraphNodeType type = cudaGraphNodeTypeCount;
  struct cudaKernelNodeParams params;
  size_t count = 1;
  OK(cudaStreamBeginCapture(all.stream, cudaStreamCaptureModeGlobal));
  OK(cublasSgeam(handle, OP_N, OP_N, N, N, &one, all.a, N, &two, all.b, N, all.c, N));
  OK(cudaStreamEndCapture(all.stream, &graph));
  OK(cudaGraphGetNodes(graph, &node, &count));
  assert_int_equal(count, 1);
  OK(cudaGraphNodeGetType(node, &type));
  assert_int_equal(type, cudaGraphNodeTypeKernel);
  OK(cudaGraphKernelNodeGetParams(node, &params));
  assert_non_null(params.func);
  OK(cudaGraphCreate(&copy, 0));
  OK(cudaGraphAddKernelNode(&made, copy, NULL, 0, &params));
  OK(cudaGraphDestroy(graph));
  OK(cudaGraphInstantiate(&exec, copy, 0));
  OK(cudaGraphLaunch(exec, all.stream));
  OK(cudaStreamSynchronize(all.stream));
  for (int i = 0; i < SIZE; ++i) assert_true(all.c[i] == all.a[i] + 2 * all.b[i]);
  OK(cudaGraphExecDestroy(exec));
  finish(&all, copy);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(calls_are_host_nodes),
      TEST(graphs_are_copied_node_by_node),
      TEST(parameters_of_no_call_are_refused),
      TEST(whole_graphs_are_cloned_and_nested),
      TEST(what_runs_is_updated),
      TEST(pictures_name_the_routines),
      TEST(kernels_of_the_library_are_kernel_nodes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
