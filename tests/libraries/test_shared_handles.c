/* Handles that one library takes of another: streams and events of the driver and the runtime are
 * everybody's, handles of cuBLAS and generators of cuRAND their own library's, and devices of NVML
 * are found by what the runtime says of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <cuda.h>
#include <cuda_runtime_api.h>

int curandCreateGenerator(void**, int);
int curandDestroyGenerator(void*);
int curandSetStream(void*, void*);
int curandGenerateSeeds(void*);
int curandGenerate(void*, unsigned*, size_t);

typedef struct cublasContext* cublasHandle_t;
int cublasCreate_v2(cublasHandle_t*);
int cublasDestroy_v2(cublasHandle_t);
int cublasSetStream_v2(cublasHandle_t, void*);
int cublasGetStream_v2(cublasHandle_t, void**);
int cublasSscal_v2(cublasHandle_t, int, const float*, float*, int);

typedef struct nvmlDevice_st* nvmlDevice_t;
int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetIndex(nvmlDevice_t, unsigned*);
int nvmlDeviceGetHandleByUUID(const char*, nvmlDevice_t*);
int nvmlDeviceGetHandleByPciBusId_v2(const char*, nvmlDevice_t*);
int nvmlDeviceGetName(nvmlDevice_t, char*, unsigned);

enum { XORWOW = 101, COUNT = 1000, BLAS_NOT_INITIALIZED = 1, RAND_NOT_INITIALIZED = 101 };
enum { NVML_INVALID = 2 };

static void* managed(size_t size_bytes) {
  void* memory = NULL;
  assert_int_equal(cudaMallocManaged(&memory, size_bytes, cudaMemAttachGlobal), 0);
  return memory;
}

/* One stream of the driver, which waits for a value, holds the work of all libraries back. */
static void a_stream_of_the_driver_is_every_library_s(void** state) {
  (void)state;
  const float two = 2;
  CUstream stream;
  void* found = NULL;
  cublasHandle_t blas;
  void* numbers;
  float* x = managed(sizeof(float));
  unsigned* flag = NULL;
  unsigned* words = managed(COUNT * sizeof(unsigned));
  assert_int_equal(cudaMallocHost((void**)&flag, sizeof(unsigned)), 0);
  assert_int_equal(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), 0);
  assert_int_equal(cublasCreate_v2(&blas), 0);
  assert_int_equal(curandCreateGenerator(&numbers, XORWOW), 0);
  assert_int_equal(cublasSetStream_v2(blas, stream), 0);
  assert_int_equal(cublasGetStream_v2(blas, &found), 0);
  assert_ptr_equal(found, stream);
  assert_int_equal(curandSetStream(numbers, stream), 0);
  assert_int_equal(curandGenerateSeeds(numbers), 0); /* which waits for the stream */
  *x = 21, *flag = 0, words[COUNT - 1] = 0;
  assert_int_equal(cuStreamWaitValue32(stream, (CUdeviceptr)(uintptr_t)flag, 1, 0), 0);
  assert_int_equal(cublasSscal_v2(blas, 1, &two, x, 1), 0);
  assert_int_equal(curandGenerate(numbers, words, COUNT), 0);
  assert_int_equal(cudaStreamQuery(stream), cudaErrorNotReady);
  assert_true(*(volatile float*)x == 21 && *(volatile unsigned*)&words[COUNT - 1] == 0);
  *(volatile unsigned*)flag = 1;
  assert_int_equal(cudaStreamSynchronize(stream), 0);
  assert_true(*x == 42 && words[COUNT - 1] != 0);
  assert_int_equal(curandDestroyGenerator(numbers), 0);
  assert_int_equal(cublasDestroy_v2(blas), 0);
  assert_int_equal(cudaStreamDestroy(stream), 0);
  assert_int_equal(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
  assert_int_equal(cudaFree(x) | cudaFreeHost(flag) | cudaFree(words), 0);
}

static void events_are_driver_s_and_runtime_s_alike(void** state) {
  (void)state;
  cudaEvent_t begin;
  CUevent end;
  cudaStream_t stream;
  float elapsed_ms = -1;
  assert_int_equal(cudaStreamCreate(&stream), 0);
  assert_int_equal(cudaEventCreate(&begin), 0);
  assert_int_equal(cuEventCreate(&end, CU_EVENT_DEFAULT), 0);
  assert_int_equal(cuEventRecord(begin, stream), 0);
  assert_int_equal(cudaEventRecord(end, stream), 0);
  assert_int_equal(cuStreamWaitEvent(stream, begin, 0), 0);
  assert_int_equal(cudaStreamWaitEvent(stream, end, 0), 0);
  assert_int_equal(cudaEventSynchronize(end), 0);
  assert_int_equal(cudaEventElapsedTime(&elapsed_ms, begin, end), 0);
  assert_true(elapsed_ms >= 0);
  assert_int_equal(cuEventDestroy(begin), 0);
  assert_int_equal(cudaEventDestroy(end), 0);
  assert_int_equal(cudaEventQuery(begin), cudaErrorInvalidResourceHandle);
  assert_int_equal(cuEventQuery(end), CUDA_ERROR_INVALID_HANDLE);
  assert_int_equal(cudaStreamDestroy(stream), 0);
}

