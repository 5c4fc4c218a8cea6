// Objects with one instance per thread.
#pragma once

#include <memory>

namespace km {

/// Holds one object of type T per thread, created at its first use and destroyed when the thread
/// ends. Calls may come later: from destructors of thread-local objects, of keys
/// (pthread_key_create) and, on the main thread, of static objects. They get a new object, which is
/// leaked.
template <class T>
class ThreadObject {
 public:
  /// The calling thread's object, created if necessary. Throws std::bad_alloc.
  static T& get() {
    T* const known = object_;
    return known != nullptr ? *known : make();
  }
  /// The calling thread's object; null if there is none yet. It never fails.
  static T* find() noexcept { return object_; }

 private:
  struct End {
    ~End() {
      std::unique_ptr<T>(object_).reset();  // its destructor may still ask for the object
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
