// Handles: 64-bit ids instead of pointers. A caller may pass any value; only ids of live objects
// lead to an object.
//
// An id is [type tag: 8][slot: 24][generation: 32]. The tag makes it a non-canonical address. A
// slot's generation rises with each object and starts at a random value, so that ids of other
// processes or of another copy of the library are not accepted. Slots are never freed, so that
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
  kFft,
  kComm,
  kMemory,  // internal: allocations that are found by address
};
inline constexpr uint8_t kObjectTypeCount = 19;
/// The type's name, "km_stream"; empty for values that are not a type.
const char* handle_type_name(ObjectType type);
/// The top byte of a type's ids, 0xA1 ...: bits 63 and 62 differ, so no canonical address equals an
/// id.
constexpr uint64_t tag_of(ObjectType type) { return (0xA0 + static_cast<uint64_t>(type)) & 0xFF; }
/// The type in an id's tag; kNone if no table makes such ids.
ObjectType claimed_type(uint64_t id);

class HandleTable;

/// One place of a table. It fills a cache line, because several threads pin slots concurrently.
struct alignas(64) HandleSlot {
  std::atomic<uint64_t> state{0};  // [generation: 32][phase: 2][pins: 30]
  std::atomic<Object*> object{nullptr};
  HandleTable* table = nullptr;
  uint32_t index = 0;
  uint32_t first_generation = 0;
};

class HandleTable {
 public:
  /// Called with the object after its handle was destroyed and its last pin was released.
  using ReleaseObject = void (*)(Object* object);

  /// A slot serves `generation_count` objects and is then no longer used.
  constexpr HandleTable(ObjectType type, ReleaseObject release_object,
                        uint32_t generation_count = UINT32_MAX)
      : type_(type), release_object_(release_object), generation_count_(generation_count) {}
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;

  /// Returns a new id for the object, which the table then owns. If all slots are used it returns
  /// 0; it throws std::bad_alloc. In both cases the caller keeps the object.
  uint64_t insert(Object* object);

  /// Finds the object of a live id and keeps it alive until unpin(); null for all other values.
  /// Lock-free.
  HandleSlot* pin(uint64_t id) {
    HandleSlot* slot = slot_of(id);
    if (slot == nullptr) [[unlikely]]
      return nullptr;
    uint64_t state = slot->state.load(std::memory_order_acquire);
    do {
      // A live id of this generation: only the pin count may differ.
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
    // A dying slot gets no new pins, so that exactly one thread releases the last one.
    const uint64_t before = slot->state.fetch_sub(1, std::memory_order_acq_rel);
    KM_ASSERT((before & kPinMask) != 0, "a slot is unpinned as often as it was pinned");
    if ((before & ((uint64_t{1} << 32) - 1)) == (kPhaseDying << kPhaseShift | 1)) [[unlikely]] {
      slot->table->reclaim(slot, static_cast<uint32_t>(before >> 32));
    }
  }

  /// Ends the id at once, and the object with its last pin. Returns false if the id is not live.
  bool destroy(uint64_t id);

  /// Calls `visit(id, object)` for each live object, which is pinned meanwhile.
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
        if (slot == nullptr) continue;  // another thread destroyed it meanwhile
        visit(id, *object_of(slot));
        unpin(slot);
      }
    }
  }

  /// The reason why pin() refused an id: "was destroyed already", "was never given out".
  const char* reason_not_live(uint64_t id) const;
  /// The number of live ids.
  uint64_t live_count() const { return live_count_.load(std::memory_order_relaxed); }

 private:
  // Chunk k holds kFirstChunkSlots << k slots; together they use the 24 bits of an id.
  static constexpr uint32_t kFirstChunkSlots = 256;
  static constexpr uint32_t kChunkCount = 16;

  // Bit fields of a slot's state.
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
  std::mutex mutex_;                                  // guards the members below
  std::vector<std::unique_ptr<HandleSlot[]>> slots_;  // owns the chunks that chunks_ points to
  std::vector<HandleSlot*> free_;
  uint32_t used_slots_ = 0;
};

}  // namespace km
