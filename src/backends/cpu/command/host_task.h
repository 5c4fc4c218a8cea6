// Tasks whose functions belong to a library of the host.
#pragma once

#include <memory>

#include "backend/interface.h"
#include "backends/cpu/command/task.h"

namespace km::cpu {

/// Makes a task that holds a reference to the library's data.
std::shared_ptr<const Task> make_host_task(const kmb_task& task);

}  // namespace km::cpu
