/* What cuDNN's descriptors are set to is what they give back, in the forms of all versions; sizes,
   versions and searches for algorithms. */
#include "cudnn_support.h"

int cudnnCreateActivationDescriptor(void**), cudnnDestroyActivationDescriptor(void*);
int cudnnSetActivationDescriptor(void*, int, int, double);
int cudnnGetActivationDescriptor(void*, int*, int*, double*);
int cudnnSetActivationDescriptorSwishBeta(void*, double);
int cudnnGetActivationDescriptorSwishBeta(void*, double*);
int cudnnCreateCTCLossDescriptor(void**), cudnnDestroyCTCLossDescriptor(void*);
int cudnnSetCTCLossDescriptor(void*, int);
int cudnnSetCTCLossDescriptorEx(void*, int, int, int);
int cudnnSetCTCLossDescriptor_v8(void*, int, int, int, int);
int cudnnGetCTCLossDescriptor(void*, int*);
int cudnnGetCTCLossDescriptorEx(void*, int*, int*, int*);
int cudnnGetCTCLossDescriptor_v8(void*, int*, int*, int*, int*);
int cudnnGetCTCLossDescriptor_v9(void*, int*, int*, int*, int*);
int cudnnCreateConvolutionDescriptor(void**), cudnnDestroyConvolutionDescriptor(void*);
int cudnnSetConvolution2dDescriptor(void*, int, int, int, int, int, int, int, int);
int cudnnGetConvolution2dDescriptor(void*, int*, int*, int*, int*, int*, int*, int*, int*);
int cudnnGetConvolutionNdDescriptor(void*, int, int*, int*, int*, int*, int*, int*);
int cudnnGetConvolution2dForwardOutputDim(void*, void*, void*, int*, int*, int*, int*);
int cudnnSetConvolutionGroupCount(void*, int), cudnnGetConvolutionGroupCount(void*, int*);
int cudnnSetConvolutionMathType(void*, int), cudnnGetConvolutionMathType(void*, int*);
int cudnnSetConvolutionReorderType(void*, int), cudnnGetConvolutionReorderType(void*, int*);
int cudnnCreateFilterDescriptor(void**), cudnnDestroyFilterDescriptor(void*);
int cudnnSetFilter4dDescriptor(void*, int, int, int, int, int, int);
int cudnnGetFilter4dDescriptor(void*, int*, int*, int*, int*, int*, int*);
int cudnnGetFilterNdDescriptor(void*, int, int*, int*, int*, int*);
int cudnnGetFilterSizeInBytes(void*, size_t*);
int cudnnCreateDropoutDescriptor(void**), cudnnDestroyDropoutDescriptor(void*);
int cudnnDropoutGetStatesSize(void*, size_t*);
int cudnnSetDropoutDescriptor(void*, void*, float, void*, size_t, unsigned long long);
int cudnnGetDropoutDescriptor(void*, void*, float*, void**, unsigned long long*);
int cudnnRestoreDropoutDescriptor(void*, void*, float, void*, size_t, unsigned long long);
int cudnnCreateLRNDescriptor(void**), cudnnDestroyLRNDescriptor(void*);
int cudnnSetLRNDescriptor(void*, unsigned, double, double, double);
int cudnnGetLRNDescriptor(void*, unsigned*, double*, double*, double*);
int cudnnCreateOpTensorDescriptor(void**), cudnnDestroyOpTensorDescriptor(void*);
int cudnnSetOpTensorDescriptor(void*, int, int, int);
int cudnnGetOpTensorDescriptor(void*, int*, int*, int*);
int cudnnCreatePoolingDescriptor(void**), cudnnDestroyPoolingDescriptor(void*);
int cudnnSetPooling2dDescriptor(void*, int, int, int, int, int, int, int, int);
int cudnnGetPooling2dDescriptor(void*, int*, int*, int*, int*, int*, int*, int*, int*);
int cudnnGetPoolingNdDescriptor(void*, int, int*, int*, int*, int*, int*, int*);
int cudnnGetPooling2dForwardOutputDim(void*, void*, int*, int*, int*, int*);
int cudnnCreateReduceTensorDescriptor(void**), cudnnDestroyReduceTensorDescriptor(void*);
int cudnnSetReduceTensorDescriptor(void*, int, int, int, int, int);
int cudnnGetReduceTensorDescriptor(void*, int*, int*, int*, int*, int*);
int cudnnGetReductionIndicesSize(void*, void*, void*, void*, size_t*);
int cudnnCreateTensorTransformDescriptor(void**), cudnnDestroyTensorTransformDescriptor(void*);
int cudnnSetTensorTransformDescriptor(void*, uint32_t, int, const int32_t*, const int32_t*,
                                      const uint32_t*, int);
