// LLVM ends the process where it cannot go on. Here it runs on threads of our own, which are
// parked for ever instead, and the caller gets an error.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/result.h"

namespace km::simt {

namespace internal {
/// Runs `job` on an engine thread and waits for it.
Status run_on_engine_thread(std::function<void()> job);
}  // namespace internal

/// Runs `function`, which returns a Result<T>, on an engine thread with a 64 MiB stack and the
/// default floating-point environment, and waits for it. KM_ERROR_COMPILER with LLVM's text where
/// LLVM hits a fatal error: that thread, its stack and what it had allocated are then lost, so
/// `function` should own the LLVM objects it works on. KM_ERROR_OUT_OF_HOST_MEMORY when no thread
/// can be made or memory runs out. Called on an engine thread it just runs the function.
template <class Function>
std::invoke_result_t<Function&> run_guarded(Function&& function) {
  using R = std::invoke_result_t<Function&>;
  auto slot = std::make_shared<std::optional<R>>();
  KM_TRY(internal::run_on_engine_thread([slot, &function] { slot->emplace(function()); }));
  return std::move(**slot);
}

}  // namespace km::simt
