/* Profiles: the start and duration of each operation. docs/guide/profiling.md is the guide.
 *
 * Example:
 *   char table[4096];
 *   KM_CHECK(km_profiler_start(context));
 *   KM_CHECK(km_profiler_range_push(context, "fills"));
 *   for (int i = 0; i < 10; ++i) KM_CHECK(km_slice_fill_u32(stream, x, 0, 0, 256));
 *   KM_CHECK(km_stream_synchronize(stream));
 *   KM_CHECK(km_profiler_range_pop(context));
 *   KM_CHECK(km_profiler_stop(context));
 *   KM_CHECK(km_profiler_summary(context, table, sizeof table, NULL));
 *   printf("%s", table);
 *   KM_CHECK(km_profiler_write(context, "trace.json"));
 */
#ifndef KERNELMILL_PROFILER_H
#define KERNELMILL_PROFILER_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t km_profile_kind;
enum {
  KM_PROFILE_KIND_INVALID = 0,
  KM_PROFILE_KIND_KERNEL = 1,
  KM_PROFILE_KIND_COPY = 2, /* within the device */
  KM_PROFILE_KIND_UPLOAD = 3,
  KM_PROFILE_KIND_DOWNLOAD = 4,
  KM_PROFILE_KIND_FILL = 5,
  KM_PROFILE_KIND_CALLBACK = 6,
  KM_PROFILE_KIND_RANGE = 7, /* a range of the host, like the kinds that follow */
  KM_PROFILE_KIND_WAIT = 8
};

/* All work of one kind and name. */
typedef struct km_profile_row {
  uint32_t struct_size;
  km_profile_kind kind;
  char name[128]; /* name of the kernel or range; truncated if longer */
  uint64_t count;
  uint64_t total_ns, min_ns, max_ns;
  uint64_t size_bytes;            /* moved by copies and fills, or set by km_profiler_set_work */
  uint64_t operations;            /* set by km_profiler_set_work */
  uint64_t bytes_per_second;      /* while the work ran */
  uint64_t operations_per_second; /* while the work ran */
  uint32_t occupancy_percent;     /* mean share of the device's threads that took part */
  uint32_t reserved;
} km_profile_row;
KM_CHECK_SIZE(km_profile_row, 208);

/* An event of warps that counters count: accesses to memory by one instruction, conditional
 * branches with jump tables, and instructions of the PTX text. */
typedef int32_t km_counter_kind;
enum {
  KM_COUNTER_KIND_INVALID = 0,
  KM_COUNTER_KIND_GLOBAL_LOAD = 1,
  KM_COUNTER_KIND_GLOBAL_STORE = 2,
  KM_COUNTER_KIND_GLOBAL_ATOMIC = 3,
  KM_COUNTER_KIND_SHARED_LOAD = 4,
  KM_COUNTER_KIND_SHARED_STORE = 5,
  KM_COUNTER_KIND_SHARED_ATOMIC = 6,
  KM_COUNTER_KIND_BRANCH = 7,
  KM_COUNTER_KIND_INSTRUCTION = 8
};

/* The events of one kind in all of a kernel, or at one line of its source. The sectors per request
 * of global memory are taken / requests, the bank conflicts of shared memory taken - ideal, the
 * divergent branches taken, and the active threads per warp threads / requests. */
typedef struct km_profile_counter {
  uint32_t struct_size;
  km_counter_kind kind;
  uint64_t requests; /* executions by warps with at least one active thread */
  uint64_t threads;  /* active threads of all requests together */
  uint64_t taken;    /* sectors of global memory, wavefronts of shared memory, divergent branches */
  uint64_t ideal;    /* sectors or wavefronts that the same data would take in the best order */
  uint64_t line;     /* line of the source; 0: unknown */
  uint32_t is_total; /* 1: all of the kernel, without a source and a line */
  uint32_t reserved;
  char source[512]; /* file of the source; empty: unknown; truncated if longer */
} km_profile_counter;
KM_CHECK_SIZE(km_profile_counter, 568);

/** Starts recording the context's work: kernels, copies, fills and callbacks with their times on
 * the device, the host's ranges and waits, and the memory in use. Starting twice is fine.
 * `KM_TRACE` records all contexts of a program. CUDA: cuProfilerStart; the times come from events
 * around each operation.
 * Status: KM_ERROR_NOT_SUPPORTED when the backend records no times.
 */
KM_API km_status km_profiler_start(km_context context) KM_NOEXCEPT;

/** Stops recording. The records are kept. CUDA: cuProfilerStop. */
KM_API km_status km_profiler_stop(km_context context) KM_NOEXCEPT;

/** Discards the records. */
KM_API km_status km_profiler_clear(km_context context) KM_NOEXCEPT;

/** Begins a range of the calling thread, up to km_profiler_range_pop; ranges nest. Without a
 * recording, the range is not kept. CUDA: nvtxRangePush.
 * Status: KM_ERROR_INVALID_ARGUMENT when `name` is null.
 */
KM_API km_status km_profiler_range_push(km_context context, const char* name) KM_NOEXCEPT;

