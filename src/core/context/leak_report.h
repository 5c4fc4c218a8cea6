// Objects that are left alive when a context's last handle goes, or the process ends.
#pragma once

namespace km {

class Context;

/// Says in the log what a context has alive that its caller holds handles to: as warnings when its
/// allocations are tracked, else at level info, and costs nothing when that is not shown.
void report_leaks(Context& context);
/// Has the same done for all contexts when the process ends.
void report_leaks_at_exit();

}  // namespace km
