// Messages for faults in copies, fills and tasks.
#pragma once

#include <cstdint>

#include "backends/cpu/command/command.h"
#include "backends/cpu/command/task.h"
#include "backends/cpu/fault/fault.h"
#include "backends/cpu/memory/allocations.h"
#include "base/result.h"

namespace km::cpu {

/// A sticky error with both sides of the copy or fill and the address that faulted.
Error describe_transfer_fault(uint64_t address, const Transfer& transfer,
                              const Allocations& allocations);
/// A sticky error with the task's name and the address that faulted.
Error describe_task_fault(const Fault& fault, const Task& task, const Allocations& allocations);

}  // namespace km::cpu