/** Ends the calling thread's innermost open range. CUDA: nvtxRangePop.
 * Status: KM_ERROR_NOT_FOUND when this thread has no open range of the context.
 */
KM_API km_status km_profiler_range_pop(km_context context) KM_NOEXCEPT;

/** Begins a range that any thread may end, by the range's number, which this call returns. CUDA:
 * nvtxRangeStart.
 * Status: KM_ERROR_INVALID_ARGUMENT when `name` is null.
 */
KM_API km_status km_profiler_range_start(km_context context, const char* name,
                                         uint64_t* out_range) KM_NOEXCEPT;

/** Ends a range; it counts for the thread that ends it. CUDA: nvtxRangeEnd.
 * Status: KM_ERROR_NOT_FOUND when there is no open range of this number.
 */
KM_API km_status km_profiler_range_end(km_context context, uint64_t range) KM_NOEXCEPT;

/** Sets the number of operations and of bytes of memory traffic that each later launch of a kernel
 * counts as. Throughputs are computed from them. */
KM_API km_status km_profiler_set_work(km_function function, uint64_t operations,
                                      uint64_t size_bytes) KM_NOEXCEPT;

/** The number of rows: distinct kinds and names of recorded work that is complete. Synchronise
 * first to have all. The rows change while work is running. */
KM_API km_status km_profiler_row_count(km_context context, uint32_t* out_count) KM_NOEXCEPT;

/** One row, from 0: work of the device by decreasing total time, then ranges and waits of the host.
 * Set `out_row->struct_size` first.
 * Status: KM_ERROR_INVALID_ARGUMENT when `index` is not below km_profiler_row_count.
 */
KM_API km_status km_profiler_row_get(km_context context, uint32_t index,
                                     km_profile_row* out_row) KM_NOEXCEPT;

/** Sets whether the warps of the context's kernels are counted from the next launch on: 1 or 0. At
 * first it is what the environment variable `KM_COUNTERS` says. Counted kernels have code of their
 * own, which takes longer; profiles have the counters of launches that are recorded, too.
 *
 * Example:
 *   KM_CHECK(km_profiler_set_counters(context, 1));
 *   KM_CHECK(km_profiler_start(context));
 *   // Launches of kernels and km_stream_synchronize.
 *   KM_CHECK(km_profiler_stop(context));
 *   KM_CHECK(km_profiler_set_counters(context, 0));
 *   KM_CHECK(km_profiler_summary(context, table, sizeof table, NULL));
 * Status: KM_ERROR_INVALID_ARGUMENT when `enabled` is neither 0 nor 1; KM_ERROR_NOT_SUPPORTED when
 *   it is 1 and the device has no counters: only CPU devices have.
 */
KM_API km_status km_profiler_set_counters(km_context context, uint32_t enabled) KM_NOEXCEPT;

/** The number of counters of a row: of the kernels of CPU devices whose warps were counted
 * (km_profiler_set_counters); 0 for other rows. docs/guide/profiling.md says what they mean. CUDA:
 * metrics of Nsight Compute.
 * Status: KM_ERROR_INVALID_ARGUMENT when `row` is not below km_profiler_row_count.
 */
KM_API km_status km_profiler_counter_count(km_context context, uint32_t row,
                                           uint32_t* out_count) KM_NOEXCEPT;

/** One counter of a row, from 0: first the totals of the kernel, one for each kind that occurs,
 * then the counters of the lines of its source. Set `out_counter->struct_size` first.
 *
 * Example:
 *   km_profile_counter counter = {.struct_size = sizeof counter};
 *   KM_CHECK(km_profiler_counter_count(context, row, &count));
 *   for (uint32_t i = 0; i < count; ++i) {
 *     KM_CHECK(km_profiler_counter_get(context, row, i, &counter));
 *     if (counter.is_total && counter.kind == KM_COUNTER_KIND_SHARED_LOAD)
 *       printf("bank conflicts of loads: %llu\n",
 *              (unsigned long long)(counter.taken - counter.ideal));
 *   }
 * Status: KM_ERROR_INVALID_ARGUMENT when `row` is not below km_profiler_row_count, or `index` not
 *   below km_profiler_counter_count.
 */
KM_API km_status km_profiler_counter_get(km_context context, uint32_t row, uint32_t index,
                                         km_profile_counter* out_counter) KM_NOEXCEPT;

/** The rows as a text table. */
KM_API km_status km_profiler_summary(km_context context, char* buffer, uint64_t capacity_bytes,
                                     uint64_t* out_size_bytes) KM_NOEXCEPT;

/** Writes the records to a file, replacing its contents: a trace in Chrome's format, which
 * ui.perfetto.dev and chrome://tracing open, with a track for each stream and each thread of the
 * host, and the memory in use; or, if the name ends with .html, a self-contained report of tables
 * and plots. A trace has the first million events, the table all of them.
 * Blocking: while the file is written.
 * Status: KM_ERROR_INVALID_ARGUMENT when `path` is null or empty; KM_ERROR_IO when the file cannot
 *   be written, with the reason.
 */
KM_API km_status km_profiler_write(km_context context, const char* path) KM_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
