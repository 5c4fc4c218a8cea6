/* Numbers of cuRAND's generators against those of NVIDIA's library: what version 10.4.5 gives by
 * generators of the host (curandCreateGeneratorHost) for the seed below. Sums are FNV-1a over whole
 * numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int curandCreateGenerator(void**, int);
int curandDestroyGenerator(void*);
int curandSetPseudoRandomGeneratorSeed(void*, unsigned long long);
int curandSetGeneratorOffset(void*, unsigned long long);
int curandSetGeneratorOrdering(void*, int);
int curandGenerate(void*, uint32_t*, size_t);
int curandGenerateUniform(void*, float*, size_t);
int curandGenerateUniformDouble(void*, double*, size_t);
int curandGenerateNormal(void*, float*, size_t, float, float);
int curandGenerateNormalDouble(void*, double*, size_t, double, double);
int curandGenerateLogNormal(void*, float*, size_t, float, float);
int curandGeneratePoisson(void*, uint32_t*, size_t, double);
int curandCreatePoissonDistribution(double, void**);
int curandDestroyDistribution(void*);

enum { XORWOW = 101, MRG32K3A = 121, MTGP32 = 141, MT19937 = 142, PHILOX = 161 };
enum { SOBOL32 = 201, SOBOL64 = 203 };
enum { DEFAULT = 101, SEEDED = 102, LEGACY = 103, QUASI_ORDER = 201 };
enum { BITS, UNIFORM, UNIFORM_DOUBLE, NORMAL, NORMAL_DOUBLE, POISSON };
enum { NOT_INITIALIZED = 101, OUT_OF_RANGE = 104 };
static const uint64_t seed = 0x123456789abcdef, empty_sum = 0xcbf29ce484222325;

static void* managed(size_t bytes) {
  void* memory = NULL;
  assert_int_equal(cudaMallocManaged(&memory, bytes, cudaMemAttachGlobal), 0);
  return memory;
}

static void* generator_of(int type, int ordering, uint64_t offset) {
  void* generator = NULL;
  assert_int_equal(curandCreateGenerator(&generator, type), 0);
  assert_int_equal(curandSetGeneratorOrdering(generator, ordering), 0);
  if (type < SOBOL32) assert_int_equal(curandSetPseudoRandomGeneratorSeed(generator, seed), 0);
  if (offset != 0) assert_int_equal(curandSetGeneratorOffset(generator, offset), 0);
  return generator;
}

static int is_double(int call) { return call == UNIFORM_DOUBLE || call == NORMAL_DOUBLE; }

static void generate(void* generator, int call, void* out, size_t count, double mean) {
  int result = -1;
  switch (call) {
    case BITS:
      result = curandGenerate(generator, out, count);
      break;
    case UNIFORM:
      result = curandGenerateUniform(generator, out, count);
      break;
    case UNIFORM_DOUBLE:
      result = curandGenerateUniformDouble(generator, out, count);
      break;
    case NORMAL:
      result = curandGenerateNormal(generator, out, count, 0, 1);
      break;
    case NORMAL_DOUBLE:
      result = curandGenerateNormalDouble(generator, out, count, 0, 1);
      break;
    default:
      result = curandGeneratePoisson(generator, out, count, mean);
  }
  assert_int_equal(result, 0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
}

static uint64_t sum_of(uint64_t so_far, int call, const void* numbers, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const uint64_t word =
        is_double(call) ? ((const uint64_t*)numbers)[i] : ((const uint32_t*)numbers)[i];
    so_far = (so_far ^ word) * 0x100000001b3;
  }
  return so_far;
}

static const struct {
  int type, ordering;
  uint64_t offset;
  int call;
  double mean;
  size_t count;
  uint64_t sum;
} sums[] = {
    {XORWOW, DEFAULT, 0, BITS, 0, 1000000, 0x31681074d20b2e21},
    {XORWOW, SEEDED, 0, BITS, 0, 1000000, 0xb16ec8c07cdc993e},
    {XORWOW, DEFAULT, 12293, BITS, 0, 1000000, 0x02ce1e34dc2bf3ca},
    {XORWOW, SEEDED, 4099, BITS, 0, 1000000, 0x32d3ad9aeb515950},
    {XORWOW, DEFAULT, 0, UNIFORM, 0, 1000000, 0x5caa25205d1a5a59},
    {XORWOW, DEFAULT, 0, UNIFORM_DOUBLE, 0, 1000000, 0xc0fdf575da6c3bd8},
    {XORWOW, DEFAULT, 0, POISSON, 9.5, 1000000, 0x355fe4ed2367b3a5},
    {XORWOW, DEFAULT, 0, POISSON, 1999.5, 1000000, 0xa6c9faf0ac1a1154},
    {MRG32K3A, DEFAULT, 0, BITS, 0, 1000000, 0x1fed5e26bddb9a48},
    {MRG32K3A, LEGACY, 0, BITS, 0, 1000000, 0xbd97471b4221ffd4},
    {MRG32K3A, DEFAULT, 163847, BITS, 0, 1000000, 0xaa367deb7cb735c4},
    {MRG32K3A, DEFAULT, 0, UNIFORM, 0, 1000000, 0x44506742a024848c},
    {MRG32K3A, DEFAULT, 0, UNIFORM_DOUBLE, 0, 1000000, 0xefa42935378060a0},
    {MRG32K3A, DEFAULT, 0, POISSON, 30, 1000000, 0xc9958706dd3c8894},
    {PHILOX, DEFAULT, 0, BITS, 0, 1000000, 0x31c0cd787608e77f},
    {PHILOX, LEGACY, 0, BITS, 0, 1000000, 0x31c0cd787608e77f},
    {PHILOX, DEFAULT, 524295, BITS, 0, 1000000, 0xcd75d6509dd0e24b},
    {PHILOX, DEFAULT, 0, UNIFORM, 0, 1000000, 0xb59820fa39cb2c25},
    {PHILOX, DEFAULT, 0, UNIFORM_DOUBLE, 0, 1000000, 0x47b6c5f7f4d3a2e2},
    {PHILOX, DEFAULT, 0, POISSON, 0.25, 1000000, 0xf901f45d7b148292},
    {MTGP32, DEFAULT, 0, UNIFORM, 0, 1000000, 0x3eda578566765e5f},
    {MTGP32, LEGACY, 0, UNIFORM_DOUBLE, 0, 1000000, 0xbf78a4150b993025},
    {MTGP32, DEFAULT, 0, POISSON, 20, 1000000, 0xf28e1a0f06b75421},
    {MTGP32, DEFAULT, 0, POISSON, 5000, 100000, 0x9e8ce061fad0f2ba},
    {SOBOL32, QUASI_ORDER, 0, POISSON, 9, 100000, 0x4767f5521a922d0f},
    {SOBOL32, QUASI_ORDER, 0, POISSON, 5000, 100000, 0x7eacd6845dfa05d1},
    {SOBOL64, QUASI_ORDER, 0, POISSON, 500, 100000, 0x9b595d29b7002186},
    {MT19937, DEFAULT, 0, BITS, 0, 1000000, 0x895589f390ad064a},
    {MT19937, DEFAULT, 0, UNIFORM, 0, 100000, 0xcbf24e19511c352c},
    {MT19937, DEFAULT, 0, UNIFORM_DOUBLE, 0, 100000, 0x6496d425209e37a5},
    {MT19937, DEFAULT, 0, POISSON, 100, 100000, 0x64a68eac33989f1c},
    {MT19937, DEFAULT, 0, BITS, 0, 5300000, 0x25b423ba5ea4c308},
};

static void all_numbers_are_nvidia_s(void** state) {
  (void)state;
  enum { MOST = 5300000 };
  void* const out = managed(8 * MOST);
  for (size_t i = 0; i < sizeof sums / sizeof sums[0]; ++i) {
    void* const generator = generator_of(sums[i].type, sums[i].ordering, sums[i].offset);
    generate(generator, sums[i].call, out, sums[i].count, sums[i].mean);
    const uint64_t sum = sum_of(empty_sum, sums[i].call, out, sums[i].count);
    if (sum != sums[i].sum) print_error("row %zu of the sums\n", i);
    assert_int_equal(sum, sums[i].sum);
    assert_int_equal(curandDestroyGenerator(generator), 0);
  }
  cudaFree(out);
}

/* These numbers lie where sequences begin and end: the sums above do not say which is wrong. */
static const struct {
  int type, ordering, place;
  uint32_t number;
} places[] = {
    {XORWOW, DEFAULT, 0, 0x1a444210},       {XORWOW, DEFAULT, 1, 0x6d3c9475},
    {XORWOW, DEFAULT, 2, 0x137196ea},       {XORWOW, DEFAULT, 3, 0x296ca177},
    {XORWOW, DEFAULT, 4, 0x4dd2e281},       {XORWOW, DEFAULT, 5, 0x403ee126},
    {XORWOW, DEFAULT, 6, 0x2f5535cc},       {XORWOW, DEFAULT, 7, 0x7864db92},
    {XORWOW, DEFAULT, 4095, 0x02e8ecdd},    {XORWOW, DEFAULT, 4096, 0x3fcca938},
    {XORWOW, DEFAULT, 8191, 0x232287da},    {XORWOW, SEEDED, 0, 0x1a444210},
    {XORWOW, SEEDED, 1, 0xe23156c5},        {XORWOW, SEEDED, 2, 0x31f1ccc7},
    {XORWOW, SEEDED, 3, 0xae32fec0},        {XORWOW, SEEDED, 4, 0x90d46e6b},
    {XORWOW, SEEDED, 5, 0xec6c8de8},        {XORWOW, SEEDED, 6, 0x7cb39376},
    {XORWOW, SEEDED, 7, 0xe49ed777},        {XORWOW, SEEDED, 4095, 0x0f724804},
    {XORWOW, SEEDED, 4096, 0x3fcca938},     {XORWOW, SEEDED, 8191, 0x445a52a2},
    {MRG32K3A, DEFAULT, 0, 0x892ce141},     {MRG32K3A, DEFAULT, 1, 0x1234526d},
    {MRG32K3A, DEFAULT, 2, 0xf433254a},     {MRG32K3A, DEFAULT, 3, 0x2a432364},
    {MRG32K3A, DEFAULT, 4, 0x4d7f3f4f},     {MRG32K3A, DEFAULT, 5, 0xc8cc99c9},
    {MRG32K3A, DEFAULT, 6, 0xcdd71665},     {MRG32K3A, DEFAULT, 7, 0xdb57f048},
    {MRG32K3A, DEFAULT, 4096, 0x40af88de},  {MRG32K3A, DEFAULT, 81919, 0xd3917dbf},
    {MRG32K3A, DEFAULT, 81920, 0x825035f5}, {MRG32K3A, LEGACY, 0, 0x892ce141},
    {MRG32K3A, LEGACY, 1, 0x1234526d},      {MRG32K3A, LEGACY, 2, 0xf433254a},
    {MRG32K3A, LEGACY, 3, 0x2a432364},      {MRG32K3A, LEGACY, 4, 0x4d7f3f4f},
    {MRG32K3A, LEGACY, 5, 0xc8cc99c9},      {MRG32K3A, LEGACY, 6, 0xcdd71665},
    {MRG32K3A, LEGACY, 7, 0xdb57f048},      {MRG32K3A, LEGACY, 4096, 0x825035f5},
    {MRG32K3A, LEGACY, 81919, 0xe5161ae6},  {MRG32K3A, LEGACY, 81920, 0xcad7c2a9},
    {PHILOX, DEFAULT, 0, 0xb850222e},       {PHILOX, DEFAULT, 1, 0xc58cb04b},
    {PHILOX, DEFAULT, 2, 0x14a7a020},       {PHILOX, DEFAULT, 3, 0x7a84fff9},
    {PHILOX, DEFAULT, 4, 0xfa9dff5e},       {PHILOX, DEFAULT, 5, 0x6c10844b},
    {PHILOX, DEFAULT, 6, 0x6979c717},       {PHILOX, DEFAULT, 7, 0x0590ff83},
    {PHILOX, DEFAULT, 262143, 0xa2b781ba},  {PHILOX, DEFAULT, 262144, 0xadca1466},
    {PHILOX, DEFAULT, 262148, 0xf11fc46f},  {MT19937, DEFAULT, 0, 0x822bf9de},
    {MT19937, DEFAULT, 1, 0xd4b410fd},      {MT19937, DEFAULT, 2, 0x9a435f3f},
    {MT19937, DEFAULT, 3, 0xde542ff9},      {MT19937, DEFAULT, 4, 0x47292adb},
    {MT19937, DEFAULT, 5, 0xe06aa65d},      {MT19937, DEFAULT, 6, 0xfe5be642},
    {MT19937, DEFAULT, 7, 0x5fd1fb2e},      {MT19937, DEFAULT, 8, 0x9eaaa6a7},
    {MT19937, DEFAULT, 65535, 0xf6850a3d},  {MT19937, DEFAULT, 65536, 0xd30d70b3},
};

