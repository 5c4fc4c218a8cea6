// The words for what went wrong in a copy, a fill or a task.
#pragma once

#include <cstdint>

#include "backends/cpu/command/command.h"
#include "backends/cpu/command/task.h"
#include "backends/cpu/fault/fault.h"
#include "backends/cpu/memory/allocations.h"
#include "base/result.h"

namespace km::cpu {

/// Both sides of a copy or fill, and the address that is not there, as a sticky error.
Error describe_transfer_fault(uint64_t address, const Transfer& transfer,
                              const Allocations& allocations);
/// The task's name, and the address that is not there, as a sticky error.
Error describe_task_fault(const Fault& fault, const Task& task, const Allocations& allocations);

}  // namespace km::cpu
