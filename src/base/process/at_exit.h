// Functions that run at the end of the process. Static objects of the library are never destroyed
// (see base/operators/static_lifetime.cpp), because threads of the host and of the library may use
// them until the process is gone.
#pragma once

namespace km {

/// Calls `function` with the exit status when this process ends by exit() or by a return from main,
/// before functions that were registered earlier. A forked child does not call it. Returns false if
/// there is no memory.
bool run_at_exit(void (*function)(int status));

}  // namespace km
