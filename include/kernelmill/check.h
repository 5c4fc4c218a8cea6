/* The checker: finds invalid accesses, reads of what nothing has written, races and wrong barriers
 * in the kernels of a context, and accesses of streams without an order. docs/guide/checker.md says
 * what each tool finds.
 *
 * Example:
 *   KM_CHECK(km_context_set_check(context, KM_CHECK_MEMORY | KM_CHECK_RACE, 0, NULL, NULL));
 *   KM_CHECK(km_stream_synchronize(stream));
 *   KM_CHECK(km_context_set_check(context, KM_CHECK_OFF, 0, NULL, NULL));
 */
#ifndef KERNELMILL_CHECK_H
#define KERNELMILL_CHECK_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The checker's tools, and what they also tell. */
typedef uint32_t km_check_flags;
enum {
  KM_CHECK_OFF = 0,
  KM_CHECK_MEMORY = 1,      /* accesses outside of allocations, misaligned ones, faults */
  KM_CHECK_INIT = 2,        /* reads of memory that nothing has written */
  KM_CHECK_RACE = 4,        /* accesses of two threads without an order */
  KM_CHECK_SYNC = 8,        /* wrong barriers and member masks, deadlocks */
  KM_CHECK_STREAMS = 16,    /* accesses of two streams without an order */
  KM_CHECK_LEAK = 32,       /* memory that is alive when the program ends */
  KM_CHECK_ALL = 255,       /* all tools, also those of later versions */
  KM_CHECK_SAME_VALUE = 256 /* races whose writes store one value are findings of "race" too */
};

enum { KM_FINDING_KIND_BYTES = 32, KM_FINDING_TEXT_BYTES = 512, KM_FINDING_ACCESS_BYTES = 64 };

/* One access, or the place of another event. A text that is empty and the number UINT32_MAX are
 * unknown. */
typedef struct km_finding_place {
  char access[64];  /* "write of 4 bytes"; of operations of streams with what made it */
  char source[512]; /* file of the source, or of the PTX text if no other is known */
  uint64_t line;    /* 0: unknown */
  uint32_t block[3], thread[3];
} km_finding_place;
KM_CHECK_SIZE(km_finding_place, 608);

/* A defect. Texts end with a zero, and are truncated if longer. */
typedef struct km_finding {
  uint32_t struct_size; /* the library's; a program reads the fields that it knows */
  km_check_flags tool;  /* one of the KM_CHECK_...; KM_CHECK_OFF: of KM_CHECK=explore=N */
  uint64_t count;       /* how often it was seen */
  uint64_t address, size_bytes;
  km_finding_place place, other; /* other: the earlier access of a race; its access may be empty */
  char kind[32];                 /* "write-read", "illegal-address" ... */
  char kernel[512];              /* as the source names it; for calls of the host their name */
  char message[512];             /* a sentence */
  char allocation[512];          /* where the address lies */
  char advice[512];              /* what to do; may be empty */
  /* The calls in whose place a compiler has put the code of both places, "a.cu:20", the innermost
   * first, each on a line of its own; empty if there are none. */
  char place_callers[512], other_callers[512];
} km_finding;
KM_CHECK_SIZE(km_finding, 4352);

/* Receives a finding, which is the library's and valid until the callback returns. */
typedef void (*km_finding_callback)(void* user_data, const km_finding* finding);

/** Selects the checker's tools for the context's kernels whose launches are queued from now on,
 * instead of those that the environment variable KM_CHECK names, with which contexts begin. Other
 * contexts keep theirs. Kernels get code of their own for the tools, which is compiled when they
 * are launched next; a launched graph keeps the code that it was made with. Memory that exists
 * counts as written for KM_CHECK_INIT. `callback` gets what is found instead of standard error: at
 * the end of a launch each of its findings, with the number of times that the launch had it, on any
 * thread, one call at a time; memory that kernels have left (KM_CHECK_LEAK) when the context is
 * reset or destroyed. In it, calls that may wait give KM_ERROR_NOT_PERMITTED. `limit` is
 * the most calls of the callback; 0: no limit. Null for `callback`: findings are printed on
 * standard error, equal ones once. `user_data` must stay valid until another callback is set or the
 * context is gone. KM_CHECK_STREAMS can be selected if KM_CHECK names that tool, because the order
 * of streams is followed from the first one on; KM_CHECK_ALL has it only then. CPU devices can do
 * that. CUDA: compute-sanitizer, which runs the whole program. Blocking: while the former callback
 * runs. Status: KM_ERROR_INVALID_ARGUMENT when `flags` has unknown bits; KM_ERROR_NOT_SUPPORTED
 * when the device has no checker, or does not follow streams; KM_ERROR_NOT_PERMITTED when called
 * inside a callback of this library.
 */
KM_API km_status km_context_set_check(km_context context, km_check_flags flags, uint64_t limit,
                                      km_finding_callback callback, void* user_data) KM_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
