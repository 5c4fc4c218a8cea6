// Handles: 64-bit ids instead of pointers. Any value may come from the caller; only ids of objects
// that are alive lead to an object.
//
// An id is [type tag: 8][slot: 24][generation: 32]. The tag makes it a non-canonical address. The
// generation of a slot rises with each object in it and starts at a random value, so that ids of
// other processes or of another copy of the library are not taken for ours. Slots are never freed:
// reading the slot of a stale id is always safe.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/assert.h"
#include "core/object/object.h"

namespace km {

enum class ObjectType : uint8_t {
  kNone = 0,
  kDevice,
  kContext,
  kStream,
  kEvent,
  kHostMemory,
  kSlice,
  kModule,
  kFunction,
  kLaunch,
  kProgram,
  kPool,
  kGraph,
  kGraphExec,
  kBlas,
  kTune,
  kMemory,  // internal: allocations found by address
};
inline constexpr uint8_t kObjectTypeCount = 17;
/// "km_stream"; empty for values that are no type.
const char* handle_type_name(ObjectType type);
/// The top byte of a type's ids, 0xA1 ...: bits 63 and 62 differ, so no address looks like it.
constexpr uint64_t tag_of(ObjectType type) { return (0xA0 + static_cast<uint64_t>(type)) & 0xFF; }
/// The type that an id claims, kNone for values that no table makes.
ObjectType claimed_type(uint64_t id);

class HandleTable;

/// One place of a table; a cache line of its own, because calls on several threads pin it.
struct alignas(64) HandleSlot {
  std::atomic<uint64_t> state{0};  // [generation: 32][phase: 2][pins: 30]
  std::atomic<Object*> object{nullptr};
  HandleTable* table = nullptr;
  uint32_t index = 0;
  uint32_t first_generation = 0;
};

class HandleTable {
 public:
  /// Called with the object when its handle was destroyed and the last pin is gone.
  using ReleaseObject = void (*)(Object* object);

  /// A slot serves `generation_count` objects and is then retired.
  constexpr HandleTable(ObjectType type, ReleaseObject release_object,
                        uint32_t generation_count = UINT32_MAX)
      : type_(type), release_object_(release_object), generation_count_(generation_count) {}
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;

  /// A new id for the object, which the table now owns. 0 when all slots are taken; throws
  /// std::bad_alloc, then too the object stays the caller's.
  uint64_t insert(Object* object);

  /// Finds the object of a live id and keeps it from going away until unpin(); null for every
  /// other value. Lock-free.
  HandleSlot* pin(uint64_t id) {
    HandleSlot* slot = slot_of(id);
    if (slot == nullptr) [[unlikely]]
      return nullptr;
    uint64_t state = slot->state.load(std::memory_order_acquire);
    do {
      // Live, and of this generation: nothing but the pins may differ.
      if ((state & ~kPinMask) != live_state(id)) [[unlikely]]
        return nullptr;
      KM_ASSERT((state & kPinMask) != kPinMask, "the pins of a slot never run into its phase");
    } while (!slot->state.compare_exchange_weak(state, state + 1, std::memory_order_acquire,
                                                std::memory_order_acquire));
    return slot;
  }
  static Object* object_of(const HandleSlot* slot) {
    return slot->object.load(std::memory_order_relaxed);
  }
  static void unpin(HandleSlot* slot) {
    // Nothing pins a dying slot, so exactly one thread sees the last pin go.
    const uint64_t before = slot->state.fetch_sub(1, std::memory_order_acq_rel);
    KM_ASSERT((before & kPinMask) != 0, "a slot is unpinned as often as it was pinned");
    if ((before & ((uint64_t{1} << 32) - 1)) == (kPhaseDying << kPhaseShift | 1)) [[unlikely]] {
      slot->table->reclaim(slot, static_cast<uint32_t>(before >> 32));
    }
  }

  /// Ends the id at once, and its object with the last pin. False when the id is not live.
  bool destroy(uint64_t id);

  /// Calls `visit(id, object)` for each that is alive; the object stays in place meanwhile.
  template <class Visit>
  void for_each_live(Visit&& visit) {
    for (uint32_t chunk = 0; chunk < kChunkCount; ++chunk) {
      const HandleSlot* slots = chunks_[chunk].load(std::memory_order_acquire);
      if (slots == nullptr) return;
      const uint32_t first = kFirstChunkSlots * ((1U << chunk) - 1);
      for (uint32_t i = 0; i < kFirstChunkSlots << chunk; ++i) {
        const uint64_t state = slots[i].state.load(std::memory_order_acquire);
        if ((state >> kPhaseShift & 3) != kPhaseLive) continue;
        const uint64_t id = tag_of(type_) << 56 | uint64_t{first + i} << 32 | state >> 32;
        HandleSlot* slot = pin(id);
        if (slot == nullptr) continue;  // gone meanwhile
        visit(id, *object_of(slot));
        unpin(slot);
      }
    }
  }

  /// Why an id that pin() refused is not live: "was destroyed already", "was never given out".
  const char* reason_not_live(uint64_t id) const;
  /// Ids that are alive now.
  uint64_t live_count() const { return live_count_.load(std::memory_order_relaxed); }

 private:
  // Chunk k holds kFirstChunkSlots << k slots; together they use the 24 bits of an id.
  static constexpr uint32_t kFirstChunkSlots = 256;
  static constexpr uint32_t kChunkCount = 16;

  // The parts of a slot's state.
  static constexpr uint32_t kPhaseShift = 30;
  static constexpr uint64_t kPinMask = (uint64_t{1} << kPhaseShift) - 1;
  static constexpr uint64_t kPhaseFree = 0, kPhaseLive = 1, kPhaseDying = 2, kPhaseRetired = 3;
  static constexpr uint64_t live_state(uint64_t id) { return id << 32 | kPhaseLive << kPhaseShift; }

  struct Place {
    uint32_t chunk, offset;
  };
  // Chunk k starts at slot kFirstChunkSlots * (2^k - 1).
  static constexpr Place place_of(uint32_t slot) {
    const uint32_t shifted = slot + kFirstChunkSlots;
    const auto chunk = static_cast<uint32_t>(std::bit_width(shifted >> 9));
    return {chunk, shifted - (kFirstChunkSlots << chunk)};
  }
  HandleSlot* slot_of(uint64_t id) const {
    if (id >> 56 != tag_of(type_)) [[unlikely]]
      return nullptr;
    const Place place = place_of(static_cast<uint32_t>(id >> 32) & 0xFFFFFF);
    if (place.chunk >= kChunkCount) [[unlikely]]
      return nullptr;
    HandleSlot* chunk = chunks_[place.chunk].load(std::memory_order_acquire);
    return chunk != nullptr ? &chunk[place.offset] : nullptr;
  }
  HandleSlot* take_free_slot();
  HandleSlot* add_chunk(uint32_t chunk, uint32_t first_index, uint32_t slot_count);
  void reclaim(HandleSlot* slot, uint32_t generation);

  const ObjectType type_;
  const ReleaseObject release_object_;
  const uint32_t generation_count_;
  std::atomic<uint64_t> live_count_{0};
  std::array<std::atomic<HandleSlot*>, kChunkCount> chunks_{};
  std::mutex mutex_;                                  // guards what follows
  std::vector<std::unique_ptr<HandleSlot[]>> slots_;  // what chunks_ point to
  std::vector<HandleSlot*> free_;
  uint32_t used_slots_ = 0;
};

}  // namespace km
