/* Random transforms of cuFFT against the definition: sizes, strides, types, batches, in place and
 * not, captured and not. CUFFT_CASES is their number, CUFFT_SEED begins them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

#include "cufft_callbacks.h"
#include "cufft_reference.h"

static uint64_t state_ = 1;
static uint64_t draw(uint64_t below) {
  state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
  return (state_ >> 11) % below;
}
static double draw_number(void) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += (double)draw(1 << 20) / (1 << 20);
  return sum;
}

/* Types of numbers: f16, bf16, f32, f64. */
enum { HALF, BFLOAT, SINGLE, DOUBLE };
static const int number_bytes[] = {2, 2, 4, 8};
static const double epsilons[] = {0x1p-11, 0x1p-8, 0x1p-24, 0x1p-53};

static double load(const void* base, int type, size_t i) {
  if (type == DOUBLE) return ((const double*)base)[i];
  if (type == SINGLE) return ((const float*)base)[i];
  const uint16_t bits = ((const uint16_t*)base)[i];
  if (type == BFLOAT) {
    const uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, 4);
    return value;
  }
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double value = exponent != 0 ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24);
  return bits >> 15 ? -value : value;
}
static void store(void* base, int type, size_t i, double value) {
  if (type == DOUBLE) {
    ((double*)base)[i] = value;
  } else if (type == SINGLE) {
    ((float*)base)[i] = (float)value;
  } else { /* no rounding: the inputs are numbers of few bits */
    const float narrow = (float)ldexp(rint(ldexp(value, 5)), -5);
    uint32_t bits;
    memcpy(&bits, &narrow, 4);
    if (type == BFLOAT) {
      ((uint16_t*)base)[i] = (uint16_t)(bits >> 16);
    } else {
      const int exponent = (int)(bits >> 23 & 255) - 112;
      ((uint16_t*)base)[i] = narrow == 0
                                 ? 0
                                 : (uint16_t)(bits >> 16 & 0x8000) | (uint16_t)(exponent << 10) |
                                       (uint16_t)(bits >> 13 & 1023);
    }
  }
}

typedef struct {
  int rank, n[3], batch;
  int kind; /* 0: complex, 1: real to complex, 2: complex to real */
  int type, sign;
  int is_basic, is_in_place, is_captured, has_own_area, has_load, has_store;
  int embed[2][3], stride[2], distance[2];
} test_case;

static int is_real_side(const test_case* c, int side) { return c->kind == side + 1; }
static int length(const test_case* c, int side, int i) {
  const int is_halved = c->kind != 0 && i == c->rank - 1 && !is_real_side(c, side);
  return is_halved ? c->n[i] / 2 + 1 : c->n[i];
}

static void draw_sizes(test_case* c) {
  c->rank = 1 + (int)draw(3);
  const int most = c->rank == 1 ? 400 : c->rank == 2 ? 36 : 12;
  for (int i = 0; i < c->rank; ++i) c->n[i] = 1 + (int)draw(most);
  if (c->rank == 1 && draw(16) == 0) c->n[0] = 1 + (int)draw(3000);
  c->batch = draw(3) == 0 ? 1 : 1 + (int)draw(20);
  if (c->rank == 1 && c->n[0] > 400) c->batch = 1 + (int)draw(2);
  c->kind = (int)draw(3);
  c->type = (int)draw(4);
  if (draw(2)) c->type = SINGLE + (int)draw(2);
  c->sign = c->kind == 0 ? (draw(2) ? 1 : -1) : c->kind == 1 ? -1 : 1;
  c->is_basic = draw(3) == 0;
  c->is_in_place = (int)draw(2);
  c->is_captured = draw(3) == 0;
  c->has_own_area = draw(3) == 0;
  c->has_load = c->type >= SINGLE && draw(4) == 0;
  c->has_store = c->type >= SINGLE && draw(4) == 0;
}

/* The layout of a side, wide enough for `least` numbers in a row. */
static void draw_layout(test_case* c, int side, int padded_row) {
  size_t volume = 1;
  for (int i = 0; i < c->rank; ++i) {
    const int own = i == c->rank - 1 && padded_row ? padded_row : length(c, side, i);
    c->embed[side][i] = own + (c->is_basic || c->is_in_place ? 0 : (int)draw(3));
    volume *= c->embed[side][i];
  }
  const int is_wide = !c->is_basic && !c->is_in_place;
  c->stride[side] = is_wide ? 1 + (int)draw(3) : 1;
  c->distance[side] = (int)volume * c->stride[side] + (is_wide ? (int)draw(4) : 0);
  if (is_wide && draw(4) == 0) { /* batches side by side */
    c->stride[side] = c->batch;
    c->distance[side] = 1;
  }
}

