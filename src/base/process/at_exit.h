// The end of the process. Static objects of the library are never destroyed (see
// base/operators/static_lifetime.cpp): threads of the host and of the library may use them until
// the process is gone.
#pragma once

namespace km {

/// Calls `function` with the process's status when this process exits by exit() or by returning
/// from main, before functions that were registered earlier. A process forked from this one does
/// not call it. False when there is no memory for that.
bool run_at_exit(void (*function)(int status));

}  // namespace km
