/* The functions of cuFFT beside the transforms: plans, sizes, work areas, properties, descriptors,
 * layouts that are known by heart, and statuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <string.h>

#include "../parted_graph.h"
#include "cufft_reference.h"

typedef struct {
  int version, device_count, devices[64];
  void* data[64];
  size_t size[64];
  void* state;
} memory_descriptor;
typedef struct {
  int version;
  memory_descriptor* memory;
  int library, format;
  void* own;
} descriptor;
int cufftXtSetGPUs(int, int, int*);
int cufftXtMalloc(int, descriptor**, int);
int cufftXtFree(descriptor*);
int cufftXtMemcpy(int, void*, void*, int);
int cufftXtExecDescriptor(int, descriptor*, descriptor*, int);
int cufftXtExecDescriptorC2C(int, descriptor*, descriptor*, int);
int cufftXtExecDescriptorR2C(int, descriptor*, descriptor*);
int cufftXtExecDescriptorC2R(int, descriptor*, descriptor*);
int cufftXtExecDescriptorZ2Z(int, descriptor*, descriptor*, int);
int cufftXtExecDescriptorD2Z(int, descriptor*, descriptor*);
int cufftXtExecDescriptorZ2D(int, descriptor*, descriptor*);
int cufftXtQueryPlan(int, void*, int);
enum { INPUT, OUTPUT, INPLACE, SHUFFLED, TO_DEVICE = 0, TO_HOST, ON_DEVICE };

static void* managed(size_t bytes) {
  void* memory = NULL;
  assert_int_equal(cudaMallocManaged(&memory, bytes, cudaMemAttachGlobal), 0);
  return memory;
}

static void a_transform_is_known(void** state) {
  (void)state;
  float* const data = managed(8 * sizeof *data);
  int plan = 0;
  assert_int_equal(cufftPlan1d(&plan, 4, C2C, 1), 0);
  assert_true(plan > 0);
  const float in[8] = {1, 0, 2, 0, 3, 0, 4, 0};
  memcpy(data, in, sizeof in);
  assert_int_equal(cufftExecC2C(plan, data, data, FORWARD), 0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  const float out[8] = {10, 0, -2, 2, -2, 0, -2, -2};
  for (int i = 0; i < 8; ++i) assert_true(data[i] == out[i]);
  assert_int_equal(cufftExecC2C(plan, data, data, INVERSE), 0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  for (int i = 0; i < 8; ++i) assert_true(data[i] == 4 * in[i]); /* nothing is divided */
  assert_int_equal(cufftDestroy(plan), 0);
  cudaFree(data);
}

