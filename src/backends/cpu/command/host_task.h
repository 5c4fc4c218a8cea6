// Tasks whose functions belong to a library of the host.
#pragma once

#include <memory>

#include "backend/interface.h"
#include "backends/cpu/command/task.h"

namespace km::cpu {

/// Makes a task that holds a reference to the library's data, or to those of an executable graph,
/// by its number; 0: of no graph. Null without memory.
std::shared_ptr<const Task> make_host_task(const kmb_task& task, uint64_t graph);

}  // namespace km::cpu