/* A number that is no stream is refused as one, and handles of one library by the other. */
static void other_handles_are_refused(void** state) {
  (void)state;
  const float two = 2;
  float* x = managed(sizeof(float));
  unsigned* words = managed(COUNT * sizeof(unsigned));
  cublasHandle_t blas;
  void* numbers;
  cudaEvent_t event;
  *x = 1, words[COUNT - 1] = 0;
  assert_int_equal(cudaEventCreate(&event), 0);
  assert_int_equal(cublasCreate_v2(&blas), 0);
  assert_int_equal(curandCreateGenerator(&numbers, XORWOW), 0);
  assert_int_equal(cublasSscal_v2(numbers, 1, &two, x, 1), BLAS_NOT_INITIALIZED);
  assert_int_equal(cublasDestroy_v2(numbers), BLAS_NOT_INITIALIZED);
  assert_int_equal(curandGenerate(blas, words, COUNT), RAND_NOT_INITIALIZED);
  assert_int_equal(curandDestroyGenerator(blas), RAND_NOT_INITIALIZED);
  void* const wrong[] = {event, numbers, blas};
  for (int i = 0; i < 3; ++i) {
    cublasSetStream_v2(blas, wrong[i]); /* as NVIDIA's, it may leave the check to what is queued */
    assert_int_not_equal(cublasSscal_v2(blas, 1, &two, x, 1), 0);
    curandSetStream(numbers, wrong[i]);
    assert_int_not_equal(curandGenerate(numbers, words, COUNT), 0);
  }
  assert_int_equal(cublasSetStream_v2(blas, NULL) | curandSetStream(numbers, NULL), 0);
  assert_int_equal(cublasSscal_v2(blas, 1, &two, x, 1), 0);
  assert_int_equal(curandGenerate(numbers, words, COUNT), 0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  assert_true(*x == 2 && words[COUNT - 1] != 0);
  assert_int_equal(cudaStreamQuery((cudaStream_t)blas), cudaErrorInvalidResourceHandle);
  assert_int_equal(cuEventQuery((CUevent)numbers), CUDA_ERROR_INVALID_HANDLE);
  assert_int_equal(cublasDestroy_v2(blas), 0);
  assert_int_equal(curandDestroyGenerator(numbers), 0);
  assert_int_equal(cudaEventDestroy(event), 0);
  assert_int_equal(cudaFree(x) | cudaFree(words), 0);
}

static void nvml_finds_the_runtime_s_devices(void** state) {
  (void)state;
  assert_int_equal(nvmlInit_v2(), 0);
  for (int device = 0; device < 2; ++device) {
    struct cudaDeviceProp properties;
    char uuid[41], bus_id[20];
    unsigned index = 9;
    nvmlDevice_t found;
    assert_int_equal(cudaGetDeviceProperties(&properties, device), 0);
    int size = snprintf(uuid, sizeof uuid, "GPU-");
    for (int i = 0; i < 16; ++i) {
      const int dash = i == 4 || i == 6 || i == 8 || i == 10;
      size += snprintf(uuid + size, sizeof uuid - (size_t)size, "%s%02x", dash ? "-" : "",
                       (unsigned)(unsigned char)properties.uuid.bytes[i]);
    }
    assert_int_equal(nvmlDeviceGetHandleByUUID(uuid, &found), 0);
    assert_int_equal(nvmlDeviceGetIndex(found, &index), 0);
    assert_int_equal(index, device);
    assert_int_equal(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, device), 0);
    assert_int_equal(nvmlDeviceGetHandleByPciBusId_v2(bus_id, &found), 0);
    assert_int_equal(nvmlDeviceGetIndex(found, &index), 0);
    assert_int_equal(index, device);
  }
  char name[80];
  cudaStream_t stream;
  assert_int_equal(cudaStreamCreate(&stream), 0);
  assert_int_equal(nvmlDeviceGetName((nvmlDevice_t)stream, name, sizeof name), NVML_INVALID);
  assert_int_equal(cudaStreamDestroy(stream), 0);
  assert_int_equal(nvmlShutdown(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_stream_of_the_driver_is_every_library_s),
      cmocka_unit_test(events_are_driver_s_and_runtime_s_alike),
      cmocka_unit_test(other_handles_are_refused),
      cmocka_unit_test(nvml_finds_the_runtime_s_devices),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
