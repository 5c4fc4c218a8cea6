/* Which library takes which other's objects: cublasLt those of cuBLAS, nobody anybody else's. */
#include "support.h"

#include <string.h>

int cublasLtCreate(void**);
int cublasLtDestroy(void*);
int cublasLtMatrixLayoutCreate(void**, int, uint64_t, uint64_t, int64_t);
int cublasLtMatrixLayoutInit_internal(void*, size_t, int, uint64_t, uint64_t, int64_t);
int cublasLtMatrixLayoutDestroy(void*);
int cublasLtMatrixLayoutSetAttribute(void*, int, const void*, size_t);
int cublasLtMatrixLayoutGetAttribute(void*, int, void*, size_t, size_t*);
int cublasLtMatmulDescCreate(void**, int, int);
int cublasLtMatmulDescDestroy(void*);
int cublasLtMatmulDescSetAttribute(void*, int, const void*, size_t);
int cublasLtMatmulDescGetAttribute(void*, int, void*, size_t, size_t*);
int cublasLtMatmulPreferenceCreate(void**);
int cublasLtMatmulPreferenceDestroy(void*);
int cublasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*, void*, int, void*,
                                   int*);
int cublasLtMatmulAlgoGetIds(void*, int, int, int, int, int, int, int, int*, int*);
int cublasLtMatmulAlgoInit(void*, int, int, int, int, int, int, int, void*);
int cublasLtMatmulAlgoCapGetAttribute(const void*, int, void*, size_t, size_t*);
int cublasLtMatmulAlgoConfigSetAttribute(void*, int, const void*, size_t);
int cublasLtMatmul(void*, void*, const void*, const void*, void*, const void*, void*, const void*,
                   const void*, void*, void*, void*, const void*, void*, size_t, cudaStream_t);
int cublasLtMatrixTransformDescCreate(void**, int);
int cublasLtMatrixTransformDescDestroy(void*);
int cublasLtMatrixTransform(void*, void*, const void*, const void*, void*, const void*, const void*,
                            void*, void*, void*, cudaStream_t);
int cublasLtEmulationDescCreate(void**);
int cublasLtEmulationDescDestroy(void*);
int cublasXtCreate(void**);
int cublasXtDestroy(void*);
int cublasXtSetBlockDim(void*, int);

enum { ORDER = 4, KINDS = 5 };
static const float one = 1, zero = 0;

struct product {
  void *matmul, *layout;
  float *a, *b, *c;
};

static struct product make_product(void) {
  struct product p;
  OK(cublasLtMatrixLayoutCreate(&p.layout, R_32F, ORDER, ORDER, ORDER));
  OK(cublasLtMatmulDescCreate(&p.matmul, COMPUTE_32F, R_32F));
  p.a = fill('S', ORDER * ORDER);
  p.b = fill('S', ORDER * ORDER);
  p.c = managed(ORDER * ORDER * sizeof(float));
  return p;
}

static int multiply(void* any_handle, const struct product* p) {
  return cublasLtMatmul(any_handle, p->matmul, &one, p->a, p->layout, p->b, p->layout, &zero, p->c,
                        p->layout, p->c, p->layout, NULL, NULL, 0, NULL);
}

static void end_product(struct product* p) {
  OK(cublasLtMatmulDescDestroy(p->matmul));
  OK(cublasLtMatrixLayoutDestroy(p->layout));
}

/* As frameworks do in every linear layer. */
static void a_handle_of_cublas_is_one_of_cublaslt(void** state) {
  (void)state;
  struct product p = make_product();
  OK(multiply(handle, &p));
  wait_for_device();
  number sum = 0;
  for (int k = 0; k < ORDER; ++k) {
    sum += element('S', p.a, ORDER, OP_N, 1, k) * element('S', p.b, ORDER, OP_N, k, 2);
  }
  NEAR('S', sum, get('S', p.c, 1 + 2 * ORDER));
  int ids[4], count = 0;
  uint64_t algorithm[8], results[32];
  void* preference = NULL;
  OK(cublasLtMatmulPreferenceCreate(&preference));
  OK(cublasLtMatmulAlgoGetHeuristic(handle, p.matmul, p.layout, p.layout, p.layout, p.layout,
                                    preference, 1, results, &count));
  assert_int_equal(count, 1);
  OK(cublasLtMatmulAlgoGetIds(handle, COMPUTE_32F, R_32F, R_32F, R_32F, R_32F, R_32F, 4, ids,
                              &count));
  OK(cublasLtMatmulAlgoInit(handle, COMPUTE_32F, R_32F, R_32F, R_32F, R_32F, R_32F, 0, algorithm));
  OK(cublasLtMatmulPreferenceDestroy(preference));
  /* It stays cuBLAS's to end, and is none when it has. */
  EXPECT(NOT_INITIALIZED, cublasLtDestroy(handle));
  cublasHandle_t other;
  OK(cublasCreate_v2(&other));
  OK(multiply(other, &p));
  OK(cublasDestroy_v2(other));
  EXPECT(NOT_INITIALIZED, multiply(other, &p));
  EXPECT(NOT_INITIALIZED, multiply((char*)handle + 16, &p));
  end_product(&p);
}

