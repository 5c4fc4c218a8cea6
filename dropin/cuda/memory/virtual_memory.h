// Virtual memory: reserved address ranges, physical memory, and the mappings between them.
//
// A context knows each range that its device may access in part as one piece of memory; accesses
// outside its mappings fault, because those pages allow no access.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "dropin/cuda/context/context.h"
#include "dropin/cuda/memory/backing.h"

namespace km::dropin {

/// The granularity of mappings.
inline constexpr uint64_t kMappingBytes = 2 << 20;

/// Physical memory.
class Multicast;

class MemoryHandle final : public Handled {
 public:
  explicit MemoryHandle(const CUmemAllocationProp& properties);
  ~MemoryHandle() override;

  const CUmemAllocationProp& properties() const { return properties_; }
  uint64_t size_bytes() const { return backing_.size_bytes(); }
  Backing& backing() { return backing_; }
  bool can_be_shared() const {
    return properties_.requestedHandleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  }
  /// Null unless the handle represents a multicast object, which has no memory of its own.
  Multicast* multicast() const { return multicast_.get(); }
  void make_multicast(uint64_t size_bytes);
  /// Counts the memory against this device's limit while it exists.
  void charge(DeviceState& device) { charged_ = &device; }

 private:
  friend class VirtualMemory;
  const CUmemAllocationProp properties_;
  Backing backing_;
  std::unique_ptr<Multicast> multicast_;
  DeviceState* charged_ = nullptr;
  uint64_t holders_ = 1;  // holders of the handle; guarded by VirtualMemory's mutex
};

/// A multicast object of one device: a mapping of the object leads to the memory bound to it.
class Multicast {
 public:
  explicit Multicast(uint64_t size_bytes) : size_bytes_(size_bytes) {}
  uint64_t size_bytes() const { return size_bytes_; }
  /// Adds the device; CUDA_ERROR_INVALID_VALUE if the object has one already.
  CUresult add_device(int device);
  /// Binds the first bytes of memory of the object's device.
  CUresult bind(MemoryHandle& memory, uint64_t size_bytes);
  CUresult unbind(int device);
  /// Null if no memory is bound.
  Ref<MemoryHandle> bound();

 private:
  const uint64_t size_bytes_;
  std::mutex mutex_;  // guards the members below
  int device_ = -1;
  Ref<MemoryHandle> bound_;
};

/// The mapping at an address.
struct MappedPlace {
  uint64_t range_begin = 0, range_bytes = 0;
  uint64_t begin = 0, size_bytes = 0;  // the mapping's; size 0: nothing is mapped
  CUmemAllocationProp properties{};
  CUmemAccess_flags access = CU_MEM_ACCESS_FLAGS_PROT_NONE;  // the access of the device in question
};

class VirtualMemory {
 public:
  static VirtualMemory& instance();

  CUresult reserve(uint64_t size_bytes, uint64_t alignment, CUdeviceptr hint, CUdeviceptr* out);
  CUresult free(CUdeviceptr address, uint64_t size_bytes);
  CUresult map(CUdeviceptr address, uint64_t size_bytes, MemoryHandle& memory);
  CUresult unmap(CUdeviceptr address, uint64_t size_bytes);
  CUresult set_access(CUdeviceptr address, uint64_t size_bytes, const CUmemAccessDesc* access,
                      size_t count);

  /// Adds a holder to the handle of the memory that is mapped at the address.
  CUresult retain(CUdeviceptr address, CUmemGenericAllocationHandle* out);
  CUresult release(CUmemGenericAllocationHandle handle);

  /// Returns false if the address is in no reserved range.
  bool find(CUdeviceptr address, int device, MappedPlace* out);
  /// True if the device may access all of these bytes; false if any part is unmapped.
  bool is_accessible(CUdeviceptr address, uint64_t size_bytes, int device);

  /// Called when a context begins: grants it the access that its device has.
  CUresult enter(Context& context);
  void leave(const Context& context);

 private:
  struct Mapping {
    uint64_t size_bytes = 0;
    Ref<MemoryHandle> memory;
    std::map<int, CUmemAccess_flags> access;  // by device
    CUmemAccess_flags access_of(int device) const;
    /// The page protection that results from the access of all devices together.
    int protection() const;
  };
  struct Range {
    uint64_t size_bytes = 0;
    std::map<uint64_t, Mapping> mappings;
    std::map<uint64_t, Ref<km::Memory>> known;  // by context
    bool is_used_by(int device) const;
  };
  using Ranges = std::map<uint64_t, Range>;
  using Part =
      std::pair<std::map<uint64_t, Mapping>::iterator, std::map<uint64_t, Mapping>::iterator>;

  VirtualMemory() = default;
  Ranges::iterator range_at(CUdeviceptr address);
  static CUresult whole_mappings(Range& range, CUdeviceptr address, uint64_t size_bytes, Part* out);
  static CUresult introduce(uint64_t begin, Range& range, Context& context);
  CUresult introduce_to_all(uint64_t begin, Range& range);

  std::shared_mutex mutex_;  // guards the members below
  Ranges ranges_;
  std::atomic<bool> has_ranges_{false};  // true once a range was ever reserved
};

}  // namespace km::dropin
