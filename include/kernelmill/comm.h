/* Communicators: collective operations and messages among ranks, each of which has a device, in
 * threads and processes.
 *
 * Example:
 *   const km_array values = km_place(x, 0);
 *   km_comm_id id;
 *   km_comm comm;
 *   KM_CHECK(km_comm_id_create(context, &id));
 *   KM_CHECK(km_comm_create(context, &id, 1, 0, &comm));
 *   KM_CHECK(km_comm_all_reduce(comm, stream, &values, &values, 256, KM_ELEMENT_TYPE_F32,
 *                               KM_COMM_REDUCTION_SUM, NULL));
 *   KM_CHECK(km_stream_synchronize(stream));
 *   KM_CHECK(km_comm_destroy(comm));
 *
 * An operation is queued in a stream and returns at once; the memory that it uses is kept until it
 * is done. A captured operation becomes a node of the graph. All ranks of a communicator call the
 * same collective operations in the same order, with the same counts, types, reductions and roots;
 * each waits in its stream for the others. Operations of one communicator in several streams have
 * the order of their calls, except for captured ones.
 *
 * `count` is the number of elements of a block: the whole array, or the part of one rank in arrays
 * that have a part for each rank, in the order of ranks. Types are I8, U8, I32, U32, I64, U64, F16,
 * BF16, F32, F64, F8_E4M3 and F8_E5M2 of km_element_type. Arrays may be the same place (in place):
 * `send` and `receive`; where one has a block for each rank and the other has one block, the latter
 * is the rank's own block in the former. Otherwise they do not overlap. Arrays that a rank does not
 * use may be null. `stride` of the arrays is not used.
 *
 * Elements are reduced rank by rank, so results have the same bits in every run on CPUs. f16, bf16
 * and the types of 8 bits are added in f32 and rounded once; integers wrap around, and averages of
 * them are cut off. For minima and maxima a number wins against NaN.
 *
 * A rank that is gone, calls nothing for KM_COMM_TIMEOUT_S seconds, or calls something else ends
 * the communicator: its streams continue, with results that mean nothing, and km_comm_status and
 * later calls return KM_ERROR_IO with a text that names the ranks. km_context_reset waits for
 * operations that have begun; km_comm_abort ends them before.
 */
#ifndef KERNELMILL_COMM_H
#define KERNELMILL_COMM_H

#include "blas.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A handle, as those of base.h. */
#if defined(SWIG) || defined(KM_HANDLES_AS_U64)
#define KM_HANDLE(name) typedef uint64_t name
#else
#define KM_HANDLE(name) typedef struct name##_handle* name
#endif
KM_HANDLE(km_comm);
#undef KM_HANDLE

typedef int32_t km_comm_reduction;
enum {
  KM_COMM_REDUCTION_INVALID = 0,
  KM_COMM_REDUCTION_SUM = 1,
  KM_COMM_REDUCTION_PRODUCT = 2,
  KM_COMM_REDUCTION_MAX = 3,
  KM_COMM_REDUCTION_MIN = 4,
  KM_COMM_REDUCTION_AVERAGE = 5,
  KM_COMM_REDUCTION_SCALED_SUM = 6 /* each rank's elements are multiplied by its `scale` before */
};

typedef int32_t km_comm_engine;
enum {
  KM_COMM_ENGINE_INVALID = 0,
  KM_COMM_ENGINE_THREADS = 1,       /* all ranks in one process: direct copies */
  KM_COMM_ENGINE_SHARED_MEMORY = 2, /* processes of one machine: memory that they share */
  KM_COMM_ENGINE_NCCL = 3,          /* NVIDIA GPUs, in processes of several machines */
  KM_COMM_ENGINE_MPI = 4            /* processes that MPI has started, also on several machines */
};

/* A name by which the ranks of one communicator find each other: bytes that the program passes from
 * one rank to the others. Its layout never changes. */
typedef struct km_comm_id {
  uint8_t bytes[128];
} km_comm_id;
KM_CHECK_SIZE(km_comm_id, 128);

typedef struct km_comm_info {
  uint32_t struct_size;
  uint32_t rank, rank_count;
  km_comm_engine engine;
  char reason[240]; /* why this engine */
} km_comm_info;
KM_CHECK_SIZE(km_comm_info, 256);

