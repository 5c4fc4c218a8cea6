// Allocations: the objects behind handles of slices and host memory.
#pragma once

#include <cstdint>
#include <memory>

#include "core/context/context.h"
#include "core/object/handle_table.h"
#include "core/stream/access_list.h"
#include "core/stream/use_list.h"

namespace km {

class MappedFile;
class Pool;
struct ReleaseCallbackBox;

class Memory final : public ContextChild {
 public:
  /// Device memory, usable at once or, if a stream is given, in that stream's order.
  static Result<Ref<Memory>> create(Context& context, Stream* stream, uint64_t size_bytes,
                                    km_slice_flags flags, uint64_t element_size_bytes,
                                    km_allocation_kind kind = KM_ALLOCATION_DEVICE);
  /// `alignment_bytes` must be a power of two. Larger alignments than the backend's allocate up to
  /// that many bytes more.
  static Result<Ref<Memory>> create_aligned(Context& context, uint64_t size_bytes, bool zeroed,
                                            uint64_t element_size_bytes, uint64_t alignment_bytes);
  /// Makes the host program's memory usable as device memory; the program keeps ownership.
  static Result<Ref<Memory>> from_host(Context& context, void* pointer, uint64_t size_bytes,
                                       uint64_t element_size_bytes);
  /// Page-locked host memory: create_host() allocates it, register_host() locks the host program's
  /// memory.
  static Result<Ref<Memory>> create_host(Context& context, uint64_t size_bytes);
  static Result<Ref<Memory>> register_host(Context& context, void* pointer, uint64_t size_bytes);
  /// A file as device memory or as host memory; copies treat the latter like any other host memory.
  static Result<Ref<Memory>> map_file(Context& context, std::shared_ptr<const MappedFile> file,
                                      bool is_host, uint64_t element_size_bytes);
  /// A free block of a pool, which start_use() hands out.
  static Result<Ref<Memory>> create_block(Pool& pool, Stream* stream, uint64_t block_bytes,
                                          bool zeroed);
  /// The symbols of a module share one owner and one access list.
  struct Symbols {
    ContextChild& module;
    UseList& uses;
    AccessList* accesses;  // null: their uses are not ordered
  };
  /// A global symbol. All callers get one object while any of them holds it. The caller holds the
  /// module's lock of globals.
  static Result<Ref<Memory>> of_global(const Symbols& symbols, const kmb_global_info& info);

  uint64_t address() const { return info_.address; }
  void* host_pointer() const { return info_.host_pointer; }
  uint64_t size_bytes() const { return size_bytes_.load(std::memory_order_relaxed); }
  uint64_t element_size_bytes() const {
    return element_size_bytes_.load(std::memory_order_relaxed);
  }
  /// True if the address lies in allocated memory; a free block of a pool holds no address.
  bool holds(uint64_t address) const { return address - range_begin() < size_bytes(); }
  /// The number of bytes from an offset to the end; 0 beyond the end.
  uint64_t bytes_from(uint64_t offset) const {
    // The size is read once, because that of a block may change meanwhile.
    const uint64_t size = size_bytes();
    return offset < size ? size - offset : 0;
  }

  /// The mapped file; null if the memory is not one.
  const MappedFile* file() const { return file_.get(); }
  /// Fails for files that are mapped read-only; `what` names the caller's operation in the message.
  Status require_writable(const char* what) const;
  /// The allocation's number in the context's tracker; 0 if it is not tracked.
  uint64_t tracking_id() const { return tracking_id_; }

  /// Sets the callback that runs once when memory of from_host() is no longer used. It is separate
  /// from from_host(), so that no callback runs if making the handle fails.
  void set_release(km_release_callback release, void* user_data);

  /// Moves the memory into a file that other processes can map. The file stays open while the
  /// memory lives.
  Result<kmb_shared_memory> share() const;

  /// Records a use, so that the memory outlives it. It does not order uses:
  /// core/memory/submission.h does.
  void record_use(Stream& stream, uint64_t ticket) noexcept {
    if (own_accesses_ != nullptr) return record_use_locked(stream, ticket);
    uses_->record(stream, ticket);
  }
  /// The list that orders uses on different streams; null: uses are not ordered.
  AccessList* accesses() const { return accesses_; }

