/* The tests of the CUDA runtime share this. Include it first; it brings CMocka. Programs are built
 * for CUDA 13's library and for CUDA 12's, with CUDA 13's headers: what differs is left to
 * test_cuda12.c. */
#ifndef KM_TESTS_CUDART_SUPPORT_H
#define KM_TESTS_CUDART_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>

#define EXPECT(expected, call) expect_error((expected), (call), #call, __FILE__, __LINE__)
#define OK(call) EXPECT(cudaSuccess, call)
void expect_error(cudaError_t expected, cudaError_t given, const char* call, const char* file,
                  int line);

/* Functions that compilers' stubs call, as crt/host_runtime.h declares it. */
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, const char* symbol, char* function, const char* name,
                            int thread_limit, void* tid, void* bid, void* block, void* grid,
                            int* warp_size);
void __cudaRegisterVar(void** handle, char* symbol, char* address, const char* name, int is_extern,
                       size_t size_bytes, int is_constant, int is_global);
void __cudaRegisterManagedVar(void** handle, void** symbol, char* address, const char* name,
                              int is_extern, size_t size_bytes, int is_constant, int is_global);
char __cudaInitModule(void** handle);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, void* stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, void* stream);
cudaError_t __cudaGetKernel(cudaKernel_t* out, const void* symbol);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t shared_bytes, cudaStream_t stream);

/* A fat binary with one text in it, in the form that nvcc embeds. Never freed: programs have theirs
 * as long as they run. */
enum { FAT_PTX = 1, FAT_CUBIN = 2 };
void* make_fat_binary(const char* text, int kind, unsigned capability);
/* The wrapper that programs register: of one fat binary, or of `count` to be linked. */
void* wrap(void* fat_binary);
void* wrap_linked(void** fat_binaries, size_t count);
/* Registers a wrapper's kernels as nvcc's stubs do: each name stands for the symbol beside it. */
typedef struct symbol {
  const void* address;
  const char* name;
} symbol;
void** register_kernels(void* wrapper, const symbol* kernels, size_t count);

/* The kernels of kernels_ptx, registered before main(), by functions of the host like nvcc's:
 *   fill_index(u32* out, u32 base, u32 n), add_one(u32* data, u32 n),
 *   slow(volatile u32* flag, u32* out) waits until *flag is not 0 and then sets *out to 1,
 *   crash() traps, scaled(u32* out) stores factor * counter and adds 1 to counter and to total,
 *   shared_sum(u32* out) with `extern __shared__` */
extern const char kernels_ptx[];
void fill_index(void);
void add_one(void);
void slow(void);
void crash(void);
void scaled(void);
void shared_sum(void);
extern char factor[4];  /* __constant__ unsigned factor = 3 */
extern char counter[4]; /* __device__ unsigned counter = 7 */
extern void* total;     /* __managed__ unsigned total = 5: the place for its address */
extern void** kernels_handle;

dim3 dims(unsigned x, unsigned y, unsigned z);
/* fill_index on n elements. */
cudaError_t launch_fill(uint32_t* out, uint32_t base, uint32_t n, cudaStream_t stream);
cudaError_t launch_add(uint32_t* data, uint32_t n, cudaStream_t stream);
uint32_t read_u32(const uint32_t* device);
/* KM_TEST_NVIDIA=1: the driver is NVIDIA's. What it does otherwise by design is in
 * docs/guide/dropin.md. */
int on_nvidias_driver(void);
#define NOT_ON_NVIDIAS_DRIVER() \
  if (on_nvidias_driver()) skip()
/* Skips the test where there is one device only. */
#define NEEDS_TWO_DEVICES() \
  if (count_devices() < 2) skip()
int count_devices(void);

/* Every test begins with a device in use and without an error, and leaves none. */
int set_up(void** state);
int tear_down(void** state);
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

#endif
