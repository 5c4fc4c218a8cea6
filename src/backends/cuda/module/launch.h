// Arguments and attributes of launches in the driver's form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "backend/interface.h"
#include "cuda/driver.h"

namespace km::cuda {

/// The launch attributes, for values that are not parameters of cuLaunchKernel.
class LaunchAttributes {
 public:
  explicit LaunchAttributes(const kmb_launch& launch) {
    if (launch.is_cooperative != 0) add(cu::CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative = 1;
    const uint32_t* size = launch.cluster;
    if ((size[0] | size[1] | size[2]) == 0) return;
    add(cu::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).clusterDim = {size[0], size[1], size[2]};
  }
  cu::CUlaunchAttribute* data() { return list_; }
  unsigned count() const { return count_; }

 private:
  cu::CUlaunchAttributeValue& add(cu::CUlaunchAttributeID id) {
    list_[count_].id = id;
    return list_[count_++].value;
  }

  cu::CUlaunchAttribute list_[2]{};
  unsigned count_ = 0;
};

inline bool is_plain(const kmb_launch& launch) {
  return (launch.is_cooperative | launch.cluster[0] | launch.cluster[1] | launch.cluster[2]) == 0;
}
inline bool have_same_attributes(const kmb_launch& a, const kmb_launch& b) {
  return a.is_cooperative == b.is_cooperative &&
         std::memcmp(a.cluster, b.cluster, sizeof a.cluster) == 0;
}

/// The `extra` parameter of cuLaunchKernel. It points to itself and to the arguments, so it cannot
/// be copied.
class LaunchBuffer {
 public:
  LaunchBuffer(const void* arguments, uint64_t size_bytes)
      : size_(size_bytes),
        list_{reinterpret_cast<void*>(kPointer), const_cast<void*>(arguments),
              reinterpret_cast<void*>(kSize), &size_, nullptr} {}
  LaunchBuffer(const LaunchBuffer&) = delete;
  LaunchBuffer& operator=(const LaunchBuffer&) = delete;
  /// Null if the kernel has no parameters.
  void** extra() { return size_ != 0 ? list_ : nullptr; }

 private:
  // CU_LAUNCH_PARAM_BUFFER_POINTER and CU_LAUNCH_PARAM_BUFFER_SIZE; null ends the list.
  static constexpr uintptr_t kPointer = 1, kSize = 2;
  size_t size_;
  void* list_[5];
};

}  // namespace km::cuda