static void numbers_at_the_ends_of_sequences_are_nvidia_s(void** state) {
  (void)state;
  enum { COUNT = 262152 };
  uint32_t* const out = managed(4 * COUNT);
  for (size_t i = 0; i < sizeof places / sizeof places[0]; ++i) {
    if (i == 0 || places[i].type != places[i - 1].type ||
        places[i].ordering != places[i - 1].ordering) {
      void* const generator = generator_of(places[i].type, places[i].ordering, 0);
      generate(generator, BITS, out, COUNT, 0);
      assert_int_equal(curandDestroyGenerator(generator), 0);
    }
    assert_int_equal(out[places[i].place], places[i].number);
  }
  cudaFree(out);
}

/* One generator, several calls, which begin and end within a turn of the sequences. */
static void calls_of_several_kinds_go_on_as_nvidia_s_do(void** state) {
  (void)state;
  static const struct {
    int type;
    size_t turn;
    uint64_t sum;
  } mixed[] = {
      {XORWOW, 4096, 0x78488168c82e63aa},   {MRG32K3A, 81920, 0x65d916d78dc20186},
      {PHILOX, 262144, 0xe3dfccd3788e669a}, {MT19937, 65536, 0x94631c482175a741},
      {MTGP32, 49152, 0x81c3e28dfed28fb5},
  };
  void* const out = managed(8 * 262200);
  for (size_t i = 0; i < sizeof mixed / sizeof mixed[0]; ++i) {
    const size_t turn = mixed[i].turn, counts[] = {5, 7, turn - 3, 4, turn + 9};
    const int calls[] = {BITS, UNIFORM_DOUBLE, UNIFORM, UNIFORM_DOUBLE, BITS};
    void* const generator = generator_of(mixed[i].type, DEFAULT, 0);
    uint64_t sum = empty_sum;
    for (int k = 0; k < 5; ++k) {
      generate(generator, calls[k], out, counts[k], 0);
      sum = sum_of(sum, calls[k], out, counts[k]);
    }
    assert_int_equal(sum, mixed[i].sum);
    assert_int_equal(curandDestroyGenerator(generator), 0);
  }
  cudaFree(out);
}