  // For the pool that owns a block.
  uint64_t block_bytes() const { return info_.size_bytes; }
  bool is_free_for(const kmb_stream* stream);
  /// Marks a free block as used and returns its only reference.
  Ref<Memory> start_use(Pool& pool, uint64_t size_bytes, uint64_t element_size_bytes);
  /// Marks the block as free: find functions no longer return it.
  void end_use() {
    size_bytes_.store(0, std::memory_order_relaxed);
    uncount();
  }
  /// Counts a block in use in the memory profile and the tracker.
  void count_block() { count(KM_ALLOCATION_POOL); }
  /// Returns a free block to the backend.
  void retire();

  /// The handle is internal: the handle table keeps an object in place while a find function reads
  /// it.
  void handle_gone() override { delete this; }

 private:
  enum class Space : uint8_t { kDevice, kHost };
  Memory(Context& context, uint64_t element_size_bytes)
      : ContextChild(context), element_size_bytes_(element_size_bytes) {}
  void order_uses();
  void note_birth(Stream& stream);
  void record_use_locked(Stream& stream, uint64_t ticket) noexcept;
  void settle_uses() noexcept;
  ~Memory() override;
  void note_in_profile();
  void last_reference_gone() override;
  void remove();
  AddressMap& ranges();
  uint64_t range_begin() const {
    return space_ == Space::kHost ? reinterpret_cast<uint64_t>(info_.host_pointer) : info_.address;
  }
  Status publish(Space space, km_allocation_kind kind);
  void count(km_allocation_kind kind);
  void uncount();

  kmb_memory* native_ = nullptr;  // null: empty memory or a global symbol
  kmb_memory_info info_{};
  std::atomic<uint64_t> size_bytes_{0};  // for a block: the requested size, 0 while it is free
  std::atomic<uint64_t> element_size_bytes_;
  Space space_ = Space::kDevice;
  bool is_counted_ = false;  // counted as memory that the device allocated
  uint64_t id_ = 0;          // in the table of memories; 0: addresses do not lead to it
  UseList own_uses_;
  UseList* uses_ = &own_uses_;                // for a global symbol: the module's
  std::unique_ptr<AccessList> own_accesses_;  // its lock also guards own_uses_
  AccessList* accesses_ = nullptr;            // for a global symbol: the module's
  Ref<Object> owner_;  // for a global symbol: the module; for a block: the pool
  // The pool that owns a block; null once the block is being returned to the backend.
  Pool* pool_ = nullptr;
  std::shared_ptr<const MappedFile> file_;
  uint64_t tracking_id_ = 0;               // in the context's tracker
  uint64_t counted_bytes_ = 0;             // in the context's memory profile
  ReleaseCallbackBox* release_ = nullptr;  // for from_host(); the backend owns it
};

/// Memory found by address. It cannot be destroyed while this object lives.
class FoundMemory {
 public:
  FoundMemory() = default;
  explicit FoundMemory(HandleSlot* slot) : slot_(slot) {}
  FoundMemory(FoundMemory&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
  FoundMemory& operator=(FoundMemory&& other) noexcept {
    std::swap(slot_, other.slot_);
    return *this;
  }
  ~FoundMemory() {
    if (slot_ != nullptr) HandleTable::unpin(slot_);
  }
  explicit operator bool() const { return slot_ != nullptr; }
  Memory* operator->() const { return static_cast<Memory*>(HandleTable::object_of(slot_)); }
  Memory& operator*() const { return *operator->(); }
  /// Returns a reference; null if the last one was dropped already.
  Ref<Memory> keep() const;

 private:
  HandleSlot* slot_ = nullptr;
};

/// Finds the allocation that holds a device address, without a lock. Page-locked host memory is
/// found too if the device uses host addresses.
FoundMemory find_device_memory(Context& context, uint64_t address);
/// Finds the mapped file that holds a host address.
FoundMemory find_mapped_file(Context& context, const void* pointer);
/// Finds the page-locked host memory that holds all of [pointer, pointer + size_bytes).
FoundMemory find_pinned_memory(Context& context, const void* pointer, uint64_t size_bytes);
/// Finds a range of device memory; fails for unknown addresses and for ranges that exceed their
/// allocation.
Result<FoundMemory> find_device_range(Context& context, uint64_t address, uint64_t size_bytes,
                                      const char* what);

}  // namespace km
