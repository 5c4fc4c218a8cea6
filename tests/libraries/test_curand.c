/* Generators of cuRAND against plain sequences, computed step by step by the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>

int curandCreateGenerator(void**, int);
int curandCreateGeneratorHost(void**, int);
int curandDestroyGenerator(void*);
int curandSetPseudoRandomGeneratorSeed(void*, unsigned long long);
int curandSetGeneratorOffset(void*, unsigned long long);
int curandSetGeneratorOrdering(void*, int);
int curandGenerate(void*, unsigned*, size_t);
int curandGenerateUniform(void*, float*, size_t);
int curandGenerateUniformDouble(void*, double*, size_t);
int curandGenerateNormal(void*, float*, size_t, float, float);
int curandGenerateLogNormalDouble(void*, double*, size_t, double, double);
int curandGeneratePoisson(void*, unsigned*, size_t, double);

enum { XORWOW = 101, MRG32K3A = 121, MTGP32 = 141, MT19937 = 142, PHILOX = 161 };
enum { SOBOL32 = 201, SEQUENCES = 4096, MRG_SEQUENCES = 81920 };
enum { BEST = 100, DEFAULT, SEEDED, LEGACY, DYNAMIC, QUASI_ORDER = 201 };
enum {
  NOT_INITIALIZED = 101,
  ALLOCATION_FAILED,
  TYPE_ERROR,
  OUT_OF_RANGE = 104,
  NOT_MULTIPLE = 105
};

static void* managed(size_t bytes) {
  void* memory = NULL;
  assert_int_equal(cudaMallocManaged(&memory, bytes, cudaMemAttachGlobal), 0);
  return memory;
}

static void* generator_of(int type, unsigned long long seed) {
  void* generator = NULL;
  assert_int_equal(curandCreateGenerator(&generator, type), 0);
  assert_true((intptr_t)generator > 0); /* Python programs keep handles in signed integers */
  assert_int_equal(curandSetPseudoRandomGeneratorSeed(generator, seed), 0);
  return generator;
}

/* XORWOW of the seed, step by step: sequence 0 of the generator. */
typedef struct {
  uint32_t v[5], d;
} xorwow;
static xorwow start_xorwow(uint64_t seed) {
  const uint32_t t0 = 1099087573u * ((uint32_t)seed ^ 0xaad26b49u);
  const uint32_t t1 = 2591861531u * ((uint32_t)(seed >> 32) ^ 0xf7dcefddu);
  return (xorwow){
      {123456789u + t0, 362436069u ^ t0, 521288629u + t1, 88675123u ^ t1, 5783321u + t0},
      6615241u + t1 + t0};
}
static uint32_t next_xorwow(xorwow* x) {
  const uint32_t t = x->v[0] ^ (x->v[0] >> 2);
  for (int i = 0; i < 4; ++i) x->v[i] = x->v[i + 1];
  x->v[4] = (x->v[4] ^ (x->v[4] << 4)) ^ (t ^ (t << 1));
  x->d += 362437;
  return x->v[4] + x->d;
}