/* The last digits are up to sine and logarithm, which differ between processors. */
static const struct {
  int type, call, place;
  double number;
} normals[] = {
    {XORWOW, NORMAL, 0, 2.13392735},
    {XORWOW, NORMAL, 1, 0.0105032502},
    {XORWOW, NORMAL, 2, 1.30006433},
    {XORWOW, NORMAL, 3, -0.114693753},
    {XORWOW, NORMAL, 8190, 2.27228999},
    {XORWOW, NORMAL, 8191, 1.94700813},
    {XORWOW, NORMAL, 8192, -0.449465841},
    {XORWOW, NORMAL, 8193, 0.766620576},
    {XORWOW, NORMAL_DOUBLE, 0, -0.843127158},
    {XORWOW, NORMAL_DOUBLE, 1, 1.43805486},
    {XORWOW, NORMAL_DOUBLE, 2, 1.61145541},
    {XORWOW, NORMAL_DOUBLE, 3, -0.258436059},
    {XORWOW, NORMAL_DOUBLE, 8190, -0.392020368},
    {XORWOW, NORMAL_DOUBLE, 8191, -1.95404348},
    {XORWOW, NORMAL_DOUBLE, 8192, 0.802013638},
    {XORWOW, NORMAL_DOUBLE, 8193, -0.39684387},
    {MRG32K3A, NORMAL, 0, -0.0633901879},
    {MRG32K3A, NORMAL, 1, -1.11526549},
    {MRG32K3A, NORMAL, 2, -2.01320124},
    {MRG32K3A, NORMAL, 3, -1.11087859},
    {MRG32K3A, NORMAL, 163838, -0.233548492},
    {MRG32K3A, NORMAL, 163839, 0.571588993},
    {MRG32K3A, NORMAL, 163840, 0.801304758},
    {MRG32K3A, NORMAL, 163841, -0.0373830013},
    {MRG32K3A, NORMAL_DOUBLE, 0, -0.063390113},
    {MRG32K3A, NORMAL_DOUBLE, 1, -1.11526547},
    {MRG32K3A, NORMAL_DOUBLE, 2, -2.01320104},
    {MRG32K3A, NORMAL_DOUBLE, 3, -1.1108788},
    {MRG32K3A, NORMAL_DOUBLE, 163838, -0.233548509},
    {MRG32K3A, NORMAL_DOUBLE, 163839, 0.571589005},
    {MRG32K3A, NORMAL_DOUBLE, 163840, 0.801304806},
    {MRG32K3A, NORMAL_DOUBLE, 163841, -0.0373829751},
    {PHILOX, NORMAL, 0, -0.803099394},
    {PHILOX, NORMAL, 1, 0.110068992},
    {PHILOX, NORMAL, 2, 0.300900936},
    {PHILOX, NORMAL, 3, -2.22349262},
    {PHILOX, NORMAL, 262142, -1.29675329},
    {PHILOX, NORMAL, 262143, -1.13440061},
    {PHILOX, NORMAL, 262144, 0.793394804},
    {PHILOX, NORMAL, 262145, -0.381040126},
    {PHILOX, NORMAL_DOUBLE, 0, 0.0965539405},
    {PHILOX, NORMAL_DOUBLE, 1, -0.713479072},
    {PHILOX, NORMAL_DOUBLE, 2, -1.42623001},
    {PHILOX, NORMAL_DOUBLE, 3, -0.486706012},
    {PHILOX, NORMAL_DOUBLE, 262142, 0.668017297},
    {PHILOX, NORMAL_DOUBLE, 262143, 0.812993413},
    {PHILOX, NORMAL_DOUBLE, 262144, 0.705375321},
    {PHILOX, NORMAL_DOUBLE, 262145, 0.924165075},
    {MT19937, NORMAL, 0, 0.021266656},
    {MT19937, NORMAL, 1, 0.95761919},
    {MT19937, NORMAL, 2, 0.260058045},
    {MT19937, NORMAL, 3, 1.11919761},
    {MT19937, NORMAL, 65534, 0.162846535},
    {MT19937, NORMAL, 65535, 1.78621185},
    {MT19937, NORMAL, 65536, 0.932356477},
    {MT19937, NORMAL, 65537, 0.0141826067},
    {MT19937, NORMAL_DOUBLE, 0, 0.0212666373},
    {MT19937, NORMAL_DOUBLE, 1, 0.957619207},
    {MT19937, NORMAL_DOUBLE, 2, 0.260058087},
    {MT19937, NORMAL_DOUBLE, 3, 1.1191977},
    {MT19937, NORMAL_DOUBLE, 65534, 0.16284654},
    {MT19937, NORMAL_DOUBLE, 65535, 1.78621198},
    {MT19937, NORMAL_DOUBLE, 65536, 0.932356463},
    {MT19937, NORMAL_DOUBLE, 65537, 0.0141825974},
};

