// The layouts that generated code and the runtime share. They are plain, and generated code reads
// them at fixed offsets (static_asserts below): change them together with codegen/.
#pragma once

#include <cstddef>
#include <cstdint>

namespace km::simt {

constexpr uint32_t kWarpLanes = 32;
constexpr uint32_t kMaxBlockThreads = 1024;
/// The barrier that barrier.cluster waits at, behind those with numbers.
constexpr uint32_t kClusterBarrier = 16;

struct LaunchRecord;
struct BlockState;
struct IndependentWarp;
struct MmaForm;

/// Why generated code asks the runtime to end the launch.
enum class FaultKind : uint32_t {
  none = 0,
  trap = 1,
  misaligned = 2,
  illegal_address = 3,  // found by a software check, not by a signal
  assertion = 4,
  stopped = 5,
  stack_overflow = 6,
  no_function = 7,  // a call through a pointer that holds none
};

/// One of the accesses that checked code tests together.
struct AccessPart {
  int64_t offset_bytes;  // from the lane's address
  uint16_t size_bytes;
  uint16_t held_bytes;  // from the first on, that must lie in an allocation
  uint32_t line;        // in the PTX text
};

/// An access in the code. Generated code passes it by value: one register.
struct AccessSite {
  uint32_t line;  // in the PTX text
  uint16_t size_bytes;
  int16_t step_bytes;  // from a lane's address to the next one's
};

/// Functions that generated code calls, reached through LaunchRecord::runtime (objects have no
/// undefined symbols). SysV calling convention. `thread` is the linear thread index in its block.
struct RuntimeTable {
  /// Ends the launch with a fault of the instruction in this line. Never returns.
  void (*raise)(BlockState*, FaultKind kind, uint64_t address, uint64_t size_bytes, uint32_t thread,
                uint32_t line);
  /// Device printf of one thread: `arguments` as vprintf of CUDA lays them out. Returns its count.
  int32_t (*print)(const LaunchRecord*, BlockState*, const char* format, const void* arguments,
                   uint32_t thread);
  /// malloc of one thread, in the context's heap for kernels; 0: no room.
  uint64_t (*allocate)(const LaunchRecord*, BlockState*, uint64_t size_bytes);
  /// free of one thread; anything but 0 and what allocate gave ends the launch.
  void (*release)(const LaunchRecord*, BlockState*, uint64_t address, uint32_t thread);
  /// __assertfail of one thread, whose code does nothing more after it: in mode a nothing for the
  /// rest of its packet, and with BlockState::abandoned nothing for its block after this region.
  void (*assert_fail)(const LaunchRecord*, BlockState*, const char* message, const char* file,
                      uint32_t line, const char* function, uint32_t thread);
  /// Mode b: the calling warp arrives at barrier `id` and is suspended until `thread_count`
  /// threads (0: all of the block) have arrived. `arriving` is the number of live lanes.
  void (*barrier_wait)(const LaunchRecord*, BlockState*, uint32_t id, uint32_t thread_count,
                       uint32_t arriving);
  /// bar.arrive: counts, does not wait.
  void (*barrier_arrive)(const LaunchRecord*, BlockState*, uint32_t id, uint32_t thread_count,
                         uint32_t arriving);
  /// bar.red: waits like barrier_wait; gives the number of threads of the block whose predicate was
  /// true in `predicate_count` over all arrived warps (0 and the thread count give .or and .and).
  uint32_t (*barrier_reduce)(const LaunchRecord*, BlockState*, uint32_t id, uint32_t thread_count,
                             uint32_t arriving, uint32_t predicate_count);
  /// Modes a and b, in a loop that waits for memory to change: lets other warps of the block, and
  /// other blocks, go on. In mode a the runtime gives each block of such code a call of its own.
  void (*yield)(const LaunchRecord*, BlockState*);
  /// %globaltimer.
  uint64_t (*time_ns)();
  void (*sleep_ns)(const LaunchRecord*, BlockState*, uint32_t duration_ns);
  /// Checked code, where accesses lie outside the range that their place in the code used last:
  /// every lane of `lanes` may make all of them from its address, or the first that may not ends
  /// the launch. Gives a range for the next time: `extent_bytes` are inside when they start at
  /// out_range[0] to out_range[0] + out_range[1].
  void (*check_range)(const LaunchRecord*, BlockState*, const uint64_t* addresses, uint32_t lanes,
                      const AccessPart* parts, uint32_t part_count, uint64_t extent_bytes,
                      uint64_t* out_range);
  /// check_range() for accesses whose sizes differ from lane to lane; out_range is the whole range
  /// found last, begin and size.
  void (*check_sizes)(const LaunchRecord*, BlockState*, const uint64_t* addresses,
                      const uint64_t* sizes, uint32_t lanes, uint32_t line, uint64_t* out_range);
  /// Mode c (runtime/independent_warp.h): which lanes go on where; low half the lanes, high half
  /// the state; no lanes: the entry returns the high half, an IndependentStatus.
  uint64_t (*independent_next)(IndependentWarp*);
  /// Mode c: `lanes` wait in warp operation `operation` until its members have come, and go on in
  /// `state`. IndependentWarp::members and ::sent are theirs already.
  void (*independent_sync)(IndependentWarp*, uint32_t lanes, uint32_t operation, uint32_t state);
  /// Mode c: `lanes` arrive at barrier `id`, those of them in `predicates` with a true predicate;
  /// when `waits`, they go on in `state` after `thread_count` threads (0: all) have arrived, with
  /// the number of true predicates in IndependentWarp::participants.
  void (*independent_barrier)(const LaunchRecord*, BlockState*, IndependentWarp*, uint32_t lanes,
                              uint32_t id, uint32_t thread_count, uint32_t predicates,
                              uint32_t waits, uint32_t state);
  /// D = A * B + C of a warp (runtime/mma.h). `places`: where in `fragments` each register of A, B,
  /// C and the metadata lies, and those of D begin.
  void (*mma)(const LaunchRecord*, BlockState*, const MmaForm* form, const uint32_t* places,
              uint8_t* fragments);
  /// Elements of 1, 2, 4 or 8 bytes that lie side by side from lane 0 on, of some lanes: to or from
  /// where all lanes' elements lie. No register changes.
  void (*load_lanes)(BlockState*, uint64_t address, uint32_t lanes, AccessSite site,
                     void* elements);
  void (*store_lanes)(BlockState*, uint64_t address, uint32_t lanes, AccessSite site,
                      const void* elements);
  /// Ends the launch: the address of the lowest of `lanes` is misaligned. `address` is lane 0's
  /// where the site has a step, else that lane's own. Never returns.
  void (*misaligned)(BlockState*, uint64_t address, uint32_t lanes, AccessSite site);
  /// BlockState::privatize_countdown has come to 0 with an addition of
  /// `size_bytes` at `address`: additions to the allocation around it are privatized from now on,
  /// if that is small.
  void (*privatize_atomics)(BlockState*, uint64_t address, uint32_t size_bytes);
  /// The kernel is about to access memory with privatized additions: adds them there, and
  /// privatizes none for the rest of the launch.
  void (*flush_privatized)(BlockState*, uint32_t line);
};

/// One launch; shared by all workers, constant while it runs.
struct LaunchRecord {
  const uint8_t* params;      // the argument buffer
  const uint64_t* variables;  // addresses of the module's variables, by Variable index
  const RuntimeTable* runtime;
  uint32_t grid[3];
  uint32_t block[3];
  uint64_t shared_dynamic_bytes;
  uint64_t grid_id;
  uint32_t cluster[3];    // blocks of a cluster, 1 each without clusters
  uint32_t cluster_bits;  // 2^n bytes of shared memory lie between those of neighbours
  uint32_t is_clustered;  // the launch or the kernel asked for clusters
  uint32_t reserved;
  uint64_t workspace;     // %envreg1 and 2: where the blocks of a cooperative grid meet, or 0
  uint64_t cached_bytes;  // a launch that stores more had better leave the caches alone
  void* host;             // the runtime's own; generated code never reads it
  uint64_t graph_exec;    // %current_graph_exec: the device graph that the kernel is in, or 0
};

/// One block being executed by a worker. The runtime fills the first part before the call;
/// generated code keeps `block[0]` and `first_thread` current, so that a fault can say where it
/// was.
struct BlockState {
  uint8_t* shared;        // offset 0 of the shared window; 2 GiB on either side belong to it
  uint8_t* scratch;       // CodeInfo::scratch_bytes, aligned to 64; contents undefined
  uint32_t block[3];      // %ctaid
  uint32_t first_thread;  // linear index of the packet's lane 0
  uint32_t warp_count;    // modes b and c
  uint32_t line;          // in the PTX text, of the latest access that a helper function makes
  void* host;             // the runtime's own; generated code never reads it
  // Mode a: the thread may add to `privatized` instead of [privatized_begin, privatized_begin +
  // privatized_bytes), as far from its beginning, until its part of the launch is over.
  uint64_t privatized_begin;  // kNowhere: nothing is privatized
  uint64_t privatized_bytes;  // multiples of 8, both
  uint8_t* privatized;
  /// Packets that add elsewhere before RuntimeTable::privatize_atomics is called.
  uint64_t privatize_countdown;
  uint32_t abandoned;  // mode a: 1 after a failed assertion; the end of a region makes it 0
  uint32_t reserved;
};

/// So far from all addresses that no access is near it.
constexpr uint64_t kNowhere = uint64_t{1} << 63;

/// Mode a: runs the blocks [first, end) of a row of the grid, that of `state->block`.
using GridEntry = void (*)(const LaunchRecord*, BlockState*, uint64_t first, uint64_t end);
/// Mode b: runs one warp of the block described by `state->block`, on a stack of its own.
/// Other warps of the same block share `state`; the runtime sets state->first_thread at each
/// switch. Scratch of warp w starts at state->scratch + w * CodeInfo::scratch_bytes.
using FiberEntry = void (*)(const LaunchRecord*, BlockState*, uint32_t warp);

/// Mode c: where the lanes of a warp are. Lies at the start of the warp's scratch memory.
struct IndependentWarp {
  uint32_t state[kWarpLanes];         // where the lane goes on
  uint32_t stamp[kWarpLanes];         // when it was last sent round a loop that waits
  uint32_t members[kWarpLanes];       // of the warp operation in which it waits
  uint32_t operation[kWarpLanes];     // the kind of that operation
  uint32_t participants[kWarpLanes];  // who took part in it; behind a barrier: true predicates
  uint64_t sent[kWarpLanes];          // what the lane brings to the operation
  uint64_t received[kWarpLanes];      // what the participants brought
  uint32_t live;                      // lanes that have not exited
  uint32_t waiting;                   // in a warp operation
  uint32_t ready;                     // whose operation is complete: they go before all others
  uint32_t blocked;                   // at a barrier
  uint32_t clock;                     // of stamps
  uint32_t entry_clock;               // when the warp was last entered
  uint32_t checked_live;              // what `live` was when waiting lanes were last looked at
  uint32_t line;                      // in the PTX text, of the branch that counted last
};

enum class IndependentStatus : uint32_t {
  finished = 0,
  waiting = 1,  // every lane that could run waits for memory to change
  blocked = 2,  // at barriers, or for lanes that are
};

/// Mode c: runs one warp until no lane can go on, on the caller's stack. Scratch as in mode b.
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
