// LaunchChecks, the state of the checker for one launch, and the defects it has noted in it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "backends/cpu/check/access_record.h"
#include "backends/cpu/check/release_table.h"
#include "backends/cpu/check/shadow.h"
#include "backends/cpu/memory/allocations.h"
#include "backends/cpu/order/touched_memory.h"
#include "base/thread/spin_lock.h"
#include "simt/engine.h"

namespace km::cpu {

/// Two accesses of different threads, of which one writes, that nothing orders.
struct Race {
  AccessRecord before, now;
  uint64_t address = 0;
  uint32_t access_bytes = 0;   // of the later access
  bool is_shared = false;      // shared memory; `offset` is then the place in it
  bool is_same_value = false;  // both write the same value
  uint64_t offset = 0;
  uint64_t count = 0;  // how often it was seen

  /// The threads of a race: those of one warp, of one block, or of different blocks.
  enum class Distance : uint8_t { warp, block, grid };
  Distance distance() const;
};

/// A barrier or a warp operation that is used as it must not be.
struct Misuse {
  enum Kind : uint8_t {
    ended_threads,  // a barrier of the block opens though some threads have ended
    other_place,    // threads of a block are at different barriers, which happen to be one
    other_count,    // threads say different counts
    part_of_warp,   // a count that is no multiple of a warp
    stranger        // a thread is not in the member mask that it gives
  } kind = ended_threads;
  uint32_t line = 0, thread = 0, block = 0;
  uint32_t other_line = 0, other_thread = 0;  // 0: there is no other
  uint32_t arrived = 0, expected = 0;         // threads
  uint64_t count = 0;
};

/// The accesses of some lanes of a warp by one instruction.
struct AccessReport {
  const uint64_t* addresses = nullptr;  // of all lanes
  uint32_t lanes = 0;                   // one bit for each that accesses memory
  uint32_t first_thread = 0;            // linear index of lane 0
  const simt::AccessNote* note = nullptr;
  const uint8_t* values = nullptr;  // what a store writes (CheckRuntime::report_access); or null
  uint32_t lane_count = 0;
  const uint64_t* sizes = nullptr;              // of each lane; null: the note's
  const simt::StoreSources* sources = nullptr;  // what a store writes, if `values` is null

  /// True if what is stored is known.
  bool has_content() const { return values != nullptr || sources != nullptr; }
  /// The bytes that a lane accesses.
  uint64_t size_of(uint32_t lane) const {
    return sizes != nullptr ? sizes[lane] : note->size_bytes;
  }
  /// True if a lane stores these bytes at a distance from its address.
  bool stores(uint32_t lane, uint64_t distance_bytes, const uint8_t* bytes,
              uint32_t size_bytes) const;
  /// Copies what a lane stores at a distance from its address; false if that cannot be read.
  bool read_stored(uint32_t lane, uint64_t distance_bytes, uint64_t size_bytes, uint8_t* out) const;
};

/// The last store to global memory that a thread of the runtime has reported. A store is made after
/// its report and before the next one, so that other threads learn here what it writes if memory
/// does not have it yet. Thread-safe.
class ReportedStore {
 public:
  /// Forgets the store, which is of another launch.
  void clear();
  /// Replaces the store. The record says the block, its time and the line.
  void set(const AccessRecord& access, const AccessReport& report);
  /// The value of LaunchChecks::reported_store_has() for this store alone.
  std::optional<bool> has(const AccessRecord& access, uint64_t address, const uint8_t* value,
                          uint32_t size_bytes) const;

 private:
  void keep_values(const AccessReport& report);
  void keep_sources(const AccessReport& report);

  mutable SpinLock lock_;
  AccessRecord access_;  // of no line: there is no store
  simt::AccessNote note_{};
  AccessReport report_;
  std::array<uint64_t, simt::kWarpLanes> addresses_{}, sizes_{}, places_{};
  simt::StoreSources sources_{};
  std::vector<uint8_t> bytes_;  // of all lanes
};

/// Shared by the threads that run the launch.
class LaunchChecks {
 public:
  explicit LaunchChecks(uint16_t tools);