static void normal_numbers_come_in_nvidia_s_order(void** state) {
  (void)state;
  enum { COUNT = 262152 };
  void* const out = managed(8 * COUNT);
  for (size_t i = 0; i < sizeof normals / sizeof normals[0]; ++i) {
    if (i == 0 || normals[i].type != normals[i - 1].type ||
        normals[i].call != normals[i - 1].call) {
      void* const generator = generator_of(normals[i].type, DEFAULT, 0);
      generate(generator, normals[i].call, out, COUNT, 0);
      assert_int_equal(curandDestroyGenerator(generator), 0);
    }
    const double number = is_double(normals[i].call) ? ((double*)out)[normals[i].place]
                                                     : ((float*)out)[normals[i].place];
    assert_true(fabs(number - normals[i].number) < 5e-6);
  }
  cudaFree(out);
}

static void logarithmic_normal_numbers_are_those_of_normal_ones(void** state) {
  (void)state;
  enum { COUNT = 10000 };
  const int types[] = {XORWOW, MRG32K3A, PHILOX, MT19937};
  float* const normal = managed(4 * COUNT);
  float* const out = managed(4 * COUNT);
  for (int i = 0; i < 4; ++i) {
    void* const one = generator_of(types[i], DEFAULT, 0);
    void* const other = generator_of(types[i], DEFAULT, 0);
    generate(one, NORMAL, normal, COUNT, 0);
    assert_int_equal(curandGenerateLogNormal(other, out, COUNT, 0.5f, 0.25f), 0);
    assert_int_equal(cudaDeviceSynchronize(), 0);
    for (int k = 0; k < COUNT; ++k) {
      assert_true(fabs(logf(out[k]) - (0.5 + 0.25 * normal[k])) < 1e-5);
    }
    assert_int_equal(curandDestroyGenerator(one), 0);
    assert_int_equal(curandDestroyGenerator(other), 0);
  }
  cudaFree(normal), cudaFree(out);
}