int cudnnGetTensorTransformDescriptor(void*, uint32_t, int*, int32_t*, int32_t*, uint32_t*, int*);
int cudnnSetTensor4dDescriptor(void*, int, int, int, int, int, int);
int cudnnSetTensor4dDescriptorEx(void*, int, int, int, int, int, int, int, int, int);
int cudnnSetTensorNdDescriptorEx(void*, int, int, int, const int*);
int cudnnGetTensor4dDescriptor(void*, int*, int*, int*, int*, int*, int*, int*, int*, int*);
int cudnnGetTensorNdDescriptor(void*, int, int*, int*, int*, int*);
int cudnnGetTensorSizeInBytes(void*, size_t*);
int cudnnCreateRNNDescriptor(void**), cudnnDestroyRNNDescriptor(void*);
int cudnnSetRNNDescriptor_v8(void*, int, int, int, int, int, int, int, int, int, int, int, int,
                             void*, unsigned);
int cudnnGetRNNDescriptor_v8(void*, int*, int*, int*, int*, int*, int*, int*, int*, int*, int*,
                             int*, int*, void**, unsigned*);
int cudnnRNNSetClip_v8(void*, int, int, double, double);
int cudnnRNNGetClip_v8(void*, int*, int*, double*, double*);
int cudnnRNNGetClip_v9(void*, int*, double*, double*);
int cudnnCreateRNNDataDescriptor(void**), cudnnDestroyRNNDataDescriptor(void*);
int cudnnSetRNNDataDescriptor(void*, int, int, int, int, int, const int*, void*);
int cudnnGetRNNDataDescriptor(void*, int*, int*, int*, int*, int*, int, int*, void*);
int cudnnGetStream(void*, void**);
int cudnnSetCallback(unsigned, void*, void*), cudnnGetCallback(unsigned*, void**, void**);
int cudnnGetProperty(int, int*), cudnnQueryRuntimeError(void*, int*, int, void*);
int cudnnGraphVersionCheck(void), cudnnOpsVersionCheck(void), cudnnCnnVersionCheck(void);
int cudnnAdvVersionCheck(void), cudnnSubquadraticOpsVersionCheck(void);
size_t cudnnGetVersion(void), cudnnGetCudartVersion(void), cudnnGetMaxDeviceVersion(void);
const char* cudnnGetErrorString(int);
int cudnnGetConvolutionForwardAlgorithmMaxCount(void*, int*);
int cudnnGetConvolutionBackwardDataAlgorithmMaxCount(void*, int*);
int cudnnGetConvolutionBackwardFilterAlgorithmMaxCount(void*, int*);
int cudnnFindConvolutionForwardAlgorithm(void*, void*, void*, void*, void*, int, int*, void*);
int cudnnFindConvolutionBackwardDataAlgorithm(void*, void*, void*, void*, void*, int, int*, void*);
int cudnnFindConvolutionBackwardFilterAlgorithm(void*, void*, void*, void*, void*, int, int*,
                                                void*);
int cudnnGetConvolutionBackwardDataAlgorithm_v7(void*, void*, void*, void*, void*, int, int*,
                                                void*);
int cudnnGetConvolutionBackwardFilterAlgorithm_v7(void*, void*, void*, void*, void*, int, int*,
                                                  void*);
int cudnnGetConvolutionForwardWorkspaceSize(void*, void*, void*, void*, void*, int, size_t*);
int cudnnGetConvolutionBackwardDataWorkspaceSize(void*, void*, void*, void*, void*, int, size_t*);
int cudnnGetConvolutionBackwardFilterWorkspaceSize(void*, void*, void*, void*, void*, int, size_t*);

#define OK(call) assert_int_equal((call), 0)
#define TEST(name) cmocka_unit_test(name)
/* Compares numbers that a descriptor has given with those that it got. */
#define GIVES(...)                                                                         \
  do {                                                                                     \
    const int expected[] = {__VA_ARGS__};                                                  \
    for (size_t e = 0; e < sizeof expected / sizeof *expected; ++e) {                      \
      if (g[e] != expected[e]) fail_msg("number %zu is %d, not %d", e, g[e], expected[e]); \
    }                                                                                      \
  } while (0)

enum { NCHW = 0, NHWC = 1 };
static void* handle;
static int g[16];
static double d[4];

