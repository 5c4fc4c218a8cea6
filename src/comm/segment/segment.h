// Shared memory without a name: the maker of a unique id keeps it open until all ranks have it.
#pragma once

#include <cstdint>
#include <memory>

#include "comm/segment/failure.h"
#include "comm/segment/layout.h"

namespace km::comm {

/// Makes an id and its memory, which this process keeps until forget_id().
Failure make_unique_id(UniqueId* out);
/// Lets go of the memory of an id that this process has made, if it still holds it.
void forget_id(const UniqueId& id);

/// A mapping of a communicator's memory.
class Segment {
 public:
  /// Maps the memory of the id for this many ranks, of which the caller is `rank`.
  static Failure attach(const UniqueId& id, uint32_t ranks, uint32_t rank,
                        std::unique_ptr<Segment>* out);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  /// Makes a failure the communicator's, unless it has one, and wakes all that wait.
  void fail(const Failure& failure);

  SharedHeader& header() const { return *static_cast<SharedHeader*>(base_); }
  SharedSlot& slot(uint32_t rank) const { return at<SharedSlot>(layout_.slots())[rank]; }
  /// The rank's buffer `number`: 0 and 1 for inputs, 2 and 3 for results.
  uint8_t* staging(uint32_t rank, uint32_t number) const {
    return at<uint8_t>(layout_.staging() +
                       (uint64_t{rank} * kStagingBuffers + number) * kStagingBytes);
  }
  SharedRing& ring(uint32_t from, uint32_t to) const {
    return at<SharedRing>(layout_.rings())[uint64_t{from} * layout_.ranks + to];
  }
  uint8_t* message(uint32_t from, uint32_t to, uint64_t slot) const {
    const uint64_t number = (uint64_t{from} * layout_.ranks + to) * kRingSlots + slot;
    return at<uint8_t>(layout_.messages() + number * kRingSlotBytes);
  }
  uint32_t ranks() const { return layout_.ranks; }

 private:
  Segment(void* base, uint32_t ranks) : base_(base), layout_{ranks} {}
  template <class T>
  T* at(uint64_t offset) const {
    return reinterpret_cast<T*>(static_cast<uint8_t*>(base_) + offset);
  }

  void* const base_;
  const Layout layout_;
};

}  // namespace km::comm
