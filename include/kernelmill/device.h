/* Backends, devices and their properties.
 *
 * Example:
 *   km_device device;
 *   km_device_info info;
 *   info.struct_size = sizeof info;
 *   KM_CHECK(km_device_open("auto", &device));
 *   KM_CHECK(km_device_info_get(device, &info));
 *   printf("%s: %s, %u multiprocessors\n", info.uri, info.name, info.multiprocessor_count);
 *   KM_CHECK(km_device_destroy(device));
 */
#ifndef KERNELMILL_DEVICE_H
#define KERNELMILL_DEVICE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct km_backend_info {
  uint32_t struct_size;
  uint32_t device_count;
  km_status status; /* KM_SUCCESS: usable */
  uint32_t reserved;
  char name[32];    /* "cpu" */
  char reason[512]; /* why it is not usable */
} km_backend_info;
KM_CHECK_SIZE(km_backend_info, 560);

typedef struct km_device_info {
  uint32_t struct_size;
  uint32_t ordinal;
  char uri[32]; /* "cpu:0" */
  char backend[32];
  char name[128];
  uint64_t total_memory_bytes;
  uint32_t compute_capability_major, compute_capability_minor;
  uint32_t multiprocessor_count;
  uint32_t warp_size;
  uint32_t max_threads_per_block;
  uint32_t max_block_dim[3]; /* threads along x, y, z */
  uint32_t max_grid_dim[3];  /* blocks along x, y, z */
  uint32_t reserved;
  uint64_t shared_bytes_per_block;     /* without opting in */
  uint64_t shared_bytes_per_block_max; /* with KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES */
  uint64_t clock_rate_khz;             /* 0: unknown */
  uint64_t memory_clock_rate_khz;      /* 0: unknown */
  uint32_t memory_bus_width_bits;      /* 0: unknown */
  uint32_t threads;                    /* worker threads of a CPU device, otherwise 0 */
  char isa[32];                        /* "avx512", "avx2", "x86-64-v2"; "sm_90" */
} km_device_info;
KM_CHECK_SIZE(km_device_info, 328);

typedef int32_t km_device_attribute;
enum {
  KM_DEVICE_ATTRIBUTE_INVALID = 0,
  KM_DEVICE_ATTRIBUTE_WARP_SIZE = 1,
  KM_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 2,
  KM_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 3,
  KM_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 4,
  KM_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 5,
  KM_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 6,
  KM_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 7,
  KM_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 8,
  KM_DEVICE_ATTRIBUTE_SHARED_BYTES_PER_BLOCK = 9,
  KM_DEVICE_ATTRIBUTE_SHARED_BYTES_PER_BLOCK_MAX = 10,
  KM_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 11,
  KM_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 12,
  KM_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 13,
  KM_DEVICE_ATTRIBUTE_CLOCK_RATE_KHZ = 14,
  KM_DEVICE_ATTRIBUTE_MEMORY_BUS_WIDTH_BITS = 15,
  KM_DEVICE_ATTRIBUTE_UNIFIED_MEMORY = 16,        /* 1: device memory is host memory */
  KM_DEVICE_ATTRIBUTE_STREAM_PRIORITY_LEAST = 17, /* the largest value, which has the lowest
                                                   * priority */
  KM_DEVICE_ATTRIBUTE_STREAM_PRIORITY_GREATEST = 18,
  KM_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 19,
  KM_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 20,
  KM_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK = 21,
  KM_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_BYTES = 22,
  KM_DEVICE_ATTRIBUTE_L2_CACHE_BYTES = 23,
  /* CUDA's attributes begin here: KM_DEVICE_ATTRIBUTE_CUDA + n is CU_DEVICE_ATTRIBUTE number n, in
   * CUDA's unit. docs/reference/device-attributes.md. */
  KM_DEVICE_ATTRIBUTE_CUDA = 1000
};

typedef struct km_device_attribute_info {
  uint32_t struct_size;
  km_device_attribute attribute;
  int32_t cuda_attribute; /* CUDA's number of this attribute; 0: none */
  uint32_t reserved;
  char name[96]; /* CUDA's name without CU_DEVICE_ATTRIBUTE_ */
  char unit[16]; /* "bytes", "threads", "kHz", "flag" ... */
} km_device_attribute_info;
KM_CHECK_SIZE(km_device_attribute_info, 128);

typedef int32_t km_auto_outcome;
enum {
  KM_AUTO_INVALID = 0,
  KM_AUTO_CHOSEN = 1,
  KM_AUTO_REFUSED = 2,  /* it does not work on this machine */
  KM_AUTO_NOT_TRIED = 3 /* an earlier candidate was chosen, or KM_DEVICE names another one */
};

/* A backend as a candidate of "auto". */
typedef struct km_auto_candidate {
  uint32_t struct_size;
  km_auto_outcome outcome;
  km_status status; /* the reason of a refusal, otherwise KM_SUCCESS */
  uint32_t reserved;
  char uri[48]; /* "cuda:0" */
  char reason[512];
} km_auto_candidate;
KM_CHECK_SIZE(km_auto_candidate, 576);

