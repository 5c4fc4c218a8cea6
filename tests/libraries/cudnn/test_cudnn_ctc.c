/* The loss of cuDNN's connectionist temporal classification against the sum over all paths, and its
   gradient against differences. */
#include "cudnn_support.h"

int cudnnCreateCTCLossDescriptor(void**);
int cudnnSetCTCLossDescriptor_v9(void*, int, int, int, int);
int cudnnDestroyCTCLossDescriptor(void*);
int cudnnCTCLoss(void*, void*, const void*, const int*, const int*, const int*, void*, void*, void*,
                 int, void*, void*, size_t);
int cudnnCTCLoss_v8(void*, int, void*, void*, const void*, const int*, const int*, const int*,
                    void*, void*, void*, size_t, void*);

enum { STEPS = 5, BATCH = 3, ALPHABET = 4 };
static const int kLabels[] = {1, 1, 2, 3}, kLabelLengths[BATCH] = {2, 1, 1};
static const int kInputLengths[BATCH] = {5, 4, 2}, kFirst[BATCH] = {0, 2, 3};

/* The negative logarithm of the probabilities of all paths that spell the labels. */
static double plain_loss(const tensor* x, int b) {
  double total = 0;
  int paths = 1;
  for (int t = 0; t < kInputLengths[b]; ++t) paths *= ALPHABET;
  for (int path = 0; path < paths; ++path) {
    double p = 1;
    int rest = path, last = 0, found = 0, is_right = 1;
    for (int t = 0; t < kInputLengths[b]; ++t, rest /= ALPHABET) {
      const int symbol = rest % ALPHABET;
      double sum = 0;
      for (int k = 0; k < ALPHABET; ++k) sum += exp(get(x, (const int[]){t, b, k}));
      p *= exp(get(x, (const int[]){t, b, symbol})) / sum;
      if (symbol != 0 && symbol != last) {
        is_right = is_right && found < kLabelLengths[b] && kLabels[kFirst[b] + found] == symbol;
        ++found;
      }
      last = symbol;
    }
    if (is_right && found == kLabelLengths[b]) total += p;
  }
  return -log(total);
}

static void loss_is_the_sum_over_paths(void** state) {
  (void)state;
  void *handle = NULL, *ctc = NULL;
  const int dims[] = {STEPS, BATCH, ALPHABET};
  float* costs = NULL;
  int* ints = NULL;
  assert_int_equal(cudnnCreate(&handle), 0);
  assert_int_equal(cudnnCreateCTCLossDescriptor(&ctc), 0);
  assert_int_equal(cudnnSetCTCLossDescriptor_v9(ctc, F32, 1, 0, 4), 0);
  assert_int_equal(cudaMallocManaged((void**)&costs, BATCH * 4, cudaMemAttachGlobal), 0);
  assert_int_equal(cudaMallocManaged((void**)&ints, 10 * 4, cudaMemAttachGlobal), 0);
  memcpy(ints, kLabels, sizeof kLabels);
  memcpy(ints + 4, kLabelLengths, sizeof kLabelLengths);
  memcpy(ints + 7, kInputLengths, sizeof kInputLengths);
  tensor x = make_tensor(F32, 3, dims, 0), g = make_tensor(F32, 3, dims, 2);
  for (int version = 7; version <= 8; ++version) {
    if (version == 7) {
      assert_int_equal(cudnnCTCLoss(handle, x.descriptor, x.data, kLabels, kLabelLengths,
                                    kInputLengths, costs, g.descriptor, g.data, 0, ctc, NULL, 0),
                       0);
    } else {
      memset(costs, 0, BATCH * 4);
      assert_int_equal(cudnnCTCLoss_v8(handle, 0, ctc, x.descriptor, x.data, ints, ints + 4,
                                       ints + 7, costs, g.descriptor, g.data, 0, NULL),
                       0);
    }
    assert_int_equal(cudaDeviceSynchronize(), 0);
    for (int b = 0; b < BATCH; ++b) {
      assert_true(fabs((double)costs[b] - plain_loss(&x, b)) < 1e-5);
    }
  }
  for (size_t i = 0; i < x.count; ++i) {
    int at[MOST] = {0};
    position_of(&x, i, at);
    const double old = get(&x, at), step = 1.0 / 256;
    set_nth(&x, i, old + step);
    const double above = plain_loss(&x, at[1]);
    set_nth(&x, i, old - step);
    const double below = plain_loss(&x, at[1]);
    set_nth(&x, i, old);
    assert_true(fabs(get(&g, at) - (above - below) / (2 * step)) < 1e-4);
  }
  const int wrong[] = {1, 1, 2, 9};
  assert_int_equal(cudnnCTCLoss(handle, x.descriptor, x.data, wrong, kLabelLengths, kInputLengths,
                                costs, g.descriptor, g.data, 0, ctc, NULL, 0),
                   BAD_PARAM);
  free_tensor(&x);
  free_tensor(&g);
  assert_int_equal(cudaFree(costs), 0);
  assert_int_equal(cudaFree(ints), 0);
  assert_int_equal(cudnnDestroyCTCLossDescriptor(ctc), 0);
  assert_int_equal(cudnnDestroy(handle), 0);
}