static int start(void** state) {
  (void)state;
  return cudnnCreate(&handle);
}
static int end(void** state) {
  (void)state;
  return cudnnDestroy(handle);
}

static void tensors_and_filters(void** state) {
  (void)state;
  void *t = NULL, *f = NULL;
  size_t bytes = 0;
  const int dims[] = {2, 3, 4, 5, 6};
  OK(cudnnCreateTensorDescriptor(&t));
  OK(cudnnSetTensor4dDescriptor(t, NCHW, F32, 2, 3, 4, 5));
  OK(cudnnGetTensor4dDescriptor(t, g, g + 1, g + 2, g + 3, g + 4, g + 5, g + 6, g + 7, g + 8));
  GIVES(F32, 2, 3, 4, 5, 60, 20, 5, 1);
  OK(cudnnSetTensor4dDescriptor(t, NHWC, F16, 2, 3, 4, 5));
  OK(cudnnGetTensor4dDescriptor(t, g, g + 1, g + 2, g + 3, g + 4, g + 5, g + 6, g + 7, g + 8));
  GIVES(F16, 2, 3, 4, 5, 60, 1, 15, 3);
  OK(cudnnGetTensorSizeInBytes(t, &bytes));
  assert_int_equal(bytes, 240);
  OK(cudnnSetTensor4dDescriptorEx(t, F64, 2, 3, 4, 5, 100, 30, 7, 1));
  OK(cudnnGetTensorNdDescriptor(t, 4, g, g + 1, g + 2, g + 6));
  GIVES(F64, 4, 2, 3, 4, 5, 100, 30, 7, 1);
  OK(cudnnGetTensorSizeInBytes(t, &bytes));
  assert_int_equal(bytes, 8 * (100 + 60 + 21 + 4 + 1));
  OK(cudnnSetTensorNdDescriptorEx(t, NCHW, F32, 5, dims));
  OK(cudnnGetTensorNdDescriptor(t, 5, g, g + 1, g + 2, g + 7));
  GIVES(F32, 5, 2, 3, 4, 5, 6, 360, 120, 30, 6, 1);
  assert_int_equal(cudnnSetTensor4dDescriptor(t, NCHW, F32, 2, -3, 4, 5), BAD_PARAM);
  OK(cudnnDestroyTensorDescriptor(t));
  OK(cudnnCreateFilterDescriptor(&f));
  OK(cudnnSetFilter4dDescriptor(f, F16, NHWC, 7, 3, 2, 5));
  OK(cudnnGetFilter4dDescriptor(f, g, g + 1, g + 2, g + 3, g + 4, g + 5));
  GIVES(F16, NHWC, 7, 3, 2, 5);
  OK(cudnnGetFilterNdDescriptor(f, 4, g, g + 1, g + 2, g + 3));
  GIVES(F16, NHWC, 4, 7, 3, 2, 5);
  OK(cudnnGetFilterSizeInBytes(f, &bytes));
  assert_int_equal(bytes, 2 * 7 * 3 * 2 * 5);
  OK(cudnnDestroyFilterDescriptor(f));
}

