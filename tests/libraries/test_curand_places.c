/* cuRAND's outputs are checked against their allocation, whatever the count is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>

int curandCreateGenerator(void**, int);
int curandCreateGeneratorHost(void**, int);
int curandDestroyGenerator(void*);
int curandSetQuasiRandomGeneratorDimensions(void*, unsigned);
int curandGetVersion(int*);
int curandGetProperty(int, int*);
int curandGetDirectionVectors32(const uint32_t**, int);
int curandGetScrambleConstants64(const uint64_t**);
int curandCreatePoissonDistribution(double, void**);
int curandGenerate(void*, unsigned*, size_t);
int curandGenerateLongLong(void*, unsigned long long*, size_t);
int curandGenerateUniform(void*, float*, size_t);
int curandGenerateUniformDouble(void*, double*, size_t);
int curandGenerateNormal(void*, float*, size_t, float, float);
int curandGenerateNormalDouble(void*, double*, size_t, double, double);
int curandGenerateLogNormal(void*, float*, size_t, float, float);
int curandGeneratePoisson(void*, unsigned*, size_t, double);

enum { OUT_OF_RANGE = 104, ALLOCATION_FAILED = 102, SOBOL64 = 203, COUNT = 1024 };
static const int kinds[] = {101, 121, 141, 142, 161, 201, 202};
#define KINDS (sizeof kinds / sizeof kinds[0])

static void* device_memory(size_t size_bytes) {
  void* made = NULL;
  assert_int_equal(cudaMalloc(&made, size_bytes), 0);
  return made;
}

/* Every function that makes numbers, with the bytes of one. */
static int generate(int which, void* generator, void* out, size_t count, size_t* out_bytes) {
  *out_bytes = which % 2 == 0 ? 4 : 8;
  switch (which) {
    case 0:
      return curandGenerate(generator, out, count);
    case 1:
      return curandGenerateUniformDouble(generator, out, count);
    case 2:
      return curandGenerateUniform(generator, out, count);
    case 3:
      return curandGenerateNormalDouble(generator, out, count, 0, 1);
    case 4:
      return curandGenerateNormal(generator, out, count, 0, 1);
    case 6:
      return curandGenerateLogNormal(generator, out, count, 0, 1);
    default:
      return curandGeneratePoisson(generator, out, count, 4);
  }
}

static void counts_beyond_the_memory_are_refused(void** state) {
  (void)state;
  enum { FUNCTIONS = 7 };
  char* const out = device_memory(COUNT * 8);
  for (size_t k = 0; k < KINDS; ++k) {
    void* generator = NULL;
    assert_int_equal(curandCreateGenerator(&generator, kinds[k]), 0);
    for (int which = 0; which < FUNCTIONS; ++which) {
      size_t bytes = 0;
      if (which == 5) continue;
      assert_int_equal(generate(which, generator, out, COUNT, &bytes), 0);
      const size_t wrong[] = {COUNT * 8 / bytes + 2, (size_t)1 << 30, (size_t)1 << 60,
                              (size_t)1 << 61,       (size_t)1 << 62, (size_t)1 << 63,
                              SIZE_MAX - 1};
      for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        assert_int_equal(generate(which, generator, out, wrong[i], &bytes), OUT_OF_RANGE);
      }
      assert_int_equal(generate(which, generator, out + COUNT * 8 - bytes, 2, &bytes),
                       OUT_OF_RANGE);
      assert_int_equal(generate(which, generator, out + COUNT * 8 - 2 * bytes, 2, &bytes), 0);
      assert_int_equal(generate(which, generator, (void*)0x10000, 2, &bytes), OUT_OF_RANGE);
      assert_int_equal(generate(which, generator, out - 65536, 2, &bytes), OUT_OF_RANGE);
    }
    assert_int_equal(cudaDeviceSynchronize(), 0);
    assert_int_equal(curandDestroyGenerator(generator), 0);
  }
  assert_int_equal(cudaFree(out), 0);
}

static void wide_numbers_are_counted_by_their_bytes(void** state) {
  (void)state;
  unsigned long long* const out = device_memory(COUNT * 8);
  void* generator = NULL;
  assert_int_equal(curandCreateGenerator(&generator, SOBOL64), 0);
  assert_int_equal(curandSetQuasiRandomGeneratorDimensions(generator, 2), 0);
  assert_int_equal(curandGenerateLongLong(generator, out, COUNT), 0);
  assert_int_equal(curandGenerateLongLong(generator, out, COUNT + 2), OUT_OF_RANGE);
  assert_int_equal(curandGenerateLongLong(generator, out, ((size_t)1 << 61) + 2), OUT_OF_RANGE);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  assert_int_equal(curandDestroyGenerator(generator), 0);
  assert_int_equal(cudaFree(out), 0);
}

static void numbers_for_the_host_need_memory(void** state) {
  (void)state;
  float out[4] = {0};
  void* generator = NULL;
  assert_int_equal(curandCreateGeneratorHost(&generator, 101), 0);
  assert_int_equal(curandGenerateUniform(generator, out, 4), 0);
  assert_int_equal(curandGenerateUniform(generator, out, (size_t)1 << 60), ALLOCATION_FAILED);
  assert_int_equal(curandGenerateUniform(generator, out, (size_t)1 << 62), ALLOCATION_FAILED);
  assert_int_not_equal(curandGenerateUniform(generator, (float*)0x10000, 4), 0);
  assert_int_equal(curandGenerateUniform(generator, out, 4), 0);
  assert_int_equal(curandDestroyGenerator(generator), 0);
}

static void results_go_where_memory_is(void** state) {
  (void)state;
  void* const wrong[] = {NULL, (void*)8, (void*)0xd0ed80f55cfcc710, (void*)kinds};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    assert_int_equal(curandCreateGenerator(wrong[i], 101), OUT_OF_RANGE);
    assert_int_equal(curandGetVersion(wrong[i]), OUT_OF_RANGE);
    assert_int_equal(curandGetProperty(0, wrong[i]), OUT_OF_RANGE);
    assert_int_equal(curandGetDirectionVectors32(wrong[i], 101), OUT_OF_RANGE);
    assert_int_equal(curandGetScrambleConstants64(wrong[i]), OUT_OF_RANGE);
    assert_int_not_equal(curandCreatePoissonDistribution(4, wrong[i]), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(results_go_where_memory_is),
      cmocka_unit_test(counts_beyond_the_memory_are_refused),
      cmocka_unit_test(wide_numbers_are_counted_by_their_bytes),
      cmocka_unit_test(numbers_for_the_host_need_memory),
  };
  return cmocka_run_group_tests_name("curand_places", tests, NULL, NULL);
}
