// A thread that polls the device for jobs which have to wait for it, so that calls of the library
// need not wait. It sleeps while it has no jobs.
#pragma once

#include <functional>

namespace km::cuda {

/// Runs `job` repeatedly until it returns true. Returns false if the thread could not be started.
bool post_job(std::function<bool()> job);

/// Runs the jobs now, because work may just have ended.
void wake_reaper();

}  // namespace km::cuda
