// LLVM ends the process where it cannot go on. Here it runs on threads of our own, which are
// parked for ever instead, and the caller gets an error.
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
/// is given an interruption of its own, which fails once nobody waits for it.
Status run_on_engine_thread(Job job, const Interruption* interruption);
}  // namespace internal

/// Runs `function`, which returns a Result<T>, on an engine thread with a 64 MiB stack and the
/// default floating-point environment, and waits for it. KM_ERROR_COMPILER with LLVM's text where
/// LLVM hits a fatal error: that thread, its stack and what it had allocated are then lost, so
/// `function` should own the LLVM objects it works on. KM_ERROR_OUT_OF_HOST_MEMORY when no thread
/// can be made or memory runs out. Called on an engine thread it just runs the function.
template <class Function>
std::invoke_result_t<Function&> run_isolated(Function&& function) {
  using R = std::invoke_result_t<Function&>;
  auto slot = std::make_shared<std::optional<R>>();
  KM_TRY(internal::run_on_engine_thread(
      [slot, &function](const Interruption&) { slot->emplace(function()); }, nullptr));
  return std::move(**slot);
}

/// Runs a function that takes an Interruption and has to look at it several times a second.
/// Returns the error of `interruption`, null: none, as soon as that fails. The function, which must
/// own all that it works on, then runs to its next look.
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
