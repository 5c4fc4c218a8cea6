// Allocations: what slices and host memory objects are handles to.
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
  /// Device memory, usable at once or, with a stream, in that stream's order.
  static Result<Ref<Memory>> create(Context& context, Stream* stream, uint64_t size_bytes,
                                    km_slice_flags flags, uint64_t element_size_bytes,
                                    km_allocation_kind kind = KM_ALLOCATION_DEVICE);
  /// Memory at a multiple of a power of two.
  static Result<Ref<Memory>> create_aligned(Context& context, uint64_t size_bytes, bool zeroed,
                                            uint64_t element_size_bytes, uint64_t alignment_bytes);
  /// The host program's memory as device memory.
  static Result<Ref<Memory>> from_host(Context& context, void* pointer, uint64_t size_bytes,
                                       uint64_t element_size_bytes);
  /// Page-locked host memory: new, or the host program's own.
  static Result<Ref<Memory>> create_host(Context& context, uint64_t size_bytes);
  static Result<Ref<Memory>> register_host(Context& context, void* pointer, uint64_t size_bytes);
  /// A file as device memory, or as host memory that copies treat like any other of the caller's.
  static Result<Ref<Memory>> map_file(Context& context, std::shared_ptr<const MappedFile> file,
                                      bool is_host, uint64_t element_size_bytes);
  /// A free block of a pool, to be given out by start_use().
  static Result<Ref<Memory>> create_block(Pool& pool, Stream* stream, uint64_t block_bytes,
                                          bool zeroed);
  /// The symbols of a module have one owner and one order.
  struct Symbols {
    ContextChild& module;
    UseList& uses;
    AccessList* accesses;  // null: nothing orders them
  };
  /// A global symbol; the same object for every caller while one of them holds it. The caller
  /// holds the module's lock of globals.
  static Result<Ref<Memory>> of_global(const Symbols& symbols, const kmb_global_info& info);

  uint64_t address() const { return info_.address; }
  void* host_pointer() const { return info_.host_pointer; }
  uint64_t size_bytes() const { return size_bytes_.load(std::memory_order_relaxed); }
  uint64_t element_size_bytes() const {
    return element_size_bytes_.load(std::memory_order_relaxed);
  }
  /// True if the address lies in what is allocated now: nothing does in a free block of a pool.
  bool holds(uint64_t address) const { return address - range_begin() < size_bytes(); }
  /// How much there is from an offset on; 0 beyond the end.
  uint64_t bytes_from(uint64_t offset) const {
    const uint64_t size = size_bytes();  // of a block it may change meanwhile
    return offset < size ? size - offset : 0;
  }

  /// The file that it shows; null: none.
  const MappedFile* file() const { return file_.get(); }
  /// An error for memory that may only be read.
  Status require_writable(const char* what) const;
  /// 0: not tracked.
  uint64_t tracking_id() const { return tracking_id_; }

  /// Has `release` called once when memory of from_host() is no longer used. A step of its own, so
  /// that nothing is released when the making of the handle fails.
  void set_release(km_release_callback release, void* user_data);

  /// Moves it into a file that other processes can map. The file stays open while the memory lives.
  Result<kmb_shared_memory> share() const;

  /// Notes a use, so that the memory outlives it. Orders nothing: core/memory/submission.h does.
  void record_use(Stream& stream, uint64_t ticket) noexcept {
    if (own_accesses_ != nullptr) return record_use_locked(stream, ticket);
    uses_->record(stream, ticket);
  }
  /// The list that orders uses on different streams; null: nothing does.
  AccessList* accesses() const { return accesses_; }

  // For the pool of a block.
  uint64_t block_bytes() const { return info_.size_bytes; }
  bool is_free_for(const kmb_stream* stream);
  /// The block is in use from now on; gives its reference.
  Ref<Memory> start_use(Pool& pool, uint64_t size_bytes, uint64_t element_size_bytes);
  /// No longer to be found by its address.
  void end_use() {
    size_bytes_.store(0, std::memory_order_relaxed);
    uncount();
  }
  /// A block in use is counted.
  void count_block() { count(KM_ALLOCATION_POOL); }
  /// Gives a free block back to the backend.
  void retire();

  /// Internal handles: the table keeps an object in place while a finder looks at it.
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

  kmb_memory* native_ = nullptr;  // null: empty, or a global symbol
  kmb_memory_info info_{};
  std::atomic<uint64_t> size_bytes_{0};  // of a block: what was asked for, 0 while it is free
  std::atomic<uint64_t> element_size_bytes_;
  Space space_ = Space::kDevice;
  bool is_counted_ = false;  // as memory that the device gave
  uint64_t id_ = 0;          // in the table of memories; 0: not to be found by address
  UseList own_uses_;
  UseList* uses_ = &own_uses_;                // of a global symbol: its module's
  std::unique_ptr<AccessList> own_accesses_;  // its lock guards own_uses_ too
  AccessList* accesses_ = nullptr;            // of a global symbol: its module's
  Ref<Object> owner_;     // of a global symbol: the module; of a block: the pool
  Pool* pool_ = nullptr;  // of a block, while it is not being given back
  std::shared_ptr<const MappedFile> file_;
  uint64_t tracking_id_ = 0;               // in the context's tracker
  uint64_t counted_bytes_ = 0;             // in the context's memory profile
  ReleaseCallbackBox* release_ = nullptr;  // of from_host(): the backend's
};

/// Memory found by address, kept in place for the time of a call.
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
  /// A lasting reference; null when the last one is gone already.
  Ref<Memory> keep() const;

 private:
  HandleSlot* slot_ = nullptr;
};

/// The allocation that holds a device address (page-locked host memory counts where the device
/// uses the host's addresses). Lock-free.
FoundMemory find_device_memory(Context& context, uint64_t address);
/// The mapped file that holds a host address.
FoundMemory find_mapped_file(Context& context, const void* pointer);
/// The page-locked host memory that holds all of [pointer, pointer + size_bytes).
FoundMemory find_pinned_memory(Context& context, const void* pointer, uint64_t size_bytes);
/// Finds a range of device memory; an error for addresses that are not known, and for ranges that
/// reach beyond.
Result<FoundMemory> find_device_range(Context& context, uint64_t address, uint64_t size_bytes,
                                      const char* what);

}  // namespace km