static void layers(void** state) {
  (void)state;
  void* o = NULL;
  unsigned size = 0;
  OK(cudnnCreateActivationDescriptor(&o));
  OK(cudnnSetActivationDescriptor(o, 3, 1, 6.5));
  OK(cudnnGetActivationDescriptor(o, g, g + 1, d));
  GIVES(3, 1);
  assert_true(d[0] == 6.5);
  OK(cudnnSetActivationDescriptorSwishBeta(o, 1.75));
  OK(cudnnGetActivationDescriptorSwishBeta(o, d));
  assert_true(d[0] == 1.75);
  OK(cudnnDestroyActivationDescriptor(o));
  OK(cudnnCreateLRNDescriptor(&o));
  OK(cudnnSetLRNDescriptor(o, 5, 1e-3, 0.5, 2));
  OK(cudnnGetLRNDescriptor(o, &size, d, d + 1, d + 2));
  assert_true(size == 5 && d[0] == 1e-3 && d[1] == 0.5 && d[2] == 2);
  OK(cudnnDestroyLRNDescriptor(o));
  OK(cudnnCreateOpTensorDescriptor(&o));
  OK(cudnnSetOpTensorDescriptor(o, 2, F64, 1));
  OK(cudnnGetOpTensorDescriptor(o, g, g + 1, g + 2));
  GIVES(2, F64, 1);
  OK(cudnnDestroyOpTensorDescriptor(o));
  OK(cudnnCreateReduceTensorDescriptor(&o));
  OK(cudnnSetReduceTensorDescriptor(o, 3, F32, 1, 1, 0));
  OK(cudnnGetReduceTensorDescriptor(o, g, g + 1, g + 2, g + 3, g + 4));
  GIVES(3, F32, 1, 1, 0);
  const int dims[] = {2, 3, 4, 5}, sums[] = {2, 1, 4, 1};
  tensor a = make_tensor(F32, 4, dims, 0), c = make_tensor(F32, 4, sums, 0);
  size_t bytes = 0;
  OK(cudnnGetReductionIndicesSize(handle, o, a.descriptor, c.descriptor, &bytes));
  assert_true(bytes >= 8 * sizeof(int));
  free_tensor(&a);
  free_tensor(&c);
  OK(cudnnDestroyReduceTensorDescriptor(o));
  const int32_t before[] = {0, 1, 2, 3}, after[] = {4, 5, 6, 7};
  const uint32_t folds[] = {1, 2};
  uint32_t got[2] = {0, 0};
  OK(cudnnCreateTensorTransformDescriptor(&o));
  OK(cudnnSetTensorTransformDescriptor(o, 4, NHWC, before, after, folds, 1));
  OK(cudnnGetTensorTransformDescriptor(o, 4, g, g + 1, g + 5, got, g + 9));
  GIVES(NHWC, 0, 1, 2, 3, 4, 5, 6, 7, 1);
  assert_true(got[0] == 1 && got[1] == 2);
  OK(cudnnDestroyTensorTransformDescriptor(o));
}

static void windows(void** state) {
  (void)state;
  void *o = NULL, *w = NULL;
  const int dims[] = {2, 3, 11, 13};
  tensor x = make_tensor(F32, 4, dims, 0);
  OK(cudnnCreatePoolingDescriptor(&o));
  OK(cudnnSetPooling2dDescriptor(o, 1, 1, 3, 4, 1, 2, 2, 3));
  OK(cudnnGetPooling2dDescriptor(o, g, g + 1, g + 2, g + 3, g + 4, g + 5, g + 6, g + 7));
  GIVES(1, 1, 3, 4, 1, 2, 2, 3);
  OK(cudnnGetPoolingNdDescriptor(o, 2, g, g + 1, g + 2, g + 3, g + 5, g + 7));
  GIVES(1, 1, 2, 3, 4, 1, 2, 2, 3);
  OK(cudnnGetPooling2dForwardOutputDim(o, x.descriptor, g, g + 1, g + 2, g + 3));
  GIVES(2, 3, (11 + 2 - 3) / 2 + 1, (13 + 4 - 4) / 3 + 1);
  OK(cudnnDestroyPoolingDescriptor(o));
  OK(cudnnCreateConvolutionDescriptor(&o));
  OK(cudnnSetConvolution2dDescriptor(o, 1, 2, 3, 4, 2, 1, 1, F32));
  OK(cudnnGetConvolution2dDescriptor(o, g, g + 1, g + 2, g + 3, g + 4, g + 5, g + 6, g + 7));
  GIVES(1, 2, 3, 4, 2, 1, 1, F32);
  OK(cudnnGetConvolutionNdDescriptor(o, 2, g, g + 1, g + 3, g + 5, g + 7, g + 8));
  GIVES(2, 1, 2, 3, 4, 2, 1, 1, F32);
  OK(cudnnSetConvolutionGroupCount(o, 3));
  OK(cudnnSetConvolutionMathType(o, 1));
  OK(cudnnSetConvolutionReorderType(o, 1));
  OK(cudnnGetConvolutionGroupCount(o, g));
  OK(cudnnGetConvolutionMathType(o, g + 1));
  OK(cudnnGetConvolutionReorderType(o, g + 2));
  GIVES(3, 1, 1);
  OK(cudnnCreateFilterDescriptor(&w));
  OK(cudnnSetFilter4dDescriptor(w, F32, NCHW, 6, 1, 3, 4));
  OK(cudnnGetConvolution2dForwardOutputDim(o, x.descriptor, w, g, g + 1, g + 2, g + 3));
  GIVES(2, 6, (11 + 2 - 5) / 3 + 1, (13 + 4 - 4) / 4 + 1);
  OK(cudnnDestroyFilterDescriptor(w));
  OK(cudnnDestroyConvolutionDescriptor(o));
  free_tensor(&x);
}

