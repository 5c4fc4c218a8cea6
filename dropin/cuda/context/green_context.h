// Sets of multiprocessors, and the green contexts that have them.
#pragma once

#include <atomic>

#include "dropin/cuda/context/context.h"

namespace km::dropin {

/// Some multiprocessors of a device, as a CUdevResource tells them to a program.
struct SmSet {
  int device = 0;
  unsigned count = 0;
  uint64_t split = 0;  // which call divided the device; 0: the device or a context as a whole
  unsigned part = 0;   // which part of that split

  /// All of a device's, undivided.
  static CUresult all_of(DeviceState& device, SmSet* out);
  /// CUDA_ERROR_INVALID_RESOURCE_TYPE for other resources, CUDA_ERROR_INVALID_VALUE for one that no
  /// call has filled in.
  static CUresult read(const CUdevResource& given, SmSet* out);
  void write(CUdevResource* out) const;
};

/// The resources for green contexts; programs hold it as a CUdevResourceDesc, for ever.
class ResourceSet final : public Handled {
 public:
  explicit ResourceSet(SmSet sms) : sms_(sms) {}
  const SmSet& sms() const { return sms_; }

 private:
  const SmSet sms_;
};

/// A part of a device's multiprocessors over its primary context, whose memory, modules and handle
/// it shares. Queries return the part; kernels run on all cores.
class GreenContext final : public Handled {
 public:
  /// Retains the primary context.
  static CUresult create(DeviceState& device, const SmSet& sms, Ref<GreenContext>* out);

  Context& context() const { return *primary_; }
  const SmSet& sms() const { return sms_; }
  bool is_destroyed() const { return destroyed_.load(std::memory_order_acquire); }
  /// Detaches its streams from now on. False: it was destroyed before.
  bool mark_destroyed() { return !destroyed_.exchange(true); }
  /// Lets go of the primary context. Once, after mark_destroyed().
  CUresult release(const MayBlock& may_block);

 private:
  GreenContext(Ref<Context> primary, const SmSet& sms) : primary_(std::move(primary)), sms_(sms) {}

  const Ref<Context> primary_;
  const SmSet sms_;
  std::atomic<bool> destroyed_{false};
};

}  // namespace km::dropin
