// Runs launches in other orders of their blocks, warps and lanes than the usual one.
#pragma once

#include <functional>

#include "backends/cpu/execution/executor.h"

namespace km::cpu {

class Context;

/// Runs a launch in the order of the seed that is set, by `run_once`. If orders are to be explored,
/// runs it as usual, then in each of the other orders on the same memory, compares the results, and
/// makes a finding of the first difference. Memory keeps the result of the usual order.
void run_in_orders(LaunchRun& run, Executor& executor, Context& context,
                   const std::function<void()>& run_once);

}  // namespace km::cpu
