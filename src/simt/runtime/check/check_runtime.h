// The reports that code made for the checker sends to the runtime: which thread accesses which
// memory how, and what orders threads.
#pragma once

#include "simt/runtime/tensors/tensor_runtime.h"

namespace km::simt {

/// How an access touches memory.
enum class AccessKind : uint8_t { read = 1, write = 2, atomic = 3 };

/// The threads between which a memory operation synchronises, from the narrowest on.
enum class MemoryScope : uint8_t { block, cluster, device, system };

/// The event that completes an asynchronous copy, whose accesses are not ordered like its thread's.
enum class CopyKind : uint8_t {
  none,        // no copy: the thread itself accesses memory
  group,       // cp.async: cp.async.wait_group or cp.async.wait_all
  bulk_group,  // cp.async.bulk that names no barrier: cp.async.bulk.wait_group
  barrier      // cp.async.bulk: a phase of an mbarrier object
};

/// The numbers of groups of copies that mean something else in CheckRuntime::report_copies.
namespace copy_groups {
constexpr uint32_t kCommit = UINT32_MAX;       // the copies since the last commit form a group
constexpr uint32_t kWaitAll = UINT32_MAX - 1;  // all copies, in groups or not, are complete
}  // namespace copy_groups

/// A property of the accesses of one instruction.
namespace access_flag {
constexpr uint8_t kStrong = 1;        // relaxed, volatile, acquire, release or atomic
constexpr uint8_t kVolatile = 2;      // ld.volatile or st.volatile, whatever the rest says
constexpr uint8_t kAcquire = 4;       // it also acquires
constexpr uint8_t kRelease = 8;       // it also releases
constexpr uint8_t kFloatSum = 16;     // an atomic addition of floating-point numbers
constexpr uint8_t kConsecutive = 32;  // each lane's address is the one before plus the size
constexpr uint8_t kRepeated = 64;     // a read that an atomic compare or minimum then repeats
constexpr uint8_t kCopied = 128;      // a read of what is only stored again
}  // namespace access_flag

/// The constant part of a report. Generated code passes its address.
struct AccessNote {
  uint32_t line;           // line in the PTX text
  uint16_t size_bytes;     // of all elements of a lane
  uint16_t element_bytes;  // the size of one element
  AccessKind kind;
  uint8_t flags;  // access_flag
  MemoryScope scope;
  CopyKind copy;
  uint8_t may_be_old;  // 1: OrderRuntime::load_old() is called for this read
  uint8_t reserved[3];
};
static_assert(sizeof(AccessNote) == 16);

/// The bytes that lanes are about to store, if they are in memory already: lane l stores the first
/// `sizes[l]` bytes at `addresses[l]`, and zeros after them.
struct StoreSources {
  const uint64_t* addresses;
  const uint64_t* sizes;
  const uint16_t* byte_masks;  // lane l stores byte i of each 16 if it has bit i; null: all bytes
};

/// Extends TensorRuntime by the entries for the checker.
struct CheckRuntime {
  TensorRuntime base;
  /// Called if `lanes` may access invalid memory, of which the first `held_bytes` of each must be
  /// valid. Notes those that do, gives them the address of memory that nobody uses, and returns
  /// them. out_range is as check_range()'s.
  uint32_t (*filter_access)(BlockState*, uint64_t* addresses, uint32_t lanes,
                            const AccessNote* note, uint64_t held_bytes, uint64_t extent_bytes,
                            uint64_t* out_range);
  /// Called before `lanes` access memory at `addresses`, for races and streams. `values` has the
  /// elements that a store writes, element i of lane l at number i * lane_count + l; null for other
  /// accesses.
  void (*report_access)(BlockState*, const uint64_t* addresses, uint32_t lanes,
                        const AccessNote* note, const void* values, uint32_t lane_count);
  /// Called before `lanes` access memory that may be undefined. out_range is as check_range()'s: it
  /// gets memory of which all is defined; null: nobody asks.
  void (*report_content)(BlockState*, const uint64_t* addresses, uint32_t lanes,
                         const AccessNote* note, uint64_t extent_bytes, uint64_t* out_range);
  /// Like report_access() for accesses whose sizes differ between lanes; a size may be 0. `sources`
  /// has what a store writes; null for other accesses.
  void (*report_ranges)(BlockState*, const uint64_t* addresses, const uint64_t* sizes,
                        uint32_t lanes, const AccessNote* note, const StoreSources* sources);
  /// Called after a strong read or an atomic of `lanes`, which may have seen what another thread
  /// released.
  void (*report_acquire)(BlockState*, const uint64_t* addresses, uint32_t lanes,
                         const AccessNote* note);
  /// A fence of `lanes`; `scope` is a MemoryScope.
  void (*report_fence)(BlockState*, uint32_t lanes, uint32_t scope);
  /// `lanes` arrive at a barrier of the block, before they do.
  void (*report_barrier)(BlockState*, uint32_t lanes, uint32_t id, uint32_t thread_count,
                         uint32_t line);
  /// `lanes` take part in a warp operation with these member masks, one for each of all lanes.
  void (*report_members)(BlockState*, const uint32_t* members, uint32_t lanes, uint32_t line);
  /// bar.warp.sync: `lanes` have met. If `orders` is 0 they have exchanged values only.
  void (*report_warp_sync)(BlockState*, uint32_t lanes, uint32_t orders);
  /// `lanes` end a group of asynchronous copies or wait until at most `pending` groups are left;
  /// copy_groups has the other values of `pending`. `kind` is a CopyKind.
  void (*report_copies)(BlockState*, uint32_t lanes, uint32_t kind, uint32_t pending);
  /// `lanes` begin with undefined local memory of `size_bytes` each: lane l's is at `begin` + l *
  /// `stride_bytes`.
  void (*report_locals)(BlockState*, uint64_t begin, uint32_t lanes, uint64_t stride_bytes,
                        uint64_t size_bytes);
  /// `lanes` use registers that nothing has written; `use` is an UndefinedUse.
  void (*report_undefined)(BlockState*, uint32_t lanes, uint32_t use, uint32_t line);
};

}  // namespace km::simt