static test_case draw_case(void) {
  test_case c = {0};
  draw_sizes(&c);
  const int last = c.n[c.rank - 1], is_padded = c.is_in_place && c.kind != 0;
  for (int side = 0; side < 2; ++side) {
    draw_layout(&c, side, is_padded ? (last / 2 + 1) * (is_real_side(&c, side) ? 2 : 1) : 0);
  }
  return c;
}

static size_t place_of(const test_case* c, int side, size_t index) {
  size_t at = 0, step = c->stride[side];
  for (int i = c->rank; i-- > 0;) {
    at += index % length(c, side, i) * step;
    index /= length(c, side, i);
    step *= c->embed[side][i];
  }
  return at + index * c->distance[side];
}
static size_t count_of(const test_case* c, int side) {
  size_t count = c->batch;
  for (int i = 0; i < c->rank; ++i) count *= length(c, side, i);
  return count;
}
static size_t bytes_of(const test_case* c, int side) {
  size_t most = 0;
  for (size_t i = 0; i < count_of(c, side); ++i) {
    const size_t at = place_of(c, side, i);
    if (at > most) most = at;
  }
  return (most + 1) * number_bytes[c->type] * (is_real_side(c, side) ? 1 : 2);
}

static int make(const test_case* c, int plan, size_t* size) {
  static const int complex_types[] = {C_16F, C_16BF, C_32F, C_64F};
  static const int real_types[] = {R_16F, R_16BF, R_32F, R_64F};
  long long n[3], in[3], out[3];
  for (int i = 0; i < 3; ++i) n[i] = c->n[i], in[i] = c->embed[0][i], out[i] = c->embed[1][i];
  const int from = (is_real_side(c, 0) ? real_types : complex_types)[c->type];
  const int to = (is_real_side(c, 1) ? real_types : complex_types)[c->type];
  if (c->type < SINGLE || draw(2)) {
    return cufftXtMakePlanMany(plan, c->rank, n, c->is_basic ? NULL : in, c->stride[0],
                               c->distance[0], from, out, c->stride[1], c->distance[1], to,
                               c->batch, size, complex_types[c->type]);
  }
  static const int types[3][2] = {{C2C, Z2Z}, {R2C, D2Z}, {C2R, Z2D}};
  int sizes[3], ins[3], outs[3];
  for (int i = 0; i < 3; ++i) sizes[i] = (int)n[i], ins[i] = (int)in[i], outs[i] = (int)out[i];
  return cufftMakePlanMany(plan, c->rank, sizes, c->is_basic ? NULL : ins, c->stride[0],
                           c->distance[0], outs, c->stride[1], c->distance[1],
                           types[c->kind][c->type - SINGLE], c->batch, size);
}

static int run(const test_case* c, int plan, void* in, void* out) {
  if (c->type < SINGLE || draw(2)) return cufftXtExec(plan, in, out, c->sign);
  const int is_double = c->type == DOUBLE;
  if (c->kind == 0) return (is_double ? cufftExecZ2Z : cufftExecC2C)(plan, in, out, c->sign);
  if (c->kind == 1) return (is_double ? cufftExecD2Z : cufftExecR2C)(plan, in, out);
  return (is_double ? cufftExecZ2D : cufftExecC2R)(plan, in, out);
}

static void run_captured(const test_case* c, int plan, void* in, void* out) {
  cudaStream_t stream = NULL;
  cudaGraph_t graph = NULL;
  cudaGraphExec_t exec = NULL;
  assert_int_equal(cudaStreamCreate(&stream), 0);
  assert_int_equal(cufftSetStream(plan, stream), 0);
  assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), 0);
  assert_int_equal(run(c, plan, in, out), 0);
  assert_int_equal(cudaStreamEndCapture(stream, &graph), 0);
  assert_int_equal(cufftDestroy(plan), 0); /* the graph keeps what it needs */
  assert_int_equal(cudaGraphInstantiate(&exec, graph, 0), 0);
  assert_int_equal(cudaGraphLaunch(exec, stream), 0);
  assert_int_equal(cudaStreamSynchronize(stream), 0);
  cudaGraphExecDestroy(exec), cudaGraphDestroy(graph), cudaStreamDestroy(stream);
}

