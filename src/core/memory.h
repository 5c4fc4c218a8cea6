// Allocations: what slices and host memory objects are handles to.
#pragma once

#include <cstdint>

#include "core/context.h"
#include "core/handle_table.h"
#include "core/use_list.h"

namespace km {

class Module;
struct ReleaseCallbackBox;

class Memory final : public ContextChild {
 public:
  /// Device memory, usable at once or, with a stream, in that stream's order.
  static Result<Ref<Memory>> create(Context& context, Stream* stream, uint64_t size_bytes,
                                    bool zeroed, uint64_t element_size_bytes);
  /// The host program's memory as device memory.
  static Result<Ref<Memory>> from_host(Context& context, void* pointer, uint64_t size_bytes,
                                       uint64_t element_size_bytes);
  /// Page-locked host memory: new, or the host program's own.
  static Result<Ref<Memory>> create_host(Context& context, uint64_t size_bytes);
  static Result<Ref<Memory>> register_host(Context& context, void* pointer, uint64_t size_bytes);
  /// A global symbol; the same object for every caller while one of them holds it.
  static Result<Ref<Memory>> of_global(Module& module, const kmb_global_info& info);

  uint64_t address() const { return info_.address; }
  void* host_pointer() const { return info_.host_pointer; }
  uint64_t size_bytes() const { return info_.size_bytes; }
  uint64_t element_size_bytes() const { return element_size_bytes_; }

  /// Has `release` called once when memory of from_host() is no longer used. A step of its own, so
  /// that nothing is released when the making of the handle fails.
  void set_release(km_release_callback release, void* user_data);

  /// Notes a use, so that the memory outlives it.
  void record_use(Stream& stream, uint64_t ticket) { uses_->record(stream, ticket); }

  /// Internal handles: the table keeps an object in place while a finder looks at it.
  void handle_gone() override { delete this; }

 private:
  enum class Space : uint8_t { kDevice, kHost };
  Memory(Context& context, uint64_t element_size_bytes)
      : ContextChild(context), element_size_bytes_(element_size_bytes) {}
  ~Memory() override;
  void last_reference_gone() override;
  AddressMap& ranges();
  uint64_t range_begin() const;
  Status publish(Space space);

  kmb_memory* native_ = nullptr;  // null: empty, or a global symbol
  kmb_memory_info info_{};
  const uint64_t element_size_bytes_;
  Space space_ = Space::kDevice;
  uint64_t id_ = 0;  // in the table of memories; 0: not to be found by address
  UseList own_uses_;
  UseList* uses_ = &own_uses_;             // of a global symbol: its module's
  Ref<Object> owner_;                      // of a global symbol: the module
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
/// The page-locked host memory that holds all of [pointer, pointer + size_bytes).
FoundMemory find_pinned_memory(Context& context, const void* pointer, uint64_t size_bytes);
/// The same with an error for addresses that are not known, and for ranges that reach beyond.
Result<FoundMemory> find_device_range(Context& context, uint64_t address, uint64_t size_bytes,
                                      const char* what);

}  // namespace km
