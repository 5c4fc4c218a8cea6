// Slices: device memory with a length; views: parts of slices.
#pragma once

#include <atomic>
#include <string>

#include "base/thread/spin_lock.h"
#include "core/kernel/kernel_types.h"
#include "core/memory/memory.h"

namespace km {

class Slice final : public ContextChild {
 public:
  /// The `count` elements from offset_bytes on; the caller has checked that they lie inside.
  Slice(Ref<Memory> memory, uint64_t offset_bytes, uint64_t element_count,
        uint64_t element_size_bytes, bool is_view);

  static Result<Ref<Slice>> create(Context& context, Stream* stream, uint64_t element_count,
                                   uint64_t element_size_bytes, km_slice_flags flags);
  static Result<Ref<Slice>> create_aligned(Context& context, uint64_t element_count,
                                           uint64_t element_size_bytes, uint64_t alignment_bytes,
                                           km_slice_flags flags);
  /// Rows of `row_bytes` bytes; *out_pitch_bytes receives the distance between two rows.
  static Result<Ref<Slice>> create_pitched(Context& context, uint64_t row_bytes, uint64_t row_count,
                                           km_slice_flags flags, uint64_t* out_pitch_bytes);
  static Result<Ref<Slice>> from_pool(Pool& pool, Stream* stream, uint64_t element_count,
                                      uint64_t element_size_bytes, km_slice_flags flags);
  /// An `element_count` of UINT64_MAX maps the file from the offset to its end.
  static Result<Ref<Slice>> map_file(Context& context, const char* path, uint64_t offset_bytes,
                                     uint64_t element_count, uint64_t element_size_bytes,
                                     km_map_flags flags);
  static Result<Ref<Slice>> from_host(Context& context, void* pointer, uint64_t element_count,
                                      uint64_t element_size_bytes);
  Result<Ref<Slice>> view(uint64_t first_element, uint64_t element_count) const;

  Memory& memory() const { return *memory_; }
  uint64_t address() const { return memory_->address() + offset_bytes_; }
  uint64_t size_bytes() const { return element_count_ * element_size_bytes_; }
  km_slice_info info() const;
  std::optional<HeldMemory> held_memory() const override {
    return HeldMemory{size_bytes(), memory_->tracking_id()};
  }
  /// The element type; 0 if none was given.
  ElementTag element_tag() const { return element_tag_.load(std::memory_order_relaxed); }
  ElementType element_type() const;
  void set_element_type(const ElementType& type);
  /// Null, with a reason, if the host cannot reach the memory.
  Result<void*> host_pointer() const;

  /// Fails if the range exceeds the slice; `what` names it in the message.
  Status check_range(uint64_t offset_bytes, uint64_t size_bytes, const char* what) const;
  /// Frees the memory in stream order once this slice and its views are destroyed.
  Status mark_last_use(Stream& stream);

 private:
  const Ref<Memory> memory_;
  const uint64_t offset_bytes_;
  const uint64_t element_count_;
  const uint64_t element_size_bytes_;
  const bool is_view_;
  std::atomic<ElementTag> element_tag_{0};
  mutable SpinLock element_name_lock_;
  std::string element_name_;  // for a type that only has a name; guarded by element_name_lock_
};

/// A slice of the whole allocation that holds `address`.
struct FoundSlice {
  Ref<Slice> slice;
  uint64_t offset_bytes = 0;
};
Result<FoundSlice> find_slice(Context& context, uint64_t address);

}  // namespace km
