// Arguments in one buffer, as the driver takes them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace km::cuda {

/// The `extra` of cuLaunchKernel; refers to itself and to the arguments.
class LaunchBuffer {
 public:
  LaunchBuffer(const void* arguments, uint64_t size_bytes)
      : size_(size_bytes),
        list_{reinterpret_cast<void*>(kPointer), const_cast<void*>(arguments),
              reinterpret_cast<void*>(kSize), &size_, nullptr} {}
  LaunchBuffer(const LaunchBuffer&) = delete;
  LaunchBuffer& operator=(const LaunchBuffer&) = delete;
  /// Null for a kernel without parameters.
  void** extra() { return size_ != 0 ? list_ : nullptr; }

 private:
  // CU_LAUNCH_PARAM_BUFFER_POINTER and CU_LAUNCH_PARAM_BUFFER_SIZE; null is the end.
  static constexpr uintptr_t kPointer = 1, kSize = 2;
  size_t size_;
  void* list_[5];
};

}  // namespace km::cuda