/* Large means take a normal number each, and sequences keep the second one of a pair for the next
 * Poisson number, whatever is generated between. */
static void poisson_numbers_of_large_means_use_pairs(void** state) {
  (void)state;
  static const struct {
    int type;
    size_t turn;
    uint32_t numbers[7];
  } poisson[] = {
      {XORWOW, 4096, {3117, 3071, 3124, 2963, 2982, 3001, 3017}},
      {MRG32K3A, 81920, {2997, 2890, 2987, 2979, 2935, 2939, 2970}},
      {PHILOX, 262144, {2956, 3006, 2938, 3026, 2995, 2999, 3022}},
  };
  uint32_t* const first = managed(4 * 262144);
  uint32_t* const between = managed(4 * 131072);
  uint32_t* const second = managed(4 * 262144);
  for (size_t i = 0; i < sizeof poisson / sizeof poisson[0]; ++i) {
    const size_t turn = poisson[i].turn;
    void* const generator = generator_of(poisson[i].type, DEFAULT, 0);
    generate(generator, POISSON, first, turn, 3000);
    generate(generator, BITS, between, turn / 2, 0);
    generate(generator, POISSON, second, turn, 3000);
    const uint32_t given[] = {first[0],  first[1],         first[turn - 1], second[0],
                              second[1], second[turn / 2], second[turn - 1]};
    for (int k = 0; k < 7; ++k) {
      assert_true(abs((int)given[k] - (int)poisson[i].numbers[k]) <= 1);
    }
    assert_int_equal(curandDestroyGenerator(generator), 0);
  }
  cudaFree(first), cudaFree(between), cudaFree(second);
}

