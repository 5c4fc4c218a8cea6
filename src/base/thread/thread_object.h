// Objects that each thread has one of.
#pragma once

#include <memory>

namespace km {

/// An object of type T for each thread, made at its first use and destroyed when the thread ends.
/// Calls come later than that: from destructors of thread-local objects, of keys
/// (pthread_key_create) and, in the main thread, of static objects. They get a new object, which is
/// not destroyed.
template <class T>
class ThreadObject {
 public:
  /// The calling thread's object. Throws std::bad_alloc.
  static T& get() {
    T* const known = object_;
    return known != nullptr ? *known : make();
  }
  /// The calling thread's object, null if there is none yet. Never fails.
  static T* find() noexcept { return object_; }

 private:
  struct End {
    ~End() {
      std::unique_ptr<T>(object_).reset();  // which may still ask for it
      object_ = nullptr;
    }
  };
  [[gnu::noinline]] static T& make() {
    object_ = std::make_unique<T>().release();
    thread_local End end;
    return *object_;
  }

  static inline constinit thread_local T* object_ = nullptr;
};

}  // namespace km
