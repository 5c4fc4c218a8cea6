// A context of the library: one of those that share a device's primary context.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "backends/cuda/context/device.h"
#include "backends/cuda/context/profile.h"

namespace km::cuda {

class Context {
 public:
  Context(PrimaryContext& primary, std::shared_ptr<Epoch> epoch)
      : primary_(primary), profile_(std::make_shared<Profile>()), epoch_(std::move(epoch)) {}

  PrimaryContext& primary() const { return primary_; }
  /// The epoch in which the context's objects are made from now on.
  std::shared_ptr<Epoch> epoch() const {
    const std::lock_guard lock(mutex_);
    return epoch_;
  }
  void set_epoch(std::shared_ptr<Epoch> epoch) {
    const std::lock_guard lock(mutex_);
    epoch_.swap(epoch);
  }
  const std::shared_ptr<Profile>& profile() const { return profile_; }

  /// Remembers a limit that was set, for the next epoch.
  void remember_limit(km_context_limit limit, uint64_t value);
  Status set_limits_again(Epoch& epoch) const;

 private:
  PrimaryContext& primary_;
  const std::shared_ptr<Profile> profile_;
  mutable std::mutex mutex_;
  std::shared_ptr<Epoch> epoch_;
  std::map<km_context_limit, uint64_t> limits_;
};

/// The context's epoch, when it has not failed, made current by the caller.
Result<std::shared_ptr<Epoch>> live_epoch(kmb_context* context);

/// With the context current.
Status set_limit(Epoch& epoch, km_context_limit limit, uint64_t value);

}  // namespace km::cuda
