// Isolates LLVM, which ends the process on fatal errors. It runs on the engine's own threads; on a
// fatal error the thread is parked forever and the caller gets an error.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/interruption.h"
#include "base/result.h"

namespace km::simt {

namespace internal {
using Job = std::function<void(const Interruption&)>;
/// Runs `job` on an engine thread and waits for it, or until `interruption` ends the wait. The job
/// gets its own interruption, which fails once the caller does not wait any more.
Status run_on_engine_thread(Job job, const Interruption* interruption);
}  // namespace internal

/// Runs `function`, which returns a Result<T>, on an engine thread with a 64 MiB stack and the
/// default floating-point environment, and waits for it. KM_ERROR_COMPILER with LLVM's text if LLVM
/// has a fatal error: the thread, its stack and its allocations are then leaked, so `function`
/// should own the LLVM objects that it uses. KM_ERROR_OUT_OF_HOST_MEMORY if no thread can be
/// created or memory runs out. On an engine thread it calls the function directly.
template <class Function>
std::invoke_result_t<Function&> run_isolated(Function&& function) {
  using R = std::invoke_result_t<Function&>;
  auto slot = std::make_shared<std::optional<R>>();
  KM_TRY(internal::run_on_engine_thread(
      [slot, &function](const Interruption&) { slot->emplace(function()); }, nullptr));
  return std::move(**slot);
}

/// Runs a function that takes an Interruption and must poll it several times per second. If
/// `interruption` (null: none) fails, its error is returned at once. The function then runs on
/// until its next poll, so it must own everything that it uses.
template <class Function>
std::invoke_result_t<Function&, const Interruption&> run_isolated(
    Function function, const Interruption* interruption) {
  using R = std::invoke_result_t<Function&, const Interruption&>;
  auto slot = std::make_shared<std::optional<R>>();
  KM_TRY(internal::run_on_engine_thread(
      [slot, function = std::move(function)](const Interruption& own) {
        slot->emplace(function(own));
      },
      interruption));
  return std::move(**slot);
}

}  // namespace km::simt