/* NVIDIA's cudnnConvolution*AlgoPerf_t, which are alike. */
typedef struct {
  int algorithm, status;
  float ms;
  size_t memory;
  int determinism, math, reserved[3];
} performance;

static void searches_find_an_algorithm(void** state) {
  (void)state;
  void *o = NULL, *w = NULL;
  const int x_dims[] = {1, 2, 6, 6}, y_dims[] = {1, 3, 6, 6};
  tensor x = make_tensor(F32, 4, x_dims, 0), y = make_tensor(F32, 4, y_dims, 0);
  OK(cudnnCreateConvolutionDescriptor(&o));
  OK(cudnnSetConvolution2dDescriptor(o, 1, 1, 1, 1, 1, 1, 1, F32));
  OK(cudnnCreateFilterDescriptor(&w));
  OK(cudnnSetFilter4dDescriptor(w, F32, NCHW, 3, 2, 3, 3));
  typedef int (*search)(void*, void*, void*, void*, void*, int, int*, void*);
  typedef int (*size)(void*, void*, void*, void*, void*, int, size_t*);
  const struct {
    search find;
    void *first, *second, *third; /* the convolution comes between the second and the third */
    size workspace;
  } all[] = {{cudnnFindConvolutionForwardAlgorithm, x.descriptor, w, y.descriptor,
              cudnnGetConvolutionForwardWorkspaceSize},
             {cudnnFindConvolutionBackwardDataAlgorithm, w, y.descriptor, x.descriptor,
              cudnnGetConvolutionBackwardDataWorkspaceSize},
             {cudnnGetConvolutionBackwardDataAlgorithm_v7, w, y.descriptor, x.descriptor,
              cudnnGetConvolutionBackwardDataWorkspaceSize},
             {cudnnFindConvolutionBackwardFilterAlgorithm, x.descriptor, y.descriptor, w,
              cudnnGetConvolutionBackwardFilterWorkspaceSize},
             {cudnnGetConvolutionBackwardFilterAlgorithm_v7, x.descriptor, y.descriptor, w,
              cudnnGetConvolutionBackwardFilterWorkspaceSize}};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    performance found[4];
    int count = 0;
    size_t bytes = SIZE_MAX;
    memset(found, 0xff, sizeof found);
    OK(all[i].find(handle, all[i].first, all[i].second, o, all[i].third, 4, &count, found));
    assert_in_range(count, 1, 4);
    assert_int_equal(found[0].status, 0);
    OK(all[i].workspace(handle, all[i].first, all[i].second, o, all[i].third, found[0].algorithm,
                        &bytes));
    assert_int_equal(bytes, found[0].memory);
  }
  OK(cudnnGetConvolutionForwardAlgorithmMaxCount(handle, g));
  OK(cudnnGetConvolutionBackwardDataAlgorithmMaxCount(handle, g + 1));
  OK(cudnnGetConvolutionBackwardFilterAlgorithmMaxCount(handle, g + 2));
  assert_true(g[0] >= 1 && g[1] >= 1 && g[2] >= 1);
  OK(cudnnDestroyFilterDescriptor(w));
  OK(cudnnDestroyConvolutionDescriptor(o));
  free_tensor(&x);
  free_tensor(&y);
}