/* The headers for device code declare this in curand_discrete.h. */
typedef struct {
  uint64_t self, table, host_table;
  double deviation, mean;
  int method;
  unsigned host_gen;
} distribution;
typedef struct {
  uint64_t histogram, host_histogram;
  unsigned shift, length, host_gen;
} shifted_table;
typedef struct {
  uint64_t bounds, host_bounds, indices, host_indices;
  unsigned host_gen;
} histogram;
enum { CURAND_M2 = 5 };

static void read_device(void* to, uint64_t from, size_t bytes) {
  assert_int_equal(cudaMemcpy(to, (const void*)(uintptr_t)from, bytes, cudaMemcpyDeviceToHost), 0);
}

/* curand_discrete() of these bits gives what the generator does. */
static void distributions_for_device_code_hold_the_same_table(void** state) {
  (void)state;
  enum { COUNT = 100000, MOST = 4096 };
  const double means[] = {0.5, 7.5, 1000.25};
  uint32_t* const bits = managed(4 * COUNT);
  uint32_t* const counts = managed(4 * COUNT);
  static double bounds[MOST];
  static uint32_t indices[MOST];
  for (int i = 0; i < 3; ++i) {
    void* made = NULL;
    distribution head;
    shifted_table table;
    histogram arrays;
    assert_int_equal(curandCreatePoissonDistribution(means[i], &made), 0);
    read_device(&head, (uintptr_t)made, sizeof head);
    read_device(&table, head.table, sizeof table);
    read_device(&arrays, table.histogram, sizeof arrays);
    assert_int_equal(head.method, CURAND_M2);
    assert_true(table.length > 1 && table.length < MOST);
    read_device(bounds, arrays.bounds, 8 * (table.length + 1));
    read_device(indices, arrays.indices, 4 * (table.length + 1));
    void* const generator = generator_of(XORWOW, DEFAULT, 0);
    void* const other = generator_of(XORWOW, DEFAULT, 0);
    generate(generator, BITS, bits, COUNT, 0);
    generate(other, POISSON, counts, COUNT, means[i]);
    for (int k = 0; k < COUNT; ++k) {
      const double u = bits[k] * 2.3283064365386963e-10 + 2.3283064365386963e-10;
      const unsigned j = (unsigned)(table.length * u);
      assert_int_equal(counts[k], table.shift + (u < bounds[j] ? j : indices[j]));
    }
    assert_int_equal(curandDestroyGenerator(generator), 0);
    assert_int_equal(curandDestroyGenerator(other), 0);
    assert_int_equal(curandDestroyDistribution(made), 0);
    assert_int_equal(curandDestroyDistribution(made), NOT_INITIALIZED);
  }
  cudaFree(bits), cudaFree(counts);
}

