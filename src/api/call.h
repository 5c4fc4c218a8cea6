// The state of one call across the boundary: its handles and its failure.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/context/context.h"
#include "core/object/handles.h"

namespace km {

/// Resolves the handles of a call and pins their objects until the call returns.
class Call {
 public:
  explicit Call(const char* function) : function_(function) {}
  ~Call() {
    for (uint32_t i = 0; i < pin_count_; ++i) HandleTable::unpin(pins_[i]);
    for (HandleSlot* slot : more_pins_) HandleTable::unpin(slot);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// The live object of a handle, or null; take_error() then has the reason, which names
  /// `parameter`.
  template <class Handle>
  typename HandleTraits<Handle>::Target* get(Handle handle, const char* parameter) {
    using Target = typename HandleTraits<Handle>::Target;
    Object* object = pin(HandleTraits<Handle>::kType, id_of(handle), parameter);
    if (object == nullptr) return nullptr;
    auto* target = static_cast<Target*>(object);
    if constexpr (std::is_same_v<Target, Context>) {
      if (context_ == nullptr) context_ = target;
    } else if constexpr (std::is_base_of_v<ContextChild, Target>) {
      if (!check_child(*target, parameter)) return nullptr;
    }
    return target;
  }

  /// The reason why the last get() returned null.
  Error take_error() { return std::move(error_); }
  /// The error for an id that is not a live handle of this type.
  static Error not_live(ObjectType type, uint64_t id, const char* parameter);

  /// Records a failure for the calling thread and for the call's context, and returns its status.
  km_status fail(const Error& error) noexcept;
  km_status fail(km_status status, const char* text) noexcept;

 private:
  static constexpr uint32_t kInlinePins = 12;

  Object* pin(ObjectType type, uint64_t id, const char* parameter) {
    HandleSlot* slot = handle_table(type).pin(id);
    if (slot == nullptr) [[unlikely]] {
      error_ = not_live(type, id, parameter);
      return nullptr;
    }
    if (pin_count_ < kInlinePins) [[likely]] {
      pins_[pin_count_++] = slot;
    } else {
      keep_further(slot);
    }
    return HandleTable::object_of(slot);
  }
  void keep_further(HandleSlot* slot);
  bool check_child(const ContextChild& child, const char* parameter) {
    if (context_ == nullptr) context_ = &child.context();
    if (!child.is_lost()) [[likely]]
      return true;
    reject_lost(parameter);
    return false;
  }
  void reject_lost(const char* parameter);

  const char* const function_;
  uint32_t pin_count_ = 0;
  HandleSlot* pins_[kInlinePins];
  std::vector<HandleSlot*> more_pins_;
  Context* context_ = nullptr;
  Error error_;
};

}  // namespace km