/** Makes a name for one communicator of devices like the context's. The process that makes it runs
 * until all ranks have joined, and keeps two files open until then. CUDA: ncclGetUniqueId.
 * Status: KM_ERROR_NOT_SUPPORTED when the backend has no communicators; KM_ERROR_BLAS_UNAVAILABLE
 *   when it needs NCCL, which is not there; KM_ERROR_IO when the system refuses memory that
 *   processes share, or KM_COMM=mpi asks for MPI, which is not there.
 */
KM_API km_status km_comm_id_create(km_context context, km_comm_id* out_id) KM_NOEXCEPT;

/** Joins a communicator as rank `rank` of `rank_count`, with the context's device; several ranks
 * may use one device on CPUs. The handle is the caller's, to be given to km_comm_destroy. CUDA:
 * ncclCommInitRank.
 * Blocking: until all ranks have joined.
 * Status: KM_ERROR_INVALID_ARGUMENT when `id` is null or is not one that km_comm_id_create made,
 *   `rank` is not less than `rank_count`, `rank_count` is 0 or exceeds 4096, or KM_COMM_TIMEOUT_S
 *   is no number of seconds; KM_ERROR_IO when the id was used before, a rank does not join within
 *   KM_COMM_TIMEOUT_S, ends, joins twice, or has another `rank_count`, or the system refuses
 *   memory, files or threads (a rank maps 128 KiB for each pair); KM_ERROR_NOT_SUPPORTED
 *   when the backend has no communicators; KM_ERROR_NOT_PERMITTED in a callback; the sticky error.
 */
KM_API km_status km_comm_create(km_context context, const km_comm_id* id, uint32_t rank_count,
                                uint32_t rank, km_comm* out_comm) KM_NOEXCEPT;

/** Makes a communicator whose ranks are all in this process: rank i has the device of
 * `contexts[i]`, and the handle `out_comms[i]`, which is the caller's. CUDA: ncclCommInitAll.
 * Blocking: until the ranks have joined.
 * Status: KM_ERROR_INVALID_ARGUMENT when `contexts` is null, or `count` is 0 or exceeds 512;
 *   KM_ERROR_INVALID_HANDLE when one of `contexts` is not a live context; KM_ERROR_CONTEXT_MISMATCH
 *   when they are of several backends; KM_ERROR_IO when the system refuses memory, files or
 *   threads; KM_ERROR_NOT_SUPPORTED when the backend has no communicators; KM_ERROR_NOT_PERMITTED
 *   in a callback; the sticky error.
 */
KM_API km_status km_comm_create_all(const km_context* contexts, uint64_t count,
                                    km_comm* out_comms) KM_NOEXCEPT;

/** Joins a communicator of the ranks that give the same color, in the order of their keys, then of
 * their ranks. All ranks call it. A negative color joins none: the handle is null. CUDA:
 * ncclCommSplit.
 * Blocking: until all ranks have called it.
 * Status: KM_ERROR_IO when the communicator has failed, or the system refuses memory, files or
 *   threads; KM_ERROR_NOT_PERMITTED in a callback; the sticky error.
 */
KM_API km_status km_comm_split(km_comm comm, int32_t color, int32_t key,
                               km_comm* out_comm) KM_NOEXCEPT;

/** Drops the caller's handle; the rank leaves the communicator when its queued operations are done
 * and no graph has any. Ranks that wait for it later get KM_ERROR_IO. Null is fine. CUDA:
 * ncclCommDestroy. */
KM_API km_status km_comm_destroy(km_comm comm) KM_NOEXCEPT;

/** Ends the operations of all ranks, which have the failure that this rank aborted. CUDA:
 * ncclCommAbort. */
KM_API km_status km_comm_abort(km_comm comm) KM_NOEXCEPT;

/** Says if the communicator has failed, now or in work that was queued before. CUDA:
 * ncclCommGetAsyncError.
 * Status: KM_ERROR_IO when it has, with the reason as text.
 */
KM_API km_status km_comm_status(km_comm comm) KM_NOEXCEPT;

/** The rank's number, how many there are, and what carries the operations out. Set
 * `out_info->struct_size` first. CUDA: ncclCommUserRank, ncclCommCount. */
KM_API km_status km_comm_info_get(km_comm comm, km_comm_info* out_info) KM_NOEXCEPT;