static void other_handles_are_taken_by_nobody_else(void** state) {
  (void)state;
  void *lt = NULL, *xt = NULL;
  float x[4] = {0};
  struct product p = make_product();
  OK(cublasLtCreate(&lt));
  OK(cublasXtCreate(&xt));
  EXPECT(NOT_INITIALIZED, multiply(xt, &p));
  EXPECT(NOT_INITIALIZED, multiply(p.layout, &p));
  EXPECT(NOT_INITIALIZED, cublasSetPointerMode_v2(lt, 0));
  EXPECT(NOT_INITIALIZED, cublasSscal_v2(xt, 4, &one, x, 1));
  EXPECT(NOT_INITIALIZED, cublasXtSetBlockDim(lt, 64));
  EXPECT(NOT_INITIALIZED, cublasXtSetBlockDim(handle, 64));
  EXPECT(NOT_INITIALIZED, cublasDestroy_v2(lt));
  EXPECT(NOT_INITIALIZED, cublasXtDestroy(lt));
  OK(cublasXtDestroy(xt));
  OK(cublasLtDestroy(lt));
  EXPECT(NOT_INITIALIZED, multiply(lt, &p));
  end_product(&p);
}

static int (*const enders[KINDS])(void*) = {
    cublasLtMatrixLayoutDestroy, cublasLtMatmulDescDestroy, cublasLtMatmulPreferenceDestroy,
    cublasLtMatrixTransformDescDestroy, cublasLtEmulationDescDestroy};

static void make_descriptors(void* out[KINDS]) {
  OK(cublasLtMatrixLayoutCreate(&out[0], R_32F, ORDER, ORDER, ORDER));
  OK(cublasLtMatmulDescCreate(&out[1], COMPUTE_32F, R_32F));
  OK(cublasLtMatmulPreferenceCreate(&out[2]));
  OK(cublasLtMatrixTransformDescCreate(&out[3], R_32F));
  OK(cublasLtEmulationDescCreate(&out[4]));
}

/* Nothing that is none of the kind is followed, or ends. */
static void expect_none(struct product* p, void* wrong, int kind) {
  uint32_t value = 0;
  size_t written = 0;
  if (kind == 0) {
    EXPECT(INVALID_VALUE, cublasLtMatrixLayoutGetAttribute(wrong, 0, &value, 4, &written));
    EXPECT(INVALID_VALUE, cublasLtMatrixLayoutSetAttribute(wrong, 0, &value, 4));
    struct product other = *p;
    other.layout = wrong;
    EXPECT(INVALID_VALUE, multiply(handle, &other));
  } else if (kind == 1) {
    EXPECT(INVALID_VALUE, cublasLtMatmulDescGetAttribute(wrong, 0, &value, 4, &written));
    EXPECT(INVALID_VALUE, cublasLtMatmulDescSetAttribute(wrong, 0, &value, 4));
    struct product other = *p;
    other.matmul = wrong;
    EXPECT(INVALID_VALUE, multiply(handle, &other));
  } else if (kind == 3) {
    EXPECT(INVALID_VALUE, cublasLtMatrixTransform(handle, wrong, &one, p->a, p->layout, &zero, NULL,
                                                  NULL, p->c, p->layout, NULL));
  }
  EXPECT(INVALID_VALUE, enders[kind](wrong));
}