/* A real result takes the imaginary parts of the first and the middle number as 0. */
static void imaginary_parts_that_must_be_zero_are_not_read(void** state) {
  (void)state;
  float* const in = managed(6 * sizeof *in);
  float* const out = managed(4 * sizeof *out);
  const float numbers[6] = {4, NAN, 0, 1, 2, NAN};
  memcpy(in, numbers, sizeof numbers);
  int plan = 0;
  assert_int_equal(cufftPlan1d(&plan, 4, C2R, 1), 0);
  assert_int_equal(cufftExecC2R(plan, in, out), 0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  const float wanted[4] = {6, 0, 6, 4};
  for (int i = 0; i < 4; ++i) assert_true(out[i] == wanted[i]);
  assert_int_equal(cufftDestroy(plan), 0);
  cudaFree(in), cudaFree(out);
}

static void every_number_may_be_a_handle(void** state) {
  (void)state;
  size_t size = 0;
  float* const data = managed(64);
  const int none[] = {0, -2, 1 << 30, INT32_MIN, INT32_MAX, 77777};
  for (int i = 0; i < 6; ++i) {
    assert_int_equal(cufftExecC2C(none[i], data, data, FORWARD), INVALID_PLAN);
    assert_int_equal(cufftMakePlan1d(none[i], 4, C2C, 1, &size), INVALID_PLAN);
    assert_int_equal(cufftGetSize(none[i], &size), INVALID_PLAN);
    assert_int_equal(cufftSetStream(none[i], NULL), INVALID_PLAN);
    assert_int_equal(cufftDestroy(none[i]), INVALID_PLAN);
  }
  assert_int_equal(cufftDestroy(-1), 0); /* CUFFT_PLAN_NULL */
  int plan = 0;
  assert_int_equal(cufftCreate(&plan), 0);
  assert_int_equal(cufftExecC2C(plan, data, data, FORWARD), INVALID_PLAN);
  assert_int_equal(cufftGetSize(plan, &size), INVALID_PLAN);
  assert_int_equal(cufftMakePlan1d(plan, 4, C2C, 1, NULL), 0);
  assert_int_equal(cufftMakePlan1d(plan, 4, C2C, 1, &size), INVALID_PLAN); /* only once */
  assert_int_equal(cufftDestroy(plan), 0);
  assert_int_equal(cufftDestroy(plan), INVALID_PLAN);
  cudaFree(data);
}

static void wrong_arguments_are_errors(void** state) {
  (void)state;
  int plan = 0, n[3] = {4, 4, 4}, embed[3] = {4, 4, 4}, wrong[3] = {4, 0, 4};
  assert_int_equal(cufftPlan1d(NULL, 4, C2C, 1), INVALID_VALUE);
  assert_int_equal(cufftPlan1d((int*)8, 4, C2C, 1), INVALID_VALUE);
  assert_int_equal(cufftPlan1d(&plan, 0, C2C, 1), INVALID_SIZE);
  assert_int_equal(cufftPlan1d(&plan, 4, C2C, 0), INVALID_SIZE);
  assert_int_equal(cufftPlan1d(&plan, 4, 5, 1), INVALID_VALUE);
  assert_int_equal(cufftPlan2d(&plan, 4, -1, R2C), INVALID_SIZE);
  assert_int_equal(cufftPlan3d(&plan, 4, 4, 0, R2C), INVALID_SIZE);
  assert_int_equal(cufftPlanMany(&plan, 4, n, NULL, 1, 1, NULL, 1, 1, C2C, 1), INVALID_VALUE);
  assert_int_equal(cufftPlanMany(&plan, 0, n, NULL, 1, 1, NULL, 1, 1, C2C, 1), INVALID_VALUE);
  assert_int_equal(cufftPlanMany(&plan, 1, NULL, NULL, 1, 1, NULL, 1, 1, C2C, 1), INVALID_VALUE);
  assert_int_equal(cufftPlanMany(&plan, 2, n, (int*)16, 1, 1, embed, 1, 1, C2C, 1), INVALID_VALUE);
  assert_int_equal(cufftPlanMany(&plan, 2, n, wrong, 1, 16, embed, 1, 16, C2C, 1), INVALID_VALUE);
  assert_int_equal(cufftPlanMany(&plan, 2, n, embed, 0, 16, embed, 1, 16, C2C, 1), INVALID_VALUE);
  assert_int_equal(cufftPlanMany(&plan, 2, n, embed, 1, 16, embed, 1, -1, C2C, 2), INVALID_VALUE);
  long long huge[3] = {1LL << 40, 1LL << 40, 1LL << 40};
  size_t size = 0;
  assert_int_equal(cufftCreate(&plan), 0);
  assert_int_equal(
      cufftMakePlanMany64(plan, 3, huge, NULL, 1, 1, NULL, 1, 1, C2C, 1LL << 40, &size),
      INVALID_SIZE);
  assert_int_equal(
      cufftXtMakePlanMany(plan, 1, huge, NULL, 1, 1, C_32F, NULL, 1, 1, C_64F, 1, &size, C_32F),
      INVALID_VALUE);
  assert_int_equal(
      cufftXtMakePlanMany(plan, 1, huge, NULL, 1, 1, 999, NULL, 1, 1, C_64F, 1, &size, C_32F),
      INVALID_VALUE);
  assert_int_equal(cufftMakePlan2d(plan, 8, 8, R2C, &size), 0);
  float* const data = managed(8 * 8 * 4);
  assert_int_equal(cufftExecR2C(plan, NULL, data), INVALID_VALUE);
  assert_int_equal(cufftExecR2C(plan, data, NULL), INVALID_VALUE);
  assert_int_equal(cufftExecC2C(plan, data, data, FORWARD), INVALID_VALUE); /* another type */
  assert_int_equal(cufftExecD2Z(plan, data, data), INVALID_VALUE);
  assert_int_equal(cufftExecR2C(plan, data, data), INVALID_VALUE); /* the result does not fit */
  int on_stack[256];
  assert_int_equal(cufftExecR2C(plan, on_stack, data), INVALID_VALUE); /* no device memory */
  assert_int_equal(cufftDestroy(plan), 0);
  assert_int_equal(cufftPlan1d(&plan, 8, C2C, 1), 0);
  assert_int_equal(cufftExecC2C(plan, data, data, 0), INVALID_VALUE);
  assert_int_equal(cufftDestroy(plan), 0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  cudaFree(data);
}

static void sizes_agree(void** state) {
  (void)state;
  int plan = 0, n[2] = {96, 128};
  long long n64[2] = {96, 128};
  size_t made = 1, estimated = 2, got = 3, many = 4, many64 = 5, xt = 6, again = 7;
  assert_int_equal(cufftCreate(&plan), 0);
  assert_int_equal(cufftGetSize2d(plan, 96, 128, C2R, &got), 0);
  assert_int_equal(cufftGetSizeMany(plan, 2, n, NULL, 1, 0, NULL, 1, 0, C2R, 1, &many), 0);
  assert_int_equal(cufftGetSizeMany64(plan, 2, n64, NULL, 1, 0, NULL, 1, 0, C2R, 1, &many64), 0);
  assert_int_equal(
      cufftXtGetSizeMany(plan, 2, n64, NULL, 1, 0, C_32F, NULL, 1, 0, R_32F, 1, &xt, C_32F), 0);
  assert_int_equal(cufftMakePlan2d(plan, 96, 128, C2R, &made), 0);
  assert_int_equal(cufftEstimate2d(96, 128, C2R, &estimated), 0);
  assert_int_equal(cufftGetSize(plan, &again), 0);
  assert_true(made >= 96 * 65 * 8); /* the input is kept */
  assert_int_equal(estimated, made), assert_int_equal(got, made), assert_int_equal(many, made);
  assert_int_equal(many64, made), assert_int_equal(xt, made), assert_int_equal(again, made);
  assert_int_equal(cufftEstimate1d(100, C2C, 3, &estimated), 0);
  assert_int_equal(cufftGetSize1d(plan, 100, C2C, 3, &got), 0);
  assert_int_equal(estimated, got);
  assert_int_equal(cufftEstimate3d(8, 9, 10, Z2D, &estimated), 0);
  assert_int_equal(cufftGetSize3d(plan, 8, 9, 10, Z2D, &got), 0);
  assert_int_equal(estimated, got);
  assert_int_equal(cufftEstimateMany(2, n, NULL, 1, 0, NULL, 1, 0, C2R, 1, &estimated), 0);
  assert_int_equal(estimated, made);
  assert_int_equal(cufftEstimate1d(100, C2C, 3, NULL), INVALID_VALUE);
  assert_int_equal(cufftDestroy(plan), 0);
}

static void work_areas_are_the_program_s(void** state) {
  (void)state;
  int plan = 0;
  size_t size = 0;
  void* area = NULL;
  double* const in = managed(40 * 21 * 16);
  double* const out = managed(40 * 40 * 8);
  memset(in, 0, 40 * 21 * 16);
  in[0] = 2;
  assert_int_equal(cufftCreate(&plan), 0);
  assert_int_equal(cufftSetAutoAllocation(plan, 0), 0);
  assert_int_equal(cufftXtSetWorkAreaPolicy(plan, 0, &size), 0);
  assert_int_equal(cufftXtSetWorkAreaPolicy(plan, 3, &size), INVALID_VALUE);
  assert_int_equal(cufftXtSetWorkAreaPolicy(plan, 1, NULL), INVALID_VALUE);
  assert_int_equal(cufftMakePlan2d(plan, 40, 40, Z2D, &size), 0);
  assert_int_equal(cufftExecZ2D(plan, in, out), NO_WORKSPACE);
  assert_int_equal(cudaMalloc(&area, size), 0);
  assert_int_equal(cufftSetWorkArea(plan, area), 0);
  assert_int_equal(cufftExecZ2D(plan, in, out), 0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  for (int i = 0; i < 40 * 40; ++i) assert_true(out[i] == 2);
  assert_int_equal(cufftXtSetWorkArea(plan, NULL), INVALID_VALUE);
  assert_int_equal(cufftXtSetWorkArea(plan, &area), 0);
  in[0] = 3;
  assert_int_equal(cufftExecZ2D(plan, in, out), 0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  for (int i = 0; i < 40 * 40; ++i) assert_true(out[i] == 3);
  assert_int_equal(cufftSetWorkArea(plan, (void*)0x1000), 0);
  assert_int_equal(cufftExecZ2D(plan, in, out), INVALID_VALUE);
  assert_int_equal(cufftDestroy(plan), 0);
  cudaFree(in), cudaFree(out), cudaFree(area);
}

static void properties_are_kept(void** state) {
  (void)state;
  int plan = 0, version = 0, parts[3] = {0};
  long long value = -1;
  assert_int_equal(cufftCreate(&plan), 0);
  assert_int_equal(cufftGetPlanPropertyInt64(plan, 1, &value), 0);
  assert_int_equal(value, 0);
  assert_int_equal(cufftSetPlanPropertyInt64(plan, 1, 1), 0);
  assert_int_equal(cufftGetPlanPropertyInt64(plan, 1, &value), 0);
  assert_int_equal(value, 1);
  assert_int_equal(cufftResetPlanProperty(plan, 1), 0);
  assert_int_equal(cufftGetPlanPropertyInt64(plan, 1, &value), 0);
  assert_int_equal(value, 0);
  assert_int_equal(cufftSetPlanPropertyInt64(plan, 2, 8), 0);
  assert_int_equal(cufftSetPlanPropertyInt64(plan, 1, 2), INVALID_VALUE);
  assert_int_equal(cufftSetPlanPropertyInt64(plan, 9, 1), NOT_SUPPORTED);
  assert_int_equal(cufftMakePlan1d(plan, 4, C2C, 1, NULL), 0);
  assert_int_equal(cufftSetPlanPropertyInt64(plan, 1, 1), INVALID_PLAN);
  assert_int_equal(cufftDestroy(plan), 0);
  assert_int_equal(cufftGetVersion(&version), 0);
  for (int i = 0; i < 3; ++i) assert_int_equal(cufftGetProperty(i, parts + i), 0);
  assert_int_equal(version, parts[0] * 1000 + parts[1] * 100 + parts[2]);
  assert_int_equal(parts[0], 12);
  assert_int_equal(cufftGetProperty(3, parts), INVALID_VALUE);
  assert_int_equal(cufftGetVersion(NULL), INVALID_VALUE);
}

static int make_xt(int type, descriptor** array, int n, int format) {
  int plan = 0, device = 0, devices[2] = {0, 1}, none = 99;
  assert_int_equal(cufftCreate(&plan), 0);
  assert_int_equal(cufftXtSetGPUs(plan, 2, devices), NOT_SUPPORTED);
  assert_int_equal(cufftXtSetGPUs(plan, 1, &none), INVALID_DEVICE);
  assert_int_equal(cufftXtSetGPUs(plan, 1, &device), 0);
  assert_int_equal(cufftXtMalloc(plan, array, format), INVALID_PLAN);
  assert_int_equal(cufftMakePlan1d(plan, n, type, 1, NULL), 0);
  assert_int_equal(cufftXtMalloc(plan, array, format), 0);
  return plan;
}

static void descriptors_hold_arrays(void** state) {
  (void)state;
  descriptor *array = NULL, *other = NULL;
  const int plan = make_xt(Z2Z, &array, 3, INPLACE);
  assert_int_equal(array->memory->device_count, 1);
  assert_int_equal(array->memory->size[0], 3 * 16);
  double host[6] = {1, 0, 2, 0, 3, 0}, back[6] = {0};
  assert_int_equal(cufftXtMemcpy(plan, array, host, TO_DEVICE), 0);
  assert_int_equal(cufftXtExecDescriptorZ2Z(plan, array, array, FORWARD), 0);
  assert_int_equal(cufftXtMalloc(plan, &other, OUTPUT), 0);
  assert_int_equal(cufftXtExecDescriptor(plan, array, other, INVERSE), 0);
  assert_int_equal(cufftXtMemcpy(plan, back, other, TO_HOST), 0);
  for (int i = 0; i < 6; ++i) assert_true(fabs(back[i] - 3 * host[i]) < 1e-14);
  assert_int_equal(cufftXtMemcpy(plan, other, array, ON_DEVICE), 0);
  assert_int_equal(cufftXtMemcpy(plan, back, other, TO_HOST), 0);
  assert_true(fabs(back[0] - 6) < 1e-14 && fabs(back[1]) < 1e-14);
  assert_int_equal(cufftXtMemcpy(plan, host, back, TO_HOST), INVALID_VALUE);
  assert_int_equal(cufftXtMemcpy(plan, array, host, 7), INVALID_VALUE);
  assert_int_equal(cufftXtExecDescriptorC2C(plan, array, other, FORWARD), INVALID_VALUE);
  assert_int_equal(cufftXtExecDescriptorZ2Z(plan, (descriptor*)host, other, 1), INVALID_VALUE);
  assert_int_equal(cufftXtMalloc(plan, &other, 5), NOT_SUPPORTED);
  assert_int_equal(cufftXtQueryPlan(plan, back, 0), NOT_SUPPORTED);
  assert_int_equal(cufftXtFree(array), 0);
  assert_int_equal(cufftXtFree(array), INVALID_VALUE);
  assert_int_equal(cufftXtFree(other), 0);
  assert_int_equal(cufftDestroy(plan), 0);
}

static void descriptors_of_real_transforms(void** state) {
  (void)state;
  descriptor* array = NULL;
  const int forward = make_xt(R2C, &array, 4, INPLACE);
  assert_int_equal(array->memory->size[0], 3 * 8);
  float host[6] = {1, 2, 3, 4}, back[6] = {0};
  assert_int_equal(cufftXtMemcpy(forward, array, host, TO_DEVICE), 0);
  assert_int_equal(cufftXtExecDescriptorR2C(forward, array, array), 0);
  int inverse = 0;
  assert_int_equal(cufftPlan1d(&inverse, 4, C2R, 1), 0);
  assert_int_equal(cufftXtExecDescriptorC2R(inverse, array, array), 0);
  assert_int_equal(cufftXtMemcpy(forward, back, array, TO_HOST), 0);
  for (int i = 0; i < 4; ++i) assert_true(back[i] == 4 * host[i]);
  assert_int_equal(cufftXtFree(array), 0);
  assert_int_equal(cufftDestroy(forward), 0), assert_int_equal(cufftDestroy(inverse), 0);
  const int to = make_xt(D2Z, &array, 4, INPLACE);
  double wide[6] = {1, 2, 3, 4}, wide_back[6] = {0};
  assert_int_equal(cufftXtMemcpy(to, array, wide, TO_DEVICE), 0);
  assert_int_equal(cufftXtExecDescriptorD2Z(to, array, array), 0);
  assert_int_equal(cufftPlan1d(&inverse, 4, Z2D, 1), 0);
  assert_int_equal(cufftXtExecDescriptorZ2D(inverse, array, array), 0);
  assert_int_equal(cufftXtMemcpy(to, wide_back, array, TO_HOST), 0);
  for (int i = 0; i < 4; ++i) assert_true(wide_back[i] == 4 * wide[i]);
  assert_int_equal(cufftXtFree(array), 0);
  assert_int_equal(cufftDestroy(to), 0), assert_int_equal(cufftDestroy(inverse), 0);
}

/* Long lines are shared by the threads: against the sum of two waves, whose transform is known. */
static void long_lines_are_right(void** state) {
  (void)state;
  const int lengths[] = {1 << 14, 1 << 17, 3 * 5 * 7 * 11 * 13, 65537, 1 << 20};
  for (int i = 0; i < 5; ++i) {
    const int n = lengths[i];
    float* const in = managed((size_t)n * 4);
    float* const out = managed((size_t)(n / 2 + 1) * 8);
    for (int k = 0; k < n; ++k) {
      in[k] = (float)(cos(2 * M_PI * (3.0 * k) / n) + 2 * sin(2 * M_PI * (1001.0 * k) / n));
    }
    int plan = 0, back = 0;
    assert_int_equal(cufftPlan1d(&plan, n, R2C, 1), 0);
    assert_int_equal(cufftExecR2C(plan, in, out), 0);
    assert_int_equal(cudaDeviceSynchronize(), 0);
    double error = 0;
    for (int k = 0; k <= n / 2; ++k) {
      const double re = k == 3 ? n / 2.0 : 0, im = k == 1001 ? -n : 0;
      error += pow(out[2 * k] - re, 2) + pow(out[2 * k + 1] - im, 2);
    }
    assert_true(sqrt(error) / n < 1e-6);
    assert_int_equal(cufftPlan1d(&back, n, C2R, 1), 0);
    float* const again = managed((size_t)n * 4);
    assert_int_equal(cufftExecC2R(back, out, again), 0);
    assert_int_equal(cudaDeviceSynchronize(), 0);
    error = 0;
    for (int k = 0; k < n; ++k) error += pow(again[k] / n - in[k], 2);
    assert_true(sqrt(error / n) < 1e-6);
    assert_int_equal(cufftDestroy(plan), 0), assert_int_equal(cufftDestroy(back), 0);
    cudaFree(in), cudaFree(out), cudaFree(again);
  }
}

/* Arrays that overlap otherwise than in place have the result of arrays that do not. */
static void arrays_may_overlap(void** state) {
  (void)state;
  float* const data = managed(1024 * 8);
  float wanted[2 * 60], in[2 * 60];
  for (int i = 0; i < 120; ++i) in[i] = (float)((i * 37) % 23) - 11;
  int plan = 0, n = 20;
  assert_int_equal(cufftPlanMany(&plan, 1, &n, &n, 1, 20, &n, 3, 1, C2C, 3), 0);
  memcpy(data, in, sizeof in);
  assert_int_equal(cufftExecC2C(plan, data, data + 512, FORWARD), 0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  memcpy(wanted, data + 512, sizeof wanted);
  for (int shift = 0; shift <= 8; shift += 2) {
    memcpy(data + 256, in, sizeof in);
    assert_int_equal(cufftExecC2C(plan, data + 256, data + 256 + shift, FORWARD), 0);
    assert_int_equal(cudaDeviceSynchronize(), 0);
    assert_memory_equal(data + 256 + shift, wanted, sizeof wanted);
  }
  assert_int_equal(cufftDestroy(plan), 0);
  cudaFree(data);
}

enum { SHARED_N = 24, SHARED_BATCH = 40, CALLS = 60, THREADS = 4 };
static int shared_plan;

/* Each thread transforms its own numbers, by the plan of all and by one of its own, and gives the
 * number of wrong results. */
static void* transform_often(void* user) {
  const float own = (float)(intptr_t)user + 1;
  intptr_t wrong = 0;
  float *in = NULL, *out = NULL;
  int plan = 0;
  const size_t bytes = sizeof(float) * 2 * SHARED_N * SHARED_N * SHARED_BATCH;
  if (cudaMallocManaged((void**)&in, bytes, cudaMemAttachGlobal) != 0) return (void*)1;
  if (cudaMallocManaged((void**)&out, bytes, cudaMemAttachGlobal) != 0) return (void*)1;
  memset(in, 0, bytes);
  const int half = SHARED_N / 2 + 1;
  for (int b = 0; b < SHARED_BATCH; ++b) in[2 * b * SHARED_N * half] = own;
  int n[2] = {SHARED_N, SHARED_N};
  for (int i = 0; i < CALLS; ++i) {
    wrong += cufftPlanMany(&plan, 2, n, NULL, 1, 0, NULL, 1, 0, C2R, SHARED_BATCH) != 0;
    wrong += cufftExecC2R(i % 2 ? plan : shared_plan, in, out) != 0;
    wrong += cudaDeviceSynchronize() != 0;
    wrong += cufftDestroy(plan) != 0;
    for (int k = 0; k < SHARED_N * SHARED_N * SHARED_BATCH; ++k) wrong += out[k] != own;
    memset(out, 0, bytes);
  }
  cudaFree(in), cudaFree(out);
  return (void*)wrong;
}

static void threads_share_plans(void** state) {
  (void)state;
  pthread_t threads[THREADS];
  int n[2] = {SHARED_N, SHARED_N};
  assert_int_equal(cufftPlanMany(&shared_plan, 2, n, NULL, 1, 0, NULL, 1, 0, C2R, SHARED_BATCH), 0);
  for (intptr_t i = 0; i < THREADS; ++i) {
    assert_int_equal(pthread_create(threads + i, NULL, transform_often, (void*)i), 0);
  }
  for (int i = 0; i < THREADS; ++i) {
    void* wrong = NULL;
    assert_int_equal(pthread_join(threads[i], &wrong), 0);
    assert_int_equal((intptr_t)wrong, 0);
  }
  assert_int_equal(cufftDestroy(shared_plan), 0);
}

enum { PARTED_N = 384 }; /* so many numbers are transformed in stages */
static float *parted_in, *parted_out, *parted_expected[2];
static int parted_plan;

/* What a direct call gives for the numbers that are there now. */
static void expect_parted(int of) {
  assert_int_equal(cufftSetStream(parted_plan, NULL), 0);
  assert_int_equal(cufftExecC2R(parted_plan, parted_in, parted_expected[of]), 0);
  assert_int_equal(cudaStreamSynchronize(NULL), 0);
}
static void change_parted(void) {
  for (int i = 0; i < 2 * PARTED_N * (PARTED_N / 2 + 1); ++i) {
    parted_in[i] = (float)(i % 11) - 4 + parted_in[i];
  }
  expect_parted(1);
}
static void check_parted(int of) {
  assert_memory_equal(parted_out, parted_expected[of], sizeof(float) * PARTED_N * PARTED_N);
}

/* The rows of a transform of two dimensions lie in memory that each executable graph has. */
static void graphs_of_one_captured_transform_run_at_the_same_time(void** state) {
  (void)state;
  const size_t in_bytes = sizeof(float) * 2 * PARTED_N * (PARTED_N / 2 + 1);
  const size_t out_bytes = sizeof(float) * PARTED_N * PARTED_N;
  cudaStream_t stream = NULL;
  cudaGraph_t graph = NULL;
  parted_in = managed(in_bytes);
  parted_out = managed(out_bytes);
  for (int i = 0; i < 2; ++i) parted_expected[i] = managed(out_bytes);
  for (size_t i = 0; i < in_bytes / sizeof(float); ++i) parted_in[i] = (float)(i % 7);
  assert_int_equal(cufftPlan2d(&parted_plan, PARTED_N, PARTED_N, C2R), 0);
  expect_parted(0);
  assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), 0);
  assert_int_equal(cufftSetStream(parted_plan, stream), 0);
  assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), 0);
  assert_int_equal(cufftExecC2R(parted_plan, parted_in, parted_out), 0);
  assert_int_equal(cudaStreamEndCapture(stream, &graph), 0);
  launch_parted(graph, change_parted, check_parted);
  assert_int_equal(cufftDestroy(parted_plan), 0);
  assert_int_equal(cudaStreamDestroy(stream), 0);
  float* const all[] = {parted_in, parted_out, parted_expected[0], parted_expected[1]};
  for (int i = 0; i < 4; ++i) assert_int_equal(cudaFree(all[i]), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_transform_is_known),
      cmocka_unit_test(imaginary_parts_that_must_be_zero_are_not_read),
      cmocka_unit_test(every_number_may_be_a_handle),
      cmocka_unit_test(wrong_arguments_are_errors),
      cmocka_unit_test(sizes_agree),
      cmocka_unit_test(work_areas_are_the_program_s),
      cmocka_unit_test(properties_are_kept),
      cmocka_unit_test(descriptors_hold_arrays),
      cmocka_unit_test(descriptors_of_real_transforms),
      cmocka_unit_test(long_lines_are_right),
      cmocka_unit_test(arrays_may_overlap),
      cmocka_unit_test(threads_share_plans),
      cmocka_unit_test(graphs_of_one_captured_transform_run_at_the_same_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
