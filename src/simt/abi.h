// The data layouts that generated code and the runtime share. Generated code accesses them at fixed
// offsets (static_asserts below), so they must be changed together with codegen/.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/arch/attributes.h"

namespace km::simt {

constexpr uint32_t kWarpLanes = 32;
constexpr uint32_t kMaxBlockThreads = 1024;
/// The number of the barrier for barrier.cluster, after the numbered ones.
constexpr uint32_t kClusterBarrier = 16;

struct LaunchRecord;
struct BlockState;
struct IndependentWarp;
struct MmaForm;
class Schedule;

/// The reason why generated code asks the runtime to end the launch.
enum class FaultKind : uint32_t {
  none = 0,
  trap = 1,
  misaligned = 2,
  illegal_address = 3,  // found by a software check, not by a signal
  assertion = 4,
  stopped = 5,
  stack_overflow = 6,
  no_function = 7,  // a call through a pointer that holds no function
};

/// One of the accesses that checked code tests together.
struct AccessPart {
  int64_t offset_bytes;  // offset from the lane's address
  uint16_t size_bytes;
  uint16_t held_bytes;  // from the first on, that must lie in an allocation
  uint32_t line;        // line in the PTX text
};

/// The site of an access in the code. Generated code passes it by value, in one register.
struct AccessSite {
  uint32_t line;  // line in the PTX text
  uint16_t size_bytes;
  int16_t step_bytes;  // distance between adjacent lanes' addresses
};

/// Functions that generated code calls through LaunchRecord::runtime, because objects have no
/// undefined symbols. The calling convention is SysV's. `thread` is the linear thread index in its
/// block.
struct RuntimeTable {
  /// Ends the launch with a fault of the instruction in this line. It never returns.
  void (*raise)(BlockState*, FaultKind kind, uint64_t address, uint64_t size_bytes, uint32_t thread,
                uint32_t line);
  /// Device printf of one thread; `arguments` has the layout of CUDA's vprintf. Returns the number
  /// of arguments.
  int32_t (*print)(const LaunchRecord*, BlockState*, const char* format, const void* arguments,
                   uint32_t thread);
  /// malloc of one thread, in the context's heap for kernels; returns 0 if there is no room.
  uint64_t (*allocate)(const LaunchRecord*, BlockState*, uint64_t size_bytes);
  /// free of one thread; an address that is neither 0 nor from allocate ends the launch.
  void (*release)(const LaunchRecord*, BlockState*, uint64_t address, uint32_t thread);
  /// __assertfail of one thread, whose code does nothing afterwards: in mode a nothing for the rest
  /// of its packet, and with BlockState::abandoned nothing for its block after this region.
  void (*assert_fail)(const LaunchRecord*, BlockState*, const char* message, const char* file,
                      uint32_t line, const char* function, uint32_t thread);
  /// Mode b: the calling warp arrives at barrier `id` and is suspended until `thread_count`
  /// threads (0: all of the block) have arrived. `arriving` is the number of live lanes.
  void (*barrier_wait)(const LaunchRecord*, BlockState*, uint32_t id, uint32_t thread_count,
                       uint32_t arriving);
  /// bar.arrive: counts the threads without waiting.
  void (*barrier_arrive)(const LaunchRecord*, BlockState*, uint32_t id, uint32_t thread_count,
                         uint32_t arriving);
  /// bar.red: waits like barrier_wait; returns the number of threads of the block whose predicate
  /// was true, given `predicate_count` of each arrived warp (comparing with 0 and the thread count
  /// gives .or and .and).
  uint32_t (*barrier_reduce)(const LaunchRecord*, BlockState*, uint32_t id, uint32_t thread_count,
                             uint32_t arriving, uint32_t predicate_count);
  /// Modes a and b, in a loop that waits for memory to change: lets other warps of the block, and
  /// other blocks, run. In mode a the runtime calls the code for each block of such a kernel
  /// separately.
  void (*yield)(const LaunchRecord*, BlockState*);
  /// The value of %globaltimer.
  uint64_t (*time_ns)();
  void (*sleep_ns)(const LaunchRecord*, BlockState*, uint32_t duration_ns);
  /// Checked code calls this if accesses are outside of the range that their site used last. Every
  /// lane of `lanes` may make all accesses from its address, otherwise the first invalid access
  /// ends the launch. Returns a range for the next time: accesses of `extent_bytes` are valid if
  /// they start at out_range[0] to out_range[0] + out_range[1].
  void (*check_range)(const LaunchRecord*, BlockState*, const uint64_t* addresses, uint32_t lanes,
                      const AccessPart* parts, uint32_t part_count, uint64_t extent_bytes,
                      uint64_t* out_range);
  /// Like check_range(), for accesses whose sizes differ between lanes; out_range is the whole
  /// valid range found last, as begin and size.
  void (*check_sizes)(const LaunchRecord*, BlockState*, const uint64_t* addresses,
                      const uint64_t* sizes, uint32_t lanes, uint32_t line, uint64_t* out_range);
  /// Mode c (runtime/independent_warp.h): selects the lanes that run next and their position. The
  /// low half of the result has the lanes, the high half the state; without lanes, the entry
  /// returns the high half, an IndependentStatus.
  uint64_t (*independent_next)(IndependentWarp*);
  /// Mode c: `lanes` wait in warp operation `operation` until its members have arrived, and resume
  /// in `state`. Their IndependentWarp::members and ::sent must be set.
  void (*independent_sync)(IndependentWarp*, uint32_t lanes, uint32_t operation, uint32_t state);
  /// Mode c: `lanes` arrive at barrier `id`; `predicates` has those with a true predicate. If
  /// `waits` is set, they resume in `state` after `thread_count` threads (0: all) have arrived,
  /// with the number of true predicates in IndependentWarp::participants.
  void (*independent_barrier)(const LaunchRecord*, BlockState*, IndependentWarp*, uint32_t lanes,
                              uint32_t id, uint32_t thread_count, uint32_t predicates,
                              uint32_t waits, uint32_t state);
  /// D = A * B + C of a warp (runtime/mma.h). `places` has the position in `fragments` of each
  /// register of A, B, C and the metadata, and of the first one of D.
  void (*mma)(const LaunchRecord*, BlockState*, const MmaForm* form, const uint32_t* places,
              uint8_t* fragments);
  /// Copies elements of 1, 2, 4 or 8 bytes, contiguous from lane 0 on, of some lanes to or from an
  /// array with all lanes' elements. The functions preserve all registers.
  KM_KEEPING_CALL void (*load_lanes)(BlockState*, uint64_t address, uint32_t lanes, AccessSite site,
                                     void* elements);
  KM_KEEPING_CALL void (*store_lanes)(BlockState*, uint64_t address, uint32_t lanes,
                                      AccessSite site, const void* elements);
  /// Ends the launch, because the address of the lowest of `lanes` is misaligned. `address` is lane
  /// 0's if the site has a step, otherwise that lane's own. It never returns.
  void (*misaligned)(BlockState*, uint64_t address, uint32_t lanes, AccessSite site);
  /// Called when an addition of `size_bytes` at `address` brings BlockState::privatize_countdown to
  /// 0: later additions to the allocation around it are privatised, if it is small.
  void (*privatize_atomics)(BlockState*, uint64_t address, uint32_t size_bytes);
  /// Called before the kernel accesses memory with privatised additions: adds them to memory, and
  /// stops privatising for the rest of the launch.
  void (*flush_privatized)(BlockState*, uint32_t line);
};

/// One launch, shared by all workers; constant while it runs.
struct LaunchRecord {
  const uint8_t* params;      // the argument buffer
  const uint64_t* variables;  // addresses of the module's variables, by Variable index
  const RuntimeTable* runtime;
  uint32_t grid[3];
  uint32_t block[3];
  uint64_t shared_dynamic_bytes;
  uint64_t grid_id;
  uint32_t cluster[3];    // blocks of a cluster, 1 each without clusters
  uint32_t cluster_bits;  // the shared memories of adjacent blocks are 2^n bytes apart
  uint32_t is_clustered;  // the launch or the kernel asked for clusters
  uint32_t reserved;
  uint64_t workspace;     // %envreg1 and 2: the memory for barriers of a cooperative grid, or 0
  uint64_t cached_bytes;  // a launch that stores more should bypass the caches
  void* host;             // private to the runtime; generated code never reads it
  uint64_t graph_exec;    // %current_graph_exec: the device graph that contains the kernel, or 0
};

/// One block that a worker executes. The runtime fills the first part before the call; generated
/// code keeps `block[0]` and `first_thread` up to date, so that a fault can report its position.
struct BlockState {
  uint8_t* shared;        // start of the shared window, which includes 2 GiB on either side
  uint8_t* scratch;       // CodeInfo::scratch_bytes, aligned to 64; contents undefined
  uint32_t block[3];      // %ctaid
  uint32_t first_thread;  // linear index of the packet's lane 0
  uint32_t warp_count;    // modes b and c
  uint32_t line;          // PTX line of the latest access made by a helper function
  void* host;             // private to the runtime; generated code never reads it
  // Mode a: the thread may add to `privatized` instead of [privatized_begin, privatized_begin +
  // privatized_bytes), at the same offset, until its part of the launch is over.
  uint64_t privatized_begin;  // kNowhere: nothing is privatized
  uint64_t privatized_bytes;  // both are multiples of 8
  uint8_t* privatized;
  /// Number of packets with other additions before RuntimeTable::privatize_atomics is called.
  uint64_t privatize_countdown;
  uint32_t abandoned;  // mode a: 1 after a failed assertion, until the region ends
  uint32_t reserved;
};

/// An address so far from all others that no access is near it.
constexpr uint64_t kNowhere = uint64_t{1} << 63;

/// Mode a: runs the blocks [first, end) of the row of the grid that contains `state->block`.
using GridEntry = void (*)(const LaunchRecord*, BlockState*, uint64_t first, uint64_t end);
/// Mode b: runs one warp of the block `state->block`, on a stack of its own. Other warps of the
/// block share `state`; the runtime sets state->first_thread at each switch. The scratch memory of
/// warp w starts at state->scratch + w * CodeInfo::scratch_bytes.
using FiberEntry = void (*)(const LaunchRecord*, BlockState*, uint32_t warp);

/// Mode c: the positions of a warp's lanes. It is at the start of the warp's scratch memory.
struct IndependentWarp {
  uint32_t state[kWarpLanes];      // position at which the lane resumes
  uint32_t stamp[kWarpLanes];      // clock of the lane's last iteration of a loop that waits
  uint32_t members[kWarpLanes];    // members of the warp operation in which it waits
  uint32_t operation[kWarpLanes];  // the kind of the warp operation in which it waits
  // Lanes that took part in it; after a barrier: number of true predicates.
  uint32_t participants[kWarpLanes];
  uint64_t sent[kWarpLanes];      // the lane's operand
  uint64_t received[kWarpLanes];  // the participants' operands
  uint32_t live;                  // lanes that have not exited
  uint32_t waiting;               // lanes that wait in a warp operation
  // Lanes whose operation is complete: they run before all others.
  uint32_t ready;
  uint32_t blocked;       // lanes that wait at a barrier
  uint32_t clock;         // the current clock for stamps
  uint32_t entry_clock;   // clock when the warp was last entered
  uint32_t checked_live;  // value of `live` when waiting lanes were last checked
  uint32_t line;          // PTX line of the latest branch in a loop that waits
  Schedule* schedule;     // for scheduled_next(); null: none
};

enum class IndependentStatus : uint32_t {
  finished = 0,
  waiting = 1,      // every runnable lane waits for memory to change
  blocked = 2,      // all lanes wait at barriers, or for lanes that do
  interrupted = 3,  // lanes could go on, and others run first
};

/// Mode c: runs one warp on the caller's stack until no lane can continue. Scratch memory is as in
/// mode b.
using IndependentEntry = IndependentStatus (*)(const LaunchRecord*, BlockState*, uint32_t warp);

static_assert(offsetof(LaunchRecord, params) == 0 && offsetof(LaunchRecord, variables) == 8 &&
              offsetof(LaunchRecord, runtime) == 16 && offsetof(LaunchRecord, grid) == 24 &&
              offsetof(LaunchRecord, block) == 36 &&
              offsetof(LaunchRecord, shared_dynamic_bytes) == 48 &&
              offsetof(LaunchRecord, grid_id) == 56 && offsetof(LaunchRecord, graph_exec) == 112);
static_assert(offsetof(BlockState, shared) == 0 && offsetof(BlockState, scratch) == 8 &&
              offsetof(BlockState, block) == 16 && offsetof(BlockState, first_thread) == 28 &&
              offsetof(BlockState, warp_count) == 32 && offsetof(BlockState, line) == 36 &&
              offsetof(BlockState, privatized_begin) == 48 &&
              offsetof(BlockState, privatized_bytes) == 56 &&
              offsetof(BlockState, privatized) == 64 &&
              offsetof(BlockState, privatize_countdown) == 72 &&
              offsetof(BlockState, abandoned) == 80);

}  // namespace km::simt
