/* Sobol's sequences and MTGP32 of cuRAND, against their definitions and numbers of NVIDIA's
 * library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>

int curandCreateGenerator(void**, int);
int curandDestroyGenerator(void*);
int curandSetPseudoRandomGeneratorSeed(void*, unsigned long long);
int curandSetGeneratorOffset(void*, unsigned long long);
int curandSetGeneratorOrdering(void*, int);
int curandSetQuasiRandomGeneratorDimensions(void*, unsigned);
int curandGenerate(void*, uint32_t*, size_t);
int curandGenerateLongLong(void*, uint64_t*, size_t);
int curandGenerateUniform(void*, float*, size_t);
int curandGenerateUniformDouble(void*, double*, size_t);
int curandGenerateNormal(void*, float*, size_t, float, float);
int curandGenerateNormalDouble(void*, double*, size_t, double, double);
int curandGenerateLogNormalDouble(void*, double*, size_t, double, double);
int curandGeneratePoisson(void*, uint32_t*, size_t, double);
int curandGetDirectionVectors32(const uint32_t**, int);
int curandGetDirectionVectors64(const uint64_t**, int);
int curandGetScrambleConstants32(const uint32_t**);
int curandGetScrambleConstants64(const uint64_t**);

enum { MTGP32 = 141, QUASI_DEFAULT = 200, SOBOL32, SCRAMBLED32, SOBOL64, SCRAMBLED64 };
enum { VECTORS32 = 101, SCRAMBLED_VECTORS32, VECTORS64, SCRAMBLED_VECTORS64 };
enum { TYPE_ERROR = 103, OUT_OF_RANGE = 104, NOT_MULTIPLE = 105 };
enum { DIMENSIONS = 20000, LEGACY = 103, QUASI_ORDER = 201 };

static void* managed(size_t bytes) {
  void* memory = NULL;
  assert_int_equal(cudaMallocManaged(&memory, bytes, cudaMemAttachGlobal), 0);
  return memory;
}

static void* generator_of(int type) {
  void* generator = NULL;
  assert_int_equal(curandCreateGenerator(&generator, type), 0);
  return generator;
}

static uint64_t hash(uint64_t so_far, uint64_t word) { return (so_far ^ word) * 0x100000001b3; }

/* Sums over all words, which NVIDIA's library gives, too. */
static void directions_are_joe_and_kuo_s(void** state) {
  (void)state;
  const uint32_t* narrow = NULL;
  const uint64_t* wide = NULL;
  assert_int_equal(curandGetDirectionVectors32(&narrow, VECTORS32), 0);
  assert_int_equal(curandGetDirectionVectors64(&wide, VECTORS64), 0);
  uint64_t narrow_hash = 0xcbf29ce484222325, wide_hash = narrow_hash;
  for (int i = 0; i < DIMENSIONS * 32; ++i) narrow_hash = hash(narrow_hash, narrow[i]);
  for (int i = 0; i < DIMENSIONS * 64; ++i) wide_hash = hash(wide_hash, wide[i]);
  assert_int_equal(narrow_hash, 0x95ba84c4c0a2899d);
  assert_int_equal(wide_hash, 0x3f6bae8b37c7b865);
}

/* A triangular matrix with ones in its diagonal keeps each word's highest bit where it is. */
static void scrambled_directions_keep_their_highest_bits(void** state) {
  (void)state;
  const uint64_t *plain = NULL, *scrambled = NULL;
  const uint32_t *narrow = NULL, *narrow_constants = NULL;
  const uint64_t* constants = NULL;
  assert_int_equal(curandGetDirectionVectors64(&plain, VECTORS64), 0);
  assert_int_equal(curandGetDirectionVectors64(&scrambled, SCRAMBLED_VECTORS64), 0);
  assert_int_equal(curandGetDirectionVectors32(&narrow, SCRAMBLED_VECTORS32), 0);
  assert_int_equal(curandGetScrambleConstants64(&constants), 0);
  assert_int_equal(curandGetScrambleConstants32(&narrow_constants), 0);
  long differences = 0;
  for (int i = 0; i < DIMENSIONS * 64; ++i) {
    assert_int_equal(__builtin_clzll(plain[i]), __builtin_clzll(scrambled[i]));
    differences += plain[i] != scrambled[i];
    if (i % 64 < 32) assert_int_equal(narrow[i / 64 * 32 + i % 64], scrambled[i] >> 32);
  }
  assert_true(differences > DIMENSIONS * 62L);
  for (int i = 0; i < DIMENSIONS; ++i) assert_int_equal(narrow_constants[i], constants[i] >> 32);
  assert_true(constants[0] != constants[1]);
}

