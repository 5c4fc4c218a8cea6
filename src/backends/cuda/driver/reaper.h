// A thread that finishes what has to wait for the device: it asks now and then, so that no call of
// the library waits. It sleeps while there is nothing to ask for.
#pragma once

#include <functional>

namespace km::cuda {

/// A job is run again and again until it returns true. False when there is no thread to run it.
bool post_job(std::function<bool()> job);

/// Work may just have come to its end: ask now.
void wake_reaper();

}  // namespace km::cuda
