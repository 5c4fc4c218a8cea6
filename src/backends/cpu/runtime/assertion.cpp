#include "backends/cpu/runtime/assertion.h"

#include <unistd.h>

#include <exception>

#include "backends/cpu/device/context.h"
#include "base/thread/start_thread.h"

namespace km::cpu {
namespace {

constexpr uint64_t kStackBytes = 256 << 10;
constexpr uint32_t kGraceMs = 500, kTurnMs = 5;

void watch(Context* context, uint64_t epoch) {
  for (uint32_t waited = 0; waited < kGraceMs && context->is_asserting(epoch); waited += kTurnMs) {
    usleep(kTurnMs * 1000);
  }
  context->stop_asserting(epoch, nullptr);
  context->release();
}

}  // namespace

void limit_failed_launch(const LaunchRun& run, const KernelThread& self) noexcept {
  auto* const context = static_cast<Context*>(const_cast<void*>(run.owner));
  const uint64_t epoch = context->epoch();
  context->retain();
  bool started = false;
  try {
    started = start_thread("km-cpu-assert", kStackBytes, -1, [=] { watch(context, epoch); });
  } catch (const std::exception&) {
    started = false;
  }
  if (started) return;
  context->stop_asserting(epoch, &self);
  context->release();
}

}  // namespace km::cpu
