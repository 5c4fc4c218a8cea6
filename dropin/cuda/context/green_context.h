// Sets of multiprocessors, and green contexts, which run on them.
#pragma once

#include <atomic>

#include "dropin/cuda/context/context.h"

namespace km::dropin {

/// A set of multiprocessors of one device, as a program holds it in a CUdevResource.
struct SmSet {
  int device = 0;
  unsigned count = 0;
  uint64_t split = 0;  // the call that divided the device; 0: undivided
  unsigned part = 0;   // the part's number in that split

  /// All multiprocessors of a device.
  static CUresult all_of(DeviceState& device, SmSet* out);
  /// CUDA_ERROR_INVALID_RESOURCE_TYPE for other types of resource, CUDA_ERROR_INVALID_VALUE for a
  /// resource that no call has filled in, or that has more than its device.
  static CUresult read(const CUdevResource& given, SmSet* out);
  CUdevResource resource() const;
};

/// The resources for green contexts, which programs hold as a CUdevResourceDesc. CUDA has no call
/// that frees one.
class ResourceSet final : public Handled {
 public:
  explicit ResourceSet(SmSet sms) : sms_(sms) {}
  const SmSet& sms() const { return sms_; }

 private:
  const SmSet sms_;
};

/// A part of a device's multiprocessors on top of its primary context, whose memory, modules and
/// handle it shares. Queries return the part, but kernels run on all cores.
class GreenContext final : public Handled {
 public:
  /// Creates a green context and retains the primary context.
  static CUresult create(DeviceState& device, const SmSet& sms, Ref<GreenContext>* out);

  Context& context() const { return *primary_; }
  const SmSet& sms() const { return sms_; }
  bool is_destroyed() const { return destroyed_.load(std::memory_order_acquire); }
  /// Marks the context as destroyed, which detaches its streams. Returns false if it was destroyed
  /// before.
  bool mark_destroyed() { return !destroyed_.exchange(true); }
  /// Releases the primary context. Called once, after mark_destroyed().
  CUresult release(const MayBlock& may_block);

 private:
  GreenContext(Ref<Context> primary, const SmSet& sms) : primary_(std::move(primary)), sms_(sms) {}

  const Ref<Context> primary_;
  const SmSet sms_;
  std::atomic<bool> destroyed_{false};
};

}  // namespace km::dropin
