#include "core/object/handle_table.h"

#include <sys/random.h>

#include "base/assert.h"
#include "base/thread/cancellation.h"

namespace km {
namespace {

constexpr uint32_t generation_of(uint64_t word) { return static_cast<uint32_t>(word >> 32); }
constexpr uint32_t id_generation(uint64_t id) { return static_cast<uint32_t>(id); }

uint32_t random_generation(uint32_t slot) {
  static const uint64_t seed = [] {
    uint64_t value = 0;
    // A constant is safe without entropy: the ids are only easier to guess.
    if (getrandom(&value, sizeof value, GRND_NONBLOCK) != sizeof value) value = 0x9E3779B97F4A7C15;
    return value;
  }();
  uint64_t mixed = (seed ^ slot) * 0xD6E8FEB86659FD93;
  mixed ^= mixed >> 32;
  mixed *= 0xD6E8FEB86659FD93;
  return static_cast<uint32_t>(mixed >> 32);
}

}  // namespace

const char* handle_type_name(ObjectType type) {
  constexpr const char* kNames[kObjectTypeCount] = {
      "",         "km_device",     "km_context",  "km_stream", "km_event",   "km_host_memory",
      "km_slice", "km_module",     "km_function", "km_launch", "km_program", "km_pool",
      "km_graph", "km_graph_exec", "km_blas",     "km_tune",   "km_fft",     "km_comm",
      ""};
  return kNames[static_cast<uint8_t>(type) % kObjectTypeCount];
}

ObjectType claimed_type(uint64_t id) {
  const uint8_t type = static_cast<uint8_t>((id >> 56) - tag_of(ObjectType::kNone));
  return type < kObjectTypeCount ? static_cast<ObjectType>(type) : ObjectType::kNone;
}

HandleSlot* HandleTable::add_chunk(uint32_t chunk, uint32_t first_index, uint32_t slot_count) {
  KM_ASSERT(chunk < kChunkCount && slot_count == kFirstChunkSlots << chunk,
            "chunk k has the first chunk's slots times 2^k");
  KM_ASSERT(chunks_[chunk].load(std::memory_order_relaxed) == nullptr,
            "a chunk is allocated once: ids of its slots stay valid forever");
  auto slots = std::make_unique<HandleSlot[]>(slot_count);
  for (uint32_t i = 0; i < slot_count; ++i) {
    HandleSlot& slot = slots[i];
    slot.table = this;
    slot.index = first_index + i;
    slot.first_generation = random_generation(slot.index);
    slot.state.store(uint64_t{slot.first_generation} << 32, std::memory_order_relaxed);
  }
  // The free list has room for all slots, because returning a slot must not fail.
  free_.reserve(size_t{first_index} + slot_count);
  slots_.push_back(std::move(slots));
  chunks_[chunk].store(slots_.back().get(), std::memory_order_release);
  return slots_.back().get();
}

HandleSlot* HandleTable::take_free_slot() {
  const std::lock_guard lock(mutex_);
  if (!free_.empty()) {
    HandleSlot* slot = free_.back();
    free_.pop_back();
    KM_ASSERT(slot->object.load(std::memory_order_relaxed) == nullptr,
              "a free slot holds no object");
    return slot;
  }
  const Place place = place_of(used_slots_);
  if (place.chunk >= kChunkCount) return nullptr;
  HandleSlot* slots = chunks_[place.chunk].load(std::memory_order_relaxed);
  if (slots == nullptr) {
    slots = add_chunk(place.chunk, used_slots_, kFirstChunkSlots << place.chunk);
  }
  ++used_slots_;
  KM_ASSERT(free_.capacity() >= used_slots_, "reclaim() finds room for every slot");
  return &slots[place.offset];
}

uint64_t HandleTable::insert(Object* object) {
  KM_ASSERT(object != nullptr, "a handle leads to an object");
  HandleSlot* slot = take_free_slot();
  if (slot == nullptr) return 0;
  const uint64_t state = slot->state.load(std::memory_order_relaxed);
  const uint32_t generation = generation_of(state);
  KM_ASSERT((state >> kPhaseShift & 3) == kPhaseFree && (state & kPinMask) == 0,
            "the slot is free, and nothing pins it");
  KM_ASSERT(generation - slot->first_generation < generation_count_,
            "a slot that has served all its generations is retired");
  slot->object.store(object, std::memory_order_relaxed);
  slot->state.store(live_state(generation), std::memory_order_release);
  live_count_.fetch_add(1, std::memory_order_relaxed);
  return tag_of(type_) << 56 | uint64_t{slot->index} << 32 | generation;
}

bool HandleTable::destroy(uint64_t id) {
  HandleSlot* slot = slot_of(id);
  if (slot == nullptr) return false;
  uint64_t state = slot->state.load(std::memory_order_acquire);
  uint64_t dying;
  do {
    if ((state & ~kPinMask) != live_state(id)) return false;
    dying =
        uint64_t{id_generation(id)} << 32 | kPhaseDying << kPhaseShift | ((state & kPinMask) + 1);
  } while (!slot->state.compare_exchange_weak(state, dying, std::memory_order_acq_rel,
                                              std::memory_order_acquire));
  const uint64_t live = live_count_.fetch_sub(1, std::memory_order_relaxed);
  KM_ASSERT(live != 0, "a removed id was counted");
  static_cast<void>(live);
  unpin(slot);
  return true;
}

void HandleTable::reclaim(HandleSlot* slot, uint32_t generation) {
  // Destroying the object may destroy others, whose destructors may block.
  const NoCancellation postponed;
  KM_ASSERT(slot->state.load(std::memory_order_relaxed) ==
                (uint64_t{generation} << 32 | kPhaseDying << kPhaseShift),
            "a slot is reclaimed once, when its last pin is gone");
  Object* object = slot->object.exchange(nullptr, std::memory_order_relaxed);
  KM_ASSERT(object != nullptr, "the dying slot still held its object");
  const uint32_t next = generation + 1;
  const bool used_up = next - slot->first_generation >= generation_count_;
  const uint64_t phase = used_up ? kPhaseRetired : kPhaseFree;
  slot->state.store(uint64_t{next} << 32 | phase << kPhaseShift, std::memory_order_release);
  if (!used_up) {
    const std::lock_guard lock(mutex_);
    KM_ASSERT(free_.size() < free_.capacity(), "add_chunk() made room for all slots");
    free_.push_back(slot);
  }
  release_object_(object);
}

const char* HandleTable::reason_not_live(uint64_t id) const {
  const HandleSlot* slot = slot_of(id);
  if (slot == nullptr) return "was never given out";
  const uint64_t state = slot->state.load(std::memory_order_acquire);
  const uint32_t age = id_generation(id) - slot->first_generation;
  const uint32_t slot_age = generation_of(state) - slot->first_generation;
  const bool dying = age == slot_age && (state >> kPhaseShift & 3) == kPhaseDying;
  return age < slot_age || dying ? "was destroyed already" : "was never given out";
}

}  // namespace km
