/* Tracking: the live allocations with the stacks that made them, and the memory use over time.
 *
 * Example:
 *   km_slice weights;
 *   km_allocation_info first;
 *   uint64_t count;
 *   first.struct_size = sizeof first;
 *   KM_CHECK(km_context_set_tracking(context, KM_TRACKING_ON));
 *   KM_CHECK(km_slice_create(context, 1000, 4, KM_SLICE_DEFAULT, &weights));
 *   KM_CHECK(km_slice_set_tag(weights, "weights"));
 *   KM_CHECK(km_context_allocations(context, 1, &first, &count));
 *   printf("%u alive, the first is %s\n", (unsigned)count, first.tag);
 *   KM_CHECK(km_slice_destroy(weights));
 */
#ifndef KERNELMILL_TRACKING_H
#define KERNELMILL_TRACKING_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The way in which a tracked allocation was made. */
typedef int32_t km_allocation_kind;
enum {
  KM_ALLOCATION_UNKNOWN = 0,
  KM_ALLOCATION_DEVICE = 1,  /* km_slice_create and similar calls */
  KM_ALLOCATION_POOL = 2,    /* km_pool_allocate */
  KM_ALLOCATION_HOST = 3,    /* km_host_memory_create */
  KM_ALLOCATION_FOREIGN = 4, /* km_slice_from_host, km_host_memory_register */
  KM_ALLOCATION_FILE = 5     /* km_slice_map_file, km_host_memory_map_file */
};

typedef uint32_t km_tracking_flags;
enum { KM_TRACKING_OFF = 0, KM_TRACKING_ON = 1, KM_TRACKING_STACKS = 2 /* and the stacks */ };

enum { KM_ALLOCATION_FRAMES = 16, KM_ALLOCATION_TAG_BYTES = 64 };

typedef struct km_allocation_info {
  uint32_t struct_size;
  km_allocation_kind kind;
  uint64_t id; /* rises with each allocation of the context */
  uint64_t address, size_bytes;
  int64_t time_ns;      /* since the Unix epoch */
  uint32_t frame_count; /* frames of the stack; 0 without KM_TRACKING_STACKS */
  uint32_t reserved;
  uint64_t frames[16]; /* return addresses, the innermost first */
  char tag[64];        /* truncated if longer */
} km_allocation_info;
KM_CHECK_SIZE(km_allocation_info, 240);

/* The device memory that a context uses: its slices and the blocks that its pools have
 * allocated. */
typedef struct km_memory_profile {
  uint32_t struct_size;
  uint32_t is_running;
  uint64_t interval_ns;
  uint64_t sample_count;
  uint64_t used_bytes;                /* now, also without a profile */
  uint64_t peak_bytes, minimum_bytes; /* exact, not sampled */
  uint64_t mean_bytes;                /* mean of the samples */
  uint64_t allocation_count, free_count;
} km_memory_profile;
KM_CHECK_SIZE(km_memory_profile, 72);

/* A sample of a memory profile. Its layout never changes. */
typedef struct km_memory_sample {
  uint64_t time_ns; /* since the profile began */
  uint64_t used_bytes;
} km_memory_sample;
KM_CHECK_SIZE(km_memory_sample, 16);

/** Tracks later allocations of the context: KM_TRACKING_ON their size, time and tag,
 * KM_TRACKING_STACKS also the stack that made them. Allocations that are alive when the caller
 * destroys its last handle of the context, or at exit, are then logged as a warning (area
 * "memory"); without tracking, at level info.
 * Status: KM_ERROR_INVALID_ARGUMENT when `flags` has unknown bits.
 */
KM_API km_status km_context_set_tracking(km_context context, km_tracking_flags flags) KM_NOEXCEPT;

/** Names the allocation behind a slice, for listings and reports. The name is copied.
 * Status: KM_ERROR_INVALID_ARGUMENT when `tag` is null; KM_ERROR_NOT_FOUND when the allocation is
 *   not tracked.
 */
KM_API km_status km_slice_set_tag(km_slice slice, const char* tag) KM_NOEXCEPT;

/** The tracked allocations that are alive, in the order in which they were made: up to `capacity`;
 * `*out_count` is the number of all. Set the struct_size of the first structure, which holds for
 * all. Null for `out_allocations` and 0 for `capacity` only count.
 * Status: KM_ERROR_INVALID_ARGUMENT when `out_count` is null, `out_allocations` is null and
 *   `capacity` not 0, or the struct_size is below 4.
 */
KM_API km_status km_context_allocations(km_context context, uint64_t capacity,
                                        km_allocation_info* out_allocations,
                                        uint64_t* out_count) KM_NOEXCEPT;

/** The stack that made a tracked allocation, one line per frame, the innermost first, with names of
 * functions that the program exports; empty (size 1) without KM_TRACKING_STACKS.
 * Status: KM_ERROR_NOT_FOUND when no tracked allocation that is alive has this id.
 */
KM_API km_status km_context_allocation_stack(km_context context, uint64_t allocation_id,
                                             char* buffer, uint64_t capacity_bytes,
                                             uint64_t* out_size_bytes) KM_NOEXCEPT;

/** Samples the device memory that the context uses every `interval_ns`, on a thread of the library,
 * until the profile is stopped. The results of an earlier profile are discarded.
 * Status: KM_ERROR_INVALID_ARGUMENT when `interval_ns` is 0; KM_ERROR_NOT_PERMITTED when a profile
 *   of the context runs already.
 */
KM_API km_status km_context_start_memory_profile(km_context context,
                                                 uint64_t interval_ns) KM_NOEXCEPT;

/** Ends the profile and keeps its results. The call is fine if none runs.
 * Blocking: until the sampling thread has ended, at most some microseconds.
 */
KM_API km_status km_context_stop_memory_profile(km_context context) KM_NOEXCEPT;

/** The results of the running or last profile: peak, minimum, mean, number of samples. Set
 * `out_profile->struct_size` first. */
KM_API km_status km_context_memory_profile(km_context context,
                                           km_memory_profile* out_profile) KM_NOEXCEPT;

/** The samples, up to `capacity`; `*out_count` is the number of all. At most 65536 are kept: beyond
 * that, every second one is dropped and the interval doubles. Null for `out_samples` and 0 for
 * `capacity` only count.
 * Status: KM_ERROR_INVALID_ARGUMENT when `out_count` is null, or `out_samples` is null and
 *   `capacity` not 0.
 */
KM_API km_status km_context_memory_samples(km_context context, uint64_t capacity,
                                           km_memory_sample* out_samples,
                                           uint64_t* out_count) KM_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