  uint16_t tools() const { return tools_; }
  /// The number of the launch in the shadow of global memory, from 1 on.
  uint32_t era() const { return era_; }
  ReleaseTable& releases() { return releases_; }
  /// The memory that the launch has accessed; null if the order of streams is not followed.
  TouchedMemory* touched() const { return touched_.get(); }
  /// A fence by which kernels of several streams may synchronise.
  void note_fence() { has_fences_.store(true, std::memory_order_relaxed); }
  bool has_fences() const { return has_fences_.load(std::memory_order_relaxed); }
  /// A thread exchanges a value with the host.
  void note_host() { meets_host_.store(true, std::memory_order_relaxed); }
  bool meets_host() const { return meets_host_.load(std::memory_order_relaxed); }
  /// Memory to which invalid accesses are led.
  AddressRange unused() const {
    return {reinterpret_cast<uint64_t>(unused_.data()), unused_.size()};
  }
  /// Notes a race. Races of the same two lines count as one, of which the first is kept whose
  /// threads are farthest apart.
  void note(const Race& race);
  /// An access to memory that the launch does not have, a misaligned one, a read of what nothing
  /// has written, or a use of a register that nothing has written.
  struct Invalid {
    AccessRecord access;
    uint64_t address = 0, size_bytes = 0;
    uint64_t shared_begin = 0;  // where the block's shared memory begins
    bool is_local = false;      // the memory is the thread's own
    enum Kind : uint8_t {
      outside,
      misaligned,
      undefined,          // a read
      undefined_address,  // a register that decides which memory is accessed
      undefined_branch,   // a register that decides a branch
      undefined_store,    // a register that is stored
    } kind = outside;
    bool is_of_register() const { return kind >= undefined_address; }
    uint64_t count = 0;
  };
  /// Notes an invalid access. Those of one line count as one, of which the first is kept.
  void note(const Invalid& invalid);
  /// Lets blocks of other threads see the stores that the thread reports from now on, until its
  /// last one is removed.
  void add_store(ReportedStore* store);
  void remove_store(ReportedStore* store);
  /// True if the access is a thread's last store and stores this value at the address; nothing if
  /// it is none, and so has been made, or stores nothing there.
  std::optional<bool> reported_store_has(const AccessRecord& access, uint64_t address,
                                         const uint8_t* value, uint32_t size_bytes) const;
  /// True if there were so many invalid accesses that the launch should end: loops whose bounds
  /// were read from somewhere else would make them for hours.
  bool has_too_many_invalid() const {
    constexpr uint64_t kMost = 1'000'000;
    return invalid_count_.load(std::memory_order_relaxed) > kMost;
  }
  /// The invalid accesses that were noted.
  std::vector<Invalid> invalid() const;
  /// Notes a misuse. Those of the same lines count as one, of which the first is kept.
  void note(const Misuse& misuse);
  /// The misuses that were noted.
  std::vector<Misuse> misuses() const;
  /// The races that were noted.
  std::vector<Race> races() const;

 private:
  using Key = std::tuple<uint32_t, uint32_t, uint32_t>;  // both lines and kinds

  alignas(256) std::array<uint8_t, 256> unused_{};
  const uint16_t tools_;
  const uint32_t era_;
  std::optional<GlobalShadow::Use> shadow_;  // of launches that are tested for races
  ReleaseTable releases_;
  const std::unique_ptr<TouchedMemory> touched_;
  std::atomic<bool> has_fences_{false}, meets_host_{false};
  std::atomic<uint64_t> invalid_count_{0};
  mutable std::mutex mutex_;
  std::map<Key, Race> races_;
  std::vector<ReportedStore*> stores_;
  std::map<std::pair<uint32_t, uint8_t>, Invalid> invalid_;  // by line and kind
  std::map<Key, Misuse> misuses_;                            // by both lines and kind
};

}  // namespace km::cpu