/* Callbacks that multiply by 4 when they load, and by 0.5 when they store. */
static void set_callbacks(const test_case* c, int plan) {
  static CUmodule module;
  static void *routines[8], *gains[4];
  if (module == NULL) {
    assert_int_equal(cuModuleLoadData(&module, scaling_callbacks), 0);
    read_pointers(module, "callbacks", routines, 8);
    char* numbers = NULL;
    assert_int_equal(cudaMallocManaged((void**)&numbers, 32, cudaMemAttachGlobal), 0);
    for (int i = 0; i < 4; ++i) gains[i] = numbers + 8 * i;
    *(float*)gains[0] = 4, *(double*)gains[1] = 4;
    *(float*)gains[2] = 0.5F, *(double*)gains[3] = 0.5;
  }
  const int is_double = c->type == DOUBLE;
  const int loads = (is_real_side(c, 0) ? LOAD_R : LOAD_C) + is_double;
  const int stores = (is_real_side(c, 1) ? STORE_R : STORE_C) + is_double;
  if (c->has_load) {
    assert_int_equal(cufftXtSetCallback(plan, &routines[loads], loads, &gains[is_double]), 0);
  }
  if (c->has_store) {
    assert_int_equal(cufftXtSetCallback(plan, &routines[stores], stores, &gains[2 + is_double]), 0);
  }
}

/* Fills the input, and gives its numbers as a whole array. */
static long double _Complex* fill(const test_case* c, void* in) {
  size_t full = c->batch;
  for (int i = 0; i < c->rank; ++i) full *= c->n[i];
  long double _Complex* const data = calloc(full, sizeof *data);
  long double _Complex* const signal = calloc(full, sizeof *data);
  if (c->kind == 2) { /* the half of a transform of real numbers */
    for (size_t i = 0; i < full; ++i) signal[i] = draw_number();
    transform_all(signal, c->rank, c->n, c->batch, -1);
  }
  const int last = c->n[c->rank - 1];
  for (size_t i = 0; i < count_of(c, 0); ++i) {
    const size_t at = place_of(c, 0, i);
    const size_t row = length(c, 0, c->rank - 1), whole = i / row * last + i % row;
    if (is_real_side(c, 0)) {
      store(in, c->type, at, draw_number());
      data[i] = load(in, c->type, at);
      continue;
    }
    const double re = c->kind == 2 ? (double)creall(signal[whole]) / 16 : draw_number();
    const double im = c->kind == 2 ? (double)cimagl(signal[whole]) / 16 : draw_number();
    store(in, c->type, 2 * at, re);
    store(in, c->type, 2 * at + 1, im);
    data[whole] = load(in, c->type, 2 * at) + load(in, c->type, 2 * at + 1) * _Complex_I;
  }
  free(signal);
  return data;
}

/* The half of each row that the input of a real result lacks is the conjugate of the other. All
 * other dimensions are transformed first, as it is done in place. */
static void reference(const test_case* c, long double _Complex* data) {
  if (c->kind != 2) return transform_all(data, c->rank, c->n, c->batch, c->sign);
  size_t full = c->batch;
  for (int i = 0; i < c->rank; ++i) full *= c->n[i];
  const size_t last = c->n[c->rank - 1];
  size_t step = last;
  for (int i = c->rank - 1; i-- > 0; step *= c->n[i]) {
    transform_axis(data, full, c->n[i], step, c->sign);
  }
  for (size_t row = 0; row < full; row += last) {
    data[row] = creall(data[row]);
    if (last % 2 == 0) data[row + last / 2] = creall(data[row + last / 2]);
    for (size_t k = last / 2 + 1; k < last; ++k) data[row + k] = conjl(data[row + last - k]);
  }
  transform_axis(data, full, last, 1, c->sign);
}

/* The error relative to the result, in units of the type's precision. */
static double error_of(const test_case* c, const void* out, const long double _Complex* wanted) {
  long double error = 0, total = 0;
  const size_t row = length(c, 1, c->rank - 1), last = c->n[c->rank - 1];
  for (size_t i = 0; i < count_of(c, 1); ++i) {
    const size_t at = place_of(c, 1, i);
    const double gain = (c->has_load ? 4 : 1) * (c->has_store ? 0.5 : 1);
    const long double _Complex want = gain * wanted[i / row * last + i % row];
    const int is_real = is_real_side(c, 1);
    const long double re = load(out, c->type, is_real ? at : 2 * at) - creall(want);
    const long double im = is_real ? 0 : load(out, c->type, 2 * at + 1) - cimagl(want);
    error += re * re + im * im;
    total += creall(want) * creall(want) + (is_real ? 0 : cimagl(want) * cimagl(want));
  }
  return total == 0 ? (double)error : (double)(sqrtl(error / total) / epsilons[c->type]);
}