static void xorwow_is_marsaglia_s(void** state) {
  (void)state;
  const uint64_t seed = 0x123456789abcdefULL;
  unsigned* const out = managed(4 * SEQUENCES * 4);
  void* const generator = generator_of(XORWOW, seed);
  assert_int_equal(curandGenerate(generator, out, 3 * SEQUENCES + 7), 0);
  assert_int_equal(curandGenerate(generator, out + 3 * SEQUENCES + 7, SEQUENCES - 7), 0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  xorwow reference = start_xorwow(seed);
  for (int i = 0; i < 4; ++i) assert_int_equal(out[i * SEQUENCES], next_xorwow(&reference));
  /* An offset is as if that many numbers had been taken. */
  unsigned* const later = managed(4 * SEQUENCES);
  assert_int_equal(curandSetGeneratorOffset(generator, 2 * SEQUENCES + 5), 0);
  assert_int_equal(curandGenerate(generator, later, SEQUENCES), 0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  for (int i = 0; i < SEQUENCES; ++i) assert_int_equal(later[i], out[2 * SEQUENCES + 5 + i]);
  assert_int_equal(curandDestroyGenerator(generator), 0);
  cudaFree(out), cudaFree(later);
}

static void mrg32k3a_is_l_ecuyer_s(void** state) {
  (void)state;
  double* const out = managed(8 * MRG_SEQUENCES * 3);
  void* const generator = generator_of(MRG32K3A, 0);
  assert_int_equal(curandGenerateUniformDouble(generator, out, 3 * MRG_SEQUENCES), 0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  int64_t a[3] = {12345, 12345, 12345}, b[3] = {12345, 12345, 12345};
  for (int i = 0; i < 3; ++i) {
    const int64_t p = (1403580 * a[1] - 810728 * a[0]) % 4294967087;
    const int64_t q = (527612 * b[2] - 1370589 * b[0]) % 4294944443;
    a[0] = a[1], a[1] = a[2], a[2] = p < 0 ? p + 4294967087 : p;
    b[0] = b[1], b[1] = b[2], b[2] = q < 0 ? q + 4294944443 : q;
    const int64_t difference = a[2] - b[2] + (a[2] <= b[2] ? 4294967087 : 0);
    assert_true(out[i * MRG_SEQUENCES] == (double)difference * 2.3283065498378288e-10);
  }
  assert_int_equal(curandDestroyGenerator(generator), 0);
  cudaFree(out);
}

/* The vector that its authors publish for key and counter 0. */
static void philox_is_salmon_s(void** state) {
  (void)state;
  const uint32_t known[4] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  unsigned* const out = managed(64);
  void* const generator = generator_of(PHILOX, 0);
  assert_int_equal(curandGenerate(generator, out, 4), 0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  for (int i = 0; i < 4; ++i) assert_int_equal(out[i], known[i]);
  assert_int_equal(curandDestroyGenerator(generator), 0);
  cudaFree(out);
}

static void distributions_have_their_moments(void** state) {
  (void)state;
  enum { COUNT = 1 << 16 };
  const int types[] = {XORWOW, MRG32K3A, PHILOX, MT19937};
  float* const floats = managed(4 * COUNT);
  double* const doubles = managed(8 * COUNT);
  unsigned* const counts = managed(4 * COUNT);
  for (int which = 0; which < 4; ++which) {
    void* const generator = generator_of(types[which], 42);
    double sum = 0, squares = 0, logs = 0, poisson = 0, uniform = 0;
    assert_int_equal(curandGenerateNormal(generator, floats, COUNT, 1, 2), 0);
    assert_int_equal(curandGenerateLogNormalDouble(generator, doubles, COUNT, 0.5, 0.25), 0);
    assert_int_equal(curandGeneratePoisson(generator, counts, COUNT, 20), 0);
    assert_int_equal(cudaDeviceSynchronize(), 0);
    for (int i = 0; i < COUNT; ++i) {
      sum += floats[i], squares += floats[i] * floats[i];
      logs += log(doubles[i]), poisson += counts[i];
    }
    assert_int_equal(curandGenerateUniform(generator, floats, COUNT), 0);
    assert_int_equal(cudaDeviceSynchronize(), 0);
    for (int i = 0; i < COUNT; ++i) {
      assert_true(floats[i] > 0 && floats[i] <= 1);
      uniform += floats[i];
    }
    assert_true(fabs(sum / COUNT - 1) < 0.05);
    assert_true(fabs(squares / COUNT - 5) < 0.2);
    assert_true(fabs(logs / COUNT - 0.5) < 0.01);
    assert_true(fabs(poisson / COUNT - 20) < 0.2);
    assert_true(fabs(uniform / COUNT - 0.5) < 0.01);
    assert_int_equal(curandDestroyGenerator(generator), 0);
  }
  cudaFree(floats), cudaFree(doubles), cudaFree(counts);
}

static void generators_of_the_host_write_to_it(void** state) {
  (void)state;
  unsigned host[8];
  void *generator = NULL, *other = NULL;
  unsigned* const device = managed(32);
  assert_int_equal(curandCreateGeneratorHost(&generator, XORWOW), 0);
  assert_int_equal(curandCreateGenerator(&other, XORWOW), 0);
  assert_int_equal(curandGenerate(generator, host, 8), 0);
  assert_int_equal(curandGenerate(other, device, 8), 0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  for (int i = 0; i < 8; ++i) assert_int_equal(host[i], device[i]);
  assert_int_equal(curandDestroyGenerator(generator), 0);
  assert_int_equal(curandDestroyGenerator(other), 0);
  cudaFree(device);
}

static void wrong_arguments_are_refused(void** state) {
  (void)state;
  void* generator = NULL;
  float out[3];
  assert_int_equal(curandCreateGenerator(&generator, 77), TYPE_ERROR);
  assert_int_equal(curandCreateGenerator(NULL, XORWOW), OUT_OF_RANGE);
  generator = generator_of(XORWOW, 1);
  assert_int_equal(curandGenerateNormal(generator, out, 3, 0, 1), NOT_MULTIPLE);
  assert_int_equal(curandGeneratePoisson(generator, (unsigned*)out, 2, -1), OUT_OF_RANGE);
  assert_int_equal(curandGenerateUniform(generator, NULL, 2), OUT_OF_RANGE);
  assert_int_equal(curandDestroyGenerator(generator), 0);
  assert_int_equal(curandDestroyGenerator(generator), NOT_INITIALIZED);
  assert_int_equal(curandGenerateUniform((void*)(uintptr_t)9, out, 2), NOT_INITIALIZED);
}

/* The dynamic ordering is for the device alone. */
/* Bytes of this count do not fit a size: nothing is allocated, and the generator goes on. */
static void counts_beyond_memory_are_refused(void** state) {
  (void)state;
  void* generator = NULL;
  float numbers[4];
  assert_int_equal(curandCreateGeneratorHost(&generator, XORWOW), 0);
  assert_int_equal(curandGenerateUniform(generator, numbers, ((size_t)1 << 62) + 2),
                   ALLOCATION_FAILED);
  assert_int_equal(curandGenerateUniform(generator, numbers, 4), 0);
  assert_int_equal(curandDestroyGenerator(generator), 0);
}

static void each_kind_has_its_orderings(void** state) {
  (void)state;
  const struct {
    int type, orderings[6];
  } kinds[] = {
      {XORWOW, {BEST, DEFAULT, SEEDED, LEGACY, DYNAMIC}},
      {MRG32K3A, {BEST, DEFAULT, LEGACY, DYNAMIC}},
      {PHILOX, {BEST, DEFAULT, LEGACY, DYNAMIC}},
      {MTGP32, {BEST, DEFAULT, LEGACY, DYNAMIC}},
      {MT19937, {DEFAULT, LEGACY}},
      {SOBOL32, {QUASI_ORDER}},
  };
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i) {
    void *generator = NULL, *on_host = NULL;
    assert_int_equal(curandCreateGenerator(&generator, kinds[i].type), 0);
    assert_int_equal(curandCreateGeneratorHost(&on_host, kinds[i].type), 0);
    for (int ordering = 99; ordering < 203; ++ordering) {
      int is_there = 0;
      for (int k = 0; k < 6; ++k) is_there |= kinds[i].orderings[k] == ordering;
      assert_int_equal(curandSetGeneratorOrdering(generator, ordering),
                       is_there ? 0 : OUT_OF_RANGE);
      assert_int_equal(curandSetGeneratorOrdering(on_host, ordering),
                       is_there && ordering != DYNAMIC ? 0 : OUT_OF_RANGE);
    }
    assert_int_equal(curandDestroyGenerator(generator), 0);
    assert_int_equal(curandDestroyGenerator(on_host), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(xorwow_is_marsaglia_s),
      cmocka_unit_test(mrg32k3a_is_l_ecuyer_s),
      cmocka_unit_test(philox_is_salmon_s),
      cmocka_unit_test(distributions_have_their_moments),
      cmocka_unit_test(generators_of_the_host_write_to_it),
      cmocka_unit_test(counts_beyond_memory_are_refused),
      cmocka_unit_test(each_kind_has_its_orderings),
      cmocka_unit_test(wrong_arguments_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