/* The point with an index: the sum without carries of the words for the bits of its Gray code. */
static uint64_t point(const uint64_t* words, uint64_t constant, uint64_t index) {
  uint64_t sum = constant;
  for (int bit = 0; bit < 64; ++bit) {
    if (((index ^ index >> 1) >> bit & 1) != 0) sum ^= words[bit];
  }
  return sum;
}

static void expect_points(int type, unsigned dimensions, uint64_t offset, size_t first_count,
                          size_t second_count) {
  const int is_wide = type >= SOBOL64, is_scrambled = type == SCRAMBLED32 || type == SCRAMBLED64;
  const uint64_t *words = NULL, *constants = NULL;
  curandGetDirectionVectors64(&words, is_scrambled ? SCRAMBLED_VECTORS64 : VECTORS64);
  curandGetScrambleConstants64(&constants);
  void* const generator = generator_of(type);
  assert_int_equal(curandSetQuasiRandomGeneratorDimensions(generator, dimensions), 0);
  assert_int_equal(curandSetGeneratorOffset(generator, offset), 0);
  const size_t counts[2] = {first_count, second_count};
  uint64_t* const out = managed(8 * dimensions * (first_count + second_count));
  uint64_t index = offset;
  for (int part = 0; part < 2; ++part) {
    const size_t total = counts[part] * dimensions;
    if (is_wide) assert_int_equal(curandGenerateLongLong(generator, out, total), 0);
    if (!is_wide) assert_int_equal(curandGenerate(generator, (uint32_t*)out, total), 0);
    assert_int_equal(cudaDeviceSynchronize(), 0);
    for (unsigned d = 0; d < dimensions; ++d) {
      for (size_t i = 0; i < counts[part]; ++i) {
        const uint64_t at = is_wide ? index + i : (uint32_t)(index + i);
        const uint64_t expected = point(words + 64L * d, is_scrambled ? constants[d] : 0, at);
        const uint64_t given =
            is_wide ? out[d * counts[part] + i] : ((uint32_t*)out)[d * counts[part] + i];
        assert_int_equal(given, is_wide ? expected : expected >> 32);
      }
    }
    index += counts[part];
  }
  assert_int_equal(curandDestroyGenerator(generator), 0);
  cudaFree(out);
}

static void points_follow_from_the_directions(void** state) {
  (void)state;
  for (int type = SOBOL32; type <= SCRAMBLED64; ++type) {
    expect_points(type, 1, 0, 1, 2);
    expect_points(type, 3, 5, 1000, 77);
    expect_points(type, 5, 0xffffffff - 40, 300, 5);
    expect_points(type, 1, 0xfffffffffff0, 40000, 3);
    expect_points(type, DIMENSIONS, 9, 2, 1);
  }
}