static void distributions_of_large_means_are_normal(void** state) {
  (void)state;
  void* made = NULL;
  distribution head;
  assert_int_equal(curandCreatePoissonDistribution(40000, &made), 0);
  read_device(&head, (uintptr_t)made, sizeof head);
  assert_int_not_equal(head.method, CURAND_M2);
  assert_true(head.mean == 40000 && head.deviation == 200);
  assert_int_equal(curandDestroyDistribution(made), 0);
  assert_int_equal(curandCreatePoissonDistribution(5, NULL), NOT_INITIALIZED);
  assert_int_equal(curandCreatePoissonDistribution(0, &made), OUT_OF_RANGE);
  assert_int_equal(curandCreatePoissonDistribution(400001, &made), OUT_OF_RANGE);
  assert_int_equal(curandCreatePoissonDistribution(NAN, &made), OUT_OF_RANGE);
  assert_int_equal(curandDestroyDistribution(NULL), NOT_INITIALIZED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_numbers_are_nvidia_s),
      cmocka_unit_test(numbers_at_the_ends_of_sequences_are_nvidia_s),
      cmocka_unit_test(calls_of_several_kinds_go_on_as_nvidia_s_do),
      cmocka_unit_test(normal_numbers_come_in_nvidia_s_order),
      cmocka_unit_test(logarithmic_normal_numbers_are_those_of_normal_ones),
      cmocka_unit_test(poisson_numbers_of_large_means_use_pairs),
      cmocka_unit_test(distributions_for_device_code_hold_the_same_table),
      cmocka_unit_test(distributions_of_large_means_are_normal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
