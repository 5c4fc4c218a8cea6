// The findings of a launch, in words.
#pragma once

#include "backends/cpu/device/context_checks.h"
#include "backends/cpu/execution/kernel_fault.h"
#include "backends/cpu/execution/launch_run.h"
#include "backends/cpu/memory/allocations.h"
#include "backends/cpu/trials/trial.h"

namespace km::cpu {

class Context;

/// Makes the checker's state of a launch that is about to run.
void begin_checks(LaunchRun& run, Context& context);
/// Makes findings of the defects that the checker has noted in a launch that is over.
void report_checks(const LaunchRun& run, const Allocations& allocations, ContextChecks& checks);
/// Names the places at which a launch that is over has allocated memory in its kernel.
void name_kernel_memory(const LaunchRun& run, Context& context);
/// Makes findings of the memory that kernels have allocated and not freed, if the context's checker
/// looks for them.
void report_kernel_memory(Context& context);
/// A launch whose result depends on the order of its blocks, warps and lanes.
struct OrderDefect {
  const char* kind = "result";
  uint64_t seed = 0;
  std::string ending;                  // how the launch ended in this order, if not as usual
  const KernelFault* fault = nullptr;  // with `ending`: the fault that ended it, if one did
  // Otherwise the first element that differs, its last writes and values in both orders.
  uint64_t address = 0, value = 0, usual_value = 0;
  uint32_t size_bytes = 0;
  uint64_t different_bytes = 0;
  Trial::Write now, before;
};
/// Makes a finding of it.
void report_order(const OrderDefect& defect, const LaunchRun& run, const Allocations& allocations,
                  ContextChecks& checks);
/// Makes a finding of a fault that ended a launch with this error.
void report_fault(const KernelFault& fault, const LaunchRun& run, const Error& error,
                  ContextChecks& checks);
/// Makes a finding of a launch that its time limit has stopped, at the place of one of its threads.
void report_timeout(const KernelFault& place, const LaunchRun& run, uint64_t limit_ms,
                    ContextChecks& checks);

}  // namespace km::cpu