static double standard_normal_of(double p) { /* by bisection of its distribution function */
  double low = -10, high = 10;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    if (0.5 * erfc(-middle / sqrt(2)) < p)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Other distributions are functions of the bits. */
static void expect_distributions(int type) {
  enum { COUNT = 999 };
  uint32_t* const bits = managed(8 * COUNT);
  float* const floats = managed(4 * COUNT);
  double* const doubles = managed(8 * COUNT);
  void* const generator = generator_of(type);
  const int is_wide = type >= SOBOL64;
  if (is_wide) assert_int_equal(curandGenerateLongLong(generator, (uint64_t*)bits, COUNT), 0);
  if (!is_wide) assert_int_equal(curandGenerate(generator, bits, COUNT), 0);
  assert_int_equal(curandDestroyGenerator(generator), 0);
#define FROM_START(call)                            \
  do {                                              \
    void* const g = generator_of(type);             \
    assert_int_equal(call, 0);                      \
    assert_int_equal(cudaDeviceSynchronize(), 0);   \
    assert_int_equal(curandDestroyGenerator(g), 0); \
  } while (0)
#define UNIT(i) ((is_wide ? bits[2 * (i) + 1] + 0.5 : bits[i] + 0.5) / 4294967296.0)
  FROM_START(curandGenerateUniform(g, floats, COUNT));
  FROM_START(curandGenerateUniformDouble(g, doubles, COUNT));
  for (int i = 0; i < COUNT; ++i) {
    assert_true(fabs(floats[i] - UNIT(i)) < 1e-7 && floats[i] > 0 && floats[i] <= 1);
    assert_true(fabs(doubles[i] - UNIT(i)) < 3e-10);
  }
  FROM_START(curandGenerateNormal(g, floats, COUNT, 1, 2));
  FROM_START(curandGenerateNormalDouble(g, doubles, COUNT, 1, 2));
  for (int i = 0; i < COUNT; ++i) {
    if (UNIT(i) < 1e-6) continue; /* where a bit counts much */
    const double expected = 1 + 2 * standard_normal_of(UNIT(i));
    assert_true(fabs(floats[i] - expected) < 1e-5);
    assert_true(fabs(doubles[i] - expected) < 1e-3);
  }
  FROM_START(curandGenerateLogNormalDouble(g, doubles, COUNT, 0, 0.5));
  for (int i = 0; i < COUNT; ++i) {
    if (UNIT(i) < 1e-6) continue;
    assert_true(fabs(log(doubles[i]) - 0.5 * standard_normal_of(UNIT(i))) < 1e-3);
  }
  uint32_t* const counts = (uint32_t*)floats;
  FROM_START(curandGeneratePoisson(g, counts, COUNT, 600));
  for (int i = 0; i < COUNT; ++i) {
    if (UNIT(i) < 1e-6) continue;
    assert_true(fabs(counts[i] - (600 + sqrt(600) * standard_normal_of(UNIT(i)))) < 12);
  }
  cudaFree(bits), cudaFree(floats), cudaFree(doubles);
}

static void distributions_are_functions_of_the_bits(void** state) {
  (void)state;
  for (int type = SOBOL32; type <= SCRAMBLED64; ++type) expect_distributions(type);
  expect_distributions(MTGP32);
}

static void expect_twister(int ordering, int count, const int* places, const uint32_t* numbers) {
  enum { COUNT = 50000 };
  uint32_t* const whole = managed(4 * COUNT);
  uint32_t* const parts = managed(4 * COUNT);
  for (int turn = 0; turn < 2; ++turn) {
    void* const generator = generator_of(MTGP32);
    assert_int_equal(curandSetPseudoRandomGeneratorSeed(generator, 0x123456789abcdefULL), 0);
    assert_int_equal(curandSetGeneratorOrdering(generator, ordering), 0);
    if (turn == 0) assert_int_equal(curandGenerate(generator, whole, COUNT), 0);
    for (int i = 0, step = 1; turn == 1 && i < COUNT; i += step, step = step * 5 % 20011) {
      const int left = COUNT - i;
      assert_int_equal(curandGenerate(generator, parts + i, step < left ? step : left), 0);
    }
    assert_int_equal(cudaDeviceSynchronize(), 0);
    assert_int_equal(curandDestroyGenerator(generator), 0);
  }
  for (int i = 0; i < count; ++i) assert_int_equal(whole[places[i]], numbers[i]);
  assert_memory_equal(whole, parts, 4 * COUNT);
  cudaFree(whole), cudaFree(parts);
}

/* Numbers of NVIDIA's library at places of many sequences and steps. */
static void mtgp32_is_saito_and_matsumoto_s(void** state) {
  (void)state;
  const int places[] = {0, 1, 255, 256, 49151, 49152, 49408};
  const uint32_t numbers[] = {0xedfcb379, 0x2b420a5c, 0xae604ad4, 0x78977e35,
                              0x89d5e2d2, 0xd56a555a, 0x356eaaa3};
  expect_twister(101, 7, places, numbers);
  const int legacy_places[] = {0, 16383, 16384, 40000};
  const uint32_t legacy_numbers[] = {0xedfcb379, 0xa463a0d7, 0xd56a555a, 0x2da34054};
  expect_twister(LEGACY, 4, legacy_places, legacy_numbers);
}

static size_t free_bytes(void) {
  size_t free_now = 0, total = 0;
  assert_int_equal(cudaMemGetInfo(&free_now, &total), 0);
  return free_now;
}

/* True if the memory figures show less than 1 MB for one dimension and 10 MB for 20,000. */
static int directions_grow_with_dimensions(uint32_t* out, size_t count) {
  const size_t before = free_bytes();
  void* const generator = generator_of(SOBOL64);
  assert_int_equal(curandGenerateLongLong(generator, (uint64_t*)out, count), 0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  const size_t with_one = free_bytes();
  assert_int_equal(curandSetQuasiRandomGeneratorDimensions(generator, DIMENSIONS), 0);
  assert_int_equal(curandGenerateLongLong(generator, (uint64_t*)out, DIMENSIONS), 0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  const size_t with_all = free_bytes();
  assert_int_equal(curandDestroyGenerator(generator), 0);
  return with_one <= before && before - with_one < 1000000 && with_one > with_all + 10000000;
}

static void a_generator_holds_the_directions_of_its_dimensions(void** state) {
  (void)state;
  enum { COUNT = 16 };
  uint32_t* const out = managed(4 * COUNT * DIMENSIONS);
  void* const warm = generator_of(SOBOL64); /* kernels are loaded */
  assert_int_equal(curandGenerateLongLong(warm, (uint64_t*)out, COUNT), 0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  int rounds = 0; /* other programs take and free memory, too */
  while (!directions_grow_with_dimensions(out, COUNT)) assert_true(++rounds < 50);
  assert_int_equal(curandDestroyGenerator(warm), 0);
  cudaFree(out);
}

static void wrong_requests_are_refused(void** state) {
  (void)state;
  uint64_t* const out = managed(64);
  const uint32_t* narrow = NULL;
  const uint64_t* wide = NULL;
  void* const sobol = generator_of(QUASI_DEFAULT);
  void* const wide_sobol = generator_of(SOBOL64);
  void* const twister = generator_of(MTGP32);
  assert_int_equal(curandSetPseudoRandomGeneratorSeed(sobol, 1), TYPE_ERROR);
  assert_int_equal(curandSetQuasiRandomGeneratorDimensions(twister, 1), TYPE_ERROR);
  assert_int_equal(curandSetGeneratorOffset(twister, 1), TYPE_ERROR);
  assert_int_equal(curandSetQuasiRandomGeneratorDimensions(sobol, 0), OUT_OF_RANGE);
  assert_int_equal(curandSetQuasiRandomGeneratorDimensions(sobol, DIMENSIONS + 1), OUT_OF_RANGE);
  assert_int_equal(curandSetGeneratorOrdering(sobol, LEGACY), OUT_OF_RANGE);
  assert_int_equal(curandSetGeneratorOrdering(sobol, QUASI_ORDER), 0);
  assert_int_equal(curandGenerateLongLong(sobol, out, 4), TYPE_ERROR);
  assert_int_equal(curandGenerate(wide_sobol, (uint32_t*)out, 4), TYPE_ERROR);
  assert_int_equal(curandSetQuasiRandomGeneratorDimensions(sobol, 3), 0);
  assert_int_equal(curandGenerate(sobol, (uint32_t*)out, 4), NOT_MULTIPLE);
  assert_int_equal(curandGetDirectionVectors32(&narrow, VECTORS64), OUT_OF_RANGE);
  assert_int_equal(curandGetDirectionVectors64(&wide, VECTORS32), OUT_OF_RANGE);
  assert_int_equal(curandGetDirectionVectors32(NULL, VECTORS32), OUT_OF_RANGE);
  assert_int_equal(curandGetScrambleConstants32(NULL), OUT_OF_RANGE);
  assert_null(narrow);
  assert_null(wide);
  curandDestroyGenerator(sobol), curandDestroyGenerator(wide_sobol);
  curandDestroyGenerator(twister);
  cudaFree(out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(directions_are_joe_and_kuo_s),
      cmocka_unit_test(scrambled_directions_keep_their_highest_bits),
      cmocka_unit_test(points_follow_from_the_directions),
      cmocka_unit_test(distributions_are_functions_of_the_bits),
      cmocka_unit_test(mtgp32_is_saito_and_matsumoto_s),
      cmocka_unit_test(a_generator_holds_the_directions_of_its_dimensions),
      cmocka_unit_test(wrong_requests_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
