#include "core/handle_table.h"

#include <sys/random.h>

#include <bit>

namespace km {
namespace {

constexpr uint8_t kTagBase = 0xA0;  // 0xA1 ...: bits 63 and 56 differ, so no address looks like it
constexpr uint64_t kPhaseFree = 0, kPhaseLive = 1, kPhaseDying = 2, kPhaseRetired = 3;
constexpr uint64_t kPinMask = (1u << 30) - 1;

constexpr uint32_t generation_of(uint64_t word) { return static_cast<uint32_t>(word >> 32); }
constexpr uint64_t phase_of(uint64_t word) { return (word >> 30) & 3; }
constexpr uint64_t pins_of(uint64_t word) { return word & kPinMask; }
constexpr uint64_t make_state(uint32_t generation, uint64_t phase, uint64_t pins) {
  return uint64_t{generation} << 32 | phase << 30 | pins;
}

constexpr uint32_t id_generation(uint64_t id) { return static_cast<uint32_t>(id); }
constexpr uint32_t id_slot(uint64_t id) { return static_cast<uint32_t>(id >> 32) & 0xFFFFFF; }

uint32_t random_generation(uint32_t slot) {
  static const uint64_t seed = [] {
    uint64_t value = 0;
    // Without entropy the ids are merely easier to guess.
    if (getrandom(&value, sizeof value, GRND_NONBLOCK) != sizeof value) value = 0x9E3779B97F4A7C15;
    return value;
  }();
  uint64_t mixed = (seed ^ slot) * 0xD6E8FEB86659FD93;
  mixed ^= mixed >> 32;
  mixed *= 0xD6E8FEB86659FD93;
  return static_cast<uint32_t>(mixed >> 32);
}

struct Place {
  uint32_t chunk, offset;
};

// Chunk k starts at slot first * (2^k - 1).
constexpr Place place_of_slot(uint32_t slot, uint32_t first) {
  const uint32_t shifted = slot + first;
  const auto chunk = static_cast<uint32_t>(std::bit_width(shifted) - std::bit_width(first));
  return {chunk, shifted - (first << chunk)};
}
static_assert(place_of_slot(255, 256).chunk == 0 && place_of_slot(256, 256).offset == 0);

}  // namespace

const char* handle_type_name(ObjectType type) {
  constexpr const char* kNames[kObjectTypeCount] = {
      "",         "km_device", "km_context",  "km_stream", "km_event",   "km_host_memory",
      "km_slice", "km_module", "km_function", "km_launch", "km_program", ""};
  return kNames[static_cast<uint8_t>(type) % kObjectTypeCount];
}

ObjectType claimed_type(uint64_t id) {
  const uint8_t type = static_cast<uint8_t>(static_cast<uint8_t>(id >> 56) - kTagBase);
  return type < kObjectTypeCount ? static_cast<ObjectType>(type) : ObjectType::kNone;
}

HandleTable::HandleTable(ObjectType type, ReleaseObject release_object, uint32_t generation_count)
    : type_(type), release_object_(release_object), generation_count_(generation_count) {}

HandleSlot* HandleTable::slot_of(uint64_t id) const {
  if (claimed_type(id) != type_) return nullptr;
  const Place place = place_of_slot(id_slot(id), kFirstChunkSlots);
  if (place.chunk >= kChunkCount) return nullptr;
  HandleSlot* chunk = chunks_[place.chunk].load(std::memory_order_acquire);
  return chunk != nullptr ? &chunk[place.offset] : nullptr;
}

HandleSlot* HandleTable::add_chunk(uint32_t chunk, uint32_t first_index, uint32_t slot_count) {
  auto slots = std::make_unique<HandleSlot[]>(slot_count);
  for (uint32_t i = 0; i < slot_count; ++i) {
    HandleSlot& slot = slots[i];
    slot.table = this;
    slot.index = first_index + i;
    slot.first_generation = random_generation(slot.index);
    slot.state.store(make_state(slot.first_generation, kPhaseFree, 0), std::memory_order_relaxed);
  }
  // Reclaiming a slot must not fail, so there is always room for all of them.
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
    return slot;
  }
  const Place place = place_of_slot(used_slots_, kFirstChunkSlots);
  if (place.chunk >= kChunkCount) return nullptr;
  HandleSlot* slots = chunks_[place.chunk].load(std::memory_order_relaxed);
  if (slots == nullptr) {
    slots = add_chunk(place.chunk, used_slots_, kFirstChunkSlots << place.chunk);
  }
  ++used_slots_;
  return &slots[place.offset];
}

uint64_t HandleTable::insert(Object* object) {
  HandleSlot* slot = take_free_slot();
  if (slot == nullptr) return 0;
  const uint32_t generation = generation_of(slot->state.load(std::memory_order_relaxed));
  slot->object.store(object, std::memory_order_relaxed);
  slot->state.store(make_state(generation, kPhaseLive, 0), std::memory_order_release);
  live_count_.fetch_add(1, std::memory_order_relaxed);
  const uint64_t tag = static_cast<uint8_t>(kTagBase + static_cast<uint8_t>(type_));
  return tag << 56 | uint64_t{slot->index} << 32 | generation;
}

HandleSlot* HandleTable::pin(uint64_t id) {
  HandleSlot* slot = slot_of(id);
  if (slot == nullptr) return nullptr;
  uint64_t state = slot->state.load(std::memory_order_acquire);
  do {
    if (generation_of(state) != id_generation(id) || phase_of(state) != kPhaseLive) return nullptr;
  } while (!slot->state.compare_exchange_weak(state, state + 1, std::memory_order_acquire,
                                              std::memory_order_acquire));
  return slot;
}

void HandleTable::unpin(HandleSlot* slot) {
  // Nothing pins a dying slot, so exactly one thread sees the last pin go.
  const uint64_t before = slot->state.fetch_sub(1, std::memory_order_acq_rel);
  if (pins_of(before) == 1 && phase_of(before) == kPhaseDying) {
    slot->table->reclaim(slot, generation_of(before));
  }
}

bool HandleTable::destroy(uint64_t id) {
  HandleSlot* slot = slot_of(id);
  if (slot == nullptr) return false;
  uint64_t state = slot->state.load(std::memory_order_acquire);
  uint64_t dying;
  do {
    if (generation_of(state) != id_generation(id) || phase_of(state) != kPhaseLive) return false;
    dying = make_state(generation_of(state), kPhaseDying, pins_of(state) + 1);
  } while (!slot->state.compare_exchange_weak(state, dying, std::memory_order_acq_rel,
                                              std::memory_order_acquire));
  live_count_.fetch_sub(1, std::memory_order_relaxed);
  unpin(slot);
  return true;
}

void HandleTable::reclaim(HandleSlot* slot, uint32_t generation) {
  Object* object = slot->object.exchange(nullptr, std::memory_order_relaxed);
  const uint32_t next = generation + 1;
  const bool used_up = next - slot->first_generation >= generation_count_;
  slot->state.store(make_state(next, used_up ? kPhaseRetired : kPhaseFree, 0),
                    std::memory_order_release);
  if (!used_up) {
    const std::lock_guard lock(mutex_);
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
  const bool dying = age == slot_age && phase_of(state) == kPhaseDying;
  return age < slot_age || dying ? "was destroyed already" : "was never given out";
}

}  // namespace km
