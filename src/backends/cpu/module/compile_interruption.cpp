#include "backends/cpu/module/compile_interruption.h"

#include <utility>

#include "backends/cpu/config/config.h"

namespace km::cpu {

CompileInterruption::CompileInterruption(const Context& context, std::string what)
    : context_(context),
      what_(std::move(what)),
      resets_(context.resets()),
      start_(std::chrono::steady_clock::now()) {}

Status CompileInterruption::check() const {
  if (context_.resets() != resets_) {
    return make_error(KM_ERROR_CONTEXT_LOST, "%s: the context was reset while it was compiled",
                      what_.c_str());
  }
  const uint64_t limit_ms = config().compile_timeout_ms;
  if (limit_ms == 0) return {};
  const auto taken = std::chrono::steady_clock::now() - start_;
  if (taken <= std::chrono::milliseconds(limit_ms)) return {};
  return make_error(KM_ERROR_COMPILER,
                    "%s takes longer to compile than the limit of %llu ms "
                    "(KM_COMPILE_TIMEOUT_MS)",
                    what_.c_str(), static_cast<unsigned long long>(limit_ms));
}

}  // namespace km::cpu
