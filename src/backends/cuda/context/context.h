// Contexts of the library, which share their device's primary context.
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
  /// The epoch in which new objects of the context are made.
  std::shared_ptr<Epoch> epoch() const {
    const std::lock_guard lock(mutex_);
    return epoch_;
  }
  void set_epoch(std::shared_ptr<Epoch> epoch) {
    const std::lock_guard lock(mutex_);
    epoch_.swap(epoch);
  }
  const std::shared_ptr<Profile>& profile() const { return profile_; }

  /// Stores a limit, so that the next epoch gets it too.
  void remember_limit(km_context_limit limit, uint64_t value);
  Status set_limits_again(Epoch& epoch) const;

 private:
  PrimaryContext& primary_;
  const std::shared_ptr<Profile> profile_;
  mutable std::mutex mutex_;
  std::shared_ptr<Epoch> epoch_;
  std::map<km_context_limit, uint64_t> limits_;
};

/// Returns the context's epoch if it has not failed; the caller makes it current.
Result<std::shared_ptr<Epoch>> live_epoch(kmb_context* context);

/// Sets a limit of the primary context, which must be current.
Status set_limit(Epoch& epoch, km_context_limit limit, uint64_t value);

}  // namespace km::cuda