static void print_case(const test_case* c, double error) {
  print_error("kind %d, type %d, sign %d, sizes", c->kind, c->type, c->sign);
  for (int i = 0; i < c->rank; ++i) print_error(" %d", c->n[i]);
  print_error(
      ", batch %d, basic %d, in place %d, captured %d, own area %d, load %d, store %d: ", c->batch,
      c->is_basic, c->is_in_place, c->is_captured, c->has_own_area, c->has_load, c->has_store);
  print_error("error %g\n", error);
}

/* Bytes that the result may not change keep their value. */
static void check_gaps(const test_case* c, const unsigned char* out, size_t bytes) {
  const size_t unit = number_bytes[c->type] * (is_real_side(c, 1) ? 1 : 2);
  unsigned char* const used = calloc(bytes, 1);
  for (size_t i = 0; i < count_of(c, 1); ++i) memset(used + place_of(c, 1, i) * unit, 1, unit);
  for (size_t i = 0; i < bytes; ++i) {
    if (!used[i]) assert_int_equal(out[i], 0x5a);
  }
  free(used);
}

static double check_case(const test_case* c) {
  int plan = 0;
  size_t size = 1;
  void *in = NULL, *out = NULL, *area = NULL;
  const size_t in_bytes = bytes_of(c, 0), out_bytes = bytes_of(c, 1);
  const size_t most = in_bytes > out_bytes ? in_bytes : out_bytes;
  assert_int_equal(cudaMallocManaged(&in, most, cudaMemAttachGlobal), 0);
  assert_int_equal(cudaMallocManaged(&out, out_bytes, cudaMemAttachGlobal), 0);
  memset(in, 0, most), memset(out, 0x5a, out_bytes);
  assert_int_equal(cufftCreate(&plan), 0);
  if (c->has_own_area) assert_int_equal(cufftSetAutoAllocation(plan, 0), 0);
  assert_int_equal(make(c, plan, &size), 0);
  if (c->has_own_area) {
    assert_int_equal(cudaMalloc(&area, size + 1), 0);
    assert_int_equal(cufftSetWorkArea(plan, area), 0);
  }
  set_callbacks(c, plan);
  long double _Complex* const data = fill(c, in);
  void* const kept = malloc(most);
  memcpy(kept, in, most);
  void* const to = c->is_in_place ? in : out;
  if (c->is_captured) {
    run_captured(c, plan, in, to);
  } else {
    assert_int_equal(run(c, plan, in, to), 0);
    assert_int_equal(cudaDeviceSynchronize(), 0);
    assert_int_equal(cufftDestroy(plan), 0);
  }
  if (!c->is_in_place) {
    assert_memory_equal(in, kept, in_bytes);
    check_gaps(c, out, out_bytes);
  }
  reference(c, data);
  const double error = error_of(c, to, data);
  free(data), free(kept);
  cudaFree(in), cudaFree(out), cudaFree(area);
  return error;
}

static void random_transforms_are_right(void** state) {
  (void)state;
  const char* const cases = getenv("CUFFT_CASES");
  const char* const seed = getenv("CUFFT_SEED");
  const int count = cases != NULL ? atoi(cases) : 1500;
  state_ = seed != NULL ? strtoull(seed, NULL, 10) * 2 + 1 : 12345;
  for (int i = 0; i < 20; ++i) draw(2);
  double worst[4] = {0};
  for (int i = 0; i < count; ++i) {
    const test_case c = draw_case();
    if (getenv("CUFFT_SHOW") != NULL) print_case(&c, -1);
    const double error = check_case(&c);
    if (error > worst[c.type]) worst[c.type] = error;
    const double limit = c.type < SINGLE ? 1.0 : 6.0;
    if (!(error < limit)) print_case(&c, error);
    assert_true(error < limit);
  }
  print_message("worst errors: %.2f of f16, %.2f of bf16, %.2f of f32, %.2f of f64\n", worst[0],
                worst[1], worst[2], worst[3]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_transforms_are_right)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
