// Base class of the core's objects, which counts references.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/assert.h"

namespace km {

/// A reference-counted object; its creator holds the first reference.
class Object {
 public:
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  void ref() const {
    [[maybe_unused]] const uint64_t before = references_.fetch_add(1, std::memory_order_relaxed);
    KM_ASSERT(before != 0, "only the holder of a reference copies it");
  }
  /// Adds a reference unless the count is 0 already, for callers that only know that the memory is
  /// valid.
  bool try_ref() const {
    uint64_t count = references_.load(std::memory_order_relaxed);
    while (count != 0) {
      if (references_.compare_exchange_weak(count, count + 1, std::memory_order_acquire,
                                            std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }
  void unref() const {
    const uint64_t before = references_.fetch_sub(1, std::memory_order_acq_rel);
    KM_ASSERT(before != 0, "an object is not released more often than it was referenced");
    if (before == 1) {
      const_cast<Object*>(this)->last_reference_gone();
    }
  }

  /// Called when the object's handle was destroyed and no call uses it: drops the handle's
  /// reference.
  virtual void handle_gone() { unref(); }

 protected:
  Object() = default;
  virtual ~Object() = default;
  virtual void last_reference_gone() { delete this; }
  /// Sets the first reference again, for an object that is reused after its last reference was
  /// dropped.
  void revive() { references_.store(1, std::memory_order_release); }

 private:
  mutable std::atomic<uint64_t> references_{1};
};

/// Owns one reference to an object.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}  // NOLINT: implicit
  Ref(const Ref& other) : object_(other.object_) {
    if (object_ != nullptr) object_->ref();
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  ~Ref() {
    if (object_ != nullptr) object_->unref();
  }
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }

  /// Takes over an existing reference, for example that of a new object.
  static Ref adopt(T* object) {
    Ref result;
    result.object_ = object;
    return result;
  }
  /// Adds a reference to an object that another owner keeps alive during the call.
  static Ref share(T& object) {
    object.ref();
    return adopt(&object);
  }

  T* get() const { return object_; }
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  /// Passes the reference to the caller.
  T* release() { return std::exchange(object_, nullptr); }

 private:
  T* object_ = nullptr;
};

/// A new object with its first reference.
template <class T, class... Arguments>
Ref<T> make_ref(Arguments&&... arguments) {
  return Ref<T>::adopt(new T(std::forward<Arguments>(arguments)...));
}

}  // namespace km