static void networks_and_losses(void** state) {
  (void)state;
  void *o = NULL, *dropout = NULL;
  unsigned flags = 7;
  OK(cudnnCreateRNNDescriptor(&o));
  OK(cudnnSetRNNDescriptor_v8(o, 0, 2, 2, 1, 0, F32, F32, 0, 5, 6, 4, 3, NULL, 1));
  OK(cudnnGetRNNDescriptor_v8(o, g, g + 1, g + 2, g + 3, g + 4, g + 5, g + 6, g + 7, g + 8, g + 9,
                              g + 10, g + 11, &dropout, &flags));
  GIVES(0, 2, 2, 1, 0, F32, F32, 0, 5, 6, 4, 3);
  assert_true(dropout == NULL && flags == 1);
  OK(cudnnRNNSetClip_v8(o, 1, 1, -2.5, 3.5));
  OK(cudnnRNNGetClip_v8(o, g, g + 1, d, d + 1));
  OK(cudnnRNNGetClip_v9(o, g + 2, d + 2, d + 3));
  GIVES(1, 1, 1);
  assert_true(d[0] == -2.5 && d[1] == 3.5 && d[2] == -2.5 && d[3] == 3.5);
  OK(cudnnDestroyRNNDescriptor(o));
  const int lengths[] = {3, 1, 2};
  float padding = 0.5f, got = 0;
  OK(cudnnCreateRNNDataDescriptor(&o));
  OK(cudnnSetRNNDataDescriptor(o, F32, 2, 4, 3, 5, lengths, &padding));
  OK(cudnnGetRNNDataDescriptor(o, g, g + 1, g + 2, g + 3, g + 4, 3, g + 5, &got));
  GIVES(F32, 2, 4, 3, 5, 3, 1, 2);
  assert_true(got == padding);
  OK(cudnnDestroyRNNDataDescriptor(o));
  OK(cudnnCreateCTCLossDescriptor(&o));
  OK(cudnnSetCTCLossDescriptor(o, F32));
  OK(cudnnGetCTCLossDescriptor(o, g));
  OK(cudnnGetCTCLossDescriptor_v9(o, g + 1, g + 2, g + 3, g + 4));
  GIVES(F32, F32, 0, 0, 0);
  OK(cudnnSetCTCLossDescriptorEx(o, F32, 1, 1));
  OK(cudnnGetCTCLossDescriptorEx(o, g, g + 1, g + 2));
  GIVES(F32, 1, 1);
  OK(cudnnSetCTCLossDescriptor_v8(o, F32, 1, 0, 99));
  OK(cudnnGetCTCLossDescriptor_v8(o, g, g + 1, g + 2, g + 3));
  GIVES(F32, 1, 0, 99);
  OK(cudnnDestroyCTCLossDescriptor(o));
}

static void dropouts(void** state) {
  (void)state;
  void *o = NULL, *states = NULL, *got = NULL;
  size_t bytes = 0;
  float share = 0;
  unsigned long long seed = 0;
  OK(cudnnDropoutGetStatesSize(handle, &bytes));
  OK(cudaMalloc(&states, bytes));
  OK(cudnnCreateDropoutDescriptor(&o));
  OK(cudnnSetDropoutDescriptor(o, handle, 0.25f, states, bytes, 1234));
  OK(cudnnGetDropoutDescriptor(o, handle, &share, &got, &seed));
  assert_true(share == 0.25f && got == states && seed == 1234);
  OK(cudnnRestoreDropoutDescriptor(o, handle, 0.5f, states, bytes, 77));
  OK(cudnnGetDropoutDescriptor(o, handle, &share, &got, &seed));
  assert_true(share == 0.5f && got == states && seed == 77);
  OK(cudaDeviceSynchronize());
  OK(cudnnDestroyDropoutDescriptor(o));
  OK(cudaFree(states));
}

static void versions_and_handles(void** state) {
  (void)state;
  void *got = NULL, *data = NULL, *function = NULL;
  cudaStream_t stream = NULL;
  unsigned mask = 0;
  for (int i = 0; i < 3; ++i) OK(cudnnGetProperty(i, g + i));
  assert_int_equal(cudnnGetVersion(), g[0] * 10000 + g[1] * 100 + g[2]);
  assert_int_equal(g[0], 9);
  assert_true(cudnnGetCudartVersion() >= 12000 && cudnnGetMaxDeviceVersion() >= 900);
  OK(cudnnGraphVersionCheck() | cudnnOpsVersionCheck() | cudnnCnnVersionCheck() |
     cudnnAdvVersionCheck() | cudnnSubquadraticOpsVersionCheck());
  assert_string_equal(cudnnGetErrorString(0), "CUDNN_STATUS_SUCCESS");
  assert_string_equal(cudnnGetErrorString(BAD_PARAM), "CUDNN_STATUS_BAD_PARAM");
  OK(cudaStreamCreate(&stream));
  OK(cudnnSetStream(handle, stream));
  OK(cudnnGetStream(handle, &got));
  assert_ptr_equal(got, stream);
  OK(cudnnQueryRuntimeError(handle, g, 2, NULL));
  GIVES(0);
  OK(cudnnSetStream(handle, NULL));
  OK(cudaStreamDestroy(stream));
  OK(cudnnSetCallback(7, &mask, (void*)(intptr_t)start));
  OK(cudnnGetCallback(&mask, &data, &function));
  assert_true(mask == 7 && data == &mask && function == (void*)(intptr_t)start);
  OK(cudnnSetCallback(0, NULL, NULL));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(tensors_and_filters),
      TEST(layers),
      TEST(windows),
      TEST(searches_find_an_algorithm),
      TEST(networks_and_losses),
      TEST(dropouts),
      TEST(versions_and_handles),
  };
  return cmocka_run_group_tests(tests, start, end);
}