/* Labels and lengths in device memory are read when the work runs. */
static void rubbish_in_device_memory_ends_as_an_error(void** state) {
  (void)state;
  enum { ILLEGAL_ADDRESS = 700, INTS = 10 };
  static const struct {
    int at, value;
  } kBad[] = {{0, 1 << 30}, {1, -(1 << 30)}, {3, ALPHABET}, {2, 0},
              {4, 1 << 20}, {5, -1},         {7, 1 << 20},  {8, -2}};
  for (size_t i = 0; i < sizeof kBad / sizeof *kBad; ++i) {
    void *handle = NULL, *ctc = NULL;
    const int dims[] = {STEPS, BATCH, ALPHABET};
    float* costs = NULL;
    int *labels = NULL, *lengths = NULL, values[INTS];
    assert_int_equal(cudnnCreate(&handle), 0);
    assert_int_equal(cudnnCreateCTCLossDescriptor(&ctc), 0);
    assert_int_equal(cudnnSetCTCLossDescriptor_v9(ctc, F32, 1, 0, 1 << 24), 0);
    assert_int_equal(cudaMalloc((void**)&costs, BATCH * 4), 0);
    assert_int_equal(cudaMalloc((void**)&labels, 4 * 4), 0);
    assert_int_equal(cudaMalloc((void**)&lengths, 6 * 4), 0);
    memcpy(values, kLabels, sizeof kLabels);
    memcpy(values + 4, kLabelLengths, sizeof kLabelLengths);
    memcpy(values + 7, kInputLengths, sizeof kInputLengths);
    values[kBad[i].at] = kBad[i].value;
    assert_int_equal(cudaMemcpy(labels, values, 4 * 4, cudaMemcpyHostToDevice), 0);
    assert_int_equal(cudaMemcpy(lengths, values + 4, 6 * 4, cudaMemcpyHostToDevice), 0);
    tensor x = make_tensor(F32, 3, dims, 0), g = make_tensor(F32, 3, dims, 0);
    assert_int_equal(cudnnCTCLoss_v8(handle, 0, ctc, x.descriptor, x.data, labels, lengths,
                                     lengths + 3, costs, g.descriptor, g.data, 0, NULL),
                     0);
    assert_int_equal(cudaDeviceSynchronize(), ILLEGAL_ADDRESS);
    assert_int_equal(cudnnDestroyTensorDescriptor(x.descriptor), 0);
    assert_int_equal(cudnnDestroyTensorDescriptor(g.descriptor), 0);
    assert_int_equal(cudnnDestroyCTCLossDescriptor(ctc), 0);
    assert_int_equal(cudnnDestroy(handle), 0);
    assert_int_equal(cudaDeviceReset(), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(loss_is_the_sum_over_paths),
                                     cmocka_unit_test(rubbish_in_device_memory_ends_as_an_error)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
