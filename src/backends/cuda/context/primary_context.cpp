#include "backends/cuda/context/primary_context.h"

#include <array>

namespace km::cuda {
namespace {

Result<PrimaryContext*> known_context(uint32_t ordinal, Result<PrimaryContext*> (*make)(uint32_t)) {
  // The contexts live as long as the process, because several opened devices share them.
  static std::mutex mutex;
  static std::array<PrimaryContext*, 64> contexts{};
  if (ordinal >= contexts.size()) {
    return make_error(KM_ERROR_NO_DEVICE, "there are no more than %zu devices", contexts.size());
  }
  const std::lock_guard lock(mutex);
  if (contexts[ordinal] == nullptr) {
    KM_ASSIGN(contexts[ordinal], make(ordinal));
  }
  return contexts[ordinal];
}

}  // namespace

Result<PrimaryContext*> PrimaryContext::open(uint32_t ordinal) {
  return known_context(ordinal, [](uint32_t number) -> Result<PrimaryContext*> {
    std::unique_ptr<PrimaryContext> made(new PrimaryContext(number));
    KM_TRY(made->gpu_.read());
    return made.release();
  });
}

Result<std::shared_ptr<Epoch>> PrimaryContext::retain_locked() {
  if (std::shared_ptr<Epoch> current = current_.lock()) return current;
  KM_ASSIGN(std::shared_ptr<Epoch> made, Epoch::create(gpu_));
  current_ = made;
  return made;
}

Result<std::shared_ptr<Epoch>> PrimaryContext::retain() {
  const std::lock_guard lock(mutex_);
  return retain_locked();
}

Result<std::shared_ptr<Epoch>> PrimaryContext::replace(const std::shared_ptr<Epoch>& lost) {
  const std::lock_guard lock(mutex_);
  if (current_.lock() != lost) return retain_locked();  // another context has replaced it already
  // Resetting harms nobody else: a failed primary context is unusable for the whole process.
  const std::unique_lock no_users(lost->reset_mutex());
  const Status reset = check(driver().cuDevicePrimaryCtxReset_v2(gpu_.device()));
  if (!reset) return reset.error();
  current_.reset();
  Result<std::shared_ptr<Epoch>> fresh = retain_locked();
  lost->set_gone();  // after the new retention, so that the reference count never drops to 0
  return fresh;
}

Result<PrimaryContext::Priorities> PrimaryContext::priorities() {
  std::shared_ptr<Epoch> epoch;
  {
    const std::lock_guard lock(mutex_);
    if (knows_priorities_) return priorities_;
    KM_ASSIGN(epoch, retain_locked());
  }
  const Current current(*epoch);
  if (!current.ok()) return epoch->check(current.called()).error();
  Priorities found;
  KM_TRY(epoch->check(driver().cuCtxGetStreamPriorityRange(&found.least, &found.greatest)));
  const std::lock_guard lock(mutex_);
  knows_priorities_ = true;
  priorities_ = found;
  return found;
}

}  // namespace km::cuda
