/* Descriptors and plans of cuDNN's graph API for tests. */
#pragma once

#include "cudnn_support.h"

int cudnnBackendCreateDescriptor(int, void**);
int cudnnBackendSetAttribute(void*, int, int, int64_t, const void*);
int cudnnBackendGetAttribute(void*, int, int, int64_t, int64_t*, void*);
int cudnnBackendFinalize(void*);
int cudnnBackendExecute(void*, void*, void*);
int cudnnBackendDestroyDescriptor(void*);

enum { HANDLE = 0, DATA_TYPE = 1, BOOLEAN = 2, INT64 = 3, FLOAT = 4, VOID_PTR = 6, HEUR_MODE = 8 };
enum { POINTWISE_MODE = 14, DESCRIPTOR = 15, REDUCTION_OPERATOR = 18, NOT_FINAL = 2004 };
enum { POINTWISE = 0, ENGINE = 2, ENGINECFG, ENGINEHEUR, PLAN, OPERATION_POINTWISE = 13 };
enum { GRAPH = 15, PACK, TENSOR, MATMUL, OPERATION_MATMUL, REDUCTION = 21, OPERATION_REDUCTION };

static void* created[64];
static int created_count;

static inline void* create(int type) {
  void* descriptor = NULL;
  assert_int_equal(cudnnBackendCreateDescriptor(type, &descriptor), 0);
  created[created_count++] = descriptor;
  return descriptor;
}
static inline void set(void* descriptor, int name, int type, int64_t count, const void* values) {
  assert_int_equal(cudnnBackendSetAttribute(descriptor, name, type, count, values), 0);
}
static inline void set_descriptor(void* descriptor, int name, void* value) {
  set(descriptor, name, DESCRIPTOR, 1, &value);
}
static inline void* finished(void* descriptor) {
  assert_int_equal(cudnnBackendFinalize(descriptor), 0);
  return descriptor;
}
static inline void* describe_tensor(int64_t id, int type, int rank, const int64_t* dims,
                                    const int64_t* strides, int is_virtual) {
  void* const tensor_descriptor = create(TENSOR);
  const char flag = (char)is_virtual;
  const int64_t alignment = 4;
  set(tensor_descriptor, 906, INT64, 1, &id);
  set(tensor_descriptor, 901, DATA_TYPE, 1, &type);
  set(tensor_descriptor, 902, INT64, rank, dims);
  set(tensor_descriptor, 903, INT64, rank, strides);
  set(tensor_descriptor, 900, INT64, 1, &alignment);
  set(tensor_descriptor, 907, BOOLEAN, 1, &flag);
  return finished(tensor_descriptor);
}
static inline void* pointwise_of(int mode, void* x, void* b, void* y) {
  void *const settings = create(POINTWISE), *const operation = create(OPERATION_POINTWISE);
  const int precision = F32;
  set(settings, 0, POINTWISE_MODE, 1, &mode);
  set(settings, 1, DATA_TYPE, 1, &precision);
  set_descriptor(operation, 750, finished(settings));
  set_descriptor(operation, 751, x);
  if (b != NULL) set_descriptor(operation, 752, b);
  set_descriptor(operation, 753, y);
  return finished(operation);
}
/* The plan that the heuristic proposes for operations. */
static inline void* plan_for(void* handle, int64_t count, void** operations) {
  void *const graph = create(GRAPH), *const heuristic = create(ENGINEHEUR);
  void *const engine_config = create(ENGINECFG), *const plan = create(PLAN);
  const int mode = 3;
  int64_t found = 0, workspace = -1;
  set(graph, 800, HANDLE, 1, &handle);
  set(graph, 801, DESCRIPTOR, count, operations);
  set_descriptor(heuristic, 201, finished(graph));
  set(heuristic, 200, HEUR_MODE, 1, &mode);
  finished(heuristic);
  void* configs[1] = {engine_config};
  assert_int_equal(cudnnBackendGetAttribute(heuristic, 202, DESCRIPTOR, 1, &found, configs), 0);
  assert_int_equal(found, 1);
  set(plan, 400, HANDLE, 1, &handle);
  set_descriptor(plan, 401, engine_config);
  finished(plan);
  assert_int_equal(cudnnBackendGetAttribute(plan, 402, INT64, 1, &found, &workspace), 0);
  assert_true(workspace >= 0);
  return plan;
}
static inline void* pack_of(int64_t count, const int64_t* ids, void** pointers) {
  void* const pack = create(PACK);
  set(pack, 1000, INT64, count, ids);
  set(pack, 1001, VOID_PTR, count, pointers);
  return finished(pack);
}
static inline void destroy_all(void) {
  while (created_count > 0) {
    assert_int_equal(cudnnBackendDestroyDescriptor(created[--created_count]), 0);
  }
}