/** The number of backends in this build, including those that are not usable here. */
KM_API km_status km_backend_count(uint32_t* out_count) KM_NOEXCEPT;

/** A backend's name, its number of devices and, if it is not usable, the reason. Set
 * `out_info->struct_size` first. Loads the backend on first use.
 * Blocking: no, but loading a backend takes milliseconds.
 * Status: KM_ERROR_INVALID_ARGUMENT when `index` is not below km_backend_count.
 */
KM_API km_status km_backend_info_get(uint32_t index, km_backend_info* out_info) KM_NOEXCEPT;

/** The number of devices of the backend of this name; with null, of all backends that are usable
 * here, without Vulkan's and OpenGL's, which are for those who name them. CUDA: cuDeviceGetCount.
 * Blocking: no, but loading a backend takes milliseconds.
 * Status: KM_ERROR_UNSUPPORTED_BACKEND when `backend` is "metal", "webgpu", "opengles" or "webgl2",
 *   and the message says why; KM_ERROR_BACKEND_UNAVAILABLE when there is no
 *   such backend or it does not work on this machine, as the message says;
 *   KM_ERROR_BUILD_MISMATCH when the backend's plugin comes from another build.
 */
KM_API km_status km_device_count(const char* backend, uint32_t* out_count) KM_NOEXCEPT;

/** Opens a device by its URI: "cpu" or "cpu:0", "cpu:1" ..., "vulkan:0", "opengl:0", or "auto": the
 * device that KM_DEVICE names, otherwise the first CUDA device that works, otherwise the CPU; the
 * log (KM_LOG=info) has the choice and its reason. The handle is the caller's, to be given to
 * km_device_destroy. CUDA: cuDeviceGet.
 * Blocking: no, but loading a backend takes milliseconds.
 * Status: KM_ERROR_INVALID_ARGUMENT when `uri` is null or no URI of this form;
 *   KM_ERROR_UNSUPPORTED_BACKEND when the URI names the backend "metal", "webgpu",
 *   "opengles" or "webgl2", and the message says why;
 *   KM_ERROR_BACKEND_UNAVAILABLE when there is no such backend or it does not work on this machine,
 *   as the message says; KM_ERROR_BUILD_MISMATCH when the backend's plugin comes from another
 *   build; KM_ERROR_NO_DEVICE when the backend has no device of this number.
 */
KM_API km_status km_device_open(const char* uri, km_device* out_device) KM_NOEXCEPT;

/** Drops the caller's handle. Contexts of the device keep it open. Null is fine. */
KM_API km_status km_device_destroy(km_device device) KM_NOEXCEPT;

/** The device's name, kind and limits. Set `out_info->struct_size` first. */
KM_API km_status km_device_info_get(km_device device, km_device_info* out_info) KM_NOEXCEPT;

/** One property of a device as a number. CUDA: cuDeviceGetAttribute.
 * Status: KM_ERROR_INVALID_ARGUMENT when `attribute` is not a device attribute;
 *   KM_ERROR_NOT_SUPPORTED when the device cannot tell.
 */
KM_API km_status km_device_attribute_get(km_device device, km_device_attribute attribute,
                                         int64_t* out_value) KM_NOEXCEPT;

/** The number of device attributes, including those of CUDA. */
KM_API km_status km_device_attribute_count(uint32_t* out_count) KM_NOEXCEPT;

/** Name, unit and CUDA's number of the attribute at `index`, from 0: those of this library first,
 * then CUDA's by their number. Set `out_info->struct_size` first.
 * Status: KM_ERROR_INVALID_ARGUMENT when `index` is not below km_device_attribute_count.
 */
KM_API km_status km_device_attribute_info_get(uint32_t index,
                                              km_device_attribute_info* out_info) KM_NOEXCEPT;

/** The number of backends that "auto" considers. */
KM_API km_status km_auto_candidate_count(uint32_t* out_count) KM_NOEXCEPT;

/** One candidate of "auto", as km_device_open would judge it now, without keeping a device open:
 * counted from 0 in the order of trying, with the reason why it is chosen, refused or not tried. If
 * KM_DEVICE names a device, only that one is tried. Set `out_candidate->struct_size` first.
 * Blocking: no, but loading a backend takes milliseconds.
 * Status: KM_ERROR_INVALID_ARGUMENT when `index` is not below km_auto_candidate_count.
 */
KM_API km_status km_auto_candidate_get(uint32_t index,
                                       km_auto_candidate* out_candidate) KM_NOEXCEPT;

/** Tells whether kernels of `device` can use memory of `peer` after km_context_enable_peer_access:
 * 1 or 0. A device is not a peer of itself. CUDA: cuDeviceCanAccessPeer. */
KM_API km_status km_device_can_access_peer(km_device device, km_device peer,
                                           uint32_t* out_can_access) KM_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