/** Begins a group on this thread: operations are kept until km_comm_group_end, and then begin
 * together, so that none waits for another's turn. Messages that ranks exchange, and operations
 * that one thread calls for several ranks, need one. Groups nest; the outermost end counts. A
 * thread that ends drops its open group. CUDA: ncclGroupStart.
 * Status: KM_ERROR_NOT_PERMITTED in a callback. */
KM_API km_status km_comm_group_begin(void) KM_NOEXCEPT;

/** Ends a group and queues its operations: for each stream together, as one node in a capture.
 * Those of one communicator are in one stream. If a stream refuses its part after another has taken
 * its own, the group's communicators are aborted. CUDA: ncclGroupEnd.
 * Status: KM_ERROR_INVALID_ARGUMENT when a call of the group has failed, or a communicator has
 *   operations in several streams, and nothing is queued; KM_ERROR_NOT_PERMITTED when there is no
 *   group; KM_ERROR_IO when a communicator has failed; KM_ERROR_CONTEXT_LOST when a context was
 *   reset after the group's calls; the sticky error.
 */
KM_API km_status km_comm_group_end(void) KM_NOEXCEPT;

/** receive = the reduction of all ranks' `send`, on all ranks. `scale` is null, or for
 * KM_COMM_REDUCTION_SCALED_SUM the rank's factor, of `type`. CUDA: ncclAllReduce. */
KM_API km_status km_comm_all_reduce(km_comm comm, km_stream stream, const km_array* send,
                                    const km_array* receive, uint64_t count, km_element_type type,
                                    km_comm_reduction reduction, const void* scale) KM_NOEXCEPT;

/** receive of rank `root` = the reduction of all ranks' `send`. CUDA: ncclReduce. */
KM_API km_status km_comm_reduce(km_comm comm, km_stream stream, const km_array* send,
                                const km_array* receive, uint64_t count, km_element_type type,
                                km_comm_reduction reduction, const void* scale,
                                uint32_t root) KM_NOEXCEPT;

/** receive = the rank's block of the reduction of all ranks' `send`, which has a block for each
 * rank. CUDA: ncclReduceScatter. */
KM_API km_status km_comm_reduce_scatter(km_comm comm, km_stream stream, const km_array* send,
                                        const km_array* receive, uint64_t count,
                                        km_element_type type, km_comm_reduction reduction,
                                        const void* scale) KM_NOEXCEPT;

/** receive = `send` of rank `root`, on all ranks. CUDA: ncclBroadcast. */
KM_API km_status km_comm_broadcast(km_comm comm, km_stream stream, const km_array* send,
                                   const km_array* receive, uint64_t count, km_element_type type,
                                   uint32_t root) KM_NOEXCEPT;

/** receive = the blocks `send` of all ranks, on all ranks. CUDA: ncclAllGather. */
KM_API km_status km_comm_all_gather(km_comm comm, km_stream stream, const km_array* send,
                                    const km_array* receive, uint64_t count,
                                    km_element_type type) KM_NOEXCEPT;

/** Block j of `send` of rank i becomes block i of `receive` of rank j. CUDA: ncclAlltoAll. */
KM_API km_status km_comm_all_to_all(km_comm comm, km_stream stream, const km_array* send,
                                    const km_array* receive, uint64_t count,
                                    km_element_type type) KM_NOEXCEPT;

/** receive of rank `root` = the blocks `send` of all ranks. CUDA: ncclGather. */
KM_API km_status km_comm_gather(km_comm comm, km_stream stream, const km_array* send,
                                const km_array* receive, uint64_t count, km_element_type type,
                                uint32_t root) KM_NOEXCEPT;

/** receive = the rank's block of `send` of rank `root`. CUDA: ncclScatter. */
KM_API km_status km_comm_scatter(km_comm comm, km_stream stream, const km_array* send,
                                 const km_array* receive, uint64_t count, km_element_type type,
                                 uint32_t root) KM_NOEXCEPT;

/** Sends a message to rank `peer`, which receives the same number of bytes. Messages of two ranks
 * arrive in the order of their calls. CUDA: ncclSend. */
KM_API km_status km_comm_send(km_comm comm, km_stream stream, const km_array* send, uint64_t count,
                              km_element_type type, uint32_t peer) KM_NOEXCEPT;

/** Receives a message of rank `peer`. CUDA: ncclRecv. */
KM_API km_status km_comm_receive(km_comm comm, km_stream stream, const km_array* receive,
                                 uint64_t count, km_element_type type, uint32_t peer) KM_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