static void descriptors_are_known_or_refused(void** state) {
  (void)state;
  struct product p = make_product();
  void *all[KINDS], *ended[KINDS];
  make_descriptors(all);
  make_descriptors(ended);
  for (int i = 0; i < KINDS; ++i) OK(enders[i](ended[i]));
  uint64_t garbage[32];
  memset(garbage, 0x5a, sizeof garbage);
  for (int kind = 0; kind < KINDS; ++kind) {
    void* const wrong[] = {(void*)2,
                           (void*)0x10000,
                           (void*)0xd0ed80f55cfcc710,
                           (void*)0x7f0000000000,
                           garbage,
                           all[(kind + 1) % KINDS],
                           ended[kind],
                           handle,
                           (char*)all[kind] + 1,
                           (char*)all[kind] + (1 << 20),
                           (void*)expect_none};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) expect_none(&p, wrong[i], kind);
  }
  for (int i = 0; i < KINDS; ++i) {
    OK(enders[i](all[i]));
    EXPECT(INVALID_VALUE, enders[i](all[i]));
  }
  OK(enders[0](NULL));
  end_product(&p);
}

/* Ids do not come again soon, so that one that has ended finds nothing. */
static void ids_that_have_ended_find_nothing(void** state) {
  (void)state;
  enum { COUNT = 3000 };
  void *first, *next;
  uint64_t rows = 0;
  size_t written = 0;
  OK(cublasLtMatrixLayoutCreate(&first, R_32F, 7, 7, 7));
  OK(cublasLtMatrixLayoutDestroy(first));
  for (int i = 0; i < COUNT; ++i) {
    OK(cublasLtMatrixLayoutCreate(&next, R_32F, 9, 9, 9));
    EXPECT(INVALID_VALUE, cublasLtMatrixLayoutGetAttribute(first, 2, &rows, 8, &written));
    OK(cublasLtMatrixLayoutDestroy(next));
  }
}

/* cublasLtMatrixLayoutInit writes into memory of the program's, which it may copy. */
static void layouts_may_lie_in_the_programs_memory(void** state) {
  (void)state;
  struct product p = make_product();
  uint64_t place[8], copy[8];
  OK(cublasLtMatrixLayoutInit_internal(place, sizeof place, R_32F, ORDER, ORDER, ORDER));
  memcpy(copy, place, sizeof copy);
  struct product other = p;
  other.layout = copy;
  OK(multiply(handle, &other));
  wait_for_device();
  EXPECT(INVALID_VALUE, cublasLtMatrixLayoutDestroy(place));
  memset(copy, 0, sizeof copy);
  EXPECT(INVALID_VALUE, multiply(handle, &other));
  EXPECT(INVALID_VALUE,
         cublasLtMatrixLayoutInit_internal((void*)64, 64, R_32F, ORDER, ORDER, ORDER));
  EXPECT(INVALID_VALUE,
         cublasLtMatrixLayoutInit_internal(p.layout, 64, R_32F, ORDER, ORDER, ORDER));
  end_product(&p);
}

static void algorithms_are_known_or_refused(void** state) {
  (void)state;
  struct product p = make_product();
  uint64_t algorithm[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  void* const wrong[] = {algorithm, (void*)8, (void*)0xd0ed80f55cfcc710, p.layout};
  uint32_t value = 0;
  size_t written = 0;
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    EXPECT(INVALID_VALUE,
           cublasLtMatmul(handle, p.matmul, &one, p.a, p.layout, p.b, p.layout, &zero, p.c,
                          p.layout, p.c, p.layout, wrong[i], NULL, 0, NULL));
    EXPECT(INVALID_VALUE, cublasLtMatmulAlgoCapGetAttribute(wrong[i], 0, &value, 4, &written));
    EXPECT(INVALID_VALUE, cublasLtMatmulAlgoConfigSetAttribute(wrong[i], 0, &value, 4));
  }
  OK(cublasLtMatmulAlgoInit(handle, COMPUTE_32F, R_32F, R_32F, R_32F, R_32F, R_32F, 0, algorithm));
  EXPECT(INVALID_VALUE, cublasLtMatmulAlgoConfigSetAttribute(algorithm, 0, (void*)8, 4));
  EXPECT(INVALID_VALUE, cublasLtMatmulAlgoConfigSetAttribute(algorithm, 0, &value, 3));
  OK(cublasLtMatmulAlgoConfigSetAttribute(algorithm, 0, &value, 4));
  end_product(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_handle_of_cublas_is_one_of_cublaslt),  TEST(other_handles_are_taken_by_nobody_else),
      TEST(descriptors_are_known_or_refused),       TEST(ids_that_have_ended_find_nothing),
      TEST(layouts_may_lie_in_the_programs_memory), TEST(algorithms_are_known_or_refused),
  };
  return cmocka_run_group_tests_name("handles", tests, NULL, NULL);
}
