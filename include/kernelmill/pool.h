/* Memory pools: stream-ordered allocations from memory that the pool keeps.
 *
 * Example:
 *   km_pool pool;
 *   km_slice scratch;
 *   KM_CHECK(km_pool_create(context, 1 << 20, &pool));
 *   for (int round = 0; round < 3; ++round) {
 *     KM_CHECK(km_pool_allocate_on_stream(pool, stream, 256, 4, KM_SLICE_DEFAULT, &scratch));
 *     KM_CHECK(km_slice_copy(stream, scratch, 0, x, 0, 1024));
 *     KM_CHECK(km_slice_destroy_on_stream(scratch, stream));
 *   }
 *   KM_CHECK(km_pool_destroy(pool));
 */
#ifndef KERNELMILL_POOL_H
#define KERNELMILL_POOL_H

#include "base.h"
#include "memory.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct km_pool_info {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t limit_bytes; /* 0: none */
  uint64_t release_threshold_bytes;
  uint64_t used_bytes, used_high_bytes;         /* blocks in use: now, and the maximum */
  uint64_t reserved_bytes, reserved_high_bytes; /* all blocks: now, and the maximum */
  uint64_t used_block_count;
  uint64_t allocation_count; /* since the pool was created */
  uint64_t reuse_count;      /* allocations that reused a block of the pool */
} km_pool_info;
KM_CHECK_SIZE(km_pool_info, 80);

/** A pool of device memory: blocks that are freed are kept and given out again, which costs much
 * less than an allocation from the device. A block has the size asked for rounded up by at most an
 * eighth (to multiples of 256 bytes) and serves only allocations of that size. The pool takes at
 * most `limit_bytes` from the device; 0: no limit. The handle is the caller's, to be given to
 * km_pool_destroy. CUDA: cuMemPoolCreate. */
KM_API km_status km_pool_create(km_context context, uint64_t limit_bytes,
                                km_pool* out_pool) KM_NOEXCEPT;

/** Drops the caller's handle. Free blocks go back to the device at once, those in use when they are
 * freed. Null is fine. CUDA: cuMemPoolDestroy. */
KM_API km_status km_pool_destroy(km_pool pool) KM_NOEXCEPT;

/** Allocates a slice from the pool, usable at once on every stream: only blocks that no work uses
 * any more are taken. It is a slice like any other; its block is free again when the slice, all its
 * views and all objects made from them are gone, so a view keeps its block from being reused. CUDA:
 * cuMemAllocFromPoolAsync and a wait.
 * Blocking: no, but KM_SLICE_ZEROED may wait if the host cannot access the device's memory.
 * Status: KM_ERROR_INVALID_ARGUMENT when `element_size_bytes` is 0, the size does not fit 64 bits,
 *   or `flags` has unknown bits; KM_ERROR_OUT_OF_DEVICE_MEMORY when the pool's limit or the
 *   device's memory is too small; the message has the sizes; KM_ERROR_NOT_PERMITTED when called
 *   inside a callback of this library with KM_SLICE_ZEROED; the sticky error.
 */
KM_API km_status km_pool_allocate(km_pool pool, uint64_t element_count, uint64_t element_size_bytes,
                                  km_slice_flags flags, km_slice* out_slice) KM_NOEXCEPT;

/** km_pool_allocate in stream order: the slice is usable by work that is queued in the stream
 * afterwards. A block whose last uses were on this stream is taken at once; a block that other
 * streams use, only when they are done. Give it back with km_slice_destroy_on_stream. CUDA:
 * cuMemAllocFromPoolAsync.
 * Status: KM_ERROR_INVALID_ARGUMENT when `element_size_bytes` is 0, the size does not fit 64 bits,
 *   or `flags` has unknown bits; KM_ERROR_OUT_OF_DEVICE_MEMORY when the pool's limit or the
 *   device's memory is too small; the message has the sizes; the sticky error.
 */
KM_API km_status km_pool_allocate_on_stream(km_pool pool, km_stream stream, uint64_t element_count,
                                            uint64_t element_size_bytes, km_slice_flags flags,
                                            km_slice* out_slice) KM_NOEXCEPT;

/** Sets how much memory the pool keeps: while it has more, free blocks go back to the device
 * whenever a block is freed; blocks that work still uses go back when that work is over, without a
 * further call. UINT64_MAX, the initial value: the pool keeps all of it. CUDA:
 * cuMemPoolSetAttribute with CU_MEMPOOL_ATTR_RELEASE_THRESHOLD. */
KM_API km_status km_pool_set_release_threshold(km_pool pool, uint64_t threshold_bytes) KM_NOEXCEPT;

/** Gives free blocks that no work uses any more back to the device, the largest first, until the
 * pool has at most `keep_bytes` or none are left. CUDA: cuMemPoolTrimTo. */
KM_API km_status km_pool_trim(km_pool pool, uint64_t keep_bytes) KM_NOEXCEPT;

/** The limit, sizes and counts of a pool. Set `out_info->struct_size` first. CUDA:
 * cuMemPoolGetAttribute. */
KM_API km_status km_pool_info_get(km_pool pool, km_pool_info* out_info) KM_NOEXCEPT;

/** Resets the high-water marks to the sizes that are used and reserved now. CUDA:
 * cuMemPoolSetAttribute with CU_MEMPOOL_ATTR_USED_MEM_HIGH and CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH.
 */
KM_API km_status km_pool_reset_high_water(km_pool pool) KM_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
